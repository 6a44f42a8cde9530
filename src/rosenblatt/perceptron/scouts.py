"""The online perceptron on several threads: scouts look ahead for the next mistake.

While no mistake is found the weights do not change, so that it does not matter in which order, or
by whom, the rows ahead are looked at: the first of all mistakes found is the one that the plain
loop comes to. One thread leads: it opens the rows ahead for all, looks at some of them itself,
waits for those who are at it, and makes the update. A scout who comes late, or not at all because
the machine has other work, is not waited for.

The threads share three numbers, far enough apart that each has cache lines to itself. `STATE`
counts the scouts who are at it, and has a flag for whether they may, one for whether all is done,
and the number of the turn. `NEXT` is the first position that nobody has taken, `FOUND` the first
mistake found, or the end.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.data.atomics import give_way, lower_to, peek, raise_by
from rosenblatt.data.compiled import loop
from rosenblatt.data.rows import Block
from rosenblatt.perceptron.loops import Log, Step, Tether, Visit, look_at, online
from rosenblatt.running.scanner import drift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.running.threads import Team

STATE, NEXT, FOUND, NUMBERS = 0, 16, 32, 48
OPEN, DONE, TURN = 1 << 20, 1 << 21, 1 << 22
COUNT = OPEN - 1
STRETCH = 1 << 15  # numbers in the rows that a thread takes at a time


class Search(NamedTuple):
    """What all threads know: the rows, the visits ahead, and the weights as they are now.

    A thread takes `stretch` visits at a time; `shared` has the numbers that they share.
    """

    block: Block
    positive: int
    visit: Visit
    theta: NDArray[np.float64]
    step: Step
    stretch: int
    shared: NDArray[np.int64]


@loop
def look_ahead(search: Search) -> None:
    """Take stretches of the rows ahead until one has a mistake, or none is left."""
    block, positive, visit, theta, step, stretch, shared = search
    w, b = theta[:-1], theta[-1]
    while True:
        first = raise_by(shared, NEXT, stretch)
        if first >= peek(shared, FOUND):
            return
        for k in range(first, min(first + stretch, visit.stop)):
            if look_at(block, positive, visit, k, w, b, step).mistaken:
                lower_to(shared, FOUND, k)
                return


@loop
def scout(search: Search) -> None:
    """Look ahead whenever the leader lets scouts, until all is done."""
    shared, last = search.shared, -1
    while True:
        now = peek(shared, STATE)
        if now & DONE:
            return
        if now & OPEN and now // TURN != last:
            entered = raise_by(shared, STATE, 1)
            if entered & OPEN:
                look_ahead(search)
                last = entered // TURN
            raise_by(shared, STATE, -1)
        else:
            give_way()


@loop
def first_ahead(search: Search, at: int) -> int:
    """The first mistake from position `at` on, or the end, with whoever scouts."""
    shared = search.shared
    shared[NEXT], shared[FOUND] = at, search.visit.stop
    raise_by(shared, STATE, TURN + OPEN)
    look_ahead(search)
    raise_by(shared, STATE, -OPEN)
    while peek(shared, STATE) & COUNT:
        give_way()
    return int(shared[FOUND])


@loop
def lead(search: Search, tether: Tether, lag: Any, log: Log) -> tuple[int, int]:
    """`online`, with whoever scouts where no mistake was made for a stretch.

    Returns where it stopped and the number of mistakes.
    """
    block, positive, visit, theta, step, stretch, shared = search
    at, mistakes = visit.start, 0
    while at < visit.stop:
        last = min(at + stretch, visit.stop)
        part = Visit(visit.order, visit.listed, at, last, visit.clock)
        here = Log(log.row[mistakes:], log.value[mistakes:], log.step[mistakes:])
        at, more = online(block, positive, part, theta, step, tether, lag, here)
        mistakes += more
        if more and tether.reach < np.inf and not drift(theta, tether.center) < tether.reach:
            break
        if not more and at < visit.stop:
            at = first_ahead(search, at)
    raise_by(shared, STATE, DONE)
    return at, mistakes


def online_with_scouts(
    team: Team,
    per_row: int,
    block: Block,
    positive: int,
    visit: Visit,
    theta: Floats,
    step: Step,
    tether: Tether,
    lag: Floats,
    log: Log,
) -> tuple[int, int]:
    """`online` on all threads of a team; rows have about `per_row` numbers."""
    shared: NDArray[np.int64] = np.zeros(NUMBERS, np.int64)
    search = Search(block, positive, visit, theta, step, max(1, STRETCH // per_row), shared)
    with team.helped_by(partial(scout, search)):
        try:
            return lead(search, tether, lag, log)
        finally:
            shared[STATE] |= DONE  # if something came between
