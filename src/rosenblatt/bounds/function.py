"""Mistake bounds: for data, and beside a recorded run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import brief
from rosenblatt.bounds.solver import Bounds, KindOfRun, allowances, follow
from rosenblatt.contract.parameters import (
    batches,
    count_threads,
    positive_int,
    positive_number,
    start_vectors,
    yes_or_no,
)
from rosenblatt.data.rows import as_rows, row_weights
from rosenblatt.data.sources import MemorySource, labels, stack, whole
from rosenblatt.nearest.signed_vectors import Vectors
from rosenblatt.results import BoundReport, Hyperplane, Separable, Undecided, Updates
from rosenblatt.running.clock import Clock
from rosenblatt.running.run import PICKING, Settings
from rosenblatt.running.threads import Team
from rosenblatt.separation.feature_vectors import (
    Features,
    FeatureVectors,
    as_kernel,
    feature_vectors,
    named,
)
from rosenblatt.separation.function import proved, read_two_classes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.bounds.solver import Course, Found
    from rosenblatt.contract.classifier import Data
    from rosenblatt.data.sources import Source
    from rosenblatt.kernels import Kernel
    from rosenblatt.results import MistakeBound

    Labels = NDArray[np.int32]


def mistake_bound(
    X: Any,
    y: ArrayLike,
    *,
    hyperplane: Hyperplane | None = None,
    init: Any = None,
    eta0: float = 1.0,
    fit_intercept: bool | None = None,
    update: str = "online",
    batch_size: int | None = None,
    epochs: int | None = None,
    kernel: Any = None,
) -> MistakeBound:
    """The most mistakes that a perceptron can make on these data.

    In any order of the samples, and for any number of epochs, it makes at most ``(R/γ)²``
    mistakes from zero [1]_; with a start guess, at most the larger root of the proof's quadratic;
    in batches of m samples, m times as many. (Mistakes are counted, not updates; an update of a
    batch has one mistake at least, so there are no more updates than that.) With a bias, R and γ
    are those of the vectors ``(x, 1)``.

    If no hyperplane separates the classes there is no such bound, and `epochs` must be given: in
    that many epochs there are at most ``(R‖v‖ + √epochs·‖(1 - y v·x̃)₊‖₂)²`` mistakes, whatever the
    vector v [2]_; the best one is looked for. This counts on every sample to come once in an
    epoch (`order` "cyclic" or "shuffled").

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n, d)
    y : array of n labels of two kinds
        The second in sorted order is +1.
    hyperplane : Hyperplane, optional
        Use its margin; None: the widest there is, which gives the smallest bound from zero.
    init : array, optional
        The start guess: weights, then the bias. None: zeros.
    eta0 : float
        The learning rate. It matters only with a start guess.
    fit_intercept : bool, optional
        Whether a bias is learned; None: yes, but not with a kernel. With a kernel the bias makes
        it ``K + 1``.
    update : {"online", "batch", "minibatch"}
    batch_size : int, optional
        Samples per update, for ``update="minibatch"``.
    epochs : int, optional
        Bound the mistakes of so many epochs. If the classes are separable it is never above the
        bound for any number.
    kernel : rb.kernels object or callable, optional
        The bound for a kernel perceptron: R, γ and the hyperplane are those of its feature space.

    Returns
    -------
    MistakeBound

    Raises
    ------
    ValueError
        If the hyperplane, or any hyperplane, does not separate the classes and `epochs` is None.

    References
    ----------
    .. [1] A. B. J. Novikoff, "On convergence proofs on perceptrons", Symposium on the
       Mathematical Theory of Automata, 1962.
    .. [2] Y. Freund and R. E. Schapire, "Large margin classification using the perceptron
       algorithm", Machine Learning 37, 1999.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.eight_points()
    >>> print(rb.mistake_bound(X, y))
    at most 5 mistakes: (R/γ)² with R = 3.317, γ = 1.414
    >>> print(rb.mistake_bound(*rb.datasets.xor(), epochs=3))
    at most 12 mistakes in 3 epochs: nE, a mistake per visit with n = 4, E = 3
    >>> xor = rb.mistake_bound(*rb.datasets.xor(), kernel=rb.kernels.Polynomial(2))
    >>> xor.most, round(xor.R, 3), xor.kernel
    (105, 3.0, 'K(x, y) = (x·y + 1)^2')
    """
    update, size = batches(update, batch_size)
    bias = yes_or_no("fit_intercept", kernel is None if fit_intercept is None else fit_intercept)
    settings = Settings(fit_intercept=bias, eta=positive_number("eta0", eta0))
    X, label = read_two_classes(X, y, "a bound is for two")
    if isinstance(init, str) and init != "zeros":
        msg = f"init={brief(init)} is no vector: give the weights, then the bias, as numbers"
        raise ValueError(msg)
    n, d = X.shape
    run = KindOfRun(
        start=start_vectors("zeros" if init is None else init, 1, d, settings)[0],
        eta=settings.eta,
        update=update,
        size=_batch_size(update, size, n),
        epochs=None if epochs is None else positive_int("epochs", epochs, hint=", or None"),
        visits=n,
    )
    with Team(count_threads(None)) as team:
        if kernel is not None:
            _refuse_vectors(hyperplane, init)
            return _kernel_bound(X, label, as_kernel(kernel), bias, run, team)
        source = MemorySource(as_rows(X), label, d)
        return _bound(Bounds(Vectors(source, team, 1, float(bias)), run), hyperplane, bias)


def _refuse_vectors(hyperplane: Any, init: Any) -> None:
    """With a kernel, neither a hyperplane nor a start guess can be given as weights."""
    for name, given in (("hyperplane", hyperplane), ("init", init)):
        if given is not None and not isinstance(given, str):
            msg = f"{name} is a vector of features, but a kernel has its own space: leave it out"
            raise ValueError(msg)


def _kernel_bound(
    X: Any, label: Labels, kernel: Kernel, fit_intercept: bool, run: KindOfRun, team: Team
) -> MistakeBound:
    """The bound in the feature space of a kernel, with the best hyperplane through its origin."""
    features = feature_vectors(X, kernel, fit_intercept)
    vectors = FeatureVectors(features, label, team)
    name = named(kernel, fit_intercept)
    found, separable = _best_in_features(vectors, features, run, name)
    if found is None:
        what = "no hyperplane separates the classes, so no bound holds for ever"
        if separable is not False:
            what = "no hyperplane separates the classes by more than rounding, so no bound is known"
        msg = f"in the feature space of {name} {what}: give epochs, and get one for so many epochs"
        raise ValueError(msg)
    return found.bound


def _best_in_features(
    vectors: FeatureVectors, features: Features, run: KindOfRun, name: str
) -> tuple[Found | None, bool | None]:
    """The smallest bound for vectors of features, and whether a hyperplane separates them."""
    bounds = Bounds(vectors, run._replace(start=np.zeros(vectors.size)))
    theta = vectors.widest(bounds.R)
    separable: bool | None = theta is not None
    if not separable:  # features that are rounded do not tell what is beyond their rounding
        separable = _separating(bounds)[1] if features.explicit and not features.off else None
    found = bounds.best(theta, bool(separable))
    if found is not None:
        found = found._replace(bound=replace(found.bound, kernel=name, separable=separable))
    return found, separable


def _batch_size(update: str, size: int | None, n: int) -> int:
    """Samples per update."""
    if update == "online":
        return 1
    return n if update == "batch" or size is None else min(size, n)


def _bound(bounds: Bounds, hyperplane: Hyperplane | None, fit_intercept: bool) -> MistakeBound:
    """The bound with this hyperplane, or with the best."""
    if hyperplane is None:
        theta, separable = _separating(bounds)
        found = bounds.best(theta, separable)
        if found is None:
            origin = "" if fit_intercept else " through the origin"
            what = f"no hyperplane{origin} separates the classes, so no bound holds for ever"
            if separable is None:
                what = "whether a hyperplane separates the classes could not be settled"
            elif separable:
                what = "the classes are closer than floats can separate, so no bound is known"
            msg = f"{what}: give epochs, and get one for so many epochs"
            raise ValueError(msg)
        return found.bound
    theta = _vector(hyperplane, bounds.z.size, fit_intercept)
    found = bounds.of(theta)
    if found is None:
        wrong = max(1, int((bounds.z.values(theta) <= 0).sum()))
        samples = f"{wrong} of {bounds.z.n} samples are" if wrong != 1 else "1 sample is"
        msg = (
            f"the hyperplane does not separate the classes, {samples} not on the right side: "
            "give one that does, or None for the best, or epochs"
        )
        raise ValueError(msg)
    return found.bound


def _separating(bounds: Bounds) -> tuple[Floats | None, bool | None]:
    """The best vector that separates, and whether one does; floats may know none that does.

    None: that could not be settled.
    """
    z = bounds.z
    source, positive = z.as_two_classes()
    certificate = proved(source, z.team, positive, Clock())
    if not isinstance(certificate, Separable):
        return None, None if isinstance(certificate, Undecided) else False
    theta = z.widest(bounds.R)
    if theta is None:  # too narrow for floats to find the best: what proves it will do
        plane = certificate.hyperplane
        theta = np.append(plane.w, plane.b if z.bias else 0.0)[: z.size]
    return (theta if z.margin(theta, bounds.R) > 0 else None), True


def _vector(hyperplane: Any, size: int, fit_intercept: bool) -> Floats:
    """``(w, b)`` of a given hyperplane, checked."""
    if not isinstance(hyperplane, Hyperplane):
        what = f"hyperplane={brief(hyperplane)} is not allowed"
        msg = f"{what}: give a rb.Hyperplane, or None for the best"
        raise ValueError(msg)
    if len(hyperplane.w) != size - 1:
        msg = f"the hyperplane has {len(hyperplane.w)} weights, but X has {size - 1} features"
        raise ValueError(msg)
    if hyperplane.b and not fit_intercept:
        msg = f"the hyperplane has the bias {hyperplane.b:g}, but fit_intercept=False learns none"
        raise ValueError(msg)
    if not hyperplane.w.any() and not hyperplane.b:
        msg = "the hyperplane is zero: give weights that are not all zero"
        raise ValueError(msg)
    return np.append(hyperplane.w, hyperplane.b)


# Beside a run ---------------------------------------------------------------------------------

OTHER_DATA = (
    "these are not the data of the fit: give the X, the y and the sample_weight it was trained on"
)


def bound_reports(model: Any, data: Data) -> tuple[BoundReport, ...]:
    """A report for each two-class problem of a recorded fit."""
    records = [_record(fit) for fit in model.fits_]  # refuse before any work
    X, reports = stack(data.source), []
    with Team(count_threads(model.n_jobs)) as team:
        for positive, fit, updates in zip(data.positives, model.fits_, records, strict=True):
            eta = _rate(updates, _signed_weights(data.source, positive), float(model.eta0))
            vectors = Vectors(data.source, team, positive, float(updates.fit_intercept))
            run = _run(model, fit, updates, eta, vectors.n)
            found = _run_bound(vectors, run)
            if not np.isfinite(found.bound.length2_bound(fit.n_mistakes)):
                msg = "the squares of these data overflow: scale the features"
                raise ValueError(msg)
            course = follow(updates, fit.n_updates, X, found.theta)
            if not np.array_equal(course.theta, np.append(fit.last.w, fit.last.b)):
                raise ValueError(OTHER_DATA)
            own, bias = data.classes.tolist()[positive], updates.fit_intercept
            reports.append(_report(found.bound, own, fit, course, vectors.slack, bias))
    return tuple(reports)


def kernel_bound_reports(model: Any, data: Data) -> tuple[BoundReport, ...]:
    """The same in the feature space of the model's kernel."""
    if model.drop_after is not None or model.budget is not None:
        msg = "no bound is known where samples are dropped or forgotten: fit without drop_after "
        raise ValueError(msg + "and budget")
    records = [_record(fit) for fit in model.fits_]
    X, bias = whole(data.source), bool(model._fitted_with["fit_intercept"])
    if (model._same_rows(model.support_, X) < 0).any():
        raise ValueError(OTHER_DATA)
    features, name = feature_vectors(X, model.kernel_, bias), named(model.kernel_, bias)
    blocks = [piece.block for piece in data.source.pieces()]
    given = {"weight": np.concatenate([b.weight for b in blocks]), "factor": blocks[0].factor}
    weights = {part: array for part, array in given.items() if array.size}
    label, reports = labels(data.source), []
    with Team(count_threads(model.n_jobs)) as team:
        for positive, fit, record in zip(data.positives, model.fits_, records, strict=True):
            _rate(record, _signed_weights(data.source, positive), 1.0)
            vectors = FeatureVectors(features, label, team, positive, **weights)
            zero = Hyperplane(np.zeros(features.vectors.shape[1]))
            columns = record.epoch, record.sample, record.value, record.step, record.update
            updates = Updates(*columns, start=zero, eta=1.0, fit_intercept=False)
            run = _run(model, fit, updates, 1.0, vectors.n)
            found, _ = _best_in_features(vectors, features, run._replace(epochs=None), name)
            if found is None:
                found, _ = _best_in_features(vectors, features, run, name)
            assert found is not None
            course = follow(updates, fit.n_updates, features.vectors, found.theta)
            own = data.classes.tolist()[positive]
            reports.append(_report(found.bound, own, fit, course, vectors.slack, bias))
    return tuple(reports)


def _run_bound(vectors: Vectors, run: KindOfRun) -> Found:
    """The bound for any number of epochs; if there is none, for those of the run."""
    bounds = Bounds(vectors, run._replace(epochs=None))
    theta, separable = _separating(bounds)
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
        size=_batch_size(update, getattr(model, "batch_size", None), n),
        epochs=fit.n_epochs,
        visits=1 if picked else n,
        once=not picked and model.order != "sampled",
    )


def _report(
    bound: MistakeBound, label: Any, fit: Any, course: Course, slack: float, bias: bool
) -> BoundReport:
    progress, length2 = allowances(course, bound, slack)
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
