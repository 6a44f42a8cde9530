"""What the perceptron and the delta rule share as classifiers: how a rule trains them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.contract.classifier import Data, LinearClassifier, are_floats, positives_of
from rosenblatt.contract.epochs import ProgressBar, TrainedInEpochs, reporter
from rosenblatt.contract.parameters import count_threads, start_vectors
from rosenblatt.perceptron.linear_rule import LinearProblem, fit_of
from rosenblatt.results import Fit, Hyperplane, Updates
from rosenblatt.running.run import Run
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rosenblatt.data.sources import Source
    from rosenblatt.perceptron.linear_rule import LinearRule
    from rosenblatt.running.run import Settings


class LinearUnit(TrainedInEpochs, LinearClassifier):
    """A linear classifier that a rule trains in epochs."""

    fits_: tuple[Fit, ...]
    _state: list[LinearProblem]
    _parts = (*TrainedInEpochs._parts, Hyperplane, Fit, Updates, LinearProblem)

    def _rate(self, source: Source, positives: list[int]) -> float:
        """The learning rate."""
        raise NotImplementedError

    def _rule(self, settings: Settings) -> type[LinearRule]:
        """The rule that trains it."""
        raise NotImplementedError

    def _begin(self, data: Data, settings: Settings, again: bool = False) -> list[LinearProblem]:
        """A problem for each start vector, with its own generator from the same seed."""
        if again:
            starts = np.column_stack([self.coef_, self.intercept_])
            starts[:, -1] *= settings.fit_intercept
        else:
            d = data.source.n_features
            starts = start_vectors(self.init, len(data.positives), d, settings)
        return [
            LinearProblem(
                positive=positive,
                theta=theta,
                start=theta.copy(),
                rng=np.random.default_rng([settings.seed, 2]),
            )
            for positive, theta in zip(data.positives, starts, strict=True)
        ]

    @contextmanager
    def _training(
        self, data: Data, settings: Settings, begun: list[LinearProblem]
    ) -> Iterator[Run[LinearProblem]]:
        problems = [p.ready_for(settings) for p in begun]
        settings = settings.with_changes(eta=self._rate(data.source, data.positives))
        with (
            Team(count_threads(self.n_jobs)) as team,
            ProgressBar(type(self).__name__, settings.max_epochs, self.progress) as bar,
        ):
            rule = self._rule(settings)(data.source, settings, team)
            yield Run(rule, problems, settings, reporter(self.callback, bar, _planes))
            self._set_results(data, tuple(fit_of(p, settings) for p in problems), team)
        self._state = [p.at_rest() for p in problems]

    def _fits_together(self) -> bool:
        d, problems = self.n_features_in_, self._state
        size = (d + 1,)
        return (
            super()._fits_together()
            and all(fit.last.w.shape == (d,) for fit in self.fits_)
            and [p.positive for p in problems] == positives_of(self.classes_)
            and all(are_floats(v, size) for p in problems for v in (p.theta, p.start))
            and all(are_floats(p.lag, size if p.lag.size else (0,)) for p in problems)
        )


def _planes(problems: Sequence[LinearProblem]) -> tuple[Hyperplane, ...]:
    """Where the problems stand."""
    return tuple(Hyperplane(p.theta[:-1], p.theta[-1]) for p in problems)
