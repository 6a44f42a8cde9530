"""What `TableEncoder` must know of a table, gathered block by block in one scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import brief
from rosenblatt.tables.cells import KINDS, is_number, missing
from rosenblatt.tables.frames import Cells, is_named
from rosenblatt.tables.free_text import WordTally
from rosenblatt.tables.tallies import EMPTY, DateTally, NumberTally, TextTally
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rosenblatt.running.threads import Team
    from rosenblatt.tables.feature_values import Spec
    from rosenblatt.tables.frames import Frame

    Tally = NumberTally | TextTally | WordTally

HELD = {"number": "numbers", "date": "dates", "text": "texts"}
REMEDY = "give every column one kind in all blocks, or say which: kinds={%r: 'text'}"


class ColumnTally:
    """A column: its kind, and what its features are made of.

    Parameters
    ----------
    name : of the column.
    asked : its kind, if that is known; None: that of the first block in which a cell is there.
    wanted : whether to use it although it looks as if it numbers or names the rows.
    free : whether it is free text.
    before : how many rows there are before these, of which others know; None: it knows of all.
    """

    def __init__(
        self,
        name: str,
        asked: str | None = None,
        *,
        wanted: bool = False,
        free: bool = False,
        before: int | None = None,
    ) -> None:
        self.name = name
        self._before = before
        self._asked, self._wanted, self._free = asked, wanted, free
        self._tally: Tally | None = None  # until a cell is there
        self._looks: str | None = None  # what missing cells look like
        self._gaps = 0
        self._found: str | None = None

    @property
    def kind(self) -> str:
        """What the column holds."""
        return self._asked or self._found or self._looks or "text"

    def add(self, cells: Cells) -> bool:
        """Take note of the rows of a block; whether they are of the kind that the column is.

        Where all cells are missing they are of any kind.
        """
        known = self._asked or self._found
        if cells.kind == known and self._tally is not None:
            self._tally.add(cells)
        elif cells.first_present() < 0:
            self._add_gaps(len(cells), cells.kind)
        elif cells.kind != (known or cells.kind):
            return False
        else:
            self._found = cells.kind
            self._tally = self._begun(cells.kind)
            self._tally.add(cells)
        return True

    def _begun(self, kind: str) -> Tally:
        """The tally of a kind, which knows of the missing cells so far."""
        tally: Tally
        if kind == "text":
            partial = self._before is not None
            tally = WordTally() if self._free else TextTally(self._wanted, partial)
        elif kind == "date":
            tally = DateTally(self.name)
        else:
            tally = NumberTally(self.name, self._wanted, self._before or 0)
        if self._gaps:
            tally.add_gaps(self._gaps)
        return tally

    def merge(self, other: ColumnTally) -> None:
        """Take note of the rows of another tally of the same kind, which follow these."""
        if other._tally is None:
            self._add_gaps(other._gaps, other._looks)
            return
        if self._tally is None:
            self._found = other._asked or other._found
            self._tally = self._begun(self.kind)
        self._tally.merge(other._tally)  # type: ignore[arg-type]

    def _add_gaps(self, n: int, looks: str | None) -> None:
        if self._looks in (None, "text"):
            self._looks = looks
        if self._tally is None:
            self._gaps += n
        else:
            self._tally.add_gaps(n)

    def described(self, standardize: bool, constant: bool = False) -> tuple[Spec, int]:
        """What the features are made of, or why there are none; how many cells are missing.

        A column that is the same everywhere has features if it is to have them, `constant`.
        """
        named = {"name": self.name, "kind": self.kind}
        if self._tally is None:
            return named | {"dropped": EMPTY}, self._gaps
        return named | self._tally.spec(standardize, constant), self._tally.n_missing


class TableTally:
    """The columns of a table that comes in blocks, each read once.

    Parameters
    ----------
    names : of the columns.
    kinds : those that are known, by the names of their columns.
    use : columns to use although they look as if they number or name the rows.
    text : columns of free text.
    before : how many rows there are before these, of which others know; None: it knows of all.
    """

    def __init__(
        self,
        names: Sequence[str],
        kinds: Mapping[str, str],
        use: Collection[str] = (),
        text: Collection[str] = (),
        before: int | None = None,
    ) -> None:
        for name, kind in kinds.items():
            if name not in names or kind not in KINDS:
                msg = f"kinds={{{name!r}: {brief(kind)}}} is not allowed: "
                msg += f"give a column ({brief(list(names))}) and one of {', '.join(KINDS)}"
                raise ValueError(msg)
        self._asked = {name: "text" if name in text else kinds.get(name) for name in names}
        self.columns = [
            ColumnTally(name, kind, wanted=name in use, free=name in text, before=before)
            for name, kind in self._asked.items()
        ]
        self.n_rows = before or 0

    def check_width(self, block: Any) -> None:
        """Refuse an array with another number of columns."""
        shape: Any = () if is_named(block) else getattr(block, "shape", ())
        if len(shape) == 2 and shape[1] != len(self.columns):
            msg = f"the block that begins with row {self.n_rows + 1} has {shape[1]} columns, but "
            msg += f"the rows before have {len(self.columns)}: give the same columns in all blocks"
            raise ValueError(msg)

    def add(self, table: Frame, team: Team) -> list[Cells]:
        """Take note of a block; its columns."""
        if set(table.names) != set(self._asked):
            raise self._other_columns(table.names)
        given = [table[column.name] for column in self.columns]
        before, self.n_rows = self.n_rows, self.n_rows + table.n_rows

        def read(pair: tuple[ColumnTally, Any]) -> Cells:
            column, cells = pair
            found = self._read(column, cells, before)
            if not column.add(found):
                raise _other_kind(column, cells, found, before)
            return found

        return team.each(read, list(zip(self.columns, given, strict=True)))

    def merge(self, other: TableTally) -> None:
        """Take note of the rows of another tally with the same kinds, which follow these."""
        for own, its in zip(self.columns, other.columns, strict=True):
            own.merge(its)
        self.n_rows = other.n_rows

    def _read(self, column: ColumnTally, cells: Any, before: int) -> Cells:
        asked = self._asked[column.name]
        said = f"kinds={{{column.name!r}: {asked!r}}} says {HELD.get(asked or '')}"
        return Cells.of(column.name, cells, asked, before=before, known=said)

    def _other_columns(self, names: Sequence[str]) -> ValueError:
        absent = [name for name in self._asked if name not in names]
        strange = [name for name in names if name not in self._asked]
        says = f"has no column {absent[0]!r}" if absent else f"has a column {strange[0]!r}"
        said = "which the rows before have" if absent else "which the rows before have not"
        msg = f"the block that begins with row {self.n_rows + 1} {says}, {said}: "
        return ValueError(f"{msg}give the same columns in all blocks")


def _other_kind(column: ColumnTally, given: Any, cells: Cells, before: int) -> ValueError:
    """The error that names the first cell of another kind."""
    row, cell = _first_odd(given, cells, column.kind)
    msg = f"column {column.name} holds {cell} in row {before + row + 1}, "
    msg += f"but {HELD[column.kind]} before: {REMEDY % column.name}"
    return ValueError(msg)


def _first_odd(given: Any, cells: Cells, kind: str) -> tuple[int, str]:
    """The row of the first cell that is of another kind than this, and the cell."""
    row = cells.first_present()
    if isinstance(given, Cells | Texts):
        values = cells.values
        if isinstance(values, Texts):
            return row, brief(values.values[values.codes[row]])
        return row, brief(float(values.part(row, row + 1, np.empty(1))[0]))
    found = np.asarray(given)
    if found.dtype.kind == "O" and kind == "number":
        gone = missing(found)
        row = next(i for i, cell in enumerate(found) if not (gone[i] or is_number(cell)))
    cell = found[row]
    if isinstance(cell, np.datetime64):
        return row, str(cell)
    return row, brief(cell.item() if isinstance(cell, np.generic) else cell)
