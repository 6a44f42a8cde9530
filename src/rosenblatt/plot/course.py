"""The course of a fit in numbers: mistakes by epoch, and in the wedge of their bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, axes_in_rows, new_axes, plain, whole_ticks
from rosenblatt.plot.lettering import FEW, LONG, MOST_NAMED, beside, dark, legend, literal
from rosenblatt.plot.style import COLOURS, GREY, INK, PALE, Entries, Look, colour, marker
from rosenblatt.results import BoundReport, Fit, power_of_ten
from rosenblatt.visible import count, grouped

MOST_MARKERS, MOST_EPOCHS, BINS = 40, 400, 160
DASHES = ("-", "--", "-.", ":")
FAR = 8  # where the bound is farther than so many runs, both axes are logarithmic
MOST_POINTS, CURVE = 2000, 400  # of a run, and of a curve
PER_ROW = 3


def epochs(model: Any, *, ax: Axes | None = None) -> Axes:
    """Mistakes per epoch, and why the run ended.

    Beside them the training errors of the pocket after each epoch (``keep="pocket"``) and, on
    the scale at the right, the loss of the delta rule (`Adaline`). More than two classes have a
    line each; of more than 26, the eight with most mistakes in the end, before the others in grey.
    In a long run the epochs get a logarithmic scale; past 400 of them, a line is the mean of
    neighbouring epochs, in a band from their least to their greatest.

    Parameters
    ----------
    model : Perceptron, Adaline or KernelPerceptron
        A fitted one.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
    """
    fits: tuple[Fit, ...] = getattr(model, "fits_", ())
    if not fits or not hasattr(getattr(fits[0], "trace", None), "mistakes"):
        what = type(model).__name__
        msg = f"{what} has no trace of its epochs: give a fitted rb.Perceptron or rb.Adaline"
        raise ValueError(msg)
    ax = new_axes(ax, (6.4, 3.8))
    names = [""] if len(fits) == 1 else [str(c) for c in np.asarray(model.classes_).tolist()]
    if len(names) > FEW:
        names = [literal(name, LONG) for name in names]
    entries: Entries = []
    told = _told(fits)
    for k, (fit, name) in enumerate(zip(fits, names, strict=True)):
        if k in told:
            entries += _mistakes(ax, fit, name, k)
        else:
            pale = _behind(ax, fit)
    if len(told) < len(fits):
        entries.append((pale, f"{len(fits) - len(told)} classes with fewer at last"))
    if fits[0].trace.loss is not None:
        entries += _losses(ax, fits)
    bands = ax.findobj(lambda artist: artist.get_gid() == "band")
    entries += [(band, "least to greatest of neighbouring epochs") for band in bands[:1]]
    drawn = [c for fit in fits for c in (fit.trace.mistakes, fit.trace.pocket_errors)]
    most = max(int(c[np.isfinite(c)].max(initial=0)) for c in drawn if c is not None)
    _epoch_scales(ax, max(len(fit.trace) for fit in fits), most)
    ax.set(xlabel="epoch", ylabel="mistakes")
    plain(ax)
    reasons = [fit.stop_reason.name.lower().replace("_", " ") for fit in fits]
    if len(fits) == 1:
        endings = [f"{reasons[0]} after {count(fits[0].n_epochs, 'epoch')}"]
    else:
        endings = [f"{reasons.count(r)} of {len(fits)}: {r}" for r in dict.fromkeys(reasons)]
    legend(ax, entries + [(None, ending) for ending in endings])
    return ax


def _told(fits: tuple[Fit, ...]) -> set[int]:
    """The problems that have a line of their own: of very many those with most mistakes at last."""
    if len(fits) <= MOST_NAMED:
        return set(range(len(fits)))
    last = np.array([fit.trace.mistakes[-1] if len(fit.trace) else 0 for fit in fits])
    return set(np.argsort(-last, kind="stable")[:FEW].tolist())


def _behind(ax: Axes, fit: Fit) -> Any:
    """The mistakes of one problem of very many."""
    n = len(fit.trace)
    epoch = np.unique(np.geomspace(1, max(n, 1), BINS).astype(np.int64))[: max(n, 0)]
    style: Look = {"color": PALE, "linewidth": 0.6, "zorder": 1, "gid": "behind"}
    return ax.plot(epoch, np.asarray(fit.trace.mistakes)[epoch - 1], **style)[0]


def _mistakes(ax: Axes, fit: Fit, name: str, k: int) -> Entries:
    """The mistakes of one problem and the errors of its pocket."""
    tint, dash = colour(k), DASHES[k // len(COLOURS) % len(DASHES)]
    mark = marker(k) if name or len(fit.trace) <= MOST_MARKERS else "none"
    style: Look = {"color": tint, "linestyle": dash, "marker": mark}
    line = _course(ax, fit.trace.mistakes, gid=f"mistakes {k}", **style)
    mean = ", mean of neighbours" * (len(fit.trace) > MOST_EPOCHS)
    entries = [(line, name or f"mistakes in the epoch{mean}")]
    if fit.trace.pocket_errors is not None:
        epoch = np.arange(1, len(fit.trace) + 1)
        style = {"where": "post", "linewidth": 1.8, "zorder": 3, "linestyle": (0, (4, 1.5))}
        style |= {"color": tint if name else colour(1), "gid": f"pocket {k}"}
        (pocket,) = ax.step(epoch, fit.trace.pocket_errors, **style)
        entries.append((pocket, f"errors of the pocket{f', {name}' * bool(name)}"))
    return entries


def _course(ax: Axes, values: NDArray[Any], **style: Any) -> Any:
    """One value per epoch as a line; of very many, the mean and range of neighbours."""
    n = len(values)
    style |= {"linewidth": 1.6, "markersize": 4.5, "markeredgecolor": "white", "zorder": 2}
    if n > MOST_MARKERS:  # a few marks, to tell lines apart in print
        style |= {"markevery": 0.11}
    if n <= MOST_EPOCHS:
        return ax.plot(np.arange(1, n + 1), values, markeredgewidth=0.5, **style)[0]
    starts = np.unique(np.geomspace(1, n, BINS).astype(np.int64)) - 1
    sizes = np.diff(starts, append=n)
    least, most = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    middle = starts + 1 + (sizes - 1) / 2
    band: Look = {"color": style["color"], "alpha": 0.2, "linewidth": 0, "gid": "band"}
    ax.fill_between(middle, least, most, **band)
    return ax.plot(middle, np.add.reduceat(values, starts) / sizes, **style)[0]


def _losses(ax: Axes, fits: tuple[Fit, ...]) -> Entries:
    """The loss of the delta rule, on a scale of its own at the right."""
    right = ax.twinx()
    losses = [np.asarray(fit.trace.loss) for fit in fits]
    lines = []
    for k, loss in enumerate(losses):
        style: Look = {"linestyle": "--", "marker": "none", "gid": f"loss {k}"}
        lines.append(_course(right, loss, color=colour(1 if len(fits) == 1 else k), **style))
    every = np.concatenate(losses)
    if every.min(initial=np.inf) > 0 and every.max() > 100 * every.min():
        right.set_yscale("log")
    else:
        right.set_ylim(0, 1.06 * every.max(initial=0.0) or 1)
    right.set_ylabel("mean of (t − o)²/2, dashed")
    plain(right)
    right.spines["right"].set(visible=True, color=GREY)
    return [(lines[0], "loss")] if len(fits) == 1 else []


def _epoch_scales(ax: Axes, longest: int, most: int) -> None:
    """Logarithmic where a run is long or its counts have several orders of magnitude."""
    if longest > 2 * MOST_MARKERS:
        ax.set_xscale("log")
        ax.set_xlim(0.9, longest * 1.1)
    else:
        whole_ticks(ax.xaxis)
        ax.set_xlim(0.5, max(longest, 1) + 0.5)
    if most > 2000:
        ax.set_yscale("symlog", linthresh=10, linscale=0.5)
        ax.set_ylim(bottom=0)
    else:
        whole_ticks(ax.yaxis)
        ax.set_ylim(-0.02 * max(most, 1), 1.06 * max(most, 1))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda v, _: grouped(v))


# The wedge of the bound -----------------------------------------------------------------------


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
        Where to draw; None makes a figure (of more than 26 reports, of those with most mistakes).
        For several reports, an array of as many.

    Returns
    -------
    matplotlib Axes, or an array of them for several reports
    """
    if isinstance(report, BoundReport):
        ax = new_axes(ax, (6.4, 4.4))
        legend(ax, _draw(ax, report))
        return ax
    reports = tuple(report) if isinstance(report, tuple | list) else ()
    if not reports or not all(isinstance(one, BoundReport) for one in reports):
        msg = f"{type(report).__name__} cannot be drawn: give what Perceptron.bound_report returned"
        raise ValueError(msg)
    if ax is None and len(reports) > MOST_NAMED:
        most = sorted(reports, key=lambda one: -one.n_mistakes)[:MOST_NAMED]
        reports = tuple(one for one in reports if one in most)
    n = len(reports)
    figure, axes = axes_in_rows(
        ax, n, 2 if n == 4 else PER_ROW, lambda columns, rows: (4.4 * columns, 3.6 * rows + 0.4)
    )
    if len(axes) != n:
        msg = f"ax holds {len(axes)} axes, but there are {n} reports"
        raise ValueError(msg)
    for one, panel in zip(reports, axes, strict=True):
        entries = _draw(panel, one, short=True)
        panel.set_title(f"{literal(str(one.positive))} against the rest", fontsize=10)
    if figure is not None:
        keys = zip(*entries, strict=True)
        figure.legend(*keys, loc="outside upper center", ncols=4, frameon=False)
    return axes


def _draw(ax: Axes, report: BoundReport, *, short: bool = False) -> Entries:
    """One picture; returns what its legend says."""
    limit, made = report.bound.bound, report.n_mistakes
    if not 0 < limit < np.inf:
        many = f"{limit:g}" if math.isfinite(limit) else power_of_ten(report.bound)
        msg = f"a bound of {many} mistakes cannot be drawn"
        raise ValueError(msg)
    far = limit > FAR * max(made, 1)
    first = min(1.0, limit / 2)
    m = np.geomspace(first, 2 * limit, CURVE) if far else np.linspace(0.0, 1.12 * limit, CURVE)
    m = np.sort(np.append(m, limit))
    entries = [*_run(ax, report, far), *_wedge(ax, report, m, short)]
    _wedge_scales(ax, report, m, far)
    _ends(ax, report)
    along = ", and its part along θ*" * (report.bound.hyperplane is not None)
    ax.set(xlabel="mistakes", ylabel=f"length of θ{along}")
    plain(ax)
    return entries


def _wedge(ax: Axes, report: BoundReport, m: Floats, short: bool) -> Entries:
    """The two curves of the lemmas, solid up to where they meet, and the room between them."""
    b = report.bound
    high, low, before = np.sqrt(b.length2_bound(m)), b.progress_bound(m), m <= b.bound
    floor = low if b.hyperplane is not None else np.zeros_like(low)
    if b.shortfall:  # far below zero, where nothing is to be seen
        floor = np.maximum(floor, 0.0)
    style: Look = {"color": PALE, "alpha": 0.55, "linewidth": 0, "zorder": 0}
    ax.fill_between(m[before], floor[before], high[before], gid="room", **style)
    root = f"√({b.batch_size}·mistakes)" if b.batch_size > 1 else "√mistakes"
    each = "mistakes"
    if b.shards > 1:
        root, each = f"√(mistakes/{b.shards})", f"mistakes/{b.shards}"
    at_most = "" if short or b.length else f", R{root}"
    at_least = "" if short or b.length or b.shortfall else f", γ·{each}"
    lines = [(high, colour(4), "most", f"‖θ‖ at most{at_most}")]
    if b.hyperplane is not None:
        lines.append((low, colour(0), "least", f"θ·θ* at least{at_least}"))
    entries = []
    for values, tint, gid, text in lines:
        (line,) = ax.plot(m[before], values[before], color=tint, linewidth=1.8, zorder=2, gid=gid)
        ax.plot(m[~before], values[~before], color=tint, linewidth=1.2, linestyle=":", zorder=2)
        entries.append((line, text))
    return entries


def _run(ax: Axes, report: BoundReport, far: bool) -> Entries:
    """``‖θ‖`` and ``θ·θ*`` of the run."""
    total = len(report.mistakes)
    if total <= MOST_POINTS:
        shown = np.arange(int(far and total > 1), total)  # a logarithmic axis has no zero
    else:
        spread = np.geomspace(1, total, MOST_POINTS) if far else np.linspace(1, total, MOST_POINTS)
        shown = np.unique(spread.astype(np.int64)) - 1
    style: Look = {"marker": "o" if total <= MOST_MARKERS else "none", "zorder": 4}
    look: Look = {"color": INK, "linewidth": 1.8, "markersize": 3, "gid": "length"}
    (line,) = ax.plot(report.mistakes[shown], np.sqrt(report.length2[shown]), **style, **look)
    entries = [(line, "‖θ‖ of the run")]
    if report.bound.hyperplane is not None:
        look = {"color": GREY, "linewidth": 1.2, "markersize": 2, "gid": "progress"}
        look["linestyle"] = (0, (4, 1.5))
        (line,) = ax.plot(report.mistakes[shown], report.progress[shown], **style, **look)
        entries.append((line, "θ·θ* of the run"))
    return entries


def _wedge_scales(ax: Axes, report: BoundReport, m: Floats, far: bool) -> None:
    top = float(np.sqrt(report.bound.length2_bound(m[-1])))
    top = max(top, float(np.sqrt(report.length2.max()))) or 1.0
    if not far:
        ax.set_xlim(0, m[-1])
        room = 1.3 if report.bound.shortfall else 1.08  # for the words at the top
        ax.set_ylim(min(0.0, 1.05 * float(report.progress.min())), room * top)
    else:
        ax.set(xscale="log", yscale="log", xlim=(m[0], m[-1]))
        shown = np.concatenate([np.sqrt(report.length2[1:]), report.progress[1:]])
        if not report.bound.shortfall:
            shown = np.append(shown, report.bound.progress_bound(1.0))
        shown = shown[shown > 1e-12 * top]
        bottom = 0.6 * float(shown.min()) if shown.size else 1e-3 * top
        ax.set_ylim(bottom, (5.0 if report.bound.shortfall else 1.5) * top)
    whole = far or m[-1] < 1e6
    ax.xaxis.set_major_formatter(lambda v, _: grouped(v) if whole and v < 1e6 else _power(v))


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
    ax.plot([b.bound], [height], "o", color=INK, markersize=5, zorder=5, gid="bound")
    limit = f"{grouped(b.most)}" if b.most < 1e9 else _power(b.most)
    where = f"\nin {count(b.epochs, 'epoch')}" if b.epochs else ""
    ax.axvline(b.bound, color=INK, linewidth=0.8, linestyle=":", zorder=1)
    # Beside the dotted line at the foot; but with a shortfall the lower curve climbs there.
    place, va, up = (1.0, "top", -3) if b.shortfall else (0.0, "bottom", 4)
    side: Look = {"xycoords": ("data", "axes fraction"), "ha": "right", "va": va}
    side |= {"zorder": 7, "gid": "bound text"}
    beside(ax, (b.bound, place), (-4, up), f"at most {limit}{where}", rim=2.5, **side)
    if not made:
        return
    end, tint = (made, float(np.sqrt(report.length2[-1]))), colour(1)
    ax.plot(*end, "o", color=tint, markersize=7, zorder=6, gid="end")
    late = made > 0.85 * b.bound  # no room at the right
    side = {"ha": "right" if late else "left", "va": "bottom" if late else "center"}
    side |= {"color": dark(tint), "weight": "bold", "zorder": 7, "gid": "end text"}
    beside(ax, end, (-6, 5) if late else (9, 0), f"{grouped(made)} made", rim=2.5, **side)
