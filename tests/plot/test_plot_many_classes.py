"""Pictures of very many classes: few names, few rows, nothing over anything."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from pictures import find, words

K = 40


@pytest.fixture(scope="module")
def many():
    """Forty classes in three features, the last of which are the hardest."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(K), 4)
    X = rng.normal(size=(K, 3))[y] * 9 + rng.normal(size=(len(y), 3)) * (y[:, None] / 20)
    with pytest.warns(ConvergenceWarning):
        return X, y, rb.Perceptron(max_epochs=3).fit(X, y)


def test_rows_of_the_worst_classes(many):
    X, y, model = many
    ax = rb.plot.decision(model, X, y)
    values = model.decision_function(X)
    wrong = ((np.where(y[:, None] == np.arange(K), 1, -1) * values) <= 0).sum(axis=0)
    shown = [int(tick.get_text()) for tick in ax.get_yticklabels()]
    assert shown == sorted(np.argsort(-wrong, kind="stable")[:26].tolist())
    assert "14 classes with fewer not drawn" in words(ax)
    assert len(ax.get_yticks()) == 26


def test_lines_of_the_worst_classes(many):
    *_, model = many
    ax = rb.plot.epochs(model)
    last = np.array([fit.trace.mistakes[-1] for fit in model.fits_])
    worst = np.sort(np.argsort(-last, kind="stable")[:8])
    assert words(ax)[:9] == [*map(str, worst), "32 classes with fewer at last"]
    assert len([line for line in ax.lines if line.get_gid() == "behind"]) == 32
    for k in worst:
        assert find(ax, f"mistakes {k}").get_ydata().tolist() == list(model.fits_[k].trace.mistakes)


def test_a_plane_without_names(many):
    X, y, _ = many
    model = rb.SoftMarginClassifier(C=1e-9).fit(X[:, :2], y)
    ax = rb.plot.decision(model, X[:, :2], y)
    assert "40 classes, too many to name" in words(ax)
    assert sum("no line" in text for text in words(ax)) <= 1
