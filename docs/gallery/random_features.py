"""Random features beside the kernel: how close their products are, and what they cost."""

import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullFormatter

BLUE, ORANGE, INK, GREY = "#0072B2", "#E69F00", "#222222", "#6E6E6E"
X, y = load_digits(return_X_y=True)
X, gamma = X / 16, 0.1
train, test = slice(0, 1200), slice(1200, None)
sizes = [10, 20, 50, 100, 200, 500, 1000]
maps = {"random Fourier": rb.features.RandomFourier, "Nyström": rb.features.Nystroem}
styles = {"random Fourier": (ORANGE, "s"), "Nyström": (BLUE, "o")}
options = {"keep": "average", "max_epochs": 10}

warnings.simplefilter("ignore", ConvergenceWarning)  # with few features mistakes never end
exact = rb.kernels.RBF(gamma)(X[test])
kernel = rb.KernelPerceptron(gamma=gamma, **options).fit(X[train], y[train])
best = 1 - kernel.score(X[test], y[test])

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3), layout="constrained")
for name, maker in maps.items():
    off, wrong = [], []
    for m in sizes:
        phi = maker(n_components=m, gamma=gamma, random_state=0)
        learned, made = phi.fit_transform(X[train]), phi.transform(X[test])
        off.append(np.sqrt(np.mean((made @ made.T - exact) ** 2)))
        model = rb.Perceptron(fit_intercept=False, **options).fit(learned, y[train])
        wrong.append(1 - model.score(made, y[test]))
    tint, mark = styles[name]
    for ax, values in ((left, off), (right, wrong)):
        ax.plot(sizes, values, color=tint, marker=mark, lw=1.6, ms=6, label=name)
left.plot(sizes, 0.7 / np.sqrt(sizes), color=GREY, lw=1, ls=":", label="in proportion to 1/√m")
right.axhline(best, color=INK, lw=1.2, ls="--")
right.text(
    10,
    best * 0.84,
    f"kernel perceptron, {len(kernel.support_)} support vectors",
    color=INK,
    va="top",
    fontsize=9,
)
left.set(yscale="log", ylabel="root mean square of φ(x)·φ(y) - K(x, y)")
right.set(yscale="log", ylabel="test errors", yticks=[0.05, 0.1, 0.2, 0.5])
right.set_ylim(0.03, 0.75)
right.yaxis.set_minor_formatter(NullFormatter())
right.yaxis.set_major_formatter(lambda v, _: f"{v:.0%}")
for ax in (left, right):
    ax.set(xscale="log", xlabel="features, m", xticks=sizes)
    ax.xaxis.set_major_formatter(lambda v, _: f"{v:.0f}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8.5)
left.legend(frameon=False, fontsize=9)
left.set_title("how close the products are to the kernel", fontsize=10.5, color=INK, loc="left")
right.set_title("a perceptron on the features, on digits", fontsize=10.5, color=INK, loc="left")

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "random_features.png", dpi=84)
