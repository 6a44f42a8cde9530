"""The report of a fit: what was learned from what, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev

from rich.console import Group, RenderableType
from rich.text import Text

from rosenblatt.report.facts import (
    Document,
    ExpansionFacts,
    FitFacts,
    Ground,
    KernelFacts,
    MistakenRow,
    RunFacts,
    SupportFacts,
    TableFacts,
    VerdictFacts,
)
from rosenblatt.report.margin_report import margin_advice, margin_lines
from rosenblatt.report.sentences import (
    classes_line,
    data_line,
    four_digits,
    listing,
    percent,
    shortened,
    verdict_sentence,
)
from rosenblatt.report.terminal import (
    NamedWeights,
    add_last_lines,
    new_console,
    new_grid,
    print_parts,
    verdict_text,
    weights_table,
)
from rosenblatt.results import StopReason, Verdict
from rosenblatt.visible import count, grouped, print_json

FEW = 10  # rows that are named
MANY = 0.15  # so large a share of dropped rows is more than outliers
WORSE = 0.02  # a gap between folds and training rows that asks for a word
HIGH = 5  # a degree whose values differ so much that another mistake hardly counts
RADIAL = ("rbf", "gaussian")  # they separate all rows that differ
ENDED = {StopReason.SEPARATED, StopReason.NO_MISTAKES, StopReason.SMALL_CHANGE}
# A kernel perceptron has no hyperplane among the features to speak of.
IN_FEATURES = {
    StopReason.SEPARATED: "an epoch without mistakes: every row is on its side",
    StopReason.NO_MISTAKES: "an epoch without mistakes: every row that was not dropped is on its "
    "side",
    StopReason.SMALL_CHANGE: "the vector moved by less than tol over an epoch",
    StopReason.CYCLE: "the scores repeat exactly: this run can never end",
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
    saved: str = "",
    file: str = "",
    story: str = "",
    explanations: Mapping[str, str] | None = None,
) -> None:
    """Print it all to standard output; with `explanations` of its lines by name, if given."""
    console, lines = new_console(), new_grid()
    for name, what in _lines(s, weights, top, console.width):
        lines.add_row(name, what)
        if explanations:
            lines.add_row("", Text(explanations[name] + "\n", "italic cyan"))
    for name, what in (("saved", saved), ("file", file)):
        if what:
            lines.add_row(name, what)
    add_last_lines(lines, s.notes, _advice(s))
    print_parts(console, Text(title, style="bold"), *([f"\n{story}\n"] if story else []), lines)


def _lines(
    s: FitFacts, weights: NamedWeights | None, top: int, width: int
) -> Iterator[tuple[str, RenderableType]]:
    table = s.table
    if table is None:
        yield "data", data_line(None, s.features, s.features, len(s.classes))
    else:
        yield "data", data_line(table.rows, s.features, table.columns, len(s.classes))
    yield "classes", classes_line(s.counts, None if table is None else table.target)
    if s.expansion:
        yield "kernel", _kernel_line(s, s.expansion.kernel)
    yield "stopped", _stopped(s)
    if s.verdicts:
        yield "verdict", _verdict(s)
    if s.optima:
        yield from margin_lines(s, top)
    if s.run:
        yield "training", _training(s, s.run)
        if s.margins:
            yield "margin", _margin(s, s.margins)
    if s.expansion:
        yield from _kernel_lines(s, s.expansion, top)
    if table and table.scores:
        yield "accuracy", _accuracy(table, s.counts)
    if weights is not None:
        yield "weights", weights_table(weights, top, width - 12)


def _stopped(s: FitFacts) -> RenderableType:
    """Why training ended; where there are several classes, for which of them."""
    by_reason: dict[StopReason, list[int]] = {}
    for k, reason in enumerate(s.stop_reasons):
        by_reason.setdefault(reason, []).append(k)
    texts = []
    for reason, problems in by_reason.items():
        fine = reason in (StopReason.SEPARATED, StopReason.GAP_CLOSED)
        sentence = IN_FEATURES.get(reason, reason.value) if s.expansion else reason.value
        cycle = s.run.cycles[problems[0]] if s.run else None
        if reason is StopReason.CYCLE and cycle is not None:
            sentence += f" ({_cycle('scores' if s.expansion else 'weights', *cycle)})"
        style = f"bold {'green' if fine else 'yellow'}"
        text = Text.assemble((reason.name, style), "  ", sentence)
        if len(by_reason) > 1:
            text.append(f", for {listing([s.classes[k] for k in problems])}", "dim")
        texts.append(text)
    return Group(*texts)


def _verdict(s: FitFacts) -> RenderableType:
    """Whether any hyperplane separates the classes; where there are several, which of them."""
    cases: dict[tuple[Verdict, str], list[int]] = {}
    for k, one in enumerate(s.verdicts):
        cases.setdefault((one.verdict, verdict_sentence(one)), []).append(k)
    after = " in feature space" if s.expansion else ""
    after += " after standardising" if s.standardized else ""
    texts = []
    for (verdict, why), problems in cases.items():
        text = verdict_text(verdict, why, after)
        if len(s.verdicts) > 1:
            which = listing([s.classes[k] for k in problems]) if len(cases) > 1 else "every class"
            text.append(f", for {which} against the rest", "dim")
        texts.append(text)
    return Group(*texts)


def _cycle(what: str, entry: int, period: int) -> str:
    where = f"the {what} after epoch {entry}" if entry else f"the {what} of the start"
    return f"{where} come back after {count(period, 'epoch')}"


def _training(s: FitFacts, run: RunFacts) -> str:
    """Mistakes, epochs and errors, in one sentence."""
    mistakes = f"{count(sum(run.mistakes), 'mistake')} in {count(run.epochs, 'epoch')}"
    errors = s.training_errors
    if not errors:
        return f"{mistakes}; no training errors left"
    share = f" ({percent(1 - errors / s.table.rows)} right)" if s.table else ""
    return f"{mistakes}; {count(errors, 'training error')} left{share}"


def _margin(s: FitFacts, margins: Sequence[float | None]) -> str:
    found = [margin for margin in margins if margin is not None]
    unit = "standardised features" if s.standardized else "the columns' own units"
    if not found and len(margins) > 1:
        return "none: no class is separated from the rest"
    if not found:
        return "none: this hyperplane does not separate the classes"
    if len(margins) == 1:
        return (
            f"{four_digits(found[0])} ({unit}): no row is closer to the hyperplane, all on its side"
        )
    each = [
        f"{shortened(name)} {four_digits(margin) if margin is not None else 'none'}"
        for name, margin in zip(s.classes, margins, strict=True)
    ]
    return f"{listing(each, 8)} (each against the rest, {unit})"


def _accuracy(table: TableFacts, counts: Mapping[str, int | None]) -> Text:
    scores = table.scores
    spread = f" ± {100 * stdev(scores):.1f}" if len(scores) > 1 else ""
    common = shortened(max(counts, key=lambda name: counts[name] or 0))
    mean, useful = fmean(scores), fmean(scores) > table.majority
    return Text.assemble(
        (percent(mean), "bold green" if useful else "bold red"),
        f"{spread} by {len(scores)}-fold cross-validation; ",
        f"always saying {common} gives {'' if useful else 'no less, '}{percent(table.majority)}",
    )


def _advice(s: FitFacts) -> str:
    """What to try next, if there are errors left."""
    if StopReason.INTERRUPTED in s.reasons:
        return "this is the model so far; run it again to train to the end"
    if s.optima:
        return margin_advice(s)
    if s.expansion:
        return _kernel_advice(s, s.expansion)
    if not s.training_errors or s.reasons <= ENDED:
        return ""
    if s.model != "Perceptron":
        return "raise --max-epochs or --max-time to come nearer the least squared error"
    cut_off = s.reasons & {StopReason.EPOCH_LIMIT, StopReason.TIME_LIMIT}
    if cut_off and s.separable:
        limit = "--max-epochs" if StopReason.EPOCH_LIMIT in s.reasons else "--max-time"
        return f"the classes are separable, so the mistakes come to an end: raise {limit}"
    keep = s.parameters.get("keep", "last")
    if StopReason.ROUNDING in s.reasons and not s.standardized:
        return "leave out --raw: features of similar scales around 0 lose less to rounding"
    if keep == "pocket":
        return "this is the best hyperplane the run passed through; more epochs may find a better"
    better = "--keep pocket keeps the best hyperplane of the run"
    if keep != "average":
        better += ", --keep average their mean"
    rest = s.hopeless or StopReason.CYCLE in s.reasons
    return better if rest else f"{better}; or raise --max-epochs"


# Kernel perceptrons -----------------------------------------------------------------------------


def _kernel_line(s: FitFacts, kernel: KernelFacts) -> str:
    """The formula, and where its number came from."""
    gamma = s.parameters.get("gamma", "scale")
    if not isinstance(gamma, str) or kernel.name == "linear" or "sigma" in s.parameters:
        return kernel.formula
    meant = "1/features" if gamma == "auto" else "1/(features·variance)"
    meant += ", which is 1/(2·sigma²)" * ("sigma" in kernel.numbers)
    return f"{kernel.formula}, with gamma {gamma}: {meant}"


def _kernel_lines(s: FitFacts, sum_: ExpansionFacts, top: int) -> Iterator[tuple[str, str]]:
    """Named lines about support vectors and dropped rows."""
    yield "support", _support(sum_.support, None if s.table is None else s.table.rows)
    if sum_.support.hardest and "budget" not in s.parameters:  # its counters are forgotten, too
        yield "hardest", _hardest(sum_.support.hardest[:top])
    if sum_.dropped:
        yield "dropped", _dropped(sum_.dropped, len(s.stop_reasons))


def _kernel_advice(s: FitFacts, sum_: ExpansionFacts) -> str:
    """What to try next."""
    name = sum_.kernel.name
    if name == "linear":
        return "the linear kernel is the perceptron: --model perceptron has its weights by name"
    if not s.parameters.get("fit_intercept") and any(map(_at_origin, s.verdicts)):
        return "try --intercept: without a bias the row at the origin is always a mistake"
    dropped = len({one.row for one in sum_.dropped})
    if s.table is not None and dropped > MANY * s.table.rows:
        return (
            f"{percent(dropped / s.table.rows)} of the rows are too many for outliers: raise "
            "--drop-after, or leave it out and take --keep average"
        )
    if s.training_errors and not s.reasons <= ENDED:
        return _of_errors(s, sum_.kernel)
    if s.table is not None and len(s.table.scores) > 1:
        scores, right = s.table.scores, 1 - s.training_errors / s.table.rows
        if fmean(scores) + max(WORSE, 2 * stdev(scores)) < right:
            bends = _less(name)
            return f"rows it has not seen do worse: {bends}, or --keep average, may carry further"
    return ""


def _at_origin(verdict: VerdictFacts) -> bool:
    """Whether a single row proves that nothing separates: it is its own opposite."""
    return verdict.in_features and verdict.ground is Ground.HULLS and len(verdict.rows) == 1


def _no_curve_helps(verdict: VerdictFacts, kernel: KernelFacts) -> bool:
    """Whether rows of different classes are the same, so that no kernel tells them apart."""
    if kernel.name in RADIAL:
        return verdict.verdict is Verdict.INSEPARABLE
    return verdict.ground is Ground.SAME_ROWS


def file_line(size: int, s: FitFacts, sum_: ExpansionFacts) -> str:
    """How large a model file is, and what is in it."""
    rows = count(sum_.support.count, "support vector")
    return f"{size_of(size)}; it holds {rows} of {count(s.features, 'feature')}"


def size_of(n: int) -> str:
    """``812 bytes``, ``4.3 kB``, ``12 MB``."""
    value, units = float(n), ["bytes", "kB", "MB", "GB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return (
        f"{value:.0f} {units[0]}"
        if value >= 9.95 or units[0] == "bytes"
        else (f"{value:.1f} {units[0]}")
    )


def _of_errors(s: FitFacts, kernel: KernelFacts) -> str:
    given, name = s.parameters, kernel.name
    high = kernel.numbers.get("degree", 0) > HIGH
    found = s.separable and name not in RADIAL
    ideas = [_less(name) if high else bends_more(kernel)]
    if kernel.numbers.get("coef0", 0) < 0:
        ideas = ["--coef0 0 or more"]
    if any(_no_curve_helps(one, kernel) for one in s.verdicts) or (found and not high):
        ideas = []  # no other curve would do, or none is needed
    if given.get("keep", "last") == "last" and "budget" not in given:
        ideas.append("--keep average")
    if "drop_after" not in given:
        ideas.append("--drop-after 10 to leave outliers out")
    if "budget" in given:
        ideas.append("a larger --budget")
    cut_off = s.reasons & {StopReason.EPOCH_LIMIT, StopReason.TIME_LIMIT}
    if cut_off and StopReason.CYCLE not in s.reasons and not s.hopeless:
        limit = "--max-epochs" if StopReason.EPOCH_LIMIT in s.reasons else "--max-time"
        ideas.append(f"a larger {limit}")
    if len(ideas) > 1:
        return f"try {', '.join(ideas[:-1])} or {ideas[-1]}"
    return f"try {ideas[0]}" if ideas else ""


def bends_more(kernel: KernelFacts) -> str:
    """What bends the boundary more."""
    return {
        "poly": "a larger --degree",
        "gaussian": "a smaller --sigma",
        "sigmoid": "--kernel rbf",
        "linear": "--kernel poly",
    }.get(kernel.name, "a larger --gamma")


def _less(kernel: str) -> str:
    """What bends the boundary less."""
    return {
        "poly": "a smaller --degree",
        "gaussian": "a larger --sigma",
        "sigmoid": "--kernel rbf",
    }.get(kernel, "a smaller --gamma")


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
    rows = {one.row: one.label for one in dropped}
    named = [_named(row, label) for row, label in rows.items()]
    several = ", each for one class or more" if n_problems > 1 else ""
    at = count(dropped[0].mistakes, "mistake")
    left = f"{count(len(rows), 'row')} at {at}{several}, as probable outliers: "
    return left + listing(named, FEW)
