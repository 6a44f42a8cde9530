"""The perceptron as a scikit-learn classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.estimators._base import (
    LinearClassifier,
    one_of,
    positive_int,
    positive_number,
    seed_from,
)
from rosenblatt.results import StopReason
from rosenblatt.solvers.batch import Batch
from rosenblatt.solvers.online import Online, Picked
from rosenblatt.solvers.training import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.results import Epoch, Fit
    from rosenblatt.solvers.training import Training

UPDATES = ("online", "batch", "minibatch")
ORDERS = ("cyclic", "shuffled", "sampled", "random-mistake", "worst-mistake")
PICKING = ORDERS[3:]
KEEPS = ("last", "pocket", "average")


class IterativeClassifier(LinearClassifier):
    """What the perceptron and the delta rule share: start vectors, `fit` and `partial_fit`."""

    def _common_settings(self, **more: Any) -> Settings:
        update = one_of("update", self.update, UPDATES)
        size = self.batch_size
        if update == "minibatch":
            size = positive_int("batch_size", size, hint=", the samples per update")
        elif size is not None:
            msg = f"batch_size={size!r} needs update='minibatch', but update={update!r}"
            raise ValueError(msg)
        limit, tol = self.max_time, self.tol
        hint = " of seconds, or None for no limit"
        return Settings(
            update=update,
            batch_size=size,
            fit_intercept=bool(self.fit_intercept),
            max_epochs=more.pop("max_epochs", positive_int("max_epochs", self.max_epochs)),
            max_time=None if limit is None else positive_number("max_time", limit, hint=hint),
            tol=None if tol is None else positive_number("tol", tol, hint=self._no_tol),
            seed=seed_from(self.random_state),
            **more,
        )

    _no_tol = ", or None to run until no mistakes"

    def _starts(self, settings: Settings, d: int) -> NDArray[np.float64]:
        """One start vector per problem, bias last."""
        k = len(self._positives())
        init = self.init
        if isinstance(init, str):
            one_of("init", init, ("zeros", "random"))
            start = np.zeros(d + 1)
            if init == "random":
                start = np.random.default_rng([settings.seed, 0]).standard_normal(d + 1)
                start[-1] *= settings.fit_intercept
            return np.tile(start, (k, 1))
        start = np.asarray(init, dtype=np.float64)
        if start.shape not in ((d + 1,), (k, d + 1)):
            msg = (
                f"init has shape {start.shape}: give {d + 1} numbers ({d} weights, then the bias)"
                + (f", or {k} rows of these" if k > 1 else "")
                + ", or 'zeros' or 'random'"
            )
            raise ValueError(msg)
        if not np.isfinite(start).all():
            msg = "init holds numbers that are not finite"
            raise ValueError(msg)
        if not settings.fit_intercept and np.any(start[..., -1]):
            msg = "init ends with a bias, but fit_intercept=False: make its last number 0"
            raise ValueError(msg)
        return np.broadcast_to(start, (k, d + 1)).copy()

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on all the data.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d)
        y : array of n labels of any kind, two or more different ones
        sample_weight : array of n weights >= 0, optional

        Returns
        -------
        self
        """
        before = getattr(self, "fits_", None) if self.warm_start else None
        classes = self.classes_ if before is not None else None
        source = self._read(X, y, sample_weight, classes, reset=before is None)
        settings = self._settings(source)
        if before is None:
            starts = self._starts(settings, source.n_features)
        else:
            starts = np.column_stack([self.coef_, self.intercept_])
        self._train(source, settings, self._problems(settings, starts))
        self._warn_if_not_separated()
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on with one epoch over these data.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array, at the first call
            All labels that will ever come.

        Returns
        -------
        self
        """
        if getattr(self, "keep", "last") == "pocket":
            msg = (
                "keep='pocket' needs all the data at once, to count training errors: "
                "use fit, or keep='last' or 'average'"
            )
            raise ValueError(msg)
        if self.class_weight == "balanced":
            msg = (
                "class_weight='balanced' needs all the labels at once: "
                "give partial_fit the weights themselves, as a dict"
            )
            raise ValueError(msg)
        first = not hasattr(self, "fits_")
        if first and classes is None:
            msg = "the first call of partial_fit needs classes: all labels that will ever come"
            raise ValueError(msg)
        if classes is not None:
            self._agree_on(np.unique(np.asarray(classes)), first)
        source = self._read(X, y, sample_weight, self.classes_, reset=first)
        settings = self._settings(source, max_epochs=1)
        if first:
            self._state = self._problems(settings, self._starts(settings, source.n_features))
        self._train(source, settings, self._state)
        return self

    def _agree_on(self, classes: NDArray[Any], first: bool) -> None:
        if first:
            if len(classes) < 2:
                msg = f"classes={list(classes)!r}: give at least two classes"
                raise ValueError(msg)
            self.classes_ = classes
        elif not np.array_equal(classes, self.classes_):
            msg = (
                f"classes={list(classes)!r} is not the list of the first call to partial_fit, "
                f"{list(self.classes_)!r}"
            )
            raise ValueError(msg)


class Perceptron(IterativeClassifier):
    """The perceptron learning algorithm (Rosenblatt 1958), in every form.

    A sample is a mistake if ``y(w·x + b) <= 0`` when it is used; then ``w += eta0*y*x`` and
    ``b += eta0*y``. If a hyperplane separates the classes, this ends with one.

    Parameters
    ----------
    update : {"online", "batch", "minibatch"}
        One update per mistake; per epoch, with the sum over its mistakes; or per `batch_size`
        samples.
    batch_size : int, optional
        Samples per update, for ``update="minibatch"``.
    order : {"cyclic", "shuffled", "sampled", "random-mistake", "worst-mistake"}
        As given; in a new random order each epoch; drawn with replacement; or, each epoch, one
        sample picked from all that are mistakes now: any, or the one with the lowest
        ``y(w·x + b)``.
    eta0 : float
        The learning rate. From zero weights it only scales the result.
    fit_intercept : bool
        Whether to learn b; otherwise it is 0.
    keep : {"last", "pocket", "average"}
        Which vector to return: the last; of all passed through, the one with the fewest training
        errors (the earliest such); or the mean of the vectors after every visited sample (after
        every batch).
    init : {"zeros", "random"} or array
        The start: weights, then the bias (standard normal numbers for "random").
    max_epochs : int
        Most passes over the data.
    max_time : float, optional
        Seconds after which to stop with what there is.
    tol : float, optional
        Stop when (w, b) moved by less than this over an epoch.
    class_weight : dict or "balanced", optional
        Weights of the classes; they multiply `sample_weight`, which multiplies the updates. For
        more than two classes, as in scikit-learn's `Perceptron`, the weight of a class counts in
        its own problem and not where it belongs to the rest.
    record : bool
        Keep every update in ``trace_.updates``.
    progress : bool
        Show a progress bar.
    callback : callable, optional
        Called with an `rosenblatt.results.Epoch` after each epoch. If it raises
        KeyboardInterrupt, training stops and keeps what it has.
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
        `trace_` and `certificate_` are tuples, the counts arrays, with an entry per class.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.eight_points()
    >>> model = rb.Perceptron().fit(X, y)
    >>> model.stop_reason_, model.n_mistakes_, model.coef_.tolist()
    (StopReason.SEPARATED, 1, [[1.0, 1.0]])
    """

    # scikit-learn's two checks that weights act like repeated samples are left out in the tests:
    # a repeated sample is visited twice, a weighted one is one visit with a longer step, and an
    # online rule tells the two apart (as does scikit-learn's own Perceptron).
    _exempt_checks = (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    )

    def __init__(
        self,
        *,
        update: str = "online",
        batch_size: int | None = None,
        order: str = "cyclic",
        eta0: float = 1.0,
        fit_intercept: bool = True,
        keep: str = "last",
        init: Any = "zeros",
        max_epochs: int = 1000,
        max_time: float | None = None,
        tol: float | None = None,
        class_weight: Any = None,
        record: bool = False,
        progress: bool = False,
        callback: Callable[[Epoch], None] | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.update = update
        self.batch_size = batch_size
        self.order = order
        self.eta0 = eta0
        self.fit_intercept = fit_intercept
        self.keep = keep
        self.init = init
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.tol = tol
        self.class_weight = class_weight
        self.record = record
        self.progress = progress
        self.callback = callback
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _settings(self, source: Any, **changed: Any) -> Settings:
        order = one_of("order", self.order, ORDERS)
        if order in PICKING and self.update != "online":
            msg = f"order={order!r} updates with one mistake at a time: use update='online'"
            raise ValueError(msg)
        return self._common_settings(
            order=order,
            eta=positive_number("eta0", self.eta0),
            keep=one_of("keep", self.keep, KEEPS),
            record=bool(self.record),
            **changed,
        )

    def _training(self, settings: Settings) -> type[Training]:
        if settings.update != "online":
            return Batch
        return Picked if settings.order in PICKING else Online

    def _advice(self, fit: Fit) -> str:
        if fit.stop_reason is StopReason.INTERRUPTED:
            return "Fit again with warm_start=True to go on."
        better = "" if self.keep == "pocket" else "keep='pocket' returns the best vector seen"
        if fit.certificate is not None:
            period = fit.certificate.period
            every = "epoch" if period == 1 else f"{period} epochs"
            advice = (
                f"The weights after epoch {fit.certificate.entry} come back every {every}, "
                "so more epochs change nothing"
            )
            return f"{advice}; {better}." if better else f"{advice}."
        more = {
            StopReason.EPOCH_LIMIT: "Raise max_epochs",
            StopReason.TIME_LIMIT: "Raise max_time",
            StopReason.SMALL_CHANGE: "Lower tol",
        }[fit.stop_reason]
        advice = f"{more} if a hyperplane can separate the classes"
        return f"{advice}; if not, {better}." if better else f"{advice}."
