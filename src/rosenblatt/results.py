"""What a fit returns: hyperplanes, stop reasons, traces. Frozen, and free of any solver."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rosenblatt import arguments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


class StopReason(enum.Enum):
    """Why a fit ended; the text says what the returned vector means."""

    SEPARATED = "an epoch without mistakes: the last hyperplane separates the training data"
    SMALL_CHANGE = "the weights changed by less than tol over an epoch"
    EPOCH_LIMIT = "max_epochs was reached while mistakes were still being made"
    TIME_LIMIT = "max_time was reached before the work was done"
    CYCLE = "the weights repeat exactly: this run can never end"
    GAP_CLOSED = "the duality gap is within tol: the answer is optimal to that precision"
    INSEPARABLE = "no hyperplane separates the classes"
    ROUNDING = "rounding leaves nothing to gain: the gap is as small as floats allow here"
    INTERRUPTED = "interrupted: the model is the one reached so far"

    def __repr__(self) -> str:
        return f"StopReason.{self.name}"


def _samples(X: Any, d: int) -> Any:
    """Samples of d features as a 2-D array or a CSR matrix."""
    rows = arguments.table("X", X)
    if arguments.is_sparse(rows):
        rows = arguments.canonical(rows)
    else:
        rows = arguments.exact("X", np.atleast_2d(np.asarray(rows)))
    if rows.ndim != 2 or rows.shape[1] != d:
        msg = f"X has shape {rows.shape}: give a row of {d} features for each sample"
        raise ValueError(msg)
    return rows


@dataclass(frozen=True, eq=False)
class Hyperplane:
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
        # Squares overflow or vanish for extreme weights; scaling by a power of two is exact.
        exponent = np.frexp(np.abs(self.w).max())[1]
        return float(np.ldexp(np.linalg.norm(np.ldexp(self.w, -exponent)), exponent))

    def decision_function(self, X: Any) -> Floats:
        """``w·x + b`` for every row of X."""
        values: Floats = np.asarray(_samples(X, self.w.size) @ self.w, dtype=np.float64) + self.b
        return values

    def predict(self, X: Any, *, at_zero: Literal[-1, 1] = -1) -> NDArray[np.int64]:
        """The side of every row, +1 or -1; a point on the hyperplane gets `at_zero`."""
        arguments.number("at_zero", at_zero, lambda side: side in (-1, 1), "give -1 or 1")
        values = self.decision_function(X)
        return np.where(values == 0, at_zero, np.where(values > 0, 1, -1))

    def distance(self, X: Any) -> Floats:
        """``|w·x + b| / ‖w‖``: how far every row lies from the hyperplane."""
        distances: Floats = np.abs(self.decision_function(X)) / self.norm
        return distances

    def _signed(self, X: Any, y: ArrayLike) -> Floats:
        """``y(w·x + b)`` for labels -1 and +1, checked."""
        values = self.decision_function(X)
        labels = arguments.signed_labels("y", y, values.size)
        if not values.size:
            msg = "X has no rows: a margin needs at least one sample"
            raise ValueError(msg)
        signed: Floats = labels * values
        return signed

    def margin(self, X: Any, y: ArrayLike) -> float:
        """``min_i y_i(w·x_i + b) / ‖w‖``: positive exactly when the hyperplane separates."""
        return float(self._signed(X, y).min() / self.norm)

    def canonical(self, X: Any) -> Hyperplane:
        """The same hyperplane, scaled so that the smallest ``|w·x + b|`` over X is 1."""
        values = np.abs(self.decision_function(X))
        if not values.size:
            msg = "X has no rows: the scale comes from the closest sample"
            raise ValueError(msg)
        smallest = float(values.min())
        if not np.isfinite(smallest):
            msg = "X holds numbers that are not finite: give finite numbers"
            raise ValueError(msg)
        if smallest == 0.0:
            msg = "a sample lies on the hyperplane: no scaling gives it the value 1"
            raise ValueError(msg)
        return Hyperplane(self.w / smallest, self.b / smallest)

    def support_vectors(self, X: Any, y: ArrayLike, *, rtol: float = 1e-9) -> NDArray[np.intp]:
        """Row numbers of the samples closest to the hyperplane: those that attain the margin.

        `rtol` is the share of the largest ``|w·x + b|`` by which a row may exceed the minimum.
        """
        arguments.number("rtol", rtol, lambda x: 0 <= x < np.inf, "give a number from 0")
        signed = self._signed(X, y)
        return np.flatnonzero(signed <= signed.min() + rtol * np.abs(signed).max())

    def point(self) -> Floats:
        """The point of the hyperplane nearest to the origin, ``-b·w/‖w‖²``."""
        unit = self.w / self.norm
        nearest: Floats = -self.b / self.norm * unit
        return nearest

    def basis(self) -> Floats:
        """Orthonormal directions of the hyperplane, one per row: ``H = point + span(rows)``."""
        unit = self.w / self.norm
        # The right singular vectors after the first span the complement of the unit normal.
        rest: Floats = np.linalg.svd(unit[np.newaxis, :], full_matrices=True)[2][1:]
        return rest

    def project(self, X: Any) -> Floats:
        """The orthogonal projection of every row of X onto the hyperplane."""
        rows = _samples(X, self.w.size)
        rows = rows.toarray() if arguments.is_sparse(rows) else rows.reshape(np.shape(X))
        unit = self.w / self.norm
        offsets = (rows @ self.w + self.b) / self.norm
        projected: Floats = rows - np.multiply.outer(offsets, unit)
        return projected


@dataclass(frozen=True)
class Cycle:
    """Evidence that a run repeats itself: the weights after epoch `entry` come back exactly.

    They are the same again after epoch ``entry + period``, and an epoch depends on nothing but
    the weights it starts with, so the run goes round for ever. Confirmed by going round once
    more. (It shows that the data are inseparable only if no update was rounded.)
    """

    entry: int
    period: int


@dataclass(frozen=True, eq=False)
class Mistakes:
    """Every mistake that led to an update, in order; there with ``record=True``.

    Attributes
    ----------
    epoch, sample, value, step : arrays with one entry per mistake
        The epoch (from 1), the row, its decision value before the update, and the factor of the
        sample in it: ``eta*y`` times the row's weight.
    update : int array
        The update to which the mistake belongs: online its own, otherwise that of its batch.
    """

    epoch: NDArray[np.int64]
    sample: NDArray[np.int64]
    value: Floats
    step: Floats
    update: NDArray[np.int64]

    def __post_init__(self) -> None:
        # A run that goes on builds on these arrays: they must not change under it.
        for column in (self.epoch, self.sample, self.value, self.step, self.update):
            column.setflags(write=False)

    def __len__(self) -> int:
        """Return the number of updates."""
        return int(self.update[-1]) + 1 if self.update.size else 0

    def mistake_counts(self, n: int) -> NDArray[np.int64]:
        """``α``, how often each of the `n` samples was a mistake: ``w = Σ α_i y_i x_i``.

        (That sum holds for a start at zero, ``eta0=1`` and no sample weights.)
        """
        arguments.whole_number("n", n, 0, "give the number of samples")
        return np.bincount(self.sample, minlength=n).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Updates(Mistakes):
    """Every mistake that moved the hyperplane, in order; there with ``record=True``.

    Beside what `Mistakes` has, it knows the start guess, so that it can give every hyperplane on
    the way. (Steps are factors of ``(x, 1)``.)
    """

    start: Hyperplane
    eta: float
    fit_intercept: bool

    def hyperplane(self, t: int, X: Any) -> Hyperplane:
        """The hyperplane after the first `t` updates, bit for bit as the run had it.

        `X` is the training data; 0 gives the start guess, ``len(updates)`` the last hyperplane.
        """
        wanted = f"this run has updates 1 to {len(self)}, 0 is the start"
        if arguments.whole_number("t", t, 0, wanted) > len(self):
            msg = f"t={t} is not an update: {wanted}"
            raise ValueError(msg)
        X = _samples(X, self.start.w.size)
        if X.shape[0] <= self.sample.max(initial=-1):
            msg = f"X has {X.shape[0]} rows, fewer than in training: give the training data"
            raise ValueError(msg)
        theta = np.append(self.start.w, self.start.b)
        stop = int(np.searchsorted(self.update, t))
        edges = np.flatnonzero(np.diff(self.update[:stop])) + 1
        for batch in np.split(np.arange(stop), edges):
            sums = np.zeros_like(theta)
            for k in batch:
                _add_row(X, int(self.sample[k]), float(self.step[k]), sums)
                sums[-1] += self.step[k] * self.fit_intercept
            theta += self.eta * sums
        if not np.isfinite(theta).all():
            msg = "X holds numbers that are not finite: give the training data"
            raise ValueError(msg)
        return Hyperplane(theta[:-1], theta[-1])


def _add_row(X: Any, i: int, a: float, theta: Floats) -> None:
    """``theta[:-1] += a * x_i`` for a row of an array or a CSR matrix."""
    if hasattr(X, "indptr"):
        entries = slice(X.indptr[i], X.indptr[i + 1])
        theta[X.indices[entries]] += a * X.data[entries].astype(np.float64)
    else:
        theta[:-1] += a * X[i].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Trace:
    """The record of a fit: per epoch always, per update on request.

    Attributes
    ----------
    mistakes : int array
        Mistakes used in each epoch (0 or 1 where an epoch picks one of them).
    change : float array
        ``‖(w, b) - (w, b) before‖`` over each epoch.
    seconds : float array
        Time since the fit began, at the end of each epoch.
    loss : float array or None
        The delta rule only: mean of ``(t - o)²/2`` over the visits of each epoch.
    pocket_errors : float array or None
        ``keep="pocket"`` only: (weighted) training errors of the pocket after each epoch.
    updates : Updates, Mistakes or None
        ``record=True`` only: every single update.
    """

    mistakes: NDArray[np.int64]
    change: Floats
    seconds: Floats
    loss: Floats | None = None
    pocket_errors: Floats | None = None
    updates: Any = None

    def __len__(self) -> int:
        """Return the number of epochs."""
        return len(self.mistakes)


@dataclass(frozen=True, eq=False)
class Epoch:
    """What a callback is told after each epoch; tuples have one entry per two-class problem.

    Attributes
    ----------
    number : int
        From 1.
    mistakes : tuple of int
        Mistakes in this epoch, or in the last one of a problem that has already stopped.
    hyperplanes : tuple of Hyperplane
        The hyperplanes at its end; none for a kernel perceptron.
    seconds : float
        Time since the fit began.
    """

    number: int
    mistakes: tuple[int, ...]
    hyperplanes: tuple[Hyperplane, ...]
    seconds: float


@dataclass(frozen=True, eq=False)
class Fit:
    """The outcome of one two-class problem.

    Attributes
    ----------
    hyperplane : Hyperplane
        What was to be kept: the last, the pocket's or the average.
    last : Hyperplane
        Where the run ended.
    stop_reason : StopReason
    n_mistakes, n_updates, n_epochs : int
    trace : Trace
    certificate : Cycle or None
        Evidence beyond the hyperplane itself.
    """

    hyperplane: Hyperplane
    last: Hyperplane
    stop_reason: StopReason
    n_mistakes: int
    n_updates: int
    n_epochs: int
    trace: Trace
    certificate: Cycle | None = None
