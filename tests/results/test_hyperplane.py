"""Hyperplane: the geometry, checked against definitions rather than against itself."""

import math
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from rosenblatt.results import Hyperplane

# Multiples of 1/8 of moderate size: sums and products of a few of them are exact in floats.
eighths = st.integers(-800, 800).map(lambda k: k / 8)


def vectors(d):
    return arrays(np.float64, d, elements=eighths)


@st.composite
def hyperplanes(draw, d=None):
    d = draw(st.integers(1, 5)) if d is None else d
    w = draw(vectors(d).filter(np.any))
    return Hyperplane(w, draw(eighths))


@st.composite
def hyperplanes_and_points(draw):
    hyperplane = draw(hyperplanes())
    n = draw(st.integers(1, 6))
    return hyperplane, draw(arrays(np.float64, (n, hyperplane.w.size), elements=eighths))


# What it is ----------------------------------------------------------------------------------


def test_decision_function_is_the_formula():
    h = Hyperplane([1.0, -2.0], 0.5)
    assert h.decision_function([[3, 1], [0, 0], [1, 1]]).tolist() == [1.5, 0.5, -0.5]


@given(hyperplanes_and_points())
def test_decision_function_equals_plain_python(case):
    h, X = case
    naive = [math.fsum([*(wj * xj for wj, xj in zip(h.w, x, strict=True)), h.b]) for x in X]
    assert h.decision_function(X).tolist() == naive


def test_bias_defaults_to_zero():
    assert Hyperplane([1.0, 2.0]).b == 0.0
    assert isinstance(Hyperplane([1, 2], np.int64(3)).b, float)


def test_it_does_not_change():
    w = np.array([1.0, 2.0])
    h = Hyperplane(w, 1.0)
    w[0] = 100.0
    assert h.w.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        h.w[0] = 5.0
    with pytest.raises(FrozenInstanceError):
        h.b = 2.0


@pytest.mark.parametrize("w", [1.0, [[1.0, 2.0]], [[1.0], [2.0]]])
def test_w_must_be_a_vector(w):
    with pytest.raises(ValueError, match="one weight per feature"):
        Hyperplane(w)


@pytest.mark.parametrize(("w", "b"), [([np.nan, 1], 0), ([1, np.inf], 0), ([1, 1], np.nan)])
def test_w_and_b_must_be_finite(w, b):
    with pytest.raises(ValueError, match="finite"):
        Hyperplane(w, b)


def test_equal_hyperplanes_have_equal_hashes():
    h = Hyperplane([0.0, 1.0], 0.0)
    same = Hyperplane([-0.0, 1.0], -0.0)
    assert h == same
    assert hash(h) == hash(same)
    assert h != Hyperplane([0.0, 1.0], 1.0)
    assert h != Hyperplane([0.0, 2.0], 0.0)
    assert h != Hyperplane([0.0], 0.0)
    assert h != "a hyperplane"
    assert len({h, same, Hyperplane([1.0, 0.0])}) == 2


# Which side ----------------------------------------------------------------------------------


def test_a_point_on_the_hyperplane_is_predicted_minus_one():
    h = Hyperplane([1.0, 1.0], -2.0)
    X = [[1, 1], [2, 1], [1, 0]]
    assert h.predict(X).tolist() == [-1, 1, -1]
    assert h.predict(X, at_zero=-1).tolist() == [-1, 1, -1]
    assert h.predict(X, at_zero=1).tolist() == [1, 1, -1]
    assert h.predict(X).dtype == np.int64


@pytest.mark.parametrize("at_zero", [0, 2, None])
def test_at_zero_must_be_a_side(at_zero):
    with pytest.raises(ValueError, match="give -1 or 1"):
        Hyperplane([1.0]).predict([[1.0]], at_zero=at_zero)


@given(hyperplanes_and_points())
def test_turning_the_normal_around_swaps_the_sides(case):
    h, X = case
    turned = Hyperplane(-h.w, -h.b)
    assert np.array_equal(turned.predict(X, at_zero=1), -h.predict(X, at_zero=-1))


def test_one_point_is_one_row():
    assert Hyperplane([1.0, 1.0]).predict([2, 3]).tolist() == [1]


# Distances and margins -----------------------------------------------------------------------


def test_distance_closed_form():
    h = Hyperplane([3.0, 4.0], -5.0)
    assert h.norm == 5.0
    assert h.distance([[0, 0], [3, 4], [1, 0.5]]).tolist() == [1.0, 4.0, 0.0]


@given(hyperplanes_and_points())
def test_distance_is_that_to_the_projection(case):
    h, X = case
    assert h.distance(X) == pytest.approx(np.linalg.norm(X - h.project(X), axis=1), abs=1e-9)


@given(hyperplanes_and_points(), st.data())
def test_no_point_of_the_hyperplane_is_nearer_than_the_distance(case, data):
    h, X = case
    steps = data.draw(arrays(np.float64, h.w.size - 1, elements=st.floats(-50, 50)))
    other = h.point() + steps @ h.basis()
    assert (np.linalg.norm(X - other, axis=1) >= h.distance(X) - 1e-9).all()


def test_margin_closed_form():
    h = Hyperplane([3.0, 4.0], -5.0)
    X = [[3, 4], [0, 0], [2, 1]]
    assert h.margin(X, [1, -1, 1]) == 1.0
    assert h.margin(X, [1, 1, 1]) == -1.0
    assert h.margin([[1, 0.5]], [1]) == 0.0


@given(hyperplanes_and_points(), st.data())
def test_margin_is_positive_exactly_when_it_separates(case, data):
    h, X = case
    y = data.draw(arrays(np.int64, len(X), elements=st.sampled_from([-1, 1])))
    separates = all(label * value > 0 for label, value in zip(y, X @ h.w + h.b, strict=True))
    assert (h.margin(X, y) > 0) == separates


@given(hyperplanes_and_points(), st.data(), st.integers(-6, 6))
def test_scaling(case, data, power):
    h, X = case
    y = data.draw(arrays(np.int64, len(X), elements=st.sampled_from([-1, 1])))
    scale = 2.0**power
    # The equation may be scaled as one likes; scaling space scales the margin.
    assert Hyperplane(h.w * scale, h.b * scale).margin(X, y) == h.margin(X, y)
    assert Hyperplane(h.w, h.b * scale).margin(X * scale, y) == scale * h.margin(X, y)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-155, 1e155, 1e200, 1e300])
def test_extreme_weights_have_a_norm(scale):
    h = Hyperplane([3.0 * scale, 4.0 * scale])
    assert h.norm == pytest.approx(5.0 * scale, rel=1e-15)
    assert h.margin([[1.0, 1.0]], [1]) == pytest.approx(1.4, rel=1e-15)
    assert h.basis() @ h.w / scale == pytest.approx([0.0], abs=1e-14)


def test_margin_refuses_what_it_cannot_use():
    h = Hyperplane([1.0, 0.0])
    with pytest.raises(ValueError, match="y has 3 samples but X has 2 rows"):
        h.margin([[1, 2], [3, 4]], [1, 1, 1])
    with pytest.raises(ValueError, match=r"y has shape \(2, 1\)"):
        h.margin([[1, 2], [3, 4]], [[1], [1]])
    with pytest.raises(ValueError, match="X has no rows"):
        h.margin(np.empty((0, 2)), [])
    for labels in ([0, 1], [1, 2], ["1", "-1"], [np.nan, 1]):
        with pytest.raises(ValueError, match=r"labels other than -1 and \+1"):
            h.margin([[1, 2], [3, 4]], labels)


def test_zero_weights_have_no_geometry():
    h = Hyperplane([0.0, 0.0], 1.0)
    assert h.predict([[5, 5]]).tolist() == [1]
    X = [[1.0, 2.0]]
    for ask in (
        lambda: h.norm,
        lambda: h.distance(X),
        lambda: h.margin(X, [1]),
        h.point,
        h.basis,
        lambda: h.project(X),
    ):
        with pytest.raises(ValueError, match="w is zero"):
            ask()


# Canonical form and support vectors ----------------------------------------------------------


@given(hyperplanes_and_points())
def test_canonical_form(case):
    h, X = case
    if (h.decision_function(X) == 0).any():
        with pytest.raises(ValueError, match="lies on the hyperplane"):
            h.canonical(X)
        return
    c = h.canonical(X)
    assert np.abs(c.decision_function(X)).min() == pytest.approx(1.0, abs=1e-9)
    assert c.predict(X).tolist() == h.predict(X).tolist()
    assert c.distance(X) == pytest.approx(h.distance(X))
    assert np.linalg.norm(c.point() - h.point()) <= 1e-9 * (1 + np.linalg.norm(h.point()))


def test_canonical_form_of_a_separating_hyperplane_has_margin_one_over_the_norm():
    X, y = np.array([[2.0, 0.0], [4.0, 1.0], [-2.0, 5.0]]), [1, 1, -1]
    c = Hyperplane([10.0, 0.0]).canonical(X)
    assert c == Hyperplane([0.5, 0.0])
    assert c.margin(X, y) == 1 / c.norm == 2.0


def test_canonical_form_needs_samples():
    with pytest.raises(ValueError, match="X has no rows"):
        Hyperplane([1.0]).canonical(np.empty((0, 1)))


def test_support_vectors_attain_the_margin():
    h = Hyperplane([1.0, 0.0])
    X = [[2, 7], [1, 0], [-1, 3], [-5, 0]]
    assert h.support_vectors(X, [1, 1, -1, -1]).tolist() == [1, 2]
    # A sample on the wrong side sets the margin alone.
    assert h.support_vectors(X, [1, 1, -1, 1]).tolist() == [3]
    assert h.support_vectors([[1.0, 0], [1.0 + 1e-6, 0]], [1, 1]).tolist() == [0]
    assert h.support_vectors([[1.0, 0], [1.0 + 1e-6, 0]], [1, 1], rtol=1e-3).tolist() == [0, 1]
    # The tolerance is relative: a millionth counts among ones, not among thousands.
    assert h.support_vectors([[1e4, 0], [1e4 + 1e-6, 0]], [1, 1]).tolist() == [0, 1]


@given(hyperplanes_and_points(), st.data())
def test_support_vectors_do_not_change_with_the_scale_of_the_equation(case, data):
    h, X = case
    y = data.draw(arrays(np.int64, len(X), elements=st.sampled_from([-1, 1])))
    scaled = Hyperplane(h.w * 64, h.b * 64)
    assert scaled.support_vectors(X, y).tolist() == h.support_vectors(X, y).tolist()


# Points of it --------------------------------------------------------------------------------


@given(hyperplanes())
def test_point_is_on_it_and_along_the_normal(h):
    p = h.point()
    assert abs(h.decision_function(p)[0]) <= 1e-12 * (1 + abs(h.b))
    assert np.linalg.norm(p) == pytest.approx(abs(h.b) / h.norm, abs=1e-12)
    assert h.basis() @ p == pytest.approx(np.zeros(h.w.size - 1), abs=1e-9)


@given(hyperplanes())
def test_basis_is_orthonormal_and_orthogonal_to_the_normal(h):
    V = h.basis()
    d = h.w.size
    assert V.shape == (d - 1, d)
    products = V @ V.T
    assert products == pytest.approx(np.eye(d - 1), abs=1e-12)
    assert V @ (h.w / h.norm) == pytest.approx(np.zeros(d - 1), abs=1e-12)


@given(hyperplanes_and_points())
def test_it_is_a_point_plus_the_span_of_the_basis(case):
    h, X = case
    # Both ways: such combinations lie on it, and every point of it is such a combination.
    x0, V = h.point(), h.basis()
    inside = x0 + X[:, 1:] @ V
    assert h.decision_function(inside) / h.norm == pytest.approx(np.zeros(len(X)), abs=1e-9)
    on_it = h.project(X)
    assert x0 + (on_it - x0) @ V.T @ V == pytest.approx(on_it, abs=1e-9)


@given(hyperplanes_and_points())
def test_projection_lands_on_it_orthogonally_and_stays(case):
    h, X = case
    P = h.project(X)
    assert h.decision_function(P) / h.norm == pytest.approx(np.zeros(len(X)), abs=1e-9)
    along = (X - P) @ h.basis().T
    assert along == pytest.approx(np.zeros_like(along), abs=1e-9)
    assert h.project(P) == pytest.approx(P, abs=1e-9)


def test_projection_closed_form():
    h = Hyperplane([3.0, 4.0], -5.0)
    assert h.project([[3, 4]])[0] == pytest.approx([0.6, 0.8])
    assert h.project([3, 4]).shape == (2,)
    assert h.project(np.zeros((1, 2)))[0] == pytest.approx(h.point())


def test_one_dimension():
    h = Hyperplane([2.0], -6.0)
    assert h.point().tolist() == [3.0]
    assert h.basis().shape == (0, 1)
    assert h.project([[10.0], [-4.0]]).tolist() == [[3.0], [3.0]]


# Sparse samples ------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
def test_sparse_equals_dense(make):
    X = np.array([[0, 2, 0], [1, 0, -3], [0, 0, 0], [4, 0, 1]])
    y = np.array([1, -1, -1, 1])
    h = Hyperplane([1.0, 2.0, 1.0], -0.5)
    S = make(X)
    for ask in (h.decision_function, h.predict, h.distance, h.project):
        assert isinstance(ask(S), np.ndarray)
        assert np.array_equal(ask(S), ask(X))
    assert h.margin(S, y) == h.margin(X, y)
    assert h.canonical(S) == h.canonical(X)
    assert h.support_vectors(S, y).tolist() == h.support_vectors(X, y).tolist()


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_both_index_widths(index):
    S = sparse.csr_array(np.eye(3))
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    assert Hyperplane([1.0, 2.0, 3.0]).decision_function(S).tolist() == [1.0, 2.0, 3.0]


# Exact sides ---------------------------------------------------------------------------------

AWKWARD = [0.0, 1.0, -1.0, 3.0, 0.1, 1e16, -1e16, 1e-16, 1e200, -1e200, 1e-200]
EXTREME = [*AWKWARD, 1.797e308, -1.797e308, 5e-324, -5e-324, 2.5e-310]


def exactly(h, x):
    terms = (Fraction(float(a)) * Fraction(float(b)) for a, b in zip(h.w, x, strict=True))
    return sum(terms, Fraction(h.b))


@st.composite
def extreme_cases(draw):
    d, numbers = draw(st.integers(1, 4)), st.sampled_from(EXTREME)
    w = draw(arrays(np.float64, d, elements=numbers).filter(np.any))
    X = draw(arrays(np.float64, (draw(st.integers(1, 4)), d), elements=numbers))
    return Hyperplane(w, draw(numbers)), X


@given(extreme_cases(), st.sampled_from([np.asarray, sparse.csr_array]), st.data())
def test_signs_are_exact_whatever_cancels_or_overflows(case, make, data):
    h, X = case
    values = h.decision_function(make(X))
    truth = [exactly(h, x) for x in X]
    assert np.isfinite(values).all()
    assert np.sign(values).tolist() == [(v > 0) - (v < 0) for v in truth]
    assert h.predict(make(X)).tolist() == [1 if v > 0 else -1 for v in truth]
    assert h.predict(make(X), at_zero=1).tolist() == [1 if v >= 0 else -1 for v in truth]
    y = data.draw(arrays(np.int64, len(X), elements=st.sampled_from([-1, 1])))
    least = min(int(s) * v for s, v in zip(y, truth, strict=True))
    margin = h.margin(make(X), y)
    assert math.isfinite(margin)
    assert (margin > 0) - (margin < 0) == (least > 0) - (least < 0)
    assert np.isfinite(h.distance(make(X))).all()


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, "csr"])
def test_what_cancels_keeps_its_sign(kind):
    X = np.array([[2**55, 1, -(2**55)]], dtype=np.float64 if kind == "csr" else kind)
    h = Hyperplane([1.0, 1.0, 1.0], -1.5)
    X = sparse.csr_array(X) if kind == "csr" else X
    assert h.decision_function(X).tolist() == [-0.5]
    assert h.predict(X).tolist() == [-1]
    assert h.margin(X, [-1]) == pytest.approx(0.5 / math.sqrt(3), rel=1e-15)
    assert h.margin(X, [1]) == pytest.approx(-0.5 / math.sqrt(3), rel=1e-15)


def test_small_integers_given_twice_add_up():
    S = sparse.csr_array((np.array([100, 100], np.int8), [0, 0], [0, 2]), shape=(1, 1))
    h = Hyperplane([1.0], -150.0)
    assert h.decision_function(S).tolist() == [50.0]
    assert h.margin(S, [1]) == 50.0


def test_geometry_beyond_the_values():
    h = Hyperplane([3e200, 4e200], 0.0)
    X = [[3e150, 4e150], [1e-320, 0.0]]
    assert h.distance(X) == pytest.approx([5e150, 6e-321], rel=1e-2)
    assert h.canonical([[3e150, 4e150]]).w == pytest.approx([3e-151 / 5, 4e-151 / 5])
    assert h.support_vectors([[3e150, 4e150], [6e150, 8e150]], [1, 1]).tolist() == [0]
    assert h.project([[3e150, 4e150]])[0] == pytest.approx([0.0, 0.0], abs=1e136)
    assert Hyperplane([1e-200, 0.0], 1e-200).point().tolist() == [-1.0, 0.0]
    assert Hyperplane([1e200, 0.0], 1e300).point()[0] == pytest.approx(-1e100)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_samples_must_be_finite(value):
    h, X = Hyperplane([1.0, 1.0]), [[0.0, value]]
    for ask in (h.decision_function, h.predict, h.distance, lambda X: h.margin(X, [1])):
        with pytest.raises(ValueError, match="not finite"):
            ask(X)


def test_samples_must_fit_the_weights():
    with pytest.raises(ValueError, match=r"X has shape \(1, 3\): give a row of 2 features"):
        Hyperplane([1.0, 1.0]).predict([[1, 2, 3]])
    wrong = sparse.csr_array(np.eye(2))
    wrong.indices = np.array([0, 9], dtype=np.int32)
    with pytest.raises(ValueError, match="columns 0 to 1"):
        Hyperplane([1.0, 1.0]).predict(wrong)
