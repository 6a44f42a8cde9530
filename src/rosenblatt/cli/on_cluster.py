"""Tables that the workers of a cluster read: what is learned from, and rows to answer for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli.options import refuse
from rosenblatt.report.clustered import ClusteredTraining
from rosenblatt.report.fits import LabelledTable
from rosenblatt.streams.on_cluster import PartedTable, encoded_samples, fitted, known_parts
from rosenblatt.streams.targets import Target
from rosenblatt.tables.spellings import MOST_VALUES, in_one_spelling
from rosenblatt.tables.staged_rows import joined
from rosenblatt.tables.texts import MISSING_CODE, Texts

if TYPE_CHECKING:
    from rosenblatt.cli.saved_models import Application, Tally
    from rosenblatt.cluster.engine import Engine
    from rosenblatt.tables.table_on_workers import TableOnWorkers

AHEAD = 4  # parts whose answers are on their way here for each thread of a worker
MACHINE = "works on one machine only: leave --cluster out"


@dataclass(frozen=True, kw_only=True)
class ClusteredTable(LabelledTable):
    """What to learn from which columns of a table whose rows are on workers."""

    parted: PartedTable

    @property
    def some(self) -> NDArray[np.bool_] | None:
        """The rows of the file that have a class; None: all."""
        return None if self.known is None or self.known.all() else self.known

    def encoded(self, encoder: Any) -> ClusteredTraining:
        """The same in numbers, made by an encoder that is fitted to it, where the rows are."""
        names = list(self.columns)
        fitted(self.parted, encoder, names, self.some)
        found = Target(self.label, self.classes, None)
        samples = encoded_samples(self.parted, encoder, found, self.some, ())
        samples.features = None  # models of the command know columns by the encoder
        return ClusteredTraining(**vars(self), encoder=encoder, samples=samples)


class FarColumn(NamedTuple):
    """A column whose cells are on workers, of the rows that have a class."""

    name: str
    kind: str
    table: PartedTable
    known: NDArray[np.bool_]

    def __len__(self) -> int:
        return int(np.count_nonzero(self.known))

    def __getitem__(self, rows: Any) -> Any:
        """The cells of some rows, sent for."""
        numbers = np.flatnonzero(self.known)[rows]
        ends = np.cumsum(self.table.lengths)
        order = np.argsort(numbers, kind="stable")
        parts = np.searchsorted(ends, numbers[order], side="right")
        futures = [
            self.table.engine.submit(
                _cells_of, self.table.read, self.name, self.table.parts[k],
                numbers[order][parts == k] - (ends[k - 1] if k else 0),
            )
            for k in np.unique(parts)
        ]  # fmt: skip
        found: Any = joined(self.table.engine.gather(futures))
        return found[np.argsort(order, kind="stable")]

    def reaches(self, size: float) -> bool:
        """Whether some number is as large as that."""
        task = partial(_largest, self.table.read, self.name)
        futures = [self.table.engine.submit(task, part) for part in self.table.parts]
        return bool(max(self.table.engine.gather(futures)) >= size)


def far_columns(
    table: TableOnWorkers, names: Sequence[str], known: NDArray[np.bool_], exact: Sequence[str]
) -> tuple[dict[str, FarColumn], PartedTable, list[tuple[str, list[list[str]]]]]:
    """Columns as handles, how parts become them, and words in several spellings, by column.

    Words that mean the same get one spelling.
    """
    kinds = {name: table.kinds[name] for name in names}
    parted = PartedTable(
        table.engine, table.parts, table.lengths, table.reading(names), tuple(names), kinds,
        table.path,
    )  # fmt: skip
    renamed, told = dict[str, dict[str, str]](), list[tuple[str, list[list[str]]]]()
    texts = [name for name in names if kinds[name] == "text" and name not in exact]
    for name, cells in zip(texts, _counted_words(parted, texts, known), strict=True):
        several = [] if cells is None else in_one_spelling(cells)[1]
        if several:
            renamed[name] = {word: group[0] for group in several for word in group}
            told.append((name, several))
    parted = parted._replace(read=table.reading(names, renamed))
    return {name: FarColumn(name, kinds[name], parted, known) for name in names}, parted, told


class _CountedTexts(Texts):
    """Texts, and in how many rows each stands, without the rows."""

    def counts(self) -> NDArray[np.int64]:
        """In how many rows each of the values stands."""
        found: NDArray[np.int64] = np.asarray(self.codes, np.int64)
        return found


def _counted_words(
    table: PartedTable, names: Sequence[str], known: NDArray[np.bool_]
) -> list[Texts | None]:
    """The words of some columns with their counts; None: too many different ones."""
    if not names:
        return []
    parts, _ = known_parts(table, None if known.all() else known)
    task = partial(_words, table.read, list(names))
    found = table.engine.gather([table.engine.submit(task, *part) for part in parts])
    columns = list[Texts | None]()
    for of_parts in zip(*found, strict=True):
        words, counts = dict[str, int](), list[int]()
        for values, n_rows in filter(None, of_parts):
            for value, n in zip(values, n_rows, strict=True):
                k = words.setdefault(value, len(words))
                counts += [0] * (k == len(counts))
                counts[k] += n
        few = None not in of_parts and len(words) <= MOST_VALUES
        values = np.empty(len(words), dtype=object)
        values[:] = list(words)
        columns.append(_CountedTexts(values, np.array(counts)) if few else None)
    return columns


def without_what_needs_all_rows(given: Mapping[str, Any]) -> None:
    """Refuse options that need the whole table in the memory of one machine."""
    folds = given.get("folds") if given.get("folds") not in (None, "0") else None
    needing = {"cv": folds, "report": given.get("page"), "plot": given.get("picture")}
    names = ("calibrate", "tune", "groups", "holdout", "features", "memory")
    needing |= {name: given.get(name) for name in names}
    for name, value in needing.items():
        refuse(value, f"--{name} {MACHINE}, or this out")
    joint = given.get("multiclass") == "joint"
    refuse(joint, f"--multiclass joint {MACHINE}, or take ovr")
    order = given.get("order")
    refuse(order not in (None, "cyclic"), f"--order {order} {MACHINE}, or take cyclic")


# Answers ----------------------------------------------------------------------------------------


def answered(
    engine: Engine, application: Application, table: TableOnWorkers, tally: Tally
) -> Iterator[dict[str, Any]]:
    """What a model says of all rows, part by part in order; workers do it."""
    rows, kept = application.readings(table)  # now, before anything is written
    return _in_order(engine, application, table, tally, rows, kept)


def _in_order(
    engine: Engine, application: Application, table: TableOnWorkers, tally: Tally,
    rows: Any, kept: Any,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """The answers of the parts one after another, some of them on their way."""
    shared = engine.sent(application)
    room = AHEAD * sum(worker.threads for worker in engine.workers().values())
    parts = [part for part, n in zip(table.parts, table.lengths, strict=True) if n]

    def begin(part: Any) -> Any:
        return engine.submit(_answered, shared, rows, kept, part)

    for answer, told in engine.in_turn(begin, parts, room):
        tally.merge(told)
        yield answer


# What workers do --------------------------------------------------------------------------------


def _cells_of(read: Any, name: str, part: Any, rows: NDArray[np.intp]) -> Any:
    return read.of([name])(part)[name][rows]


def _largest(read: Any, name: str, part: Any) -> float:
    numbers = np.abs(read.of([name])(part)[name])
    return float(np.max(numbers, initial=0.0, where=~np.isnan(numbers)))


def _words(read: Any, names: list[str], part: Any, rows: Any) -> list[Any]:
    """The words of columns with their counts in these rows; None for one with too many."""
    found = list[Any]()
    for name in names:
        texts = read.of([name])(part)[name]
        codes = texts.codes if rows is None else texts.codes[rows]
        counts = np.bincount(codes[codes != MISSING_CODE], minlength=len(texts.values)).tolist()
        few = len(texts.values) <= MOST_VALUES
        found.append((texts.values.tolist(), counts) if few else None)
    return found


def _answered(application: Application, rows: Any, kept: Any, part: Any) -> tuple[Any, Any]:
    from rosenblatt.cli.saved_models import Tally

    def arrays(read: Any) -> dict[str, Any]:
        found = read(part)
        return {n: c.texts() if isinstance(c, Texts) else c for n, c in found.items()}

    tally = Tally()
    return application.answer((arrays(rows), arrays(kept)), tally), tally
