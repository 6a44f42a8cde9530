"""The report of ``rosenblatt suspects``: rows to look at, and what speaks against their class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group
from rich.text import Text

from rosenblatt.report.rows_report import cell_text
from rosenblatt.report.sentences import (
    classes_line,
    listing,
    percent,
    shortened,
    these_rows,
)
from rosenblatt.report.suspicion import SuspectRow, SuspicionFacts
from rosenblatt.report.terminal import Line, last_lines, print_lines
from rosenblatt.visible import count, grouped

MOST_CELLS = 8  # of a row
ADVICE = "look at these rows, the first ones first: correct their class, or leave them out"


def print_suspects(
    facts: SuspicionFacts, notes: Sequence[str], top: int, output: str | None
) -> None:
    """Print it to standard output."""
    shown = facts.suspects[:top]
    rest = len(facts.suspects) - len(shown)
    lines = [*_first_lines(facts), *(_line(one, facts.epochs) for one in shown)]
    lines += [("", Text(f"and {count(rest, 'more row')} (--top)", "dim"))] * bool(rest)
    tail = last_lines(notes, ADVICE if shown else "", saved=output)
    print_lines(f"{shortened(facts.file, 80)}: whose class is suspicious", [*lines, *tail])


def _first_lines(facts: SuspicionFacts) -> Iterator[Line]:
    yield "classes", classes_line(facts.counts, facts.target)
    n = len(facts.suspects)
    share = f", {percent(n / facts.rows)}" if n else ""
    yield "suspects", f"{grouped(n)} of {count(facts.rows, 'row')}{share}"
    if unfinished := _unfinished(facts):
        yield "not done", Text(unfinished, "yellow")


def _unfinished(facts: SuspicionFacts) -> str:
    """What there was no time for."""
    why = "Ctrl-C came first" if facts.stopped else "time was up"
    told = []
    if facts.judged is not None:
        rows = f"{grouped(facts.judged)} of {count(facts.rows, 'row')}"
        told.append(f"both models judged {rows}, those that hyperplanes have wrong first")
    what = {
        "training": "models were trained only as long as their share of the time",
        "slack": "slack is not measured",
        "mistakes": "mistakes are not counted",
    }
    told += [what[part] for part in facts.left_out]
    return f"{why}: {'; '.join(told)}" if told else ""


def _line(one: SuspectRow, epochs: int) -> Line:
    head = Text.assemble(
        (shortened(one.given), "bold yellow"), ", rather ", (shortened(one.rather), "bold")
    )
    cells = [f"{name} {cell_text(value)}" for name, value in one.cells.items()]
    return f"row {one.row}", Group(
        head, Text(listing(cells, MOST_CELLS), "dim"), Text("; ".join(why(one, epochs)))
    )


def why(one: SuspectRow, epochs: int) -> Iterator[str]:
    """What speaks against the class of a row, one reason after the other."""
    if one.identical:
        yield f"identical with {these_rows(one.identical)} of another class"
    unseen = {"hyperplane": one.hyperplane, "kernel": one.kernel}
    wrong = [f"{name} {value:.2f}" for name, value in unseen.items() if value is not None]
    if wrong:
        yield f"wrong when left out ({', '.join(wrong)})"
    if one.slack is not None:
        yield f"slack {one.slack:.2f}"
    if one.mistakes is not None:
        yield f"{count(one.mistakes, 'mistake')} in {epochs} epochs"
