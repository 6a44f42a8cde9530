"""What `TableEncoder` must know of a column, gathered block by block, one block after another.

How the rows are cut into blocks makes no difference, and one block may hold all of them. What is
kept is small: sums, and the different texts or words. What was gathered elsewhere, of the rows that
follow, is merged (`merge`), and that makes no difference either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.tables.cells import MISSING, truth_in_one_way
from rosenblatt.tables.date_parts import PartsTally
from rosenblatt.tables.exact_sums import ExactSums
from rosenblatt.tables.frames import Numbers
from rosenblatt.tables.free_text import advice_on
from rosenblatt.tables.number_loops import first_cells
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats
    from rosenblatt.tables.feature_values import Spec
    from rosenblatt.tables.frames import Cells

InTurn = Callable[[Collection[str]], list[tuple[str, int]]]

# Why a column is left out in which no rows differ. The other reasons are that it names the rows.
EMPTY = "every cell is missing"
SAME_TEXT = "the same text in every row"
SAME_NUMBER = "the same number in every row"
NUMBERS_ROWS = "it numbers the rows"

LEAST_ROWS = 20  # for a column to number them by more than chance
MOST_IDS = 1 << 21  # numbers that are looked at to see whether one is there twice
MOST_TEXTS = 1 << 18  # different texts from which on a column is left out before its end

_ID = re.compile(r"(^|[^A-Za-z])[iI][dD]$|[a-z]I[dD]$")


class NumberTally:
    """Numbers: their exact sums, and whether they number the rows."""

    def __init__(self, name: str, wanted: bool, before: int = 0) -> None:
        self._sums, self._gaps = ExactSums(), 0
        self._row_numbers = None if wanted else _RowNumbers(name, before)

    def add(self, cells: Cells) -> None:
        """Take note of some rows."""
        assert isinstance(cells.values, Numbers)
        for numbers in cells.values.pieces():
            self._note(numbers)
        self._sums.settle()

    def add_gaps(self, n: int) -> None:
        """Take note of so many rows in which nothing stands."""
        self._gaps += n
        self._row_numbers = None

    def merge(self, other: NumberTally) -> None:
        """Take note of the rows of another tally, which follow these."""
        self._sums.merge(other._sums)
        self._gaps += other._gaps
        both = self._row_numbers and other._row_numbers
        if not (both and self._row_numbers and self._row_numbers.merge(both)):
            self._row_numbers = None

    @property
    def n_missing(self) -> int:
        """How many cells are missing."""
        return self._sums.n_missing + self._gaps

    def _note(self, numbers: Floats) -> None:
        self._sums.add(numbers)
        if self._row_numbers and not self._row_numbers.add(numbers):
            self._row_numbers = None

    def spec(self, standardize: bool, constant: bool) -> Spec:
        """How to scale the numbers, or why they are left out."""
        mean, deviation = self._sums.mean, self._sums.scale
        if self._sums.same:
            if not constant:
                return {"dropped": SAME_NUMBER}
            deviation = 1.0
        elif self._row_numbers and self._row_numbers.found():
            return {"dropped": NUMBERS_ROWS}
        scale = (mean, deviation) if standardize else (0.0, 1.0)
        return {"fill": mean, "mean": scale[0], "deviation": scale[1]}


class _RowNumbers:
    """Whether a column is 1, 2, 3, ... (or from 0), or whole, unique and named like ``user_id``.

    Too long a column, in both cases, for that to be chance. Whether a number is there twice is
    seen in the first `MOST_IDS` rows; where none is, none is taken to be there twice in the others.
    So many rows came `before` the first, which another tally has seen.
    """

    def __init__(self, name: str, before: int = 0) -> None:
        self._n, self._start, self._counts = 0, 0.0, True
        self._room = max(0, MOST_IDS - before)
        self._whole = _ID.search(name.strip()) is not None
        self._kept: list[Floats] = []

    def add(self, numbers: Floats) -> bool:
        """Take note of some rows; whether the column may still number them."""
        if self._counts:
            self._start = self._start if self._n else float(numbers[0])
            self._counts = self._count_on(numbers)
        if self._whole:
            self._whole = bool((numbers == np.floor(numbers)).all())
            if self._n < self._room:
                self._kept.append(numbers[: self._room - self._n].copy())
        self._n += len(numbers)
        return self._counts or self._whole

    def merge(self, other: _RowNumbers) -> bool:
        """Take note of the rows that follow; whether the column may still number them."""
        goes_on = other._start == self._start + self._n or not self._n
        self._counts = self._counts and other._counts and goes_on
        self._start = self._start if self._n else other._start
        self._whole = self._whole and other._whole
        left = self._room - self._n
        for numbers in other._kept if self._whole else ():
            self._kept.append(numbers[: max(left, 0)])
            left -= len(numbers)
        self._n += other._n
        return self._counts or self._whole

    def _count_on(self, numbers: Floats) -> bool:
        """Whether these go on from where the others ended."""
        first = self._start + self._n
        last = first + len(numbers) - 1
        if not (numbers[0] == first and numbers[-1] == last):
            return False
        return np.array_equal(numbers, np.arange(first, last + 1))

    def found(self) -> bool:
        """Whether it numbers the rows."""
        if self._n < LEAST_ROWS:
            return False
        counts = self._counts and self._start in (0.0, 1.0)
        if counts or not self._whole:
            return counts
        return len(np.unique(kept := np.concatenate(self._kept))) == len(kept)


class DateTally(NumberTally):
    """Dates: the exact sums of their days, and what their parts become."""

    def __init__(self, name: str) -> None:
        super().__init__(name, wanted=True)
        self._name, self._parts = name, PartsTally()

    def add(self, cells: Cells) -> None:
        """Take note of some rows."""
        super().add(cells)
        self._parts.settle()

    def merge(self, other: NumberTally) -> None:
        """Take note of the rows of another tally, which follow these."""
        super().merge(other)
        assert isinstance(other, DateTally)
        self._parts.merge(other._parts)

    def _note(self, numbers: Floats) -> None:
        super()._note(numbers)
        self._parts.add(numbers)

    def spec(self, standardize: bool, constant: bool) -> Spec:
        """How to scale days and hours, which days of the week and months there are."""
        spec = super().spec(standardize, constant)
        if "dropped" not in spec:
            parts = self._parts.specs(self._name, standardize, self.n_missing > 0)
            spec |= {"parts": parts} if parts else {}
        return spec


class TextTally:
    """Texts: the different ones.

    They are all kept, for each becomes a feature; but where there are more than `MOST_TEXTS`, and
    more than half as many as cells so far, the column is left out at once: it names the rows. (So
    again whenever they have doubled.) That depends on the order of the rows, not on blocks. In a
    tally of some rows only (`partial`), to be merged, nothing is left out.
    """

    def __init__(self, wanted: bool, partial: bool = False) -> None:
        self._wanted = wanted or partial
        self._partial = partial
        self._known: dict[str, int] = {}  # of a part, the number of the cell where it first stands
        self._n, self.n_missing, self._limit = 0, 0, MOST_TEXTS
        self._dropped: str | None = None

    def add(self, cells: Cells) -> None:
        """Take note of some rows."""
        texts = cells.values
        assert isinstance(texts, Texts)
        times = texts.times()

        def in_turn(new: Collection[str]) -> list[tuple[str, int]]:
            firsts = np.full(len(texts.values), -1, dtype=np.int64)
            first_cells(texts.codes, firsts)
            order = [k for k in np.argsort(firsts, kind="stable") if texts.values[k] in new]
            return [(texts.values[k], int(firsts[k])) for k in order]

        if self._dropped is None:
            self._meet(texts.values[np.flatnonzero(times[1:])], in_turn)
        self.n_missing += int(times[0])
        self._n += len(texts) - int(times[0])

    def merge(self, other: TextTally) -> None:
        """Take note of the rows of a partial tally, which follow these."""
        if self._dropped is None:
            self._meet(
                other._known, lambda new: [(t, k) for t, k in other._known.items() if t in new]
            )
        self.n_missing += other.n_missing
        self._n += other._n

    def _meet(self, found: Iterable[str], in_turn: InTurn) -> None:
        """Take note of different texts; `in_turn` says of some after how many cells each comes."""
        new = {text for text in found if text not in self._known}
        if len(self._known) + len(new) > self._limit and not self._wanted:
            self._judge(in_turn(new))
        if self._partial:
            self._known |= {text: self._n + first for text, first in in_turn(new)}
        else:
            self._known |= dict.fromkeys(new, 0)
        if self._dropped is not None:
            self._known.clear()

    def add_gaps(self, n: int) -> None:
        """Take note of so many rows in which nothing stands."""
        self.n_missing += n

    def _judge(self, order: Sequence[tuple[str, int]]) -> None:
        """Whether the column names the rows, by the row in which one text too many first stands."""
        while (place := self._limit - len(self._known)) < len(order):
            n_cells = self._n + order[place][1] + 1
            if 2 * (self._limit + 1) > n_cells:
                some = sorted([*self._known, *(text for text, _ in order[: place + 1])])
                reason = f"more than {self._limit} different texts in the first {n_cells} cells"
                self._dropped = f"{reason}{advice_on(some)}"
                return
            self._limit *= 2

    def spec(self, standardize: bool, constant: bool) -> Spec:
        """The values, or why they are left out."""
        if self._dropped is not None:
            return {"dropped": self._dropped}
        values = sorted(set(truth_in_one_way(np.array(list(self._known), dtype=object))))
        if len(values) == 1 and not self.n_missing and not constant:
            return {"dropped": SAME_TEXT}
        if not self._wanted and (reason := _names_rows(len(values), self._n)):
            return {"dropped": f"{reason}{advice_on(values)}"}
        return {"values": values + [MISSING] * bool(self.n_missing)}


def _names_rows(n_values: int, n_cells: int) -> str | None:
    """Why a text column would tell rows apart instead of classes, if it would."""
    if n_values == n_cells > 2:
        return "a different text in every row"
    if n_values > 50 and n_values > n_cells / 2:
        return f"{n_values} different texts in {n_cells} rows"
    return None
