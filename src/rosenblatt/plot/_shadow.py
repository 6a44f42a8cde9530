"""Samples of any number of features as points of a plane, so that what is proved can be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.plot import _points, _style, _view
from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen
    from rosenblatt.plot._view import View
    from rosenblatt.results import Certificate

    Floats = NDArray[np.float64]

ROUNDS = 60  # of the power method: enough for a picture
ENOUGH = 20_000  # so many samples show where they spread


class Shadow(NamedTuple):
    """The points, the hyperplane as a line, the meeting point; names of axes; what to know."""

    points: Floats
    plane: Hyperplane | None
    point: Floats | None
    names: tuple[str, str]
    remark: str = ""
    in_rows: bool = False

    def view(self, ax: Axes) -> View:
        """The view of all points."""
        if not self.in_rows:
            return _view.around(self.points, ax, pad=0.1)
        low, high = self.points[:, 0].min(), self.points[:, 0].max()
        pad = 0.08 * (high - low or abs(high) or 1.0)
        return _view.View(np.array([low - pad, -1.7]), np.array([high + pad, 1.7]), False)

    def rows(self, ax: Axes, seen: Seen) -> None:
        """Name the rows where there is one for each class."""
        if self.in_rows:
            ax.set_yticks([-1, 1], [_style.literal(name, 20) for name in seen.classes])


def shadow(seen: Seen, certificate: Certificate) -> Shadow:
    """The samples in the plane: as they are, in two rows, or in projection."""
    plane = seen.planes[0] if hasattr(certificate, "hyperplane") else None
    return cast(seen, plane, getattr(certificate, "point", None))


def cast(seen: Seen, plane: Hyperplane | None, point: Floats | None = None) -> Shadow:
    """The samples, a hyperplane and a point in the plane."""
    d = seen.X.shape[1]
    if d == 2:
        return Shadow(_points.dense(seen.X), plane, point, (seen.features[0], seen.features[1]))
    if d == 1:
        return _in_rows(seen, plane, point)
    if plane is not None and plane.w.any():
        return _from_the_edge(seen, plane, point)
    return _between_the_means(seen, point)


def _in_rows(seen: Seen, plane: Hyperplane | None, point: Floats | None) -> Shadow:
    """One feature: the classes one above the other, or their intervals would hide each other."""
    points = np.column_stack([_points.dense(seen.X)[:, 0], np.where(seen.label > 0, 1.0, -1.0)])
    line = None if plane is None else Hyperplane(np.append(plane.w, 0.0), plane.b)
    middle = None if point is None else np.append(point, 0.0)
    return Shadow(points, line, middle, (seen.features[0], ""), in_rows=True)


def _from_the_edge(seen: Seen, plane: Hyperplane, point: Floats | None) -> Shadow:
    """Across: the signed distance. Up: where the samples spread most within the hyperplane."""
    unit = plane.w / plane.norm
    up = spread(seen.X, [unit])
    across = plane.decision_function(seen.X) / plane.norm
    points = np.column_stack([across, np.asarray(seen.X @ up)])
    meeting = None if point is None else np.array([0.0, point @ up])
    names = ("signed distance  (w·x + b)/‖w‖", "largest spread within the hyperplane")
    remark = f"shadow of {seen.X.shape[1]} features, the hyperplane seen from its edge"
    return Shadow(points, Hyperplane(np.array([1.0, 0.0])), meeting, names, remark)


def _between_the_means(seen: Seen, point: Floats | None) -> Shadow:
    """Across: from one class's mean to the other's. Up: the largest spread at a right angle."""
    means = [np.asarray(seen.X[seen.label == k].mean(axis=0)).ravel() for k in range(2)]
    between = means[1] - means[0]
    length = float(np.linalg.norm(between))
    scale = max(float(np.abs(mean).max()) for mean in means)
    if length > 1e-9 * scale:
        across, name = between / length, "from the mean of one class to that of the other"
    else:
        across, name = spread(seen.X, []), "direction of largest spread"
    up = spread(seen.X, [across])
    points = np.column_stack([np.asarray(seen.X @ direction) for direction in (across, up)])
    meeting = None if point is None else np.array([point @ across, point @ up])
    names = (name, "largest spread at a right angle to it")
    remark = f"shadow of {seen.X.shape[1]} features: shadows may overlap where hulls do not"
    return Shadow(points, None, meeting, names, remark)


def spread(X: Any, but: list[Floats]) -> Floats:
    """The direction of largest variance at right angles to those in `but`; X may be sparse."""
    if X.shape[0] > ENOUGH:
        X = X[np.sort(np.random.default_rng(0).choice(X.shape[0], ENOUGH, replace=False))]
    mean = np.asarray(X.mean(axis=0)).ravel()
    v = np.random.default_rng(0).standard_normal(X.shape[1])
    for _ in range(ROUNDS):
        for other in but:
            v = v - (v @ other) * other
        length = float(np.linalg.norm(v))
        if length == 0.0:
            break
        v = v / length
        values = np.asarray(X @ v) - mean @ v
        grown = np.asarray(X.T @ values) - mean * values.sum()
        if not grown.any():
            break
        v = grown
    for other in but:
        v = v - (v @ other) * other
    unit: Floats = v / (np.linalg.norm(v) or 1.0)
    return unit if unit[np.argmax(np.abs(unit))] > 0 else -unit
