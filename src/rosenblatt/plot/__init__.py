"""Pictures of hyperplanes and of how they came about.

Every function draws into `ax` and returns it, or makes a figure where it is None; nothing here
shows a window or changes Matplotlib's settings. Classes differ in colour and in marker, so that
a picture also reads in print without colours. Matplotlib is imported by the first picture.

Begin with `boundary`. What pictures share is in the modules with an underscore: these draw, and
are no pictures themselves. Imports the rooms of the library and `files`; no tables, no reports.
"""

from __future__ import annotations

from rosenblatt.plot.bound import bound
from rosenblatt.plot.boundary import decision
from rosenblatt.plot.compare import compare
from rosenblatt.plot.course import epochs
from rosenblatt.plot.cycle import cycle
from rosenblatt.plot.diagram import neuron
from rosenblatt.plot.files import save
from rosenblatt.plot.film import animate
from rosenblatt.plot.hulls import hulls
from rosenblatt.plot.lessons import bias, fan, losses, objective
from rosenblatt.plot.margin import margin
from rosenblatt.plot.nearest import nearest
from rosenblatt.plot.network import network
from rosenblatt.plot.path import path
from rosenblatt.plot.steps import updates

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
