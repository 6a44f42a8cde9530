"""Curved boundaries: exclusive or, two rings, two moons."""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

import rosenblatt as rb

mpl.use("Agg")
import matplotlib.pyplot as plt

rng = np.random.default_rng(3)
angle = np.pi * rng.random(160)
upper = np.repeat([True, False], 80)
moons = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(upper, 1, -1)[:, None]
moons += np.where(upper[:, None], [0.0, 0.0], [1.0, 0.4]) + rng.normal(0, 0.08, moons.shape)

figure, axes = plt.subplots(1, 3, figsize=(11.4, 4.9), layout="constrained")
pictures = [
    (rb.datasets.xor(), {"kernel": "poly", "degree": 2, "gamma": 1.0}),
    (rb.datasets.circles(80, noise=0.1, random_state=0), {"kernel": "poly", "degree": 2}),
    ((moons, np.where(upper, 1, -1)), {"kernel": "gaussian", "sigma": 0.5}),
]
for ax, ((X, y), options) in zip(axes, pictures, strict=True):
    rb.plot.decision(rb.KernelPerceptron(**options).fit(X, y), X, y, ax=ax)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(axes[0], folder / "kernel.png", dpi=80)
