"""The report of ``rosenblatt bound``: the mistakes of a run beside the most there can be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from rosenblatt import __version__
from rosenblatt.report.facts import Document, KernelFacts, TableFacts, as_json
from rosenblatt.report.fit_report import bends_more
from rosenblatt.report.sentences import classes_line, data_line, percent, shortened, these_rows
from rosenblatt.report.terminal import add_last_lines, new_console, new_grid, print_parts
from rosenblatt.results import BoundReport, MistakeBound, StopReason, at_every, power_of_ten
from rosenblatt.visible import count, grouped

WIDTH = len("tightness")
STANDARDISED, AFTER = "standardised", " after standardising"


@dataclass(frozen=True)
class BoundFacts:
    """A run beside its bound, and the table it was made on."""

    table: TableFacts
    counts: Mapping[str, int]  # rows of each class
    features: int
    kernel: KernelFacts | None
    same_rows: tuple[int, ...]  # two that no kernel tells apart though their classes differ
    reports: tuple[BoundReport, ...]  # of each two-class problem
    drawn: str | None
    notes: tuple[str, ...]

    @property
    def intercept(self) -> bool:
        """Whether there is a bias."""
        return self.reports[0].fit_intercept

    @property
    def separable(self) -> bool:
        """Whether a hyperplane separates the classes, in each of the problems."""
        return all(report.bound.separable for report in self.reports)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the run."""
        return any(report.stop_reason is StopReason.INTERRUPTED for report in self.reports)

    def as_json(self) -> Document:
        """As ``--json`` prints it."""
        table = self.table
        found: Document = {
            "rosenblatt": __version__,
            **{name: getattr(table, name) for name in ("file", "target", "rows", "columns")},
            "features": self.features,
            "classes": dict(self.counts),
            "standardized": table.standardized,
            "kernel": as_json(self.kernel),
            "intercept": self.intercept,
            "separable": self.separable,
            "problems": [_problem_as_json(report) for report in self.reports],
            "drawn": self.drawn,
            "notes": list(self.notes),
            "identical": list(self.same_rows),
        }
        if self.kernel is None:
            del found["kernel"]
        if self.kernel is None or self.separable:
            del found["identical"]
        return found


def print_bounds(s: BoundFacts) -> None:
    """Print it all to standard output."""
    console, lines, table = new_console(), new_grid(WIDTH), s.table
    lines.add_row("data", data_line(table.rows, s.features, table.columns, len(s.counts)))
    lines.add_row("classes", classes_line(s.counts, table.target))
    if s.kernel is not None:
        lines.add_row("kernel", s.kernel.formula)
    unit = STANDARDISED if table.standardized else "in the columns' own units"
    for report in s.reports:
        for name, what in (_lines if len(s.reports) == 1 else _in_short)(report, unit):
            lines.add_row(name, what)
    if s.drawn:
        lines.add_row("drawn", s.drawn)
    add_last_lines(lines, s.notes, _advice(s))
    print_parts(console, Text(f"{table.file}: mistakes and their bound", style="bold"), lines)


def _problem_as_json(report: BoundReport) -> Document:
    limit = report.bound
    return {
        "positive": str(report.positive),
        "separable": limit.separable,
        "R": limit.R,
        "gamma": limit.gamma if limit.hyperplane is not None else None,
        "shortfall": limit.shortfall,
        "batch_size": limit.batch_size,
        "eta0": limit.eta0,
        "bound": limit.bound,
        "bound_epochs": limit.epochs,
        "formula": limit.formula,
        "mistakes": report.n_mistakes,
        "updates": report.n_updates,
        "epochs": report.n_epochs,
        "stop_reason": report.stop_reason.name,
        "tightness": report.tightness,
        "within": report.within,
        "progress_holds": report.progress_holds,
        "length2_holds": report.length2_holds,
    }


def _lines(report: BoundReport, unit: str) -> Iterator[tuple[str, Any]]:
    """Named lines about the one problem of two classes."""
    limit = report.bound
    made = f"{count(report.n_mistakes, 'mistake')} in {count(report.n_epochs, 'epoch')}"
    yield "run", f"{made}, {report.stop_reason.name}"
    if not limit.separable:
        yield "separable", Text(_inseparable(report, unit), style="yellow")
    where = f" in {count(limit.epochs, 'epoch')}" if limit.epochs else ", however long it runs"
    mistakes = "mistake" if limit.most == 1 else "mistakes"
    yield "bound", f"at most {_amount(limit)} {mistakes}{where}: {limit.formula}"
    vector = "φ(x)" if limit.kernel else "x"
    of = f"; of {f'({vector}, 1)' if report.fit_intercept else vector}, {unit}"
    yield "", f"{limit.terms}{of if limit.hyperplane is not None else ''}"
    yield "tightness", f"{_share(report)} of the bound"
    if limit.hyperplane is not None:
        yield "proof", f"θ·θ* grew as much as it must: {_held(report, report.progress_holds)}"
    name = "" if limit.hyperplane is not None else "proof"
    yield name, f"‖θ‖² grew no more than it may: {_held(report, report.length2_holds)}"


def _inseparable(report: BoundReport, unit: str) -> str:
    """That nothing separates the classes, or nothing that rounding lets one find."""
    through = "" if report.fit_intercept else " through the origin"
    where = f" {'of' if through else 'in'} feature space" if report.bound.kernel else ""
    after = AFTER if unit == STANDARDISED else ""
    if report.bound.separable is None:
        none = f"no hyperplane{through}{where} separates the classes{after} by more than rounding"
        return f"unknown: {none}, and no bound is known for ever"
    none = f"no hyperplane{through}{where} separates the classes{after}"
    return f"no: {none}, and no bound holds for ever"


def _in_short(report: BoundReport, unit: str) -> Iterator[tuple[str, Any]]:
    """One line about one class against the rest."""
    limit = report.bound
    inseparable = "not separable" if limit.separable is False else "not known to be separable"
    inseparable += AFTER if unit == STANDARDISED else ""
    where = "" if not limit.epochs else f" in {count(limit.epochs, 'epoch')} ({inseparable})"
    held = "both lemmas held" if report.holds else "a lemma did NOT hold"
    yield (
        shortened(report.positive, 30),
        f"{grouped(report.n_mistakes)} of at most {_amount(limit)} mistakes{where}, "
        f"{_share(report)}; {limit.terms}; {held} at "
        f"{count(report.n_updates, 'update')}",
    )


def _share(report: BoundReport) -> str:
    """The mistakes as a share of the bound."""
    return percent(report.tightness) if math.isfinite(report.bound.bound) else "next to none"


def _amount(limit: MistakeBound) -> str:
    """A number of mistakes, whole as long as it is not astronomical."""
    n = limit.most
    if not math.isfinite(n):
        return power_of_ten(limit)
    return f"{n:,.0f}" if 10_000 <= n < 1e12 else f"{n:.0f}" if n < 10_000 else f"{n:.3g}"


def _held(report: BoundReport, held: bool) -> str:
    return at_every(report.n_updates) if held else "NOT at every update"


def _advice(s: BoundFacts) -> str:
    """What to try next."""
    if s.separable:
        cut_off = any(report.stop_reason is StopReason.EPOCH_LIMIT for report in s.reports)
        told = "the classes are separable, so the mistakes come to an end: raise --max-epochs"
        return told if cut_off else ""
    if s.same_rows:
        pair = f"{these_rows(s.same_rows)} are the same but for their classes"
        return f"{pair}: no kernel separates them"
    if s.kernel is not None:
        return f"another kernel may separate the classes: try {bends_more(s.kernel)}"
    if not s.intercept:
        return "without --no-intercept a hyperplane may separate the classes"
    if s.table.standardized:
        return f"rosenblatt check {s.table.file} answers this for the numbers as they are"
    return f"rosenblatt check {s.table.file} proves that nothing separates the classes"
