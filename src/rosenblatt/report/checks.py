"""The facts about a check: the two-class problems of a table, and what settles each of them.

As a document they are certificates, which `check_again` tests.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.contract.parameters import count_threads
from rosenblatt.contract.resuming import keeper_at
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.files.certificates import (
    CertificateFileError,
    certificate_as_json,
    certificates_in,
    digest,
)
from rosenblatt.proofs import check
from rosenblatt.report.clustered import ClusteredTraining
from rosenblatt.report.facts import Document
from rosenblatt.report.fits import EncodedTable
from rosenblatt.report.joint_checks import checked_jointly, told
from rosenblatt.report.sentences import listing, told_apart, verdict_word
from rosenblatt.results import (
    Certificate,
    JointCertificate,
    Optimum,
    QuasiSeparable,
    Separable,
)
from rosenblatt.running.checkpoints import Checkpoint
from rosenblatt.running.notes import Notes
from rosenblatt.running.threads import Team
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
from rosenblatt.separation.function import noting, separability

INFINITY = {1: "+inf", -1: "-inf"}
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
class TwoClasses:
    """Two classes, or one and the rest (`minus` None), by number.

    Their samples are picked out when asked for: there may be very many problems.
    """

    table: EncodedTable
    plus: int
    minus: int | None

    @property
    def positive(self) -> str:
        """The class +1."""
        return str(self.table.labels[0][self.plus])

    @property
    def negative(self) -> str | None:
        """The class -1, None for the rest."""
        return None if self.minus is None else str(self.table.labels[0][self.minus])

    @property
    def sides(self) -> dict[int, str]:
        """The names of the classes -1 and +1."""
        return {-1: "the rest" if self.negative is None else self.negative, 1: self.positive}

    @property
    def name(self) -> str:
        """Such as ``Adelie against the rest``."""
        short = told_apart(map(str, self.table.labels[0]), 30)
        return " against ".join(short.get(self.sides[side], self.sides[side]) for side in (1, -1))

    @property
    def _these(self) -> NDArray[np.bool_] | None:
        """The samples of this problem; None: all."""
        if self.minus is None or len(self.table.classes) == 2:
            return None
        return np.isin(self.table.label, (self.plus, self.minus))

    def verdict(self, max_time: float | None, notes: Notes | None) -> Certificate:
        """Whether a hyperplane separates the two."""
        if isinstance(self.table, ClusteredTraining):
            classes = self.table.classes.tolist()
            rest = None if self.minus is None else classes[self.minus]
            return self.table.verdict_on(classes[self.plus], max_time, notes, rest)
        found: Certificate = separability(self.X, self.y, max_time=max_time, checkpoint=notes)
        return found

    @property
    def X(self) -> Any:
        """The features."""
        these = self._these
        return self.table.X if these is None else self.table.taken_features(these)

    @property
    def y(self) -> NDArray[np.int8]:
        """The classes, -1 and +1."""
        these, signs = self._these, np.full(len(self.table.label), -1, np.int8)
        signs[self.table.label == self.plus] = 1
        return signs if these is None else signs[these]

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows of the file, counted from 1."""
        these = self._these
        return self.table.rows if these is None else self.table.rows[these]


def problems_of(table: EncodedTable, pairs: bool) -> list[TwoClasses]:
    """One for two classes; for more, each class against the rest, or each pair."""
    k = len(table.labels[0])
    if k == 2 or pairs:
        return [TwoClasses(table, plus, minus) for minus, plus in combinations(range(k), 2)]
    return [TwoClasses(table, plus, None) for plus in range(k)]


@dataclass(frozen=True)
class Finding:
    """What there is to say about a problem: its certificate, and which features carry it."""

    problem: TwoClasses
    certificate: Certificate

    @cached_property
    def alone(self) -> list[SingleFeature]:
        """What single features tell of the classes."""
        return single_features(self.problem.X, self.problem.y)

    @cached_property
    def twins(self) -> Twins:
        """Samples that are the same but for their classes."""
        apart = isinstance(self.certificate, Separable)
        return Twins([], 0) if apart else twins(self.problem.X, self.problem.y)

    @cached_property
    def estimates(self) -> Estimates:
        """The coefficients of a logistic regression that have no finite estimate."""
        X, y, certificate = self.problem.X, self.problem.y, self.certificate
        if isinstance(certificate, QuasiSeparable):
            return estimates(certificate, X, y, self.problem.table.groups)
        every = range(X.shape[1] + 1) if isinstance(certificate, Separable) else ()
        return Estimates([(j, 0) for j in every], [])

    @cached_property
    def chance(self) -> Chance | None:
        """How probable a separation of random labels would have been."""
        if not isinstance(self.certificate, Separable):
            return None
        return chance(self.problem.X, len(self.problem.table.groups))

    def as_json(self) -> Document:
        """The certificate and the rest, for scripts."""
        problem, running = self.problem, self.estimates.running
        named = [*problem.table.features, "(bias)"]
        return {
            "positive": problem.positive,
            "negative": problem.negative,
            **certificate_as_json(self.certificate, problem.X, problem.y),
            **self.beside(),
            "no_finite_estimate": {named[j]: INFINITY[sign] for j, sign in running if sign},
            "perhaps_no_finite_estimate": [named[j] for j, sign in running if not sign],
            "chance_of_random_labels": self.chance and self.chance.at_most,
        }

    def beside(self) -> Document:
        """What stands beside a certificate, and can be checked again like it."""
        rows, names, sides = self.problem.rows, self.problem.table.features, self.problem.sides
        support = getattr(self.certificate, "support", None)
        proved = {} if support is None else {"support_rows": rows[support].tolist()}
        alone = [
            {
                "feature": names[one.feature],
                "threshold": repr(one.threshold),
                "above": sides[one.above],
                "complete": one.complete,
                "rows_above": one.n_above,
                "rows_below": one.n_below,
            }
            for one in self.alone
        ]
        same = [sorted(rows[[i, j]].tolist()) for i, j in self.twins.pairs]
        return proved | {"features_alone": alone, "identical_rows": same}


def examine(
    table: EncodedTable,
    pairs: bool,
    max_time: float | None,
    tell: Callable[[int, int, str], None],
    checkpoint: Checkpoint | None = None,
) -> list[Finding]:
    """Settle each problem; the time is shared among them, and `tell` hears which it is.

    All of them have notes in one checkpoint, if there is any.
    """
    end = None if max_time is None else time.monotonic() + max_time
    problems, findings = problems_of(table, pairs), []
    with _noting(table, checkpoint) as notes_of:
        for k, problem in enumerate(problems):
            tell(k, len(problems), problem.name)
            left = None if end is None else end - time.monotonic()
            share = None if left is None else max(0.001, left / (len(problems) - k))
            notes: Any = notes_of(f"{problem.plus} against {problem.minus}")
            found = problem.verdict(share, notes)
            findings.append(Finding(problem, found))
    return findings


@contextmanager
def _noting(
    table: EncodedTable, checkpoint: Checkpoint | None
) -> Iterator[Callable[[str], Notes | None]]:
    """The notes of each problem of a table."""
    keeper = keeper_at(checkpoint)
    if keeper is None:
        yield lambda problem: None
        return
    if isinstance(table, ClusteredTraining):
        with table.noting(keeper) as notes:
            yield notes.of
        return
    source = MemorySource(as_rows(table.X), table.label, table.X.shape[1])
    with Team(count_threads(None)) as team, noting(keeper, source, team) as notes:
        yield notes.of


# The document -----------------------------------------------------------------------------------


def document_of(table: EncodedTable, findings: Sequence[Any], how: Document) -> Document:
    """All that is needed to check it again; `how` the table was read."""
    head = {"file": table.file, "target": table.target, "read": how}
    return head | about_table(table) | {"problems": [one.as_json() for one in findings]}


def about_table(table: EncodedTable) -> Document:
    """What a file says of the table, all of which `check_again` compares."""
    return {
        "classes": table.counts,
        "numbering": NUMBERING,
        "samples": len(table.label),
        "rows_left_out": table.rows_left_out,
        "encoding": [
            _encoding(spec, spec["name"] in table.encoder.n_missing_)
            for spec in table.encoder.columns_
        ],
        "features": table.features,
        "digest": digest(table.X, table.label, table.classes),
    }


def _encoding(spec: Document, filled: bool) -> Document:
    """How a column became features; nothing that makes no difference."""
    wanted = ("name", "kind", "dropped", "values", "words", *["fill"] * filled)
    more: Document = {"idf": spec["idf"].tolist()} if "idf" in spec else {}
    if "parts" in spec:
        more["parts"] = [_encoding(part, filled) for part in spec["parts"]]
    return {name: value for name, value in spec.items() if name in wanted} | more


# Checking again ---------------------------------------------------------------------------------


def how_it_was_read(document: Document, path: str) -> Document:
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
    later = ("number", "category", "text", "missing")  # options that version 0.1 had not
    how = {name: [] for name in later} | {"skip_bad_lines": None} | how
    kinds: dict[str, Any] = dict.fromkeys(("ignore", "use", *later), list)
    kinds |= dict.fromkeys(("header", "skip_bad_lines"), bool | None)
    kinds |= dict.fromkeys(("delimiter", "decimal", "sheet", "table", "query"), str | None)
    for name, kind in (kinds | {"pairs": bool}).items():
        if not isinstance(how.get(name), kind):
            msg = f"{path} is damaged (in read, {name}): write the certificate again"
            raise CertificateFileError(msg)
    return how | {"target": target}


class Rechecked(NamedTuple):
    """Whether the certificate of a problem is valid, and why (not)."""

    name: str
    valid: bool
    why: str


def check_again(
    document: Document,
    path: str,
    table: EncodedTable,
    pairs: bool,
    tell: Callable[[int, int, str], None],
) -> list[Rechecked]:
    """Check the certificate of each problem; nothing but `rosenblatt.certify` is trusted."""
    certificates = certificates_in(document, path)
    if document.get("digest") != digest(table.X, table.label, table.classes):
        what = f"the numbers and classes that {path} is about"
        why = f"{table.file} does not hold {what}: the digests differ"
        return [Rechecked("", False, why)]
    stored = document["problems"]
    if wrong := _first_different(about_table(table), document):
        return [Rechecked("", False, f"{path} says what is not so of the table, in {wrong}")]
    if isinstance(certificates[0], JointCertificate):
        valid, why = checked_jointly(table, certificates[0], stored[0])
        return [Rechecked(told(certificates[0]), valid, why)]
    problems = problems_of(table, pairs)
    named = [(one.get("positive"), one.get("negative")) for one in stored]
    if named != [(p.positive, p.negative) for p in problems]:
        wanted = listing(p.name for p in problems)
        return [Rechecked("", False, f"{path} is not about the problems of the table: {wanted}")]
    found: list[Rechecked] = []
    for problem, certificate, beside in zip(problems, certificates, stored, strict=True):
        tell(len(found), len(problems), problem.name)
        result = check(certificate, problem.X, problem.y)
        why = result.proved or result.why
        if result.sample is not None:
            why = f"row {problem.rows[result.sample]} lies {result.where}"
        wrong = _wrong_beside(Finding(problem, certificate), beside) if result else ""
        if wrong:
            why = f"the proof holds, but {wrong} is not what belongs to it"
        about = f"{problem.name} is {verdict_word(certificate.verdict)}"
        found.append(Rechecked(about, result.valid and not wrong, why))
    return found


def _wrong_beside(finding: Finding, stored: Document) -> str:
    """The first entry beside a valid certificate that is not as it should be, if any."""
    exact = certificate_as_json(finding.certificate, finding.problem.X, finding.problem.y)
    exact = {name: exact[name] for name in ("meaning", "exact_weights") if name in exact}
    return _first_different(finding.beside() | exact, stored)


def _first_different(wanted: Document, stored: Document) -> str:
    plain = json.loads(json.dumps(wanted))
    return next((name for name in plain if stored.get(name) != plain[name]), "")
