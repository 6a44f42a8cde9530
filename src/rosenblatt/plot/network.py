"""Networks of threshold units as a diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.boolean import Network, Unit
from rosenblatt.plot import _style
from rosenblatt.plot.diagram import NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

MOST_ROWS = 12  # inputs, and hidden units
MOST_NUMBERS = 30
APART, STEP = 3.6, 1.25  # between levels, and between the units of one
RADIUS, SMALL = 0.42, 0.27


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
    left = -0.55 - 0.12 * max(_style.wide(_style.literal(n, 20)) for n in (*network.names, ""))
    right, half = APART * len(levels) + 1.9, STEP * max(*rows, 2) / 2 + 0.05
    ax = _style.new_axes(ax, (0.72 * (right - left), 0.72 * (2 * half + 0.5)))
    places = _inputs(ax, network.names)
    for depth, units in enumerate(levels, start=1):
        places = _level(ax, depth, units, places, _numbered(levels))
        if depth < len(levels):
            _name(ax, network.output.names, places)
    if not any(network.output.w):
        _say_constant(ax, APART * len(levels), network.output)
    _answer(ax, APART * len(levels))
    style: dict[str, Any] = {"size": _style.SMALL, "color": _style.GREY, "ha": "center"}
    ax.text((left + right) / 2, -half - 0.25, _caption(network), va="center", **style)
    ax.set(xlim=(left, right), ylim=(-half - 0.5, half), aspect="equal")
    ax.axis("off")
    return ax


def _numbered(levels: Sequence[Sequence[Unit]]) -> bool:
    """Whether the weights are few enough to be written on their lines."""
    edges = sum(bool(w) for units in levels for unit in units for w in unit.w)
    return edges <= MOST_NUMBERS


def _caption(network: Network) -> str:
    words = "a unit fires where its sum reaches the number in it; dashed lines subtract"
    if not any(network.output.w):
        return "no input matters: the sum is 0"
    if len(network.hidden) > MOST_ROWS or network.n > MOST_ROWS:
        return f"{words}; only the first {MOST_ROWS} are drawn"
    return words


def _heights(count: int) -> Any:
    """Where the units of a level stand; one row more than MOST_ROWS says that there are more."""
    rows = min(count, MOST_ROWS + 1)
    return STEP * ((rows - 1) / 2 - np.arange(rows, dtype=np.float64))


def _more(ax: Axes, x: float, count: int, height: float) -> None:
    text = f"… {_style.grouped(count - MOST_ROWS)} more"
    ax.text(x, height, text, ha="center", va="center", size=10, color=_style.GREY)


def _circle(ax: Axes, x: float, height: float, radius: float) -> None:
    from matplotlib.patches import Circle

    style: dict[str, Any] = {"facecolor": "white", "edgecolor": _style.INK, "linewidth": 1.4}
    ax.add_patch(Circle((x, height), radius, zorder=4, **style))


def _inputs(ax: Axes, names: tuple[str, ...]) -> list[tuple[float, float]]:
    """Circles with names at their left; where they are."""
    heights = _heights(len(names))
    for name, height in zip(names[:MOST_ROWS], heights, strict=False):
        _circle(ax, 0.0, height, SMALL)
        style: dict[str, Any] = {"ha": "right", "va": "center", "size": 11, "color": _style.INK}
        ax.text(-0.42, height, _style.literal(name, 20), **style)
    if len(names) > MOST_ROWS:
        _more(ax, 0.0, len(names), heights[-1])
    return [(0.0, float(height)) for height in heights[:MOST_ROWS]]


def _level(
    ax: Axes,
    depth: int,
    units: Sequence[Unit],
    before: list[tuple[float, float]],
    numbered: bool,
) -> list[tuple[float, float]]:
    """Units of one level with the lines that lead to them; where they are."""
    x, heights = APART * depth, _heights(len(units))
    written: list[tuple[float, float]] = []
    for k, (unit, height) in enumerate(zip(units[:MOST_ROWS], heights, strict=False)):
        for j, (start, weight) in enumerate(zip(before, unit.w, strict=False)):
            if weight:
                _line(ax, start, (x, height), weight, f"weight {depth} {k} {j}", thin=not numbered)
            if weight and numbered:
                _number(ax, start, (x, height), weight, written)
        _circle(ax, x, height, RADIUS)
        text = f"≥ {_style.number(unit.k)}"
        ax.text(x, height, text, ha="center", va="center", size=10.5, color=_style.INK, zorder=6)
    if len(units) > MOST_ROWS:
        _more(ax, x, len(units), heights[-1])
    return [(x, float(height)) for height in heights[:MOST_ROWS]]


def _name(ax: Axes, names: Sequence[str], places: list[tuple[float, float]]) -> None:
    """The names of hidden units above them."""
    style: dict[str, Any] = {"ha": "center", "va": "bottom", "size": 9, "color": _style.GREY}
    for name, (x, height) in zip(names, places, strict=False):
        _style.halo(ax.text(x, height + RADIUS + 0.03, name, zorder=6, **style))


def _line(
    ax: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    weight: float,
    gid: str,
    *,
    thin: bool,
) -> None:
    """A line of the weight's sign."""
    style: dict[str, Any] = {
        "color": POSITIVE if weight > 0 else NEGATIVE,
        "linestyle": "-" if weight > 0 else (0, (4, 1.6)),
        "linewidth": 1.1 if thin else 1.8,
        "zorder": 2,
    }
    ax.plot(*np.transpose([start, end]), gid=gid, **style)


def _number(
    ax: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    weight: float,
    written: list[tuple[float, float]],
) -> None:
    """The weight on its line: near the unit, where its lines are apart, but on no other number."""
    tail, tip = np.array(start), np.array(end)
    length = float(np.hypot(*(tip - tail)))
    for away in (1.05, 1.4, 1.75, 2.1):
        at = tip + (tail - tip) * away / length
        if all(abs(at[0] - x) > 0.4 or abs(at[1] - y) > 0.24 for x, y in written):
            break
    written.append((float(at[0]), float(at[1])))
    text = f"{'+' if weight > 0 else ''}{_style.number(weight)}"
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
    style: dict[str, Any] = {"ha": "center", "va": "center", "size": 9, "color": _style.INK}
    ax.text(*written[-1], text, zorder=3, bbox=box, **style)


def _say_constant(ax: Axes, x: float, unit: Unit) -> None:
    """Above a unit without weights: what it always does."""
    words = "always fires" if unit.k <= 0 else "never fires"
    style: dict[str, Any] = {"ha": "center", "va": "bottom", "size": 10, "color": _style.INK}
    ax.text(x, RADIUS + 0.08, words, zorder=6, **style)


def _answer(ax: Axes, x: float) -> None:
    """The arrow out of the last unit."""
    _style.arrow(ax, (x + RADIUS, 0), (x + 1.1, 0), "output", linewidth=1.4)
    ax.text(x + 1.2, 0, "output", ha="left", va="center", size=11, color=_style.INK)
