"""A run in the wedge that the mistake bound leaves it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.plot import _style
from rosenblatt.results import BoundReport, power_of_ten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FAR = 8  # where the bound is farther than so many runs, both axes are logarithmic
MOST_MARKERS, MOST_POINTS, GRID = 40, 2000, 400
PER_ROW = 3


def bound(report: Any, *, ax: Any = None) -> Any:
    """How long ``θ`` grew, between the least and the most that it can with so many mistakes.

    By one lemma ``θ·θ*`` grows at least like the number of mistakes, by the other ``‖θ‖`` at
    most like its square root, and ``θ·θ* <= ‖θ‖``. So the run is caught in a wedge that closes
    at the bound. Where the bound is far off, both axes are logarithmic.

    Parameters
    ----------
    report : BoundReport, or a sequence of them
        What `Perceptron.bound_report` returned.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure. For several reports, an array of as many.

    Returns
    -------
    matplotlib Axes, or an array of them for several reports
    """
    if isinstance(report, BoundReport):
        ax = _style.new_axes(ax, (6.4, 4.4))
        _style.legend(ax, _draw(ax, report))
        return ax
    reports = tuple(report) if isinstance(report, tuple | list) else ()
    if not reports or not all(isinstance(one, BoundReport) for one in reports):
        msg = f"{type(report).__name__} cannot be drawn: give what Perceptron.bound_report returned"
        raise ValueError(msg)
    figure, axes = _panels(reports, ax)
    for one, panel in zip(reports, axes, strict=True):
        entries = _draw(panel, one, plain=True)
        panel.set_title(f"{_style.literal(str(one.positive))} against the rest", fontsize=10)
    if figure is not None:
        handles, texts = zip(*entries, strict=True)
        figure.legend(handles, texts, loc="outside upper center", ncols=4, frameon=False)
    return axes


def _panels(reports: Sequence[BoundReport], axes: Any) -> tuple[Any, NDArray[Any]]:
    """Axes for each report, and the figure if it was made here."""
    if axes is not None:
        given = np.asarray(axes, dtype=object).ravel()
        if len(given) != len(reports):
            msg = f"ax holds {len(given)} axes, but there are {len(reports)} reports"
            raise ValueError(msg)
        return None, given
    columns = 2 if len(reports) == 4 else min(len(reports), PER_ROW)
    rows = math.ceil(len(reports) / columns)
    size = (4.4 * columns, 3.6 * rows + 0.4)
    figure, made = _style.pyplot().subplots(rows, columns, figsize=size, layout="constrained")
    made = np.atleast_1d(made).ravel()
    for spare in made[len(reports) :]:
        spare.remove()
    return figure, made[: len(reports)]


def _draw(ax: Axes, report: BoundReport, *, plain: bool = False) -> list[tuple[Any, str]]:
    """One picture; returns what its legend says."""
    limit, made = report.bound.bound, report.n_mistakes
    if not 0 < limit < np.inf:
        many = f"{limit:g}" if math.isfinite(limit) else power_of_ten(report.bound)
        msg = f"a bound of {many} mistakes cannot be drawn"
        raise ValueError(msg)
    far = limit > FAR * max(made, 1)
    first = min(1.0, limit / 2)
    m = np.geomspace(first, 2 * limit, GRID) if far else np.linspace(0.0, 1.12 * limit, GRID)
    m = np.sort(np.append(m, limit))
    entries = [*_run(ax, report, far), *_wedge(ax, report, m, plain)]
    _scales(ax, report, m, far)
    _ends(ax, report)
    ax.set(xlabel="mistakes", ylabel="length of θ, and its part along θ*")
    if report.bound.hyperplane is None:
        ax.set_ylabel("length of θ")
    _style.plain(ax)
    return entries


def _wedge(ax: Axes, report: BoundReport, m: Floats, plain: bool) -> list[tuple[Any, str]]:
    """The two curves of the lemmas, solid up to where they meet, and the room between them."""
    b, limit = report.bound, report.bound.bound
    high, low = np.sqrt(b.length2_bound(m)), b.progress_bound(m)
    tints = _style.colour(4), _style.colour(0)
    before = m <= limit
    floor = low if b.hyperplane is not None else np.zeros_like(low)
    if b.shortfall:  # far below zero, where nothing is to be seen
        floor = np.maximum(floor, 0.0)
    style: dict[str, Any] = {"color": _style.PALE, "alpha": 0.55, "linewidth": 0, "zorder": 0}
    room = ax.fill_between(m[before], floor[before], high[before], **style)
    _style.named(room, "room")
    times = f"{b.batch_size}·" if b.batch_size > 1 else ""
    at_most = "" if plain or b.length else f", R√({times}mistakes)" if times else ", R√mistakes"
    at_least = "" if plain or b.length or b.shortfall else ", γ·mistakes"
    lines = [(high, tints[0], "most", f"‖θ‖ at most{at_most}")]
    if b.hyperplane is not None:
        lines.append((low, tints[1], "least", f"θ·θ* at least{at_least}"))
    entries = []
    for values, tint, gid, text in lines:
        (line,) = ax.plot(m[before], values[before], color=tint, linewidth=1.8, zorder=2)
        ax.plot(m[~before], values[~before], color=tint, linewidth=1.2, linestyle=":", zorder=2)
        entries.append((_style.named(line, gid), text))
    return entries


def _run(ax: Axes, report: BoundReport, far: bool) -> list[tuple[Any, str]]:
    """``‖θ‖`` and ``θ·θ*`` of the run."""
    total = len(report.mistakes)
    if total <= MOST_POINTS:
        chosen = np.arange(int(far and total > 1), total)  # a logarithmic axis has no zero
    else:
        spread = np.geomspace(1, total, MOST_POINTS) if far else np.linspace(1, total, MOST_POINTS)
        chosen = np.unique(spread.astype(np.int64)) - 1
    mistakes = report.mistakes[chosen]
    mark = "o" if total <= MOST_MARKERS else "none"
    style: dict[str, Any] = {"marker": mark, "markersize": 3, "zorder": 4}
    length = np.sqrt(report.length2[chosen])
    (line,) = ax.plot(mistakes, length, color=_style.INK, linewidth=1.8, **style)
    entries = [(_style.named(line, "length"), "‖θ‖ of the run")]
    if report.bound.hyperplane is not None:
        style |= {"color": _style.GREY, "linewidth": 1.2, "linestyle": (0, (4, 1.5))}
        (line,) = ax.plot(mistakes, report.progress[chosen], **(style | {"markersize": 2}))
        entries.append((_style.named(line, "progress"), "θ·θ* of the run"))
    return entries


def _scales(ax: Axes, report: BoundReport, m: Floats, far: bool) -> None:
    top = float(np.sqrt(report.bound.length2_bound(m[-1])))
    top = max(top, float(np.sqrt(report.length2.max()))) or 1.0
    if not far:
        ax.set_xlim(0, m[-1])
        room = 1.3 if report.bound.shortfall else 1.08  # for the words at the top
        ax.set_ylim(min(0.0, 1.05 * float(report.progress.min())), room * top)
    else:
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlim(m[0], m[-1])
        ax.set_ylim(_bottom(report, top), (5.0 if report.bound.shortfall else 1.5) * top)
    whole = far or m[-1] < 1e6
    ax.xaxis.set_major_formatter(lambda v, _: _style.grouped(v) if whole and v < 1e6 else _power(v))


def _bottom(report: BoundReport, top: float) -> float:
    """The lowest length to be drawn on a logarithmic axis."""
    shown = np.concatenate([np.sqrt(report.length2[1:]), report.progress[1:]])
    if not report.bound.shortfall:
        shown = np.append(shown, report.bound.progress_bound(1.0))
    shown = shown[shown > 1e-12 * top]
    return 0.6 * float(shown.min()) if shown.size else 1e-3 * top


def _power(value: float) -> str:
    """A large number as a power of ten."""
    exponent = math.floor(math.log10(value)) if value > 0 else 0
    mantissa = value / 10.0**exponent
    ten = rf"10^{{{exponent}}}"
    return f"${ten}$" if round(mantissa, 6) == 1 else rf"${mantissa:.3g}\cdot{ten}$"


def _ends(ax: Axes, report: BoundReport) -> None:
    """Where the run ended, and where every run has to."""
    b, made = report.bound, report.n_mistakes
    height = float(np.sqrt(b.length2_bound(b.bound)))
    (meet,) = ax.plot([b.bound], [height], "o", color=_style.INK, markersize=5, zorder=5)
    _style.named(meet, "bound")
    limit = f"{_style.grouped(b.most)}" if b.most < 1e9 else _power(b.most)
    where = f"\nin {_style.count(b.epochs, 'epoch')}" if b.epochs else ""
    ax.axvline(b.bound, color=_style.INK, linewidth=0.8, linestyle=":", zorder=1)
    # Beside the dotted line at the foot; but with a shortfall the lower curve climbs there.
    place, va, up = (1.0, "top", -3) if b.shortfall else (0.0, "bottom", 4)
    beside: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "ha": "right", "va": va}
    _note(ax, f"at most {limit}{where}", (b.bound, place), (-4, up), "bound text", **beside)
    if not made:
        return
    end = made, float(np.sqrt(report.length2[-1]))
    tint = _style.colour(1)
    (dot,) = ax.plot(*end, "o", color=tint, markersize=7, zorder=6)
    _style.named(dot, "end")
    late = made > 0.85 * b.bound  # no room at the right
    side: dict[str, Any] = {"ha": "right" if late else "left", "va": "bottom" if late else "center"}
    text = f"{_style.grouped(made)} made"
    side |= {"color": _style.lettering(tint), "weight": "bold"}
    _note(ax, text, end, (-6, 5) if late else (9, 0), "end text", **side)


def _note(ax: Axes, text: str, place: Any, offset: Any, gid: str, **style: Any) -> None:
    options: dict[str, Any] = {"fontsize": _style.SMALL, "color": _style.INK, "zorder": 7} | style
    note = ax.annotate(text, place, xytext=offset, textcoords="offset points", **options)
    _style.named(_style.halo(note), gid)
