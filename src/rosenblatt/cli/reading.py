"""From a file to what is to be learned: the classes and the columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.report.phrases import count, listing, shortened, suggestion
from rosenblatt.tables.cells import missing, truth_in_one_way

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.tables.encoder import TableEncoder
    from rosenblatt.tables.table import Table

    Columns = dict[str, NDArray[Any]]

MOST_CLASSES = 100


@dataclass(frozen=True)
class Task:
    """What to learn from which columns."""

    target: str
    columns: Columns
    y: NDArray[Any]
    origin: dict[str, Any]
    notes: list[str]
    known: NDArray[np.bool_] | None = None  # the rows of the file that have a class, if not all
    ignores: bool = False  # whether columns were left out as told

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of the file that each sample is, counted from 1."""
        known = np.ones(len(self.y), dtype=bool) if self.known is None else self.known
        return np.flatnonzero(known) + 1


def read_file(
    file: str,
    target: str | None,
    estimator: type,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    ignored: Sequence[str] | None = None,
    wanted: Sequence[str] | None = None,
) -> Task:
    """What a file is about; `estimator` is what an error advises to use from Python instead."""
    from rosenblatt.tables.storage import ForPythonError
    from rosenblatt.tables.table import read_table

    try:
        with read_table(file, header=header, delimiter=delimiter) as table:
            return read_task(table, target, ignored or (), wanted or ())
    except ForPythonError as error:
        error.estimator = estimator.__name__
        raise


def read_task(
    table: Table, target: str | None, ignored: Sequence[str] = (), wanted: Sequence[str] = ()
) -> Task:
    """The classes and the columns to learn from; what was done unasked goes into the notes."""
    notes = list(table.notes)
    for name in [*ignored, *wanted, *([target] if target else [])]:
        if name not in table.names:
            near = suggestion(name, table.names)
            msg = f"{table.path} has no column {name!r}.{near} It has {listing(table.names, 10)}"
            raise ValueError(msg)
    guessed = target is None
    if target is None:
        left = [name for name in table.names if name not in ignored]
        target = left[-1] if left else table.names[-1]
        notes.append(
            f"{shortened(target)}, the last column, is taken as the class (--target for another)"
        )
    features = [name for name in table.names if name != target and name not in ignored]
    if not features:
        msg = f"{table.path} has no column to learn from beside {target!r}: give more columns"
        raise ValueError(msg)
    y, known = read_labels(table, target, guessed=guessed)
    columns = table.chunk(0, table.n_rows, features)
    if not known.all():
        columns = {name: cells[known] for name, cells in columns.items()}
        rows = count(int((~known).sum()), "row")
        notes.append(f"{rows} without a class left out")
    origin = {
        "file": Path(table.path).name,
        "has_header": table.has_header,
        "names": list(table.names),
    }
    return Task(target, columns, y, origin, notes, known, bool(ignored))


def leaves_out(task: Task, encoder: TableEncoder) -> bool:
    """Whether there are columns, not used, in which rows may differ."""
    return task.ignores or bool(encoder.identifiers_)


def read_labels(
    table: Table, target: str, *, guessed: bool
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The class of each row that has one, and which these are."""
    kind, cells = table.kinds[target], table[target]
    if kind == "date":
        msg = f"column {target!r} holds dates: choose a column of classes with --target"
        raise ValueError(msg)
    known = ~missing(cells)
    cells = cells[known]
    if not cells.size:
        msg = f"column {target!r} has no classes, every cell is missing: choose another --target"
        raise ValueError(msg)
    values = np.unique(cells)
    whole = kind == "number" and bool((cells == np.floor(cells)).all())
    if len(values) == 1:
        msg = (
            f"column {target!r} holds only one class, {_label(values[0])}: "
            "a classifier needs rows of at least two; choose another column with --target"
        )
        raise ValueError(msg)
    few = 0.5 * len(cells) if guessed else len(cells) - 1
    fraction = kind == "number" and not whole and len(values) > 20
    many = len(values) > MOST_CLASSES and (guessed or kind == "number")
    if fraction or many or len(values) > max(2, few):
        raise ValueError(_no_classes(target, kind, len(values), len(cells), guessed))
    if whole:
        return cells.astype(np.int64), known
    if kind == "number":
        return np.array([f"{value:g}" for value in cells]), known
    return truth_in_one_way(cells).astype(str), known


def _no_classes(target: str, kind: str, n_values: int, n_rows: int, guessed: bool) -> str:
    """Why a target is a measurement or a name rather than a class, and what to do."""
    number = kind == "number"
    what = "looks continuous" if number else "looks like a name or a text"
    remedy = f"Choose {'a' if guessed else 'another'} column of classes with --target"
    remedy += ", or cut this one into classes first" if number else ""
    return (
        f"column {target!r} {what}: {n_values} different values in {count(n_rows, 'row')}. {remedy}"
    )


def _label(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(str(value))


# What was done to the columns -------------------------------------------------------------------


def is_standardised(encoder: TableEncoder) -> bool:
    """Whether there were numbers that were standardised."""
    return bool(encoder.standardize) and set(encoder.kinds_.values()) != {"text"}


def notes_about(encoder: TableEncoder) -> list[str]:
    """What the encoder did that a reader would want to know."""
    notes: list[str] = []
    reasons: dict[str, list[str]] = {}
    for spec in encoder.columns_:
        if "dropped" in spec:
            reasons.setdefault(spec["dropped"], []).append(spec["name"])
    for reason, names in reasons.items():
        notes.append(f"left out: {listing(names)} ({reason})")
    dates = [spec["name"] for spec in encoder.columns_ if spec["kind"] == "date"]
    if dates:
        notes.append(f"as days since 1970: {listing(dates)}")
    filled = [s for s in encoder.columns_ if s["name"] in encoder.n_missing_ and "dropped" not in s]
    for texts, what in ((False, "the mean"), (True, "a value of their own")):
        names = [s["name"] for s in filled if (s["kind"] == "text") is texts]
        if names:
            cells = listing(f"{name} ({encoder.n_missing_[name]})" for name in names)
            notes.append(f"missing cells, taken as {what}: {cells}")
    return notes
