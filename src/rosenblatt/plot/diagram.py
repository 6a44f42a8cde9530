"""A model as a diagram: inputs, weights, a sum, a threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.plot import _style
from rosenblatt.plot._reading import features_of, hyperplanes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_INPUTS, MOST_UNITS, MOST_NUMBERS = 8, 8, 12
IN, SUM, STEP, OUT = 0.0, 4.2, 6.0, 7.4  # where the columns stand
POSITIVE, NEGATIVE = _style.COLOURS[1], _style.COLOURS[0]


class Inputs(NamedTuple):
    """The rows of the diagram: their names, and for each unit what is written on their edges.

    A row without an edge, such as "… 3 more", has the weight nan.
    """

    names: list[str]
    weights: Floats
    texts: list[list[str]]
    inside: bool

    @property
    def heights(self) -> Floats:
        """Where the rows are."""
        return _spread(len(self.names))


def neuron(
    model: Any = None, *, ax: Axes | None = None, feature_names: Sequence[str] | None = None
) -> Axes:
    """A linear model as a neuron: ``x ↦ step(w·x + b)``.

    Each input has its name beside it and a line to the sum, as wide as its weight is large; solid
    and orange where it is positive, dashed and blue where it is negative. Of many features the
    eight with the largest weights are drawn. More than two classes have a sum each, and the
    largest wins.

    Parameters
    ----------
    model : fitted linear classifier or Hyperplane, optional
        None: the unit of the textbook, with ``x1, …, xn``.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.
    feature_names : sequence of str, optional
        Names to use instead of the model's own.

    Returns
    -------
    matplotlib Axes
    """
    if model is None:
        inputs, classes = _textbook(), ["−1", "+1"]
    else:
        planes, known = hyperplanes(model)
        weights = np.array([[*plane.w, plane.b] for plane in planes])
        inputs = _inputs(weights, features_of(model, None, feature_names))
        signs = known.tolist() == [-1, 1]
        classes = ["−1", "+1"] if signs else [str(c) for c in known.tolist()]
    left = IN - 0.45 - (0 if inputs.inside else 0.25 + 0.11 * max(map(_style.wide, inputs.names)))
    right = OUT + 0.6 + 0.13 * _widest(classes)
    half = max(0.39 * max(len(inputs.names), min(len(classes), MOST_UNITS + 1)), 0.8) + 0.1
    ax = _style.new_axes(ax, (0.72 * (right - left), 0.72 * 2 * half))
    if len(inputs.weights) == 1:
        _unit(ax, 0.0, inputs, 0)
        _threshold(ax, classes)
    else:
        _units(ax, inputs, classes)
    for j, height in enumerate(inputs.heights):
        _input(ax, inputs, j, height)
    ax.set(xlim=(left, right), ylim=(-half, half), aspect="equal")
    ax.axis("off")
    return ax


def _textbook() -> Inputs:
    """x1, x2, …, xn and the bias."""
    names = ["$x_1$", "$x_2$", "⋮", "$x_n$", "1"]
    texts = [["$w_1$", "$w_2$", "", "$w_n$", "$b$"]]
    return Inputs(names, np.array([[0.0, 0.0, np.nan, 0.0, 0.0]]), texts, inside=True)


def _inputs(weights: Floats, features: tuple[str, ...]) -> Inputs:
    """The largest weights in the order of their features, how many are left out, the bias."""
    d = len(features)
    size = np.abs(weights[:, :-1]).max(axis=0)
    largest = np.sort(np.argsort(-size, kind="stable")[:MOST_INPUTS])
    names = [_style.literal(features[j], 30) for j in largest]
    shown = weights[:, largest]
    if d > MOST_INPUTS:
        names.append(f"… {_style.grouped(d - MOST_INPUTS)} more")
        shown = np.column_stack([shown, np.full(len(weights), np.nan)])
    shown = np.column_stack([shown, weights[:, -1]])
    silent = len(weights) > 1 and shown.size > MOST_NUMBERS
    texts = [["" if silent or np.isnan(w) else _style.number(w) for w in row] for row in shown]
    return Inputs([*names, "1"], shown, texts, inside=False)


def _spread(n: int) -> Floats:
    heights: Floats = 0.78 * ((n - 1) / 2 - np.arange(n, dtype=np.float64))
    return heights


def _widest(classes: list[str]) -> int:
    """The width of the longest name of a class, as it is written."""
    return max(_style.wide(_style.literal(name, 20)) for name in classes)


def _circle(ax: Axes, x: float, height: float, radius: float, **style: Any) -> None:
    from matplotlib.patches import Circle

    options: dict[str, Any] = {
        "facecolor": "white",
        "edgecolor": _style.INK,
        "linewidth": 1.4,
        "zorder": 4,
    }
    ax.add_patch(Circle((x, height), radius, **(options | style)))


def _write(ax: Axes, x: float, height: float, text: str, **style: Any) -> Any:
    options: dict[str, Any] = {
        "ha": "center",
        "va": "center",
        "size": 10,
        "color": _style.INK,
        "zorder": 6,
    }
    return ax.text(x, height, text, **(options | style))


def _input(ax: Axes, inputs: Inputs, j: int, height: float) -> None:
    """A circle with its name, inside or at the left."""
    name, last = inputs.names[j], j == len(inputs.names) - 1
    if np.isnan(inputs.weights[0, j]):
        aside = not (inputs.inside and len(name) == 1)
        at, side = (IN + 0.28, "right") if aside else (IN, "center")
        _write(ax, at, height, name, ha=side, color=_style.GREY)
        return
    _circle(ax, IN, height, 0.28, facecolor=_style.PALE if last else "white")
    inside = inputs.inside or last
    _write(ax, IN - (0 if inside else 0.42), height, name, ha="center" if inside else "right")


def _unit(ax: Axes, height: float, inputs: Inputs, k: int) -> None:
    """One sum and the edges that lead to it."""
    # The bias has its own unit of measure: it must not make the weights look thin.
    largest = np.nanmax(np.abs(inputs.weights[:, :-1])) or 1.0
    single = len(inputs.weights) == 1
    for j, level in enumerate(inputs.heights):
        weight, text = inputs.weights[k, j], inputs.texts[k][j]
        if np.isnan(weight):
            continue
        tint = (NEGATIVE, _style.GREY, POSITIVE)[int(np.sign(weight)) + 1]
        style: dict[str, Any] = {
            "color": tint,
            "linestyle": "-" if weight >= 0 else (0, (4, 1.6)),
            "zorder": 2,
        }
        width = 1.0 + 4.0 * min(abs(weight) / largest, 1.0)
        ax.plot([IN, SUM], [level, height], linewidth=width, gid=f"weight {k} {j}", **style)
        if text:
            share = 0.36
            at = level + share * (height - level)
            box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
            _write(ax, IN + share * (SUM - IN), at, text, size=9.5, bbox=box)
    _circle(ax, SUM, height, 0.42 if single else 0.3)
    _write(ax, SUM, height, "Σ", size=15 if single else 11)


def _threshold(ax: Axes, classes: list[str]) -> None:
    """The step and the two answers."""
    from matplotlib.patches import FancyBboxPatch

    _style.arrow(ax, (SUM + 0.42, 0), (STEP - 0.42, 0), "sum", linewidth=1.4)
    _write(ax, (SUM + STEP) / 2, 0.22, "w·x + b", size=9, color=_style.GREY)
    box = FancyBboxPatch((STEP - 0.38, -0.38), 0.76, 0.76, boxstyle="round,pad=0.04")
    box.set(facecolor="white", edgecolor=_style.INK, linewidth=1.4, zorder=4)
    ax.add_patch(box)
    step = np.array([[-0.28, -0.2], [0, -0.2], [0, 0.2], [0.28, 0.2]])
    step[:, 0] += STEP
    ax.plot(*step.T, color=_style.INK, linewidth=2, zorder=5)
    for k, (sign, height) in enumerate((("≤ 0", -0.55), ("> 0", 0.55))):
        _style.arrow(ax, (STEP + 0.42, 0.3 * height), (OUT, height), f"output {k}", linewidth=1.4)
        _write(ax, (STEP + OUT) / 2 + 0.2, 1.45 * height, sign, size=9, color=_style.GREY)
        dot: dict[str, Any] = {
            "marker": _style.marker(k),
            "s": 55,
            "color": _style.colour(k),
            "zorder": 6,
        }
        ax.scatter(OUT + 0.22, height, **dot)
        name = _style.literal(classes[k], 20)
        _write(ax, OUT + 0.45, height, name, ha="left", size=10.5)


def _units(ax: Axes, inputs: Inputs, classes: list[str]) -> None:
    """A sum for each class; the largest wins."""
    shown = min(len(classes), MOST_UNITS)
    more = len(classes) > shown
    for k, height in enumerate(_spread(shown + more)[:shown]):
        _unit(ax, height, inputs, k)
        dot: dict[str, Any] = {
            "marker": _style.marker(k),
            "s": 45,
            "color": _style.colour(k),
            "zorder": 6,
        }
        _style.arrow(ax, (SUM + 0.3, height), (SUM + 0.9, height), f"output {k}", linewidth=1.2)
        ax.scatter(SUM + 1.12, height, **dot)
        _write(ax, SUM + 1.35, height, _style.literal(classes[k], 20), ha="left", size=10)
    if more:
        rest = f"… {_style.grouped(len(classes) - shown)} more"
        _write(ax, SUM + 1.0, _spread(shown + 1)[-1], rest, ha="left", color=_style.GREY)
    x = SUM + 1.6 + 0.13 * max(_widest(classes), 6 * more)
    top = _spread(shown + more)[0] + 0.3
    bracket = np.array([[0, top], [0.15, top], [0.15, -top], [0, -top]])
    bracket[:, 0] += x
    ax.plot(*bracket.T, color=_style.GREY, linewidth=1.2)
    _write(ax, x + 0.35, 0, "the largest\nsum wins", size=9.5, ha="left", color=_style.GREY)
