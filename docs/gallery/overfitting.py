"""Noisy rings and more and more features: ever fewer errors in training, ever more in test."""

import math
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt

import rosenblatt as rb

warnings.simplefilter("ignore")  # the first two leave errors
train = rb.datasets.circles(40, noise=0.3, random_state=3)
test = rb.datasets.circles(4000, noise=0.3, random_state=100)
figure, axes = plt.subplots(1, 3, figsize=(13.2, 5.4), layout="constrained")
for ax, degree in zip(axes, (2, 4, 8), strict=True):
    model = rb.KernelPerceptron(kernel="poly", gamma=1, degree=degree, keep="pocket")
    model.fit(train.X, train.y)
    rb.plot.decision(model, train.X, train.y, ax=ax, class_names=train.target_names)
    features = math.comb(degree + 2, 2)
    trained, tested = (1 - model.score(*data) for data in (train, test))
    told = f"wrong: {trained:.1%} in training, {tested:.1%} in test"
    ax.set_xlabel(f"degree {degree}: {features} features, {len(train.y)} samples\n{told}")
    ax.xaxis.label.set(size=11, weight="bold")

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "overfitting.png", dpi=75)
