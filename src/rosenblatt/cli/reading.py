"""From a file to what is to be learned: the classes and the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli.options import READING, refuse
from rosenblatt.report.fits import EncodedTable, LabelledTable
from rosenblatt.report.sentences import listing, shortened, suggestion
from rosenblatt.tables.cells import missing, truth_in_one_way
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.sparse_features import SparseEncoder, is_sparse
from rosenblatt.tables.storage import ForPythonError
from rosenblatt.tables.table import Table, read_table
from rosenblatt.visible import count

MOST_CLASSES = 100


def open_table(files: Sequence[str], how: Mapping[str, Any], text: Sequence[str] = ()) -> Table:
    """The table in these files, or in the answer to a query."""
    options = {name: how.get(name) for name in READING}
    return read_table(list(files) or None, text=text, **options)


def read_file(
    files: Sequence[str], target: str | None, estimator: type, how: Mapping[str, Any]
) -> LabelledTable:
    """What a table is about; `estimator` is what an error advises to use from Python instead."""
    try:
        with open_table(files, how) as table:
            return labelled_table(table, target, how["ignore"], how["use"])
    except ForPythonError as error:
        error.estimator = estimator.__name__
        raise


def labelled_table(
    table: Table, target: str | None, ignored: Sequence[str] = (), wanted: Sequence[str] = ()
) -> LabelledTable:
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
    none = f"{table.path} has no column to learn from beside {target!r}: give more columns"
    refuse(not features, none)
    y, known = read_labels(table, target, guessed=guessed)
    columns = table.chunk(0, table.n_rows, features)
    if not known.all():
        columns = {name: cells[known] for name, cells in columns.items()}
        notes.append(f"{count(int((~known).sum()), 'row')} without a class left out")
    return LabelledTable(
        file=Path(table.path).name,
        names=list(table.names),
        target=target,
        columns=columns,
        y=y,
        notes=notes,
        has_header=table.has_header,
        known=known,
        ignores=bool(ignored),
    )


def read_checked(files: Sequence[str], target: str | None, how: Mapping[str, Any]) -> EncodedTable:
    """A table as numbers, as given: texts one-hot, numbers not scaled, for that would round."""
    with open_table(files, how) as table:
        labelled = labelled_table(table, target, how["ignore"], how["use"])
    # Where all columns are constant, which no fit would use, the answer is no.
    encoder = encoder_of(labelled, standardize=False, use=how["use"], keep_constant=True)
    X = encoder.fit_transform(labelled.columns)
    labelled.notes.extend(notes_about(encoder))
    labelled.notes.extend(_notes_on_rounding(encoder, labelled.columns))
    return EncodedTable(**vars(labelled), encoder=encoder, X=X)


def encoder_of(table: LabelledTable, **how: Any) -> TableEncoder | SparseEncoder:
    """What makes features of the columns of a table."""
    if is_sparse(table.columns):
        return SparseEncoder()
    return TableEncoder(**how | {"use": tuple(how["use"] or ())})


def read_labels(
    table: Table, target: str, *, guessed: bool
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The class of each row that has one, and which these are."""
    kind, cells = table.kinds[target], table[target]
    dates = f"column {target!r} holds dates: choose a column of classes with --target"
    refuse(kind == "date", dates)
    known = ~missing(cells)
    cells = cells[known]
    none = f"column {target!r} has no classes, every cell is missing: choose another --target"
    refuse(not cells.size, none)
    values = np.unique(cells)
    whole = kind == "number" and bool((cells == np.floor(cells)).all())
    only = f"{values[0]:g}" if isinstance(values[0], float) else repr(str(values[0]))
    refuse(
        len(values) == 1,
        f"column {target!r} holds only one class, {only}: "
        "a classifier needs rows of at least two; choose another column with --target",
    )
    few = 0.5 * len(cells) if guessed else len(cells) - 1
    fraction = kind == "number" and not whole and len(values) > 20
    many = len(values) > MOST_CLASSES and (guessed or kind == "number")
    refuse(
        fraction or many or len(values) > max(2, few),
        _no_classes(target, kind, len(values), len(cells), guessed),
    )
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


# What was done to the columns -------------------------------------------------------------------


def notes_about(encoder: TableEncoder | SparseEncoder) -> list[str]:
    """What the encoder did that a reader would want to know."""
    reasons: dict[str, list[str]] = {}
    for spec in encoder.columns_:
        if "dropped" in spec:
            reasons.setdefault(spec["dropped"], []).append(spec["name"])
    notes = [f"left out: {listing(names)} ({reason})" for reason, names in reasons.items()]
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


def _notes_on_rounding(
    encoder: TableEncoder | SparseEncoder, columns: dict[str, NDArray[Any]]
) -> list[str]:
    """Which columns hold whole numbers that may not be what stands in the file."""
    numbers = [name for name, kind in encoder.kinds_.items() if kind == "number"]
    large = [name for name in numbers if np.nanmax(np.abs(columns[name])) >= 2**53]
    if not large:
        return []
    return [
        f"beyond 2^53, where floats cannot hold every whole number: {listing(large)}; each number "
        "there was rounded to the nearest float, and different ones may have become the same"
    ]
