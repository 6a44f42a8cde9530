"""Two lines without a mistake: the perceptron's, and the one with the largest margin."""

import sys
from pathlib import Path

import rosenblatt as rb

data = rb.datasets.dunkers(30, gap=1.5, random_state=3)
models = [model.fit(data.X, data.y) for model in (rb.Perceptron(), rb.MaxMarginClassifier())]
axes = rb.plot.compare(
    models, data.X, data.y, feature_names=data.feature_names, class_names=data.target_names
)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(axes, folder / "compare.png", dpi=95)
