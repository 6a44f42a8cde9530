"""Rows in the order of C, of Fortran, or with their columns backwards give the same bits."""

import numpy as np
import pytest

import rosenblatt as rb

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

LAYOUTS = {
    "Fortran": np.asfortranarray,
    "backwards": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
}


def samples(n, d, noise):
    rng = np.random.default_rng(d)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    y = np.where(X @ w + noise * np.sqrt(d) * rng.standard_normal(n) > 0, 1, -1)
    y[:2] = 1, -1
    X[-1], y[-1] = (X[-2], -y[-2]) if noise else (X[-1], y[-1])
    return X, y


def bits(found):
    """All that is found, as text that tells every bit."""
    if isinstance(found, np.ndarray):
        return found.tobytes().hex()
    if isinstance(found, rb.Hyperplane):
        return bits(found.w), found.b
    if hasattr(found, "__dataclass_fields__"):
        return [bits(getattr(found, name)) for name in found.__dataclass_fields__]
    return repr(found)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("n", "d", "noise"), [(600, 3, 0.0), (600, 3, 1.0), (6, 9000, 0.0)])
class TestTheSameBits:
    def test_of_a_verdict(self, n, d, noise, layout):
        X, y = samples(n, d, noise)
        found, other = (rb.separability(rows, y) for rows in (X, LAYOUTS[layout](X)))
        assert bits(found) == bits(other)
        assert rb.certify.check(found, LAYOUTS[layout](X), y).valid

    @pytest.mark.parametrize("kind", [rb.MaxMarginClassifier, rb.SoftMarginClassifier])
    def test_of_a_margin(self, n, d, noise, layout, kind):
        X, y = samples(n, d, noise)
        found, other = (kind().fit(rows, y) for rows in (X, LAYOUTS[layout](X)))
        for name in ("coef_", "intercept_", "gap_", "margin_", "conditions_", "optimum_"):
            assert bits(getattr(found, name)) == bits(getattr(other, name)), name

    def test_of_predictions(self, n, d, noise, layout):
        X, y = samples(n, d, noise)
        model = rb.Perceptron(max_epochs=20).fit(X, y)
        other = rb.Perceptron(max_epochs=20).fit(LAYOUTS[layout](X), y)
        assert model.coef_.tobytes() == other.coef_.tobytes()
        values, answers = model.decision_function(X), model.predict(X)
        assert values.tobytes() == model.decision_function(LAYOUTS[layout](X)).tobytes()
        assert answers.tobytes() == model.predict(LAYOUTS[layout](X)).tobytes()
        assert values[3:5].tobytes() == model.decision_function(X[3:5]).tobytes()
