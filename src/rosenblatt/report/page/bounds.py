"""The mistakes of a run beside the most that theory allows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.bounds.function import mistake_bound
from rosenblatt.report.facts import FitFacts
from rosenblatt.report.fits import EncodedTable, positive_classes
from rosenblatt.report.page.facts import MistakesFacts
from rosenblatt.results import JointFit, MistakeBound, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

BOUND_TIME = 5.0  # seconds in which bounds are looked for
PROBLEMS = 12  # that have a line
KERNEL_ROWS = 2000  # among which a bound in feature space is looked for
OTHERS = {"class_weight", "init", "drop_after", "budget", "at_zero"}  # that change what is bounded


def mistakes_and_bounds(
    classifier: Any, table: EncodedTable, fit: FitFacts, seconds: float
) -> tuple[tuple[MistakesFacts, ...], list[str]]:
    """The bounds of as many problems as there is time for; and what was left out, in words."""
    if fit.run is None or fit.model == "Adaline" or OTHERS & set(fit.parameters):
        return (), []
    many = hasattr(classifier, "kernel_") and table.X.shape[0] > KERNEL_ROWS
    if many or seconds <= 0:
        return (), ["the bound on mistakes (rosenblatt bound has it)"]
    end, found = time.monotonic() + seconds, list[MistakesFacts]()
    problems = list(_runs(classifier, table, fit))
    for k, (positive, y, mistakes) in enumerate(problems[:PROBLEMS]):
        epochs = _epochs(fit, k)
        left = end - time.monotonic()
        limit = _limit(classifier, table.X, y, epochs, left) if left > 0 and epochs != 0 else None
        if limit is None or not np.isfinite(limit.bound):
            continue
        gamma = None if limit.hyperplane is None else limit.gamma
        found.append(
            MistakesFacts(
                positive=positive,
                mistakes=mistakes,
                most=float(limit.most),
                R=limit.R,
                gamma=gamma,
                formula=limit.formula,
                epochs=limit.epochs,
            )
        )
    rest = len(problems) - len(found)
    of = f" for {rest} of {len(problems)} classes" if len(problems) > 1 else ""
    return tuple(found), [f"the bound on mistakes{of} (rosenblatt bound looks longer)"] * bool(rest)


def _epochs(fit: FitFacts, k: int) -> int | None:
    """For how many epochs to ask; None: however many, 0: for rows drawn by chance none is known."""
    assert fit.run is not None
    if fit.verdicts and fit.verdicts[k].verdict is Verdict.SEPARABLE:
        return None
    in_turn = fit.parameters.get("order", "cyclic") in ("cyclic", "shuffled")
    return fit.run.epochs if in_turn else 0


def _runs(
    classifier: Any, table: EncodedTable, fit: FitFacts
) -> Iterator[tuple[str | None, NDArray[Any], int]]:
    """The problems of a run: the class against the rest, the labels, and the mistakes."""
    assert fit.run is not None
    if isinstance(classifier.fits_[0], JointFit):
        yield None, table.labels[1], fit.run.mistakes[0]
        return
    for positive, mistakes in zip(positive_classes(classifier), fit.run.mistakes, strict=True):
        yield str(positive), table.signs(positive), mistakes


def _limit(
    classifier: Any, X: Any, y: NDArray[Any], epochs: int | None, seconds: float
) -> MistakeBound | None:
    """The bound, if one is found in this time."""
    known: dict[str, Any] = {"fit_intercept": classifier.fit_intercept}
    if hasattr(classifier, "kernel_"):
        known["kernel"] = classifier.kernel_
    else:
        known |= {name: getattr(classifier, name) for name in ("update", "batch_size", "shards")}
    if isinstance(classifier.fits_[0], JointFit):
        known["multiclass"] = "joint"
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return mistake_bound(X, y, epochs=epochs, max_time=max(0.05, seconds), **known)
    except (ValueError, ArithmeticError):  # there is none, or time was up
        return None
