"""A linear model as a module of plain Python that imports nothing but the standard library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rosenblatt.exports.formula import Formula, NumberTerm, ValueTerm

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
        NUMBER,
        TEXT * bool(texts),
        DATE * has_dates,
        "\n\ndef decision(row):\n",
        f'    """The decision value{"s" * several} of a row."""\n',
        f"    values = {list(formula.bias)!r}\n",
        *_lines(formula),
        "    return values\n" if several else "    return values[0]\n",
        '\n\ndef predict(row):\n    """The class of a row."""\n',
        _choice(formula, several),
    ]
    return "".join(parts)


def _lines(formula: Formula) -> Iterator[str]:
    for term in formula.terms:
        cell = f"row[{term.column!r}]"
        cell = f"_days({cell})" if term.is_date else cell
        cell = f"_{term.part}({cell})" if term.part else cell
        if isinstance(term, NumberTerm):
            scaled = f"_number({cell}, {term.fill!r})"
            scaled += f" / {term.shrink!r}" * (term.shrink != 1)
            yield f"    x = ({scaled} - {term.mean!r}) / {term.deviation!r}\n"
            yield f"    values = [v + w * x for v, w in zip(values, {list(term.weights)!r})]\n"
        else:
            table = ", ".join(f"{value!r}: {list(weights)!r}" for value, weights in term.values)
            cell = cell if term.is_date else f"_text({cell}{', True' * term.any_case})"
            yield f"    weights = {{{table}}}.get({cell})\n"
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
