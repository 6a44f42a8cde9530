"""The rows of Parquet files in blocks, decoded by Arrow where it is installed.

Each part of a file is decoded once, which is about as fast as any program can. Only columns that
hold what they are declared to hold are read so; what is to be made of the others is said in SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tables.cells import WHITE_SPACE, is_missing
from rosenblatt.tables.missing_cells import forgotten_numbers, recognizer
from rosenblatt.tables.rows_in_memory import as_texts
from rosenblatt.tables.storage import TableError
from rosenblatt.tables.texts import MISSING_CODE, Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from rosenblatt.tables.columns import Column, ParquetParts

    Cells = NDArray[Any] | Texts
    Fetch = Callable[[Sequence[Column], int, int], list[Cells]]

# By default a whole group of rows, or all of them, would be in memory at a time.
BUFFERS: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1 << 20}
LARGEST_WHOLE = 1e15  # numbers up to this are written as whole ones


def arrow_blocks(
    parts: ParquetParts,
    columns: Sequence[Column],
    most_rows: int,
    markers: Collection[str],
    fetch: Fetch,
    groups: range | None = None,
) -> Iterator[tuple[int, list[Cells]]]:
    """The first row and the columns of each block; `fetch` has those that Arrow is no help with.

    Of a single file the rows may be those of some of its row groups.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    decoder = _Decoder(columns, markers)
    for first, state in zip(parts.firsts, parts.files, strict=False):
        try:
            state.check()
            with ParquetFile(state.file) as opened:
                fields = decoder.fields(parts.fields, opened.schema_arrow)
            texts = [field for column, field in fields.items() if column.kind == "text"]
            with ParquetFile(state.file, **BUFFERS, read_dictionary=texts) as opened:
                names = list(dict.fromkeys(fields.values()))
                some = {} if groups is None else {"row_groups": list(groups)}
                for k in range(groups.start if groups else 0):
                    first += opened.metadata.row_group(k).num_rows
                for batch in opened.iter_batches(most_rows, columns=names, **some):
                    state.check()
                    yield first, decoder.decoded(batch, fields, first, fetch)
                    first += batch.num_rows
        except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
            state.check()
            why = str(error).splitlines()[0][:80]
            msg = f"{state.shown} can no longer be read ({why}): write it again"
            raise TableError(msg) from None


class _Decoder:
    """How columns are made of those of Arrow."""

    def __init__(self, columns: Sequence[Column], markers: Collection[str]) -> None:
        self.columns, self.markers = columns, markers
        self._is_marker = recognizer(markers)

    def fields(self, named: Any, schema: Any) -> dict[Column, str]:
        """The columns that can be read, and what they are called in the file."""
        names = schema.names
        found = {column: named.get(column.sql, "") for column in self.columns}
        return {
            column: field
            for column, field in found.items()
            if names.count(field) == 1 and _is_read(column, schema.field(field).type)
        }

    def decoded(
        self, batch: Any, fields: dict[Column, str], first: int, fetch: Fetch
    ) -> list[Cells]:
        """The columns of one batch of rows, of which this is the first."""
        found: list[Cells | None] = [
            self._cells(column, batch.column(fields[column])) if column in fields else None
            for column in self.columns
        ]
        missing = [j for j, cells in enumerate(found) if cells is None]
        stop = first + batch.num_rows
        others = fetch([self.columns[j] for j in missing], first, stop) if missing else []
        for j, cells in zip(missing, others, strict=True):
            found[j] = cells
        return [cells for cells in found if cells is not None]

    def _cells(self, column: Column, array: Any) -> Cells | None:
        import pyarrow as pa

        if column.kind == "date":
            zone = getattr(array.type, "tz", None)
            dates: NDArray[Any] = array.cast(pa.timestamp("us", zone)).to_numpy(False)
            return dates
        if column.stored == "number":
            if array.type != pa.float64():
                array = array.cast(pa.float64(), safe=False)
            numbers = forgotten_numbers(array.to_numpy(False), self.markers)
            return numbers if column.kind == "number" else _as_whole(numbers)
        if pa.types.is_boolean(array.type):
            codes = array.cast(pa.int32()).fill_null(MISSING_CODE).to_numpy(False)
            return self._texts(["false", "true"], codes)
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        codes = array.indices.cast(pa.int32()).fill_null(MISSING_CODE).to_numpy(False)
        return self._texts(array.dictionary.to_pylist(), codes)

    def _texts(self, words: Sequence[str | None], codes: NDArray[np.int32]) -> Texts:
        """Texts without white space around them, those that stand for nothing missing."""
        places: dict[str, int] = {}
        known = [MISSING_CODE] * (len(words) + 1)
        for k, word in enumerate(words):
            cell = "" if word is None else word.strip(WHITE_SPACE)
            if not (is_missing(cell) or self._is_marker(cell)):
                known[k] = places.setdefault(cell, len(places))
        values = np.empty(len(places), dtype=object)
        values[:] = list(places)
        if len(places) < len(words):
            codes = np.array(known, dtype=np.int32)[codes]
        return Texts(values, codes)


def _is_read(column: Column, kind: Any) -> bool:
    """Whether Arrow's cells of this type are read as the column's."""
    from pyarrow import types

    if column.kind == "date":
        fine = types.is_timestamp(kind) and kind.unit != "ns"
        return column.stored == "date" and bool(fine or types.is_date32(kind))
    if column.stored == "number":
        small = types.is_float32(kind) or types.is_float64(kind)
        return bool(types.is_integer(kind) or small)
    if types.is_dictionary(kind):
        kind = kind.value_type
    plain = types.is_string(kind) or types.is_large_string(kind) or types.is_boolean(kind)
    return column.stored == column.kind == "text" and bool(plain)


def _as_whole(numbers: NDArray[np.float64]) -> Texts | None:
    """Whole numbers as texts; None if there are others, or very large ones."""
    present = numbers[~np.isnan(numbers)]
    whole = (np.abs(present) < LARGEST_WHOLE) & (present == np.floor(present))
    return as_texts(numbers) if whole.all() else None
