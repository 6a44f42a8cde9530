"""Runs told by their callbacks: the delta rule epoch by epoch, best hyperplanes scan by scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.contract.parameters import start_vectors
from rosenblatt.playground import answers, entries
from rosenblatt.playground.bounding import finite
from rosenblatt.playground.linear_runs import positives

if TYPE_CHECKING:
    from rosenblatt.playground.samples import Samples
    from rosenblatt.playground.views import Sight

Told = tuple[list[answers.Course], list[str], tuple[int, int]]


def delta_courses(model: Any, samples: Samples, sight: Sight, heard: list[Any]) -> Told:
    """The courses of a fitted `Adaline`: an entry for each epoch."""
    classes = positives(model)
    starts = start_vectors(model.init, len(classes), samples.X.shape[1], model._settings())
    most = max(20, entries.MOST // len(classes))
    found, shown, total = [], 0, 0
    for k, (positive, fit) in enumerate(zip(classes, model.fits_, strict=True)):
        planes = [(one.hyperplanes[k].w, one.hyperplanes[k].b) for one in heard[: fit.n_epochs]]
        theta = np.array([starts[k], *(np.append(*plane) for plane in planes)])
        numbers = np.arange(len(theta))
        if len(numbers) > most:
            numbers = np.unique(np.linspace(0, len(theta) - 1, most, dtype=np.int64))
        counted = np.append(0, np.cumsum(fit.trace.mistakes))
        columns = sight.columns(theta[numbers])
        two, done = len(model.classes_) == 2, numbers[numbers > 0]
        per_epoch = max(1, fit.n_updates // max(fit.n_epochs, 1))
        found.append(
            answers.Course(
                positive=positive,
                negative=int(model.classes_[0]) if two else None,
                number=numbers.tolist(),
                visit=(numbers * per_epoch).tolist(),
                epoch=numbers.tolist(),
                sample=[-1] * len(numbers),
                sign=[0] * len(numbers),
                step=[0.0] * len(numbers),
                value=[0.0] * len(numbers),
                mistakes=counted[numbers].tolist(),
                **columns,
                epochs=answers.EpochTable(
                    epoch=done.tolist(),
                    updates=(done * per_epoch).tolist(),
                    visits=(done * per_epoch).tolist(),
                    mistakes=fit.trace.mistakes[done - 1].tolist(),
                    errors=_errors(samples, theta[done], positive),
                    loss=fit.trace.loss[done - 1].tolist(),
                    **sight.columns(theta[done]),
                ),
                stop=answers.Stop(reason=fit.stop_reason.name, sentence=fit.stop_reason.value),
                kept=sight.plane(fit.hyperplane.w, fit.hyperplane.b),
                total=fit.n_epochs,
                mistakes_in_all=fit.n_mistakes,
                epochs_in_all=fit.n_epochs,
            )
        )
        shown, total = shown + len(numbers), total + len(theta)
    return found, [], (shown, total)


def _errors(samples: Samples, theta: Any, positive: int) -> list[int]:
    values = samples.X @ theta[:, :-1].T + theta[:, -1]
    right = (samples.y == positive)[:, None]
    return [int(n) for n in ((values > 0) != right).sum(axis=0)]


def margin_courses(model: Any, samples: Samples, sight: Sight, heard: list[Any]) -> Told:
    """The courses of a fitted best hyperplane: an entry for each scan."""
    sides = model.sides(samples.X, samples.y)
    sides = sides if isinstance(sides, tuple) else (sides,)
    drawn = np.arange(samples.n) if samples.table is None else samples.table.drawn
    classes, found, total = positives(model), [], 0
    for k, (positive, fit) in enumerate(zip(classes, model.fits_, strict=True)):
        rounds = [one for one in heard if one.problem == k]
        last = [fit.hyperplane.w, fit.hyperplane.b]
        planes = [[one.hyperplane.w, one.hyperplane.b] for one in rounds]
        theta = np.array(
            [np.zeros(samples.X.shape[1] + 1)] + [np.append(*p) for p in [*planes, last]]
        )
        n, two = len(theta), len(model.classes_) == 2
        nearest = None if fit.nearest is None else sight.points(fit.nearest).tolist()
        gaps = [one.gap for one in rounds] + [fit.optimum.gap]
        found.append(
            answers.Course(
                positive=positive,
                negative=int(model.classes_[0]) if two else None,
                number=list(range(n)),
                visit=[e * samples.n for e in range(n)],
                epoch=list(range(n)),
                sample=[-1] * n,
                sign=[0] * n,
                step=[0.0] * n,
                value=[0.0] * n,
                mistakes=[0] * n,
                **sight.columns(theta),
                scans=answers.Scans(
                    primal=[
                        None,
                        *(finite(one.primal) for one in rounds),
                        finite(fit.optimum.primal),
                    ],
                    dual=[None, *(finite(one.dual) for one in rounds), finite(fit.optimum.dual)],
                    gap=[None, *(finite(gap) for gap in gaps)],
                    rows=[0, *(int(one.rows) for one in rounds), len(fit.optimum.support)],
                ),
                margin=answers.Margin(
                    width=finite(fit.optimum.margin),
                    gap=finite(fit.optimum.gap),
                    C=fit.optimum.C,
                    support=fit.optimum.support.tolist(),
                    multipliers=fit.optimum.multipliers.tolist(),
                    slack=sides[k].slack[drawn].tolist(),
                    **{
                        side: np.intersect1d(getattr(sides[k], side), drawn).tolist()
                        for side in ("outside", "on", "inside", "wrong")
                    },
                    nearest=nearest,
                ),
                stop=answers.Stop(reason=fit.stop_reason.name, sentence=fit.stop_reason.value),
                kept=sight.plane(fit.hyperplane.w, fit.hyperplane.b),
                total=n - 1,
                mistakes_in_all=0,
                epochs_in_all=n - 1,
            )
        )
        total += n
    return found, [], (total, total)
