"""Numbers as people write them: 16,455, 28.246,50, 12,34,567, $35214, 62.5%, 123-, <5, 14:30.

The same expressions serve Python and SQL (they mean the same to Python's re and to RE2), so that a
cell is read alike wherever it lies. A writing is the decimal mark, "." or ",", or "time".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from rosenblatt.array_types import Floats

POINT, COMMA, TIME = ".", ",", "time"
WRITINGS = (POINT, COMMA, TIME)
MOST_BAD = 20  # one in so many rows may hold a cell that is no number
MOST_DIFFERENT_BAD = 5  # and one in so many different cells, or one

_BLANKS = " \u00a0\u2007\u2009\u202f"
_APOSTROPHES = "'\u2019"
_MINUS = r"[\x{2212}-]"
_SIGN = r"[+\x{2212}-]"
_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|HUF|US[$]|R[$]"
_NAMES = r"kr[.]?|Fr[.]?|z\x{142}|K\x{10d}|Ft"
_MONEY = rf"(?:[$\x{{a2}}\x{{a3}}\x{{a5}}\x{{20a0}}-\x{{20bf}}]|{_CODES}|{_NAMES})"
_BOUND = r"[<>~\x{2248}\x{2264}\x{2265}]"
_SCALE = r"(?:[eE][+-]?\d+)?"


def _numeral(decimal: str) -> str:
    """A number with this decimal mark, its thousands perhaps apart, always by the same mark."""
    other, decimal = ("," if decimal == POINT else "."), f"[{decimal}]"
    marks = (f"[{other}]", f"[{_BLANKS}]", f"[{_APOSTROPHES}]")
    groups = "|".join(rf"(?:{mark}\d{{3}})+" for mark in marks)
    whole = rf"[1-9]\d{{0,2}}(?:{groups})|\d+"
    if other == ",":  # in India: lakhs and crores
        whole = rf"[1-9]\d?(?:,\d\d)+,\d{{3}}|{whole}"
    return rf"(?:(?:{whole})(?:{decimal}\d*)?|{decimal}\d+){_SCALE}"


def _written(decimal: str) -> str:
    blank = f"[{_BLANKS}]?"
    lead = rf"(?:{_SIGN}?(?:{_MONEY}{blank})?|{_MONEY}{blank}{_SIGN})"
    after = rf"(?:{blank}(?:%|{_MONEY}))?"
    return rf"(?:{_BOUND}=?{blank})?[(]?{lead}({_numeral(decimal)}){after}[)]?{_MINUS}?"


PATTERNS = {decimal: _written(decimal) for decimal in (POINT, COMMA)}
PATTERNS[TIME] = (
    rf"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d(?:[.]\d+)?))?(?:[{_BLANKS}]?([AaPp])[.]?[Mm][.]?)?"
)
_NEGATIVE = rf"^[^\d]*[(\x{{2212}}-]|{_MINUS}$"
_TWICE = rf"^[^\d]*[(+\x{{2212}}-].*{_MINUS}$"  # signs before and behind
_MARKS = {POINT: f"[{_BLANKS}{_APOSTROPHES},]", COMMA: f"[{_BLANKS}{_APOSTROPHES}.]"}
# What a cell has beside its digits, for a note.
SIGNS = {
    "commas": r"\d,\d",
    "points": r"\d[.]\d",
    "groups": rf"\d[{_BLANKS}{_APOSTROPHES}]\d",
    "money": _MONEY,
    "percent": "%",
    "parentheses": "[(]",
    "minus": f"{_MINUS}$",
    "bounds": f"^{_BOUND}",
}


def _compiled(pattern: str) -> re.Pattern[str]:
    spelled = re.sub(r"\\x\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), pattern)
    return re.compile(spelled, re.ASCII)


_RE = {writing: _compiled(pattern) for writing, pattern in PATTERNS.items()}
_RE_NEGATIVE = _compiled(_NEGATIVE)
_RE_MARKS = {decimal: _compiled(marks) for decimal, marks in _MARKS.items()}
_RE_TWICE = _compiled(_TWICE)


# In Python ---------------------------------------------------------------------------------------


def is_written(cell: str) -> bool:
    """Whether a cell is a number in some writing."""
    return any(map(str.isdigit, cell)) and any(matches(cell, writing) for writing in WRITINGS)


def matches(cell: str, writing: str) -> bool:
    """Whether a cell is a number in this writing."""
    return _found(cell, writing) is not None


def _found(cell: str, writing: str) -> re.Match[str] | None:
    found = _RE[writing].fullmatch(cell)
    balanced = cell.count("(") == cell.count(")") and not _RE_TWICE.search(cell)
    return found if balanced else None


def value_of(cell: str, writing: str) -> float | None:
    """The number that a cell is in this writing, None if it is none."""
    found = _found(cell, writing)
    if found is None:
        return None
    if writing == TIME:
        hours, minutes, seconds, half = found.groups()
        hour = int(hours) if half is None else int(hours) % 12 + 12 * (half in "pP")
        return hour + int(minutes) / 60 + float(seconds or 0) / 3600
    digits = _RE_MARKS[writing].sub("", found[1]).replace(writing, ".")
    return -float(digits) if _RE_NEGATIVE.search(cell) else float(digits)


_THREE_DIGITS = re.compile(r"[+-]?[1-9]\d{0,2}[.]\d{3}", re.ASCII)
_THREE_AT_MOST = re.compile(r"[+-]?\d{1,3}", re.ASCII)


def have_decimal_commas(cells: Collection[str]) -> bool:
    """Whether cells are numbers with a decimal comma and can be nothing else, such as 1,5."""
    if not all(matches(cell, COMMA) for cell in cells):
        return False
    return any(COMMA in cell and not matches(cell, POINT) for cell in cells)


def have_three_digits(cells: Collection[str]) -> bool:
    """Whether plain numbers have three digits after the point or none, and some have them."""
    if not all(_THREE_DIGITS.fullmatch(cell) or _THREE_AT_MOST.fullmatch(cell) for cell in cells):
        return False
    return any(map(_THREE_DIGITS.fullmatch, cells))


def look_like_thousands(cells: Collection[str]) -> bool:
    """Whether numbers have three digits after the point or none, some of them either: 361, 28.246.

    Then the points may separate thousands.
    """
    return have_three_digits(cells) and any(map(_THREE_AT_MOST.fullmatch, cells))


def may_be_thousands(numbers: Floats) -> bool:
    """Whether numbers whose texts are not all known look so, too."""
    sizes = np.abs(numbers[~np.isnan(numbers)])
    broken = sizes[sizes != np.floor(sizes)]
    near = np.abs(broken * 1000 - np.rint(broken * 1000)) < 1e-6
    return bool((sizes < 1000).all() and (broken > 1).all() and near.all())


# The same in SQL ---------------------------------------------------------------------------------


def quoted_pattern(pattern: str) -> str:
    """A pattern as an SQL string."""
    return "'" + pattern.replace("'", "''") + "'"


def matches_sql(cell: str, writing: str) -> str:
    """The SQL of whether a cell is a number in this writing."""
    balanced = f"contains({cell}, '(') = contains({cell}, ')')"
    balanced += f" AND NOT regexp_matches({cell}, {quoted_pattern(_TWICE)})"
    return f"(regexp_full_match({cell}, {quoted_pattern(PATTERNS[writing])}) AND {balanced})"


def value_sql(cell: str, writing: str) -> str:
    """The SQL of a cell as a number in this writing; NULL where it is none."""
    pattern = quoted_pattern(PATTERNS[writing])
    if writing == TIME:
        hours, minutes, seconds, half = (
            f"regexp_extract({cell}, {pattern}, {k})" for k in range(1, 5)
        )
        hour = f"CAST({hours} AS DOUBLE)"
        of_half = f"{hour} % 12 + CASE WHEN lower({half}) = 'p' THEN 12 ELSE 0 END"
        hour = f"CASE WHEN {half} = '' THEN {hour} ELSE {of_half} END"
        part = f"COALESCE(TRY_CAST({seconds} AS DOUBLE), 0) / 3600"
        value = f"{hour} + CAST({minutes} AS DOUBLE) / 60 + {part}"
    else:
        digits = f"regexp_extract({cell}, {pattern}, 1)"
        digits = f"regexp_replace({digits}, {quoted_pattern(_MARKS[writing])}, '', 'g')"
        number = f"TRY_CAST(replace({digits}, '{writing}', '.') AS DOUBLE)"
        negative = f"regexp_matches({cell}, {quoted_pattern(_NEGATIVE)})"
        value = f"CASE WHEN {negative} THEN -{number} ELSE {number} END"
    return f"CASE WHEN {matches_sql(cell, writing)} THEN {value} END"


def may_be_thousands_sql(value: str) -> str:
    """The SQL of what `may_be_thousands` asks of each number."""
    whole = f"{value} = floor({value})"
    near = f"abs({value} * 1000 - round({value} * 1000)) < 1e-6"
    return f"abs({value}) < 1000 AND ({whole} OR (abs({value}) > 1 AND {near}))"


# Units behind numbers ----------------------------------------------------------------------------

_LETTER = (
    r"A-Za-z\x{b0}\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{24f}\x{370}-\x{4ff}"
    r"\x{3040}-\x{30ff}\x{4e00}-\x{9fff}\x{ac00}-\x{d7a3}"
)
_UNIT = rf"[{_LETTER}][{_LETTER}0-9\x{{b2}}\x{{b3}}\x{{b7}}/^*.-]{{0,19}}"
_NUMERALS = "|".join(_numeral(decimal) for decimal in (POINT, COMMA))
_WITH_UNIT = rf"{_SIGN}?(?:{_NUMERALS})[{_BLANKS}]?({_UNIT})"
_PLURAL = "^(.{3,})s$"  # years, pieces; but lbs and ms are themselves
_RE_WITH_UNIT = _compiled(_WITH_UNIT)


def has_unit(cell: str) -> bool:
    """Whether a cell is a number with some word behind it: 62 kg."""
    return cell[:1] in "+-\u2212.,0123456789" and bool(_RE_WITH_UNIT.fullmatch(cell))


def unit_sql(cell: str) -> str:
    """The SQL of the word behind a number, without the s of several; NULL if there is none."""
    unit = f"regexp_extract({cell}, {quoted_pattern(f'^{_WITH_UNIT}$')}, 1)"
    return f"nullif(regexp_replace({unit}, '{_PLURAL}', '\\1'), '')"


def without_unit_sql(cell: str, unit: str) -> str:
    """The SQL of a cell without this unit behind it."""
    several = "s?" if re.fullmatch(".{3,}", unit) else ""
    behind = rf"(\d[.,]?)[{_BLANKS}]?{re.escape(unit)}{several}$"
    return f"regexp_replace({cell}, {quoted_pattern(behind)}, '\\1')"


# Which writing a column has ----------------------------------------------------------------------


class Told(NamedTuple):
    """What somebody said of a column, or how it was when a model was trained."""

    decimal: str = ""
    certainly: bool = False  # about the decimal mark
    unit: str = ""
    order: int = 0  # of dates


NOBODY = Told()


def chosen(counts: dict[str, int], expected: int, told: Told, comma_rather: bool) -> str:
    """The writing in which most cells are numbers.

    Where commas may be either (16,455), they are decimal commas if told so, or if other columns,
    or semicolons between the columns, make that the rather likely reading.
    """
    if told.certainly:
        counts = {writing: n for writing, n in counts.items() if writing in (told.decimal, TIME)}
    elif told.decimal and counts[told.decimal] == expected:
        return told.decimal
    order = (COMMA, POINT, TIME) if comma_rather else WRITINGS
    return max((w for w in order if w in counts), key=lambda writing: counts[writing])
