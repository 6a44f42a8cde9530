"""Tables in files that the workers of a cluster read, and whose rows stay there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from rosenblatt.arguments import file_path
from rosenblatt.tables.rows_on_workers import RowsOnWorkers, open_on_workers
from rosenblatt.tables.storage import Storage
from rosenblatt.tables.table import Table, made, what_is_asked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rosenblatt.cluster.engine import Engine
    from rosenblatt.tables.part_cells import Reading


class TableOnWorkers(Table):
    """A table whose columns are sent for when they are asked for; its parts are on workers."""

    _rows: RowsOnWorkers

    @property
    def engine(self) -> Engine:
        """The cluster."""
        return self._rows.engine

    @property
    def parts(self) -> list[Any]:
        """Futures of the parts."""
        return list(self._rows.parts)

    @property
    def lengths(self) -> list[int]:
        """How many rows each part has."""
        return list(self._rows.lengths)

    @property
    def is_held(self) -> bool:
        """Whether `columns` are no copies."""
        return False

    def reading(
        self,
        names: Sequence[str] | None = None,
        renamed: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Reading:
        """How a part becomes these columns, some words of which are renamed."""
        wanted = self.names if names is None else names
        columns = {name: self._columns[name] for name in wanted}
        return self._rows.reading(columns)._replace(renamed=dict(renamed or {}))


def read_on_workers(
    engine: Engine, path: Any, *, folder: str | os.PathLike[str] | None = None, **reading: Any
) -> TableOnWorkers:
    """The table of files that workers read, which is what `read_table` gives, note by note.

    `reading` are the other arguments of `read_table`.
    """
    paths, asked = what_is_asked(path, **reading)
    parent = None if folder is None else os.fspath(file_path("folder", folder))
    return made(
        Storage(True, parent),
        lambda storage: TableOnWorkers(*open_on_workers(engine, paths, asked, storage)),
    )
