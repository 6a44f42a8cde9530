"""What a picture needs to know of a model and its data, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import arguments, matrices
from rosenblatt.arguments import brief
from rosenblatt.array_types import Bools, Floats
from rosenblatt.plot.lettering import out_of
from rosenblatt.results import Fit, Hyperplane, JointFit, MarginFit, Optimum, Updates

Names = Sequence[str] | None

CLOSE = 1e-3  # how far the multipliers' value may be off before the data are taken to be others


@dataclass(frozen=True, eq=False)
class Seen:
    """Samples, the number of each one's class, and what a model makes of them."""

    X: Any
    label: NDArray[np.intp]
    planes: tuple[Hyperplane, ...]
    classes: tuple[str, ...]
    features: tuple[str, ...]
    wrong: Bools
    joint: bool = False  # whether its classes were one problem

    @property
    def n(self) -> int:
        """How many samples there are."""
        return len(self.label)

    @property
    def signs(self) -> Floats:
        """-1 and +1 of the samples of two classes."""
        return np.where(self.label > 0, 1.0, -1.0)

    @property
    def errors(self) -> str:
        """How many samples are on the wrong side, in words."""
        return f"wrong: {out_of(self.wrong.sum(), self.n)}"

    def margin(self, k: int = 0) -> float:
        """The margin of the k-th hyperplane; nan where it has no normal or no samples."""
        if not self.n or not self.planes[k].w.any():
            return float("nan")
        own = 1 if len(self.planes) == 1 else k
        return self.planes[k].margin(self.X, np.where(self.label == own, 1, -1))


def read(
    model: Any, X: Any, y: Any, features: Names = None, names: Names = None, *, kernel: bool = False
) -> Seen:
    """The checked contents of a picture; of a `kernel` perceptron, without hyperplanes."""
    planes, classes = ((), np.asarray(model.classes_)) if kernel else hyperplanes(model)
    d = int(model.n_features_in_) if kernel else planes[0].w.size
    rows, labels = _table(X), arguments.label_vector("y", y)
    if len(labels) != rows.shape[0]:
        msg = f"y has {len(labels)} samples but X has {rows.shape[0]} rows"
        raise ValueError(msg)
    if rows.shape[1] != d:
        msg = f"X has {rows.shape[1]} features but the model has {d}"
        raise ValueError(msg)
    label = _numbered(labels, classes)
    shown, features = _class_names(names, classes), features_of(model, X, features, d)
    predicted = np.empty(0)
    if len(labels):
        plane = isinstance(model, Hyperplane)
        predicted = model.predict(rows) if plane else _of_any_names(model, X).predict(X)
    joint = isinstance(next(iter(getattr(model, "fits_", ())), None), JointFit)
    wrong = np.asarray(predicted) != classes[label]
    return Seen(rows, label, planes, shown, features, wrong, joint)


def read_two(
    plane: Hyperplane | None, X: Any, y: Any, features: Names, names: Names, *, needs: str
) -> Seen:
    """Samples of any two classes, the second in sorted order as +1, and a hyperplane if any."""
    labels, X = arguments.label_vector("y", y), X if hasattr(X, "columns") else _table(X)
    classes, label = np.unique(labels, return_inverse=True)
    if len(classes) != 2 or labels.ndim != 1:
        msg = f"y holds {len(classes)} classes: {needs}"
        raise ValueError(msg)
    if names is None and classes.tolist() != [-1, 1]:
        names = [str(name) for name in classes.tolist()]
    plane = Hyperplane(np.zeros(X.shape[1])) if plane is None else plane
    return read(plane, X, 2 * label - 1, features, names)


def read_points(X: Any, y: Any, features: Names, names: Names) -> Seen:
    """Samples of any classes, and no model."""
    rows, labels = _table(X), arguments.label_vector("y", y)
    if len(labels) != rows.shape[0]:
        msg = f"y has {len(labels)} samples but X has {rows.shape[0]} rows"
        raise ValueError(msg)
    classes, label = np.unique(labels, return_inverse=True)
    shown = _class_names(names, classes)
    named = features_of(None, X, features, rows.shape[1])
    return Seen(rows, label, (), shown, named, np.zeros(len(labels), dtype=np.bool_))


def dense(X: Any) -> Any:
    """The rows of a table of a few features, as an array."""
    return X.toarray() if hasattr(X, "toarray") else X


def _table(X: Any) -> Any:
    """X as a CSR matrix or a 2-D array of finite numbers."""
    rows = matrices.matrix("X", X).astype(np.float64, copy=False)
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
        lacks = _what_it_lacks(model, "coef_, intercept_ and classes_")
        msg = f"{lacks}: give a fitted linear classifier or an rb.Hyperplane"
        raise ValueError(msg)
    W = np.atleast_2d(np.asarray(dense(model.coef_), dtype=np.float64))
    classes = np.asarray(model.classes_)
    if len(W) not in (1, len(classes)) or (len(W) == 1) != (len(classes) == 2):
        msg = (
            f"{what} has {len(W)} rows of weights for {len(classes)} classes: "
            "give one row for two classes, otherwise one row per class"
        )
        raise ValueError(msg)
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(W),))
    return tuple(Hyperplane(*pair) for pair in zip(W, b, strict=True)), classes


def _what_it_lacks(model: Any, wanted: str) -> str:
    """``Perceptron is not fitted``, or what else is the matter with it."""
    known = hasattr(model, "classes_") or hasattr(model, "n_features_in_")
    unfitted = hasattr(model, "fit") and not known
    return f"{type(model).__name__} {'is not fitted' if unfitted else f'has no {wanted}'}"


def features_of(model: Any, X: Any, given: Names, d: int) -> tuple[str, ...]:
    """The names of d features: as given, else the table's or the model's own, else x1, x2."""
    if given is not None:
        return _one_for_each("feature_names", given, d, "features")
    for names in (getattr(X, "columns", None), getattr(model, "feature_names_in_", None)):
        if names is not None and len(names) == d:
            return tuple(map(str, names))
    return tuple(f"x{j + 1}" for j in range(d))


def _class_names(given: Names, classes: NDArray[Any]) -> tuple[str, ...]:
    if given is not None:
        return _one_for_each("class_names", given, len(classes), "classes")
    signs = classes.tolist() == [-1, 1] and classes.dtype.kind in "if"
    return ("−1", "+1") if signs else tuple(str(c) for c in classes.tolist())


def _one_for_each(name: str, given: Sequence[str], n: int, what: str) -> tuple[str, ...]:
    names = arguments.names_of(name, given)
    if len(names) != n:
        msg = f"{name} has {len(names)} names for {n} {what}: give one for each"
        raise ValueError(msg)
    return names


def _numbered(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """The number of each label's class."""
    known = {value: k for k, value in enumerate(classes.tolist())}
    found = np.array([known.get(value, -1) for value in labels.tolist()], dtype=np.intp)
    if (found < 0).any():
        strange = labels[np.argmax(found < 0)].item()
        msg = f"y holds {strange!r}, which is not a class of the model: it knows {_some(known)}"
        raise ValueError(msg)
    return found


def _some(classes: Any) -> str:
    """The first few classes, as they are written in Python."""
    return ", ".join(repr(name) for name in [*classes][:6]) + ", …" * (len(classes) > 6)


def decision_values(model: Any, X: Any) -> Floats:
    """What a classifier makes of the rows of X, a column for each two-class problem."""
    values = _of_any_names(model, X).decision_function(X)
    return np.asarray(values, dtype=np.float64).reshape(X.shape[0], -1)


def _of_any_names(model: Any, X: Any) -> Any:
    """The model; for rows without names one that knows none, or it would complain of them."""
    return model if hasattr(X, "columns") else nameless(model)


def nameless(model: Any) -> Any:
    """The same estimator without the names of its features."""
    if "feature_names_in_" in getattr(model, "__dict__", ()):
        model = copy(model)
        del model.feature_names_in_
    return model


# Recorded runs --------------------------------------------------------------------------------


def only_two(model: Any, *, any_features: bool = False) -> None:
    """Refuse a linear model of more than two classes, or of other than two features."""
    planes, _ = hyperplanes(model)
    if planes[0].w.size != 2 and not any_features:
        msg = f"the model has {planes[0].w.size} features: only runs with two can be drawn"
        raise ValueError(msg)
    if len(planes) > 1:
        msg = f"the model has {len(planes)} classes: only runs with two can be drawn"
        raise ValueError(msg)


def recorded(
    model: Any, X: Any, y: Any, features: Names = None, *, any_features: bool = False
) -> tuple[Seen, Fit, Updates, Floats]:
    """A run of two classes that was recorded, its data, and ``(w, b)`` after every update."""
    only_two(model, any_features=any_features)
    fits: tuple[Fit, ...] = getattr(model, "fits_", ())
    updates = getattr(fits[0].trace, "updates", None) if fits else None
    if updates is None:
        own = hasattr(model, "record")
        remedy = "fit with record=True" if own else "use rb.Perceptron(record=True)"
        msg = f"this {type(model).__name__} has no record of its updates: {remedy}"
        raise ValueError(msg)
    seen = read(model, X, y, features)
    theta = _weights(updates, seen)
    if theta is None or not np.allclose(theta[-1], [*fits[0].last.w, fits[0].last.b], rtol=1e-6):
        msg = "X, y are not what this run was recorded with: give those that were given to fit"
        raise ValueError(msg)
    return seen, fits[0], updates, theta


def _weights(updates: Updates, seen: Seen) -> Floats | None:
    """``(w, b)`` before the first and after every update; None where the record says otherwise."""
    start = np.append(updates.start.w, updates.start.b)
    if not len(updates):
        return start[np.newaxis, :]
    if updates.sample.max() >= seen.n:
        return None
    x = dense(seen.X)[updates.sample]
    ones = np.full(updates.sample.size, float(updates.fit_intercept))
    moves = updates.step[:, None] * np.column_stack([x, ones])
    first = np.flatnonzero(np.diff(updates.update, prepend=-1))
    shares, way = _mixing(updates, moves)
    sums = updates.eta * np.add.reduceat(shares[:, None] * moves, first, axis=0)
    theta: Floats = np.cumsum(np.vstack([start, sums]), axis=0)
    # The mistakes are of the labels, and have the values w·x + b, that were recorded.
    before = theta[updates.update] + way
    terms = np.column_stack([before[:, :-1] * x, before[:, -1]])
    room = 1e-6 * (np.abs(terms).sum(axis=1) + np.abs(updates.value))
    close = np.abs(terms.sum(axis=1) - updates.value) <= room
    same = (updates.step > 0) == (seen.label[updates.sample] == 1)
    return theta if (close & same).all() else None


def _mixing(updates: Updates, moves: Floats) -> tuple[Floats, Any]:
    """The share of each move in its update; and where the shard had come to before it."""
    if updates.shard is None:
        return np.ones(len(moves)), 0.0
    new = np.diff(updates.update, prepend=-1) + np.abs(np.diff(updates.shard, prepend=-1)) > 0
    group, begins = np.cumsum(new) - 1, np.flatnonzero(new)
    sums = np.cumsum(moves, axis=0) - moves
    return np.full(len(moves), 1 / updates.shards), sums - sums[begins][group]


# Best hyperplanes -----------------------------------------------------------------------------


def read_best(
    model: Any, X: Any, y: Any, which: Any = None, features: Names = None, names: Names = None
) -> tuple[Seen, Optimum]:
    """Two classes and the best hyperplane between them; of a model with more, one and the rest."""
    if isinstance(model, Optimum):
        needs = "an Optimum is about two; name one of them 1 and the others -1"
        seen, optimum = read_two(model.hyperplane, X, y, features, names, needs=needs), model
    else:
        fits: tuple[MarginFit, ...] = getattr(model, "fits_", ())
        if not fits or not hasattr(fits[0], "optimum"):
            msg = (
                f"{_what_it_lacks(model, 'optimum')}: give a fitted rb.MaxMarginClassifier or "
                "rb.SoftMarginClassifier, or an Optimum"
            )
            raise ValueError(msg)
        k = _class_number(model.classes_, which)
        seen = read(model, X, y, features, names)
        optimum = fits[0 if len(fits) == 1 else k].optimum
        if len(fits) > 1:
            label, pair = (seen.label == k).astype(np.intp), ("the others", seen.classes[k])
            seen = replace(seen, label=label, planes=(optimum.hyperplane,), classes=pair)
    if not _proved_of(seen, optimum):
        msg = "X, y are not what the hyperplane was found with: give those that were given to fit"
        raise ValueError(msg)
    return seen, optimum


def _class_number(classes: Any, which: Any) -> int:
    """The number of the class `which`."""
    known = np.asarray(classes).tolist()
    if len(known) == 2:
        if which is None:
            return 1
        msg = f"which={brief(which)} is for more than two classes: leave it out, the model has two"
    elif which in known:
        return int(known.index(which))
    elif which is None:
        many, some = len(known), _some(known)
        msg = f"the model has {many} classes: give which= one of {some}, drawn with the rest"
    else:
        msg = f"which={brief(which)} is not a class of the model: give one of {_some(known)}"
    raise ValueError(msg)


def _proved_of(seen: Seen, optimum: Optimum) -> bool:
    """Whether the multipliers have, for these data, the value that was proved of them."""
    support, alpha = optimum.support, optimum.multipliers
    if not support.size:
        return True
    if support.max() >= seen.n:
        return False
    up = seen.label[support] > 0
    sums = np.array([alpha[~up].sum(), alpha[up].sum()])
    # As the proof does: the heavier class is scaled down to the sum of the other.
    weights = alpha * np.where(up, *(sums.min() / np.where(sums > 0, sums, 1.0))[::-1])
    v = np.asarray((weights * seen.signs[support]) @ seen.X[support])
    off = weights.sum() - 0.5 * v @ v - optimum.dual
    right = v @ optimum.hyperplane.w >= 0 or optimum.dual <= 0
    return bool(right and abs(off) <= CLOSE * alpha.sum())
