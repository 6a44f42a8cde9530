"""The verdict on the data of a fit: could anything of its kind have separated them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.certify import check
from rosenblatt.cli.kernel_judging import settle_in_features
from rosenblatt.cli.verdicts import (
    MEANINGS,
    Answer,
    are_identical,
    evidence,
    meaning,
    these_rows,
    where_compared,
)
from rosenblatt.exact import margin_of
from rosenblatt.kernel.estimator import KernelPerceptron
from rosenblatt.results import (
    Inseparable,
    MarginFit,
    QuasiSeparable,
    Separable,
    StopReason,
    Undecided,
    Verdict,
)
from rosenblatt.separation.explaining import twins
from rosenblatt.separation.function import separability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.cli.progress import Progress
    from rosenblatt.results import Certificate, Fit, Hyperplane
    from rosenblatt.tables.encoder import TableEncoder

    Ints = NDArray[np.int64]
    Proof = QuasiSeparable | Inseparable

PATIENCE = 10  # seconds, for all problems together
STOPPED = "stopped with Ctrl-C before the question was settled"
LATER = f"time ran out, not settled in {PATIENCE} seconds; rosenblatt check takes longer"


class Samples(NamedTuple):
    """What a fit was given, and where it came from."""

    X: Any
    y: NDArray[Any]
    rows: Ints
    columns: dict[str, NDArray[Any]]
    encoder: TableEncoder
    leaves_out: bool = False

    def differ(self, i: int, j: int) -> bool:
        """Whether two samples are different in the table, and only rounding made them the same."""
        pair = {name: cells[[i, j]] for name, cells in self.columns.items()}
        X = self.encoder.unscaled().transform(pair)
        X = X.toarray() if hasattr(X, "toarray") else X
        return not np.array_equal(*X)


class Judgement(NamedTuple):
    """For each problem the verdict, a sentence why, and the evidence if it is a proof of "no"."""

    verdicts: dict[str, list[Any]]
    proofs: list[Proof | None]
    interrupted: bool  # Ctrl-C came before all was settled


def judge(classifier: Any, samples: Samples, progress: Progress) -> Judgement:
    """Whether any hyperplane separates the classes, for each problem.

    Of a kernel perceptron this is asked in the feature space of its kernel. A run that separated
    has itself found the evidence, and so has the search for a maximum margin that ended in the
    proof that there is none. Otherwise it is looked for, but not for long: `rosenblatt check` takes
    its time.
    """
    settle = settle_in_features if isinstance(classifier, KernelPerceptron) else _settle
    fits, classes = classifier.fits_, classifier.classes_
    positives = classes[1:] if len(fits) == 1 else classes
    end = time.monotonic() + PATIENCE
    answers: list[Answer] = []
    interrupted = False
    for k, (fit, positive) in enumerate(zip(fits, positives, strict=True)):
        progress.say("looking for a hyperplane", k, len(fits))
        answer = Answer(Verdict.UNDECIDED, STOPPED)
        try:
            if not interrupted:
                share = (end - time.monotonic()) / (len(fits) - k)
                y = np.where(samples.y == positive, 1, -1)
                answer = _told(settle(classifier, fit, samples, y, share), fit)
        except KeyboardInterrupt:
            interrupted = True
        except Exception as error:  # the model is there, and must not be lost with its verdict
            why = " ".join(f"{type(error).__name__}: {error}".split())
            answer = Answer(Verdict.UNDECIDED, f"the verdict could not be had ({why})")
        answers.append(answer)
    found: dict[str, list[Any]] = {
        "verdicts": [answer.verdict.name for answer in answers],
        "evidence": [answer.why for answer in answers],
        "proved": [answer.proved for answer in answers],
    }
    return Judgement(found, [answer.proof for answer in answers], interrupted)


def _told(answer: Answer, fit: Any) -> Answer:
    """The answer, and what it says about a run that repeats itself."""
    settled = answer.alike and answer.verdict is not Verdict.UNDECIDED
    if fit.stop_reason is not StopReason.CYCLE or not settled:
        return answer
    separable = answer.verdict is Verdict.SEPARABLE
    so = "; only rounding makes this run repeat" if separable else "; so no run can end"
    return answer._replace(why=answer.why + so)


def _settle(
    classifier: Any, fit: Fit | MarginFit, samples: Samples, y: Ints, seconds: float
) -> Answer:
    """The verdict on one problem: whether a hyperplane separates the samples."""
    X, own = samples.X, _own(fit)
    if own is not None:
        proof = Separable(own, margin_of(X, y, [*own.w, own.b]))
        if proof.margin > 0 and check(proof, X, y):
            which = "this hyperplane" if fit.hyperplane == own else "the last one of the run"
            return Answer(proof.verdict, f"proved by {which}", True)
    if isinstance(fit.certificate, QuasiSeparable | Inseparable):
        certificate: Certificate = fit.certificate
    else:
        certificate = separability(X, y, max_time=max(0.01, seconds))
    if isinstance(certificate, Undecided):
        why = LATER if certificate.why == Undecided.TIME else meaning(certificate)
        return Answer(certificate.verdict, _known_anyway(samples, y) + why)
    why = _sentence(certificate, samples)
    if isinstance(certificate, Separable):
        if not getattr(classifier, "fit_intercept", True):
            return Answer(certificate.verdict, f"{why}, with a bias", True, alike=False)
        return Answer(certificate.verdict, why, True)
    return Answer(certificate.verdict, why, True, certificate)


def _known_anyway(samples: Samples, y: Ints) -> str:
    """What identical rows tell at once, whatever the verdict will be; nothing if there are none."""
    pairs = twins(samples.X, y).pairs
    if not pairs:
        return ""
    rows = these_rows(np.sort(samples.rows[list(pairs[0])]))
    same = f"{rows} are identical{where_compared(samples)} but have different classes"
    if samples.differ(*pairs[0]):
        same = f"{rows} have different classes, and rounding made them the same"
    return (
        f"no hyperplane separates all rows, for {same}; whether one leaves none on a wrong side: "
    )


def _own(fit: Fit | MarginFit) -> Hyperplane | None:
    """The hyperplane of the fit that may itself separate the classes, if there is one."""
    if isinstance(fit, MarginFit):
        return fit.hyperplane if fit.hyperplane.w.any() else None
    return fit.last if fit.stop_reason is StopReason.SEPARATED and fit.last.w.any() else None


def _sentence(certificate: Separable | Proof, samples: Samples) -> str:
    merged = (
        isinstance(certificate, QuasiSeparable | Inseparable)
        and are_identical(certificate)
        and samples.differ(*certificate.support.tolist())
    )
    told = evidence(certificate, samples.rows, merged, where_compared(samples))
    return f"{MEANINGS[certificate.verdict]}; {told}"
