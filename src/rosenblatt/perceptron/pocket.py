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

import time
from functools import partial
from itertools import chain, pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.sources import take_rows
from rosenblatt.perceptron.loops import Log, errors_of, vectors_on_path
from rosenblatt.perceptron.panels import WIDTH, count_sure_errors, count_wrong, room
from rosenblatt.running.clock import Halt
from rosenblatt.running.problems import saved_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.rows import Block, Rows
    from rosenblatt.data.sources import Piece, Source
    from rosenblatt.running.scanner import Scanner


TOGETHER = 1024  # vectors judged at a time
NUMBERS = 1 << 21  # most numbers in them
AT_A_TIME = 1 << 24  # numbers in the rows between two looks at which vectors are left
JURY_NUMBERS = 1 << 23  # most numbers in the jury, where it is a copy
STEPS = 4  # halves of halves of the jury: that often it is seen which vectors are left
TRIAL = 32  # vectors that choose a jury
MANY = np.finfo(np.float64).max  # errors
FEW = 4  # vectors that are judged faster one by one


class Part(NamedTuple):
    """Some rows of a block, listed, and the norms of all of them."""

    block: Block
    rows: Ints
    norm: NDArray[np.float32]


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
        self.size = self.source.n_features + 1  # numbers for each hyperplane
        began = time.perf_counter()
        self.theta, self.errors = theta.copy(), self._all_errors(theta)
        self._pace = time.perf_counter() - began  # seconds for each vector
        self._together = max(1, min(TOGETHER, NUMBERS // len(theta)))
        self._waiting: list[Floats] = []
        self._in_hand: list[Floats] = []  # which waited until they were judged
        self._sure: tuple[Floats, float] | None = None  # what it held before those in hand
        self._rest: Rest | None = None
        self._jury: list[Part] = []
        self._not_in_jury = np.arange(self.source.n_rows)
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

    def owe(self, log: Any, theta: Floats, numbers: Ints) -> None:
        """Have it in the state that a path is to be followed, until it has been."""
        self._rest = _rest_of(theta, log, numbers, 0)

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
        errors, team = 0.0, self.scanner.team
        for piece in self.source.pieces():
            n, args = piece.length, (piece.block, self.positive, theta, self.at_zero)
            if self.source.weighted:
                errors = errors_of(*args, 0, n, errors)
            else:  # whole numbers can be added in any order
                starts, stops = zip(*self.scanner.ranges(n), strict=True)
                count = team.mapper(len(starts))
                errors += sum(count(partial(errors_of, *args, errors=0.0), starts, stops))
        return errors

    def _not_worse(self, thetas: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Which vectors are not shown to be worse than the pocket, and lower bounds."""
        thetas, left, errors = near_one(thetas), np.arange(len(thetas)), np.zeros(len(thetas))
        for part in chain(self._jury, self._others()):
            if len(left) <= FEW:
                break
            self.look_up()
            errors = errors + self._sure_errors(part, thetas[left], errors)
            keep = errors <= self._limit()
            left, errors = left[keep], errors[keep]
        return left, errors

    def _sure_errors(self, part: Part, thetas: Floats, before: Floats) -> Floats:
        """The weight of the rows of a part that each vector surely gets wrong.

        Each had some errors before. Threads share the vectors between them, and where these are
        few, the rows.
        """
        team, limit = self.scanner.team, self._limit()
        panels, slack, errors = self._in_panels(thetas, before)
        shares = min(team.size, len(panels))
        cuts = [
            slice(len(panels) * k // shares, len(panels) * (k + 1) // shares) for k in range(shares)
        ]
        pieces = -(-team.size // shares)
        rows = [
            part.rows[k * len(part.rows) // pieces : (k + 1) * len(part.rows) // pieces]
            for k in range(pieces)
        ]

        def count(task: tuple[slice, Ints]) -> tuple[slice, Floats]:
            here, listed = task
            found = errors[here].copy()
            args = part.block, self.positive, self.scanner.bias, listed, part.norm
            count_sure_errors(*args, panels[here], slack[here], limit, room(self.size), found)
            return here, found - errors[here]

        total = np.zeros_like(errors)
        for here, found in team.each(count, list(product(cuts, rows))):
            total[here] += found
        return total.reshape(-1)[: len(thetas)]

    def _in_panels(self, thetas: Floats, before: Floats) -> tuple[Any, Any, Floats]:
        """Vectors in panels, what their products may be off by, and their errors before.

        Places that are left over have more errors than anybody asks for.
        """
        n, planes, single = len(thetas), thetas.shape[1] // self.size, np.finfo(np.float32)
        whole = -(-n // WIDTH) * WIDTH
        padded = np.zeros((whole, planes, self.size), np.float32)
        padded[:n] = thetas.reshape(n, planes, self.size)
        panels = np.ascontiguousarray(
            padded.reshape(-1, WIDTH, planes, self.size).transpose(0, 2, 3, 1)
        )
        # A sum of d + 1 products in any order is off by (d + 1)u‖θ‖‖x̃‖, and by the smallest
        # numbers there are where products underflow; the rest is for rounding θ and x̃ first.
        terms = 2 * (thetas.shape[1] + 4) * (1 + 1e-6)
        slack, errors = np.zeros(whole, np.float32), np.full(whole, MANY)
        slack[:n] = terms * (single.eps * np.linalg.norm(thetas, axis=1) + single.tiny)
        errors[:n] = before
        return panels, slack.reshape(-1, WIDTH), errors.reshape(-1, WIDTH)

    def _others(self) -> Iterator[Part]:
        """All rows that are not in the jury, some at a time, in one pass."""
        rows, step = (
            self._not_in_jury,
            max(1, AT_A_TIME * self.source.n_rows // self.source.n_entries),
        )
        for piece, norm in self.scanner.pieces() if rows.size else ():
            a, z = np.searchsorted(rows, (piece.start, piece.start + piece.length))
            for k in range(a, z, step):
                yield Part(piece.block, rows[k : min(k + step, z)] - piece.start, norm)

    def _choose_jury(self, thetas: Floats) -> None:
        """Sort rows by how many of some vectors get them wrong; keep the worst ready."""
        n, team = self.source.n_rows, self.scanner.team
        (panel,), _, _ = self._in_panels(near_one(thetas), np.zeros(len(thetas)))
        # Whole numbers are faster to sort.
        likely: Any = np.zeros(n, np.float64 if self.source.weighted else np.int16)
        for piece, norm in self.scanner.pieces():
            self.look_up()

            def count(span: tuple[int, int], piece: Piece = piece, norm: Any = norm) -> None:
                listed, here = np.arange(*span), slice(piece.start + span[0], piece.start + span[1])
                args = piece.block, self.positive, self.scanner.bias, listed, norm
                count_wrong(*args, panel, room(self.size), likely[here])

            team.each(count, self.scanner.ranges(piece.length))
        order = np.argsort(-likely, kind="stable")
        most = n if _is_one_block(self.source) else JURY_NUMBERS * n // self.source.n_entries
        chosen, self._not_in_jury = order[:most], np.sort(order[most:])
        self._jury = []
        if len(chosen):
            block, here = take_rows(self.source, chosen)
            norm = self.scanner.norms if most >= n else self.scanner.norms[np.sort(chosen)]
            cuts = [0, *(len(here) >> k for k in range(STEPS, -1, -1))]
            self._jury = [Part(block, here[a:z], norm) for a, z in pairwise(cuts) if a < z]


def _is_one_block(source: Source) -> bool:
    """Whether all rows are in memory, in one block, so that no copy of any is needed."""
    return source.resident and next(source.pieces()).length == source.n_rows


def _rest_of(theta: Floats, log: Any, numbers: Ints, done: int) -> Rest | None:
    """What is left of a path after the first `done` updates, which lead to theta."""
    if done >= len(numbers):
        return None
    return Rest(theta.copy(), type(log)(*(part[done:] for part in log)), numbers[done:])


def near_one(thetas: Floats) -> Floats:
    """The same hyperplanes, each scaled by a power of two to a norm near 1."""
    exponents = np.frexp(np.abs(thetas).max(axis=1))[1]
    scaled: Floats = np.ldexp(thetas, -exponents[:, np.newaxis])
    return scaled
