"""Samples as points: a marker per class, a ring around the wrong ones, never a blob."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.plot import _style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen

MOST, MOST_WRONG = 2000, 200


def dense(X: Any) -> Any:
    """The rows of a table of a few features, as an array."""
    return X.toarray() if hasattr(X, "toarray") else X


def drawn(seen: Seen) -> NDArray[np.intp]:
    """Which rows to draw: all, or a sample that is the same each time.

    The nearest of each class are always among them, and the wrong ones if they are few.
    """
    n = len(seen.label)
    if n <= MOST:
        return np.arange(n)
    rng = np.random.default_rng(0)
    chosen = [rng.choice(n, MOST, replace=False)]
    wrong = np.flatnonzero(seen.wrong)
    if wrong.size <= MOST_WRONG:
        chosen.append(wrong)
    distance = np.abs(np.column_stack([p.decision_function(seen.X) for p in seen.planes]))
    for k in range(len(seen.classes)):
        own = np.flatnonzero(seen.label == k)
        if own.size:
            values = distance[own, min(k, len(seen.planes) - 1)]
            chosen.append(own[[np.argmin(values)]])
    return np.unique(np.concatenate(chosen))


def chosen(n: int, must: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows to draw: all, or a sample that is the same each time, with those that must be in it."""
    if n <= MOST:
        return np.arange(n)
    some = np.random.default_rng(0).choice(n, MOST, replace=False)
    return np.unique(np.concatenate([some, must]))


def size(n: int) -> float:
    """The area of a marker in points², smaller where there are many."""
    return float(np.clip(3200 / max(n, 1), 8, 44))


def scatter(
    ax: Axes, points: Any, label: Any, classes: tuple[str, ...], *, area: float, **style: Any
) -> list[Any]:
    """The points, one collection per class, in the colours and markers of their classes."""
    options: dict[str, Any] = {"linewidths": 0.5, "edgecolors": "white", "zorder": 4} | style
    return [
        _style.named(
            ax.scatter(
                points[label == k, 0],
                points[label == k, 1],
                s=area,
                c=_style.colour(k),
                marker=_style.marker(k),
                **options,
            ),
            f"class {k}",
        )
        for k in range(len(classes))
    ]


def rings(ax: Axes, points: Any, *, area: float, gid: str = "wrong", **style: Any) -> Any:
    """A ring around each of these points."""
    thin = len(points) > 60
    options: dict[str, Any] = {"facecolors": "none", "edgecolors": _style.INK, "zorder": 6}
    options |= {"linewidths": 0.6, "alpha": 0.6} if thin else {"linewidths": 1.3}
    around = (2.5 if thin else 3.2) * area + 8
    return _style.named(ax.scatter(points[:, 0], points[:, 1], s=around, **(options | style)), gid)


def entries(
    handles: list[Any], classes: tuple[str, ...], ring: Any, seen: Seen
) -> list[tuple[Any, str]]:
    """Legend entries: the classes, and how many samples are on the wrong side."""
    found = list(zip(handles, classes, strict=True))
    n, wrong = len(seen.label), int(seen.wrong.sum())
    if wrong:
        found.append((ring, f"wrong: {_style.grouped(wrong)} of {_style.grouped(n)}"))
    return found
