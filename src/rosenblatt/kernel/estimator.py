"""The kernel perceptron as a scikit-learn classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from rosenblatt.arguments import brief, one_of, positive_int, to_host, yes_or_no
from rosenblatt.contract.classifier import Data, choose
from rosenblatt.contract.clustered import refuse_clustered
from rosenblatt.contract.epochs import MORE, TrainedInEpochs
from rosenblatt.contract.parameters import count_threads
from rosenblatt.kernel.choice import kernel_for
from rosenblatt.kernel.decisions import decide_by_vectors
from rosenblatt.kernel.device import DeviceSource, answer, check_on_device, is_on_device, label_rows
from rosenblatt.kernel.dual_fits import (
    first_standing,
    parts_fit,
    rows_of_vectors,
    training,
)
from rosenblatt.kernel.dual_rule import DualRule
from rosenblatt.kernel.dual_variants import Budgeted, Picking
from rosenblatt.kernel.scores import DualProblem, Standing
from rosenblatt.kernels import (
    RBF,
    Function,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from rosenblatt.results import Dropped, KernelFit, Mistakes, Path, StopReason
from rosenblatt.running.orders import ORDERS, PICKING
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.results import BoundReport, Epoch
    from rosenblatt.running.problems import Settings


KEEPS = ("last", "pocket", "average", "vote", "auto")


class KernelPerceptron(TrainedInEpochs):
    """The perceptron in a feature space that is never entered: the kernel perceptron.

    A counter ``α_i`` for each sample instead of a weight for each feature: the decision value is
    ``f(x) = Σ α_i y_i K(x_i, x)``, and a sample with ``y f(x) <= 0`` when it is used is a mistake
    that adds 1 to its counter (Aizerman, Braverman and Rozonoer 1964).

    Parameters
    ----------
    kernel : {"rbf", "gaussian", "poly", "linear", "sigmoid", "precomputed"}, kernel or callable
        ``exp(-gamma‖x - y‖²)``; ``exp(-‖x - y‖²/(2 sigma²))``; ``(gamma x·y + coef0)^degree``;
        ``x·y``; ``tanh(gamma x·y + coef0)``; X holds the values themselves; one of
        `rosenblatt.kernels`; or a function of two vectors (or of two matrices).
    degree : int
        Of the polynomial.
    gamma : float, "scale" or "auto"
        "scale" is 1/(number of features * variance of X), "auto" is 1/(number of features).
    coef0 : float
        Of the polynomial and the sigmoid kernel.
    sigma : float, optional
        The width of the Gaussian kernel; None: that of `gamma`.
    fit_intercept : bool
        Whether to learn a bias, by adding 1 to the kernel.
    keep : {"last", "pocket", "average", "vote", "auto"}
        Which vector decides: the last; of all passed through, the one with the fewest training
        errors; the mean of the vectors after every visit; all of them by vote, each with the
        visits that it lived for (Freund and Schapire 1999); or ("auto"), as for `Perceptron`, the
        last where the stop reason is SEPARATED (or NO_MISTAKES), otherwise the mean.
    order : {"cyclic", "shuffled", "sampled", "blocks", "random-mistake", "worst-mistake"}
        As for `Perceptron`.
    drop_after : int, optional
        A sample whose counter reaches this, 2 or more, is set to zero and takes no more part: it
        is probably an outlier. See `dropped_`. A run that ends with the others right has the stop
        reason NO_MISTAKES. (Another call of `partial_fit` begins with all its samples.)
    budget : int, optional
        Most support vectors. When a mistake would add one too many, the support vector whose last
        mistake lies longest ago is forgotten. Needs ``keep="last"``.
    max_epochs : int
        Most passes over the data.
    max_time : float, optional
        Seconds after which to stop with what there is. (Then the training errors are counted,
        which may take as long as a prediction for all samples.)
    tol : float, optional
        Stop when the vector moved by less than this (in feature space) over an epoch.
    class_weight, record, progress, callback, warm_start, random_state, n_jobs
        As for `Perceptron`.
    checkpoint : path or Checkpoint, optional
        A file to which `fit` writes its state now and then, so that a run that is killed can go
        on: see `rosenblatt.Checkpoint`. It holds the scores of all samples: up to 32 bytes for
        each of them and each problem, and row numbers of support vectors. Of a kernel that is a
        function only its name and module are compared: that it is the same is up to you. Not for
        arrays on a device; `partial_fit` does not use it.

    Attributes
    ----------
    support_ : int array
        Rows of the support vectors in the data last given, in the order of their first mistakes;
        -1 for those of earlier data.
    support_vectors_ : array or CSR matrix
        The support vectors themselves (not for ``kernel="precomputed"``).
    dual_coef_ : array of shape (k, number of support vectors)
        Their coefficients, ``α_i y_i`` times their weights; of the average where that is kept.
    alpha_ : int array of the same shape
        The mistake counters over the whole run, whatever is kept; zero for dropped samples.
    dropped_ : Dropped
        The samples dropped, with their counts (a tuple for more than two classes).
    kernel_ : rosenblatt.kernels.Kernel
        The kernel that was used.
    classes_, stop_reason_, trace_, certificate_, n_mistakes_, n_updates_, n_iter_, n_errors_, fits_
        As for `Perceptron`; `fits_` holds a `rosenblatt.results.KernelFit` per problem.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.xor()
    >>> model = rb.KernelPerceptron(kernel="poly", degree=2, gamma=1).fit(X, y)
    >>> model.stop_reason_, model.n_errors_, model.alpha_.tolist()
    (StopReason.SEPARATED, 0, [[7, 5, 5, 4]])
    """

    _parts = (
        *TrainedInEpochs._parts,
        KernelFit,
        Mistakes,
        Dropped,
        Path,
        DualProblem,
        Standing,
        Linear,
        Polynomial,
        RBF,
        Gaussian,
        Sigmoid,
        Precomputed,
    )

    kernel_: Kernel
    support_: Ints
    support_vectors_: Any
    dual_coef_: Floats
    alpha_: Ints
    _state: Standing

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        sigma: float | None = None,
        fit_intercept: bool = False,
        keep: str = "last",
        order: str = "cyclic",
        drop_after: int | None = None,
        budget: int | None = None,
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
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.sigma = sigma
        self.fit_intercept = fit_intercept
        self.keep = keep
        self.order = order
        self.drop_after = drop_after
        self.budget = budget
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
        keep, order = one_of("keep", self.keep, KEEPS), one_of("order", self.order, ORDERS)
        for name, hint in (("drop_after", ", or None"), ("budget", ", or None")):
            if getattr(self, name) is not None:
                positive_int(name, getattr(self, name), hint=hint)
        if self.drop_after == 1:
            msg = (
                "drop_after=1 is not possible: give a whole number from 2 "
                "(1 would drop every mistake at once), or None"
            )
            raise ValueError(msg)
        if self.sigma is not None and not (isinstance(self.gamma, str) and self.gamma == "scale"):
            what = f"sigma={brief(self.sigma)} and gamma={brief(self.gamma)}"
            msg = f"{what} both give a width: give one"
            raise ValueError(msg)
        if self.budget is not None and keep != "last":
            msg = f"budget={self.budget} forgets vectors that keep={keep!r} needs: use keep='last'"
            raise ValueError(msg)
        if self.budget is not None and order in PICKING:
            msg = (
                f"budget={self.budget} works on samples in turn, but order={order!r} picks "
                "among all of them: use order='cyclic', 'shuffled', 'sampled' or 'blocks'"
            )
            raise ValueError(msg)
        return self._shared_settings().with_changes(
            keep=keep,
            order=order,
            drop_after=self.drop_after,
            budget=self.budget,
            record=yes_or_no("record", self.record),
        )

    @property
    def _pairwise(self) -> bool:
        return isinstance(self.kernel, Precomputed) or (
            isinstance(self.kernel, str) and self.kernel == "precomputed"
        )

    def _read(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, reset: bool = True
    ) -> Data:
        refuse_clustered(X, type(self).__name__)
        if not is_on_device(X):
            return super()._read(X, y, sample_weight, classes, reset=reset)
        function = callable(self.kernel) and not isinstance(self.kernel, Kernel)
        if self._pairwise or function or isinstance(self.kernel, Function):
            msg = f"kernel={brief(self.kernel)} needs data in memory: give NumPy arrays"
            raise ValueError(msg)
        check_on_device(self, X, reset=reset)
        y = column_or_1d(to_host(y) if is_on_device(y) else y, warn=True)
        check_consistent_length(np.empty((X.shape[0], 0)), y)
        if is_on_device(sample_weight):
            sample_weight = to_host(sample_weight)
        data = self._label(label_rows(X.shape[0]), X.shape[1], y, sample_weight, classes)
        return data._replace(source=DeviceSource(data.source, X))

    def _begin(
        self, data: Data, settings: Settings, again: bool = False
    ) -> tuple[Standing, Kernel]:
        kernel = kernel_for(self, data.source, first=not again)
        return first_standing(self, data, settings, again), kernel

    def _go_on(self, data: Data) -> tuple[Standing, Kernel]:
        return self._state, kernel_for(self, data.source, first=False)

    _training = training
    _fits_together = parts_fit
    _same_rows = rows_of_vectors

    def _rule(self, settings: Settings) -> type[DualRule]:
        if settings.budget is not None:
            return Budgeted
        return Picking if settings.order in PICKING else DualRule

    @property
    def dropped_(self) -> Dropped | tuple[Dropped, ...]:
        """The samples that were dropped (a tuple for more than two classes)."""
        return self._view("dropped")  # type: ignore[no-any-return]

    def decision_function(self, X: Any) -> Floats:
        """``Σ α_i y_i K(x_i, x)`` for each row of X: shape (n,), or (n, K) for K > 2 classes.

        With ``keep="vote"`` it is the share of the vote for minus that against, from -1 to 1.
        """
        return answer(self._decision(X), X)  # type: ignore[no-any-return]

    def _decision(self, X: Any, precision: Any = np.float64) -> Floats:
        """The decision values in memory."""
        check_is_fitted(self)
        if is_on_device(X):
            check_on_device(self, X, reset=False)
        else:
            X = self._rows_of(X)
        with Team(count_threads(self.n_jobs)) as team:
            values = decide_by_vectors(self, X, team, precision)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X."""
        # On a device the vectors would have to go there twice.
        values = self._decision(X, precision=np.float64 if is_on_device(X) else None)
        chosen = self.classes_[choose(values.reshape(len(values), -1))]
        return answer(chosen, X)  # type: ignore[no-any-return]

    def bound_report(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> BoundReport | tuple[BoundReport, ...]:
        """The mistakes of this run beside the bound in the kernel's feature space.

        As `Perceptron.bound_report`: R comes from ``K(x, x)``, γ from the widest margin there.
        It needs ``record=True``, and data in memory that were not dropped or forgotten.

        Parameters
        ----------
        X, y, sample_weight
            Those given to `fit`.

        Returns
        -------
        BoundReport, or a tuple of them for more than two classes
        """
        from rosenblatt.bounds.run_reports import kernel_bound_reports

        check_is_fitted(self)
        if is_on_device(X):
            msg = "bound_report needs data in memory: give NumPy arrays"
            raise ValueError(msg)
        data = self._read(X, y, sample_weight, self.classes_, reset=False)
        reports = kernel_bound_reports(self, data)
        return reports[0] if len(reports) == 1 else reports

    def _advice(self, fit: KernelFit) -> str | None:
        if fit.stop_reason in (StopReason.SEPARATED, StopReason.NO_MISTAKES):
            return None
        if fit.certificate is not None:
            return "The scores come back, so more epochs change nothing; another kernel may do."
        return f"{MORE[fit.stop_reason]}, or keep='average', or drop_after to leave outliers out."

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        return tags
