"""Dual coordinate descent: a margin with slack, one multiplier at a time.

The multipliers ``α`` of a soft margin maximise ``Σ α - ½‖Σ α y x‖²`` with ``0 <= α <= c`` and
``Σ α y = 0``. Without the last condition any of them can be moved to its best value alone, which
takes one dot product, and for ``w = Σ α y x`` one more row to add [1]_. The bias stands for the
condition, by the method of multipliers: it is ``b + β Σ α y`` within an epoch, and what it is at
the end of one is the b of the next.

Where slack is cheap, a few epochs leave a small gap, most of them over the few samples whose
multipliers are not settled. Where it is dear they crawl; then that is for `newton` to solve.

References
----------
.. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan, "A dual coordinate
   descent method for large-scale linear SVM", ICML 2008.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rosenblatt.data.sources import take_rows
from rosenblatt.exact.sides import as_signs
from rosenblatt.nearest import loops as slack
from rosenblatt.nearest.loops import Line, Multipliers
from rosenblatt.running.clock import Kind

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.nearest.slacks import Pull
    from rosenblatt.nearest.working_set import Samples


LEAN = 0.1  # β, as a share of the mean of ‖x‖²
SOME = 500  # samples to measure that by
READ = 1 << 18  # numbers to read between two looks at the clock
SEED = 1


class Descent(NamedTuple):
    """Where coordinate descent ended.

    Attributes
    ----------
    w, b : float array, float
    alpha : float array
        The new multipliers; ``w = Σ α y x`` with the others.
    farthest : float
        The largest size of a slack that its multiplier should have removed, in the last epoch.
    closed : bool
        Whether the gap that was asked for is reached, as far as the last epoch tells: samples that
        had left the line by then are for the next scan to judge.
    """

    w: Floats
    b: float
    alpha: Floats
    farthest: float
    closed: bool


def descend(
    samples: Samples,
    rows: Ints,
    c: Floats,
    alpha: Floats,
    pull: Pull,
    b: float,
    tol: float,
    patience: int,
    edge: float = np.inf,
) -> Descent:
    """Move the multipliers of some samples until the gap is a share of `tol`, or that is slow.

    Parameters
    ----------
    samples : Samples
    rows : int array
        The numbers of those that take part, ascending.
    c, alpha : float arrays
        The bounds of their multipliers, and where these begin.
    pull : Pull
        The others.
    b : float
    tol : float
    patience : int
        Visits of each sample, on average, after which what is left of the gap should have halved.
    edge : float
        A slack from which on a sample at the bound that it belongs to is not visited again.
    """
    look_up, width = samples.clock.pieces(Kind.READING), samples.source.n_entries / samples.n
    block, at = take_rows(samples.source, rows)
    y, n = as_signs(block.label[at] == samples.positive), len(rows)
    some = at[:: max(1, n // SOME)]
    squares = np.empty(len(some))
    slack.squares(block.rows, some, squares)
    lean = LEAN * float(squares.mean()) or 1.0
    m = Multipliers(y, c, np.zeros(n), alpha.copy())
    w = pull.w.copy()
    slack.total_of(block.rows, at, alpha * y, w)
    order, balance = np.arange(n), pull.balance + float(alpha @ y)
    line = Line(SEED, n, b, balance, pull.total + float(alpha.sum()), -edge, edge, np.inf)
    visits, least, last = 0, np.inf, 0
    at_a_time = max(1, int(READ / width))
    while True:
        look_up(READ)
        found = slack.descend(block.rows, at, m, order, w, lean, line, tol, at_a_time)
        line, visited, gap = found
        visits += visited
        if gap < 0.5 * least:
            least, last = gap, visits
        if gap <= tol or visits > last + patience * n:
            return Descent(w, line.b, m.alpha, max(line.high, -line.low), gap <= tol)
