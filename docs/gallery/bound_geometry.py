"""R and γ of the mistake bound: in the plane, and for one feature with its bias."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import rosenblatt as rb

ball = rb.datasets.known_margin(40, margin=0.25, rotate=True, random_state=2)
one = [[-1.5], [-0.2], [0.5], [1.2], [2.2]], [-1, -1, 1, 1, 1]
figure, axes = plt.subplots(1, 2, figsize=(11.4, 6.0), layout="constrained")
for ax, (X, y) in zip(axes, (ball, one), strict=True):
    rb.plot.bound_geometry(X, y, ax=ax)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "bound_geometry.png", dpi=90)
