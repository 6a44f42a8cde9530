"""From facts to HTML: a whole document, or a part of one."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.report.page import charts, wording
from rosenblatt.report.page.facts import PageFacts
from rosenblatt.report.page.row_tables import proof_tables, row_tables
from rosenblatt.report.page.weight_tables import by_class, leading, signed_weights
from rosenblatt.report.sentences import four_digits, percent, shortened
from rosenblatt.visible import grouped

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent / "templates"
HEADINGS = {
    "worth": "What it is worth",
    "verdict": "Can the classes be separated?",
    "model": "What it goes by",
    "training": "How it was trained",
    "comparison": "Beside other models",
    "rows": "Rows to look at",
    "data": "The data",
    "again": "The same again",
}
FEW_CLASSES, SOME_CLASSES = 12, 15  # in one matrix, in one table
MOST_ROWS, MOST_COLUMNS, MOST_WEIGHTS = 30, 300, 200
MOST_CONFUSIONS = 15
COURSE_ROWS = 20
NOTHING = "–"


def page(facts: PageFacts) -> str:
    """A document of its own: it needs no other file, no network and no script."""
    return _rendered("page.html.j2", facts, "rb", whole=True)


def fragment(facts: PageFacts, prefix: str = "rb") -> str:
    """The same for a notebook; its style reaches nothing else there.

    `prefix` begins all ids: give each part of a document another.
    """
    return _rendered("fragment.html.j2", facts, prefix, whole=False)


def _rendered(template: str, s: PageFacts, prefix: str, whole: bool) -> str:
    named = {"s": s, "prefix": prefix, "whole": whole, "style": _style()}
    return _environment().get_template(template).render(named | _told(s))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "shown": shortened,
        "percent": percent,
        "grouped": grouped,
        "digits": _digits,
        "fraction": _fraction,
        "area": lambda x: NOTHING if x is None else f"{x:.4f}",
        "signed": _signed,
        "amount": _amount,
        "chance": lambda p: "<0.001" if p is not None and p < 0.001 else _fraction(p),
        "points": lambda share: f"{100 * share:.1f} points".replace("-", "−"),
        "cell": _cell,
        "holds": wording.holds,
        "became": wording.became,
        "bound_sentence": wording.bound_sentence,
        "first_few": lambda items, n: items[:n],
    }
    return made


@cache
def _style() -> Any:
    from markupsafe import Markup

    return Markup((FOLDER / "style.css").read_text("utf-8"))


# What the templates are given -------------------------------------------------------------------


def _told(s: PageFacts) -> dict[str, Any]:
    """Sentences, pictures and tables by the names that the templates use."""
    fit, judged = s.fit, s.judgement
    assert judged is not None
    e, tables = judged.evaluation, row_tables(s)
    wrong = {one.name: one.rows + one.predicted - 2 * one.right for one in e.classes}
    return {
        "sections": _sections(s, bool(tables)),
        "headings": HEADINGS,
        "title": wording.title(fit),
        "grade": wording.grade(judged),
        "judged_on": wording.judged_on(judged),
        "verdicts": wording.verdicts(fit),
        "verdicts_in_short": wording.verdicts_in_short(fit),
        "proved": all(one.proved for one in fit.verdicts),
        "model_name": wording.model_name(fit),
        "next_step": wording.next_step(fit),
        "balance": wording.balance(e),
        "data_sentence": wording.data_sentence(fit),
        "column_kinds": wording.KINDS,
        "confusions": wording.confusions(e, MOST_CONFUSIONS),
        "said": list(wording.said(s)),
        "k": len(e.classes),
        "few_classes": FEW_CLASSES,
        "some_classes": SOME_CLASSES,
        "most_rows": MOST_ROWS,
        "most_columns": MOST_COLUMNS,
        "most_weights": MOST_WEIGHTS,
        "by_errors": sorted(e.classes, key=lambda one: -wrong[one.name]),
        "class_counts": sorted(fit.counts.items(), key=lambda one: -(one[1] or 0)),
        "proofs": proof_tables(s),
        "row_tables": tables,
        **_of_weights(s),
        **_pictures(s),
    }


def _sections(s: PageFacts, rows: bool) -> list[str]:
    there = {
        "verdict": bool(s.fit.verdicts),
        "comparison": s.comparison is not None,
        "rows": rows,
        "again": s.recipe is not None or bool(s.left_out),
    }
    return [name for name in HEADINGS if there.get(name, True)]


def _of_weights(s: PageFacts) -> dict[str, Any]:
    if s.weights is None:
        return {}
    one = len(s.weights.coef) == 1
    units = None if s.fit.table is None else s.fit.table.units
    return {
        "telling": wording.telling(s.weights),
        "equation": wording.equation(s.weights) if one else "",
        "weights": signed_weights(s.weights, units or {}) if one else [],
        "by_class": [] if one else by_class(s.weights),
        "leading": [] if one else leading(s.weights),
    }


def _pictures(s: PageFacts) -> dict[str, Any]:
    assert s.judgement is not None
    e, curves = s.judgement.evaluation, s.judgement.curves
    course = s.course
    rows = [] if course is None else _evenly(len(course.epochs), COURSE_ROWS)
    hopeless = any(one.epochs is not None for one in s.bounds)
    return {
        "bar": charts.accuracy_bar(e),
        "roc": charts.roc(curves, e) if curves else None,
        "curves_caption": wording.curves_caption(len(curves)),
        "precision": charts.precision_recall(curves, e) if curves else None,
        "confusion_map": charts.confusion_map(e) if len(e.classes) > FEW_CLASSES else None,
        "learning": s.learning and charts.learning_line(s.learning, e.majority),
        "learning_caption": wording.learning_caption(s),
        "distances": s.distances and charts.distance_bars(s.distances),
        "distance_caption": wording.distance_caption(s),
        "course": course and charts.course_lines(course),
        "course_caption": wording.course_caption(s),
        "course_rows": rows,
        "kinds": s.comparison and charts.kinds_dots(s.comparison, _own_accuracy(s)),
        **_comparison(s),
        "mistakes_bar": charts.mistakes_bar(s.bounds[0]) if s.bounds else None,
        "inseparable_bound": hopeless,
    }


def _comparison(s: PageFacts) -> dict[str, Any]:
    """What a comparison came to, and how it was made."""
    lines = [] if s.comparison is None else list(wording.compared(s.comparison))
    how = [one for one in lines if one.name in ("folds", "chosen")]
    return {"compared": [one for one in lines if one not in how], "compared_how": how}


def _own_accuracy(s: PageFacts) -> float | None:
    """How many answers of the page's own model are right, if that can be set beside others."""
    judged = s.judgement
    return judged.evaluation.accuracy if judged is not None and judged.by == "folds" else None


def _evenly(n: int, most: int) -> list[int]:
    """At most so many of the numbers from 0 to n - 1, the ends included."""
    if n <= most:
        return list(range(n))
    return sorted({round(k * (n - 1) / (most - 1)) for k in range(most)})


# Cells ------------------------------------------------------------------------------------------


def _digits(x: float | None) -> str:
    return NOTHING if x is None else four_digits(x).replace("-", "−")


def _fraction(x: float | None) -> str:
    return NOTHING if x is None else f"{x:.3f}"


def _signed(x: float) -> str:
    return f"{x:+.4g}".replace("-", "−")


def _amount(n: float) -> str:
    return grouped(n) if math.isfinite(n) and n < 1e12 else f"{n:.3g}"


def _cell(value: Any) -> str:
    """A cell of the table."""
    if value is None:
        return NOTHING
    return _digits(value) if isinstance(value, float) else shortened(value, 60)
