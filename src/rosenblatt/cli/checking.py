"""From a table to a certificate for each two-class problem in it, and back to check them."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.certify import check
from rosenblatt.cli.reading import leaves_out, read_task
from rosenblatt.cli.training import notes_about
from rosenblatt.cli.verdicts import INFINITY, word
from rosenblatt.cli.words import listing, shortened
from rosenblatt.files.certificates import (
    CertificateFileError,
    certificate_as_json,
    certificates_in,
    digest,
)
from rosenblatt.results import Optimum, QuasiSeparable, Separable, Verdict
from rosenblatt.separation.explaining import (
    Chance,
    Estimates,
    SingleFeature,
    Twins,
    chance,
    estimates,
    single_features,
    twins,
)
from rosenblatt.separation.function import separability
from rosenblatt.tables.encoder import TableEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.cli.progress import Progress
    from rosenblatt.cli.reading import Task
    from rosenblatt.results import Certificate
    from rosenblatt.tables.table import Table

    Ints = NDArray[np.int64]

NUMBERING = (
    "samples are counted from 0, over the rows that have a class (and, in a problem about a pair "
    "of classes, one of these two); rows are counted from 1 as they stand in the file, its header "
    "not counted"
)
CHECKED = (
    "the verdicts with all their evidence, and what is said of the table, its rows and features"
)
NOT_CHECKED = "the notes on estimates and chance"


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
        # Where all columns are constant, which no fit would use, the answer is no.
        encoder = TableEncoder(standardize=False, use=tuple(used), keep_constant=True)
        X = encoder.fit_transform(task.columns)
        task.notes.extend([*notes_about(encoder), *_notes_on_rounding(encoder, task.columns)])
        return cls(task, X, encoder, *np.unique(task.y, return_inverse=True))

    @property
    def names(self) -> list[str]:
        """The features."""
        return [str(name) for name in self.encoder.get_feature_names_out()]

    @property
    def leaves_out(self) -> bool:
        """Whether there are columns, not used, in which rows may differ."""
        return leaves_out(self.task, self.encoder)

    @property
    def groups(self) -> list[list[int]]:
        """The features of each text column, by number: one of them is 1, the others 0."""
        spans = self.encoder.spans_
        return [list(spans[name]) for name, kind in self.encoder.kinds_.items() if kind == "text"]


def _notes_on_rounding(encoder: TableEncoder, columns: dict[str, NDArray[Any]]) -> list[str]:
    """Which columns hold whole numbers that may not be what stands in the file."""
    numbers = [name for name, kind in encoder.kinds_.items() if kind == "number"]
    large = [name for name in numbers if np.nanmax(np.abs(columns[name])) >= 2**53]
    if not large:
        return []
    return [
        f"beyond 2^53, where floats cannot hold every whole number: {listing(large)}; each number "
        "there was rounded to the nearest float, and different ones may have become the same"
    ]


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
    chance: Chance | None

    @classmethod
    def of(cls, problem: Problem, certificate: Certificate, groups: list[list[int]]) -> Finding:
        """Look at the features, and at what chance would have done."""
        X, y = problem.X, problem.y
        coefficients, same, likely = Estimates([], []), Twins([], 0), None
        if isinstance(certificate, Separable):
            coefficients = Estimates([(j, 0) for j in range(X.shape[1] + 1)], [])
            likely = chance(X, len(groups))
        elif isinstance(certificate, QuasiSeparable):
            coefficients = estimates(certificate, X, y, groups)
        if not isinstance(certificate, Separable):
            same = twins(X, y)
        return cls(problem, certificate, single_features(X, y), coefficients, same, likely)

    def as_json(self, names: list[str]) -> dict[str, Any]:
        """The certificate and the rest, for scripts."""
        problem, certificate, named = self.problem, self.certificate, [*names, "(bias)"]
        found: dict[str, Any] = {"positive": problem.positive, "negative": problem.negative}
        found |= certificate_as_json(certificate, problem.X, problem.y)
        found |= rows_and_features(problem, certificate, self.alone, self.twins, names)
        running = self.estimates.running
        found["no_finite_estimate"] = {named[j]: INFINITY[sign] for j, sign in running if sign}
        found["perhaps_no_finite_estimate"] = [named[j] for j, sign in running if not sign]
        at_most = None if self.chance is None else self.chance.at_most
        return found | {"chance_of_random_labels": at_most}


def rows_and_features(
    problem: Problem,
    certificate: Certificate,
    alone: list[SingleFeature],
    same: Twins,
    names: list[str],
) -> dict[str, Any]:
    """What stands beside a certificate, and can be checked again like it."""
    found: dict[str, Any] = {}
    rows = problem.rows
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
        for one in alone
    ]
    found["identical_rows"] = [sorted(rows[[i, j]].tolist()) for i, j in same.pairs]
    return found


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
    head = {"file": data.task.origin["file"], "target": data.task.target, "read": how}
    problems = [finding.as_json(data.names) for finding in findings]
    return head | about_table(data) | {"problems": problems}


def about_table(data: Data) -> dict[str, Any]:
    """What a file says of the table, all of which `check_again` compares."""
    task = data.task
    counts = np.bincount(data.label)
    left_out = [] if task.known is None else (np.flatnonzero(~task.known) + 1).tolist()
    return {
        "classes": {str(c): int(n) for c, n in zip(data.classes, counts, strict=True)},
        "numbering": NUMBERING,
        "samples": len(task.y),
        "rows_left_out": left_out,
        "encoding": [_encoding(spec, data.encoder) for spec in data.encoder.columns_],
        "features": data.names,
        "digest": digest(data.X, task.y),
    }


def _encoding(spec: dict[str, Any], encoder: TableEncoder) -> dict[str, Any]:
    """How a column became features; nothing that makes no difference."""
    wanted = {"name", "kind", "dropped", "values"}
    if spec["name"] in encoder.n_missing_:
        wanted.add("fill")
    return {name: value for name, value in spec.items() if name in wanted}


# Checking again ---------------------------------------------------------------------------------


def how_it_was_read(document: dict[str, Any], path: str) -> dict[str, Any]:
    """How to read the table of a certificate, in the terms of `document_of`."""
    how, target = document.get("read"), document.get("target")
    found = certificates_in(document, path)  # raises if it holds none
    if any(isinstance(certificate, Optimum) for certificate in found):
        msg = (
            f"{path} is about a best hyperplane, and does not hold the weights of the samples: "
            "check it in Python with rb.certify.check"
        )
        raise CertificateFileError(msg)
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
    if wrong := _first_different(about_table(data), document):
        return [Answer("", False, f"{path} says what is not so of the table, in {wrong}")]
    found: list[Answer] = []
    for problem, certificate, stored in zip(
        problems, certificates, document["problems"], strict=True
    ):
        progress.say("checking", len(found), len(problems), problem.name)
        result = check(certificate, problem.X, problem.y)
        why = result.why.removeprefix("proved: ")
        wrong = _wrong_beside(problem, certificate, stored, data.names) if result else ""
        if wrong:
            why = f"the proof holds, but {wrong} is not what belongs to it"
        about = f"{problem.name} is {word(certificate.verdict)}"
        found.append(Answer(about, result.valid and not wrong, _with_rows(why, problem.rows)))
    return found


def _wrong_beside(
    problem: Problem, certificate: Certificate, stored: dict[str, Any], names: list[str]
) -> str:
    """The first entry beside a valid certificate that is not as it should be, if any."""
    X, y = problem.X, problem.y
    same = Twins([], 0) if isinstance(certificate, Separable) else twins(X, y)
    beside = rows_and_features(problem, certificate, single_features(X, y), same, names)
    exact = certificate_as_json(certificate, X, y)
    beside |= {name: exact[name] for name in ("meaning", "exact_weights") if name in exact}
    return _first_different(beside, stored)


def _first_different(wanted: dict[str, Any], stored: dict[str, Any]) -> str:
    plain = json.loads(json.dumps(wanted))
    return next((name for name in plain if stored.get(name) != plain[name]), "")


def _with_rows(why: str, rows: Ints) -> str:
    """The one sample that an answer names, as a row of the file."""
    return re.sub(r"^sample (\d+)", lambda found: f"row {rows[int(found[1])]}", why)


def all_separable(findings: list[Finding]) -> bool:
    """Whether the answer is yes."""
    return all(finding.certificate.verdict is Verdict.SEPARABLE for finding in findings)
