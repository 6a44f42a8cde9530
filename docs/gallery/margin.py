"""Maximum margin and soft margin: edges, support vectors, slacks."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rosenblatt as rb

data = rb.datasets.dunkers(30, gap=1.5, random_state=3)
names = {"feature_names": data.feature_names, "class_names": data.target_names}
# The same players on another day: what they can do is the same, what was measured is not.
blurred = data.X + np.random.default_rng(2).normal(0.0, 2.0, data.X.shape)

figure, axes = plt.subplots(1, 2, figsize=(10.6, 5.6), layout="constrained")
hard = rb.MaxMarginClassifier().fit(data.X, data.y)
rb.plot.margin(hard, data.X, data.y, ax=axes[0], **names)
soft = rb.SoftMarginClassifier(C=1).fit(blurred, data.y)
rb.plot.margin(soft, blurred, data.y, ax=axes[1], **names)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "margin.png", dpi=88)
