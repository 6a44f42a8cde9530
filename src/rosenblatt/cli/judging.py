"""The verdict on the data of a fit: could any hyperplane have separated them."""

from __future__ import annotations

import time
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.certificates import Inseparable, QuasiSeparable, Separable, Undecided, Verdict
from rosenblatt.certify import check
from rosenblatt.certify.exact import margin_of
from rosenblatt.cli.verdicts import MEANINGS, are_identical, evidence
from rosenblatt.estimators.separability import separability
from rosenblatt.margins import MarginFit
from rosenblatt.results import StopReason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.certificates import Certificate
    from rosenblatt.cli.progress import Progress
    from rosenblatt.estimators.table import TableEncoder
    from rosenblatt.results import Fit, Hyperplane

    Ints = NDArray[np.int64]
    Proof = QuasiSeparable | Inseparable

PATIENCE = 10  # seconds, for all problems together
STOPPED = "stopped with Ctrl-C before the question was settled"


class Samples(NamedTuple):
    """What a fit was given, and where it came from."""

    X: Any
    y: NDArray[Any]
    rows: Ints
    columns: dict[str, NDArray[Any]]
    encoder: TableEncoder

    def differ(self, i: int, j: int) -> bool:
        """Whether two samples are different in the table, and only rounding made them the same."""
        raw = copy(self.encoder)
        raw.columns_ = [
            spec | {"mean": 0.0, "deviation": 1.0} if "mean" in spec else spec
            for spec in self.encoder.columns_
        ]
        X = raw.transform({name: cells[[i, j]] for name, cells in self.columns.items()})
        X = X.toarray() if hasattr(X, "toarray") else X
        return not np.array_equal(*X)


class Judgement(NamedTuple):
    """For each problem the verdict, a sentence why, and the evidence if it is a proof of "no"."""

    verdicts: dict[str, list[str]]
    proofs: list[Proof | None]
    interrupted: bool  # Ctrl-C came before all was settled


def judge(classifier: Any, samples: Samples, progress: Progress) -> Judgement:
    """Whether any hyperplane separates the classes, for each problem.

    A run that separated has itself found the evidence, and so has the search for a maximum margin
    that ended in the proof that there is none. Otherwise it is looked for, but not for long:
    `rosenblatt check` takes its time.
    """
    fits, classes = classifier.fits_, classifier.classes_
    positives = classes[1:] if len(fits) == 1 else classes
    end = time.monotonic() + PATIENCE
    found: dict[str, list[str]] = {"verdicts": [], "evidence": []}
    proofs: list[Proof | None] = []
    interrupted = False
    for k, (fit, positive) in enumerate(zip(fits, positives, strict=True)):
        progress.say("looking for a hyperplane", k, len(fits))
        verdict, why, proof = Verdict.UNDECIDED, STOPPED, None
        try:
            if not interrupted:
                share = max(0.01, (end - time.monotonic()) / (len(fits) - k))
                y = np.where(samples.y == positive, 1, -1)
                verdict, why, proof = _settled(fit, samples, y, share)
                biased = getattr(classifier, "fit_intercept", True)
                if verdict is Verdict.SEPARABLE and not biased and _own(fit) is None:
                    why += ", with a bias"
        except KeyboardInterrupt:
            interrupted = True
        found["verdicts"].append(verdict.name)
        found["evidence"].append(why)
        proofs.append(proof)
    return Judgement(found, proofs, interrupted)


def _settled(
    fit: Fit | MarginFit, samples: Samples, y: Ints, share: float
) -> tuple[Verdict, str, Proof | None]:
    """The verdict on one problem, why, and the proof that no hyperplane separates."""
    X, own = samples.X, _own(fit)
    if own is not None:
        proof = Separable(own, margin_of(X, y, [*own.w, own.b]))
        if proof.margin > 0 and check(proof, X, y):
            which = "this hyperplane" if fit.hyperplane == own else "the last one of the run"
            return proof.verdict, f"proved by {which}", None
    if isinstance(fit.certificate, QuasiSeparable | Inseparable):
        certificate: Certificate = fit.certificate
    else:
        certificate = separability(X, y, max_time=share)
    no = certificate if isinstance(certificate, QuasiSeparable | Inseparable) else None
    return certificate.verdict, _sentence(certificate, fit, samples), no


def _own(fit: Fit | MarginFit) -> Hyperplane | None:
    """The hyperplane of the fit that may itself separate the classes, if there is one."""
    if isinstance(fit, MarginFit):
        return fit.hyperplane if fit.hyperplane.w.any() else None
    return fit.last if fit.stop_reason is StopReason.SEPARATED and fit.last.w.any() else None


def _sentence(certificate: Certificate, fit: Fit | MarginFit, samples: Samples) -> str:
    if isinstance(certificate, Undecided):
        return f"not settled in {PATIENCE} seconds; rosenblatt check takes longer"
    merged = (
        isinstance(certificate, QuasiSeparable | Inseparable)
        and are_identical(certificate)
        and samples.differ(*certificate.support.tolist())
    )
    told = f"{MEANINGS[certificate.verdict]}; {evidence(certificate, samples.rows, merged)}"
    if fit.stop_reason is StopReason.CYCLE:
        separable = certificate.verdict is Verdict.SEPARABLE
        told += "; only rounding makes this run repeat" if separable else "; so no run can end"
    return told
