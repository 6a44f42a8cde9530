"""The mistakes of a recorded run beside their bound, and the bound's proof at every update."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.bounds.function import (
    best_in_features,
    in_features,
    samples_per_update,
    separating,
    separating_in_features,
)
from rosenblatt.bounds.in_features import KernelBounds, measured
from rosenblatt.bounds.joint import (
    JointVectors,
    in_kesler_vectors,
    joined_planes,
    joint_weights,
    of_classes,
)
from rosenblatt.bounds.loops import add_to_tiles, move_by, replay, replay_mixed
from rosenblatt.bounds.solver import Bounds, KindOfRun
from rosenblatt.contract.parameters import count_threads
from rosenblatt.data.kesler import KeslerSource
from rosenblatt.data.rows import as_rows, row_weights
from rosenblatt.data.sources import labels, stack, whole
from rosenblatt.nearest.signed_vectors import U, Vectors
from rosenblatt.results import BoundReport, Hyperplane, JointFit, Updates
from rosenblatt.running.orders import PICKING
from rosenblatt.running.threads import Team
from rosenblatt.separation.feature_vectors import (
    FeatureVectors,
    by_values,
    feature_vectors,
    named,
)
from rosenblatt.separation.kernel_vectors import KernelVectors
from rosenblatt.tree_sums import PartialSum

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.bounds.solver import Found
    from rosenblatt.contract.classifier import Data
    from rosenblatt.data.sources import Source
    from rosenblatt.results import MistakeBound

ENTRIES = 1 << 24  # numbers to go through between two chances to interrupt
OTHER_DATA = (
    "these are not the data of the fit: give the X, the y and the sample_weight it was trained on"
)


def bound_reports(model: Any, data: Data) -> tuple[BoundReport, ...]:
    """A report for each two-class problem of a recorded fit."""
    records = [_record(fit) for fit in model.fits_]  # refuse before any work
    if isinstance(model.fits_[0], JointFit):
        return (_joint_report(model, data, records[0]),)
    X, reports = stack(data.source), []
    with Team(count_threads(model.n_jobs)) as team:
        for positive, fit, updates in zip(data.positives, model.fits_, records, strict=True):
            eta = _rate(updates, _signed_weights(data.source, positive), float(model.eta0))
            vectors = Vectors(data.source, team, positive, float(updates.fit_intercept))
            run = _run(model, fit, updates, eta, vectors.n)
            found = _run_bound(vectors, run)
            last = np.append(fit.last.w, fit.last.b)
            course = _followed(updates, fit, X, found, last)
            own, bias = data.classes.tolist()[positive], updates.fit_intercept
            rounding = allowances(course, found.bound, vectors.slack)
            reports.append(_report(found.bound, own, fit, course, rounding, bias))
    return tuple(reports)


def _followed(updates: Updates, fit: Any, X: Any, found: Found, last: Floats) -> Course:
    """The course of a run that ended with the vector `last`, if it is that of these data."""
    if not np.isfinite(found.bound.length2_bound(fit.n_mistakes)):
        msg = "the squares of these data overflow: scale the features"
        raise ValueError(msg)
    course = follow(updates, fit.n_updates, X, found.theta)
    if not np.array_equal(course.theta, last):
        raise ValueError(OTHER_DATA)
    return course


def _joint_report(model: Any, data: Data, record: Any) -> BoundReport:
    """The report on several classes as one problem."""
    (fit,), k, bias = model.fits_, len(data.classes), bool(record.fit_intercept)
    eta = _rate(record, joint_weights(data.source), float(model.eta0))
    same = np.array_equal(labels(data.source)[record.sample], record.own)
    if (
        not same
        or not np.isin(record.rival, np.arange(k)).all()
        or (record.rival == record.own).any()
    ):
        raise ValueError(OTHER_DATA)
    updates = in_kesler_vectors(record, k)
    with Team(count_threads(model.n_jobs)) as team:
        vectors = JointVectors(data.source, k, team, bias)
        run = _run(model, fit, updates, eta, vectors.n // (k - 1))._replace(rivals=k - 1)
        found = _run_bound(vectors, run)
        X = stack(KeslerSource(data.source, k, bias))
        course = _followed(updates, fit, X, found, joined_planes(fit.last))
    bound = of_classes(found.bound, k)
    rounding = allowances(course, bound, vectors.slack)
    return _report(bound, None, fit, course, rounding, bias)


def kernel_bound_reports(model: Any, data: Data) -> tuple[BoundReport, ...]:
    """The same in the feature space of the model's kernel."""
    if model.drop_after is not None or model.budget is not None:
        msg = "no bound is known where samples are dropped or forgotten: fit without drop_after "
        raise ValueError(msg + "and budget")
    records = [_record(fit) for fit in model.fits_]
    X, bias = whole(data.source), bool(model._fitted_with["fit_intercept"])
    if (model._same_rows(model.support_, X) < 0).any():
        raise ValueError(OTHER_DATA)
    features = None if by_values(model.kernel_, X) else feature_vectors(X, model.kernel_, bias)
    weights, reports = _weights_of(data.source), []
    with Team(count_threads(model.n_jobs)) as team:
        for positive, fit, record in zip(data.positives, model.fits_, records, strict=True):
            sign = _signed_weights(data.source, positive)
            _rate(record, sign, 1.0)
            updates = _from_zero(record, 0 if features is None else features.vectors.shape[1])
            run = _run(model, fit, updates, 1.0, int(np.count_nonzero(sign)))
            name, own = named(model.kernel_, bias), data.classes.tolist()[positive]
            if features is None:
                z = KernelVectors(X, sign, model.kernel_, float(bias), team)
                found = _kernel_bound(partial(KernelBounds, z), run, KernelBounds.separating, name)
                course, rounding = _measured(z, updates, fit.n_updates, found)
            else:
                vectors = FeatureVectors(features, labels(data.source), team, positive, **weights)
                look = partial(separating_in_features, features=features)
                found = _kernel_bound(partial(in_features, vectors), run, look, name)
                course = follow(updates, fit.n_updates, features.vectors, found.theta)
                rounding = allowances(course, found.bound, vectors.slack)
            reports.append(_report(found.bound, own, fit, course, rounding, bias))
    return tuple(reports)


def _weights_of(source: Source) -> dict[str, Any]:
    """The weights of samples and classes, if there are any."""
    blocks = [piece.block for piece in source.pieces()]
    given = {"weight": np.concatenate([b.weight for b in blocks]), "factor": blocks[0].factor}
    return {part: array for part, array in given.items() if array.size}


def _from_zero(record: Any, size: int) -> Updates:
    """The record of a kernel perceptron as that of a perceptron on its features."""
    columns = record.epoch, record.sample, record.value, record.step, record.update
    return Updates(*columns, start=Hyperplane(np.zeros(size)), eta=1.0, fit_intercept=False)


def _kernel_bound(
    bounds_of: Callable[[KindOfRun], Bounds],
    run: KindOfRun,
    look: Callable[[Any], tuple[Floats | None, bool | None]],
    name: str,
) -> Found:
    """The bound for any number of epochs; if there is none, for those of the run."""
    for_ever = bounds_of(run._replace(epochs=None))
    theta, separable = look(for_ever)
    found = best_in_features(for_ever, theta, separable, name)
    found = found or best_in_features(bounds_of(run), theta, separable, name)
    assert found is not None
    return found


def _measured(
    z: KernelVectors, updates: Updates, n_updates: int, found: Found
) -> tuple[Course, tuple[Floats, Floats]]:
    """The course of a kernel perceptron, and how far rounding can have moved it."""
    ends = np.searchsorted(updates.update, np.arange(n_updates), side="right")
    at, stop = np.append(0, ends), int(ends[-1]) if n_updates else 0
    sample, step = updates.sample[:stop], updates.step[:stop]
    made, bound = measured(z, sample, step, found.theta, found.bound.R), found.bound
    course = Course(at, made.progress[at], made.length2[at], found.theta)
    # What the bounds of both lemmas are compared with is itself a sum of such numbers.
    progress = 2 * z.slack * (np.sqrt(np.abs(course.length2)) + at * bound.gamma)
    length2 = 4 * z.slack * bound.length2_bound(at)
    progress, length2 = progress + made.progress_rounding[at], length2 + made.length2_rounding[at]
    return course, (progress, length2)


def _run_bound(vectors: Vectors, run: KindOfRun) -> Found:
    """The bound for any number of epochs; if there is none, for those of the run."""
    bounds = Bounds(vectors, run._replace(epochs=None))
    theta, separable = separating(bounds)
    found = bounds.best(theta, separable) or Bounds(vectors, run).best(None, separable)
    assert found is not None  # for so many epochs there is always one
    return found


def _record(fit: Any) -> Any:
    updates = fit.trace.updates
    if updates is None:
        msg = "this fit kept no record of its updates: fit with record=True"
        raise ValueError(msg)
    return updates


def _signed_weights(source: Source, positive: int) -> Floats:
    """The weight of every sample, negative for those of the rest."""
    parts = [
        np.where(piece.block.label == positive, 1.0, -1.0) * row_weights(piece.block, positive)
        for piece in source.pieces()
    ]
    return np.concatenate(parts)


def _rate(updates: Any, weights: Floats, eta0: float) -> float:
    """The learning rate of the run; an error if its steps do not fit the data."""
    if updates.sample.size and updates.sample.max() >= len(weights):
        raise ValueError(OTHER_DATA)
    signed = weights[updates.sample]
    if not updates.sample.size or np.array_equal(eta0 * signed, updates.step):
        return eta0
    bare = np.array_equal(signed, updates.step)  # steps of batches have no rate
    if bare or getattr(updates, "eta", 1.0) != 1.0:
        eta0, right = updates.eta, bare
    else:  # the parameter was changed after the fit
        eta0 = float(updates.step[0] / signed[0]) if signed[0] else 0.0
        right = eta0 > 0 and np.allclose(eta0 * signed, updates.step, rtol=1e-14, atol=0.0)
    if not right:
        raise ValueError(OTHER_DATA)
    return eta0


def _run(model: Any, fit: Any, updates: Updates, eta: float, n: int) -> KindOfRun:
    """What kind of run it was; `n` samples have a weight."""
    picked = model.order in PICKING
    update = getattr(model, "update", "online")
    return KindOfRun(
        start=np.append(updates.start.w, updates.start.b),
        eta=eta,
        update=update,
        size=samples_per_update(update, getattr(model, "batch_size", None), n),
        epochs=fit.n_epochs,
        visits=1 if picked else n,
        once=not picked and model.order != "sampled",
        shards=getattr(updates, "shards", 1),
    )


def _report(
    bound: MistakeBound,
    label: Any,
    fit: Any,
    course: Course,
    rounding: tuple[Floats, Floats],
    bias: bool,
) -> BoundReport:
    progress, length2 = rounding
    return BoundReport(
        bound=bound,
        positive=label,
        stop_reason=fit.stop_reason,
        n_mistakes=fit.n_mistakes,
        n_updates=fit.n_updates,
        n_epochs=fit.n_epochs,
        mistakes=course.mistakes,
        progress=course.progress,
        progress_bound=bound.progress_bound(course.mistakes),
        length2=course.length2,
        length2_bound=bound.length2_bound(course.mistakes),
        progress_rounding=progress,
        length2_rounding=length2,
        fit_intercept=bias,
    )


# The course of a run ----------------------------------------------------------------------------


class Course(NamedTuple):
    """A run at its start and after each update, and where it ended."""

    mistakes: Ints  # so far
    progress: Floats  # θ·θ*
    length2: Floats  # ‖θ‖²
    theta: Floats


def follow(updates: Updates, n_updates: int, X: Any, star: Floats) -> Course:
    """Do the recorded updates once more, and measure θ after each.

    X is a matrix, or a Stack: of it, as many rows as are needed in turn.

    Of a batch that was halted, mistakes are recorded though it never became an update:
    `n_updates` leaves it out.
    """
    theta = np.append(updates.start.w, updates.start.b)
    ends = np.searchsorted(updates.update, np.arange(n_updates), side="right")
    progress, length2 = np.empty(n_updates + 1), np.empty(n_updates + 1)
    progress[0], length2[0] = theta @ star, theta @ theta
    sums, begin = np.zeros_like(theta), 0
    share, bias = max(1, ENTRIES // len(theta)), float(updates.fit_intercept)
    for a in range(0, n_updates, share):
        z = min(a + share, n_updates)
        part = slice(begin, int(ends[z - 1]))
        needed, sample = np.unique(updates.sample[part], return_inverse=True)
        steps = as_rows(X[needed]), sample.astype(np.uint64), updates.step[part], ends[a:z] - begin
        measured = star, progress[a + 1 : z + 1], length2[a + 1 : z + 1]
        if updates.tile:
            replay_in_tiles(updates, *steps, part, theta, *measured)
        elif updates.shard is None:
            replay(*steps, updates.eta, bias, theta, sums, *measured)
        else:
            shards, room = (updates.shard[part], updates.shards), (np.empty_like(theta), sums)
            replay_mixed(*steps, *shards, bias, theta, *room, *measured)
        begin = part.stop
    return Course(np.append(0, ends), progress, length2, theta)


def replay_in_tiles(
    updates: Updates,
    rows: Any,
    sample: Any,
    step: Floats,
    ends: Ints,
    part: slice,
    theta: Floats,
    star: Floats,
    progress: Floats,
    length2: Floats,
) -> None:
    """`replay` of batches that were summed up in tiles."""
    numbers, begin, bias = updates.sample[part] // updates.tile, 0, float(updates.fit_intercept)
    for t, end in enumerate(ends.tolist()):
        tiles, place = np.unique(numbers[begin:end], return_inverse=True)
        sums, whole = np.zeros((len(tiles), theta.size)), PartialSum(theta.size)
        add_to_tiles(rows, sample[begin:end], step[begin:end], place, bias, sums)
        whole.add(0, int(tiles[-1]) + 1, tiles, sums)
        here = slice(t, t + 1)
        move_by(theta, updates.eta, whole.total(), star, progress[here], length2[here])
        begin = end


def allowances(course: Course, bound: MistakeBound, slack: float) -> tuple[Floats, Floats]:
    """By how much rounding can have moved ``θ·θ*`` and ``‖θ‖²``, in the run and in measuring them.

    An update of k mistakes, in all ``r = ηkR`` long, is off by ``e <= u‖θ‖ + (k + 3)u·r``. That
    changes ``θ·θ*`` by e and ``‖θ‖²`` by ``2e(‖θ‖ + r)``. And a mistake is one by its rounded
    value, so that ``y(θ·x̃)`` can be above zero by ``slack·‖θ‖R``.

    Of S shards each is off by ``(k + 2)u(‖θ‖ + r)`` at most, and so is what is made of them by
    ``(k + S + 5)u(‖θ‖ + r)``; their values are of vectors no longer than ``‖θ‖ + r``.
    """
    length = np.sqrt(course.length2)
    k = np.diff(course.mistakes)
    r = bound.eta0 * bound.R * k
    larger = np.maximum(length[1:], length[:-1])
    off, values_of = U * larger + (k + 3) * U * r, length[:-1]
    if bound.update == "mixed":
        off, values_of = (k + bound.shards + 5) * U * (larger + r), length[:-1] + r
    longer = 2 * slack * values_of * r + 2 * off * (larger + r) + off**2
    scale = np.abs(bound.along) + bound.eta0 * course.mistakes * bound.gamma
    progress = np.append(0.0, np.cumsum(off)) + slack * (length + scale)
    length2 = np.append(0.0, np.cumsum(longer)) + 2 * slack * (
        course.length2 + bound.length2_bound(course.mistakes)
    )
    return 2 * progress, 2 * length2
