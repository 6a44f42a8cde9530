"""A linear model as one SELECT: the table with its decision values and its classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rosenblatt.exports.curves import Expansion, Products, refuse_large
from rosenblatt.exports.formula import Formula, NumberTerm, ValueTerm

MOST = 5000  # numbers of a curve, for each decision value: databases plan it as a whole
TOGETHER = 50  # terms added up within brackets: databases limit how deep expressions are


@dataclass(frozen=True)
class Dialect:
    """What databases write differently; ``{}`` is a column or a literal."""

    number: str  # a literal that is a double, not a decimal of some scale
    double: str  # a column as a double
    text: str
    days: str  # of a date, since 1970
    month: str  # of a date, from 1
    largest: str  # of several values
    floor: str
    without_nan: str  # NULL instead of it
    apart: str = ""  # keeps an inner SELECT from being written out wherever it is used


# SQLite keeps whatever it is given, and its casts take the 16 of '16,455' and 0 for other texts:
# what is neither a number nor empty becomes an error, with the cell in its message.
SQLITE_NUMBER = (
    "CASE WHEN typeof({0}) <> 'text' THEN CAST({0} AS REAL) WHEN lower(trim({0})) IN ('', 'nan') "
    "THEN NULL WHEN trim({0}) GLOB '*[^-+.0-9eE]*' THEN json_extract('{{}}', 'no number: ' || {0}) "
    "ELSE CAST({0} AS REAL) END"
)
SQLITE_DAYS = (
    "CASE WHEN julianday({0}) IS NULL AND trim({0}) <> '' "
    "THEN json_extract('{{}}', 'no date: ' || {0}) ELSE julianday({0}) - 2440587.5 END"
)
DIALECTS = {
    "duckdb": Dialect(
        number="{}",
        double="CAST({} AS DOUBLE)",
        text="CAST({} AS VARCHAR)",
        days="(epoch(CAST({} AS TIMESTAMP)) / 86400e0)",
        month="month(CAST({} AS TIMESTAMP))",
        largest="greatest({})",
        floor="floor({})",
        without_nan="NULLIF({}, 'nan'::DOUBLE)",
    ),
    "sqlite": Dialect(
        number="{}",
        double=SQLITE_NUMBER,
        text="CAST({} AS TEXT)",
        days=f"({SQLITE_DAYS})",
        month="CAST(strftime('%m', {}) AS INTEGER)",
        largest="max({})",
        floor="(CAST({0} AS INTEGER) - ({0} < CAST({0} AS INTEGER)))",
        without_nan="{}",
    ),
    "postgresql": Dialect(
        number="float8 '{}'",
        double="CAST({} AS double precision)",
        text="CAST({} AS text)",
        days="CAST(extract(epoch FROM CAST({} AS timestamp)) / 86400.0 AS double precision)",
        month="CAST(extract(month FROM CAST({} AS timestamp)) AS integer)",
        largest="greatest({})",
        floor="floor({})",
        without_nan="NULLIF({}, 'NaN'::double precision)",
        apart=" OFFSET 0",
    ),
}
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# Databases read such texts as truth values, which are `true` and `false` as texts again.
TRUTHS = ({"yes": "true", "no": "false"}, {"t": "true", "f": "false"}, {"y": "true", "n": "false"})
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def sql(formula: Formula, dialect: str, table: str, title: str, what: str = "the model") -> str:
    """A SELECT of all columns of a table, its decision values and the class of each row.

    Raises ValueError if `what` is a sum that a database would plan for too long.
    """
    if formula.curve is not None:
        size = formula.curve.size * len(formula.bias)
        refuse_large(size, MOST, what, "a SELECT", "--onnx, --json, --c or --python")
    words = DIALECTS[dialect]
    several = len(formula.bias) > 1
    heads = [f"decision_{label}" for label in formula.classes] if several else ["decision"]
    values = ",\n".join(
        f"    {_sum(formula, k, words)} AS {_name(head)}" for k, head in enumerate(heads)
    )
    return (
        f"-- {_in_comment(title)}\n"
        f"SELECT scored.*,\n  {_choice(formula, heads, words)} AS prediction\n"
        f"FROM (\n  SELECT {_name(table)}.*,\n{values}\n  FROM {_name(table)}\n) AS scored\n"
    )


def _sum(formula: Formula, k: int, words: Dialect) -> str:
    if formula.curve is not None:
        return _curve(formula, formula.curve, k, words)
    terms = [_number(formula.bias[k], words)]
    for term in formula.terms:
        if isinstance(term, NumberTerm):
            terms.append(f"{_number(term.weights[k], words)} * ({_scaled(term, words)})")
        else:
            terms.append(_value_term(term, k, words))
    return _added(terms)


def _added(terms: list[str]) -> str:
    """A sum, in brackets that do not nest deep."""
    parts = [terms[i : i + TOGETHER] for i in range(0, len(terms), TOGETHER)]
    return "\n    + ".join("(" + "\n      + ".join(part) + ")" for part in parts)


def _curve(formula: Formula, curve: Products | Expansion, k: int, words: Dialect) -> str:
    """A sum over products or kernel values of features, which an inner SELECT has by number."""
    features = list[str]()
    for term in formula.terms:
        if isinstance(term, NumberTerm):
            features.append(_scaled(term, words))
        else:
            features += (_has(term, value, words) for value, _ in term.values)
    x = _unlike("x", formula)
    inner = ", ".join(f"{feature} AS {x}{j}" for j, feature in enumerate(features))
    source = f"(SELECT {inner}{words.apart}) AS f"
    terms = [_number(formula.bias[k], words)]
    if isinstance(curve, Products):
        for places, weights in curve.terms:
            product = " * ".join(f"f.{x}{j}" for j in places)
            terms.append(f"{_number(weights[k], words)} * {product}")
    else:
        values = (_kernel(curve, vector, f"f.{x}", words) for vector in curve.vectors)
        each = ",\n ".join(f"{value} AS k{i}" for i, value in enumerate(values))
        source = f"(SELECT {each} FROM {source}{words.apart}) AS g"
        for i, weights in enumerate(curve.coefficients):
            terms.append(f"{_number(weights[k], words)} * g.k{i}")
    return f"(SELECT {_added(terms)}\n    FROM {source})"


def _unlike(prefix: str, formula: Formula) -> str:
    """A beginning of names that no column's name has: some databases would take one for another."""
    while any(name.lower().startswith(prefix) for name in formula.columns):
        prefix += "_"
    return prefix


def _kernel(curve: Expansion, vector: tuple[float, ...], f: str, words: Dialect) -> str:
    """The value of a kernel with a vector; features are numbered behind `f`."""
    pairs = [(f"{f}{j}", _number(x, words)) for j, x in enumerate(vector)]
    a, b = _number(curve.a, words), _number(curve.b, words)
    if curve.kind == "radial":
        return f"exp(-{a} * {_added([f'(({x} - {v}) * ({x} - {v}))' for x, v in pairs])})"
    t = f"({a} * {_added([f'{x} * {v}' for x, v in pairs])} + {b})"
    return f"tanh({t})" if curve.kind == "tanh" else " * ".join([t] * curve.degree)


def _scaled(term: NumberTerm, words: Dialect) -> str:
    """A number, standardised."""
    if term.is_date:
        x = words.days.format(_name(term.column))
        x = f"({x} - {words.floor.format(x)}) * 24" if term.part else x
    else:
        x = words.without_nan.format(words.double.format(_name(term.column)))
    if term.fill is not None:
        x = f"COALESCE({x}, {_number(term.fill, words)})"
    x = f"{x} / {_number(term.shrink, words)}" if term.shrink != 1 else x
    return f"({x} - {_number(term.mean, words)}) / {_number(term.deviation, words)}"


def _value_term(term: ValueTerm, k: int, words: Dialect) -> str:
    """The weight of a value."""
    cell, _ = _value(term, words)
    whens = [
        f"WHEN {cell} {_is(term, value, words)} THEN {_number(weights[k], words)}"
        for value, weights in term.values
    ]
    return f"CASE {' '.join(whens)} ELSE {_number(0.0, words)} END"


def _has(term: ValueTerm, value: str | None, words: Dialect) -> str:
    """1 where a cell has this value, otherwise 0."""
    is_it, one, zero = _is(term, value, words), _number(1.0, words), _number(0.0, words)
    return f"CASE WHEN {_value(term, words)[0]} {is_it} THEN {one} ELSE {zero} END"


def _is(term: ValueTerm, value: str | None, words: Dialect) -> str:
    names = _value(term, words)[1]
    if value is None:
        return "IS NULL"
    known = {value.lower() for value, _ in term.values if value is not None}
    truth = next((truth for truth in TRUTHS if known <= truth.keys()), None)
    if truth is None or len(known) < 2 or term.part:
        return f"= {_literal(names.get(value, value))}"
    return f"IN ({_literal(value)}, {_literal(truth[value.lower()])})"


def _value(term: ValueTerm, words: Dialect) -> tuple[str, dict[str | None, int]]:
    """A cell to compare with values; if these are days or months, with their numbers."""
    column, names = _name(term.column), dict[str | None, int]()
    if term.part == "weekday":
        day = words.floor.format(words.days.format(column))
        cell = f"(((CAST({day} AS INTEGER) + 3) % 7) + 7) % 7"
        names |= zip(WEEKDAYS, range(7), strict=True)
    elif term.part == "month":
        cell = words.month.format(column)
        names |= zip(MONTHS, range(1, 13), strict=True)
    else:
        cell = f"NULLIF(trim({words.text.format(column)}), '')"
        cell = f"lower({cell})" if term.any_case else cell
    return cell, names


def _choice(formula: Formula, heads: list[str], words: Dialect) -> str:
    labels = [_literal(label) for label in formula.classes]
    if len(heads) == 1:
        sign = ">" if formula.at_zero < 0 else ">="
        value = f"scored.{_name(heads[0])}"
        rest = f"WHEN {value} IS NOT NULL THEN {labels[0]}"
        return f"CASE WHEN {value} {sign} 0 THEN {labels[1]} {rest} END"
    names = [f"scored.{_name(head)}" for head in heads]
    largest = words.largest.format(", ".join(names))
    whens = (
        f"WHEN {name} = {largest} THEN {label}" for name, label in zip(names, labels, strict=True)
    )
    return f"CASE {' '.join(whens)} END"


def _name(name: str) -> str:
    quoted = name.replace('"', '""')
    return f'"{quoted}"'


def _literal(value: Any) -> str:
    if isinstance(value, str):
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    return repr(value)


def _number(value: float, words: Dialect) -> str:
    text = repr(value)
    literal = words.number.format(text if "e" in text else f"{text}e0")
    return f"({literal})" if value < 0 else literal


def _in_comment(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
