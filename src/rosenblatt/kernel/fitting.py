"""How the kernel perceptron is trained: from where it stands to its fitted attributes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from rosenblatt.arguments import brief, to_host
from rosenblatt.contract.classifier import Data, are_floats, are_numbers, choose, positives_of
from rosenblatt.contract.epochs import reporting
from rosenblatt.contract.parameters import count_threads
from rosenblatt.data.rows import Block
from rosenblatt.data.sources import RowsByNumber, stack
from rosenblatt.kernel.choice import find_kernel, warn_if_indefinite
from rosenblatt.kernel.device import DeviceSource, label_rows, pick_rows
from rosenblatt.kernel.expansion import DualFits, DualProblem, Expansion, Standing
from rosenblatt.kernel.measured import WeightRange
from rosenblatt.kernel.scores import decide_by_vectors, kernel_values, vectors_for
from rosenblatt.kernels import Kernel, Precomputed
from rosenblatt.running.run import Run
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.array_types import Ints
    from rosenblatt.data.sources import Source
    from rosenblatt.kernel.dual_rule import DualRule
    from rosenblatt.running.run import Settings


AT_A_TIME = 1 << 24  # numbers in samples that are picked to be decided again


class Begun(NamedTuple):
    """Where a run begins, and the kernel."""

    standing: Standing
    kernel: Kernel


def first_standing(model: Any, data: Data, settings: Settings, again: bool = False) -> Standing:
    """Where a run begins: with nothing or (`again`) with what the last fit ended with."""
    k = len(data.positives)
    problems = [
        DualProblem(positive=p, rng=np.random.default_rng([settings.seed, 2]))
        for p in data.positives
    ]
    size = len(model.support_) if again else 0
    empty = np.zeros((size, k))
    if settings.keep == "vote":  # it begins with the vector there is
        for c, p in enumerate(problems):
            at = np.flatnonzero(model.dual_coef_[c]) if again else np.empty(0, np.int64)
            p.path = [(at, model.dual_coef_[c, at] if again else np.empty(0), 0 * at)]
    return Standing(
        problems=problems,
        coef=model.dual_coef_.T if again else empty,
        counts=model._state.counts if again else np.zeros((size, k), np.int64),
        lag=empty,
        age=np.arange(size),
        sample=model.support_ if again else np.empty(0, np.int64),
        time=size,
    )


@contextmanager
def training(
    model: Any, data: Data, settings: Settings, begun: Begun
) -> Iterator[Run[DualProblem]]:
    """A run from where another stands; then the fitted attributes, unless it has failed."""
    standing, kernel = begun
    problems = [p.ready() for p in standing.problems]
    X, block = feature_matrix(data.source), only_labels(data.source)
    with (
        Team(count_threads(model.n_jobs)) as team,
        reporting(model, settings.max_epochs) as report,
    ):
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
            lag=settings.keep == "average",
            drops=settings.drop_after is not None,
        )
        if len(standing.age):
            expansion.load(standing, rows_of_vectors(model, standing.sample, X))
        rule = model._rule(settings)(values, block, settings, problems, expansion)
        yield Run(rule, problems, settings, report)
        _set_results(model, data, kernel, rule)


def feature_matrix(source: Source) -> Any:
    """The samples of a source: on the device, as one matrix, or by number where they pass by."""
    if isinstance(source, DeviceSource):
        return source.X
    matrices = list(stack(source)) if source.resident else []
    return matrices[0] if len(matrices) == 1 else RowsByNumber(source)


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


def kernel_for(model: Any, source: Source, first: bool) -> Kernel:
    """The kernel to train with: by the parameters at `first`, then the one there is."""
    X = feature_matrix(source)
    kernel = find_kernel(model, X) if first else _same_kernel(model)
    if model._pairwise and X.shape[0] != X.shape[1]:
        msg = (
            f"X has shape {X.shape}: kernel='precomputed' needs the square matrix of the "
            "kernel's values between the training samples"
        )
        raise ValueError(msg)
    if first:
        warn_if_indefinite(kernel, X)
    return kernel


def _same_kernel(model: Any) -> Kernel:
    """The kernel to go on with, if nobody has changed it."""
    for name, value in _meaning(model).items():
        before = model._fitted_with[name]
        if value is not before and value != before:
            msg = (
                f"{name}={brief(value)} was {brief(before)} when the support vectors were "
                "found: go on with that, or fit anew with warm_start=False"
            )
            raise ValueError(msg)
    return model.kernel_  # type: ignore[no-any-return]


def _meaning(model: Any) -> dict[str, Any]:
    """The parameters that say what the decision values are."""
    names = ("kernel", "degree", "gamma", "coef0", "sigma", "fit_intercept")
    return {name: getattr(model, name) for name in names}


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
    found = DualFits(rule)
    model.kernel_, model.classes_ = kernel, data.classes
    model._fitted_with = _meaning(model)
    model.support_ = found.sample
    if not model._pairwise:
        model.support_vectors_ = rule.values.support.matrix(found.slots)
    model.fits_ = found.fits
    model.dual_coef_ = np.stack([fit.coef for fit in model.fits_])
    model.alpha_ = np.stack([fit.alpha for fit in model.fits_])
    model.n_iter_ = max(fit.n_epochs for fit in model.fits_)
    model._state = found.standing
    scores, certain = found.choices()
    chosen, doubtful = choose(scores), np.flatnonzero(~certain)
    step = max(1, AT_A_TIME // rule.values.n_features)
    for rows in (doubtful[a : a + step] for a in range(0, len(doubtful), step)):
        some = pick_rows(rule.values.X, rows)
        chosen[rows] = choose(decide_by_vectors(model, some, rule.values.team))
    model.n_errors_ = int((chosen != rule.block.label).sum())


def parts_fit(model: Any) -> bool:
    """Whether all parts of a fitted model have shapes that agree."""
    k, s = len(positives_of(model.classes_)), len(model.support_)
    state = model._state
    given = isinstance(model.kernel_, Precomputed)
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
