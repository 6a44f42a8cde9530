"""A run: three calls from `fit` to the loop, and the hook that ends it from outside."""

import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.kernel import dual_rule as kernel_rule
from rosenblatt.perceptron import delta, linear_rule, updates, whole_batches
from rosenblatt.running.clock import Cancel, cancelled_by, catch_interrupts
from rosenblatt.running.threads import Team

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

HOUSE = str(Path(rb.__file__).parent)
WAYS = [
    (rb.Perceptron(), updates, "online_problems"),
    (rb.Perceptron(order="shuffled", keep="average"), updates, "online_problems"),
    (rb.Perceptron(order="worst-mistake"), updates, "online"),
    (rb.Perceptron(update="minibatch", batch_size=5, keep="pocket"), updates.InBatches, "loop"),
    (rb.Adaline(update="minibatch", batch_size=5), delta, "delta"),
    (rb.KernelPerceptron(), kernel_rule, "visit"),
    (rb.KernelPerceptron(order="random-mistake"), kernel_rule, "visit"),
    (rb.KernelPerceptron(budget=20, order="shuffled"), kernel_rule, "visit"),
]


def data(classes=2, n=60, d=3):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)), np.arange(n) % classes


def record_ways(monkeypatch, module, name):
    """A list: at each call of a loop the functions of ours that are open, the outermost first."""
    ways, loop = [], getattr(module, name)

    def recorded(*args):
        way, frame = [], sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename.startswith(HOUSE):
                way.insert(0, frame.f_code.co_name)
            frame = frame.f_back
        ways.append(way)
        return loop(*args)

    monkeypatch.setattr(module, name, staticmethod(recorded))  # of a module or of a class
    return ways


@pytest.mark.parametrize(("model", "module", "name"), WAYS, ids=lambda x: str(x)[:40])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_three_calls_to_the_loop(model, module, name, classes, method, monkeypatch):
    if method == "partial_fit" and not hasattr(model, method):
        pytest.skip("the pocket needs all data at once")
    if name == "online_problems" and classes == 2:
        name = "online"
    ways = record_ways(monkeypatch, module, name)
    given = model.get_params() | {"n_jobs": 1, "max_epochs": 3, "random_state": 0}
    X, y = data(classes)
    more = {"classes": np.unique(y)} if method == "partial_fit" else {}
    getattr(type(model)(**given), method)(X, y, **more)
    assert ways
    assert all(way == [method, "run", "epoch"] for way in ways)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("model", "name"),
    [
        (rb.Perceptron(update="batch"), "mistakes_in_tiles"),
        (rb.Adaline(update="batch"), "delta_in_tiles"),
    ],
)
def test_a_batch_of_all_rows_goes_through_the_sums_in_tiles(model, name, classes, monkeypatch):
    """Any threads may take some tiles: those who add these up stand between epoch and loop."""
    ways = record_ways(monkeypatch, whole_batches, name)
    X, y = data(classes)
    type(model)(update="batch", n_jobs=1, max_epochs=3).fit(X, y)
    assert ways
    for first, *rest in ([frame for frame in way if frame[0] != "<"] for way in ways):
        assert [first, *rest[:3]] == ["fit", "run", "epoch", "_gather"]
        assert rest[3:] in (
            ["add_rows", *between, "add", *within, "part", write]
            for between in ([], ["alone"])
            for within in ([], ["in_turn"], ["each"])
            for write in ("write", "write_differences")
        )


def test_three_calls_where_rows_are_left_out(monkeypatch, watching):
    """Also to the loop that looks only at rows which can be mistakes."""
    watching(True)
    monkeypatch.setattr(linear_rule, "MOST_COST", np.inf)
    ways = record_ways(monkeypatch, updates, "online")
    X, y = rb.datasets.known_margin(500, 2, margin=0.05, random_state=0)
    rb.Perceptron(n_jobs=1).fit(X, y)
    assert ways
    assert all(way == ["fit", "run", "epoch"] for way in ways)


@pytest.mark.parametrize(
    "model",
    [rb.Perceptron(), rb.Perceptron(keep="pocket"), rb.Adaline(tol=None), rb.KernelPerceptron()],
    ids=["perceptron", "pocket", "adaline", "kernel"],
)
def test_a_run_is_cancelled_from_another_thread(model):
    """It ends like one that Ctrl-C ends: with what it has, and a whole trace."""
    cancel, going = Cancel(), threading.Event()
    X, y = data()
    model = type(model)(**model.get_params() | {"max_epochs": 10**9})
    model.set_params(order="shuffled", callback=lambda epoch: going.set())  # which never repeats

    def fit():
        with cancelled_by(cancel):
            model.fit(X, y)

    thread = threading.Thread(target=fit)
    thread.start()
    assert going.wait(60)
    cancel.ask()
    thread.join(60)
    assert not thread.is_alive()
    assert model.stop_reason_ is rb.StopReason.INTERRUPTED
    assert len(model.trace_.mistakes) == len(model.trace_.change) == len(model.trace_.seconds)
    assert model.predict(X).shape == y.shape


def test_a_wish_reaches_the_margin_too():
    """Whatever looks for Ctrl-C looks for it."""
    cancel = Cancel()
    cancel.ask()
    with cancelled_by(cancel), catch_interrupts() as found:
        assert found is cancel
    with catch_interrupts() as found:
        assert found is not cancel
        assert not found.asked


def test_a_wish_before_the_run_ends_it_after_its_first_piece_of_work():
    cancel = Cancel()
    cancel.ask()
    X, y = data()
    with cancelled_by(cancel):
        model = rb.Perceptron(max_epochs=50).fit(X, y)
    assert model.stop_reason_ is rb.StopReason.INTERRUPTED
    assert model.n_iter_ == 1


@pytest.mark.parametrize("failing", [0, 2])
def test_a_team_lets_all_tasks_end_before_it_raises(failing):
    ended, others = [], threading.Barrier(3)

    def task(k):
        others.wait(60)
        if k == failing:
            msg = f"task {k}"
            raise ValueError(msg)
        threading.Event().wait(0.05)
        ended.append(k)

    with Team(3) as team:
        with pytest.raises(ValueError, match=f"task {failing}"):
            team.each(task, range(3))
        assert sorted(ended) == [k for k in range(3) if k != failing]
