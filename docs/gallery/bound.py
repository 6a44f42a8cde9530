"""Four runs, each in the wedge that the mistake bound leaves it."""

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb

dunkers = rb.datasets.dunkers(random_state=0)
runs = {
    "unit vectors: as many as can be": ((np.eye(16), [1, -1] * 8), {"fit_intercept": False}),
    "30 and 32: far from the bound": (([[30.0], [32.0]], [-1, 1]), {}),
    "from a guess that points the wrong way": (
        rb.datasets.eight_points(),
        {"init": [-30, -30, 0]},
    ),
    "no line separates them": (
        rb.datasets.flip_labels(dunkers, 0.1, random_state=0),
        {"max_epochs": 100},
    ),
}
reports = []
for data, options in runs.values():
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one of them cannot converge
        model = rb.Perceptron(record=True, **options).fit(X, y)
    reports.append(model.bound_report(X, y))
axes = rb.plot.bound(reports)
for ax, title in zip(axes, runs, strict=True):
    ax.set_title(title, fontsize=10)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(axes, folder / "bound.png", dpi=82)
