"""The report of ``rosenblatt bound``: the mistakes of a run beside the most there can be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rich.text import Text

from rosenblatt import __version__
from rosenblatt.report.facts import Document, KernelFacts, as_json
from rosenblatt.report.fit_report import bends
from rosenblatt.report.fits import EncodedTable
from rosenblatt.report.judging import first_same
from rosenblatt.report.sentences import percent, shortened, these_rows
from rosenblatt.report.terminal import Line, first_lines, last_lines, lines_shown, print_lines
from rosenblatt.results import BoundReport, MistakeBound, StopReason, at_every, power_of_ten
from rosenblatt.visible import count, grouped

WIDTH = len("tightness")
FEW = 8  # of very many classes
OF_BOUNDS = ("separable", "R", "gamma", "shortfall", "batch_size", "shards", "eta0", "bound")
OF_PROOFS = ("tightness", "within", "progress_holds", "length2_holds")
CUT_OFF = {StopReason.EPOCH_LIMIT, StopReason.NO_PROGRESS, StopReason.WORK_LIMIT}
STANDARDISED, AFTER = "standardised", " after standardising"


@dataclass(frozen=True)
class BoundFacts:
    """A run beside its bound, and the table it was made on."""

    table: EncodedTable
    reports: tuple[BoundReport, ...]  # of each two-class problem
    kernel: KernelFacts | None
    drawn: str | None

    @cached_property
    def same_rows(self) -> list[int]:
        """Two that no kernel tells apart though their classes differ, or nothing."""
        table = self.table
        asked = self.kernel is not None and not self.separable
        pairs = (first_same(table.X, table.signs(c)) for c in table.labels[0] if asked)
        return next((table.rows[pair].tolist() for pair in pairs if pair), [])

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
        table, in_features = self.table, self.kernel is not None
        return {
            "rosenblatt": __version__,
            "file": table.file,
            "target": table.target,
            "rows": len(table.label),
            "columns": len(table.columns),
            "features": len(table.features),
            "classes": table.counts,
            "standardized": table.standardized,
            **({"kernel": as_json(self.kernel)} if in_features else {}),
            "intercept": self.intercept,
            "separable": self.separable,
            "problems": [_problem_as_json(report) for report in self.reports],
            "drawn": self.drawn,
            "notes": table.notes,
            **({"identical": self.same_rows} if in_features and not self.separable else {}),
        }


def print_bounds(s: BoundFacts) -> None:
    """Print it all to standard output."""
    print_lines(f"{s.table.file}: mistakes and their bound", _lines(s), WIDTH)


def _problem_as_json(report: BoundReport) -> Document:
    limit, run = report.bound, ("mistakes", "updates", "epochs")
    found = {
        **({"multiclass": "joint"} if limit.n_classes else {"positive": str(report.positive)}),
        **{name: getattr(limit, name) for name in OF_BOUNDS},
        **{"bound_epochs": limit.epochs, "formula": limit.formula},
        **{name: getattr(report, f"n_{name}") for name in run},
        "stop_reason": report.stop_reason.name,
        **{name: getattr(report, name) for name in OF_PROOFS},
    }
    return found if limit.hyperplane is not None else found | {"gamma": None}


def _lines(s: BoundFacts) -> Iterator[Line]:
    yield from first_lines(s.table)
    if s.kernel is not None:
        yield "kernel", s.kernel.formula
    unit = STANDARDISED if s.table.standardized else "in the columns' own units"
    shown = lines_shown(len(s.reports), FEW)
    for report in s.reports[:shown]:
        yield from (_in_full if len(s.reports) == 1 else _in_short)(report, unit)
    if shown < len(s.reports):
        yield "", Text(f"and {len(s.reports) - shown} more classes (--json)", "dim")
    yield from last_lines(s.table.notes, _advice(s), drawn=s.drawn)


def _in_full(report: BoundReport, unit: str) -> Iterator[Line]:
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
    vector = f"({vector}, 1)" if report.fit_intercept else vector
    if limit.n_classes:
        vector = f"vectors with {vector} in the place of a class, -{vector} in that of a rival"
    of = f"; of {vector}, {unit}"
    yield "", f"{limit.terms}{of if limit.hyperplane is not None else ''}"
    yield "tightness", f"{_share(report)} of the bound"
    if limit.hyperplane is not None:
        yield "proof", f"θ·θ* grew as much as it must: {_held(report, report.progress_holds)}"
    name = "" if limit.hyperplane is not None else "proof"
    yield name, f"‖θ‖² grew no more than it may: {_held(report, report.length2_holds)}"


def _inseparable(report: BoundReport, unit: str) -> str:
    """That nothing separates the classes, or nothing that rounding lets one find."""
    through = "" if report.fit_intercept else " through the origin"
    if report.bound.n_classes and report.bound.separable is False:
        after = AFTER * (unit == STANDARDISED)
        return f"no: the classes are not separable jointly{after}, and no bound holds for ever"
    where = f" {'of' if through else 'in'} feature space" if report.bound.kernel else ""
    none = f"no hyperplane{through}{where} separates the classes{AFTER * (unit == STANDARDISED)}"
    if report.bound.separable is None:
        return f"unknown: {none} by more than rounding, and no bound is known for ever"
    return f"no: {none}, and no bound holds for ever"


def _in_short(report: BoundReport, unit: str) -> Iterator[Line]:
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
        cut_off = any(report.stop_reason in CUT_OFF for report in s.reports)
        told = "the classes are separable, so the mistakes come to an end: raise --max-epochs"
        return told if cut_off else ""
    if s.same_rows:
        pair = f"{these_rows(s.same_rows)} are the same but for their classes"
        return f"{pair}: no kernel separates them"
    if s.kernel is not None:
        return f"another kernel may separate the classes: try {bends(s.kernel)[0]}"
    if s.reports[0].bound.n_classes:
        return f"rosenblatt check {s.table.file} --multiclass joint looks for a proof"
    if not s.intercept:
        return "without --no-intercept a hyperplane may separate the classes"
    if s.table.standardized:
        return f"rosenblatt check {s.table.file} answers this for the numbers as they are"
    return f"rosenblatt check {s.table.file} proves that nothing separates the classes"
