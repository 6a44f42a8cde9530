"""Two runs in the plane of their weights, where each sample is a line."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rosenblatt as rb

X = np.array([[2, 1], [1, 3], [-1, 2.5], [-2, -0.5], [1, -3], [-1, -1.5]])
y = np.array([1, 1, 1, -1, -1, -1])
without = {"fit_intercept": False, "init": [-3, -3, 0]}

one, side = np.array([[-1.0], [1.0], [2.0], [4.0], [5.0]]), np.array([-1, -1, -1, 1, 1])
plane = rb.Perceptron(record=True, eta0=0.6, **without).fit(X, y)
line = rb.Perceptron(record=True).fit(one, side)
figure, axes = plt.subplots(1, 2, figsize=(11.4, 5.9), layout="constrained")
rb.plot.weight_space(plane, X, y, ax=axes[0])
rb.plot.weight_space(line, one, side, ax=axes[1])

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "weight_space.png", dpi=85)
