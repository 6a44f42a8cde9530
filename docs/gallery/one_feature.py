"""One feature on a line: samples, a threshold, its margin; and a kernel's two thresholds."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rosenblatt as rb

rng = np.random.default_rng(3)
height = np.round(rng.normal(0, 4, 40))[:, None]
tall = np.where(height[:, 0] > 2, 1, -1)
perceptron = rb.Perceptron().fit(height, tall)
value = rng.normal(0, 1, 50)[:, None]
outside = np.where(np.abs(value[:, 0]) > 0.8, "outside", "inside")
kernel = rb.KernelPerceptron(kernel="poly", degree=2).fit(value, outside)

figure, axes = plt.subplots(3, 1, figsize=(7.2, 7.4), layout="constrained")
names = {"feature_names": ["inches above average height"], "class_names": ["cannot", "can dunk"]}
rb.plot.points(height, tall, ax=axes[0], **names)
rb.plot.decision(perceptron, height, tall, ax=axes[1], **names)
rb.plot.decision(kernel, value, outside, ax=axes[2], feature_names=["x"])

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "one_feature.png", dpi=90)
