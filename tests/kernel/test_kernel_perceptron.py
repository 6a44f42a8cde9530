"""The kernel perceptron against two plain loops: the same mistakes, bit by bit."""

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from reference import orders
from reference_kernel import (
    assert_same_run,
    epochs_of,
    forgetful,
    gram,
    pocket,
    train,
    two_class,
)
from rosenblatt import StopReason
from rosenblatt.contract.parameters import seed_from
from rosenblatt.kernel import dual_rule, ledger
from rosenblatt.kernel import kernel_values as values
from rosenblatt.kernels import RBF
from rosenblatt.running.threads import Team

quiet = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:the kernel tanh:UserWarning"
)
pytestmark = quiet

KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 1},
    "poly-": {"kernel": "poly", "degree": 3, "gamma": 0.7, "coef0": -0.3},
    "poly10": {"kernel": "poly", "degree": 10, "coef0": 0.0},
    "rbf": {"kernel": "rbf"},
    "flat": {"kernel": "rbf", "gamma": 1e-6},
    "sharp": {"kernel": "rbf", "gamma": 1e6},
    "gaussian": {"kernel": "gaussian", "sigma": 0.3},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.1, "coef0": -0.5},
}

KINDS = {
    "integers": lambda rng, X: np.rint(X * 1.2),
    "floats": lambda rng, X: X,
    "offset": lambda rng, X: X + 1e6,
    "tiny": lambda rng, X: X * 1e-8,
    "huge": lambda rng, X: X * 1e8,
    "positive": lambda rng, X: np.abs(X),
    "ties": lambda rng, X: rng.choice([0.1, 0.2, 0.3, -0.1], X.shape),
    "twins": lambda rng, X: X[rng.integers(0, len(X) // 2, len(X))],
    "close": lambda rng, X: 1 + 1e-9 * np.rint(X),
    "single": lambda rng, X: X.astype(np.float32),
    "wide": lambda rng, X: rng.standard_normal((len(X), 37)),
}


def draw(kind, n=36, d=5, seed=0, classes=2):
    """Samples of some kind, and labels that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return KINDS[kind](rng, X), np.r_[np.arange(classes), rng.integers(0, classes, n - classes)]


def cut(monkeypatch, block, chunk):
    """Work in blocks of so many samples and so many support vectors."""
    sizes = {"BLOCK": block, "WIDE_BLOCK": block, "PART": block // 2 + 1, "CHUNK": chunk}
    for name, size in (sizes | {"LITTLE": 0, "FEWEST": 1, "TASKS": 4, "ROOM": 0}).items():
        monkeypatch.setattr(values, name, size)
    monkeypatch.setattr(ledger, "WAVE", chunk + 1)
    monkeypatch.setattr(ledger, "TASK", 3)
    monkeypatch.setattr(dual_rule, "FORESEEN", chunk)


def paths(model, X, y, sample_weight=None, K=None, **rule):
    """The textbook's runs for a fitted model's problems."""
    K = gram(model.kernel_, X, bias=float(model.fit_intercept)) if K is None else K
    return [
        train(K, labels, epochs_of(model, len(y), k), weight, model.drop_after, **rule)
        for k, (labels, weight) in enumerate(two_class(model, y, sample_weight))
    ]


def assert_as_in_the_textbook(model, X, y, sample_weight=None, K=None, **rule):
    for k, path in enumerate(paths(model, X, y, sample_weight, K, **rule)):
        assert_same_run(model, path, k)
    assert model.n_errors_ == (model.predict(X) != y).sum()


# ------------------------------------------------------------------------------- same mistakes


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", KINDS)
def test_same_mistakes_as_two_loops(kind, name, monkeypatch):
    if kind not in ("floats", "ties"):
        cut(monkeypatch, 7, 3)
    X, y = draw(kind)
    model = rb.KernelPerceptron(**KERNELS[name], max_epochs=4, record=True).fit(X, y)
    assert_as_in_the_textbook(model, X, y)


@pytest.mark.parametrize(
    ("name", "fit_intercept"), [("linear", True), ("poly-", False), ("rbf", False), ("rbf", True)]
)
@pytest.mark.parametrize("kind", ["integers", "floats", "single", "twins"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_samples(kind, name, index, fit_intercept, monkeypatch):
    cut(monkeypatch, 11, 2)
    X, y = draw(kind, classes=3)
    X = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    model = rb.KernelPerceptron(
        **KERNELS[name], max_epochs=4, record=True, fit_intercept=fit_intercept, n_jobs=2
    ).fit(X, y)
    assert model.support_vectors_.format == "csr"
    assert_as_in_the_textbook(model, X, y)


@pytest.mark.parametrize("block", [1, 2, 5, 35, 36, 37])
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("order", ["cyclic", "shuffled", "sampled"])
def test_blocks_orders_classes_and_threads(block, jobs, order, monkeypatch):
    cut(monkeypatch, block, 4)
    X, y = draw("ties", classes=4)
    model = rb.KernelPerceptron(
        kernel="poly", gamma=0.3, order=order, random_state=7, max_epochs=2, record=True
    )
    model.set_params(n_jobs=jobs, fit_intercept=True).fit(X, y)
    assert_as_in_the_textbook(model, X, y)


@pytest.mark.parametrize(("order", "soon"), [("cyclic", True), ("shuffled", False)])
@pytest.mark.parametrize("keep", ["last", "average", "vote"])
@pytest.mark.parametrize("kind", ["integers", "floats", "ties", "single"])
def test_all_values_at_hand_from_some_epoch_on(kind, keep, order, soon, monkeypatch):
    cut(monkeypatch, 7, 4)
    monkeypatch.setattr(values, "ROOM", 1 << 20)
    monkeypatch.setattr(dual_rule, "BLOCK_WORTH", 1 << 20 if soon else 0)
    X, y = draw(kind, n=40, classes=3)
    made, everything = [], values.Values.everything

    def watched(own, look_up):
        made.append(everything(own, look_up))
        assert made[-1] is None or made[-1].dtype == own.kind
        return made[-1]

    monkeypatch.setattr(values.Values, "everything", watched)
    options = {"gamma": 0.3, "keep": keep, "order": order, "random_state": 7, "max_epochs": 6}
    model = rb.KernelPerceptron(**options, record=True).fit(X, y)
    assert made
    assert_as_in_the_textbook(model, X, y)
    monkeypatch.setattr(dual_rule, "FEW", 0)  # so that doubt leads to double precision
    quick = rb.KernelPerceptron(**options).fit(X, y)
    monkeypatch.setattr(values, "ROOM", 0)
    blocks = rb.KernelPerceptron(**options).fit(X, y)
    for other in (quick, blocks):
        np.testing.assert_array_equal(
            other.decision_function(X[:9] + 0.5), model.decision_function(X[:9] + 0.5)
        )


@pytest.mark.parametrize("kind", ["floats", "wide"])
def test_all_values_have_the_precision_of_the_run(kind, monkeypatch):
    cut(monkeypatch, 7, 4)
    monkeypatch.setattr(values, "ROOM", 36 * 36 * 8)
    X, _ = draw(kind)
    for form in (np.asarray, sparse.csr_array):
        found = values.Values(RBF(0.3), 1.0, form(X), Team(2))
        for precision, off in ((np.float32, 1e-5), (np.float64, 1e-12)):
            found.change_precision(precision)
            K = found.everything(lambda: None)
            assert K.dtype == precision
            assert found.everything(lambda: None) is K
            np.testing.assert_allclose(K, RBF(0.3)(X) + 1, rtol=off)
    monkeypatch.setattr(values, "ROOM", 36 * 36 * 8 - 1)
    assert found.everything(lambda: None) is None


@pytest.mark.parametrize("scale", [1e-42, 1e-20, 1.0, 1e20, 1e45])
@pytest.mark.parametrize("name", ["poly", "rbf"])
def test_weights(scale, name, monkeypatch):
    cut(monkeypatch, 9, 4)
    X, y = draw("integers", classes=3)
    weight = np.random.default_rng(1).choice([0.0, 0.1, 0.5, 1.0, 7.3], len(y)) * scale
    model = rb.KernelPerceptron(
        **KERNELS[name], class_weight={0: 3.0, 2: 0.3}, max_epochs=4, record=True
    ).fit(X, y, sample_weight=weight)
    assert_as_in_the_textbook(model, X, y, weight)


def test_weights_of_all_sizes(monkeypatch):
    cut(monkeypatch, 9, 4)
    X, y = draw("floats")
    weight = 10.0 ** np.random.default_rng(1).integers(-30, 30, len(y))
    model = rb.KernelPerceptron(max_epochs=6, record=True).fit(X, y, sample_weight=weight)
    assert_as_in_the_textbook(model, X, y, weight)


@pytest.mark.parametrize("kind", ["integers", "floats", "twins"])
def test_functions_and_given_values(kind, monkeypatch):
    """One kernel in four forms; the sums of floats are exact in all of them."""
    cut(monkeypatch, 8, 3)
    X, y = draw(kind, classes=3)

    def vectors(u, v):
        return float(np.minimum(u, v).sum())

    def matrices(U, V):
        return np.minimum(U[:, None], V[None]).sum(axis=2)

    K = matrices(X, X)
    for kernel in (vectors, matrices):
        model = rb.KernelPerceptron(kernel=kernel, max_epochs=4, record=True).fit(X, y)
        assert_as_in_the_textbook(model, X, y, K=K)
    for given in (K, sparse.csr_array(K)):
        model = rb.KernelPerceptron(kernel="precomputed", max_epochs=4, record=True).fit(given, y)
        assert_as_in_the_textbook(model, given, y, K=K)
    assert not hasattr(model, "support_vectors_")


def test_a_callable_gets_sparse_rows_as_vectors(monkeypatch):
    cut(monkeypatch, 4, 3)
    X, y = draw("integers")
    model = rb.KernelPerceptron(kernel=lambda u, v: (u @ v + 1.0) ** 2, max_epochs=4, record=True)
    model.fit(sparse.csr_array(X), y)
    assert_as_in_the_textbook(model, sparse.csr_array(X), y, K=(X @ X.T + 1) ** 2)


@pytest.mark.parametrize("room", [0, 1 << 20])
@pytest.mark.parametrize("keep", ["last", "average"])
def test_going_over_to_double_precision_changes_nothing(keep, room, monkeypatch):
    """Without a record single precision is given up as soon as it leaves signs in doubt."""
    X, y = draw("offset", n=60, classes=3)
    found = {}
    for few in (0, 3, 10**9):
        monkeypatch.setattr(dual_rule, "FEW", few)
        cut(monkeypatch, 7, 5)
        monkeypatch.setattr(values, "ROOM", room)
        model = rb.KernelPerceptron(kernel="linear", keep=keep, max_epochs=5).fit(X, y)
        found[few] = model
        for k, path in enumerate(paths(model, X, y)):
            assert model.trace_[k].mistakes.tolist() == path.mistakes
            coef = np.zeros(len(y))
            coef[model.support_] = model.fits_[k].last
            np.testing.assert_array_equal(coef, path.coef)
    np.testing.assert_array_equal(found[0].dual_coef_, found[10**9].dual_coef_)


# --------------------------------------------------------------------------- the linear kernel


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("order", ["cyclic", "shuffled", "sampled", "worst-mistake"])
@pytest.mark.parametrize("classes", [2, 3])
def test_linear_kernel_is_the_perceptron(fit_intercept, order, classes):
    X, y = draw("integers", n=50, d=3, classes=classes)
    same = {"fit_intercept": fit_intercept, "order": order, "random_state": 3, "record": True}
    ours = rb.KernelPerceptron(kernel="linear", max_epochs=40, **same).fit(X, y)
    plain = rb.Perceptron(max_epochs=40, **same).fit(X, y)
    for a, b in zip(ours.fits_, plain.fits_, strict=True):
        for column in ("epoch", "sample", "value", "step", "update"):
            found = (getattr(fit.trace.updates, column) for fit in (a, b))
            np.testing.assert_array_equal(*found)
        assert (a.stop_reason, a.n_epochs) == (b.stop_reason, b.n_epochs)
        assert a.certificate == b.certificate
        np.testing.assert_allclose(a.trace.change, b.trace.change, rtol=1e-9)
    X1 = X[ours.support_]
    np.testing.assert_array_equal(ours.dual_coef_ @ X1, plain.coef_)
    if fit_intercept:
        np.testing.assert_array_equal(ours.dual_coef_.sum(axis=1), plain.intercept_)
    np.testing.assert_array_equal(ours.decision_function(X), plain.decision_function(X))
    assert ours.n_errors_ == plain.n_errors_


@pytest.mark.parametrize("keep", ["average", "pocket"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_linear_kernel_keeps_what_the_perceptron_keeps(keep, fit_intercept):
    X, y = draw("integers", n=50, d=3)
    same = {"fit_intercept": fit_intercept, "keep": keep, "max_epochs": 15}
    ours = rb.KernelPerceptron(kernel="linear", **same).fit(X, y)
    plain = rb.Perceptron(**same).fit(X, y)
    np.testing.assert_allclose(ours.dual_coef_ @ X[ours.support_], plain.coef_, rtol=1e-12)
    np.testing.assert_allclose(ours.decision_function(X), plain.decision_function(X), rtol=1e-11)
    assert ours.n_errors_ == plain.n_errors_
    if keep == "pocket":
        np.testing.assert_array_equal(ours.trace_.pocket_errors, plain.trace_.pocket_errors)


@pytest.mark.parametrize("kind", ["floats", "huge", "tiny", "positive"])
def test_the_change_of_an_epoch(kind):
    """``‖w - w before‖``, from scores in single or double precision."""
    X, y = draw(kind, n=300)
    same = {"fit_intercept": False, "max_epochs": 4}
    ours = rb.KernelPerceptron(kernel="linear", **same).fit(X, y)
    plain = rb.Perceptron(**same).fit(X, y)
    assert ours.trace_.mistakes.tolist() == plain.trace_.mistakes.tolist()
    np.testing.assert_allclose(ours.trace_.change, plain.trace_.change, rtol=1e-4)


# --------------------------------------------------------------------------------- what is kept


@pytest.mark.parametrize("name", ["poly", "rbf"])
@pytest.mark.parametrize("order", ["cyclic", "shuffled", "sampled"])
@pytest.mark.parametrize("keep", ["average", "auto", "vote", "pocket"])
def test_keep(keep, order, name, monkeypatch):
    cut(monkeypatch, 8, 5)
    X, y = draw("integers", classes=3)
    weight = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 4.0], len(y))
    model = rb.KernelPerceptron(
        **KERNELS[name], keep=keep, order=order, random_state=5, max_epochs=4, record=True
    ).fit(X, y, sample_weight=weight)
    assert_as_in_the_textbook(model, X, y, weight)
    K = gram(model.kernel_, X)
    problems = list(two_class(model, y, weight))
    for k, path in enumerate(paths(model, X, y, weight)):
        coef = np.zeros(len(y))
        coef[model.support_] = model.dual_coef_[k]
        if keep == "vote":
            wanted = path.vote(K)
        elif keep == "auto" and model.stop_reason_[k] is rb.StopReason.SEPARATED:
            np.testing.assert_array_equal(coef, path.coef)
            wanted = K @ path.coef
        elif keep in ("average", "auto"):
            np.testing.assert_allclose(coef, path.average, rtol=1e-12, atol=1e-13)
            wanted = K @ path.average
        else:
            best, errors = pocket(path, *problems[k])
            np.testing.assert_array_equal(coef, best)
            np.testing.assert_array_equal(model.trace_[k].pocket_errors, errors)
            wanted = K @ best
        found = model.decision_function(X)[:, k]
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("drop_after", [None, 2])
def test_pocket_of_floats_and_odd_weights(drop_after, monkeypatch):
    cut(monkeypatch, 8, 5)
    X, y = draw("ties", n=40)
    weight = np.random.default_rng(2).choice([0.1, 0.2, 0.7, 1.0], len(y))
    model = rb.KernelPerceptron(
        kernel="linear", keep="pocket", max_epochs=6, record=True, drop_after=drop_after
    ).fit(X, y, sample_weight=weight)
    (path,), ((labels, _),) = paths(model, X, y, weight), two_class(model, y)
    best, errors = pocket(path, labels, weight)
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[0]
    np.testing.assert_array_equal(model.trace_.pocket_errors, errors)
    np.testing.assert_array_equal(coef, best)


@pytest.mark.parametrize("order", ["random-mistake", "worst-mistake"])
@pytest.mark.parametrize("keep", ["last", "average", "vote", "pocket"])
@pytest.mark.parametrize("kind", ["integers", "ties", "floats"])
def test_picked_mistakes(order, keep, kind, monkeypatch):
    cut(monkeypatch, 8, 5)
    X, y = draw(kind, classes=3)
    model = rb.KernelPerceptron(
        kernel="poly", gamma=0.5, degree=2, order=order, keep=keep, random_state=11
    )
    model.set_params(max_epochs=25, record=True).fit(X, y)
    K = gram(model.kernel_, X)
    for k, (labels, _) in enumerate(two_class(model, y)):
        rng = np.random.default_rng([seed_from(11), 2])

        def pick(margins, rng=rng):
            if order == "random-mistake":
                return rng.integers(len(margins))
            return int(np.argmin(margins))

        path = train(K, labels, [()] * model.fits_[k].n_epochs, pick=pick)
        assert_same_run(model, path, k)
        coef = np.zeros(len(y))
        coef[model.support_] = model.dual_coef_[k]
        wanted = {"average": path.average, "pocket": pocket(path, labels)[0]}
        if keep in wanted:
            np.testing.assert_allclose(coef, wanted[keep], rtol=1e-12, atol=1e-13)
        if keep == "vote":
            np.testing.assert_allclose(model.decision_function(X)[:, k], path.vote(K), atol=1e-12)


# ---------------------------------------------------------------------------- dropped, forgotten


@pytest.mark.parametrize("order", ["cyclic", "shuffled", "sampled"])
@pytest.mark.parametrize("drop_after", [2, 3])
@pytest.mark.parametrize("keep", ["last", "average"])
def test_drop_after(order, drop_after, keep, monkeypatch):
    cut(monkeypatch, 10, 5)
    X, y = draw("twins", n=50, classes=3)
    model = rb.KernelPerceptron(
        keep=keep, order=order, drop_after=drop_after, random_state=2, max_epochs=8, record=True
    ).fit(X, y)
    assert_as_in_the_textbook(model, X, y)
    for k, path in enumerate(paths(model, X, y)):
        found = model.dropped_[k]
        assert list(zip(found.sample, found.count, found.epoch, strict=True)) == path.dropped
        assert list(found) == [row[:2] for row in path.dropped]
        assert len(found) == len(path.dropped) > 0
        coef = np.zeros(len(y))
        coef[model.support_] = model.dual_coef_[k]
        wanted = path.average if keep == "average" else path.coef
        np.testing.assert_allclose(coef, wanted, rtol=1e-12, atol=1e-13)


def test_dropped_samples_are_the_planted_ones():
    X, y = rb.datasets.known_margin(300, 2, margin=0.3, random_state=0)
    wrong = np.random.default_rng(0).choice(len(y), 15, replace=False)
    noisy = np.array(y)
    noisy[wrong] = -noisy[wrong]
    model = rb.KernelPerceptron(kernel="poly", degree=2, drop_after=4).fit(X, noisy)
    assert set(model.dropped_.sample) == set(wrong)
    assert model.stop_reason_ is StopReason.NO_MISTAKES
    assert (model.predict(X) == y).all()
    assert model.n_errors_ == 15


@pytest.mark.parametrize("budget", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("order", ["cyclic", "shuffled", "sampled"])
@pytest.mark.parametrize("classes", [2, 3])
def test_budget(budget, order, classes, monkeypatch):
    cut(monkeypatch, 8, 3)
    X, y = draw("integers", n=40, classes=classes)
    model = rb.KernelPerceptron(
        kernel="poly", degree=2, gamma=1, budget=budget, order=order, random_state=4, record=True
    )
    model.set_params(max_epochs=5).fit(X, y)
    labels = np.column_stack([own for own, _ in two_class(model, y)])
    drawn = orders(order, len(y), 5, seed_from(4))
    support, logs = forgetful(gram(model.kernel_, X), labels, drawn, budget)
    for fit, log in zip(model.fits_, logs, strict=True):
        updates = fit.trace.updates
        assert list(zip(updates.epoch, updates.sample, strict=True)) == log
    assert model.support_.tolist() == list(support)
    assert len(model.support_) <= budget
    np.testing.assert_array_equal(model.dual_coef_.T, np.array(list(support.values()), float))
    assert model.n_errors_ == (model.predict(X) != y).sum()


@pytest.mark.parametrize("keep", ["last", "pocket", "average", "vote"])
def test_counters_of_dropped_samples_are_zero_whatever_is_kept(keep):
    X, y = draw("floats", n=50)
    model = rb.KernelPerceptron(gamma=0.1, keep=keep, drop_after=3, max_epochs=40).fit(X, y)
    gone = model.dropped_
    assert len(gone.sample)
    assert not model.alpha_[0, np.isin(model.support_, gone.sample)].any()
    assert model.alpha_.sum() + gone.count.sum() == model.n_mistakes_
