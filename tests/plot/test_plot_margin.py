"""Best hyperplanes and their margins: what is drawn is where it is."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

import rosenblatt as rb
from pictures import ends, find, found, heading, line_ends, offsets, plane_of, words
from rosenblatt.plot.margin_edges import MOST_SUPPORT
from rosenblatt.plot.plane import MOST

pytestmark = pytest.mark.usefixtures("settings_stay")


@pytest.fixture(scope="module")
def hard_drawn(players, hard):
    return rb.plot.margin(hard, *players, class_names=players.target_names)


@pytest.fixture(scope="module")
def blurred_drawn(blurred):
    X, y, model, _ = blurred
    return rb.plot.margin(model, X, y)


def short_rows(sides):
    return np.sort(np.concatenate([sides.inside, sides.wrong]))


def test_edges_are_where_the_value_is_one(hard, hard_drawn):
    ax = hard_drawn
    plane = plane_of(hard)
    for gid, value in (("edge 0", -1), ("hyperplane", 0), ("edge 1", 1)):
        values = plane.decision_function(line_ends(find(ax, gid)))
        assert values == pytest.approx([value] * 2, abs=1e-9)
    values = plane.decision_function(find(ax, "band").get_xy())
    assert (values.min(), values.max()) == pytest.approx((-1, 1))
    assert heading(ax) == f"maximum margin {hard.margin_:.3g}"
    assert {"cannot dunk", "can dunk"} <= set(words(ax))
    assert not found(ax, "slacks")


def test_the_arrow_is_as_long_as_the_margin(hard, hard_drawn):
    foot, tip = ends(find(hard_drawn, "margin"))
    plane = plane_of(hard)
    assert np.hypot(*(tip - foot)) == pytest.approx(hard.margin_)
    assert plane.decision_function(np.array([foot, tip])) == pytest.approx([0, 1], abs=1e-9)


def test_support_vectors_are_ringed(blurred, blurred_drawn):
    (X, _, model, _), ax = blurred, blurred_drawn
    assert np.array_equal(offsets(find(ax, "support")), X[model.support_])
    assert f"support vectors: {len(model.support_)} of 30" in words(ax)
    assert heading(ax) == f"soft margin {model.margin_:.3g} (C = 1)"
    assert any(text.startswith("gap ") for text in words(ax))


def test_slacks_lead_to_the_own_edge(blurred, blurred_drawn):
    (X, y, model, sides), ax = blurred, blurred_drawn
    rows = short_rows(sides)
    assert len(rows) > 5
    assert len(sides.wrong)
    lines = np.array(find(ax, "slacks").get_segments())
    assert np.array_equal(lines[:, 0], X[rows])
    values = plane_of(model).decision_function(lines[:, 1])
    assert values == pytest.approx(y[rows], abs=1e-9)
    lengths = np.hypot(*(lines[:, 1] - lines[:, 0]).T)
    assert lengths == pytest.approx(sides.slack[rows] * model.margin_)
    assert f"slack: {len(sides.inside)} inside, {len(sides.wrong)} wrong" in words(ax)


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_more_features_are_seen_from_the_edge(kind, flowers):
    X, y = flowers
    model = rb.SoftMarginClassifier(C=10).fit(X, y)
    ax = rb.plot.margin(model, kind(X), y)
    plane, sides = plane_of(model), model.sides(X, y)
    distance = plane.decision_function(X) / plane.norm
    for k, name in enumerate(model.classes_):
        drawn = offsets(find(ax, f"class {k}"))[:, 0]
        assert drawn == pytest.approx(distance[y == name])
    for gid, place in (("edge 0", -1), ("hyperplane", 0), ("edge 1", 1)):
        assert line_ends(find(ax, gid))[:, 0] == pytest.approx(
            [place * model.margin_] * 2, abs=1e-9
        )
    lines = np.array(find(ax, "slacks").get_segments())
    assert lines[:, 0, 1] == pytest.approx(lines[:, 1, 1])
    lengths = np.abs(lines[:, 1, 0] - lines[:, 0, 0])
    assert lengths == pytest.approx(sides.slack[short_rows(sides)] * model.margin_)
    assert "shadow of 4 features" in ax.get_xlabel()


def test_one_feature_has_a_row_for_each_class(flowers):
    X, y = flowers[0][:, 3:], flowers[1]
    model = rb.SoftMarginClassifier(C=10).fit(X, y)
    ax = rb.plot.margin(model, X, y, feature_names=["petal width"])
    lines = np.array(find(ax, "slacks").get_segments())
    assert {*lines[:, 0, 1]} == {-1.0, 1.0}
    assert line_ends(find(ax, "edge 1"))[:, 0] == pytest.approx(
        [(1 - model.intercept_[0]) / model.coef_[0, 0]] * 2
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == ["versicolor", "virginica"]
    assert ax.get_xlabel() == "petal width"


def test_many_samples_are_drawn_in_part():
    data = rb.datasets.known_margin(5000, d=2, margin=0.05, random_state=0)
    noisy = rb.datasets.flip_labels(data, 0.1, random_state=0)
    model = rb.SoftMarginClassifier(C=10).fit(*noisy)
    assert len(model.support_) > MOST_SUPPORT
    ax = rb.plot.margin(model, *noisy)
    ringed = {*map(tuple, offsets(find(ax, "support")))}
    drawn = {*map(tuple, np.vstack([offsets(find(ax, f"class {k}")) for k in range(2)]))}
    assert len(ringed) == MOST_SUPPORT
    assert f"{MOST_SUPPORT} support vectors ringed" in words(ax)
    assert ringed <= {*map(tuple, noisy.X[model.support_])}
    assert ringed <= drawn
    assert MOST <= len(drawn) <= MOST + MOST_SUPPORT
    sides = model.sides(*noisy)
    starts = {tuple(line[0]) for line in find(ax, "slacks").get_segments()}
    assert starts == ringed & {*map(tuple, noisy.X[short_rows(sides)])}
    assert f"slack: {len(sides.inside)} inside, {len(sides.wrong)} wrong" in words(ax)
    assert f"{len(drawn)} of 5000 points drawn" in words(ax)
    exact = rb.MaxMarginClassifier().fit(*data)
    few = offsets(find(rb.plot.margin(exact, *data), "support"))
    assert np.array_equal(few, data.X[exact.support_])


@pytest.mark.parametrize("d", [1, 2, 3])
def test_samples_far_out_do_not_set_the_axes(d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, d))
    y = np.where(X[:, 0] + rng.standard_normal(300) > 0, 1, -1)
    X[0, 0], X[1, 0] = 1000, -2000
    y[:2] = 1, -1
    model = rb.SoftMarginClassifier(C=1).fit(X, y)
    ax = rb.plot.margin(model, X, y)
    assert "2 of 300 are farther out" in words(ax)
    assert np.ptp(ax.get_xlim()) < 20
    path = rb.soft_margin_path(X, y, [1])
    assert find(rb.plot.path(path, X, y)[0], "counts").get_text().endswith(" (2 not shown)")
    some = np.arange(150)
    few = rb.plot.margin(rb.SoftMarginClassifier(C=1).fit(X[some], y[some]), X[some], y[some])
    assert not any("farther out" in text for text in words(few))
    assert np.ptp(few.get_xlim()) > 3000


def test_one_of_several_classes_with_the_rest():
    iris = load_iris()
    X, y = iris.data[:, 2:], iris.target_names[iris.target]
    model = rb.SoftMarginClassifier(C=10).fit(X, y)
    ax = rb.plot.margin(model, X, y, which="virginica")
    assert {"the others", "virginica"} <= set(words(ax))
    plane = rb.Hyperplane(model.coef_[2], model.intercept_[2])
    assert plane.decision_function(line_ends(find(ax, "edge 1"))) == pytest.approx([1, 1])
    assert np.array_equal(offsets(find(ax, "class 1")), X[y == "virginica"])
    few = model.support_[2]
    assert np.array_equal(offsets(find(ax, "support")), X[few])
    lines = np.array(find(ax, "slacks").get_segments())
    sides = model.sides(X, y)[2]
    assert np.array_equal(lines[:, 0], X[short_rows(sides)])


def test_an_optimum_is_drawn_like_its_model(blurred):
    X, y, model, _ = blurred
    labels = np.where(y > 0, "yes", "no")
    ax = rb.plot.margin(model.optimum_, X, labels, ax=plt.subplots()[1])
    assert {"no", "yes"} <= set(words(ax))
    assert plane_of(model).decision_function(line_ends(find(ax, "edge 0"))) == pytest.approx(
        [-1, -1]
    )


def test_a_maximum_margin_that_does_not_exist(blurred):
    X, y, _, _ = blurred
    with pytest.warns(rb.NotSeparableWarning):
        model = rb.MaxMarginClassifier().fit(X, y)
    assert heading(rb.plot.margin(model, X, y)).endswith(" (C = 30)")
    with pytest.raises(
        ValueError, match=r"no hyperplane separates these data, see rb\.plot\.hulls"
    ):
        rb.plot.nearest(model, X, y)


def test_a_margin_wider_than_the_data(players):
    model = rb.SoftMarginClassifier(C=1e-4).fit(*players)
    ax = rb.plot.margin(model, *players)
    assert "the margin is wider than this" in words(ax)
    assert not found(ax, "margin")


@pytest.mark.parametrize(
    ("features", "C"), [([0, 1], 0.017), ([0], 0.028), ([0, 1, 1], 0.017)], ids=["2", "1", "3"]
)
def test_the_view_grows_until_it_shows_both_edges(features, C, players):
    X, y = players.X[:, features], players.y
    model = rb.SoftMarginClassifier(C=C).fit(X, y)
    ax = rb.plot.margin(model, X, y)
    low, high = np.column_stack([ax.get_xlim(), ax.get_ylim()])
    if len(features) == 2:  # in the others, lines are upright
        edges = plane_of(model)
    else:
        place = [line_ends(find(ax, f"edge {k}"))[0, 0] for k in range(2)]
        w = 2 / (place[1] - place[0])
        edges = rb.Hyperplane([w, 0.0], 1 - w * place[1])
    corners = np.array([[x1, x2] for x1 in (low[0], high[0]) for x2 in (low[1], high[1])])
    values = edges.decision_function(corners)
    assert values.min() < -1
    assert values.max() > 1
    drawn = np.vstack([offsets(find(ax, f"class {k}")) for k in range(2)])
    assert np.ptp(ax.get_xlim()) > 1.3 * np.ptp(drawn[:, 0])
    assert "w·x + b = ±1" in words(ax)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_no_hyperplane_at_all(d):
    X, y = np.repeat(np.eye(3)[:2, :d], 2, axis=0), [0, 1, 0, 1]
    model = rb.SoftMarginClassifier(C=1e-9).fit(X, y)
    model.fits_ = (flat_fit(model),)
    model.coef_ = np.zeros((1, d))
    ax = rb.plot.margin(model, X, y)
    assert "w = 0: no hyperplane" in words(ax)
    assert heading(ax).startswith("soft margin ∞ ")
    assert not found(ax, "hyperplane")


def flat_fit(model):
    """The fit of a model with its normal put to zero."""

    fit = model.fits_[0]
    plane = rb.Hyperplane(np.zeros_like(fit.hyperplane.w), 0.0)
    return replace(fit, hyperplane=plane, optimum=replace(fit.optimum, hyperplane=plane))


# Lines that say what is wrong -----------------------------------------------------------------


@pytest.mark.parametrize("draw", [rb.plot.margin, rb.plot.nearest])
def test_refuses(draw, players, hard):
    X, y = players
    with pytest.raises(ValueError, match="MaxMarginClassifier is not fitted: give a fitted"):
        draw(rb.MaxMarginClassifier(), X, y)
    with pytest.raises(ValueError, match="Perceptron has no optimum: give a fitted"):
        draw(rb.Perceptron().fit(X, y), X, y)
    other = "not what the hyperplane was found with: give those that were given to fit"
    for data in ((X, -y), (X[::-1], y), (X[: hard.support_.max()], y[: hard.support_.max()])):
        with pytest.raises(ValueError, match=other):
            draw(hard, *data)
    with pytest.raises(ValueError, match="which=1 is for more than two classes: leave it out"):
        draw(hard, X, y, which=1)
    with pytest.raises(ValueError, match="X has 1 features but the model has 2"):
        draw(hard, X[:, :1], y)
    three = rb.SoftMarginClassifier().fit(X, [0, 1, 2] * 10)
    with pytest.raises(ValueError, match="the model has 3 classes: give which= one of 0, 1, 2"):
        draw(three, X, [0, 1, 2] * 10)
    with pytest.raises(ValueError, match="which=7 is not a class of the model: give one of 0, 1"):
        draw(three, X, [0, 1, 2] * 10, which=7)
    with pytest.raises(ValueError, match="y holds 3 classes: an Optimum is about two"):
        draw(hard.optimum_, X, [0, 1, 2] * 10)
