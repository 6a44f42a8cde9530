"""Data sets: what they claim to be known is checked by means that know nothing of it."""

import math
from dataclasses import FrozenInstanceError
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from rosenblatt import datasets, theory
from rosenblatt.results import Hyperplane

seeds = st.integers(0, 2**32)


def hull_distance(P, Q):
    """Distance of two disjoint polygons: the least from a point of one to a segment of the other.

    All segments between points of a class are tried: the edges are among them.
    """

    def to_segment(p, a, b):
        length = (b - a) @ (b - a)
        t = np.clip((p - a) @ (b - a) / length, 0, 1) if length else 0.0
        return np.linalg.norm(p - a - t * (b - a))

    def one_way(points, others):
        return min(
            to_segment(p, a, b) for p in points for a, b in combinations_with_replacement(others, 2)
        )

    return min(one_way(P, Q), one_way(Q, P))


def best_margin(X, y):
    """The maximum margin by a general-purpose solver: ``1/‖w‖`` at ``min ‖w‖², y(w·x+b) >= 1``."""
    Z = y[:, np.newaxis] * theory.augment(X)
    start = np.append(y @ X / len(y), 0.0)
    solution = minimize(
        lambda t: t[:-1] @ t[:-1] / 2,
        start,
        jac=lambda t: np.append(t[:-1], 0.0),
        constraints={"type": "ineq", "fun": lambda t: Z @ t - 1, "jac": lambda t: Z},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert solution.success, solution.message
    return 1 / np.linalg.norm(solution.x[:-1])


def is_separable(X, y):
    """Whether ``y(w·x + b) >= 1`` has a solution, by linear programming."""
    Z = y[:, np.newaxis] * theory.augment(X)
    answer = linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=(None, None))
    assert answer.status in (0, 2)
    return answer.status == 0


def assert_same(a, b):
    assert np.array_equal(a.X, b.X)
    assert np.array_equal(a.y, b.y)
    assert a.hyperplane == b.hyperplane


# The object ----------------------------------------------------------------------------------

every = [
    datasets.known_margin(random_state=0),
    datasets.known_margin(9, 4, rotate=True, random_state=0),
    datasets.eight_points(),
    datasets.dunkers(random_state=0),
    datasets.xor(),
    datasets.circles(random_state=0),
    datasets.flip_labels(datasets.eight_points(), 0.25, random_state=0),
]


@pytest.mark.parametrize("data", every, ids=lambda data: data.description)
def test_a_dataset_unpacks_and_is_consistent(data):
    X, y = data
    assert X is data.X
    assert y is data.y
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert y.dtype == np.int64
    assert y.shape == (len(X),)
    assert set(y) == {-1, 1}
    assert len(data.feature_names) == X.shape[1]
    assert len(data.target_names) == 2
    assert repr(data) == f"Dataset({len(X)} samples, {X.shape[1]} features: {data.description})"
    with pytest.raises(FrozenInstanceError):
        data.y = -y


@pytest.mark.parametrize("data", every[:-1], ids=lambda data: data.description)
def test_what_is_said_about_separability_is_so(data):
    X, y = data
    assert data.noisy is None
    assert is_separable(X, y) == data.separable
    if data.separable:
        assert data.hyperplane.margin(X, y) > 0
    else:
        assert data.hyperplane is None
        assert data.margin is None


def test_fixed_data_are_made_afresh():
    datasets.eight_points().X[:] = 0
    assert datasets.eight_points().X.any()


@pytest.mark.parametrize(
    "make",
    [
        lambda s: datasets.known_margin(20, 3, random_state=s),
        lambda s: datasets.known_margin(20, 3, rotate=True, random_state=s),
        lambda s: datasets.dunkers(20, random_state=s),
        lambda s: datasets.circles(20, noise=0.1, random_state=s),
        lambda s: datasets.flip_labels(datasets.dunkers(40, random_state=1), 0.3, random_state=s),
    ],
)
def test_random_state_decides_everything(make):
    assert_same(make(7), make(7))
    assert_same(make(7), make(np.random.default_rng(7)))
    assert not np.array_equal(make(7).y, make(8).y) or not np.array_equal(make(7).X, make(8).X)
    rng = np.random.default_rng(7)
    first, second = make(rng), make(rng)
    assert not np.array_equal(first.y, second.y) or not np.array_equal(first.X, second.X)
    assert make(None).y.shape == make(7).y.shape


# Known margin --------------------------------------------------------------------------------

sizes = st.tuples(st.integers(2, 40), st.integers(1, 8))
# From a sliver to nearly the whole ball, at any scale.
ratios = st.one_of(st.floats(1e-9, 0.999), st.just(1 - 2**-53), st.just(1e-180))
radii = st.sampled_from([1.0, 0.3, 1e-100, 7e5, 1e150])


@given(sizes, ratios, radii, seeds)
def test_the_known_margin_is_exact(size, ratio, radius, seed):
    n, d = size
    margin = radius * ratio
    data = datasets.known_margin(n, d, margin=margin, radius=radius, random_state=seed)
    X, y = data
    assert X.shape == (n, d)
    assert data.margin == margin
    assert data.hyperplane == Hyperplane([1.0] + [0.0] * (d - 1), 0.0)
    # Attained, in floats and without a tolerance ...
    assert (y * X[:, 0] >= margin).all()
    assert data.hyperplane.margin(X, y) == margin
    # ... never exceeded: two samples differ by exactly 2·margin along the first axis.
    twins = [
        (i, j)
        for i in np.flatnonzero((y == 1) & (X[:, 0] == margin))
        for j in np.flatnonzero((y == -1) & (X[:, 0] == -margin))
        if np.array_equal(X[i, 1:], X[j, 1:])
    ]
    assert twins
    assert theory.radius(X, fit_intercept=False) <= radius
    assert abs(y.sum()) == n % 2


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("rotate", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_solver_finds_a_larger_margin(d, rotate, seed):
    data = datasets.known_margin(25, d, margin=0.2, rotate=rotate, random_state=seed)
    assert best_margin(*data) == pytest.approx(0.2, rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_hulls_are_two_margins_apart(seed):
    X, y = datasets.known_margin(16, 2, margin=0.05, rotate=True, random_state=seed)
    assert hull_distance(X[y > 0], X[y < 0]) == pytest.approx(0.1, rel=1e-12)


@given(sizes, seeds, st.floats(1e-3, 0.99))
def test_rotation_keeps_the_geometry(size, seed, margin):
    n, d = size
    plain = datasets.known_margin(n, d, margin=margin, random_state=seed)
    turned = datasets.known_margin(n, d, margin=margin, rotate=True, random_state=seed)
    assert np.array_equal(plain.y, turned.y)
    # An orthogonal map: all inner products stay, and the normal goes along.
    products = turned.X @ turned.X.T
    assert products == pytest.approx(plain.X @ plain.X.T, abs=1e-13)
    assert turned.hyperplane.norm == pytest.approx(1.0, rel=1e-14)
    values = turned.hyperplane.decision_function(turned.X)
    assert values == pytest.approx(plain.hyperplane.decision_function(plain.X), abs=1e-13)
    assert turned.hyperplane.margin(*turned) == pytest.approx(turned.margin, rel=1e-9)
    assert theory.radius(turned.X, fit_intercept=False) <= 1.0


def test_rotation_reaches_every_direction():
    normals = np.array(
        [datasets.known_margin(2, 3, rotate=True, random_state=s).hyperplane.w for s in range(400)]
    )
    # A uniform direction has mean 0 and covariance I/3 in three dimensions.
    assert np.abs(normals.mean(axis=0)).max() < 0.1
    assert np.abs(normals.T @ normals / 400 - np.eye(3) / 3).max() < 0.08


def test_points_crowd_at_the_margin():
    # Of a half disc, the share within t of its flat side is about 4t/π.
    X, y = datasets.known_margin(20_000, 2, margin=0.1, random_state=0)
    share = np.mean(y * X[:, 0] - 0.1 < 0.9 * 0.05)
    assert share == pytest.approx(4 * 0.05 / np.pi, rel=0.1)


def test_classes_and_witnesses_come_in_random_order():
    firsts = [datasets.known_margin(10, 2, random_state=s) for s in range(60)]
    assert {int(data.y[0]) for data in firsts} == {-1, 1}
    at = {int(np.flatnonzero(data.X[:, 0] == 0.1)[0]) for data in firsts}
    assert len(at) == 10


def test_known_margin_of_two_points():
    X, y = datasets.known_margin(2, 1, margin=0.25, random_state=0)
    assert sorted(zip(X[:, 0], y, strict=True)) == [(-0.25, -1), (0.25, 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1}, "n=1 is not allowed"),
        ({"d": 0}, "d=0 is not allowed"),
        ({"margin": 1.0}, "give 0 < margin < radius"),
        ({"margin": 0.0}, "give 0 < margin < radius"),
        ({"margin": -0.1}, "give 0 < margin < radius"),
        ({"margin": math.nan}, "give 0 < margin < radius"),
        ({"margin": 3.0, "radius": 2.0}, "margin=3.0 with radius=2.0"),
        ({"radius": math.inf}, "give 0 < margin < radius"),
    ],
)
def test_known_margin_refuses_the_impossible(arguments, message):
    with pytest.raises(ValueError, match=message):
        datasets.known_margin(**arguments)


# Eight points --------------------------------------------------------------------------------


def test_eight_points_are_the_ones_known():
    X, y = datasets.eight_points()
    assert X[:4].tolist() == [[1, 1], [1, 3], [2, 1], [2, 2]]
    assert X[4:].tolist() == [[-1, -1], [-1, -3], [-2, -1], [-2, -2]]
    assert y.tolist() == [1, 1, 1, 1, -1, -1, -1, -1]


def test_the_maximum_margin_of_the_eight_points():
    X, y = data = datasets.eight_points()
    assert data.margin == math.sqrt(2)
    assert data.hyperplane.margin(X, y) == pytest.approx(data.margin, rel=1e-15)
    assert hull_distance(X[y > 0], X[y < 0]) / 2 == pytest.approx(data.margin, rel=1e-15)
    assert best_margin(X, y) == pytest.approx(data.margin, rel=1e-9)
    assert data.hyperplane.support_vectors(X, y).tolist() == [0, 4]


# Dunkers, XOR, circles -----------------------------------------------------------------------


@given(st.integers(2, 60), st.floats(1e-3, 5), seeds)
def test_dunkers_keep_their_distance_from_the_line(n, gap, seed):
    X, y = data = datasets.dunkers(n, gap=gap, random_state=seed)
    assert X.shape == (n, 2)
    assert np.array_equal(y == 1, 4 * X[:, 0] + 3 * X[:, 1] > 42)
    assert data.hyperplane.margin(X, y) >= gap - 1e-12
    assert abs(y.sum()) == n % 2
    assert data.margin is None


def test_the_line_of_the_dunkers_is_not_the_best_one():
    X, y = data = datasets.dunkers(random_state=0)
    assert best_margin(X, y) > data.hyperplane.margin(X, y)


@pytest.mark.parametrize("arguments", [{"n": 1}, {"gap": 0.0}, {"gap": -1.0}, {"gap": math.nan}])
def test_dunkers_refuses_the_impossible(arguments):
    with pytest.raises(ValueError, match="is not allowed"):
        datasets.dunkers(**arguments)


def test_xor_is_exclusive_or():
    X, y = datasets.xor()
    assert [(a != b) for a, b in X.tolist()] == (y == 1).tolist()
    # The certificate in the docstring: both classes have the same midpoint.
    assert X[y == 1].mean(axis=0).tolist() == X[y == -1].mean(axis=0).tolist() == [0.5, 0.5]


@given(st.integers(6, 40), st.floats(0.05, 0.999), st.sampled_from([0.0, 0.1, 1.0]), seeds)
def test_circles_surround_the_origin_whatever_the_noise(n, inner, noise, seed):
    X, y = data = datasets.circles(n, inner=inner, noise=noise, random_state=seed)
    assert X.shape == (n, 2)
    assert data.separable is False
    # No gap between neighbouring directions reaches half a turn, so no half-plane holds a class.
    for label in (-1, 1):
        angles = np.sort(np.arctan2(X[y == label, 1], X[y == label, 0]))
        gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
        assert gaps.max() < 0.67 * np.pi


@pytest.mark.parametrize("n", [6, 7, 30])
@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_hyperplane_separates_the_circles(n, noise, seed):
    data = datasets.circles(n, inner=0.99, noise=noise, random_state=seed)
    assert not is_separable(*data)


@given(st.integers(6, 60), seeds)
def test_squares_separate_the_circles(n, seed):
    X, y = datasets.circles(n, inner=1.0, outer=2.0, random_state=seed)
    assert np.linalg.norm(X, axis=1) == pytest.approx(np.where(y == 1, 2.0, 1.0), rel=1e-12)
    assert Hyperplane([1.0, 1.0], -2.5).margin(X**2, y) == pytest.approx(1.5 / math.sqrt(2))


def test_noise_moves_the_radii():
    X, y = datasets.circles(4000, inner=1.0, outer=2.0, noise=0.1, random_state=0)
    scatter = np.log(np.linalg.norm(X, axis=1) / np.where(y == 1, 2.0, 1.0))
    assert scatter.std() == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize(
    "arguments",
    [{"n": 5}, {"inner": 0.0}, {"inner": 1.0}, {"inner": 2.0}, {"noise": -0.1}, {"noise": 2.0}],
)
def test_circles_refuses_the_impossible(arguments):
    with pytest.raises(ValueError, match="is not allowed"):
        datasets.circles(**arguments)


# Flipped labels ------------------------------------------------------------------------------


@given(st.integers(2, 50), st.floats(0, 1), seeds)
def test_flip_labels_flips_that_share_and_says_which(n, fraction, seed):
    clean = datasets.known_margin(n, 3, random_state=seed)
    before = clean.y.copy()
    noisy = datasets.flip_labels(clean, fraction, random_state=seed)
    assert np.array_equal(clean.y, before)
    assert noisy.X is clean.X
    assert noisy.noisy.tolist() == np.flatnonzero(noisy.y != clean.y).tolist()
    assert abs(noisy.noisy.size - fraction * n) <= 0.5
    assert noisy.hyperplane is clean.hyperplane
    assert noisy.margin is None
    assert noisy.separable is None
    assert noisy.feature_names == clean.feature_names


@given(seeds, seeds)
def test_a_label_flipped_twice_is_clean(first, second):
    clean = datasets.dunkers(30, random_state=0)
    once = datasets.flip_labels(clean, 0.5, random_state=first)
    twice = datasets.flip_labels(once, 0.5, random_state=second)
    assert twice.noisy.tolist() == np.flatnonzero(twice.y != clean.y).tolist()


def test_flipping_all_labels_flips_the_hyperplane():
    clean = datasets.eight_points()
    X, y = datasets.flip_labels(clean, 1.0)
    turned = Hyperplane(-clean.hyperplane.w, -clean.hyperplane.b)
    assert turned.margin(X, y) == clean.hyperplane.margin(*clean)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, math.nan])
def test_flip_labels_needs_a_share(fraction):
    with pytest.raises(ValueError, match="from 0 to 1"):
        datasets.flip_labels(datasets.xor(), fraction)


@given(n=st.integers(4, 30), scatter=st.floats(0, 0.249), seed=seeds)
def test_scattered_xor_is_inseparable_once_it_has_its_corners(n, scatter, seed):
    data = datasets.xor(n, scatter=scatter, random_state=seed)
    assert data.separable is False
    assert not is_separable(*data)
    assert datasets.xor(8, scatter=0.25).separable is None


@given(n=st.integers(6, 30), seed=seeds)
def test_moons_without_noise_are_inseparable(n, seed):
    data = datasets.moons(n, random_state=seed)
    assert data.separable is False
    assert not is_separable(*data)
    assert datasets.moons(n, noise=0.1).separable is None


@given(n=st.integers(5, 30), seed=seeds)
def test_touching_classes_have_one_line_without_a_sample_on_its_wrong_side(n, seed):
    data = datasets.touching(n, random_state=seed)
    values = data.y * data.hyperplane.decision_function(data.X)
    assert values.min() == 0
    assert (values == 0).sum() == 3
    assert values[values > 0].min() >= 0.25
    assert not is_separable(*data)


def test_cycling_comes_back_every_three_epochs():
    X, y = datasets.cycling()
    theta, seen = np.zeros(3), []
    for _ in range(6):
        for x, label in zip(theory.augment(X), y, strict=True):
            if label * (theta @ x) <= 0:
                theta = theta + label * x
        seen.append(theta.tolist())
    assert seen[2] == [0, 0, 0]
    assert seen[0] != seen[2] != seen[1]
    assert seen[3:] == seen[:3]
    assert not is_separable(X, y)
