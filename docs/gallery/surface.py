"""The decision value over the plane: a sum of bumps and hollows, one for each support vector."""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

import rosenblatt as rb

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

BLUE, ORANGE, INK = "#0072B2", "#E69F00", "#222222"
COLOURS = LinearSegmentedColormap.from_list("sides", [BLUE, "#E9EEF1", ORANGE])


def draw(ax, model, X, y, reach, title):
    """The surface f(x), where it is zero, and the samples on the floor."""
    across = np.linspace(-reach, reach, 57)
    U, V = np.meshgrid(across, across)
    F = model.decision_function(np.column_stack([U.ravel(), V.ravel()])).reshape(U.shape)
    size = np.abs(F).max()
    floor = F.min() - 0.75 * np.ptp(F)
    shade = TwoSlopeNorm(0.0, -size, size)
    ax.plot_surface(U, V, F, cmap=COLOURS, norm=shade, rcount=57, ccount=57, linewidth=0, zorder=2)
    ax.contourf(
        U, V, F, [-2 * size, 0, 2 * size], zdir="z", offset=floor, colors=[BLUE, ORANGE], alpha=0.13
    )
    ax.contour(U, V, F, [0.0], colors=INK, linewidths=1.2, zorder=3)
    ax.contour(U, V, F, [0.0], zdir="z", offset=floor, colors=INK, linewidths=1.4)
    alpha = np.zeros(len(X))
    alpha[model.support_] = model.alpha_[0]
    for side, tint, mark in ((-1, BLUE, "o"), (1, ORANGE, "s")):
        own = y == side
        sizes = 9 + 60 * alpha[own] / alpha.max()
        ax.scatter(
            *X[own].T, floor, c=tint, marker=mark, s=sizes, ec="white", lw=0.5, depthshade=False
        )
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), zlim=(floor, F.max()), zticks=[0])
    ax.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    ax.set(xlabel="x1", ylabel="x2")
    ax.set_zlabel("f", labelpad=-8)
    ax.tick_params(labelsize=7.5, pad=-2)
    ax.xaxis.labelpad = ax.yaxis.labelpad = -4
    ax.view_init(24, -62)
    ax.set_box_aspect((1, 1, 0.95), zoom=1.06)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.pane.set_visible(False)
        axis._axinfo["grid"].update(color="#E4E4E4", linewidth=0.5)
    ax.set_title(title, fontsize=10, color=INK, y=1.04)


figure = plt.figure(figsize=(10.4, 5.2))
corners, signs = rb.datasets.xor()
rings = rb.datasets.circles(80, noise=0.1, random_state=0)
runs = [
    (2 * corners - 1, signs, 1.6, {"kernel": "poly", "degree": 2, "gamma": 1.0}, "exclusive or"),
    (rings.X, rings.y, 1.35, {"kernel": "gaussian", "sigma": 0.35}, "two rings"),
]
for k, (X, y, reach, options, name) in enumerate(runs, 1):
    model = rb.KernelPerceptron(**options).fit(X, y)
    title = f"{name}, {model.kernel_}"
    ax = figure.add_subplot(1, 2, k, projection="3d", computed_zorder=False)
    draw(ax, model, X, y, reach, title)
figure.subplots_adjust(left=0.0, right=0.98, bottom=0.02, top=0.88, wspace=0.0)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "surface.png", dpi=76)
