"""A linear model as a function in C, of nothing but the standard library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rosenblatt.exports.curves import Expansion, Products, numbered
from rosenblatt.exports.formula import Formula, NumberTerm, ValueTerm, n_features

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = """/* {title}

   decide() fills in the decision values of a row and gives the number of its class, which CLASSES
   names. A missing number is NAN, a missing text NULL; a date is its days since 1970, and texts
   are UTF-8. */

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

"""
FUNCTION = """
int decide(const struct row *row, double values[N_VALUES]) {
    double x = 0;
    int k = 0;
"""
DATES = """
static double hour_of(double days) {
    return (days - floor(days)) * 24.0;
}

static const char *weekday_of(double days) {
    static const char *const names[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    long day = ((long)floor(days) + 3) % 7;
    return isnan(days) ? NULL : names[day < 0 ? day + 7 : day];
}

/* The month of a day since 1970; years are taken to begin in March, so that leap days end them. */
static const char *month_of(double days) {
    static const char *const names[] = {"Mar", "Apr", "May", "Jun", "Jul", "Aug",
                                        "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"};
    long day, of_era, year, of_year;
    if (isnan(days)) return NULL;
    day = (long)floor(days) + 719468;
    of_era = day - 146097 * (long)floor(day / 146097.0);
    year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    of_year = of_era - (365 * year + year / 4 - year / 100);
    return names[(5 * of_year + 2) / 153];
}
"""
TEXTS = """
static int same(const char *a, const char *b) {
    if (a == NULL || b == NULL) return a == b;
    return strcmp(a, b) == 0;
}
"""
ANY_CASE = """
static int same_in_any_case(const char *a, const char *b) {
    if (a == NULL || b == NULL) return a == b;
    for (; *a && *b; a++, b++)
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return 0;
    return *a == *b;
}
"""


def c_code(formula: Formula, title: str) -> str:
    """The text of a C file with the function ``decide``."""
    fields = field_names(list(formula.columns))
    n = len(formula.bias)
    terms = formula.terms
    values = [term for term in terms if isinstance(term, ValueTerm)]
    has_dates = any(term.part for term in terms)
    parts = [
        HEAD.format(title=_in_comment(title)),
        f"#define N_CLASSES {len(formula.classes)}\n#define N_VALUES {n}\n\n",
        "struct row {\n",
        *(
            f"    {'const char *' if kind == 'text' else 'double '}{fields[name]}; "
            f"/* {_in_comment(name)}{', in days since 1970' * (kind == 'date')} */\n"
            for name, kind in formula.columns.items()
        ),
        "};\n\nconst char *const CLASSES[N_CLASSES] = {",
        ", ".join(_string(str(label)) for label in formula.classes),
        "};\n",
        DATES * has_dates,
        TEXTS * any(not term.any_case for term in values),
        ANY_CASE * any(term.any_case for term in values),
        *_tables(formula.curve),
        FUNCTION,
        *(f"    values[{k}] = {_number(b)};\n" for k, b in enumerate(formula.bias)),
        *_features(formula),
        *_lines(formula, fields),
        *_sum(formula),
        *_choice(formula),
        "}\n",
    ]
    return "".join(parts)


def field_names(columns: list[str]) -> dict[str, str]:
    """A name that C takes for each column; those that would be the same get numbers."""
    found: dict[str, str] = {}
    for column in columns:
        name = base = "c_" + re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")
        k = 1
        while name in found.values():
            name, k = f"{base}_{k + 1}", k + 1
        found[column] = name
    return found


def _tables(curve: Products | Expansion | None) -> Iterator[str]:
    """What a curve is a sum over, and its kernel."""
    if not isinstance(curve, Expansion):
        return
    m, d = len(curve.vectors), len(curve.vectors[0])
    for name, rows in (("VECTORS", curve.vectors), ("COEFFICIENTS", curve.coefficients)):
        lines = ",\n".join("    {" + ", ".join(map(_number, row)) + "}" for row in rows)
        yield f"\nstatic const double {name}[{m}][{len(rows[0])}] = {{\n{lines}\n}};\n"
    step = "(v[j] - f[j]) * (v[j] - f[j])" if curve.kind == "radial" else "v[j] * f[j]"
    a, b = _number(curve.a), _number(curve.b)
    ends = {
        "radial": f"exp(-{a} * t)",
        "power": "p",
        "tanh": f"tanh({a} * t + {b})",
    }
    yield "\nstatic double kernel(const double *v, const double *f) {\n    double t = 0;\n"
    yield f"    for (int j = 0; j < {d}; j++) t += {step};\n"
    if curve.kind == "power":
        yield f"    t = {a} * t + {b};\n    double p = t;\n"
        yield f"    for (int j = 1; j < {curve.degree}; j++) p *= t;\n"
    yield f"    return {ends[curve.kind]};\n}}\n"


def _features(formula: Formula) -> Iterator[str]:
    if formula.curve is not None:
        yield f"    double f[{sum(map(n_features, formula.terms))}] = {{0}};\n"


def _sum(formula: Formula) -> Iterator[str]:
    """The sum that a curve is."""
    if isinstance(formula.curve, Products):
        for places, weights in formula.curve.terms:
            yield f"    x = {' * '.join(f'f[{j}]' for j in places)};\n"
            yield from (f"    values[{k}] += {_number(w)} * x;\n" for k, w in enumerate(weights))
    elif isinstance(formula.curve, Expansion):
        yield f"    for (int i = 0; i < {len(formula.curve.vectors)}; i++) {{\n"
        yield "        x = kernel(VECTORS[i], f);\n"
        yield "        for (int j = 0; j < N_VALUES; j++) values[j] += COEFFICIENTS[i][j] * x;\n"
        yield "    }\n"


def _lines(formula: Formula, fields: dict[str, str]) -> Iterator[str]:
    for term, start in numbered(formula):
        cell = f"row->{fields[term.column]}"
        cell = f"{term.part}_of({cell})" if term.part else cell
        if isinstance(term, NumberTerm):
            yield f"    x = {cell};\n"
            if term.fill is not None:
                yield f"    if (isnan(x)) x = {_number(term.fill)};\n"
            scaled = f"x / {_number(term.shrink)}" if term.shrink != 1 else "x"
            yield f"    x = ({scaled} - {_number(term.mean)}) / {_number(term.deviation)};\n"
            if formula.curve is not None:
                yield f"    f[{start}] = x;\n"
            yield from (
                f"    values[{k}] += {_number(w)} * x;\n" for k, w in enumerate(term.weights)
            )
            continue
        same = "same_in_any_case" if term.any_case else "same"
        for k, (value, weights) in enumerate(term.values):
            word = "    " if k == 0 else "    else "
            sums = " ".join(f"values[{j}] += {_number(w)};" for j, w in enumerate(weights))
            sums = f"f[{start + k}] = 1.0;" if formula.curve is not None else sums
            yield f"{word}if ({same}({cell}, {_string(value)})) {{ {sums} }}\n"


def _choice(formula: Formula) -> Iterator[str]:
    if len(formula.bias) == 1:
        yield "    (void)k;\n    (void)x;\n"
        yield f"    return values[0] {'>' if formula.at_zero < 0 else '>='} 0;\n"
        return
    yield "    (void)x;\n"
    yield "    for (int j = 1; j < N_VALUES; j++)\n        if (values[j] > values[k]) k = j;\n"
    yield "    return k;\n"


def _number(value: float) -> str:
    """A float in hexadecimal, which every compiler reads exactly."""
    return value.hex() if value >= 0 else f"({value.hex()})"


def _string(text: Any) -> str:
    """A text as C has it, whatever is in it; NULL for none."""
    if text is None:
        return "NULL"
    data = text.encode("utf-8", "surrogatepass")
    plain = (chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in data)
    return f'"{"".join(plain)}"'


def _in_comment(text: str) -> str:
    """A text that cannot end the comment it stands in."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return shown.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
