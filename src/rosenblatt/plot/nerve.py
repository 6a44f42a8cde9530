"""A nerve cell, and the model that was made after it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, new_axes
from rosenblatt.plot.diagrams import IN, OUT, SUM, finish, textbook_unit
from rosenblatt.plot.lettering import write
from rosenblatt.plot.style import COLOURS, INK, PALE, Look

UP = 4.75  # how far above the model the cell is drawn
BODY = np.array([4.2, UP])
CELL, RIM, NUCLEUS = "#CFE6F4", COLOURS[0], "#7FB9DC"
SHEATH, OTHER = "#FBEBC8", COLOURS[1]  # around the axon; and the ends of other cells' axons
SMOOTH = 60  # points along a curve


class Branch(NamedTuple):
    """A curve from `start` by two handles to `end`, and its width at both ends."""

    start: tuple[float, float]
    by: tuple[float, float]
    to: tuple[float, float]
    end: tuple[float, float]
    width: tuple[float, float]

    def curve(self, share: Any) -> Floats:
        """Points of the middle line."""
        t = np.atleast_1d(share)[:, np.newaxis]
        a, b, c, d = (np.array(p) for p in self[:4])
        points: Floats = (
            (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
        )
        return points

    def outline(self) -> Floats:
        """The branch as a polygon, rounded at its end."""
        middle = self.curve(np.linspace(0, 1, SMOOTH))
        along = np.gradient(middle, axis=0)
        across = np.column_stack([-along[:, 1], along[:, 0]]) / np.hypot(*along.T)[:, np.newaxis]
        half = np.linspace(*self.width, SMOOTH)[:, np.newaxis] / 2
        angles = np.linspace(np.pi / 2, -np.pi / 2, 9)[1:-1]
        forward = along[-1] / np.hypot(*along[-1])
        tip = [
            middle[-1] + half[-1] * (np.cos(a) * forward + np.sin(a) * across[-1]) for a in angles
        ]
        return np.vstack([middle + half * across, tip, (middle - half * across)[::-1]])


# The branches that bring something in, seen from the body at (0, 0); the first of a group is thick.
DENDRITES = (
    Branch((-0.3, 0.35), (-1.0, 1.0), (-1.5, 0.9), (-2.2, 1.35), (0.36, 0.13)),
    Branch((-1.3, 0.89), (-1.5, 1.2), (-1.5, 1.4), (-1.9, 1.8), (0.15, 0.09)),
    Branch((-0.4, 0.0), (-1.2, 0.15), (-1.6, -0.1), (-2.5, 0.28), (0.36, 0.13)),
    Branch((-1.55, 0.03), (-1.9, -0.05), (-2.0, -0.3), (-2.45, -0.4), (0.13, 0.09)),
    Branch((-0.3, -0.35), (-1.0, -0.8), (-1.3, -0.9), (-2.1, -1.25), (0.36, 0.13)),
    Branch((-1.25, -0.84), (-1.3, -1.2), (-1.5, -1.4), (-1.65, -1.75), (0.14, 0.09)),
    Branch((0.1, 0.35), (0.1, 0.9), (-0.3, 1.2), (-0.35, 1.75), (0.28, 0.1)),
    Branch((0.05, -0.35), (0.1, -0.9), (-0.2, -1.2), (-0.15, -1.65), (0.28, 0.1)),
)
# Axons of other cells that end at the tips of dendrites: of which, from where, how large.
SYNAPSES = (
    (1, (-3.3, 2.0), 0.34),
    (0, (-3.7, 1.2), 0.2),
    (2, (-3.9, 0.5), 0.42),
    (3, (-3.8, -0.6), 0.18),
    (4, (-3.6, -1.5), 0.3),
    (5, (-3.0, -2.05), 0.22),
)
ENDS = ((4.25, 0.62), (4.5, 0.0), (4.25, -0.62))  # of the axon's own branches
# What is what, and where that is written: of the cell, and of the model.
PARTS = (
    ("dendrites", (2.5, UP + 2.0), "inputs", (IN, 2.1)),
    ("synapses", (0.55, UP + 2.4), "weights", (1.55, 1.7)),
    ("cell body", (4.75, UP + 0.95), "sum and threshold", (SUM - 0.15, 1.2)),
    ("axon", (6.75, UP + 0.6), "output", (OUT - 0.1, 1.2)),
)


def nerve_cell(*, ax: Axes | None = None) -> Axes:
    """A nerve cell above the model neuron, the parts that correspond under the same number.

    Dendrites take in what other cells send: the inputs. Synapses, where those cells touch them,
    let more or less of it through: the weights. The cell body adds it up, and where that reaches
    a threshold it fires: the sum and the step. The axon carries this on: the output.

    Parameters
    ----------
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = new_axes(ax, (7.6, 6.3))
    _axon(ax)
    _cell(ax)
    for synapse in SYNAPSES:
        _synapse(ax, *synapse)
    textbook_unit(ax)
    ax.plot([-0.9, 8.9], [2.48, 2.48], color=PALE, linewidth=1, zorder=0)
    for number, (part, above, counterpart, below) in enumerate(PARTS, start=1):
        _badge(ax, above, number, part)
        _badge(ax, below, number, counterpart)
    finish(ax, -1.0, 9.0, -2.0, UP + 2.7)
    return ax


def _shapes(ax: Axes, outlines: list[Floats], fill: str, rim: str, level: float) -> None:
    """Shapes that run into each other, with one rim around them all."""
    from matplotlib.patches import Polygon

    around: Look = {"facecolor": rim, "edgecolor": rim, "linewidth": 2.2, "joinstyle": "round"}
    for style in (
        around | {"zorder": level},
        {"color": fill, "linewidth": 0, "zorder": level + 0.1},
    ):
        for outline in outlines:
            ax.add_patch(Polygon(outline, closed=True, **style))


def _cell(ax: Axes) -> None:
    """The body with its nucleus, and the dendrites."""
    from matplotlib.patches import Circle

    turn = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    radius = 0.62 + 0.05 * np.cos(3 * turn + 0.5) + 0.03 * np.cos(5 * turn)
    body = radius[:, np.newaxis] * np.column_stack([1.08 * np.cos(turn), np.sin(turn)])
    hillock = Branch((0.3, 0.0), (0.6, 0.0), (0.8, 0.0), (1.15, 0.0), (0.62, 0.17))
    shapes = [body, hillock.outline(), *(branch.outline() for branch in DENDRITES)]
    _shapes(ax, [BODY + shape for shape in shapes], CELL, RIM, 3.0)
    style: Look = {"facecolor": NUCLEUS, "edgecolor": RIM, "linewidth": 1.0, "zorder": 3.4}
    ax.add_patch(Circle((BODY[0] + 0.04, BODY[1] + 0.03), 0.24, gid="nucleus", **style))


def _synapse(ax: Axes, dendrite: int, source: tuple[float, float], size: float) -> None:
    """The end of another cell's axon, close to a dendrite; large where much is let through."""
    from matplotlib.patches import Circle

    touch = BODY + np.array(DENDRITES[dendrite].end)
    start = BODY + np.array(source)
    away = (start - touch) / np.hypot(*(start - touch))
    middle = touch + (size / 2 + 0.09) * away
    bend = (start + middle) / 2 + 0.12 * np.array([away[1], -away[0]])
    thread = Branch(tuple(start), tuple(bend), tuple(bend), tuple(middle), (0.05, 0.05))
    ax.plot(*thread.curve(np.linspace(0, 1, SMOOTH)).T, color=OTHER, linewidth=2.2, zorder=2)
    style: Look = {"facecolor": SHEATH, "edgecolor": OTHER, "linewidth": 1.6, "zorder": 3.6}
    ax.add_patch(Circle(tuple(middle), size / 2, gid="synapse", **style))


def _axon(ax: Axes) -> None:
    """The axon in its sheath, and where it branches at its end."""
    from matplotlib.patches import Circle, FancyBboxPatch

    trunk = Branch((0.9, 0.0), (2.0, 0.0), (2.6, 0.0), (3.6, 0.0), (0.17, 0.15))
    forks = [Branch((3.5, 0.0), (3.8, 0.0), (3.9, y), (x, y), (0.15, 0.08)) for x, y in ENDS]
    _shapes(ax, [BODY + branch.outline() for branch in (trunk, *forks)], CELL, RIM, 2.4)
    look: Look = {"facecolor": SHEATH, "edgecolor": RIM, "linewidth": 1.4, "zorder": 2.8}
    for left in (1.28, 2.03, 2.78):
        at = BODY[0] + left, BODY[1] - 0.11
        box = FancyBboxPatch(at, 0.46, 0.22, boxstyle="round,pad=0.06,rounding_size=0.16")
        box.set(**look)
        ax.add_patch(box)
    for end in ENDS:
        style: Look = {"facecolor": CELL, "edgecolor": RIM, "linewidth": 1.6, "zorder": 2.9}
        ax.add_patch(Circle(tuple(BODY + np.array(end)), 0.13, gid="end", **style))


def _badge(ax: Axes, at: tuple[float, float], number: int, name: str) -> None:
    """A number in a disc, and what it stands for."""
    from matplotlib.patches import Circle

    disc: Any = Circle(at, 0.19, facecolor=INK, edgecolor="white", linewidth=1, zorder=8)
    ax.add_patch(disc)
    write(ax, (at[0], at[1] - 0.012), str(number), size=9.5, weight="bold", color="white", zorder=9)
    style: Look = {"ha": "left", "size": 10.5, "weight": "bold", "zorder": 9}
    write(ax, (at[0] + 0.3, at[1]), name, **style)
