"""What linear classifiers decide: every line, arrow and ring is where the mathematics puts it."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

import rosenblatt as rb
from pictures import ends, find, fit, found, line_ends, offsets, plane_of, quietly, words
from rosenblatt.plot.plane import MOST

pytestmark = pytest.mark.usefixtures("settings_stay")


@pytest.fixture(scope="module")
def fitted(dunkers):
    """The hyperplane of a perceptron that separates, and its picture."""
    model = fit(dunkers)
    return plane_of(model), rb.plot.decision(model, *dunkers)


@pytest.fixture(scope="module")
def known(dunkers):
    """The picture of the hyperplane that made the data."""
    return rb.plot.decision(dunkers.hyperplane, *dunkers, class_names=dunkers.target_names)


class TestDecision:
    def test_line_is_the_hyperplane(self, fitted):
        plane, ax = fitted
        on_it = line_ends(find(ax, "hyperplane"))
        assert plane.distance(on_it) == pytest.approx([0, 0], abs=1e-9)
        assert on_it[0] != pytest.approx(on_it[1])

    def test_arrow_stands_on_it_at_a_right_angle(self, fitted):
        plane, ax = fitted
        foot, tip = ends(find(ax, "normal"))
        assert plane.distance(foot) == pytest.approx(0, abs=1e-9)
        assert plane.basis() @ (tip - foot) == pytest.approx(0, abs=1e-9)
        assert plane.w @ (tip - foot) > 0
        assert ax.get_aspect() == 1.0

    def test_band_is_as_wide_as_the_margin(self, dunkers, fitted):
        plane, ax = fitted
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
        assert not found(ax, "band")

    def test_points_by_class(self, dunkers, known):
        ax = known
        for k, label in enumerate((-1, 1)):
            assert np.array_equal(offsets(find(ax, f"class {k}")), dunkers.X[dunkers.y == label])
        assert {"cannot dunk", "can dunk"} <= set(words(ax))
        colours = [tuple(find(ax, f"class {k}").get_facecolor()[0]) for k in range(2)]
        markers = [find(ax, f"class {k}").get_paths()[0].vertices.shape for k in range(2)]
        assert colours[0] != colours[1]
        assert markers[0] != markers[1]

    def test_halves_are_coloured_by_side(self, dunkers, known):
        ax = known
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
        assert not found(ax, "normal")

    def test_unequal_ranges_are_not_drawn_to_scale(self):
        X, y = np.random.default_rng(0).normal(size=(30, 2)) * [1, 1e7], np.repeat([1, -1], 15)
        ax = rb.plot.decision(rb.Hyperplane([1.0, 0.0]), X, y)
        assert ax.get_aspect() == "auto"
        assert "axes have different scales" in words(ax)
        assert not found(ax, "normal")
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
        assert len(drawn) <= MOST + 10
        assert {tuple(x) for x in X[:3]} == {tuple(x) for x in offsets(find(ax, "wrong"))}
        assert f"{len(drawn)} of 100,000 points drawn" in words(ax)
        again = rb.plot.decision(rb.Hyperplane([1.0, 2.0]), X, y)
        assert np.array_equal(offsets(find(ax, "class 0")), offsets(find(again, "class 0")))


@pytest.fixture(scope="module")
def trees_drawn(trees):
    X, y, model = trees
    return rb.plot.decision(model, X, y)


class TestSeveralClasses:
    def test_regions_are_where_each_class_wins(self, trees, trees_drawn):
        model, ax = trees[2], trees_drawn
        total = 0.0
        for k in range(3):
            corners = find(ax, f"region {k}").get_xy()[:-1]
            assert (model.predict([corners.mean(axis=0)]) == model.classes_[k]).all()
            total += shoelace(corners)
        assert total == pytest.approx(np.diff(ax.get_xlim())[0] * np.diff(ax.get_ylim())[0])

    def test_lines_and_rings(self, trees, trees_drawn):
        (X, y, model), ax = trees, trees_drawn
        for k, result in enumerate(model.fits_):
            at = find(ax, f"hyperplane {k}").get_xy1()
            assert result.hyperplane.distance(at) == pytest.approx(0, abs=1e-9)
        assert np.array_equal(offsets(find(ax, "wrong")), X[model.predict(X) != y])

    def test_equal_classes_have_one_region(self, ax):
        model = quietly(rb.Perceptron(max_epochs=1), [[0, 0], [1, 0], [0, 1]], [0, 1, 2])
        model.coef_, model.intercept_ = np.zeros((3, 2)), np.zeros(3)
        drawn = rb.plot.decision(model, [[0.0, 0.0], [1.0, 1.0]], [0, 1], ax=ax)
        assert found(drawn, "region 0")
        assert not found(drawn, "region 1")

    def test_along_has_a_row_for_each(self):

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
