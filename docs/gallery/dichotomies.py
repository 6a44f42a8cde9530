"""Three points have a line for each of their labelings; four points never do."""

import itertools
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rosenblatt as rb

INK, GREY, COLOURS = "#222222", "#6E6E6E", ("#0072B2", "#E69F00")
TRIANGLE = np.array([[0.5, 0.9], [0.05, 0.1], [0.95, 0.1]])
SQUARE = np.array([[0.1, 0.9], [0.9, 0.9], [0.1, 0.1], [0.9, 0.1]])


def draw(ax, X, y):
    """One labeling: a line that realises it, or the point where the classes meet."""
    for label in (0, 1):
        ax.scatter(*X[y == label].T, s=70, color=COLOURS[label], marker="os"[label], zorder=3)
    ax.set(xlim=(-0.3, 1.3), ylim=(-0.3, 1.3), aspect="equal", xticks=(), yticks=())
    ax.spines[:].set_color("#D8D8D8")
    if len(set(y)) == 1:
        ax.text(
            0.5, -0.17, "all on one side", ha="center", va="center", fontsize=8, color="#6E6E6E"
        )
        return
    answer = rb.separability(X, y)
    if answer.verdict is rb.Verdict.SEPARABLE:
        plane = answer.hyperplane
        ends = plane.point() + np.outer((-3, 3), plane.basis()[0])
        ax.plot(*ends.T, color=INK, linewidth=1.6)
        return
    ax.set_facecolor("#F6E3E3")
    for label in (0, 1):
        ax.plot(*X[y == label].T, color=COLOURS[label], linewidth=1.6, linestyle="--")
    ax.scatter(*answer.point, s=60, marker="x", color=INK, linewidth=2, zorder=4)
    ax.text(0.5, -0.17, "no line", ha="center", va="center", fontsize=9, color=INK)


figure = plt.figure(figsize=(10.5, 4.9), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=(1.18, 2.1))
heading = {"x": 0.01, "ha": "left", "fontsize": 12, "color": INK}
above.suptitle("Three points: a line for each of the 8 labelings", **heading)
below.suptitle("Four points: a line for 14 of the 16, none for XOR and its opposite", **heading)
for part, X, rows in ((above, TRIANGLE, 1), (below, SQUARE, 2)):
    labelings = list(itertools.product([0, 1], repeat=len(X)))
    for ax, y in zip(part.subplots(rows, 8).flat, labelings, strict=True):
        draw(ax, X, np.array(y))

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "dichotomies.png", dpi=100)
