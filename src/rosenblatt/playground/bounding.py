"""Mistakes beside the bound that theory allows, as answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.playground.answers import Bound, Lemmas

if TYPE_CHECKING:
    from rosenblatt.array_types import Ints
    from rosenblatt.playground.samples import Samples
    from rosenblatt.results import MistakeBound

MOST_NUMBERS = 2_000_000  # in data of which a bound is looked for


def finite(value: float) -> float | None:
    """A float that JSON has a word for."""
    return value if math.isfinite(value) else None


def bound_told(bound: MistakeBound) -> Bound:
    """A bound as an answer."""
    return Bound(
        R=finite(bound.R),
        gamma=finite(bound.gamma),
        bound=finite(bound.bound),
        most=finite(bound.most),
        epochs=bound.epochs,
        separable=bound.separable,
        formula=bound.formula,
        terms=bound.terms,
        sentence=str(bound),
    )


def bounds_told(model: Any, samples: Samples) -> tuple[list[tuple[Bound | None, Any]], list[str]]:
    """For each problem of a recorded model its bound and the report on it, if there are any."""
    none: list[tuple[Bound | None, Any]] = [(None, None)] * len(model.fits_)
    if samples.X.size > MOST_NUMBERS:
        return none, ["Of so many rows no bound on the mistakes is looked for."]
    try:
        reports = model.bound_report(samples.X, samples.y)
    except ValueError as error:  # a bound beyond floats, or samples that were dropped
        return none, [f"There is no bound on the mistakes: {error}."]
    reports = reports if isinstance(reports, tuple) else (reports,)
    return [(bound_told(report.bound), report) for report in reports], []


def lemmas_told(report: Any, at: Ints) -> Lemmas | None:
    """Both sides of both lemmas after the updates with these numbers."""
    if report is None:
        return None
    return Lemmas(
        progress=report.progress[at].tolist(),
        progress_least=report.progress_bound[at].tolist(),
        length=np.sqrt(report.length2[at]).tolist(),
        length_most=np.sqrt(report.length2_bound[at]).tolist(),
        holds=report.holds,
    )
