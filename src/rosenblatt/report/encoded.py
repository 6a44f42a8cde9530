"""The table that is learned from: as it was read, and in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.report.facts import TableFacts
from rosenblatt.tables.encoder import TableEncoder

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class LabelledTable:
    """A table as it was read: what to learn from which columns."""

    file: str
    names: Sequence[str]
    target: str
    columns: dict[str, NDArray[Any]]
    y: NDArray[Any]  # the class of each row that has one
    notes: list[str] = field(default_factory=list)
    has_header: bool | None = None  # None: it was made, not read
    known: NDArray[np.bool_] | None = None  # the rows of the file that have a class, if not all
    ignores: bool = False  # whether columns were left out as told

    @property
    def rows(self) -> Ints:
        """The row of the file that each sample is, counted from 1."""
        known = np.ones(len(self.y), dtype=bool) if self.known is None else self.known
        return np.flatnonzero(known) + 1

    @property
    def rows_left_out(self) -> list[int]:
        """Those without a class."""
        return [] if self.known is None else (np.flatnonzero(~self.known) + 1).tolist()


@dataclass(frozen=True, kw_only=True)
class EncodedTable(LabelledTable):
    """The same in numbers, as a classifier takes it."""

    encoder: TableEncoder
    X: Any

    @cached_property
    def labels(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """The classes in order, and the number of each sample's class."""
        return np.unique(self.y, return_inverse=True)

    @property
    def counts(self) -> dict[str, int]:
        """The samples of each class."""
        classes, label = self.labels
        return dict(zip(map(str, classes), np.bincount(label).tolist(), strict=True))

    @cached_property
    def features(self) -> list[str]:
        """Their names."""
        return [str(name) for name in self.encoder.get_feature_names_out()]

    @property
    def groups(self) -> list[list[int]]:
        """The features of each text column, by number: one of them is 1, the others 0."""
        spans = self.encoder.spans_
        return [list(spans[name]) for name, kind in self.encoder.kinds_.items() if kind == "text"]

    @property
    def standardized(self) -> bool:
        """Whether there were numbers that were standardised."""
        return bool(self.encoder.standardize) and set(self.encoder.kinds_.values()) != {"text"}

    @property
    def some_columns(self) -> bool:
        """Whether there are columns, not used, in which rows may differ."""
        return self.ignores or bool(self.encoder.identifiers_)

    def differ(self, i: int, j: int) -> bool:
        """Whether two samples are different in the table, and only rounding made them the same."""
        pair = {name: cells[[i, j]] for name, cells in self.columns.items()}
        X = self.encoder.unscaled().transform(pair)
        X = X.toarray() if hasattr(X, "toarray") else X
        return not np.array_equal(*X)

    def signs(self, positive: Any) -> Ints:
        """The classes of a two-class problem, -1 and +1."""
        return np.where(self.y == positive, 1, -1)


def table_facts(table: EncodedTable, scores: tuple[float, ...] = ()) -> TableFacts:
    """What there is to say about a table that was learned from."""
    counts = table.counts.values()
    return TableFacts(
        file=table.file,
        has_header=table.has_header,
        names=tuple(table.names),
        trained=datetime.now(UTC).isoformat(timespec="seconds"),
        target=table.target,
        rows=len(table.y),
        rows_without_class=len(table.rows_left_out),
        columns=len(table.columns),
        standardized=table.standardized,
        scores=scores,
        majority=max(counts) / sum(counts),
    )
