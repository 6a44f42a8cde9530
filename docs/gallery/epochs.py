"""Mistakes per epoch on data that no line separates, and the pocket beside them."""

import sys
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb

data = rb.datasets.flip_labels(rb.datasets.dunkers(random_state=0), 0.08, random_state=1)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # there is no line to converge to
    model = rb.Perceptron(keep="pocket", max_epochs=60).fit(data.X, data.y)
ax = rb.plot.epochs(model)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(ax, folder / "epochs.png", dpi=120)
