"""The pocket: of all the vectors a run passes through, the one with the fewest errors.

Exactly: fewest (weighted) training errors over the start vector and the vector after every
update; of several the earliest (Gallant, IEEE Trans. Neural Networks 1, 1990, without his
shortcut of judging a vector by its run of correct answers).

The path does not depend on the pocket, so vectors are judged many at a time. A matrix product
with the rows that are wrong most often (the jury) shows for most of them at once that they have
more errors than the pocket; the rest are judged on all rows in the same way; and those that are
still left, on all rows by the very dot product that training uses. The matrix products only give
lower bounds that hold in spite of rounding, so the choice is that of the definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.sparse import vstack as stack_sparse

from rosenblatt.loops.pocket import count_wrong, errors_of, replay, sure_errors
from rosenblatt.rows import as_matrix, row_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from rosenblatt.rows import Block, Rows
    from rosenblatt.solvers.scanner import Scanner

    Floats = NDArray[np.float64]

TOGETHER = 512  # vectors judged at a time
NUMBERS = 1 << 21  # most numbers in them
CHUNK = 1024  # rows multiplied at a time
JURY_NUMBERS = 1 << 23  # most numbers in the jury
TRIAL = 32  # vectors that choose a jury
FEW = 8  # vectors that are judged faster one by one


class Chunk(NamedTuple):
    """Some rows as factors of a matrix product: ``Z = y(x, 1)/scale``, a copy of few rows.

    Where X is sparse, Z is ``x/scale`` and y stands apart. `scale` is a power of two that brings
    the largest norm, `reach` after scaling, near 1, so that single precision is enough.
    """

    Z: Any
    y: Floats
    weight: Floats
    reach: float
    scale: float


class Pocket:
    """The best vector so far, and how to judge the next ones.

    Parameters
    ----------
    theta : array
        The start vector, the first to be judged.
    look_up : callable
        Called now and then; may raise to end the run.
    """

    def __init__(
        self, scanner: Scanner, positive: int, theta: Floats, look_up: Callable[[], None]
    ) -> None:
        self.look_up = look_up
        self.scanner, self.source, self.positive = scanner, scanner.source, positive
        self.theta, self.errors = theta.copy(), self._all_errors(theta)
        self._together = max(1, min(TOGETHER, NUMBERS // len(theta)))
        self._waiting: list[Floats] = []
        self._jury: list[Chunk] = []
        self._judged, self._next_jury = 0, 4 * TRIAL

    def follow(self, rows: Rows, sample: Any, step: Any, theta: Floats) -> None:
        """Judge every vector on the way from theta through the given updates."""
        theta = theta.copy()
        for done in range(0, len(sample), self._together):
            part = slice(done, done + self._together)
            thetas = np.empty((len(sample[part]), len(theta)))
            replay(rows, sample[part], step[part], self.scanner.bias, theta, thetas)
            self._judge(thetas)
            self.look_up()

    def offer(self, theta: Floats) -> None:
        """Judge theta, now or together with the next ones."""
        self._waiting.append(theta.copy())
        if len(self._waiting) >= self._together:
            self.flush()

    def flush(self) -> None:
        """Judge whatever is waiting."""
        if self._waiting:
            waiting, self._waiting = np.stack(self._waiting), []
            self._judge(waiting)

    def _judge(self, thetas: Floats) -> None:
        """Take the earliest of the vectors with the fewest errors, if it beats the pocket."""
        self._judged += len(thetas)
        if self._judged >= self._next_jury:
            self._choose_jury(thetas[:: -(-len(thetas) // TRIAL)])
            self._next_jury = 2 * self._judged
        left, bounds = self._not_worse(thetas, lambda: self._jury)
        if len(left) > FEW:
            kept, bounds = self._not_worse(thetas[left], self._chunks)
            left = left[kept]
        best = len(thetas)
        for k in np.argsort(bounds, kind="stable"):
            if bounds[k] > self._limit():
                break
            t = int(left[k])
            exact = self._all_errors(thetas[t])
            if exact < self.errors or (exact == self.errors and t < best < len(thetas)):
                self.theta, self.errors, best = thetas[t].copy(), exact, t

    def _limit(self) -> float:
        """Errors with which a vector may still win, or tie with one found just now."""
        # Unequal weights add up to slightly different sums in another order: leave room for it.
        room = self.source.n_rows * 2.0**-50 if self.source.weighted else 0.0
        return self.errors * (1 + room)

    def _all_errors(self, theta: Floats) -> float:
        """Weight of theta's errors, added up in row order whatever the blocks."""
        errors = 0.0
        for piece in self.source.pieces():
            errors = errors_of(piece.block, self.positive, theta, errors)
        return errors

    def _not_worse(
        self, thetas: Floats, chunks: Callable[[], Iterable[Chunk]]
    ) -> tuple[NDArray[np.intp], Floats]:
        """Which vectors these rows do not show to be worse than the pocket, and lower bounds.

        Threads share the vectors between them.
        """

        def sift(edges: tuple[int, int]) -> tuple[NDArray[np.intp], NDArray[Any]]:
            left, errors = self._sift(thetas[slice(*edges)], chunks())
            return left + edges[0], errors

        team = self.scanner.team
        parts = team.each(sift, team.ranges(len(thetas), self.source.n_entries * len(thetas)))
        left, errors = (np.concatenate(column) for column in zip(*parts, strict=True))
        return left, errors.astype(np.float64)

    def _sift(
        self, thetas: Floats, chunks: Iterable[Chunk]
    ) -> tuple[NDArray[np.intp], NDArray[Any]]:
        left, limit = np.arange(len(thetas)), self._limit()
        # Whole numbers are faster to count.
        errors: Any = np.zeros(len(thetas), np.float64 if self.source.weighted else np.int32)
        thetas = _near_one(thetas)
        norms = np.linalg.norm(thetas, axis=1)
        room = np.empty(0)
        for chunk in chunks:
            if not left.size:
                break
            if not np.isfinite(chunk.reach):
                continue  # a row whose norm is not known: nothing is sure here
            kind = np.finfo(chunk.Z.dtype)
            if room.dtype != kind.dtype:
                room = np.empty(CHUNK * len(thetas), kind.dtype)
            # A sum of d + 1 products in any order is off by (d + 1)u‖θ‖‖x̃‖, and by the smallest
            # numbers there are where products underflow; the rest is for rounding θ and x̃ first.
            terms = 2 * (thetas.shape[1] + 4)
            slack = terms * (kind.eps * norms[left] * chunk.reach + kind.tiny) * (1 + 1e-6)
            products = _multiply(chunk, thetas[left], room)
            sure_errors(products, chunk.weight, slack.astype(kind.dtype), errors)
            keep = errors <= limit
            left, errors = left[keep], errors[keep]
        return left, errors

    def _chunks(self) -> Iterator[Chunk]:
        """All rows in order, a few at a time."""
        for piece, norm in self.scanner.pieces():
            for a in range(0, piece.length, CHUNK):
                yield self._chunk(piece.block, norm, slice(a, a + CHUNK))

    def _chunk(self, block: Block, norm: NDArray[np.float32], part: Any) -> Chunk:
        y = np.where(block.label[part] == self.positive, 1.0, -1.0)
        weighted = self.source.weighted
        weight = row_weights(block, self.positive, part) if weighted else np.empty(0)
        reach = float(norm[part].max())
        scale = 2.0 ** np.frexp(reach)[1] if np.isfinite(reach) else 1.0
        X = as_matrix(block.rows, self.source.n_features)[part]
        if issparse(X):
            Z = X / scale
        else:
            Z = np.empty((len(y), X.shape[1] + 1), X.dtype)
            np.multiply(X, (y / scale)[:, np.newaxis], out=Z[:, :-1], casting="same_kind")
            Z[:, -1] = y / scale
        return Chunk(Z, y.astype(X.dtype), weight, reach / scale, scale)

    def _choose_jury(self, thetas: Floats) -> None:
        """Rows that some vectors often get wrong, worst first: enough to convict others."""
        likely, done = np.empty(self.source.n_rows), 0
        for chunk in self._chunks():
            part = likely[done : done + len(chunk.y)]
            count_wrong(_multiply(chunk, _near_one(thetas), np.empty(0)), part)
            part /= len(thetas)
            part *= chunk.weight if chunk.weight.size else 1.0
            done += len(part)
        order = np.argsort(-likely, kind="stable")
        enough = int(np.searchsorted(np.cumsum(likely[order]), 1.25 * self.errors)) + 1
        most = max(CHUNK, JURY_NUMBERS * self.source.n_rows // max(self.source.n_entries, 1))
        chosen = order[: min(enough, most)]
        self._jury = [self._gather(chosen[a : a + CHUNK]) for a in range(0, len(chosen), CHUNK)]

    def _gather(self, rows: NDArray[np.intp]) -> Chunk:
        """A copy of some rows, in single precision: half the memory, twice the speed."""
        parts = []
        for piece, norm in self.scanner.pieces():
            here = rows[(rows >= piece.start) & (rows < piece.start + piece.length)]
            if here.size:
                parts.append(self._chunk(piece.block, norm, here - piece.start))
        scale = max(part.scale for part in parts)
        Zs = [part.Z * (part.scale / scale) for part in parts]
        Z = stack_sparse(Zs, "csr") if issparse(Zs[0]) else np.concatenate(Zs)
        y, weight = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
        reach = max(part.reach * (part.scale / scale) for part in parts)
        with np.errstate(over="ignore"):  # only where the reach is infinite, and nothing is sure
            Z = Z.astype(np.float32)
        return Chunk(Z, y.astype(np.float32), weight, reach, scale)


def _near_one(thetas: Floats) -> Floats:
    """The same hyperplanes, each scaled by a power of two to a norm near 1."""
    exponents = np.frexp(np.abs(thetas).max(axis=1))[1]
    scaled: Floats = np.ldexp(thetas, -exponents[:, np.newaxis])
    return scaled


def _multiply(chunk: Chunk, thetas: Floats, room: NDArray[Any]) -> Any:
    """``y(w·x + b)/scale`` for rows and vectors, in the rows' precision; in `room` if it fits."""
    factors = thetas.T.astype(chunk.Z.dtype, order="C")
    if issparse(chunk.Z):
        bias = (thetas[:, -1] / chunk.scale).astype(chunk.Z.dtype)
        return (chunk.Z @ factors[:-1] + bias) * chunk.y[:, np.newaxis]
    shape = len(chunk.Z), len(thetas)
    fits = room.size >= shape[0] * shape[1]
    out = room[: shape[0] * shape[1]].reshape(shape) if fits else None
    return np.matmul(chunk.Z, factors, out=out)
