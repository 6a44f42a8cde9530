"""What the classifiers that are trained in epochs share: settings, reading, progress, warnings."""

from __future__ import annotations

import warnings
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from rosenblatt.arguments import label_vector, positive_int, positive_number, yes_or_no
from rosenblatt.cluster.engine import released
from rosenblatt.contract.classifier import Classifier
from rosenblatt.contract.parameters import (
    check_callback,
    checkpoint_of,
    count_threads,
    seed_from,
    shown,
    time_limit,
)
from rosenblatt.contract.resuming import keeper_of, seeded_alike
from rosenblatt.data.compiling import COMPILING, ONCE
from rosenblatt.results import Cycle, Epoch, StopReason, Trace
from rosenblatt.running.problems import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.contract.classifier import Data
    from rosenblatt.results import Hyperplane
    from rosenblatt.running.checkpoints import Keeper
    from rosenblatt.running.run import Run

MORE = {
    StopReason.EPOCH_LIMIT: "Raise max_epochs",
    StopReason.TIME_LIMIT: "Raise max_time",
    StopReason.NO_PROGRESS: "Set max_epochs",
    StopReason.WORK_LIMIT: "Set max_epochs",
    StopReason.SMALL_CHANGE: "Lower tol",
}


class TrainedInEpochs(Classifier):
    """Base of the classifiers that a rule trains in epochs."""

    # scikit-learn's two checks that weights act like repeated samples are left out in the tests:
    # a repeated sample is visited twice, a weighted one is one visit with a longer step, and an
    # online rule tells the two apart (as does scikit-learn's own Perceptron).
    _exempt_checks = (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    )
    _parts = (*Classifier._parts, Trace, Cycle)
    _state: Any

    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on all the data.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d), or what `rosenblatt.open` gives
        y : array of n labels of any kind, two or more different ones; not with an opened source
        sample_weight : array of n weights >= 0, optional

        Returns
        -------
        self
        """
        settings, keeper = self._settings(), keeper_of(self)
        settings = seeded_alike(self, settings, keeper)
        again = self.warm_start and hasattr(self, "fits_")
        classes = self.classes_ if again else None
        with released():
            data = self._read(X, y, sample_weight, classes, reset=not again)
            with self._training(data, settings, self._begin(data, settings, again), keeper) as run:
                run.run()
        self._warn_of_errors()
        return self

    def _can_go_on(self) -> bool:
        if getattr(self, "keep", "last") == "pocket":
            msg = (
                "keep='pocket' needs all the data at once, to count training errors: "
                "use fit, or another keep"
            )
            raise AttributeError(msg)
        return True

    @available_if(_can_go_on)  # type: ignore[untyped-decorator]
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on with one epoch over these data. Counts and trace go on too.

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
        settings = self._settings().with_changes(max_epochs=1)
        if self.class_weight == "balanced":
            msg = (
                "class_weight='balanced' needs all the labels at once: "
                "give partial_fit the weights themselves, as a dict"
            )
            raise ValueError(msg)
        first = not hasattr(self, "fits_")
        known = self._all_classes(classes, first)
        with released():
            data = self._read(X, y, sample_weight, known, reset=first)
            begun = self._begin(data, settings) if first else self._go_on(data)
            with self._training(data, settings, begun) as run:
                run.run()
        return self

    def _all_classes(self, classes: ArrayLike | None, first: bool) -> NDArray[Any]:
        if classes is None:
            if first:
                msg = "the first call of partial_fit needs classes: all labels that will ever come"
                raise ValueError(msg)
            return self.classes_
        given = np.unique(label_vector("classes", classes))
        if len(given) < 2:
            msg = f"classes holds only {shown(given)}: give at least two classes"
            raise ValueError(msg)
        if not first and not np.array_equal(given, self.classes_):
            msg = f"classes are now {shown(given)}, but were {shown(self.classes_)} before"
            raise ValueError(msg)
        return given

    def _shared_settings(self) -> Settings:
        return shared_settings(self, ", or None to run until no mistakes")

    def _begin(self, data: Data, settings: Settings, again: bool = False) -> Any:
        """Where a run begins: as the parameters say or (`again`) where the last fit ended."""
        raise NotImplementedError

    def _go_on(self, data: Data) -> Any:
        """Where a run begins that goes on with the last one, counts and trace and all."""
        return self._state

    def _training(
        self, data: Data, settings: Settings, begun: Any, keeper: Keeper | None = None
    ) -> AbstractContextManager[Run[Any]]:
        """A run from where another stands; then the fitted attributes, unless it has failed."""
        raise NotImplementedError

    @property
    def n_mistakes_(self) -> Any:
        """Mistakes made in training (an array for more than two classes)."""
        return self._counts("n_mistakes")

    @property
    def n_updates_(self) -> Any:
        """Updates of the weights in training (an array for more than two classes)."""
        return self._counts("n_updates")

    def _counts(self, name: str) -> Any:
        values = self._view(name)
        return np.array(values) if isinstance(values, tuple) else values

    def _advice(self, fit: Any) -> str | None:
        """What to do about the errors of a fit; None if it has ended as it should."""
        raise NotImplementedError

    def _warn_of_errors(self) -> None:
        """If `fit` stopped without having separated the data: how many errors, and what to do."""
        cut, go_on = StopReason.INTERRUPTED, way_on(self)
        advice = [
            (fit, go_on if fit.stop_reason is cut else self._advice(fit)) for fit in self.fits_
        ]
        unfinished = [(fit, text) for fit, text in advice if text is not None]
        if not self.n_errors_ or not unfinished:
            return
        longest, text = max(unfinished, key=lambda pair: pair[0].n_epochs)
        epochs = f"{self.n_iter_} epoch{'s' * (self.n_iter_ != 1)}"
        errors = f"{self.n_errors_} training error{'s' * (self.n_errors_ != 1)}"
        warnings.warn(
            f"{type(self).__name__} stopped after {epochs} with {errors} left: "
            f"{longest.stop_reason.value}. {text}",
            ConvergenceWarning,
            stacklevel=3,
        )


def way_on(model: Any) -> str:
    """How to go on with a fit that was interrupted."""
    asked = checkpoint_of(getattr(model, "checkpoint", None))
    if asked is None:
        return "Fit again with warm_start=True to go on."
    return f"Fit again with rb.Checkpoint({asked.path!r}, resume=True) to go on."


def shared_settings(model: Any, no_tol: str) -> Settings:
    """The parameters that all have which are trained in epochs, checked, as settings."""
    check_callback(model.callback)
    checkpoint_of(getattr(model, "checkpoint", None))
    for name in ("progress", "warm_start"):
        yes_or_no(name, getattr(model, name))
    count_threads(model.n_jobs)
    return Settings(
        fit_intercept=yes_or_no("fit_intercept", model.fit_intercept),
        max_epochs=positive_int("max_epochs", model.max_epochs),
        max_time=time_limit(model.max_time),
        tol=None if model.tol is None else positive_number("tol", model.tol, hint=no_tol),
        seed=seed_from(model.random_state),
    )


@contextmanager
def reporting(
    model: Any,
    epochs: int,
    planes: Callable[[Sequence[Any]], tuple[Hyperplane, ...]] = lambda problems: (),
) -> Iterator[Callable[[int, Sequence[Any]], None] | None]:
    """What to call after each epoch, if anything: for the progress bar and for the callback.

    `planes` are the hyperplanes that the callback is told of.
    """
    if model.callback is None and not model.progress:
        yield None
        return
    with _progress_bar(model, epochs) if model.progress else nullcontext() as show:

        def report(number: int, problems: Sequence[Any]) -> None:
            if show is not None:
                show(number, _course(problems))
            if model.callback is not None:
                mistakes = tuple(p.mistakes[-1] for p in problems)
                seconds = max(p.seconds[-1] for p in problems)
                model.callback(Epoch(number, mistakes, planes(problems), seconds))

        yield report


def _course(problems: Sequence[Any]) -> str:
    """How the last epoch went: its mistakes, or the error that the delta rule minimises."""
    losses = [p.losses[-1] for p in problems if getattr(p, "losses", ())]
    if losses:
        return f"mean of (t - o)²/2 in the last: {sum(losses) / len(losses):.4g},"
    return f"{sum(p.mistakes[-1] for p in problems if p.stop is None)} mistakes in the last,"


@contextmanager
def _progress_bar(model: Any, epochs: int) -> Iterator[Callable[[int, str], None]]:
    """Epochs done, how the last one went, time; to be called with the first two."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    with Progress(
        "{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        "epochs, {task.fields[course]}",
        TimeElapsedColumn(),
        console=Console(stderr=True),
    ) as bar:
        name = type(model).__name__
        task = bar.add_task(name, total=epochs, course="")

        def tell(compiles: bool) -> None:
            bar.update(task, description=ONCE if compiles else name)

        with COMPILING.watched(tell):
            yield lambda epoch, course: bar.update(task, completed=epoch, course=course)
