"""The four verdicts, each with what proves it."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rosenblatt as rb

rng = np.random.default_rng(8)
below = rng.standard_normal((14, 2)) * [0.8, 0.9] + [-1.5, 0.2]
above = rng.standard_normal((14, 2)) * [0.8, 0.9] + [1.5, 0.4]
y = np.repeat([-1, 1], 14)
apart = np.vstack([below, above])
# Three samples on one line: two of one class, and between them one of the other.
touching = np.round(apart, 2)
touching[[0, 1, 14]] = [[-0.25, -1.25], [-0.25, 1.75], [-0.25, 0.5]]
touching[2:14, 0] = np.minimum(touching[2:14, 0], -0.5)
touching[15:, 0] = np.maximum(touching[15:, 0], 0.0)
overlapping = apart - np.outer(y, [0.6, 0.0])

figure, axes = plt.subplots(2, 2, figsize=(10.4, 10.2), layout="constrained")
for ax, X in zip(axes.flat, (apart, touching, overlapping), strict=False):
    rb.plot.hulls(X, y, ax=ax)
rb.plot.hulls(apart, y, rb.Undecided((-0.41, 0.63)), ax=axes[1, 1])

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "hulls.png", dpi=88)
