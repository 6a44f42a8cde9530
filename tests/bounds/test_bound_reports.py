"""What a report of a run says beside its bound, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from reference import recorded as fit
from rosenblatt.results import BoundReport

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# --------------------------------------------------------------------------- reports, and refusals


def test_inseparable_data_have_no_bound_for_ever():
    X, y = rb.datasets.xor()
    with pytest.raises(ValueError, match=r"no hyperplane separates the classes.*give epochs"):
        rb.mistake_bound(X, y)
    with pytest.raises(ValueError, match="no hyperplane through the origin"):
        rb.mistake_bound(np.array([[1.0], [2.0]]), [0, 1], fit_intercept=False)
    found = rb.mistake_bound(X, y, epochs=3)
    assert (found.bound, found.hyperplane, found.separable) == (12.0, None, False)
    assert (
        str(found) == "at most 12 mistakes in 3 epochs: nE, a mistake per visit with n = 4, E = 3"
    )


def test_what_a_report_says():
    data = rb.datasets.known_margin(200, 3, margin=0.05, random_state=0)
    report = fit(data.X, data.y).bound_report(data.X, data.y)
    assert str(report).splitlines() == [
        "30 mistakes in 5 epochs, 3.77% of the bound",
        "bound: at most 795 mistakes: (R/γ)² with R = 1.41, γ = 0.05",
        "θ·θ* grew as much as it must: at each of 30 updates",
        "‖θ‖² grew no more than it may: at each of 30 updates",
    ]
    with pytest.raises(ValueError, match="read-only"):
        report.progress[0] = 1.0


def test_a_report_can_say_no():
    """Where a lemma, or the bound, does not hold, it is said."""
    X, y = rb.datasets.eight_points()
    good = fit(X, y).bound_report(X, y)
    fields = {name: getattr(good, name) for name in BoundReport.__dataclass_fields__}
    shifted = BoundReport(**(fields | {"progress": good.progress - 1e-6}))
    assert not shifted.progress_holds
    assert shifted.length2_holds
    assert "NOT at every update" in str(shifted)
    longer = BoundReport(**(fields | {"length2": good.length2 + 1e-6 + good.length2_bound}))
    assert not longer.length2_holds
    more = BoundReport(**(fields | {"n_mistakes": 6}))
    assert not more.within
    assert not any(report.holds for report in (shifted, longer, more))


def test_a_run_without_updates():
    X, y = rb.datasets.eight_points()
    report = fit(X, y, init=[1.0, 1.0, 0.0]).bound_report(X, y)
    assert (report.n_mistakes, report.tightness) == (0, 0.0)
    assert report.holds
    assert len(report.progress) == 1


def test_settings_changed_after_the_fit():
    """The run is what is bounded, whatever the parameters say now."""
    X, y = rb.datasets.eight_points()
    model = fit(X, y, eta0=0.25, init=[-3, 1, 0])
    before = model.bound_report(X, y)
    model.set_params(eta0=7.0)
    assert model.bound_report(X, y).bound.bound == before.bound.bound


def test_going_on_with_the_same_data():
    X, y = rb.datasets.flip_labels(rb.datasets.dunkers(random_state=0), 0.1, random_state=0)
    model = rb.Perceptron(record=True, max_epochs=2).fit(X, y)
    for _ in range(3):
        model.partial_fit(X, y)
    report = model.bound_report(X, y)
    assert report.n_epochs == report.bound.epochs == 5
    assert report.holds


def test_reports_need_a_record_and_the_same_data():
    X, y = rb.datasets.dunkers(random_state=0)
    with pytest.raises(ValueError, match="fit with record=True"):
        rb.Perceptron().fit(X, y).bound_report(X, y)
    model = fit(X, y)
    weight = np.full(len(y), 2.0)
    others = [
        ((X[::-1], y), {}),
        ((X, -y), {}),
        ((X + 1e-9, y), {}),
        ((X[:1], y[:1]), {}),
        ((X, y), {"sample_weight": weight + np.arange(len(y))}),
    ]
    for data, more in others:
        with pytest.raises(ValueError, match="not the data of the fit"):
            model.bound_report(*data, **more)
    weighted = rb.Perceptron(record=True).fit(X, y, sample_weight=weight + np.arange(len(y)))
    with pytest.raises(ValueError, match="not the data of the fit"):
        weighted.bound_report(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hyperplane": [1, 1, 0]}, "give a rb.Hyperplane"),
        ({"hyperplane": rb.Hyperplane([1.0])}, "1 weights, but X has 2 features"),
        ({"hyperplane": rb.Hyperplane([0.0, 0.0])}, "the hyperplane is zero"),
        ({"hyperplane": rb.Hyperplane([-1.0, -1.0])}, "8 of 8 samples are not on the right side"),
        (
            {"hyperplane": rb.Hyperplane([1.0, 1.0], 1.0), "fit_intercept": False},
            "fit_intercept=False learns none",
        ),
        ({"init": [1.0]}, "give 3 numbers"),
        ({"init": "random"}, "is no vector"),
        ({"eta0": 0}, "eta0=0 is not allowed"),
        ({"update": "sometimes"}, "update='sometimes' is not known"),
        ({"update": "minibatch"}, "batch_size=None is not allowed"),
        ({"batch_size": 3}, "needs update='minibatch'"),
        ({"epochs": 0}, "epochs=0 is not allowed"),
        ({"epochs": 2.5}, "epochs=2.5 is not allowed"),
    ],
)
def test_nonsense(options, message):
    X, y = rb.datasets.eight_points()
    with pytest.raises(ValueError, match=message) as told:
        rb.mistake_bound(X, y, **options)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("exponent", [-1000, -600, -530, -500, 340, 500])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_without_a_bias_the_scale_does_not_matter(exponent, kind):
    """Powers of two scale exactly; squares of such data would vanish or overflow."""
    matrix = sparse.csr_matrix if kind == "sparse" else np.asarray
    X, y = rb.datasets.eight_points()
    _, mixed = rb.datasets.flip_labels(rb.datasets.eight_points(), 0.3, random_state=0)
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(200) % 2, 1, -1)
    cloud = rng.normal(size=(200, 2)) + labels[:, np.newaxis]
    plane = rb.Hyperplane(np.array([1.0, 0.5]))
    for rows, signs, options in (
        (X, y, {}),
        (X, mixed, {"epochs": 3}),
        (cloud, labels, {"epochs": 40}),
        (cloud, labels, {"epochs": 40, "hyperplane": plane}),
    ):
        one = rb.mistake_bound(rows, signs, fit_intercept=False, **options)
        scaled = matrix(np.ldexp(rows, exponent))
        other = rb.mistake_bound(scaled, signs, fit_intercept=False, **options)
        assert other.bound == pytest.approx(one.bound, rel=1e-9)
        assert math.ldexp(other.R, -exponent) == pytest.approx(one.R, rel=1e-12)
    assert one.shortfall > 0
    assert one.bound < 0.9 * 40 * 200  # the vector says something


@pytest.mark.parametrize("init", [None, [0.0, 0.0, 3.0]])
def test_a_bound_beyond_floats_is_a_power_of_ten(init):
    X, y = rb.datasets.eight_points()
    tiny = rb.mistake_bound(X * 1e-100, y, init=init)
    assert math.isfinite(tiny.bound)
    huge = rb.mistake_bound(X * 1e-200, y, init=init)
    assert huge.most == math.inf
    power = int(str(huge).split("10^")[1].split(" ")[0])
    true = (Fraction(huge.R) / Fraction(huge.gamma)) ** 2  # a guess so short changes little
    assert true <= 10**power <= 1000 * true
    assert "inf" not in str(huge)
    report = fit(X * 1e-200, y, max_epochs=5).bound_report(X * 1e-200, y)
    assert "next to none of the bound" in str(report)
    with pytest.raises(ValueError, match=r"a bound of 10\^\d+ mistakes cannot be drawn"):
        rb.plot.bound(report)


def test_data_that_overflow():
    X, y = [[1e200], [-1e200]], [0, 1]
    assert rb.mistake_bound(X, y).most == 1
    with pytest.raises(ValueError, match="overflow: scale the features"):
        fit(X, y).bound_report(X, y)
