"""Passes over a whole source that only look, on all threads."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.data.rows import as_matrix, n_entries, n_rows, slice_rows
from rosenblatt.exact import settled
from rosenblatt.running import scan_loops as scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.data.rows import Block, Rows
    from rosenblatt.data.sources import Piece, Source
    from rosenblatt.running.threads import Team

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

SAMPLE = 2048
TILE = 1 << 15  # numbers in the rows that all hyperplanes work on while they are in the cache


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
            scan.norms(block, self.bias, part[0], part[1], out)

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
        distances = []
        every = max(1, self.source.n_rows // SAMPLE)
        for piece in self.source.pieces():
            rows = np.arange(-piece.start % every, piece.length, every)
            out = np.empty(len(rows))
            scan.distances(piece.block, positive, theta, self.bias, rows, out)
            distances.append(out)
        return np.concatenate(distances)


def _find(
    piece: Piece,
    norm: NDArray[np.float32],
    positive: int,
    theta: Floats,
    guard: float,
    part: tuple[int, int],
) -> Ints:
    rows = np.empty(part[1] - part[0], np.int64)
    count = scan.find(piece.block, norm, positive, theta, guard, *part, rows)
    return rows[:count] + piece.start


def decision_values(rows: Rows, thetas: Floats, span: tuple[int, int], team: Team) -> Floats:
    """``w·x + b`` of the rows of the span, a column for each hyperplane."""
    return _decide(rows, thetas, np.zeros((0, 2)), span, team)[0]


def exact_decisions(rows: Rows, thetas: Floats, span: tuple[int, int], team: Team) -> Floats:
    """`decision_values` on the exact sides of zero, at hardly more cost.

    Where an error bound (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
    2002, section 3.1, with Cauchy and Schwarz) leaves the sign in doubt, the value is the float
    nearest to the exact one; so it depends on nothing but its own row.
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
            scan.in_doubt(rows, errors[k], found + span[0], out[found, k], unsure)
            found = found[unsure]
        if found.size:
            some = as_matrix(slice_rows(rows, *span), d)[found]
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
        scan.write_decisions(rows, thetas, errors, first, last, tile, out[here], doubtful[here])

    team.each(part, team.ranges(stop - start, per_row * (stop - start) * len(thetas)))
    return out, doubtful
