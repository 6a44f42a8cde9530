"""Whether a hyperplane separates two classes, decided with evidence.

Signed augmented samples ``z_i = y_i(x_i, 1)`` throughout. Either a ``θ`` has ``z_i·θ > 0`` for
all of them, or some of them cancel with positive weights (Gordan). Floating point *finds* the
candidates quickly; whether they prove anything is settled in exact arithmetic.

If samples cancel, every hyperplane with no sample on its wrong side is zero on them, hence on
all that they span. Seen along the directions that are left (facial reduction [1]_) the question
is the same one again: until a θ is positive on all samples that are left (quasi-separable), or
no direction or no sample is left (inseparable).

References
----------
.. [1] J. M. Borwein and H. Wolkowicz, "Regularizing the abstract convex program", Journal of
   Mathematical Analysis and Applications 83(2), 1981.
"""

from __future__ import annotations

import enum
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.identical import distinct
from rosenblatt.exact import null_basis
from rosenblatt.exact.rationals import floats_of
from rosenblatt.exact.systems import cost_of_products, cost_of_reducing
from rosenblatt.nearest.hulls import shortest_sum
from rosenblatt.nearest.scans import worst
from rosenblatt.nearest.working_set import Samples, batch
from rosenblatt.results import Inseparable, Undecided
from rosenblatt.running.clock import Clock, Halt, Kind, OutOfWork
from rosenblatt.running.notes import Notes
from rosenblatt.running.threads import blas_threads_for
from rosenblatt.separation import evidence
from rosenblatt.separation.coordinates import LinearView, WholeView, combined
from rosenblatt.separation.evidence import NONE, Cancelling, cancel
from rosenblatt.separation.faces import all_that_cancel, peeled
from rosenblatt.separation.log import SearchLog
from rosenblatt.separation.programs import decide, interior_vertex, simplex_vertex
from rosenblatt.separation.soon import soon_separated

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.sources import Source
    from rosenblatt.exact.rationals import Mask
    from rosenblatt.nearest.hulls import Nearest
    from rosenblatt.results import Certificate
    from rosenblatt.running.threads import Team
    from rosenblatt.separation.coordinates import View

    # Coefficients in the coordinates of a view, or, exactly, the vector (w, b) itself.
    Direction = Floats | list[Fraction]

WIDE = 500  # features from which it is worth looking for a quick answer first
LOOSE = 0.05  # the gap, beside the objective, at which a hyperplane is good enough to try
MANY = 1_000_000  # operations of an iteration that are not worth saving
ZOOMS = 3  # how often to magnify before giving up on floating point
SPECTRUM = 8  # products for each in X.T @ X that singular vectors take
SHORT = 40  # unknowns up to which exact arithmetic is quicker than magnifying
SORTING = 20  # numbers to read take as long as one to find its place among all
SET_UP = 8  # passes over a working set before it can be solved
WHOLE = 10  # units of exact arithmetic for each number in one that rounding would spoil
SOON = 20  # passes over the data that a quick answer may take
MEANS, SIDES = 20, 4  # passes over rows that a bound on the widest margin takes


class Care(enum.IntEnum):
    """How much of the work is left to floating point; more where the evidence did not hold."""

    FLOATS = 0  # it finds candidates, and tells on which side of them samples are
    SIGNS = 1  # it finds candidates
    NOTHING = 2  # it says only where to begin


def find_certificate(
    source: Source,
    team: Team,
    positive: int,
    clock: Clock,
    care: Care = Care.FLOATS,
    quick: bool = True,
    notes: Notes | None = None,
) -> Certificate:
    """The verdict on class `positive` against the rest, with its evidence.

    When the clock is over, the question is left undecided. More `care` is slower: for data on
    which the evidence found otherwise does not hold. With `quick` the maximum margin's method may
    be asked first, if there are many features. If there are `notes` of the same search, it goes on
    where they end.
    """
    search = Search(Samples(source, team, positive, clock), care, quick, notes or Notes())
    clock.keep(clock.seconds(Kind.READING, SIDES * source.n_entries))
    products = batch(source.n_features) * source.n_features**2
    # What overflows is settled exactly.
    with blas_threads_for(products), np.errstate(all="ignore"):
        try:
            return search.run()
        except Halt:
            return search.undecided(Undecided.TIME)
        except OutOfWork:
            return search.undecided(Undecided.WORK)


class Search:
    """The search for a certificate."""

    def __init__(self, samples: Samples, care: Care, quick: bool, notes: Notes) -> None:
        self.samples, self.care = samples, care
        self.quick = quick and not care and samples.d >= WIDE
        self.clock, self.look_up = samples.clock, samples.clock.look_up
        self.rng = np.random.default_rng(0)
        self.exact_step = samples.clock.pieces(Kind.EXACT)
        # The best hyperplane so far, and the closest points of the hulls.
        self.margin, self.theta = -np.inf, np.empty(0)
        self.distance, self.mixture = np.inf, (NONE, np.empty(0))
        self.log = SearchLog(self, notes)

    def run(self) -> Certificate:
        """Decide strict separability; if there is none, which of the other two verdicts."""
        samples = self.samples
        if self.quick and (quick := self.quickly()) is not None:
            return evidence.separable(samples, quick)
        begun = self.log.faces() or self.begin()
        if not isinstance(begun, tuple):
            return begun
        first, spanning, basis = begun
        while len(basis) <= samples.d:
            self.log.note("faces", found=(first, spanning, basis))
            Z = samples.signed(basis)
            with samples.system(cost_of_reducing(Z)):
                directions = null_basis(Z)
            active = self.not_zero(directions)
            if not active.any():
                break
            rows = samples.some(batch(len(directions)), active)
            view = LinearView(samples, directions, rows, active)
            found = self.decide(view, rows, basis)
            if not isinstance(found, Cancelling):
                theta = self.weak(view, found)
                return evidence.quasi_separable(samples, first, spanning, theta, active)
            spanning = evidence.joined(samples, spanning, found)
            rows = spanning.rows
            basis = rows[evidence.independent(samples, samples.signed(rows))[0]]
        meeting = evidence.meeting_point(samples, first)
        return Inseparable(**meeting, **evidence.spanning(samples, spanning))

    def begin(self) -> Certificate | tuple[Cancelling, Cancelling, Ints]:
        """How samples cancel, first and altogether, and independent ones of the latter.

        Or the certificate, if it is found on the way. That no others cancel is not certain yet.
        """
        samples, d = self.samples, self.samples.d
        rows = samples.some(max(batch(d), MANY // (d + 1) ** 2))
        with self.set_up(rows):
            whole = WholeView(samples, rows)
        # Looked for first where that takes less than one step of what comes next.
        step, looking = len(rows) * (d + 1) ** 2, samples.source.n_entries + SORTING * samples.n
        soon = max(looking, MANY) < step
        first = found = self.twins() if soon else None
        if found is None:
            answer = self.decide(whole, rows, NONE)
            if not isinstance(answer, Cancelling):
                return evidence.separable(samples, answer)
            found, first = answer, None if soon else self.twins()
        first = first or found
        # One way to cancel: without one of them they are independent.
        basis = found.rows[:-1]
        if len(basis) > d or self.care:
            return first, found, basis
        left, theta = peeled(samples, rows)
        every, face = all_that_cancel(self, whole, samples.some(batch(d), left), NONE, left)
        if every is None:
            return first, found, basis
        if theta.any() and (left == face.left).all() and (samples.signs(theta) == ~left).all():
            numbers = [Fraction(v) for v in theta.tolist()]
            return evidence.quasi_separable(samples, first, every, numbers, ~left)
        return first, every, face.spanned

    def quickly(self) -> Floats | None:
        """A θ that separates, if the maximum margin's method soon comes across one.

        With many features most data are separable, and a working set of this search is large.
        """
        self.clock.afford(self.clock.seconds(Kind.READING, SOON * self.samples.source.n_entries))
        notes = self.log.notes.of("quick")
        if notes.page("in vain"):
            return None
        theta = soon_separated(self.samples, notes)
        if theta is None:
            notes.done("in vain", True)
        return theta

    def set_up(self, rows: Ints, view: View | None = None) -> AbstractContextManager[None]:
        """Make a working set of these rows, if there is time for it."""
        numbers = len(rows) * (self.samples.d + 1)
        if isinstance(view, LinearView) and view.exact:
            return self.clock.task(Kind.EXACT, WHOLE * numbers)
        return self.clock.task(Kind.READING, SET_UP * numbers)

    # The question, in the coordinates of a view ------------------------------------------------

    def not_zero(self, directions: list[list[int]]) -> Mask:
        """The rows that are not zero along all of these directions.

        Zero along one random direction means zero along all, but for a very unlikely chance.
        """
        mix = self.rng.integers(1, 1 << 20, len(directions)).tolist()
        return np.asarray(self.samples.signs(combined(mix, directions, Fraction(0))) != 0)

    def decide(self, view: View, rows: Ints, basis: Ints) -> Direction | Cancelling:
        """A θ that is positive on all samples of the view, or samples of it that meet."""
        current, D = view, self.samples.d + 1 - len(basis)
        tries = 0 if self.care is Care.NOTHING else 1 if D <= SHORT else ZOOMS + 1
        last = self.log.exact_rows()
        if last is not None:
            return self.decide_exactly(view, last, basis)
        zooms, rows = self.log.working_set(rows)
        for near, weights in zooms:
            current = current.zoomed(near, weights)
        for k in range(len(zooms), tries):
            answer, rows, found = self.attempt(current, rows, basis, zooms)
            if answer is not None:
                return answer
            if found is None:
                break
            closest = np.argsort(found.slack / found.weights)
            if k < tries - 1:
                used = int((found.weights > found.slack).sum())
                near = closest[: max(len(found.theta) + 1, used)]
                spectrum = SPECTRUM * len(near) * D * D
                whole = self.clock.seconds(Kind.EXACT, 2 * WHOLE * len(near) * D)
                self.clock.afford(self.clock.seconds(Kind.PRODUCTS, spectrum) + whole)
                zooms = [*zooms, (rows[near], found.weights[near])]
                current = self.clock.waiting_for(partial(current.zoomed, *zooms[-1]), spectrum)
            rows = rows[closest]
        return self.decide_exactly(view, rows[: 2 * self.samples.d + 20], basis)

    def attempt(
        self, view: View, rows: Ints, basis: Ints, zooms: list[tuple[Ints, Floats]]
    ) -> tuple[Direction | Cancelling | None, Ints, Nearest | None]:
        """`decide` by floating point; None if it cannot. Also the working set at the end.

        The `zooms` are how the view was made.
        """
        while True:
            self.log.note("set", zooms=zooms, rows=rows)
            with self.set_up(rows, view):
                Z, groups = view.vectors(rows)
            if not np.isfinite(Z).all():
                return None, rows, None
            nearest = partial(shortest_sum, Z, groups, tol=LOOSE, look_up=self.clock.pieces())
            found = self.clock.waiting_for(nearest, Z.size * min(Z.shape))
            if found.meets or found.t.sum() <= 0:
                break
            coefficients = view.coefficients(found)
            if not np.isfinite(coefficients).all():
                return None, rows, None
            direction: Direction = coefficients
            if isinstance(view, LinearView) and view.exact:
                direction = _shrunk(view.lift_floats(list(map(Fraction, coefficients.tolist()))))
            level, most = found.t.sum() / 2, batch(len(found.theta))
            if isinstance(view, WholeView) and not self.care:
                least, new = self.samples.scan(coefficients, level, most, rows)
                self.narrow(view, found, rows, direction, least)
                if least > 0:
                    return direction, rows, found
                if not new.size:
                    break
                rows = np.concatenate([rows, new])
                continue
            values = self.values(view, direction)
            if isinstance(view, WholeView):
                self.narrow(view, found, rows, direction, float(values.min()))
            if values.min() > 0 and self.care and not isinstance(direction, list):
                right = self.samples.signs(view.theta(direction)) > 0
                values[~right & np.isfinite(values)] = 0.0
            if values.min() > 0:
                return direction, rows, found
            new = worst(values, level, most, rows)
            if not new.size:
                break
            rows = np.concatenate([rows, new])
        if isinstance(view, LinearView) and not view.exact:
            meeting, _ = all_that_cancel(self, view, rows, basis, view.active)
            if meeting is not None:
                return meeting, rows, None
        return self.vertex(Z, groups, found.meets, rows, basis), rows, found

    def values(self, view: View, direction: Direction) -> Floats:
        """``z·θ`` of every row, infinite where a row is not in the view, or certainly positive."""
        if isinstance(direction, list):
            values = self.samples.values(floats_of(direction))
            wrong = self.samples.signs(direction) <= 0
            values[~wrong] = np.inf
            values[wrong] = np.minimum(np.nan_to_num(values[wrong], nan=0.0), 0.0)
        else:
            values = self.samples.values(view.theta(direction))
        if isinstance(view, LinearView):
            values[~view.active] = np.inf
        return values

    def narrow(self, view: WholeView, found: Nearest, rows: Ints, theta: Any, low: float) -> None:
        """Keep what says the most about the widest margin, one hyperplane and one sum."""
        length = float(np.linalg.norm(theta[:-1]))
        margin = low / length if length > 0 else -np.inf
        if margin > self.margin or not self.theta.size:
            self.margin, self.theta = margin, theta
        distance = float(np.linalg.norm(np.ldexp(found.theta, view.powers[:-1])))
        if distance < self.distance or not self.mixture[0].size:
            self.distance, self.mixture = distance, (rows, found.weights)

    def undecided(self, why: str) -> Undecided:
        """Between what the widest margin lies; at worst from the line between two means."""
        samples, low, high = self.samples, -np.inf, np.inf
        (rows, weights), theta = self.mixture, self.theta if self.theta.size else None
        self.clock.use_kept()
        try:
            if not rows.size:
                rows = samples.some(batch(samples.d))
                weights = np.ones(len(rows))
            with self.clock.task(Kind.READING, MEANS * len(rows) * samples.d):
                points = evidence.points(samples, rows, weights)
            high = evidence.at_most(points)
            theta = evidence.line(points) if theta is None else theta
            if theta is not None:
                with self.clock.task(Kind.READING, SIDES * samples.source.n_entries):
                    low = evidence.at_least(samples, theta)
        except Halt:
            pass  # what is known by now
        return Undecided((low, high), why)

    def spend(self, products: int, bits: int) -> None:
        """Before a step in exact arithmetic, see whether there is time and work left for it."""
        units = cost_of_products(products, bits)
        self.clock.spend(units)
        self.exact_step(units)

    def vertex(
        self, Z: Floats, groups: Floats, crossing: bool, rows: Ints, basis: Ints
    ) -> Cancelling | None:
        """As few of the rows as possible that meet; None if floats cannot find them.

        The vertex of least random cost. Where the hulls only touch the interior-point method
        comes to no clear end; the simplex method, slower, does.
        """
        for method in [interior_vertex] * 2 * crossing + [simplex_vertex] * 2:
            self.look_up()
            prices = 0.5 + self.rng.random(len(rows))
            for used in method(Z, groups, prices, self.samples.clock):
                found = cancel(self.samples, rows[used], basis)
                if found is not None:
                    return found
        return None

    def decide_exactly(self, view: View, rows: Ints, basis: Ints) -> Direction | Cancelling:
        """`decide` without floating point."""
        while True:
            self.log.note("exactly", rows=rows)
            answer = decide(view.integers(rows), self.spend)
            if answer.theta is None:
                meeting = cancel(self.samples, rows[answer.support], basis)
                assert meeting is not None
                return meeting
            theta = _shrunk(view.lift([Fraction(v) for v in answer.theta]))
            values = self.values(view, theta)
            if values.min() > 0:
                return theta
            new = worst(values, np.inf, 20, rows)
            assert new.size  # the rows themselves are settled
            first = np.array(answer.basis)
            rest = np.setdiff1d(np.arange(len(rows)), first)
            rows = np.concatenate([rows[first], new, rows[rest]])

    # Evidence ---------------------------------------------------------------------------------

    def twins(self) -> Cancelling | None:
        """Two identical samples of different classes, the shortest evidence there is."""
        y = self.samples.y
        values = self.samples.values(self.rng.normal(size=self.samples.d + 1)) * y
        ordered = np.sort(values)
        rows = np.flatnonzero(np.isin(values, ordered[1:][ordered[1:] == ordered[:-1]]))
        rows = rows[np.lexsort((y[rows], values[rows]))]
        near = np.flatnonzero((np.diff(values[rows]) == 0) & (np.diff(y[rows]) != 0))
        pairs = np.sort(np.column_stack([rows[near], rows[near + 1]]), axis=1)
        for pair in pairs[np.argsort(pairs[:, 0])]:
            if len(distinct(self.samples.matrix[pair])[0]) == 1:
                return Cancelling(pair, np.ones(2), NONE, np.empty(0))
        return None

    def weak(self, view: LinearView, direction: Direction) -> list[Fraction]:
        """A θ that is zero on all samples that cancel and positive on all others, exactly.

        With as few digits as possible, so that floats can hold it.
        """
        if isinstance(direction, list):
            return direction
        for digits in (5, 10, 15, 20, 30, 40, 53):
            theta = view.lift_floats(_rounded(direction, view.powers, digits))
            if (self.samples.signs(theta)[view.active] > 0).all():
                return theta
        rows = self.samples.some(batch(len(view.basis)), view.active)
        self.log.close()
        found = self.decide_exactly(view, rows[: 2 * len(view.basis) + 20], NONE)
        assert isinstance(found, list)
        return found


def _rounded(values: Floats, powers: Ints, digits: int) -> list[Fraction]:
    """The values to so many binary digits, where a value counts by its power of two."""
    largest = int(np.frexp(np.abs(np.ldexp(values, powers)).max())[1])
    units = [Fraction(2) ** (largest - digits - int(power)) for power in powers]
    pairs = zip(values.tolist(), units, strict=True)
    return [round(Fraction(v) / unit) * unit for v, unit in pairs]


def _shrunk(numbers: list[Fraction]) -> list[Fraction]:
    """A hyperplane times a power of two: w about 1, unless its bias would be too large."""
    *w, b = (v.numerator.bit_length() - v.denominator.bit_length() for v in numbers)
    powers = [p for p, v in zip(w, numbers, strict=False) if v]
    power = max([*powers, b - 1000 if numbers[-1] else b])
    return [v * Fraction(2) ** -power for v in numbers]
