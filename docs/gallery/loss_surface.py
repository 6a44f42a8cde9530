"""The losses of the perceptron and of the delta rule over two weights, with a run on each."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rosenblatt as rb

X = np.array([[2, 1], [1, 3], [-1, 2.5], [-2, -0.5], [1, -3], [-1, -1.5]])
y = np.array([1, 1, 1, -1, -1, -1])
start = {"fit_intercept": False, "init": [-3, -3, 0]}

perceptron = rb.Perceptron(record=True, eta0=0.6, **start).fit(X, y)
adaline = rb.Adaline(update="batch", **start).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(11.4, 5.9), layout="constrained")
for ax, model in zip(axes, (perceptron, adaline), strict=True):
    rb.plot.loss_surface(model, X, y, ax=ax)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "loss_surface.png", dpi=85)
