"""What the perceptron and the delta rule share: start vectors, `fit` and `partial_fit`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from rosenblatt.estimators._base import Data, LinearClassifier, are_floats, positives_of
from rosenblatt.estimators._progress import ProgressBar
from rosenblatt.estimators._validation import (
    check_callback,
    count_threads,
    one_of,
    positive_int,
    positive_number,
    seed_from,
    shown,
    time_limit,
    yes_or_no,
)
from rosenblatt.results import Cycle, Epoch, Fit, Hyperplane, Trace, Updates
from rosenblatt.solvers.run import Settings
from rosenblatt.solvers.threads import Team
from rosenblatt.solvers.training import Problem, Training

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.sources import Source

    Floats = NDArray[np.float64]

UPDATES = ("online", "batch", "minibatch")


def _can_go_on(model: Any) -> bool:
    """Whether there is a `partial_fit`; the reason, if not."""
    if getattr(model, "keep", "last") == "pocket":
        msg = (
            "keep='pocket' needs all the data at once, to count training errors: "
            "use fit, or keep='last' or 'average'"
        )
        raise AttributeError(msg)
    return True


class IterativeClassifier(LinearClassifier):
    """A classifier that is trained in epochs."""

    fits_: tuple[Fit, ...]

    _parts = (*LinearClassifier._parts, Fit, Trace, Updates, Cycle, Problem)
    _no_tol = ", or None to run until no mistakes"

    def _settings(self) -> Settings:
        """Check the parameters and turn them into settings; a subclass adds its own."""
        update, size = one_of("update", self.update, UPDATES), self.batch_size
        if update == "minibatch":
            size = positive_int("batch_size", size, hint=", the samples per update")
        elif size is not None:
            msg = f"batch_size={size!r} needs update='minibatch', but update={update!r}"
            raise ValueError(msg)
        check_callback(self.callback)
        for name in ("progress", "warm_start"):
            yes_or_no(name, getattr(self, name))
        count_threads(self.n_jobs)
        tol = self.tol
        return Settings(
            update=update,
            batch_size=size,
            fit_intercept=yes_or_no("fit_intercept", self.fit_intercept),
            max_epochs=positive_int("max_epochs", self.max_epochs),
            max_time=time_limit(self.max_time),
            tol=None if tol is None else positive_number("tol", tol, hint=self._no_tol),
            seed=seed_from(self.random_state),
        )

    def _rate(self, source: Source, positives: list[int]) -> float:
        """The learning rate."""
        raise NotImplementedError

    def _training(self, settings: Settings) -> type[Training]:
        """Which rule to train by."""
        raise NotImplementedError

    def _advice(self, fit: Fit) -> str | None:
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
        if again:
            starts = np.column_stack([self.coef_, self.intercept_])
            starts[:, -1] *= settings.fit_intercept
        else:
            starts = self._starts(settings, len(data.positives), data.source.n_features)
        self._train(data, settings, _new_problems(data, settings, starts))
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
        if first:
            starts = self._starts(settings, len(data.positives), data.source.n_features)
            self._train(data, settings, _new_problems(data, settings, starts), epochs=1)
        else:
            self._train(data, settings, self._state, epochs=1)
        return self

    def _all_classes(self, classes: ArrayLike | None, first: bool) -> NDArray[Any]:
        if classes is None:
            if first:
                msg = "the first call of partial_fit needs classes: all labels that will ever come"
                raise ValueError(msg)
            return self.classes_
        given = np.unique(np.asarray(classes))
        if len(given) < 2:
            msg = f"classes holds only {shown(given)}: give at least two classes"
            raise ValueError(msg)
        if not first and not np.array_equal(given, self.classes_):
            msg = f"classes are now {shown(given)}, but were {shown(self.classes_)} before"
            raise ValueError(msg)
        return given

    def _starts(self, settings: Settings, k: int, d: int) -> Floats:
        """One start vector for each of k problems, bias last."""
        if isinstance(self.init, str):
            one_of("init", self.init, ("zeros", "random"))
            start = np.zeros(d + 1)
            if self.init == "random":
                start = np.random.default_rng([settings.seed, 0]).standard_normal(d + 1)
                start[-1] *= settings.fit_intercept
            return np.tile(start, (k, 1))
        rows = f", or {k} rows of these" if k > 1 else ""
        wanted = f"give {d + 1} numbers ({d} weights, then the bias){rows}, or 'zeros' or 'random'"
        try:
            start = np.array(self.init, dtype=np.float64)
        except (TypeError, ValueError):
            msg = f"init={self.init!r} is not a vector of numbers: {wanted}"
            raise ValueError(msg) from None
        if start.shape not in ((d + 1,), (k, d + 1)):
            msg = f"init has shape {start.shape}: {wanted}"
            raise ValueError(msg)
        if not np.isfinite(start).all():
            msg = f"init holds numbers that are not finite: {wanted}"
            raise ValueError(msg)
        if not settings.fit_intercept and np.any(start[..., -1]):
            msg = "init ends with a bias, but fit_intercept=False: make its last number 0"
            raise ValueError(msg)
        return np.broadcast_to(start, (k, d + 1)).copy()

    def _train(
        self, data: Data, settings: Settings, problems: list[Problem], epochs: int | None = None
    ) -> None:
        """Run, and set the fitted attributes; nothing is set if it fails."""
        problems = [p.ready_for(settings) for p in problems]
        eta = self._rate(data.source, data.positives)
        settings = settings.with_changes(eta=eta, max_epochs=epochs or settings.max_epochs)
        with (
            Team(count_threads(self.n_jobs)) as team,
            ProgressBar(type(self).__name__, settings.max_epochs, self.progress) as bar,
        ):
            rule = self._training(settings)
            training = rule(data.source, settings, problems, team, self._reporter(bar))
            training.run()
            self._set_results(data, training.fits(), team)
        self._state = [p.at_rest() for p in problems]

    def _fits_together(self) -> bool:
        d = self.n_features_in_
        size = (d + 1,)
        return (
            super()._fits_together()
            and all(fit.last.w.shape == (d,) for fit in self.fits_)
            and [p.positive for p in self._state] == positives_of(self.classes_)
            and all(are_floats(v, size) for p in self._state for v in (p.theta, p.start))
            and all(are_floats(p.lag, size if p.lag.size else (0,)) for p in self._state)
        )

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

    def _reporter(self, bar: ProgressBar) -> Callable[[int, list[Problem]], None] | None:
        """After each epoch: move the progress bar, tell the callback."""
        callback = self.callback
        if callback is None and not bar.shown:
            return None

        def report(number: int, problems: list[Problem]) -> None:
            bar.show(number, sum(p.mistakes[-1] for p in problems if p.stop is None))
            if callback is not None:
                planes = tuple(Hyperplane(p.theta[:-1], p.theta[-1]) for p in problems)
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


def _new_problems(data: Data, settings: Settings, starts: Floats) -> list[Problem]:
    """A problem for each start vector, with its own generator from the same seed."""
    return [
        Problem(
            positive=positive,
            theta=theta,
            start=theta.copy(),
            rng=np.random.default_rng([settings.seed, 2]),
        )
        for positive, theta in zip(data.positives, starts, strict=True)
    ]
