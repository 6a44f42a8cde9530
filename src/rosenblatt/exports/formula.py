"""What a linear model computes from the cells of a row: biases, and a term for each column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tables.cells import MISSING, TRUTH
from rosenblatt.tables.date_parts import with_parts
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.feature_values import scaling
from rosenblatt.tables.sparse_features import SparseEncoder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from rosenblatt.exports.curves import Expansion, Products
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
    written: tuple[str, ...] = ()  # the values as they stood in training


@dataclass(frozen=True)
class Formula:
    """Decision values: ``bias + sum of terms``; one for two classes, otherwise one for each.

    The answer is the second of two classes where the value is positive, or the first class with
    the largest value. `at_zero` is the sign that a value of zero counts as. With a `curve` the
    terms have no weights: they are the features that it is a sum over.
    """

    classes: tuple[Any, ...]
    bias: Weights
    terms: tuple[NumberTerm | ValueTerm, ...]
    at_zero: int = -1
    curve: Products | Expansion | None = None

    @property
    def columns(self) -> dict[str, str]:
        """What each column holds: a number, a date or a text."""
        kinds: dict[str, str] = {}
        for term in self.terms:
            plain = "number" if isinstance(term, NumberTerm) else "text"
            kinds.setdefault(term.column, "date" if term.is_date else plain)
        return kinds


Term = NumberTerm | ValueTerm


def formula_of(model: Any, what: str, exact: Collection[str] | None = None) -> Formula:
    """The formula of a fitted classifier, or of a pipeline of an encoder and one.

    It takes YES for the word Yes in all columns but those that are `exact`; None: in none.
    Raises ValueError, saying what `what` is instead, if it has none.
    """
    parts = taken_apart(model, what, exact)
    classifier = parts.classifier
    if parts.maps or not hasattr(classifier, "coef_"):
        from rosenblatt.exports.curves import curved_formula

        return curved_formula(parts, what)
    coef = np.asarray(classifier.coef_, dtype=np.float64)
    bias = tuple(np.broadcast_to(classifier.intercept_, len(coef)).tolist())
    terms = tuple(_weighted(parts.terms, coef))
    return Formula(parts.classes, bias, terms, parts.at_zero)


@dataclass(frozen=True)
class Parts:
    """A model taken apart: features of columns (terms without weights), maps, the classifier."""

    terms: tuple[Term, ...]
    maps: tuple[Any, ...]
    classifier: Any

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, as Python has them."""
        return tuple(np.asarray(self.classifier.classes_).tolist())

    @property
    def at_zero(self) -> int:
        """The sign that a value of zero counts as."""
        return getattr(self.classifier, "at_zero", None) or -1


def taken_apart(model: Any, what: str, exact: Collection[str] | None = None) -> Parts:
    """The parts of a fitted classifier, or of a pipeline that begins with an encoder.

    Raises ValueError, saying what `what` is instead, if it has others.
    """
    classifier = model[-1] if hasattr(model, "steps") else model
    kind = type(classifier).__name__
    if not hasattr(classifier, "classes_") or not hasattr(classifier, "decision_function"):
        msg = f"{what} is a {kind}, which is no classifier: export one"
        raise ValueError(msg)
    steps = [step for _, step in model.steps[:-1]] if hasattr(model, "steps") else []
    if steps and isinstance(steps[0], TableEncoder):
        specs = with_parts([spec for spec in steps[0].columns_ if "dropped" not in spec])
        maps = tuple(steps[1:])
    else:
        first = steps[0] if steps else classifier
        names = getattr(first, "feature_names_in_", None)
        n = int(first.n_features_ if hasattr(first, "kinds_") else first.n_features_in_)
        names = [f"x{j + 1}" for j in range(n)] if names is None else map(str, names)
        plain = {"kind": "number", "fill": None, "mean": 0.0, "deviation": 1.0}
        specs = [{"name": name, **plain} for name in names]
        maps = tuple(step for step in steps if not isinstance(step, SparseEncoder))
    dates = {spec["name"] for spec in specs if spec["kind"] == "date"}
    return Parts(tuple(_terms(specs, dates, what, exact)), maps, classifier)


def _terms(
    specs: list[Spec], dates: set[str], what: str, exact: Collection[str] | None
) -> Iterator[Term]:
    """The features of columns, without weights."""
    for spec in specs:
        if "words" in spec:
            msg = (
                f"{what} counts the words of {spec['name']!r}, which no formula here can do: "
                "--json FILE writes the whole model"
            )
            raise ValueError(msg)
        place = _place(spec, dates)
        if "values" in spec:
            lenient = exact is not None and place[0] not in exact and not place[1]
            any_case = set(spec["values"]) <= TRUTH or (lenient and _told_apart(spec["values"]))
            values = (
                None if value == MISSING else value.lower() if any_case else value
                for value in spec["values"]
            )
            pairs = tuple((value, ()) for value in values)
            yield ValueTerm(*place, pairs, any_case, tuple(spec["values"]))
        else:
            yield NumberTerm(*place, spec["fill"], *scaling(spec), ())


def _weighted(terms: Iterable[Term], coef: Any) -> Iterator[Term]:
    """The same with the weights of their features."""
    start = 0
    for term in terms:
        n = n_features(term)
        weights = [tuple(column) for column in coef[:, start : start + n].T.tolist()]
        start += n
        if isinstance(term, NumberTerm):
            yield replace(term, weights=weights[0])
        else:
            values = (value for value, _ in term.values)
            yield replace(term, values=tuple(zip(values, weights, strict=True)))


def n_features(term: Term) -> int:
    """How many features a column, or a part of its dates, becomes."""
    return 1 if isinstance(term, NumberTerm) else len(term.values)


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
