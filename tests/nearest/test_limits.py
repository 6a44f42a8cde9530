"""Limits of time and of work: what is not begun, what is learnt, what is still answered."""

import time

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exact.systems import bits, cost_of_products, cost_of_reducing, cost_of_solving
from rosenblatt.kernel.dual_rule import DualRule
from rosenblatt.nearest import max_margin
from rosenblatt.nearest.hulls import ROTATION, shortest_sum
from rosenblatt.results import Undecided
from rosenblatt.running import clock as clocks
from rosenblatt.running.clock import Clock, Kind, OutOfWork
from rosenblatt.running.stopping import Halt
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
