"""Who can dunk: the line, its normal and its margin."""

import sys
from pathlib import Path

import rosenblatt as rb

data = rb.datasets.dunkers(random_state=0)
model = rb.Perceptron().fit(data.X, data.y)
ax = rb.plot.decision(
    model, data.X, data.y, feature_names=data.feature_names, class_names=data.target_names
)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(ax, folder / "decision.png", dpi=120)
