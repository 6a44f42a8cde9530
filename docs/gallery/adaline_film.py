"""The delta rule as a film: the line settles where the squared error is least."""

import sys
from pathlib import Path

import rosenblatt as rb

data = rb.datasets.known_margin(50, margin=0.05, rotate=True, random_state=44)
model = rb.Adaline(update="batch", init=[1.5, -1.2, 1.0]).fit(data.X, data.y)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.animate(model, data.X, data.y, folder / "adaline_film.gif", max_frames=25)
