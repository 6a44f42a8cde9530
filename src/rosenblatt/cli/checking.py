"""From a table to a certificate for each two-class problem in it, and back to check them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.certificates import QuasiSeparable, Separable, Verdict
from rosenblatt.certify import check
from rosenblatt.cli.training import notes_about, read_task
from rosenblatt.cli.verdicts import INFINITY, word
from rosenblatt.cli.words import listing, shortened
from rosenblatt.estimators.separability import separability
from rosenblatt.estimators.separating import (
    Estimates,
    SingleFeature,
    Twins,
    estimates,
    single_features,
    twins,
)
from rosenblatt.estimators.table import TableEncoder
from rosenblatt.io.certificates import (
    CertificateFileError,
    certificate_as_json,
    certificates_in,
    digest,
    short_exact_weights,
)
from rosenblatt.theory import cover_probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.certificates import Certificate
    from rosenblatt.cli.progress import Progress
    from rosenblatt.cli.training import Task
    from rosenblatt.io.tables import Table

    Ints = NDArray[np.int64]

NUMBERING = (
    "samples are counted from 0, over the rows that have a class (and, in a problem about a pair "
    "of classes, one of these two); rows are counted from 1 as they stand in the file, its header "
    "not counted"
)


@dataclass(frozen=True)
class Data:
    """A table as numbers, as given: texts one-hot, numbers not scaled, for that would round."""

    task: Task
    X: Any
    encoder: TableEncoder
    classes: NDArray[Any]
    label: NDArray[np.intp]  # the number of each sample's class

    @classmethod
    def read(
        cls, table: Table, target: str | None, ignored: Sequence[str], used: Sequence[str]
    ) -> Data:
        """The features and the classes of a table."""
        task = read_task(table, target, ignored, used)
        encoder = TableEncoder(standardize=False, use=tuple(used))
        X = encoder.fit_transform(task.columns)
        task.notes.extend(notes_about(encoder))
        return cls(task, X, encoder, *np.unique(task.y, return_inverse=True))

    @property
    def names(self) -> list[str]:
        """The features."""
        return [str(name) for name in self.encoder.get_feature_names_out()]

    @property
    def groups(self) -> list[list[int]]:
        """The features of each text column, by number: one of them is 1, the others 0."""
        groups, start = [], 0
        for spec in self.encoder.columns_:
            if "dropped" not in spec:
                width = len(spec["values"]) if spec["kind"] == "text" else 1
                if spec["kind"] == "text":
                    groups.append(list(range(start, start + width)))
                start += width
        return groups


@dataclass(frozen=True)
class Problem:
    """Two classes, or one and the rest (`minus` None), by number.

    Their samples are picked out when asked for: there may be very many problems.
    """

    data: Data
    plus: int
    minus: int | None

    @property
    def positive(self) -> str:
        """The class +1."""
        return str(self.data.classes[self.plus])

    @property
    def negative(self) -> str | None:
        """The class -1, None for the rest."""
        return None if self.minus is None else str(self.data.classes[self.minus])

    @property
    def sides(self) -> dict[int, str]:
        """The names of the classes -1 and +1."""
        return {-1: "the rest" if self.negative is None else self.negative, 1: self.positive}

    @property
    def name(self) -> str:
        """Such as ``Adelie against the rest``."""
        return " against ".join(shortened(self.sides[side], 30) for side in (1, -1))

    def _of_these(self, values: Any) -> Any:
        """What belongs to the samples of this problem."""
        if self.minus is None or len(self.data.classes) == 2:
            return values
        return values[(self.data.label == self.plus) | (self.data.label == self.minus)]

    @property
    def X(self) -> Any:
        """The features."""
        return self._of_these(self.data.X)

    @property
    def y(self) -> NDArray[np.int8]:
        """The classes, -1 and +1."""
        signs = np.where(self._of_these(self.data.label) == self.plus, 1, -1)
        return signs.astype(np.int8)

    @property
    def rows(self) -> Ints:
        """The rows of the file, counted from 1."""
        return self._of_these(self.data.task.rows)  # type: ignore[no-any-return]


def problems_of(data: Data, pairs: bool) -> list[Problem]:
    """One for two classes; for more, each class against the rest, or each pair."""
    k = len(data.classes)
    if k == 2 or pairs:
        return [Problem(data, plus, minus) for minus, plus in combinations(range(k), 2)]
    return [Problem(data, plus, None) for plus in range(k)]


@dataclass(frozen=True)
class Finding:
    """What there is to say about a problem: its certificate, and which features carry it."""

    problem: Problem
    certificate: Certificate
    alone: list[SingleFeature]
    estimates: Estimates
    twins: Twins
    chance: float | None

    @classmethod
    def of(cls, problem: Problem, certificate: Certificate, groups: list[list[int]]) -> Finding:
        """Look at the features, and at what chance would have done."""
        X, y = problem.X, problem.y
        n, d = X.shape
        coefficients, same, chance = Estimates([], []), Twins([], 0), None
        if isinstance(certificate, Separable):
            coefficients = Estimates([(j, 0) for j in range(d + 1)], [])
            chance = float(cover_probability(n, d - len(groups)))
        elif isinstance(certificate, QuasiSeparable):
            coefficients = estimates(certificate, X, groups)
        if not isinstance(certificate, Separable):
            same = twins(X, y)
        return cls(problem, certificate, single_features(X, y), coefficients, same, chance)

    def as_json(self, names: list[str]) -> dict[str, Any]:
        """The certificate and the rest, for scripts."""
        problem, certificate, rows = self.problem, self.certificate, self.problem.rows
        found: dict[str, Any] = {"positive": problem.positive, "negative": problem.negative}
        found |= certificate_as_json(certificate, problem.X, problem.y)
        if hasattr(certificate, "support"):
            found["support_rows"] = rows[certificate.support].tolist()
        found["features_alone"] = [
            {
                "feature": names[one.feature],
                "threshold": repr(one.threshold),
                "above": problem.sides[one.above],
                "complete": one.complete,
                "rows_above": one.n_above,
                "rows_below": one.n_below,
            }
            for one in self.alone
        ]
        found["no_finite_estimate"] = {
            [*names, "(bias)"][j]: INFINITY[sign] for j, sign in self.estimates.running
        }
        pairs = [sorted(rows[[i, j]].tolist()) for i, j in self.twins.pairs]
        found["identical_rows"] = pairs
        return found | {"chance_of_random_labels": self.chance}


def examine(data: Data, pairs: bool, max_time: float | None, progress: Progress) -> list[Finding]:
    """Settle each problem; the time is shared among them."""
    end = None if max_time is None else time.monotonic() + max_time
    problems, findings = problems_of(data, pairs), []
    for k, problem in enumerate(problems):
        progress.say("looking for a hyperplane", k, len(problems), problem.name)
        share = None
        if end is not None:
            share = max(0.001, (end - time.monotonic()) / (len(problems) - k))
        certificate = separability(problem.X, problem.y, max_time=share)
        findings.append(Finding.of(problem, certificate, data.groups))
    return findings


def document_of(data: Data, findings: list[Finding], how: dict[str, Any]) -> dict[str, Any]:
    """All that is needed to check it again; `how` the table was read."""
    task, names = data.task, data.names
    counts = np.bincount(data.label)
    left_out = [] if task.known is None else (np.flatnonzero(~task.known) + 1).tolist()
    return {
        "file": task.origin["file"],
        "target": task.target,
        "classes": {str(c): int(n) for c, n in zip(data.classes, counts, strict=True)},
        "numbering": NUMBERING,
        "samples": len(task.y),
        "rows_left_out": left_out,
        "read": how,
        "encoding": data.encoder.columns_,
        "features": names,
        "digest": digest(data.X, task.y),
        "problems": [finding.as_json(names) for finding in findings],
    }


# Checking again ---------------------------------------------------------------------------------


def how_it_was_read(document: dict[str, Any], path: str) -> dict[str, Any]:
    """How to read the table of a certificate, in the terms of `document_of`."""
    how, target = document.get("read"), document.get("target")
    if not isinstance(how, dict) or not isinstance(target, str):
        msg = (
            f"{path} does not say how its table was read: it was written in Python, "
            "so check it there with rb.certify.check"
        )
        raise CertificateFileError(msg)
    kinds = {"ignore": list, "use": list, "header": bool | None, "delimiter": str | None}
    for name, kind in (kinds | {"pairs": bool}).items():
        if not isinstance(how.get(name), kind):
            msg = f"{path} is damaged (in read, {name}): write the certificate again"
            raise CertificateFileError(msg)
    return how | {"target": target}


class Answer(NamedTuple):
    """Whether the certificate of a problem is valid, and why (not)."""

    name: str
    valid: bool
    why: str


def check_again(
    document: dict[str, Any], path: str, data: Data, pairs: bool, progress: Progress
) -> list[Answer]:
    """Check the certificate of each problem; nothing but `rosenblatt.certify` is trusted."""
    certificates = certificates_in(document, path)
    if document.get("digest") != digest(data.X, data.task.y):
        why = (
            f"{data.task.origin['file']} does not hold the numbers and classes that {path} is "
            "about: the digests differ"
        )
        return [Answer("", False, why)]
    problems = problems_of(data, pairs)
    named = [(p.get("positive"), p.get("negative")) for p in document["problems"]]
    if named != [(p.positive, p.negative) for p in problems]:
        wanted = listing(p.name for p in problems)
        return [Answer("", False, f"{path} is not about the problems of the table: {wanted}")]
    found: list[Answer] = []
    for problem, certificate, stored in zip(
        problems, certificates, document["problems"], strict=True
    ):
        progress.say("checking", len(found), len(problems), problem.name)
        result = check(certificate, problem.X, problem.y)
        valid, why = result.valid, result.why
        if valid and stored.get("exact_weights") is not None:
            exact = short_exact_weights(certificate, problem.X, problem.y)  # type: ignore[arg-type]
            if exact != stored["exact_weights"]:
                valid, why = False, "the exact weights are not those of the support"
        about = f"{problem.name}, {word(certificate.verdict)}"
        found.append(Answer(about, valid, why))
    return found


def all_separable(findings: list[Finding]) -> bool:
    """Whether the answer is yes."""
    return all(finding.certificate.verdict is Verdict.SEPARABLE for finding in findings)
