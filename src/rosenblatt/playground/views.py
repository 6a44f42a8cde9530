"""How data with more than two features are seen: two axes, and what hyperplanes are in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.playground.answers import Plane, View

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.playground.samples import Samples


@dataclass(frozen=True, eq=False)
class Sight:
    """The plane of the picture: ``centre + u·axes``, or (None) the features themselves."""

    axes: Floats | None = None
    centre: Floats | None = None

    def columns(self, theta: Floats) -> dict[str, Any]:
        """Vectors ``(w, b)``, one a row, as columns w and b of the picture."""
        w, b = theta[:, :-1], theta[:, -1]
        if self.axes is not None and self.centre is not None:
            w, b = w @ self.axes.T, b + w @ self.centre
        return {"w": w.tolist(), "b": b.tolist()}

    def plane(self, w: Floats, b: float) -> Plane:
        """A hyperplane as a line of the picture."""
        if self.axes is not None and self.centre is not None:
            w, b = self.axes @ w, float(b + w @ self.centre)
        return Plane(w=w.tolist(), b=float(b))

    def points(self, X: Floats) -> Floats:
        """Samples as points of the picture."""
        if self.axes is not None and self.centre is not None:
            return (X - self.centre) @ self.axes.T
        return X


def seen(samples: Samples, model: Any) -> tuple[Sight, View | None]:
    """How the samples are seen; points are seen as they are."""
    if samples.table is None:
        return Sight(), None
    sight = _along(samples.X, np.atleast_2d(model.coef_)) if samples.along else Sight()
    rows = np.union1d(samples.table.drawn, _support(model))
    names = ["along w", "main remaining direction"] if samples.along else list(samples.features)
    return sight, View(
        names=names,
        rows=rows.tolist(),
        points=sight.points(samples.X[rows]).tolist(),
        labels=samples.y[rows].tolist(),
        total=samples.n,
        sentence=samples.table.sentence,
        features=list(samples.features),
        axes=None if sight.axes is None else sight.axes.tolist(),
        centre=None if sight.centre is None else sight.centre.tolist(),
    )


def _support(model: Any) -> Ints:
    """Samples that are needed to add up a kernel perceptron: all that ever were mistakes."""
    used = [fit.trace.updates.sample for fit in model.fits_ if hasattr(fit, "alpha")]
    return np.unique(np.concatenate([np.empty(0, np.int64), *used]))


def _along(X: Floats, w: Floats) -> Sight:
    """The direction of w, and at a right angle to it the one in which the samples differ most.

    Of several hyperplanes the two directions in which their vectors w differ most.
    """
    centre = X.mean(axis=0)
    if len(w) > 1:
        return Sight(np.linalg.svd(w - w.mean(axis=0), full_matrices=True)[2][:2], centre)
    length = float(np.linalg.norm(w[0]))
    first = w[0] / length if length else np.eye(1, X.shape[1])[0]
    rest = X - centre
    rest = rest - np.outer(rest @ first, first)
    second = np.linalg.eigh(rest.T @ rest)[1][:, -1]
    second = second - (second @ first) * first  # which rounding has left
    return Sight(np.array([first, second / (np.linalg.norm(second) or 1.0)]), centre)
