"""The pictures: every line, arrow, ring and number in them is where the mathematics puts it."""

import contextlib
import csv
import logging
import os
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from pictures import ends, find, found, offsets, words
from rosenblatt.plot import lettering as _style
from rosenblatt.plot import plane as _points
from rosenblatt.plot.saving import chosen_frames as chosen

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
pytestmark = pytest.mark.usefixtures("settings_stay")


@pytest.fixture
def ax():
    return plt.subplots()[1]


def quietly(model, X, y):
    """The fitted model, whether or not errors are left."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def fit(data, **options):
    return quietly(rb.Perceptron(**options), data.X, data.y)


def plane_of(model):
    return model.fits_[0].hyperplane


def has(ax, gid):
    return bool(found(ax, gid))


@pytest.fixture(scope="module")
def dunkers():
    return rb.datasets.dunkers(random_state=0)


@pytest.fixture(scope="module")
def noisy(dunkers):
    return rb.datasets.flip_labels(dunkers, 0.08, random_state=1)


@pytest.fixture(scope="module")
def run():
    """A recorded run of eight updates."""
    data = rb.datasets.known_margin(40, margin=0.08, rotate=True, random_state=4)
    return data, fit(data, record=True)


@pytest.fixture(scope="module")
def trees():
    rng = np.random.default_rng(0)
    names = np.array(["ash", "birch", "cedar"])
    k = rng.integers(3, size=60)
    X = np.array([[0, 0], [5, 1], [2, 5]])[k] + 0.9 * rng.standard_normal((60, 2))
    return X, names[k], quietly(rb.Perceptron(keep="average", max_epochs=20), X, names[k])


# decision ------------------------------------------------------------------------------------


class TestDecision:
    def test_line_is_the_hyperplane(self, dunkers):
        model = fit(dunkers)
        line = find(rb.plot.decision(model, *dunkers), "hyperplane")
        on_it = np.array([line.get_xy1(), line.get_xy2()])
        plane = plane_of(model)
        assert plane.distance(on_it) == pytest.approx([0, 0], abs=1e-9)
        assert on_it[0] != pytest.approx(on_it[1])

    def test_arrow_stands_on_it_at_a_right_angle(self, dunkers):
        model = fit(dunkers)
        ax = rb.plot.decision(model, *dunkers)
        foot, tip = ends(find(ax, "normal"))
        plane = plane_of(model)
        assert plane.distance(foot) == pytest.approx(0, abs=1e-9)
        assert plane.basis() @ (tip - foot) == pytest.approx(0, abs=1e-9)
        assert plane.w @ (tip - foot) > 0
        assert ax.get_aspect() == 1.0

    def test_band_is_as_wide_as_the_margin(self, dunkers):
        model = fit(dunkers)
        ax = rb.plot.decision(model, *dunkers)
        plane = plane_of(model)
        margin = plane.margin(*dunkers)
        values = plane.decision_function(find(ax, "band").get_xy()) / plane.norm
        assert values.min() == pytest.approx(-margin)
        assert values.max() == pytest.approx(margin)
        assert f"margin {margin:.3g}" in words(ax)

    def test_rings_are_the_wrong_ones(self, noisy):
        model = fit(noisy, keep="pocket", max_epochs=30)
        ax = rb.plot.decision(model, *noisy)
        wrong = noisy.X[model.predict(noisy.X) != noisy.y]
        assert len(wrong) == model.n_errors_ > 0
        assert np.array_equal(offsets(find(ax, "wrong")), wrong)
        assert f"wrong: {model.n_errors_} of 80" in words(ax)
        assert not has(ax, "band")

    def test_points_by_class(self, dunkers):
        ax = rb.plot.decision(dunkers.hyperplane, *dunkers, class_names=dunkers.target_names)
        for k, label in enumerate((-1, 1)):
            assert np.array_equal(offsets(find(ax, f"class {k}")), dunkers.X[dunkers.y == label])
        assert {"cannot dunk", "can dunk"} <= set(words(ax))
        colours = [tuple(find(ax, f"class {k}").get_facecolor()[0]) for k in range(2)]
        markers = [find(ax, f"class {k}").get_paths()[0].vertices.shape for k in range(2)]
        assert colours[0] != colours[1]
        assert markers[0] != markers[1]

    def test_halves_are_coloured_by_side(self, dunkers):
        ax = rb.plot.decision(dunkers.hyperplane, *dunkers)
        for k, sign in enumerate((-1, 1)):
            corners = find(ax, f"region {k}").get_xy()
            assert (sign * dunkers.hyperplane.decision_function(corners) >= -1e-9).all()

    def test_uses_and_returns_the_axes_given(self, dunkers, ax):
        before = plt.get_fignums()
        assert rb.plot.decision(dunkers.hyperplane, *dunkers, ax=ax) is ax
        assert plt.get_fignums() == before

    def test_sparse_and_string_labels_and_frames(self, dunkers):
        pandas = pytest.importorskip("pandas")
        names = np.where(dunkers.y > 0, "yes", "no")
        frame = pandas.DataFrame(dunkers.X, columns=["tall", "high"])
        model = rb.Perceptron().fit(frame, names)
        for X in (frame, dunkers.X, csr_matrix(dunkers.X)):
            ax = rb.plot.decision(model, X, names)
            assert ax.get_xlabel() == "tall"
            assert offsets(find(ax, "class 1")) == pytest.approx(dunkers.X[dunkers.y > 0])

    def test_names_with_dollars_and_line_breaks_are_taken_literally(self, dunkers):
        names = ["a $x_1$\nof b", "_hidden"]
        ax = rb.plot.decision(
            dunkers.hyperplane, *dunkers, feature_names=names, class_names=["_no", "$y"]
        )
        ax.figure.canvas.draw()
        assert ax.get_xlabel() == r"a \$x_1\$ of b"
        assert "_no" in words(ax)

    def test_no_normal_is_said(self, ax):
        for d in (2, 3):
            X, y = np.eye(d), np.array([1, -1, 1])[:d]
            drawn = rb.plot.decision(rb.Hyperplane(np.zeros(d), 1.0), X, y)
            text = drawn.texts[0].get_text() if d == 3 else " ".join(words(drawn))
            assert "w = 0" in text
            assert "+1" in text

    def test_line_outside_the_view_is_said(self, dunkers):
        ax = rb.plot.decision(rb.Hyperplane([1.0, 0.0], 1e6), *dunkers)
        assert "the hyperplane lies outside this view" in words(ax)
        assert not has(ax, "normal")

    def test_unequal_ranges_are_not_drawn_to_scale(self):
        X, y = np.random.default_rng(0).normal(size=(30, 2)) * [1, 1e7], np.repeat([1, -1], 15)
        ax = rb.plot.decision(rb.Hyperplane([1.0, 0.0]), X, y)
        assert ax.get_aspect() == "auto"
        assert "axes have different scales" in words(ax)
        assert not has(ax, "normal")
        assert r"\times" in ax.get_ylabel()

    @pytest.mark.parametrize("n", [0, 1])
    def test_hardly_any_samples(self, n):
        rb.plot.decision(rb.Hyperplane([1.0, 1.0]), np.zeros((n, 2)), np.ones(n))
        rb.plot.decision(rb.Hyperplane([1.0]), np.zeros((n, 1)), np.ones(n))

    def test_many_samples_are_drawn_in_part(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(100_000, 2))
        y = np.where(X @ [1, 2] > 0, 1, -1)
        y[:3] *= -1
        ax = rb.plot.decision(rb.Hyperplane([1.0, 2.0]), X, y)
        drawn = np.vstack([offsets(find(ax, f"class {k}")) for k in range(2)])
        assert len(drawn) <= _points.MOST + 10
        assert {tuple(x) for x in X[:3]} == {tuple(x) for x in offsets(find(ax, "wrong"))}
        assert f"{len(drawn)} of 100,000 points drawn" in words(ax)
        again = rb.plot.decision(rb.Hyperplane([1.0, 2.0]), X, y)
        assert np.array_equal(offsets(find(ax, "class 0")), offsets(find(again, "class 0")))


class TestSeveralClasses:
    def test_regions_are_where_each_class_wins(self, trees):
        X, y, model = trees
        ax = rb.plot.decision(model, X, y)
        total = 0.0
        for k in range(3):
            corners = find(ax, f"region {k}").get_xy()[:-1]
            assert (model.predict([corners.mean(axis=0)]) == model.classes_[k]).all()
            total += shoelace(corners)
        assert total == pytest.approx(np.diff(ax.get_xlim())[0] * np.diff(ax.get_ylim())[0])

    def test_lines_and_rings(self, trees):
        X, y, model = trees
        ax = rb.plot.decision(model, X, y)
        for k, result in enumerate(model.fits_):
            at = find(ax, f"hyperplane {k}").get_xy1()
            assert result.hyperplane.distance(at) == pytest.approx(0, abs=1e-9)
        assert np.array_equal(offsets(find(ax, "wrong")), X[model.predict(X) != y])

    def test_equal_classes_have_one_region(self, ax):
        model = quietly(rb.Perceptron(max_epochs=1), [[0, 0], [1, 0], [0, 1]], [0, 1, 2])
        model.coef_, model.intercept_ = np.zeros((3, 2)), np.zeros(3)
        drawn = rb.plot.decision(model, [[0.0, 0.0], [1.0, 1.0]], [0, 1], ax=ax)
        assert has(drawn, "region 0")
        assert not has(drawn, "region 1")

    def test_along_has_a_row_for_each(self):
        from sklearn.datasets import load_iris

        X, y = load_iris(return_X_y=True)
        model = quietly(rb.Perceptron(keep="average", max_epochs=20), X, y)
        ax = rb.plot.decision(model, X, y, class_names=["setosa", "versicolor", "virginica"])
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert names == ["setosa", "versicolor", "virginica"]
        margin = model.fits_[0].hyperplane.margin(X, np.where(y == 0, 1, -1))
        assert margin > 0
        assert f"margin {margin:.3g}" in [text.get_text() for text in ax.texts]


def shoelace(corners):
    x, y = corners.T
    return abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2


class TestAlong:
    @pytest.mark.parametrize("d", [1, 3, 30])
    def test_shares_add_up_and_stay_out_of_the_band(self, d):
        data = rb.datasets.known_margin(200, d, margin=0.1, random_state=0)
        ax = rb.plot.decision(data.hyperplane, *data)
        for k, sign in enumerate((-1, 1)):
            shares, edges, _ = find_all(ax, f"class {k}")[0].get_data()
            assert np.nansum(shares) == pytest.approx(1)
            middle = sign * (edges[:-1] + edges[1:])[~np.isnan(shares)] / 2
            assert (middle > 0.1).all()
        band = find(ax, "band")
        assert (band.get_x(), band.get_width()) == pytest.approx((-0.1, 0.2))

    def test_wrong_ones_are_ringed(self):
        data = rb.datasets.flip_labels(
            rb.datasets.known_margin(500, 5, random_state=0), 0.02, random_state=0
        )
        ax = rb.plot.decision(data.hyperplane, *data)
        where = offsets(find(ax, "wrong"))[:, 0]
        assert where == pytest.approx(data.hyperplane.decision_function(data.X[data.noisy]))

    def test_sparse(self):
        data = rb.datasets.known_margin(50, 4, random_state=0)
        dense, sparse = (
            rb.plot.decision(data.hyperplane, X, data.y) for X in (data.X, csr_matrix(data.X))
        )
        one, two = (find_all(ax, "class 0")[0].get_data()[0] for ax in (dense, sparse))
        assert np.array_equal(one, two, equal_nan=True)

    def test_long_tails_are_cut_and_counted(self):
        rng = np.random.default_rng(0)
        x = np.append(rng.normal(size=20_000), [-400.0, -300.0, 500.0])
        y = np.where(rng.random(x.size) < 0.5, -1, 1)
        ax = rb.plot.decision(rb.Hyperplane([1.0]), x[:, None], y)
        low, high = ax.get_xlim()
        assert -6 < low < -2
        assert 2 < high < 6
        shares, edges, _ = find_all(ax, "class 0")[0].get_data()
        assert np.isfinite(shares).sum() > 20
        outside = int(((x < edges[0]) | (x > edges[-1])).sum())
        assert 3 <= outside < 0.01 * 2 * x.size
        assert f"outside this picture: {outside} of 20,003" in words(ax)
        ax.figure.canvas.draw()
        assert ax.get_tightbbox().width < ax.figure.bbox.width

    def test_cut_holds_the_hyperplane_and_the_margin(self):
        x = np.append(np.linspace(100, 101, 5000), [-90.0, -9000.0])
        y = np.append(np.ones(5000), [-1, -1])
        ax = rb.plot.decision(rb.Hyperplane([1.0]), x[:, None], y)
        assert ax.get_xlim()[0] < -90
        assert ax.get_xlim()[1] > 101

    def test_ordinary_tails_are_all_there(self):
        x = np.random.default_rng(0).normal(size=100_000)
        ax = rb.plot.decision(rb.Hyperplane([1.0]), x[:, None], np.where(x > 0.1, 1, -1))
        assert not any("outside" in text for text in words(ax))
        total = sum(np.nansum(find_all(ax, f"class {k}")[0].get_data()[0]) for k in range(2))
        assert total == pytest.approx(2)

    def test_rows_say_how_many_lie_outside(self, trees):
        X, y, _ = trees
        rng = np.random.default_rng(0)
        X, y = np.repeat(X, 200, axis=0) + rng.normal(size=(12_000, 2)), np.repeat(y, 200)
        X = np.column_stack([X, np.zeros(12_000)])
        X[0] = 1e4
        model = quietly(rb.Perceptron(max_epochs=2), X[1:], y[1:])
        ax = rb.plot.decision(model, X, y)
        assert np.ptp(ax.get_xlim()) < 100
        written = " ".join(text.get_text() for text in ax.texts)
        assert written.count("outside this picture") == 3
        assert "of 12,000" in " ".join(words(ax))


def find_all(ax, gid):
    return ax.findobj(lambda a: a.get_gid() == gid)


@pytest.mark.parametrize(
    ("model", "X", "y", "says"),
    [
        (rb.Perceptron(), [[1.0]], [1], "Perceptron is not fitted: give a fitted linear"),
        (object(), [[1.0]], [1], "object has no coef_, intercept_ and classes_"),
        (rb.Hyperplane([1.0]), [1.0], [1], r"X has shape \(1,\): give a table"),
        (rb.Hyperplane([1.0]), [["a"]], [1], "X holds text: give numbers"),
        (rb.Hyperplane([1.0]), [[np.nan]], [1], "X holds values that are not finite"),
        (rb.Hyperplane([1.0]), [[1.0]], [1, 1], "y has 2 samples but X has 1 rows"),
        (rb.Hyperplane([1.0]), [[1.0]], [[1]], r"y has shape \(1, 1\)"),
        (rb.Hyperplane([1.0]), [[1.0, 2.0]], [1], "X has 2 features but the model has 1"),
        (rb.Hyperplane([1.0]), [[1.0]], [2], "y holds 2, which is not a class of the model"),
    ],
)
def test_refuses(model, X, y, says):
    with pytest.raises(ValueError, match=says) as error:
        rb.plot.decision(model, X, y)
    assert "\n" not in str(error.value)
    assert not plt.get_fignums()


def test_refuses_wrong_numbers_of_names(dunkers):
    with pytest.raises(ValueError, match="feature_names has 1 names for 2 features"):
        rb.plot.decision(dunkers.hyperplane, *dunkers, feature_names=["a"])
    with pytest.raises(ValueError, match="class_names has 3 names for 2 classes"):
        rb.plot.decision(dunkers.hyperplane, *dunkers, class_names="abc")


# updates -------------------------------------------------------------------------------------


class TestUpdates:
    def test_old_plus_step_is_new(self, run):
        data, model = run
        updates = model.trace_.updates
        axes = rb.plot.updates(model, *data, first=4)
        assert len(axes) == 4
        for t, ax in enumerate(axes):
            old, new = (updates.hyperplane(k, data.X) for k in (t, t + 1))
            step, after = ends(find(ax, "step")), ends(find(ax, "new w"))
            assert step == pytest.approx(np.array([old.w, new.w]))
            assert after == pytest.approx(np.array([[0, 0], new.w]))
            i = updates.sample[t]
            assert step[1] - step[0] == pytest.approx(data.y[i] * data.X[i])
            assert np.array_equal(offsets(find(ax, "mistakes")), data.X[[i]])
            line = find(ax, "new line")
            assert new.distance([line.get_xy1(), line.get_xy2()]) == pytest.approx([0, 0], abs=1e-9)
            if t:
                assert ends(find(ax, "old w")) == pytest.approx(np.array([[0, 0], old.w]))
                assert old.distance(find(ax, "old line").get_xy1()) == pytest.approx(0, abs=1e-9)
            assert ax.get_title().startswith(f"update {t + 1}, epoch {updates.epoch[t]}\n")
        assert not has(axes[0], "old w")
        assert not has(axes[0], "old line")

    def test_draws_as_many_as_there_are(self):
        data = rb.datasets.eight_points()
        assert len(rb.plot.updates(fit(data, record=True), *data)) == 1

    def test_names_of_the_features(self, run):
        pandas = pytest.importorskip("pandas")
        data, model = run
        axes = rb.plot.updates(model, *data, feature_names=["tall", "high"])
        assert {ax.get_xlabel() for ax in axes} == {"tall"}
        assert axes[0].get_ylabel() == "high"
        film = rb.plot.animate(model, *data, feature_names=["tall", "high"])
        assert film._fig.axes[0].get_ylabel() == "high"
        film._draw_was_started = True
        named = rb.Perceptron(record=True)
        named.fit(pandas.DataFrame(data.X, columns=["a", "b"]), data.y)
        assert rb.plot.updates(named, *data)[0].get_xlabel() == "a"
        with pytest.raises(ValueError, match="feature_names has 1 names for 2 features"):
            rb.plot.updates(model, *data, feature_names=["tall"])
        with pytest.raises(ValueError, match="feature_names has 1 names for 2 features"):
            rb.plot.animate(model, *data, feature_names=["tall"])

    def test_vectors_and_their_names_can_be_told_apart(self, dunkers):
        model = fit(dunkers, record=True)
        for ax in rb.plot.updates(model, *dunkers):
            points = find_all(ax, "class 0")[0]
            names = {text.get_text(): text for text in ax.texts}
            arrows = [find(ax, gid) for gid in ("step", "old w", "new w") if has(ax, gid)]
            for arrow in arrows:
                assert arrow.get_zorder() > points.get_zorder()
                assert arrow.get_path_effects()
            step, new = find(ax, "step"), find(ax, "new w")
            assert step.get_linewidth() > new.get_linewidth() + 2
            assert step.get_zorder() < new.get_zorder()
            ax.figure.canvas.draw()
            boxes = [text.get_window_extent() for text in names.values()]
            for k, box in enumerate(boxes):
                assert not any(box.overlaps(other) for other in boxes[:k])

    def test_axes_given(self, run):
        data, model = run
        _, axes = plt.subplots(1, 3)
        before = plt.get_fignums()
        drawn = rb.plot.updates(model, *data, axes=axes)
        assert list(drawn) == list(axes)
        assert plt.get_fignums() == before

    def test_batch_adds_the_sum(self, run):
        data, _ = run
        model = fit(data, record=True, update="batch", eta0=0.01)
        updates = model.trace_.updates
        ax = rb.plot.updates(model, *data, first=1)[0]
        mistakes = updates.sample[updates.update == 0]
        assert np.array_equal(offsets(find(ax, "mistakes")), data.X[mistakes])
        start, end = ends(find(ax, "step"))
        total = 0.01 * (data.y[mistakes] @ data.X[mistakes])
        assert (end - start) / np.hypot(*(end - start)) == pytest.approx(total / np.hypot(*total))
        assert "vectors drawn × 5" in ax.get_title()
        assert end - start == pytest.approx(5 * total)

    def test_far_from_the_origin(self, run):
        data, _ = run
        X = csr_matrix(data.X + np.array([300, 200]))
        model = quietly(rb.Perceptron(record=True, max_epochs=3), X, data.y)
        ax = rb.plot.updates(model, X, data.y, first=1)[0]
        assert "not at the origin" in ax.get_title()
        assert ax.get_xlim()[0] > 290

    def test_refuses(self, run, trees):
        data, model = run
        with pytest.raises(ValueError, match="no record of its updates: fit with record=True"):
            rb.plot.updates(fit(data), *data)
        adaline = quietly(rb.Adaline(max_epochs=5, tol=None), *data)
        with pytest.raises(ValueError, match=r"use rb.Perceptron\(record=True\)"):
            rb.plot.updates(adaline, *data)
        cube = rb.datasets.known_margin(20, 3, random_state=0)
        with pytest.raises(ValueError, match="the model has 3 features: only runs with two"):
            rb.plot.updates(fit(cube, record=True), *cube)
        X, y, several = trees
        with pytest.raises(ValueError, match="the model has 3 classes: only runs with two"):
            rb.plot.updates(several, X, y)
        with pytest.raises(ValueError, match="first=0 is not allowed"):
            rb.plot.updates(model, *data, first=0)
        with pytest.raises(ValueError, match="X, y are not what this run was recorded with"):
            rb.plot.updates(model, data.X[::-1], data.y[::-1])
        with pytest.raises(ValueError, match="X, y are not what this run was recorded with"):
            rb.plot.updates(model, data.X[:2], data.y[:2])
        done = fit(data, record=True, init=np.append(data.hyperplane.w, 0.0))
        with pytest.raises(ValueError, match="made no updates"):
            rb.plot.updates(done, *data)


# epochs --------------------------------------------------------------------------------------


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
        with (GALLERY.parents[1] / "examples" / "banknotes.csv").open(newline="") as file:
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


# lessons -------------------------------------------------------------------------------------


class TestFan:
    def test_margins_are_those_of_the_fits(self, ax):
        data = rb.datasets.eight_points()
        models = {
            "a": rb.Perceptron(),
            "b": rb.Perceptron(fit_intercept=False),
            "c": rb.Perceptron(init=[3, -1, 0], eta0=0.1),
        }
        assert rb.plot.fan(ax=ax, models=models) is ax
        margins = {name: plane_of(m).margin(*data) for name, m in models.items()}
        ranked = sorted(margins, key=lambda name: -margins[name])
        assert ranked == ["b", "a", "c"]
        for rank, name in enumerate(ranked):
            assert words(ax)[rank + 1].startswith(f"{margins[name]:.3f} {name}")
            on_it = find(ax, f"line {rank}").get_xy1()
            assert plane_of(models[name]).distance(on_it) == pytest.approx(0, abs=1e-12)

    def test_best_is_the_root_of_two(self):
        data = rb.datasets.eight_points()
        ax = rb.plot.fan()
        assert words(ax)[1].startswith(f"{np.sqrt(2):.3f} ")
        values = data.hyperplane.decision_function(find(ax, "band").get_xy()) / data.hyperplane.norm
        assert (values.min(), values.max()) == pytest.approx((-np.sqrt(2), np.sqrt(2)))
        shown = [float(text.split()[0]) for text in words(ax)[1:]]
        assert len(set(shown)) == 6
        assert all(0 < margin <= data.margin for margin in shown[1:])

    def test_refuses(self):
        with pytest.raises(ValueError, match="models is empty"):
            rb.plot.fan(models={})


class TestBias:
    def test_feet(self, ax):
        assert rb.plot.bias(ax=ax) is ax
        assert offsets(find(ax, "foot 0"))[0] == pytest.approx([0, 0])
        assert offsets(find(ax, "foot 1"))[0] == pytest.approx([2, 2])
        assert ends(find(ax, "normal 1")) == pytest.approx(np.array([[2, 2], [3, 3]]))
        assert any("foot (2, 2)" in text.get_text() for text in ax.texts)

    @pytest.mark.parametrize("w", [(-2, 1), (0, 1), (3, 0)])
    def test_lines(self, w):
        ax = rb.plot.bias(w=w, biases=[5])
        on_it = np.array([find(ax, "line 0").get_xy1(), find(ax, "line 0").get_xy2()])
        assert on_it @ w + 5 == pytest.approx([0, 0], abs=1e-9)

    def test_refuses(self):
        with pytest.raises(ValueError, match="not both zero"):
            rb.plot.bias(w=(0, 0))
        with pytest.raises(ValueError, match="give one or more"):
            rb.plot.bias(biases=())


def test_losses_are_those_of_the_theory(ax):
    assert rb.plot.losses(ax=ax) is ax
    written = {text.get_text() for text in ax.texts}
    for name, loss in rb.theory.losses.items():
        z, values = find(ax, name).get_data()
        assert np.array_equal(values, loss(z))
        assert name.replace("_", "-") in written


def test_objective_shows_what_goes_wrong(ax):
    assert rb.plot.objective(ax=ax) is ax
    X, y, good, _ = rb.theory.all_samples_counterexample()

    def turned(degrees):
        return rb.Hyperplane(np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]))

    degrees, every = find(ax, "all samples").get_data()
    _, wrong = find(ax, "wrong samples").get_data()
    for k in range(0, len(degrees), 60):
        assert every[k] == rb.theory.all_samples_objective(turned(degrees[k]), X, y)
        assert wrong[k] == rb.theory.perceptron_loss(turned(degrees[k]), X, y) / 4
    least = turned(degrees[np.argmin(every)])
    assert rb.theory.zero_one_loss(least, X, y) == 0.75
    assert {h.margin(X, y) > 0 for h in map(turned, degrees[wrong == 0])} == {True}
    inset = ax.child_axes[0]
    assert (inset.get_xlabel(), inset.get_ylabel()) == ("x1", "x2")
    assert "samples" in inset.get_title()
    notes = " ".join(text.get_text().replace("\n", " ") for text in inset.texts)
    for says in ("this far sample outweighs the three wrong ones", "dashed: least", "solid: sep"):
        assert says in notes
    tip = ends(find(inset, "far"))[1]
    assert np.hypot(*(X - tip).T).argmin() == np.hypot(*X.T).argmax()
    assert np.array_equal(offsets(find(inset, "wrong")), X[least.predict(X) != y])
    assert good.distance(find(inset, "good").get_xy1()) == pytest.approx(0, abs=1e-12)


class TestNeuron:
    def test_weights(self, dunkers, ax):
        model = fit(dunkers)
        assert rb.plot.neuron(model, ax=ax, feature_names=["tall", "high"]) is ax
        written = [text.get_text() for text in ax.texts]
        for value in (*model.coef_[0], model.intercept_[0]):
            assert f"{value:.3g}".replace("-", "−") in written
        assert {"tall", "high", "−1", "+1", "Σ"} <= set(written)
        widths = [find(ax, f"weight 0 {j}").get_linewidth() for j in range(2)]
        assert (widths[0] > widths[1]) == (abs(model.coef_[0, 0]) > abs(model.coef_[0, 1]))

    @pytest.mark.parametrize("name", ["h", "ht", "身長", "😀😀"])
    def test_names_stand_beside_the_circles(self, name):
        ax = rb.plot.neuron(rb.Hyperplane([2.0, -2.0], 0.0), feature_names=[name, "x"])
        circles = [patch for patch in ax.patches if hasattr(patch, "get_radius")]
        edge = min(patch.center[0] - patch.get_radius() for patch in circles)
        (text,) = [text for text in ax.texts if text.get_text() == name]
        assert text.get_ha() == "right"
        assert text.get_position()[0] < edge
        # In a font that has them, these letters are as wide as high: they must fit at the left.
        wide = 2 * len(name) * 0.09
        assert text.get_position()[0] - wide > ax.get_xlim()[0]

    def test_signs_differ_without_colour(self):
        ax = rb.plot.neuron(rb.Hyperplane([2.0, -2.0], 0.0))
        styles = [find(ax, f"weight 0 {j}").get_linestyle() for j in range(2)]
        assert styles[0] != styles[1]

    def test_many_features(self):
        w = np.arange(30.0)
        written = [text.get_text() for text in rb.plot.neuron(rb.Hyperplane(w)).texts]
        assert "… 22 more" in written
        assert "x30" in written
        assert "x22" not in written

    def test_several_classes(self, trees):
        ax = rb.plot.neuron(trees[2])
        written = [text.get_text() for text in ax.texts]
        assert written.count("Σ") == 3
        assert {"ash", "birch", "cedar"} <= set(written)

    def test_textbook(self):
        written = [text.get_text() for text in rb.plot.neuron().texts]
        assert {"$x_1$", "$x_n$", "$w_1$", "$b$", "⋮"} <= set(written)


# films ---------------------------------------------------------------------------------------


class TestAnimate:
    def test_gif(self, run, tmp_path):
        from PIL import Image

        data, model = run
        path = tmp_path / "run.gif"
        before = plt.get_fignums()
        film = rb.plot.animate(model, *data, path, fps=2)
        assert plt.get_fignums() == before
        with Image.open(path) as picture:
            assert picture.n_frames == len(model.trace_.updates) + 1
            picture.seek(picture.n_frames - 1)
            assert picture.info["duration"] >= 2000
        assert path.stat().st_size < 300_000
        last = list(film.new_saved_frame_seq())[-1]
        film._func(last)
        line = find(film._fig.axes[0], "hyperplane")
        ends_of_line = np.column_stack(line.get_data())
        assert plane_of(model).distance(ends_of_line) == pytest.approx([0, 0], abs=1e-9)
        n, epoch = len(model.trace_.updates), model.trace_.updates.epoch[-1]
        caption = film._fig.axes[0].get_title(loc="left")
        assert caption == f"update {n} of {n}, epoch {epoch}: 0 of 40 wrong – separated"

    def test_each_picture(self, run):
        data, model = run
        film = rb.plot.animate(model, *data)
        ax, updates = film._fig.axes[0], model.trace_.updates
        for t in range(1, len(updates) + 1):
            film._func(t)
            plane = updates.hyperplane(t, data.X)
            at = np.column_stack(find(ax, "hyperplane").get_data())
            assert plane.distance(at.reshape(-1, 2)) == pytest.approx(np.zeros(len(at)), abs=1e-9)
            assert np.array_equal(offsets(find(ax, "mistakes")), data.X[[updates.sample[t - 1]]])
            wrong = int((plane.predict(data.X) != data.y).sum())
            caption = ax.get_title(loc="left")
            assert caption.startswith(f"update {t} of {len(updates)}, epoch {updates.epoch[t - 1]}")
            assert f"{wrong} of 40 wrong" in caption
        film._draw_was_started = True

    def test_long_runs_have_few_pictures_and_end_with_what_is_kept(self, noisy):
        model = fit(noisy, record=True, keep="pocket", max_epochs=50)
        film = rb.plot.animate(model, *noisy, max_frames=12)
        frames = list(film.new_saved_frame_seq())
        assert len(set(frames)) <= 12
        assert frames[0] == 0
        assert model.n_updates_ in frames
        film._func(frames[-1])
        ax = film._fig.axes[0]
        assert ax.get_title(loc="left") == f"the vector that is kept: {model.n_errors_} of 80 wrong"
        at = np.column_stack(find(ax, "hyperplane").get_data())
        assert plane_of(model).distance(at) == pytest.approx([0, 0], abs=1e-9)
        film._draw_was_started = True

    @pytest.mark.parametrize(
        ("n", "most"), [(0, 2), (1, 2), (5, 2), (31, 60), (142, 60), (9**6, 20)]
    )
    def test_chosen(self, n, most):
        frames = chosen(n, most)
        assert frames == sorted(set(frames))
        assert frames[0] == 0
        assert frames[-1] == n
        assert min(most, n + 1) / 2 <= len(frames) <= most

    def test_refuses(self, run, tmp_path, monkeypatch):
        from matplotlib.animation import FFMpegWriter

        data, model = run
        with pytest.raises(ValueError, match=r"give a name that ends in \.gif or \.mp4"):
            rb.plot.animate(model, *data, tmp_path / "run.avi")
        with pytest.raises(ValueError, match="has no suffix"):
            rb.plot.animate(model, *data, tmp_path / "run")
        monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
        with pytest.raises(ValueError, match=r"run\.mp4 needs ffmpeg"):
            rb.plot.animate(model, *data, tmp_path / "run.mp4")
        with pytest.raises(ValueError, match="fps=0 is not allowed"):
            rb.plot.animate(model, *data, fps=0)
        with pytest.raises(ValueError, match="max_frames=1 is not allowed"):
            rb.plot.animate(model, *data, max_frames=1)
        with pytest.raises(ValueError, match="fit with record=True"):
            rb.plot.animate(fit(data), *data)
        assert not list(tmp_path.iterdir())


# files ---------------------------------------------------------------------------------------


@pytest.fixture
def no_room():
    """A context in which no file can grow beyond a thousand bytes."""
    resource = pytest.importorskip("resource")

    @contextlib.contextmanager
    def limited():
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


class TestSave:
    @pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
    def test_same_bytes_each_time(self, suffix, tmp_path):
        files = []
        for name in ("a", "b"):
            path = tmp_path / f"{name}.{suffix}"
            rb.plot.save(rb.plot.bias(), path)
            files.append(path.read_bytes())
        assert files[0] == files[1]
        assert len(files[0]) > 2000

    def test_takes_axes_arrays_and_figures(self, run, tmp_path):
        data, model = run
        axes = rb.plot.updates(model, *data, first=2)
        for name, drawn in (("a", axes), ("b", axes[0]), ("c", axes[0].figure)):
            rb.plot.save(drawn, tmp_path / f"{name}.png", dpi=50)
        assert len({(tmp_path / f"{name}.png").read_bytes() for name in "abc"}) == 1

    @pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
    def test_full_disk_leaves_the_old_file(self, suffix, tmp_path, no_room):
        ax = rb.plot.bias()
        path = tmp_path / f"a.{suffix}"
        path.write_text("old")
        with pytest.raises(OSError, match="oo large") as error, no_room():
            rb.plot.save(ax, path)
        assert "\n" not in str(error.value)
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]

    def test_full_disk_leaves_no_film(self, run, tmp_path, no_room):
        data, model = run
        with pytest.raises(OSError, match="oo large") as error, no_room():
            rb.plot.animate(model, *data, tmp_path / "a.gif")
        assert "\n" not in str(error.value)
        assert not list(tmp_path.iterdir())

    def test_ffmpeg_that_fails_is_one_line(self, run, tmp_path, capfd):
        data, model = run
        ffmpeg = tmp_path / "ffmpeg"
        ffmpeg.write_text("#!/bin/sh\ncat > /dev/null\necho some\necho lots >&2\n"
                          "echo 'No space left on device' >&2\nexit 1\n")  # fmt: skip
        ffmpeg.chmod(0o755)
        films = tmp_path / "films"
        films.mkdir()
        with (
            mpl.rc_context({"animation.ffmpeg_path": str(ffmpeg)}),
            pytest.raises(OSError, match=r"ffmpeg could not write a\.mp4: No space") as error,
        ):
            rb.plot.animate(model, *data, films / "a.mp4", max_frames=2)
        assert "\n" not in str(error.value)
        assert not list(films.iterdir())
        assert capfd.readouterr().err == ""

    def test_missing_letters_are_one_short_warning(self, run, tmp_path):
        data, model = run
        names = ["身長", "跳躍🫠"]
        ax = rb.plot.decision(model, *data, feature_names=names, class_names=names)
        for write in (
            lambda: rb.plot.save(ax, tmp_path / "a.png"),
            lambda: rb.plot.save(ax, tmp_path / "a.pdf"),
            lambda: rb.plot.animate(
                model, *data, tmp_path / "a.gif", feature_names=names, max_frames=2
            ),
        ):
            with pytest.warns(UserWarning, match="^the font has no picture for: ") as heard:
                write()
            (warning,) = heard
            assert {*str(warning.message).split(": ")[1].split()} == {*"身長跳躍🫠"}
            assert warning.filename == __file__

    def test_other_warnings_are_passed_on(self, ax, tmp_path):
        def warn(_event):
            warnings.warn("something else", RuntimeWarning, stacklevel=1)

        ax.figure.canvas.mpl_connect("draw_event", warn)
        with pytest.warns(RuntimeWarning, match="something else"):
            rb.plot.save(ax, tmp_path / "a.png")

    def test_refuses(self, ax, tmp_path):
        with pytest.raises(ValueError, match=r"'\.bmp' is not a picture.*\.png, \.svg, \.pdf"):
            rb.plot.save(ax, tmp_path / "a.bmp")
        with pytest.raises(ValueError, match="cannot save int: give Axes"):
            rb.plot.save(3, tmp_path / "a.png")


# the module ----------------------------------------------------------------------------------


def test_importing_it_does_not_import_matplotlib():
    code = "import rosenblatt.plot, sys; sys.exit(any(m in sys.modules for m in %r))"
    code %= (("matplotlib", "numba", "sklearn"),)
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_home_that_cannot_be_written_is_not_talked_about(tmp_path):
    code = "import rosenblatt as rb, sys; rb.plot.save(rb.plot.bias(), sys.argv[1])"
    spared = ("HOME", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    quiet = {name: value for name, value in os.environ.items() if name not in spared}
    quiet |= {"HOME": "/dev/null/home", "MPLBACKEND": "agg"}  # where not even root has a folder
    command = [sys.executable, "-c", code, str(tmp_path / "a.png")]
    done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_log_of_matplotlib_is_as_before(run, tmp_path):
    data, model = run
    log = logging.getLogger("matplotlib")
    before = log.level
    for level in (logging.NOTSET, logging.DEBUG):
        log.setLevel(level)
        rb.plot.animate(model, *data, tmp_path / "a.gif", max_frames=2)
        after = log.level
        log.setLevel(before)
        assert after == level


def test_thousands_are_apart_from_ten_thousand_on():
    shown = [_style.grouped(n) for n in (0, 999, 1372, 9999, 10_000, 32_561, -1_234_567)]
    assert shown == ["0", "999", "1372", "9999", "10,000", "32,561", "−1,234,567"]
    assert _style.count(32_561, "row") == "32,561 rows"


def test_public_names():
    assert all(callable(getattr(rb.plot, name)) for name in rb.plot.__all__)


@pytest.mark.parametrize("script", sorted(GALLERY.glob("*.py")), ids=lambda path: path.stem)
def test_gallery(script, tmp_path, monkeypatch):
    from PIL import Image

    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    (made,) = tmp_path.iterdir()
    assert made.stem == script.stem
    with Image.open(made) as picture:
        assert min(picture.size) > 200
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 4
    assert (GALLERY / made.name).exists()
    assert made.stat().st_size < (600_000 if made.suffix == ".gif" else 130_000)
    page = (GALLERY / "index.md").read_text()
    assert f"]({made.name})" in page
    assert f"`{script.name}`" in page
