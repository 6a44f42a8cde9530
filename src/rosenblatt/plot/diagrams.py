"""Models as diagrams: inputs, weights, sums, thresholds; of one unit, or of a network of them."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.array_types import Floats
from rosenblatt.boolean import Network, Unit
from rosenblatt.plot.axes import Axes, new_axes
from rosenblatt.plot.lettering import halo, literal, number, wide, write
from rosenblatt.plot.seen import features_of, hyperplanes
from rosenblatt.plot.style import COLOURS, GREY, INK, PALE, SMALL, Look, arrow, colour, marker
from rosenblatt.visible import grouped

Place = tuple[float, float]

MOST_INPUTS, MOST_UNITS, MOST_NUMBERS = 8, 8, 12
IN, SUM, STEP, OUT = 0.0, 4.2, 6.0, 7.4  # where the columns of a neuron stand
MOST_ROWS = 12  # inputs, and hidden units, of a network
MOST_WEIGHTS = 30
ACROSS, DOWN = 3.6, 1.25  # between the levels of a network, and between the units of one
RADIUS = 0.42
SIGNS = ("−1", "+1")


def _circle(ax: Axes, at: Place, radius: float, facecolor: str = "white") -> None:
    from matplotlib.patches import Circle

    style: Look = {"edgecolor": INK, "linewidth": 1.4, "zorder": 4}
    ax.add_patch(Circle(at, radius, facecolor=facecolor, **style))


def _edge(ax: Axes, start: Place, end: Place, weight: float, **style: Any) -> None:
    """A line in the colour and dashes of the weight's sign."""
    tint = (COLOURS[0], GREY, COLOURS[1])[int(np.sign(weight)) + 1]
    dash: Any = "-" if weight >= 0 else (0, (4, 1.6))
    ax.plot(*np.transpose([start, end]), color=tint, linestyle=dash, zorder=2, **style)


def _in_box(ax: Axes, at: Place, text: str, pad: float, **style: Any) -> None:
    """Lettering on a line."""
    box = {"boxstyle": f"round,pad={pad}", "facecolor": "white", "edgecolor": "none"}
    write(ax, at, text, bbox=box, **style)


def _heights(n: int, apart: float) -> Floats:
    heights: Floats = apart * ((n - 1) / 2 - np.arange(n, dtype=np.float64))
    return heights


def finish(ax: Axes, left: float, right: float, bottom: float, top: float) -> None:
    """Show this part of the axes, to scale and without a frame."""
    ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    ax.axis("off")


# A neuron -------------------------------------------------------------------------------------


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
        return _heights(len(self.names), 0.78)


TEXTBOOK = Inputs(
    ["$x_1$", "$x_2$", "⋮", "$x_n$", "1"],
    np.array([[0.0, 0.0, np.nan, 0.0, 0.0]]),
    [["$w_1$", "$w_2$", "", "$w_n$", "$b$"]],
    inside=True,
)


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
    inputs, classes = TEXTBOOK, list(SIGNS)
    if model is not None:
        planes, known = hyperplanes(model)
        weights = np.array([[*plane.w, plane.b] for plane in planes])
        features = features_of(model, None, feature_names, planes[0].w.size)
        inputs, labels = _inputs(weights, features), known.tolist()
        classes = classes if labels == [-1, 1] else [str(c) for c in labels]
    left = IN - 0.45 - (0 if inputs.inside else 0.25 + 0.11 * max(map(wide, inputs.names)))
    right = OUT + 0.6 + 0.13 * _widest(classes)
    half = max(0.39 * max(len(inputs.names), min(len(classes), MOST_UNITS + 1)), 0.8) + 0.1
    ax = new_axes(ax, (0.72 * (right - left), 0.72 * 2 * half))
    _diagram(ax, inputs, classes)
    finish(ax, left, right, -half, half)
    return ax


def _diagram(ax: Axes, inputs: Inputs, classes: list[str]) -> None:
    """Inputs, weights, sums and what becomes of them, around the height 0."""
    if len(inputs.weights) == 1:
        _unit(ax, 0.0, inputs, 0)
        _threshold(ax, classes)
    else:
        _units(ax, inputs, classes)
    for j, height in enumerate(inputs.heights):
        _input(ax, inputs, j, height)


def textbook_unit(ax: Axes) -> None:
    """The unit of the textbook, with ``x1, …, xn``, in axes that hold something else as well."""
    _diagram(ax, TEXTBOOK, list(SIGNS))


def _inputs(weights: Floats, features: tuple[str, ...]) -> Inputs:
    """The largest weights in the order of their features, how many are left out, the bias."""
    d = len(features)
    largest = np.abs(weights[:, :-1]).max(axis=0)
    shown = np.sort(np.argsort(-largest, kind="stable")[:MOST_INPUTS])
    names = [literal(features[j], 30) for j in shown]
    columns = [weights[:, shown]]
    if d > MOST_INPUTS:
        names.append(f"… {grouped(d - MOST_INPUTS)} more")
        columns.append(np.full((len(weights), 1), np.nan))
    table = np.hstack([*columns, weights[:, -1:]])
    silent = len(weights) > 1 and table.size > MOST_NUMBERS
    texts = [["" if silent or np.isnan(w) else number(w) for w in row] for row in table]
    return Inputs([*names, "1"], table, texts, inside=False)


def _widest(classes: list[str]) -> int:
    """The width of the longest name of a class, as it is written."""
    return max(wide(literal(name, 20)) for name in classes)


def _input(ax: Axes, inputs: Inputs, j: int, height: float) -> None:
    """A circle with its name, inside or at the left."""
    name, last = inputs.names[j], j == len(inputs.names) - 1
    if np.isnan(inputs.weights[0, j]):
        aside = not (inputs.inside and len(name) == 1)
        at, side = (IN + 0.28, "right") if aside else (IN, "center")
        write(ax, (at, height), name, ha=side, size=10, color=GREY)
        return
    _circle(ax, (IN, height), 0.28, PALE if last else "white")
    at, side = (IN, "center") if inputs.inside or last else (IN - 0.42, "right")
    write(ax, (at, height), name, ha=side, size=10)


def _unit(ax: Axes, height: float, inputs: Inputs, k: int) -> None:
    """One sum and the edges that lead to it."""
    # The bias has its own unit of measure: it must not make the weights look thin.
    largest = np.nanmax(np.abs(inputs.weights[:, :-1])) or 1.0
    single = len(inputs.weights) == 1
    for j, level in enumerate(inputs.heights):
        weight, text = inputs.weights[k, j], inputs.texts[k][j]
        if np.isnan(weight):
            continue
        thick = 1.0 + 4.0 * min(abs(weight) / largest, 1.0)
        _edge(ax, (IN, level), (SUM, height), weight, linewidth=thick, gid=f"weight {k} {j}")
        if text:
            at = IN + 0.36 * (SUM - IN), level + 0.36 * (height - level)
            _in_box(ax, at, text, 0.15, size=9.5)
    _circle(ax, (SUM, height), 0.42 if single else 0.3)
    write(ax, (SUM, height), "Σ", size=15 if single else 11)


def _threshold(ax: Axes, classes: list[str]) -> None:
    """The step and the two answers."""
    from matplotlib.patches import FancyBboxPatch

    arrow(ax, (SUM + 0.42, 0), (STEP - 0.42, 0), "sum", linewidth=1.4)
    write(ax, ((SUM + STEP) / 2, 0.22), "w·x + b", size=9, color=GREY)
    box = FancyBboxPatch((STEP - 0.38, -0.38), 0.76, 0.76, boxstyle="round,pad=0.04")
    box.set(facecolor="white", edgecolor=INK, linewidth=1.4, zorder=4)
    ax.add_patch(box)
    step = np.array([[-0.28, -0.2], [0, -0.2], [0, 0.2], [0.28, 0.2]])
    step[:, 0] += STEP
    ax.plot(*step.T, color=INK, linewidth=2, zorder=5)
    for k, (sign, height) in enumerate((("≤ 0", -0.55), ("> 0", 0.55))):
        arrow(ax, (STEP + 0.42, 0.3 * height), (OUT, height), f"output {k}", linewidth=1.4)
        write(ax, ((STEP + OUT) / 2 + 0.2, 1.45 * height), sign, size=9, color=GREY)
        ax.scatter(OUT + 0.22, height, marker=marker(k), s=55, color=colour(k), zorder=6)
        write(ax, (OUT + 0.45, height), literal(classes[k], 20), ha="left", size=10.5)


def _units(ax: Axes, inputs: Inputs, classes: list[str]) -> None:
    """A sum for each class; the largest wins."""
    shown = min(len(classes), MOST_UNITS)
    more = len(classes) > shown
    heights = _heights(shown + more, 0.78)
    for k, height in enumerate(heights[:shown]):
        _unit(ax, height, inputs, k)
        arrow(ax, (SUM + 0.3, height), (SUM + 0.9, height), f"output {k}", linewidth=1.2)
        ax.scatter(SUM + 1.12, height, marker=marker(k), s=45, color=colour(k), zorder=6)
        write(ax, (SUM + 1.35, height), literal(classes[k], 20), ha="left", size=10)
    if more:
        rest = f"… {grouped(len(classes) - shown)} more"
        write(ax, (SUM + 1.0, heights[-1]), rest, ha="left", size=10, color=GREY)
    x = SUM + 1.6 + 0.13 * max(_widest(classes), 6 * more)
    top = heights[0] + 0.3
    ax.plot([x, x + 0.15, x + 0.15, x], [top, top, -top, -top], color=GREY, linewidth=1.2)
    write(ax, (x + 0.35, 0), "the largest\nsum wins", size=9.5, ha="left", color=GREY)


# A network ------------------------------------------------------------------------------------


def network(network: Any, *, ax: Axes | None = None) -> Axes:
    """A network of threshold units: inputs at the left, the output at the right.

    In each unit stands its threshold: it fires where the weighted sum of what comes in reaches
    that. Lines of positive weight are solid and orange, those of negative weight dashed and
    blue; the weights are written on them as long as they are few. Of many inputs or hidden units
    the first twelve are drawn.

    Parameters
    ----------
    network : Network or Unit
        What `rosenblatt.boolean.two_level_network` or `threshold_unit` gives.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
    """
    if isinstance(network, Unit):
        network = Network((), network, "one unit", fewest=True)
    if not isinstance(network, Network):
        msg = f"cannot draw {type(network).__name__}: give a Network or a Unit of rb.boolean"
        raise ValueError(msg)
    levels = [network.hidden, (network.output,)] if network.hidden else [(network.output,)]
    rows = [min(len(names), MOST_ROWS + 1) for names in (network.names, network.hidden)]
    left = -0.55 - 0.12 * max(wide(literal(n, 20)) for n in (*network.names, ""))
    right, half = ACROSS * len(levels) + 1.9, DOWN * max(*rows, 2) / 2 + 0.05
    ax = new_axes(ax, (0.72 * (right - left), 0.72 * (2 * half + 0.5)))
    edges = sum(bool(w) for units in levels for unit in units for w in unit.w)
    places = _places(ax, 0, network.n)
    for name, at in zip(network.names, places, strict=False):
        _circle(ax, at, 0.27)
        write(ax, (-0.42, at[1]), literal(name, 20), ha="right", size=11)
    for depth, units in enumerate(levels, start=1):
        places = _level(ax, depth, units, places, edges <= MOST_WEIGHTS)
        for name, (x, height) in zip(network.output.names, places, strict=False):
            if depth < len(levels):
                above = x, height + RADIUS + 0.03
                halo(write(ax, above, name, va="bottom", size=9, color=GREY))
    end = ACROSS * len(levels)
    if not any(network.output.w):
        words = "always fires" if network.output.k <= 0 else "never fires"
        write(ax, (end, RADIUS + 0.08), words, va="bottom", size=10)
    arrow(ax, (end + RADIUS, 0), (end + 1.1, 0), "output", linewidth=1.4)
    write(ax, (end + 1.2, 0), "output", ha="left", size=11)
    caption = "a unit fires where its sum reaches the number in it; dashed lines subtract"
    if not any(network.output.w):
        caption = "no input matters: the sum is 0"
    elif len(network.hidden) > MOST_ROWS or network.n > MOST_ROWS:
        caption += f"; only the first {MOST_ROWS} are drawn"
    caption = fill(caption, int(10.9 * (right - left)))  # no wider than the network
    write(ax, ((left + right) / 2, -half - 0.25), caption, size=SMALL, color=GREY)
    finish(ax, left, right, -half - 0.5, half)
    return ax


def _places(ax: Axes, depth: int, count: int) -> list[Place]:
    """Where the rows of a level stand; one row more than MOST_ROWS says that there are more."""
    x, heights = ACROSS * depth, _heights(min(count, MOST_ROWS + 1), DOWN)
    if count > MOST_ROWS:
        more = f"… {grouped(count - MOST_ROWS)} more"
        write(ax, (x, heights[-1]), more, size=10, color=GREY, zorder=3)
    return [(x, float(height)) for height in heights[:MOST_ROWS]]


def _level(
    ax: Axes, depth: int, units: Sequence[Unit], before: list[Place], numbered: bool
) -> list[Place]:
    """Units of one level with the lines that lead to them; where they are."""
    places = _places(ax, depth, len(units))
    written: list[Place] = []
    for k, (unit, at) in enumerate(zip(units, places, strict=False)):
        for j, (start, weight) in enumerate(zip(before, unit.w, strict=False)):
            if weight:
                gid, width = f"weight {depth} {k} {j}", 1.8 if numbered else 1.1
                _edge(ax, start, at, weight, gid=gid, linewidth=width)
            if weight and numbered:
                _write_weight(ax, start, at, weight, written)
        _circle(ax, at, RADIUS)
        write(ax, at, f"≥ {number(unit.k)}", size=10.5)
    return places


def _write_weight(ax: Axes, start: Place, end: Place, weight: float, written: list[Place]) -> None:
    """The weight on its line: near the unit, where its lines are apart, but on no other number."""
    tail, tip = np.array(start), np.array(end)
    length = float(np.hypot(*(tip - tail)))
    for away in (1.05, 1.4, 1.75, 2.1):
        at = tip + (tail - tip) * away / length
        if all(abs(at[0] - x) > 0.4 or abs(at[1] - y) > 0.24 for x, y in written):
            break
    written.append((float(at[0]), float(at[1])))
    sign = "+" if weight > 0 else ""
    _in_box(ax, written[-1], f"{sign}{number(weight)}", 0.1, size=9, zorder=3)
