"""The report of a fit: what was learned from what, and what it is worth."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from rosenblatt.report.kernel_report import (
    ENDED,
    kernel_advice,
    kernel_line,
    kernel_lines,
    stop_sentence,
)
from rosenblatt.report.kernel_report import EXPLANATIONS as ABOUT_KERNELS
from rosenblatt.report.margin_report import margin_advice, margin_lines
from rosenblatt.report.phrases import count, grouped, listing, number, percent, shortened
from rosenblatt.report.printing import print_json
from rosenblatt.report.terminal import (
    add_last_lines,
    new_console,
    new_grid,
    print_parts,
    verdict_text,
)
from rosenblatt.report.verdict_sentences import verdict_sentence
from rosenblatt.report.weights import weights_table
from rosenblatt.results import StopReason, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from rosenblatt.report.facts import Document, FitFacts, RunFacts, TableFacts
    from rosenblatt.report.weights import NamedWeights

NEVER = "A fit never just stops: here"
ANY = "Whether any hyperplane at all can separate the classes."
EXPLANATIONS = {
    "data": "Numbers are standardised, to mean 0 and deviation 1; a column of text becomes one "
    "feature for each of its values.",
    "classes": "What is to be told apart, and how many rows there are of each.",
    "stopped": {
        StopReason.SEPARATED: f"{NEVER} a whole pass over the data made no mistake, so every row "
        "is on its side.",
        StopReason.EPOCH_LIMIT: f"{NEVER} it was cut off, so the hyperplane is one on the way. If "
        "no hyperplane can separate the classes, more epochs will not either.",
        StopReason.CYCLE: f"{NEVER} an epoch ended with weights that had been there before. From "
        "the same weights it goes the same way, round and round, for ever.",
    },
    "verdict": {
        Verdict.SEPARABLE: f"{ANY} One can, and there it is: whoever has the data can check it "
        "again.",
        Verdict.QUASI_SEPARABLE: f"{ANY} Almost: they touch, but do not cross.",
        Verdict.INSEPARABLE: f"{ANY} None can: a point that is a weighted mean of rows of both "
        "classes would have to be on both sides.",
    },
    "training": "A mistake is a row on the wrong side, or on the hyperplane, when it is looked at. "
    "Each one turns the hyperplane: w += y*x. An error is a row that the final model gets wrong.",
    "margin": "How far the closest row is from the hyperplane; there is one exactly when the "
    "hyperplane separates the classes.",
    "accuracy": "How often it is right on rows it was not trained on. Only what goes beyond the "
    "share of the largest class is an achievement.",
    "weights": "How much each feature counts, and for which side. A row's decision value is the "
    "sum of its features times these, plus the bias.",
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
    explained: bool = False,
) -> None:
    """Print it all to standard output; `explained`: with a sentence about every line."""
    console, lines = new_console(), new_grid()
    for name, what in _lines(s, weights, top, console.width):
        lines.add_row(name, what)
        if explained:
            lines.add_row("", Text(_explanation(name, s) + "\n", "italic cyan"))
    for name, what in (("saved", saved), ("file", file)):
        if what:
            lines.add_row(name, what)
    add_last_lines(lines, s.notes, _advice(s))
    print_parts(console, Text(title, style="bold"), *([f"\n{story}\n"] if story else []), lines)


def _explanation(name: str, s: FitFacts) -> str:
    text: Any = (EXPLANATIONS | (ABOUT_KERNELS if s.expansion else {}))[name]
    if isinstance(text, str):
        return text
    verdicts = [one.verdict for one in s.verdicts]
    cases: Sequence[Any] = verdicts if name == "verdict" else s.stop_reasons
    return " ".join(text[case] for case in dict.fromkeys(cases) if case in text)


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
        yield "kernel", kernel_line(s, s.expansion.kernel)
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
        yield from kernel_lines(s, s.expansion, top)
    if table and table.scores:
        yield "accuracy", _accuracy(table, s.counts)
    if weights is not None:
        yield "weights", weights_table(weights, top, width - 12)


def data_line(rows: int | None, features: int, columns: int, classes: int) -> str:
    """How many rows, features and classes."""
    told = count(features, "feature")
    if features != columns:
        told += f" from {count(columns, 'column')}"
    known = [] if rows is None else [count(rows, "row")]
    return ", ".join([*known, told, count(classes, "class", "classes")])


def classes_line(counts: Mapping[str, int | None], target: str | None) -> str:
    """The classes and how many rows there are of each."""
    named = [(shortened(name), n) for name, n in counts.items()]
    names = [f"{name} ({grouped(n)})" if n else name for name, n in named]
    return listing(names, 8) if target is None else f"{shortened(target)}: {listing(names, 8)}"


def _stopped(s: FitFacts) -> RenderableType:
    """Why training ended; where there are several classes, for which of them."""
    by_reason: dict[StopReason, list[int]] = {}
    for k, reason in enumerate(s.stop_reasons):
        by_reason.setdefault(reason, []).append(k)
    texts = []
    for reason, problems in by_reason.items():
        fine = reason in (StopReason.SEPARATED, StopReason.GAP_CLOSED)
        sentence = stop_sentence(reason) if s.expansion else reason.value
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
        return f"{number(found[0])} ({unit}): no row is closer to the hyperplane, all on its side"
    each = [
        f"{shortened(name)} {number(margin) if margin is not None else 'none'}"
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
        return kernel_advice(s, s.expansion)
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
