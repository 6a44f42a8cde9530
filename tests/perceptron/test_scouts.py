"""With scouts the mistakes are those of the plain loop, one for one, for any number of threads."""

import threading

import numpy as np
import pytest
from scipy.sparse import csr_array

import reference
import rosenblatt as rb
from rosenblatt.data.atomics import lower_to, peek, raise_by
from rosenblatt.data.compiled import loop
from rosenblatt.perceptron import linear_rule, scouts, updates
from rosenblatt.running import threads

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def scouting(monkeypatch):
    """Scouts at every visit, each with a few rows at a time; a list of the visits they made."""
    visits = []

    def counted(*args):
        visits.append(args[4])
        return scouts.online_with_scouts(*args)

    monkeypatch.setattr(updates.Online, "_scouts_pay", lambda self, visit: self.team.size > 1)
    monkeypatch.setattr(updates, "online_with_scouts", counted)
    monkeypatch.setattr(scouts, "STRETCH", 24)
    monkeypatch.setattr(threads, "cores", lambda: 5)
    return visits


def points(n=400, d=3, flips=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-20, 21, (n, d)).astype(float)
    y = np.where(X @ [3, -2, 1] + 0.5 > 0, 1, -1)
    y[rng.choice(n, flips, replace=False)] *= -1
    return X, y


def outcome(model):
    updates = model.trace_.updates
    return (
        model.coef_.tolist(),
        model.intercept_.tolist(),
        model.trace_.mistakes.tolist(),
        updates.sample.tolist(),
        updates.value.tolist(),
        model.n_errors_,
    )


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("keep", ["last", "average", "pocket"])
@pytest.mark.parametrize("order", ["cyclic", "shuffled", "sampled", "blocks"])
def test_the_same_mistakes_for_any_number_of_threads(scouting, order, keep, form):
    X, y = points()
    given = {"order": order, "keep": keep, "max_epochs": 8, "record": True, "random_state": 3}
    alone = outcome(rb.Perceptron(**given, n_jobs=1).fit(form(X), y))
    assert not scouting
    for n_jobs in (2, 5):
        assert outcome(rb.Perceptron(**given, n_jobs=n_jobs).fit(form(X), y)) == alone
    assert scouting


def test_the_same_mistakes_as_in_the_textbook(scouting):
    X, y = points(n=150)
    path = reference.online(
        reference.augment(X), y, reference.orders("cyclic", 150, 5), np.zeros(4)
    )
    model = rb.Perceptron(max_epochs=5, record=True, n_jobs=3).fit(X, y)
    assert scouting
    assert model.trace_.mistakes.tolist() == path.mistakes
    assert model.trace_.updates.sample.tolist() == [sample for _, sample, _ in path.log]


def test_rows_without_weight_are_no_mistakes(scouting):
    X, y = points()
    weight = (np.arange(len(y)) % 3).astype(float)
    one, three = (
        rb.Perceptron(max_epochs=4, record=True, n_jobs=n).fit(X, y, weight) for n in (1, 3)
    )
    assert scouting
    assert outcome(one) == outcome(three)


def test_scouts_walk_along_lists(scouting, watching, monkeypatch):
    """Where rows are left out, the walk ends at the same mistake, which breaks the list."""
    watching(True)
    monkeypatch.setattr(linear_rule, "MOST_COST", np.inf)
    X, y = rb.datasets.known_margin(600, 3, margin=0.02, random_state=1)
    one, three = (rb.Perceptron(record=True, n_jobs=n).fit(X, y) for n in (1, 3))
    assert any(visit.listed.size for visit in scouting)
    assert outcome(one) == outcome(three)
    assert one.stop_reason_ is rb.StopReason.SEPARATED


def test_scouts_are_asked_where_mistakes_are_few(monkeypatch):
    """From the second part of the data on, if the first had none or hardly any."""
    visits = []

    def counted(*args):
        visits.append(args)
        return scouts.online_with_scouts(*args)

    monkeypatch.setattr(updates, "online_with_scouts", counted)
    X, y = rb.datasets.known_margin(90_000, 4, margin=0.5, random_state=0)
    rb.Perceptron(n_jobs=2, max_epochs=3).fit(X, y)
    assert visits
    visits.clear()
    X, y = points(n=90_000, flips=9_000)
    rb.Perceptron(n_jobs=2, max_epochs=3).fit(X, y)
    assert not visits


@loop
def count_up(shared, times):
    for k in range(times):
        raise_by(shared, 0, 1)
        lower_to(shared, 1, -k)


def test_no_thread_comes_between():
    """Ten thousand times one from each of four threads is forty thousand."""
    shared = np.zeros(2, np.int64)
    threads = [threading.Thread(target=count_up, args=(shared, 10_000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.tolist() == [40_000, -9_999]
    assert peek(shared, 0) == 40_000
