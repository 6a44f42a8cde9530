"""Numbers are taken for what they are: what no float is equal to is refused, never rounded."""

import functools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rosenblatt as rb
from rosenblatt import arguments, matrices

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

Y = [0, 1]
LONG = np.finfo(np.longdouble).nmant > 52
needs_long = pytest.mark.skipif(not LONG, reason="long double is double here")


def column(*values, dtype=object):
    return np.array(values, dtype=dtype)[:, np.newaxis]


ROUNDED = {
    "longdouble": lambda: column(1, 1 + np.longdouble(2) ** -60, dtype=np.longdouble),
    "longdouble that overflows": lambda: column(1, np.longdouble(10) ** 400, dtype=np.longdouble),
    "longdouble that vanishes": lambda: column(1, np.longdouble(10) ** -400, dtype=np.longdouble),
    "fractions": lambda: column(Fraction(1, 3), Fraction(1, 2)),
    "decimals": lambda: column(Decimal("0.1"), Decimal(1)),
    "decimal that overflows": lambda: column(Decimal("1e400"), Decimal(1)),
    "int64": lambda: column(2**53 + 1, 1, dtype=np.int64),
    "largest int64": lambda: column(2**63 - 1, 1, dtype=np.int64),
    "negative int64": lambda: column(-(2**53) - 1, 1, dtype=np.int64),
    "uint64": lambda: column(2**64 - 1, 1, dtype=np.uint64),
    "long integers": lambda: column(2**70 + 1, 1),
    "integers beyond floats": lambda: column(10**400, 1),
    "int64 among objects": lambda: column(np.int64(2**53 + 1), 1),
    "list of integers": lambda: [[2**53 + 1], [1]],
    "list of both": lambda: [[2**53 + 1], [0.5]],
    "list of fractions": lambda: [[Fraction(1, 3)], [1]],
    "pandas decimals": lambda: pd.DataFrame({"a": [Decimal("0.1"), Decimal(1)]}),
    "pandas int64": lambda: pd.DataFrame({"b": [1.0, 2.0], "a": [2**53 + 1, 1]}),
    "pandas nullable": lambda: pd.DataFrame({"a": [2**53 + 1, 1]}).astype("Int64"),
    "polars decimals": lambda: pl.DataFrame({"a": [Decimal("0.1"), Decimal("1.0")]}),
    "polars int64": lambda: pl.DataFrame({"a": [2**53 + 1, 1]}),
}
EQUAL = {
    "longdouble": lambda: column(1, 0.5, dtype=np.longdouble),
    "half": lambda: column(1, 0.5, dtype=np.float16),
    "fractions": lambda: column(Fraction(1), Fraction(1, 2)),
    "decimals": lambda: column(Decimal(1), Decimal("0.5")),
    "list": lambda: [[1], [Fraction(1, 2)]],
    "pandas decimals": lambda: pd.DataFrame({"a": [Decimal(1), Decimal("0.5")]}),
    "polars decimals": lambda: pl.DataFrame({"a": [Decimal("1.0"), Decimal("0.5")]}),
    "bytes": lambda: column(1, 0, dtype=np.int8),
    "truths": lambda: column(True, False),
    "large int64": lambda: column(2**53, 2**60, dtype=np.int64),
    "uint64": lambda: column(2**63, 1, dtype=np.uint64),
    "long integers": lambda: column(2**70, 1),
    "list of both": lambda: [[2**53], [0.5]],
}
PLANE = rb.Hyperplane([1.0])
MODELS = (rb.Perceptron, rb.Adaline, rb.KernelPerceptron)
MARGINS = (rb.MaxMarginClassifier, rb.SoftMarginClassifier)


@functools.cache
def trained(kind):
    return kind().fit([[0.0], [1.0]], Y)


READERS = {
    **{kind.__name__: lambda X, kind=kind: kind().fit(X, Y) for kind in MODELS + MARGINS},
    "partial_fit": lambda X: rb.Perceptron().partial_fit(X, Y, [0, 1]),
    "predict": lambda X: trained(rb.Perceptron).predict(X),
    "predict with a kernel": lambda X: trained(rb.KernelPerceptron).predict(X),
    "separability": lambda X: rb.separability(X, Y),
    "mistake_bound": lambda X: rb.mistake_bound(X, Y),
    "soft_margin_path": lambda X: rb.soft_margin_path(X, Y, [1.0]),
    "check": lambda X: rb.certify.check(rb.separability([[0.0], [1.0]], Y), X, Y),
    "features": lambda X: rb.features.Squares().fit(X),
    "kernel": rb.kernels.Linear(),
    "Hyperplane": PLANE.decision_function,
    "margin": lambda X: PLANE.margin(X, [-1, 1]),
    "radius": rb.theory.radius,
    "shatters": rb.boolean.shatters,
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_what_would_be_rounded_is_refused(reader):
    for name, made in ROUNDED.items():
        X = made()
        if getattr(X, "dtype", None) == np.longdouble and not LONG:
            continue  # long double is double here
        with pytest.raises(ValueError, match=r"^X ") as caught:
            pytest.fail(f"{name} is taken: {reader(X)}")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("made", EQUAL.values(), ids=EQUAL)
def test_what_floats_hold_is_taken(made):
    X = made()
    floats = np.array([[float(value)] for value in np.asarray(X, dtype=object).ravel()])
    verdict = rb.separability(X, Y)
    assert verdict.verdict is rb.Verdict.SEPARABLE
    assert rb.certify.check(verdict, floats, Y)
    np.testing.assert_array_equal(PLANE.decision_function(X), floats[:, 0])
    np.testing.assert_array_equal(rb.kernels.Linear()(X), floats @ floats.T)
    model = rb.Perceptron(max_epochs=3).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, rb.Perceptron(max_epochs=3).fit(floats, Y).coef_)


@needs_long
def test_the_verdict_on_numbers_that_differ_only_beyond_floats():
    X = column(1, 1 + np.longdouble(2) ** -60, dtype=np.longdouble)
    with pytest.raises(ValueError, match=r"X holds 1\.0+\d*, which no float is equal to"):
        rb.separability(X, Y)
    assert rb.separability(X - 1, Y).verdict is rb.Verdict.SEPARABLE


@pytest.mark.parametrize("value", [Fraction(1, 3), Decimal("0.1"), 2**53 + 1, 10**400])
def test_weights_and_starts_are_not_rounded(value):
    X, y = [[0.0], [1.0]], Y
    with pytest.raises(ValueError, match=r"w holds .* which no float is equal to"):
        rb.Hyperplane([value])
    with pytest.raises(ValueError, match=r"b holds .* which no float is equal to"):
        rb.Hyperplane([1.0], value)
    with pytest.raises(ValueError, match=r"init=.* is not a vector of numbers that are floats"):
        rb.Perceptron(init=[value, 0]).fit(X, y)
    for kind in (rb.Perceptron, rb.SoftMarginClassifier):
        with pytest.raises(ValueError, match=r"sample_weight holds .* which no float is equal to"):
            kind().fit(X, y, [value, 1])
    with pytest.raises(ValueError, match=r"theta holds .* which no float is equal to"):
        rb.theory.unaugment([value, 1])


def test_weights_that_floats_hold_are_taken():
    plane = rb.Hyperplane([Fraction(1, 2), Decimal(2)], Fraction(-1, 4))
    assert plane == rb.Hyperplane([0.5, 2.0], -0.25)
    assert rb.Hyperplane([1], np.longdouble(2)).b == 2.0


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_text_among_objects(reader):
    for bad in ("a", b"a", "1"):
        with pytest.raises(ValueError, match=r"X .*(text|not numbers)") as caught:
            pytest.fail(f"{bad!r} is taken: {reader(column(bad, 1))}")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", [{"a": 1}, [1], object(), 1j, np.datetime64("2020-01-01")])
def test_other_objects(bad):
    X = np.empty((2, 1), object)
    X[:, 0] = [bad, 1]
    with pytest.raises(TypeError, match=f"X holds a {type(bad).__name__}"):
        rb.separability(X, Y)


def test_missing_numbers_are_named_as_before():
    for X in (column(None, 1), pd.DataFrame({"a": [1, None]}, dtype="Int64")):
        with pytest.raises(ValueError, match="contains NaN"):
            rb.Perceptron().fit(X, Y)


def test_masked_entries_are_no_numbers():
    X = np.ma.masked_equal(column(0.0, 1.0, dtype=float), 0.0)
    with pytest.raises(ValueError, match="X is an array with masked entries"):
        rb.Perceptron().fit(X, Y)
    assert rb.separability(np.ma.array(column(0.0, 1.0, dtype=float)), Y)


def test_plain_arrays_are_not_copied():
    for dtype in (np.float64, np.float32, np.int32, np.int64):
        X = np.arange(6, dtype=dtype).reshape(3, 2)
        assert matrices.table("X", X) is X
        assert matrices.matrix("X", X) is X
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    assert matrices.table("X", frame) is frame
    w = np.arange(3.0)
    assert arguments.floats("w", w) is w
    plane = rb.Hyperplane(w)
    w[0] = 7.0
    assert plane.w[0] == 0.0
