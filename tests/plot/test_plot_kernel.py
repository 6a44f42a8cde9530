"""Pictures of kernel perceptrons: what is drawn is what the model says."""

import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.path import Path
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

import rosenblatt as rb
from pictures import find, found, heading, offsets, words
from rosenblatt.plot import curves, plane

pytestmark = pytest.mark.usefixtures("settings_stay")


@pytest.fixture(scope="module")
def rings():
    clean = rb.datasets.circles(120, noise=0.1, random_state=0)
    return rb.datasets.flip_labels(clean, 0.05, random_state=1)


@pytest.fixture(scope="module")
def dropping(rings):
    return rb.KernelPerceptron(kernel="gaussian", sigma=0.5, drop_after=5).fit(*rings)


@pytest.fixture(scope="module")
def petals():
    iris = load_iris()
    return iris.data[:, 2:], iris.target_names[iris.target]


@pytest.fixture(scope="module")
def petal_model(petals):
    return rb.KernelPerceptron(gamma=0.7, drop_after=9).fit(*petals)


@pytest.fixture(scope="module")
def rings_drawn(rings, dropping):
    return rb.plot.decision(dropping, *rings, class_names=rings.target_names)


@pytest.fixture(scope="module")
def petals_drawn(petals, petal_model):
    return rb.plot.decision(petal_model, *petals)


def inside(contour, points):
    """Which points lie in a filled region: an odd number of its closed curves is around them."""
    around = np.zeros(len(points), dtype=int)
    for path in contour.get_paths():
        for polygon in path.to_polygons():
            around += Path(polygon).contains_points(points)
    return around % 2 == 1


# Two features ---------------------------------------------------------------------------------


def test_the_boundary_is_where_the_value_is_zero(rings, dropping, rings_drawn):
    ax = rings_drawn
    line = np.concatenate([path.vertices for path in find(ax, "boundary 1").get_paths()])
    assert len(line) > 100
    values = dropping.decision_function(line)
    assert np.abs(values).max() < 0.01 * np.abs(dropping.decision_function(rings.X)).max()
    assert "f(x) = 0" in words(ax)


@pytest.mark.parametrize("options", [{}, {"kernel": "poly", "degree": 2}, {"keep": "vote"}])
def test_regions_are_the_answers(options, rings):
    clean = rb.datasets.circles(120, noise=0.1, random_state=0)
    model = rb.KernelPerceptron(**{"gamma": 1.0, **options}).fit(*clean)
    ax = rb.plot.decision(model, *clean)
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    rng = np.random.default_rng(0)
    points = rng.uniform(low + 0.01, high - 0.01, (300, 2))
    clear = np.abs(model.decision_function(points)) > 0.05
    answers = model.predict(points)
    for k, label in enumerate(model.classes_):
        assert (inside(find(ax, f"region {k}"), points) == (answers == label))[clear].all()


def test_regions_of_several_classes(petal_model, petals_drawn):
    ax = petals_drawn
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    points = np.random.default_rng(0).uniform(low + 0.01, high - 0.01, (300, 2))
    top = np.sort(petal_model.decision_function(points), axis=1)
    clear = top[:, -1] - top[:, -2] > 0.05
    assert clear.sum() > 200
    answers = petal_model.predict(points)
    for k, label in enumerate(petal_model.classes_):
        assert (inside(find(ax, f"region {k}"), points) == (answers == label))[clear].all()
    assert {"setosa", "versicolor", "virginica", "where two classes are level"} <= set(words(ax))
    assert not found(ax, "equal")


def test_equal_values_have_a_line(rings, dropping, rings_drawn):
    ax = rings_drawn
    equal = find(ax, "equal")
    step = np.diff(equal.levels).min()
    assert 0 not in equal.levels
    assert len(equal.levels) > 3
    assert f"equal f, steps of {step:g}" in words(ax)
    for level, path in zip(equal.levels, equal.get_paths(), strict=True):
        values = dropping.decision_function(path.vertices)
        assert np.abs(values - level).max() < 0.1 * step


def test_support_vectors_have_discs_by_their_counters(rings, dropping, rings_drawn):
    ax = rings_drawn
    discs, alpha = find(ax, "support"), dropping.alpha_[0]
    where = {tuple(at): size for at, size in zip(offsets(discs), discs.get_sizes(), strict=True)}
    assert len(where) == len(dropping.support_)
    areas = np.array([where[tuple(v)] for v in dropping.support_vectors_])
    assert areas / areas.max() == pytest.approx(alpha / alpha.max())
    said = f"support vectors: {len(alpha)} (area: α, {alpha.min()} to {alpha.max()})"
    assert said in words(ax)


def test_dropped_samples_are_crossed_out(rings, dropping, rings_drawn):
    ax = rings_drawn
    rows = np.unique(dropping.dropped_.sample)
    assert np.array_equal(offsets(find(ax, "dropped")), rings.X[rows])
    assert f"dropped: {len(rows)}" in words(ax)
    wrong = dropping.predict(rings.X) != rings.y
    assert np.array_equal(offsets(find(ax, "wrong")), rings.X[wrong])
    assert {"inner", "outer", f"wrong: {wrong.sum()} of 120"} <= set(words(ax))


def test_dropped_samples_of_any_class(petals, petal_model, petals_drawn):
    rows = np.unique(np.concatenate([one.sample for one in petal_model.dropped_]))
    ax = petals_drawn
    assert np.array_equal(offsets(find(ax, "dropped")), petals[0][rows])
    assert f"dropped for a class: {len(rows)}" in words(ax)


def test_other_samples_are_not_crossed_out(rings, dropping):
    n = len(dropping.dropped_)
    for X, y in ((rings.X[::-1], rings.y[::-1]), (rings.X[:9], rings.y[:9])):
        ax = rb.plot.decision(dropping, X, y)
        assert not found(ax, "dropped")
        assert f"dropped: {n} of the data of the fit" in words(ax)


def test_the_title_is_the_kernel(rings):
    X, y = rb.datasets.xor()
    model = rb.KernelPerceptron(kernel="poly", degree=2, gamma=1.0).fit(X, y)
    assert heading(rb.plot.decision(model, X, y)) == "K(x, y) = (x·y + 1)^2"
    model = rb.KernelPerceptron(gamma=2.0, fit_intercept=True).fit(X, y)
    assert heading(rb.plot.decision(model, X, y)) == "K(x, y) = exp(−2·‖x − y‖²) + 1"


def test_a_zero_value_is_the_first_class(rings):
    """Far from all support vectors the values underflow; the answer there is the first class."""
    model = rb.KernelPerceptron(gamma=3e4).fit(*rings)
    ax = rb.plot.decision(model, *rings)
    corner = np.array([[ax.get_xlim()[0], ax.get_ylim()[0]]]) + 0.02
    assert model.decision_function(corner) == 0
    assert inside(find(ax, "region 0"), corner).all()


def test_one_answer_everywhere():
    X, y = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), np.array([0, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rb.KernelPerceptron(kernel="linear", max_epochs=2).fit(X, y)
    ax = rb.plot.decision(model, X, y)
    assert "everything here is “0”" in words(ax)
    assert not found(ax, "boundary 1")


def test_large_data_are_thinned_but_not_what_is_wrong(monkeypatch, rings, dropping):
    monkeypatch.setattr(plane, "MOST", 30)
    ax = rb.plot.decision(dropping, *rings)
    drawn = sum(len(offsets(find(ax, f"class {k}"))) for k in (0, 1))
    assert 30 <= drawn < 120
    assert f"{drawn} of 120 points drawn" in words(ax)
    assert len(offsets(find(ax, "dropped"))) == len(dropping.dropped_)
    monkeypatch.setattr(curves, "MOST_DISCS", 5)
    ax = rb.plot.decision(dropping, *rings)
    largest = np.sort(dropping.alpha_[0])[-5:]
    assert len(offsets(find(ax, "support"))) == 5
    assert any(f"{largest[0]} to {largest[-1]}, 5 largest drawn" in text or
               f"α = {largest[0]}, 5 largest drawn" in text for text in words(ax))  # fmt: skip


def test_one_call_for_the_grid(monkeypatch, rings, dropping):
    sizes = []
    decide = rb.KernelPerceptron.decision_function

    def counted(self, X):
        sizes.append(len(X))
        return decide(self, X)

    monkeypatch.setattr(rb.KernelPerceptron, "decision_function", counted)
    rb.plot.decision(dropping, *rings)
    large = [size for size in sizes if size > len(rings.y)]
    assert len(large) == 1
    assert large[0] <= curves.GRID**2


def test_sparse_rows_and_data_frames(rings, dropping):
    X, y = rings
    model = rb.KernelPerceptron(kernel="gaussian", sigma=0.5, drop_after=5).fit(csr_matrix(X), y)
    ax = rb.plot.decision(model, csr_matrix(X), y)
    assert len(offsets(find(ax, "dropped"))) == len(dropping.dropped_)
    frame = pd.DataFrame(X, columns=["east", "north"])
    model = rb.KernelPerceptron(kernel="gaussian", sigma=0.5, drop_after=5).fit(frame, y)
    ax = rb.plot.decision(model, frame, y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east", "north")


def test_wrong_input_is_refused(rings, dropping):
    X, y = rings
    with pytest.raises(ValueError, match="X has 3 features but the model has 2"):
        rb.plot.decision(dropping, np.ones((4, 3)), y[:4])
    with pytest.raises(ValueError, match="y has 5 samples but X has 120 rows"):
        rb.plot.decision(dropping, X, y[:5])
    with pytest.raises(ValueError, match="which is not a class of the model"):
        rb.plot.decision(dropping, X, y + 7)
    with pytest.raises(ValueError, match="KernelPerceptron is not fitted"):
        rb.plot.decision(rb.KernelPerceptron(), X, y)


# Any other number of features -----------------------------------------------------------------


def test_the_view_along_the_normal_has_true_distances():
    """With the linear kernel feature space is the space itself."""
    data = rb.datasets.known_margin(60, 4, margin=0.2, random_state=0)
    plain = rb.Perceptron(fit_intercept=False).fit(*data)
    model = rb.KernelPerceptron(kernel="linear").fit(*data)
    ax = rb.plot.decision(model, *data)
    expected = plain.decision_function(data.X) / np.linalg.norm(plain.coef_)
    named = found(ax, "class 0") + found(ax, "class 1")
    points = [offsets(one)[:, 0] for one in named if hasattr(one, "get_offsets")]
    drawn = np.concatenate(points)
    assert np.sort(drawn) == pytest.approx(np.sort(expected))
    assert ax.get_xlabel() == "f(x)/‖w‖, the signed distance in feature space"
    margin = (data.y * expected).min()
    assert f"margin {margin:.3g}" in words(ax)
    assert f"support vectors: {len(model.support_)}" in words(ax)
    assert heading(ax) == "K(x, y) = x·y"


def test_norms_are_those_of_feature_space(rings):
    X = np.column_stack([rings.X, rings.X[:, 0] * 0.1])
    model = rb.KernelPerceptron(gamma=2.0, drop_after=5).fit(X, rings.y)
    K, c = model.kernel_(model.support_vectors_), model.dual_coef_[0]
    F = model.decision_function(X)[:, None]
    assert curves._norms(model, F) == pytest.approx([np.sqrt(c @ K @ c)])
    ax = rb.plot.decision(model, X, rings.y)
    assert f"dropped: {len(model.dropped_)}" in words(ax)


def test_rows_for_several_classes():
    X, y = load_iris(return_X_y=True)
    model = rb.KernelPerceptron(gamma=0.7).fit(X, y)
    ax = rb.plot.decision(model, X, y)
    assert len(found(ax, "class 2")) == 1
    assert ax.get_xlabel().startswith("each class's own f(x)/‖w‖")
    assert heading(ax) == "K(x, y) = exp(−0.7·‖x − y‖²)"


def test_a_vote_has_no_distances(rings):
    X = np.column_stack([rings.X, rings.X[:, 0]])
    model = rb.KernelPerceptron(gamma=2.0, keep="vote", drop_after=5).fit(X, rings.y)
    assert rb.plot.decision(model, X, rings.y).get_xlabel() == "share of the vote for minus against"


def test_given_values(rings):
    K = rb.kernels.Gaussian(0.5)(rings.X)
    model = rb.KernelPerceptron(kernel="precomputed", drop_after=5).fit(K, rings.y)
    other = rb.KernelPerceptron(kernel="gaussian", sigma=0.5, drop_after=5).fit(*rings)
    ax = rb.plot.decision(model, K, rings.y)
    assert ax.get_xlabel().startswith("f(x)/‖w‖")
    assert f"dropped: {len(other.dropped_)}" in words(ax)
    few = rb.plot.decision(model, K[:7], rings.y[:7])  # the norm cannot be known from these
    assert few.get_xlabel() == "f(x)"


# Other pictures -------------------------------------------------------------------------------


def test_epochs(rings, dropping):
    ax = rb.plot.epochs(dropping)
    line = find(ax, "mistakes 0")
    assert np.array_equal(line.get_ydata(), dropping.trace_.mistakes)
    assert f"no mistakes after {dropping.n_iter_} epochs" in words(ax)


@pytest.mark.parametrize("draw", [rb.plot.updates, rb.plot.margin])
def test_what_needs_a_hyperplane_says_so(draw, rings, dropping):
    with pytest.raises(ValueError, match=r"KernelPerceptron .*") as refused:
        draw(dropping, *rings)
    assert "\n" not in str(refused.value)


def test_updates_name_what_there_is(rings, dropping):
    with pytest.raises(ValueError, match=r"rb\.plot\.decision draws what it decides"):
        rb.plot.updates(dropping, *rings)
    with pytest.raises(ValueError, match="weights of samples, not of features"):
        rb.plot.neuron(dropping)
