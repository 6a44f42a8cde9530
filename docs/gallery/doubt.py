"""How far quick scores can be off, how far they are, and which of them are computed again."""

import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.kernel.dual_rule import DualRule

mpl.use("Agg")
import matplotlib.pyplot as plt

BLUE, ORANGE, INK, GREY = "#0072B2", "#E69F00", "#222222", "#6E6E6E"
seen = {}


class Watched(DualRule):
    """Compares all scores with the exact ones at the end of an epoch."""

    def end(self, running):
        """Note the scores, their bounds, and the sums without rounding."""
        moved = super().end(running)
        rows = np.arange(self.n_rows)
        exact = np.array([self.scores.settled(i, 0) for i in rows.tolist()])
        seen.update(quick=self.scores.now[:, 0].copy(), off=self.scores.doubts(rows)[:, 0])
        seen.update(exact=exact)
        return moved


class Model(rb.KernelPerceptron):
    """A kernel perceptron that is watched."""

    def _rule(self, settings):
        return Watched


data = rb.datasets.circles(2000, noise=0.25, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # rings that overlap
    model = Model(kernel="rbf", gamma=2.0, max_epochs=3).fit(*data)
size, error = np.abs(seen["exact"]), np.abs(seen["quick"] - seen["exact"])
doubtful = ~(np.abs(seen["quick"]) > seen["off"])
assert (error <= seen["off"]).all()

figure, ax = plt.subplots(figsize=(7.6, 5.2), layout="constrained")
line = np.array([3e-6, 300.0])
ax.fill_between(line, line, 1.0, color=ORANGE, alpha=0.10, lw=0)
ax.plot(line, line, color=INK, lw=1)
ax.scatter(size, error, s=5, color=GREY, alpha=0.45, lw=0)
ax.scatter(size[~doubtful], seen["off"][~doubtful], s=7, color=BLUE, lw=0)
ax.scatter(
    size[doubtful], seen["off"][doubtful], s=34, color=ORANGE, marker="D", ec=INK, lw=0.7, zorder=4
)
ax.set(xscale="log", yscale="log", xlim=(4e-5, 20), ylim=(1e-10, 1.0))
ax.set_xlabel("size of the score, |f(x)|")
ax.set_ylabel("how far it is off")
named = {"ha": "left", "fontsize": 9.5}
ax.text(0.25, 2.6e-2, "the most it can be: the bound", color=BLUE, **named)
ax.text(2.6, 4e-9, "what it is", color=GREY, **named)
ax.text(
    6e-5,
    2.2e-1,
    f"in doubt: the bound is not below the score.\n{doubtful.sum()} of {len(size)} scores, "
    "summed again without rounding",
    color="#9A6A00",
    va="center",
    **named,
)
ax.text(1.5e-4, 2.4e-5, "bound = score", rotation=34, color=INK, fontsize=8.5)
ax.spines[["top", "right"]].set_visible(False)
ax.tick_params(labelsize=8.5)
ax.set_title(
    f"{len(size)} scores of {len(model.support_)} support vectors, in single precision",
    fontsize=10.5,
    color=INK,
    loc="left",
)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "doubt.png", dpi=92)
