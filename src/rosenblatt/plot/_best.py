"""A best hyperplane, the multipliers that prove it, and the data, checked once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import brief
from rosenblatt.plot._reading import read, read_two
from rosenblatt.results import Optimum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rosenblatt.plot._reading import Seen
    from rosenblatt.results import MarginFit

CLOSE = 1e-3  # how far the multipliers' value may be off before the data are taken to be others


def read_best(
    model: Any,
    X: Any,
    y: Any,
    which: Any = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> tuple[Seen, Optimum]:
    """Two classes and the best hyperplane between them; of a model with more, one and the rest."""
    if isinstance(model, Optimum):
        needs = "an Optimum is about two; name one of them 1 and the others -1"
        seen = read_two(model.hyperplane, X, y, feature_names, class_names, needs=needs)
        optimum = model
    else:
        fits = _fits(model)
        k = _number(model.classes_, which)
        seen = read(model, X, y, feature_names, class_names)
        optimum = fits[0 if len(fits) == 1 else k].optimum
        if len(fits) > 1:
            names = ("the others", seen.classes[k])
            label = (seen.label == k).astype(np.intp)
            seen = replace(seen, label=label, planes=(optimum.hyperplane,), classes=names)
    _check_same_data(seen, optimum)
    return seen, optimum


def _fits(model: Any) -> tuple[MarginFit, ...]:
    fits: tuple[MarginFit, ...] = getattr(model, "fits_", ())
    if not fits or not hasattr(fits[0], "optimum"):
        what = type(model).__name__
        unfitted = hasattr(model, "fit") and not hasattr(model, "classes_")
        reason = "is not fitted" if unfitted else "has no optimum"
        msg = (
            f"{what} {reason}: give a fitted rb.MaxMarginClassifier or rb.SoftMarginClassifier, "
            "or an Optimum"
        )
        raise ValueError(msg)
    return fits


def _number(classes: Any, which: Any) -> int:
    """The number of the class `which`."""
    known = np.asarray(classes).tolist()
    shown = ", ".join(repr(name) for name in known[:6]) + ", …" * (len(known) > 6)
    if which is None:
        if len(known) == 2:
            return 1
        msg = f"the model has {len(known)} classes: give which= one of {shown}, drawn with the rest"
        raise ValueError(msg)
    if len(known) == 2:
        msg = f"which={brief(which)} is for more than two classes: leave it out, the model has two"
        raise ValueError(msg)
    if which not in known:
        msg = f"which={brief(which)} is not a class of the model: give one of {shown}"
        raise ValueError(msg)
    return int(known.index(which))


def _check_same_data(seen: Seen, optimum: Optimum) -> None:
    """Refuse data for which the multipliers do not have the value that was proved of them."""
    support, alpha = optimum.support, optimum.multipliers
    if not support.size:
        return
    fine = bool(support.max() < len(seen.label))
    if fine:
        up = seen.label[support] > 0
        sums = np.array([alpha[~up].sum(), alpha[up].sum()])
        # As the proof does: the heavier class is scaled down to the sum of the other.
        weights = alpha * np.where(up, *(sums.min() / np.where(sums > 0, sums, 1.0))[::-1])
        v = np.asarray((weights * np.where(up, 1.0, -1.0)) @ seen.X[support])
        off = weights.sum() - 0.5 * v @ v - optimum.dual
        right = v @ optimum.hyperplane.w >= 0 or optimum.dual <= 0
        fine = bool(right and abs(off) <= CLOSE * alpha.sum())
    if not fine:
        msg = "X, y are not what the hyperplane was found with: give those that were given to fit"
        raise ValueError(msg)
