"""How the perceptron and the delta rule are trained: from start vectors to fitted attributes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.contract.classifier import Data, are_floats, positives_of
from rosenblatt.contract.epochs import reporter
from rosenblatt.contract.parameters import count_threads, start_vectors
from rosenblatt.contract.progress import ProgressBar
from rosenblatt.perceptron.rule import LinearProblem, fit_of
from rosenblatt.results import Hyperplane
from rosenblatt.running.run import Run
from rosenblatt.running.threads import Team

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rosenblatt.running.run import Settings


def first_problems(
    model: Any, data: Data, settings: Settings, again: bool = False
) -> list[LinearProblem]:
    """A problem for each start vector, with its own generator from the same seed.

    It starts as `init` says or (`again`) with what the last fit ended with.
    """
    if again:
        starts = np.column_stack([model.coef_, model.intercept_])
        starts[:, -1] *= settings.fit_intercept
    else:
        d = data.source.n_features
        starts = start_vectors(model.init, len(data.positives), d, settings)
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
def training(
    model: Any, data: Data, settings: Settings, problems: list[LinearProblem]
) -> Iterator[Run[LinearProblem]]:
    """A run from where these problems stand; then the fitted attributes, unless it has failed."""
    problems = [p.ready_for(settings) for p in problems]
    settings = settings.with_changes(eta=model._rate(data.source, data.positives))
    with (
        Team(count_threads(model.n_jobs)) as team,
        ProgressBar(type(model).__name__, settings.max_epochs, model.progress) as bar,
    ):
        rule = model._rule(settings)(data.source, settings, team)
        yield Run(rule, problems, settings, reporter(model.callback, bar, hyperplanes))
        model._set_results(data, tuple(fit_of(p, settings) for p in problems), team)
    model._state = [p.at_rest() for p in problems]


def hyperplanes(problems: Sequence[LinearProblem]) -> tuple[Hyperplane, ...]:
    """Where the problems stand."""
    return tuple(Hyperplane(p.theta[:-1], p.theta[-1]) for p in problems)


def problems_fit(model: Any) -> bool:
    """Whether the problems that a model goes on with have the shapes of the model."""
    d, problems = model.n_features_in_, model._state
    size = (d + 1,)
    return (
        all(fit.last.w.shape == (d,) for fit in model.fits_)
        and [p.positive for p in problems] == positives_of(model.classes_)
        and all(are_floats(v, size) for p in problems for v in (p.theta, p.start))
        and all(are_floats(p.lag, size if p.lag.size else (0,)) for p in problems)
    )
