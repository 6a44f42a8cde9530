"""Files that version 0.1.0 wrote: they load, predict the same, and their proofs hold."""

from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from commands import NOTES, call

HERE = Path(__file__).parent / "fixtures" / "0.1.0"
# They were saved with the scikit-learn of then, which a warning names.
pytestmark = pytest.mark.filterwarnings("ignore::rosenblatt.io.ModelFileWarning")
MODELS = sorted(path.stem for path in HERE.glob("*.skops"))


@pytest.fixture(scope="module")
def answers():
    with np.load(HERE / "answers.npz") as file:
        return dict(file)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "banknotes"])
def test_models_predict_the_same(name, answers):
    model = rb.io.load(HERE / f"{name}.skops")
    X = answers["X"][:, :2] if name == "cycle" else answers["X"]
    np.testing.assert_array_equal(model.predict(X), answers[name])
    values = model.decision_function(X)
    np.testing.assert_allclose(values, answers[f"{name}_values"], rtol=1e-12, atol=1e-12)
    assert model.summary_ == {"rows": 40}


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("banknotes", "pipeline")])
def test_models_have_what_they_had(name):
    model = rb.io.load(HERE / f"{name}.skops")
    fits = model.fits_
    assert len(fits) == (len(model.classes_) if len(model.classes_) > 2 else 1)
    assert all(isinstance(fit.stop_reason, rb.StopReason) for fit in fits)
    assert model.n_iter_ == max(len(fit.trace) for fit in fits)


def test_a_model_of_the_command(tmp_path):
    call("predict", HERE / "banknotes.skops", NOTES, "-o", tmp_path / "answers.csv")
    assert (tmp_path / "answers.csv").read_text() == (HERE / "banknotes.csv").read_text()
    assert "banknotes.csv" in call("show", HERE / "banknotes.skops").stdout


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("separable", "two"),
        ("inseparable", "noisy"),
        ("maximum_margin", "two"),
        ("soft_margin", "noisy"),
    ],
)
def test_certificates_hold(name, labels, answers):
    certificate = rb.io.load_certificate(HERE / f"{name}.json")
    assert rb.certify.check(certificate, answers["X"], answers[labels]).valid
    assert not rb.certify.check(certificate, answers["X"], answers["two"][::-1]).valid


def test_a_certificate_of_touching_classes_holds():
    certificate = rb.io.load_certificate(HERE / "quasi_separable.json")
    line = np.array([[0.0], [1.0], [1.0], [2.0]])
    assert certificate.verdict is rb.Verdict.QUASI_SEPARABLE
    assert rb.certify.check(certificate, line, [0, 0, 1, 1]).valid
