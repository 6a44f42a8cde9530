"""What is told of a run equals what the library computes, at every update and epoch."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.playground import schemas
from rosenblatt.playground.entries import MOST, Extent
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


SOME = [WAYS[k] for k in (1, 3, 6, 8, 9, 10)]
CASES = [
    *(("noisy", way) for way in WAYS),
    *(("three", way) for way in SOME),
    *(("xor", way) for way in WAYS[:1]),
    *(("two of three", way) for way in WAYS[:1]),
]


@pytest.mark.parametrize(("data", "way"), CASES, ids=str)
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


# In dual form -----------------------------------------------------------------------------------

KERNELS = [
    {"kernel": "poly", "degree": 2, "gamma": 1},
    {"keep": "pocket", "kernel": "poly", "degree": 2, "gamma": 1, "order": "shuffled"},
    {"keep": "average", "order": "sampled", "fit_intercept": True},
    {"keep": "average", "order": "worst-mistake", "max_epochs": 9},
    {"drop_after": 2},
    {"budget": 4},
    {"budget": 3, "order": "shuffled", "drop_after": 2},
    {"kernel": "gaussian", "sigma": 0.5},
    {"kernel": "sigmoid", "gamma": 0.5, "coef0": 0.1},
]


def kernel_value(used, a, b):
    """The kernel as a page adds it up, written out."""
    product = sum(x * z for x, z in zip(a, b, strict=True))
    distance = sum((x - z) ** 2 for x, z in zip(a, b, strict=True))
    return (
        used.bias
        + {
            "linear": lambda: product,
            "poly": lambda: (used.gamma * product + used.coef0) ** used.degree,
            "rbf": lambda: np.exp(-used.gamma * distance),
            "sigmoid": lambda: np.tanh(used.gamma * product + used.coef0),
        }[used.kind]()
    )


def coefficients(course, entry, n, lives=None):
    """Those after an entry: sums of steps, without what was forgotten."""
    coef = np.zeros(n)
    for e in range(1, entry + 1):
        coef[course.sample[e]] += course.step[e] * (1 if lives is None else lives[e])
        if course.removed is not None and course.removed[e] >= 0:
            coef[course.removed[e]] = 0
    return coef


def shown_coefficients(course, visits, upto, n):
    """Those that are returned after so many visits, by which there were `upto` updates."""
    keep = course.shown.keep if course.shown else "last"
    if keep == "average":
        lives = [(visits - visit + 1) / visits for visit in course.visit]
        return coefficients(course, upto, n, lives)
    return coefficients(course, course.shown.number[upto] if keep == "pocket" else upto, n)


@pytest.mark.filterwarnings("ignore:the kernel .* is not an inner product")
@pytest.mark.parametrize("data", ["noisy", "three"])
@pytest.mark.parametrize("way", KERNELS, ids=str)
def test_kernel_sums_are_those_of_the_estimator(way, data):
    samples, told = asked(data, algorithm="kernel", **way)
    n, parameters = samples.n, {"max_epochs": 6, "random_state": 0, **way, "record": True}
    K = np.array([[kernel_value(told.kernel, a, b) for b in samples.X] for a in samples.X])
    for epochs in range(1, max(c.epochs_in_all for c in told.courses) + 1):
        model = rb.KernelPerceptron(**parameters | {"max_epochs": epochs}).fit(samples.X, samples.y)
        values = model.decision_function(samples.X).reshape(n, -1)
        for k, course in enumerate(told.courses):
            e = min(epochs, course.epochs_in_all) - 1
            table = course.epochs
            upto = sum(visit <= table.visits[e] for visit in course.visit) - 1
            assert course.number[upto] == table.updates[e]
            coef = shown_coefficients(course, table.visits[e], upto, n)
            np.testing.assert_allclose(K @ coef, values[:, k], rtol=1e-9, atol=1e-9)
            if len(told.courses) == 1 and table.errors is not None:
                assert table.errors[e] == model.n_errors_
    whole = rb.KernelPerceptron(**parameters).fit(samples.X, samples.y)
    assert told.errors == whole.n_errors_
    for course, fit in zip(told.courses, whole.fits_, strict=True):
        assert [(d.sample, d.count) for d in course.dropped] == list(fit.dropped)
        assert course.stop.reason == fit.stop_reason.name


def test_a_vote_is_that_of_all_vectors_with_their_lives():
    samples, told = asked("noisy", algorithm="vote", order="sampled")
    (course,), n = told.courses, samples.n
    model = rb.KernelPerceptron(
        kernel="linear",
        fit_intercept=True,
        keep="vote",
        order="sampled",
        max_epochs=6,
        random_state=0,
    ).fit(samples.X, samples.y)
    K = samples.X @ samples.X.T + 1
    visits = course.epochs.visits[-1]
    ends = [*course.visit[1:], visits + 1]
    votes = sum(
        (end - visit) * np.where(K @ coefficients(course, e, n) > 0, 1, -1)
        for e, (visit, end) in enumerate(zip(course.visit, ends, strict=True))
        if e
    )
    votes = votes - (course.visit[1] - 1)  # of the start, which says no
    np.testing.assert_allclose(votes / visits, model.decision_function(samples.X))


# Told by callbacks --------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["noisy", "three"])
def test_the_delta_rule_is_told_epoch_by_epoch(data):
    samples, told = asked(data, algorithm="adaline", eta0=0.01, tol=None)
    assert told.unit == "epoch"
    for epochs in range(1, 7):
        model = rb.Adaline(eta0=0.01, tol=None, max_epochs=epochs).fit(samples.X, samples.y)
        for k, course in enumerate(told.courses):
            assert [*course.w[epochs], course.b[epochs]] == planes(model)[k].tolist()
            assert course.epochs.loss[epochs - 1] == model.fits_[k].trace.loss[-1]
        if data == "noisy":
            assert told.courses[0].epochs.errors[epochs - 1] == model.n_errors_


@pytest.mark.parametrize("data", ["two of three", "noisy", "three"])
@pytest.mark.parametrize("way", [{"algorithm": "max-margin"}, {"algorithm": "soft-margin", "C": 5}])
def test_best_hyperplanes_are_told_scan_by_scan(data, way):
    samples = samples_of(DATA[data], Tables())
    settings = schemas.RunAsked.model_validate({"data": DATA[data], "settings": way}).settings
    told = run(samples, settings, seconds=600)
    model = rb.SoftMarginClassifier(C=5) if "C" in way else rb.MaxMarginClassifier()
    model.fit(samples.X, samples.y)
    sides = model.sides(samples.X, samples.y)
    for k, course in enumerate(told.courses):
        fit, side = model.fits_[k], sides[k] if isinstance(sides, tuple) else sides
        assert theta(course.kept) == planes(model)[k].tolist()
        assert course.margin.support == fit.optimum.support.tolist()
        assert course.margin.slack == side.slack.tolist()
        assert course.margin.wrong == side.wrong.tolist()
        assert course.scans.gap[-1] == fit.optimum.gap
        assert len(course.scans.gap) == len(course.w) == course.total + 1
        assert told.errors == model.n_errors_


# Long runs ----------------------------------------------------------------------------------------


def long_run(around=None, most=None, **settings):
    question = schemas.RunAsked.model_validate(
        {"data": DATA["noisy"], "settings": {"order": "shuffled", **settings}}
    )
    samples = samples_of(question.data, Tables())
    return samples, run(samples, question.settings, Extent(around, most), seconds=600)


def test_a_long_run_is_thinned_and_says_so():
    samples, told = long_run(algorithm="pocket", max_epochs=1500)
    (course,) = told.courses
    assert len(course.number) <= MOST + 50 < course.total
    assert (told.thinned.shown, told.thinned.total) == (len(course.number), course.total + 1)
    assert "are shown" in told.thinned.sentence
    assert (course.number[0], course.number[-1]) == (0, course.total)
    model = rb.Perceptron(
        keep="pocket", order="shuffled", max_epochs=1500, random_state=0, record=True
    )
    updates = model.fit(samples.X, samples.y).trace_.updates
    for e in (0, 1, 999, 2500, 4000, len(course.number) - 1):
        plane = updates.hyperplane(course.number[e], samples.X)
        assert [*course.w[e], course.b[e]] == [*plane.w, plane.b]
    assert [*course.shown.w[-1], course.shown.b[-1]] == planes(model)[0].tolist()
    (brief,) = long_run(most=200, algorithm="pocket", max_epochs=1500)[1].courses
    assert len(brief.number) <= 250
    assert (brief.kept, brief.number[-1]) == (course.kept, course.total)
    middle = course.total // 2
    _, window = long_run(around=middle, algorithm="pocket", max_epochs=1500)
    (near,) = window.courses
    assert near.number == list(range(middle - 500, middle + 501))
    plane = updates.hyperplane(middle, samples.X)
    assert [*near.w[500], near.b[500]] == [*plane.w, plane.b]


def test_a_thinned_kernel_run_has_all_its_sums(monkeypatch):
    monkeypatch.setattr("rosenblatt.playground.entries.MOST", 30)
    samples, told = long_run(algorithm="kernel", max_epochs=12)
    (course,) = told.courses
    assert len(course.number) < course.total
    coef = np.zeros(samples.n)
    np.add.at(coef, course.batch.sample, course.batch.step)
    assert coef.tolist() == course.coef
    _, window = long_run(around=course.total, algorithm="kernel", max_epochs=12)
    assert window.courses[0].coef == course.coef


@pytest.mark.parametrize("algorithm", ["perceptron", "pocket", "average"])
@pytest.mark.parametrize("more", [{}, {"multiclass": "joint"}])
def test_a_run_without_time_for_its_first_epoch_is_told(algorithm, more):
    settings = {"algorithm": algorithm, **more}
    question = schemas.RunAsked.model_validate({"data": DATA["three"], "settings": settings})
    told = run(samples_of(question.data, Tables()), question.settings, seconds=1e-9)
    for course in told.courses:
        assert course.stop.reason == "TIME_LIMIT"
        assert not course.epochs.epoch
