"""Pictures of hyperplanes and of how they came about.

Every function draws into `ax` and returns it, or makes a figure where it is None; nothing here
shows a window or changes Matplotlib's settings. Classes differ in colour and in marker, so that
a picture also reads in print without colours. Matplotlib is imported by the first picture.

Begin with `boundary`. `seen` reads and checks what a picture is about; `style`, `axes`,
`lettering`, `plane` and `projection` are what pictures share. Imports the rooms of the library and
`files`; no tables, no reports.
"""

from __future__ import annotations

from rosenblatt.plot.boundary import decision
from rosenblatt.plot.convex_hulls import hulls, nearest
from rosenblatt.plot.course import bound, epochs
from rosenblatt.plot.diagrams import network, neuron
from rosenblatt.plot.lessons import bias, fan, losses, objective
from rosenblatt.plot.margin_edges import margin
from rosenblatt.plot.panels import compare, path
from rosenblatt.plot.saving import animate, save
from rosenblatt.plot.steps import cycle, updates

__all__ = [
    "animate",
    "bias",
    "bound",
    "compare",
    "cycle",
    "decision",
    "epochs",
    "fan",
    "hulls",
    "losses",
    "margin",
    "nearest",
    "network",
    "neuron",
    "objective",
    "path",
    "save",
    "updates",
]
