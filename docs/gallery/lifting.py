"""Two rings, lifted by products of their features: a plane does what no line can."""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

import rosenblatt as rb

mpl.use("Agg")
import matplotlib.pyplot as plt

BLUE, ORANGE, INK, GREY = "#0072B2", "#E69F00", "#222222", "#6E6E6E"

data = rb.datasets.circles(90, noise=0.12, random_state=2)
lift = rb.features.Polynomial(2, coef0=0.0)
Z = lift.fit_transform(data.X)[:, [1, 2, 0]]  # x1², x2², √2 x1x2
plane = rb.MaxMarginClassifier().fit(Z, data.y).fits_[0].hyperplane

figure = plt.figure(figsize=(10.2, 5.0))
flat = figure.add_axes((0.06, 0.12, 0.38, 0.76))
solid = figure.add_axes((0.47, 0.0, 0.52, 0.93), projection="3d")

across = np.linspace(-1.4, 1.4, 201)
U, V = np.meshgrid(across, across)
F = plane.decision_function(lift.transform(np.column_stack([U.ravel(), V.ravel()]))[:, [1, 2, 0]])
F = F.reshape(U.shape)
flat.contourf(U, V, F, [-1e9, 0, 1e9], colors=[BLUE, ORANGE], alpha=0.13)
flat.contour(U, V, F, [0.0], colors=INK, linewidths=1.6)
flat.set(aspect="equal", xlabel="x1", ylabel="x2")
flat.spines[["top", "right"]].set_visible(False)
flat.set_title("the samples: the curve is an ellipse", fontsize=10.5, color=INK)

normal = plane.w / plane.norm
level = np.array([1.0, -1.0, 0.0]) - normal * (normal[0] - normal[1])  # directions in the plane
upright = np.array([0.0, 0.0, 1.0]) - normal * normal[2]
level, upright = (v / np.linalg.norm(v) for v in (level, upright))
middle = -plane.b / plane.norm * normal
s, t = np.meshgrid([-0.62, 0.62], [-1.0, 1.0])
wall = (middle[:, None, None] + s * level[:, None, None]) + t * upright[:, None, None]
solid.plot_surface(*wall, color=GREY, alpha=0.3, linewidth=0, shade=False)
for side, tint, mark in ((-1, BLUE, "o"), (1, ORANGE, "s")):
    own = data.y == side
    flat.scatter(*data.X[own].T, c=tint, marker=mark, s=24, ec="white", lw=0.5, zorder=3)
    solid.scatter(*Z[own].T, c=tint, marker=mark, s=24, ec="white", lw=0.5, depthshade=False)
solid.set(xlabel="x1²", ylabel="x2²", zlabel="√2·x1·x2")
solid.set(xticks=[0, 0.5, 1, 1.5], yticks=[0, 0.5, 1], zticks=[-1, 0, 1])
solid.tick_params(labelsize=7.5, pad=-2)
solid.view_init(20, -57)
solid.set_box_aspect((1, 1, 0.9), zoom=1.05)
for axis in (solid.xaxis, solid.yaxis, solid.zaxis):
    axis.labelpad = -2
    axis.pane.set_visible(False)
    axis._axinfo["grid"].update(color="#E4E4E4", linewidth=0.5)
solid.set_title("their products: a plane separates them", fontsize=10.5, color=INK, y=0.98)

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "lifting.png", dpi=84)
