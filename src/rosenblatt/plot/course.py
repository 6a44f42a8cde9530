"""The course of a fit, epoch by epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.plot import _style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.results import Fit

    Floats = NDArray[np.float64]

MOST_MARKERS, MOST_EPOCHS, BINS = 40, 400, 160
DASHES = ("-", "--", "-.", ":")


def epochs(model: Any, *, ax: Axes | None = None) -> Axes:
    """Mistakes per epoch, and why the run ended.

    Beside them the training errors of the pocket after each epoch (``keep="pocket"``) and, on
    the scale at the right, the loss of the delta rule (`Adaline`). More than two classes have a
    line each. In a long run the epochs get a logarithmic scale; past 400 of them, a line is the
    mean of neighbouring epochs, in a band from their least to their greatest.

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
    ax = _style.new_axes(ax, (6.4, 3.8))
    names = [""] if len(fits) == 1 else [str(c) for c in np.asarray(model.classes_).tolist()]
    longest = max(len(fit.trace) for fit in fits)
    entries: list[tuple[Any, str]] = []
    for k, (fit, name) in enumerate(zip(fits, names, strict=True)):
        entries += _mistakes(ax, fit, name, k)
    if fits[0].trace.loss is not None:
        entries += _losses(ax, fits)
    entries += _bands(ax)
    _scales(ax, longest, max(_most(fit) for fit in fits))
    ax.set(xlabel="epoch", ylabel="mistakes")
    _style.plain(ax)
    _style.legend(ax, [*entries, *_endings(fits)])
    return ax


def _mistakes(ax: Axes, fit: Fit, name: str, k: int) -> list[tuple[Any, str]]:
    """The mistakes of one problem and the errors of its pocket."""
    tint, dash = _style.colour(k), DASHES[k // len(_style.COLOURS) % len(DASHES)]
    mark = _style.marker(k) if name or len(fit.trace) <= MOST_MARKERS else "none"
    line = _course(ax, fit.trace.mistakes, color=tint, linestyle=dash, marker=mark)
    _style.named(line, f"mistakes {k}")
    mean = ", mean of neighbours" * (len(fit.trace) > MOST_EPOCHS)
    entries = [(line, name or f"mistakes in the epoch{mean}")]
    if fit.trace.pocket_errors is not None:
        number = np.arange(1, len(fit.trace) + 1)
        colour = _style.colour(1) if not name else tint
        style: dict[str, Any] = {"where": "post", "linewidth": 1.8, "zorder": 3, "color": colour}
        (pocket,) = ax.step(number, fit.trace.pocket_errors, linestyle=(0, (4, 1.5)), **style)
        _style.named(pocket, f"pocket {k}")
        entries.append((pocket, f"errors of the pocket{f', {name}' * bool(name)}"))
    return entries


def _course(ax: Axes, values: NDArray[Any], **style: Any) -> Any:
    """One value per epoch as a line; of very many, the mean and range of neighbours."""
    n = len(values)
    number = np.arange(1, n + 1)
    if n > MOST_MARKERS:  # a few marks, to tell lines apart in print
        style |= {"markevery": 0.11}
    options: dict[str, Any] = {
        "linewidth": 1.6,
        "markersize": 4.5,
        "markeredgecolor": "white",
        "zorder": 2,
    }
    if n <= MOST_EPOCHS:
        return ax.plot(number, values, **(options | {"markeredgewidth": 0.5} | style))[0]
    starts = np.unique(np.geomspace(1, n, BINS).astype(np.int64)) - 1
    sizes = np.diff(starts, append=n)
    least, most = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    middle = starts + 1 + (sizes - 1) / 2
    band = ax.fill_between(middle, least, most, color=style["color"], alpha=0.2, linewidth=0)
    _style.named(band, "band")
    return ax.plot(middle, np.add.reduceat(values, starts) / sizes, **(options | style))[0]


def _bands(ax: Axes) -> list[tuple[Any, str]]:
    """What the bands around the lines are, if there are any."""
    bands = ax.findobj(lambda artist: artist.get_gid() == "band")
    return [(band, "least to greatest of neighbouring epochs") for band in bands[:1]]


def _most(fit: Fit) -> int:
    """The largest count to be drawn."""
    pocket = fit.trace.pocket_errors
    counts = fit.trace.mistakes if pocket is None else np.append(fit.trace.mistakes, pocket)
    finite = counts[np.isfinite(counts)]
    return int(finite.max(initial=0))


def _losses(ax: Axes, fits: tuple[Fit, ...]) -> list[tuple[Any, str]]:
    """The loss of the delta rule, on a scale of its own at the right."""
    right = ax.twinx()
    lines = []
    for k, fit in enumerate(fits):
        tint = _style.colour(1 if len(fits) == 1 else k)
        loss = np.asarray(fit.trace.loss)
        lines.append(_course(right, loss, color=tint, linestyle="--", marker="none"))
        _style.named(lines[-1], f"loss {k}")
    every = np.concatenate([np.asarray(fit.trace.loss) for fit in fits])
    if every.min(initial=np.inf) > 0 and every.max() > 100 * every.min():
        right.set_yscale("log")
    else:
        right.set_ylim(0, 1.06 * every.max(initial=0.0) or 1)
    right.set_ylabel("mean of (t − o)²/2, dashed")
    _style.plain(right)
    right.spines["right"].set(visible=True, color=_style.GREY)
    return [(lines[0], "loss")] if len(fits) == 1 else []


def _scales(ax: Axes, longest: int, most: int) -> None:
    """Logarithmic where a run is long or its counts have several orders of magnitude."""
    from matplotlib.ticker import MaxNLocator

    if longest > 2 * MOST_MARKERS:
        ax.set_xscale("log")
        ax.set_xlim(0.9, longest * 1.1)
    else:
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
        ax.set_xlim(0.5, max(longest, 1) + 0.5)
    if most > 2000:
        ax.set_yscale("symlog", linthresh=10, linscale=0.5)
        ax.set_ylim(bottom=0)
    else:
        ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
        ax.set_ylim(-0.02 * max(most, 1), 1.06 * max(most, 1))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda v, _: _style.grouped(v))


def _endings(fits: tuple[Fit, ...]) -> list[tuple[None, str]]:
    """Why it ended, in a line; of several problems, how many for each reason."""
    if len(fits) == 1:
        fit = fits[0]
        reason = fit.stop_reason.name.lower().replace("_", " ")
        return [(None, f"{reason} after {_style.count(fit.n_epochs, 'epoch')}")]
    reasons = [fit.stop_reason.name.lower().replace("_", " ") for fit in fits]
    return [(None, f"{reasons.count(r)} of {len(fits)}: {r}") for r in dict.fromkeys(reasons)]
