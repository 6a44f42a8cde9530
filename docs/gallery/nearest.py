"""The maximum margin is half the distance between two convex hulls, also in four features."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import rosenblatt as rb

data = rb.datasets.dunkers(30, gap=1.5, random_state=3)
iris = load_iris()
flowers = np.where(iris.target == 0, "setosa", "other irises")

figure, axes = plt.subplots(1, 2, figsize=(10.6, 5.6), layout="constrained")
players = rb.MaxMarginClassifier().fit(data.X, data.y)
names = {"feature_names": data.feature_names, "class_names": data.target_names}
rb.plot.nearest(players, data.X, data.y, ax=axes[0], **names)
rb.plot.nearest(rb.MaxMarginClassifier().fit(iris.data, flowers), iris.data, flowers, ax=axes[1])

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "nearest.png", dpi=88)
