"""Limits of time and of work: what is not begun, what is learnt, what is still answered."""

import time
import warnings

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exact import signs, smallest
from rosenblatt.exact.systems import bits, cost_of_products, cost_of_reducing, cost_of_solving
from rosenblatt.kernel.dual_rule import DualRule
from rosenblatt.kernel.kernel_values import Values
from rosenblatt.margin import proving
from rosenblatt.nearest import max_margin
from rosenblatt.nearest.hulls import ROTATION, shortest_sum
from rosenblatt.results import Undecided
from rosenblatt.running import clock as clocks
from rosenblatt.running.clock import Clock, Halt, Kind, OutOfWork
from rosenblatt.separation import programs, solver


@pytest.fixture
def at(monkeypatch):
    """A clock that goes only when told: ``at[0]`` is the time."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def twins(m, d, span, seed=0):
    """Every row in both classes, with numbers of very different lengths."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * 2.0 ** rng.integers(-span, span + 1, (m, d))
    return np.concatenate([X, X]), np.repeat([0, 1], m)


# The clock ----------------------------------------------------------------------------------------


def test_work_is_not_begun_without_time_for_it(at):
    clock = Clock(max_time=10)
    clock.timed(Kind.READING, 100, 2.0)
    begun = []
    with clock.task(Kind.READING, 400):
        begun.append(400)
        at[0] += 8
    with pytest.raises(Halt), clock.task(Kind.READING, 101):
        begun.append(101)
    assert begun == [400]
    with clock.task(Kind.READING, 99):
        at[0] += 1.98
    Clock().afford(1e9)


def test_the_pace_is_that_of_the_last_work(at):
    clock = Clock(max_time=100)
    with clock.task(Kind.EXACT, 10):
        at[0] += 5
    assert clock.seconds(Kind.EXACT, 4) == 2
    with clock.task(Kind.EXACT, 10):
        at[0] += clocks.NOTICEABLE / 2  # too short to tell
    assert clock.seconds(Kind.EXACT, 4) == 2
    look_up = clock.pieces(Kind.EXACT)
    look_up(10)
    at[0] += 40
    look_up(4)
    assert clock.seconds(Kind.EXACT, 1) == pytest.approx(4)
    at[0] += 16
    with pytest.raises(Halt):
        look_up(10)


def test_time_is_kept_for_the_end(at):
    clock = Clock(max_time=10)
    clock.keep(3)
    at[0] += 7
    with pytest.raises(Halt):
        clock.look_up()
    clock.use_kept()
    assert clock.left() == pytest.approx(3 + clocks.GRACE)
    clock = Clock(max_time=10)
    clock.keep(1000)
    assert clock.left() == 5
    forever = Clock()
    forever.keep(3)
    forever.use_kept()
    assert forever.left() == np.inf


def test_time_may_have_begun_before(at):
    assert Clock(max_time=10, began=at[0] - 4).left() == 6


def test_matrix_products_are_timed_before_the_first(monkeypatch):
    monkeypatch.setattr(clocks, "_product_time", lambda: 2.0)
    assert Clock(max_time=1).seconds(Kind.PRODUCTS, 5) == 10 * clocks.CAREFUL
    assert Clock().seconds(Kind.PRODUCTS, 5) == 0
    monkeypatch.undo()
    assert 0 < Clock(max_time=1).seconds(Kind.PRODUCTS, 1) < 1e-3


def test_every_long_part_of_the_shortest_sum_is_announced():
    told = []
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(6, 40)) + 3
    shortest_sum(Z, np.ones((6, 1)), look_up=told.append)
    assert told[0] == ROTATION * 6 * 6 * 40
    assert set(told[1:]) == {6**3}
    told.clear()
    shortest_sum(Z.T, np.ones((40, 1)), look_up=told.append)
    assert set(told) == {6 * 6 * 40}


def test_no_step_is_begun_that_would_end_too_late(monkeypatch):
    """Were a product to take a second, nothing but reading the data could be afforded."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 600)), np.arange(60) % 2
    steps = []
    for module in (solver, max_margin, programs):
        monkeypatch.setattr(module, "shortest_sum", _watched(steps))
    monkeypatch.setattr(clocks, "_product_time", lambda: 1.0)
    found = rb.separability(X, y, max_time=100)
    assert isinstance(found, Undecided)
    assert found.why == Undecided.TIME
    assert steps == ["begun", "halted"] * (len(steps) // 2)
    assert steps


def _watched(steps):
    def watched(*args, **options):
        steps.append("begun")
        try:
            return shortest_sum(*args, **options)
        except Halt:
            steps.append("halted")
            raise

    return watched


def test_an_open_question_has_its_bracket_in_time(monkeypatch):
    """Where reading the data again takes longer than is left, the bracket is what is known."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    found = rb.separability(X, y, max_time=1e-9)
    assert -np.inf < found.bracket[0] < found.bracket[1] < np.inf
    slow = Clock.__init__

    def crawling(self, *args, **options):
        slow(self, *args, **options)
        self.pace[Kind.READING] = 1.0

    monkeypatch.setattr(Clock, "__init__", crawling)
    assert rb.separability(X, y, max_time=1e-9).bracket == (-np.inf, np.inf)


# Work ---------------------------------------------------------------------------------------------


def test_how_long_integers_are():
    A = np.array([[1.0, 3.0], [0.5, 2.0**60]])
    whole = [[2, 3], [1, 2**60]]  # the first column doubled
    assert bits(A) == max(n.bit_length() for row in whole for n in row)
    assert bits(np.array([[2.0**500, 2.0**-500]])) == 1  # columns are scaled
    assert bits(np.zeros((2, 2))) == 1


def test_costs_grow_with_unknowns_and_digits():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 20))
    long = A * 2.0 ** rng.integers(-200, 200, A.shape)
    assert cost_of_solving(A[:10, :10]) < cost_of_solving(A) < cost_of_solving(long)
    assert cost_of_reducing(A[:5]) < cost_of_reducing(A[:10]) < cost_of_reducing(long[:10])
    assert cost_of_reducing(A) == 0
    assert cost_of_products(10, 64) < cost_of_products(10, 6400) < cost_of_products(100, 6400)


def test_the_limit_of_work_covers_linear_systems(monkeypatch):
    """None is begun whose cost is beyond it; and the answer says so."""
    X, y = twins(8, 12, 100)
    assert rb.separability(X, y).verdict is not rb.Verdict.UNDECIDED
    spent = []
    spend = Clock.spend
    monkeypatch.setattr(Clock, "spend", lambda own, units: spend(own, spent.append(units) or units))
    rb.separability(X, y)
    total = sum(spent)
    largest = max(spent)
    begun = []
    null_basis = solver.null_basis
    monkeypatch.setattr(
        solver, "null_basis", lambda Z: begun.append(cost_of_reducing(Z)) or null_basis(Z)
    )
    for limit in (total / 2, largest * 0.99):
        begun.clear()
        monkeypatch.setattr(clocks, "MOST_WORK", limit)
        found = rb.separability(X, y)
        assert isinstance(found, Undecided)
        assert found.why == Undecided.WORK
        assert 2 * sum(begun) <= limit
        assert found.bracket == rb.separability(X, y).bracket


def test_more_data_may_take_more_work():
    small, large = Clock(), Clock()
    for clock, numbers in ((small, 1), (large, 100)):
        samples = _samples(100 * numbers, 99, clock)
        with samples.system(1000):
            pass
    assert small.work == 2000
    assert large.work == 20
    assert small.systems == large.systems == 1000
    with pytest.raises(OutOfWork), _samples(10, 3, small).system(clocks.MOST_WORK):
        pass


def _samples(n, d, clock):
    from rosenblatt.data.rows import as_rows
    from rosenblatt.data.sources import MemorySource
    from rosenblatt.nearest.working_set import Samples
    from rosenblatt.running.threads import Team

    label = (np.arange(n) % 2).astype(np.int32)
    return Samples(MemorySource(as_rows(np.zeros((n, d))), label, d), Team(1), 1, clock)


def test_long_systems_end_undecided():
    """Fifty rows that all cancel, with numbers of 1800 bits: minutes, were it tried."""
    X, y = twins(50, 100, 900)
    found = rb.separability(X, y)
    assert isinstance(found, Undecided)
    assert found.why == Undecided.WORK
    assert found.bracket[1] >= 0


# Epochs -------------------------------------------------------------------------------------------


def test_a_run_ends_early_enough_to_bring_scores_up_to_date(monkeypatch):
    """Every sample is given the updates that it has not seen, also when the time is over."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 2)), np.arange(50) % 2
    model = rb.KernelPerceptron(max_epochs=3, max_time=1000, gamma=0.1)
    with pytest.warns(UserWarning, match="max_epochs"):
        assert model.fit(X, y).stop_reason_ is rb.StopReason.EPOCH_LIMIT
    monkeypatch.setattr(DualRule, "finishing", lambda rule, seconds: 1001.0)
    with pytest.warns(UserWarning, match="max_time"):
        model.fit(X, y)
    assert model.stop_reason_ is rb.StopReason.TIME_LIMIT
    assert model.n_errors_ == (model.predict(X) != y).sum()


def test_scores_are_not_made_anew_without_time_for_it(monkeypatch):
    """Much in doubt, they are scored again in double precision: not if that would be late."""
    rng = np.random.default_rng(5)
    X, y = 1 + rng.integers(0, 8, (3000, 5)) * 2.0**-52, rng.integers(0, 2, 3000)
    rescored, coming = [], []
    monkeypatch.setattr(Values, "change_precision", lambda values, kind: rescored.append(kind))

    def finishing(rule, seconds):
        coming.append(rule.coming)
        return 1e9 if rule.coming else 0.0

    monkeypatch.setattr(DualRule, "finishing", finishing)
    with pytest.warns(UserWarning, match="max_time"):
        model = rb.KernelPerceptron(max_time=1e6).fit(X, y)
    assert model.stop_reason_ is rb.StopReason.TIME_LIMIT
    assert coming[-1] > 0
    assert not any(coming[:-1])
    assert not rescored


# Work that is of use only if all of it is done ----------------------------------------------------


def test_what_cannot_be_done_in_time_ends_after_its_first_piece(at):
    clock = Clock(max_time=10)
    look_up = clock.whole(Kind.SIDES, 100)
    look_up(10)
    at[0] += 1  # as long for each tenth: nine seconds are left, and enough
    look_up(10)
    at[0] += 2  # slower, and sixteen are not
    with pytest.raises(Halt):
        look_up(10)


def test_exact_sides_are_looked_for_block_by_block(at, monkeypatch):
    monkeypatch.setattr("rosenblatt.exact.blocks.ENTRIES", 2**16)
    X = np.ones((3 * 2**16, 1)) + np.arange(3 * 2**16)[:, np.newaxis] % 3
    y = np.ones(len(X))
    told = []
    assert smallest(X, y, [1.0, -0.5], look_up=told.append) == 0.5
    assert (signs(X, [1.0, -0.5], told.append) == 1).all()
    assert told == [2**16] * 6
    clock = Clock(max_time=1)

    def slow(numbers):
        look_up(numbers)
        at[0] += 0.6

    look_up = clock.whole(Kind.SIDES, len(X))
    with pytest.raises(Halt):
        signs(X, [1.0, -0.5], slow)


# The evidence of a margin -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [rb.SoftMarginClassifier, rb.MaxMarginClassifier])
@pytest.mark.parametrize(("sides", "multipliers"), [(1e9, 0.0), (0.0, 1e9)])
def test_evidence_that_would_be_late_is_left_out(kind, sides, multipliers, monkeypatch):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    X[:, 0] += 9 * y
    create = Clock.__init__

    def crawling(self, *args, **options):
        create(self, *args, **options)
        self.pace[Kind.SIDES], self.pace[Kind.MULTIPLIERS] = sides, multipliers

    monkeypatch.setattr(Clock, "__init__", crawling)
    unlimited = kind().fit(X, y)
    assert unlimited.stop_reason_ is rb.StopReason.GAP_CLOSED
    with pytest.warns(UserWarning, match="stopped with a gap of 1"):
        model = kind(max_time=300.0).fit(X, y)
    assert model.stop_reason_ is rb.StopReason.TIME_LIMIT
    assert model.certificate_ is None
    assert model.gap_ == 1
    assert model.support_.size == 0
    assert model.n_errors_ == (model.predict(X) != y).sum() == 0
    assert np.isfinite(model.optimum_.primal) == (sides == 0)


def test_most_of_the_time_is_for_solving(monkeypatch):
    """Time for multipliers is kept only where it is little beside the limit."""
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(300_000, 5)), np.arange(300_000) % 2
    monkeypatch.setattr(
        proving, "_evidence_times", lambda problem, rows, *_: (len(rows) / 1e4, len(rows) / 1e3)
    )  # in all 30 seconds for sides, 300 for multipliers
    kept = []
    monkeypatch.setattr(Clock, "keep", lambda clock, seconds, most=0.5: kept.append(seconds))
    for limit in (1e4, 500.0, 20.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rb.SoftMarginClassifier(max_time=limit, tol=0.5).fit(X, y)
    assert kept[0] == pytest.approx(proving.END * 330, rel=1e-3)
    assert kept[1] == pytest.approx(proving.END * 30, rel=1e-3)
    assert kept[2] == pytest.approx(proving.ERRORS * proving.END * 30, rel=1e-3)


# Bounds -------------------------------------------------------------------------------------------


def test_a_bound_that_was_not_found_in_time():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(50, 3)), np.arange(50) % 2
    X[:, 0] += 9 * y
    late = "max_time was over before a bound was found: raise it"
    for options in ({}, {"kernel": rb.kernels.RBF(1.0)}, {"kernel": rb.kernels.Linear()}):
        with pytest.raises(ValueError, match=late):
            rb.mistake_bound(X, y, max_time=1e-9, **options)
    with pytest.raises(ValueError, match=late):
        rb.mistake_bound(X, y, hyperplane=rb.Hyperplane([1.0, 0, 0], -4.5), max_time=1e-9)
    found = rb.mistake_bound(X, y, epochs=7, max_time=1e-9)
    assert found.bound == 7 * 50
    assert found.hyperplane is None
    assert found.separable is None
    whole = rb.mistake_bound(X, y)
    in_time = rb.mistake_bound(X, y, max_time=1e6)
    assert in_time.bound == whole.bound
    assert in_time.separable
