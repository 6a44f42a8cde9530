"""Files of kernel perceptrons: they come back whole, and nothing else comes in."""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import rosenblatt as rb
from rosenblatt.files import models


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def noisy():
    clean = rb.datasets.circles(120, noise=0.1, random_state=0)
    return rb.datasets.flip_labels(clean, 0.05, random_state=1)


@pytest.mark.parametrize("keep", ["last", "average", "auto", "vote", "pocket"])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_models_come_back_whole(keep, form):
    X, y = noisy()
    X = form(X)
    model = rb.KernelPerceptron(gamma=2.0, keep=keep, drop_after=5, record=True).fit(X, y)
    rb.io.save(model, "m.skops")
    back = rb.io.load("m.skops")
    assert (back.decision_function(X) == model.decision_function(X)).all()
    assert back.kernel_ == model.kernel_
    assert list(back.dropped_) == list(model.dropped_)
    if keep != "pocket":
        model.partial_fit(X, y)
        back.partial_fit(X, y)
        assert (back.alpha_ == model.alpha_).all()


def test_kernel_objects_and_given_values_are_saved():
    X, y = rb.datasets.xor()
    model = rb.KernelPerceptron(kernel=rb.kernels.Polynomial(2)).fit(X, y)
    rb.io.save(model, "m.skops")
    assert rb.io.load("m.skops").get_params()["kernel"] == rb.kernels.Polynomial(2)
    K = rb.kernels.RBF(1.0)(X)
    given = rb.KernelPerceptron(kernel="precomputed").fit(K, y)
    rb.io.save(given, "g.skops")
    assert (rb.io.load("g.skops").decision_function(K) == given.decision_function(K)).all()


def overlap(x, y):
    return float(np.minimum(x, y).sum())


@pytest.mark.parametrize("kernel", [overlap, lambda x, y: x @ y, rb.kernels.Function(overlap)])
def test_functions_are_not_saved(kernel):
    X, y = rb.datasets.xor()
    model = rb.KernelPerceptron(gamma=1.0).fit(X, y).set_params(kernel=kernel)
    model.kernel_ = rb.kernels.Function(overlap)
    with pytest.raises(rb.io.ModelFileError) as refused:
        rb.io.save(model, "m.skops")
    said = str(refused.value)
    assert said.startswith("kernel=<function ")
    assert "holds no code: fit with kernel='precomputed'" in said
    assert "\n" not in said
    assert not Path("m.skops").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda m: setattr(m, "support_vectors_", m.support_vectors_[:-1]),
        lambda m: setattr(m, "support_vectors_", m.support_vectors_[:, :1]),
        lambda m: setattr(m, "dual_coef_", m.dual_coef_[:, 1:]),
        lambda m: setattr(m, "support_", m.support_[1:]),
        lambda m: setattr(m, "classes_", np.arange(3)),
        lambda m: setattr(m, "fits_", m.fits_ * 2),
        lambda m: setattr(m._state, "coef", m._state.coef[1:]),
    ],
    ids=["vectors", "features", "coef", "support", "classes", "fits", "state"],
)
def test_parts_that_do_not_fit_are_refused(change):
    X, y = noisy()
    model = rb.KernelPerceptron(gamma=2.0, drop_after=5).fit(X, y)
    change(model)
    Path("m.skops").write_bytes(models._pack(model, zipfile.ZIP_STORED))
    with pytest.raises(rb.io.ModelFileError, match="do not fit together"):
        rb.io.load("m.skops")


def test_sparse_vectors_beyond_their_columns_are_refused():
    X, y = noisy()
    model = rb.KernelPerceptron(gamma=2.0, drop_after=5).fit(csr_matrix(X), y)
    model.support_vectors_.indices[0] = 7
    Path("m.skops").write_bytes(models._pack(model, zipfile.ZIP_STORED))
    with pytest.raises(rb.io.ModelFileError, match="is damaged"):
        rb.io.load("m.skops")


@pytest.mark.parametrize("field", ["vector", "step", "lives"])
def test_votes_that_do_not_fit_are_refused(field):
    X, y = noisy()
    model = rb.KernelPerceptron(gamma=2.0, drop_after=5, keep="vote").fit(X, y)
    path = model.fits_[0].path
    object.__setattr__(path, field, getattr(path, field)[:-1])
    Path("m.skops").write_bytes(models._pack(model, zipfile.ZIP_STORED))
    with pytest.raises(rb.io.ModelFileError, match="do not fit together"):
        rb.io.load("m.skops")


def test_other_types_are_still_refused():
    X, y = rb.datasets.xor()
    model = rb.KernelPerceptron(gamma=1.0).fit(X, y)
    model.kernel_ = pd.Series([1.0])
    with pytest.raises(rb.io.ModelFileError, match=r"holds .*pandas"):
        rb.io.save(model, "m.skops")
    Path("m.skops").write_bytes(models._pack(model, zipfile.ZIP_STORED))
    with pytest.raises(rb.io.ModelFileError, match="it was not loaded"):
        rb.io.load("m.skops")
