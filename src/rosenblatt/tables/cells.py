"""What a cell is: missing, a number, a date or words. Decided here and nowhere else.

A cell of a file is text. It is judged in Python where a file begins, to find out how the file is
written, and in SQL by the thousand; what is said here in one of the two is said beside it in the
other. A cell that comes from Python itself is an object, and so much easier to judge; `frames` has
the tables and columns that Python holds.
"""

from __future__ import annotations

import numbers
import re
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tables.written_dates import reads_as_date
from rosenblatt.tables.written_numbers import has_unit, is_written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


KINDS = ("number", "date", "text")
# Tabs and the like, and the blanks of Unicode, which are all that DuckDB's plain trim() takes.
WHITE_SPACE = "\t\n\r\v\f\ufeff \u00a0\u1680\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
MARKERS = frozenset(["", "?", "na", "n/a", "nan", "null", "#n/a"])
# The usual ways to write them, for DuckDB's reader, which takes no other case and longer for more.
USUAL_MARKERS = ("", "?", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null")
# Missing among numbers and dates, but words among words: the classes + and -, the sport none.
MARKERS_OF_VALUES = frozenset(["-", "none"])

_NUMERAL = r"[+-]?(\d+{mark}?\d*|{mark}\d+)([eE][+-]?\d+)?"
_NUMBER = re.compile(_NUMERAL.format(mark=r"\."), re.ASCII)
_INFINITE = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)
_VALUE = re.compile(_NUMERAL.format(mark="[.,]"), re.ASCII)
_MONTH = r"\d{1,2}|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE_LIKE = re.compile(
    rf"(\w+,? )?(\d{{1,4}}[./ -]{{1,2}}({_MONTH})[./, -]{{1,2}}\d{{1,4}}"
    rf"|({_MONTH}) \d{{1,2}},? \d{{4}})(,?[T ].*)?",
    re.ASCII | re.IGNORECASE,
)
_SOME = 1000  # texts tell enough
_CODES = ("00", "0:")  # in the order of characters, all that begins with 0 and a digit


# Cells of text, in Python ------------------------------------------------------------------------


def is_missing(cell: str) -> bool:
    """Whether a cell stands for nothing, whatever is around it."""
    return cell.lower() in MARKERS


def is_missing_value(cell: str) -> bool:
    """Whether a cell stands for nothing among numbers or dates."""
    return is_missing(cell) or cell.lower() in MARKERS_OF_VALUES


def is_plain_number(cell: str) -> bool:
    """Whether a cell is a finite number with a decimal point, if any, and no code like 01234."""
    return (_is_simple(cell) or bool(_NUMBER.fullmatch(cell))) and not _CODES[0] <= cell < _CODES[1]


def _is_simple(cell: str) -> bool:
    """Whether a cell is digits, perhaps with a point and a minus, which most are: told quickly."""
    return cell.isascii() and cell.removeprefix("-").replace(".", "", 1).isdigit()


def reads_as_value(cell: str) -> bool:
    """Whether a cell is a finite number, as people write them, or looks like a date."""
    plain = _is_simple(cell) or bool(_VALUE.fullmatch(cell))
    return plain or reads_as_date(cell) or is_written(cell)


def looks_like_date(cell: str) -> bool:
    """Whether a cell may be a date, even if nothing tells which: 03/04/2024, 3-4-24, 5 May 2024."""
    return bool(_DATE_LIKE.fullmatch(cell))


def mostly(test: Callable[[str], bool], texts: Sequence[str]) -> bool:
    """Whether more than half of some of these texts pass a test."""
    some = texts[:: max(1, len(texts) // _SOME)]
    return 2 * sum(map(test, some)) > len(some)


def is_certainly_text(cell: str) -> bool:
    """Whether a cell can be neither a number, however it is written, nor a date."""
    value = reads_as_value(cell) or has_unit(cell)
    return not (value or is_missing_value(cell) or _INFINITE.fullmatch(cell))


# The same in SQL ---------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """`text` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


_MARKERS = ", ".join(map(quoted, sorted(MARKERS)))
_MARKERS_OF_VALUES = ", ".join(map(quoted, sorted(MARKERS_OF_VALUES)))
_LONGEST_MARKER = max(map(len, MARKERS))
_WHITE = quoted(WHITE_SPACE)


def present(sql: str, *, padded: bool) -> str:
    """The SQL of a cell trimmed, NULL where missing.

    Only if it is padded may there be more around it than blanks, which takes longer to trim.
    """
    trimmed = f"trim({sql}, {_WHITE})" if padded else f"trim({sql})"
    marker = f"strlen({trimmed}) <= {_LONGEST_MARKER} AND lower({trimmed}) IN ({_MARKERS})"
    return f"CASE WHEN {marker} THEN NULL ELSE {trimmed} END"


def padding(sql: str) -> str:
    """The SQL of whether a cell holds white space other than blanks."""
    return f"regexp_matches({sql}, '[\\t-\\r\\x{{feff}}]')"


def missing_value(cell: str) -> str:
    """The SQL of whether a cell, present, stands for nothing among numbers and dates."""
    return f"lower({cell}) IN ({_MARKERS_OF_VALUES})"


def number(cell: str) -> str:
    """The SQL of a cell as a plain number, infinite ones too; NULL where it is none."""
    return f"CASE WHEN {_strange_number(cell)} THEN NULL ELSE TRY_CAST({cell} AS DOUBLE) END"


def _strange_number(cell: str) -> str:
    """The SQL of whether a cell is 1_000 or +-5, numbers to DuckDB alone."""
    return f"contains({cell}, '_') OR starts_with({cell}, '+-')"


def code(cell: str) -> str:
    """The SQL of whether a cell begins like the code 01234."""
    return f"({cell} >= '{_CODES[0]}' AND {cell} < '{_CODES[1]}')"


def untidy(sql: str) -> str:
    """The SQL of whether a cell that DuckDB reads as a number is not a finite plain one.

    Before all blanks, in the order of characters, come tabs and the like.
    """
    bare = f"ltrim({sql})"
    strange = f"{sql} < ' ' OR {code(bare)} OR {_strange_number(bare)}"
    return f"{strange} OR NOT isfinite(TRY_CAST({sql} AS DOUBLE))"


# Cells that are objects --------------------------------------------------------------------------


def only_texts(cells: NDArray[Any]) -> bool:
    """Whether an array holds nothing but texts and None."""
    return cells.dtype.kind == "O" and set(map(type, cells)) <= {str, NoneType}


def missing(cells: NDArray[Any], *, texts: bool | None = None) -> NDArray[np.bool_]:
    """Which cells of an array are missing: NaN, NaT, None and pandas' NA.

    `texts` may say what `only_texts` did, which takes the time.
    """
    if cells.dtype.kind != "O":
        found = cells != cells
    elif only_texts(cells) if texts is None else texts:
        found = cells == None  # noqa: E711 (cell by cell)
    else:
        found = np.fromiter(map(_is_nothing, cells), np.bool_, len(cells))
    return np.asarray(found, dtype=np.bool_)


def _is_nothing(cell: Any) -> bool:
    """None, NaN, NaT and pandas' NA, none of which is certainly equal to itself."""
    return cell is None or cell is not cell or type(cell).__name__ == "NAType" or cell != cell


def is_number(cell: Any) -> bool:
    """Whether an object is a real number; truth values are words."""
    return isinstance(cell, numbers.Real) and not isinstance(cell, bool | np.bool_)


MISSING = "(missing)"
TRUTH = {"true", "false", MISSING}


def truth_in_one_way(texts: NDArray[np.object_]) -> NDArray[np.object_]:
    """Truth values, which formats write as True, TRUE or true, all as true and false."""
    if {text.lower() for text in set(texts)} <= TRUTH:
        return np.array([text.lower() for text in texts], dtype=object)
    return texts
