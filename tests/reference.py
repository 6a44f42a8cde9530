"""The algorithms straight from the textbook: slow, short, and plainly right.

Samples are augmented, ``x̃ = (x, 1)`` (or ``(x, 0)`` without a bias), and theta is ``(w, b)``.
"""

from dataclasses import dataclass, field
from itertools import repeat

import numpy as np

import rosenblatt as rb


def augment(X, fit_intercept=True):
    """Append the constant feature."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return np.column_stack([X.astype(np.float64), np.full(len(X), float(fit_intercept))])


def mistaken(y, value, at_zero=None):
    """Whether samples are mistakes: on the hyperplane they are, or (`at_zero`) predicted so."""
    if at_zero is None:
        return y * value <= 0
    return y != np.where(value == 0, at_zero, np.sign(value))


@dataclass
class Path:
    """What a run passed through.

    `log` has (epoch, sample, decision value before) of every mistake, `thetas` the start and the
    vector after every update, `total` the sum of the vectors after each of the `visits`.
    """

    theta: np.ndarray
    mistakes: list = field(default_factory=list)
    log: list = field(default_factory=list)
    thetas: list = field(default_factory=list)
    updates_until: list = field(default_factory=list)
    losses: list = field(default_factory=list)
    total: object = 0.0
    visits: int = 0
    finished: bool = False
    separated: bool = False

    def __post_init__(self):
        self.theta = np.array(self.theta, float)
        self.thetas.append(self.theta)

    def note(self, sample, value):
        self.mistakes[-1] += 1
        self.log.append((len(self.mistakes), int(sample), float(value)))

    def move(self, change):
        self.theta = self.theta + change
        self.thetas.append(self.theta)

    def visit(self):
        self.total = self.total + self.theta
        self.visits += 1

    def end_epoch(self, Xt, y, weight, at_zero):
        self.updates_until.append(len(self.thetas))
        values, used = Xt @ self.theta, weight > 0
        wrong = mistaken(y, values, at_zero)[used]
        self.finished = self.mistakes[-1] == 0 and not wrong.any()
        self.separated = self.finished and bool((y * values > 0)[used].all())

    @property
    def average(self):
        return self.total / self.visits


def orders(order, n, epochs, seed=0, calls=0):
    """The rows of each epoch: as given, permuted, or drawn with replacement."""
    rng = np.random.default_rng([seed, 1, calls])
    if order == "cyclic":
        return repeat(np.arange(n), epochs)
    if order == "shuffled":
        return (rng.permutation(n) for _ in range(epochs))
    return (rng.integers(0, n, n) for _ in range(epochs))


def online(Xt, y, epochs, theta, eta=1.0, weight=None, at_zero=None):
    """One update per mistake."""
    weight = np.ones(len(y)) if weight is None else weight
    path = Path(theta)
    for order in epochs:
        path.mistakes.append(0)
        for i in order:
            value = path.theta @ Xt[i]
            if mistaken(y[i], value, at_zero) and weight[i] > 0:
                path.note(i, value)
                path.move(eta * weight[i] * y[i] * Xt[i])
            path.visit()
        path.end_epoch(Xt, y, weight, at_zero)
        if path.finished:
            break
    return path


def minibatch(Xt, y, epochs, theta, size, eta=1.0, weight=None, at_zero=None):
    """One update per `size` samples, with the sum over the mistakes among them."""
    weight = np.ones(len(y)) if weight is None else weight
    path = Path(theta)
    for order in epochs:
        path.mistakes.append(0)
        for a in range(0, len(order), size):
            total, before = 0.0, path.mistakes[-1]
            for i in order[a : a + size]:
                value = path.theta @ Xt[i]
                if mistaken(y[i], value, at_zero) and weight[i] > 0:
                    path.note(i, value)
                    total = total + weight[i] * y[i] * Xt[i]
            if path.mistakes[-1] > before:
                path.move(eta * total)
            path.visit()
        path.end_epoch(Xt, y, weight, at_zero)
        if path.finished:
            break
    return path


def mixed(Xt, y, epochs, theta, shards, eta=1.0, weight=None, at_zero=None):
    """Each shard online from the common vector; then the mean of their vectors."""
    weight, n = np.ones(len(y)) if weight is None else weight, len(y)
    shards = min(shards, n)
    path = Path(theta)
    for order in epochs:
        path.mistakes.append(0)
        change = np.zeros(Xt.shape[1])
        for s in range(shards):
            own = path.theta
            for i in order[n * s // shards : n * (s + 1) // shards]:
                value = own @ Xt[i]
                if mistaken(y[i], value, at_zero) and weight[i] > 0:
                    path.note(i, value)
                    own = own + eta * weight[i] * y[i] * Xt[i]
                path.total, path.visits = path.total + own, path.visits + 1
            change = change + (own - path.theta)
        if path.mistakes[-1]:
            path.move(change / shards)
        path.end_epoch(Xt, y, weight, at_zero)
        if path.finished:
            break
    return path


def picked(Xt, y, epochs, theta, pick, eta=1.0, weight=None, at_zero=None):
    """An epoch finds all mistakes and updates with the one that `pick` chooses."""
    weight = np.ones(len(y)) if weight is None else weight
    path = Path(theta)
    for _ in range(epochs):
        path.mistakes.append(0)
        values = Xt @ path.theta
        wrong = np.flatnonzero(mistaken(y, values, at_zero) & (weight > 0))
        if wrong.size:
            i = wrong[pick(y[wrong] * values[wrong])]
            path.note(i, values[i])
            path.move(eta * weight[i] * y[i] * Xt[i])
        path.visit()
        path.end_epoch(Xt, y, weight, at_zero)
        if path.finished:
            break
    return path


def errors(Xt, y, theta, weight=None, at_zero=None):
    """Weight of the samples that ``predict`` (-1 on the hyperplane unless told) gets wrong."""
    wrong = mistaken(y, Xt @ theta, at_zero or -1)
    return float(wrong.sum() if weight is None else sum(weight[wrong]))


def pocket(path, Xt, y, weight=None, at_zero=None):
    """Fewest errors over the start and every update, the earliest; and after each epoch."""
    best, fewest, after = None, np.inf, []
    for t, theta in enumerate(path.thetas, 1):
        found = errors(Xt, y, theta, weight, at_zero)
        if found < fewest:
            best, fewest = theta, found
        after += [fewest] * (path.updates_until.count(t))
    return best, np.array(after)


def adaline(Xt, t, epochs, theta, size, eta, weight=None):
    """The delta rule: ``theta += eta * mean (t - o)x̃`` over each batch."""
    weight = np.ones(len(t)) if weight is None else weight / weight.mean()
    path = Path(theta)
    for order in epochs:
        loss = 0.0
        path.mistakes.append(0)
        for a in range(0, len(order), size):
            rows = order[a : a + size]
            o = Xt[rows] @ path.theta
            difference = weight[rows] * (t[rows] - o)
            loss += float(difference @ (t[rows] - o)) / 2
            path.mistakes[-1] += int((t[rows] * o <= 0).sum())
            path.move(eta * (difference @ Xt[rows]) / len(rows))
        path.losses.append(loss / len(order))
    return path


def last(model, k=0):
    """Where the k-th run ended, as one vector."""
    plane = model.fits_[k].last
    return np.append(plane.w, plane.b)


def kept(model, k=0):
    """What the k-th run returned, as one vector."""
    return np.append(model.coef_[k], model.intercept_[k])


def sequence(model, k=0):
    """(epoch, sample) of every mistake of a recorded run."""
    updates = model.fits_[k].trace.updates
    return np.column_stack([updates.epoch, updates.sample])


def assert_same_run(model, path, k=0, *, exact=True):
    """The recorded run has the path's mistakes, in the same order, and its weights."""
    fit = model.fits_[k]
    assert fit.trace.mistakes.tolist() == path.mistakes
    found = [(epoch, sample) for epoch, sample, _ in path.log]
    assert [tuple(pair) for pair in sequence(model, k).tolist()] == found
    assert fit.n_mistakes == len(path.log)
    assert fit.n_updates == len(path.thetas) - 1
    values = np.array([value for *_, value in path.log])
    if exact:
        np.testing.assert_array_equal(fit.trace.updates.value, values)
        np.testing.assert_array_equal(last(model, k), path.theta)
    else:
        scale = max(1e-300, np.abs(path.thetas).max())
        np.testing.assert_allclose(fit.trace.updates.value, values, rtol=1e-9, atol=1e-9 * scale)
        np.testing.assert_allclose(last(model, k), path.theta, rtol=1e-12, atol=1e-14 * scale)


def recorded(X, y, **options):
    """A perceptron that has run until no mistake was left, and its record."""
    return rb.Perceptron(**({"record": True, "max_epochs": 100_000} | options)).fit(X, y)
