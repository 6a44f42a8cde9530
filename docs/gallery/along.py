"""Banknotes in four features, seen along the normal: a hyperplane is a point there."""

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb

with (Path(__file__).parents[2] / "examples" / "banknotes.csv").open(newline="") as file:
    header, *rows = csv.reader(file)
X = np.array([row[:-1] for row in rows], dtype=float)
y = np.array([row[-1] for row in rows])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # the errors left are what we draw
    model = rb.Perceptron(keep="pocket", max_epochs=200).fit(X, y)
ax = rb.plot.decision(model, X, y)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(ax, folder / "along.png", dpi=120)
