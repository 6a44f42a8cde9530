"""All samples that cancel at once: planted ones, features of one class, identical rows, threads."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from cutting import bits
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.exact import passes
from rosenblatt.nearest.working_set import Samples
from rosenblatt.results import Inseparable, QuasiSeparable
from rosenblatt.running import threads
from rosenblatt.running.clock import Clock
from rosenblatt.running.threads import Team
from rosenblatt.separation import function, solver
from rosenblatt.separation.faces import peeled
from rosenblatt.separation.programs import cancelling_weights


def words(n=600, d=40, seed=0):
    """Texts of few words; words 0 and 1 are of one class each, 2 of one among the rest."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.1).astype(float)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    X[:, 0] *= y > 0
    X[:, 1] *= y < 0
    rest = ~X[:, :2].any(axis=1)
    X[rest, 2] *= y[rest] > 0
    X[-200:] = X[:200]  # and of some texts there are two of different classes
    y[-200:] = y[:200]
    common = np.flatnonzero(~X[:200, :3].any(axis=1))
    y[-200 + common[::2]] *= -1
    return X, y


def samples_of(X, y):
    source = MemorySource(as_rows(X), (y > 0).astype(np.int32), X.shape[1])
    return Samples(source, Team(1), 1, Clock())


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_features_of_one_class(kind):
    X, y = words()
    left, theta = peeled(samples_of(kind(X), y), np.arange(len(y)))
    assert (left == ~X[:, :3].any(axis=1)).all()
    values = y * (X @ theta[:-1] + theta[-1])
    assert (values[left] == 0).all()
    assert (values[~left] > 0).all()
    assert np.flatnonzero(theta).tolist() == [0, 1, 2]
    assert theta[0] > 0 > theta[1]


def test_a_feature_of_both_signs_is_not_of_one_class():
    X, y = words()
    X[:, 5] = np.where(y > 0, np.where(np.arange(len(y)) % 2, 1.0, -1.0), 0.0)
    left, theta = peeled(samples_of(X, y), np.arange(20, 24))  # too few to know
    values = y * (X @ theta[:-1])
    assert (values[left] == 0).all()
    assert (values[~left] > 0).all()
    assert theta[5] == 0


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_what_is_left_is_on_the_hyperplane(kind, monkeypatch):
    # Identical rows come first, and then one linear program: no nearest points are looked for.
    X, y = words()
    monkeypatch.setattr(solver, "MANY", 0)
    monkeypatch.setattr(solver, "shortest_sum", None)
    found = rb.separability(kind(X), y)
    assert isinstance(found, QuasiSeparable)
    assert (found.on == np.flatnonzero(~X[:, :3].any(axis=1))).all()
    assert len(found.support) == 2
    assert (X[found.support[0]] == X[found.support[1]]).all()
    assert np.flatnonzero(found.hyperplane.w).tolist() == [0, 1, 2]
    assert rb.certify.check(found, X, y).valid


def test_rows_that_cancel_with_no_twins():
    # A simplex around a point, in a plane; beyond it, features that separate only together.
    rng = np.random.default_rng(3)
    X = np.zeros((300, 6))
    X[:100, :2], y = rng.normal(size=(100, 2)), np.where(rng.random(300) < 0.5, 1, -1)
    X[100:, 2:] = rng.normal(size=(200, 4))
    X[100:, 2] = y[100:] * (np.abs(X[100:, 3:]).sum(axis=1) + 0.1) + X[100:, 3]
    found = rb.separability(X, y)
    assert isinstance(found, QuasiSeparable)
    assert found.on.tolist() == list(range(100))
    assert rb.certify.check(found, X, y).valid


def test_weights_of_a_linear_program():
    # 0, 1 and 2 cancel; the others never do, and 4 is the sum of 3 and 0.
    Z = np.array([[1.0, 0, 0], [0, 1, 0], [-1, -1, 0], [0, 0, 2], [1, 0, 2]])
    weights, theta = cancelling_weights(Z, np.array([0, 1, 3]), Clock())
    assert (weights[[0, 1, 2]] >= 1).all()
    assert (weights[[3, 4]] == 0).all()
    assert weights @ Z == pytest.approx(0)
    assert (Z @ theta >= -1e-9).all()
    assert (Z @ theta)[3] >= 1 - 1e-9
    weights, theta = cancelling_weights(Z[:3], np.array([0, 1]), Clock())
    assert (weights >= 1).all()


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_the_certificate_does_not_depend_on_threads(kind, monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 5))
    gap, noise = X @ [1, 2, 3, 4, 5.0] > 0.1, rng.random(3000) < 0.5
    touching = rng.integers(-1, 2, size=(3000, 4)).astype(float)
    z = touching @ [1, 1, -1, 0]
    cases = [(X, gap), (X, noise), words(), (touching, np.where(z == 0, noise, z > 0))]
    monkeypatch.setattr(threads, "WORTHWHILE", 1 << 9)
    monkeypatch.setattr(passes, "SPAN", 1 << 10)
    verdicts = set()
    for X, y in cases:
        found = []
        for size in (1, 2, 5):
            monkeypatch.setattr(function, "count_threads", lambda n_jobs, size=size: size)
            found.append(rb.separability(kind(X), y))
            assert rb.certify.check(found[-1], kind(X), y).valid
        assert bits(found[0]) == bits(found[1]) == bits(found[2])
        verdicts.add(found[0].verdict)
    assert len(verdicts) == 3


def test_a_short_span_for_data_in_general_position():
    # One identical pair does not keep the span from d + 2 samples in general position.
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(400, 5)), rng.random(400) < 0.5
    X[-1], y[-1] = X[0], not y[0]
    found = rb.separability(X, y)
    assert isinstance(found, Inseparable)
    assert found.support.tolist() == [0, 399]
    assert len(found.spanning_support) == 7
