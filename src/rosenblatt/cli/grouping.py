"""Rows that belong together, such as those of one patient: ``--groups COLUMN``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli.options import refuse
from rosenblatt.tables.cells import missing
from rosenblatt.tables.table import Table
from rosenblatt.tables.texts import Texts
from rosenblatt.visible import count

Numbers = NDArray[np.intp]


def check_groups(groups: str | None, target: str | None, how: Mapping[str, Any]) -> None:
    """Refuse a column that is to be something else as well."""
    if groups is None:
        return
    clash = f"--groups {groups} is the class: give the column that says which rows belong together"
    refuse(groups == target, clash)
    for option in ("use", "text"):
        both = f"--{option} {groups} and --groups {groups} contradict each other: give one of them"
        refuse(groups in how[option], both)


def refuse_matrix(table: Table, name: str) -> None:
    """Refuse all features of a sparse table, which are one matrix."""
    what = f"--groups {name} is all features of {table.path}, whose format has no other columns"
    refuse(table.kinds[name] == "sparse", f"{what}: leave it out")


def group_numbers(table: Table, name: str, known: NDArray[np.bool_] | None) -> Numbers:
    """The number of the group of each row that has a class."""
    (cells,) = table.columns([name]).values()
    values: NDArray[Any] = cells.codes if isinstance(cells, Texts) else cells
    without = values < 0 if isinstance(cells, Texts) else missing(values)
    known = np.ones(len(values), dtype=bool) if known is None else known
    if (without & known).any():
        n, first = int((without & known).sum()), int((without & known).argmax()) + 1
        rows = f"row {first} has" if n == 1 else f"{count(n, 'row')}, such as row {first}, have"
        msg = f"--groups {name}: {rows} no group: fill it in, or leave such rows out"
        raise ValueError(msg)
    numbers: Numbers = np.unique(values[known], return_inverse=True)[1]
    return numbers
