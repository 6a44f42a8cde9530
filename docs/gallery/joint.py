"""Three classes: each against the rest leaves areas undecided, as one problem none is."""

import sys
import warnings
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import ListedColormap, to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.plot.style import GREY, INK, MARKERS, colour

NAMES = ("ash", "birch", "cedar")
rng = np.random.default_rng(4)
centres = np.array([(0.0, 0.0), (3.2, 1.9), (6.4, 0.4)])
y = np.repeat(np.arange(3), 40)
X = centres[y] + 0.55 * rng.standard_normal((120, 2))
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # birch has no side of its own
    alone = rb.Perceptron(keep="pocket", max_epochs=500).fit(X, y)
joint = rb.Perceptron(multiclass="joint").fit(X, y)

low, high = X.min(axis=0) - 0.9, X.max(axis=0) + 0.9
across, up = (np.linspace(a, z, 400) for a, z in zip(low, high, strict=True))
grid = np.stack(np.meshgrid(across, up), axis=-1)
values = {
    name: model.decision_function(grid.reshape(-1, 2)).reshape(400, 400, 3)
    for name, model in (("alone", alone), ("joint", joint))
}
claimed = values["alone"] > 0
regions = {
    "alone": np.where(claimed.sum(axis=2) == 1, claimed.argmax(axis=2), 3),
    "joint": values["joint"].argmax(axis=2),
}
titles = {
    "alone": f"each against the rest: {alone.n_errors_} of 120 wrong",
    "joint": f"as one problem: {joint.n_errors_} wrong, and proved separable",
}
figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.3), sharey=True, layout="constrained")
pale = ListedColormap([(*to_rgba(colour(k))[:3], 0.22) for k in range(3)] + ["#DDDDDD"])
for ax, (name, region) in zip(axes, regions.items(), strict=True):
    extent = (low[0], high[0], low[1], high[1])
    ax.imshow(region, origin="lower", extent=extent, aspect="auto", cmap=pale, vmin=0, vmax=3)
    for k in range(3):
        style = {"s": 26, "color": colour(k), "marker": MARKERS[k], "edgecolor": "white"}
        ax.scatter(*X[y == k].T, linewidth=0.5, zorder=3, **style)
        if name == "alone":
            line = {"colors": [colour(k)], "linewidths": 1.8, "linestyles": "dashed"}
            ax.contour(across, up, values["alone"][:, :, k], [0.0], **line)
        others = np.delete(values["joint"], k, axis=2).max(axis=2)
        if name == "joint":
            ax.contour(across, up, values["joint"][:, :, k] - others, [0.0], colors=INK)
    ax.set_title(titles[name], loc="left", fontsize=11.5)
    ax.set_xlabel("leaf length")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("leaf width")
marks = [
    Line2D([], [], linestyle="", color=colour(k), marker=MARKERS[k], label=NAMES[k])
    for k in range(3)
]
undecided = Patch(color="#DDDDDD", label="undecided: claimed by no class, or by several")
own = Line2D([], [], color=GREY, linestyle="dashed", label="a class's own line")
figure.legend(handles=[*marks, own, undecided], loc="outside upper center", ncols=5, frameon=False)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
figure.savefig(folder / "joint.png", dpi=108)
