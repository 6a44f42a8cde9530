"""What the perceptron and the delta rule share: start vectors and hyperplanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.contract.classifier import Data, LinearClassifier, are_floats, positives_of
from rosenblatt.contract.epochs import EpochClassifier
from rosenblatt.contract.parameters import batches, count_threads, start_vectors
from rosenblatt.contract.progress import ProgressBar
from rosenblatt.perceptron.training import Problem, Training
from rosenblatt.results import Fit, Hyperplane, Updates
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.data.sources import Source
    from rosenblatt.running.run import Settings

    Floats = NDArray[np.float64]


class IterativeClassifier(EpochClassifier, LinearClassifier):
    """A classifier whose hyperplanes are trained in epochs."""

    fits_: tuple[Fit, ...]

    _parts = (*EpochClassifier._parts, Hyperplane, Fit, Updates, Problem)

    def _settings(self) -> Settings:
        update, size = batches(self.update, self.batch_size)
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
            d = data.source.n_features
            starts = start_vectors(self.init, len(data.positives), d, settings)
        return _new_problems(data, settings, starts)

    def _planes(self, problems: Sequence[Problem]) -> tuple[Hyperplane, ...]:
        return tuple(Hyperplane(p.theta[:-1], p.theta[-1]) for p in problems)

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
