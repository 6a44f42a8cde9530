"""Perceptron, logistic regression and soft margin on the same players."""

import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import rosenblatt as rb

warnings.simplefilter("ignore")  # no line separates them
players = rb.datasets.dunkers(random_state=0)
X = players.X + np.random.default_rng(2).normal(0, 1.5, players.X.shape)
models = {
    "perceptron, the pocket": rb.Perceptron(keep="pocket"),
    "logistic regression": LogisticRegression(),
    "soft margin, C = 10": rb.SoftMarginClassifier(C=10),
}
names = {"feature_names": ("inches above average height", "inches above average leap")}
names["class_names"] = players.target_names
figure, axes = plt.subplots(1, 3, figsize=(13.2, 5.2), layout="constrained")
for ax, (title, model) in zip(axes, models.items(), strict=True):
    rb.plot.decision(model.fit(X, players.y), X, players.y, ax=ax, **names)
    ax.set_title(title, fontsize=12, fontweight="bold", pad=58)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "three_ways_boundaries.png", dpi=75)
