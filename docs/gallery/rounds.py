"""How a soft margin is found: corners rounded off, and samples that sleep."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rosenblatt as rb

INK, GREY = "#222222", "#6E6E6E"
C, MU = 1.0, 0.5


def rounded(t, alpha, mu=MU):
    """The hinge of a slack t with the corner rounded off around a multiplier."""
    a = np.clip(alpha + C / 2 * t / mu, 0.0, C)
    return a * t - mu / C * (a - alpha) ** 2


figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.3), layout="constrained")
value = np.linspace(-0.8, 2.8, 721)
left.axvspan(1 - MU, 1 + MU, color="#F1ECE0", lw=0)
left.plot(value, C * np.maximum(0, 1 - value), color=INK, lw=4, alpha=0.25)
for alpha, colour, dashes, name in (
    (C, "#D55E00", (None, None), "α = c: has slack"),
    (C / 2, "#0072B2", (6, 2), "α = c/2: on the edge"),
    (0.0, "#009E73", (2, 2), "α = 0: outside"),
):
    left.plot(value, rounded(1 - value, alpha), color=colour, lw=2, dashes=dashes, label=name)
left.annotate(
    "the hinge",
    (-0.45, 1.45),
    (0.15, 1.62),
    color=GREY,
    arrowprops={"arrowstyle": "-", "color": GREY},
)
left.text(1, -0.66, "band of α = c/2", ha="center", color=GREY, fontsize=9)
left.axhline(0, color=GREY, lw=0.6)
left.set(xlabel="y(w·x + b)", ylabel="price of the sample", xlim=(-0.8, 2.8), ylim=(-0.75, 1.85))
left.set_title("rounded off around the multiplier α", fontsize=10)
left.legend(frameon=False, fontsize=9, loc="upper right")

rng = np.random.default_rng(0)
X = rng.standard_normal((200_000, 20))
y = np.where(X @ rng.standard_normal(20) + rng.standard_normal(len(X)) > 0, 1, -1)
trace = rb.SoftMarginClassifier(C=10, tol=1e-8).fit(X, y).trace_
gap = np.maximum.accumulate(trace.dual)
gap = 1 - gap / np.minimum.accumulate(trace.primal)
scan = np.arange(1, len(trace) + 1)
right.semilogy(scan, gap, "o-", color="#0072B2", lw=2, ms=6)
for k, g, rows in zip(scan, gap, trace.rows, strict=True):
    awake = f"{rows:,} awake" if k == 1 else f"{rows:,}"
    right.annotate(awake, (k, g), (8, 3), textcoords="offset points", fontsize=9, color=INK)
right.set(xlabel="scan of all 200,000 samples", ylabel="duality gap", xlim=(0.7, len(trace) + 0.8))
right.set_xticks(scan)
right.set_title("the gap, and the samples that took part", fontsize=10)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "rounds.png", dpi=92)
