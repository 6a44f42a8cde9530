"""Runs in the plane of their weights, and the two lengths of the bound."""

import numpy as np
import pytest

import rosenblatt as rb
from pictures import ends, find, found, offsets, quietly, words

pytestmark = pytest.mark.usefixtures("settings_stay")

X = np.array([[2, 1], [1, 3], [-1, 2.5], [-2, -0.5], [1, -3], [-1, -1.5]])
Y = np.array([1, 1, 1, -1, -1, -1])
START = {"fit_intercept": False, "init": [-3, -3, 0]}


@pytest.fixture(scope="module")
def six():
    return rb.Perceptron(record=True, eta0=0.5, **START).fit(X, Y)


@pytest.fixture(scope="module")
def bowl():
    return rb.Adaline(update="batch", max_epochs=8, **START).fit(X, Y)


class TestWeightSpace:
    def test_the_walk_is_the_run(self, six, ax):
        assert rb.plot.weight_space(six, X, Y, ax=ax) is ax
        updates = six.trace_.updates
        for t in range(len(updates)):
            old, new = (updates.hyperplane(k, X).w for k in (t, t + 1))
            assert ends(find(ax, f"step {t + 1}")) == pytest.approx(np.array([old, new]))
        assert offsets(find(ax, "end"))[0] == pytest.approx(six.coef_[0])
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("w1", "w2")

    def test_names_of_lines_are_whole(self):
        X, y = rb.datasets.eight_points()
        run = rb.Perceptron(record=True, fit_intercept=False, init=[-3, 1]).fit(X, y)
        ax = rb.plot.weight_space(run, X, y)
        ax.figure.draw_without_rendering()
        room = ax.get_window_extent()
        names = [text for text in ax.texts if text.get_text().startswith("x = ")]
        assert len(names) >= 5
        for name in names:
            box = name.get_window_extent()
            assert room.x0 - 1 <= box.x0 < box.x1 <= room.x1 + 1, name
            assert room.y0 - 1 <= box.y0 < box.y1 <= room.y1 + 1, name

    def test_cone_is_where_every_sample_is_right(self, six):
        ax = rb.plot.weight_space(six, X, Y)
        cone = find(ax, "all right").get_path()
        low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
        weights = np.random.default_rng(0).uniform(low, high, (400, 2))
        value = (Y * (weights @ X.T)).min(axis=1)
        clear = np.abs(value) > 0.05
        assert np.array_equal(cone.contains_points(weights)[clear], value[clear] > 0)
        for vector in X:
            (line,) = [a for a in ax.lines if (a.get_gid() or "").endswith(_text(vector))]
            assert np.array(line.get_xy1()) @ vector == pytest.approx(0, abs=1e-9)

    def test_one_feature_with_its_bias(self):
        x, y = np.array([[-1.0], [1.0], [4.0]]), np.array([-1, -1, 1])
        ax = rb.plot.weight_space(rb.Perceptron(record=True).fit(x, y), x, y)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("w", "b")
        w, b = find(ax, "sample 4").get_xy1()
        assert 4 * w + b == pytest.approx(0, abs=1e-9)

    def test_no_cone_is_said(self):
        x, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-1, 1, -1])
        ax = rb.plot.weight_space(quietly(rb.Perceptron(record=True), x, y), x, y)
        assert "no weights get every sample right" in words(ax)
        assert not found(ax, "all right")

    def test_many_samples_and_updates(self):
        data = rb.datasets.known_margin(300, margin=0.002, rotate=True, random_state=0)
        model = rb.Perceptron(record=True, fit_intercept=False).fit(*data)
        ax = rb.plot.weight_space(model, *data)
        walk = np.column_stack(find(ax, "walk").get_data())
        assert len(walk) == model.n_updates_ + 1
        assert walk[-1] == pytest.approx(model.coef_[0])
        assert not ax.texts

    def test_refuses(self, six, dunkers):
        with pytest.raises(ValueError, match="2 features and a bias: only a plane of two weights"):
            rb.plot.weight_space(rb.Perceptron(record=True).fit(*dunkers), *dunkers)
        with pytest.raises(ValueError, match="fit with record=True"):
            rb.plot.weight_space(rb.Perceptron(fit_intercept=False).fit(X, Y), X, Y)
        with pytest.raises(ValueError, match="X, y are not what this run was recorded with"):
            rb.plot.loss_surface(six, -X, Y)
        shuffled = rb.Adaline(order="shuffled", max_epochs=2, fit_intercept=False)
        with pytest.raises(ValueError, match="cannot be made again"):
            rb.plot.loss_surface(quietly(shuffled, X, Y), X, Y)


def _text(vector):
    return f"({vector[0]:g}, {vector[1]:g})".replace("-", "−")


class TestLossSurface:
    @pytest.mark.parametrize("rule", ["perceptron", "delta"])
    def test_contours_are_those_of_the_theory(self, rule, six, bowl, ax):
        model = six if rule == "perceptron" else bowl
        loss = rb.theory.perceptron_loss if rule == "perceptron" else rb.theory.squared_loss
        assert rb.plot.loss_surface(model, X, Y, ax=ax) is ax
        drawn = find(ax, "contours")
        for level, path in list(zip(drawn.levels, drawn.get_paths(), strict=True))[2:8:2]:
            for w in path.vertices[:: max(1, len(path.vertices) // 3)]:
                assert loss(rb.Hyperplane(w), X, Y) == pytest.approx(level, rel=0.02, abs=0.02)

    def test_delta_rule_goes_to_its_star(self, bowl):
        ax = rb.plot.loss_surface(bowl, X, Y)
        assert offsets(find(ax, "start"))[0].tolist() == [-3, -3]
        assert offsets(find(ax, "end"))[0] == pytest.approx(bowl.coef_[0])
        least = np.linalg.lstsq(X, Y, rcond=None)[0]
        assert offsets(find(ax, "least"))[0] == pytest.approx(least)
        first = ends(find(ax, "step 1"))
        down = rb.theory.delta_rule_update(rb.Hyperplane([-3.0, -3.0]), X, Y)[:2]
        assert first[1] - first[0] == pytest.approx(bowl.eta_ * down)


class TestBoundGeometry:
    def test_lengths(self, ax):
        data = rb.datasets.known_margin(30, margin=0.2, rotate=True, random_state=1)
        assert rb.plot.bound_geometry(*data, ax=ax) is ax
        bound = rb.mistake_bound(*data, fit_intercept=False)
        assert find(ax, "ball").radius == pytest.approx(np.hypot(*data.X.T).max())
        start, tip = ends(find(ax, "R"))
        assert (start == 0).all()
        assert np.hypot(*tip) == pytest.approx(bound.R)
        foot, sample = ends(find(ax, "gamma"))
        assert np.hypot(*(sample - foot)) == pytest.approx(0.2)
        assert np.isclose(data.X, sample).all(axis=1).any()
        best = ends(find(ax, "best"))[1]
        assert np.cross([*best, 0], [*data.hyperplane.w, 0]) == pytest.approx(np.zeros(3), abs=1e-5)
        assert f"{bound.most} mistakes" in words(ax)[-1]

    def test_one_feature_stands_at_height_one(self):
        ax = rb.plot.bound_geometry([[-1.0], [2.0], [3.0]], ["a", "b", "b"])
        assert offsets(find(ax, "class 1")).tolist() == [[2, 1], [3, 1]]
        assert find(ax, "ball").radius == pytest.approx(np.sqrt(10))

    def test_refuses(self, dunkers):
        with pytest.raises(ValueError, match="no line through the origin separates"):
            rb.plot.bound_geometry(*dunkers)
        with pytest.raises(ValueError, match="the hyperplane does not separate"):
            rb.plot.bound_geometry(X, Y, hyperplane=rb.Hyperplane([1.0, 0.0]))
        with pytest.raises(ValueError, match="X has 3 features"):
            rb.plot.bound_geometry(np.eye(3), [1, -1, 1])
