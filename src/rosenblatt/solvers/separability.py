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

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.certificates import Inseparable, QuasiSeparable, Separable, Undecided
from rosenblatt.exact import independent_rows, null_basis
from rosenblatt.results import Hyperplane, StopReason
from rosenblatt.solvers.evidence import (
    NONE,
    Meeting,
    basis_of,
    cancel,
    interior_vertex,
    joined,
    never_positive,
    simplex_vertex,
    spanning_weights,
)
from rosenblatt.solvers.exact_simplex import decide
from rosenblatt.solvers.max_margin import MaxMargin
from rosenblatt.solvers.nearest import nearest
from rosenblatt.solvers.stopping import Halt
from rosenblatt.solvers.views import LinearView, WholeView
from rosenblatt.solvers.working_set import Clock, NotSeparable, Samples, batch, worst

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.certificates import Certificate
    from rosenblatt.solvers.nearest import Nearest
    from rosenblatt.solvers.threads import Team
    from rosenblatt.solvers.views import View
    from rosenblatt.sources import Source

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    # Coefficients in the coordinates of a view, or, exactly, the vector (w, b) itself.
    Direction = Floats | list[Fraction]

WIDE = 500  # features from which it is worth looking for a quick answer first
ANY = 0.999  # a gap that any hyperplane has that separates all samples
LOOSE = 0.05  # the gap, beside the objective, at which a hyperplane is good enough to try
MANY = 1_000_000  # operations of an iteration that are not worth saving
ZOOMS = 3  # how often to magnify before giving up on floating point


def find_certificate(
    source: Source,
    team: Team,
    positive: int,
    max_time: float | None = None,
    *,
    exactly: bool = False,
) -> Certificate:
    """The verdict on class `positive` against the rest, with its evidence.

    Parameters
    ----------
    source : Source
    team : Team
    positive : int
    max_time : float, optional
        Seconds after which it is left undecided.
    exactly : bool
        Whether to decide without floating point from the start, which is slow: for data on
        which the evidence found otherwise does not hold.
    """
    search = Search(Samples(source, team, positive, Clock(max_time)), exactly)
    with np.errstate(all="ignore"):  # what overflows is settled exactly
        try:
            return search.run()
        except Halt:
            search.samples.clock.end = None  # one more scan, for a bracket
            return Undecided(search.bracket())


class Search:
    """The search for a certificate."""

    def __init__(self, samples: Samples, exactly: bool) -> None:
        self.samples, self.exactly = samples, exactly
        self.look_up = samples.clock.look_up
        self.rng = np.random.default_rng(0)
        self.widest = (-np.inf, np.inf)

    def run(self) -> Certificate:
        """Decide strict separability; if there is none, which of the other two verdicts."""
        samples = self.samples
        quick = None if self.exactly or samples.d < WIDE else self.quickly()
        if quick is not None:
            return self.separable(quick)
        rows = samples.some(max(batch(samples.d), MANY // (samples.d + 1) ** 2))
        whole = WholeView(samples, rows)
        found = self.decide(whole, rows, NONE)
        if not isinstance(found, Meeting):
            return self.separable(found)
        spanning = found
        first = self.twins() or found
        basis = found.rows[:-1]  # one way to cancel: without one of them they are independent
        while len(basis) <= samples.d:
            directions = null_basis(samples.signed(basis))
            active = self.not_zero(directions)
            if not active.any():
                break
            rows = samples.some(batch(len(directions)), active)
            view = LinearView(samples, directions, rows, active)
            found = self.decide(view, rows, basis)
            if not isinstance(found, Meeting):
                weak = self.weak(view, found)
                return self.quasi(self.meeting_point(first), spanning, view, weak)
            spanning = joined(samples, spanning, found)
            basis = basis_of(samples, spanning.rows)
        return Inseparable(*self.meeting_point(first), spanning.rows, spanning.weights)

    def quickly(self) -> Floats | None:
        """A θ that separates, if the maximum margin's method soon comes across one.

        With many features most data are separable, and a working set of this search is large.
        """
        solver = MaxMargin(self.samples, np.ones(self.samples.n, bool), tol=ANY)
        try:
            if solver.run() is StopReason.INTERRUPTED:
                raise KeyboardInterrupt
        except NotSeparable:
            return None
        self.look_up()
        theta = np.append(solver.best.w, solver.best.b)
        right = solver.best.primal < np.inf and bool((self.samples.signs(theta) > 0).all())
        return theta if right else None

    # The question, in the coordinates of a view ------------------------------------------------

    def not_zero(self, directions: list[list[int]]) -> NDArray[np.bool_]:
        """The rows that are not zero along all of these directions.

        Zero along one random direction means zero along all, but for a very unlikely chance.
        """
        mix = [int(u) for u in self.rng.integers(1, 1 << 20, len(directions))]
        columns = zip(*directions, strict=True)
        theta = [Fraction(sum(u * v for u, v in zip(mix, c, strict=True))) for c in columns]
        active: NDArray[np.bool_] = self.samples.signs(theta) != 0
        return active

    def decide(self, view: View, rows: Ints, basis: Ints) -> Direction | Meeting:
        """A θ that is positive on all samples of the view, or samples of it that meet."""
        current = view
        for _ in range(0 if self.exactly else ZOOMS + 1):
            answer, rows, found = self.attempt(current, rows, basis)
            if answer is not None:
                return answer
            if found is None:
                break
            closest = np.argsort(found.slack / found.weights)
            near = closest[: max(len(found.theta) + 1, int((found.weights > found.slack).sum()))]
            current = current.zoomed(rows[near], found.weights[near])
            rows = rows[closest]
        return self.decide_exactly(view, rows[: 2 * self.samples.d + 20], basis)

    def attempt(
        self, view: View, rows: Ints, basis: Ints
    ) -> tuple[Direction | Meeting | None, Ints, Nearest | None]:
        """`decide` by floating point; None if it cannot. Also the working set at the end."""
        while True:
            Z, groups = view.vectors(rows)
            if not np.isfinite(Z).all():
                return None, rows, None
            if isinstance(view, LinearView) and not view.exact:
                meeting = self.face(view, rows, basis)
                if meeting is not None:
                    return meeting, rows, None
            found = nearest(Z, groups, tol=LOOSE, look_up=self.look_up)
            if found.meets or found.t.sum() <= 0:
                break
            coefficients = view.coefficients(found)
            if not np.isfinite(coefficients).all():
                return None, rows, None
            direction: Direction = coefficients
            if isinstance(view, LinearView) and view.exact:
                exact = [Fraction(c) for c in coefficients.tolist()]
                direction = _shrunk(view.lift_floats(exact))
            values = self.values(view, direction)
            if isinstance(view, WholeView):
                self.narrow(view, found, values, direction)
            if values.min() > 0:
                return direction, rows, found
            new = worst(values, found.t.sum() / 2, batch(len(found.theta)), rows)
            if not new.size:
                break
            rows = np.concatenate([rows, new])
        return self.vertex(Z, groups, found.meets, rows, basis), rows, found

    def values(self, view: View, direction: Direction) -> Floats:
        """``z·θ`` of every row, infinite where a row is not in the view, or certainly positive."""
        if isinstance(direction, list):
            values = self.samples.values(_floats(direction))
            wrong = self.samples.signs(direction) <= 0
            values[~wrong] = np.inf
            values[wrong] = np.minimum(values[wrong], 0.0)
        else:
            values = self.samples.values(view.theta(direction))
        if isinstance(view, LinearView):
            values[~view.active] = np.inf
        return values

    def narrow(self, view: WholeView, found: Nearest, values: Floats, theta: Any) -> None:
        """Note between what the widest margin lies, from one hyperplane and one sum."""
        norm = float(np.linalg.norm(theta[:-1]))
        lower = float(values.min()) / norm if norm > 0 else -np.inf
        upper = float(np.linalg.norm(np.ldexp(found.theta, view.powers[:-1]))) / 2
        self.widest = (max(self.widest[0], lower), min(self.widest[1], upper))

    def bracket(self) -> tuple[float, float]:
        """Between these lies the widest margin: at worst from the line between two means."""
        rows = self.samples.some(batch(self.samples.d))
        X, y = self.samples.gather(rows)[:, :-1], self.samples.y[rows]
        one, other = X[y > 0].mean(axis=0), X[y < 0].mean(axis=0)
        w = one - other
        norm = float(np.linalg.norm(w))
        lower, upper = self.widest
        if norm > 0:
            theta = np.append(w, -float(w @ (one + other)) / 2)
            lower = max(lower, float(self.samples.values(theta).min()) / norm)
        return lower, min(upper, norm / 2)

    def vertex(
        self, Z: Floats, groups: Floats, crossing: bool, rows: Ints, basis: Ints
    ) -> Meeting | None:
        """As few of the rows as possible that meet; None if floats cannot find them.

        The vertex of least random cost. Where the hulls only touch the interior-point method
        comes to no clear end; the simplex method, slower, does.
        """
        for method in [interior_vertex] * 2 * crossing + [simplex_vertex] * 2:
            self.look_up()
            costs = 0.5 + self.rng.random(len(rows))
            used = method(Z, groups, costs, self.samples.clock)
            found = cancel(self.samples, rows[used], basis)
            if found is not None:
                return found
        return None

    def face(self, view: LinearView, rows: Ints, basis: Ints) -> Meeting | None:
        """Samples that cancel and span all that do; None if none do, or floats fail."""
        while True:
            self.look_up()
            Z = view.scaled(rows)
            zero, coefficients = never_positive(Z, self.samples.clock)
            if not zero.any():
                return None
            values = self.values(view, np.ldexp(coefficients, -view.powers))
            values[~view.active] = 0.0
            new = worst(values, -1e-6 * float(np.abs(values).max()), batch(Z.shape[1]), rows)
            if not new.size:
                break
            rows = np.concatenate([rows, new])
        rows, Z = rows[zero], Z[zero]
        both = np.concatenate([basis, rows])
        chosen = independent_rows(self.samples.signed(both))[0]
        added = chosen[chosen >= len(basis)] - len(basis)
        costs = 0.5 + self.rng.random(len(rows))
        weights = spanning_weights(Z, added, costs, self.samples.clock)
        if weights is None:
            return None
        used = weights > 0
        return cancel(self.samples, rows[used], basis, weights[used])

    def decide_exactly(self, view: View, rows: Ints, basis: Ints) -> Direction | Meeting:
        """`decide` without floating point."""
        while True:
            found, support = decide(view.integers(rows), self.look_up)
            if found is None:
                meeting = cancel(self.samples, rows[support], basis)
                assert meeting is not None
                return meeting
            theta = _shrunk(view.lift([Fraction(v) for v in found]))
            values = self.values(view, theta)
            if values.min() > 0:
                return theta
            new = worst(values, np.inf, 20, rows)
            assert new.size  # the rows themselves are settled
            rows = np.concatenate([rows, new])

    # Evidence ---------------------------------------------------------------------------------

    def twins(self) -> Meeting | None:
        """Two identical samples of different classes, the shortest evidence there is."""
        y = self.samples.y
        values = self.samples.values(self.rng.normal(size=self.samples.d + 1)) * y
        ordered = np.sort(values)
        rows = np.flatnonzero(np.isin(values, ordered[1:][ordered[1:] == ordered[:-1]]))
        rows = rows[np.lexsort((y[rows], values[rows]))]
        near = np.flatnonzero((np.diff(values[rows]) == 0) & (np.diff(y[rows]) != 0))
        pairs = np.sort(np.column_stack([rows[near], rows[near + 1]]), axis=1)
        for pair in pairs[np.argsort(pairs[:, 0])]:
            one, other = self.samples.gather(pair)
            if np.array_equal(one, other):
                return Meeting(pair, np.ones(2), NONE, np.empty(0))
        return None

    def meeting_point(self, meeting: Meeting) -> tuple[Ints, Floats, Floats]:
        """The support, its weights, summing to 1 in each class, and the point they make."""
        weights = meeting.weights / meeting.weights.max()
        weights = weights / (weights.sum() / 2)
        X, y = self.samples.gather(meeting.rows)[:, :-1], self.samples.y[meeting.rows]
        return meeting.rows, weights, (weights[y > 0, np.newaxis] * X[y > 0]).sum(axis=0)

    def separable(self, direction: Direction) -> Separable:
        """The certificate of a θ, in floats if they will do."""
        exact = None
        if isinstance(direction, list):
            theta = _floats(direction)
            if not (self.samples.signs(theta) > 0).all():
                exact = tuple(direction)
        else:  # a power of two changes no sign
            theta = np.ldexp(direction, -int(np.frexp(np.abs(direction[:-1]).max())[1]))
        margin = self.samples.margin(theta if exact is None else exact)
        return Separable(Hyperplane(theta[:-1], float(theta[-1])), margin, exact)

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
        found = self.decide_exactly(view, rows[: 2 * len(view.basis) + 20], NONE)
        assert isinstance(found, list)
        return found

    def quasi(
        self,
        evidence: tuple[Ints, Floats, Floats],
        spanning: Meeting,
        view: LinearView,
        theta: list[Fraction],
    ) -> QuasiSeparable:
        """The certificate of a weak θ, in floats if they can hold it."""
        floats = _floats(theta)
        held = all(Fraction(f) == v for f, v in zip(floats.tolist(), theta, strict=True))
        return QuasiSeparable(
            *evidence,
            Hyperplane(floats[:-1], float(floats[-1])),
            np.flatnonzero(~view.active),
            spanning.rows,
            spanning.weights,
            None if held else tuple(theta),
        )


def _floats(numbers: list[Fraction]) -> Floats:
    """The nearest floats."""
    return np.array([float(v) for v in numbers])


def _rounded(values: Floats, powers: NDArray[np.int64], digits: int) -> list[Fraction]:
    """The values to so many binary digits, where a value counts by its power of two."""
    largest = int(np.frexp(np.abs(np.ldexp(values, powers)).max())[1])
    units = [Fraction(2) ** (largest - digits - int(power)) for power in powers]
    return [
        round(Fraction(v) / unit) * unit for v, unit in zip(values.tolist(), units, strict=True)
    ]


def _shrunk(numbers: list[Fraction]) -> list[Fraction]:
    """The numbers times one power of two, the largest about 1."""
    largest = max(abs(v) for v in numbers)
    power = largest.numerator.bit_length() - largest.denominator.bit_length()
    return [v * Fraction(2) ** -power for v in numbers]
