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
from rosenblatt.results import StopReason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.certificates import Certificate
    from rosenblatt.cli.progress import Progress
    from rosenblatt.estimators.table import TableEncoder
    from rosenblatt.results import Fit

    Ints = NDArray[np.int64]

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


def judge(
    classifier: Any, samples: Samples, progress: Progress
) -> tuple[dict[str, list[str]], bool]:
    """For each problem the verdict and a sentence why; and whether Ctrl-C came in between.

    A run that separated has itself found the evidence. Otherwise it is looked for, but not for
    long: `rosenblatt check` takes its time.
    """
    fits, classes = classifier.fits_, classifier.classes_
    positives = classes[1:] if len(fits) == 1 else classes
    end = time.monotonic() + PATIENCE
    found: dict[str, list[str]] = {"verdicts": [], "evidence": []}
    interrupted = False
    for k, (fit, positive) in enumerate(zip(fits, positives, strict=True)):
        progress.say("looking for a hyperplane", k, len(fits))
        verdict, why = Verdict.UNDECIDED, STOPPED
        try:
            if not interrupted:
                share = max(0.01, (end - time.monotonic()) / (len(fits) - k))
                y = np.where(samples.y == positive, 1, -1)
                verdict, why = _settled(fit, samples, y, share)
                if verdict is Verdict.SEPARABLE and not classifier.fit_intercept and not _own(fit):
                    why += ", with a bias"
        except KeyboardInterrupt:
            interrupted = True
        found["verdicts"].append(verdict.name)
        found["evidence"].append(why)
    return found, interrupted


def _settled(fit: Fit, samples: Samples, y: Ints, share: float) -> tuple[Verdict, str]:
    """The verdict on one problem and why."""
    X = samples.X
    if _own(fit):
        last = fit.last
        proof = Separable(last, margin_of(X, y, [*last.w, last.b]))
        if check(proof, X, y):
            which = "this hyperplane" if fit.hyperplane == last else "the last one of the run"
            return proof.verdict, f"proved by {which}"
    certificate = separability(X, y, max_time=share)
    return certificate.verdict, _sentence(certificate, fit, samples)


def _own(fit: Fit) -> bool:
    return fit.stop_reason is StopReason.SEPARATED and bool(fit.last.w.any())


def _sentence(certificate: Certificate, fit: Fit, samples: Samples) -> str:
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
