"""The report of ``rosenblatt compare``: kinds of models side by side, and which one to take."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from rosenblatt.report.choice import in_folds, tried_values
from rosenblatt.report.comparison import ComparisonFacts, KindFacts
from rosenblatt.report.sentences import classes_line, data_line, listing, percent, shortened
from rosenblatt.report.terminal import (
    Line,
    columns,
    last_lines,
    new_console,
    print_parts,
    rendered,
    titled,
)
from rosenblatt.validation.kinds import MAJORITY
from rosenblatt.validation.paired import LEVEL
from rosenblatt.visible import count

MORE = "{option} judges them by more folds, which tells more of them apart"
REPEATS = 10
TINY = 1e-3
GUTTER = 10  # the names of lines


def print_comparison(facts: ComparisonFacts, saved: str = "") -> None:
    """Print it to standard output."""
    console = new_console()
    print_parts(console, *_parts(facts, console.width, saved))


def comparison_text(facts: ComparisonFacts) -> str:
    """The same as plain text, as wide as the terminal."""
    console = new_console(plain=True)
    return rendered(console, *_parts(facts, console.width)).rstrip("\n")


def _parts(facts: ComparisonFacts, width: int, saved: str = "") -> list[RenderableType]:
    lines = [*comparison_lines(facts, width)]
    lines += last_lines(facts.notes, _advice(facts), saved=saved)
    of = f"{shortened(facts.file, 80)}: " if facts.file else ""
    return titled(f"{of}which kind of model?", lines)


def comparison_lines(facts: ComparisonFacts, width: int) -> Iterator[Line]:
    """Named lines about the kinds, the best first, and what follows from them."""
    yield "data", data_line(facts.rows, facts.features, facts.columns, len(facts.counts))
    yield "classes", classes_line(facts.counts, facts.target or None)
    yield "folds", _folds(facts)
    if facts.kinds:
        yield "kinds", _table(facts)
    if any(kind.choice for kind in facts.kinds):
        yield "chosen", Group(*(_chosen(kind) for kind in facts.kinds if kind.choice))
    if facts.unfinished:
        told = (f"{name}: {shortened(why, 200)}" for name, why in facts.unfinished.items())
        yield "not done", Group(*map(Text, told))
    if facts.best:
        yield from _conclusion(facts)
    if facts.command:
        yield "again", Text(command_lines(facts.command, width - GUTTER))


def command_lines(command: Sequence[str], width: int) -> str:
    """A command that a shell takes as it stands, broken where the terminal ends."""
    lines = [""]
    for word in map(shlex.quote, command):
        if lines[-1] and len(lines[-1]) + len(word) + 3 > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(lines)


def _folds(facts: ComparisonFacts) -> str:
    often = f", {facts.repeats} times" if facts.repeats > 1 else ""
    apart = f" that never part a group of {shortened(facts.groups)}" if facts.groups else ""
    told = f"{facts.folds}{often}{apart}, the same for every kind (--seed {facts.seed})"
    inner = max((kind.choice.folds for kind in facts.kinds if kind.choice), default=0)
    if inner:
        told += f"; what is chosen is chosen in each, by {inner} folds of its rows to learn from"
    return told


def _table(facts: ComparisonFacts) -> RenderableType:
    table = columns("left", *["right"] * 6)
    heads = ("accuracy", "interval", "balanced", "behind", "p", "time")
    table.add_row("", *(Text(head, "dim") for head in heads))
    for kind in facts.kinds:
        table.add_row(*_cells(kind, facts))
    return table


def _cells(kind: KindFacts, facts: ComparisonFacts) -> list[Text]:
    low, high = (f"{100 * bound:.1f}" for bound in kind.interval)
    best = kind.name == facts.best
    style = "bold green" if best else "green" if kind.name in facts.alike else ""
    return [
        Text(kind.name, "bold" if kind.name == facts.preferred else ""),
        Text(_share(kind.accuracy), style),
        Text(f"{low}–{high}"),
        Text(_share(kind.balanced_accuracy)),
        Text("best" if best else _points(kind.behind), style),
        Text("" if kind.p is None else _p(kind.p)),
        Text(f"{kind.seconds:.1f} s"),
    ]


def _share(share: float) -> str:
    """As a percentage, in few letters."""
    return percent(share).replace("over ", ">").replace("under ", "<")


def _points(share: float) -> str:
    """A difference of shares in hundredths."""
    return f"{100 * share:.1f}".replace("-", "−")


def _p(p: float) -> str:
    return f"<{TINY:g}" if p < TINY else f"{p:.3f}"


def _chosen(kind: KindFacts) -> Text:
    """What the folds of a kind chose, and among what."""
    choice = kind.choice
    assert choice is not None
    some = f", on {count(choice.rows, 'row')} drawn from them" if choice.rows else ""
    return Text.assemble(
        f"{kind.name}: {choice.parameter} {in_folds(choice.chosen)}",
        (f", of {tried_values(choice.tried)}{some}", "dim"),
    )


def _conclusion(facts: ComparisonFacts) -> Iterator[Line]:
    """Who is best, who may be as good, and which of these is the simplest."""
    best = facts.by_name[facts.best or ""]
    yield "best", Text.assemble((best.name, "bold green"), f", {percent(best.accuracy)} right")
    if facts.alike:
        unlike = f"by these folds not to be told from it (p above {LEVEL:g})"
        yield "alike", f"{listing(facts.alike, 8)}: {unlike}"
    if facts.preferred != facts.best:
        yield (
            "take",
            Text.assemble(
                (facts.preferred or "", "bold"), ", the simplest of those not to be told apart"
            ),
        )
    else:
        why = "it is also the simplest of these" if facts.alike else "nothing else is as good"
        yield "take", Text.assemble((facts.preferred or "", "bold"), f": {why}")
    if MAJORITY in facts.by_name and not facts.useful:
        same = shortened(facts.majority_class)
        warning = f"no kind can be told from always saying {same}: none has shown to be of use"
        yield "but", Text(warning, "yellow")


def _advice(facts: ComparisonFacts) -> str:
    if facts.interrupted:
        return "this is what was done so far; run it again for the rest"
    late = [name for name, why in facts.unfinished.items() if "time" in why]
    if late:
        more = "--max-time" if facts.file else "max_time"
        return f"a larger {more} does {listing(late, 8)}, too"
    if facts.alike and facts.repeats < REPEATS:
        more = f"--cv {facts.folds}x{REPEATS}" if facts.command else f"repeats={REPEATS}"
        return MORE.format(option=more)
    return ""
