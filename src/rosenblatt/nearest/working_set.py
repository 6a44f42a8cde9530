"""A few rows that stand for all: constraint generation over blocks.

A hyperplane is found on a small working set; one scan of the data finds the rows that it has
on the wrong side, or too close; the worst of them join the set; and so on until there are none.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import (
    Elsewhere,
    MemorySource,
    is_dense,
    members,
    signed_stack,
    signs_of,
    some_rows,
)
from rosenblatt.exact import margin_of, signs
from rosenblatt.exact.sides import as_signs
from rosenblatt.nearest import loops as slack
from rosenblatt.nearest.hulls import shortest_sum
from rosenblatt.nearest.scans import STEP, Wanted, closest
from rosenblatt.nearest.sums import are_many, weighted_total
from rosenblatt.running.clock import Clock, Kind
from rosenblatt.running.threads import WORTHWHILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
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
        self.y = as_signs(members(source, positive))
        self.positive = positive
        self.dense = is_dense(source)
        self.matrix = signed_stack(source, positive, self.y)

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
        """A copy of the listed rows as samples of their own; of many it is where these are."""
        if isinstance(self.source, Elsewhere) and are_many(self.source, len(rows)):
            used = np.zeros(self.n, np.bool_)
            used[rows] = True
            there = Samples(self.source.taken(used), self.team, self.positive, self.clock)
            there.alike = self.alike
            return there
        X, label = some_rows(self.source, rows), (self.y[rows] > 0).astype(np.int32)
        part = Samples(MemorySource(as_rows(X), label, self.d), self.team, 1, self.clock)
        part.alike = self.alike
        return part

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

    def total(self, u: Floats) -> Floats:
        """``Σ u_i y_i x_i``, in an order that depends neither on threads nor on blocks."""
        return weighted_total(self.source, u, self.team, self.clock.look_up, self.y)

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
        self, w: Floats, b: float, used: NDArray[np.bool_], level: float, k: int, known: Ints
    ) -> Found:
        """The smallest ``y(w·x)`` of class +1 and of class -1, among the rows that are `used`.

        Also up to `k` of these rows with the smallest ``y(w·x) + yb`` below `level` that are not
        in `known`, and these values.
        """
        wanted = Wanted(self.positive, np.append(w, 0.0), b, level, k, np.sort(known))
        columns = [] if used.all() else [used]
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
    y, out = signs_of(positive, piece), np.empty(piece.length)
    slack.values(piece.block.rows, y, theta, 0, piece.length, out)
    return out


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
