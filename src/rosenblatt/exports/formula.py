"""What a linear model computes from the cells of a row: biases, and a term for each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tables.cells import MISSING, TRUTH
from rosenblatt.tables.date_parts import with_parts
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.feature_values import scaling, width

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from rosenblatt.tables.feature_values import Spec

Weights = tuple[float, ...]  # one for each decision value


@dataclass(frozen=True)
class NumberTerm:
    """``weight (x/shrink - mean)/deviation`` of a number; a missing one counts as `fill`.

    None: none may be missing.

    `part` is "hour" for the hour of a date; the number of a date is its days since 1970.
    """

    column: str
    is_date: bool
    part: str | None
    fill: float | None
    shrink: float
    mean: float
    deviation: float
    weights: Weights


@dataclass(frozen=True)
class ValueTerm:
    """The weights of the values of a text, or of the weekday or month of a date.

    None stands for a missing cell; what is not among the values counts nothing. `any_case`: the
    values are in small letters, and cells may have any.
    """

    column: str
    is_date: bool
    part: str | None
    values: tuple[tuple[str | None, Weights], ...]
    any_case: bool = False


@dataclass(frozen=True)
class Formula:
    """Decision values: ``bias + sum of terms``; one for two classes, otherwise one for each.

    The answer is the second of two classes where the value is positive, or the first class with
    the largest value. `at_zero` is the sign that a value of zero counts as.
    """

    classes: tuple[Any, ...]
    bias: Weights
    terms: tuple[NumberTerm | ValueTerm, ...]
    at_zero: int = -1

    @property
    def columns(self) -> dict[str, str]:
        """What each column holds: a number, a date or a text."""
        kinds: dict[str, str] = {}
        for term in self.terms:
            plain = "number" if isinstance(term, NumberTerm) else "text"
            kinds.setdefault(term.column, "date" if term.is_date else plain)
        return kinds


def formula_of(model: Any, what: str, exact: Collection[str] | None = None) -> Formula:
    """The formula of a fitted linear classifier, or of a pipeline of an encoder and one.

    It takes YES for the word Yes in all columns but those that are `exact`; None: in none.
    Raises ValueError, saying what `what` is instead, if it has none.
    """
    classifier = model[-1] if hasattr(model, "steps") else model
    if not hasattr(classifier, "coef_") or not hasattr(classifier, "classes_"):
        kind = type(classifier).__name__
        msg = f"{what} is a {kind}, which has no weights for columns: export a linear model"
        raise ValueError(msg)
    coef = np.asarray(classifier.coef_, dtype=np.float64)
    bias = tuple(np.broadcast_to(classifier.intercept_, len(coef)).tolist())
    classes = tuple(
        label.item() if hasattr(label, "item") else label for label in classifier.classes_
    )
    at_zero = getattr(classifier, "at_zero", None) or -1
    steps = [step for _, step in model.steps[:-1]] if hasattr(model, "steps") else []
    if not steps:
        names = getattr(classifier, "feature_names_in_", None)
        names = [f"x{j + 1}" for j in range(coef.shape[1])] if names is None else map(str, names)
        specs = [
            {"name": n, "kind": "number", "fill": None, "mean": 0.0, "deviation": 1.0}
            for n in names
        ]
    elif len(steps) == 1 and isinstance(steps[0], TableEncoder):
        specs = with_parts([spec for spec in steps[0].columns_ if "dropped" not in spec])
    else:
        kind = type(steps[0]).__name__
        msg = f"{what} makes features with {kind}: export a model of a table's own columns"
        raise ValueError(msg)
    dates = {spec["name"] for spec in specs if spec["kind"] == "date"}
    return Formula(classes, bias, tuple(_terms(specs, dates, coef, what, exact)), at_zero)


def _terms(
    specs: list[Spec],
    dates: set[str],
    coef: Any,
    what: str,
    exact: Collection[str] | None,
) -> Iterator[NumberTerm | ValueTerm]:
    start = 0
    for spec in specs:
        if "words" in spec:
            msg = f"{what} counts the words of {spec['name']!r}, which no formula here can do"
            raise ValueError(msg)
        weights = [tuple(column) for column in coef[:, start : start + width(spec)].T.tolist()]
        start += width(spec)
        place = _place(spec, dates)
        if "values" in spec:
            lenient = exact is not None and place[0] not in exact and not place[1]
            any_case = set(spec["values"]) <= TRUTH or (lenient and _told_apart(spec["values"]))
            values = (
                None if value == MISSING else value.lower() if any_case else value
                for value in spec["values"]
            )
            yield ValueTerm(*place, tuple(zip(values, weights, strict=True)), any_case)
        else:
            yield NumberTerm(*place, spec["fill"], *scaling(spec), weights[0])


def _told_apart(words: list[str]) -> bool:
    """Whether words differ in more than capitals, which C and SQLite know of ASCII only."""
    small = {word.lower() for word in words if word.isascii()}
    return len(small) == len(words)


def _place(spec: Spec, dates: set[str]) -> tuple[str, bool, str | None]:
    """The column that features are made of, whether it holds dates, and the part of these."""
    column, _, part = spec["name"].rpartition(":")
    if column in dates:
        return column, True, part
    return spec["name"], spec["kind"] == "date", None
