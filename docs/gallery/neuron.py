"""The banknote classifier as a neuron."""

import csv
import sys
from pathlib import Path

import numpy as np

import rosenblatt as rb

with (Path(__file__).parents[2] / "examples" / "banknotes.csv").open(newline="") as file:
    header, *rows = csv.reader(file)
X = np.array([row[:-1] for row in rows], dtype=float)
y = np.array([row[-1] for row in rows])
model = rb.Adaline().fit(X, y)
ax = rb.plot.neuron(model, feature_names=header[:-1])

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(ax, folder / "neuron.png", dpi=120)
