"""What C does: soft margins from small C, which lets samples be wrong, to the maximum margin."""

import sys
from pathlib import Path

import numpy as np

import rosenblatt as rb

data = rb.datasets.dunkers(40, gap=1.5, random_state=3)
# Two players with sore knees: by height and leap they should be able to dunk, or nearly.
X = np.vstack([data.X, [[8.5, 4.5], [3.0, 12.0]]])
y = np.append(data.y, [-1, -1])
path = rb.soft_margin_path(X, y, np.geomspace(1e-3, 1e4, 29))
axes = rb.plot.path(path, X, y, feature_names=data.feature_names, class_names=data.target_names)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(axes, folder / "path.png", dpi=90)
