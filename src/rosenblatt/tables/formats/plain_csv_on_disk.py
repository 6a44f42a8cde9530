"""Plain delimited text of any size, read once into columns on disk.

The same lines, the same cells and the same codes as in memory (`plain_csv`). One thread reads the
file block by block and counts the lines of each, so that it is known which row is the block's
first; others make numbers of the blocks, and write them where they belong.
"""

from __future__ import annotations

import threading
from codecs import BOM_UTF8
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rosenblatt.contract.parameters import count_threads
from rosenblatt.tables.cells import WHITE_SPACE, is_missing
from rosenblatt.tables.formats.plain_csv import (
    BLOCK_BYTES,
    NotPlainError,
    as_array,
    layout_of,
    scanned,
    with_role,
)
from rosenblatt.tables.loops import count_lines
from rosenblatt.tables.mapped_columns import MappedColumns
from rosenblatt.tables.missing_cells import forgotten_numbers, recognizer
from rosenblatt.tables.texts import MISSING_CODE, Texts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.tables.formats.dialects import Dialect
    from rosenblatt.tables.loops import Layout
    from rosenblatt.tables.storage import Storage

LONGEST_LINE = 64_000_000
MOST_BYTES_OF_TEXTS = 64_000_000  # of the different ones in all columns, which stay in memory
BESIDES = 64  # bytes that a text takes beside its own
SLACK = 1.2  # room for more rows than the lines so far let expect
WIDE = 4096  # bytes of a block for each column, so that what is written at a time is not too short


class PlainFile(NamedTuple):
    """A file, what is known of its lines, and which of its columns are those of the table."""

    file: Path
    n_skipped: int
    dialect: Dialect
    order: Sequence[int]  # the place in the file of each column of the table


class Block(NamedTuple):
    """Whole lines of a file, how they are laid out, and the row that the first of them is."""

    data: bytes
    layout: Layout
    first: int
    n_lines: int


def read_to_disk(
    files: Sequence[PlainFile], roles: Sequence[str], markers: Collection[str], storage: Storage
) -> tuple[int, dict[int, Floats | Texts]]:
    """The number of rows of all files, and the columns by their place, on disk.

    Columns are those of `plain_csv.read_columns`, with cells that are markers missing.

    Raises
    ------
    NotPlainError
        If some line is not plain or not in UTF-8, or if there are too many different texts.
    """
    n_rows, columns, odd = _read_once(files, roles, markers, storage)
    if odd:
        again = ["text" if j in odd else "" for j in range(len(roles))]
        columns |= _read_once(files, again, markers, storage)[1]
    return n_rows, columns


def _read_once(
    files: Sequence[PlainFile], roles: Sequence[str], markers: Collection[str], storage: Storage
) -> tuple[int, dict[int, Floats | Texts], set[int]]:
    numbers, texts = with_role("number", roles), with_role("text", roles)
    target = _Target(
        MappedColumns(storage.new_file(), np.float64, len(numbers), 0),
        MappedColumns(storage.new_file(), np.int32, len(texts), 0),
        markers,
    )
    n_bytes = sum(one.file.stat().st_size for one in files)
    try:
        n_rows = _fill(target, _blocks(files, roles), n_bytes)
        columns = [*target.numbers.mapped(n_rows), *target.codes.mapped(n_rows)]
    except UnicodeDecodeError:
        raise NotPlainError from None
    finally:
        target.close()
    found: dict[int, Floats | Texts] = dict(zip(numbers, columns, strict=False))
    for j, places, codes in zip(texts, target.distinct, columns[len(numbers) :], strict=True):
        values = np.empty(len(places), dtype=object)
        values[:] = list(places)
        found[j] = Texts(values, codes)
    return n_rows, found, {numbers[k] for k in np.flatnonzero(target.odd)}


def _blocks(files: Sequence[PlainFile], roles: Sequence[str]) -> Iterator[Block]:
    """The rows of all files in blocks."""
    step = min(max(BLOCK_BYTES, WIDE * len(roles)), 4 * BLOCK_BYTES)
    first = 0
    for one in files:
        layout = layout_of(one.dialect, roles, one.order)
        for data, n_lines in _whole_lines(one, step):
            yield Block(data, layout, first, n_lines)
            first += n_lines


def _whole_lines(one: PlainFile, step: int) -> Iterator[tuple[bytes, int]]:
    """The lines of a file after the first few, about so many bytes at a time, and their number."""
    with one.file.open("rb", buffering=0) as opened:
        begin = rows_begin(opened.read(BLOCK_BYTES), one.n_skipped)
        complete = False
        while not complete:
            opened.seek(begin)
            data = opened.read(step)
            complete = len(data) < step
            n_lines, last, _ = count_lines(as_array(data))
            if complete and last + 1 < len(data):
                n_lines, last, data = n_lines + 1, len(data), data + b"\n"
            if n_lines:
                yield data[: last + 1], int(n_lines)
                begin += int(last) + 1
            elif not complete:  # a line longer than that
                step *= 4
                if step > LONGEST_LINE:
                    raise NotPlainError


def rows_begin(head: bytes, n_lines: int) -> int:
    """Where the rows begin, after so many lines."""
    place = len(BOM_UTF8) if head.startswith(BOM_UTF8) else 0
    for _ in range(n_lines):
        place = head.find(b"\n", place) + 1
        if not place:
            raise NotPlainError
    return place


def _fill(target: _Target, blocks: Iterator[Block], n_bytes: int) -> int:
    """Read all blocks, about so many bytes; the number of rows."""
    threads = count_threads(None)
    pending: deque[tuple[int, Future[Scanned]]] = deque()
    n_rows = n_read = 0
    with ThreadPoolExecutor(threads) as pool:
        for block in blocks:
            n_lines, n_read = block.first + block.n_lines, n_read + len(block.data)
            while len(pending) > threads or (pending and n_lines > target.most_rows):
                n_rows = target.settle(n_rows, *pending.popleft())
            if n_lines > target.most_rows:
                expected = n_lines * max(n_bytes / n_read, 1.0)
                target.make_room(n_rows, int(SLACK * expected) + 1)
            pending.append((block.first, pool.submit(target.read, block)))
        while pending:
            n_rows = target.settle(n_rows, *pending.popleft())
    return n_rows


class Scanned(NamedTuple):
    """What is in a block beside numbers: texts by codes of its own."""

    n_rows: int
    codes: NDArray[np.int32]
    words: list[list[str]]


class _Target:
    """Where what is read goes."""

    def __init__(
        self, numbers: MappedColumns, codes: MappedColumns, markers: Collection[str]
    ) -> None:
        self.numbers, self.codes = numbers, codes
        self.odd = np.zeros(numbers.n_columns, dtype=np.bool_)
        self.distinct: list[dict[str, int]] = [{} for _ in range(codes.n_columns)]
        self._markers, self._is_marker = markers, recognizer(markers)
        self._room = threading.local()  # for numbers, which each thread uses again and again
        self._n_bytes = 0

    @property
    def most_rows(self) -> int:
        """How many rows there is room for."""
        return self.numbers.most_rows

    def make_room(self, n_rows: int, most_rows: int) -> None:
        """Have room for more rows, when so many are there."""
        self.numbers.make_room(n_rows, most_rows)
        self.codes.make_room(n_rows, most_rows)

    def read(self, block: Block) -> Scanned:
        """Write the numbers of a block; its texts."""
        numbers = self._room_for(block.n_lines)
        codes = np.empty((self.codes.n_columns, block.n_lines), dtype=np.int32)
        n_rows, words = scanned(
            block.data, block.layout, numbers, codes, self.odd, 0, block.n_lines
        )
        for k, cells in enumerate(numbers[:, :n_rows]):
            self.numbers.write(k, block.first, forgotten_numbers(cells, self._markers))
        return Scanned(n_rows, codes, words)

    def _room_for(self, n_lines: int) -> Floats:
        n_cells = self.numbers.n_columns * n_lines
        room = getattr(self._room, "cells", None)
        if room is None or len(room) < n_cells:
            room = self._room.cells = np.empty(n_cells + n_cells // 8)
        return room[:n_cells].reshape(self.numbers.n_columns, n_lines)

    def settle(self, n_rows: int, first: int, found: Future[Scanned]) -> int:
        """Write the texts of the next block by the codes of the file; the number of rows so far."""
        if n_rows != first:  # blank lines, and not at the end
            raise NotPlainError
        n_found, codes, words = found.result()
        for k, new in enumerate(words):
            self.codes.write(k, first, self._codes(self.distinct[k], new)[codes[k, :n_found]])
        return n_rows + n_found

    def _codes(self, places: dict[str, int], words: Sequence[str]) -> NDArray[np.int32]:
        """The code of each of these words, which get one if they have none yet."""
        codes = np.empty(len(words), dtype=np.int32)
        for k, word in enumerate(words):
            code = places.get(word)
            if code is None:
                code = self._code(places, word.strip(WHITE_SPACE))
            codes[k] = code
        return codes

    def _code(self, places: dict[str, int], cell: str) -> int:
        if is_missing(cell) or self._is_marker(cell):
            return MISSING_CODE
        if cell not in places:
            self._n_bytes += BESIDES + len(cell)
            if self._n_bytes > MOST_BYTES_OF_TEXTS:
                raise NotPlainError
        return places.setdefault(cell, len(places))

    def close(self) -> None:
        """Give back the room of what is not mapped."""
        self.numbers.close()
        self.codes.close()
