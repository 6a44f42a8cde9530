"""Files of best hyperplanes."""

import copy
import pickle

import numpy as np
import pytest

import rosenblatt as rb
from model_files import cloud, differences, round_trip, without_summary

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def best(name):
    """Fitted margins that ended in every way there is."""
    X, y = cloud()
    apart, label = rb.datasets.eight_points()
    square, odd = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    touching = np.array([[0.0, 0], [3, 0], [1, 0], [1, 1], [0, -1]]), np.array([0, 0, 1, 1, 0])
    return {
        "hard": lambda: (rb.MaxMarginClassifier().fit(apart, label), apart, label),
        "soft": lambda: (rb.SoftMarginClassifier(C=3).fit(X, y), X, y),
        "soft, classes": lambda: (rb.SoftMarginClassifier().fit(*cloud(3)), *cloud(3)),
        "hard, classes": lambda: (rb.MaxMarginClassifier().fit(*cloud(3)), *cloud(3)),
        "inseparable": lambda: (rb.MaxMarginClassifier().fit(square, odd), square, odd),
        "touching": lambda: (rb.MaxMarginClassifier().fit(*touching), *touching),
        "time": lambda: (rb.SoftMarginClassifier(max_time=1e-9).fit(X, y), X, y),
        "interrupted": lambda: (
            rb.SoftMarginClassifier(callback=interrupt, tol=1e-12).fit(X, y),
            X,
            y,
        ),
    }[name]()


def interrupt(_):
    raise KeyboardInterrupt


ENDS = {
    "hard": rb.StopReason.GAP_CLOSED,
    "soft": rb.StopReason.GAP_CLOSED,
    "soft, classes": (rb.StopReason.GAP_CLOSED,) * 3,
    "hard, classes": (rb.StopReason.INSEPARABLE,) * 3,
    "inseparable": rb.StopReason.INSEPARABLE,
    "touching": rb.StopReason.INSEPARABLE,
    "time": rb.StopReason.TIME_LIMIT,
    "interrupted": rb.StopReason.INTERRUPTED,
}


@pytest.mark.parametrize("name", ENDS)
def test_margins_in_every_bit(name, tmp_path):
    model, X, y = best(name)
    assert model.stop_reason_ == ENDS[name]
    model.set_params(callback=None)
    for twin in (
        without_summary(round_trip(model, tmp_path)),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        assert differences(model, twin) == []
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
        views = ("certificate_", "optimum_", "conditions_", "support_", "dual_coef_", "trace_")
        for view in (*views, "stop_reason_", "gap_", "margin_"):
            assert differences(getattr(model, view), getattr(twin, view)) == []
        if isinstance(model, rb.MaxMarginClassifier):
            assert differences(model.nearest_points_, twin.nearest_points_) == []
        assert differences(model.sides(X, y), twin.sides(X, y)) == []
        for k, fit in enumerate(twin.fits_):
            label = y if len(twin.fits_) == 1 else y == twin.classes_[k]
            if fit.certificate is not None:
                assert rb.certify.check(fit.certificate, X, label)
            with pytest.raises(ValueError, match="read-only"):
                fit.optimum.multipliers[:] = 1.0


def test_what_proves_that_classes_touch_is_exact_after_a_file(tmp_path):
    model, X, y = best("touching")
    proof = round_trip(model, tmp_path).certificate_
    assert isinstance(proof, rb.QuasiSeparable)
    assert proof.support.tolist() == [0, 1, 2]
    # (1, 0) is 2/3 of (0, 0) and 1/3 of (3, 0)
    np.testing.assert_allclose(proof.weights, [2 / 3, 1 / 3, 1], rtol=1e-15)
    assert rb.certify.check(proof, X, y)


def test_a_soft_margin_starts_warm_after_a_file(tmp_path):
    X, y = cloud()
    model = rb.SoftMarginClassifier(C=3.0, warm_start=True).fit(X, y)
    twin = without_summary(round_trip(model, tmp_path))
    for each in (model, twin):
        each.set_params(C=4.0).fit(X, y)
    assert differences(model, twin, skip=("seconds",)) == []


def test_margins_of_a_file_with_other_shapes_are_refused():
    model, _, _ = best("soft")
    state = model.__getstate__()
    with pytest.raises(ValueError, match="do not fit together"):
        rb.SoftMarginClassifier().__setstate__({**state, "coef_": np.zeros((1, 9))})
