"""What is said about how the cells of columns were read, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rosenblatt.tables.columns import noted
from rosenblatt.tables.written_dates import DAY_FIRST, MONTH_FIRST, YEAR_FIRST
from rosenblatt.tables.written_numbers import COMMA, POINT, TIME

CODES = "is read as text: it holds codes that begin with 0"
COMMAS = "is read as numbers with a decimal comma"
EITHER_COMMAS = f"{COMMAS} (--decimal . if it separates thousands)"
BOTH = f"{COMMAS} and thousands separators"
FOR_TEXT = "(--category for text)"
GROUPS = f"is read as numbers with thousands separators {FOR_TEXT}"
EITHER_GROUPS = "is read as numbers with thousands separators (--decimal , for decimal commas)"
MONEY = f"is read as numbers, without the signs of money {FOR_TEXT}"
PERCENT = f"is read as numbers, 62.5% as 62.5 {FOR_TEXT}"
PARENTHESES = f"is read as numbers, (5) as -5 {FOR_TEXT}"
MINUS = f"is read as numbers, 5- as -5 {FOR_TEXT}"
BOUNDS = f"is read as numbers, <5 and >5 as 5 {FOR_TEXT}"
TIMES = f"is read as times of day, in hours {FOR_TEXT}"
ORDERS = {
    DAY_FIRST: "is read as dates, day before month",
    MONTH_FIRST: "is read as dates, month before day",
    YEAR_FIRST: "is read as dates, year before month and day",
}
OPEN_ORDER = (
    "is read as text: in its dates the day or the month may come first (--dates dmy or mdy)"
)
MAY_BE_THOUSANDS = (
    "is read as numbers with three digits after the point or none (--decimal , if the points "
    "separate thousands)"
)
WORDINGS = (
    *(CODES, COMMAS, EITHER_COMMAS, BOTH, GROUPS, EITHER_GROUPS, MONEY, PERCENT, PARENTHESES),
    *(MINUS, BOUNDS, TIMES, *ORDERS.values(), OPEN_ORDER, MAY_BE_THOUSANDS),
)


class BadCell(NamedTuple):
    """A cell that is not what its column holds: its first row and in how many rows it stands."""

    text: str
    row: int
    n_rows: int


class Remark(NamedTuple):
    """What is said about some columns; about cells that are missing now, of one."""

    names: list[str]
    wording: str
    of_cells: bool = False

    def sentences(self, besides: str | None = None) -> list[str]:
        """As a note; nothing if it is only about how the cells of the column `besides` are read."""
        if self.of_cells:
            return [self.wording]
        return noted([name for name in self.names if name != besides], self.wording)


class Remarks:
    """Remarks that come column by column; those that share a wording are told together."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}
        self._of_cells: list[Remark] = []

    def add(self, wording: str, name: str) -> None:
        """Say this of a column."""
        self._names.setdefault(wording, []).append(name)

    def add_bad_cells(self, name: str, bad: Sequence[BadCell], n_present: int) -> None:
        """Say which cells of a column of numbers are none."""
        about = about_bad_cells(name, bad, n_present)
        self._of_cells.append(Remark([name], f"{about} {FOR_TEXT}.", of_cells=True))

    def all(self) -> list[Remark]:
        """What was said, in the order of the wordings."""
        known = [wording for wording in WORDINGS if wording in self._names]
        others = [wording for wording in self._names if wording not in WORDINGS]
        told = [Remark(self._names[wording], wording) for wording in known + others]
        return told + self._of_cells


def without_unit(unit: str) -> str:
    """What is said of numbers that all have the same unit behind them."""
    return f"is read as numbers, without the unit {unit} {FOR_TEXT}"


def wordings(writing: str, signs: dict[str, bool], either: bool) -> list[str]:
    """What was assumed about the numbers of a column; `either` mark could be the decimal mark."""
    if writing == TIME:
        return [TIMES]
    said = []
    grouped = signs["groups"] or signs["points" if writing == COMMA else "commas"]
    if writing == COMMA and signs["commas"]:
        said.append(BOTH if grouped else EITHER_COMMAS if either else COMMAS)
    elif grouped:
        said.append(EITHER_GROUPS if either and signs["commas"] != signs["points"] else GROUPS)
    if writing == POINT and signs["points"] and not signs["commas"] and either:
        said.append(MAY_BE_THOUSANDS)
    named = {"money": MONEY, "percent": PERCENT, "parentheses": PARENTHESES}
    named |= {"minus": MINUS, "bounds": BOUNDS}
    return said + [wording for sign, wording in named.items() if signs[sign]]


def about_bad_cells(name: str, bad: Sequence[BadCell], n_present: int, kind: str = "number") -> str:
    """That cells of a column are not what it holds, and count as missing."""
    n = sum(cell.n_rows for cell in bad)
    subject = f"One of {n_present} cells" if n == 1 else f"{n} of {n_present} cells"
    subject = "The only cell" if n_present == 1 else subject
    are = f"is no {kind}" if n == 1 else f"are no {kind}s"
    return f"{subject} of column {name!r} {are}, taken as missing: {listed(bad)}"


def listed(bad: Sequence[BadCell]) -> str:
    """The first few cells that are not what their column holds, and where they stand."""
    shown = [f"{brief(cell.text)!r} in data row {cell.row + 1}" for cell in bad[:3]]
    return ", ".join(shown) + ", ..." * (len(bad) > 3)


def brief(text: str) -> str:
    """A text that is not too long for a message."""
    return text if len(text) <= 40 else f"{text[:37]}..."
