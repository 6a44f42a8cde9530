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
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from rosenblatt.data.rows import as_matrix, row_weights
from rosenblatt.data.sources import take_rows
from rosenblatt.perceptron.loops import Log, count_wrong, errors_of, sure_errors, vectors_on_path
from rosenblatt.running.clock import Halt
from rosenblatt.running.problems import saved_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.rows import Block, Rows
    from rosenblatt.running.scanner import Scanner


TOGETHER = 512  # vectors judged at a time
NUMBERS = 1 << 21  # most numbers in them
CHUNK = 1024  # rows multiplied at a time
TURN = 8  # chunks that are made at a time, or two for each thread
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


class Rest(NamedTuple):
    """What is left of a path to judge: where it begins, its updates, the numbers of their rows."""

    theta: Floats
    log: Any
    numbers: Ints


class Pocket:
    """The best vector so far, first the start vector, and how to judge the next ones.

    `look_up` is called now and then, and may raise to end the run; `pause` where the state of the
    pocket, and of its problem, is whole. (While vectors are judged the state is that before.)
    """

    log: Any = Log  # what the updates of a path come in

    def __init__(
        self,
        scanner: Scanner,
        positive: int,
        theta: Floats,
        look_up: Callable[[], None],
        pause: Callable[[], None] | None = None,
        at_zero: float = 0.0,
    ) -> None:
        self.look_up, self.pause, self.at_zero = look_up, pause or look_up, at_zero
        self.scanner, self.source, self.positive = scanner, scanner.source, positive
        began = time.perf_counter()
        self.theta, self.errors = theta.copy(), self._all_errors(theta)
        self._pace = time.perf_counter() - began  # seconds for each vector
        self._together = max(1, min(TOGETHER, NUMBERS // len(theta)))
        self._waiting: list[Floats] = []
        self._in_hand: list[Floats] = []  # which waited until they were judged
        self._sure: tuple[Floats, float] | None = None  # what it held before those in hand
        self._rest: Rest | None = None
        self._jury: list[Chunk] = []
        self._not_in_jury = np.arange(self.source.n_rows)
        self._own = threading.local()
        self._judged, self._next_jury = 0, 4 * TRIAL
        self.behind = False  # whether time was over before all vectors were judged

    def state(self) -> dict[str, Any]:
        """What it needs to go on, as plain values."""
        theta, errors = self._sure or (self.theta, self.errors)
        waiting = np.array([*self._in_hand, *self._waiting]).reshape(-1, len(theta))
        rest = None
        if self._rest is not None:
            start, log, numbers = self._rest
            rest = [start, *log._replace(row=numbers)]
        return {"theta": theta, "errors": errors, "waiting": waiting, "rest": rest}

    def restore(self, state: Any) -> None:
        """Go on from such a state; `catch_up` does what was left."""
        size, rest = self.theta.shape, state["rest"]
        self.theta = saved_array(state["theta"], np.float64, size)
        self.errors = float(state["errors"])
        waiting = state["waiting"]
        self._waiting = list(saved_array(waiting, np.float64, (len(waiting), *size)))
        if rest is not None:
            start, numbers, *more = rest
            n = len(saved_array(numbers, np.int64))
            if n and not (numbers.min() >= 0 and numbers.max() < self.source.n_rows):
                msg = "rows that are not there"
                raise ValueError(msg)
            kinds = [np.float64, np.float64, np.int64, np.int64][: len(more)]
            columns = [saved_array(c, kind, (n,)) for c, kind in zip(more, kinds, strict=True)]
            log = self.log(numbers, *columns)
            self._rest = Rest(saved_array(start, np.float64, size), log, numbers)

    def catch_up(self) -> None:
        """Judge the rest of a path, if a run that was killed has left one."""
        if self._rest is not None:
            theta, log, numbers = self._rest
            block, here = take_rows(self.source, numbers)
            self.follow(block.rows, log._replace(row=here), theta, numbers)

    def follow(self, rows: Rows, log: Any, theta: Floats, numbers: Ints) -> None:
        """Judge every vector on the way from theta through the updates of a log.

        The rows of these have the `numbers` in the whole data.
        """
        theta, n = theta.copy(), len(log.row)
        for done in range(0, n, self._together):
            self._rest = _rest_of(theta, log, numbers, done)
            thetas = np.empty((min(self._together, n - done), len(theta)))
            self._write_path(rows, log, done, theta, thetas)
            self._judge(thetas)
            self._rest = _rest_of(theta, log, numbers, done + len(thetas))
            self.pause()

    def _write_path(self, rows: Rows, log: Any, done: int, theta: Floats, out: Floats) -> None:
        """Apply as many updates to theta as there is room, from the one numbered `done` on."""
        part = slice(done, done + len(out))
        vectors_on_path(rows, log.row[part], log.step[part], self.scanner.bias, theta, out)

    def offer(self, theta: Floats) -> None:
        """Judge theta, now or together with the next ones."""
        self._waiting.append(theta.copy())
        if len(self._waiting) >= self._together:
            self.flush()

    def flush(self) -> None:
        """Judge whatever is waiting, as far as there is time."""
        if self._waiting:
            self._in_hand, self._waiting = self._waiting, []
            try:
                self._judge(np.stack(self._in_hand))
                self._in_hand = []
            except Halt:  # whoever runs this will be told so, too
                self.behind = True

    def flushing(self) -> float:
        """Seconds, at the pace so far, to judge what is waiting."""
        return len(self._waiting) * self._pace

    def _judge(self, thetas: Floats) -> None:
        """Take the earliest of the vectors with the fewest errors, if it beats the pocket."""
        began, self._sure = time.perf_counter(), (self.theta, self.errors)
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
        self._pace, self._sure = (time.perf_counter() - began) / len(thetas), None

    def _limit(self) -> float:
        """Errors with which a vector may still win, or tie with one found just now."""
        # Unequal weights add up to slightly different sums in another order: leave room for it.
        room = self.source.n_rows * 2.0**-50 if self.source.weighted else 0.0
        return self.errors * (1 + room)

    def _all_errors(self, theta: Floats) -> float:
        """Weight of theta's errors, added up in row order whatever the blocks."""
        errors = 0.0
        for piece in self.source.pieces():
            errors = errors_of(piece.block, self.positive, theta, self.at_zero, errors)
        return errors

    def _not_worse(self, thetas: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Which vectors are not shown to be worse than the pocket, and lower bounds.

        Threads share the vectors between them, and go through the rows together.
        """
        n, team, thetas = len(thetas), self.scanner.team, _near_one(thetas)
        # Whole numbers are faster to count.
        none: Any = np.zeros(n, np.float64 if self.source.weighted else np.int32)
        ranges = team.ranges(n, self.source.n_entries * n)
        parts = [(np.arange(a, z), none[a:z]) for a, z in ranges]
        parts = team.each(partial(self._sift, self._jury, 0, thetas), parts)
        if any(len(left) > FEW for left, _ in parts):
            for chunks in self._others():
                parts = team.each(partial(self._sift, chunks, FEW, thetas), parts)
                if all(len(left) <= FEW for left, _ in parts):
                    break
        left, errors = (np.concatenate(column) for column in zip(*parts, strict=True))
        return left, errors.astype(np.float64)

    def _sift(
        self, chunks: list[Chunk], few: int, thetas: Floats, part: tuple[Any, Any]
    ) -> tuple[Any, Any]:
        """The vectors of a part that are left after some rows, and errors, until few are left."""
        left, errors = part
        limit, kind = self._limit(), np.finfo(np.float32)
        norms = np.linalg.norm(thetas, axis=1)
        for chunk in chunks:
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

    def _others(self) -> Iterator[list[Chunk]]:
        """All rows that are not in the jury, some at a time, in one pass."""
        rows, turn = self._not_in_jury, max(TURN, 2 * self.scanner.team.size) * CHUNK
        for piece, norm in self.scanner.pieces():
            a, z = np.searchsorted(rows, (piece.start, piece.start + piece.length))
            for k in range(a, z, turn):
                here = rows[k : min(k + turn, z)] - piece.start
                yield self._chunks(piece.block, here, norm[here])

    def _chunks(self, block: Block, rows: Any, norm: NDArray[np.float32]) -> list[Chunk]:
        """Some rows of a block in chunks."""
        parts = [slice(a, a + CHUNK) for a in range(0, len(rows), CHUNK)]
        return self.scanner.team.each(
            lambda part: self._chunk(block, rows[part], float(norm[part].max())), parts
        )

    def _choose_jury(self, thetas: Floats) -> None:
        """Sort rows by how many of some vectors get them wrong; keep the worst ready."""
        n, thetas = self.source.n_rows, _near_one(thetas)
        likely = np.zeros(n)
        for piece, norm in self.scanner.pieces():
            for a in range(0, piece.length, CHUNK):
                self.look_up()
                here = np.arange(a, min(a + CHUNK, piece.length))
                chunk = self._chunk(piece.block, here, float(norm[here].max()))
                wrong = likely[piece.start + a : piece.start + a + len(here)]
                if np.isfinite(chunk.reach):
                    count_wrong(self._multiply(chunk, thetas), wrong)
                wrong *= chunk.weight if chunk.weight.size else 1.0
        order = np.argsort(-likely, kind="stable")
        most = max(CHUNK, JURY_NUMBERS * n // self.source.n_entries)
        chosen, self._not_in_jury = order[:most], np.sort(order[most:])
        step = max(CHUNK, most // TURN // CHUNK * CHUNK)
        self._jury = []
        for a in range(0, len(chosen), step):
            rows = chosen[a : a + step]
            block, here = take_rows(self.source, rows)
            self._jury += self._chunks(block, here, self.scanner.norms[rows])

    def _chunk(self, block: Block, rows: Any, reach: float) -> Chunk:
        """A copy of some rows, in single precision: half the memory, twice the speed."""
        scale = 2.0 ** np.frexp(reach)[1] if np.isfinite(reach) else 1.0
        y, positive = self._sides(block, rows)
        weight = row_weights(block, positive, rows) if self.source.weighted else np.empty(0)
        X = as_matrix(block.rows, self.source.n_features)[rows]
        with np.errstate(over="ignore"):  # only where the reach is infinite, and nothing is sure
            if issparse(X):
                Z = (X / scale).astype(np.float32)
            else:
                Z = np.empty((len(y), X.shape[1] + 1), np.float32)
                np.multiply(X, (y / scale)[:, np.newaxis], out=Z[:, :-1], casting="same_kind")
                Z[:, -1] = y / scale
        return Chunk(Z, y.astype(np.float32), weight, reach / scale, scale)

    def _sides(self, block: Block, rows: Any) -> tuple[Floats, Any]:
        """The signs of some rows, and in which problem they have their weights."""
        return np.where(block.label[rows] == self.positive, 1.0, -1.0), self.positive

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


def _rest_of(theta: Floats, log: Any, numbers: Ints, done: int) -> Rest | None:
    """What is left of a path after the first `done` updates, which lead to theta."""
    if done >= len(numbers):
        return None
    return Rest(theta.copy(), type(log)(*(part[done:] for part in log)), numbers[done:])


def _near_one(thetas: Floats) -> Floats:
    """The same hyperplanes, each scaled by a power of two to a norm near 1."""
    exponents = np.frexp(np.abs(thetas).max(axis=1))[1]
    scaled: Floats = np.ldexp(thetas, -exponents[:, np.newaxis])
    return scaled
