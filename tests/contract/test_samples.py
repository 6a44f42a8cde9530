"""What comes in is looked at on all threads: whether numbers are finite, which labels there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.contract.loops import are_finite
from rosenblatt.contract.samples import class_numbers, number_labels

N = 5_000  # more labels than are looked at first
KINDS = [np.int64, np.int8, np.uint8, np.uint64, np.float64, np.float32, "U3", "S2", object]


@pytest.mark.parametrize("kind", [*KINDS, bool])
@pytest.mark.parametrize("late", [False, True], ids=["early", "late"])
@pytest.mark.parametrize("n_classes", [2, 3, 30])
def test_labels_of_any_kind_are_numbered_as_by_sorting(kind, late, n_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, N)
    if late:  # the last class is not among the first labels
        y[:-10][y[:-10] == n_classes - 1] = 0
        y[-3:] = n_classes - 1
    y = y.astype("U3").astype(object) if kind is object else y.astype(kind)
    classes, label = number_labels(y, 2)
    wanted, places = np.unique(y, return_inverse=True)
    assert classes.dtype == wanted.dtype
    assert classes.tolist() == wanted.tolist()
    assert label.dtype == np.int32
    assert label.tolist() == places.tolist()


def test_numbers_beyond_what_loops_take():
    y = np.where(np.arange(N) % 2, 2**64 - 1, 3).astype(np.uint64)
    classes, label = number_labels(y)
    assert classes.tolist() == [3, 2**64 - 1]
    assert label.tolist() == (np.arange(N) % 2).tolist()


def test_known_classes_keep_their_numbers():
    y = np.where(np.arange(N) % 2, 7.0, 3.0)
    classes, label = class_numbers(y, np.array([3.0, 5.0, 7.0]))
    assert classes.tolist() == [3, 5, 7]
    assert label.tolist() == np.where(np.arange(N) % 2, 2, 0).tolist()
    with pytest.raises(ValueError, match=r"^y holds 7.0, but the classes are 3.0, 5.0$"):
        class_numbers(y, np.array([3.0, 5.0]))


def test_labels_between_whole_numbers_are_no_classes():
    y = np.arange(N) / 7
    with pytest.raises(ValueError, match="continuous"):
        class_numbers(y)
    with pytest.raises(ValueError, match="continuous"):
        class_numbers(np.where(np.arange(N) % 2, 0.5, 1.5))
    with pytest.raises(ValueError, match="only one class, 1"):
        class_numbers(np.ones(N, int))


LARGE = np.finfo(np.float64).max
numbers = st.sampled_from([0.0, -1.5, 1e200, LARGE, -LARGE, np.inf, -np.inf, np.nan])


@given(arrays(np.float64, st.integers(1, 50), elements=numbers), st.integers(0, 9))
def test_finite_are_those_that_numpy_says_are(values, start):
    start = min(start, len(values))
    assert are_finite(values, start, len(values)) == np.isfinite(values[start:]).all()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_large_data_that_are_not_finite_are_refused(kind, bad, sparse):
    """As small data are: in one line, where they are learned from and where they are judged."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 10)).astype(kind)
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y, 9, -9)
    model = rb.Perceptron().fit(X, y)
    X[12_345, 6] = bad
    given = csr_array(X) if sparse else X
    what = r"NaN \(row 12345, column 6\)" if np.isnan(bad) else "infinity"
    for ask in (lambda: rb.Perceptron().fit(given, y), lambda: model.decision_function(given)):
        with pytest.raises(ValueError, match=what) as refused:
            ask()
        assert "\n" not in str(refused.value)
    with pytest.raises(ValueError, match=what):
        rb.separability(given, y)


def test_weights_of_zero_do_not_hide_what_is_not_finite():
    X = np.ones((20_000, 10))
    X[::2] = -1
    y = np.arange(20_000) % 2
    model = rb.Perceptron().fit(X, y)
    model.coef_[:], model.intercept_[:] = 0.0, 0.0
    assert not model.decision_function(X).any()
    X[5, 5] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.decision_function(X)


def test_the_largest_floats_are_finite():
    X = np.full((20_000, 10), LARGE)
    X[::2] = -LARGE
    y = np.arange(20_000) % 2
    assert rb.Perceptron(eta0=1e-300).fit(X, y).n_errors_ == 0
