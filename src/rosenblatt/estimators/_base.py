"""What the linear classifiers share: validation, fitted attributes, predictions."""

from __future__ import annotations

import numbers
import warnings
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from rosenblatt.estimators._progress import ProgressBar
from rosenblatt.loops.scan import decide
from rosenblatt.results import Epoch, Hyperplane, StopReason
from rosenblatt.rows import as_rows, n_entries, n_rows
from rosenblatt.solvers.threads import Team
from rosenblatt.solvers.training import Problem, Settings, Training
from rosenblatt.sources import MemorySource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rosenblatt.results import Fit

    Floats = NDArray[np.float64]

TILE = 1 << 15


def count_threads(n_jobs: int | None) -> int:
    """Threads to use: `n_jobs`, or every core unless an outer pool already uses them."""
    if n_jobs is not None:
        return int(effective_n_jobs(n_jobs))
    backend, _ = get_active_backend()
    return 1 if backend.nesting_level else int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


class LinearClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers that end in hyperplanes, one per two-class problem.

    Two classes make one problem (the second class in sorted order is +1), K > 2 classes make K
    problems "this class against the rest". `fits_` holds their outcomes; the other attributes
    are views of it.
    """

    fits_: tuple[Fit, ...]
    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Floats
    n_iter_: int
    n_errors_: int

    # ---------------------------------------------------------------- what a subclass provides

    def _settings(self, source: MemorySource, **changed: Any) -> Settings:
        """Check the parameters and turn them into settings."""
        raise NotImplementedError

    def _training(self, settings: Settings) -> type[Training]:
        """Which rule to train by."""
        raise NotImplementedError

    # ---------------------------------------------------------------- training

    def _read(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, reset: bool = True
    ) -> MemorySource:
        """Validate the data, once; set `classes_`. A C-ordered float X is not copied."""
        X, y = validate_data(
            self,
            X,
            y,
            reset=reset,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=(np.float64, np.float32),
            order="C",
        )
        check_classification_targets(y)
        if issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        label = self._label(y, classes)
        weight = self._sample_weights(X, sample_weight)
        return MemorySource(as_rows(X), label, X.shape[1], weight, self._class_factors(label))

    def _label(self, y: NDArray[Any], classes: Any) -> NDArray[np.int32]:
        """The number of each sample's class, in the sorted order of `classes_`."""
        if classes is None:
            self.classes_, label = _number_classes(y)
            if len(self.classes_) < 2:
                msg = (
                    f"y holds only one class, {self.classes_[0]!r}: "
                    "a classifier needs samples of at least two classes"
                )
                raise ValueError(msg)
            return label
        unknown = np.setdiff1d(y, classes)
        if unknown.size:
            msg = f"y holds {unknown[0]!r}, which is not among classes={list(classes)!r}"
            raise ValueError(msg)
        return np.searchsorted(classes, y).astype(np.int32)

    def _sample_weights(self, X: Any, sample_weight: Any) -> Floats | None:
        """Checked weights; None if they are all 1."""
        if sample_weight is None:
            return None
        weight: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weight < 0).any():
            msg = f"sample_weight holds {weight.min():g}: weights must be zero or positive"
            raise ValueError(msg)
        if not weight.any():
            msg = "all sample weights are zero: nothing is left to learn from"
            raise ValueError(msg)
        return None if (weight == 1.0).all() else weight

    def _class_factors(self, label: NDArray[np.int32]) -> Floats | None:
        """Class weights for each problem: for K > 2 only a problem's own class has its weight."""
        if self.class_weight is None:
            return None
        k, present = len(self.classes_), np.unique(label)
        factors = np.ones(k)
        factors[present] = compute_class_weight(
            self.class_weight, classes=self.classes_[present], y=self.classes_[label]
        )
        if k == 2:
            return np.tile(factors, (2, 1))
        return np.where(np.eye(k, dtype=bool), factors, 1.0)

    def _positives(self) -> list[int]:
        """The class that is +1 in each two-class problem."""
        return [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))

    def _problems(self, settings: Settings, starts: Floats) -> list[Problem]:
        """Fresh problems from their start vectors."""
        average = settings.keep == "average"
        return [
            Problem(
                positive=positive,
                theta=theta.copy(),
                start=theta.copy(),
                rng=np.random.default_rng([settings.seed, 2]),
                lag=np.zeros(len(theta) if average else 0),
            )
            for positive, theta in zip(self._positives(), starts, strict=True)
        ]

    def _train(self, source: MemorySource, settings: Settings, problems: list[Problem]) -> None:
        """Run, and set the fitted attributes."""
        for p in problems:
            p.stop = p.watch = p.cycles = p.cycle = None
        with (
            Team(count_threads(self.n_jobs)) as team,
            ProgressBar(type(self).__name__, settings.max_epochs, self.progress) as bar,
        ):
            training = self._training(settings)(
                source, settings, problems, team, self._reporter(bar)
            )
            training.run()
            self._state = problems
            self._set_results(training.fits())
            self.n_errors_ = self._count_errors(source, settings, team)
        for p in problems:
            p.pocket = p.watch = p.cycles = None

    def _reporter(self, bar: ProgressBar) -> Callable[[int, list[Problem]], None] | None:
        """After each epoch: move the progress bar, tell the callback."""
        callback = self.callback
        if callback is None and not bar.shown:
            return None

        def report(number: int, problems: list[Problem]) -> None:
            bar.show(number, sum(p.mistakes[-1] for p in problems if p.stop is None))
            if callback is not None:
                planes = tuple(Hyperplane(p.theta[:-1], p.theta[-1]) for p in problems)
                seconds = max(p.seconds[-1] for p in problems)
                callback(Epoch(number, tuple(p.mistakes[-1] for p in problems), planes, seconds))

        return report

    def _set_results(self, fits: tuple[Fit, ...]) -> None:
        self.fits_ = fits
        self.coef_ = np.stack([fit.hyperplane.w for fit in fits])
        self.intercept_ = np.array([fit.hyperplane.b for fit in fits])
        self.n_iter_ = max(fit.n_epochs for fit in fits)

    def _count_errors(self, source: MemorySource, settings: Settings, team: Team) -> int:
        """``sum(predict(X) != y)`` on the training data."""
        separated = all(fit.stop_reason is StopReason.SEPARATED for fit in self.fits_)
        if separated and settings.keep == "last" and not source.weighted:
            return 0
        errors = 0
        for piece in source.pieces():
            step = max(1, (1 << 20) // len(self.fits_))
            for a in range(0, piece.length, step):
                z = min(a + step, piece.length)
                values = self._values(piece.block.rows, a, z, team)
                errors += int((_choose(values) != piece.block.label[a:z]).sum())
        return errors

    def _warn_if_not_separated(self) -> None:
        """Say how many errors are left and what to do."""
        if not self.n_errors_:
            return
        open_ends = [fit for fit in self.fits_ if fit.stop_reason is not StopReason.SEPARATED]
        if not open_ends:
            return
        longest = max(open_ends, key=lambda fit: fit.n_epochs)
        epochs = f"{self.n_iter_} epoch{'s' * (self.n_iter_ != 1)}"
        errors = f"{self.n_errors_} training error{'s' * (self.n_errors_ != 1)}"
        warnings.warn(
            f"{type(self).__name__} stopped after {epochs} with {errors} left: "
            f"{longest.stop_reason.value}. {self._advice(longest)}",
            ConvergenceWarning,
            stacklevel=3,
        )

    def _advice(self, fit: Fit) -> str:
        raise NotImplementedError

    # ---------------------------------------------------------------- views of fits_

    def _view(self, name: str) -> Any:
        values = tuple(getattr(fit, name) for fit in self.fits_)
        return values[0] if len(values) == 1 else values

    @property
    def stop_reason_(self) -> StopReason | tuple[StopReason, ...]:
        """Why the fit ended (a tuple for more than two classes)."""
        return self._view("stop_reason")  # type: ignore[no-any-return]

    @property
    def trace_(self) -> Any:
        """The record of the fit (a tuple for more than two classes)."""
        return self._view("trace")

    @property
    def certificate_(self) -> Any:
        """Evidence beyond the hyperplane itself (a tuple for more than two classes)."""
        return self._view("certificate")

    @property
    def n_mistakes_(self) -> Any:
        """Mistakes made in training (an array for more than two classes)."""
        counts = self._view("n_mistakes")
        return np.array(counts) if isinstance(counts, tuple) else counts

    @property
    def n_updates_(self) -> Any:
        """Updates of the weights in training (an array for more than two classes)."""
        counts = self._view("n_updates")
        return np.array(counts) if isinstance(counts, tuple) else counts

    # ---------------------------------------------------------------- predictions

    def _values(self, rows: Any, a: int, z: int, team: Team) -> Floats:
        """Decision values of rows a to z, one column per problem."""
        thetas = np.column_stack([self.coef_, self.intercept_]).astype(np.float64)
        thetas = np.ascontiguousarray(thetas)
        out = np.empty((z - a, len(thetas)))
        work = n_entries(rows) // max(n_rows(rows), 1)
        tile = max(1, TILE // max(work, 1))

        def part(edges: tuple[int, int]) -> None:
            first, last = a + edges[0], a + edges[1]
            decide(rows, thetas, first, last, tile, out[edges[0] : edges[1]])

        team.each(part, team.ranges(z - a, work * (z - a) * len(thetas)))
        return out

    def decision_function(self, X: Any) -> Floats:
        """``w·x + b`` for each row of X: shape (n,), or (n, K) for K > 2 classes."""
        check_is_fitted(self)
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=(np.float64, np.float32),
            order="C",
        )
        rows = as_rows(X)
        with Team(count_threads(self.n_jobs)) as team:
            values = self._values(rows, 0, n_rows(rows), team)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X."""
        values = self.decision_function(X)
        return self.classes_[_choose(values.reshape(len(values), -1))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _number_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The classes in sorted order and the number of each sample's; no sorting of y for two."""
    first = y == y[0]
    if not first.all():
        second = y[np.argmin(first)]
        if (first | (y == second)).all():
            classes = np.unique(np.array([y[0], second], dtype=y.dtype))
            return classes, (y == classes[1]).astype(np.int32)
    classes, label = np.unique(y, return_inverse=True)
    return classes, label.astype(np.int32)


def _choose(values: Floats) -> NDArray[np.intp]:
    """The number of the class that the decision values speak for."""
    if values.shape[1] == 1:
        return (values[:, 0] > 0).astype(np.intp)
    chosen: NDArray[np.intp] = values.argmax(axis=1)
    return chosen


# -------------------------------------------------------------------- parameters


def one_of(name: str, value: Any, accepted: Sequence[Any]) -> Any:
    """`value`, if it is among the accepted ones."""
    if value not in accepted:
        msg = f"{name}={value!r} is not known: give one of {', '.join(map(repr, accepted))}"
        raise ValueError(msg)
    return value


def positive_int(name: str, value: Any, *, hint: str = "") -> int:
    """`value`, if it is a whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        msg = f"{name}={value!r} is not allowed: give a whole number from 1{hint}"
        raise ValueError(msg)
    return int(value)


def positive_number(name: str, value: Any, *, hint: str = "") -> float:
    """`value`, if it is a finite number above 0."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not np.isfinite(float(value)) or value <= 0:
        msg = f"{name}={value!r} is not allowed: give a positive number{hint}"
        raise ValueError(msg)
    return float(value)


def seed_from(random_state: Any) -> int:
    """A seed drawn from whatever scikit-learn accepts as `random_state`."""
    return int(check_random_state(random_state).randint(2**31 - 1))
