"""Theory of the kernel perceptron as properties: bounds, symmetries, invariances."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from reference_kernel import assert_same_run, epochs_of, forgetful, gram, pocket, train, two_class
from rosenblatt import StopReason
from rosenblatt.kernel import dual_rule, ledger
from rosenblatt.kernel import kernel_values as values
from rosenblatt.kernels import RBF, Linear, Polynomial

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KERNELS = st.sampled_from(
    [
        Linear(),
        Polynomial(degree=2),
        Polynomial(degree=3, gamma=0.3, coef0=-1.0),
        Polynomial(degree=5, gamma=0.1),
        RBF(0.1),
        RBF(3.0),
    ]
)
ENTRIES = {
    "whole": st.integers(-3, 3).map(float),
    "tenths": st.integers(-3, 3).map(lambda k: k / 10),
    "shifted": st.integers(-3, 3).map(lambda k: 1e6 + k / 10),
    "floats": st.floats(-10, 10, width=32).filter(lambda v: v == 0 or abs(v) > 1e-6),
}


@st.composite
def problems(draw, kind=None, classes=2, most=14):
    """Few samples, many of them the same or nearly so, with any labels."""
    kind = draw(st.sampled_from(sorted(ENTRIES))) if kind is None else kind
    n, d = draw(st.integers(classes, most)), draw(st.integers(1, 4))
    row = st.lists(ENTRIES[kind], min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    y = draw(st.lists(st.integers(0, classes - 1), min_size=n - classes, max_size=n - classes))
    return X, np.array([*range(classes), *y])


@contextmanager
def cut(block, chunk):
    """Work in blocks of so many samples and so many support vectors."""
    with pytest.MonkeyPatch.context() as patch:
        room = 0 if block % 2 else values.ROOM
        sizes = {"BLOCK": block, "WIDE_BLOCK": block, "CHUNK": chunk, "ROOM": room}
        for name, size in sizes.items():
            patch.setattr(values, name, size)
        patch.setattr(ledger, "WAVE", 2 * chunk)
        patch.setattr(dual_rule, "FORESEEN", chunk)
        yield


def signs(y):
    return np.where(y == 1, 1, -1)


SIZES = st.tuples(st.integers(1, 9), st.integers(1, 5))


@given(problems(classes=3), KERNELS, SIZES, st.booleans(), st.booleans(), st.data())
def test_same_mistakes_whatever_the_blocks(problem, kernel, sizes, bias, sparsely, data):
    X, y = problem
    weight = data.draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5]), min_size=len(y)))
    weight = np.array([*weight[: len(y) - 1], 1.0])
    order = data.draw(st.sampled_from(["cyclic", "shuffled", "sampled"]))
    X = sparse.csr_array(X) if sparsely else X
    model = rb.KernelPerceptron(
        kernel=kernel, fit_intercept=bias, order=order, random_state=1, max_epochs=4, record=True
    )
    with cut(*sizes):
        model.fit(X, y, sample_weight=weight)
    K = gram(kernel, X, bias=float(bias))
    for k, (labels, weights) in enumerate(two_class(model, y, weight)):
        path = train(K, labels, epochs_of(model, len(y), k), weights)
        assert_same_run(model, path, k)


@given(problems(classes=2), KERNELS, st.sampled_from(["last", "average", "vote"]))
def test_errors_are_those_of_the_predictions(problem, kernel, keep):
    """Ties and all."""
    X, y = problem
    model = rb.KernelPerceptron(kernel=kernel, keep=keep, max_epochs=3).fit(X, y)
    assert model.n_errors_ == (model.predict(X) != y).sum()


@given(problems(classes=2), KERNELS)
def test_a_sample_is_predicted_alone_as_among_others(problem, kernel):
    """Ties, too: a score that is zero but for rounding has one sign."""
    X, y = problem
    model = rb.KernelPerceptron(kernel=kernel, max_epochs=3).fit(X, y)
    alone = [model.predict(X[[i]])[0] for i in range(len(y))]
    assert model.predict(X).tolist() == alone


@given(problems(classes=3), KERNELS)
def test_scores_of_separated_data_have_the_right_signs(problem, kernel):
    X, y = problem
    model = rb.KernelPerceptron(kernel=kernel, max_epochs=30).fit(X, y)
    f = model.decision_function(X)
    for k, reason in enumerate(model.stop_reason_):
        if reason is StopReason.SEPARATED:
            assert (signs(y == k) * f[:, k] > 0).all()


@given(problems(), KERNELS, SIZES)
def test_pocket_is_the_best_of_all(problem, kernel, sizes):
    X, y = problem
    with cut(*sizes):
        model = rb.KernelPerceptron(kernel=kernel, keep="pocket", max_epochs=4).fit(X, y)
    path = train(gram(kernel, X), signs(y), epochs_of(model, len(y)))
    best, errors = pocket(path, signs(y))
    np.testing.assert_array_equal(model.trace_.pocket_errors, errors)
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[0]
    np.testing.assert_array_equal(coef, best)
    assert (np.diff(errors) <= 0).all()


ONE_RESTS = (  # in its second epoch, while the others forget what it needs in the third
    np.array([
        [0, 2, 0], [1, -2, -2], [0, 1, 1], [0, 0, 0], [0, 0, 0],
        [0, 1, 0], [0, -1, 0], [0, -1, 0], [1, 0, 0], [0, 0, 0.0],
    ]),
    np.array([0, 1, 2, 0, 0, 0, 0, 0, 0, 2]),
)  # fmt: skip


@example(ONE_RESTS, 9, (1, 1), False)
@given(problems("whole", classes=3), st.integers(1, 9), SIZES, st.booleans())
def test_budgets_forget_the_oldest(problem, budget, sizes, sparsely):
    X, y = problem
    kernel = Polynomial(degree=2)
    with cut(*sizes):
        model = rb.KernelPerceptron(kernel=kernel, budget=budget, max_epochs=3, record=True)
        model.fit(sparse.csr_array(X) if sparsely else X, y)
    labels = np.column_stack([own for own, _ in two_class(model, y)])
    epochs = max(fit.n_epochs for fit in model.fits_)
    support, logs = forgetful(gram(kernel, X), labels, [range(len(y))] * epochs, budget)
    for fit, log in zip(model.fits_, logs, strict=True):
        found = zip(fit.trace.updates.epoch, fit.trace.updates.sample, strict=True)
        assert list(found) == log
    assert model.support_.tolist() == list(support)


# --------------------------------------------------------------------------------------- theory


@given(problems("whole"), st.sampled_from([Polynomial(2), Polynomial(3), RBF(1.0)]))
def test_mistake_bound_and_both_lemmas(problem, kernel):
    """``w*`` is where the run ended: any separating vector has a margin."""
    X, y = problem
    model = rb.KernelPerceptron(kernel=kernel, max_epochs=300, record=True).fit(X, y)
    assume(model.stop_reason_ is StopReason.SEPARATED)
    K, labels = gram(kernel, X), signs(y)
    best = train(K, labels, epochs_of(model, len(y))).coef
    norm = np.sqrt(best @ K @ best)
    margin, R = (labels * (K @ best)).min() / norm, np.sqrt(np.diag(K).max())
    assert model.n_mistakes_ <= (R / margin) ** 2 * (1 + 1e-9)
    w = np.zeros(len(y))
    for t, (i, value) in enumerate(
        zip(model.trace_.updates.sample, model.trace_.updates.value, strict=True), 1
    ):
        assert value == pytest.approx(K[i] @ w, rel=1e-9, abs=1e-9)
        assert labels[i] * value <= 0
        w[i] += labels[i]
        assert best @ K @ w / norm >= t * margin * (1 - 1e-9)
        assert w @ K @ w <= t * R**2 * (1 + 1e-9)


@given(problems(), KERNELS)
def test_flipped_labels_flip_the_function(problem, kernel):
    X, y = problem
    a, b = (
        rb.KernelPerceptron(kernel=kernel, max_epochs=4).fit(X, labels) for labels in (y, 1 - y)
    )
    np.testing.assert_array_equal(a.trace_.mistakes, b.trace_.mistakes)
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_array_equal(a.dual_coef_, -b.dual_coef_)
    np.testing.assert_array_equal(a.decision_function(X), -b.decision_function(X))


@given(problems(), st.integers(-30, 30))
def test_the_scale_of_a_kernel_means_nothing(problem, power):
    X, y = problem
    K = gram(RBF(0.7), X)
    a, b = (
        rb.KernelPerceptron(kernel="precomputed", max_epochs=4, record=True).fit(M, y)
        for M in (K, K * 2.0**power)
    )
    np.testing.assert_array_equal(a.trace_.updates.sample, b.trace_.updates.sample)
    np.testing.assert_array_equal(a.trace_.updates.value * 2.0**power, b.trace_.updates.value)


@given(problems("whole"), KERNELS, st.randoms(use_true_random=False))
def test_the_order_of_features_means_nothing(problem, kernel, random):
    X, y = problem
    columns = list(range(X.shape[1]))
    random.shuffle(columns)
    a, b = (
        rb.KernelPerceptron(kernel=kernel, max_epochs=4, record=True).fit(Z, y)
        for Z in (X, X[:, columns])
    )
    np.testing.assert_array_equal(a.trace_.updates.sample, b.trace_.updates.sample)
    np.testing.assert_array_equal(a.trace_.updates.value, b.trace_.updates.value)


@given(problems("whole"), st.integers(2, 5))
def test_dropped_samples_are_gone(problem, drop_after):
    """Every run ends: each sample can be a mistake only so often."""
    X, y = problem
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = rb.KernelPerceptron(gamma=0.5, drop_after=drop_after).fit(X, y)
    dropped = len(model.dropped_) > 0
    assert model.stop_reason_ is (StopReason.NO_MISTAKES if dropped else StopReason.SEPARATED)
    assert model.n_mistakes_ <= drop_after * len(y)
    gone = model.dropped_.sample
    assert not set(gone) & set(model.support_)
    assert (model.alpha_ < drop_after).all()
    rest = np.setdiff1d(np.arange(len(y)), gone)
    assert (model.predict(X)[rest] == y[rest]).all()
