"""Every solver over blocks that are made anew on each pass, one at a time: the same bits."""

import dataclasses
import enum
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from passing_blocks import PassingSource, in_one_block
from rosenblatt.bounds.function import separating
from rosenblatt.bounds.run_reports import bound_reports, kernel_bound_reports
from rosenblatt.bounds.solver import Bounds, KindOfRun
from rosenblatt.contract import classifier
from rosenblatt.data.rows import as_matrix
from rosenblatt.data.sources import Labelled, stack
from rosenblatt.exact.blocks import Stack, blocks, tiles
from rosenblatt.margin.solver import MarginProblem, max_margin, placed, soft_margin
from rosenblatt.nearest.signed_vectors import Vectors
from rosenblatt.running.clock import Clock
from rosenblatt.running.threads import Team
from rosenblatt.separation.function import proved

SIZES = [1, 7, 64, 1000]


def bits(result):
    """A result as something that is equal only where every bit is."""
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        fields = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
        return {name: bits(value) for name, value in fields.items() if name != "trace"}
    if isinstance(result, np.ndarray):
        return (result.dtype.str, result.shape, result.tobytes())
    if isinstance(result, tuple | list):
        return [bits(value) for value in result]
    if isinstance(result, float | np.floating):
        return np.float64(result).tobytes()
    assert result is None or isinstance(result, int | str | Fraction | enum.Enum)
    return result


def classes(n, d, gap, seed=0, sparse=False):
    """Two classes, `gap` apart along the first feature; the rest is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if sparse:
        X[rng.random((n, d)) < 0.7] = 0.0
    label = (rng.random(n) < 0.4).astype(np.int32)
    X[:, 0] = np.abs(X[:, 0]) * (2 * label - 1) + gap * (2 * label - 1)
    return (csr_array(X) if sparse else X), label


def touching():
    """Quasi-separable whole numbers, some of them identical, and a face that many share."""
    rng = np.random.default_rng(5)
    X = rng.integers(-3, 4, size=(150, 4)).astype(float)
    label = (X[:, 0] + X[:, 1] > 0).astype(np.int32)
    on = X[:, 0] + X[:, 1] == 0
    label[on] = rng.integers(0, 2, on.sum())
    return X, label


PROBLEMS = {
    "separable": lambda: classes(200, 5, 0.1),
    "inseparable": lambda: classes(200, 5, -0.4),
    "quasi-separable": touching,
    "sparse separable": lambda: classes(300, 8, 0.1, sparse=True),
    "sparse inseparable": lambda: classes(300, 8, -0.4, sparse=True),
    "wide": lambda: classes(90, 600, 0.1),
    "wide inseparable": lambda: (np.vstack([np.eye(600)[:60], np.eye(600)[:60]]), [0, 1] * 60),
    "float32": lambda: (classes(200, 5, 0.1)[0].astype(np.float32), classes(200, 5, 0.1)[1]),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_separability_and_its_check(problem, size):
    X, label = PROBLEMS[problem]()
    with Team(2) as team:
        whole = proved(in_one_block(X, label), team, 1, Clock())
        source = PassingSource(X, label, size)
        found = proved(source, team, 1, Clock())
    assert bits(found) == bits(whole)
    assert rb.certify.check(found, Labelled(source, 1)) == rb.certify.check(whole, X, label)
    assert rb.certify.check(found, Labelled(source, 1))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("size", [1, 5, 300])
def test_blocks_for_exact_arithmetic_do_not_depend_on_the_stack(monkeypatch, size, sparse):
    monkeypatch.setattr("rosenblatt.exact.blocks.ENTRIES", 40)
    X, label = classes(120, 6, 0.0, sparse=sparse)
    if sparse:  # rows without entries, and one that is longer than a block
        X = csr_array(np.vstack([np.zeros((60, 50)), np.pad(X.toarray(), ((0, 0), (0, 44)))]))
        X = csr_array(np.vstack([X.toarray(), np.ones((2, 50)), X.toarray()]))
        label = np.zeros(X.shape[0], np.int32)
    streamed = stack(PassingSource(X, label, size))
    ours, wanted = blocks(streamed), blocks(X)
    for (a, one), (b, other) in zip(ours, wanted, strict=True):
        assert a == b
        assert bits(dataclasses.astuple(one)[:2]) == bits(dataclasses.astuple(other)[:2])
        assert np.array_equal(one.dot(np.arange(X.shape[1])), other.dot(np.arange(X.shape[1])))
    for (a, one), (b, other) in zip(tiles(streamed, 17), tiles(X, 17), strict=True):
        assert a == b
        assert one.shape == other.shape
        assert (one != other).sum() == 0
    rows = np.array([5, 3, 100, 3, 0])
    assert (streamed[rows] != X[rows]).sum() == 0
    assert streamed[rows[:0]].shape == (0, X.shape[1])


def test_check_of_blocks_says_what_is_wrong():
    X, label = classes(20, 2, 0.1)
    good = rb.separability(X, label)
    pairs = [(X[:7], label[:7]), (X[7:7], label[7:7]), (X[7:], label[7:])]
    assert rb.certify.check(good, pairs) == rb.certify.check(good, X, label)
    assert not rb.certify.check(good, [(X[:7], 1 - label[:7]), (X[7:], label[7:])])
    for wrong, why in (
        (X, "y is missing"),
        ((pair for pair in pairs), "there is no y"),
        (3, "there is no y"),
        ([], "no samples"),
        ([(X[:7], label[:6])], "6 samples but X has 7 rows"),
        ([(X[:7], label[:7]), (X[7:, :1], label[7:])], "differ in kind"),
        ([(X[:7], label[:7]), (csr_array(X[7:]), label[7:])], "differ in kind"),
        ([(X[:7] * np.nan, label[:7])], "NaN"),
        ([(X, label * 0)], "exactly two"),
    ):
        with pytest.raises(ValueError, match=why):
            rb.certify.check(good, wrong)


def test_a_passing_block_does_not_outlast_its_turn():
    X, label = classes(20, 2, 0.1)
    source = PassingSource(X, label, 8)
    kept = [as_matrix(piece.block.rows, 2) for piece in source.pieces()]
    assert all(np.isnan(block).all() for block in kept)
    assert isinstance(stack(source), Stack)
    assert np.array_equal(np.vstack([block.copy() for block in stack(source)]), X)


MARGINS = {
    "separable": lambda: classes(400, 5, 0.1),
    "inseparable": lambda: classes(400, 5, -0.4),
    "sparse separable": lambda: classes(300, 8, 0.1, sparse=True),
    "sparse inseparable": lambda: classes(300, 8, -0.4, sparse=True),
    "many": lambda: classes(9000, 3, -0.3),
    "wide": lambda: classes(90, 600, 0.1),
    "wide inseparable": PROBLEMS["wide inseparable"],
    "huge": lambda: (classes(200, 3, 0.1)[0] * 2.0**300, classes(200, 3, 0.1)[1]),
    "far": lambda: (classes(200, 3, 0.1)[0] + 2.0**40, classes(200, 3, 0.1)[1]),
    "sparse far": lambda: (csr_array(classes(200, 3, 0.1)[0] + 2.0**30), classes(200, 3, 0.1)[1]),
    "far inseparable": lambda: (classes(200, 3, -0.1)[0] + 2.0**40, classes(200, 3, -0.1)[1]),
}


def margin_problem(source, team):
    return MarginProblem.of(placed(source, team), 1, team, Clock())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("problem", MARGINS)
def test_maximum_margin(problem, weighted):
    X, label = MARGINS[problem]()
    weight = np.random.default_rng(1).integers(0, 3, len(label)) / 1.0 if weighted else None
    with Team(2) as team:
        whole = max_margin(margin_problem(in_one_block(X, label, weight), team), 1e-8)
        for size in (97, 1024):
            source = PassingSource(X, label, size, weight)
            assert bits(max_margin(margin_problem(source, team), 1e-8)) == bits(whole)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("problem", MARGINS)
def test_soft_margin(problem, weighted):
    X, label = MARGINS[problem]()
    weight = np.random.default_rng(1).integers(0, 3, len(label)) / 1.0 if weighted else None
    with Team(2) as team:
        whole = soft_margin(margin_problem(in_one_block(X, label, weight), team), 3.0, 1e-6)
        for size in (97, 1024):
            source = PassingSource(X, label, size, weight)
            found = soft_margin(margin_problem(source, team), 3.0, 1e-6)
            assert bits(found) == bits(whole)
            checked = rb.certify.check(found.optimum, Labelled(source, 1), None, weight)
            assert checked == rb.certify.check(found.optimum, X, label, weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("problem", ["separable", "inseparable", "sparse separable", "float32"])
def test_mistake_bound(problem, bias, weighted):
    X, label = PROBLEMS[problem]()
    weight = np.random.default_rng(1).integers(0, 3, len(label)) / 2 if weighted else None
    run = KindOfRun(np.zeros(X.shape[1] + 1), 1.0, "online", 1, 5, len(label))

    def bounds(source, team):
        vectors = Vectors(source, team, 1, bias)
        theta, separable = separating(Bounds(vectors, run))
        return separable, *(Bounds(vectors, run).best(t, separable) for t in (theta, None))

    with Team(2) as team:
        whole = bounds(in_one_block(X, label, weight), team)
        found = bounds(PassingSource(X, label, 23, weight), team)
    assert bits(found) == bits(whole)


def test_sums_of_a_bound_do_not_depend_on_blocks(monkeypatch):
    monkeypatch.setattr("rosenblatt.nearest.signed_vectors.CHUNK", 100)
    X, label = classes(200, 5, -0.4)
    u, some = np.random.default_rng(2).random(200), np.random.default_rng(3).random(200) < 0.5
    with Team(1) as team:
        for matrix in (X, csr_array(X), X.astype(np.float32)):
            whole = Vectors(in_one_block(matrix, label), team, 1, 1.0)
            found = Vectors(PassingSource(matrix, label, 7), team, 1, 1.0)
            assert bits(found.gather(u)) == bits(whole.gather(u))
            assert bits(found.gram(some)) == bits(whole.gram(some))


def test_report_of_a_run_and_its_bound():
    X, label = PROBLEMS["separable"]()
    for model in (
        rb.Perceptron(record=True, order="shuffled", random_state=0, max_epochs=20),
        rb.KernelPerceptron(kernel=rb.kernels.Polynomial(2), record=True, max_epochs=5),
    ):
        model.fit(X, label)
        reports = kernel_bound_reports if hasattr(model, "kernel_") else bound_reports
        found, whole = (
            reports(model, SimpleNamespace(source=source, classes=model.classes_, positives=[1]))
            for source in (PassingSource(X, label, 23), in_one_block(X, label))
        )
        assert bits(found) == bits(whole)


def trained(model, X, y, weight=None, size=None, monkeypatch=None):
    """All that a fit leaves, by name, as bits; from blocks of `size` rows that pass by."""

    def passing(rows, label, n_features, weight=None, factor=None):
        return PassingSource(as_matrix(rows, n_features), label, size, weight, factor)

    with monkeypatch.context() as patch:
        if size is not None:
            patch.setattr(classifier, "MemorySource", passing)
        model = clone(model).fit(X, y, sample_weight=weight)
        if model.warm_start:
            model.fit(X[::-1], y[::-1])  # in which support vectors have other numbers
    names = ("coef_", "intercept_", "eta_", "support_", "dual_coef_", "alpha_")
    parts = {name: bits(getattr(model, name)) for name in names if hasattr(model, name)}
    if hasattr(model, "support_vectors_"):
        parts["vectors"] = bits(as_array(model.support_vectors_))
    if hasattr(model, "kernel_"):
        parts["kernel"] = repr(model.kernel_)
    traces = [fit.trace for fit in model.fits_]
    parts["trace"] = [
        {f.name: bits(getattr(trace, f.name)) for f in dataclasses.fields(trace)} | {"seconds": 0}
        for trace in traces
    ]
    return parts | {"fits": bits(model.fits_), "errors": (model.n_errors_, model.n_iter_)}


def as_array(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


RULES = {
    "online": rb.Perceptron(record=True),
    "online, lists": rb.Perceptron(),
    "average": rb.Perceptron(keep="average"),
    "auto": rb.Perceptron(keep="auto"),
    "pocket": rb.Perceptron(keep="pocket", init="random", random_state=0),
    "random mistake": rb.Perceptron(order="random-mistake", record=True, random_state=0),
    "worst mistake": rb.Perceptron(order="worst-mistake", keep="pocket"),
    "batch": rb.Perceptron(update="batch", record=True),
    "batch, average": rb.Perceptron(update="batch", keep="average"),
    "minibatch": rb.Perceptron(update="minibatch", batch_size=10),
    "minibatch, pocket": rb.Perceptron(update="minibatch", batch_size=3, keep="pocket"),
    "mixed": rb.Perceptron(update="mixed", shards=4, record=True),
    "mixed, average": rb.Perceptron(update="mixed", keep="average"),
    "mixed, pocket": rb.Perceptron(update="mixed", shards=3, keep="pocket"),
    "delta": rb.Adaline(),
    "delta, batch": rb.Adaline(update="batch"),
    "delta, minibatch": rb.Adaline(update="minibatch", batch_size=10),
}
DATA = {
    "separable": lambda: classes(150, 4, 0.1),
    "inseparable": lambda: classes(150, 4, -0.4),
    "sparse": lambda: classes(150, 8, -0.2, sparse=True),
    "three classes": lambda: (classes(150, 4, 0.1)[0], np.arange(150) % 3),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("rule", RULES)
def test_perceptrons_and_the_delta_rule(rule, data, monkeypatch, watching):
    X, y = DATA[data]()
    if rule == "online, lists":
        watching(True)
        monkeypatch.setattr("rosenblatt.perceptron.linear_rule.MOST_COST", np.inf)
    monkeypatch.setattr("rosenblatt.perceptron.pocket.AT_A_TIME", 60)
    monkeypatch.setattr("rosenblatt.perceptron.pocket.JURY_NUMBERS", 60)
    model = RULES[rule].set_params(max_epochs=60 if "lists" in rule else 10, n_jobs=2)
    weighted = data in ("sparse", "inseparable")
    weight = np.random.default_rng(1).integers(0, 3, len(y)) / 1.0 if weighted else None
    whole = trained(model, X, y, weight, monkeypatch=monkeypatch)
    for size in (7, 64):
        assert trained(model, X, y, weight, size, monkeypatch) == whole


def test_a_cycle_is_explained_from_blocks(monkeypatch):
    X, y = touching()
    X = X + np.array([0.5, 0.0, 0.0, 0.0])
    for bias in (True, False):
        for weight in (None, np.where(np.arange(len(y)) % 5, 1.0, 0.0)):
            model = rb.Perceptron(fit_intercept=bias, max_epochs=5000)
            with pytest.warns(ConvergenceWarning):
                model.fit(X, y, sample_weight=weight)
            whole = model.cycle_report(X, y, sample_weight=weight)
            with monkeypatch.context() as patch:
                patch.setattr(
                    classifier,
                    "MemorySource",
                    lambda rows, label, d, weight, factor: PassingSource(rows.X, label, 7, weight),
                )
                found = model.cycle_report(X, y, sample_weight=weight)
            assert bits(found) == bits(whole)


KERNELS = {
    "last": {},
    "scaled": {"kernel": "rbf", "gamma": "scale"},
    "average": {"keep": "average"},
    "auto": {"keep": "auto"},
    "pocket": {"keep": "pocket"},
    "vote": {"keep": "vote"},
    "dropped": {"drop_after": 3},
    "warm start": {"warm_start": True, "kernel": "linear"},
    "budget": {"budget": 9},
    "random mistake": {"order": "random-mistake", "random_state": 0},
    "worst mistake": {"order": "worst-mistake"},
    "shuffled": {"order": "shuffled", "random_state": 0},
    "linear": {"kernel": "linear", "fit_intercept": True},
    "sigmoid": {"kernel": "sigmoid", "gamma": "scale"},
    "tol": {"tol": 1e-3, "kernel": "poly"},
    "function": {"kernel": lambda x, y: float((x * y).sum()) ** 2},
    "precomputed": {"kernel": "precomputed"},
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::rosenblatt.kernels.gram_matrices.IndefiniteKernelWarning")
@pytest.mark.parametrize("data", [name for name in DATA if name != "inseparable"])
@pytest.mark.parametrize("variant", KERNELS)
def test_kernel_perceptron(variant, data, monkeypatch):
    X, y = (part[:75] for part in DATA[data]())
    if data == "separable":
        X = X + 100.0  # far from the origin, where samples are moved
    options = {"kernel": "rbf", "gamma": 0.5} | KERNELS[variant]
    if variant == "precomputed":
        X = as_array(X @ X.T)
    monkeypatch.setattr("rosenblatt.kernel.kernel_values.WIDE_BLOCK", 32)
    monkeypatch.setattr("rosenblatt.kernel.kernel_values.BLOCK", 8)
    for room in (0, 1 << 28):  # for all values at once
        monkeypatch.setattr("rosenblatt.kernel.kernel_values.ROOM", room)
        model = rb.KernelPerceptron(record=room == 0, max_epochs=6, n_jobs=2, **options)
        whole = trained(model, X, y, monkeypatch=monkeypatch)
        for size in (64,) if room else (7, 64):
            assert trained(model, X, y, None, size, monkeypatch) == whole
