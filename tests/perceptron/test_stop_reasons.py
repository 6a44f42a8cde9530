"""Why a fit ends: every reason reached, the evidence checked, and the model usable afterwards."""

import os
import signal
import threading
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import reference
import rosenblatt as rb
from reference import augment, kept, last
from rosenblatt.results import StopReason

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def noise(n=300, d=4, seed=0):
    """Labels that have nothing to do with the samples."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), np.where(np.arange(n) % 2, 1, -1)


def assert_usable(model, X, y):
    """Predictions and counts agree with the hyperplane that was kept."""
    theta = kept(model)
    assert np.isfinite(theta).all()
    values = augment(X) @ theta
    np.testing.assert_allclose(model.decision_function(X), values, rtol=1e-9, atol=1e-9)
    assert model.n_errors_ == (model.predict(X) != y).sum()
    trace = model.trace_
    assert len(trace) == len(trace.change) == len(trace.seconds) == model.n_iter_
    assert model.n_mistakes_ == trace.mistakes.sum()
    assert (np.diff(trace.seconds) >= 0).all()


def errors_left(count):
    return rf"with {count} training errors? left"


# ------------------------------------------------------------------------------------ SEPARATED


@pytest.mark.parametrize("update", ["online", "batch"])
@pytest.mark.parametrize("order", ["cyclic", "shuffled", "sampled"])
def test_separated(update, order):
    X, y = rb.datasets.known_margin(200, 3, margin=0.1, random_state=0)
    model = rb.Perceptron(update=update, order=order, random_state=0).fit(X, y)
    assert model.stop_reason_ is StopReason.SEPARATED
    assert model.n_errors_ == 0
    assert model.trace_.mistakes[-1] == 0
    assert model.fits_[0].last.margin(X, y) > 0
    assert model.certificate_ is None
    assert_usable(model, X, y)


def test_separated_at_once_by_the_start():
    X, y = rb.datasets.eight_points()
    model = rb.Perceptron(init=[1.0, 1.0, 0.0]).fit(X, y)
    assert model.stop_reason_ is StopReason.SEPARATED
    assert (model.n_iter_, model.n_mistakes_, model.n_updates_) == (1, 0, 0)


def test_sampled_epoch_without_mistakes_is_not_yet_proof():
    """The one sample that is wrong is never drawn: only a look at the rest may end the run."""
    X = np.array([[1.0]] * 40 + [[-1.0]] * 40 + [[-2.0]])
    y = np.array([1] * 40 + [-1] * 40 + [1])
    with pytest.warns(ConvergenceWarning, match="1 training error left"):
        model = rb.Perceptron(
            order="sampled", init=[9.0, 0.0], max_epochs=1, random_state=_missing(81, 80)
        ).fit(X, y)
    assert model.trace_.mistakes.tolist() == [0]
    assert model.stop_reason_ is StopReason.EPOCH_LIMIT


def _missing(n, row):
    """A random state whose first epoch does not draw `row`."""
    from rosenblatt.contract.parameters import seed_from

    for state in range(100):
        (order,) = reference.orders("sampled", n, 1, seed_from(state))
        if row not in order:
            return state
    raise AssertionError


# --------------------------------------------------------------------------------- SMALL_CHANGE


@pytest.mark.parametrize("update", ["online", "batch"])
def test_small_change(update):
    X, y = noise()
    start = np.array([1000.0, 0, 0, 0, 0])
    with pytest.warns(ConvergenceWarning, match=errors_left(r"\d+")) as caught:
        model = rb.Perceptron(update=update, eta0=1e-9, tol=1e-3, init=start).fit(X, y)
    assert "Lower tol" in str(caught[0].message)
    assert "keep='pocket'" in str(caught[0].message)
    assert model.stop_reason_ is StopReason.SMALL_CHANGE
    assert model.n_iter_ == 1
    assert model.trace_.change[-1] < 1e-3
    assert_usable(model, X, y)


def test_change_is_measured_against_tol():
    """It stops after the first epoch whose change is below tol, and not before."""
    X, y = noise()
    free = rb.Perceptron(order="shuffled", max_epochs=40, random_state=0)
    with pytest.warns(ConvergenceWarning):
        changes = free.fit(X, y).trace_.change
    tol = np.sort(changes)[3]
    first = int(np.flatnonzero(changes < tol)[0]) + 1
    with pytest.warns(ConvergenceWarning, match="Lower tol"):
        model = rb.Perceptron(order="shuffled", max_epochs=40, tol=tol, random_state=0).fit(X, y)
    assert model.n_iter_ == first
    np.testing.assert_array_equal(model.trace_.change, changes[:first])


def test_a_separating_epoch_is_not_called_a_small_change():
    X, y = rb.datasets.eight_points()
    assert rb.Perceptron(tol=1e9, init=[1, 1, 0]).fit(X, y).stop_reason_ is StopReason.SEPARATED


# ---------------------------------------------------------------------------------- EPOCH_LIMIT


def test_epoch_limit():
    X, y = noise()
    with pytest.warns(ConvergenceWarning) as caught:
        model = rb.Perceptron(max_epochs=3).fit(X, y)
    message = str(caught[0].message)
    assert len(caught) == 1
    assert f"after 3 epochs with {model.n_errors_} training errors left" in message
    assert "Raise max_epochs" in message
    assert "keep='pocket'" in message
    assert "\n" not in message
    assert caught[0].filename == __file__
    assert model.stop_reason_ is StopReason.EPOCH_LIMIT
    assert model.n_iter_ == 3
    assert_usable(model, X, y)


def test_pocket_is_not_advised_to_use_the_pocket():
    X, y = noise()
    with pytest.warns(ConvergenceWarning, match="Raise max_epochs") as caught:
        rb.Perceptron(max_epochs=3, keep="pocket").fit(X, y)
    assert "keep='pocket'" not in str(caught[0].message)


def test_no_warning_where_no_errors_are_left():
    """The limit came before the epoch that would have shown it; but it is separated."""
    X, y = rb.datasets.eight_points()
    model = rb.Perceptron(max_epochs=1).fit(X, y)
    assert model.stop_reason_ is StopReason.EPOCH_LIMIT
    assert model.n_errors_ == 0


# ----------------------------------------------------------------------------------- TIME_LIMIT


@pytest.mark.parametrize("keep", ["last", "pocket", "average"])
@pytest.mark.parametrize("update", ["online", "batch"])
@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
def test_time_limit(keep, update, order):
    X, y = noise()
    with pytest.warns(ConvergenceWarning, match=f"{errors_left(r'[0-9]+')}.*Raise max_time"):
        model = rb.Perceptron(
            keep=keep, update=update, order=order, max_time=1e-9, random_state=0
        ).fit(X, y)
    assert model.stop_reason_ is StopReason.TIME_LIMIT
    assert model.n_iter_ == 1
    assert_usable(model, X, y)


@pytest.mark.parametrize("order", ["random-mistake", "worst-mistake"])
def test_time_limit_when_picking(order):
    X, y = noise()
    with pytest.warns(ConvergenceWarning, match="Raise max_time"):
        model = rb.Perceptron(order=order, max_time=1e-9, random_state=0).fit(X, y)
    assert model.stop_reason_ is StopReason.TIME_LIMIT
    assert model.n_updates_ == 1
    assert_usable(model, X, y)


def test_time_limit_inside_an_epoch_keeps_the_path_so_far(in_blocks):
    """Stopped after the first block: model, average and trace are those of its rows."""
    X, y = noise()
    in_blocks(7)
    with pytest.warns(ConvergenceWarning, match="Raise max_time"):
        model = rb.Perceptron(max_time=1e-9, keep="average", record=True).fit(X, y)
    path = reference.online(augment(X), y, [np.arange(7)], np.zeros(5))
    np.testing.assert_array_equal(last(model), path.theta)
    np.testing.assert_allclose(kept(model), path.average, rtol=1e-12)
    assert model.trace_.updates.sample.tolist() == [sample for _, sample, _ in path.log]
    assert_usable(model, X, y)


def test_time_limit_of_many_epochs():
    X, y = noise()
    with pytest.warns(ConvergenceWarning, match="Raise max_time"):
        model = rb.Perceptron(
            order="shuffled", max_epochs=10**9, max_time=0.05, keep="pocket", random_state=0
        ).fit(X, y)
    assert model.stop_reason_ is StopReason.TIME_LIMIT
    assert model.n_errors_ == model.trace_.pocket_errors[-1] < 150
    assert_usable(model, X, y)


def test_time_limit_of_several_classes():
    X, y = noise()
    y = np.arange(len(X)) % 3
    with pytest.warns(ConvergenceWarning, match="Raise max_time"):
        model = rb.Perceptron(max_time=1e-9).fit(X, y)
    assert model.stop_reason_ == (StopReason.TIME_LIMIT,) * 3
    assert model.n_errors_ == (model.predict(X) != y).sum()


# ---------------------------------------------------------------------------------------- CYCLE


def epoch_map(Xt, y, update, order):
    """An epoch as a function of the weights it starts with; None once no mistakes are made."""

    def after(theta):
        if order == "worst-mistake":
            path = reference.picked(Xt, y, 1, theta, np.argmin)
        elif update == "batch":
            path = reference.minibatch(Xt, y, [np.arange(len(y))], theta, len(y))
        else:
            path = reference.online(Xt, y, [np.arange(len(y))], theta)
        return path.theta if path.log else None

    return after


def entry_and_period(after, theta, most=400):
    """The first state that comes back, by keeping them all; None if mistakes end first."""
    seen = {}
    for epoch in range(most):
        state = tuple(theta + 0.0)
        if state in seen:
            return seen[state], epoch - seen[state]
        seen[state] = epoch
        theta = after(theta)
        if theta is None:
            return None
    raise AssertionError


def test_xor_goes_round():
    X, y = rb.datasets.xor()
    with pytest.warns(ConvergenceWarning, match="more epochs change nothing"):
        model = rb.Perceptron().fit(X, y)
    assert model.stop_reason_ is StopReason.CYCLE
    found = model.certificate_
    after = epoch_map(augment(X), y, "online", "cyclic")
    assert (found.entry, found.period) == entry_and_period(after, np.zeros(3))
    assert model.n_iter_ == found.entry + found.period
    assert_usable(model, X, y)


@quiet
@pytest.mark.parametrize(
    ("update", "order"), [("online", "cyclic"), ("batch", "cyclic"), ("online", "worst-mistake")]
)
def test_certificates_by_replay(update, order):
    """Cycles of small random data, among them ones with a tail and longer than one epoch."""
    rng = np.random.default_rng(0)
    kinds = set()
    for _ in range(80):
        X = rng.integers(-2, 3, (5, 2)).astype(float)
        y = np.array([1, -1, 1, -1, 1])
        start = np.append(rng.integers(-3, 4, 2), 0.0)
        after = epoch_map(augment(X), y, update, order)
        expected = entry_and_period(after, start)
        model = rb.Perceptron(update=update, order=order, init=start, max_epochs=399).fit(X, y)
        if expected is None:
            assert model.stop_reason_ is StopReason.SEPARATED
            continue
        found = model.certificate_
        assert model.stop_reason_ is StopReason.CYCLE
        assert (found.entry, found.period) == expected
        kinds.add((found.entry > 0, found.period > 1))
        theta = start
        for _ in range(found.entry):
            theta = after(theta)
        returned = theta
        for _ in range(found.period):
            returned = after(returned)
        np.testing.assert_array_equal(returned, theta)
        np.testing.assert_array_equal(last(model), theta)
    assert (True, True) in kinds


@quiet
@pytest.mark.parametrize("order", ["shuffled", "sampled", "random-mistake"])
def test_random_orders_claim_no_cycle(order):
    X, y = rb.datasets.xor()
    model = rb.Perceptron(order=order, max_epochs=100, random_state=0).fit(X, y)
    assert model.stop_reason_ is StopReason.EPOCH_LIMIT
    assert model.certificate_ is None
    assert model.n_iter_ == 100


@quiet
def test_each_class_has_its_own_reason():
    """Classes on a line: the outer ones separate from the rest, the middle one never does."""
    X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
    model = rb.Perceptron().fit(X, ["left", "left", "middle", "right", "right"])
    assert model.stop_reason_ == (StopReason.SEPARATED, StopReason.CYCLE, StopReason.SEPARATED)
    assert [c is None for c in model.certificate_] == [True, False, True]


@quiet
@pytest.mark.parametrize("keep", ["pocket", "average"])
def test_cycle_with_other_keeps(keep):
    X, y = rb.datasets.xor()
    model = rb.Perceptron(keep=keep, record=True).fit(X, y)
    path = reference.online(augment(X), y, [np.arange(4)] * model.n_iter_, np.zeros(3))
    assert model.stop_reason_ is StopReason.CYCLE
    reference.assert_same_run(model, path)
    best = reference.pocket(path, augment(X), y)[0] if keep == "pocket" else path.average
    np.testing.assert_allclose(kept(model), best, rtol=1e-15)


# ---------------------------------------------------------------------------------- INTERRUPTED


def raise_at(number):
    def callback(epoch):
        if epoch.number == number:
            raise KeyboardInterrupt

    return callback


def press_at(number):
    def callback(epoch):
        if epoch.number == number:
            os.kill(os.getpid(), signal.SIGINT)

    return callback


@pytest.mark.parametrize("stop_at", [raise_at, press_at])
@pytest.mark.parametrize("keep", ["last", "pocket", "average"])
def test_interrupted(stop_at, keep):
    X, y = noise()
    before = signal.getsignal(signal.SIGINT)
    with pytest.warns(ConvergenceWarning, match="interrupted.*warm_start=True"):
        model = rb.Perceptron(callback=stop_at(4), keep=keep, record=True).fit(X, y)
    assert signal.getsignal(signal.SIGINT) is before
    assert model.stop_reason_ is StopReason.INTERRUPTED
    assert model.n_iter_ == 4
    path = reference.online(augment(X), y, [np.arange(len(y))] * 4, np.zeros(5))
    np.testing.assert_array_equal(last(model), path.theta)
    assert_usable(model, X, y)


@quiet
@pytest.mark.parametrize("stop_at", [raise_at, press_at])
@pytest.mark.parametrize("model", [rb.Perceptron(update="batch"), rb.Adaline()])
def test_interrupted_others(model, stop_at):
    X, y = noise()
    model.set_params(callback=stop_at(2), tol=None).fit(X, y)
    assert model.stop_reason_ is StopReason.INTERRUPTED
    assert model.n_iter_ == 2
    assert_usable(model, X, y)


@quiet
def test_interrupted_run_goes_on_with_warm_start():
    X, y = noise()
    model = rb.Perceptron(callback=raise_at(4), max_epochs=10, warm_start=True).fit(X, y)
    model.set_params(callback=None, max_epochs=6).fit(X, y)
    whole = rb.Perceptron(max_epochs=10).fit(X, y)
    np.testing.assert_array_equal(kept(model), kept(whole))


def test_other_errors_of_a_callback_pass_and_the_handler_is_restored():
    X, y = noise()
    before = signal.getsignal(signal.SIGINT)

    def callback(epoch):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        rb.Perceptron(callback=callback).fit(X, y)
    assert signal.getsignal(signal.SIGINT) is before


def test_second_press_interrupts_at_once():
    X, y = noise()

    def callback(epoch):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass
        raise AssertionError("the second press did not interrupt")  # noqa: EM101

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        rb.Perceptron(callback=callback).fit(X, y)
    assert signal.getsignal(signal.SIGINT) is before


@quiet
def test_a_handler_of_the_program_is_left_in_charge():
    X, y = noise()
    presses = []
    before = signal.signal(signal.SIGINT, lambda number, frame: presses.append(number))
    try:
        model = rb.Perceptron(callback=press_at(1), max_epochs=3).fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert presses == [signal.SIGINT]
    assert model.stop_reason_ is StopReason.EPOCH_LIMIT


@quiet
def test_outside_the_main_thread():
    X, y = noise()
    models = []
    thread = threading.Thread(
        target=lambda: models.append(rb.Perceptron(max_epochs=3, n_jobs=1).fit(X, y))
    )
    thread.start()
    thread.join()
    assert models[0].stop_reason_ is StopReason.EPOCH_LIMIT


# ---------------------------------------------------------------------------------------- texts


def test_reasons_say_what_they_mean():
    assert repr(StopReason.SEPARATED) == "StopReason.SEPARATED"
    for reason in StopReason:
        assert "\n" not in reason.value
        assert len(reason.value) > 20


# ------------------------------------------------------------------------------------- ROUNDING

HIDDEN = np.array(
    [
        [2e-07, -1.000000001e16, -1.0000000002e16],
        [3e-07, -9999999980000000, 1e16],
        [0, -1e16, -1e16],
    ]
)


def exact_mistakes(plane, X, y):
    """Rows with ``y(w·x + b) <= 0``, in rational numbers."""
    theta = [*map(Fraction, plane.w.tolist()), Fraction(plane.b)]
    wrong = []
    for i, (x, label) in enumerate(zip(X.tolist(), y, strict=True)):
        terms = zip(theta, [*map(Fraction, x), 1], strict=True)
        if label * sum(a * b for a, b in terms) <= 0:
            wrong.append(i)
    return wrong


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("options", [{}, {"keep": "average"}, {"record": True}])
def test_a_mistake_that_rounding_hides_is_not_separated(make, options):
    with pytest.warns(ConvergenceWarning, match="similar scales around 0"):
        model = rb.Perceptron(**options).fit(make(HIDDEN), [0, 0, 1])
    assert model.stop_reason_ is StopReason.ROUNDING
    assert model.trace_.mistakes[-1] == 0
    assert exact_mistakes(model.fits_[0].last, HIDDEN, [-1, -1, 1]) == [0]
    assert model.n_errors_ == (model.predict(make(HIDDEN)) != [0, 0, 1]).sum() == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("update", ["online", "batch"])
def test_separated_is_exactly_so(update):
    """Whatever the scales: no exact mistake after SEPARATED, one after ROUNDING."""
    rng, met = np.random.default_rng(3), set()
    for _ in range(60):
        X = rng.choice([1e16, -1e16, 1e16 + 2, 3.0, 1.0, 2.5e-7, 0.0], (4, 3))
        y = rng.permutation([0, 0, 1, 1])
        model = rb.Perceptron(update=update, max_epochs=50).fit(X, y)
        wrong = exact_mistakes(model.fits_[0].last, X, 2 * y - 1)
        met.add(model.stop_reason_)
        if model.stop_reason_ is StopReason.SEPARATED:
            assert not wrong
            assert model.n_errors_ == 0
        if model.stop_reason_ is StopReason.ROUNDING:
            assert wrong
        assert model.n_errors_ == (model.predict(X) != y).sum()
    assert StopReason.SEPARATED in met


def test_samples_without_weight_hide_nothing():
    model = rb.Perceptron().fit(HIDDEN, [0, 0, 1], sample_weight=[0, 1, 1])
    assert model.stop_reason_ is StopReason.SEPARATED
