"""The report of an evaluation: how many answers are right, and which are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from rich.console import Group, RenderableType
from rich.text import Text

from rosenblatt.report.cross_validation import ValidationFacts
from rosenblatt.report.evaluation import ClassScores, EvaluationFacts
from rosenblatt.report.facts import CalibrationFacts, TableFacts
from rosenblatt.report.probabilities import ProbabilityFacts
from rosenblatt.report.rows import RowsFacts
from rosenblatt.report.rows_report import rows_lines
from rosenblatt.report.sentences import percent, shortened, told_apart
from rosenblatt.report.terminal import Line, columns, last_lines, new_console, print_lines
from rosenblatt.visible import count, grouped

NOTHING = "–"
LEAST_CELL = 6


def print_evaluation(
    title: str, facts: EvaluationFacts, notes: Sequence[str], top: int, shown: RowsFacts
) -> None:
    """Print it to standard output, with rows that are worth a look."""
    width = new_console().width - 12
    lines = [*evaluation_lines(facts, top, width), *rows_lines(shown, top, width)]
    print_lines(title, [*lines, *last_lines(notes, "")])


def test_line(facts: EvaluationFacts, where: str) -> Text:
    """The test of a fit in a sentence: on which rows, and how many of them are right."""
    by_rank = "" if facts.roc_auc is None else f"; ROC AUC {facts.roc_auc:.4f}"
    balanced = f"; balanced {percent(facts.balanced_accuracy)}"
    of = (
        where if where.endswith("held out") else f"{count(facts.rows, 'row')} of {shortened(where)}"
    )
    return Text.assemble(_accuracy(facts), f" of {of}, {_interval(facts)}{balanced}{by_rank}")


def accuracy_line(
    table: TableFacts, counts: Mapping[str, int | None], found: ValidationFacts | None
) -> Text:
    """The cross-validation of a fit in a sentence; older files have no more than the shares."""
    share, within, low = fmean(table.scores), "", table.majority + 1
    if found is not None:
        share, low = found.result.accuracy, found.result.interval[0]
        within = f", {_interval(found.result)}"
    common = shortened(max(counts, key=lambda name: counts[name] or 0))
    useful = share > table.majority
    colour = ("green" if low > table.majority else "yellow") if useful else "red"
    return Text.assemble(
        (percent(share), f"bold {colour}"),
        f" by {_folds(table, found)}{within}; ",
        f"always saying {common} gives {'' if useful else 'no less, '}{percent(table.majority)}",
    )


def _folds(table: TableFacts, found: ValidationFacts | None) -> str:
    """How often, in how many folds, and what was kept together."""
    done = len(table.scores)
    times = f"{found.repeats} times " if found is not None and found.repeats > 1 else ""
    folds = found.folds if found is not None else done
    of = f"{done} of the {table.folds} folds of a" if table.folds else f"{times}{folds}-fold"
    if found is None or found.groups is None:
        return f"{of} cross-validation"
    column = f" by {shortened(found.grouped_by)}" * bool(found.grouped_by)
    return f"{of} cross-validation of {count(found.groups, 'group')}{column}"


def calibration_line(facts: CalibrationFacts) -> str:
    """Where the probabilities of a fit come from."""
    curve = {"sigmoid": "a sigmoid curve", "isotonic": "a curve that never falls"}
    how = curve.get(facts.method, shortened(facts.method))
    return f"{how} through the answers to {count(facts.rows, 'row')} left out (predict --proba)"


def evaluation_lines(facts: EvaluationFacts, top: int, width: int) -> Iterator[Line]:
    """Named lines about right and wrong answers."""
    other = f"always saying {shortened(facts.majority_class)} gives {percent(facts.majority)}"
    of = f" of {count(facts.rows, 'row')}, {_interval(facts)}; {other}"
    yield "accuracy", Text.assemble(_accuracy(facts), of)
    yield "balanced", f"{percent(facts.balanced_accuracy)}, the mean of what is found of each class"
    if facts.roc_auc is not None and facts.average_precision is not None:
        of = "mean over the classes" if len(facts.classes) > 2 else shortened(facts.classes[1].name)
        yield (
            "ranking",
            f"ROC AUC {facts.roc_auc:.4f}, average precision {facts.average_precision:.4f} ({of})",
        )
    if facts.probabilities is not None:
        yield "proba", _probabilities(facts.probabilities, [one.name for one in facts.classes])
    yield "classes", _classes(facts, top, width)
    if facts.right < facts.rows:
        yield "confused", _confusion(facts, top, width)


def _accuracy(facts: EvaluationFacts) -> tuple[str, str]:
    useful = facts.interval[0] > facts.majority
    return percent(facts.accuracy), "bold green" if useful else "bold yellow"


def _interval(facts: EvaluationFacts) -> str:
    low, high = (f"{100 * bound:.1f}" for bound in facts.interval)
    return f"95% interval {low} to {high}"


def _classes(facts: EvaluationFacts, top: int, width: int) -> RenderableType:
    """The classes one by one: those with most errors, where there are many."""
    shown = facts.classes
    if len(shown) > top:
        wrong = {one.name: one.rows + one.predicted - 2 * one.right for one in shown}
        shown = tuple(sorted(shown, key=lambda one: -wrong[one.name])[:top])
    table, named = columns("left", *["right"] * 5), _named(facts, width - 48)
    heads = ("rows", "predicted", "precision", "recall", "F1")
    table.add_row("", *(Text(head, "dim") for head in heads))
    for one in shown:
        table.add_row(Text(named[one.name]), *_cells(one))
    rest = len(facts.classes) - len(shown)
    more = f"{count(rest, 'class', 'classes')} with fewer errors not shown (--top)"
    return Group(table, Text(more, "dim")) if rest else table


def _named(facts: EvaluationFacts, width: int) -> dict[str, str]:
    return told_apart((one.name for one in facts.classes), width)


def _cells(one: ClassScores) -> list[str]:
    shares = (one.precision, one.recall, one.f1)
    return [grouped(one.rows), grouped(one.predicted)] + [
        NOTHING if share is None else f"{share:.3f}" for share in shares
    ]


def _probabilities(facts: ProbabilityFacts, names: Sequence[str]) -> RenderableType:
    """The scores of the probabilities, and how often what was said came true."""
    better = facts.brier < facts.majority_brier
    scores = Text.assemble(
        (f"Brier score {facts.brier:.4f}", "green" if better else "yellow"),
        f", log loss {facts.log_loss:.4f}; always saying the shares of the classes gives "
        f"{facts.majority_brier:.4f} and {facts.majority_log_loss:.4f}",
    )
    table = columns(*["right"] * 4)
    of = ("probability", "said") if len(names) > 2 else (f"of {shortened(names[1], 20)}", "rows")
    table.add_row(*(Text(head, "dim") for head in (*of, "mean", "came true")))
    for one in facts.reliability:
        span = f"{100 * one.low:.0f} to {100 * one.high:.0f}%"
        table.add_row(span, grouped(one.said), percent(one.mean), percent(one.true))
    return Group(scores, table)


def _confusion(facts: EvaluationFacts, top: int, width: int) -> RenderableType:
    """The matrix where it has room, otherwise what is most often taken for what."""
    names, k = [one.name for one in facts.classes], len(facts.classes)
    room = (width - 20) // k - 2
    if k <= top and room >= min(LEAST_CELL, max(map(len, names))):
        table = columns("left", *["right"] * k)
        heads = (Text(shortened(name, max(room, LEAST_CELL)), "dim") for name in names)
        table.add_row(Text("taken for:", "dim"), *heads)
        for name, row in zip(names, facts.confusion, strict=True):
            table.add_row(Text(shortened(name, 18)), *map(grouped, row))
        return table
    pairs = [
        (n, names[i], names[j])
        for i, row in enumerate(facts.confusion)
        for j, n in enumerate(row)
        if n and i != j
    ]
    pairs.sort(key=lambda pair: -pair[0])
    short = _named(facts, (width - 24) // 2)
    lines = [
        Text(f"{short[true]} taken for {short[taken]}: {count(n, 'row')}")
        for n, true, taken in pairs[:top]
    ]
    rest = len(pairs) - top
    more = [Text(f"{count(rest, 'rarer confusion')} not shown (--top)", "dim")] if rest > 0 else []
    return Group(*lines, *more)
