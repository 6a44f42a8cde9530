"""The pocket: of all the vectors a run passes through, the one with the fewest errors.

Exactly: fewest (weighted) training errors over the start vector and the vector after every
update; of several the earliest (Gallant, IEEE Trans. Neural Networks 1, 1990, without his
shortcut of judging a vector by its run of correct answers).

The path does not depend on the pocket, so vectors are judged many at a time, by matrix products
with some rows after the other: first those that are wrong most often (the jury). A vector is given
up as soon as it has more errors than the pocket. What is left at the end is counted on all rows by
the very dot product that training uses. The matrix products only give lower bounds that hold in
spite of rounding, so the choice is that of the definition.
"""

from __future__ import annotations

import threading
import time
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.sparse import vstack as stack_sparse

from rosenblatt.data.rows import as_matrix, row_weights
from rosenblatt.perceptron.pocket_loops import count_wrong, errors_of, sure_errors, vectors_on_path
from rosenblatt.running.stopping import Halt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rosenblatt.data.rows import Block, Rows
    from rosenblatt.running.scanner import Scanner

    Floats = NDArray[np.float64]

TOGETHER = 512  # vectors judged at a time
NUMBERS = 1 << 21  # most numbers in them
CHUNK = 1024  # rows multiplied at a time
JURY_NUMBERS = 1 << 23  # most numbers in the jury
TRIAL = 32  # vectors that choose a jury
FEW = 8  # vectors that are judged faster one by one


class Chunk(NamedTuple):
    """Some rows as factors of a matrix product: ``Z = y(x, 1)/scale``, a copy in single precision.

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
        began = time.perf_counter()
        self.theta, self.errors = theta.copy(), self._all_errors(theta)
        self._pace = time.perf_counter() - began  # seconds for each vector
        self._together = max(1, min(TOGETHER, NUMBERS // len(theta)))
        self._waiting: list[Floats] = []
        self._jury: list[Chunk] = []
        self._not_in_jury = np.arange(self.source.n_rows)
        self._own = threading.local()
        self._judged, self._next_jury = 0, 4 * TRIAL
        self.behind = False  # whether time was over before all vectors were judged

    def follow(self, rows: Rows, sample: Any, step: Any, theta: Floats) -> None:
        """Judge every vector on the way from theta through the given updates."""
        theta = theta.copy()
        for done in range(0, len(sample), self._together):
            part = slice(done, done + self._together)
            thetas = np.empty((len(sample[part]), len(theta)))
            vectors_on_path(rows, sample[part], step[part], self.scanner.bias, theta, thetas)
            self._judge(thetas)
            self.look_up()

    def offer(self, theta: Floats) -> None:
        """Judge theta, now or together with the next ones."""
        self._waiting.append(theta.copy())
        if len(self._waiting) >= self._together:
            self.flush()

    def flush(self) -> None:
        """Judge whatever is waiting, as far as there is time."""
        if self._waiting:
            waiting, self._waiting = np.stack(self._waiting), []
            try:
                self._judge(waiting)
            except Halt:  # whoever runs this will be told so, too
                self.behind = True

    def flushing(self) -> float:
        """Seconds, at the pace so far, to judge what is waiting."""
        return len(self._waiting) * self._pace

    def _judge(self, thetas: Floats) -> None:
        """Take the earliest of the vectors with the fewest errors, if it beats the pocket."""
        began = time.perf_counter()
        self._judged += len(thetas)
        if self._judged >= self._next_jury:
            self._choose_jury(thetas[:: -(-len(thetas) // TRIAL)])
            self._next_jury = 4 * self._judged
        left, bounds = self._not_worse(thetas)
        best = len(thetas)
        for k in np.argsort(bounds, kind="stable"):
            if bounds[k] > self._limit():
                break
            self.look_up()
            t = int(left[k])
            exact = self._all_errors(thetas[t])
            if exact < self.errors or (exact == self.errors and t < best < len(thetas)):
                self.theta, self.errors, best = thetas[t].copy(), exact, t
        self._pace = (time.perf_counter() - began) / len(thetas)

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

    def _not_worse(self, thetas: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Which vectors are not shown to be worse than the pocket, and lower bounds.

        Threads share the vectors between them.
        """

        def sift(edges: tuple[int, int]) -> tuple[NDArray[np.intp], NDArray[Any]]:
            left, errors = self._sift(thetas[slice(*edges)])
            return left + edges[0], errors

        team = self.scanner.team
        parts = team.each(sift, team.ranges(len(thetas), self.source.n_entries * len(thetas)))
        left, errors = (np.concatenate(column) for column in zip(*parts, strict=True))
        return left, errors.astype(np.float64)

    def _sift(self, thetas: Floats) -> tuple[NDArray[np.intp], NDArray[Any]]:
        left, limit = np.arange(len(thetas)), self._limit()
        # Whole numbers are faster to count.
        errors: Any = np.zeros(len(thetas), np.float64 if self.source.weighted else np.int32)
        thetas = _near_one(thetas)
        norms = np.linalg.norm(thetas, axis=1)
        kind = np.finfo(np.float32)
        for number, chunk in enumerate(chain(self._jury, self._others())):
            few = FEW if number >= len(self._jury) else 0
            if len(left) <= few:
                break
            self.look_up()
            if not np.isfinite(chunk.reach):
                continue  # a row whose norm is not known: nothing is sure here
            # A sum of d + 1 products in any order is off by (d + 1)u‖θ‖‖x̃‖, and by the smallest
            # numbers there are where products underflow; the rest is for rounding θ and x̃ first.
            terms = 2 * (thetas.shape[1] + 4)
            slack = terms * (kind.eps * norms[left] * chunk.reach + kind.tiny) * (1 + 1e-6)
            products = self._multiply(chunk, thetas[left])
            sure_errors(products, chunk.weight, slack.astype(np.float32), errors)
            keep = errors <= limit
            left, errors = left[keep], errors[keep]
        return left, errors

    def _others(self) -> Iterator[Chunk]:
        """All rows that are not in the jury, a few at a time."""
        rows = self._not_in_jury
        return (self._gather(rows[a : a + CHUNK]) for a in range(0, len(rows), CHUNK))

    def _choose_jury(self, thetas: Floats) -> None:
        """Sort rows by how many of some vectors get them wrong; keep the worst ready."""
        likely = np.empty(self.source.n_rows)
        thetas = _near_one(thetas)
        for a in range(0, len(likely), CHUNK):
            self.look_up()
            part = likely[a : a + CHUNK]
            chunk = self._gather(np.arange(a, a + len(part)))
            part[:] = 0.0
            if np.isfinite(chunk.reach):
                count_wrong(self._multiply(chunk, thetas), part)
            part *= chunk.weight if chunk.weight.size else 1.0
        order = np.argsort(-likely, kind="stable")
        most = max(CHUNK, JURY_NUMBERS * self.source.n_rows // self.source.n_entries)
        chosen, self._not_in_jury = order[:most], np.sort(order[most:])
        self._jury = [self._gather(chosen[a : a + CHUNK]) for a in range(0, len(chosen), CHUNK)]

    def _gather(self, rows: NDArray[np.intp]) -> Chunk:
        """A copy of some rows, in single precision: half the memory, twice the speed."""
        picks = []
        for piece, norm in self.scanner.pieces():
            here = rows[(rows >= piece.start) & (rows < piece.start + piece.length)] - piece.start
            if here.size:
                picks.append((piece.block, here, float(norm[here].max())))
        reach = max(norm for _, _, norm in picks)
        scale = 2.0 ** np.frexp(reach)[1] if np.isfinite(reach) else 1.0
        factors = [self._factors(block, here, scale) for block, here, _ in picks]
        if len(factors) == 1:
            Z, y, weight = factors[0]
        else:
            Zs, ys, weights = zip(*factors, strict=True)
            Z = stack_sparse(Zs, "csr") if issparse(Zs[0]) else np.concatenate(Zs)
            y, weight = np.concatenate(ys), np.concatenate(weights)
        return Chunk(Z, y, weight, reach / scale, scale)

    def _factors(self, block: Block, rows: Any, scale: float) -> tuple[Any, Any, Floats]:
        """``Z``, y and the weights of a chunk, for some rows of a block."""
        y = np.where(block.label[rows] == self.positive, 1.0, -1.0)
        weighted = self.source.weighted
        weight = row_weights(block, self.positive, rows) if weighted else np.empty(0)
        X = as_matrix(block.rows, self.source.n_features)[rows]
        with np.errstate(over="ignore"):  # only where the reach is infinite, and nothing is sure
            if issparse(X):
                Z = (X / scale).astype(np.float32)
            else:
                Z = np.empty((len(y), X.shape[1] + 1), np.float32)
                np.multiply(X, (y / scale)[:, np.newaxis], out=Z[:, :-1], casting="same_kind")
                Z[:, -1] = y / scale
        return Z, y.astype(np.float32), weight

    def _multiply(self, chunk: Chunk, thetas: Floats) -> Any:
        """``y(w·x + b)/scale`` for rows and vectors, in single precision."""
        factors = thetas.T.astype(np.float32, order="C")
        if issparse(chunk.Z):
            bias = (thetas[:, -1] / chunk.scale).astype(np.float32)
            return (chunk.Z @ factors[:-1] + bias) * chunk.y[:, np.newaxis]
        size = len(chunk.Z) * len(thetas)
        room = getattr(self._own, "room", None)  # each thread has its own, to use again and again
        if room is None or room.size < size:
            room = self._own.room = np.empty(CHUNK * max(len(thetas), 64), np.float32)
        out = room[:size].reshape(len(chunk.Z), len(thetas))
        return np.matmul(chunk.Z, factors, out=out)


def _near_one(thetas: Floats) -> Floats:
    """The same hyperplanes, each scaled by a power of two to a norm near 1."""
    exponents = np.frexp(np.abs(thetas).max(axis=1))[1]
    scaled: Floats = np.ldexp(thetas, -exponents[:, np.newaxis])
    return scaled
