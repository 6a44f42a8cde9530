"""`rb.separability`: verdicts against naive exact arithmetic, linear programming and theory."""

from __future__ import annotations

import os
import signal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array
from sklearn.datasets import load_iris, load_svmlight_file

import rosenblatt as rb
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.nearest.working_set import Clock
from rosenblatt.results import Inseparable, QuasiSeparable, Separable, Undecided
from rosenblatt.running.clock import Halt
from rosenblatt.running.threads import Team
from rosenblatt.separation import solver
from rosenblatt.separation.solver import Care, find_certificate

DATA = os.environ.get("ROSENBLATT_DATA")
needs_data = pytest.mark.skipif(
    not DATA, reason="set ROSENBLATT_DATA to the folder of the real data sets"
)


# The naive truth --------------------------------------------------------------------------------


def signed(X, y):
    """``y(x, 1)`` in fractions; the larger label is +1."""
    positive = max(y)
    return [
        [Fraction(float(v)) * (1 if label == positive else -1) for v in (*row, 1.0)]
        for row, label in zip(X, y, strict=True)
    ]


def rank(vectors):
    """By elimination in fractions."""
    pivots = []
    for vector in vectors:
        rest = list(vector)
        for place, row in pivots:
            if rest[place]:
                factor = rest[place] / row[place]
                rest = [a - factor * b for a, b in zip(rest, row, strict=True)]
        place = next((j for j, v in enumerate(rest) if v), None)
        if place is not None:
            pivots.append((place, rest))
    return len(pivots)


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def verify(certificate, X, y):
    """Whether a certificate is what it says, by arithmetic that shares nothing with the library."""
    Z = signed(X, y)
    n, D = len(Z), len(Z[0])
    if isinstance(certificate, Separable | QuasiSeparable):
        plane = certificate.hyperplane
        theta = certificate.exact or [Fraction(float(v)) for v in (*plane.w, plane.b)]
        values = [dot(z, theta) for z in Z]
    if isinstance(certificate, Separable):
        assert all(v > 0 for v in values)
        assert certificate.margin > 0 or min(values) < Fraction(5e-324)  # smaller than any float
        return
    covered = range(n)
    if isinstance(certificate, QuasiSeparable):
        covered = certificate.on.tolist()
        assert 0 < len(covered) < n
        assert all((v == 0) == (i in set(covered)) for i, v in enumerate(values))
        assert all(v >= 0 for v in values)
    support = certificate.support.tolist()
    assert len(support) <= D + 1
    assert rank([Z[i] for i in support]) == len(support) - 1
    assert {y[i] for i in support} == set(y)
    weights = held(certificate, "weights")
    positive = sum(w for i, w in zip(support, weights, strict=True) if Z[i][-1] > 0)
    assert abs(positive - 1) <= 1e-12
    require_cancelling(Z, support, weights, 1e-12)
    spanning = certificate.spanning_support.tolist()
    assert set(spanning) <= set(covered)
    vectors = [Z[i] for i in spanning]
    r = rank(vectors)
    assert len(spanning) <= 2 * r
    assert rank(vectors + [Z[i] for i in covered]) == r
    require_cancelling(Z, spanning, held(certificate, "spanning_weights"), 1e-9)


def held(certificate, name):
    """The weights: fractions where floats cannot hold them."""
    floats, exact = getattr(certificate, name), getattr(certificate, f"exact_{name}")
    if exact is None:
        return [Fraction(w) for w in floats.tolist()]
    assert [float(w) for w in exact] == floats.tolist()
    return list(exact)


def require_cancelling(Z, rows, weights, tolerance):
    """The sum vanishes, but for what rounding the weights to floats has left."""
    assert min(weights) > 0
    for j in range(len(Z[0])):
        terms = [Z[i][j] * w for i, w in zip(rows, weights, strict=True)]
        assert abs(sum(terms)) <= Fraction(tolerance) * max(map(abs, terms))


def strictly_separable(X, y):
    """By linear programming."""
    Z = np.array(signed(X, y), dtype=float)
    found = linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=(None, None))
    assert found.status in (0, 2)
    return found.status == 0


@st.composite
def labelled(draw):
    """Small tables of whole numbers, many of them degenerate, with both classes."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    top = draw(st.sampled_from([1, 2, 5]))
    cells = st.lists(st.integers(-top, top), min_size=d, max_size=d)
    X = draw(st.lists(cells, min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda y: len(set(y)) == 2))
    if draw(st.booleans()):  # labels by a hyperplane, with points on it
        w = draw(st.lists(st.integers(-2, 2), min_size=d, max_size=d))
        b = draw(st.integers(-2, 2))
        values = np.array(X) @ np.array(w) + b
        bent = np.where(values == 0, np.array(y), values > 0).astype(int)
        y = bent.tolist() if len(set(bent.tolist())) == 2 else y
    return np.array(X, dtype=float), np.array(y)


# Verdicts ---------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(labelled())
def test_every_certificate_holds(data):
    X, y = data
    certificate = rb.separability(X, y)
    verify(certificate, X, y.tolist())
    assert rb.certify.check(certificate, X, y).valid
    assert isinstance(certificate, Separable) == strictly_separable(X, y)


@settings(max_examples=40, deadline=None)
@given(labelled())
def test_the_exact_way_gives_the_same_verdict(data):
    X, y = data
    source = MemorySource(as_rows(X), y.astype(np.int32), X.shape[1])
    with Team(1) as team:
        quick, careful, slow = (find_certificate(source, team, 1, Clock(), care) for care in Care)
    for other in (careful, slow):
        verify(other, X, y.tolist())
        assert other.verdict is quick.verdict
        if isinstance(other, QuasiSeparable):
            assert other.on.tolist() == quick.on.tolist()


@settings(max_examples=15, deadline=None)
@given(labelled(), st.sampled_from([1, 3]))
def test_dense_sparse_and_blocks_agree(data, block_size):
    X, y = data
    label = y.astype(np.int32)
    one = rb.separability(X, y)
    for other in (
        rb.separability(csr_array(X), y),
        rb.separability(coo_array(X), y),
        rb.separability(X.astype(np.float32), y),
        rb.separability(np.asfortranarray(X), y),
    ):
        assert other.verdict is one.verdict
        if isinstance(one, QuasiSeparable):
            assert other.on.tolist() == one.on.tolist()
    blocks = MemorySource(as_rows(X), label, X.shape[1], block_size=block_size)
    with Team(2) as team:
        found = find_certificate(blocks, team, 1, Clock())
    verify(found, X, y.tolist())
    assert found.verdict is one.verdict


@settings(max_examples=15, deadline=None)
@given(labelled(), st.integers(-150, 150), st.integers(-3, 3))
def test_verdicts_do_not_depend_on_the_unit(data, power, shift):
    """Scaling a feature, moving it by whole numbers or flipping the classes changes nothing."""
    X, y = data
    one = rb.separability(X, y)
    scale = np.ones(X.shape[1])
    scale[0] = 2.0**power
    for other in (rb.separability((X + shift) * scale, y), rb.separability(X, 1 - y)):
        assert other.verdict is one.verdict
        if isinstance(one, QuasiSeparable):
            assert other.on.tolist() == one.on.tolist()


@pytest.mark.parametrize(("n", "d"), [(300, 20), (60, 40), (30, 100), (2000, 5)])
@pytest.mark.parametrize("labels", ["plane", "noisy", "random"])
def test_random_data_as_linear_programming_has_it(n, d, labels):
    rng = np.random.default_rng([n, d])
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) > 0.1
    if labels == "noisy":
        y ^= rng.random(n) < 0.02
    elif labels == "random":
        y = rng.random(n) < 0.5
    certificate = rb.separability(X, y)
    assert rb.certify.check(certificate, X, y).valid
    assert isinstance(certificate, Separable) == strictly_separable(X, y)


def test_one_hot_with_a_feature_of_one_class_only():
    """The feature that occurs in one class only is what separates, and only its rows."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=(300, 3))
    X = np.hstack([codes == k for k in range(4)]).astype(float)
    y = rng.random(300) < 0.5
    rare = np.zeros((300, 1))
    rare[np.flatnonzero(y)[:7]] = 1
    X = np.hstack([X, rare])
    certificate = rb.separability(X, y)
    assert isinstance(certificate, QuasiSeparable)
    assert certificate.exact is None
    assert sorted(set(range(300)) - set(certificate.on.tolist())) == np.flatnonzero(y)[:7].tolist()
    assert certificate.hyperplane.w[-1] > 0
    verify(certificate, X, y.tolist())


# Closed forms -----------------------------------------------------------------------------------


def test_two_points():
    certificate = rb.separability([[0.0, 0.0], [3.0, 4.0]], ["a", "b"])
    assert certificate.verdict is rb.Verdict.SEPARABLE
    assert 0 < certificate.margin <= 2.5 + 1e-12


def test_xor_meets_in_the_middle():
    certificate = rb.separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    assert isinstance(certificate, Inseparable)
    assert certificate.support.tolist() == [0, 1, 2, 3]
    assert certificate.weights.tolist() == [0.5] * 4
    assert certificate.point.tolist() == [0.5, 0.5]


def test_identical_rows_with_both_labels():
    X = [[0.0, 5.0], [1.0, 2.0], [1.0, 2.0], [3.0, 7.0]]
    certificate = rb.separability(X, [0, 0, 1, 1])
    assert certificate.support.tolist() == [1, 2]
    assert certificate.weights.tolist() == [1.0, 1.0]
    assert certificate.point.tolist() == [1.0, 2.0]
    assert isinstance(certificate, QuasiSeparable)
    assert certificate.on.tolist() == [1, 2]


def test_touching_intervals():
    """0..1 and 1..2 touch in 1: weakly separated there, and nowhere else."""
    certificate = rb.separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert isinstance(certificate, QuasiSeparable)
    assert certificate.on.tolist() == [1, 2]
    assert certificate.hyperplane.w[0] > 0
    assert certificate.hyperplane.b == -certificate.hyperplane.w[0]


def test_points_on_top_of_each_other():
    X = np.array([[0.0], [-1], [-1], [-1], [-1], [0], [1], [1], [1], [1]])
    y = [1] * 5 + [-1] * 5
    certificate = rb.separability(X, y)
    assert isinstance(certificate, QuasiSeparable)
    assert certificate.on.tolist() == [0, 5]
    verify(certificate, X, y)


def test_the_eight_points_of_the_lecture():
    assert rb.separability(*rb.datasets.eight_points()).verdict is rb.Verdict.SEPARABLE


def test_iris():
    X, y = load_iris(return_X_y=True)
    assert rb.separability(X, y == 0).verdict is rb.Verdict.SEPARABLE
    pair = y > 0
    certificate = rb.separability(X[pair], y[pair])
    assert certificate.verdict is rb.Verdict.INSEPARABLE
    verify(certificate, X[pair], y[pair].tolist())


# Exactness --------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 5, 20])
@pytest.mark.parametrize("margin", [1e-9, 1e-12, 1e-14])
def test_tiny_margins(d, margin):
    rng = np.random.default_rng(d)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(80, d))
    y = np.arange(80) % 2
    X -= np.outer(X @ w, w)
    X += np.outer(np.where(y > 0, 1, -1) * margin * rng.integers(1, 1000, 80), w)
    certificate = rb.separability(X, y)
    verify(certificate, X, y.tolist())
    if margin > 1e-14:  # well above the spacing of floats: separable for certain
        assert isinstance(certificate, Separable)


def test_neighbouring_floats():
    one = 1.0
    above = np.nextafter(one, 2)
    certificate = rb.separability([[one], [above]], [0, 1])
    verify(certificate, [[one], [above]], [0, 1])
    assert isinstance(certificate, Separable)
    certificate = rb.separability([[one], [above], [np.nextafter(above, 2)]], [0, 1, 0])
    assert isinstance(certificate, Inseparable)


def test_a_sum_that_floats_round():
    """0.1 + 0.2 is not 0.3 in floats: three points on a line in decimals are not on one here."""
    X = [[0.1, 0.1], [0.2, 0.2], [0.3, 0.1 + 0.2]]
    certificate = rb.separability(X, [0, 1, 0])
    verify(certificate, X, [0, 1, 0])
    assert isinstance(certificate, Separable)


@pytest.mark.parametrize("seed", range(6))
def test_values_from_1e_minus_150_to_1e150(seed):
    rng = np.random.default_rng(seed)
    n, d = 20, 1 + seed % 3
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-150, 150, size=(n, d))
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    certificate = rb.separability(X, y)
    verify(certificate, X, y.tolist())


def test_whole_numbers_beyond_two_to_the_53():
    rng = np.random.default_rng(3)
    X = 1e17 + 16.0 * rng.integers(0, 100, size=(60, 3))
    y = X[:, 0] > 1e17 + 800
    certificate = rb.separability(X, y)
    assert isinstance(certificate, Separable)
    verify(certificate, X, y.tolist())
    X[-1] = X[:-1].mean(axis=0)
    y = np.arange(60) == 59
    verify(rb.separability(X, y), X, y.tolist())


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[5e-324], [0]], [0, 1]),
        ([[1.797e308], [-1.797e308]], [0, 1]),
        ([[0, 0], [1e308, 1e308], [0, 1e308], [1e308, 0]], [0, 1, 1, 1]),
        ([[1e300, 1], [-1e300, 2], [1e300, 3], [0, 0]], [0, 1, 0, 1]),
        ([[1e-300, 1], [-1e-300, 2], [1e-300, 3], [0, 0]], [0, 1, 0, 1]),
    ],
)
def test_the_ends_of_floating_point(X, y):
    X = np.array(X, dtype=float)
    for data in (X, csr_array(X)):
        certificate = rb.separability(data, y)
        assert isinstance(certificate, Separable)
        verify(certificate, X, y)


@pytest.mark.parametrize("seed", range(12))
def test_all_of_floating_point(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(4, 12), rng.integers(1, 4)
    X = 10.0 ** rng.uniform(-300, 300, size=(n, d)) * rng.choice([-1, 1], size=(n, d))
    y = np.arange(n) % 2
    verify(rb.separability(X, y), X, y.tolist())


def test_weights_that_floats_cannot_hold():
    """The only proof has a weight of about 5e-324, which is kept as a fraction."""
    X, y = np.array([[5e-324], [0.0], [0.0], [-1.0]]), [0, 1, 1, 0]
    certificate = rb.separability(X, y)
    assert certificate.verdict is rb.Verdict.INSEPARABLE
    assert min(certificate.exact_weights) == Fraction(5e-324) / (1 + Fraction(5e-324))
    verify(certificate, X, y)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
def test_whole_numbers_that_floats_cannot_hold_are_refused(dtype):
    X = np.array([[2**53], [2**53 + 1]], dtype=dtype)
    with pytest.raises(ValueError, match="9007199254740993, which no float is equal to"):
        rb.separability(X, [0, 1])
    even = np.array([[2**53], [2**53 + 2]], dtype=dtype)
    assert rb.separability(even, [0, 1]).verdict is rb.Verdict.SEPARABLE


def test_columns_beyond_the_matrix_are_refused():
    X = csr_array(np.eye(4))
    X.indices[1] = 77
    with pytest.raises(ValueError, match="X names column 77, but it has columns 0 to 3"):
        rb.separability(X, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="X names column 77"):
        rb.Perceptron().fit(X, [0, 1, 0, 1])


def test_identical_rows_are_the_shortest_evidence():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 6)), rng.random(500) < 0.5
    X[400], y[400] = X[17], not y[17]
    for data in (X, csr_array(X)):
        certificate = rb.separability(data, y)
        assert certificate.support.tolist() == [17, 400]
        assert isinstance(certificate, Inseparable)
        assert len(certificate.spanning_support) == 8
    verify(certificate, X, y.tolist())


def test_collinear_points():
    X = np.outer(np.arange(30), [0.1, 0.7, 1e-9])
    for y in (np.arange(30) < 11, np.arange(30) % 2, (np.arange(30) < 5) | (np.arange(30) > 20)):
        verify(rb.separability(X, y), X, y.tolist())


def test_an_exact_hyperplane_where_floats_are_too_coarse():
    """A point beside the face of a simplex: no floats have it on the other side."""
    X = np.array([[0, 0], [1, 0], [0, 1], [0.09294572308428554, 0.9070542769157145]])
    y = np.array([False, False, False, True])
    certificate = rb.separability(X, y)
    assert isinstance(certificate, Separable)
    assert certificate.exact is not None
    assert certificate.hyperplane.margin(X, np.where(y, 1, -1)) <= 0
    verify(certificate, X, y.tolist())


def test_five_hundred_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1300, 500))
    y = rng.random(1300) < 0.5
    certificate = rb.separability(X, y)
    assert certificate.verdict is rb.Verdict.INSEPARABLE
    assert len(certificate.support) == 502
    assert rb.certify.check(certificate, X, y).valid


# Time, and input that cannot be ------------------------------------------------------------------


def test_out_of_time():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 60))
    y = X[:, 0] > 0
    X[:, 0] += np.where(y, 0.5, -0.5)
    certificate = rb.separability(X, y, max_time=1e-9)
    assert isinstance(certificate, Undecided)
    assert certificate.verdict is rb.Verdict.UNDECIDED
    low, high = certificate.bracket
    assert -np.inf < low <= high < np.inf
    assert low <= 0.5 <= high  # the hyperplane at zero has half a unit on either side
    assert not rb.certify.check(certificate, X, y).valid


@pytest.mark.parametrize("kind", ["crossing", "touching"])
def test_time_ends_it_wherever_it_is(kind, monkeypatch):
    """However often the clock lets it go on, the answer is true: out of time or proved."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(120, 8)).astype(float)
    y = rng.random(120) < 0.5
    if kind == "touching":
        X = np.column_stack([X, y & (rng.random(120) < 0.2)])
    label = y.astype(np.int32)
    seen = set()
    for allowed in range(0, 80, 4):
        looks = iter(range(allowed))

        def look_up(self, looks=looks):
            if self.end is not None and next(looks, None) is None:
                raise Halt(rb.StopReason.TIME_LIMIT)

        monkeypatch.setattr(Clock, "look_up", look_up)
        source = MemorySource(as_rows(X), label, X.shape[1])
        with Team(1) as team:
            found = find_certificate(source, team, 1, Clock(max_time=1000))
        seen.add(type(found))
        if isinstance(found, Undecided):
            assert found.bracket[0] <= 0  # nothing separates them
        else:
            assert rb.certify.check(found, X, y).valid
    assert Undecided in seen
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        ([[1.0], [2.0]], [1, 1], "only one class"),
        ([[1.0], [2.0], [3.0]], [0.1, 1.2, 2.5], "Unknown label type"),
        ([[1.0], [np.nan]], [0, 1], "NaN"),
        ([[1.0], [np.inf]], [0, 1], "infinity"),
        ([[1.0], [2.0]], [0, 1, 1], "inconsistent numbers of samples"),
        ([1.0, 2.0], [0, 1], "give a table with a row per sample"),
        ([[1.0], [2.0]], [0.5, 0.25], "continuous"),
    ],
)
def test_input_that_cannot_be(X, y, said):
    with pytest.raises(ValueError, match=said):
        rb.separability(X, y)


@pytest.mark.parametrize("max_time", [0, -1, "soon", np.nan])
def test_times_that_cannot_be(max_time):
    with pytest.raises(ValueError, match=r"max_time=.* is not allowed"):
        rb.separability([[0.0], [1.0]], [0, 1], max_time=max_time)


def test_the_data_stay_as_they_are():
    X, y = rb.datasets.eight_points()
    X = np.ascontiguousarray(X, dtype=float)
    X.setflags(write=False)
    before = X.copy()
    rb.separability(X, y)
    assert np.array_equal(X, before)


def test_certificates_cannot_change():
    certificate = rb.separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="read-only"):
        certificate.weights[0] = 1.0
    with pytest.raises(AttributeError):
        certificate.point = None


# Known answers ----------------------------------------------------------------------------------


def real(name):
    folder = Path(DATA)
    if name in ("a9a", "w8a", "mushrooms"):
        file = {"mushrooms": "agaricus.txt.train.gz"}.get(name, f"{name}.gz")
        X, y = load_svmlight_file(str(folder / file))
        return X, y > 0
    pandas = pytest.importorskip("pandas")
    if name == "colon":
        frame = pandas.read_csv(folder / "colon.csv.gz")
        return frame.iloc[:, 1:-1].to_numpy(float), frame["Class"].to_numpy()
    if name == "covtype":
        frame = pandas.read_csv(folder / "covtype.csv.gz")
        return frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy() == 2
    file = {
        "spambase": "spambase.data",
        "sonar": "sonar.csv",
        "pima": "pima-indians-diabetes.csv",
        "banknote": "banknote_authentication.csv",
    }[name]
    frame = pandas.read_csv(folder / file, header=None)
    return frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy()


@needs_data
@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("sonar", "SEPARABLE"),
        ("colon", "SEPARABLE"),
        ("mushrooms", "SEPARABLE"),
        ("pima", "INSEPARABLE"),
        ("banknote", "INSEPARABLE"),
        ("spambase", "INSEPARABLE"),
        ("a9a", "QUASI_SEPARABLE"),
        ("w8a", "QUASI_SEPARABLE"),
        ("covtype", "QUASI_SEPARABLE"),
    ],
)
def test_real_data(name, verdict):
    X, y = real(name)
    certificate = rb.separability(X, y)
    assert certificate.verdict.name == verdict
    assert rb.certify.check(certificate, X, y).valid
    if verdict == "QUASI_SEPARABLE" and name != "covtype":
        # A row with a feature that occurs in its class only is off the hyperplane.
        only = ((X[y] != 0).sum(axis=0) == 0) != ((X[~y] != 0).sum(axis=0) == 0)
        rows = np.flatnonzero((X[:, np.flatnonzero(only)] != 0).sum(axis=1))
        assert not set(rows.tolist()) & set(certificate.on.tolist())


def test_ctrl_c_on_wide_data(monkeypatch):
    """There the maximum margin's method looks first; it must not keep the key to itself."""
    from rosenblatt.nearest.max_margin import MaxMargin

    def pressed(self):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(MaxMargin, "_run", pressed)
    monkeypatch.setattr(solver, "WIDE", 1)
    rng = np.random.default_rng(0)
    with pytest.raises(KeyboardInterrupt):
        rb.separability(rng.standard_normal((30, 5)), rng.integers(0, 2, 30))


def test_a_direction_may_be_a_bias_alone():
    assert solver._shrunk([Fraction(0), Fraction(0), Fraction(3)])[:2] == [0, 0]
    assert solver._shrunk([Fraction(0), Fraction(0), Fraction(-3)])[2] < 0
