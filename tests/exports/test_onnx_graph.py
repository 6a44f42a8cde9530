"""A model as an ONNX graph says what the model itself says, within the bound of the docs."""

import datetime
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt.exports.formula import taken_apart
from rosenblatt.exports.onnx_graph import INSTALL, onnx_graph

runtime = pytest.importorskip("onnxruntime", reason="needs the extra packages of the tests")

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::rosenblatt.NotSeparableWarning"
)

U = 1e-12  # times the sum of the sizes of all terms: the bound that the docs state


def run(model, feed, exact=None):
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    data = onnx_graph(taken_apart(model, "m", exact), "of m", "m")
    session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return session.run(["prediction", "decision"], feed)


def kernel_sizes(kernel, X, vectors):
    """For each row and vector a bound on the sizes of all terms of the kernel's value."""
    x, v = np.linalg.norm(X, axis=1)[:, None], np.linalg.norm(vectors, axis=1)
    if hasattr(kernel, "rate"):
        return kernel(X, vectors) * (1 + kernel.rate * (x + v) ** 2)
    if hasattr(kernel, "degree"):
        return (kernel.gamma * x * v + abs(kernel.coef0)) ** kernel.degree
    return 1 + abs(getattr(kernel, "eta", 1.0)) * x * v + abs(getattr(kernel, "theta", 0.0))


def sizes(model, X):
    """The sum of the sizes of all terms of each decision value, as the docs define it."""
    *maps, last = [step for _, step in model.steps][1:] if hasattr(model, "steps") else [model]
    X = np.abs(model[0].transform(X)) if hasattr(model, "steps") else np.abs(X)
    for step in maps:
        if isinstance(step, rb.features.RandomFourier):
            W, c = step.sampler_.random_weights_, step.sampler_.random_offset_
            X = np.sqrt(2 / W.shape[1]) * (1 + X @ np.abs(W) + c)
        elif isinstance(step, rb.features.Nystroem):
            values = kernel_sizes(step.kernel_, X, step.sampler_.components_)
            X = values @ np.abs(step.sampler_.normalization_.T)
        else:
            X = np.abs(step.transform(X))
    if hasattr(last, "coef_"):
        return X @ np.abs(last.coef_.T) + np.abs(last.intercept_)
    vectors = last.support_vectors_
    vectors = vectors.toarray() if hasattr(vectors, "toarray") else vectors
    return (kernel_sizes(last.kernel_, X, vectors) + 1) @ np.abs(last.dual_coef_.T)


def agree(model, X, chosen, values):
    expected = model.decision_function(X).reshape(len(values), -1)
    bound = U * sizes(model, X)
    assert (np.abs(values - expected) <= bound).all()
    # The same class wherever values, or leads over the others, exceed the bound.
    if expected.shape[1] == 1:
        clear = np.abs(expected[:, 0]) > bound[:, 0]
    else:
        leads = np.sort(expected, axis=1)
        clear = leads[:, -1] - leads[:, -2] > 2 * bound.max(axis=1)
    assert clear.mean() > 0.9
    assert (chosen == model.predict(X))[clear].all()


N = 90


@pytest.fixture(scope="module")
def table():
    """Every kind of column, with missing cells, under names that programs might use."""
    rng = np.random.default_rng(0)
    size = rng.normal(20, 5, N)
    size[::7] = np.nan
    start = datetime.datetime(1968, 11, 5, 3)
    when = [start + datetime.timedelta(days=23.3 * k) for k in range(N)]
    when[5] = None
    colours = ["red", 'it\'s "blue"', "грün", None]
    return {
        "decision": size,
        "constant 0": np.array([colours[k % 4] for k in range(N)], dtype=object),
        "even?": np.array([["True", "FALSE", None][k % 3] for k in range(N)], dtype=object),
        "when": pd.Series(when),
    }


def fed(table):
    """The same as ONNX Runtime takes it: missing is NaN, or an empty text."""
    epoch, day = datetime.datetime(1970, 1, 1), datetime.timedelta(days=1)
    days = [np.nan if pd.isna(date) else (date - epoch) / day for date in table["when"]]
    texts = {
        name: np.array([[cell or ""] for cell in table[name]], dtype=object)
        for name in ("constant 0", "even?")
    }
    return {"decision": table["decision"][:, None], "when": np.array(days)[:, None], **texts}


HEADS = {
    "perceptron": (rb.Perceptron(max_epochs=5),),
    "squares": (rb.features.Squares(keep=True), rb.Perceptron(max_epochs=5)),
    "poly": (rb.features.Polynomial(2, gamma=0.5, coef0=2.0), rb.Adaline(max_epochs=5)),
    "rff": (rb.features.RandomFourier(20, random_state=0), rb.SoftMarginClassifier()),
    "nystroem": (
        rb.features.Nystroem(n_components=20, random_state=0),
        rb.Perceptron(max_epochs=5),
    ),
    "rbf": (rb.KernelPerceptron(max_epochs=5, fit_intercept=True, keep="average"),),
}


@pytest.mark.parametrize(
    ("name", "k"), [("joint", 3), *((name, k) for name in HEADS for k in (2, 3))]
)
def test_tables(table, name, k):
    y = np.array(["a", 'b "c', "d"])[np.arange(N) * k // N]
    head = HEADS.get(name, (rb.Perceptron(max_epochs=5, multiclass="joint"),))
    model = make_pipeline(rb.TableEncoder(), *head).fit(table, y)
    assert set(model[0].kinds_.values()) == {"number", "text", "date"}
    unseen = table | {"constant 0": table["constant 0"].copy()}
    unseen["constant 0"][0] = "never seen"
    data = onnx_graph(taken_apart(model, "m"), "of m", "m")
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    assert {one.name: one.type for one in session.get_inputs()} == {
        "decision": "tensor(double)",
        "constant 0": "tensor(string)",
        "even?": "tensor(string)",
        "when": "tensor(double)",
    }
    outputs = [one.name for one in session.get_outputs()]
    assert outputs == ["prediction", "decision_"]  # a column has the other name
    agree(model, unseen, *session.run(outputs, fed(unseen)))


X, y = rb.datasets.circles(60, noise=0.2, random_state=0)
KERNELS = [
    rb.kernels.Linear(),
    rb.kernels.Polynomial(3, 0.5, 1.0),
    rb.kernels.Gaussian(0.7),
    rb.kernels.Sigmoid(0.1, 0.2),
]


@pytest.mark.filterwarnings("ignore::rosenblatt.kernels.gram_matrices.IndefiniteKernelWarning")
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_kernels(kernel):
    model = rb.KernelPerceptron(kernel=kernel, max_epochs=5).fit(csr_array(X), y)
    chosen, values = run(model, {f"x{j + 1}": X[:, [j]] for j in range(2)})
    agree(model, X, chosen, values)
    assert chosen.dtype == np.int64


def test_the_side_of_zero_and_scalers():
    A, b = np.array([[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0], [-2.0, -2.0]]), np.array([1, 1, 0, 0])
    for at_zero in (-1, 1):
        model = rb.Perceptron(at_zero=at_zero, fit_intercept=False).fit(A, b)
        chosen, values = run(model, {"x1": np.array([[1.0]]), "x2": np.array([[-1.0]])})
        assert values == 0
        assert chosen == model.predict([[1.0, -1.0]]) == (at_zero > 0)
    scaled = make_pipeline(StandardScaler(), rb.MaxMarginClassifier()).fit(X, y)
    agree(scaled, X, *run(scaled, {"x1": X[:, :1], "x2": X[:, 1:]}))
    one = make_pipeline(StandardScaler(), rb.Adaline(max_epochs=3)).fit(1e6 + X[:, :1], X[:, 0] > 0)
    agree(one, 1e6 + X[:, :1], *run(one, {"x1": 1e6 + X[:, :1]}))


def test_capital_letters():
    """YES is Yes where `predict` takes it so, in the three usual ways of writing."""
    words = {"w": np.array(["yeS", "No"] * 10, dtype=object), "n": np.arange(20.0)}
    model = make_pipeline(rb.TableEncoder(use=["n"]), rb.Perceptron()).fit(words, [1, 0] * 10)
    spelled = np.array([["YES"], ["yes"], ["Yes"], ["yeS"]], dtype=object)
    feed = {"w": spelled, "n": np.full((4, 1), 3.0)}
    assert run(model, feed, exact=())[0].tolist() == [1, 1, 1, 1]
    exactly = run(model, feed, exact=("w",))[1]
    assert exactly[0] == exactly[1] == exactly[2] != exactly[3]


def test_refused(monkeypatch):
    votes = rb.KernelPerceptron(keep="vote", max_epochs=3).fit(X, y)
    with pytest.raises(ValueError, match=r"m counts votes \(--keep vote\), which has no graph"):
        run(votes, {})
    given = rb.KernelPerceptron(kernel="precomputed", max_epochs=3).fit(X @ X.T, y)
    with pytest.raises(ValueError, match="without vectors to compare rows with"):
        run(given, {})
    words = {"t": ["a good day", "bad day", "good one", "bad one"] * 3}
    free = make_pipeline(rb.TableEncoder(text=["t"]), rb.Perceptron()).fit(words, [0, 1, 0, 1] * 3)
    with pytest.raises(ValueError, match="m counts the words of 't'"):
        run(free, {})
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"rosenblatt\[onnx\]"):
        run(votes, {})
    assert "pip install" in INSTALL
