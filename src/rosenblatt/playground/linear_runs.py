"""Runs that move hyperplanes: perceptron, pocket and average, one course for each hyperplane."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt import theory
from rosenblatt.contract.classifier import above
from rosenblatt.contract.parameters import seed_from
from rosenblatt.data.rows import Block, as_rows
from rosenblatt.playground import answers, entries
from rosenblatt.playground.bounding import bounds_told, lemmas_told
from rosenblatt.playground.following import Way, follow
from rosenblatt.playground.pockets import pocket_updates
from rosenblatt.playground.visits import Timetable
from rosenblatt.results import JointFit
from rosenblatt.running.scanner import exact_decisions
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.playground.samples import Samples
    from rosenblatt.playground.views import Sight


@dataclass(frozen=True, eq=False)
class Recorded:
    """A fitted perceptron with its data, and what one of its problems left behind."""

    model: Any
    samples: Samples
    fit: Any
    positive: int

    @property
    def record(self) -> Any:
        """Every mistake of the problem."""
        return self.fit.trace.updates

    @property
    def joint(self) -> bool:
        """Whether all classes are one problem."""
        return isinstance(self.fit, JointFit)

    @property
    def batched(self) -> bool:
        """Whether an update may have several mistakes."""
        return bool(self.model.update != "online")

    @cached_property
    def timetable(self) -> Timetable:
        """When it visits what."""
        model, n = self.model, self.samples.n
        sizes = {"online": 1, "batch": n, "minibatch": min(model.batch_size or n, n)}
        seed = seed_from(model.random_state)
        return Timetable(model.order, n, seed, sizes[model.update])

    @cached_property
    def clock(self) -> Ints:
        """The visit of each mistake, from 0."""
        return self.timetable.visits(self.record)

    @cached_property
    def first(self) -> Ints:
        """The first mistake of each update, and their number."""
        return np.searchsorted(self.record.update, np.arange(self.fit.n_updates + 1))

    @cached_property
    def keep(self) -> str:
        """What is returned: the last vector, the pocket's, or the average."""
        if self.model.keep != "auto":
            return str(self.model.keep)
        return "last" if self.fit.keeps_last else "average"

    @cached_property
    def block(self) -> Block:
        """The samples as the loops read them."""
        data = self.model._read(
            self.samples.X, self.samples.y, None, self.model.classes_, reset=False
        )
        return next(iter(data.source.pieces())).block  # type: ignore[no-any-return]

    @cached_property
    def pocket(self) -> Ints | None:
        """The updates that filled the pocket, 0 first; None where it would take too long."""
        return pocket_updates(self) if self.keep == "pocket" else None

    def ends(self, epochs: Ints) -> Ints:
        """How many updates had been made by the end of each of these epochs."""
        done = np.searchsorted(self.record.epoch, epochs, side="right")
        return np.searchsorted(self.first, done)


def linear_courses(
    model: Any, samples: Samples, sight: Sight, extent: entries.Extent
) -> tuple[list[answers.Course], list[str], tuple[int, int]]:
    """The courses of a fitted perceptron, what is to be said of them, entries told and in all."""
    runs = [
        Recorded(model, samples, fit, positive)
        for fit, positive in zip(model.fits_, positives(model), strict=False)
    ]
    planes = sum(len(fit.last) if isinstance(fit, JointFit) else 1 for fit in model.fits_)
    told, notes = bounds_told(model, samples)
    found: list[answers.Course] = []
    shown = total = 0
    for run, (bound, report) in zip(runs, told, strict=True):
        course = _Course(run, planes, sight, extent, bound, report)
        found += course.told()
        shown, total = shown + len(course.numbers), total + run.fit.n_updates + 1
        notes += course.notes
    return found, list(dict.fromkeys(notes)), (shown, total)


def positives(model: Any) -> list[int]:
    """The class that is +1 in each problem; the first where all are one problem."""
    classes = [int(k) for k in model.classes_]
    return classes[1:] if len(classes) == 2 else classes


class _Course:
    """One problem, made into answers."""

    def __init__(
        self,
        run: Recorded,
        planes: int,
        sight: Sight,
        extent: entries.Extent,
        bound: answers.Bound | None,
        report: Any,
    ) -> None:
        self.run, self.sight, self.bound, self.report = run, sight, bound, report
        self.notes: list[str] = []
        fit, none = run.fit, np.empty(0, np.int64)
        must = run.pocket if run.pocket is not None else none
        self.numbers = entries.chosen(fit.n_updates, fit.n_mistakes, planes, extent, must)
        self.table = entries.chosen_epochs(fit, run.samples.n)
        self.ends = run.ends(self.table)
        parts = [self.numbers, self.ends, must, *([run.pocket] if run.pocket is not None else [])]
        self.wanted = np.unique(np.concatenate(parts))
        X = np.ascontiguousarray(run.samples.X)
        self.way: Way = follow(run.record, X, self.wanted, run.clock, run.batched)

    def at(self, numbers: Ints) -> Ints:
        """The places of updates among those that were followed."""
        return np.searchsorted(self.wanted, numbers)

    def kept_after(self, numbers: Ints, visits: Ints) -> Floats:
        """What the estimator returns if it is stopped after these updates and visits."""
        run, place = self.run, self.at(numbers)
        if run.keep == "average":
            lag = self.way.lag[place] / np.maximum(visits, 1)[:, None, None]
            return self.way.theta[place] - lag
        if run.keep == "pocket" and run.pocket is not None:
            best = run.pocket[np.searchsorted(run.pocket, numbers, side="right") - 1]
            return self.way.theta[self.at(best)]
        return self.way.theta[place]

    def told(self) -> list[answers.Course]:
        """A course for each hyperplane."""
        run, numbers = self.run, self.numbers
        visits = self._visits()
        shown = self.kept_after(numbers, visits) if run.keep in ("average", "pocket") else None
        if run.keep == "pocket" and run.pocket is None:
            self.notes.append(
                "Of so many rows only the pocket at the end is shown, on the way the last vector."
            )
            shown = None
        theta, table = self.way.theta[self.at(numbers)], self._epochs()
        made = self._columns(visits)
        planes = run.fit.hyperplanes if run.joint else (run.fit.hyperplane,)
        classes = positives(run.model) if run.joint else [run.positive]
        two = len(run.model.classes_) == 2
        return [
            answers.Course(
                positive=classes[k],
                negative=int(run.model.classes_[0]) if two else None,
                **(made | {"sign": self._signs(k)}),
                **self.sight.columns(theta[:, k]),
                shown=None if shown is None else self._shown(shown[:, k]),
                epochs=table(k),
                kept=self.sight.plane(plane.w, plane.b),
            )
            for k, plane in enumerate(planes)
        ]

    def _visits(self) -> Ints:
        """Visits by each entry, with its own."""
        run, numbers = self.run, self.numbers
        visits = np.zeros(len(numbers), np.int64)
        made = numbers > 0
        visits[made] = run.clock[run.first[numbers[made] - 1]] + 1
        return visits

    def _columns(self, visits: Ints) -> dict[str, Any]:
        """What all hyperplanes of the problem have in common."""
        run, numbers, record = self.run, self.numbers, self.run.record
        made = numbers > 0
        first = run.first[numbers[made] - 1]

        def column(values: Any, start: Any) -> list[Any]:
            return [*([start] * int((~made).sum())), *values[first].tolist()]

        fit, cycle = run.fit, run.fit.certificate
        return {
            "number": numbers.tolist(),
            "visit": visits.tolist(),
            "epoch": column(record.epoch, 0),
            "sample": column(record.sample, -1),
            "step": column(record.eta * record.step, 0.0),
            "value": column(record.value, 0.0),
            "mistakes": run.first[numbers].tolist(),
            "batch": self._batch() if run.batched else None,
            "bound": self.bound,
            "lemmas": lemmas_told(self.report, numbers),
            "stop": answers.Stop(reason=fit.stop_reason.name, sentence=fit.stop_reason.value),
            "cycle": cycle and answers.CycleFound(entry=cycle.entry, period=cycle.period),
            "total": fit.n_updates,
            "mistakes_in_all": fit.n_mistakes,
            "epochs_in_all": fit.n_epochs,
        }

    def _signs(self, k: int) -> list[int]:
        """The side of each entry's (first) mistake in the problem of hyperplane k."""
        run, record, made = self.run, self.run.record, self.numbers > 0
        first = run.first[self.numbers[made] - 1]
        sign = np.sign(record.step[first]).astype(np.int64)
        if run.joint:
            sign = (record.own[first] == k).astype(np.int64) - (record.rival[first] == k)
        return [*([0] * int((~made).sum())), *sign.tolist()]

    def _batch(self) -> answers.Batch:
        run, numbers = self.run, self.numbers
        begin = run.first[np.maximum(numbers - 1, 0)]
        counts = run.first[numbers] - begin
        places = np.concatenate(
            [np.arange(a, a + c) for a, c in zip(begin, counts, strict=True)] or [begin]
        )
        return answers.Batch(
            offset=np.append(0, np.cumsum(counts)).tolist(),
            sample=run.record.sample[places].tolist(),
            step=(run.record.eta * run.record.step[places]).tolist(),
        )

    def _shown(self, theta: Floats) -> answers.Shown:
        keep: Any = self.run.keep
        return answers.Shown(keep=keep, **self.sight.columns(theta))

    def _epochs(self) -> Any:
        """The table of epochs, as a function of the hyperplane."""
        run, table = self.run, self.table
        visits = table * run.timetable.per_epoch
        last, kept = self.way.theta[self.at(self.ends)], self.kept_after(self.ends, visits)
        errors, loss = self._errors(kept), self._loss(last)

        def told(k: int) -> answers.EpochTable:
            return answers.EpochTable(
                epoch=table.tolist(),
                updates=self.ends.tolist(),
                visits=visits.tolist(),
                mistakes=run.fit.trace.mistakes[table - 1].tolist(),
                errors=errors,
                loss=loss,
                **self.sight.columns(kept[:, k]),
            )

        return told

    def _decide(self, theta: Floats) -> Floats:
        """The values of all samples, for each entry and hyperplane, on their exact sides."""
        entries_, planes, size = theta.shape
        rows = as_rows(np.ascontiguousarray(self.run.samples.X))
        with Team(1) as team:
            flat = theta.reshape(-1, size)
            values = exact_decisions(rows, flat, (0, self.run.samples.n), team)
        return values.reshape(self.run.samples.n, entries_, planes)

    def _errors(self, theta: Floats) -> list[int]:
        """Training errors of the vectors, in this problem."""
        run, values = self.run, self._decide(theta)
        if run.joint:
            own = np.searchsorted(run.model.classes_, run.samples.y)
            return [int(n) for n in (values.argmax(axis=2) != own[:, None]).sum(axis=0)]
        right = run.samples.y == run.positive
        wrong = above(values[:, :, 0], run.model.at_zero) != right[:, None]
        return [int(n) for n in wrong.sum(axis=0)]

    def _loss(self, theta: Floats) -> list[float | None] | None:
        """The mean of ``max(0, -y f(x))`` of the vectors."""
        run = self.run
        if run.joint:
            return None
        y = np.where(run.samples.y == run.positive, 1.0, -1.0)
        losses = theory.losses["perceptron"](y[:, None] * self._decide(theta)[:, :, 0])
        found: list[float | None] = np.asarray(losses.mean(axis=0)).tolist()
        return found
