"""A number of a model that was chosen by folds: the facts, and what there is to say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rosenblatt.visible import count

if TYPE_CHECKING:
    from rosenblatt.validation.tuning import Choice

MOST_VALUES = 5


@dataclass(frozen=True)
class ChoiceFacts:
    """A number that was chosen by folds of the rows to learn from.

    `parameter` of the estimator, and option of the command; the values `tried`, the simplest
    first, by how many `folds` of at most so many `rows` (None: all). `chosen` are those that the
    folds of a cross-validation chose, each by its own rows to learn from. `value` was chosen by
    all rows, and `shares` are the right answers to these of the values tried; None and nothing
    where there is no such model. `untried` are those for which there was no time.
    """

    parameter: str
    tried: tuple[float, ...]
    chosen: tuple[float, ...]
    folds: int
    rows: int | None
    value: float | None = None
    shares: tuple[float, ...] = ()
    untried: tuple[float, ...] = ()


def choice_facts(in_folds: Iterable[Choice], by_all: Choice | None = None) -> ChoiceFacts:
    """What was chosen in folds, and by all rows if it was."""
    chosen = tuple(in_folds)
    every = (*chosen, *([by_all] if by_all else []))
    rows = max(one.rows for one in every)
    return ChoiceFacts(
        parameter=every[0].parameter,
        tried=by_all.tried if by_all else tuple(sorted({x for one in every for x in one.tried})),
        chosen=tuple(one.value for one in chosen),
        folds=max(one.folds for one in every),
        rows=rows if rows < max(one.n_rows for one in every) else None,
        value=by_all.value if by_all else None,
        shares=by_all.scores if by_all else (),
        untried=by_all.untried if by_all else (),
    )


def tried_values(tried: Sequence[float]) -> str:
    """The values that were tried: all of a few, of more the first and the last."""
    values = [f"{value:g}" for value in tried]
    if len(values) > MOST_VALUES:
        values = [*values[:2], "...", values[-1]]
    return ", ".join(values) or "none that could be tried"


def in_folds(chosen: Sequence[float]) -> str:
    """``1000 (3 folds), 300 (2 folds)``, or ``1000 in every fold``."""
    counted = sorted(Counter(chosen).items(), key=lambda pair: (-pair[1], pair[0]))
    if len(counted) == 1:
        return f"{counted[0][0]:g} in every fold"
    told = [f"{value:g} ({count(n, 'fold')})" for value, n in counted]
    rest = len(told) - MOST_VALUES
    return ", ".join([*told[:MOST_VALUES], *([f"and {rest} more"] if rest > 0 else [])])


def choice_sentence(facts: ChoiceFacts) -> str:
    """What a fit chose, among what and by what."""
    name = facts.parameter
    if not facts.shares:
        why = "there was no time to try others" if facts.untried else "there are too few rows"
        return f"{name} {facts.value:g}, the usual one, for {why}"
    some = f"{count(facts.rows, 'row')} drawn from them" if facts.rows else "the rows"
    best = f"{100 * max(facts.shares):.1f}% right"
    told = (
        f"{name} {facts.value:g} of {tried_values(facts.tried)}, by {facts.folds} folds of {some}"
    )
    told += f": {best}"
    if facts.untried:
        told += f"; no time was left for {tried_values(facts.untried)}"
    if facts.chosen:
        told += f". The cross-validation chose in each fold anew: {in_folds(facts.chosen)}"
    return told
