"""Delimited text whose lines are plain, read straight into columns in memory.

Plain are lines that have a cell for each column, without line ends, or marks that stand for
themselves, between quotation marks. Nearly all files are. Any other is left to DuckDB and Python's
csv module, which find out what is the matter with it.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rosenblatt.contract.parameters import count_threads
from rosenblatt.tables.cells import MARKERS, MARKERS_OF_VALUES, WHITE_SPACE, is_missing
from rosenblatt.tables.loops import FULL, GOOD, SKIPPED, Layout, Words, count_lines, scan
from rosenblatt.tables.texts import MISSING_CODE, Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import Any, Self

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.tables.formats.dialects import Dialect

BLOCK_BYTES = 1 << 22
SMALL_BLOCK = 1 << 19  # below, a second thread is not worth its start
FEW_WORDS = 1 << 11  # in a column of a block; if there are more, the block is read again
_NOT_DELIMITERS = frozenset("+-. \"'\r\n")


class NotPlainError(Exception):
    """Lines that are not plain."""


class Block(NamedTuple):
    """Whole lines of a file: from this byte up to that, and how many."""

    begin: int
    end: int
    n_lines: int


@dataclass(frozen=True)
class Lines:
    """The lines of a file, in blocks that threads read side by side.

    Of a small file all bytes are kept, so that it can be read again whatever becomes of it.
    """

    source: Path | bytes
    blocks: list[Block]
    ascii: bool

    @classmethod
    def of(cls, file: Path, *, kept: bool) -> Self:
        """Find the lines of a file."""
        return cls._found(file.read_bytes() if kept else file, file.stat().st_size)

    @classmethod
    def within(cls, data: bytes) -> Self:
        """Find the lines of a part of a file that was read."""
        return cls._found(data, len(data))

    @classmethod
    def _found(cls, source: Path | bytes, size: int) -> Self:
        step = min(BLOCK_BYTES, max(SMALL_BLOCK, size // count_threads(None) + 1))
        spans = [(k, min(k + step, size)) for k in range(0, size, step)]
        counts = _side_by_side(lambda span: count_lines(as_array(_read(source, *span))), spans)
        blocks, begin, joined = list[Block](), 0, 0
        for (start, _), (n_lines, last, bits) in zip(spans, counts, strict=True):
            joined |= int(bits)
            if n_lines:
                blocks.append(Block(begin, start + last + 1, n_lines))
                begin = start + last + 1
        if begin < size:
            blocks.append(Block(begin, size, 1))
        return cls(source, blocks, ascii=joined < 128)

    @property
    def n_lines(self) -> int:
        """How many there are in all, blank ones too."""
        return sum(block.n_lines for block in self.blocks)

    def after(self, n_lines: int) -> Lines:
        """All but so many lines at the start, which must be in the first block."""
        first = self.blocks[0]
        head = _read(self.source, first.begin, first.end)
        place = len(BOM_UTF8) if head.startswith(BOM_UTF8) else 0
        for _ in range(n_lines):
            place = head.find(b"\n", place) + 1
            if not place:
                raise NotPlainError
        rest = Block(first.begin + place, first.end, first.n_lines - n_lines)
        return Lines(self.source, [rest, *self.blocks[1:]], self.ascii)


def _read(source: Path | bytes, begin: int, end: int) -> bytes:
    """The bytes of a file, or of what was kept of it, from this one up to that."""
    if isinstance(source, bytes):
        return source[begin:end]
    with source.open("rb") as opened:
        opened.seek(begin)
        return opened.read(end - begin)


def as_array(data: bytes) -> NDArray[np.uint8]:
    """Bytes as numbers."""
    return np.frombuffer(data, dtype=np.uint8)


def _side_by_side(task: Callable[[Any], Any], items: Sequence[Any]) -> Iterable[Any]:
    """``task(item)`` for every item, in their order; after an error, no further ones."""
    threads = min(count_threads(None), len(items))
    if threads < 2:
        yield from map(task, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(task, items)


def can_be_plain(dialect: Dialect, n_columns: int) -> bool:
    """Whether lines written in this way can be told apart byte by byte."""
    delimiter = dialect.delimiter
    sure = delimiter.isascii() and not delimiter.isalnum() and delimiter not in _NOT_DELIMITERS
    # In a file of one column a missing cell could not be told from a blank line.
    return sure and dialect.quote == dialect.escape and n_columns > 1


def read_columns(
    lines: Lines, dialect: Dialect, roles: Sequence[str]
) -> tuple[int, dict[int, Floats | Texts]]:
    """The number of rows, and the columns that have a role ("number" or "text") by their place.

    A column of numbers in which some cell is anything else comes back as texts.

    Raises
    ------
    NotPlainError
        If some line is not plain.
    """
    n_rows, columns, odd = _read_once(lines, dialect, roles)
    if odd:
        again = ["text" if j in odd else "" for j in range(len(roles))]
        columns |= _read_once(lines, dialect, again)[1]
    return n_rows, columns


def _read_once(
    lines: Lines, dialect: Dialect, roles: Sequence[str]
) -> tuple[int, dict[int, Floats | Texts], set[int]]:
    numbers, texts = with_role("number", roles), with_role("text", roles)
    n_lines = lines.n_lines
    target = _Target(
        layout_of(dialect, roles),
        np.empty((len(numbers), n_lines)),
        np.empty((len(texts), n_lines), dtype=np.int32),
        np.zeros(len(numbers), dtype=np.bool_),
    )
    distinct: list[dict[str, int]] = [{} for _ in texts]
    n_rows = _fill(target, lines, distinct)
    found: dict[int, Floats | Texts] = {}
    for k, j in enumerate(numbers):
        found[j] = target.numbers[k, :n_rows]
    for k, j in enumerate(texts):
        values = np.empty(len(distinct[k]), dtype=object)
        values[:] = list(distinct[k])
        found[j] = Texts(values, target.codes[k, :n_rows])
    return n_rows, found, {numbers[k] for k in np.flatnonzero(target.odd)}


def with_role(role: str, roles: Sequence[str]) -> list[int]:
    """The places of the columns that have this role."""
    return [j for j, one in enumerate(roles) if one == role]


def layout_of(dialect: Dialect, roles: Sequence[str], order: Sequence[int] | None = None) -> Layout:
    """What the loops are told of a file.

    `roles` are those of the columns of a table, which are in this `order` in the file.
    """
    places = np.arange(len(roles)) if order is None else np.asarray(order, dtype=np.intp)
    numbers, texts = with_role("number", roles), with_role("text", roles)
    role = np.full(len(roles), SKIPPED, dtype=np.int64)
    role[places[numbers]] = range(len(numbers))
    role[places[texts]] = [-2 - k for k in range(len(texts))]
    quote = ord(dialect.quote) if dialect.quote else -1
    return Layout(ord(dialect.delimiter), quote, role)


def _fill(target: _Target, lines: Lines, distinct: Sequence[dict[str, int]]) -> int:
    """Read all blocks; the number of rows."""
    firsts = np.cumsum([0] + [block.n_lines for block in lines.blocks])
    tasks = list(zip(lines.blocks, firsts[:-1].tolist(), strict=True))
    done = _side_by_side(lambda task: target.read(lines.source, *task), tasks)
    n_rows = 0
    for (_, first), (n_found, words) in zip(tasks, done, strict=True):
        if n_rows != first:  # blank lines, and not at the end
            raise NotPlainError
        n_rows += n_found
        for k, (places, new) in enumerate(zip(distinct, words, strict=True)):
            rows = target.codes[k, first:n_rows]
            rows[:] = _codes(places, new)[rows]
    return n_rows


def _codes(places: dict[str, int], words: Iterable[str]) -> NDArray[np.int32]:
    """The code of each of these words, which get one if they have none yet."""
    cells = [word.strip(WHITE_SPACE) for word in words]
    return np.array(
        [
            MISSING_CODE if is_missing(cell) else places.setdefault(cell, len(places))
            for cell in cells
        ],
        dtype=np.int32,
    )


class _Target(NamedTuple):
    """Where what is read goes: numbers, and the codes of words by their block."""

    layout: Layout
    numbers: Floats
    codes: NDArray[np.int32]
    odd: NDArray[np.bool_]

    def read(self, source: Path | bytes, block: Block, first: int) -> tuple[int, list[list[str]]]:
        """Read a block: how many rows it has, and the words of each column of texts."""
        data = _read(source, block.begin, block.end)
        if len(data) < block.end - block.begin:
            raise NotPlainError
        data = data if data.endswith(b"\n") else data + b"\n"
        return scanned(data, self.layout, self.numbers, self.codes, self.odd, first, block.n_lines)


def scanned(
    data: bytes, layout: Layout, numbers: Floats, codes: NDArray[np.int32],
    odd: NDArray[np.bool_], first: int, n_lines: int,
) -> tuple[int, list[list[str]]]:  # fmt: skip
    """Read a block of so many lines, as `scan` does, and return its rows and words."""
    most = min(FEW_WORDS, n_lines)
    while True:
        words = room_for(most, len(codes))
        n_rows, how = scan(
            as_array(data), layout, MARKER_ROWS, numbers, codes, words, odd, first, n_lines
        )
        if how != FULL:
            break
        most = n_lines
    if how != GOOD:
        raise NotPlainError
    found = []
    for k, count in enumerate(words.counts):
        begins, lengths = words.begins[k, :count].tolist(), words.lengths[k, :count].tolist()
        found.append([str(data[b : b + n], "utf-8") for b, n in zip(begins, lengths, strict=True)])
    return n_rows, found


def room_for(most: int, n_columns: int) -> Words:
    """Room for so many words in each column of a block."""
    n_slots = 1 << (2 * int(most)).bit_length()
    return Words(
        np.zeros((n_columns, n_slots), dtype=np.int32),
        np.empty((n_columns, most), dtype=np.int64),
        np.empty((n_columns, most), dtype=np.int64),
        np.zeros(n_columns, dtype=np.int64),
    )


def _as_rows(markers: Iterable[str]) -> NDArray[np.uint8]:
    """Each marker in a row of bytes that ends with 0."""
    known = [marker.encode() for marker in sorted(markers)]
    rows = np.zeros((len(known), max(map(len, known)) + 1), dtype=np.uint8)
    for row, marker in zip(rows, known, strict=True):
        row[: len(marker)] = list(marker)
    return rows


MARKER_ROWS = _as_rows(MARKERS | MARKERS_OF_VALUES)
