"""The first four updates of a run, each an addition of vectors."""

import sys
from pathlib import Path

import rosenblatt as rb

data = rb.datasets.known_margin(40, margin=0.08, rotate=True, random_state=4)
model = rb.Perceptron(record=True).fit(data.X, data.y)
axes = rb.plot.updates(model, data.X, data.y)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(axes, folder / "updates.png", dpi=100)
