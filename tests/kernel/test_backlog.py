"""Work for idle threads: all of it is done, and nothing depends on who does it."""

import threading

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.kernel import dual_rule, ledger
from rosenblatt.kernel import kernel_values as values
from rosenblatt.kernel.backlog import Backlog
from rosenblatt.running.threads import Team

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("size", [1, 2, 5])
def test_all_tasks_are_done_before_a_wait_ends(size):
    done = []
    with Team(size) as team:
        backlog = Backlog(team)
        for k in range(40):
            backlog.add(k % 4, lambda k=k: done.append(k))
        backlog.wait(2)
        assert {k for k in range(40) if k % 4 == 2} <= set(done)
        assert team.shared(lambda k: k * k, range(9)) == [k * k for k in range(9)]
        backlog.wait()
        assert sorted(done) == list(range(40))


def test_urgent_tasks_do_not_wait_for_the_backlog():
    going, ended = threading.Event(), []
    with Team(2) as team:
        backlog = Backlog(team)
        for _ in range(6):
            backlog.add(0, lambda: ended.append(going.wait(60)))
        assert team.shared(lambda k: k + 1, range(5)) == [1, 2, 3, 4, 5]  # this thread does it all
        assert not ended
        going.set()
        backlog.wait()
    assert ended == [True] * 6


@pytest.mark.parametrize("size", [1, 3])
def test_errors_come_to_who_waits(size):
    def fail(*_):
        msg = "no"
        raise ArithmeticError(msg)

    with Team(size) as team:
        backlog = Backlog(team)
        backlog.add(1, fail)
        with pytest.raises(ArithmeticError, match="no"):
            backlog.wait(1)
        with pytest.raises(ArithmeticError, match="no"):
            team.shared(fail, range(4))


def test_dropped_tasks_are_never_begun():
    going, begun = threading.Event(), []
    with Team(2) as team:
        backlog = Backlog(team)
        for k in range(9):
            backlog.add(k, lambda k=k: (begun.append(k), going.wait(60)))
        backlog.drop()
        going.set()
    assert len(begun) <= 2


@quiet
@pytest.mark.parametrize("order", ["cyclic", "shuffled", "sampled", "blocks"])
@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_the_same_bits_with_any_number_of_threads(order, kernel, monkeypatch):
    # With blocks, waves and tasks so small that threads meet everywhere.
    for name, size in {"WIDE_BLOCK": 16, "PART": 5, "LITTLE": 0, "FEWEST": 2, "ROOM": 0}.items():
        monkeypatch.setattr(values, name, size)
    for name, size in {"WAVE": 20, "TASK": 6, "LITTLE": 0}.items():
        monkeypatch.setattr(ledger, name, size)
    monkeypatch.setattr(dual_rule, "FORESEEN", 4)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((150, 6)).astype(np.float32), rng.integers(0, 3, 150)
    options = {"order": order, "kernel": kernel, "keep": "average", "max_epochs": 3}
    runs = []
    for jobs in (1, 2, 5):
        model = rb.KernelPerceptron(random_state=0, record=True, n_jobs=jobs, **options).fit(X, y)
        runs.append(
            (model.dual_coef_, model.decision_function(X), *(t.change for t in model.trace_))
        )
    for run in runs[1:]:
        for one, other in zip(runs[0], run, strict=True):
            np.testing.assert_array_equal(one, other)
