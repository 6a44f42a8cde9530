"""The picture of the README: the hyperplane, why the run stopped, and the proof."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rosenblatt as rb

data = rb.datasets.dunkers(random_state=0)
model = rb.Perceptron().fit(data.X, data.y)
hyperplane = model.fits_[0].hyperplane
names = {"class_names": data.target_names}

figure = plt.figure(figsize=(13.5, 4.7), layout="constrained")
parts = figure.subfigures(1, 3, width_ratios=(1.12, 1, 1.12), wspace=0.03)
axes = [part.subplots() for part in parts]
titles = ("It finds the hyperplane,", "says why it stopped,", "and proves what it found.")
for part, title in zip(parts, titles, strict=True):
    part.suptitle(title, fontsize=16, fontweight="bold", x=0.02, ha="left", color="#222222")

rb.plot.decision(hyperplane, data.X, data.y, ax=axes[0], feature_names=data.feature_names, **names)
rb.plot.epochs(model, ax=axes[1])
end = {"arrowstyle": "->", "color": "#222222", "shrinkB": 6}
axes[1].annotate(
    "an epoch without mistakes:\nseparated", (5, 0), (1.2, 5), arrowprops=end, fontsize=11
)
# Along the normal every sample is one number, its signed distance: in a space of more than two
# features, that is what is drawn.
distance = hyperplane.decision_function(data.X) / hyperplane.norm
along = np.column_stack([distance, np.zeros((len(distance), 2))])
rb.plot.decision(rb.Hyperplane([1.0, 0.0, 0.0]), along, data.y, ax=axes[2], **names)
axes[2].set_xlabel("inches from the hyperplane")

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "hero.png", dpi=100)
