"""The report of a fit: what was learned from what, and what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import TypeVar

from rich.console import Group, RenderableType
from rich.text import Text

from rosenblatt.report.choice import choice_sentence
from rosenblatt.report.evaluation_report import accuracy_line, calibration_line, test_line
from rosenblatt.report.facts import (
    BendFacts,
    Document,
    ExpansionFacts,
    FitFacts,
    Ground,
    KernelFacts,
    MistakenRow,
    SupportFacts,
    VerdictFacts,
)
from rosenblatt.report.margin_report import errors_left, margin_advice, margin_lines, missed_advice
from rosenblatt.report.rows import RowsFacts
from rosenblatt.report.rows_report import rows_lines
from rosenblatt.report.sentences import (
    MEANINGS,
    MOST_NAMED,
    SHORT,
    classes_line,
    data_line,
    four_digits,
    listing,
    map_sentence,
    percent,
    shortened,
    told_apart,
    unit_of,
    verdict_sentence,
)
from rosenblatt.report.terminal import (
    Line,
    NamedWeights,
    last_lines,
    new_console,
    print_lines,
    rendered,
    titled,
    verdict_text,
    weights_table,
)
from rosenblatt.results import StopReason, Verdict
from rosenblatt.results.words import coming_back
from rosenblatt.visible import count, grouped, print_json

T = TypeVar("T")

FEW = 10  # rows that are named
MOST_CASES = 4  # verdicts that are told each by itself
MANY = 0.15  # so large a share of dropped rows is more than outliers
WORSE = 0.02  # a gap between folds and training rows that asks for a word
HIGH = 5  # a degree whose values differ so much that another mistake hardly counts
RADIAL = ("rbf", "gaussian")  # they separate all rows that differ
ENDED = {StopReason.SEPARATED, StopReason.NO_MISTAKES, StopReason.SMALL_CHANGE}
LIMITS = {  # the option that goes on, where a run was cut off
    StopReason.EPOCH_LIMIT: "--max-epochs",
    StopReason.NO_PROGRESS: "--max-epochs",
    StopReason.WORK_LIMIT: "--max-epochs",
    StopReason.TIME_LIMIT: "--max-time",
}
# A kernel perceptron has no hyperplane among the features to speak of.
IN_FEATURES = {
    StopReason.SEPARATED: "an epoch without mistakes: every row is on its side",
    StopReason.NO_MISTAKES: "an epoch without mistakes: every row that was not dropped is on its "
    "side",
    StopReason.SMALL_CHANGE: "the vector moved by less than tol over an epoch",
    StopReason.CYCLE: "the scores repeat exactly: this run can never end",
}
BENDS = {
    "poly": ("a larger --degree", "a smaller --degree"),
    "gaussian": ("a smaller --sigma", "a larger --sigma"),
    "sigmoid": ("--kernel rbf", "--kernel rbf"),
    "linear": ("--kernel poly", ""),
}


def print_document(document: Document, weights: NamedWeights | None) -> None:
    """Print it all for a script, with every weight."""
    print_json(document | ({} if weights is None else {"hyperplanes": weights.as_list()}))


def print_report(
    title: str,
    s: FitFacts,
    weights: NamedWeights | None,
    top: int,
    *,
    rows: RowsFacts | None = None,
    card: Sequence[Line] = (),
    saved: str = "",
    file: str = "",
    story: str = "",
    explanations: Mapping[str, str] | None = None,
) -> None:
    """Print it all to standard output.

    With `rows` that are worth a look, the lines of a `card`, and `explanations` of its lines by
    name, if given.
    """
    lines, width = list[Line](), new_console().width
    for name, what in fit_lines(s, weights, top, width):
        lines.append((name, what))
        if explanations:
            lines.append(("", Text(explanations[name] + "\n", "italic cyan")))
    if rows is not None:
        told = replace(rows, proofs=()) if s.without_maximum else rows  # it is told already
        lines += rows_lines(told, top, width - 12)
    lines += card
    lines += last_lines(s.notes, advice(s), saved=saved, file=file)
    print_lines(title, lines, story=story)


def report_text(title: str, s: FitFacts, weights: NamedWeights | None, top: int) -> str:
    """The same as plain text, as wide as the terminal."""
    console = new_console(plain=True)
    lines = [*fit_lines(s, weights, top, console.width), *last_lines(s.notes, advice(s))]
    return rendered(console, *titled(title, lines)).rstrip("\n")


def fit_lines(s: FitFacts, weights: NamedWeights | None, top: int, width: int) -> Iterator[Line]:
    """Named lines about a fit, from the data to the weights."""
    table = s.table
    columns = s.features if table is None else table.columns
    yield "data", data_line(s.rows, s.features, columns, len(s.classes))
    yield "classes", classes_line(s.counts, (table and table.target) or None)
    if s.expansion:
        yield "kernel", _kernel_line(s, s.expansion.kernel)
    if s.feature_map:
        yield "map", map_sentence(s.feature_map)
    if s.choice:
        yield "chosen", choice_sentence(s.choice)
    if s.joint:
        yield "rule", "all classes as one problem: the highest value wins"
    yield "stopped", _stopped(s)
    if s.verdicts:
        yield "verdict", _verdict(s)
    if s.optima:
        yield from margin_lines(s, top)
    if s.run:
        mistakes, epochs = count(sum(s.run.mistakes), "mistake"), count(s.run.epochs, "epoch")
        if s.parameters.get("keep") == "auto" and s.run.kept:
            yield "kept", _kept(s, s.run.kept)
        yield "training", f"{mistakes} in {epochs}; {errors_left(s, ' left')}"
        if s.margins:
            yield "margin", _margin(s, s.margins)
    if s.expansion:
        yield from _kernel_lines(s, s.expansion, top)
    if table and table.scores:
        yield "accuracy", accuracy_line(table, s.counts, s.validation)
    if s.calibration is not None:
        yield "proba", calibration_line(s.calibration)
    if s.test is not None:
        yield "test", test_line(s.test, s.tested_on)
    if weights is not None and s.feature_map and s.feature_map.random:
        yield "weights", "of random features, none of which means anything by itself (--json)"
    elif weights is not None:
        units = None if table is None else table.units
        yield "weights", weights_table(weights, top, width - 12, units)


def _by_case(s: FitFacts, cases: Sequence[T], told: Callable[[T, int], Text], of: str) -> Group:
    """A text on each case, and which classes it is of where there are several."""
    texts = []
    for case in dict.fromkeys(cases):
        problems = [k for k, other in enumerate(cases) if other == case]
        text = told(case, problems[0])
        if len(problems) < len(cases):
            text.append(f", for {_these(s, problems)}{of}", "dim")
        elif of and len(cases) > 1:
            text.append(f", for every class{of}", "dim")
        texts.append(text)
    return Group(*texts)


def _these(s: FitFacts, problems: Sequence[int]) -> str:
    """The classes of some problems; of very many how many they are, and the first."""
    names = [s.classes[k] for k in problems]
    if len(s.classes) <= MOST_NAMED:
        return listing(names)
    short = told_apart(s.classes, SHORT)
    some = listing((short[name] for name in names), 3)
    return some if len(names) <= 3 else f"{count(len(names), 'class', 'classes')} ({some})"


def _stopped(s: FitFacts) -> RenderableType:
    """Why training ended."""

    def told(reason: StopReason, k: int) -> Text:
        style = "green" if reason in (StopReason.SEPARATED, StopReason.GAP_CLOSED) else "yellow"
        sentence = IN_FEATURES.get(reason, reason.value) if s.expansion else reason.value
        if reason is StopReason.SEPARATED and s.joint:
            sentence = "an epoch without mistakes: every row is highest in its own class"
        if reason is StopReason.CYCLE and s.run and (cycle := s.run.cycles[k]):
            sentence += f" ({coming_back(*cycle, 'scores' if s.expansion else 'weights')})"
        return Text.assemble((reason.name, f"bold {style}"), "  ", sentence)

    return _by_case(s, s.stop_reasons, told, "")


def _kept(s: FitFacts, kept: Sequence[str]) -> RenderableType:
    """Which vector of the run was kept, where that was left to what came of it, and why."""
    vector = "vector" if s.expansion or s.joint else "hyperplane"
    why = {
        "last": f"the last {vector}, for it makes no mistakes",
        "average": f"the average {vector} of the run, for the last ones still made mistakes",
    }
    return _by_case(s, kept, lambda which, k: Text(why.get(which, which)), "")


def _verdict(s: FitFacts) -> RenderableType:
    """Whether any hyperplane separates the classes."""
    after = " in feature space" if s.expansion else ""
    if s.feature_map:
        after += " among the features of the map"
    elif s.steps:
        after += f" after {listing(s.steps)}"
    elif s.standardized:
        after += " after standardising"

    def told(case: tuple[Verdict, str], k: int) -> Text:
        return verdict_text(*case, after)

    cases = [(one.verdict, verdict_sentence(one)) for one in s.verdicts]
    if len(set(cases)) > MOST_CASES and not s.expansion:
        cases = [(one.verdict, MEANINGS[one.verdict]) for one in s.verdicts]
    return _by_case(s, cases, told, " against the rest")


def _margin(s: FitFacts, margins: Sequence[float | None]) -> str:
    told = ["none" if margin is None else four_digits(margin) for margin in margins]
    unit = unit_of(s)
    if set(told) == {"none"}:
        none = "no class is separated from the rest"
        if s.joint:
            return "none: some rows are no higher in their own class than in another"
        return f"none: {none if len(told) > 1 else 'this hyperplane does not separate the classes'}"
    if s.joint:
        return f"{told[0]} ({unit}): no row is closer to where another class is as high"
    if len(told) == 1:
        return f"{told[0]} ({unit}): no row is closer to the hyperplane, all on its side"
    if len(told) > MOST_NAMED:
        known = [margin for margin in margins if margin is not None]
        span = " to ".join(four_digits(x) for x in sorted({min(known), max(known)}))
        return f"{len(known)} of {len(told)} classes are separated from the rest: {span} ({unit})"
    both = zip(s.classes, told, strict=True)
    each = listing((f"{shortened(name)} {margin}" for name, margin in both), 8)
    return f"{each} (each against the rest, {unit})"


def advice(s: FitFacts) -> str:
    """What to try next, if there are errors left."""
    if StopReason.INTERRUPTED in s.reasons:
        return "this is the model so far; run it again to train to the end"
    if s.bend:
        return _bend_advice(s.bend)
    if s.optima:
        return margin_advice(s)
    if s.expansion:
        return _kernel_advice(s, s.expansion)
    if not s.training_errors or s.reasons <= ENDED:
        return ""
    if s.missed_small:
        return missed_advice(s)
    if s.model != "Perceptron":
        return "raise --max-epochs or --max-time to come nearer the least squared error"
    if s.separable and (limit := _limit(s)):
        return f"the classes are separable, so the mistakes come to an end: raise {limit}"
    keep = s.parameters.get("keep", "last")
    if StopReason.ROUNDING in s.reasons and not s.standardized:
        return "leave out --raw: features of similar scales around 0 lose less to rounding"
    if StopReason.CYCLE in s.reasons:
        return _out_of_circles(s, keep)
    if keep == "pocket":
        return _beyond_the_pocket(s)
    better = "--keep pocket keeps the best hyperplane of the run"
    if keep not in ("average", "auto"):
        better += ", --keep average their mean"
    return better if s.hopeless else f"{better}; or raise --max-epochs"


def _bend_advice(bend: BendFacts) -> str:
    """What bent the boundary and helped."""
    better, worse = (percent(n / bend.rows) for n in (bend.right, bend.straight))
    of = f"of {count(bend.rows, 'row')} of a fold"
    return f"{bend.options}: a boundary that bends had {better} {of} right, this one {worse}"


def _out_of_circles(s: FitFacts, keep: str) -> str:
    """What to try where a run comes back to where it was: not more of it."""
    if s.parameters.get("update", "online") == "online":
        change = "--order shuffled"
    else:
        change = "--update online --order shuffled"
    pocket = "" if keep == "pocket" else " --keep pocket"
    return f"{change}{pocket}: this run passes through the same hyperplanes again and again"


def _beyond_the_pocket(s: FitFacts) -> str:
    """What to try where the best hyperplane of a run is kept."""
    best = "this is the best hyperplane the run passed through"
    if not s.hopeless:
        return f"{best}; a larger --max-epochs may find a better"
    if any(one.ground is Ground.SAME_ROWS for one in s.verdicts):
        return ""
    return f"{best}, and none is without errors: --kernel rbf bends the boundary"


def _limit(s: FitFacts) -> str:
    """The option that cut a run off, if any did."""
    return next((option for reason, option in LIMITS.items() if reason in s.reasons), "")


# Kernel perceptrons -----------------------------------------------------------------------------


def _kernel_line(s: FitFacts, kernel: KernelFacts) -> str:
    """The formula, and where its number came from."""
    gamma = s.parameters.get("gamma", "scale")
    if not isinstance(gamma, str) or kernel.name == "linear" or "sigma" in s.parameters:
        return kernel.formula
    meant = "1/features" if gamma == "auto" else "1/(features·variance)"
    meant += ", which is 1/(2·sigma²)" * ("sigma" in kernel.numbers)
    return f"{kernel.formula}, with gamma {gamma}: {meant}"


def _kernel_lines(s: FitFacts, sum_: ExpansionFacts, top: int) -> Iterator[Line]:
    """Named lines about support vectors and dropped rows."""
    yield "support", _support(sum_.support, s.rows)
    if sum_.support.hardest and "budget" not in s.parameters:  # its counters are forgotten, too
        yield "hardest", _hardest(sum_.support.hardest[:top])
    if sum_.dropped:
        yield "dropped", _dropped(sum_.dropped, len(s.stop_reasons))


def _kernel_advice(s: FitFacts, sum_: ExpansionFacts) -> str:
    """What to try next."""
    if sum_.kernel.name == "linear":
        return "the linear kernel is the perceptron: --model perceptron has its weights by name"
    if not s.parameters.get("fit_intercept") and any(map(_at_origin, s.verdicts)):
        return "try --intercept: without a bias the row at the origin is always a mistake"
    dropped = len({one.row for one in sum_.dropped})
    if s.rows is not None and dropped > MANY * s.rows:
        return (
            f"{percent(dropped / s.rows)} of the rows are too many for outliers: raise "
            "--drop-after, or leave it out and take --keep average"
        )
    if s.training_errors and not s.reasons <= ENDED:
        return _of_errors(s, sum_.kernel)
    if s.table is not None and len(s.table.scores) > 1:
        scores, right = s.table.scores, 1 - s.training_errors / s.table.rows
        if fmean(scores) + max(WORSE, 2 * stdev(scores)) < right:
            less = bends(sum_.kernel)[1]
            return f"rows it has not seen do worse: {less}, or --keep average, may carry further"
    return ""


def _at_origin(verdict: VerdictFacts) -> bool:
    """Whether a single row proves that nothing separates: it is its own opposite."""
    return verdict.in_features and verdict.ground is Ground.HULLS and len(verdict.rows) == 1


def size_of(n: int) -> str:
    """``812 bytes``, ``4.3 kB``, ``12 MB``."""
    value, units = float(n), ["bytes", "kB", "MB", "GB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1000, units[1:]
    digits = 0 if value >= 9.95 or units[0] == "bytes" else 1
    return f"{value:.{digits}f} {units[0]}"


def _of_errors(s: FitFacts, kernel: KernelFacts) -> str:
    given, high = s.parameters, kernel.numbers.get("degree", 0) > HIGH
    ideas = [bends(kernel)[high]]
    if kernel.numbers.get("coef0", 0) < 0:
        ideas = ["--coef0 0 or more"]
    if kernel.name in RADIAL:
        no_curve = any(one.verdict is Verdict.INSEPARABLE for one in s.verdicts)
    else:
        no_curve = any(one.ground is Ground.SAME_ROWS for one in s.verdicts)
        no_curve |= s.separable and not high
    if no_curve:  # no other would do, or none is needed
        ideas = []
    if given.get("keep", "last") == "last" and "budget" not in given:
        ideas.append("--keep average")
    if "drop_after" not in given:
        ideas.append("--drop-after 10 to leave outliers out")
    if "budget" in given:
        ideas.append("a larger --budget")
    limit = _limit(s)
    if limit and StopReason.CYCLE not in s.reasons and not s.hopeless:
        ideas.append(f"a larger {limit}")
    *front, last = ideas or [""]
    return f"try {', '.join(front)} or {last}" if front else f"try {last}" * bool(last)


def bends(kernel: KernelFacts) -> tuple[str, str]:
    """What bends the boundary more, and what less."""
    return BENDS.get(kernel.name, ("a larger --gamma", "a smaller --gamma"))


def _support(sum_: SupportFacts, rows: int | None) -> str:
    text = count(sum_.count, "support vector")
    if rows is not None:
        text += f", {percent(sum_.count / rows)} of the rows"
    if sum_.counts is not None:
        shares = [f"{shortened(name)} ({grouped(n)})" for name, n in sum_.counts.items()]
        text += f": {listing(shares, 8)}"
    return text


def _hardest(first: Sequence[MistakenRow]) -> str:
    """The rows with the most mistakes that are still in the sum."""
    named = [_named(one.row, one.label, str(one.mistakes)) for one in first]
    return f"most mistakes in training: row{'s' * (len(named) > 1)} {', '.join(named)}"


def _named(row: int, label: str | None, *more: str) -> str:
    about = [*more, *([] if label is None else [shortened(label, 20)])]
    return f"{row} ({', '.join(about)})" if about else str(row)


def _dropped(dropped: Sequence[MistakenRow], n_problems: int) -> str:
    rows = {one.row: _named(one.row, one.label) for one in dropped}
    several = ", each for one class or more" if n_problems > 1 else ""
    at = count(dropped[0].mistakes, "mistake")
    left = f"{count(len(rows), 'row')} at {at}{several}, as probable outliers: "
    return left + listing(rows.values(), FEW)
