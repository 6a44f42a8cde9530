"""Pictures of hulls: what is drawn is what is proved."""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.sparse import csr_matrix

import rosenblatt as rb
from pictures import find, found, heading, line_ends, offsets, words
from rosenblatt.plot.convex_hulls import hull, overlap
from rosenblatt.plot.plane import MOST
from rosenblatt.results import Inseparable, Separable, Undecided

pytestmark = pytest.mark.usefixtures("settings_stay")


# Two triangles with a corner of one on an edge of the other.
TOUCHING = (
    np.array([[0.0, 0.0], [0.0, 2.0], [-1.0, 1.0], [0.0, 0.5], [1.0, 1.0], [2.0, 3.0]]),
    np.array([-1, -1, -1, 1, 1, 1]),
)


@pytest.fixture(scope="module")
def rings():
    return rb.datasets.circles(30, noise=0.1, random_state=0)


def inside(polygon, points):
    """Whether points lie in a convex polygon whose corners run counter-clockwise."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    to = points[:, None] - polygon
    return (edges[:, 0] * to[..., 1] - edges[:, 1] * to[..., 0] >= -1e-9).all(axis=1)


# The geometry ---------------------------------------------------------------------------------


def test_hull_holds_all_points_and_has_only_their_corners():
    points = np.random.default_rng(0).standard_normal((200, 2)) * [1, 1e6]
    corners = hull(points)
    assert {*map(tuple, corners)} <= {*map(tuple, points)}
    assert inside(corners, points).all()
    assert len(corners) < 30


@pytest.mark.parametrize(
    ("points", "corners"),
    [
        ([[1, 2]], [[1, 2]]),
        ([[1, 2], [1, 2]], [[1, 2]]),
        ([[1, 2], [0, 5]], [[0, 5], [1, 2]]),
        ([[0, 0], [3, 3], [1, 1], [2, 2]], [[0, 0], [3, 3]]),
        ([[7, 0], [7, 3], [7, -1]], [[7, -1], [7, 3]]),
        ([[0, 7], [3, 7], [-1, 7]], [[-1, 7], [3, 7]]),
        ([[0, 3], [1, 2], [3, 0]], [[0, 3], [3, 0]]),
    ],
)
def test_flat_hulls(points, corners):
    assert hull(np.array(points, float)).tolist() == corners


def test_overlap_is_where_both_are():
    a = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    common = overlap([a, a + 1])
    assert {*map(tuple, common)} == {(1, 1), (2, 1), (2, 2), (1, 2)}
    assert not len(overlap([a, a + 5]))
    assert not len(overlap([a, a[:2]]))


# Two features ---------------------------------------------------------------------------------


def test_hulls_are_those_of_the_classes(dunkers):
    ax = rb.plot.hulls(*dunkers, class_names=dunkers.target_names)
    for k, label in enumerate((-1, 1)):
        own = dunkers.X[dunkers.y == label]
        assert np.array_equal(offsets(find(ax, f"class {k}")), own)
        corners = find(ax, f"hull {k}").get_xy()[:-1]
        assert np.array_equal(corners, hull(own))
        edge = np.column_stack(find(ax, f"hull edge {k}").get_data())
        assert np.array_equal(edge[0], edge[-1])
    assert {"cannot dunk", "can dunk"} <= set(words(ax))


def test_separable_has_line_and_band(dunkers):
    certificate = rb.separability(*dunkers)
    ax = rb.plot.hulls(*dunkers, certificate)
    plane = certificate.hyperplane
    line = find(ax, "hyperplane")
    on_it = line_ends(line)
    assert plane.distance(on_it) == pytest.approx([0, 0], abs=1e-9)
    values = plane.decision_function(find(ax, "band").get_xy()) / plane.norm
    assert (values.min(), values.max()) == pytest.approx((-certificate.margin, certificate.margin))
    assert f"margin {certificate.margin:.3g}" in words(ax)
    assert heading(ax) == "separable: the hulls are apart"
    assert not found(ax, "point")


def test_exact_hyperplanes_are_said_to_be_rounded(dunkers):
    certificate = rb.separability(*dunkers)
    exact = tuple(Fraction(v) for v in (*certificate.hyperplane.w, certificate.hyperplane.b))
    ax = rb.plot.hulls(*dunkers, Separable(certificate.hyperplane, 0.0, exact))
    assert any("rounded" in text for text in words(ax))
    assert not found(ax, "band")


def test_inseparable_has_the_meeting_point(rings):
    certificate = rb.separability(*rings)
    ax = rb.plot.hulls(*rings, certificate)
    assert heading(ax) == "inseparable: the hulls overlap"
    assert offsets(find(ax, "point"))[0] == pytest.approx(certificate.point)
    widths = []
    for i in certificate.support:
        spoke = find(ax, f"share {i}")
        ends = np.column_stack(spoke.get_data())
        assert ends == pytest.approx(np.array([certificate.point, rings.X[i]]))
        widths.append(spoke.get_linewidth())
    assert np.array_equal(np.argsort(widths), np.argsort(certificate.weights))
    shown = {text.get_text() for text in ax.texts}
    assert shown == {f"{share:.2g}" for share in certificate.weights if share < 1}
    assert not found(ax, "hyperplane")
    common = find(ax, "overlap").get_xy()[:-1]
    for k, label in enumerate((-1, 1)):
        assert inside(hull(rings.X[rings.y == label]), common).all(), k


def test_quasi_separable_has_both():
    X, y = TOUCHING
    certificate = rb.separability(X, y)
    ax = rb.plot.hulls(X, y, certificate)
    assert heading(ax) == "quasi-separable: the hulls touch"
    line = find(ax, "hyperplane")
    on_it = line_ends(line)
    assert certificate.hyperplane.distance(on_it) == pytest.approx([0, 0], abs=1e-9)
    assert np.array_equal(offsets(find(ax, "on")), X[[0, 1, 3]])
    assert "on it: 3 of 6" in words(ax)
    assert offsets(find(ax, "point"))[0].tolist() == [0, 0.5]
    assert "in both hulls: (0, 0.5)" in words(ax)
    assert not found(ax, "band")
    assert not found(ax, "overlap")


def test_a_sample_in_both_classes():
    X, y = np.array([[0.0, 1.0], [2.0, 3.0], [2.0, 3.0], [5.0, 1.0]]), [0, 0, 1, 1]
    ax = rb.plot.hulls(X, y)
    assert "a sample of each class lies here: (2, 3)" in words(ax)
    assert not ax.texts
    star, here = find(ax, "point"), [2.0, 3.0]
    sizes = {}
    for k in range(2):
        shown = [c for c in found(ax, f"class {k}") if here in offsets(c).tolist()]
        top = max(shown, key=lambda c: c.get_zorder())
        assert top.get_zorder() > star.get_zorder()
        sizes[k] = top.get_sizes()[0]
    assert sizes[0] > 3 * sizes[1]  # the one drawn later lies within the other
    assert star.get_sizes()[0] > 3 * sizes[0]


def test_a_sample_at_the_meeting_point_is_seen():
    ax = rb.plot.hulls([[1, 3], [3, 9], [2, 6]], [0, 0, 1])
    star = find(ax, "point")
    shown = [c for c in found(ax, "class 1") if [2.0, 6.0] in offsets(c).tolist()]
    assert max(c.get_zorder() for c in shown) > star.get_zorder()
    assert star.get_sizes()[0] > 3 * max(c.get_sizes()[0] for c in shown)


def test_undecided_has_its_bracket(dunkers):
    ax = rb.plot.hulls(*dunkers, Undecided((-0.25, 0.5)))
    assert heading(ax) == "undecided: time ran out"
    assert "the largest margin is between −0.25 and 0.5" in words(ax)
    assert found(ax, "hull 0")
    assert not found(ax, "hyperplane")


def test_asks_for_the_verdict_itself():
    ax = rb.plot.hulls(*rb.datasets.xor())
    assert offsets(find(ax, "point"))[0].tolist() == [0.5, 0.5]
    assert {find(ax, f"share {i}").get_linewidth() for i in range(4)} == {3.5}


def test_frames_labels_and_axes_of_your_own(dunkers):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(dunkers.X, columns=["tall", "high"])
    mine = plt.subplots()[1]
    ax = rb.plot.hulls(frame, np.where(dunkers.y > 0, "yes", "no"), ax=mine)
    assert ax is mine
    assert ax.get_xlabel() == "tall"
    assert {"no", "yes"} <= set(words(ax))
    names = rb.plot.hulls(csr_matrix(dunkers.X), dunkers.y, feature_names=["a", "b"])
    assert names.get_ylabel() == "b"


def test_many_samples_are_drawn_in_part_and_their_hulls_whole():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5000, 2)), np.where(np.arange(5000) % 2, 1, -1)
    certificate = rb.separability(X, y)
    ax = rb.plot.hulls(X, y, certificate)
    drawn = np.vstack([offsets(find_first(ax, f"class {k}")) for k in range(2)])
    assert MOST <= len(drawn) <= MOST + len(certificate.support)
    assert {*map(tuple, X[certificate.support])} <= {*map(tuple, drawn)}
    assert f"{len(drawn)} of 5000 points drawn" in words(ax)
    assert np.array_equal(find(ax, "hull 0").get_xy()[:-1], hull(X[y < 0]))


def find_first(ax, gid):
    """The samples; the support is drawn once more on top."""
    return found(ax, gid)[0]


# Other numbers of features --------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_a_hyperplane_is_seen_from_its_edge(kind):
    data = rb.datasets.known_margin(60, d=5, margin=0.1, rotate=True, random_state=0)
    certificate = rb.separability(*data)
    ax = rb.plot.hulls(kind(data.X), data.y, certificate)
    distance = certificate.hyperplane.decision_function(data.X) / certificate.hyperplane.norm
    for k, label in enumerate((-1, 1)):
        assert offsets(find(ax, f"class {k}"))[:, 0] == pytest.approx(distance[data.y == label])
    # As apart in the picture as they are.
    left, right = (find(ax, f"hull {k}").get_xy()[:, 0] for k in range(2))
    assert right.min() - left.max() >= 2 * certificate.margin - 1e-12
    assert "shadow of 5 features, the hyperplane seen from its edge" in ax.get_xlabel()
    assert ax.get_xlabel().startswith("signed distance")


def test_touching_in_four_features():
    X, y = TOUCHING
    X = np.column_stack([X, [1, 0, 2, 0.75, 1, 2], [0, 0, 1, 0, 3, 1]])
    X[3] = (3 * X[0] + X[1]) / 4
    certificate = rb.separability(X, y)
    assert certificate.verdict is rb.Verdict.QUASI_SEPARABLE
    ax = rb.plot.hulls(X, y, certificate)
    assert offsets(find(ax, "on"))[:, 0] == pytest.approx(0, abs=1e-12)
    assert offsets(find(ax, "point"))[0, 0] == 0


def test_overlapping_shadows_are_said_to_prove_nothing():
    data = rb.datasets.known_margin(60, d=5, margin=0.1, random_state=0)
    data = rb.datasets.flip_labels(data, 0.1, random_state=0)
    certificate = rb.separability(*data)
    ax = rb.plot.hulls(*data, certificate)
    assert "shadow of 5 features: shadows may overlap where hulls do not" in ax.get_xlabel()
    assert "a point in both hulls" in words(ax)
    # The meeting point is the mean of its samples in the shadow too.
    at = {i: np.column_stack(find(ax, f"share {i}").get_data())[1] for i in certificate.support}
    for label in (-1, 1):
        own = data.y[certificate.support] == label
        mean = certificate.weights[own] @ [at[i] for i in certificate.support[own]]
        assert mean == pytest.approx(offsets(find(ax, "point"))[0])


def test_equal_means_have_a_shadow_too():
    X = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]])
    ax = rb.plot.hulls(X, [0, 0, 1, 1])
    assert ax.get_xlabel().startswith("direction of largest spread")


def test_one_feature_has_a_row_for_each_class():
    X, y = np.array([[0.0], [2.0], [1.0], [3.0]]), ["no", "no", "yes", "yes"]
    certificate = rb.separability(X, y)
    ax = rb.plot.hulls(X, y, certificate)
    assert offsets(find_first(ax, "class 0")).tolist() == [[0, -1], [2, -1]]
    assert offsets(find_first(ax, "class 1")).tolist() == [[1, 1], [3, 1]]
    assert offsets(find(ax, "point"))[0].tolist() == [certificate.point[0], 0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["no", "yes"]
    apart = rb.plot.hulls(X, [0, 1, 0, 1])
    assert find(apart, "hyperplane").get_xy1()[0] == pytest.approx(
        find(apart, "hyperplane").get_xy2()[0]
    )
    assert 1 < find(apart, "hyperplane").get_xy1()[0] < 2


# Lines that say what is wrong -----------------------------------------------------------------


def test_refuses(dunkers, rings):
    other = "not about these data: give the X and y it was made from"
    with pytest.raises(ValueError, match="y holds 3 classes: hulls are drawn of two"):
        rb.plot.hulls(np.eye(3), [0, 1, 2], Undecided((0, 1)))
    with pytest.raises(
        ValueError, match=r"certificate is a Perceptron: give what rb\.separability"
    ):
        rb.plot.hulls(*dunkers, rb.Perceptron())
    with pytest.raises(ValueError, match=other):
        rb.plot.hulls(dunkers.X, -dunkers.y, rb.separability(*dunkers))
    with pytest.raises(ValueError, match=other):
        rb.plot.hulls(*rb.datasets.xor(), rb.separability(*rings))
    proof = rb.separability(*rings)
    moved = Inseparable(
        proof.support,
        proof.weights,
        proof.point + 0.1,
        proof.spanning_support,
        proof.spanning_weights,
    )
    with pytest.raises(ValueError, match=other):
        rb.plot.hulls(*rings, moved)
    with pytest.raises(ValueError, match="X has 2 features but the model has 5"):
        rb.plot.hulls(*dunkers, Separable(rb.Hyperplane(np.ones(5)), 1.0))
