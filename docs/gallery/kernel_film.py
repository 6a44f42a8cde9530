"""A kernel perceptron as a film: its curve closes around the inner ring."""

import sys
from pathlib import Path

import rosenblatt as rb

data = rb.datasets.circles(60, noise=0.12, random_state=1)
model = rb.KernelPerceptron(kernel="poly", degree=2, record=True).fit(data.X, data.y)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.animate(model, data.X, data.y, folder / "kernel_film.gif")
