"""From a file to what is to be learned: the classes and the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli.classes import find_target, parts, read_labels, spellings
from rosenblatt.cli.grouping import check_groups, group_numbers, refuse_matrix
from rosenblatt.cli.on_cluster import ClusteredTable, FarColumn, far_columns
from rosenblatt.cli.on_disk import columns_in, features_of, recoded, room_for
from rosenblatt.cli.options import READING, how_to_encode, refuse
from rosenblatt.cli.room import Room
from rosenblatt.report.encoding_notes import notes_about
from rosenblatt.report.fits import EncodedTable, LabelledTable
from rosenblatt.report.sentences import listing, shortened, suggestion
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.sparse_features import SparseEncoder, is_sparse
from rosenblatt.tables.spellings import in_one_spelling
from rosenblatt.tables.storage import ForPythonError, TableError
from rosenblatt.tables.table import Table, read_table
from rosenblatt.tables.table_on_workers import TableOnWorkers
from rosenblatt.tables.texts import Texts
from rosenblatt.visible import count

if TYPE_CHECKING:
    from rosenblatt.cluster.engine import Engine

MOST_NOTES = 5  # on columns that were treated alike


def open_table(
    files: Sequence[str], how: Mapping[str, Any], engine: Engine | None = None, **more: Any
) -> Table:
    """The table in these files, or in the answer to a query; with an engine workers read it."""
    options: dict[str, Any] = {name: how.get(name) for name in READING}
    options["skip_bad_lines"] = bool(options["skip_bad_lines"])
    for name in ("decimal", "dates"):  # as an option says, or as a model knows it
        options[name] = options[name] or more.pop(name, None)
    if engine is not None:
        from rosenblatt.tables.table_on_workers import read_on_workers

        more.pop("in_parts", None)
        return read_on_workers(engine, list(files), **options | more)
    return read_table(list(files) or None, **options | more)


def read_file(
    files: Sequence[str],
    target: str | None,
    estimator: type,
    how: Mapping[str, Any],
    room: Room | None = None,
    engine: Engine | None = None,
) -> LabelledTable:
    """What a table is about; `estimator` is what an error advises to use from Python instead.

    What there is no `room` for is read from disk as it is needed.
    """
    try:
        with asked_table(files, target, how, room, engine) as table:
            return _labelled(table, target, how, room)
    except ForPythonError as error:
        error.estimator = estimator.__name__
        raise


@contextmanager
def asked_table(
    files: Sequence[str],
    target: str | None,
    how: Mapping[str, Any],
    room: Room | None = None,
    engine: Engine | None = None,
) -> Iterator[Table]:
    """The table, its columns read as the options say."""
    numbers, words = how["number"], [*how["category"], *how["text"]]
    for one, other in combinations(("number", "category", "text"), 2):
        for name in set(how[one]) & set(how[other]):
            msg = f"--{one} {name} and --{other} {name} contradict each other: give one of them"
            raise ValueError(msg)
    refuse(target in how["text"], f"--text {target} is the class: leave it out, or --target")
    groups = how.get("groups")
    check_groups(groups, target, how)
    named = [name for name in (target, groups) if name]
    wanted = [*how["ignore"], *how["use"], *numbers, *words, *named]
    known = {"text": words, "numbers": numbers, "missing": how["missing"]}
    if room is not None and (engine is not None or room.reads_in_parts(files)):
        known |= {"in_parts": True, "folder": room.cache.folder}
    with open_table(files, how, engine, wanted=wanted, **known) as table:
        _check_names(table, wanted)
        kinds = table.kinds | dict.fromkeys(numbers, "number") | dict.fromkeys(words, "text")
        try:
            asked = table if kinds == table.kinds else table.read_as(kinds)
        except TableError as error:
            msg = f"{error}, or say with --missing what stands for nothing, or --category for text"
            raise TableError(msg) from None
        yield asked


def _labelled(
    table: Table, target: str | None, how: Mapping[str, Any], room: Room | None = None
) -> LabelledTable:
    groups = how.get("groups")
    if groups:
        refuse_matrix(table, groups)
    ignored = [*how["ignore"], *([groups] if groups else [])]
    found = labelled_table(table, target, ignored, how["use"], how["category"], how["text"], room)
    if groups:
        of = group_numbers(table, groups, found.known)
        found = replace(found, grouped_by=groups, group_of=of)
    return replace(found, missing=tuple(how["missing"]))


def labelled_table(
    table: Table,
    target: str | None,
    ignored: Sequence[str] = (),
    wanted: Sequence[str] = (),
    as_they_stand: Sequence[str] = (),
    free: Sequence[str] = (),
    room: Room | None = None,
) -> LabelledTable:
    """The classes and the columns to learn from; what was done unasked goes into the notes."""
    left_out = set(ignored)
    _check_names(table, [*ignored, *wanted, *([target] if target else [])])
    if target is None:
        left = [name for name in table.names if name not in (*ignored, *free)]
        left = left or list(table.names)
        target, labels, empty = find_target(table, left, as_they_stand)
        left_out |= set(empty)
    else:
        labels = read_labels(table, target, as_it_stands=target in as_they_stand)
    # Classes are called as they are written, whether or not that is a number.
    notes = list(table.notes_besides(target if target in table.written else None)) + labels.notes
    features = [name for name in table.names if name != target and name not in left_out]
    lost = [note.rstrip(".") for note in table.notes if "left out" in note]
    why = f" ({'; '.join(lost)})" if lost else ""
    none = f"{table.path} has no column to learn from beside {target!r}{why}: give more columns"
    refuse(not features, none)
    known = labels.known
    exact, own = (*as_they_stand, *free), dict[str, Any]()
    if isinstance(table, TableOnWorkers):
        found, parted, several = far_columns(table, features, known, exact)
        columns: dict[str, Any] = dict(found)
        own = {"parted": parted}
    else:
        columns = columns_in(room, table, features, known)
    if not known.all():
        notes.append(f"{count(int((~known).sum()), 'row')} without a class left out")
    if isinstance(table, TableOnWorkers):
        notes += _spelled(several)
        assert room is not None
        cache: Any = room.cache
    else:
        notes += _spelled(_merge_spellings(columns, exact, room))
        cache, told = room_for(room, Path(table.path).name, columns, free)
        notes += told
    made: Any = ClusteredTable if own else LabelledTable
    return made(  # type: ignore[no-any-return]
        file=Path(table.path).name,
        names=list(table.names),
        target=target,
        columns=columns,
        classes=labels.classes,
        label=labels.label,
        notes=notes,
        has_header=table.has_header,
        known=known,
        ignores=bool(ignored),
        dates=table.dates,
        decimals=table.decimals,
        units=table.units,
        as_they_stand=tuple(as_they_stand),
        cache=cache,
        **own,
    )


def _check_names(table: Table, names: Sequence[str]) -> None:
    for name in names:
        if name not in table.names:
            near = suggestion(name, table.names)
            msg = f"{table.path} has no column {name!r}.{near} It has {listing(table.names, 10)}"
            msg += "" if table.has_header else " (--header if its first line has the names)"
            raise ValueError(msg)


def read_checked(
    files: Sequence[str],
    target: str | None,
    how: Mapping[str, Any],
    room: Room | None = None,
    engine: Engine | None = None,
) -> EncodedTable:
    """A table as numbers, as given: texts one-hot, numbers not scaled, for that would round."""
    with asked_table(files, target, how, room, engine) as table:
        labelled = _labelled(table, target, how, room)
    # Where all columns are constant, which no fit would use, the answer is no.
    encoder = encoder_of(labelled, standardize=False, keep_constant=True, **how_to_encode(how))
    in_numbers = encoded_table(labelled, encoder)
    labelled.notes.extend(notes_about(encoder))
    labelled.notes.extend(_notes_on_rounding(encoder, labelled.columns))
    return in_numbers


def encoded_table(table: LabelledTable, encoder: Any) -> EncodedTable:
    """A table in numbers, made by an encoder that is fitted to it."""
    if isinstance(table, ClusteredTable):
        return table.encoded(encoder)
    return EncodedTable(**vars(table), encoder=encoder, X=features_of(table, encoder))


def encoder_of(table: LabelledTable, **how: Any) -> TableEncoder | SparseEncoder:
    """What makes features of the columns of a table."""
    if is_sparse(table.columns):
        return SparseEncoder()
    return TableEncoder(**how)


# What was done to the columns -------------------------------------------------------------------


def _merge_spellings(
    columns: dict[str, Any], exact: Sequence[str], room: Room | None
) -> list[tuple[str, list[list[str]]]]:
    """Give words that mean the same one spelling, in place; in which columns there were several."""
    found, how = [], {} if room is None else {"recoded": partial(recoded, room.cache)}
    for name, cells in columns.items():
        if isinstance(cells, Texts) and name not in exact:
            columns[name], several = in_one_spelling(cells, **how)
            if several:
                found.append((name, several))
    return found


def _spelled(found: Sequence[tuple[str, list[list[str]]]]) -> list[str]:
    """Notes on columns with words in several spellings."""
    notes = []
    for name, several in found:
        told = f"{shortened(name)}: words in several spellings, taken as one"
        option = f"(--category {shortened(name)}: as they stand)"
        notes.append(f"{told}: {spellings(several)} {option}")
    rest = len(notes) - MOST_NOTES
    more = f"the same of {count(rest, 'other column')}"
    return notes[:MOST_NOTES] + [more] * (rest > 0)


def _notes_on_rounding(
    encoder: TableEncoder | SparseEncoder, columns: dict[str, NDArray[Any]]
) -> list[str]:
    """Which columns hold whole numbers that may not be what stands in the file."""
    numbers = [name for name, kind in encoder.kinds_.items() if kind == "number"]
    large = [name for name in numbers if _reaches(columns[name], 2.0**53)]
    if not large:
        return []
    return [
        f"beyond 2^53, where floats cannot hold every whole number: {listing(large)}; each number "
        "there was rounded to the nearest float, and different ones may have become the same"
    ]


def _reaches(numbers: Any, size: float) -> bool:
    """Whether some number is as large as that."""
    if isinstance(numbers, FarColumn):
        return numbers.reaches(size)
    return any(bool((np.abs(numbers[part]) >= size).any()) for part in parts(len(numbers)))
