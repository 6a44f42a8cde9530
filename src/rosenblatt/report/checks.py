"""The facts about a check: the two-class problems of a table, and what settles each of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.files.certificates import certificate_as_json
from rosenblatt.report.phrases import shortened
from rosenblatt.results import QuasiSeparable, Separable, Verdict
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

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rosenblatt.results import Certificate
    from rosenblatt.tables.encoder import TableEncoder

    Ints = NDArray[np.int64]

INFINITY = {1: "+inf", -1: "-inf"}


@dataclass(frozen=True)
class CheckedTable:
    """A table as numbers, as given: texts one-hot, numbers not scaled, for that would round."""

    file: str
    target: str
    y: NDArray[Any]
    rows: Ints  # the row of the file that each sample is, counted from 1
    rows_left_out: tuple[int, ...]  # those without a class
    n_columns: int
    some_columns: bool  # whether there are columns, not used, in which rows may differ
    notes: tuple[str, ...]
    X: Any
    encoder: TableEncoder
    classes: NDArray[Any]
    label: NDArray[np.intp]  # the number of each sample's class

    @property
    def names(self) -> list[str]:
        """The features."""
        return [str(name) for name in self.encoder.get_feature_names_out()]

    @property
    def counts(self) -> dict[str, int]:
        """The samples of each class."""
        counts = np.bincount(self.label)
        return {str(c): int(n) for c, n in zip(self.classes, counts, strict=True)}

    @property
    def groups(self) -> list[list[int]]:
        """The features of each text column, by number: one of them is 1, the others 0."""
        spans = self.encoder.spans_
        return [list(spans[name]) for name, kind in self.encoder.kinds_.items() if kind == "text"]


@dataclass(frozen=True)
class TwoClasses:
    """Two classes, or one and the rest (`minus` None), by number.

    Their samples are picked out when asked for: there may be very many problems.
    """

    table: CheckedTable
    plus: int
    minus: int | None

    @property
    def positive(self) -> str:
        """The class +1."""
        return str(self.table.classes[self.plus])

    @property
    def negative(self) -> str | None:
        """The class -1, None for the rest."""
        return None if self.minus is None else str(self.table.classes[self.minus])

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
        if self.minus is None or len(self.table.classes) == 2:
            return values
        return values[(self.table.label == self.plus) | (self.table.label == self.minus)]

    @property
    def X(self) -> Any:
        """The features."""
        return self._of_these(self.table.X)

    @property
    def y(self) -> NDArray[np.int8]:
        """The classes, -1 and +1."""
        signs = np.where(self._of_these(self.table.label) == self.plus, 1, -1)
        return signs.astype(np.int8)

    @property
    def rows(self) -> Ints:
        """The rows of the file, counted from 1."""
        return self._of_these(self.table.rows)  # type: ignore[no-any-return]


def problems_of(table: CheckedTable, pairs: bool) -> list[TwoClasses]:
    """One for two classes; for more, each class against the rest, or each pair."""
    k = len(table.classes)
    if k == 2 or pairs:
        return [TwoClasses(table, plus, minus) for minus, plus in combinations(range(k), 2)]
    return [TwoClasses(table, plus, None) for plus in range(k)]


@dataclass(frozen=True)
class Finding:
    """What there is to say about a problem: its certificate, and which features carry it."""

    problem: TwoClasses
    certificate: Certificate
    alone: list[SingleFeature]
    estimates: Estimates
    twins: Twins
    chance: Chance | None

    @classmethod
    def of(cls, problem: TwoClasses, certificate: Certificate, groups: list[list[int]]) -> Finding:
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
    problem: TwoClasses,
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


def examine(
    table: CheckedTable,
    pairs: bool,
    max_time: float | None,
    tell: Callable[[int, int, str], None],
) -> list[Finding]:
    """Settle each problem; the time is shared among them, and `tell` hears which it is."""
    end = None if max_time is None else time.monotonic() + max_time
    problems, findings = problems_of(table, pairs), []
    for k, problem in enumerate(problems):
        tell(k, len(problems), problem.name)
        share = None
        if end is not None:
            share = max(0.001, (end - time.monotonic()) / (len(problems) - k))
        certificate = separability(problem.X, problem.y, max_time=share)
        findings.append(Finding.of(problem, certificate, table.groups))
    return findings


def all_separable(findings: list[Finding]) -> bool:
    """Whether the answer is yes."""
    return all(finding.certificate.verdict is Verdict.SEPARABLE for finding in findings)
