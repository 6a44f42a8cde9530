"""Pictures of hyperplanes and of how they came about.

Every function draws into `ax` and returns it, or makes a figure where it is None; nothing here
shows a window or changes Matplotlib's settings. Classes differ in colour and in marker, so that
a picture also reads in print without colours. Matplotlib is imported by the first picture.

Begin with `boundary`. `seen` reads and checks what a picture is about, and `replay` what a run did
from step to step; `style`, `axes`, `lettering`, `plane` and `projection` are what pictures share.
Imports the rooms of the library and `files`; no tables, no reports.
"""

from __future__ import annotations

from rosenblatt.plot.ball import bound_geometry
from rosenblatt.plot.boundary import decision
from rosenblatt.plot.convex_hulls import hulls, nearest
from rosenblatt.plot.course import bound, epochs
from rosenblatt.plot.diagrams import network, neuron
from rosenblatt.plot.films import animate
from rosenblatt.plot.fold_scores import scores
from rosenblatt.plot.lessons import bias, fan, losses, objective
from rosenblatt.plot.margin_edges import margin
from rosenblatt.plot.nerve import nerve_cell
from rosenblatt.plot.panels import compare, path
from rosenblatt.plot.saving import save
from rosenblatt.plot.scattered import points
from rosenblatt.plot.steps import cycle, updates
from rosenblatt.plot.weights import loss_surface, weight_space

__all__ = [
    "animate",
    "bias",
    "bound",
    "bound_geometry",
    "compare",
    "cycle",
    "decision",
    "epochs",
    "fan",
    "hulls",
    "loss_surface",
    "losses",
    "margin",
    "nearest",
    "nerve_cell",
    "network",
    "neuron",
    "objective",
    "path",
    "points",
    "save",
    "scores",
    "updates",
    "weight_space",
]
