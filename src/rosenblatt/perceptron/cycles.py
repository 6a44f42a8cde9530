"""Why a run repeats itself: one cycle gone round again, beside the verdict on the data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.contract.classifier import above, count_training_errors, decisions
from rosenblatt.contract.parameters import count_threads, time_limit
from rosenblatt.data.rows import row_weights
from rosenblatt.data.sources import labels, only, stack
from rosenblatt.exact import signs
from rosenblatt.nearest.signed_vectors import Vectors
from rosenblatt.perceptron.linear_rule import LinearProblem, by_shards, fit_of
from rosenblatt.results import Cycle, CycleReport, Hyperplane, StopReason, Verdict
from rosenblatt.running.clock import Clock
from rosenblatt.running.run import Run
from rosenblatt.running.threads import Team
from rosenblatt.separation.function import proved

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.contract.classifier import Data
    from rosenblatt.data.sources import Source
    from rosenblatt.perceptron.estimator import Perceptron
    from rosenblatt.perceptron.linear_rule import LinearRule
    from rosenblatt.results import Certificate, Fit
    from rosenblatt.running.problems import Settings


OTHER_DATA = (
    "these data do not repeat the cycle of the fit: "
    "give the X, y and sample_weight that were given to fit"
)
ROUNDING = 1e-9  # of lengths and values that another machine may add up in another order


class Lap(NamedTuple):
    """One cycle: hyperplane and mistakes of each epoch, the pocket, and the updates by sample."""

    hyperplanes: list[Hyperplane]
    mistakes: Ints
    best: Hyperplane
    counts: Ints
    steps: Floats


def cycle_reports(
    model: Perceptron, data: Data, settings: Settings, max_time: float | None
) -> tuple[CycleReport | None, ...]:
    """A report for each two-class problem that ended in a cycle, None for the others.

    Data on which the last epochs of the fit would have been other ones, or its training errors,
    are refused. Without a record of the updates no more can be told.
    """
    rule = model._rule(settings)
    settings = settings.with_changes(keep="pocket", record=True, tol=None, max_time=None)
    max_time = time_limit(max_time)
    found: list[CycleReport | None] = []
    with Team(count_threads(model.n_jobs)) as team:
        planes = np.column_stack([model.coef_, model.intercept_])
        if model.n_errors_ != count_training_errors(data.source, planes, team, settings.at_zero):
            raise ValueError(OTHER_DATA)
        for fit, positive in zip(model.fits_, data.positives, strict=True):
            if fit.certificate is None:
                found.append(None)
                continue
            lap = _go_round(fit, data.source, positive, rule, settings, team)
            planes_passed, zero = [*lap.hyperplanes, lap.best], settings.at_zero
            errors = _count_errors(data.source, positive, planes_passed, zero, team)
            found.append(
                _report(fit.certificate, lap, errors, data, positive, settings, team, max_time)
            )
    return tuple(found)


def _go_round(
    fit: Fit, source: Source, positive: int, rule: type[LinearRule], settings: Settings, team: Team
) -> Lap:
    """Start where the run ended, and go on until it is there again."""
    assert fit.certificate is not None
    period, n = fit.certificate.period, source.n_rows
    planes: list[Hyperplane] = []
    counts, steps = np.zeros(n, np.int64), np.zeros(n)
    seen: list[tuple[Any, ...]] = []

    def note(_number: int, problems: list[LinearProblem]) -> None:
        (p,) = problems
        planes.append(Hyperplane(p.theta[:-1], p.theta[-1]))
        for _, rows, _, step, *_ in p.records:
            np.add.at(counts, rows, 1)
            steps[rows] = step  # the same each time: eta, label and weight
        if fit.trace.updates is not None:
            seen.extend(p.records)
        p.records.clear()

    theta = np.append(fit.last.w, fit.last.b)
    problem = LinearProblem(
        positive=positive, theta=theta.copy(), start=theta, rng=np.random.default_rng(0)
    )
    settings = settings.with_changes(max_epochs=period)
    Run(rule(source, settings, team), [problem], settings, note).run()
    again = fit_of(problem, settings)
    if again.stop_reason is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    if again.certificate != Cycle(0, period) or not _same(fit, again, seen):
        raise ValueError(OTHER_DATA)
    return Lap(planes, again.trace.mistakes, again.hyperplane, counts, steps)


def _same(fit: Fit, again: Fit, seen: list[tuple[Any, ...]]) -> bool:
    """Whether a lap is the last one of the fit: its mistakes, its changes, its record."""
    period, known = len(again.trace), fit.trace
    if not np.array_equal(again.trace.mistakes, known.mistakes[-period:]):
        return False
    if not np.allclose(again.trace.change, known.change[-period:], rtol=ROUNDING, atol=0.0):
        return False
    if known.updates is None:
        return True
    columns = tuple(np.concatenate(column) for column in zip(*seen, strict=True))
    if known.updates.shard is not None:
        order = by_shards(columns)
        columns = tuple(column[order] for column in columns)
    _, sample, value, step, *_ = columns
    old, n = known.updates, len(sample)
    room = ROUNDING * float(np.abs(old.value[-n:]).max())
    return (
        np.array_equal(sample, old.sample[-n:])
        and np.array_equal(step, old.step[-n:])
        and np.allclose(value, old.value[-n:], rtol=0.0, atol=room)
    )


def _count_errors(
    source: Source, positive: int, planes: list[Hyperplane], at_zero: int | None, team: Team
) -> Ints:
    """Training errors of each hyperplane in the problem "class `positive` against the rest"."""
    thetas = np.array([np.append(plane.w, plane.b) for plane in planes])
    errors = np.zeros(len(planes), np.int64)
    for label, values in decisions(source, thetas, team):
        errors += (above(values, at_zero) != (label == positive)[:, np.newaxis]).sum(axis=0)
    return errors


def _report(
    cycle: Cycle,
    lap: Lap,
    errors: Ints,
    data: Data,
    positive: int,
    settings: Settings,
    team: Team,
    max_time: float | None,
) -> CycleReport:
    """The lap beside the verdict."""
    source, rows = data.source, np.flatnonzero(lap.counts)
    bias = settings.fit_intercept
    exactly = cancels(stack(source)[rows], lap.counts[rows], lap.steps[rows], bias=bias)
    used = np.concatenate([row_weights(piece.block, positive) > 0 for piece in source.pieces()])
    if source.weighted:
        source = only(source, used)
    found = _verdict(source, positive, team, max_time)
    places = [name for name in ("support", "on", "spanning_support") if hasattr(found, name)]
    numbers = {name: np.flatnonzero(used)[getattr(found, name)] for name in places}
    return CycleReport(
        positive=data.classes[positive].item(),
        entry=cycle.entry,
        period=cycle.period,
        hyperplanes=tuple(lap.hyperplanes),
        mistakes=lap.mistakes,
        errors=errors[:-1],
        best=lap.best,
        best_errors=int(errors[-1]),
        counts=lap.counts,
        cancels=exactly,
        certificate=replace(found, **numbers),
        separable=(False if exactly else _separable(found, source, positive, team, bias, max_time)),
        fit_intercept=bias,
    )


def _verdict(source: Source, positive: int, team: Team, max_time: float | None) -> Certificate:
    """Whether a hyperplane separates the samples that can be mistakes: those with a weight."""
    if len(np.unique(labels(source) == positive)) < 2:
        msg = "all samples with a weight above zero are of one class: nothing is to be separated"
        raise ValueError(msg)
    return proved(source, team, positive, Clock(max_time))


def _separable(
    certificate: Certificate,
    source: Source,
    positive: int,
    team: Team,
    bias: bool,
    max_time: float | None,
) -> bool | None:
    """Whether what the run looks for exists, where its updates do not prove the contrary."""
    verdict = certificate.verdict
    if verdict is Verdict.SEPARABLE and not bias:
        # w·z > 0 for all z = y·x is possible exactly if a hyperplane separates them from -z.
        both, side = Vectors(source, team, positive, 0.0).as_two_classes()
        verdict = _verdict(both, side, team, max_time).verdict
    return None if verdict is Verdict.UNDECIDED else verdict is Verdict.SEPARABLE


def cancels(X: Any, counts: Ints, steps: Floats, *, bias: bool) -> bool:
    """Whether ``Σ count_i step_i (x_i, 1)`` is zero, in rational numbers."""
    pairs = zip(counts.tolist(), steps.tolist(), strict=True)
    factors = [count * Fraction(step) for count, step in pairs]
    if bias and sum(factors) != 0:
        return False
    features = np.ascontiguousarray(X.T) if isinstance(X, np.ndarray) else X.T.tocsr()
    return not signs(features, [*factors, 0.0]).any()
