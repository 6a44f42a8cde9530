"""A few rows that stand for all: constraint generation over blocks.

A hyperplane is found on a small working set; one scan of the data finds the rows that it has
on the wrong side, or too close; the worst of them join the set; and so on until there are none.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.columns import AtRows, OfBlock, There
from rosenblatt.data.rows import as_matrix, as_rows
from rosenblatt.data.sources import (
    Elsewhere,
    MemorySource,
    is_dense,
    map_pieces,
    members,
    signed_stack,
    signs_of,
    some_rows,
    written,
)
from rosenblatt.data.tile_sums import tile_rows
from rosenblatt.exact import margin_of, signs
from rosenblatt.exact.sides import as_signs
from rosenblatt.exact.tile_passes import Listed
from rosenblatt.nearest import loops as slack
from rosenblatt.nearest.hulls import shortest_sum
from rosenblatt.nearest.scans import STEP, Wanted, closest
from rosenblatt.nearest.slacks import count, sides_of
from rosenblatt.nearest.sums import Extent, added, are_many
from rosenblatt.running.clock import Clock, Kind
from rosenblatt.running.threads import WORTHWHILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.columns import Column, Given
    from rosenblatt.data.sources import Piece, Source
    from rosenblatt.exact.blocks import Stack
    from rosenblatt.nearest.scans import Found
    from rosenblatt.running.threads import Team


FEW = 10_000  # numbers of data that are to be settled in seconds
SOME, ALIKE = 500, 1e4  # rows to look at, and a ratio of sizes that is no longer similar
CACHED = 1 << 17  # numbers that fit the cache
COUNTED = 1 << 14  # entries of a mask that are counted together


class Widest(NamedTuple):
    """The unit vector with the widest margin over signed augmented samples.

    Attributes
    ----------
    theta : float array
        ``(w, b)``, of length 1; ``b = 0`` without a bias.
    gamma : float
        Its margin, ``min_i y_i(w·x_i + b)``.
    upper : float
        No unit vector has a wider one than this.
    """

    theta: Floats
    gamma: float
    upper: float


class Samples:
    """The rows of a source, signed: class `positive` is +1, every other -1."""

    def __init__(self, source: Source, team: Team, positive: int, clock: Clock) -> None:
        self.source, self.team, self.clock = source, team, clock
        self.n, self.d = source.n_rows, source.n_features
        self.positive = positive
        self.dense = is_dense(source)
        self.tile, self.extent = tile_rows(source), Extent(self.n)

    @cached_property
    def y(self) -> NDArray[np.int8]:
        """1 for the rows of the class, -1 for the others."""
        return as_signs(members(self.source, self.positive))

    @cached_property
    def matrix(self) -> Stack:
        """The rows."""
        return signed_stack(self.source, self.positive, self.y)

    @property
    def far(self) -> bool:
        """Whether the rows are in other processes."""
        return isinstance(self.source, Elsewhere)

    @property
    def width(self) -> int:
        """The numbers in a row, more or less."""
        return max(1, self.source.n_entries // self.n)

    @contextmanager
    def system(self, units: float) -> Iterator[None]:
        """Solve a linear system exactly, if there is time and work left for it.

        Whoever checks the evidence will solve it again. Larger data may take more work.
        """
        numbers = self.n * (self.d + 1)
        self.clock.spend(2 * units / max(1.0, numbers / FEW))
        self.clock.systems += units
        with self.clock.task(Kind.EXACT, units):
            yield

    def gather(self, rows: Ints) -> Floats:
        """``(x, 1)`` of the listed rows, not signed."""
        out = np.ones((len(rows), self.d + 1))
        matrix = self.matrix[rows]
        out[:, :-1] = matrix if self.dense else matrix.toarray()
        return out

    def signed(self, rows: Ints) -> Floats:
        """``z = y(x, 1)`` of the listed rows."""
        return self.gather(rows) * self.y[rows, np.newaxis]

    def take(self, rows: Ints) -> Any:
        """A copy of the listed rows, an array or a CSR matrix of float64."""
        return self.matrix[rows].astype(np.float64, copy=False)

    def part(self, rows: Ints) -> Samples:
        """A copy of the listed rows as samples of their own."""
        if isinstance(self.source, Elsewhere):
            block = self.source.rows(rows)
            X = as_matrix(block.rows, self.d).astype(np.float64, copy=False)
            label = (block.label == self.positive).astype(np.int32)
        else:
            X, label = some_rows(self.source, rows), (self.y[rows] > 0).astype(np.int32)
        part = Samples(MemorySource(as_rows(X), label, self.d), self.team, 1, self.clock)
        part.alike = self.alike
        return part

    # Columns -------------------------------------------------------------------------------------

    @property
    def sign(self) -> Given:
        """`y` as a column, of which nothing travels."""
        return OfBlock(partial(signs_of, self.positive)) if self.far else self.y

    def column(self, numbers: NDArray[Any] | Column) -> Column:
        """Numbers, one for each row, as a column of theirs."""
        if not self.far or isinstance(numbers, There):
            return numbers
        return self.written(_copied, numbers, dtype=numbers.dtype)

    def constant(self, number: float | bool) -> Column:
        """A column of equal numbers."""
        return self.written(partial(_fill, number), dtype=np.array(number).dtype)

    def only_at(self, rows: Ints, numbers: Floats) -> Column:
        """A column of zeros but for some rows, ascending, that have numbers."""
        return self.written(_copied, Listed(rows, numbers))

    def written(self, task: Callable[..., Any], *columns: Given, dtype: Any = np.float64) -> Column:
        """A column that ``task(piece, team, out, ...)`` writes, block after block."""
        return written(self.source, task, self.team, *columns, dtype=dtype)

    def asked(self, task: Callable[..., Any], *columns: Given) -> list[Any]:
        """What ``task(piece, team, ...)`` returns of every block."""
        if isinstance(self.source, Elsewhere):
            return list(self.source.map(task, *columns, look_up=self.clock.look_up))
        return list(map_pieces(self.source, task, self.team, *columns))

    def added(
        self, sizes: list[tuple[int, int]], task: Callable[..., Any], *columns: Given
    ) -> tuple[list[Floats], list[Any]]:
        """Sums over tiles, and what ``task(piece, team, adding, ...)`` returns of every block."""
        look_up = self.clock.look_up
        return added(self.source, self.extent, sizes, task, self.team, *columns, look_up=look_up)

    def products(self, w: Floats) -> Column:
        """``y_i(w·x_i)`` of every row, where the row is."""
        if self.far:
            self.clock.look_up()
            return self.written(partial(_write_values, self.positive, np.append(w, 0.0)))
        return self.values(np.append(w, 0.0))

    def listed(self, column: Column) -> Ints:
        """The rows where a column is not 0, or not False."""
        found = self.asked(_listed, column)
        return found[0] if len(found) == 1 else np.concatenate(found)

    def at(self, rows: Ints, *columns: Given) -> list[NDArray[Any]]:
        """The numbers that some rows, ascending, have in columns."""
        found = self.asked(_at, AtRows(rows), *columns)
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]

    def chosen(self, mask: Column, *columns: Column) -> tuple[Samples, list[Column]]:
        """The rows in a mask as samples of their own, and their columns.

        Few of them are brought to one place. Many stay where they are, and are summed up in the
        tiles of all rows, so that they need not be gathered in others.
        """
        many = are_many(self.source, count(self, mask))
        numbers: Column
        if many and isinstance(self.source, Elsewhere):
            source, numbers, kept = self.source.chosen(mask, *columns)
            part = Samples(source, self.team, self.positive, self.clock)
            part.alike = self.alike
        else:
            numbers = rows = self.listed(mask)
            part, kept = self.part(rows), self.at(rows, *columns)
        if many:
            part.tile, part.extent = self.tile, Extent(self.n, numbers)
        return part, kept

    def replaced(self, column: Column, mask: Column, new: Column) -> Column:
        """A column with new numbers for the rows in a mask, which were `chosen`."""
        if isinstance(self.source, Elsewhere) and isinstance(new, There):
            return self.source.replaced(column, mask, new)
        return self.written(_put, AtRows(self.listed(mask), new), column)

    # The features --------------------------------------------------------------------------------

    @cached_property
    def alike(self) -> bool:
        """Whether the features are of similar sizes, as far as a few rows tell."""
        X = abs(self.take(np.arange(0, self.n, max(1, self.n // SOME))))
        sizes = X.max(axis=0) if self.dense else X.max(axis=0).toarray().ravel()
        return bool(sizes.max() <= ALIKE * sizes[sizes > 0].min(initial=np.inf))

    @cached_property
    def largest(self) -> float:
        """The largest size of a number."""
        return largest_number(self.matrix)

    def total(self, u: Column) -> Floats:
        """``Σ u_i y_i x_i``, in an order that depends neither on threads nor on blocks."""
        return sides_of(self, self.column(u)).pull().w

    def signs(self, theta: Any) -> NDArray[np.int8]:
        """The exact sign of ``z·θ`` for every row."""
        look_up = self.clock.whole(Kind.SIDES, self.source.n_entries)
        found = signs(self.matrix, theta, look_up, self.team.each_product)
        found *= self.y
        return found

    def margin(self, theta: Any) -> float:
        """``min_i y_i(w·x_i + b)/‖w‖``."""
        afar = isinstance(self.source, Elsewhere)
        look_up = self.clock.pieces(Kind.SIDES) if afar else None
        return margin_of(self.matrix, self.y, theta, self.team.each_product, look_up)

    def values(self, theta: Floats) -> Floats:
        """``y_i(w·x_i + b)`` of every row."""
        if isinstance(self.source, Elsewhere):
            self.clock.look_up()
            task = partial(_far_values, self.positive, theta)
            return np.concatenate(list(self.source.map(task, look_up=self.clock.look_up)))
        out, look_up = np.empty(self.n), self.clock.pieces(Kind.READING)
        width = self.source.n_entries / self.n
        for piece in self.source.pieces():
            rows, here = piece.block.rows, slice(piece.start, piece.start + piece.length)
            y, found = self.y[here], out[here]

            def part(edges: tuple[int, int]) -> None:
                slack.values(rows, y, theta, *edges, found)  # noqa: B023

            for a in range(0, piece.length, STEP):
                z = min(a + STEP, piece.length)
                look_up((z - a) * width)
                ranges = self.team.ranges(z - a, int((z - a) * width))
                self.team.each(part, [(a + low, a + high) for low, high in ranges])
        return out

    def scan(self, theta: Floats, level: float, k: int, known: Ints) -> tuple[float, Ints]:
        """The smallest ``y_i(w·x_i + b)``, and up to `k` rows with the smallest ones below `level`.

        Those in `known` are not among them.
        """
        wanted = Wanted(self.positive, theta, 0.0, level, k, np.sort(known))
        found = closest(self.source, wanted, self.team, self.clock)
        return float(np.min(found.least)), found.rows

    def nearest(
        self, w: Floats, b: float, used: NDArray[np.bool_] | None, level: float, k: int, known: Ints
    ) -> Found:
        """The smallest ``y(w·x)`` of class +1 and of class -1, among the rows that are `used`.

        Also up to `k` of these rows with the smallest ``y(w·x) + yb`` below `level` that are not
        in `known`, and these values.
        """
        wanted = Wanted(self.positive, np.append(w, 0.0), b, level, k, np.sort(known))
        columns = [] if used is None or used.all() else [used]
        return closest(self.source, wanted, self.team, self.clock, *columns)

    def some(self, k: int, among: NDArray[np.bool_] | None = None) -> Ints:
        """Rows spread over the data, up to `k` of each class."""
        chosen = []
        for sign in (-1, 1):
            mask = self.y == sign if among is None else (self.y == sign) & among
            count, places = int(np.count_nonzero(mask)), None
            if count > k:  # at random: evenly spaced rows may all be alike
                places = np.random.default_rng(k).choice(count, k, replace=False)
            chosen.append(np.flatnonzero(mask) if places is None else nth(mask, places))
        return np.sort(np.concatenate(chosen))


def nth(mask: NDArray[np.bool_], places: Ints) -> Ints:
    """The n-th of the entries that are true for each n of `places`, which are few."""
    edges = np.arange(0, len(mask), COUNTED)
    counts = [np.count_nonzero(mask[a : a + COUNTED]) for a in edges.tolist()]
    before = np.cumsum([0, *counts])
    stretch = np.searchsorted(before, places, side="right") - 1
    found = np.empty_like(places)
    for k in np.unique(stretch).tolist():
        here = stretch == k
        there = np.flatnonzero(mask[edges[k] : edges[k] + COUNTED])
        found[here] = edges[k] + there[places[here] - before[k]]
    return found


def largest_number(X: Stack, team: Team | None = None) -> float:
    """The largest size of a number in a matrix."""
    far = getattr(X, "far", None)
    if far is not None:
        return float(max(far.map(_largest_of)))
    largest = 0.0
    for matrix in X:
        numbers = (matrix if isinstance(matrix, np.ndarray) else matrix.data).reshape(-1)
        starts = range(0, numbers.size, CACHED)
        parts = team.each if team is not None and numbers.size >= WORTHWHILE else map
        sizes = parts(partial(_largest, numbers), starts)
        largest = max(largest, *sizes) if starts else largest
    return float(largest)


def _largest_of(matrix: Any, first: int) -> float:
    """The largest size of a number in a block."""
    numbers = (matrix if isinstance(matrix, np.ndarray) else matrix.data).reshape(-1)
    return max((_largest(numbers, at) for at in range(0, numbers.size, CACHED)), default=0.0)


def _largest(numbers: NDArray[Any], start: int) -> float:
    """The largest size among some numbers that fit the cache, which are read twice."""
    part = numbers[start : start + CACHED]
    return max(float(part.max()), -float(part.min()))


def _far_values(positive: int, theta: Floats, piece: Piece, team: Team) -> Floats:
    """``y_i(w·x_i + b)`` of the rows of a block."""
    out = np.empty(piece.length)
    _write_values(positive, theta, piece, team, out)
    return out


def _write_values(positive: int, theta: Floats, piece: Piece, team: Team, out: Floats) -> None:
    slack.values(piece.block.rows, signs_of(positive, piece), theta, 0, piece.length, out)


# Tasks for columns ------------------------------------------------------------------------------


def _copied(piece: Piece, team: Team, out: Any, numbers: Any) -> None:
    out[:] = numbers


def _fill(number: float, piece: Piece, team: Team, out: Any) -> None:
    out[:] = number


def _put(piece: Piece, team: Team, out: Any, new: tuple[Ints, Any], column: Any) -> None:
    rows, numbers = new
    out[:] = column
    out[rows] = numbers


def _listed(piece: Piece, team: Team, column: Any) -> Ints:
    return np.flatnonzero(column) + piece.start


def _at(piece: Piece, team: Team, rows: tuple[Ints, Any], *columns: Any) -> list[Any]:
    return [column[rows[0]] for column in columns]


def batch(d: int) -> int:
    """How many rows join the working set at a time."""
    return 4 * d + 100


def widest(
    source: Source,
    team: Team,
    positive: int,
    bias: float,
    tol: float = 1e-10,
    clock: Clock | None = None,
) -> Widest | None:
    """The unit vector ``θ`` with the widest margin ``min_i y_i θ·(x_i, bias)``.

    None if that is not positive, as far as floats can tell.

    The weighted sum of samples that is nearest to the origin has the length of the widest
    margin, so that any other sum bounds the margin from above: `upper` comes from the sum found.
    """
    samples = Samples(source, team, positive, clock or Clock())
    columns = samples.d + (1 if bias else 0)
    rows = samples.some(batch(columns) // 2)
    while True:
        Z = samples.signed(rows)[:, :columns]
        size = float(np.abs(Z).max()) or 1.0  # squares of the data must not overflow
        Z /= size
        look_up = samples.clock.pieces()
        found = shortest_sum(Z, np.ones((len(rows), 1)), tol=tol, look_up=look_up)
        length = float(np.linalg.norm(found.theta))
        if found.meets or length == 0.0:
            return None
        theta = np.zeros(samples.d + 1)
        theta[:columns] = found.theta / length
        upper = float(np.linalg.norm(found.weights @ Z) / found.weights.sum()) * size
        gamma, new = samples.scan(theta, upper * (1 - 4 * tol), batch(columns), rows)
        if not new.size:
            if gamma <= 0:
                return None
            return Widest(theta, gamma, max(upper * (1 + 1e-12), gamma))
        rows = np.sort(np.concatenate([rows, new]))
