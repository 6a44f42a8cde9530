"""Mistakes by epoch."""

import csv
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from pictures import find, fit, quietly, words

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.usefixtures("settings_stay")


class TestEpochs:
    def test_mistakes_and_the_reason(self, dunkers, ax):
        model = fit(dunkers)
        assert rb.plot.epochs(model, ax=ax) is ax
        number, mistakes = find(ax, "mistakes 0").get_data()
        assert np.array_equal(number, 1 + np.arange(model.n_iter_))
        assert np.array_equal(mistakes, model.trace_.mistakes)
        assert f"separated after {model.n_iter_} epochs" in words(ax)

    def test_pocket_beside(self, noisy):
        model = fit(noisy, keep="pocket", max_epochs=20)
        pocket = find(rb.plot.epochs(model), "pocket 0")
        assert np.array_equal(pocket.get_ydata(), model.trace_.pocket_errors)

    def test_axis_holds_mistakes_and_pocket(self):
        with (EXAMPLES / "banknotes.csv").open(newline="") as file:
            _, *rows = csv.reader(file)
        X, y = np.array([row[:-1] for row in rows], dtype=float), np.array([r[-1] for r in rows])
        model = quietly(rb.Perceptron(keep="pocket", max_epochs=20), X, y)
        assert model.trace_.pocket_errors[0] > model.trace_.mistakes.max()
        low, high = rb.plot.epochs(model).get_ylim()
        assert low < 0
        assert high > model.trace_.pocket_errors[0]

    def test_loss_of_adaline(self, dunkers):
        X = (dunkers.X - dunkers.X.mean(axis=0)) / dunkers.X.std(axis=0)
        model = quietly(rb.Adaline(max_epochs=30, tol=None), X, dunkers.y)
        ax = rb.plot.epochs(model)
        right = next(other for other in ax.figure.axes if other is not ax)
        assert np.array_equal(find(right, "loss 0").get_ydata(), model.trace_.loss)

    def test_a_line_for_each_class(self, trees):
        model = trees[2]
        ax = rb.plot.epochs(model)
        for k, trace in enumerate(model.trace_):
            assert np.array_equal(find(ax, f"mistakes {k}").get_ydata(), trace.mistakes)
        assert {"ash", "birch", "cedar"} <= set(words(ax))

    def test_long_runs_keep_mean_and_range(self, noisy):
        model = fit(noisy, max_epochs=1000, order="shuffled", random_state=0)
        ax = rb.plot.epochs(model)
        assert ax.get_xscale() == "log"
        number, mean = find(ax, "mistakes 0").get_data()
        assert len(number) < 200
        assert mean[0] == model.trace_.mistakes[0]
        assert "least to greatest of neighbouring epochs" in words(ax)
        assert "mistakes in the epoch, mean of neighbours" in words(ax)
        ax.figure.canvas.draw()
        ticks = [label.get_text() for label in ax.get_xticklabels()]
        assert {"100", "1000", "10,000"} <= set(ticks)
        assert mean.min() >= model.trace_.mistakes.min()

    def test_refuses(self):
        with pytest.raises(ValueError, match="Perceptron has no trace of its epochs"):
            rb.plot.epochs(rb.Perceptron())


def test_pictures_of_runs_say_that_there_was_none(players, hard):
    with pytest.raises(ValueError, match="MaxMarginClassifier has no trace of its epochs"):
        rb.plot.epochs(hard)
    with pytest.raises(ValueError, match="MaxMarginClassifier has no record of its updates"):
        rb.plot.updates(hard, *players)
