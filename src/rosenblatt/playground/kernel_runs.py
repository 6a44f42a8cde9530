"""Runs in dual form: the kernel perceptron, its pocket, average and vote."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt import theory
from rosenblatt.contract.parameters import seed_from
from rosenblatt.kernels import RBF, Gaussian, Linear, Polynomial, Sigmoid
from rosenblatt.playground import answers, entries
from rosenblatt.playground.bounding import bounds_told, lemmas_told
from rosenblatt.playground.linear_runs import positives
from rosenblatt.playground.visits import Timetable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.playground.samples import Samples

MOST_TOLD = 50_000  # samples whose coefficients are told
MOST_SAMPLES = 2_000  # whose kernel values with each other are kept
MOST_BOUNDED = 150  # samples for which a bound in feature space is looked for
MOST_WORK = 100_000_000  # values to be added up


@dataclass(frozen=True, eq=False)
class Recorded:
    """A fitted kernel perceptron with its data, and one of its problems."""

    model: Any
    samples: Samples
    k: int

    @property
    def fit(self) -> Any:
        """What came of the problem."""
        return self.model.fits_[self.k]

    @property
    def record(self) -> Any:
        """Every mistake, which is an update here."""
        return self.fit.trace.updates

    @property
    def positive(self) -> int:
        """The class that is +1."""
        return positives(self.model)[self.k]

    @cached_property
    def timetable(self) -> Timetable:
        """When it visits what."""
        seed = seed_from(self.model.random_state)
        return Timetable(self.model.order, self.samples.n, seed)

    @cached_property
    def clock(self) -> Ints:
        """The visit of each mistake, from 0."""
        return self.timetable.visits(self.record)

    @property
    def keep(self) -> str:
        """What is returned."""
        if self.model.keep != "auto":
            return str(self.model.keep)
        return "last" if self.fit.keeps_last else "average"

    def coef_after(self, numbers: Ints, factor: Floats | None = None) -> Floats:
        """The coefficients of all samples after some updates, a row for each number.

        With a `factor` for each update, the sums of the steps times these.
        """
        step = self.record.step if factor is None else self.record.step * factor
        out, now, done = np.empty((len(numbers), self.samples.n)), np.zeros(self.samples.n), 0
        for row, number in enumerate(numbers.tolist()):
            np.add.at(now, self.record.sample[done:number], step[done:number])
            out[row], done = now, number
        return out


class Shared(NamedTuple):
    """Visits with a mistake in any problem: when, of which sample, and what is forgotten (-1)."""

    visit: Ints
    sample: Ints
    gone: Ints


def kernel_courses(
    model: Any, samples: Samples, extent: entries.Extent
) -> tuple[list[answers.Course], list[str], tuple[int, int]]:
    """The courses of a fitted kernel perceptron, notes, entries told and in all."""
    bounds, notes = [(None, None)] * len(model.fits_), [""][:0]
    free = model.drop_after is None and model.budget is None
    if free and samples.n <= MOST_BOUNDED:
        bounds, notes = bounds_told(model, samples)  # type: ignore[assignment]
    K = None
    if samples.n <= MOST_SAMPLES:
        K = model.kernel_(samples.X) + float(model.fit_intercept)
    shared = _shared_visits(model, samples)
    found, shown, total = [], 0, 0
    for k, (bound, report) in enumerate(bounds):
        course = _Course(Recorded(model, samples, k), K, extent, shared)
        found.append(course.told(bound, report))
        notes += course.notes
        shown, total = shown + len(course.numbers), total + course.total
    return found, list(dict.fromkeys(notes)), (shown, total)


def kernel_used(model: Any) -> answers.KernelUsed:
    """The kernel of a fitted model, with its numbers."""
    kernel, bias = model.kernel_, float(model.fit_intercept)
    told = {"bias": bias, "formula": kernel.formula, "degree": 1, "gamma": 1.0, "coef0": 0.0}
    match kernel:
        case Polynomial():
            told |= {"kind": "poly", "degree": kernel.degree}
            told |= {"gamma": kernel.gamma, "coef0": kernel.coef0}
        case Linear():
            told |= {"kind": "linear"}
        case Gaussian():
            told |= {"kind": "rbf", "gamma": 1 / (2 * kernel.sigma**2)}
        case RBF():
            told |= {"kind": "rbf", "gamma": kernel.gamma}
        case Sigmoid():
            told |= {"kind": "sigmoid", "gamma": kernel.eta, "coef0": kernel.theta}
    return answers.KernelUsed(**told)


def _shared_visits(model: Any, samples: Samples) -> Shared | None:
    """With a budget: the visits with a mistake in any problem, and what is forgotten there.

    It is the support vector whose last mistake, in any problem, lies longest ago.
    """
    if model.budget is None:
        return None
    runs = [Recorded(model, samples, k) for k in range(len(model.fits_))]
    pairs = [np.column_stack([run.clock, run.record.sample]) for run in runs]
    made = np.unique(np.concatenate(pairs), axis=0)
    steps: dict[int, dict[int, float]] = {k: {} for k in range(len(runs))}
    for k, run in enumerate(runs):
        steps[k] = dict(zip(run.clock.tolist(), run.record.step.tolist(), strict=True))
    alive: OrderedDict[int, Floats] = OrderedDict()
    gone = []
    for visit, sample in made.tolist():
        found = sample in alive
        gone.append(-1 if found or len(alive) < model.budget else alive.popitem(last=False)[0])
        coef = alive.pop(sample, np.zeros(len(runs)))
        coef = coef + [steps[k].get(visit, 0.0) for k in range(len(runs))]
        if coef.any():  # a sample that was dropped is none any more
            alive[sample] = coef
    return Shared(made[:, 0], made[:, 1], np.array(gone, dtype=np.int64))


class _Course:
    """One problem, made into an answer."""

    def __init__(
        self, run: Recorded, K: Floats | None, extent: entries.Extent, shared: Shared | None
    ) -> None:
        self.run, self.K, self.notes = run, K, [""][:0]
        fit, none = run.fit, np.empty(0, np.int64)
        self.pocket = self._pocket() if run.keep == "pocket" else None
        must = none if self.pocket is None else self.pocket
        courses = len(run.model.fits_)
        self.total, self.shared = fit.n_updates + 1, None
        if shared is not None and (len(shared.visit) + 1) * courses <= entries.MOST:
            # What other problems forget is forgotten here, too: an entry for each of their visits.
            self.shared, self.total = shared, len(shared.visit) + 1
            self.numbers = np.append(0, np.searchsorted(run.clock, shared.visit, side="right"))
            return
        if shared is not None:
            self.notes.append("In so long a run what the budget forgets is not shown.")
        self.numbers = entries.chosen(fit.n_updates, fit.n_updates, courses, extent, must)

    def told(self, bound: Any, report: Any) -> answers.Course:
        """The answer."""
        run, fit, cycle = self.run, self.run.fit, self.run.fit.certificate
        two = len(run.model.classes_) == 2
        coef = np.zeros(run.samples.n if run.samples.n <= MOST_TOLD else 0)
        if coef.size:
            coef[run.model.support_] = fit.coef
        whole = self.shared is not None or len(self.numbers) == fit.n_updates + 1
        return answers.Course(
            positive=run.positive,
            negative=int(run.model.classes_[0]) if two else None,
            **self._columns(),
            mistakes=self.numbers.tolist(),
            w=None,
            b=None,
            shown=self._shown(),
            batch=None if whole else self._between(),
            dropped=self._dropped(),
            bound=bound,
            lemmas=lemmas_told(report, self.numbers),
            epochs=self._epochs(),
            stop=answers.Stop(reason=fit.stop_reason.name, sentence=fit.stop_reason.value),
            cycle=cycle and answers.CycleFound(entry=cycle.entry, period=cycle.period),
            coef=coef.tolist() or None,
            total=fit.n_updates,
            mistakes_in_all=fit.n_mistakes,
            epochs_in_all=fit.n_epochs,
        )

    def _columns(self) -> dict[str, Any]:
        """What happened at each entry."""
        record, clock, numbers, shared = self.run.record, self.run.clock, self.numbers, self.shared
        start = int((numbers == 0).sum()) if shared is None else 1
        made = numbers[start:] - 1
        sample, visit = record.sample[made], clock[made]
        own = np.ones(len(made), np.bool_)
        if shared is not None:
            own = (visit == shared.visit) & (made >= 0)
            sample, visit = shared.sample, shared.visit
        columns = {
            "visit": (0, visit + 1),
            "epoch": (0, visit // self.run.timetable.per_epoch + 1),
            "sample": (-1, sample),
            "sign": (0, self._sides(sample) * own),
            "step": (0.0, np.where(own, record.step[made], 0.0)),
            "value": (0.0, np.where(own, record.value[made], 0.0)),
            **({} if shared is None else {"removed": (-1, shared.gone)}),
        }
        told = {name: [first] * start + rest.tolist() for name, (first, rest) in columns.items()}
        return {"number": numbers.tolist(), **told}

    def _sides(self, sample: Ints) -> Ints:
        return np.where(self.run.samples.y[sample] == self.run.positive, 1, -1)

    def _shown(self) -> answers.Shown | None:
        keep: Any = self.run.keep
        if keep == "last":
            return None
        if keep == "pocket" and self.pocket is None:
            return None
        number = None
        if self.pocket is not None:
            place = np.searchsorted(self.pocket, self.numbers, side="right") - 1
            number = self.pocket[place].tolist()
        return answers.Shown(keep=keep, number=number)

    def _between(self) -> answers.Batch:
        """All updates since the entry before, each sample once."""
        record, offset, samples, steps, done = self.run.record, [0], [], [], 0
        for number in self.numbers.tolist():
            rows, place = np.unique(record.sample[done:number], return_inverse=True)
            samples += rows.tolist()
            steps += np.bincount(place, record.step[done:number], len(rows)).tolist()
            offset.append(len(samples))
            done = number
        return answers.Batch(offset=offset, sample=samples, step=steps)

    def _dropped(self) -> list[answers.Dropped]:
        run, found = self.run, []
        gone = run.fit.dropped
        for sample, count, epoch in zip(gone.sample, gone.count, gone.epoch, strict=True):
            mine = np.flatnonzero(run.record.sample == sample)
            found.append(
                answers.Dropped(
                    sample=int(sample), count=int(count), epoch=int(epoch), number=int(mine[-1]) + 1
                )
            )
        return found

    # What was kept ------------------------------------------------------------------------------

    def _ends(self, epochs: Ints) -> Ints:
        return np.searchsorted(self.run.record.epoch, epochs, side="right")

    def _pocket(self) -> Ints | None:
        """The updates that filled the pocket, 0 first; None where that is not known."""
        run, K = self.run, self.K
        if K is None:
            self.notes.append("Of so many rows only the pocket at the end is shown.")
            return None
        trace = run.fit.trace.pocket_errors
        ends = np.append(0, self._ends(np.arange(1, run.fit.n_epochs + 1)))
        y = self._sides(np.arange(run.samples.n)) > 0
        best, found = float(y.sum()) if trace.size else np.inf, [0]
        if run.model.class_weight is not None:
            self.notes.append("With weights only the pocket at the end is shown.")
            return None
        for epoch, errors in enumerate(trace.tolist()):
            if errors >= best:
                continue
            for number, count in self._errors_within(ends[epoch], ends[epoch + 1], y):
                if count < best:
                    best = count
                    found.append(number)
            if best != errors:  # rounding left a sample in doubt
                self.notes.append("Only the pocket at the end is shown: values are in doubt.")
                return None
        return np.array(found)

    def _errors_within(self, begin: int, end: int, y: Any) -> Iterator[tuple[int, int]]:
        """The training errors after each of some updates."""
        assert self.K is not None
        record = self.run.record
        f = self.run.coef_after(np.array([begin]))[0] @ self.K
        for number in range(begin, end):
            f += record.step[number] * self.K[record.sample[number]]
            yield number + 1, int(((f > 0) != y).sum())

    def _epochs(self) -> answers.EpochTable:
        run = self.run
        table = entries.chosen_epochs(run.fit, run.samples.n)
        ends, visits = self._ends(table), table * run.timetable.per_epoch
        errors = loss = None
        y = self._sides(np.arange(run.samples.n))
        cheap = len(table) * run.samples.n**2 <= 20 * MOST_WORK and run.model.budget is None
        if self.K is not None and cheap:
            last = run.coef_after(ends)
            values = last @ self.K
            loss = theory.losses["perceptron"](y * values).mean(axis=1).tolist()
            kept = self._kept(last, ends, visits)
            if kept is not None:
                values = values if kept is last else kept @ self.K
                errors = ((values > 0) != (y > 0)).sum(axis=1).tolist()
        return answers.EpochTable(
            epoch=table.tolist(),
            updates=ends.tolist(),
            visits=visits.tolist(),
            mistakes=run.fit.trace.mistakes[table - 1].tolist(),
            errors=errors,
            loss=loss,
            w=None,
            b=None,
        )

    def _kept(self, last: Floats, ends: Ints, visits: Ints) -> Floats | None:
        """The coefficients that stopping at the ends of epochs would return."""
        run = self.run
        if run.keep == "average":
            late = run.coef_after(ends, run.clock.astype(np.float64))
            return last - late / np.maximum(visits, 1)[:, None]
        if run.keep == "pocket":
            if self.pocket is None:
                return None
            return run.coef_after(self.pocket)[np.searchsorted(self.pocket, ends, side="right") - 1]
        return last if run.keep == "last" else None
