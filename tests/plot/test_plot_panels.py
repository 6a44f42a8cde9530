"""Several hyperplanes side by side: what is drawn is where it is."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

import rosenblatt as rb
from pictures import find, found, heading, line_ends, offsets, plane_of, words

pytestmark = pytest.mark.usefixtures("settings_stay")


def test_compared_lines_have_their_own_margins(players, hard):
    perceptron = rb.Perceptron().fit(*players)
    axes = rb.plot.compare({"first": perceptron, "best": hard}, *players)
    for ax, model in zip(axes, (perceptron, hard), strict=True):
        plane = plane_of(model)
        distance = plane.distance(players.X)
        room = distance.min()
        assert plane.distance(line_ends(find(ax, "hyperplane"))) == pytest.approx([0, 0], abs=1e-9)
        for edge in found(ax, "edge"):
            assert plane.distance(line_ends(edge)) == pytest.approx([room, room])
        closest = offsets(find(ax, "closest"))
        assert plane.distance(closest) == pytest.approx(room)
        assert len(closest) == (distance <= room * (1 + 1e-6)).sum()
        for disc in found(ax, "room"):
            assert disc.radius == pytest.approx(room)
            assert list(disc.center) in closest.tolist()
        assert f"closest: {room:.3g} away" in words(ax)
    assert heading(axes[0]) == f"first: margin {perceptron_margin(perceptron, players):.3g}"
    assert heading(axes[1]) == f"best: margin {hard.margin_:.3g}, the largest"


def perceptron_margin(model, data):
    return plane_of(model).margin(data.X, data.y)


def test_the_other_line_is_dotted(players, hard):
    perceptron = rb.Perceptron().fit(*players)
    first, second = rb.plot.compare([perceptron, hard], *players)
    assert plane_of(hard).distance(line_ends(find(first, "other"))) == pytest.approx(
        [0, 0], abs=1e-9
    )
    assert plane_of(perceptron).distance(line_ends(find(second, "other"))) == pytest.approx(
        [0, 0], abs=1e-9
    )
    assert first.get_xlim() == second.get_xlim()
    assert heading(first).startswith("Perceptron: ")


def test_a_line_that_does_not_separate_has_no_margin(blurred):
    X, y, model, sides = blurred
    (ax,) = rb.plot.compare({"soft": model}, X, y)
    assert heading(ax) == "soft: does not separate"
    assert np.array_equal(offsets(find(ax, "wrong")), X[sides.wrong])
    assert f"wrong: {len(sides.wrong)} of 30" in words(ax)
    assert not found(ax, "band")


def test_compared_in_more_features():
    iris = load_iris()
    y = iris.target == 0
    models = [rb.Perceptron().fit(iris.data, y), rb.MaxMarginClassifier().fit(iris.data, y)]
    axes = rb.plot.compare(models, iris.data, y)
    for ax, model in zip(axes, models, strict=True):
        plane = plane_of(model)
        room = plane.distance(iris.data).min()
        assert np.abs(offsets(find(ax, "closest"))[:, 0]) == pytest.approx(room)
        assert not found(ax, "other")
    assert axes[0].get_xlim() == axes[1].get_xlim()
    flat = rb.plot.compare([rb.Hyperplane(np.zeros(4))], iris.data, np.where(y, 1, -1))[0]
    assert "w = 0: no hyperplane" in words(flat)


# The path -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outlier(players):
    """Players of whom one is far on the wrong side, but so that a line separates, and a path."""
    X = np.vstack([players.X, [[3.0, 12.0]]])
    y = np.append(players.y, -1)
    return X, y, rb.soft_margin_path(X, y, np.geomspace(1e-3, 1e4, 15)[::-1])


def test_path_draws_what_was_asked_for(outlier):
    X, y, path = outlier
    axes = rb.plot.path(path, X, y, Cs=[0.1, 1e4])
    assert len(axes) == 5
    for ax, C in zip(axes, (0.1, 1e4), strict=False):
        k = int(np.argmin(np.abs(np.log(path.Cs / C))))
        assert ax.get_title(loc="left") == f"C = {path.Cs[k]:.3g}".replace("1e+04", "10,000")
        edge = line_ends(find(ax, "edge 1"))
        assert path.hyperplanes[k].decision_function(edge) == pytest.approx([1, 1])
        assert np.array_equal(offsets(find(ax, "support")), X[path.optima[k].support])
        counts = find(ax, "counts").get_text()
        assert counts.startswith(f"margin {path.margin[k]:.3g}; ")
        assert counts.endswith(f", {path.errors[k]} wrong")


def test_all_of_a_path_have_one_view(players):
    path = rb.soft_margin_path(*players, [0.017, 100])
    alone = rb.plot.margin(path.optima[1], *players).get_xlim()
    axes = rb.plot.path(path, *players, Cs=path.Cs)
    assert axes[0].get_xlim() == axes[1].get_xlim()
    assert np.ptp(axes[1].get_xlim()) > np.ptp(alone)


def test_path_has_all_its_curves(outlier):
    X, y, path = outlier
    axes = rb.plot.path(path, X, y)
    assert len(axes) == 6
    order = np.argsort(path.Cs)
    values = {"margin": path.margin, "slack": path.slack}
    values |= {"support": path.n_support, "errors": path.errors}
    for gid, expected in values.items():
        (curve,) = [line for ax in axes[3:] for line in found(ax, gid)]
        assert np.array_equal(curve.get_xdata(), path.Cs[order])
        assert np.array_equal(curve.get_ydata(), expected[order])
    shown = [line.get_xdata()[0] for line in found(axes[3], "shown")]
    titles = [ax.get_title(loc="left") for ax in axes[:3]]
    assert [f"C = {C:.3g}" for C in shown] == titles
    assert shown == sorted(shown)
    assert all(ax.get_xscale() == "log" for ax in axes[3:])


def test_path_of_more_features_and_into_axes_of_your_own(flowers):
    X, y = flowers
    path = rb.soft_margin_path(X, y, [0.1, 10, 1000])
    mine = plt.subplots(1, 4)[1]
    axes = rb.plot.path(path, X, y, Cs=10, axes=mine)
    assert all(a is b for a, b in zip(axes, mine, strict=True))
    assert line_ends(find(axes[0], "edge 1"))[:, 0] == pytest.approx([path.margin[1]] * 2)
    assert not axes[0].figure.legends


# Lines that say what is wrong -----------------------------------------------------------------


def test_compare_refuses(players, hard):
    with pytest.raises(ValueError, match="models is a MaxMarginClassifier: give a dict of names"):
        rb.plot.compare(hard, *players)
    with pytest.raises(ValueError, match="models is empty: give at least one"):
        rb.plot.compare([], *players)
    with pytest.raises(ValueError, match="axes has 2 Axes for 1 models: give one for each"):
        rb.plot.compare([hard], *players, axes=plt.subplots(1, 2)[1])
    y = [0, 1, 2] * 10
    three = rb.SoftMarginClassifier().fit(players.X, y)
    with pytest.raises(ValueError, match="three has 3 classes: only hyperplanes for two"):
        rb.plot.compare({"three": three}, players.X, y)


def test_path_refuses(outlier, hard):
    X, y, path = outlier
    with pytest.raises(ValueError, match=r"path is a MaxMarginClassifier: give what rb\.soft_mar"):
        rb.plot.path(hard, X, y)
    with pytest.raises(ValueError, match="is not a list of positive numbers: give values of C"):
        rb.plot.path(path, X, y, Cs=[1, -1])
    with pytest.raises(ValueError, match="axes has 2 Axes: give 4, 1 for hyperplanes and 3 for"):
        rb.plot.path(path, X, y, Cs=1, axes=plt.subplots(1, 2)[1])
    with pytest.raises(ValueError, match="not what the hyperplane was found with"):
        rb.plot.path(path, X[::-1], y)
