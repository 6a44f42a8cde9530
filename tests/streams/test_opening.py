"""`rb.open`: the same numbers on disk as in memory, and the same answers, to the bit."""

import dataclasses
import resource
import signal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse
from sklearn.base import clone

import rosenblatt as rb
from rosenblatt.data.sources import is_mapped

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MODELS = [
    rb.Perceptron(max_epochs=8),
    rb.Perceptron(keep="pocket", max_epochs=2),
    rb.Perceptron(keep="average", order="shuffled", max_epochs=3, random_state=0),
    rb.Perceptron(order="sampled", max_epochs=3, random_state=0),
    rb.Perceptron(order="worst-mistake", max_epochs=20),
    rb.Perceptron(update="batch", max_epochs=5),
    rb.Perceptron(update="minibatch", batch_size=37, keep="auto", max_epochs=4),
    rb.Adaline(max_epochs=4),
    rb.SoftMarginClassifier(C=500.0),
    rb.MaxMarginClassifier(),
    rb.KernelPerceptron(kernel="poly", degree=2, max_epochs=2),
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """So that even small data come in many blocks, and copies of some rows are on disk."""
    monkeypatch.setattr("rosenblatt.data.sources.MAPPED", 500)
    monkeypatch.setattr("rosenblatt.data.sources.LARGE", 300)


def samples(n=400, d=5, flipped=0, classes=2, sparse=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if sparse:
        X[rng.random((n, d)) < 0.6] = 0.0
    scores = X @ rng.normal(size=(d, classes))
    label = scores.argmax(axis=1)
    X += 0.2 * np.eye(classes, d)[label]
    label[:flipped] = (label[:flipped] + 1) % classes
    names = np.array(["ant", "bee", "cow", "dog"])
    return (csr_array(X) if sparse else X), names[label]


def parts(X, y, size):
    return [(X[a : a + size], y[a : a + size]) for a in range(0, X.shape[0], size)]


def outcome(model):
    """What a fit has learned, bit by bit."""
    found = {
        name: np.asarray(getattr(model, name))
        for name in ("coef_", "intercept_", "dual_coef_", "support_", "n_mistakes_", "n_updates_")
        if hasattr(model, name) and not isinstance(getattr(model, name), tuple)
    }
    found |= {"n_errors_": model.n_errors_, "reason": model.stop_reason_, "epochs": model.n_iter_}
    return {k: (v.dtype, v.tobytes()) if isinstance(v, np.ndarray) else v for k, v in found.items()}


def in_plain_values(certificate):
    fields = dataclasses.asdict(certificate)
    return {k: v.tobytes() if isinstance(v, np.ndarray) else repr(v) for k, v in fields.items()}


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("kind", ["separable", "noisy", "sparse", "three classes"])
def test_a_fit_from_disk_is_the_fit_from_memory(model, kind):
    X, y = {
        "separable": lambda: samples(),
        "noisy": lambda: samples(flipped=30),
        "sparse": lambda: samples(d=9, sparse=True),
        "three classes": lambda: samples(classes=3),
    }[kind]()
    wanted = clone(model).fit(X, y)
    with rb.open(parts(X, y, 93)) as source:
        assert is_mapped(source.X.data if issparse(source.X) else source.X)
        found = clone(model).fit(source)
        assert outcome(found) == outcome(wanted)
        assert found.predict(source).tolist() == wanted.predict(X).tolist()
        values = found.decision_function(source)
        assert values.tobytes() == wanted.decision_function(X).tobytes()


@pytest.mark.parametrize("flipped", [0, 20])
@pytest.mark.parametrize("sparse", [False, True])
def test_verdicts_bounds_and_checks(flipped, sparse):
    X, y = samples(flipped=flipped, sparse=sparse)
    wanted, bound = rb.separability(X, y), rb.mistake_bound(X, y, epochs=3)
    with rb.open(parts(X, y, 61)) as source:
        found = rb.separability(source)
        assert in_plain_values(found) == in_plain_values(wanted)
        assert str(found) == str(wanted)
        assert rb.certify.check(found, source) == rb.certify.check(wanted, X, y)
        assert repr(rb.mistake_bound(source, epochs=3)) == repr(bound)


def test_several_classes_and_their_proofs():
    X, y = samples(classes=4, d=6)
    with rb.open(parts(X, y, 100)) as source:
        found, wanted = rb.separability(source), rb.separability(X, y)
        assert list(map(in_plain_values, found)) == list(map(in_plain_values, wanted))
        assert found.classes == wanted.classes
        assert str(found) == str(wanted)
        assert rb.certify.check(found, source) == rb.certify.check(wanted, X, y)
        joint = rb.separability(source, multiclass="joint")
        assert joint.verdict is rb.separability(X, y, multiclass="joint").verdict
        assert rb.certify.check(joint, source)


@given(data=st.data(), n=st.integers(2, 60), d=st.integers(1, 4))
def test_any_blocks_are_the_whole(data, n, d):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    X = rng.integers(-3, 4, size=(n, d)).astype(data.draw(st.sampled_from(["f4", "f8"])))
    y = rng.integers(0, 3, size=n) if data.draw(st.booleans()) else rng.choice(["u", "v"], n)
    cuts = sorted(data.draw(st.sets(st.integers(1, n - 1)))) if n > 1 else []
    edges = [0, *cuts, n]
    blocks = [(X[a:z], y[a:z]) for a, z in pairwise(edges)]
    source = rb.open(iter(blocks))
    assert source.X.dtype == X.dtype
    assert np.array_equal(source.X, X)
    assert source.classes.tolist() == np.unique(y).tolist()
    assert source.y.tolist() == y.tolist()
    assert [len(part) for part, _ in source.blocks()] == [n]


def test_labels_keep_their_kind():
    X = np.arange(6.0).reshape(3, 2)
    for y in ([True, False, True], [3, 1, 3], [2.0, 1.0, 2.0], ["b", "a", "b"]):
        source = rb.open([(X, y)])
        wanted = rb.Perceptron().fit(X, y).classes_
        assert source.classes.dtype == wanted.dtype
        assert source.classes.tolist() == wanted.tolist()
    source = rb.open([(X, [0.5, 0.25, 0.5])])
    assert source.classes is None
    assert source.targets.tolist() == [0.5, 0.25, 0.5]
    with pytest.raises(ValueError, match="has numbers, no classes, as target"):
        rb.Perceptron().fit(source)


def test_numbers_to_predict():
    X, y = samples()
    target = X @ np.arange(5.0) + 1
    with rb.open(parts(X, target, 50)) as source:
        found = rb.AdalineRegressor(max_epochs=3).fit(source)
        wanted = rb.AdalineRegressor(max_epochs=3).fit(X, target)
        assert found.coef_.tobytes() == wanted.coef_.tobytes()
        assert found.predict(source).tobytes() == wanted.predict(X).tobytes()
    with pytest.raises(ValueError, match="has no numbers as its target"):
        rb.AdalineRegressor().fit(rb.open([(X, y)]))


def test_memory_maps_stay_where_they_are(tmp_path):
    X, y = samples()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    source = rb.open(mapped, target=y)
    assert source.X is mapped
    wanted = outcome(rb.Perceptron().fit(X, y))
    assert outcome(rb.Perceptron().fit(source)) == wanted
    assert outcome(rb.Perceptron().fit(mapped, y)) == wanted  # without being opened, too


def test_a_column_of_an_array_is_the_target():
    X, y = samples()
    whole = np.column_stack([X, y == "bee"])
    for column in (-1, 5):
        source = rb.open(whole, target=column)
        assert np.array_equal(source.X, X)
        assert source.y.tolist() == (y == "bee").astype(float).tolist()
    whole = np.asfortranarray(np.column_stack([y == "bee", X]).astype(np.float32))
    source = rb.open(whole, target=0)
    assert source.X.dtype == np.float32
    assert np.array_equal(source.X, X.astype(np.float32))


def test_whole_numbers_are_written_as_floats():
    source = rb.open(np.arange(12).reshape(6, 2), target=[0, 1] * 3)
    assert source.X.dtype == np.float64
    assert source.X.tolist() == np.arange(12.0).reshape(6, 2).tolist()


def test_nothing_is_left_in_the_folder(tmp_path):
    X, y = samples()
    source = rb.open(parts(X, y, 100), cache=tmp_path)
    assert not list(tmp_path.iterdir())
    assert source.X.sum() == X.sum()
    source.close()
    for ask in (rb.Perceptron().fit, lambda source: source.y):
        with pytest.raises(ValueError, match="blocks is closed: open it again"):
            ask(source)


def test_scores():
    X, y = samples(flipped=30)
    with rb.open(parts(X, y, 90)) as source:
        model = rb.Perceptron(max_epochs=3).fit(source)
        assert model.score(source) == model.score(X, y)
        with pytest.raises(ValueError, match="which has its own target: leave y out"):
            model.score(source, y)
    with rb.open(parts(X, X[:, 0], 90)) as source:
        regressor = rb.AdalineRegressor(max_epochs=2).fit(source)
        assert regressor.score(source) == regressor.score(X, X[:, 0])


def test_empty_blocks_of_numbers():
    X, y = samples()
    source = rb.open([(X[:0], y[:0].astype(float)), (X, y), (X[:0], [])])
    assert source.shape == X.shape
    with pytest.raises(
        ValueError, match="row 1 begins a block without features: give at least one"
    ):
        rb.open([(X[:, :0], y)])


def test_shown():
    X, y = samples()
    source = rb.open(parts(X, y, 100))
    assert repr(source) == "<OpenedSource blocks: 400 samples, 5 features, 2 classes>"
    assert len(source) == 400


# What is wrong ------------------------------------------------------------------------------------

GOOD = (np.eye(3), ["a", "b", "a"])


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ([], r"\[\] holds no blocks: give at least one"),
        (3, "3 cannot be opened: give a path, a pattern"),
        ([np.eye(3)], r"a block is array.*give pairs \(X, y\), or data frames"),
        ([(np.eye(3), ["a"])], "the block that begins with row 1 has 3 rows, but y has 1"),
        (
            [GOOD, (np.eye(3)[:, :2], ["a", "b", "a"])],
            "row 4 begins a block of 2 features of float64, but the first was one of 3 features",
        ),
        (
            [GOOD, (np.eye(3, dtype=np.float32), ["a", "b", "a"])],
            "row 4 begins a block of 3 features of float32, but the first was one of 3 features of "
            "float64",
        ),
        ([GOOD, (csr_array(np.eye(3)), [1, 2, 3])], "texts before"),
        ([GOOD, (csr_array(np.eye(3)), ["a"] * 3)], "row 4 begins a block of 3 sparse features"),
        ([GOOD, (np.eye(3), [1, 2, 3])], "the target holds numbers from row 4 on, but texts befor"),
        ([(np.eye(3), [1, np.nan, 2])], "y holds nan in row 2: leave such rows out"),
        ([GOOD, (np.diag([1, np.nan, 1]), GOOD[1])], "X holds nan in row 5, column 2: give fini"),
        ([(csr_array(np.diag([1, np.inf])), [0, 1])], "X holds inf in row 2, column 2"),
        ([(np.eye(2), [1j, 2])], "y holds complex numbers"),
        ([(np.eye(2)[0], [1])], r"the block that begins with row 1 has shape \(2,\): give rows"),
    ],
    ids=repr,
)
def test_refused_in_one_line(what, told):
    with pytest.raises((ValueError, TypeError), match=told) as caught:
        rb.open(what)
    assert "\n" not in str(caught.value)


def test_what_does_not_go_together():
    X, y = samples()
    with pytest.raises(ValueError, match="target= is for tables, but the blocks are pairs"):
        rb.open(parts(X, y, 100), target="y")
    with pytest.raises(ValueError, match="encoder= is for tables"):
        rb.open(parts(X, y, 100), encoder=rb.TableEncoder())
    with pytest.raises(TypeError, match="encoder=3 is not allowed: give a TableEncoder, or None"):
        rb.open(parts(X, y, 100), encoder=3)
    with pytest.raises(ValueError, match="header= says how to read a file, but array"):
        rb.open(X, target=y, header=True)
    with pytest.raises(ValueError, match="target=9 is no column: the array has 5, counted from 0"):
        rb.open(X, target=9)
    source = rb.open(parts(X, y, 100))
    for ask in (rb.Perceptron().fit, rb.separability, rb.mistake_bound):
        with pytest.raises(ValueError, match="which has its own target: leave y out"):
            ask(source, y)
    with pytest.raises(ValueError, match="has no target: open it with target="):
        rb.Perceptron().fit(rb.open(X))
    with pytest.raises(ValueError, match="holds only one class, 'a': a classifier needs at least"):
        rb.Perceptron().fit(rb.open([(np.eye(2), ["a", "a"])]))
    with pytest.raises(ValueError, match="requires y to be passed"):
        rb.Perceptron().fit(X)
    model = rb.Perceptron().fit(source)
    with pytest.raises(ValueError, match="has 2 features, not the 5 of training"):
        model.predict(rb.open([(np.eye(2), [0, 1])]))


def test_a_folder_that_cannot_be_used(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere for the cache"):
        rb.open([GOOD], cache=tmp_path / "nowhere")
    for size, told in (("12 parsecs", "give a size such as 2GB"), (0, "give a size"), ("-1", "gi")):
        with pytest.raises(ValueError, match=told):
            rb.open([GOOD], cache_size=size)
    with pytest.raises(OSError, match="more than the cache may hold, 50 bytes: allow more"):
        rb.open([GOOD], cache_size=50)
    assert rb.open([GOOD], cache_size="1kB").shape == (3, 3)


def test_a_full_disk_is_told_in_one_line(tmp_path):
    """A limit on the size of files is what a full disk is to a process."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        blocks = ((np.ones((1000, 4)), [0, 1] * 500) for _ in range(5))
        with pytest.raises(OSError, match="no room left for the cache in") as caught:
            rb.open(blocks, cache=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
