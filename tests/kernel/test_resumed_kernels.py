"""A kernel perceptron that is killed wherever it writes its state ends to the bit as if never."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from cutting import Cuts, bits, fitted_bits
from rosenblatt.kernel import dual_rule, ledger
from rosenblatt.kernel import kernel_values as values
from rosenblatt.running.checkpoints import CheckpointError
from rosenblatt.running.run import Run

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KEEPS = ("last", "pocket", "average", "vote", "auto")
ORDERS = ("cyclic", "shuffled", "sampled", "blocks", "random-mistake", "worst-mistake")


def table(n=60, classes=2, seed=0):
    """Samples that no vector of a few dozen updates separates."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, rng.integers(0, classes, n)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few samples, so that little data have many moments."""
    monkeypatch.setattr(values, "BLOCK", 8)
    monkeypatch.setattr(values, "WIDE_BLOCK", 8)
    monkeypatch.setattr(values, "CHUNK", 16)
    monkeypatch.setattr(ledger, "WAVE", 12)
    monkeypatch.setattr(dual_rule, "FORESEEN", 3)


@pytest.fixture
def cuts(monkeypatch, tmp_path):
    return Cuts(monkeypatch, tmp_path / "run.checkpoint")


def told(model, X):
    """All that came of a fit, and that another would go on with."""
    return fitted_bits(model), bits([model.decision_function(X), model._state])


def assert_same(cuts, X, y, weight=None, *, model=None, most=12, **given):
    """Killed after any of its writes, or after some again and again, it ends as if never."""
    given = {"max_epochs": 4, "random_state": 0, "record": True, **given}

    def run(checkpoint):
        if model is None:
            return rb.KernelPerceptron(**given, checkpoint=checkpoint).fit(X, y, weight)
        return model(checkpoint).fit(X, y, weight)

    uncut, n = told(run(None), X), 0
    for found in cuts.each(run, most):
        assert told(found, X) == uncut
        n += 1
    assert told(cuts.resumed(run, *[1 + n // 3] * 4), X) == uncut
    return n


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("keep", KEEPS)
def test_every_way(cuts, order, keep):
    classes = 3 if order in ("sampled", "random-mistake") else 2
    assert assert_same(cuts, *table(classes=classes), order=order, keep=keep, most=6) > 5


@pytest.mark.parametrize("order", ["cyclic", "shuffled", "worst-mistake"])
def test_every_moment(cuts, order):
    given = {"keep": "average", "max_epochs": 3, "order": order}
    assert assert_same(cuts, *table(45, 3), most=10**9, **given) > 10 - 6 * (
        order == "worst-mistake"
    )


@pytest.mark.parametrize("order", ["cyclic", "shuffled", "sampled", "blocks"])
def test_budget(cuts, order):
    X, y = table(classes=3)
    weight = np.random.default_rng(1).random(len(y))
    assert_same(cuts, X, y, weight, order=order, budget=7, max_epochs=2)


def test_dropped(cuts):
    X, y = table()
    assert_same(cuts, X, y, drop_after=2, max_epochs=9, most=8)
    assert_same(
        cuts, X, y, drop_after=3, max_epochs=9, order="worst-mistake", keep="pocket", most=8
    )
    assert_same(cuts, X, y, drop_after=2, max_epochs=9, budget=9, most=8)


def test_separated(cuts):
    X, y = table()
    for order in ("cyclic", "sampled", "random-mistake"):
        given = {"order": order, "gamma": 50.0, "max_epochs": 1000, "record": False}
        assert rb.KernelPerceptron(random_state=0, **given).fit(X, y).n_errors_ == 0
        assert_same(cuts, X, y, **given)


def test_cycle(cuts):
    X, y = rb.datasets.xor()
    given = {"kernel": "linear", "max_epochs": 1000}
    model = rb.KernelPerceptron(**given).fit(X, y)
    assert model.stop_reason_ is rb.StopReason.CYCLE
    assert_same(cuts, X, y, most=50, **given)


def test_tolerance(cuts):
    assert_same(cuts, *table(), tol=1e-3, keep="average")


@pytest.mark.parametrize(
    "given",
    [
        {"kernel": "poly", "degree": 2, "fit_intercept": True},
        {"kernel": "linear"},
        {"kernel": rb.kernels.RBF(0.3), "fit_intercept": True},
        {"kernel": lambda x, y: float(x @ y) ** 3},
        {"kernel": rb.kernels.Gaussian(0.7)},
    ],
)
def test_kernels(cuts, given):
    assert_same(cuts, *table(), keep="average", most=5, **given)


def test_precomputed(cuts):
    X, y = table()
    K = rb.kernels.RBF(1.0)(X, X)
    assert_same(cuts, K, y, kernel="precomputed", keep="vote")
    assert_same(cuts, K, y, kernel="precomputed", budget=5)


def test_sparse_rows_and_weights(cuts):
    X, y = table(classes=3)
    X[np.abs(X) < 0.5] = 0.0
    weight = np.random.default_rng(2).random(len(y))
    assert_same(cuts, csr_array(X), y, weight, class_weight="balanced", keep="average", most=8)
    assert_same(cuts, csr_array(X), y, budget=9, most=8)


def test_gram_matrix(cuts, monkeypatch):
    # After a few epochs all values are computed once, in the place of blocks.
    used = []
    everything = values.Values.everything
    monkeypatch.setattr(
        values.Values, "everything", lambda *args: used.append(1) or everything(*args)
    )
    monkeypatch.setattr(dual_rule, "BLOCK_WORTH", 0)
    assert_same(cuts, *table(), max_epochs=30, keep="average", most=15)
    assert used


@pytest.mark.parametrize("room", [0, 1 << 20])
def test_double_precision_half_way(cuts, monkeypatch, room):
    # Where single precision leaves too much in doubt, everything is scored anew in double.
    changed = []
    change = values.Values.change_precision
    monkeypatch.setattr(
        values.Values, "change_precision", lambda *args: changed.append(1) or change(*args)
    )
    monkeypatch.setattr(dual_rule, "FEW", 3)
    monkeypatch.setattr(values, "ROOM", room)
    X, y = table(60, 3)
    X = X + 1e6
    for keep in ("last", "average"):
        given = {"kernel": "linear", "keep": keep, "record": False, "max_epochs": 3}
        assert_same(cuts, X, y, most=40, **given)
        rb.KernelPerceptron(**given).fit(X, y)
        assert changed


def test_warm_start(cuts):
    X, y = table(classes=3)
    same = {"gamma": 1.0, "warm_start": True, "random_state": 0}
    first = rb.KernelPerceptron(max_epochs=2, **same).fit(X[:40], y[:40])
    for given in ({}, {"budget": 6}, {"keep": "vote"}, {"keep": "pocket"}):

        def begun(checkpoint, given=given):
            model = rb.KernelPerceptron(max_epochs=3, **same, **given)
            model.__dict__ |= {k: v for k, v in vars(first).items() if k not in model.__dict__}
            return model.set_params(checkpoint=checkpoint)

        assert_same(cuts, X, y, model=begun, most=8)
    cuts.left = -1
    with pytest.raises(CheckpointError, match="was written with keep='pocket', not 'last'"):
        begun(cuts.checkpoint(), {}).fit(X, y)
    with pytest.raises(CheckpointError, match="was written with start="):
        rb.KernelPerceptron(keep="pocket", checkpoint=cuts.checkpoint(), **same).fit(X, y)


def test_more_epochs_later(tmp_path):
    X, y = table()
    path = tmp_path / "run.checkpoint"
    given = {"order": "shuffled", "keep": "vote", "random_state": 3}
    whole = rb.KernelPerceptron(**given, max_epochs=9).fit(X, y)
    for epochs in (2, 5, 5, 9):
        checkpoint = rb.Checkpoint(path, resume=True)
        model = rb.KernelPerceptron(**given, max_epochs=epochs, checkpoint=checkpoint).fit(X, y)
        assert model.n_iter_ == epochs
    assert told(model, X) == told(whole, X)


def test_interrupted_anywhere(tmp_path, monkeypatch):
    """Ctrl-C, or the end of time, leaves a state wherever the run looks up."""
    X, y = table()
    given = {"order": "shuffled", "keep": "average", "random_state": 3, "max_epochs": 6}
    monkeypatch.setattr(dual_rule, "BLOCK_WORTH", 1 << 9)  # the Gram matrix is soon worth it
    whole = told(rb.KernelPerceptron(**given).fit(X, y), X)
    path = tmp_path / "run.checkpoint"
    for after in range(0, 60, 3):
        calls = iter(range(10**9))
        look_up = Run.look_up

        def late(run, calls=calls, after=after, look_up=look_up):
            if next(calls) == after:
                run.cancel.ask()
            look_up(run)

        path.unlink(missing_ok=True)
        with monkeypatch.context() as patch:
            patch.setattr(Run, "look_up", late)
            cut = rb.KernelPerceptron(**given, checkpoint=path).fit(X, y)
        ended = cut.stop_reason_ is rb.StopReason.INTERRUPTED
        assert ended or cut.n_iter_ == 6
        again = rb.KernelPerceptron(**given, checkpoint=rb.Checkpoint(path, resume=True))
        assert told(again.fit(X, y), X) == whole


def test_of_something_else(tmp_path):
    X, y = table()
    path = str(tmp_path / "run.checkpoint")

    def first(x, y):
        return float(x @ y)

    def second(x, y):
        return float(x @ y)

    rb.KernelPerceptron(kernel=first, max_epochs=2, checkpoint=path).fit(X, y)
    with pytest.raises(CheckpointError, match=re.escape(f"checkpoint {path} exists: give resume")):
        rb.KernelPerceptron(kernel=first, checkpoint=path).fit(X, y)
    resume = rb.Checkpoint(path, resume=True)
    for given, X_, what in (
        ({"kernel": second}, X, "was written with kernel="),
        ({"kernel": "linear"}, X, "was written with kernel="),
        ({"kernel": first, "keep": "vote"}, X, "was written with keep='last', not 'vote'"),
        ({"kernel": first, "budget": 3}, X, "was written with budget=None, not 3"),
        ({"kernel": first, "random_state": 1}, X, "was written with another random_state"),
        ({"kernel": first}, -X, "is of other data"),
    ):
        model = rb.KernelPerceptron(checkpoint=resume, **given)
        with pytest.raises(CheckpointError, match=re.escape(what)):
            model.fit(X_, y)
        assert not hasattr(model, "fits_")
    with pytest.raises(CheckpointError, match="is of a run of KernelPerceptron, not Perceptron"):
        rb.Perceptron(checkpoint=resume).fit(X, y)


def spoilt(value, names):
    """The state with something in it that makes no sense."""
    for name in names[:-1]:
        value = value[name]
    old = value[names[-1]]
    value[names[-1]] = old + 10**6 if isinstance(old, np.ndarray) and old.dtype == np.int64 else 7


@pytest.mark.parametrize(
    "names",
    [
        ("rule", "sums"),
        ("rule", "kind"),
        ("rule", "expansion", "sample"),
        ("rule", "expansion", "slot"),
        ("rule", "expansion", "coef"),
        ("rule", "epoch", "slots"),
        ("rule", "epoch", "contained"),
        ("rule", "before", 0),
        ("rule", "before", 1),
        ("problems", 0, "path"),
    ],
)
def test_nonsense(tmp_path, names, monkeypatch):
    # Whoever writes a file that proves itself whole can still write nonsense into it.
    X, y = table()
    path = tmp_path / "run.checkpoint"
    given = {"max_epochs": 6, **({"budget": 5} if "before" in names else {})}
    write = rb.running.checkpoints.Keeper.write
    states, moment = [], 30 if "before" in names else 5

    def spoiling(keeper, state, **how):
        states.append(state["phase"])
        if states.count("within") == moment:
            spoilt(state, names)
            write(keeper, state, **how)
            raise KeyboardInterrupt
        if states.count("within") < moment:
            write(keeper, state, **how)

    with monkeypatch.context() as patch:
        patch.setattr(rb.running.checkpoints.Keeper, "write", spoiling)
        rb.KernelPerceptron(checkpoint=rb.Checkpoint(path, every=0), **given).fit(X, y)
    with pytest.raises(CheckpointError, match="is damaged"):
        rb.KernelPerceptron(checkpoint=rb.Checkpoint(path, resume=True), **given).fit(X, y)


def test_not_on_a_device(tmp_path):
    X, y = table()
    xp = pytest.importorskip("array_api_strict")
    path = tmp_path / "run.checkpoint"
    with pytest.raises(ValueError, match=r"^checkpoint needs data in memory: give NumPy arrays$"):
        rb.KernelPerceptron(checkpoint=path).fit(xp.asarray(X), y)
    assert not path.exists()
