"""Separability of several classes as one problem: verdicts, evidence, tampered evidence."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

import rosenblatt as rb
from rosenblatt.data import kesler
from rosenblatt.exact.kesler import kesler_vectors, pairs_of

small = st.integers(-2, 2).map(float)
LINE = np.array([[-2.0], [0.0], [2.0]])


def naive(X, y, k, bias=1.0):
    """Every pair of a sample and a rival, and its vector."""
    found = []
    for i, r in product(range(len(y)), range(k)):
        if r != y[i]:
            z = np.zeros((k, X.shape[1] + 1))
            z[y[i]] = np.append(X[i], bias)
            z[r] = -z[y[i]]
            found.append(((i, r), z))
    return found


def by_programs(X, y, k):
    """The verdict by linear programming: can all leads be 1, or none negative and some positive."""
    Z = np.array([z.ravel() for _, z in naive(X, y, k)])
    free = [(None, None)] * Z.shape[1]
    if linprog(0 * Z[0], -Z, -np.ones(len(Z)), bounds=free).status == 0:
        return rb.Verdict.SEPARABLE
    most = linprog(-Z.sum(axis=0), -Z, np.zeros(len(Z)), bounds=[(-1, 1)] * Z.shape[1])
    return rb.Verdict.QUASI_SEPARABLE if most.fun < -1e-7 else rb.Verdict.INSEPARABLE


@st.composite
def classes(draw):
    n, d, k = draw(st.integers(4, 8)), draw(st.integers(1, 2)), draw(st.integers(3, 4))
    more = draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))
    return draw(arrays(np.float64, (n, d), elements=small)), np.array([*range(k), *more]), k


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@settings(max_examples=20)
@given(problem=classes(), bias=st.booleans(), first=st.integers(0, 1))
def test_keslers_vectors(layout, problem, bias, first):
    X, y, k = problem
    pairs, vectors = zip(*naive(X, y, k, float(bias)), strict=True)
    found = kesler_vectors(layout(X), y, k, bias=bias, first=first)
    np.testing.assert_array_equal(found.toarray(), [z[first:].ravel() for z in vectors])
    assert found.has_canonical_format
    assert [*map(tuple, pairs_of(np.arange(len(pairs)), y, k))] == [*pairs]


@settings(max_examples=40)
@given(problem=classes())
def test_verdicts_are_those_of_linear_programs_and_prove_themselves(problem):
    X, y, k = problem
    found = rb.separability(X, y, multiclass="joint")
    assert found.verdict is by_programs(X, y, k)
    assert rb.certify.check(found, X, y)
    assert rb.certify.check(found, [(X[:3], y[:3]), (X[3:], y[3:])])
    np.testing.assert_array_equal(
        rb.separability(csr_array(X), y, multiclass="joint").pairs, found.pairs
    )
    if found.verdict is not rb.Verdict.SEPARABLE:
        vectors = dict(naive(X, y, k))
        total = sum(
            w * vectors[i, r] for (i, r), w in zip(found.pairs.tolist(), found.weights, strict=True)
        )
        np.testing.assert_allclose(total, 0.0, atol=1e-12)
        assert found.weights.sum() == pytest.approx(1.0)
    if found.verdict is not rb.Verdict.INSEPARABLE and found.certificate.exact is None:
        planes = [[*map(Fraction, (*h.w, h.b))] for h in found.hyperplanes]
        values = [
            [sum(map(Fraction.__mul__, map(Fraction, (*x, 1.0)), t)) for t in planes] for x in X
        ]
        leads = [
            v[own] - v[r] for v, own in zip(values, y, strict=True) for r in range(k) if r != own
        ]
        strict = found.verdict is rb.Verdict.SEPARABLE
        assert all(lead > 0 for lead in leads) if strict else (min(leads) == 0 < max(leads))


def test_jointly_separable_though_no_class_has_its_own_side():
    found = rb.separability(LINE, ["a", "b", "c"], multiclass="joint")
    assert found.verdict is rb.Verdict.SEPARABLE
    values = np.column_stack([h.decision_function(LINE) for h in found.hyperplanes])
    assert values.argmax(axis=1).tolist() == [0, 1, 2]
    assert rb.separability(LINE, [0, 1, 0]).verdict is rb.Verdict.INSEPARABLE


def test_two_classes_are_the_ordinary_question():
    X, y = rb.datasets.xor()
    assert isinstance(rb.separability(X, y, multiclass="joint"), rb.results.Inseparable)


def test_vectors_that_are_not_kept_give_the_same(monkeypatch):
    X, y = load_iris(return_X_y=True)
    kept = rb.separability(X, y, multiclass="joint")
    assert kept.verdict is rb.Verdict.QUASI_SEPARABLE  # setosa alone is apart
    monkeypatch.setattr(kesler, "ROOM", 0)
    monkeypatch.setattr(kesler, "TILE", 500)
    passing = rb.separability(X, y, multiclass="joint")
    np.testing.assert_array_equal(passing.pairs, kept.pairs)
    np.testing.assert_array_equal(passing.certificate.hyperplane.w, kept.certificate.hyperplane.w)


# Tampered ---------------------------------------------------------------------------------------


def tampered(joint):
    """The same certificate, wrong in one place each."""
    inner = joint.certificate
    yield replace(joint, n_classes=4)
    yield replace(joint, pairs=joint.pairs[:-1] if len(joint.pairs) else np.array([[0, 1]]))
    yield replace(joint, certificate=None)
    if hasattr(inner, "hyperplane"):
        w = inner.hyperplane.w.copy()
        w[1] = -w[1] - 1
        yield replace(
            joint, certificate=replace(inner, hyperplane=rb.Hyperplane(w, inner.hyperplane.b))
        )
    if hasattr(inner, "weights"):
        weights = inner.weights.copy()
        weights[0] *= 1.001
        yield replace(joint, certificate=replace(inner, weights=weights))
        yield replace(joint, pairs=joint.pairs[:, ::-1].copy())
        support = inner.support.copy()
        support[0] += 1
        yield replace(joint, certificate=replace(inner, support=support))


@pytest.mark.parametrize("which", ["line", "iris", "twins"])
def test_tampered_ones_are_refused(which, tmp_path):
    cases = {"line": (LINE, np.arange(3)), "iris": load_iris(return_X_y=True)}
    cases["twins"] = (
        np.array([[0.0], [0.0], [1.0], [1.0], [2.0], [2.0]]),
        np.array([0, 1, 1, 2, 0, 2]),
    )
    X, y = cases[which]
    joint = rb.separability(X, y, multiclass="joint")
    path = tmp_path / "joint.json"
    rb.io.save_certificate(joint, path, X, y)
    read = rb.io.load_certificate(path)
    assert rb.certify.check(read, X, y).why == rb.certify.check(joint, X, y).why
    for wrong in tampered(joint):
        assert not rb.certify.check(wrong, X, y)
    assert not rb.certify.check(joint, X, np.roll(y, 1))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"multiclass": "ovr"}, "multiclass='ovr'"),
        ({"multiclass": "joint", "kernel": rb.kernels.Linear()}, "goes with no kernel"),
    ],
)
def test_refused_in_one_line(options, why):
    with pytest.raises(ValueError, match=why):
        rb.separability(LINE, [0, 1, 2], **options)
