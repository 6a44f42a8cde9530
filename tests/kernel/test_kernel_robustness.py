"""The kernel perceptron where things go wrong: ends, extremes, refusals, going on later."""

import pickle
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import rosenblatt as rb
from reference_kernel import gram, noise, signs, spread, train
from rosenblatt import StopReason
from rosenblatt.kernel import kernel_values as values
from rosenblatt.kernel.loops import visit
from rosenblatt.results import Epoch

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# ---------------------------------------------------------------------------------- why it ends


def test_separated():
    X, y = rb.datasets.xor()
    model = rb.KernelPerceptron(kernel="poly", degree=2, gamma=1).fit(X, y)
    assert model.stop_reason_ is StopReason.SEPARATED
    assert (model.n_errors_, model.certificate_) == (0, None)
    assert (model.n_mistakes_, model.n_updates_, model.n_iter_) == (21, 21, 8)
    path = train((X @ X.T + 1) ** 2, signs(y), [range(4)] * 20)
    assert path.mistakes == model.trace_.mistakes.tolist()
    np.testing.assert_array_equal(spread(model, 4), path.coef)


def test_sampled_is_separated_only_when_all_samples_are_right():
    X, y = noise(60)
    model = rb.KernelPerceptron(gamma=5.0, order="sampled", random_state=0).fit(X, y)
    assert model.stop_reason_ is StopReason.SEPARATED
    assert (model.predict(X) == y).all()


def test_cycle_of_xor_with_a_line():
    X, y = rb.datasets.xor()
    with pytest.warns(ConvergenceWarning, match="The scores come back"):
        model = rb.KernelPerceptron(kernel="linear", fit_intercept=True).fit(X, y)
    assert model.stop_reason_ is StopReason.CYCLE
    found = model.certificate_
    run = train(X @ X.T + 1.0, signs(y), [range(len(y))] * (found.entry + found.period))
    ends = [0, *(until - 1 for until in run.updates_until)]
    scores = [(X @ X.T + 1.0) @ run.vectors[t] for t in ends]
    np.testing.assert_array_equal(scores[found.entry], scores[found.entry + found.period])
    assert model.n_iter_ == found.entry + found.period


@pytest.mark.parametrize("kernel", ["rbf", "linear", lambda u, v: float(np.minimum(u, v).sum())])
def test_cycle_of_contradictory_twins(kernel):
    X = np.array([[0.3, 1.1], [2.0, -0.7], [0.3, 1.1], [0.9, 0.2]])
    with pytest.warns(ConvergenceWarning, match="The scores come back"):
        model = rb.KernelPerceptron(kernel=kernel, max_epochs=500).fit(X, [1, 0, 0, 1])
    assert model.stop_reason_ is StopReason.CYCLE
    assert model.n_iter_ == model.certificate_.entry + model.certificate_.period
    assert model.n_errors_ >= 1


def test_no_cycle_is_claimed_where_samples_are_dropped():
    X = np.array([[0.3, 1.1], [2.0, -0.7], [0.3, 1.1]])
    model = rb.KernelPerceptron(drop_after=5).fit(X, [1, 0, 0])
    assert model.stop_reason_ is StopReason.NO_MISTAKES
    assert set(model.dropped_.sample) & {0, 2}


def test_epoch_limit_and_small_change():
    X, y = noise(60)
    with pytest.warns(ConvergenceWarning, match=r"after 3 epochs with \d+ training errors? left"):
        model = rb.KernelPerceptron(kernel="linear", max_epochs=3).fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == (StopReason.EPOCH_LIMIT, 3)
    with pytest.warns(ConvergenceWarning, match="Lower tol"):
        model = rb.KernelPerceptron(kernel="linear", tol=1e3).fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == (StopReason.SMALL_CHANGE, 1)


@quiet
@pytest.mark.parametrize(
    ("keep", "budget"),
    [("last", None), ("pocket", None), ("average", None), ("vote", None), ("last", 5)],
)
def test_time_limit_in_the_first_block(keep, budget, monkeypatch):
    monkeypatch.setattr(values, "BLOCK", 4)
    monkeypatch.setattr(values, "WIDE_BLOCK", 4)
    X, y = noise(60, classes=3)
    model = rb.KernelPerceptron(max_time=1e-9, keep=keep, budget=budget).fit(X, y)
    assert model.stop_reason_ == (StopReason.TIME_LIMIT,) * 3
    assert len(model.trace_[0]) == model.n_iter_ <= 1
    assert model.n_errors_ == (model.predict(X) != y).sum()
    if keep != "pocket":
        before = model.n_mistakes_.sum()
        model.set_params(max_time=None).partial_fit(X, y)
        assert model.n_mistakes_.sum() > before


def test_interrupted_in_the_callback():
    X, y = noise(60)
    seen = []

    def stop(epoch):
        assert isinstance(epoch, Epoch)
        assert epoch.hyperplanes == ()
        seen.append((epoch.number, epoch.mistakes[0]))
        if epoch.number == 2:
            raise KeyboardInterrupt

    model = rb.KernelPerceptron(kernel="linear", callback=stop)
    with pytest.warns(ConvergenceWarning, match="warm_start"):
        model.fit(X, y)
    assert model.stop_reason_ is StopReason.INTERRUPTED
    assert seen == list(enumerate(model.trace_.mistakes.tolist(), 1))
    assert model.n_iter_ == 2


def test_record_and_progress(capfd):
    X, y = noise(30)
    model = rb.KernelPerceptron(gamma=5.0, record=True, progress=True).fit(X, y)
    assert "KernelPerceptron" in capfd.readouterr().err
    updates = model.trace_.updates
    assert len(updates) == len(updates.sample) == model.n_updates_
    np.testing.assert_array_equal(updates.update, np.arange(len(updates)))
    counts = updates.mistake_counts(len(y))
    np.testing.assert_array_equal(counts[model.support_], model.alpha_[0])
    assert rb.KernelPerceptron().fit(X, y).trace_.updates is None


# -------------------------------------------------------------------------------- refusals

BAD = [
    ({"kernel": "cubic"}, "kernel='cubic' is not known"),
    ({"kernel": 3}, "kernel=3 is not known"),
    ({"kernel": "poly", "degree": 0}, "degree=0 is not allowed"),
    ({"kernel": "poly", "degree": 2.5}, "degree=2.5 is not allowed"),
    ({"kernel": "poly", "coef0": np.nan}, "coef0=nan is not allowed"),
    ({"gamma": 0}, "gamma=0 is not allowed"),
    ({"gamma": -1.0}, r"gamma=-1.0 is not allowed"),
    ({"gamma": "wide"}, "gamma='wide' is not known"),
    ({"gamma": np.inf}, "gamma=inf is not allowed"),
    ({"sigma": 1.0}, "sigma=1.0 is for kernel='gaussian'"),
    ({"kernel": "gaussian", "sigma": 0.0}, "sigma=0.0 is not allowed"),
    ({"kernel": "gaussian", "sigma": 1e-200}, "sigma=1e-200 is not allowed"),
    ({"budget": 0}, "budget=0 is not allowed"),
    ({"budget": 5, "keep": "average"}, "use keep='last'"),
    ({"budget": 5, "order": "worst-mistake"}, "order='worst-mistake' picks"),
    ({"drop_after": 0}, "drop_after=0 is not allowed"),
    ({"drop_after": 1}, "drop_after=1 is not possible: give a whole number from 2"),
    ({"drop_after": True}, "drop_after=True is not allowed"),
    ({"keep": "best"}, "keep='best' is not known"),
    ({"order": "backwards"}, "order='backwards' is not known"),
    ({"max_epochs": 0}, "max_epochs=0 is not allowed"),
    ({"max_time": 0}, "max_time=0 is not allowed"),
    ({"tol": -1}, "tol=-1 is not allowed"),
    ({"record": 1}, "record=1 is not allowed"),
    ({"fit_intercept": "no"}, "fit_intercept='no' is not allowed"),
    ({"callback": 3}, "callback=3 cannot be called"),
    ({"n_jobs": 0}, "n_jobs=0 is not allowed"),
    ({"kernel": lambda u, v: np.ones(7)}, "give a function of two vectors"),
    ({"kernel": lambda u, v: float("nan")}, "values that are not finite"),
    ({"kernel": lambda u, v: "near"}, "give a function of two vectors"),
    ({"kernel": "poly", "degree": 200, "gamma": 1e3}, "grow beyond what floating point"),
    ({"kernel": "precomputed"}, "needs the square matrix"),
    ({"class_weight": "heavy"}, "class_weight='heavy' is not known"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD, ids=[text for _, text in BAD])
def test_parameters_are_refused_in_one_line(parameters, message):
    X, y = noise(20)
    model = rb.KernelPerceptron(**parameters)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        model.fit(X, y)
    assert "\n" not in str(caught.value)
    assert not hasattr(model, "fits_")


def test_data_are_refused():
    X, y = noise(20)
    for bad in (np.nan, np.inf):
        Z = X.copy()
        Z[3, 1] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            rb.KernelPerceptron().fit(Z, y)
    with pytest.raises(ValueError, match="only one class"):
        rb.KernelPerceptron().fit(X, np.zeros(20))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        rb.KernelPerceptron().fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"at least one non-zero|zero everywhere"):
        rb.KernelPerceptron().fit(X, y, sample_weight=np.zeros(20))
    with pytest.raises(NotFittedError):
        rb.KernelPerceptron().predict(X)
    model = rb.KernelPerceptron(gamma=5.0).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])


@quiet
def test_a_score_that_no_float_holds_has_a_sign():
    """K(x_0, x_1) is the smallest float; a tenth of it is not zero, but less than any."""
    X, y = np.array([[0.0], [27.29], [100.0]]), np.array([1, 1, 0])
    assert 0 < rb.kernels.RBF(1.0)(X)[0, 1] < 1e-320
    for weight in (1.0, 0.1):
        model = rb.KernelPerceptron(gamma=1.0, record=True, max_epochs=1)
        model.fit(X, y, sample_weight=[weight, 1.0, 1.0])
        assert model.trace_.updates.sample.tolist() == [0, 2]


@quiet
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e5, 1e7])
def test_decision_values_do_not_depend_on_other_rows(offset):
    X, y = noise()
    X = X + offset
    model = rb.KernelPerceptron(gamma=1.0, max_epochs=5).fit(X, y)
    new = X[:10] + 0.125
    apart = new[:, np.newaxis] - model.support_vectors_
    true = np.exp(-(apart**2).sum(axis=2)) @ model.dual_coef_[0]
    for others in (new, np.zeros((1, 4)), np.full((2, 4), -1e9)):
        found = model.decision_function(np.vstack([new, others]))[:10]
        np.testing.assert_allclose(found, true, rtol=1e-10, atol=1e-12)


def test_a_variance_that_is_too_small_for_gamma():
    X, y = noise()
    with pytest.raises(ValueError, match="gamma='scale' needs the variance of X"):
        rb.KernelPerceptron().fit(X * 1e-153, y)


def test_given_values_of_a_wrong_shape():
    X, y = noise(20)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    model = rb.KernelPerceptron(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="expecting 20 features"):
        model.predict(K[:, :5])
    np.testing.assert_allclose(model.decision_function(K[:3]), K[:3] @ spread(model, 20))


@quiet
def test_given_values_that_are_not_symmetric():
    """Used as they stand: rows are samples, columns the support vectors."""
    K = np.random.default_rng(0).integers(-3, 4, (40, 40)).astype(float)
    y = np.arange(40) % 2
    model = rb.KernelPerceptron(kernel="precomputed", max_epochs=5).fit(K, y)
    path = train(K, signs(y), [range(40)] * 5)
    assert model.trace_.mistakes.tolist() == path.mistakes


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = noise(20)
    model = rb.KernelPerceptron(gamma=5.0).fit(X, y)
    before, state = model.decision_function(X), pickle.dumps(model)
    calls = []

    def failing(epoch):
        calls.append(epoch)
        raise RuntimeError

    model.set_params(callback=failing)
    with pytest.raises(RuntimeError):
        model.fit(-X, 1 - y)
    with pytest.raises(RuntimeError):
        model.partial_fit(-X, 1 - y)
    model.set_params(callback=None)
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert pickle.dumps(model) == state
    assert len(calls) == 2


def test_the_sigmoid_kernel_warns_once():
    """At the first call; a second warning would be an error."""
    X, y = noise(30)
    model = rb.KernelPerceptron(kernel="sigmoid", gamma=1.0, coef0=-1.0, max_epochs=1, keep="vote")
    with pytest.warns(UserWarning, match="not an inner product"):
        model.partial_fit(X, y, classes=[0, 1])
    model.partial_fit(X, y)


# -------------------------------------------------------------------------------- extremes


@pytest.mark.parametrize("gamma", [1e-300, 1e-30, 1e20, 1e50, 1e300])
def test_extreme_gamma(gamma):
    X, y = noise(20)
    model = rb.KernelPerceptron(gamma=gamma, max_epochs=3, record=True)
    if gamma < 1:
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
    else:
        model.fit(X, y)
    path = train(gram(model.kernel_, X), signs(y), [range(20)] * 3)
    assert model.trace_.updates.sample.tolist() == [row[1] for row in path.log]


@quiet
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
@pytest.mark.parametrize("scale", [1e-200, 1e20, 1e160, 1e300])
@pytest.mark.filterwarnings("ignore:the kernel tanh:UserWarning")
def test_huge_and_tiny_samples_work_or_are_refused(scale, kernel):
    X, y = noise(20)
    model = rb.KernelPerceptron(kernel=kernel, gamma=1.0, max_epochs=3)
    try:
        model.fit(X * scale, y)
    except ValueError as refused:
        assert "scale the features" in str(refused)  # noqa: PT017
        assert scale > 1
        return
    values = gram(model.kernel_, X * scale)
    path = train(values, signs(y), [range(20)] * model.n_iter_)
    assert model.trace_.mistakes.tolist() == path.mistakes


@quiet
@pytest.mark.parametrize("scale", [1e200, 1e250, 1e300, 1e308])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_huge_weights_work_or_are_refused(scale, kernel):
    X, y = noise(20)
    weight = np.random.default_rng(0).random(20) * scale
    model = rb.KernelPerceptron(kernel=kernel, max_epochs=3)
    try:
        model.fit(X, y, sample_weight=weight)
    except ValueError as refused:
        assert "weight" in str(refused)  # noqa: PT017
        return
    path = train(gram(model.kernel_, X), signs(y), [range(20)] * model.n_iter_, weight)
    assert model.trace_.mistakes.tolist() == path.mistakes


# ------------------------------------------------------------------------ dense, sparse, float32


@quiet
@pytest.mark.parametrize("keep", ["last", "vote"])
@pytest.mark.parametrize("classes", [2, 3])
def test_predictions_for_all_kinds_of_samples(keep, classes):
    X, y = noise(50, classes=classes)
    X = np.where(np.abs(X) > 0.5, X, 0.0).astype(np.float32).astype(float)
    forms = [X, X.astype(np.float32), sparse.csr_array(X), sparse.csc_matrix(X), X.tolist()]
    wanted = rb.KernelPerceptron(keep=keep, max_epochs=4).fit(X, y).decision_function(X)
    assert wanted.shape == ((50,) if classes == 2 else (50, 3))
    for given in (X, sparse.csr_array(X)):
        model = rb.KernelPerceptron(keep=keep, max_epochs=4).fit(given, y)
        for form in forms:
            np.testing.assert_allclose(model.decision_function(form), wanted, atol=1e-9)


@quiet
@pytest.mark.parametrize("keep", ["last", "average", "vote"])
def test_ties_are_predicted_as_they_were_counted(keep):
    """Scores that are zero, but for rounding."""
    for seed in range(24):
        rng = np.random.default_rng(seed)
        X, y = rng.choice([0.1, 0.2, 0.3, -0.1], (60, 3)), np.r_[:3, rng.integers(0, 3, 57)]
        model = rb.KernelPerceptron(kernel="linear", keep=keep, max_epochs=1 + seed % 5)
        assert model.fit(X, y).n_errors_ == (model.predict(X) != y).sum()


@quiet
@pytest.mark.compiled
def test_samples_of_all_kinds_share_the_compiled_visit():
    """It sees labels, weights and kernel values only: another compilation would take seconds."""
    X, y = noise()
    weight = np.ones(len(y)) + y
    weight.setflags(write=False)
    for samples in (X, X.astype(np.float32), sparse.csr_array(X)):
        rb.KernelPerceptron(max_epochs=1).fit(samples, y, sample_weight=weight)
    assert len({types[0] for types in visit.signatures}) == 1
