"""What the classifiers share: reading data, fitted attributes, predictions."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.cluster.opened import ClusteredSamples, is_on_cluster
from rosenblatt.contract.clustered import (
    lazily,
    names_of,
    read_clustered,
    share_of_hits,
)
from rosenblatt.contract.estimator import Estimator, are_floats, is_count
from rosenblatt.contract.parameters import (
    class_weights,
    count_threads,
    find_classes,
    sample_weights,
)
from rosenblatt.contract.samples import class_numbers, read_labelled_samples
from rosenblatt.data.opened import OpenedSource
from rosenblatt.data.rows import as_rows, n_entries, n_rows
from rosenblatt.data.sources import MemorySource, map_pieces
from rosenblatt.results import Hyperplane, JointFit, StopReason
from rosenblatt.results.calibration import Curve, IsotonicCurve, SigmoidCurve, probabilities
from rosenblatt.running.scanner import NotFinite, exact_decisions
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.data.rows import Rows
    from rosenblatt.data.sources import Piece, Source


AT_A_TIME = 1 << 16  # values of a thread


class Data(NamedTuple):
    """Validated training data; class `positives[k]` is +1 in the k-th two-class problem."""

    source: Any
    classes: NDArray[Any]
    positives: list[int]


class Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """Base of all classifiers.

    Two classes make one problem (the second class in sorted order is +1), K > 2 classes make K
    problems "this class against the rest". `fits_` holds their outcomes; the other attributes
    are views of it.
    """

    classes_: NDArray[Any]
    n_errors_: int
    calibration_: tuple[Curve, ...]  # where there is one: decision values to probabilities

    _parts = (*Estimator._parts, SigmoidCurve, IsotonicCurve)

    # The side of points on the hyperplane, where a parameter may say so; None: -1, but in training
    # on neither. (Models that were saved before there was the parameter have this one.)
    at_zero: int | None = None

    def _read(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, reset: bool = True
    ) -> Data:
        """Validate the data, once. A C-ordered float X is not copied."""
        if is_on_cluster(X):
            return self._read_clustered(X, y, sample_weight, classes, reset=reset)
        if isinstance(X, OpenedSource):
            rows = as_rows(self._opened(X, reset=reset))
            label, known = labels_of(X, y)
            if classes is None:
                return self._data(rows, X.shape[1], label, sample_weight, known)
            label = find_classes(known, classes)[label]
            return self._data(rows, X.shape[1], label, sample_weight, classes)
        validate = partial(validate_data, self, reset=reset)
        X, y = read_labelled_samples(X, y, validate, self.n_jobs)
        return self._label(as_rows(X), X.shape[1], y, sample_weight, classes)

    def _read_clustered(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, *, reset: bool
    ) -> Data:
        """Validate data on a cluster, where they are."""
        names = names_of(X)
        source, classes = read_clustered(X, y, sample_weight, classes, self._class_factors)
        self._note_features(source.n_features, names, "X", reset=reset)
        return Data(source, classes, positives_of(classes))

    def _label(self, rows: Rows, n_features: int, y: Any, sample_weight: Any, classes: Any) -> Data:
        """Validated rows with their labels and weights."""
        classes, label = class_numbers(y, classes, self.n_jobs)
        return self._data(rows, n_features, label, sample_weight, classes)

    def _data(
        self,
        rows: Rows,
        n_features: int,
        label: NDArray[np.int32],
        sample_weight: Any,
        classes: NDArray[Any],
    ) -> Data:
        """Rows whose classes are numbered, with their weights."""
        weight = sample_weights(sample_weight, label)
        factor = None
        if self.class_weight is not None:  # counting takes as long as a tenth of a pass
            factor = self._class_factors(classes, np.bincount(label, minlength=len(classes)))
        source = MemorySource(rows, label, n_features, weight, factor)
        return Data(source, classes, positives_of(classes))

    def _class_factors(self, classes: NDArray[Any], counts: NDArray[np.int64]) -> Floats | None:
        """For each problem the weight of the rest and of its own class.

        `counts` has how many samples there are of each class.
        As in scikit-learn's Perceptron, the rest has the weight 1 unless it is a single class.
        """
        if self.class_weight is None:
            return None
        factors = class_weights(self.class_weight, classes, counts)
        rest = factors[::-1] if len(classes) == 2 else np.ones(len(classes))
        return np.column_stack([rest, factors])

    def _has_basics(self) -> bool:
        """Whether it has classes in order, too, counts its errors, and is calibrated for them."""
        sound = are_classes(self.classes_) and is_count(self.n_errors_)
        return super()._has_basics() and sound and self._has_curves()

    def _has_curves(self) -> bool:
        """Whether it has a curve for each problem, if it has any."""
        curves = getattr(self, "calibration_", None)
        if curves is None:
            return True
        fits = isinstance(curves, tuple) and len(curves) == len(positives_of(self.classes_))
        return fits and all(isinstance(one, Curve) and one.fits_together for one in curves)

    @property
    def certificate_(self) -> Any:
        """Evidence beyond the hyperplane itself (a tuple for more than two classes)."""
        return self._view("certificate")

    def decision_function(self, X: Any) -> Floats:
        """A value for each row of X: shape (n,), or (n, K) for K > 2 classes."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X; of Dask's collections, when that is computed."""
        if is_on_cluster(X):
            self._note_columns(X)
            return lazily(self, "predict", X, self.classes_.dtype)  # type: ignore[no-any-return]
        values = self.decision_function(X)
        if values.ndim == 1:  # without a list of numbers as long as the data
            return np.where(above(values, self.at_zero), self.classes_[1:], self.classes_[:1])
        return self.classes_[choose(values, self.at_zero)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of right answers on X and y, or on an opened source."""
        if isinstance(X, ClusteredSamples):
            X.refuse(y)
            return share_of_hits(self.predict(X), X.y, sample_weight, X.engine.client)
        if is_on_cluster(X):
            return share_of_hits(self.predict(X), y, sample_weight)
        if isinstance(X, OpenedSource):
            X.refuse(y)
            y = X.y
        return float(super().score(X, y, sample_weight))

    @available_if(lambda self: hasattr(self, "calibration_"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, a column each, of a model with a `calibration_`.

        ``rosenblatt fit --calibrate`` gives it one. The class of a row is still that of `predict`:
        where two are about as probable, it need not be the more probable one.
        """
        if is_on_cluster(X):
            self._note_columns(X)
            return lazily(self, "predict_proba", X, np.float64, len(self.classes_))  # type: ignore[no-any-return]
        values = self.decision_function(X)
        return probabilities(self.calibration_, values.reshape(len(values), -1))


class LinearClassifier(Classifier):
    """Base of the classifiers that end in hyperplanes, one per two-class problem."""

    coef_: Floats
    intercept_: Floats

    _parts = (*Classifier._parts, Hyperplane)

    def _set_results(self, data: Data, fits: tuple[Any, ...], team: Team) -> None:
        """Set everything that a fitted model has, all at once."""
        planes = kept_planes(fits)
        coef, intercept = np.stack([h.w for h in planes]), np.array([h.b for h in planes])
        thetas = np.column_stack([coef, intercept])
        known = _have_separated(fits) and not data.source.weighted
        self.n_errors_ = (
            0 if known else count_training_errors(data.source, thetas, team, self.at_zero)
        )
        self.fits_, self.classes_ = fits, data.classes
        forget_calibration(self)
        self.coef_, self.intercept_ = coef, intercept
        self.n_iter_ = max(len(fit.trace) for fit in fits)

    def _fits_together(self) -> bool:
        k, d = len(positives_of(self.classes_)), self.n_features_in_
        fits = [plane.w.shape for plane in kept_planes(self.fits_)]
        return (
            np.shape(self.classes_) == (len(self.classes_),)
            and fits == [(d,)] * k
            and are_floats(self.coef_, (k, d))
            and are_floats(self.intercept_, (k,))
        )

    def decision_function(self, X: Any) -> Floats:
        """``w·x + b`` for each row of X: shape (n,), or (n, K) for K > 2 classes.

        The signs are exact. Of Dask's collections it is computed when it is asked for.
        """
        check_is_fitted(self)
        if is_on_cluster(X):
            self._note_columns(X)
            width = len(self.coef_) if len(self.coef_) > 1 else 0
            return lazily(self, "decision_function", X, np.float64, width)  # type: ignore[no-any-return]
        rows = as_rows(self._rows_of(X, finite=False))
        thetas = np.column_stack([self.coef_, self.intercept_])
        try:
            with Team(count_threads(self.n_jobs)) as team:
                values = exact_decisions(rows, thetas, (0, n_rows(rows)), team)
        except NotFinite:
            self._rows_of(X)  # which says where
            raise
        return values[:, 0] if values.shape[1] == 1 else values


def labels_of(source: OpenedSource, y: Any) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """The numbers of the classes of an opened source, and the classes."""
    source.refuse(y)
    if source.label is None or source.classes is None:
        what = "has no target" if source.targets is None else "has numbers, no classes, as target"
        msg = f"{source!r} {what}: open it with target=, the column of the classes"
        raise ValueError(msg)
    if len(source.classes) < 2:
        only = source.classes.tolist()[0]
        msg = f"{source!r} holds only one class, {only!r}: a classifier needs at least two"
        raise ValueError(msg)
    return source.label, source.classes


def forget_calibration(classifier: Classifier) -> None:
    """After another fit: its curves were for other decision values."""
    if hasattr(classifier, "calibration_"):
        del classifier.calibration_


def classifier_of(model: Any) -> Any:
    """A bare classifier, or the last step of a pipeline."""
    return model[-1] if hasattr(model, "steps") else model


def kept_planes(fits: tuple[Any, ...]) -> list[Hyperplane]:
    """The hyperplanes of a model: one of each fit, or those of the only one."""
    joint = isinstance(fits[0], JointFit)
    return list(fits[0].hyperplanes) if joint else [fit.hyperplane for fit in fits]


def _have_separated(fits: tuple[Any, ...]) -> bool:
    """Whether each problem's hyperplane has been shown to have every sample on its side."""
    return all(
        not isinstance(fit, JointFit) and fit.stop_reason is StopReason.SEPARATED and fit.keeps_last
        for fit in fits
    )


def positives_of(classes: NDArray[Any]) -> list[int]:
    """The class that is +1 in each two-class problem."""
    return [1] if len(classes) == 2 else list(range(len(classes)))


def are_numbers(values: Any, shape: tuple[int, ...]) -> bool:
    """Whether it is an array of whole numbers of this shape."""
    return isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.shape == shape


def are_classes(classes: Any) -> bool:
    """Whether it is an array of two labels or more, in sorted order, none twice."""
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
        return False
    labels = classes.tolist()
    plain = all(isinstance(label, str) for label in labels) or all(
        isinstance(label, Real) for label in labels
    )
    return plain and all(a < b for a, b in pairwise(labels))


def choose(values: Floats, at_zero: int | None = None) -> NDArray[np.intp]:
    """The number of the class that the decision values speak for; of two, zero for `at_zero`."""
    if values.shape[1] == 1:
        return above(values[:, 0], at_zero).astype(np.intp)
    chosen: NDArray[np.intp] = values.argmax(axis=1)
    return chosen


def above(values: Floats, at_zero: int | None) -> NDArray[np.bool_]:
    """Where a value predicts +1."""
    return values >= 0 if at_zero == 1 else values > 0


def decisions(
    source: Source, thetas: Floats, team: Team
) -> Iterator[tuple[NDArray[np.int32], Floats]]:
    """Labels of the training data and exact decision values, some rows at a time."""
    step = max(1, (1 << 20) // len(thetas))
    for piece in source.pieces():
        for a in range(0, piece.length, step):
            z = min(a + step, piece.length)
            values = exact_decisions(piece.block.rows, thetas, (a, z), team)
            yield piece.block.label[a:z], values


def count_training_errors(
    source: Source, thetas: Floats, team: Team, at_zero: int | None = None
) -> int:
    """``sum(predict(X) != y)`` on the training data."""
    return sum(map_pieces(source, partial(_errors, thetas, at_zero), team))


def _errors(thetas: Floats, at_zero: int | None, piece: Piece, team: Team) -> int:
    """The errors in a block."""
    alone, rows, label = Team(1), piece.block.rows, piece.block.label

    def count(span: tuple[int, int]) -> int:
        step, found = max(1, AT_A_TIME // len(thetas)), 0
        for a in range(*span, step):
            z = min(a + step, span[1])
            values = exact_decisions(rows, thetas, (a, z), alone)
            found += int(np.count_nonzero(choose(values, at_zero) != label[a:z]))
        return found

    return sum(team.each(count, team.ranges(piece.length, n_entries(rows) * len(thetas))))
