"""Dates as people write them: 2024-12-31, 31.12.2024, 12/31/24, 5 May 2024; a time may follow.

The order says which part comes first. Dates may leave it open: 03/04/2024.
"""

from __future__ import annotations

import re
from typing import NamedTuple

ISO, DAY_FIRST, MONTH_FIRST, YEAR_FIRST, NAMED = range(5)
ORDERS = {"dmy": DAY_FIRST, "mdy": MONTH_FIRST, "ymd": YEAR_FIRST}

_ISO = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}"
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_NAME = f"({'|'.join(_MONTHS)})[a-z]*[.]?"
_WEEKDAY = "(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.]?,? )?"
_YEAR, _TH = r"(\d{4}|\d{2})", "(?:st|nd|rd|th)?"
_NAMED = {  # and how to put day, month and year in the order of ISO
    rf"{_WEEKDAY}(\d{{1,2}}){_TH}[. -]{{0,2}}{_NAME}[, -]{{0,2}}{_YEAR}(?:,?( .*))?": r"\3-\2-\1\4",
    rf"{_WEEKDAY}{_NAME}[ -](\d{{1,2}}){_TH},?[ -]{_YEAR}(?:,?( .*))?": r"\3-\1-\2\4",
}
# Years of two digits, of this century up to 68, as POSIX has it.
_CENTURIES = {"20": r"([0-5]\d|6[0-8])", "19": r"(69|[7-9]\d)"}
_HALF = r"(:\d\d(?:[.]\d+)?)[ ]?([AaPp])[.]?[Mm][.]?$"

_LIKE = (
    rf"(?:{_ISO}|\d{{4}}[.][ ]?\d{{1,2}}[.][ ]?\d{{1,2}}[.]?"
    rf"|\d{{1,2}}(?:/\d{{1,2}}/|[.][ ]?\d{{1,2}}[.][ ]?|-\d{{1,2}}-)(?:\d{{4}}|\d\d)[.]?)"
    rf"(?:[Tt ].*)?|{'|'.join(_NAMED)}"
)
_RE_LIKE = re.compile(_LIKE, re.ASCII | re.IGNORECASE)


def reads_as_date(cell: str) -> bool:
    """Whether a cell looks like a date that can be read, in some order."""
    return bool(_RE_LIKE.fullmatch(cell))


def date_like(cell: str) -> str:
    """The SQL of the same."""
    return f"(strlen({cell}) < 60 AND regexp_full_match(lower({cell}), '{_LIKE}'))"


def date(cell: str, order: int = ISO) -> str:
    """The SQL of a cell as a time in UTC, NULL where it is no date of this order.

    ISO dates are dates in any order but with names of months; 'epoch' and 'infinity' are none.
    """
    if order == ISO:
        return _iso_date(cell)
    iso = _named_in_iso(cell) if order == NAMED else _in_iso(cell, order)
    # That is long, and planning takes the longer the more often it is written out: once, then.
    value = f"list_transform([{iso}], lambda d: {_iso_date('d')})[1]"
    named = f"regexp_matches({cell}, '[A-Za-z]{{3}}')"
    return f"CASE WHEN {named} THEN {value} END" if order == NAMED else value


def _iso_date(cell: str) -> str:
    looks = f"regexp_full_match({cell}, '{_ISO}([T ].*)?')"
    # By way of a time zone, since a plain timestamp would ignore an offset such as +02:00.
    bare = f"regexp_replace({cell}, '{_HALF}', '\\1')"
    time = f"CAST(TRY_CAST({bare} AS TIMESTAMPTZ) AS TIMESTAMP)"
    half = f"lower(regexp_extract({cell}, '{_HALF}', 2))"
    later = f"WHEN {half} = 'p' AND hour({time}) < 12 THEN {time} + INTERVAL 12 HOUR"
    sooner = f"WHEN {half} = 'a' AND hour({time}) = 12 THEN {time} - INTERVAL 12 HOUR"
    return f"CASE WHEN NOT {looks} THEN NULL {later} {sooner} ELSE {time} END"


def _in_iso(cell: str, order: int) -> str:
    """The SQL of a cell with its date as in ISO if it has this order."""
    if order == ISO:
        return cell
    letters = {order: name for name, order in ORDERS.items()}[order]
    iso = "-".join(f"\\{letters.index(letter) + 1}" for letter in "ymd")
    years = {r"(\d{4})": ""} | {digits: century for century, digits in _CENTURIES.items()}
    # With points the day always comes before the month.
    for mark in ("/", "-") if order == MONTH_FIRST else ("/", "-", "[.]"):
        for year, century in years.items():
            short = not century or (mark == "/" and order != YEAR_FIRST)
            part = r"(\d{1,2})" if short else r"(\d{2})"  # 3.10.12 is rather a version
            blank, end = ("[ ]?", "[.]?") if mark == "[.]" else ("", "")
            parts = (year if letter == "y" else part for letter in letters)
            pattern = f"^{f'{mark}{blank}'.join(parts)}{end}(?:$|([T ]))"
            cell = f"regexp_replace({cell}, '{pattern}', '{century}{iso}\\4')"
    return cell


def _named_in_iso(cell: str) -> str:
    """The SQL of a cell with its date as in ISO if it has the name of a month."""
    cell = f"lower({cell})"
    for pattern, iso in _NAMED.items():
        cell = f"regexp_replace({cell}, '^{pattern}$', '{iso}')"
    for number, name in enumerate(_MONTHS, 1):
        cell = f"replace({cell}, '-{name}-', '-{number}-')"
    for century, years in _CENTURIES.items():
        cell = f"regexp_replace({cell}, '^{years}-', '{century}\\1-')"
    return cell


class Orders(NamedTuple):
    """How many cells are present, and how many of these are dates in each order."""

    present: int
    iso: int
    day_first: int
    month_first: int
    year_first: int
    named: int

    def fit(self, order: int) -> bool:
        """Whether all cells are dates of this order, and not all in ISO's."""
        return self.iso < self.present == self[1 + order]

    def found(self, told: int = ISO) -> int | None:
        """The order of these dates; 0: they are ISO or none, None: it cannot be told.

        It is as told wherever it can be.
        """
        if told and self.fit(told):
            return told
        if self.fit(DAY_FIRST) and self.fit(MONTH_FIRST):
            return None
        return next((order for order in range(1, 5) if self.fit(order)), ISO)
