"""The best hyperplane without rounding: an active-set method in rational numbers.

::

    maximise   Σ α_i - ½‖Σ α_i y_i x_i‖²     with 0 <= α_i <= c_i,  Σ α_i y_i = 0

the dual of the soft-margin problem, or, without the upper bounds, of the maximum-margin problem.
The *free* multipliers are taken to where the objective is largest, all others being fixed, or as
far as their bounds allow; then one is freed whose sample is on the wrong side of the edge of the
margin. The objective rises each time, so this ends (R. Fletcher, "Practical Methods of
Optimization", 2nd ed., 1987, section 10.3). It is the slow way that rounding cannot spoil, for
where floats have come to no good end; they give it a start that is close.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from rosenblatt.exact import independent_rows
from rosenblatt.exact.rationals import as_integers
from rosenblatt.running.clock import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.nearest.working_set import Samples


MOST_WORK = 2e8  # elementary operations, roughly
EACH = 50  # of them for a sample, whatever its size
STALLED = 20  # steps of length zero after which the lowest row goes first


class Exactly(NamedTuple):
    """Where the method ended.

    Attributes
    ----------
    w, b : list of Fraction, Fraction
        The hyperplane.
    rows, alpha : int array, list of Fraction
        The samples with positive multipliers, and these, balanced and within their bounds.
    optimal : bool
        Whether it is the best; otherwise the work came to its limit.
    """

    w: list[Fraction]
    b: Fraction
    rows: Ints
    alpha: list[Fraction]
    optimal: bool


def best_hyperplane(
    samples: Samples, used: NDArray[np.bool_], start: Floats, c: Sequence[Fraction] | None
) -> Exactly | None:
    """The best hyperplane; None if there is none, or the work came to its limit before any.

    Parameters
    ----------
    samples : Samples
    used : bool array
        The rows that count.
    start : float array
        Multipliers that may be close; 0 is no bad start.
    c : sequence of Fraction, one for each sample; or None
        The bounds of the multipliers; None: the maximum margin.
    """
    return _ActiveSet(samples, np.flatnonzero(used), start, c).run()


class _ActiveSet:
    """The method's state; samples are whole numbers, ``2**shift`` times the real ones."""

    def __init__(
        self, samples: Samples, rows: Ints, start: Floats, c: Sequence[Fraction] | None
    ) -> None:
        self.samples, self.rows = samples, rows
        self.look_up = samples.clock.pieces(Kind.EXACT)
        X = samples.gather(rows)[:, :-1]
        integers, power = as_integers(X)
        self.shift, self.X = -power, fmpz_mat(integers.tolist())
        self.floats, self.y = X, [int(v) for v in samples.y[rows]]
        self.bits = max(1, max((int(v).bit_length() for v in self.X.entries()), default=1))
        unit = Fraction(4) ** -self.shift
        self.c = None if c is None else [_rational(c[i] * unit) for i in rows.tolist()]
        self.work, self.stalled = 0.0, 0
        self.alpha = [fmpq(0)] * len(rows)
        self._begin(start[rows], unit)

    def _begin(self, start: Floats, unit: Fraction) -> None:
        """Feasible multipliers near the start; the free ones are affinely independent."""
        y, weights = np.array(self.y), np.where(np.isfinite(start), start, 0.0)
        alpha = [Fraction(a) * unit for a in np.maximum(weights, 0.0).tolist()]
        if self.c is not None:
            alpha = [min(a, _fraction(c)) for a, c in zip(alpha, self.c, strict=True)]
        pairs = list(zip(alpha, self.y, strict=True))
        hefts = [sum((a for a, s in pairs if s == side), Fraction(0)) for side in (-1, 1)]
        if min(hefts) > 0:
            low = min(hefts)
            self.alpha = [_rational(a * low / hefts[s > 0]) for a, s in pairs]
        order = np.argsort(-weights, kind="stable")
        order = order[[self.alpha[k] > 0 for k in order]]
        if not order.size:
            first = [int(np.flatnonzero(y == side)[0]) for side in (-1, 1)]
            order = np.array(first)
        inside = np.array([self._inside(k) for k in order.tolist()], dtype=bool)
        order = order[inside]
        augmented = np.column_stack([self.floats[order], np.ones(len(order))])
        self.free = order[independent_rows(augmented)[0]].tolist() if order.size else []

    def _inside(self, k: int) -> bool:
        return self.c is None or self.alpha[k] < self.c[k] or self.alpha[k] == 0

    # One step -------------------------------------------------------------------------------------

    def run(self) -> Exactly | None:
        """Go on until nothing is on the wrong side of its edge."""
        self.w = self._sum(range(len(self.rows)))
        while True:
            units = self._units()
            self.look_up(units)
            self.work += units
            if self.work > MOST_WORK:
                return self._result(False)
            if self.free:
                values, self.b = self._target()
                if not self._move(values):
                    continue
            self._measure()
            if not self.free and self._settle_bias():
                return self._result(True)
            entering = self._wrong()
            if entering is None:
                return self._result(True)
            if not self._enter(entering):
                return None

    def _units(self) -> float:
        """What the next step takes."""
        k, n, d = len(self.free) + 1, len(self.rows), self.samples.d
        words = 1 + self.bits / 32
        return float(k * k * (k + d) * words**2 + n * (EACH + d * words))

    def _rows(self, rows: Sequence[int]) -> fmpz_mat:
        """Some of the samples."""
        return fmpz_mat([[self.X[i, j] for j in range(self.samples.d)] for i in rows])

    def _sum(self, rows: Sequence[int]) -> list[fmpq]:
        """``Σ α y x`` over these rows."""
        total = fmpq_mat([[self.alpha[k] * self.y[k] for k in rows]]) * fmpq_mat(self._rows(rows))
        return [total[0, j] for j in range(self.samples.d)]

    def _equations(self) -> tuple[fmpz_mat, fmpq_mat]:
        """The free samples, and the matrix of the equations that they satisfy at the target."""
        X = self._rows(self.free)
        G: list[list[Any]] = (X * X.transpose()).tolist()
        return X, fmpq_mat(fmpz_mat([*([*row, 1] for row in G), [1] * len(G) + [0]]))

    def _target(self) -> tuple[list[fmpq], fmpq]:
        """Where the free multipliers should be, and b: ``w·x + b = y`` on their samples."""
        X, K = self._equations()
        others = [a - b for a, b in zip(self.w, self._sum(self.free), strict=True)]
        right = [self.y[i] - v for i, v in zip(self.free, _times(X, others), strict=True)]
        # All multipliers balance, so the free ones do what the others do not.
        balance = sum((self.alpha[i] * self.y[i] for i in self.free), fmpq(0))
        # Over one denominator: fractions on the right would make the whole matrix longer.
        whole, unit = fmpq_mat([[v] for v in [*right, balance]]).numer_denom()
        *v, b = (entry / unit for entry in K.solve(fmpq_mat(whole)).entries())
        return [a * self.y[i] for a, i in zip(v, self.free, strict=True)], b

    def _move(self, target: list[fmpq]) -> bool:
        """Go to the target, or to the first bound on the way, which is then no longer free."""
        step, blocking = fmpq(1), None
        changes = [t - self.alpha[i] for i, t in zip(self.free, target, strict=True)]
        for i, change in zip(self.free, changes, strict=True):
            room = self._room(i, change)
            if room is not None and room < step:
                step, blocking = room, i
        before = self._sum(self.free)
        for i, change in zip(self.free, changes, strict=True):
            self.alpha[i] += step * change
        after = self._sum(self.free)
        self.w = [w + a - b for w, a, b in zip(self.w, after, before, strict=True)]
        if blocking is not None:
            self.free.remove(blocking)
        return blocking is None

    def _room(self, i: int, change: fmpq) -> fmpq | None:
        """How many times a multiplier can change by so much; None: for ever."""
        if change < 0:
            return self.alpha[i] / -change
        if change > 0 and self.c is not None:
            return (self.c[i] - self.alpha[i]) / change
        return None

    def _measure(self) -> None:
        """``w·x`` of every sample, in whole numbers over one denominator."""
        w, self.unit = fmpq_mat([[v] for v in self.w]).numer_denom()
        self.values = (self.X * w).entries()

    def _wrong(self) -> int | None:
        """A sample whose multiplier should change and can; the one farthest from its edge."""
        bias = self.b * self.unit
        # Slacks times the denominators of w and b, which are whole numbers.
        one, shift, times = self.unit * bias.q, bias.p, bias.q
        worst, most, free = None, fmpz(0), set(self.free)
        for k, (y, value) in enumerate(zip(self.y, self.values, strict=True)):
            distance = value * times + shift
            slack = one - distance if y > 0 else one + distance
            size = slack if slack > 0 else -slack
            if (size > most or (self.stalled > STALLED and size)) and k not in free:
                if not self._can_follow(k, slack > 0):
                    continue
                if self.stalled > STALLED:  # the lowest first: this cannot go round in circles
                    return k
                worst, most = k, size
        return worst

    def _can_follow(self, k: int, rising: bool) -> bool:
        """Whether a multiplier can rise, or fall."""
        if rising:
            return self.c is None or bool(self.alpha[k] < self.c[k])
        return bool(self.alpha[k] > 0)

    def _enter(self, j: int) -> bool:
        """Free a multiplier; False if the objective then rises without end."""
        if not self.free:
            self.free = [j]
            return True
        X, K = self._equations()
        d = self.samples.d
        x = [fmpq(self.X[j, i]) for i in range(d)]
        solution = K.solve(fmpq_mat([[v] for v in [*_times(X, x), fmpq(1)]]))
        shares = [solution[i, 0] for i in range(len(self.free))]
        means = fmpq_mat([shares]) * fmpq_mat(X)
        if any(means[0, i] != x[i] for i in range(d)):
            self.free.append(j)
            return True
        # A combination of the free samples: along this line w stays, and nothing bends.
        value = fmpq(self.values[j], self.unit)
        rising = 1 if 1 - self.y[j] * (value + self.b) > 0 else -1
        changes = {
            i: -rising * self.y[j] * self.y[i] * share
            for i, share in zip(self.free, shares, strict=True)
        }
        changes[j] = fmpq(rising)
        rooms = {i: room for i, v in changes.items() if (room := self._room(i, v)) is not None}
        if not rooms:
            return False
        blocking = min(rooms, key=lambda i: rooms[i])
        step = rooms[blocking]
        for i, change in changes.items():
            self.alpha[i] += step * change
        self.stalled = self.stalled + 1 if step == 0 else 0
        if blocking != j:
            self.free[self.free.index(blocking)] = j
        return True

    def _settle_bias(self) -> bool:
        """With no multiplier free, whether a b suits all samples: the middle one. Else the worst.

        A sample whose multiplier is 0 must be beyond its edge, one at its bound before it.
        """
        low: list[tuple[fmpq, int]] = []
        high: list[tuple[fmpq, int]] = []
        for k, (y, number) in enumerate(zip(self.y, self.values, strict=True)):
            edge = y - fmpq(number, self.unit)
            if self._can_follow(k, True):  # no slack: y(value + b) >= 1
                (low if y > 0 else high).append((edge, k))
            if self._can_follow(k, False):
                (high if y > 0 else low).append((edge, k))
        most, least = max(low, default=None), min(high, default=None)
        if most is None or least is None:
            self.b = (most or least or (fmpq(0), 0))[0]
            return True
        self.b = (most[0] + least[0]) / 2
        if most[0] <= least[0]:
            return True
        self.free = [most[1]]
        self.b = most[0]
        return False

    # The end --------------------------------------------------------------------------------------

    def _result(self, optimal: bool) -> Exactly | None:
        """What was found, in the scale of the data."""
        if not hasattr(self, "b"):
            return None
        unit = Fraction(2) ** self.shift
        used = [k for k, a in enumerate(self.alpha) if a > 0]
        alpha = [_fraction(self.alpha[k]) * unit**2 for k in used]
        w = [_fraction(v) * unit for v in self.w]
        return Exactly(w, _fraction(self.b), self.rows[used], alpha, optimal)


def _times(X: fmpz_mat, v: list[fmpq]) -> list[fmpq]:
    """``X v``."""
    product = fmpq_mat(X) * fmpq_mat([[value] for value in v])
    return [product[i, 0] for i in range(X.nrows())]


def _rational(number: Fraction) -> fmpq:
    return fmpq(number.numerator, number.denominator)


def _fraction(number: Any) -> Fraction:
    return Fraction(int(number.p), int(number.q))
