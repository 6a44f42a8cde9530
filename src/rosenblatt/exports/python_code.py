"""A linear model as a module of plain Python that imports nothing but the standard library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rosenblatt.exports.curves import Expansion, Products, numbered
from rosenblatt.exports.formula import Formula, NumberTerm, ValueTerm, n_features

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = '''"""{title}

`predict` gives the class of a row, `decision` its decision value{values}. A row is a mapping from
the names of columns to cells. Columns: {columns}.
"""

import math
{imports}
CLASSES = {classes}
'''
NUMBER = '''

def _number(cell, fill):
    """A cell as a number; a missing one is `fill`."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        cell = math.nan
    number = float(cell)
    if not math.isnan(number):
        return number
    if fill is None:
        raise ValueError("a number is missing, and the model was not trained with missing ones")
    return fill
'''
TEXT = '''

def _text(cell, any_case=False):
    """A cell as text; None if it is missing."""
    if cell is None or cell != cell:
        return None
    text = str(cell).strip()
    return (text.lower() if any_case else text) or None
'''
DATE = '''

def _days(cell):
    """The days since 1970 of a date, a datetime or text such as 2024-12-31; None if missing."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return None
    if isinstance(cell, str):
        cell = datetime.datetime.fromisoformat(cell.strip())
    days = cell.toordinal() - 719163.0
    if isinstance(cell, datetime.datetime):
        seconds = 3600 * cell.hour + 60 * cell.minute + cell.second + cell.microsecond / 1e6
        days += seconds / 86400
    return days


def _hour(days):
    return None if days is None else (days - math.floor(days)) * 24


def _weekday(days):
    names = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    return None if days is None else names[(math.floor(days) + 3) % 7]


def _month(days):
    names = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    if days is None:
        return None
    return names[datetime.date.fromordinal(math.floor(days) + 719163).month - 1]
'''


def python_code(formula: Formula, title: str) -> str:
    """The text of a module with the functions ``decision`` and ``predict``."""
    kinds = formula.columns
    several = len(formula.bias) > 1
    has_dates = "date" in kinds.values()
    texts = [term for term in formula.terms if isinstance(term, ValueTerm) and not term.is_date]
    columns = ", ".join(f"{name} ({kind})" for name, kind in kinds.items())
    parts = [
        HEAD.format(
            title=_in_docstring(title),
            values="s, one for each class" if several else f", positive for {formula.classes[1]!r}",
            columns=_in_docstring(columns),
            imports="import datetime\n" * has_dates,
            classes=repr(formula.classes),
        ),
        _tables(formula),
        NUMBER,
        TEXT * bool(texts),
        DATE * has_dates,
        "\n\ndef decision(row):\n",
        f'    """The decision value{"s" * several} of a row."""\n',
        f"    values = {list(formula.bias)!r}\n",
        *(_lines(formula) if formula.curve is None else _curve(formula)),
        "    return values\n" if several else "    return values[0]\n",
        '\n\ndef predict(row):\n    """The class of a row."""\n',
        _choice(formula, several),
    ]
    return "".join(parts)


def _cell(term: NumberTerm | ValueTerm) -> str:
    """The number of a cell, scaled, or its text."""
    cell = f"row[{term.column!r}]"
    cell = f"_days({cell})" if term.is_date else cell
    cell = f"_{term.part}({cell})" if term.part else cell
    if isinstance(term, ValueTerm):
        return cell if term.is_date else f"_text({cell}{', True' * term.any_case})"
    scaled = f"_number({cell}, {term.fill!r})"
    scaled += f" / {term.shrink!r}" * (term.shrink != 1)
    return f"({scaled} - {term.mean!r}) / {term.deviation!r}"


def _tables(formula: Formula) -> str:
    """What a curve is a sum over, and its kernel."""
    curve = formula.curve
    if isinstance(curve, Products):
        lines = "".join(f"    ({places!r}, {weights!r}),\n" for places, weights in curve.terms)
        return f"\n# The features of each product, and its weights.\nPRODUCTS = (\n{lines})\n"
    if not isinstance(curve, Expansion):
        return ""
    each = zip(curve.vectors, curve.coefficients, strict=True)
    lines = "".join(f"    ({vector!r}, {weights!r}),\n" for vector, weights in each)
    told = f"\n# Each vector, and its coefficients.\nVECTORS = (\n{lines})\n"
    t = f"{curve.a!r} * sum(a * b for a, b in zip(v, f)) + {curve.b!r}"
    kernels = {
        "radial": f"math.exp(-{curve.a!r} * sum((a - b) ** 2 for a, b in zip(v, f)))",
        "power": f"({t}) ** {curve.degree}",
        "tanh": f"math.tanh({t})",
    }
    return f"{told}\n\ndef _kernel(v, f):\n    return {kernels[curve.kind]}\n"


def _curve(formula: Formula) -> Iterator[str]:
    """The features of a row, and the sum of products or kernel values of these."""
    yield f"    f = [0.0] * {sum(map(n_features, formula.terms))}\n"
    for term, start in numbered(formula):
        if isinstance(term, NumberTerm):
            yield f"    f[{start}] = {_cell(term)}\n"
        else:
            places = {value: start + k for k, (value, _) in enumerate(term.values)}
            yield f"    place = {places!r}.get({_cell(term)})\n"
            yield "    if place is not None:\n        f[place] = 1.0\n"
    if isinstance(formula.curve, Products):
        yield "    for places, weights in PRODUCTS:\n"
        yield "        x = math.prod(f[j] for j in places)\n"
    else:
        yield "    for vector, weights in VECTORS:\n        x = _kernel(vector, f)\n"
    yield "        values = [v + w * x for v, w in zip(values, weights)]\n"


def _lines(formula: Formula) -> Iterator[str]:
    for term in formula.terms:
        if isinstance(term, NumberTerm):
            yield f"    x = {_cell(term)}\n"
            yield f"    values = [v + w * x for v, w in zip(values, {list(term.weights)!r})]\n"
        else:
            table = ", ".join(f"{value!r}: {list(weights)!r}" for value, weights in term.values)
            yield f"    weights = {{{table}}}.get({_cell(term)})\n"
            yield "    if weights is not None:\n"
            yield "        values = [v + w for v, w in zip(values, weights)]\n"


def _choice(formula: Formula, several: bool) -> str:
    if several:
        return "    values = decision(row)\n    return CLASSES[values.index(max(values))]\n"
    sign = ">" if formula.at_zero < 0 else ">="
    return f"    return CLASSES[decision(row) {sign} 0]\n"


def _in_docstring(text: str) -> str:
    """A text that cannot end the docstring it stands in, nor hide in it."""
    return "".join(c if c.isprintable() else " " for c in text.replace("\\", "/").replace('"', "'"))
