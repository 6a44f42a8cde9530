"""Passes over a whole source that only look, on all threads, and their loops."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.compiled import loop
from rosenblatt.data.rows import (
    Block,
    Rows,
    as_matrix,
    n_entries,
    n_rows,
    row_dot,
    row_norm2,
    slice_rows,
    span_norm2,
    two_row_dots,
    weight_of,
)
from rosenblatt.exact import settled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.rows import Block, Rows
    from rosenblatt.data.sources import Piece, Source
    from rosenblatt.running.threads import Team


SQUARES_LOST = 1e-300  # more than squares too small for floats add up to
LARGEST = np.finfo(np.float64).max
NO_OVERFLOW = 1e280  # values whose error bounds are below it are far from the largest float
TINY, HUGE = 1e-70, 1e70  # squared norms: outside, the norm may not fit float32


@loop
def is_mistake(y: float, value: float, at_zero: float) -> bool:
    """Not ``y * value > 0``, unless zero counts as right for this y: `at_zero` is its side, or 0.

    So a value that overflowed (not a number) is a mistake.
    """
    return not y * value > 0 and not (value == 0 and y == at_zero)


@loop
def drift(theta: Any, center: Any) -> Any:
    """``‖theta - center‖``, rounded up, plus all that rounding can do to ``theta·(x, 1)/‖(x, 1)‖``.

    A dot product of d + 1 terms is off by at most ``(d + 2)u‖theta‖‖(x, 1)‖``, u = 2⁻⁵³; the
    factor 4 covers the norms, the sum with the bias and this function's own rounding. Infinite
    where theta is so small that squares underflow.
    """
    apart, norm2 = 0.0, 0.0
    for j in range(len(theta)):
        apart += (theta[j] - center[j]) ** 2
        norm2 += theta[j] ** 2
    slack = 4 * (len(theta) + 4) * 2.0**-53
    if norm2 < 1e-200:
        return np.inf
    return np.sqrt(apart) * (1 + slack) + slack * np.sqrt(norm2)


@loop
def norms(block: Block, bias: float, start: int, stop: int, out: Any) -> None:
    """Write ``‖(x, 1)‖`` of rows `start` to `stop`, rounded up; infinite where in doubt."""
    for row in range(start, stop):
        i = np.uint64(row)
        norm2 = row_norm2(block.rows, i) + bias
        out[i] = np.sqrt(norm2) * (1 + 2.0**-22) if TINY < norm2 < HUGE else np.inf


@loop
def find(
    block: Block,
    norm: Any,
    positive: int,
    theta: Any,
    guard: float,
    start: int,
    stop: int,
    found: Any,
) -> int:
    """List the rows with ``y(w·x + b) <= guard·‖(x, 1)‖`` and return how many.

    ``guard=0`` lists all that can be mistakes of theta. With a positive guard no other row can be
    one of any hyperplane within `guard` of theta: ``y(θ'·x̃) >= y(θ·x̃) - ‖θ' - θ‖‖x̃‖``.
    """
    reach = guard + drift(theta, theta) if guard > 0 else 0.0
    count = 0
    for row in range(start, stop):
        i = np.uint64(row)
        y = 1.0 if block.label[i] == positive else -1.0
        value = y * (row_dot(block.rows, i, theta[:-1]) + theta[-1])
        limit = reach * norm[i] if guard > 0 else 0.0
        if not value > limit and weight_of(block, positive, i) > 0:
            found[count] = row
            count += 1
    return count


@loop
def distances(block: Block, positive: int, theta: Any, bias: float, rows: Any, out: Any) -> None:
    """Write ``y(w·x + b)/‖(x, 1)‖`` of the listed rows."""
    for k in range(len(rows)):
        i = np.uint64(rows[k])
        y = 1.0 if block.label[i] == positive else -1.0
        value = y * (row_dot(block.rows, i, theta[:-1]) + theta[-1])
        norm2 = row_norm2(block.rows, i) + bias
        out[k] = value / np.sqrt(norm2) if norm2 > 0 else 0.0


@loop
def mistakes_among(
    block: Block, positive: int, theta: Any, at_zero: float, rows: Any, found: Any, values: Any
) -> int:
    """List those of the rows that are mistakes, with ``y(w·x + b)``, and return how many."""
    count = 0
    for k in range(len(rows)):
        i = np.uint64(rows[k])
        y = 1.0 if block.label[i] == positive else -1.0
        value = row_dot(block.rows, i, theta[:-1]) + theta[-1]
        if is_mistake(y, value, at_zero):
            found[count], values[count] = i, y * value
            count += 1
    return count


@loop
def write_decisions(
    rows: Rows, thetas: Any, errors: Any, start: int, stop: int, tile: int, out: Any, doubtful: Any
) -> None:
    """Write ``w·x + b`` of rows `start` to `stop`, a column for each hyperplane.

    `doubtful`, unless it is empty, says where rounding may have changed the sign, as far as a tile
    of rows can tell (`in_doubt` knows better): ``errors[k]`` holds the share of ``‖x‖`` and the
    number that bound the error of a value of hyperplane k.
    """
    for first in range(start, stop, tile):
        last = min(first + tile, stop)
        for k in range(0, len(thetas) - 1, 2):  # two at a time read a row together
            w, v = thetas[k], thetas[k + 1]
            for row in range(first, last):
                values = two_row_dots(rows, np.uint64(row), w[:-1], v[:-1])
                out[row - start, k] = values[0] + w[-1]
                out[row - start, k + 1] = values[1] + v[-1]
        for k in range(len(thetas) // 2 * 2, len(thetas)):
            w = thetas[k]
            for row in range(first, last):
                out[row - start, k] = row_dot(rows, np.uint64(row), w[:-1]) + w[-1]
        if doubtful.size:
            # No row is longer than all together: few are left to be measured.
            norm = np.sqrt(span_norm2(rows, first, last) + SQUARES_LOST)
            for k in range(len(thetas)):
                reach = 1.01 * (errors[k, 0] * norm + errors[k, 1])
                reach = reach if reach < NO_OVERFLOW else np.inf
                for at in range(first - start, last - start):
                    doubtful[at, k] = not abs(out[at, k]) > reach


@loop
def in_doubt(rows: Rows, errors: Any, listed: Any, values: Any, doubtful: Any) -> None:
    """Write which of the listed rows are in doubt, by their own lengths."""
    for at in range(len(listed)):
        norm = np.sqrt(row_norm2(rows, np.uint64(listed[at])) + SQUARES_LOST)
        doubtful[at] = not errors[0] * norm + errors[1] < abs(values[at]) <= LARGEST


SAMPLE = 2048
TILE = 1 << 15  # numbers in the rows that all hyperplanes work on while they are in the cache


class NotFinite(ValueError):
    """Some numbers of the rows are not finite."""


class Scanner:
    """Looks at rows without learning from them.

    The norms of the rows, four bytes each, are computed when first needed and kept.
    """

    def __init__(self, source: Source, team: Team, bias: float) -> None:
        self.source, self.team, self.bias = source, team, bias
        self._norms: NDArray[np.float32] | None = None

    @property
    def norms(self) -> NDArray[np.float32]:
        """The norms of all rows."""
        if self._norms is None:
            parts = [self._measure(piece.block) for piece in self.source.pieces()]
            self._norms = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return self._norms

    def pieces(self) -> Iterator[tuple[Piece, NDArray[np.float32]]]:
        """Every block with the norms of its rows."""
        norms = self.norms
        for piece in self.source.pieces():
            yield piece, norms[piece.start : piece.start + piece.length]

    def ranges(self, n: int) -> list[tuple[int, int]]:
        """0 to n, a range for each thread."""
        return self.team.ranges(n, n * self.source.n_entries // self.source.n_rows)

    def _measure(self, block: Block) -> NDArray[np.float32]:
        n = len(block.label)
        out = np.empty(n, np.float32)

        def measure(part: tuple[int, int]) -> None:
            norms(block, self.bias, part[0], part[1], out)

        self.team.each(measure, self.ranges(n))
        return out

    def find(self, positive: int, theta: Floats, guard: float) -> Ints:
        """Rows that a hyperplane within `guard` of theta can get wrong, in order."""
        found = []
        for piece, norm in self.pieces():
            task = partial(_find, piece, norm, positive, theta, guard)
            found += self.team.each(task, self.ranges(piece.length))
        return np.concatenate(found)

    def sample(self, positive: int, theta: Floats) -> Floats:
        """``y(w·x + b)/‖(x, 1)‖`` of some rows spread evenly over the source."""
        found = []
        every = max(1, self.source.n_rows // SAMPLE)
        for piece in self.source.pieces():
            rows = np.arange(-piece.start % every, piece.length, every)
            out = np.empty(len(rows))
            distances(piece.block, positive, theta, self.bias, rows, out)
            found.append(out)
        return np.concatenate(found)


def _find(
    piece: Piece,
    norm: NDArray[np.float32],
    positive: int,
    theta: Floats,
    guard: float,
    part: tuple[int, int],
) -> Ints:
    rows = np.empty(part[1] - part[0], np.int64)
    count = find(piece.block, norm, positive, theta, guard, *part, rows)
    return rows[:count] + piece.start


def decision_values(rows: Rows, thetas: Floats, span: tuple[int, int], team: Team) -> Floats:
    """``w·x + b`` of the rows of the span, a column for each hyperplane."""
    return _decide(rows, thetas, np.zeros((0, 2)), span, team)[0]


def exact_decisions(rows: Rows, thetas: Floats, span: tuple[int, int], team: Team) -> Floats:
    """`decision_values` on the exact sides of zero, at hardly more cost.

    Where an error bound (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
    2002, section 3.1, with Cauchy and Schwarz) leaves the sign in doubt, the value is the float
    nearest to the exact one; so it depends on nothing but its own row. Rows with numbers that are
    not finite are always in doubt, and refused.
    """
    d = thetas.shape[1] - 1
    unit = 1.01 * (d + 8) * 2.0**-52
    with np.errstate(over="ignore"):
        lengths = np.sqrt((thetas[:, :-1] ** 2).sum(axis=1)) + 1e-150
        errors = unit * np.column_stack([lengths, np.abs(thetas[:, -1])]) + [0.0, 1e-290]
    errors[~thetas.any(axis=1)] = 0.0, -1.0  # always zero, without a doubt
    out, doubtful = _decide(rows, thetas, errors, span, team)
    for k, theta in enumerate(thetas):
        found = np.flatnonzero(doubtful[:, k])
        if found.size:
            unsure = np.empty(found.size, np.bool_)
            in_doubt(rows, errors[k], found + span[0], out[found, k], unsure)
            found = found[unsure]
        if found.size:
            some = as_matrix(slice_rows(rows, *span), d)[found]
            numbers = some if isinstance(some, np.ndarray) else some.data
            if not np.isfinite(numbers).all():
                raise NotFinite
            out[found, k] = settled(some, theta)
    return out


def _decide(
    rows: Rows, thetas: Floats, errors: Floats, span: tuple[int, int], team: Team
) -> tuple[Floats, NDArray[np.bool_]]:
    """Values, and which of them are in doubt by the error bounds; none if there are no bounds."""
    start, stop = span
    out = np.empty((stop - start, len(thetas)))
    doubtful = np.empty((stop - start if len(errors) else 0, len(thetas)), np.bool_)
    per_row = max(1, n_entries(rows) // max(n_rows(rows), 1))

    def part(edges: tuple[int, int]) -> None:
        first, last, here = start + edges[0], start + edges[1], slice(*edges)
        tile = max(1, TILE // per_row)
        write_decisions(rows, thetas, errors, first, last, tile, out[here], doubtful[here])

    team.each(part, team.ranges(stop - start, per_row * (stop - start) * len(thetas)))
    return out, doubtful
