"""The mistake bound of several classes as one problem: closed forms, runs within it, its proof."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

import rosenblatt as rb

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LINE = np.array([[-2.0], [0.0], [2.0]])
small = st.integers(-2, 2).map(float)


def test_three_points_on_a_line():
    # By symmetry θ = (-a, -c), (0, 2c), (a, -c), and the leads 3c and 2a - 3c are to be equal.
    found = rb.mistake_bound(LINE, ["a", "b", "c"], multiclass="joint")
    assert pytest.approx(np.sqrt(2 * 5)) == found.R
    assert found.gamma == pytest.approx(np.sqrt(3 / 8))
    assert found.most == 26
    a, c = np.sqrt(3 / 8), np.sqrt(3 / 8) / 3
    thetas = [[*plane.w, plane.b] for plane in found.hyperplanes]
    np.testing.assert_allclose(thetas, [[-a, -c], [0, 2 * c], [a, -c]], atol=1e-12)
    given_ = rb.mistake_bound(LINE, [0, 1, 2], multiclass="joint", hyperplane=found.hyperplanes)
    assert given_.bound == pytest.approx(found.bound)


def test_of_two_classes_it_is_the_ordinary_bound():
    X, y = rb.datasets.eight_points()
    both = [rb.mistake_bound(X, y, multiclass=how) for how in (None, "joint")]
    assert both[0].bound == both[1].bound


@st.composite
def runs(draw):
    n, d, k = draw(st.integers(4, 7)), draw(st.integers(1, 2)), draw(st.integers(3, 4))
    more = draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))
    X, y = draw(arrays(np.float64, (n, d), elements=small)), np.array([*range(k), *more])
    options = draw(
        st.fixed_dictionaries(
            {
                "update": st.sampled_from(["online", "batch"]),
                "order": st.sampled_from(["cyclic", "shuffled", "sampled"]),
                "fit_intercept": st.booleans(),
                "eta0": st.sampled_from([0.5, 1.0]),
            }
        )
    )
    start = draw(arrays(np.float64, (k, d + 1), elements=small))
    start[:, -1] *= options["fit_intercept"]
    init = "zeros" if (start == start[0]).all() else start
    weight = draw(arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0, 1.0, 2.0])))
    weight[0] = 1.0
    return X, y, weight, options | {"init": init}


@settings(max_examples=25)
@given(run=runs())
def test_every_run_is_within_its_bound_and_both_lemmas_hold(run):
    X, y, weight, options = run
    model = rb.Perceptron(**options, multiclass="joint", record=True, max_epochs=200)
    model.set_params(random_state=1).fit(X, y, sample_weight=weight)
    report = model.bound_report(csr_array(X), y, weight)
    assert report.holds
    assert report.bound.separable in (True, False)
    if model.stop_reason_.name == "SEPARATED":
        assert report.bound.separable
    used = weight > 0
    if options["fit_intercept"] and len(np.unique(y[used])) == len(np.unique(y)):
        verdict = rb.separability(X[used], y[used], multiclass="joint").verdict
        assert report.bound.separable == (verdict is rb.Verdict.SEPARABLE)


def test_in_epochs_and_refusals():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="give epochs"):
        rb.mistake_bound(X, y, multiclass="joint")
    limits = [rb.mistake_bound(X, y, multiclass="joint", epochs=e).bound for e in (1, 10, 50)]
    for epochs, limit in zip((1, 10, 50), limits, strict=True):
        model = rb.Perceptron(multiclass="joint", max_epochs=epochs).fit(X, y)
        assert model.n_mistakes_ <= limit <= epochs * len(y)
    same = [rb.Hyperplane(np.ones(4), 0.0)] * 3
    for options, why in (
        ({"multiclass": "ovr"}, "multiclass='ovr'"),
        ({"multiclass": "joint", "kernel": rb.kernels.Linear()}, "goes with no kernel"),
        ({"multiclass": "joint", "hyperplane": same[0]}, "give a list of 3, one per class"),
        ({"multiclass": "joint", "hyperplane": same}, "leaves the classes tied"),
        (
            {"multiclass": "joint", "hyperplane": [*same[:2], rb.Hyperplane(-np.ones(4), 0.0)]},
            "tied or worse",
        ),
    ):
        with pytest.raises(ValueError, match=why):
            rb.mistake_bound(X, y, **options)


def test_other_data_are_refused():
    X, y = load_iris(return_X_y=True)
    model = rb.Perceptron(multiclass="joint", record=True, max_epochs=3).fit(X, y)
    for other in ((X + 1, y), (X, np.roll(y, 1)), (X[:99], y[:99])):
        with pytest.raises(ValueError, match=r"not the data of the fit"):
            model.bound_report(*other)
    with pytest.raises(ValueError, match="record=True"):
        rb.Perceptron(multiclass="joint", max_epochs=3).fit(X, y).bound_report(X, y)
