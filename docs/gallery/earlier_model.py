"""A line guessed before any learning, w = (1, 1), and what its bias does to the players."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import rosenblatt as rb

data = rb.datasets.dunkers(random_state=0)
names = {"feature_names": ("inches above average height", "inches above average leap")}
names["class_names"] = data.target_names
figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.9), layout="constrained")
rb.plot.bias(ax=axes[0])
axes[0].set_title("a negative bias shifts the line along w", fontsize=11)
for ax, b in zip(axes[1:], (0, -4), strict=True):
    rb.plot.decision(rb.Hyperplane([1, 1], b), data.X, data.y, ax=ax, **names)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "earlier_model.png", dpi=80)
