"""Pictures of best hyperplanes: what is drawn is where it is."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

import rosenblatt as rb
from pictures import find, found, heading, offsets, words
from rosenblatt.plot import plane as _points
from rosenblatt.plot.convex_hulls import MARGINS as WIDEST
from rosenblatt.plot.convex_hulls import apart, shares
from rosenblatt.plot.margin_edges import MOST_SUPPORT
from rosenblatt.plot.seen import read_best

pytestmark = pytest.mark.usefixtures("settings_stay")


@pytest.fixture(scope="module")
def players():
    return rb.datasets.dunkers(30, gap=1.5, random_state=3)


@pytest.fixture(scope="module")
def blurred(players):
    """Players whom no line separates, a soft margin among them, and their sides of it."""
    X = players.X + np.random.default_rng(2).normal(0.0, 2.0, players.X.shape)
    model = rb.SoftMarginClassifier(C=1).fit(X, players.y)
    return X, players.y, model, model.sides(X, players.y)


@pytest.fixture(scope="module")
def hard(players):
    return rb.MaxMarginClassifier().fit(*players)


@pytest.fixture(scope="module")
def flowers():
    """Two species that overlap in four features."""
    iris = load_iris()
    return iris.data[50:], iris.target_names[iris.target[50:]]


def ends(line):
    return np.array([line.get_xy1(), line.get_xy2()])


def hyperplane(model):
    return rb.Hyperplane(model.coef_[0], model.intercept_[0])


def short_rows(sides):
    return np.sort(np.concatenate([sides.inside, sides.wrong]))


# The margin -----------------------------------------------------------------------------------


def test_edges_are_where_the_value_is_one(players, hard):
    ax = rb.plot.margin(hard, *players, class_names=players.target_names)
    plane = hyperplane(hard)
    for gid, value in (("edge 0", -1), ("hyperplane", 0), ("edge 1", 1)):
        values = plane.decision_function(ends(find(ax, gid)))
        assert values == pytest.approx([value] * 2, abs=1e-9)
    values = plane.decision_function(find(ax, "band").get_xy())
    assert (values.min(), values.max()) == pytest.approx((-1, 1))
    assert heading(ax) == f"maximum margin {hard.margin_:.3g}"
    assert {"cannot dunk", "can dunk"} <= set(words(ax))
    assert not found(ax, "slacks")


def test_the_arrow_is_as_long_as_the_margin(players, hard):
    arrow = find(rb.plot.margin(hard, *players), "margin")
    foot, tip = np.array(arrow._posA_posB)
    plane = hyperplane(hard)
    assert np.hypot(*(tip - foot)) == pytest.approx(hard.margin_)
    assert plane.decision_function(np.array([foot, tip])) == pytest.approx([0, 1], abs=1e-9)


def test_support_vectors_are_ringed(blurred):
    X, y, model, _ = blurred
    ax = rb.plot.margin(model, X, y)
    assert np.array_equal(offsets(find(ax, "support")), X[model.support_])
    assert f"support vectors: {len(model.support_)} of 30" in words(ax)
    assert heading(ax) == f"soft margin {model.margin_:.3g} (C = 1)"
    assert any(text.startswith("gap ") for text in words(ax))


def test_slacks_lead_to_the_own_edge(blurred):
    X, y, model, sides = blurred
    ax = rb.plot.margin(model, X, y)
    rows = short_rows(sides)
    assert len(rows) > 5
    assert len(sides.wrong)
    lines = np.array(find(ax, "slacks").get_segments())
    assert np.array_equal(lines[:, 0], X[rows])
    values = hyperplane(model).decision_function(lines[:, 1])
    assert values == pytest.approx(y[rows], abs=1e-9)
    lengths = np.hypot(*(lines[:, 1] - lines[:, 0]).T)
    assert lengths == pytest.approx(sides.slack[rows] * model.margin_)
    assert f"slack: {len(sides.inside)} inside, {len(sides.wrong)} wrong" in words(ax)


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_more_features_are_seen_from_the_edge(kind, flowers):
    X, y = flowers
    model = rb.SoftMarginClassifier(C=10).fit(X, y)
    ax = rb.plot.margin(model, kind(X), y)
    plane, sides = hyperplane(model), model.sides(X, y)
    distance = plane.decision_function(X) / plane.norm
    for k, name in enumerate(model.classes_):
        drawn = offsets(find(ax, f"class {k}"))[:, 0]
        assert drawn == pytest.approx(distance[y == name])
    for gid, place in (("edge 0", -1), ("hyperplane", 0), ("edge 1", 1)):
        assert ends(find(ax, gid))[:, 0] == pytest.approx([place * model.margin_] * 2, abs=1e-9)
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
    assert ends(find(ax, "edge 1"))[:, 0] == pytest.approx(
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
    assert _points.MOST <= len(drawn) <= _points.MOST + MOST_SUPPORT
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
    assert plane.decision_function(ends(find(ax, "edge 1"))) == pytest.approx([1, 1])
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
    assert hyperplane(model).decision_function(ends(find(ax, "edge 0"))) == pytest.approx([-1, -1])


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
        edges = hyperplane(model)
    else:
        place = [ends(find(ax, f"edge {k}"))[0, 0] for k in range(2)]
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
    from dataclasses import replace

    fit = model.fits_[0]
    plane = rb.Hyperplane(np.zeros_like(fit.hyperplane.w), 0.0)
    return replace(fit, hyperplane=plane, optimum=replace(fit.optimum, hyperplane=plane))


# Nearest points -------------------------------------------------------------------------------


def test_nearest_points_are_the_models(players, hard):
    ax = rb.plot.nearest(hard, *players, class_names=players.target_names)
    drawn = offsets(find(ax, "nearest"))
    assert drawn == pytest.approx(hard.nearest_points_)
    bridge = np.column_stack(find(ax, "bridge").get_data())
    assert bridge == pytest.approx(drawn)
    assert np.hypot(*(bridge[1] - bridge[0])) == pytest.approx(2 * hard.margin_)
    line = ends(find(ax, "hyperplane"))
    assert hyperplane(hard).decision_function(line) == pytest.approx([0, 0], abs=1e-9)
    assert (line[1] - line[0]) @ (bridge[1] - bridge[0]) == pytest.approx(0, abs=1e-6)
    assert hyperplane(hard).decision_function(bridge.mean(axis=0)[None]) == pytest.approx(
        [0], abs=1e-7
    )
    assert heading(ax) == f"nearest points of the hulls: {2 * hard.margin_:.3g} apart"
    assert np.array_equal(offsets(find(ax, "support")), players.X[hard.support_])


def test_shares_are_written_and_sum_to_one(players, hard):
    ax = rb.plot.nearest(hard, *players)
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
    assert ax.get_xlim() == pytest.approx([-WIDEST * model.margin_, WIDEST * model.margin_])
    out = (hyperplane(model).distance(X) > WIDEST * model.margin_).sum()
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


# Several hyperplanes --------------------------------------------------------------------------


def test_compared_lines_have_their_own_margins(players, hard):
    perceptron = rb.Perceptron().fit(*players)
    axes = rb.plot.compare({"first": perceptron, "best": hard}, *players)
    for ax, model in zip(axes, (perceptron, hard), strict=True):
        plane = hyperplane(model)
        distance = plane.distance(players.X)
        room = distance.min()
        assert plane.distance(ends(find(ax, "hyperplane"))) == pytest.approx([0, 0], abs=1e-9)
        for edge in found(ax, "edge"):
            assert plane.distance(ends(edge)) == pytest.approx([room, room])
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
    return hyperplane(model).margin(data.X, data.y)


def test_the_other_line_is_dotted(players, hard):
    perceptron = rb.Perceptron().fit(*players)
    first, second = rb.plot.compare([perceptron, hard], *players)
    assert hyperplane(hard).distance(ends(find(first, "other"))) == pytest.approx([0, 0], abs=1e-9)
    assert hyperplane(perceptron).distance(ends(find(second, "other"))) == pytest.approx(
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
        plane = hyperplane(model)
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
        edge = ends(find(ax, "edge 1"))
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
    assert ends(find(axes[0], "edge 1"))[:, 0] == pytest.approx([path.margin[1]] * 2)
    assert not axes[0].figure.legends


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


def test_soft_margins_have_no_nearest_points(blurred):
    X, y, model, _ = blurred
    with pytest.raises(ValueError, match=r"no nearest points: give a fitted rb\.MaxMarginC"):
        rb.plot.nearest(model, X, y)


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


def test_pictures_of_runs_say_that_there_was_none(players, hard):
    with pytest.raises(ValueError, match="MaxMarginClassifier has no trace of its epochs"):
        rb.plot.epochs(hard)
    with pytest.raises(ValueError, match="MaxMarginClassifier has no record of its updates"):
        rb.plot.updates(hard, *players)
