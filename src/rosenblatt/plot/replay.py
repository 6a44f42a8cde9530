"""Runs step by step: of the delta rule, made again; of kernel perceptrons, from their records."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.array_types import Floats, Ints
from rosenblatt.plot.seen import Names, Seen, decision_values, dense, hyperplanes, only_two, read
from rosenblatt.results import KernelFit, Mistakes

PART = 256  # samples whose kernel values are in memory at a time
CLOSE = 1e-6  # how far recorded values may be off, relative to their terms


def epoch_weights(model: Any, X: Any, y: Any, features: Names = None) -> tuple[Seen, Floats]:
    """The data of an `Adaline` of two classes, ``(w, b)`` at its start and after each epoch."""
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

    from rosenblatt.contract.parameters import start_vectors

    only_two(model, any_features=True)
    (plane,), seen = hyperplanes(model)[0], read(model, X, y, features)
    d = plane.w.size
    theta: list[Floats] = [start_vectors(model.init, 1, d, model._settings())[0]]

    def note(epoch: Any) -> None:
        now = epoch.hyperplanes[0]
        theta.append(np.append(now.w, now.b))

    again = clone(model).set_params(callback=note, progress=False, max_time=None)
    again.set_params(max_epochs=max(int(model.n_iter_), 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again.fit(X, y)
    if not np.allclose(theta[-1], [*plane.w, plane.b], rtol=1e-6, atol=1e-12):
        msg = (
            "this run cannot be made again, so its way is not known: give X, y as they were given "
            "to fit, and fit at once, with a random_state and without sample weights"
        )
        raise ValueError(msg)
    return seen, np.array(theta)


# Kernel perceptrons ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Steps:
    """A recorded run in dual form: after t updates ``f(x)`` is the sum of t steps times K."""

    model: Any
    seen: Seen
    record: Mistakes

    @property
    def fit(self) -> KernelFit:
        """The outcome of the run."""
        outcome: KernelFit = self.model.fits_[0]
        return outcome

    def kernel(self, points: Floats, rows: Ints) -> Floats:
        """K between these points and these samples, with the 1 of a bias."""
        K: Floats = self.model.kernel_(points, dense(self.seen.X)[rows])
        return K + float(self.model.fit_intercept)

    def counters(self, t: int) -> Ints:
        """How often each sample was a mistake in the first t updates; -1: in all."""
        upto = self.record.sample[: t if t >= 0 else None]
        return np.bincount(upto, minlength=self.seen.n).astype(np.int64)


class ValuesOn:
    """The decision values of some points from update to update, each step added only once."""

    def __init__(self, steps: Steps, points: Floats) -> None:
        self.steps, self.points = steps, points
        self.t, self.f = 0, np.zeros(len(points))

    def after(self, t: int) -> Floats:
        """``f`` after t updates; -1: of the vector that the model keeps."""
        if t < 0:
            return decision_values(self.steps.model, self.points)[:, 0]
        if t < self.t:
            self.t, self.f = 0, np.zeros(len(self.points))
        record = self.steps.record
        rows, where = np.unique(record.sample[self.t : t], return_inverse=True)
        coef = np.bincount(where, record.step[self.t : t], minlength=len(rows))
        for a in range(0, len(rows), PART):
            part = slice(a, a + PART)
            self.f = self.f + self.steps.kernel(self.points, rows[part]) @ coef[part]
        self.t = t
        return self.f


def kernel_steps(model: Any, X: Any, y: Any, features: Names = None) -> Steps:
    """The record of a kernel perceptron of two classes and two features, with its data."""
    fits = model.fits_
    if len(fits) > 1:
        msg = f"the model has {len(fits)} classes: only runs with two can be drawn"
        raise ValueError(msg)
    record = fits[0].trace.updates
    if record is None:
        what = type(model).__name__
        msg = f"this {what} has no record of its updates: fit with record=True"
        raise ValueError(msg)
    if not hasattr(model, "support_vectors_") or model.n_features_in_ != 2:
        d = model.n_features_in_
        msg = f"the model has {d} features: only runs with two can be drawn"
        if not hasattr(model, "support_vectors_"):
            msg = "the kernel is precomputed, so there is no plane to draw: give a kernel by name"
        raise ValueError(msg)
    if len(fits[0].dropped) or model.budget is not None:
        msg = "samples were dropped or forgotten in this run: fit without drop_after and budget"
        raise ValueError(msg)
    steps = Steps(model, read(model, X, y, features, kernel=True), record)
    if not _is_of(steps):
        msg = "X, y are not what this run was recorded with: give those that were given to fit"
        raise ValueError(msg)
    return steps


def _is_of(steps: Steps) -> bool:
    """Whether the mistakes have, with these data, the labels and values that were recorded."""
    record, seen = steps.record, steps.seen
    if record.sample.max(initial=-1) >= seen.n:
        return False
    if ((record.step > 0) != (seen.label[record.sample] == 1)).any():
        return False
    rows, where = np.unique(record.sample, return_inverse=True)
    K = steps.kernel(dense(seen.X)[rows], rows)
    f, size = np.zeros(len(rows)), np.full(len(rows), 1e-300)
    for i, step, value in zip(where, record.step, record.value, strict=True):
        if not abs(f[i] - value) <= CLOSE * size[i]:
            return False
        f += step * K[:, i]
        size += abs(step) * np.abs(K[:, i])
    return True
