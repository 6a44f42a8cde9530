"""From a file to what is to be learned: the classes and the columns."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli.grouping import check_groups, group_numbers, refuse_matrix
from rosenblatt.cli.options import READING, how_to_encode, refuse
from rosenblatt.report.encoding_notes import notes_about
from rosenblatt.report.fits import EncodedTable, LabelledTable
from rosenblatt.report.sentences import listing, shortened, suggestion
from rosenblatt.tables.cells import missing, truth_in_one_way
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.sparse_features import SparseEncoder, is_sparse
from rosenblatt.tables.spellings import in_one_spelling, same_spellings
from rosenblatt.tables.storage import ForPythonError, TableError
from rosenblatt.tables.table import Table, read_table
from rosenblatt.tables.texts import Texts
from rosenblatt.visible import count

MOST_CLASSES = 100  # unless asked for
FEW_CLASSES = 20
MOST_WHOLE = 2.0**53  # above, floats are not what stands in the file
MOST_NOTES = 5  # on columns that were treated alike
CLASS_NAMES = ("target", "class", "label", "y")
EMPTY, ONE_CLASS = "is empty", "holds only one class"


class NoClassesError(ValueError):
    """A column that cannot be the classes; `what` is wrong with it, in a few words."""

    def __init__(self, message: str, what: str) -> None:
        super().__init__(message)
        self.what = what


class Labels(NamedTuple):
    """The class of each row that has one, which rows these are, and what is worth a note."""

    y: NDArray[Any]
    known: NDArray[np.bool_]
    notes: list[str]


def open_table(files: Sequence[str], how: Mapping[str, Any], **more: Any) -> Table:
    """The table in these files, or in the answer to a query."""
    options: dict[str, Any] = {name: how.get(name) for name in READING}
    options["skip_bad_lines"] = bool(options["skip_bad_lines"])
    for name in ("decimal", "dates"):  # as an option says, or as a model knows it
        options[name] = options[name] or more.pop(name, None)
    return read_table(list(files) or None, **options | more)


def read_file(
    files: Sequence[str], target: str | None, estimator: type, how: Mapping[str, Any]
) -> LabelledTable:
    """What a table is about; `estimator` is what an error advises to use from Python instead."""
    try:
        with asked_table(files, target, how) as table:
            return _labelled(table, target, how)
    except ForPythonError as error:
        error.estimator = estimator.__name__
        raise


@contextmanager
def asked_table(
    files: Sequence[str], target: str | None, how: Mapping[str, Any]
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
    with open_table(files, how, wanted=wanted, **known) as table:
        _check_names(table, wanted)
        kinds = table.kinds | dict.fromkeys(numbers, "number") | dict.fromkeys(words, "text")
        try:
            asked = table if kinds == table.kinds else table.read_as(kinds)
        except TableError as error:
            msg = f"{error}, or say with --missing what stands for nothing, or --category for text"
            raise TableError(msg) from None
        yield asked


def _labelled(table: Table, target: str | None, how: Mapping[str, Any]) -> LabelledTable:
    groups = how.get("groups")
    if groups:
        refuse_matrix(table, groups)
    ignored = [*how["ignore"], *([groups] if groups else [])]
    found = labelled_table(table, target, ignored, how["use"], how["category"], how["text"])
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
    y, known, _ = labels
    columns = table.columns(features)
    if not known.all():
        columns = {name: cells[known] for name, cells in columns.items()}
        notes.append(f"{count(int((~known).sum()), 'row')} without a class left out")
    notes += _merge_spellings(columns, (*as_they_stand, *free))
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
        dates=table.dates,
        decimals=table.decimals,
        units=table.units,
        as_they_stand=tuple(as_they_stand),
    )


def _check_names(table: Table, names: Sequence[str]) -> None:
    for name in names:
        if name not in table.names:
            near = suggestion(name, table.names)
            msg = f"{table.path} has no column {name!r}.{near} It has {listing(table.names, 10)}"
            msg += "" if table.has_header else " (--header if its first line has the names)"
            raise ValueError(msg)


def read_checked(files: Sequence[str], target: str | None, how: Mapping[str, Any]) -> EncodedTable:
    """A table as numbers, as given: texts one-hot, numbers not scaled, for that would round."""
    with asked_table(files, target, how) as table:
        labelled = _labelled(table, target, how)
    # Where all columns are constant, which no fit would use, the answer is no.
    encoder = encoder_of(labelled, standardize=False, keep_constant=True, **how_to_encode(how))
    X = encoder.fit_transform(labelled.columns)
    labelled.notes.extend(notes_about(encoder))
    labelled.notes.extend(_notes_on_rounding(encoder, labelled.columns))
    return EncodedTable(**vars(labelled), encoder=encoder, X=X)


def encoder_of(table: LabelledTable, **how: Any) -> TableEncoder | SparseEncoder:
    """What makes features of the columns of a table."""
    if is_sparse(table.columns):
        return SparseEncoder()
    return TableEncoder(**how)


# The classes ------------------------------------------------------------------------------------


def find_target(
    table: Table, left: Sequence[str], as_they_stand: Sequence[str]
) -> tuple[str, Labels, list[str]]:
    """The column to take for the classes where nobody said which, and empty ones behind it.

    The last one; if it cannot be, one whose name says so, or the first. Lines that end in a
    delimiter have an empty cell more, which is no column.
    """

    def labels_of(name: str, most: int = MOST_CLASSES) -> Labels:
        exact = name in as_they_stand
        return read_labels(table, name, most=most, guessed=True, as_it_stands=exact)

    empty: list[str] = []
    for last in reversed(left):
        try:
            found = labels_of(last)
        except NoClassesError as error:
            if error.what == EMPTY and len(left) > len(empty) + 2:
                empty.append(last)
                continue
            refused = error
            break
        where = "the last column" if left[-1] == table.names[-1] else "the last of the others"
        where = "the last column that is not empty" if empty else where
        told = f"{shortened(last)}, {where}, is taken as the class (--target for another)"
        told += f"; left out, for it is empty: {listing(empty)}" * bool(empty)
        guessed = [] if "sparse" in table.kinds.values() else [told]  # whose format has labels
        return last, found._replace(notes=[*guessed, *found.notes]), empty
    named = [name for name in left if name.lower() in CLASS_NAMES and name != last]
    others = [] if refused.what == ONE_CLASS else left[:1]  # too few rows are no reason to look
    for name in [*named, *others]:
        with contextlib.suppress(NoClassesError):
            found = labels_of(name, MOST_CLASSES if name in named else FEW_CLASSES)
            told = (
                f"{shortened(name)} is taken as the class, for {shortened(last)}, the last column, "
                f"{refused.what} (--target for another)"
            )
            return name, found._replace(notes=[told, *found.notes]), empty
    raise refused


def read_labels(
    table: Table,
    target: str,
    *,
    most: int = MOST_CLASSES,
    guessed: bool = False,
    as_it_stands: bool = False,
) -> Labels:
    """The class of each row that has one; at most so many classes if the column was guessed."""
    kind, cells = table.kinds[target], table[target]
    if kind == "date":
        msg = f"column {target!r} holds dates: choose a column of classes with --target"
        raise NoClassesError(msg, "holds dates")
    known = ~missing(cells)
    cells = cells[known]
    if not cells.size:
        msg = f"column {target!r} has no classes, every cell is missing: choose another --target"
        raise NoClassesError(msg, EMPTY)
    notes = list[str]()
    if kind != "number":
        cells, notes = _words(cells, target, as_it_stands)
    values = np.unique(cells)
    whole = kind == "number" and bool((cells == np.floor(cells)).all())
    whole = whole and bool(np.abs(cells).max() < MOST_WHOLE)
    if len(values) == 1:
        only = f"{values[0]:g}" if isinstance(values[0], float) else repr(str(values[0]))
        msg = (
            f"column {target!r} holds only one class, {only}: "
            "a classifier needs rows of at least two; choose another column with --target"
        )
        raise NoClassesError(msg, ONE_CLASS)
    # Numbers that hardly ever come twice are measurements, whoever asks for them.
    few = 0.5 * len(cells) if guessed or (whole and len(values) > most) else len(cells) - 1
    fraction = kind == "number" and not whole and len(values) > FEW_CLASSES
    if fraction or (guessed and len(values) > most) or len(values) > max(2, few):
        raise _no_classes(target, kind, len(values), len(cells), guessed)
    if target in table.written:
        texts = table.read_as({target: "text"})[target][known]
        labels, notes = _as_written(cells, texts)
        return Labels(labels, known, notes)
    if kind == "number":
        return Labels(cells.astype(np.int64) if whole else _in_digits(cells), known, notes)
    return Labels(cells.astype(str), known, notes)


def _words(cells: NDArray[Any], target: str, as_it_stands: bool) -> tuple[NDArray[Any], list[str]]:
    """Classes in one spelling each, the most frequent: Yes, YES and yes are the same."""
    cells = truth_in_one_way(cells)
    texts, several = in_one_spelling(Texts.of(cells))
    if as_it_stands or not several:
        return cells, []
    note = f"classes in several spellings, taken as one: {_spellings(several)}"
    return texts.texts(), [f"{note} (--category {shortened(target)}: as they stand)"]


def _in_digits(numbers: NDArray[np.float64]) -> NDArray[np.str_]:
    """Classes that are numbers in few digits, or in as many as it takes to tell them apart."""
    values, codes = np.unique(numbers, return_inverse=True)
    short = [f"{value:g}" for value in values.tolist()]
    short = short if len(set(short)) == len(short) else list(map(repr, values.tolist()))
    return np.array(short)[codes]


def _as_written(
    numbers: NDArray[np.float64], texts: NDArray[Any]
) -> tuple[NDArray[np.str_], list[str]]:
    """Classes that are numbers as they are written, such as $10: each in one spelling."""
    pairs = Counter(zip(numbers.tolist(), texts.tolist(), strict=True))
    groups = same_spellings((number, text, n) for (number, text), n in pairs.items())
    one = {text: group[0] for group in groups for text in group}
    several = [group for group in groups if len(group) > 1]
    note = f"classes in several spellings, taken as one: {_spellings(several)}"
    return np.array([one[text] for text in texts]), [note] * bool(several)


def _merge_spellings(columns: dict[str, Any], exact: Sequence[str]) -> list[str]:
    """Give words that mean the same one spelling, in place; what was done, as notes."""
    notes = []
    for name, cells in columns.items():
        if isinstance(cells, Texts) and name not in exact:
            columns[name], several = in_one_spelling(cells)
            if several:
                told = f"{shortened(name)}: words in several spellings, taken as one"
                option = f"(--category {shortened(name)}: as they stand)"
                notes.append(f"{told}: {_spellings(several)} {option}")
    rest = len(notes) - MOST_NOTES
    more = f"the same of {count(rest, 'other column')}"
    return notes[:MOST_NOTES] + [more] * (rest > 0)


def _spellings(several: Sequence[Sequence[str]]) -> str:
    told = [f"{listing(same)} as {shortened(same[0])}" for same in several]
    return "; ".join(told[:5]) + f"; and {len(told) - 5} more" * (len(told) > 5)


def _no_classes(
    target: str, kind: str, n_values: int, n_rows: int, guessed: bool
) -> NoClassesError:
    """Why a target is a measurement or a name rather than a class, and what to do."""
    number = kind == "number"
    what = "looks continuous" if number else "looks like a name or a text"
    remedy = f"Choose {'a' if guessed else 'another'} column of classes with --target"
    remedy += ", or cut this one into classes first" if number else ""
    recurring = guessed and not number and 2 * n_values <= n_rows
    remedy += f" (--target {shortened(target)} if these are the classes)" if recurring else ""
    shown = f"{n_values} different values in {count(n_rows, 'row')}"
    return NoClassesError(f"column {target!r} {what}: {shown}. {remedy}", what)


# What was done to the columns -------------------------------------------------------------------


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
