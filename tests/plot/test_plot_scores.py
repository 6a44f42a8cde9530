"""The picture of scores: a dot for every fold, the same folds for all."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import rosenblatt as rb
from pictures import find, found, offsets, words

FOLDS = {"low": [0.6, 0.62, 0.61], "high": [0.9, 0.9, 0.8], "near": [0.88, 0.8, 0.86]}


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_every_fold_is_a_dot_the_best_above():
    ax = rb.plot.scores(FOLDS, baseline=0.5, alike=["near"], chosen="near")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["high", "near", "low"]
    for row, name in enumerate(["high", "near", "low"]):
        assert offsets(find(ax, f"folds {row}"))[:, 0] == pytest.approx(100 * np.array(FOLDS[name]))
        mean = find(ax, f"mean {row}").get_xdata()
        assert mean == pytest.approx([100 * np.mean(FOLDS[name])] * 2)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first is above
    assert find(ax, "baseline").get_xdata()[0] == pytest.approx(50)
    assert [tick.get_fontweight() for tick in ax.get_yticklabels()] == ["normal", "bold", "normal"]
    said = words(ax)
    assert any("not to be told" in text for text in said)
    assert any("always the same answer: 50.0%" in text for text in said)


def test_dots_of_equal_scores_do_not_hide_each_other():
    ax = rb.plot.scores({"one": [1.0] * 15, "other": [0.5, 1.0] * 5})
    at = offsets(find(ax, "folds 0"))
    assert len(np.unique(at[:, 1])) == 15
    assert np.abs(at[:, 1]).max() <= 0.25
    assert ax.get_xlim()[1] < 104


def test_a_baseline_far_away_is_only_told():
    ax = rb.plot.scores({"one": [0.98, 0.99], "other": [0.97, 0.98]}, baseline=0.5)
    assert not found(ax, "baseline")
    assert any("50.0%, beyond the edge" in text for text in words(ax))
    assert ax.get_xlim()[0] > 90


def test_names_are_text_only():
    ax = rb.plot.scores({"$x$" * 30: [0.5], "<b>": [0.6]}, baseline=0.1, baseline_name="$\\frac$")
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert labels[0] == "<b>"
    assert labels[1].startswith("\\$x\\$")
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("folds", "why"),
    [({}, "folds is empty"), ({"a": [2.0]}, "are not shares"), ({"a": []}, "are not shares")],
)
def test_what_cannot_be_drawn(folds, why):
    with pytest.raises(ValueError, match=why):
        rb.plot.scores(folds)
