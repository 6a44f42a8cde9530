"""What is told of a run equals what the library computes, at every update and epoch."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.playground import schemas
from rosenblatt.playground.held_tables import Tables
from rosenblatt.playground.runs import run
from rosenblatt.playground.samples import samples_of

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning"
)

NOISY = rb.datasets.flip_labels(
    rb.datasets.known_margin(24, 2, margin=0.1, random_state=1), 0.15, random_state=2
)
THREE = (
    np.array([[0, 0], [1, 0], [0, 2], [5, 5], [6, 5], [1, 6], [0, 9], [1, 9], [2, 4]], dtype=float),
    np.repeat([0, 1, 2], 3),
)


def points(X, labels):
    return schemas.Points(points=np.asarray(X).tolist(), labels=np.asarray(labels).tolist())


DATA = {
    "noisy": points(NOISY.X, (NOISY.y + 1) // 2),
    "three": points(*THREE),
    "xor": points([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]),
    "two of three": points([[0, 0], [1, 1], [3, 3], [4, 3]], [0, 0, 2, 2]),
}


def asked(data, **settings):
    given = {"data": DATA[data], "settings": {"max_epochs": 6, **settings}}
    question = schemas.RunAsked.model_validate(given)
    samples = samples_of(question.data, Tables())
    return samples, run(samples, question.settings, seconds=600)


def planes(model):
    return np.column_stack([model.coef_, model.intercept_])


def theta(plane):
    return [*plane.w, plane.b]


WAYS = [
    {},
    {"order": "shuffled"},
    {"order": "sampled"},
    {"order": "worst-mistake", "max_epochs": 12},
    {"order": "random-mistake", "max_epochs": 12, "init": "random"},
    {"update": "batch", "eta0": 0.3},
    {"update": "minibatch", "batch_size": 3, "order": "sampled"},
    {"update": "minibatch", "batch_size": 4, "order": "shuffled", "fit_intercept": False},
    {"at_zero": 1, "class_weight": "balanced", "eta0": 0.7},
    {"multiclass": "joint"},
    {"multiclass": "joint", "update": "minibatch", "batch_size": 2, "order": "sampled"},
]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("algorithm", ["perceptron", "pocket", "average"])
def test_stopping_a_run_returns_what_is_shown(algorithm, way, data):
    samples, told = asked(data, algorithm=algorithm, **way)
    keep = "last" if algorithm == "perceptron" else algorithm
    parameters = {"max_epochs": 6, "random_state": 0, **way, "keep": keep, "record": True}
    whole = rb.Perceptron(**parameters).fit(samples.X, samples.y)
    assert told.errors == whole.n_errors_
    for k, course in enumerate(told.courses):
        fit = whole.fits_[0 if told.joint else k]
        np.testing.assert_array_equal(theta(course.kept), planes(whole)[k])
        assert course.stop.reason == fit.stop_reason.name
        assert (course.total, course.mistakes_in_all) == (fit.n_updates, fit.n_mistakes)
        assert course.mistakes[-1] == fit.n_mistakes
        updates = fit.trace.updates
        for t in course.number:
            plane = (
                updates.hyperplanes(t, samples.X)[k]
                if told.joint
                else updates.hyperplane(t, samples.X)
            )
            assert [*course.w[t], course.b[t]] == [*plane.w, plane.b]
        for e, epoch in enumerate(course.epochs.epoch):
            stopped = rb.Perceptron(**parameters | {"max_epochs": epoch}).fit(samples.X, samples.y)
            np.testing.assert_allclose(
                [*course.epochs.w[e], course.epochs.b[e]],
                planes(stopped)[k],
                rtol=1e-12,
                atol=1e-13,
            )
            if len(told.courses) == 1:
                assert course.epochs.errors[e] == stopped.n_errors_
