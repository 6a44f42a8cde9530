"""Banknotes in four features: the margin seen from the edge of the hyperplane."""

import csv
import sys
from pathlib import Path

import numpy as np

import rosenblatt as rb

with (Path(__file__).parents[2] / "examples" / "banknotes.csv").open(newline="") as file:
    header, *rows = csv.reader(file)
X = np.array([row[:-1] for row in rows], dtype=float)
y = np.array([row[-1] for row in rows])
ax = rb.plot.margin(rb.SoftMarginClassifier(C=100).fit(X, y), X, y)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(ax, folder / "slack.png", dpi=110)
