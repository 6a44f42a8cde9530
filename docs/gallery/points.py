"""Points before any line: two classes, crosses and discs."""

import sys
from pathlib import Path

import rosenblatt as rb

data = rb.datasets.dunkers(random_state=0)
names = {"feature_names": data.feature_names, "class_names": data.target_names}
ax = rb.plot.points(data.X, data.y, markers=("x", "o"), **names)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(ax, folder / "points.png", dpi=100)
