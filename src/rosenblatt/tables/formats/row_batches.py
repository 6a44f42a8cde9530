"""Rows that come one by one, on their way into a storage."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rosenblatt.tables.storage import Storage

_BATCH = 20_000


def stage_records(storage: Storage, records: Iterable[Sequence[Any]], kinds: Sequence[str]) -> None:
    """Read records into the table `rows`: numbers, and texts (all other kinds), or None."""
    numbers = [kind == "number" for kind in kinds]
    types = ", ".join(f"c{j} {'DOUBLE' if n else 'VARCHAR'}" for j, n in enumerate(numbers))
    storage.rows(f"CREATE TABLE rows ({types})")
    upcoming = iter(records)
    while batch := list(islice(upcoming, _BATCH)):
        cells = zip(*batch, strict=True)
        storage.insert(
            {
                f"c{j}": np.array(column, dtype=np.float64 if number else object)
                for j, (number, column) in enumerate(zip(numbers, cells, strict=True))
            }
        )
