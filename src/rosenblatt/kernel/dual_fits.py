"""From where a run begins to the fitted attributes."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from rosenblatt.arguments import to_host
from rosenblatt.contract.classifier import (
    Data,
    are_numbers,
    choose,
    forget_calibration,
    positives_of,
)
from rosenblatt.contract.epochs import reporting
from rosenblatt.contract.estimator import are_floats
from rosenblatt.contract.parameters import count_threads
from rosenblatt.contract.resuming import identify
from rosenblatt.data.rows import Block
from rosenblatt.kernel.choice import feature_matrix, kernel_named, meaning
from rosenblatt.kernel.decisions import (
    FEW_ROWS,
    close_calls,
    decide_by_vectors,
    exact_decisions,
    vectors_for,
)
from rosenblatt.kernel.device import DeviceSource, kernel_values, label_rows, pick_rows
from rosenblatt.kernel.measured import WeightRange
from rosenblatt.kernel.scores import (
    NO_ROWS,
    NO_STEPS,
    DualProblem,
    Expansion,
    Standing,
    visits_of,
)
from rosenblatt.kernels import Kernel, Precomputed
from rosenblatt.results import Dropped, KernelFit, Mistakes, Path
from rosenblatt.running.checkpoints import digest_of
from rosenblatt.running.problems import NO_RECORD, joined
from rosenblatt.running.run import Run
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.sources import Source
    from rosenblatt.kernel.dual_rule import DualRule
    from rosenblatt.running.checkpoints import Keeper
    from rosenblatt.running.problems import Settings


AT_A_TIME = 1 << 22  # numbers in samples that are picked to be decided again


def first_standing(model: Any, data: Data, settings: Settings, again: bool = False) -> Standing:
    """Where a run begins: with nothing or (`again`) with what the last fit ended with."""
    k, size = len(data.positives), len(model.support_) if again else 0
    coef = model.dual_coef_ if again else np.zeros((k, 0))
    problems = [
        DualProblem(positive=p, rng=np.random.default_rng([settings.seed, 2]))
        for p in data.positives
    ]
    if settings.keep == "vote":  # it begins with the vector there is
        for p, mine in zip(problems, coef, strict=True):
            at = np.flatnonzero(mine)
            p.path = [(at, mine[at], 0 * at)]
    return Standing(
        problems=problems,
        coef=coef.T,
        counts=model._state.counts if again else np.zeros((0, k), np.int64),
        lag=np.zeros((size, k)),
        age=np.arange(size),
        sample=model.support_ if again else np.arange(0),
        time=size,
    )


@contextmanager
def training(
    model: Any,
    data: Data,
    settings: Settings,
    begun: tuple[Standing, Kernel],
    keeper: Keeper | None = None,
) -> Iterator[Run[DualProblem]]:
    """A run from where another stands; then the fitted attributes, unless it has failed."""
    standing, kernel = begun
    problems = [p.ready() for p in standing.problems]
    X, block = feature_matrix(data.source), only_labels(data.source)
    if keeper is not None and isinstance(data.source, DeviceSource):
        msg = "checkpoint needs data in memory: give NumPy arrays"
        raise ValueError(msg)
    with (
        Team(count_threads(model.n_jobs)) as team,
        reporting(model, settings.max_epochs) as report,
    ):
        if keeper is not None:
            told = {"kernel": kernel_named(kernel), "start": _start(model, standing)}
            identify(keeper, model, settings.seed, data.source, team, **told)
        values = kernel_values(
            kernel,
            float(model.fit_intercept),
            X,
            team,
            vectors=vectors_for(model, X) if len(standing.age) else None,
            weights=_weight_range(block, standing),
            # The pocket has to tell many scores apart.
            kind=np.float64 if model.keep == "pocket" else None,
        )
        expansion = Expansion(
            values.n,
            len(problems),
            lag=settings.averaging,
            drops=settings.drop_after is not None,
        )
        if len(standing.age):
            expansion.load(standing, rows_of_vectors(model, standing.sample, X))
        rule = model._rule(settings)(values, block, settings, problems, expansion)
        yield Run(rule, problems, settings, report, keeper)
        _set_results(model, data, kernel, rule)


def _start(model: Any, standing: Standing) -> str | None:
    """A digest of the vectors that a run begins with, if there are any."""
    if not len(standing.age):
        return None
    V: Any = np.empty(0) if model._pairwise else model.support_vectors_
    parts = [V.data, V.indices, V.indptr] if issparse(V) else [V]
    parts += [standing.coef, standing.counts, standing.sample, standing.age]
    return digest_of(np.concatenate([np.ravel(part) for part in parts]))


def only_labels(source: Source) -> Block:
    """Labels and weights of all rows, without features."""
    blocks = [piece.block for piece in source.pieces()]
    label = np.concatenate([block.label for block in blocks])
    weight = np.concatenate([block.weight for block in blocks])
    return Block(label_rows(len(label)), label, weight, blocks[0].factor)


def _weight_range(block: Block, standing: Standing) -> WeightRange:
    """Of the weights, and of the coefficients to begin with."""
    weight, factor = block.weight, block.factor
    numbers = np.concatenate([weight, factor.ravel(), standing.coef.ravel()])
    largest = float(weight.max(initial=0.0 if weight.size else 1.0))
    largest = max(largest * float(factor.max(initial=0.0 if factor.size else 1.0)), 1.0)
    return WeightRange(bool((np.rint(numbers) == numbers).all()), largest)


def rows_of_vectors(model: Any, sample: Ints, X: Any) -> Ints:
    """Which support vectors stand at the same row in these data: its number, else -1."""
    if model._pairwise:
        return sample
    known = np.flatnonzero((sample >= 0) & (sample < X.shape[0]))
    apart = (to_host(pick_rows(X, sample[known])) != vectors_for(model, X)[known]).sum(axis=1)
    same = np.full(len(sample), -1)
    known = known[np.asarray(apart).ravel() == 0]
    same[known] = sample[known]
    return same


def _set_results(model: Any, data: Data, kernel: Kernel, rule: DualRule) -> None:
    """Set everything that a fitted model has, all at once."""
    a, settings, kept = rule.expansion.arrays, rule.settings, _kept(rule)
    slots = _needed_slots(rule, kept)
    problems = [_at_rest(p, slots, len(a.age)) for p in rule.problems]
    sample, alpha = a.sample[slots], a.counts[slots]
    if a.dropped.size:
        alpha[(sample >= 0)[:, np.newaxis] & a.dropped[sample]] = 0
    model.kernel_, model.classes_ = kernel, data.classes
    forget_calibration(model)
    model._fitted_with = meaning(model)
    model.support_ = sample
    if not model._pairwise:
        model.support_vectors_ = rule.values.support.matrix(slots)
    model.fits_ = tuple(
        KernelFit(
            coef=kept[slots, c],
            last=a.coef[slots, c],
            alpha=alpha[:, c].copy(),
            dropped=Dropped(*p.dropped[0]),
            path=_path(p) if settings.keep == "vote" else None,
            **p.outcome(settings, Mistakes(*p.records[0]) if settings.record else None),
        )
        for c, p in enumerate(problems)
    )
    model.dual_coef_ = np.stack([fit.coef for fit in model.fits_])
    model.alpha_ = np.stack([fit.alpha for fit in model.fits_])
    model.n_iter_ = max(fit.n_epochs for fit in model.fits_)
    model._state = Standing(
        problems=problems,
        coef=a.coef[slots],
        counts=a.counts[slots],
        lag=a.lag[slots],
        age=a.age[slots],
        sample=sample,
        time=rule.expansion.time,
    )
    model.n_errors_ = int((_choices(model, rule, slots) != rule.block.label).sum())


def _kept(rule: DualRule) -> Floats:
    """The coefficients that decide."""
    a = rule.expansion.arrays
    if rule.pocket is not None:
        return rule.pocket.coef(len(a.coef))
    averaged = _averaged(rule)
    if not averaged.any():
        return a.coef
    return np.where(averaged, a.coef - a.lag / visits_of(rule.problems), a.coef)


def _averaged(rule: DualRule) -> NDArray[np.bool_]:
    """Of which problems the mean is kept."""
    return np.array([p.keeps_average(rule.settings) for p in rule.problems])


def _needed_slots(rule: DualRule, kept: Floats) -> Ints:
    """The slots of the support vectors that matter, in the order of their first mistakes."""
    a = rule.expansion.arrays
    wanted = (a.coef != 0).any(axis=1) | (kept != 0).any(axis=1)
    for p in rule.problems:
        for slots, _, _ in p.path:
            wanted[slots] = True
    found = np.flatnonzero(wanted)
    if rule.settings.budget is not None:  # slots are used again there
        found = found[np.argsort(a.age[found], kind="stable")]
    return found


def _at_rest(p: DualProblem, slots: Ints, size: int) -> DualProblem:
    """A problem with its records joined, and slots numbered anew."""
    position = np.zeros(size, np.int64)
    position[slots] = np.arange(len(slots))
    vector, step, when = joined(NO_STEPS, p.path)
    return replace(
        p,
        cycles=None,
        records=[joined(NO_RECORD, p.records)],
        path=[(position[vector], step, when)],
        dropped=[joined(NO_ROWS, p.dropped)],
    )


def _path(p: DualProblem) -> Path:
    """The path of a problem, with the lives of its vectors."""
    vector, step, when = p.path[0]
    ends = np.append(when[1:], p.visits + p.within)
    first = int(when[0]) if len(when) else p.visits + p.within
    return Path(vector, step, ends[: len(when)] - when, first)


def _choices(model: Any, rule: DualRule, slots: Ints) -> NDArray[np.intp]:
    """The classes of the training samples by what was kept: by their scores if these will do."""
    scores, settings, doubtful = rule.scores.now, rule.settings, np.arange(rule.n_rows)
    scored = settings.keep in ("last", "average", "auto") and settings.budget is None
    if scored:
        averaged = _averaged(rule)
        if averaged.any():
            scores = np.where(averaged, rule.scores.average(rule.problems), scores)
        off = 3.0 * rule.scores.doubts(doubtful)
        doubtful = np.flatnonzero(close_calls(scores, off))
    chosen = choose(scores)
    if scored and len(doubtful) <= FEW_ROWS:
        chosen[doubtful] = choose(exact_decisions(model, rule.values, doubtful, slots))
        return chosen
    step = max(1, AT_A_TIME // rule.values.n_features)
    for rows in (doubtful[a : a + step] for a in range(0, len(doubtful), step)):
        some = pick_rows(rule.values.X, rows)
        chosen[rows] = choose(decide_by_vectors(model, some, rule.values.team))
    return chosen


def parts_fit(model: Any) -> bool:
    """Whether all parts of a fitted model have shapes that agree."""
    k, s = len(positives_of(model.classes_)), len(model.support_)
    state, given = model._state, isinstance(model.kernel_, Precomputed)
    vectors = given or _are_vectors(model.support_vectors_, (s, model.n_features_in_))
    path = [fit.path for fit in model.fits_ if fit.path is not None]
    if not given and hasattr(model.support_vectors_, "check_format"):
        model.support_vectors_.check_format(full_check=True)  # columns beyond the matrix, too
    return (
        bool(vectors)
        and isinstance(model.kernel_, Kernel)
        and are_floats(model.dual_coef_, (k, s))
        and are_numbers(model.alpha_, (k, s))
        and are_numbers(model.support_, (s,))
        and model.support_.min(initial=0) >= -1
        and len(model.fits_) == k
        and [p.positive for p in state.problems] == positives_of(model.classes_)
        and state.coef.shape == state.counts.shape == (s, k)
        and state.lag.shape in ((s, k), (s, 0))
        and state.age.shape == state.sample.shape == (s,)
        and all(p.vector.min(initial=0) >= 0 and p.vector.max(initial=-1) < s for p in path)
        and all(p.vector.shape == p.step.shape == p.lives.shape for p in path)
    )


def _are_vectors(X: Any, shape: tuple[int, int]) -> bool:
    """Whether it is an array or a CSR matrix of finite numbers of this shape."""
    values = X.data if issparse(X) else X
    return X.shape == shape and are_floats(values, values.shape)
