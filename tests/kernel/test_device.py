"""Data on a device, played by a strict array API library: the same mistakes as in memory."""

import functools
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import rosenblatt as rb
from rosenblatt.kernel import device

xp = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(params=["whole", "pieces"], autouse=True)
def blocks(request, monkeypatch):
    """Everything at once, or in several blocks and chunks."""
    if request.param == "pieces":
        for name, size in (("BLOCK", 32), ("WIDE_BLOCK", 70), ("CHUNK", 40), ("ROWS", 300)):
            monkeypatch.setattr(device, name, size)
        monkeypatch.setattr(device.DeviceValues, "foreseen", 3)
    return request.param


def rings(n=120, dtype=np.float64, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5)).astype(dtype)
    return X, np.digitize((X[:, :2] ** 2).sum(axis=1), [0.7, 2.0][: classes - 1])


def same(a, b):
    """Whether two models have the same record, coefficients and errors."""
    traces = zip(a.fits_, b.fits_, strict=True)
    for one, other in traces:
        np.testing.assert_array_equal(one.trace.mistakes, other.trace.mistakes)
        for name in ("epoch", "sample", "value", "step"):
            mine, theirs = (getattr(fit.trace.updates, name) for fit in (one, other))
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_allclose(one.trace.change, other.trace.change, rtol=1e-3, atol=1e-6)
        assert one.stop_reason is other.stop_reason
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)
    np.testing.assert_array_equal(a.support_vectors_, b.support_vectors_)
    assert a.n_errors_ == b.n_errors_


CASES = [
    {},
    {"keep": "average", "fit_intercept": True},
    {"keep": "vote"},
    {"keep": "pocket"},
    {"budget": 25},
    {"budget": 25, "order": "sampled"},
    {"drop_after": 3},
    {"order": "shuffled"},
    {"order": "worst-mistake", "max_epochs": 15},
    {"order": "random-mistake", "max_epochs": 15},
    {"kernel": "poly", "degree": 3},
    {"kernel": "poly", "degree": 2, "coef0": -1.0},
    {"kernel": "linear"},
    {"kernel": "gaussian", "sigma": 0.7, "tol": 1e-3},
    {"kernel": "sigmoid", "gamma": 0.01},
    {"kernel": rb.kernels.RBF(50.0)},
]


@functools.cache
def in_memory(case, dtype):
    options = {"max_epochs": 4, "random_state": 0, "record": True, **CASES[case]}
    return rb.KernelPerceptron(**options).fit(*rings(dtype=dtype))


@quiet
@pytest.mark.filterwarnings("ignore:the kernel tanh:UserWarning")
@pytest.mark.parametrize("case", range(len(CASES)), ids=map(str, CASES))
def test_same_mistakes_as_in_memory(case, blocks):
    """Of each case one precision in one block, the other in several; in turns."""
    dtype = (np.float32, np.float64)[(case + (blocks == "whole")) % 2]
    X, y = rings(dtype=dtype)
    here = in_memory(case, dtype)
    there = clone(here).fit(xp.asarray(X), xp.asarray(y))
    same(here, there)
    T, _ = rings(100, dtype, seed=1)
    values, chosen = there.decision_function(xp.asarray(T)), there.predict(xp.asarray(T))
    assert type(values) is type(chosen) is type(xp.asarray(T))
    np.testing.assert_allclose(np.asarray(values), here.decision_function(T), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(np.asarray(chosen), here.predict(T))


@quiet
@pytest.mark.parametrize("options", [{}, {"budget": 25}, {"keep": "vote"}], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_far_from_the_origin(options, dtype):
    X, y = rings(dtype=np.float32)
    X = (X + 1000.0).astype(dtype)
    options = {"gamma": 0.5, "max_epochs": 3, "record": True, **options}
    here = rb.KernelPerceptron(**options).fit(X, y)
    there = rb.KernelPerceptron(**options).fit(xp.asarray(X), y)
    same(here, there)
    np.testing.assert_array_equal(np.asarray(there.predict(xp.asarray(X))), here.predict(X))


@quiet
def test_whole_numbers_and_ties():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (120, 3)).astype(float)
    y = rng.integers(0, 2, 120)
    for kernel in ("linear", rb.kernels.Polynomial(3), rb.kernels.Polynomial(2, 1.0, 0.0)):
        options = {"kernel": kernel, "max_epochs": 6, "record": True}
        here = rb.KernelPerceptron(**options).fit(X, y)
        same(here, rb.KernelPerceptron(**options).fit(xp.asarray(X), y))


@quiet
@pytest.mark.parametrize("keep", ["last", "average", "vote"])
def test_a_stream_goes_on_there_and_here(keep):
    X, y = rings(200)
    here = rb.KernelPerceptron(gamma=0.5, keep=keep, record=True)
    there = rb.KernelPerceptron(gamma=0.5, keep=keep, record=True)
    for k, a in enumerate(range(0, 200, 50)):
        part = X[a : a + 50]
        here.partial_fit(part, y[a : a + 50], classes=[0, 1, 2])
        there.partial_fit(xp.asarray(part) if k % 2 else part, y[a : a + 50], classes=[0, 1, 2])
        there = pickle.loads(pickle.dumps(there))
    same(here, there)


@quiet
def test_weights_and_names(tmp_path):
    X, y = rings(dtype=np.float32)
    names = np.array(["in", "mid", "out"])[y]
    weight = np.random.default_rng(0).random(len(y))
    options = {"class_weight": "balanced", "max_epochs": 3, "record": True}
    here = rb.KernelPerceptron(**options).fit(X, names, sample_weight=weight)
    there = rb.KernelPerceptron(**options)
    there.fit(xp.asarray(X), names, sample_weight=xp.asarray(weight))
    same(here, there)
    assert there.kernel_.gamma == pytest.approx(here.kernel_.gamma, rel=1e-12)
    chosen = there.predict(xp.asarray(X))
    assert isinstance(chosen, np.ndarray)
    np.testing.assert_array_equal(chosen, here.predict(X))
    rb.io.save(there, tmp_path / "model.skops")
    np.testing.assert_array_equal(rb.io.load(tmp_path / "model.skops").predict(X), chosen)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (xp.asarray([1.0, 2.0]), "X has shape (2,): give a matrix"),
        (xp.asarray([[1, 2], [3, 4]]), "on a device give float32 or float64"),
        (xp.asarray([[1.0, np.nan], [3.0, 4.0]]), "not finite"),
        (xp.zeros((0, 2)), "give at least one sample"),
        (xp.zeros((3, 2)), "inconsistent numbers of samples"),
        (xp.asarray([[1e200, 2.0], [3.0, 4.0]]), "scale the features"),
    ],
)
def test_data_are_refused_in_one_line(X, words):
    with pytest.raises(ValueError) as refused:  # noqa: PT011, the words are compared
        rb.KernelPerceptron(gamma=1.0).fit(X, [0, 1])
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_needs_data_in_memory():
    X, y = rings(60, classes=2)
    for kernel in ("precomputed", lambda x, y: x @ y):
        with pytest.raises(ValueError, match="needs data in memory: give NumPy arrays"):
            rb.KernelPerceptron(kernel=kernel).fit(xp.asarray(X), y)
    model = rb.KernelPerceptron(gamma=5.0, record=True).fit(xp.asarray(X), y)
    with pytest.raises(ValueError, match="needs data in memory"):
        model.bound_report(xp.asarray(X), y)
    assert model.bound_report(X, y).holds
    with pytest.raises(ValueError, match="X has 4 features, but KernelPerceptron is expecting 5"):
        model.predict(xp.asarray(X[:, :4]))


def test_products_that_are_not_single_are_not_used():
    """Where a library rounds products of float32 more coarsely, bounds would not hold."""
    X, _ = rings(60, np.float32, classes=2)
    place = device.Device(xp.asarray(X))
    assert not place.rounds_coarsely()
    place.xp = type("Library", (), {"get_float32_matmul_precision": staticmethod(lambda: "high")})
    assert place.rounds_coarsely()
    place.xp.get_float32_matmul_precision = staticmethod(lambda: "highest")
    assert not place.rounds_coarsely()


def test_arrays_of_pytorch_need_another_package(monkeypatch):
    class Tensor:
        __module__ = "torch"

    assert device.is_on_device(Tensor())
    assert not device.is_on_device(np.zeros(3))
    monkeypatch.setitem(__import__("sys").modules, "array_api_compat", None)
    with pytest.raises(ImportError, match=r"pip install rosenblatt\[gpu\]"):
        device.namespace_of(Tensor())


# ---------------------------------------------------------------------- other models than kernels


class OnDevice:
    """An array of a library without the array API, which only DLPack can read."""

    def __init__(self, values):
        self.values = np.array(values)
        self.shape = self.values.shape

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@pytest.mark.parametrize("library", [xp.asarray, OnDevice])
@pytest.mark.parametrize(
    "kind", [rb.Perceptron, rb.Adaline, rb.MaxMarginClassifier, rb.SoftMarginClassifier]
)
def test_linear_models_move_arrays_to_memory(kind, library):
    X, y = rb.datasets.eight_points()
    weights = np.arange(1.0, 9.0)
    plain = kind().fit(X, y, weights)
    model = kind().fit(library(X), library(y), library(weights))
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.intercept_, plain.intercept_)
    for answer in ("predict", "decision_function"):
        found = getattr(model, answer)(library(X))
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, getattr(plain, answer)(X))


def test_functions_move_arrays_to_memory():
    X, y = rb.datasets.eight_points()
    A, b = xp.asarray(X), xp.asarray(y)
    verdict = rb.separability(A, b)
    assert rb.certify.check(verdict, A, b)
    assert rb.mistake_bound(A, b).most == rb.mistake_bound(X, y).most
    plane = rb.Hyperplane(xp.asarray([1.0, 1.0]))
    assert plane.margin(A, b) == plane.margin(X, y)
    np.testing.assert_array_equal(rb.kernels.RBF(1.0)(A), rb.kernels.RBF(1.0)(X))
    np.testing.assert_array_equal(rb.features.Squares().fit_transform(A), X**2)
    assert rb.theory.radius(A) == rb.theory.radius(X)
    path = rb.soft_margin_path(A, b, [1.0])
    np.testing.assert_array_equal(path.margin, rb.soft_margin_path(X, y, [1.0]).margin)
