"""More than one level: XOR by two units with whole weights, XOR and rings by learned ones."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neural_network import MLPClassifier

import rosenblatt as rb
from rosenblatt import boolean

INK, COLOURS = "#222222", ("#0072B2", "#E69F00")


def draw(ax, data, values, lines, title):
    """The samples, the regions where `values` are negative and positive, the hidden units."""
    rb.plot.points(data.X, data.y, ax=ax)
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    grid = np.meshgrid(*(np.linspace(low[k], high[k], 241) for k in range(2)))
    f = values(np.column_stack([part.ravel() for part in grid])).reshape(grid[0].shape)
    most = np.abs(f).max()
    ax.contourf(*grid, f, levels=[-2 * most, 0, 2 * most], colors=COLOURS, alpha=0.14, zorder=0)
    ax.contour(*grid, f, levels=[0], colors=INK, linewidths=1.8, zorder=3)
    for w, b in lines:
        foot, along = -b * w / (w @ w), np.array([-w[1], w[0]])
        ax.axline(foot, foot + along, color="#6E6E6E", linestyle=(0, (5, 3)), linewidth=1.1)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_title(title, fontsize=11, pad=26)


def learned(data, units, seed):
    """A network with so many hidden units, what it says, and its hidden units as lines."""
    net = MLPClassifier((units,), activation="tanh", solver="lbfgs", random_state=seed)
    net.fit(data.X, data.y)
    lines = list(zip(net.coefs_[0].T, net.intercepts_[0], strict=True))
    return lambda X: net.predict_proba(X)[:, 1] - 0.5, lines


xor, rings = rb.datasets.xor(), rb.datasets.circles(100, noise=0.1, random_state=0)
network = boolean.two_level_network("x1 ^ x2")
units = [(np.array(unit.w, dtype=float), 0.5 - unit.k) for unit in network.hidden]


def whole(X):
    """Positive where a hidden unit fires; its line is halfway to where it does not."""
    return np.max([X @ w + b for w, b in units], axis=0)


figure, axes = plt.subplots(1, 3, figsize=(13.2, 5.0), layout="constrained")
draw(axes[0], xor, whole, units, "XOR: two units with whole weights, by search")
draw(axes[1], xor, *learned(xor, 2, 1), "XOR: two units, learned by descent")
draw(axes[2], rings, *learned(rings, 4, 1), "rings: four units, learned by descent")

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "way_on.png", dpi=75)
