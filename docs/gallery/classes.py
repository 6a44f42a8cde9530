"""Three classes: where each one has the largest value, and its own line."""

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb

rng = np.random.default_rng(0)
centres = {"ash": (0, 0), "birch": (5, 1), "cedar": (2, 5)}
y = rng.choice(list(centres), 150)
X = np.array([centres[name] for name in y]) + 0.9 * rng.standard_normal((150, 2))
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # the errors left are ringed
    model = rb.Perceptron(keep="average", max_epochs=50).fit(X, y)
ax = rb.plot.decision(model, X, y, feature_names=["leaf length", "leaf width"])

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(ax, folder / "classes.png", dpi=120)
