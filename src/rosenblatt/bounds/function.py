"""Mistake bounds for data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import brief, one_of, positive_int, positive_number, yes_or_no
from rosenblatt.bounds.in_features import KernelBounds
from rosenblatt.bounds.joint import JointVectors, of_classes
from rosenblatt.bounds.solver import Bounds, KindOfRun
from rosenblatt.contract.parameters import (
    MIXED,
    batches,
    count_threads,
    joint_start,
    shards_of,
    start_vectors,
    time_limit,
)
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.nearest.signed_vectors import Vectors
from rosenblatt.results import Hyperplane, Separable, Undecided
from rosenblatt.running.clock import Clock
from rosenblatt.running.problems import Settings
from rosenblatt.running.threads import Team
from rosenblatt.separation.feature_vectors import (
    OVERFLOW,
    Features,
    FeatureVectors,
    as_kernel,
    by_values,
    feature_vectors,
    making_time,
    named,
)
from rosenblatt.separation.function import proved, read_classes, read_two_classes
from rosenblatt.separation.kernel_vectors import KernelVectors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.bounds.solver import Found
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
    shards: int | None = None,
    epochs: int | None = None,
    kernel: Any = None,
    multiclass: str | None = None,
    max_time: float | None = None,
) -> MistakeBound:
    """The most mistakes that a perceptron can make on these data: as `rosenblatt.mistake_bound`.

    It takes no tables, and more than two classes only with ``multiclass="joint"``.
    """
    clock = Clock(time_limit(max_time))
    bias = yes_or_no("fit_intercept", kernel is None if fit_intercept is None else fit_intercept)
    n_classes = 2
    if multiclass is None:
        X, label = read_two_classes(X, y, "a bound is for two")
    else:
        _require_joint(multiclass, kernel)
        X, label, n_classes = read_classes(X, y)
    k = n_classes if n_classes > 2 else 1
    way = batches(update, batch_size, MIXED), shards_of(update, shards)
    if update == "mixed":
        _refuse_mixed(kernel=kernel, multiclass=multiclass)
    run = _kind_of_run(X.shape, bias, init, eta0, way, epochs, k)
    with Team(count_threads(None)) as team:
        if kernel is not None:
            _refuse_vectors(hyperplane, init)
            return _kernel_bound(X, label, as_kernel(kernel), bias, run, team, clock)
        source = MemorySource(as_rows(X), label, X.shape[1])
        if k > 1:
            bounds = Bounds(JointVectors(source, k, team, bias, clock), run)
            return of_classes(_bound(bounds, hyperplane, bias), k)
        vectors = Vectors(source, team, 1, float(bias), clock)
        return _bound(Bounds(vectors, run), hyperplane, bias)


def bound_of_source(
    source: Source,
    positive: int,
    *,
    hyperplane: Hyperplane | None = None,
    init: Any = None,
    eta0: float = 1.0,
    fit_intercept: bool = True,
    update: str = "online",
    batch_size: int | None = None,
    shards: int | None = None,
    epochs: int | None = None,
    clock: Clock,
) -> MistakeBound:
    """The same for class `positive` against the rest of a source, wherever its rows are."""
    bias = yes_or_no("fit_intercept", fit_intercept)
    shape = source.n_rows, source.n_features
    way = batches(update, batch_size, MIXED), shards_of(update, shards)
    run = _kind_of_run(shape, bias, init, eta0, way, epochs, 1)
    with Team(count_threads(None)) as team:
        vectors = Vectors(source, team, positive, float(bias), clock)
        return _bound(Bounds(vectors, run), hyperplane, bias)


LATE = "max_time was over before a bound was found: raise it"


def _kind_of_run(
    shape: tuple[int, int],
    bias: bool,
    init: Any,
    eta0: Any,
    way: tuple[tuple[str, int | None], int | None],
    epochs: Any,
    k: int = 1,
) -> KindOfRun:
    """The run that is asked about, validated."""
    settings = Settings(fit_intercept=bias, eta=positive_number("eta0", eta0))
    if isinstance(init, str) and init != "zeros":
        msg = f"init={brief(init)} is no vector: give the weights, then the bias, as numbers"
        raise ValueError(msg)
    n, d = shape
    init = "zeros" if init is None else init
    draw = joint_start if k > 1 else start_vectors
    start = draw(init, k, d, settings)
    batch, shards = way
    return KindOfRun(
        start=np.append(start, 0.0) if k > 1 else start[0],
        eta=settings.eta,
        update=batch[0],
        size=samples_per_update(*batch, n),
        epochs=None if epochs is None else positive_int("epochs", epochs, hint=", or None"),
        visits=n,
        rivals=max(1, k - 1),
        shards=min(shards or 1, n),
    )


def _require_joint(multiclass: Any, kernel: Any) -> None:
    """Refuse what no bound of several classes is known for."""
    one_of("multiclass", multiclass, ("joint",))
    if kernel is not None:
        msg = "multiclass='joint' goes with no kernel: leave one of them out"
        raise ValueError(msg)


def _refuse_mixed(**given: Any) -> None:
    """Refuse what there are no mixed runs of."""
    for name, value in given.items():
        if value is not None:
            msg = f"update='mixed' goes with no {name}: leave one of them out"
            raise ValueError(msg)


def _refuse_vectors(hyperplane: Any, init: Any) -> None:
    """With a kernel, neither a hyperplane nor a start guess can be given as weights."""
    for name, given in (("hyperplane", hyperplane), ("init", init)):
        if given is not None and not isinstance(given, str):
            msg = f"{name} is a vector of features, but a kernel has its own space: leave it out"
            raise ValueError(msg)


def _kernel_bound(
    X: Any,
    label: Labels,
    kernel: Kernel,
    fit_intercept: bool,
    run: KindOfRun,
    team: Team,
    clock: Clock,
) -> MistakeBound:
    """The bound in the feature space of a kernel, with the best hyperplane through its origin."""
    name = named(kernel, fit_intercept)
    if by_values(kernel, X):
        sign = np.where(label > 0, 1.0, -1.0)
        vectors = KernelVectors(X, sign, kernel, float(fit_intercept), team, clock)
        in_values = KernelBounds(vectors, run)
        if not np.isfinite(in_values.R):
            raise ValueError(OVERFLOW)
        bounds: Bounds = in_values
        theta, separable = in_values.separating()
    else:
        if clock.left() < making_time(X, kernel, clock):
            raise ValueError(LATE)
        features = feature_vectors(X, kernel, fit_intercept)
        bounds = in_features(FeatureVectors(features, label, team, clock=clock), run)
        theta, separable = separating_in_features(bounds, features)
    found = best_in_features(bounds, theta, separable, name)
    if found is None and bounds.late:
        raise ValueError(LATE)
    if found is None:
        what = "no hyperplane separates the classes, so no bound holds for ever"
        if separable is not False:
            what = "no hyperplane separates the classes by more than rounding, so no bound is known"
        msg = f"in the feature space of {name} {what}: give epochs, and get one for so many epochs"
        raise ValueError(msg)
    return found.bound


def in_features(vectors: FeatureVectors, run: KindOfRun) -> Bounds:
    """The bounds for vectors of features, from zero."""
    return Bounds(vectors, run._replace(start=np.zeros(vectors.size)))


def separating_in_features(bounds: Bounds, features: Features) -> tuple[Floats | None, bool | None]:
    """The best vector that separates vectors of features, and whether one does."""
    theta, separable = None, None
    with bounds.in_time():
        theta = bounds.z.widest(bounds.R)
        if theta is not None:
            separable = True
        elif features.explicit and not features.off:  # rounded ones do not tell what is beyond
            separable = _separable(bounds)[1]
    return theta, separable


def best_in_features(
    bounds: Bounds, theta: Floats | None, separable: bool | None, name: str
) -> Found | None:
    """The smallest bound in the feature space of a kernel."""
    found = bounds.best(theta, bool(separable))
    if found is not None:
        found = found._replace(bound=replace(found.bound, kernel=name, separable=separable))
    return found


def samples_per_update(update: str, size: int | None, n: int) -> int:
    """Samples per update."""
    if update in ("online", "mixed"):
        return 1
    return n if update == "batch" or size is None else min(size, n)


def _bound(bounds: Bounds, hyperplane: Hyperplane | None, fit_intercept: bool) -> MistakeBound:
    """The bound with this hyperplane, or with the best."""
    if hyperplane is None:
        theta, separable = separating(bounds)
        found = bounds.best(theta, separable)
        if found is None and bounds.late:
            raise ValueError(LATE)
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
    if isinstance(bounds.z, JointVectors):
        theta = _vectors(hyperplane, bounds.z, fit_intercept)
    else:
        theta = _vector(hyperplane, bounds.z.size, fit_intercept)
    found = bounds.of(theta)
    if found is None and bounds.late:
        raise ValueError(LATE)
    if found is None:
        wrong = max(1, int((bounds.z.values(theta) <= 0).sum()))
        samples = f"{wrong} of {bounds.z.n} samples are" if wrong != 1 else "1 sample is"
        what = f"the hyperplane does not separate the classes, {samples} not on the right side"
        if bounds.run.rivals > 1:
            what = (
                "the hyperplanes do not separate the classes: of "
                f"{bounds.z.n} pairs of a sample and a rival {wrong} are tied or worse"
            )
        msg = f"{what}: give one that does, or None for the best, or epochs"
        raise ValueError(msg)
    return found.bound


def separating(bounds: Bounds) -> tuple[Floats | None, bool | None]:
    """The best vector that separates, and whether one does; floats may know none that does.

    None: that could not be settled.
    """
    found: tuple[Floats | None, bool | None] = None, None
    with bounds.in_time():
        theta = bounds.z.widest(bounds.R)
        found = _separable(bounds) if theta is None else (theta, True)
    return found


def _separable(bounds: Bounds) -> tuple[Floats | None, bool | None]:
    """The same where floats find no best vector: what proves that one separates will do."""
    z, left = bounds.z, bounds.z.clock.left()
    source, positive = z.as_two_classes()
    clock = Clock(None if left == np.inf else max(left, 0.0))
    certificate = proved(source, z.team, positive, clock)
    if isinstance(certificate, Undecided):
        bounds.late |= certificate.why == Undecided.TIME
        return None, None
    if isinstance(certificate, Separable):
        theta = z.theta_of(certificate.hyperplane)
        with bounds.in_time():
            if z.margin(theta, bounds.R) > 0:
                return theta, True
    return None, isinstance(certificate, Separable)


def _vectors(hyperplanes: Any, z: JointVectors, fit_intercept: bool) -> Floats:
    """``(w, b)`` of a given hyperplane for each class, in a row, checked."""
    k, size = z.n_classes, z.size // z.n_classes
    if not isinstance(hyperplanes, list | tuple) or len(hyperplanes) != k:
        msg = f"hyperplane={brief(hyperplanes)} is not allowed: give a list of {k}, one per class"
        raise ValueError(msg)
    parts = [_vector(plane, size, fit_intercept, zero=True) for plane in hyperplanes]
    if all(np.array_equal(part, parts[0]) for part in parts):
        msg = "the hyperplanes are all the same, which leaves the classes tied: give others"
        raise ValueError(msg)
    return np.append(np.concatenate(parts), 0.0)


def _vector(hyperplane: Any, size: int, fit_intercept: bool, zero: bool = False) -> Floats:
    """``(w, b)`` of a given hyperplane, checked; whether it may be zero."""
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
    if not hyperplane.w.any() and not hyperplane.b and not zero:
        msg = "the hyperplane is zero: give weights that are not all zero"
        raise ValueError(msg)
    return np.append(hyperplane.w, hyperplane.b)
