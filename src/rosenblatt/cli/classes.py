"""Which column holds the classes, and which they are.

A column is judged by its different cells and how often each is there: there may be very many rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.report.sentences import listing, shortened
from rosenblatt.tables.cells import truth_in_one_way
from rosenblatt.tables.spellings import in_one_spelling, same_spellings
from rosenblatt.tables.table import Table
from rosenblatt.tables.texts import MISSING_CODE, PIECE, Texts, counted
from rosenblatt.visible import count

MOST_CLASSES = 100  # unless asked for
FEW_CLASSES = 20
MOST_WHOLE = 2.0**53  # above, floats are not what stands in the file
CLASS_NAMES = ("target", "class", "label", "y")
EMPTY, ONE_CLASS = "is empty", "holds only one class"


class NoClassesError(ValueError):
    """A column that cannot be the classes; `what` is wrong with it, in a few words."""

    def __init__(self, message: str, what: str) -> None:
        super().__init__(message)
        self.what = what


class Labels(NamedTuple):
    """The classes in order, the number of each row's that has one, which these are, and notes."""

    classes: NDArray[Any]
    label: NDArray[np.int32]
    known: NDArray[np.bool_]
    notes: list[str]


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
    kind = table.kinds[target]
    if kind in ("date", "sparse"):
        holds = "holds dates" if kind == "date" else "holds all features"
        msg = f"column {target!r} {holds}: choose a column of classes with --target"
        raise NoClassesError(msg, holds)
    cells = different(_column(table, target))
    n_cells = int(cells.counts.sum())
    if not n_cells:
        msg = f"column {target!r} has no classes, every cell is missing: choose another --target"
        raise NoClassesError(msg, EMPTY)
    notes = list[str]()
    if kind != "number":
        cells, notes = _words(cells, target, as_it_stands)
    values = cells.values
    whole = kind == "number" and bool((values == np.floor(values)).all())
    whole = whole and bool(np.abs(values).max() < MOST_WHOLE)
    if len(values) == 1:
        only = f"{values[0]:g}" if isinstance(values[0], float) else repr(str(values[0]))
        msg = (
            f"column {target!r} holds only one class, {only}: "
            "a classifier needs rows of at least two; choose another column with --target"
        )
        raise NoClassesError(msg, ONE_CLASS)
    # Numbers that hardly ever come twice are measurements, whoever asks for them.
    few = 0.5 * n_cells if guessed or (whole and len(values) > most) else n_cells - 1
    fraction = kind == "number" and not whole and len(values) > FEW_CLASSES
    if fraction or (guessed and len(values) > most) or len(values) > max(2, few):
        raise _no_classes(target, kind, len(values), n_cells, guessed)
    if target in table.written:
        cells, notes = _as_written(cells, _column(table.read_as({target: "text"}), target))
    elif kind == "number":
        cells = cells._replace(values=values.astype(np.int64) if whole else _in_digits(values))
    return _labels(cells, notes)


def _column(table: Table, name: str) -> Any:
    """A column of a table; of texts in a database no copy of each is made."""
    if table.is_held or table.kinds[name] != "text":
        return table.columns([name])[name]
    return Texts.joined([block[name] for _, block in table.blocks([name])])  # type: ignore[misc]


# Different cells --------------------------------------------------------------------------------


class Different(NamedTuple):
    """The different cells of a column, in how many rows each stands, and the codes of all rows.

    A missing cell has the code -1.
    """

    values: NDArray[Any]
    counts: NDArray[np.int64]
    codes: NDArray[np.int32]


def different(column: NDArray[Any] | Texts) -> Different:
    """The different cells of a column of texts or numbers; every one of them stands in a row."""
    if isinstance(column, Texts):
        return _merged(column.codes, column.values)
    values = _different_numbers(column)
    codes = np.empty(len(column), np.int32)
    for part in parts(len(column)):
        numbers = column[part]
        found = np.searchsorted(values, numbers)
        codes[part] = np.where(np.isnan(numbers), MISSING_CODE, found)
    return Different(values, counted(codes, len(values)), codes)


def parts(n: int) -> Iterator[slice]:
    """So many cells, some at a time."""
    return (slice(a, min(a + PIECE, n)) for a in range(0, n, PIECE))


def _different_numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    """The different numbers of a column, in order."""
    values, found, waiting = np.empty(0), list[NDArray[np.float64]](), 0
    for part in parts(len(column)):
        numbers = np.unique(column[part])
        found.append(numbers[~np.isnan(numbers)] + 0.0)  # 0, not -0
        waiting += len(found[-1])
        if waiting > len(values):  # else merging would take longer than sorting
            values, found, waiting = np.unique(np.concatenate([values, *found])), [], 0
    return np.unique(np.concatenate([values, *found]))


def _merged(codes: NDArray[np.int32], names: Sequence[Any] | NDArray[Any]) -> Different:
    """The cells of a column by a name for each code; codes that have one name become one.

    Names that stand in no row are left out.
    """
    there = counted(codes, len(names)) > 0
    used = dict.fromkeys(name for name, is_there in zip(names, there, strict=True) if is_there)
    place = {name: k for k, name in enumerate(used)}
    of_code = np.array([*(place.get(name, MISSING_CODE) for name in names), MISSING_CODE], np.int32)
    values = np.empty(len(used), dtype=object)
    values[:] = list(used)
    new = np.empty(len(codes), np.int32)
    for part in parts(len(codes)):
        new[part] = of_code[codes[part]]
    return Different(values, counted(new, len(values)), new)


def _labels(cells: Different, notes: list[str]) -> Labels:
    """The classes in order, by cells that are called as the classes are."""
    names = cells.values if cells.values.dtype.kind in "iu" else cells.values.astype(str)
    classes, rank = np.unique(names, return_inverse=True)
    known, label = cells.codes >= 0, np.empty(int(cells.counts.sum()), np.int32)
    filled, rank = 0, rank.astype(np.int32)
    for part in parts(len(known)):
        some = rank[cells.codes[part][known[part]]]
        label[filled : filled + len(some)] = some
        filled += len(some)
    return Labels(classes, label, known, notes)


# How classes are called -------------------------------------------------------------------------


def _words(cells: Different, target: str, as_it_stands: bool) -> tuple[Different, list[str]]:
    """Classes in one spelling each, the most frequent: Yes, YES and yes are the same."""
    cells = _merged(cells.codes, truth_in_one_way(cells.values))
    texts, several = in_one_spelling(Texts(cells.values, cells.codes))
    if as_it_stands or not several:
        return cells, []
    note = f"classes in several spellings, taken as one: {spellings(several)}"
    note += f" (--category {shortened(target)}: as they stand)"
    return _merged(texts.codes, texts.values), [note]


def _in_digits(values: NDArray[np.float64]) -> NDArray[np.str_]:
    """Classes that are numbers in few digits, or in as many as it takes to tell them apart."""
    short = [f"{value:g}" for value in values.tolist()]
    return np.array(short if len(set(short)) == len(short) else list(map(repr, values.tolist())))


def _as_written(numbers: Different, texts: Any) -> tuple[Different, list[str]]:
    """Classes that are numbers as they are written, such as $10: each in one spelling."""
    meant, counts = np.full(len(texts.values) + 1, MISSING_CODE), np.zeros(len(texts.values))
    for part in parts(len(numbers.codes)):
        here = numbers.codes[part] >= 0  # a text may be no number, and its row without a class
        meant[texts.codes[part][here]] = numbers.codes[part][here]
        counts += np.bincount(texts.codes[part][here], minlength=len(counts))
    each = zip(meant[:-1].tolist(), texts.values, counts.astype(int).tolist(), strict=True)
    groups = same_spellings(one for one in each if one[2])
    one = {text: group[0] for group in groups for text in group}
    several = [group for group in groups if len(group) > 1]
    note = f"classes in several spellings, taken as one: {spellings(several)}"
    called = {int(k): one[text] for k, text in zip(meant[:-1], texts.values, strict=True) if k >= 0}
    names = [called[k] for k in range(len(numbers.values))]
    return _merged(numbers.codes, names), [note] * bool(several)


def spellings(several: Sequence[Sequence[str]]) -> str:
    """Words in several spellings, those that are taken as one together."""
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
