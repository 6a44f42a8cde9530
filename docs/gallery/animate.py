"""A run as a film: the line turns at each mistake."""

import sys
from pathlib import Path

import rosenblatt as rb

data = rb.datasets.known_margin(50, margin=0.05, rotate=True, random_state=44)
model = rb.Perceptron(record=True).fit(data.X, data.y)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.animate(model, data.X, data.y, folder / "animate.gif")
