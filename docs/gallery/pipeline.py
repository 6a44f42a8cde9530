"""Pipelines in the units of their columns: what one decides, and the margin of another."""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.pipeline import make_pipeline

import rosenblatt as rb

mpl.use("Agg")
import matplotlib.pyplot as plt

X, y = rb.datasets.circles(120, noise=0.2, random_state=0)
table = {"age (years)": 40 + 15 * X[:, 0], "income (per month)": 2500 + 900 * X[:, 1]}
regular = np.where(y > 0, "no", "yes")
waves = rb.features.RandomFourier(80, gamma="scale", random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(10.6, 5.4), layout="constrained")
decided = make_pipeline(rb.TableEncoder(), waves, rb.SoftMarginClassifier(C=300))
rb.plot.decision(decided.fit(table, regular), table, regular, ax=axes[0])
squares = rb.features.Squares(keep=True)
soft = make_pipeline(rb.TableEncoder(), squares, rb.SoftMarginClassifier(C=30))
rb.plot.margin(soft.fit(table, regular), table, regular, ax=axes[1])

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(axes[0], folder / "pipeline.png", dpi=80)
