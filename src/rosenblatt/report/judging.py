"""The verdict on the rows of a fit: could anything of its kind have separated them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.contract.parameters import count_threads
from rosenblatt.kernels.functions import Radial
from rosenblatt.kernels.gram_matrices import IndefiniteKernelError
from rosenblatt.proofs import check
from rosenblatt.report.clustered import ClusteredTraining
from rosenblatt.report.facts import PATIENCE, FitFacts, Ground, VerdictFacts
from rosenblatt.report.fits import (
    EncodedTable,
    joint_margin,
    positive_classes,
    proof_facts,
)
from rosenblatt.results import (
    Fit,
    Hyperplane,
    Inseparable,
    JointCertificate,
    JointFit,
    KernelFit,
    MarginFit,
    QuasiSeparable,
    Separable,
    StopReason,
    Undecided,
    Verdict,
)
from rosenblatt.running.threads import Team
from rosenblatt.separation.explaining import twins
from rosenblatt.separation.feature_vectors import SAMPLES, too_many
from rosenblatt.separation.function import separability
from rosenblatt.separation.kernel_vectors import KernelSums, is_inner_product

Ints = NDArray[np.int64]

LEAST_PATIENCE = 1.0  # seconds: small tables need less, whatever training may take
LEAST_TIME = 0.01  # seconds in which it is worth while to look
UNDECIDED = Verdict.UNDECIDED


def judge(
    classifier: Any,
    training: EncodedTable,
    margins: Sequence[float | None] | None,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[VerdictFacts, ...]:
    """Whether any hyperplane separates the classes, for each problem; Ctrl-C leaves the rest open.

    Of a kernel perceptron this is asked in the feature space of its kernel. A run that separated
    has itself found the evidence, and so has the search for a maximum margin that ended in the
    proof that there is none. Otherwise it is looked for, but not for long, and for all problems
    together not longer than one fit may take, or a second: `rosenblatt check` takes its time.
    `margins` are those of the model; `tell` hears how many problems are settled.
    """
    fits = classifier.fits_
    known = margins or [None] * len(fits)
    patience = min(PATIENCE, max(LEAST_PATIENCE, classifier.max_time or PATIENCE))
    end = time.monotonic() + patience
    found: list[VerdictFacts] = []
    joint = isinstance(fits[0], JointFit)
    positives = [None] if joint else positive_classes(classifier)
    for k, (fit, positive) in enumerate(zip(fits, positives, strict=True)):
        verdict = VerdictFacts(UNDECIDED, Ground.STOPPED)
        try:
            if not was_stopped(found):
                tell(k, len(fits))
                y, share = training.signs(positive), (end - time.monotonic()) / (len(fits) - k)
                if joint:
                    verdict = _jointly(classifier, fit, training, share, known[k])
                elif hasattr(classifier, "kernel_"):
                    verdict = _in_features(classifier, fit, training, y, share)
                else:
                    verdict = _among_rows(classifier, fit, training, positive, share, known[k])
        except KeyboardInterrupt:
            pass
        except Exception as error:  # the model is there, and must not be lost with its verdict
            why = " ".join(f"{type(error).__name__}: {error}".split())
            verdict = VerdictFacts(UNDECIDED, Ground.FAILED, message=why)
        settled = not verdict.with_bias and verdict.verdict is not UNDECIDED
        explains = settled and fit.stop_reason is StopReason.CYCLE
        if verdict.ground is Ground.TIME:
            verdict = replace(verdict, patience=patience)
        found.append(replace(verdict, repeats=explains))
    return tuple(found)


def with_verdicts(
    facts: FitFacts,
    classifier: Any,
    training: EncodedTable,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> FitFacts:
    """The facts with verdicts, and with proofs that were found when time was up."""
    verdicts, optima = judge(classifier, training, facts.margins, tell), facts.optima
    if facts.model == "MaxMarginClassifier":
        late = [proof_facts(verdict.proof, training) for verdict in verdicts]
        both = zip(optima, late, strict=True)
        optima = tuple(replace(one, proof=one.proof or proof) for one, proof in both)
    return replace(facts, verdicts=verdicts, optima=optima)


def _jointly(
    classifier: Any, fit: JointFit, training: EncodedTable, seconds: float, margin: float | None
) -> VerdictFacts:
    """The verdict on all classes as one problem."""
    if fit.stop_reason is StopReason.SEPARATED:
        margin = margin if fit.keeps_last else joint_margin(fit.last, training)
        if margin is not None:
            ground = Ground.MODEL if fit.keeps_last else Ground.LAST_VECTOR
            return VerdictFacts(Verdict.SEPARABLE, ground, proved=True, joint=True)
    labels = training.labels[1]
    found = separability(training.X, labels, multiclass="joint", max_time=max(0.01, seconds))
    if isinstance(found, JointCertificate) and isinstance(found.certificate, Undecided):
        timed = found.certificate.why == Undecided.TIME
        return VerdictFacts(UNDECIDED, Ground.TIME if timed else Ground.WORK, joint=True)
    assert isinstance(found, JointCertificate)
    separable = found.verdict is Verdict.SEPARABLE
    rows = np.unique(training.rows[found.pairs[:, 0]]).tolist()
    return VerdictFacts(
        found.verdict,
        Ground.HYPERPLANE if separable else Ground.HULLS,
        proved=True,
        rows=tuple(rows),
        joint=True,
        with_bias=separable and not classifier.fit_intercept,
    )


def was_stopped(verdicts: Sequence[VerdictFacts]) -> bool:
    """Whether Ctrl-C came before all was settled."""
    return any(one.ground is Ground.STOPPED for one in verdicts)


# Hyperplanes among the rows ---------------------------------------------------------------------


def _among_rows(
    classifier: Any,
    fit: Fit | MarginFit,
    training: EncodedTable,
    positive: Any,
    seconds: float,
    margin: float | None,
) -> VerdictFacts:
    """The verdict on one problem: whether a hyperplane separates the samples."""
    own = _own(fit)
    if own is not None:
        is_model = isinstance(fit, MarginFit) or fit.keeps_last
        margin = margin if is_model else training.margin(own, positive)
        if margin is not None and _is_proof(training, Separable(own, margin), positive):
            ground = Ground.MODEL if is_model else Ground.LAST_VECTOR
            return VerdictFacts(Verdict.SEPARABLE, ground, proved=True)
    certificate: Any = fit.certificate
    if not isinstance(certificate, QuasiSeparable | Inseparable):
        certificate = _verdict_on(training, positive, max(0.01, seconds))
    if isinstance(certificate, Undecided):
        ground = Ground.TIME if certificate.why == Undecided.TIME else Ground.WORK
        X, y = training.X, training.signs(positive)
        pairs = twins(X, y).pairs  # which tell something, whatever the verdict will be
        return replace(_same(training, pairs[:1]), verdict=UNDECIDED, ground=ground, proved=False)
    found = VerdictFacts.of(certificate, training.rows, training.some_columns)
    if found.verdict is Verdict.SEPARABLE:
        return replace(found, with_bias=not getattr(classifier, "fit_intercept", True))
    if found.ground is Ground.SAME_ROWS and training.differ(*certificate.support):
        return replace(found, rounded=True, some_columns=False)
    return found


def _verdict_on(training: EncodedTable, positive: Any, seconds: float) -> Any:
    """The verdict on a class against the rest, found where the rows are."""
    if isinstance(training, ClusteredTraining):
        return training.verdict_on(positive, seconds)
    return separability(training.X, training.signs(positive), max_time=seconds)


def _is_proof(training: EncodedTable, certificate: Any, positive: Any) -> bool:
    """Whether a certificate proves its verdict on a class against the rest."""
    if isinstance(training, ClusteredTraining):
        return training.is_proof(certificate, positive)
    return bool(check(certificate, training.X, training.signs(positive)))


def _own(fit: Fit | MarginFit) -> Hyperplane | None:
    """The hyperplane of the fit that may itself separate the classes, if there is one."""
    if isinstance(fit, MarginFit):
        return fit.hyperplane if fit.hyperplane.w.any() else None
    return fit.last if fit.stop_reason is StopReason.SEPARATED and fit.last.w.any() else None


def _same(training: EncodedTable, pairs: Sequence[Sequence[int]]) -> VerdictFacts:
    """That two rows are the same but for their classes; without any pair nothing."""
    found = VerdictFacts(Verdict.INSEPARABLE, Ground.SAME_ROWS, proved=True)
    if not pairs:
        return found
    i, j = pairs[0]
    rounded = training.differ(i, j)
    rows = sorted(training.rows[[i, j]].tolist())
    some = training.some_columns and not rounded
    return replace(found, rows=tuple(rows), rounded=rounded, some_columns=some)


# Hyperplanes in feature space -------------------------------------------------------------------


def _in_features(
    classifier: Any, fit: KernelFit, training: EncodedTable, y: Ints, seconds: float
) -> VerdictFacts:
    """The verdict on one problem: whether a hyperplane separates the features of the samples.

    Without a bias it passes through the origin of feature space, as that of the run does.
    """
    own = _by_itself(classifier, fit, training.X, y)
    if own is not None and own.proved:
        return own
    pair = first_same(training.X, y)
    if pair:
        return replace(_same(training, [pair]), in_features=True)
    if isinstance(classifier.kernel_, Radial):
        return VerdictFacts(Verdict.SEPARABLE, Ground.DIFFERENT_ROWS, proved=True, in_features=True)
    return own or _searched(classifier, training, y, seconds)


def _by_itself(classifier: Any, fit: KernelFit, X: Any, y: Ints) -> VerdictFacts | None:
    """What a run has shown by ending with a vector that has every sample on its side."""
    if fit.stop_reason is not StopReason.SEPARATED or not is_inner_product(classifier.kernel_):
        return None
    bias, V = bool(classifier.fit_intercept), classifier.support_vectors_
    with Team(count_threads(classifier.n_jobs)) as team:
        values, off = KernelSums(classifier.kernel_, float(bias), X).of(V, fit.last, team)
    if not bool((y * values > 0).all()):  # some were dropped, or had no weight
        return None
    ground = Ground.MODEL if fit.keeps_last else Ground.LAST_VECTOR
    proved = bool((y * values > off).all())
    return VerdictFacts(Verdict.SEPARABLE, ground, proved=proved, in_features=True)


def first_same(X: Any, y: Ints) -> list[int]:
    """The first sample that is also one of the other class, and that one; or nothing."""
    return min((sorted(pair) for pair in twins(X, y).pairs), default=[])


def _searched(classifier: Any, training: EncodedTable, y: Ints, seconds: float) -> VerdictFacts:
    """What `rosenblatt.separability` finds in so many seconds."""
    X, kernel, bias = training.X, classifier.kernel_, bool(classifier.fit_intercept)
    open_ = VerdictFacts(UNDECIDED, Ground.TIME, in_features=True)
    if too_many(kernel, X):
        return replace(open_, ground=Ground.TOO_MANY_ROWS, n_rows=SAMPLES)
    if seconds < LEAST_TIME:
        return open_
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            found = separability(X, y, kernel=kernel, fit_intercept=bias, max_time=seconds)
    except IndefiniteKernelError:
        return replace(open_, ground=Ground.NO_INNER_PRODUCT)
    except ValueError as error:
        return replace(open_, ground=Ground.FAILED, message=" ".join(str(error).split()))
    if isinstance(found.certificate, Undecided):
        why = found.certificate.why
        if why in (Undecided.TIME, Undecided.WORK):
            return replace(open_, ground=Ground.TIME if why == Undecided.TIME else Ground.WORK)
        return replace(open_, ground=Ground.FAILED, message=why)
    if not found.exact and not np.isfinite(found.tolerance or 0.0):
        return replace(open_, ground=Ground.ERROR_UNKNOWN)
    return VerdictFacts(
        found.verdict,
        Ground.HYPERPLANE if found.separable else Ground.HULLS,
        proved=found.exact,
        rows=tuple(training.rows[found.support].tolist()),
        tolerance=None if found.exact else float(found.tolerance or 0.0),
        in_features=True,
        through_origin=not bias,
    )
