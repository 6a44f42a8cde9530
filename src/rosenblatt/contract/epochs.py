"""What the classifiers that are trained in epochs share: `fit`, `partial_fit`, counts, warnings."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from rosenblatt.arguments import label_vector
from rosenblatt.contract.classifier import Classifier, Data
from rosenblatt.contract.parameters import (
    check_callback,
    count_threads,
    positive_int,
    positive_number,
    seed_from,
    shown,
    time_limit,
    yes_or_no,
)
from rosenblatt.results import Cycle, Epoch, Trace
from rosenblatt.running.run import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.contract.progress import ProgressBar
    from rosenblatt.results import Hyperplane
    from rosenblatt.running.run import Course


def _can_go_on(model: Any) -> bool:
    """Whether there is a `partial_fit`; the reason, if not."""
    if getattr(model, "keep", "last") == "pocket":
        msg = (
            "keep='pocket' needs all the data at once, to count training errors: "
            "use fit, or another keep"
        )
        raise AttributeError(msg)
    return True


class EpochClassifier(Classifier):
    """A classifier that is trained in epochs.

    Its `_state`, whatever it is, is what `partial_fit` goes on with.
    """

    _parts = (*Classifier._parts, Trace, Cycle)
    _no_tol = ", or None to run until no mistakes"
    _state: Any

    def _settings(self) -> Settings:
        """Check the parameters and turn them into settings; a subclass adds its own."""
        check_callback(self.callback)
        for name in ("progress", "warm_start"):
            yes_or_no(name, getattr(self, name))
        count_threads(self.n_jobs)
        tol = self.tol
        return Settings(
            fit_intercept=yes_or_no("fit_intercept", self.fit_intercept),
            max_epochs=positive_int("max_epochs", self.max_epochs),
            max_time=time_limit(self.max_time),
            tol=None if tol is None else positive_number("tol", tol, hint=self._no_tol),
            seed=seed_from(self.random_state),
        )

    def check_parameters(self) -> None:
        """Raise ValueError for a parameter that `fit` would not take."""
        given = self.get_params(deep=False) | {"random_state": None}  # which must not be drawn from
        type(self)(**given)._settings()

    def _begin(self, data: Data, settings: Settings, again: bool) -> Any:
        """The state to begin with: a new one, or (`again`) with what the last fit ended with."""
        raise NotImplementedError

    def _train(self, data: Data, settings: Settings, state: Any, epochs: int | None = None) -> None:
        """Run, and set the fitted attributes; nothing is set if it fails."""
        raise NotImplementedError

    def _planes(self, problems: Sequence[Any]) -> tuple[Hyperplane, ...]:
        """The hyperplanes to tell a callback of."""
        return ()

    def _advice(self, fit: Any) -> str | None:
        """What to do about the errors that are left; None: nothing."""
        raise NotImplementedError

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
        settings = self._settings()
        again = self.warm_start and hasattr(self, "fits_")
        classes = self.classes_ if again else None
        data = self._read(X, y, sample_weight, classes, reset=not again)
        self._train(data, settings, self._begin(data, settings, again))
        self._warn_of_errors()
        return self

    @available_if(_can_go_on)  # type: ignore[untyped-decorator]
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
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
        settings = self._settings()
        if self.class_weight == "balanced":
            msg = (
                "class_weight='balanced' needs all the labels at once: "
                "give partial_fit the weights themselves, as a dict"
            )
            raise ValueError(msg)
        first = not hasattr(self, "fits_")
        known = self._all_classes(classes, first)
        data = self._read(X, y, sample_weight, known, reset=first)
        state = self._begin(data, settings, again=False) if first else self._state
        self._train(data, settings, state, epochs=1)
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

    @property
    def n_mistakes_(self) -> Any:
        """Mistakes made in training (an array for more than two classes)."""
        counts = self._view("n_mistakes")
        return np.array(counts) if isinstance(counts, tuple) else counts

    @property
    def n_updates_(self) -> Any:
        """Updates of the weights in training (an array for more than two classes)."""
        counts = self._view("n_updates")
        return np.array(counts) if isinstance(counts, tuple) else counts

    def _reporter(self, bar: ProgressBar) -> Callable[[int, Sequence[Course]], None] | None:
        """After each epoch: move the progress bar, tell the callback."""
        callback = self.callback
        if callback is None and not bar.shown:
            return None

        def report(number: int, problems: Sequence[Course]) -> None:
            bar.show(number, sum(p.mistakes[-1] for p in problems if p.stop is None))
            if callback is not None:
                planes = self._planes(problems)
                seconds = max(p.seconds[-1] for p in problems)
                callback(Epoch(number, tuple(p.mistakes[-1] for p in problems), planes, seconds))

        return report

    def _warn_of_errors(self) -> None:
        """If it stopped without having separated the data: how many errors, and what to do."""
        advice = [(fit, self._advice(fit)) for fit in self.fits_]
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
