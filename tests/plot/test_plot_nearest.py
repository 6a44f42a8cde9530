"""Nearest points of hulls: what is drawn is where it is."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import rosenblatt as rb
from pictures import find, found, heading, line_ends, offsets, plane_of, words
from rosenblatt.plot.convex_hulls import MARGINS, apart, shares
from rosenblatt.plot.seen import read_best

pytestmark = pytest.mark.usefixtures("settings_stay")


@pytest.fixture(scope="module")
def drawn_nearest(players, hard):
    return rb.plot.nearest(hard, *players, class_names=players.target_names)


def test_nearest_points_are_the_models(players, hard, drawn_nearest):
    ax = drawn_nearest
    drawn = offsets(find(ax, "nearest"))
    assert drawn == pytest.approx(hard.nearest_points_)
    bridge = np.column_stack(find(ax, "bridge").get_data())
    assert bridge == pytest.approx(drawn)
    assert np.hypot(*(bridge[1] - bridge[0])) == pytest.approx(2 * hard.margin_)
    line = line_ends(find(ax, "hyperplane"))
    assert plane_of(hard).decision_function(line) == pytest.approx([0, 0], abs=1e-9)
    assert (line[1] - line[0]) @ (bridge[1] - bridge[0]) == pytest.approx(0, abs=1e-6)
    assert plane_of(hard).decision_function(bridge.mean(axis=0)[None]) == pytest.approx(
        [0], abs=1e-7
    )
    assert heading(ax) == f"nearest points of the hulls: {2 * hard.margin_:.3g} apart"
    assert np.array_equal(offsets(find(ax, "support")), players.X[hard.support_])


def test_shares_are_written_and_sum_to_one(players, hard, drawn_nearest):
    ax = drawn_nearest
    parts = shares(*read_best(hard, *players))
    label = players.y[hard.support_]
    assert [parts[label == sign].sum() for sign in (-1, 1)] == pytest.approx([1, 1])
    written = sorted(text.get_text() for text in found(ax, "share"))
    assert written == sorted(f"{share:.2g}" for share in parts if share < 1)
    assert written


def test_the_shadow_keeps_the_distance():
    iris = load_iris()
    y = iris.target == 0
    model = rb.MaxMarginClassifier().fit(iris.data, y)
    ax = rb.plot.nearest(model, iris.data, y)
    drawn = offsets(find(ax, "nearest"))
    assert drawn[:, 0] == pytest.approx([-model.margin_, model.margin_])
    assert drawn[0, 1] == pytest.approx(drawn[1, 1], abs=1e-6)
    left, right = (find(ax, f"hull {k}").get_xy()[:, 0] for k in range(2))
    assert (left.max(), right.min()) == pytest.approx((-model.margin_, model.margin_))


def test_the_gap_of_a_shadow_is_wide_enough_to_be_seen():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += 0.01 * y
    model = rb.MaxMarginClassifier().fit(X, y)
    ax = rb.plot.nearest(model, X, y)
    assert ax.get_xlim() == pytest.approx([-MARGINS * model.margin_, MARGINS * model.margin_])
    out = (plane_of(model).distance(X) > MARGINS * model.margin_).sum()
    assert out > 10
    assert f"{out} of 60 are farther out" in words(ax)


def test_shares_stand_on_the_outer_side_and_apart():
    X = [[-1, 0.0, 9], [-1, 0.1, 0], [-1, 0.1, 9], [-9, 5, 5], [1, 0.1, 9], [1, 0, 0], [9, 5, 5]]
    X, y = np.array(X), np.array([-1, -1, -1, -1, 1, 1, 1])
    model = rb.MaxMarginClassifier().fit(X, y)
    ax = rb.plot.nearest(model, X, y)
    ax.figure.canvas.draw()
    texts = found(ax, "share")
    assert len(texts) > 3
    boxes = [text.get_window_extent() for text in texts]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    for text in texts:
        assert text.get_position()[0] * text.xy[0] > 0  # both to the same side of the hyperplane


def test_places_move_apart_no_more_than_needed():
    places = np.array([5.0, 0.0, 5.0, 20.0, 5.5])
    moved = apart(places, 2.0)
    assert moved == pytest.approx([3.1667, 0, 5.1667, 20, 7.1667], abs=1e-3)
    assert apart(places, 0.25) == pytest.approx([4.875, 0, 5.125, 20, 5.5])


def test_nearest_in_one_feature():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    ax = rb.plot.nearest(rb.MaxMarginClassifier().fit(X, y), X, y)
    assert offsets(find(ax, "nearest")) == pytest.approx(np.array([[1.0, 0.0], [3.0, 0.0]]))


def test_soft_margins_have_no_nearest_points(blurred):
    X, y, model, _ = blurred
    with pytest.raises(ValueError, match=r"no nearest points: give a fitted rb\.MaxMarginC"):
        rb.plot.nearest(model, X, y)
