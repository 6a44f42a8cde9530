"""Hyperplanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rosenblatt import arguments, matrices
from rosenblatt.exact import margin_of, values
from rosenblatt.exact.rationals import LARGEST
from rosenblatt.results.words import Shown, brief, equation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Floats


SMALL = 1e-290  # values below may have lost digits


def samples_of(X: Any, d: int) -> Any:
    """Samples of d features as a 2-D array or a CSR matrix."""
    rows = matrices.table("X", X)
    if arguments.is_sparse(rows):
        rows = arguments.canonical(rows)
    else:
        rows = arguments.exact("X", np.atleast_2d(np.asarray(rows)))
    if rows.ndim != 2 or rows.shape[1] != d:
        msg = f"X has shape {rows.shape}: give a row of {d} features for each sample"
        raise ValueError(msg)
    return rows


@dataclass(frozen=True, eq=False, repr=False)
class Hyperplane(Shown):
    """The set ``{x : w·x + b = 0}``, with the side of positive values called +1.

    Parameters
    ----------
    w : array of shape (d,)
        The normal vector.
    b : float
        The bias. A threshold ``k`` (``w·x > k``) is ``b = -k``.
    """

    w: Floats
    b: float = 0.0

    def __post_init__(self) -> None:
        w = arguments.floats("w", self.w, 1, "give one weight per feature, a vector").copy()
        b = float(arguments.floats("b", self.b, 0, "give a number"))
        if not (np.isfinite(w).all() and np.isfinite(b)):
            msg = "w and b must be finite numbers"
            raise ValueError(msg)
        w.setflags(write=False)  # a result cannot change under its owner
        object.__setattr__(self, "w", w)
        object.__setattr__(self, "b", b)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hyperplane):
            return NotImplemented
        return self.b == other.b and np.array_equal(self.w, other.w)

    def __repr__(self) -> str:
        return f"Hyperplane(w={brief(self.w)}, b={self.b!r})"

    def __str__(self) -> str:
        return equation(self.w, self.b)

    def __reduce__(self) -> tuple[type[Hyperplane], tuple[Floats, float]]:
        return type(self), (self.w, self.b)  # copies and pickles are read-only too

    def __hash__(self) -> int:
        return hash(((self.w + 0.0).tobytes(), self.b))  # -0.0 equals 0.0, in other bytes

    @property
    def norm(self) -> float:
        """``‖w‖``; an error where w is zero, because nothing geometric is left then."""
        if not self.w.any():
            msg = "w is zero: the equation describes no hyperplane, so it has no distances"
            raise ValueError(msg)
        _, length, exponent = self._scaled()
        with np.errstate(over="ignore"):
            return float(np.ldexp(length, exponent))

    def _scaled(self) -> tuple[Floats, float, int]:
        """``w/2^e``, its norm, and e: near 1, so that no square overflows or vanishes."""
        exponent = int(np.frexp(np.abs(self.w).max(initial=0.0))[1])
        w: Floats = np.ldexp(self.w, -exponent)
        return w, float(np.linalg.norm(w)), exponent

    def decision_function(self, X: Any) -> Floats:
        """``w·x + b`` for every row of X, as a float on the same side of zero.

        The sign is exact, whatever cancels, overflows or vanishes on the way: the value is zero
        only for points on the hyperplane, and beyond the largest float it is that one.
        """
        return values(samples_of(X, self.w.size), np.append(self.w, self.b))

    def predict(self, X: Any, *, at_zero: Literal[-1, 1] = -1) -> NDArray[np.int64]:
        """The side of every row, +1 or -1; a point on the hyperplane gets `at_zero`."""
        arguments.number("at_zero", at_zero, lambda side: side in (-1, 1), "give -1 or 1")
        values = self.decision_function(X)
        return np.where(values >= 0 if at_zero == 1 else values > 0, 1, -1)

    def distance(self, X: Any) -> Floats:
        """``|w·x + b| / ‖w‖``: how far every row lies from the hyperplane."""
        return np.abs(self._signed_distance(X))

    def _signed_distance(self, X: Any) -> Floats:
        """``(w·x + b) / ‖w‖``, also where ``w·x + b`` is beyond floats."""
        _ = self.norm  # refuses zero weights
        rows = samples_of(X, self.w.size)
        w, length, exponent = self._scaled()
        theta = np.append(self.w, self.b)
        numbers = values(rows, theta)
        sizes = np.abs(numbers)
        with np.errstate(over="ignore"):
            distances = np.ldexp(numbers / length, -exponent)
            extreme = np.flatnonzero((sizes == LARGEST) | ((sizes < SMALL) & (sizes > 0)))
            near = np.append(w, np.ldexp(self.b, -exponent))
            if extreme.size and np.isfinite(near).all():
                distances[extreme] = values(rows[extreme], near) / length
        return np.clip(distances, -LARGEST, LARGEST)

    def _labels(self, X: Any, y: ArrayLike) -> tuple[Any, NDArray[np.int64]]:
        """Samples and their labels -1 and +1, checked."""
        rows = samples_of(X, self.w.size)
        labels = arguments.signed_labels("y", y, rows.shape[0])
        if not labels.size:
            msg = "X has no rows: a margin needs at least one sample"
            raise ValueError(msg)
        return rows, labels.astype(np.int64)

    def margin(self, X: Any, y: ArrayLike) -> float:
        """``min_i y_i(w·x_i + b) / ‖w‖``: positive exactly when the hyperplane separates.

        It is the exact margin, rounded once.
        """
        _ = self.norm
        rows, labels = self._labels(X, y)
        entries = rows.data if hasattr(rows, "indptr") else rows
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(entries.sum()) or np.isfinite(entries).all()
        if not finite:
            msg = "X holds numbers that are not finite: give finite numbers"
            raise ValueError(msg)
        return margin_of(rows, labels, [*self.w.tolist(), self.b])

    def canonical(self, X: Any) -> Hyperplane:
        """The same hyperplane, scaled so that the smallest ``|w·x + b|`` over X is 1."""
        rows = samples_of(X, self.w.size)
        if not rows.shape[0]:
            msg = "X has no rows: the scale comes from the closest sample"
            raise ValueError(msg)
        theta = np.append(self.w, self.b)
        smallest = float(np.abs(values(rows, theta)).min())
        if smallest == 0.0:
            msg = "a sample lies on the hyperplane: no scaling gives it the value 1"
            raise ValueError(msg)
        if not SMALL < smallest < LARGEST:  # the value is beyond floats, not so the weights
            theta = np.ldexp(theta, -int(np.frexp(np.abs(theta).max())[1]))
            smallest = float(np.abs(values(rows, theta)).min())
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return Hyperplane(theta[:-1] / smallest, theta[-1] / smallest)

    def support_vectors(self, X: Any, y: ArrayLike, *, rtol: float = 1e-9) -> NDArray[np.intp]:
        """Row numbers of the samples closest to the hyperplane: those that attain the margin.

        `rtol` is the share of the largest ``|w·x + b|`` by which a row may exceed the minimum.
        """
        arguments.number("rtol", rtol, lambda x: 0 <= x < np.inf, "give a number from 0")
        rows, labels = self._labels(X, y)
        signed = labels * self._signed_distance(rows)
        with np.errstate(over="ignore"):
            return np.flatnonzero(signed <= signed.min() + rtol * np.abs(signed).max())

    def point(self) -> Floats:
        """The point of the hyperplane nearest to the origin, ``-b·w/‖w‖²``."""
        _ = self.norm
        w, length, exponent = self._scaled()
        b, power = np.frexp(self.b)
        nearest: Floats = np.ldexp(-b / length * (w / length), int(power) - exponent)
        return nearest

    def basis(self) -> Floats:
        """Orthonormal directions of the hyperplane, one per row: ``H = point + span(rows)``."""
        _ = self.norm
        w, length, _ = self._scaled()
        # The right singular vectors after the first span the complement of the unit normal.
        rest: Floats = np.linalg.svd(w[np.newaxis, :] / length, full_matrices=True)[2][1:]
        return rest

    def project(self, X: Any) -> Floats:
        """The orthogonal projection of every row of X onto the hyperplane."""
        rows = samples_of(X, self.w.size)
        offsets = self._signed_distance(rows)
        rows = rows.toarray() if arguments.is_sparse(rows) else rows
        w, length, _ = self._scaled()
        projected: Floats = rows - np.multiply.outer(offsets, w / length)
        return projected if arguments.is_sparse(X) else projected.reshape(np.shape(X))
