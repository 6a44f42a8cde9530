"""The perceptron as a scikit-learn classifier, and what the delta rule shares with it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rosenblatt.arguments import one_of, positive_number, yes_or_no
from rosenblatt.contract.classifier import Data, LinearClassifier, positives_of
from rosenblatt.contract.epochs import MORE, TrainedInEpochs, reporting
from rosenblatt.contract.estimator import are_floats
from rosenblatt.contract.parameters import (
    MIXED,
    batches,
    count_threads,
    joint_start,
    shards_of,
    side_at_zero,
    start_vectors,
)
from rosenblatt.contract.resuming import identify, saved_rate, start_setting
from rosenblatt.data.sources import Elsewhere
from rosenblatt.data.tile_sums import tile_rows
from rosenblatt.perceptron.afar import AFAR
from rosenblatt.perceptron.cycles import cycle_reports
from rosenblatt.perceptron.joint import (
    ALL,
    JointInBatches,
    JointOnline,
    JointPicked,
    joint_fit,
)
from rosenblatt.perceptron.linear_rule import LinearProblem, fit_of
from rosenblatt.perceptron.mixed import Mixed
from rosenblatt.perceptron.mixed_afar import MixedAfar
from rosenblatt.perceptron.updates import InBatches, Online, Picked
from rosenblatt.perceptron.whole_batches import WholeBatch, WholeDelta
from rosenblatt.perceptron.whole_batches_afar import WholeBatchAfar, WholeDeltaAfar
from rosenblatt.results import Fit, Hyperplane, JointFit, JointUpdates, StopReason, Updates
from rosenblatt.running.orders import ORDERS, PICKING
from rosenblatt.running.run import Run
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from rosenblatt.data.sources import Source
    from rosenblatt.perceptron.linear_rule import LinearRule
    from rosenblatt.results import BoundReport, CycleReport, Epoch
    from rosenblatt.running.checkpoints import Keeper
    from rosenblatt.running.problems import Settings


class LinearUnit(TrainedInEpochs, LinearClassifier):
    """A linear classifier that a rule trains in epochs."""

    fits_: tuple[Any, ...]
    _state: list[LinearProblem]
    _parts = (*TrainedInEpochs._parts, Hyperplane, Fit, Updates, LinearProblem)

    def _rate(self, source: Source, positives: list[int]) -> float:
        """The learning rate."""
        raise NotImplementedError

    def _use_rate(self, rate: float) -> None:
        """Tell it, where the fitted model says so."""

    def _rule(self, settings: Settings) -> type[LinearRule]:
        """The rule that trains it."""
        raise NotImplementedError

    def _is_joint(self, n_classes: int) -> bool:
        """Whether so many classes are one problem; of two the one hyperplane says all."""
        return getattr(self, "multiclass", "ovr") == "joint" and n_classes > 2

    def _begin(self, data: Data, settings: Settings, again: bool = False) -> list[LinearProblem]:
        """A problem for each start vector, with its own generator from the same seed."""
        joint, positives, d = self._is_joint(len(data.classes)), data.positives, self.n_features_in_
        if again:
            starts = np.column_stack([self.coef_, self.intercept_])
            starts[:, -1] *= settings.fit_intercept
        else:
            draw = joint_start if joint else start_vectors
            starts = draw(self.init, len(positives), d, settings)
        if joint:
            starts, positives = starts.reshape(1, -1), [ALL]
        return [
            LinearProblem(
                positive=positive,
                theta=theta,
                start=theta.copy(),
                rng=np.random.default_rng([settings.seed, 2]),
                n_planes=len(theta) // (d + 1),
            )
            for positive, theta in zip(positives, starts, strict=True)
        ]

    @contextmanager
    def _training(
        self,
        data: Data,
        settings: Settings,
        begun: list[LinearProblem],
        keeper: Keeper | None = None,
    ) -> Iterator[Run[LinearProblem]]:
        joint = self._is_joint(len(data.classes))
        if joint != (begun[0].n_planes > 1):
            msg = "multiclass cannot change between calls of partial_fit: fit anew"
            raise ValueError(msg)
        problems = [p.ready_for(settings) for p in begun]
        outcome: Any = joint_fit if joint else fit_of
        settings = settings.with_changes(multiclass="joint" if joint else "ovr")
        if settings.shards is not None:  # with a row at least
            settings = settings.with_changes(shards=min(settings.shards, data.source.n_rows))
        if settings.update == "batch" and settings.order == "cyclic" and not joint:
            settings = settings.with_changes(tile=tile_rows(data.source))
        with (
            Team(count_threads(self.n_jobs)) as team,
            reporting(self, settings.max_epochs, _planes) as report,
        ):
            if keeper is not None:
                init = start_setting(self.init, np.array([p.start for p in begun]))
                identify(keeper, self, settings.seed, data.source, team, init=init)
            rate = saved_rate(keeper) or self._rate(data.source, data.positives)
            self._use_rate(rate)
            settings = settings.with_changes(eta=rate)
            rule = _where(data.source, self._rule(settings), settings)(data.source, settings, team)
            yield Run(rule, problems, settings, report, keeper)
            self._set_results(data, tuple(outcome(p, settings) for p in problems), team)
        self._state = [p.at_rest() for p in problems]

    def _fits_together(self) -> bool:
        d, problems, k = self.n_features_in_, self._state, 1
        positives, last = positives_of(self.classes_), [fit.last for fit in self.fits_]
        if isinstance(self.fits_[0], JointFit):
            k, positives, last = len(self.classes_), [ALL], list(self.fits_[0].last)
        size = (k * (d + 1),)
        return (
            super()._fits_together()
            and [plane.w.shape for plane in last] == [(d,)] * len(positives) * k
            and [(p.positive, p.n_planes) for p in problems] == [(one, k) for one in positives]
            and all(are_floats(v, size) for p in problems for v in (p.theta, p.start))
            and all(are_floats(p.lag, size if p.lag.size else (0,)) for p in problems)
        )


# The same rules for rows that are elsewhere.
ELSEWHERE: dict[type[LinearRule], type[LinearRule]] = {
    **AFAR,
    Mixed: MixedAfar,
    WholeBatch: WholeBatchAfar,
    WholeDelta: WholeDeltaAfar,
}


def _where(
    source: Source | Elsewhere, rule: type[LinearRule], settings: Settings
) -> type[LinearRule]:
    """The rule, or the same for rows that are elsewhere."""
    if not isinstance(source, Elsewhere):
        return rule
    if rule not in ELSEWHERE or settings.order != "cyclic":
        told = (
            "multiclass='joint'" if settings.multiclass == "joint" else f"order={settings.order!r}"
        )
        msg = f"{told} does not work on a cluster: use order='cyclic' and multiclass='ovr'"
        raise ValueError(msg)
    return ELSEWHERE[rule]


def _planes(problems: Sequence[LinearProblem]) -> tuple[Hyperplane, ...]:
    """Where the problems stand."""
    return tuple(plane for p in problems for plane in p.planes(p.theta))


KEEPS = ("last", "pocket", "average", "auto")
MULTICLASS = ("ovr", "joint")


class Perceptron(LinearUnit):
    """The perceptron learning algorithm (Rosenblatt 1958), in every form.

    A sample is a mistake if ``y(w·x + b) <= 0`` when it is used; then ``w += eta0*y*x`` and
    ``b += eta0*y``. If a hyperplane separates the classes, this ends with one. (With `at_zero` a
    sample is a mistake where its prediction differs from its label, which is not the same for
    points on the hyperplane.)

    Parameters
    ----------
    update : {"online", "batch", "minibatch", "mixed"}
        One update per mistake; per epoch, with the sum over its mistakes; per `batch_size`
        samples; or one per epoch in which `shards` of the samples have learned online, each for
        itself and all side by side, from the common vector: the next one is the mean of theirs
        [2]_. It ends when no shard has made a mistake.
    batch_size : int, optional
        Samples per update, for ``update="minibatch"``.
    shards : int, optional
        The shards for ``update="mixed"``: runs of the samples in their order, as equal as can be.
        None: 16, or as many as there are samples. The result depends on their number, but not on
        threads, blocks or workers.
    order : {"cyclic", "shuffled", "sampled", "blocks", "random-mistake", "worst-mistake"}
        As given; in a new random order each epoch; drawn with replacement; tiles of rows in a new
        random order each epoch, with their rows shuffled, which suits data on disk and needs no
        list of all rows; or, each epoch, one sample picked from all that are mistakes now: any, or
        the one with the lowest ``y(w·x + b)``. (An epoch is a pass over the data, so with the last
        two `max_epochs` is also the most updates there can be. A tile has about 2^20 numbers,
        whatever the blocks and threads.)
    eta0 : float
        The learning rate. From zero weights it only scales the result.
    fit_intercept : bool
        Whether to learn b; otherwise it is 0.
    keep : {"last", "pocket", "average", "auto"}
        Which vector to return: the last; of all passed through, the one with the fewest training
        errors (the earliest such); the mean of the vectors after every visited sample (after
        every batch; of shards, those on the way to each mixture); or ("auto") the last where it
        separates the samples, that is, where the stop reason is SEPARATED, otherwise the mean. Of
        more than two classes each problem is judged by itself; ``fits_[k].keeps_last`` says what
        came of it. `partial_fit` judges by the
        samples it was last given: for a stream in small parts ask for the mean.
    multiclass : {"ovr", "joint"}
        More than two classes: one problem for each, this class against the rest; or all of them
        as one problem, where the class with the highest ``w_k·x + b_k`` wins. A sample is then a
        mistake if another class's value is no lower than its own class's; of the strongest such
        rival (the first of several) and the own class ``w_own += eta0*x``, ``w_rival -= eta0*x``,
        and likewise the biases [1]_. It ends if each class can have the highest value on all its
        samples, which asks less than "one against the rest" does. Of two classes the difference
        ``w_1 - w_0`` is an ordinary perceptron with steps twice as long, so there is one
        hyperplane and no choice.
    at_zero : {None, -1, +1}
        The side on which points on the hyperplane are. None: on neither in training, where they
        are mistakes; predictions put them on that of -1. With -1 or +1, training and predictions
        both put them there: the rule ``y != sgn(w·x + b)``. A run that ends without mistakes
        while points lie on the hyperplane has separated nothing and stops with NO_MISTAKES.
        From zero weights, for which all points lie on it, such a run learns nothing from samples
        of that side until one of the other comes; if none ever does (all have weight zero, or
        `partial_fit` is given one class), it stays there. The mistake bound holds for each.
    init : {"zeros", "random"} or array
        The start: weights, then the bias, which ``fit_intercept=False`` may leave out (standard
        normal numbers for "random"); one for all problems, or a row for each.
    max_epochs : int
        Most passes over the data.
    max_time : float, optional
        Seconds after which to stop with what there is.
    tol : float, optional
        Stop when (w, b) moved by less than this over an epoch.
    class_weight : dict or "balanced", optional
        Weights of the classes; they multiply `sample_weight`, which multiplies the updates. For
        more than two classes, as in scikit-learn's `Perceptron`, the weight of a class counts in
        its own problem and not where it belongs to the rest. (If they are one problem, it is the
        weight of its samples.)
    record : bool
        Keep every update in ``trace_.updates``.
    progress : bool
        Show a progress bar.
    callback : callable, optional
        Called with an `rosenblatt.results.Epoch` after each epoch. If it raises
        KeyboardInterrupt, training stops and keeps what it has.
    checkpoint : path or Checkpoint, optional
        A file to which `fit` writes its state now and then, so that a run that is killed can go
        on: see `rosenblatt.Checkpoint`. (`partial_fit` does not use it.)
    warm_start : bool
        Start from the present weights when fitted again.
    random_state : int, RandomState or None
        For the random orders and the random start.
    n_jobs : int, optional
        Threads; None: one per core. The result does not depend on it.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (k, d) and (k,)
        One hyperplane per two-class problem: k = 1 for two classes, otherwise one per class.
    classes_ : array
    stop_reason_ : StopReason
        Why training ended.
    n_mistakes_, n_updates_, n_iter_ : int
        Mistakes, updates and epochs.
    n_errors_ : int
        ``sum(predict(X) != y)`` on the training data.
    trace_ : Trace
        What happened, epoch by epoch; with ``record=True`` update by update.
    certificate_ : Cycle or None
        The proof, where a run was found to repeat itself.
    fits_ : tuple of Fit
        The whole outcome of each two-class problem. For more than two classes `stop_reason_`,
        `trace_` and `certificate_` are tuples, the counts arrays, with an entry per class. (If
        they are one problem, there is one `rosenblatt.results.JointFit`, and none are tuples.)

    References
    ----------
    .. [1] K. Crammer and Y. Singer, "Ultraconservative online algorithms for multiclass
       problems", Journal of Machine Learning Research 3, 2003; after Kesler's construction in
       N. J. Nilsson, "Learning Machines", 1965.
    .. [2] R. McDonald, K. Hall and G. Mann, "Distributed training strategies for the structured
       perceptron", NAACL 2010.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.eight_points()
    >>> model = rb.Perceptron().fit(X, y)
    >>> model.stop_reason_, model.n_mistakes_, model.coef_.tolist()
    (StopReason.SEPARATED, 1, [[1.0, 1.0]])
    """

    _parts = (*LinearUnit._parts, JointFit, JointUpdates)

    def __init__(
        self,
        *,
        update: str = "online",
        batch_size: int | None = None,
        shards: int | None = None,
        order: str = "cyclic",
        eta0: float = 1.0,
        fit_intercept: bool = True,
        keep: str = "last",
        multiclass: str = "ovr",
        at_zero: int | None = None,
        init: Any = "zeros",
        max_epochs: int = 1000,
        max_time: float | None = None,
        tol: float | None = None,
        class_weight: Any = None,
        record: bool = False,
        progress: bool = False,
        callback: Callable[[Epoch], None] | None = None,
        checkpoint: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.update = update
        self.batch_size = batch_size
        self.shards = shards
        self.order = order
        self.eta0 = eta0
        self.fit_intercept = fit_intercept
        self.keep = keep
        self.multiclass = multiclass
        self.at_zero = at_zero
        self.init = init
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.tol = tol
        self.class_weight = class_weight
        self.record = record
        self.progress = progress
        self.callback = callback
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _settings(self) -> Settings:
        order = one_of("order", self.order, ORDERS)
        if order in PICKING and self.update != "online":
            msg = f"order={order!r} updates with one mistake at a time: use update='online'"
            raise ValueError(msg)
        if self.at_zero is not None and self.multiclass == "joint":
            msg = "at_zero says where two classes meet: leave it out with multiclass='joint'"
            raise ValueError(msg)
        positive_number("eta0", self.eta0)
        update, size = batches(self.update, self.batch_size, MIXED)
        if update == "mixed" and self.multiclass == "joint":
            msg = "update='mixed' is for one class against the rest: leave multiclass='joint' out"
            raise ValueError(msg)
        return self._shared_settings().with_changes(
            update=update,
            batch_size=size,
            shards=shards_of(update, self.shards),
            order=order,
            keep=one_of("keep", self.keep, KEEPS),
            multiclass=one_of("multiclass", self.multiclass, MULTICLASS),
            at_zero=side_at_zero(self.at_zero),
            record=yes_or_no("record", self.record),
        )

    def _rate(self, source: Source, positives: list[int]) -> float:
        return float(self.eta0)

    def _rule(self, settings: Settings) -> type[LinearRule]:
        if settings.multiclass == "joint":
            if settings.update != "online":
                return JointInBatches
            return JointPicked if settings.order in PICKING else JointOnline
        if settings.update == "mixed":
            return Mixed
        if settings.update == "batch":
            return WholeBatch
        if settings.update != "online":
            return InBatches
        return Picked if settings.order in PICKING else Online

    def bound_report(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> BoundReport | tuple[BoundReport, ...]:
        """The mistakes of this run beside the bound, and the bound's proof at every update.

        It needs ``record=True``. If the classes are separable the bound is that of
        `rosenblatt.mistake_bound` for any number of epochs, otherwise for those of the run.
        Sample and class weights lengthen steps: the bound is then for the vectors
        ``weight*(x, 1)``.

        Parameters
        ----------
        X, y, sample_weight
            Those given to `fit`.

        Returns
        -------
        BoundReport, or a tuple of them for more than two classes
        """
        from rosenblatt.bounds.run_reports import bound_reports

        check_is_fitted(self)
        reports = bound_reports(self, self._read(X, y, sample_weight, self.classes_, reset=False))
        return reports[0] if len(reports) == 1 else reports

    def cycle_report(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        max_time: float | None = None,
    ) -> CycleReport | tuple[CycleReport | None, ...]:
        """Why this run repeats itself, and what it passes through on the way round.

        Goes round the cycle once more from where the fit ended, and asks
        `rosenblatt.separability` whether a hyperplane separates the classes at all: if not, the
        run had to repeat itself; if one does, rounding has caused it.

        Parameters
        ----------
        X, y, sample_weight
            Those given to `fit`. Others are refused as far as can be told: with
            ``record=True`` each update of the last epochs is compared, otherwise only counts.
        max_time : float, optional
            Seconds after which `rosenblatt.separability` is to give up.

        Returns
        -------
        CycleReport
            For more than two classes a tuple with an entry for each, None where it did not end
            in a cycle.
        """
        check_is_fitted(self)
        if isinstance(self.fits_[0], JointFit):
            msg = (
                "a cycle of all classes as one problem is not explained: certificate_ has its "
                "entry and period, rb.separability(X, y, multiclass='joint') the verdict"
            )
            raise ValueError(msg)
        if all(fit.certificate is None for fit in self.fits_):
            reasons = ", ".join(dict.fromkeys(fit.stop_reason.name for fit in self.fits_))
            msg = f"this fit ended with {reasons}: only one that ended with CYCLE can be explained"
            raise ValueError(msg)
        settings = self._settings().with_changes(eta=float(self.eta0))
        data = self._read(X, y, sample_weight, self.classes_, reset=False)
        found = cycle_reports(self, data, settings, max_time)
        return found if len(found) > 1 else found[0]  # type: ignore[return-value]

    def _advice(self, fit: Fit | JointFit) -> str | None:
        if fit.stop_reason is StopReason.SEPARATED:
            return None
        if fit.stop_reason is StopReason.NO_MISTAKES:
            stuck = isinstance(fit, Fit) and not fit.last.w.any() and not fit.last.b
            return self._stuck() if stuck else None
        if fit.stop_reason is StopReason.ROUNDING:
            return "Bring the features to similar scales around 0."
        better = "" if self.keep == "pocket" else "keep='pocket' returns the best vector seen"
        if fit.certificate is not None:
            period = fit.certificate.period
            every = "epoch" if period == 1 else f"{period} epochs"
            advice = (
                f"The weights after epoch {fit.certificate.entry} come back every {every}, "
                "so more epochs change nothing"
            )
            return f"{advice}; {better}." if better else f"{advice}."
        can = "if a hyperplane can separate the classes"
        if isinstance(fit, JointFit):
            can = "if each class can have the highest value on its samples"
        advice = f"{MORE[fit.stop_reason]} {can}"
        return f"{advice}; if not, {better}." if better else f"{advice}."

    def _stuck(self) -> str:
        """What to do where a run never leaves zero."""
        return (
            f"The weights are still zero, which at_zero={self.at_zero} takes for the class of all "
            "samples that have a weight: give some of the other class, or at_zero=None."
        )
