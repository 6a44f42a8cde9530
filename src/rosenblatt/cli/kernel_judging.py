"""The verdict on the data of a kernel perceptron: is there a hyperplane in its feature space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.cli.verdicts import Answer, these_rows, where_compared
from rosenblatt.cli.words import count
from rosenblatt.data.identical import distinct
from rosenblatt.kernels.functions import Radial
from rosenblatt.results import StopReason, Undecided, Verdict
from rosenblatt.separation.feature_vectors import (
    SAMPLES,
    is_inner_product,
    scores,
    spelled_out,
)
from rosenblatt.separation.function import separability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.cli.judging import Samples
    from rosenblatt.results import KernelFit
    from rosenblatt.separation.feature_space import FeatureVerdict

    Ints = NDArray[np.int64]

INDEFINITE = "not positive semi-definite"  # in what the library says
FEW = 6  # rows that are named
LEAST_TIME = 0.01  # seconds in which it is worth while to look
UNDECIDED = Verdict.UNDECIDED
ALWAYS = "certain with this kernel: rows that differ can always be separated, by however little"
TIME_UP = "time ran out before it was settled"
UNKNOWN_ERROR = "floating point cannot tell how far the features are off: scale them"
MEANINGS = {
    Verdict.SEPARABLE: "a hyperplane{} has every row strictly on its right side",
    Verdict.QUASI_SEPARABLE: "a hyperplane{} has no row on its wrong side, but none has all off it",
    Verdict.INSEPARABLE: "no hyperplane{} has the classes on its two sides",
}


def settle_in_features(
    classifier: Any, fit: KernelFit, samples: Samples, y: Ints, seconds: float
) -> Answer:
    """The verdict on one problem: whether a hyperplane separates the features of the samples.

    Without a bias it passes through the origin of feature space, as that of the run does.
    """
    own = _by_itself(classifier, fit, samples.X, y)
    if own is not None and own.proved:
        return own
    pair = identical(samples.X, y)
    if pair:
        what = f"are identical{where_compared(samples)} but have different classes"
        if samples.differ(*pair):
            what = "have different classes, and rounding made them the same"
        return Answer(Verdict.INSEPARABLE, f"{these_rows(samples.rows[pair])} {what}", True)
    if isinstance(classifier.kernel_, Radial):
        return Answer(Verdict.SEPARABLE, ALWAYS, True)
    return own or _searched(classifier, samples, y, seconds)


def _by_itself(classifier: Any, fit: KernelFit, X: Any, y: Ints) -> Answer | None:
    """What a run has shown by ending with a vector that has every sample on its side."""
    if fit.stop_reason is not StopReason.SEPARATED or not is_inner_product(classifier.kernel_):
        return None
    bias, V = bool(classifier.fit_intercept), classifier.support_vectors_
    values, off = scores(classifier.kernel_, bias, V, fit.last, X)
    if not bool((y * values > 0).all()):  # some were dropped, or had no weight
        return None
    kept = fit.path is None and np.array_equal(fit.coef, fit.last)
    which = "this model" if kept else "the last vector of the run"
    if bool((y * values > off).all()):
        return Answer(Verdict.SEPARABLE, f"proved by {which}", True)
    return Answer(Verdict.SEPARABLE, f"shown by {which}, as far as rounding lets one tell")


def identical(X: Any, y: Ints) -> list[int]:
    """The first sample that is also one of the other class, and that one; or nothing."""
    _, group = distinct(X)
    plus, minus = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    _, at, there = np.intersect1d(group[plus], group[minus], return_indices=True)
    pairs = [sorted((int(plus[i]), int(minus[j]))) for i, j in zip(at, there, strict=True)]
    return min(pairs, default=[])


def _searched(classifier: Any, samples: Samples, y: Ints, seconds: float) -> Answer:
    """What `rosenblatt.separability` finds in so many seconds."""
    X, kernel = samples.X, classifier.kernel_
    if X.shape[0] > SAMPLES and not spelled_out(kernel, X):
        return Answer(UNDECIDED, f"not looked for among more than {SAMPLES} rows with this kernel")
    if seconds < LEAST_TIME:
        return Answer(UNDECIDED, TIME_UP)
    bias = bool(classifier.fit_intercept)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            found = separability(X, y, kernel=kernel, fit_intercept=bias, max_time=seconds)
    except ValueError as error:
        return Answer(UNDECIDED, _trouble(str(error)))
    if isinstance(found.certificate, Undecided):
        return Answer(UNDECIDED, f"{found.certificate.why} before it was settled")
    if not found.exact and not np.isfinite(found.tolerance or 0.0):
        return Answer(UNDECIDED, UNKNOWN_ERROR)
    meaning = MEANINGS[found.verdict].format("" if bias else " through the origin")
    return Answer(found.verdict, f"{meaning}; {_evidence(found, samples.rows)}", found.exact)


def _trouble(message: str) -> str:
    """Why the question cannot be asked, in one line."""
    if INDEFINITE in message:
        return "this kernel is no inner product of these rows, so there is no such space"
    return " ".join(message.split())


def _evidence(found: FeatureVerdict, rows: Ints) -> str:
    """What a verdict rests on, and how sure it is."""
    by = ""
    if found.separable is False:
        n = len(found.support)
        by = f" by {these_rows(rows[found.support]) if n <= FEW else count(n, 'row')}"
        by += ", which is at the origin" * (n == 1)  # nothing else is its own opposite
    if found.exact:
        return f"proved{by}"
    return f"shown{by}, as far as values with an error of {found.tolerance:.2g} can tell"
