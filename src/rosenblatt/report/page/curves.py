"""Rankings, courses and histograms, with so few points that a picture can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.report.page.facts import CourseFacts, Histogram, Points, RankingCurves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats

POINTS = 80  # of a curve
GRID = 401  # places at which curves are averaged
EPOCHS = 160  # of a course
BINS = 41
FAR = 0.005  # the share of rows at either end that may be cut off


def ranking_curves(
    parts: Sequence[tuple[NDArray[Any], Floats]], names: Sequence[str]
) -> tuple[RankingCurves, ...]:
    """ROC and precision-recall curves of every class that has rows, and others beside them.

    Each part has the number of each row's class, and decision values: a column for each class, or
    one, for the second of two, which alone then has curves. Values of several models cannot be
    compared: where there are several parts, the curves are the means of theirs, at each share of
    the others taken for it, or at each recall (T. Fawcett, 2006, "An introduction to ROC
    analysis", vertical averaging).
    """
    second = parts[0][1].shape[1] == 1
    found = []
    for k in [1] if second else range(len(names)):
        each = [(true == k, values[:, 0 if second else k]) for true, values in parts]
        curves = [_curves(own, values) for own, values in each if 0 < own.sum() < len(own)]
        if curves:
            roc, precision = zip(*curves, strict=True)
            found.append(RankingCurves(names[k], _mean(roc), _mean(precision)))
    return tuple(found)


Line = tuple["Floats", "Floats"]


def _curves(own: NDArray[np.bool_], values: Floats) -> tuple[Line, Line]:
    order = np.argsort(-values, kind="stable")
    ranked, hits = values[order], np.cumsum(own[order])
    ends = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)  # rows that tie go together
    taken, found = ends + 1.0, hits[ends].astype(np.float64)
    recall, precision = found / hits[-1], found / taken
    false = (taken - found) / (len(own) - hits[-1])
    roc = np.append(0.0, false), np.append(0.0, recall)
    all_found = int(np.argmax(recall == 1.0)) + 1  # what is taken beyond only adds others
    recall, precision = recall[:all_found], precision[:all_found]
    return roc, (np.append(0.0, recall), np.append(precision[0], precision))


def _mean(lines: Sequence[Line]) -> Points:
    """One line as it is, or the mean height of several."""
    if len(lines) == 1:
        return thinned(*lines[0])
    grid = np.linspace(0.0, 1.0, GRID)
    heights = np.mean([np.interp(grid, *line) for line in lines], axis=0)
    start = np.mean([line[1][0] for line in lines])  # a line may begin upright
    return thinned(np.append(0.0, grid), np.append(start, heights))


def thinned(x: Floats, y: Floats, most: int = POINTS) -> Points:
    """A line with no more than so many of its points, evenly along it, its ends included."""
    if len(x) > most:
        along = np.append(0.0, np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y))))
        wanted = np.linspace(0.0, along[-1], most)
        kept = np.unique(np.searchsorted(along, wanted).clip(0, len(x) - 1))
        x, y = x[kept], y[kept]
    return tuple((round(float(a), 5), round(float(b), 5)) for a, b in zip(x, y, strict=True))


def course(fits: Sequence[Any], names: Sequence[str]) -> CourseFacts | None:
    """The mistakes of the epochs, or for the delta rule its loss; of very many some epochs."""
    traces = [fit.trace for fit in fits]
    length = max((len(trace) for trace in traces if hasattr(trace, "mistakes")), default=0)
    if not length:
        return None
    what = "mistakes" if traces[0].loss is None else "loss"
    records = [trace.mistakes if trace.loss is None else trace.loss for trace in traces]
    kept = np.unique(np.linspace(0, length - 1, min(length, EPOCHS)).round().astype(int))
    # A problem that is solved earlier makes no more mistakes.
    padded = [np.pad(np.asarray(r, float), (0, length - len(r))) for r in records]
    values = {name: tuple(r[kept].tolist()) for name, r in zip(names, padded, strict=True)}
    return CourseFacts(what, tuple((kept + 1).tolist()), values)


def histogram(
    values: Mapping[str, Floats], unit: str, margin: float | None = None
) -> Histogram | None:
    """Counts between edges of which 0 is one; the farthest rows are with the outermost."""
    every = np.concatenate(list(values.values()))
    if not len(every) or not np.isfinite(every).all():
        return None
    low, high = np.quantile(every, [FAR, 1 - FAR]).tolist()
    low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return None
    width = (high - low) / BINS
    first, last = math.floor(low / width), math.ceil(high / width)
    edges = np.arange(first, last + 1) * width
    counts = {}
    for name, part in values.items():
        place = np.ceil(part / width).astype(np.int64) - 1  # what is on the boundary is below 0
        place = np.clip(place, first, last - 1) - first
        counts[name] = tuple(np.bincount(place, minlength=len(edges) - 1).tolist())
    cut = int(((every < edges[0]) | (every > edges[-1])).sum())
    return Histogram(unit, tuple(edges.tolist()), counts, margin, cut)
