"""The view along the normal: histograms of signed distances, for any number of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.plot import _points, _style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen

    Floats = NDArray[np.float64]

# Up to so many samples are drawn one by one under their histogram; of more, the wrong ones, if few.
MOST_TICKS, MOST_WRONG = 300, 100
DISTANCE, SHARE = "signed distance  (w·x + b)/‖w‖", "share of the class"
TAIL = 0.005  # so small a share of a class, at either end, may be left outside the picture


def view_along(ax: Axes, seen: Seen) -> Axes:
    """One hyperplane: the share of each class at each signed distance."""
    plane = seen.planes[0]
    if not plane.w.any():
        ax.set(xlabel=DISTANCE, ylabel=SHARE)
        _style.plain(ax)
        side = seen.classes[int(plane.b > 0)]
        _say(ax, f"w = 0: no hyperplane, no distances\neverything is “{side}”")
        return ax
    _style.legend(ax, along(ax, seen, plane.decision_function(seen.X) / plane.norm, seen.margin()))
    return ax


def along(
    ax: Axes, seen: Seen, distance: Floats, margin: float, what: str = DISTANCE
) -> list[tuple[Any, str]]:
    """The share of each of two classes at each distance; the legend's entries."""
    ax.set(xlabel=what, ylabel=SHARE)
    _style.plain(ax)
    classes = [distance[seen.label == k] for k in range(2)]
    edges = _edges(classes, margin)
    handles, top = [], 0.0
    for k, values in enumerate(classes):
        shares, stairs = _histogram(ax, values, edges, k)
        handles.append(stairs)
        top = max(top, shares.max(initial=0.0))
    beyond = _beyond(distance, edges)
    ring = _one_by_one(ax, distance, seen, top or 1.0, np.flatnonzero(~beyond))
    line = _style.named(ax.axvline(0, color=_style.INK, linewidth=1.8, zorder=3), "hyperplane")
    entries = [*_points.entries(handles, seen.classes, ring, seen), (line, "hyperplane")]
    if margin > 0:
        style: dict[str, Any] = {"facecolor": "white", "edgecolor": _style.GREY, "linestyle": "--"}
        band = _style.named(ax.axvspan(-margin, margin, zorder=0.5, **style), "band")
        entries.append((band, f"margin {_style.number(margin)}"))
    if beyond.any():
        outside, n = _style.grouped(beyond.sum()), _style.grouped(distance.size)
        entries.append((None, f"outside this picture: {outside} of {n}"))
    return entries


def _ends(groups: list[Floats], margin: float) -> tuple[float, float]:
    """From where to where to draw: everything, but for tails longer than half of all the rest."""
    some = [values for values in groups if values.size]
    reach = margin if margin > 0 else 0.0
    lows = [np.quantile(values, [0, TAIL], method="lower") for values in some]
    highs = [np.quantile(values, [1, 1 - TAIL], method="higher") for values in some]
    least, low = np.min([np.full(2, -reach), *lows], axis=0)
    most, high = np.max([np.full(2, reach), *highs], axis=0)
    room = (high - low) / 2
    return least if low - least <= room else low, most if most - high <= room else high


def _beyond(distance: Floats, edges: Floats) -> NDArray[np.bool_]:
    """Which samples lie outside the histogram."""
    outside: NDArray[np.bool_] = (distance < edges[0]) | (distance > edges[-1])
    return outside


def _edges(groups: list[Floats], margin: float = 0.0) -> Floats:
    """The borders of the bins: one at zero, or one on either side of an empty band."""
    low, high = _ends(groups, margin)
    n = sum(values.size for values in groups)
    width = (high - low or 1.0) / np.clip(2 * np.sqrt(n), 8, 60)
    inner = margin * (1 - 1e-9) if margin > 0 else 0.0  # the nearest samples are outside it
    right = inner + width * np.arange(np.ceil((high - inner) / width) + 1)
    left = -inner - width * np.arange(np.ceil((-low - inner) / width) + 1)
    left[-1], right[-1] = min(left[-1], low), max(right[-1], high)  # rounding must lose nobody
    return np.unique(np.concatenate([left, right]))


def _shares(distance: Floats, edges: Floats) -> Floats:
    counts, _ = np.histogram(distance, edges)
    shares: Floats = counts / max(distance.size, 1)
    return shares


def _histogram(ax: Axes, distance: Floats, edges: Floats, k: int) -> tuple[Floats, Any]:
    """The histogram of class k."""
    from matplotlib.colors import to_rgba

    shares, tint = _shares(distance, edges), _style.colour(k)
    bars = np.where(shares > 0, shares, np.nan)
    stairs = ax.stairs(bars, edges, fill=True, facecolor=to_rgba(tint, 0.45), edgecolor=tint)
    stairs.set(hatch=_style.HATCHES[k], linewidth=1.2, zorder=1.5)
    return shares, _style.named(stairs, f"class {k}")


def _one_by_one(ax: Axes, distance: Floats, seen: Seen, top: float, rows: NDArray[np.intp]) -> Any:
    """Under the histograms these samples themselves; of many, the wrong ones, if they are few."""
    few = distance.size <= MOST_TICKS
    rows = rows if few else rows[seen.wrong[rows]]
    if not few and rows.size > MOST_WRONG:
        rows = rows[:0]
    heights = -top * (0.07 + 0.08 * seen.label[rows])
    points = np.column_stack([distance[rows], heights])
    area = 22.0 if few else 14.0
    _points.scatter(ax, points, seen.label[rows], seen.classes, area=area, clip_on=False)
    ring = _points.rings(ax, points[seen.wrong[rows]], area=area)
    lowest = 0.22 if rows.size else 0.0
    ax.set_ylim(-lowest * top, 1.08 * top)
    ax.set_yticks([t for t in ax.get_yticks() if 0 <= t <= 1.08 * top])
    return ring if rows.size else None


def rows_along(ax: Axes, seen: Seen) -> Axes:
    """Several classes: a row for each one's hyperplane, its own samples above the rest."""
    distances = [
        plane.decision_function(seen.X) / plane.norm if plane.w.any() else None
        for plane in seen.planes
    ]
    margins = [seen.margin(k) for k in range(len(seen.planes))]
    what = "signed distance from the class's own hyperplane  (w·x + b)/‖w‖"
    _style.legend(ax, rows(ax, seen, distances, margins, what))
    return ax


def rows(
    ax: Axes, seen: Seen, distances: list[Floats | None], margins: list[float], what: str
) -> list[tuple[Any, str]]:
    """A row for each class at its distances, None where it has none; the legend's entries."""
    K = len(distances)
    own = [seen.label == k for k in range(K)]
    parts = [
        d[side] for d, k in zip(distances, own, strict=True) if d is not None for side in (k, ~k)
    ]
    edges = _edges(parts)
    entries: list[tuple[Any, str]] = []
    for k, distance in enumerate(distances):
        base = float(K - 1 - k)
        ax.axhline(base, color=_style.PALE, linewidth=0.8, zorder=1)
        if distance is None:
            text = "w = 0: no hyperplane"
            ax.text(0, base + 0.3, text, ha="center", size=_style.SMALL, color=_style.GREY)
        else:
            pair = _row(ax, distance, seen, k, edges, base, margins[k])
            entries = entries or list(zip(pair, ("the class itself", "the rest"), strict=True))
    line = ax.axvline(0, color=_style.INK, linewidth=1.6, zorder=3, gid="hyperplane")
    ax.set(yticks=K - 0.8 - np.arange(K), ylim=(-0.25, K - 0.05))
    ax.set_yticklabels([_style.literal(name, 28) for name in seen.classes])
    ax.set_xlabel(what)
    _style.plain(ax)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    entries.append((line, "hyperplane"))
    wrong, n = int(seen.wrong.sum()), len(seen.label)
    share = f"wrong: {_style.grouped(wrong)} of {_style.grouped(n)} (largest value decides)"
    entries += [(None, share)] if wrong else []
    return entries


def _row(
    ax: Axes, distance: Floats, seen: Seen, k: int, edges: Floats, base: float, margin: float
) -> tuple[Any, Any]:
    """The samples of class k and all others, seen along the normal of class k."""
    own = seen.label == k
    shares = [_shares(distance[~own], edges), _shares(distance[own], edges)]
    scale = 0.8 / max(max(s.max(initial=0.0) for s in shares), 1e-300)
    style: dict[str, Any] = {"baseline": base, "fill": True, "zorder": 2.0}
    rest = ax.stairs(base + scale * shares[0], edges, facecolor="#BBBBBB", alpha=0.7, **style)
    tint = _style.colour(k)
    mine = ax.stairs(base + scale * shares[1], edges, facecolor=tint, alpha=0.6, **style)
    mine.set(hatch="////", edgecolor=tint)
    _style.named(mine, f"class {k}")
    _style.named(rest, f"rest {k}")
    missed = int((np.where(own, 1, -1) * distance <= 0).sum())
    says = f"{_style.grouped(missed)} on the wrong side"
    says = f"margin {_style.number(margin)}" if margin > 0 else says
    beyond = int(_beyond(distance, edges).sum())
    says += f"\n{_style.grouped(beyond)} outside this picture" * (beyond > 0)
    where = ax.get_yaxis_transform()
    ax.text(1.01, base + 0.12, says, size=_style.SMALL, color=_style.GREY, transform=where)
    return mine, rest


def _say(ax: Axes, text: str) -> None:
    """A sentence in the middle of an empty picture."""
    middle: dict[str, Any] = {"ha": "center", "va": "center", "transform": ax.transAxes}
    ax.text(0.5, 0.5, text, size=_style.NORMAL, color=_style.INK, **middle)
    ax.set(xticks=[], yticks=[])
