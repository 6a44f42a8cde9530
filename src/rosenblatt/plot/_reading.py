"""What a picture needs to know of a model and its data, checked once."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt import arguments
from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rosenblatt.results import Fit, Updates

    Floats = NDArray[np.float64]

OTHER_DATA = "X, y are not what this run was recorded with: give those that were given to fit"


@dataclass(frozen=True, eq=False)
class Seen:
    """Samples, the number of each one's class, and what a model makes of them."""

    X: Any
    label: NDArray[np.intp]
    planes: tuple[Hyperplane, ...]
    classes: tuple[str, ...]
    features: tuple[str, ...]
    wrong: NDArray[np.bool_]

    def margin(self, k: int = 0) -> float:
        """The margin of the k-th hyperplane; nan where it has no normal or no samples."""
        if not self.planes[k].w.any() or not len(self.label):
            return float("nan")
        own = 1 if len(self.planes) == 1 else k
        return self.planes[k].margin(self.X, np.where(self.label == own, 1, -1))


def read(
    model: Any,
    X: Any,
    y: Any,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Seen:
    """The checked contents of a picture of `model` with the samples X and labels y."""
    planes, classes = hyperplanes(model)
    return _read(model, X, y, planes, classes, planes[0].w.size, feature_names, class_names)


def read_kernel(
    model: Any,
    X: Any,
    y: Any,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Seen:
    """The same for a kernel perceptron, which has no hyperplane among the features."""
    classes, d = np.asarray(model.classes_), int(model.n_features_in_)
    return _read(model, X, y, (), classes, d, feature_names, class_names)


def _read(
    model: Any,
    X: Any,
    y: Any,
    planes: tuple[Hyperplane, ...],
    classes: NDArray[Any],
    d: int,
    feature_names: Sequence[str] | None,
    class_names: Sequence[str] | None,
) -> Seen:
    rows, labels = table(X), arguments.label_vector("y", y)
    if len(labels) != rows.shape[0]:
        msg = f"y has {len(labels)} samples but X has {rows.shape[0]} rows"
        raise ValueError(msg)
    if rows.shape[1] != d:
        msg = f"X has {rows.shape[1]} features but the model has {d}"
        raise ValueError(msg)
    label = _numbered(labels, classes)
    return Seen(
        rows,
        label,
        planes,
        _class_names(class_names, classes),
        features_of(model, X, feature_names, d),
        _predicted(model, X, rows) != classes[label],
    )


def read_two(
    plane: Hyperplane | None,
    X: Any,
    y: Any,
    feature_names: Sequence[str] | None,
    class_names: Sequence[str] | None,
    *,
    needs: str,
) -> Seen:
    """Samples of any two classes, the second in sorted order as +1, and a hyperplane if any."""
    labels, X = arguments.label_vector("y", y), X if hasattr(X, "columns") else table(X)
    classes, label = np.unique(labels, return_inverse=True)
    if len(classes) != 2 or labels.ndim != 1:
        msg = f"y holds {len(classes)} classes: {needs}"
        raise ValueError(msg)
    if class_names is None and classes.tolist() != [-1, 1]:
        class_names = [str(name) for name in classes.tolist()]
    if feature_names is None and hasattr(X, "columns"):
        feature_names = [str(name) for name in X.columns]
    d = X.shape[1]
    plane = Hyperplane(np.zeros(d)) if plane is None else plane
    return read(plane, X, 2 * label - 1, feature_names, class_names)


def table(X: Any) -> Any:
    """X as a CSR matrix or a 2-D array of finite numbers."""
    rows = arguments.matrix("X", X).astype(np.float64, copy=False)
    if not np.isfinite(rows.data if arguments.is_sparse(rows) else rows).all():
        msg = "X holds values that are not finite numbers: leave those rows out, or fill them in"
        raise ValueError(msg)
    return rows


def hyperplanes(model: Any) -> tuple[tuple[Hyperplane, ...], NDArray[Any]]:
    """The hyperplanes of a model and its classes."""
    if isinstance(model, Hyperplane):
        return (model,), np.array([-1, 1])
    what = type(model).__name__
    if hasattr(model, "kernel_"):
        msg = (
            f"{what} has weights of samples, not of features, so no line to draw: "
            "rb.plot.decision draws what it decides, rb.plot.epochs its mistakes"
        )
        raise ValueError(msg)
    if not all(hasattr(model, name) for name in ("coef_", "intercept_", "classes_")):
        unfitted = hasattr(model, "fit") and not hasattr(model, "classes_")
        reason = "is not fitted" if unfitted else "has no coef_, intercept_ and classes_"
        msg = f"{what} {reason}: give a fitted linear classifier or an rb.Hyperplane"
        raise ValueError(msg)
    coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
    W, classes = np.atleast_2d(np.asarray(coef, dtype=np.float64)), np.asarray(model.classes_)
    if len(W) not in (1, len(classes)) or (len(W) == 1) != (len(classes) == 2):
        msg = (
            f"{what} has {len(W)} rows of weights for {len(classes)} classes: "
            "give one row for two classes, otherwise one row per class"
        )
        raise ValueError(msg)
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(W),))
    return tuple(Hyperplane(*pair) for pair in zip(W, b, strict=True)), classes


def features_of(
    model: Any, X: Any, given: Sequence[str] | None, d: int | None = None
) -> tuple[str, ...]:
    """The names of the features: as given, else the table's or the model's own, else x1, x2."""
    d = hyperplanes(model)[0][0].w.size if d is None else d
    if given is not None:
        given = arguments.names_of("feature_names", given)
        if len(given) != d:
            msg = f"feature_names has {len(given)} names for {d} features: give one for each"
            raise ValueError(msg)
        return given
    for names in (getattr(X, "columns", None), getattr(model, "feature_names_in_", None)):
        if names is not None and len(names) == d:
            return tuple(map(str, names))
    return tuple(f"x{j + 1}" for j in range(d))


def _class_names(given: Sequence[str] | None, classes: NDArray[Any]) -> tuple[str, ...]:
    if given is None:
        signs = classes.tolist() == [-1, 1] and classes.dtype.kind in "if"
        return ("−1", "+1") if signs else tuple(str(c) for c in classes.tolist())
    names = arguments.names_of("class_names", given)
    if len(names) != len(classes):
        msg = f"class_names has {len(names)} names for {len(classes)} classes: give one for each"
        raise ValueError(msg)
    return names


def _numbered(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """The number of each label's class."""
    number = {value: k for k, value in enumerate(classes.tolist())}
    found = np.array([number.get(value, -1) for value in labels.tolist()], dtype=np.intp)
    if (found < 0).any():
        strange = labels[np.argmax(found < 0)].item()
        known = ", ".join(repr(value) for value in list(number)[:6])
        more = ", …" * (len(number) > 6)
        msg = f"y holds {strange!r}, which is not a class of the model: it knows {known}{more}"
        raise ValueError(msg)
    return found


def _predicted(model: Any, X: Any, rows: Any) -> NDArray[Any]:
    if not rows.shape[0]:
        return np.empty(0)
    if isinstance(model, Hyperplane):
        return model.predict(rows)
    with _any_names():
        return np.asarray(model.predict(X))


def decision_values(model: Any, X: Any) -> Floats:
    """What a classifier makes of the rows of X, a column for each two-class problem."""
    with _any_names():
        values: Floats = np.asarray(model.decision_function(X), dtype=np.float64)
    return values.reshape(X.shape[0], -1)


@contextmanager
def _any_names() -> Iterator[None]:
    """A model fitted to a data frame complains of plain arrays, which are fine here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


def recorded(
    model: Any,
    X: Any,
    y: Any,
    feature_names: Sequence[str] | None = None,
    *,
    any_features: bool = False,
) -> tuple[Seen, Fit, Updates]:
    """A two-class run in two features that was recorded update by update, and its data."""
    planes, _ = hyperplanes(model)
    if planes[0].w.size != 2 and not any_features:
        msg = f"the model has {planes[0].w.size} features: only runs with two can be drawn"
        raise ValueError(msg)
    if len(planes) > 1:
        msg = f"the model has {len(planes)} classes: only runs with two can be drawn"
        raise ValueError(msg)
    fits: tuple[Fit, ...] = getattr(model, "fits_", ())
    updates = getattr(fits[0].trace, "updates", None) if fits else None
    if updates is None:
        what = type(model).__name__
        remedy = (
            "fit with record=True" if hasattr(model, "record") else "use rb.Perceptron(record=True)"
        )
        msg = f"this {what} has no record of its updates: {remedy}"
        raise ValueError(msg)
    seen = read(model, X, y, feature_names)
    inside = updates.sample < len(seen.label)  # `path` refuses the others
    if ((updates.step > 0) != (seen.label[np.where(inside, updates.sample, 0)] == 1))[inside].any():
        raise ValueError(OTHER_DATA)
    return seen, fits[0], updates


def path(updates: Updates, X: Any, last: Hyperplane) -> Floats:
    """``(w, b)`` before the first and after every update, one row each."""
    rows = X.toarray() if hasattr(X, "toarray") else X
    start = np.append(updates.start.w, updates.start.b)
    if not len(updates):
        return start[np.newaxis, :]
    theta = np.full((1, start.size), np.nan)
    if updates.sample.max() < len(rows):
        ones = np.full(updates.sample.size, float(updates.fit_intercept))
        moves = updates.step[:, None] * np.column_stack([rows[updates.sample], ones])
        first = np.flatnonzero(np.diff(updates.update, prepend=-1))
        sums = updates.eta * np.add.reduceat(moves, first, axis=0)
        theta = np.cumsum(np.vstack([start, sums]), axis=0)
    end = np.append(last.w, last.b)
    if not np.allclose(theta[-1], end, rtol=1e-6) or not _same_values(updates, rows, theta):
        raise ValueError(OTHER_DATA)
    return theta


def _same_values(updates: Updates, rows: Floats, theta: Floats) -> bool:
    """Whether the mistakes have the values ``w·x + b`` that were recorded, but for rounding."""
    before, x = theta[updates.update], rows[updates.sample]
    terms = np.column_stack([before[:, :-1] * x, before[:, -1]])
    room = 1e-6 * (np.abs(terms).sum(axis=1) + np.abs(updates.value))
    return bool((np.abs(terms.sum(axis=1) - updates.value) <= room).all())
