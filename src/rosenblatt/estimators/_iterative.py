"""What the perceptron and the delta rule share: start vectors and hyperplanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.arguments import brief, floats
from rosenblatt.estimators._base import Data, LinearClassifier, are_floats, positives_of
from rosenblatt.estimators._epochs import EpochClassifier
from rosenblatt.estimators._progress import ProgressBar
from rosenblatt.estimators._validation import count_threads, one_of, positive_int
from rosenblatt.results import Fit, Hyperplane, Updates
from rosenblatt.solvers.threads import Team
from rosenblatt.solvers.training import Problem, Training

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.solvers.run import Settings
    from rosenblatt.sources import Source

    Floats = NDArray[np.float64]

UPDATES = ("online", "batch", "minibatch")


class IterativeClassifier(EpochClassifier, LinearClassifier):
    """A classifier whose hyperplanes are trained in epochs."""

    fits_: tuple[Fit, ...]

    _parts = (*EpochClassifier._parts, Hyperplane, Fit, Updates, Problem)

    def _settings(self) -> Settings:
        update, size = one_of("update", self.update, UPDATES), self.batch_size
        if update == "minibatch":
            size = positive_int("batch_size", size, hint=", the samples per update")
        elif size is not None:
            msg = f"batch_size={brief(size)} needs update='minibatch', but update={update!r}"
            raise ValueError(msg)
        return super()._settings().with_changes(update=update, batch_size=size)

    def _rate(self, source: Source, positives: list[int]) -> float:
        """The learning rate."""
        raise NotImplementedError

    def _training(self, settings: Settings) -> type[Training]:
        """Which rule to train by."""
        raise NotImplementedError

    def _begin(self, data: Data, settings: Settings, again: bool) -> list[Problem]:
        if again:
            starts = np.column_stack([self.coef_, self.intercept_])
            starts[:, -1] *= settings.fit_intercept
        else:
            starts = self._starts(settings, len(data.positives), data.source.n_features)
        return _new_problems(data, settings, starts)

    def _planes(self, problems: Sequence[Problem]) -> tuple[Hyperplane, ...]:
        return tuple(Hyperplane(p.theta[:-1], p.theta[-1]) for p in problems)

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
            start = floats("init", self.init)
        except (TypeError, ValueError):
            msg = f"init={brief(self.init)} is not a vector of numbers that are floats: {wanted}"
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
        self, data: Data, settings: Settings, state: list[Problem], epochs: int | None = None
    ) -> None:
        problems = [p.ready_for(settings) for p in state]
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
