"""What is accepted, what is refused, and with which words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import rosenblatt as rb
from reference import kept

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

BOTH = pytest.mark.parametrize("kind", [rb.Perceptron, rb.Adaline])


def cloud(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (n, d)).astype(float)
    return X, np.where(X @ [1.0, -2.0, 1.0] + rng.integers(-5, 6, n) > 0, "yes", "no")


# ------------------------------------------------------------------------------------ data frames


FRAMES = {
    "pandas": lambda X, names: pd.DataFrame(X, columns=names),
    "pandas int": lambda X, names: pd.DataFrame(X.astype(int), columns=names),
    "pandas float32": lambda X, names: pd.DataFrame(X.astype("f4"), columns=names),
    "pandas mixed": lambda X, names: pd.DataFrame(X, columns=names).astype({names[1]: "int16"}),
    "pandas nullable": lambda X, names: pd.DataFrame(X, columns=names).astype("Int64"),
    "polars": lambda X, names: pl.DataFrame(X, schema=names),
    "polars int": lambda X, names: pl.DataFrame(X.astype(int), schema=names),
}


@BOTH
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames(kind, frame):
    X, y = cloud()
    names = ["height", "leap", "age"]
    table = frame(X, names)
    plain = kind(max_epochs=10).fit(X, y)
    model = kind(max_epochs=10).fit(table, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.feature_names_in_.tolist() == names
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.predict(table), plain.predict(X))
    assert not hasattr(plain, "feature_names_in_")


@BOTH
def test_frames_with_other_names_are_refused(kind):
    X, y = cloud()
    model = kind(max_epochs=10).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=["a", "c", "b"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


def test_labels_in_series():
    X, y = cloud()
    plain = rb.Perceptron(max_epochs=10).fit(X, y)
    for labels in (pd.Series(y), pd.Series(y, index=range(40, 0, -1)), pl.Series(y)):
        np.testing.assert_array_equal(
            rb.Perceptron(max_epochs=10).fit(X, labels).coef_, plain.coef_
        )
    by_series = rb.Perceptron(max_epochs=10).fit(X, y, pd.Series(np.arange(40.0)))
    by_array = rb.Perceptron(max_epochs=10).fit(X, y, np.arange(40.0))
    np.testing.assert_array_equal(by_series.coef_, by_array.coef_)


def test_pandas_sparse_frame():
    X, y = cloud()
    X[np.abs(X) < 4] = 0
    table = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=["a", "b", "c"])
    model = rb.Perceptron(max_epochs=10).fit(table, y)
    np.testing.assert_array_equal(model.coef_, rb.Perceptron(max_epochs=10).fit(X, y).coef_)


# ------------------------------------------------------------------------------------- refusals


@BOTH
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_numbers_that_are_none(kind, bad, layout):
    X, y = cloud()
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        kind().fit(layout(X), y)
    model = kind(max_epochs=5).fit(*cloud())
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict(layout(X))


@BOTH
def test_shapes(kind):
    X, y = cloud()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        kind().fit(X, y[:-1])
    with pytest.raises(ValueError, match="give a table with a row per sample"):
        kind().fit(X[:, 0], y)
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        kind().fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="0 feature"):
        kind().fit(X[:, :0], y)
    with pytest.raises(ValueError, match="Complex data not supported"):
        kind().fit(X * 1j, y)
    model = kind(max_epochs=5).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(X[:, :2])


@BOTH
def test_not_fitted(kind):
    for call in (kind().predict, kind().decision_function):
        with pytest.raises(NotFittedError):
            call([[1.0]])


def test_one_row_of_each_class():
    model = rb.Perceptron().fit([[1.0, 2.0], [3.0, -1.0]], [1, 0])
    assert model.stop_reason_ is rb.StopReason.SEPARATED
    assert model.predict([[1.0, 2.0], [3.0, -1.0]]).tolist() == [1, 0]


# ----------------------------------------------------------------------------------- parameters

NUMBER = "give a positive number"
WHOLE = "give a whole number from 1"
COMMON = [
    ("update", "onlin", "update='onlin' is not known: give one of 'online', 'batch', 'minibatch'"),
    ("update", None, "update=None is not known: give one of 'online'"),
    ("order", "random", "order='random' is not known: give one of 'cyclic', 'shuffled', 'sampled'"),
    ("eta0", 0, f"eta0=0 is not allowed: {NUMBER}"),
    ("eta0", -1.0, f"eta0=-1.0 is not allowed: {NUMBER}"),
    ("eta0", np.nan, f"eta0=nan is not allowed: {NUMBER}"),
    ("eta0", np.inf, f"eta0=inf is not allowed: {NUMBER}"),
    ("eta0", None, f"eta0=None is not allowed: {NUMBER}"),
    ("eta0", True, f"eta0=True is not allowed: {NUMBER}"),
    ("max_epochs", 0, f"max_epochs=0 is not allowed: {WHOLE}"),
    ("max_epochs", 2.5, f"max_epochs=2.5 is not allowed: {WHOLE}"),
    ("max_epochs", None, f"max_epochs=None is not allowed: {WHOLE}"),
    ("max_epochs", True, f"max_epochs=True is not allowed: {WHOLE}"),
    ("max_time", 0, f"max_time=0 is not allowed: {NUMBER} of seconds, or None"),
    ("max_time", -3, f"max_time=-3 is not allowed: {NUMBER} of seconds, or None"),
    ("max_time", "1s", f"max_time='1s' is not allowed: {NUMBER} of seconds, or None"),
    ("tol", 0.0, f"tol=0.0 is not allowed: {NUMBER}, or None"),
    ("tol", -1, f"tol=-1 is not allowed: {NUMBER}, or None"),
    ("batch_size", 4, "batch_size=4 needs update='minibatch'"),
    ("init", "ones", "init='ones' is not known: give one of 'zeros', 'random'"),
    ("class_weight", "balance", "class_weight='balance' is not known: give a dict, 'balanced'"),
    ("random_state", "seven", "'seven' cannot be used to seed"),
    ("n_jobs", 0, "n_jobs.*0"),
    ("n_jobs", 1.5, r"n_jobs=1\.5 is not allowed"),
    ("n_jobs", "two", "n_jobs='two' is not allowed"),
]
PERCEPTRON = [
    ("shards", 4, "shards=4 needs update='mixed', but update='online'"),
    ("keep", "best", "keep='best' is not known: give one of 'last', 'pocket', 'average', 'auto'"),
    ("order", "worst", "give one of .*'random-mistake', 'worst-mistake'"),
    ("eta0", "auto", f"eta0='auto' is not allowed: {NUMBER}"),
    ("tol", -1, "or None to run until no mistakes"),
]
ADALINE = [
    ("order", "worst-mistake", "order='worst-mistake' is not known: give one of 'cyclic'"),
    ("eta0", "small", "eta0='small' is not known: give one of 'auto'"),
    ("eta0", -1.0, "give a positive number, or 'auto'"),
]


@pytest.mark.parametrize(
    ("kind", "name", "value", "message"),
    [
        *((rb.Perceptron, *case) for case in COMMON + PERCEPTRON),
        *((rb.Adaline, *case) for case in COMMON + ADALINE),
    ],
)
def test_bad_parameters_are_named_in_one_line(kind, name, value, message):
    X, y = cloud()
    with pytest.raises(ValueError, match=message) as caught:
        kind(**{name: value}).fit(X, y)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=message):
        kind(**{name: value}).partial_fit(X, y, classes=["no", "yes"])


@BOTH
@pytest.mark.parametrize("size", [None, 0, 2.0, "all", True])
def test_minibatch_needs_a_size(kind, size):
    X, y = cloud()
    message = f"batch_size={size!r} is not allowed: {WHOLE}, the samples per update"
    with pytest.raises(ValueError, match=message):
        kind(update="minibatch", batch_size=size).fit(X, y)


@pytest.mark.parametrize("order", ["random-mistake", "worst-mistake"])
@pytest.mark.parametrize("update", [{"update": "batch"}, {"update": "minibatch", "batch_size": 3}])
def test_picking_is_online(order, update):
    X, y = cloud()
    with pytest.raises(ValueError, match=f"order='{order}'.*use update='online'"):
        rb.Perceptron(order=order, **update).fit(X, y)


@BOTH
def test_numpy_numbers_are_numbers(kind):
    X, y = cloud()
    model = kind(
        eta0=np.float32(0.001),
        max_epochs=np.int64(3),
        tol=np.float64(1e-3),
        max_time=np.int32(100),
        random_state=np.int64(3),
        n_jobs=np.int64(2),
    ).fit(X, y)
    assert np.isfinite(kept(model)).all()


@BOTH
def test_constructors_take_names_only_and_check_nothing(kind):
    with pytest.raises(TypeError):
        kind("online")
    model = kind(eta0=-1, update="nothing")
    assert model.get_params()["eta0"] == -1


def test_random_states():
    X, y = cloud()
    numbered = rb.Perceptron(order="shuffled", max_epochs=5, random_state=3).fit(X, y)
    state = np.random.RandomState(3)
    first = rb.Perceptron(order="shuffled", max_epochs=5, random_state=state).fit(X, y)
    np.testing.assert_array_equal(first.coef_, numbered.coef_)
    rb.Perceptron(order="shuffled", max_epochs=5, random_state=None).fit(X, y)


# ----------------------------------------------------------------------------- best hyperplanes

MARGINS = pytest.mark.parametrize("kind", [rb.SoftMarginClassifier, rb.MaxMarginClassifier])

GAP = f"{NUMBER}, the gap at which to stop"
SLACK = f"{NUMBER}, the price of slack"
MARGIN = [
    ("tol", 0, f"tol=0 is not allowed: {GAP}"),
    ("tol", -1e-6, f"tol=-1e-06 is not allowed: {GAP}"),
    ("tol", np.nan, f"tol=nan is not allowed: {GAP}"),
    ("tol", None, f"tol=None is not allowed: {GAP}"),
    ("tol", True, f"tol=True is not allowed: {GAP}"),
    ("max_time", 0, f"max_time=0 is not allowed: {NUMBER} of seconds, or None"),
    ("max_time", "1s", f"max_time='1s' is not allowed: {NUMBER} of seconds, or None"),
    ("callback", 3, "callback=3 cannot be called: give a function, or None"),
    ("n_jobs", 0, "n_jobs.*0"),
    ("n_jobs", "two", "n_jobs='two' is not allowed"),
]
SOFT = [
    ("C", 0, f"C=0 is not allowed: {SLACK}"),
    ("C", -1, f"C=-1 is not allowed: {SLACK}"),
    ("C", np.nan, f"C=nan is not allowed: {SLACK}"),
    ("C", np.inf, f"C=inf is not allowed: {SLACK}"),
    ("C", "a", f"C='a' is not allowed: {SLACK}"),
    ("C", True, f"C=True is not allowed: {SLACK}"),
    ("C", None, f"C=None is not allowed: {SLACK}"),
    ("warm_start", 1, "warm_start=1 is not allowed: give True or False"),
    ("class_weight", "balance", "class_weight='balance' is not known: give a dict, 'balanced'"),
    ("class_weight", {"no": -1.0, "yes": 1.0}, "class_weight"),
]
HARD = [
    ("on_inseparable", "error", "on_inseparable='error' is not known: give one of 'warn', 'raise'"),
    ("on_inseparable", None, "on_inseparable=None is not known"),
]


@pytest.mark.parametrize(
    ("kind", "name", "value", "message"),
    [
        *((rb.SoftMarginClassifier, *case) for case in MARGIN + SOFT),
        *((rb.MaxMarginClassifier, *case) for case in MARGIN + HARD),
    ],
)
def test_bad_parameters_of_margins_are_named_in_one_line(kind, name, value, message):
    model = kind(**{name: value})
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(*cloud())
    assert "\n" not in str(caught.value)
    with pytest.raises(NotFittedError):
        model.predict([[1.0, 2.0, 3.0]])


@MARGINS
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_samples_that_margins_refuse(kind, layout):
    X, y = cloud()
    for bad in (np.nan, np.inf):
        X[3, 1] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            kind().fit(layout(X), y)
    X[3, 1] = 0
    for rows, labels, message in (
        (X, y[:-1], "inconsistent numbers of samples"),
        (X[:0], y[:0], "minimum of 1 is required"),
        (X[:, :0], y, "0 feature"),
        (X, np.full(40, "yes"), "y holds only one class"),
        (X, np.linspace(0, 1, 40), "Unknown label type"),
        (X[:1], y[:1], "one class"),
    ):
        with pytest.raises(ValueError, match=message):
            kind().fit(layout(rows), labels)


@MARGINS
def test_words_and_shapes_that_margins_refuse(kind):
    X, y = cloud()
    with pytest.raises(ValueError, match="X holds text: give numbers"):
        kind().fit([["a", "b"], ["c", "d"]], [0, 1])
    with pytest.raises(ValueError, match="give a table with a row per sample"):
        kind().fit(X[:, 0], y)
    with pytest.raises(ValueError, match="Complex data not supported"):
        kind().fit(X * 1j, y)
    model = kind().fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.sides(X[:, :2], y)
    with pytest.raises(ValueError, match="maybe"):
        model.sides(X, np.full(40, "maybe"))
    for weights, message in (
        (np.full(40, -1.0), "sample_weight holds -1"),
        (np.full(40, np.nan), "NaN"),
        (np.ones(39), "sample_weight"),
        (np.zeros(40), "weight"),
    ):
        with pytest.raises(ValueError, match=message):
            kind().fit(X, y, weights)
    for call in (kind().predict, kind().decision_function):
        with pytest.raises(NotFittedError):
            call(X)
    with pytest.raises(NotFittedError):
        kind().sides(X, y)
    for name in ("gap_", "margin_", "support_", "dual_coef_", "optimum_", "certificate_"):
        with pytest.raises(NotFittedError):
            getattr(kind(), name)


@MARGINS
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_margins_of_frames(kind, frame):
    X, y = cloud()
    table = frame(X, ["height", "leap", "age"])
    model, plain = kind().fit(table, y), kind().fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-3 * np.abs(plain.coef_).max())
    assert model.feature_names_in_.tolist() == ["height", "leap", "age"]
    assert model.sides(table, y).slack.shape == (40,)
    if frame is not FRAMES["pandas float32"]:
        np.testing.assert_array_equal(model.coef_, plain.coef_)


def test_numpy_numbers_are_numbers_for_margins():
    X, y = cloud()
    model = rb.SoftMarginClassifier(
        C=np.float32(2), tol=np.float64(1e-3), max_time=np.int32(100), n_jobs=np.int64(2)
    ).fit(X, y)
    assert model.stop_reason_ is rb.StopReason.GAP_CLOSED
    assert rb.SoftMarginClassifier(C=2).fit(X, y).optimum_.C == 2.0
    assert isinstance(model.optimum_.C, float)


@MARGINS
def test_margins_take_names_only_and_check_nothing_at_first(kind):
    with pytest.raises(TypeError):
        kind(1.0)
    assert kind(tol=-1).get_params()["tol"] == -1


ESTIMATORS = [
    rb.Perceptron(),
    rb.Adaline(),
    rb.KernelPerceptron(),
    rb.MaxMarginClassifier(),
    rb.SoftMarginClassifier(),
]


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_missing_numbers_are_named_in_one_line(model, is_sparse):
    X, y = rb.datasets.eight_points()
    gap = X.astype(float)
    gap[3, 1] = gap[5, 0] = np.nan
    given = sparse.csr_array(gap) if is_sparse else gap
    told = "X contains NaN (row 3, column 1): give finite numbers, fill gaps before"
    fitted = clone(model).fit(X, y)
    for call in (lambda: clone(model).fit(given, y), lambda: fitted.predict(given)):
        with pytest.raises(ValueError, match="NaN") as caught:
            call()
        assert str(caught.value) == told


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_a_vector_for_a_table_is_refused_in_one_line(model):
    X, y = rb.datasets.eight_points()
    fitted = clone(model).fit(X, y)
    calls = (
        lambda: clone(model).fit(X[:, 0], y),
        lambda: fitted.predict(X[0]),
        lambda: rb.separability(X[:, 0], y),
        lambda: rb.features.Squares().fit(X[0]),
    )
    for call in calls:
        with pytest.raises(ValueError, match=r"^X has shape \((8|2),\): give a table") as caught:
            call()
        assert "\n" not in str(caught.value)
        assert "X.reshape(1, -1) one sample" in str(caught.value)
