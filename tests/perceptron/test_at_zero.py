"""The side of points on the hyperplane, in training too: ``y != sgn(w·x + b)`` is a mistake.

That every form of the rule makes the mistakes of the naive loop is in test_perceptron_reference.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import reference
import rosenblatt as rb
from commands import call
from reference import assert_same_run, augment, kept, orders, sequence
from rosenblatt.results import StopReason

SIDES = (-1, 1)
sides = pytest.mark.parametrize("side", SIDES)


def lattice(side, n=1500, seed=0):
    """Whole numbers, some of them on the hyperplane that divides them, on the given side."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (n, 3)).astype(float)
    values = X @ [2.0, -3.0, 1.0] + 1.0
    assert np.mean(values == 0) > 0.03
    return X, np.where(values == 0, side, np.sign(values)).astype(int)


def test_the_rule_of_the_text_by_hand():
    """y ≠ sgn(θ·x) with sgn(0) = -1: AND, from zero, in the order of its table."""
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, -1, -1, 1])
    model = rb.Perceptron(at_zero=-1, record=True).fit(X, y)
    updates = model.trace_.updates
    # Of zero the only mistake is the last row; then (1, 1; 1) is wrong on all the others.
    assert updates.sample[:4].tolist() == [3, 0, 1, 3]
    assert updates.value[:4].tolist() == [0.0, 1.0, 1.0, 0.0]
    assert model.n_errors_ == 0
    on = model.decision_function(X) == 0
    assert on.any()
    assert model.stop_reason_ is StopReason.NO_MISTAKES
    assert model.certificate_ is None
    strict = rb.Perceptron().fit(X, y)
    assert strict.stop_reason_ is StopReason.SEPARATED
    assert not (strict.decision_function(X) == 0).any()


@sides
def test_points_on_the_hyperplane_are_predicted_on_the_side(side):
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array(["minus", "plus", "plus"])
    y[1] = "plus" if side == 1 else "minus"
    model = rb.Perceptron(at_zero=side, init=[1, 0]).fit(X, y)
    assert model.n_mistakes_ == 0
    assert model.stop_reason_ is StopReason.NO_MISTAKES
    assert model.predict(X).tolist() == y.tolist()
    assert model.n_errors_ == 0
    other = rb.Perceptron(at_zero=-side, init=[1, 0]).fit(X, y)
    assert other.n_mistakes_ > 0


@sides
def test_separated_where_it_is_strict(side):
    X, y = rb.datasets.eight_points()
    model = rb.Perceptron(at_zero=side).fit(X, y)
    assert model.stop_reason_ is StopReason.SEPARATED
    assert model.fits_[0].hyperplane.margin(X, y) > 0


@pytest.mark.parametrize(
    ("row", "label", "reason"),
    [([2e17, 0.0], 1, StopReason.ROUNDING), ([0.0, 0.0], 0, StopReason.SEPARATED)],
)
def test_zeros_that_rounding_made(row, label, reason):
    """Of (1e17, 1) floats make 1e17 + 1 - 1e17 = 0: on the hyperplane, but in truth above it."""
    X, y = np.array([row, [1e17, 1.0]]), np.array([label, 1 - label])
    side = 1 if y[1] else -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = rb.Perceptron(at_zero=side, init=[1.0, 1.0, -1e17]).fit(X, y)
    assert model.n_mistakes_ == 0
    assert model.stop_reason_ is reason
    assert model.n_errors_ == (reason is StopReason.ROUNDING)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("order", ["cyclic", "shuffled", "sampled", "worst-mistake"])
@sides
def test_rows_that_are_skipped_or_come_in_blocks(side, order, watching, in_blocks):
    X, y = lattice(side)
    how = {"order": order, "at_zero": side, "max_epochs": 40, "record": True, "random_state": 1}
    watching(False)
    plain = rb.Perceptron(**how).fit(X, y)
    watching(True)
    eager = rb.Perceptron(**how).fit(sparse.csr_array(X), y)
    in_blocks(333)
    parts = rb.Perceptron(**how).fit(X, y)
    for model in (eager, parts):
        np.testing.assert_array_equal(sequence(model), sequence(plain))
        np.testing.assert_array_equal(kept(model), kept(plain))
        assert model.stop_reason_ is plain.stop_reason_
    if order == "cyclic":
        epochs = orders("cyclic", len(y), 40)
        path = reference.online(augment(X), y, epochs, np.zeros(4), at_zero=side)
        assert_same_run(plain, path)
        assert path.finished
        usual = rb.Perceptron(**how | {"at_zero": None}).fit(X, y)
        assert sequence(usual).tolist() != sequence(plain).tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("keep", ["last", "pocket", "auto"])
@sides
def test_several_classes(side, keep):
    X, _ = lattice(side, 120)
    label = (np.sign(X[:, 0]) + 1).astype(int)
    model = rb.Perceptron(at_zero=side, keep=keep, max_epochs=50).fit(X, label)
    for k in range(3):
        alone = rb.Perceptron(at_zero=side, keep=keep, max_epochs=50).fit(X, label == k)
        np.testing.assert_array_equal(kept(model, k), kept(alone))
        assert model.stop_reason_[k] is alone.stop_reason_
    assert model.n_errors_ == (model.predict(X) != label).sum()


@sides
def test_the_bound_holds(side):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.integers(-2, 3, (12, 2)).astype(float)
        values = X @ rng.integers(-2, 3, 2) + 0.5
        y = np.where(values > 0, 1, -1)
        if len(set(y)) < 2:
            continue
        model = rb.Perceptron(at_zero=side, record=True).fit(X, y)
        report = model.bound_report(X, y)
        assert model.n_mistakes_ <= report.bound.most
        assert report.bound.most == rb.mistake_bound(X, y).most


def test_a_cycle():
    X, y = rb.datasets.xor()
    with pytest.warns(ConvergenceWarning, match="come back every"):
        model = rb.Perceptron(at_zero=1).fit(X, y)
    report = model.cycle_report(X, y)
    ends = [(plane.predict(X, at_zero=1) != y).sum() for plane in report.hyperplanes]
    assert report.errors.tolist() == ends
    assert report.best_errors == (report.best.predict(X, at_zero=1) != y).sum()


# ---------------------------------------------------------------------------- stuck at zero


@sides
def test_stuck_at_zero(side):
    X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, -1])
    weight = (y == side).astype(float)  # only samples that zero predicts take part
    with pytest.warns(ConvergenceWarning, match=f"still zero, which at_zero={side} takes"):
        model = rb.Perceptron(at_zero=side).fit(X, y, weight)
    assert model.stop_reason_ is StopReason.NO_MISTAKES
    assert not kept(model).any()
    rb.Perceptron().fit(X, y, weight)  # on the hyperplane is a mistake: it moves
    parts = rb.Perceptron(at_zero=side)
    parts.partial_fit(X[y == side], y[y == side], classes=[-1, 1])
    assert not kept(parts).any()
    parts.partial_fit(X, y)
    assert kept(parts).any()


# ------------------------------------------------------------------------- around the estimator


@pytest.mark.parametrize("side", [0, 2, "1", True, np.nan])
def test_what_is_no_side(side):
    with pytest.raises(ValueError, match=r"^at_zero=.* is not allowed: give -1 or 1"):
        rb.Perceptron(at_zero=side).fit([[0.0], [1.0]], [0, 1])


def test_saved_and_loaded(tmp_path):
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([0, 1, 1])
    model = rb.Perceptron(at_zero=1, init=[1, 0]).fit(X, y)
    rb.io.save(model, tmp_path / "model.skops")
    loaded = rb.io.load(tmp_path / "model.skops")
    assert loaded.at_zero == 1
    assert loaded.predict(X).tolist() == y.tolist()
    assert clone(loaded).at_zero == 1


def test_of_the_command(tmp_path):
    table = tmp_path / "and.csv"
    table.write_text("a,b,and\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n")
    how = ("--raw", "--order", "cyclic")
    model = tmp_path / "and.skops"
    told = call("fit", table, *how, "--at-zero", "-1", "--cv", "0", "-o", model).stdout
    assert "NO_MISTAKES" in told
    assert "no training errors left" in told
    assert call("predict", model, table).stdout.split()[1:] == ["no,-2", "no,-1", "no,0", "yes,1"]
    assert "NO_MISTAKES" in call("bound", table, *how, "--at-zero", "+1").stdout
    refused = call("fit", table, "--at-zero", "0", code=2).stderr
    assert "--at-zero 0 is no side: give -1 or +1" in refused


def test_not_where_all_classes_are_one_problem():
    with pytest.raises(ValueError, match="leave it out with multiclass='joint'"):
        rb.Perceptron(at_zero=1, multiclass="joint").fit([[0.0], [1.0], [2.0]], [0, 1, 2])
