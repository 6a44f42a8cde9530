"""The picture of the README for a telephone: the same three parts, one below the other."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rosenblatt as rb

data = rb.datasets.dunkers(random_state=0)
model = rb.Perceptron().fit(data.X, data.y)
hyperplane = model.fits_[0].hyperplane

figure = plt.figure(figsize=(4.2, 8.6), layout="constrained")
parts = figure.subfigures(3, 1, height_ratios=(1.55, 1, 1.2), hspace=0.02)
axes = [part.subplots() for part in parts]
titles = ("It finds the hyperplane,", "says why it stopped,", "and proves what it found.")
for part, title in zip(parts, titles, strict=True):
    part.suptitle(title, fontsize=14, fontweight="bold", x=0.02, ha="left", color="#222222")

names = {"feature_names": data.feature_names, "class_names": data.target_names}
rb.plot.decision(hyperplane, data.X, data.y, ax=axes[0], **names)
rb.plot.epochs(model, ax=axes[1])
# Along the normal every sample is one number, its signed distance: in a space of more than two
# features, that is what is drawn.
distance = hyperplane.decision_function(data.X) / hyperplane.norm
along = np.column_stack([distance, np.zeros((len(distance), 2))])
rb.plot.decision(rb.Hyperplane([1.0, 0.0, 0.0]), along, data.y, ax=axes[2])
axes[2].set_xlabel("inches from the hyperplane")
axes[2].get_legend().remove()

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "hero_phone.png", dpi=150)
