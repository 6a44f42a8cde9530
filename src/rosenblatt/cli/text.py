"""A summary as text: what was learned from what, and what it is worth."""

from __future__ import annotations

import sys
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from rosenblatt.cli.words import count, grouped, listing, number, percent
from rosenblatt.results import StopReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from rich.console import RenderableType

    Summary = dict[str, Any]

MOST_COLUMNS = 6
BAR = 16


class Weights(NamedTuple):
    """The hyperplanes of a model with names: one row of `coef` for two classes."""

    features: list[str]
    coef: NDArray[Any]
    intercept: NDArray[Any]
    classes: list[str]

    @classmethod
    def of(cls, model: Any) -> Weights:
        """From a pipeline that begins with a table encoder, or from a bare classifier."""
        classifier = model[-1] if hasattr(model, "steps") else model
        names = getattr(classifier, "feature_names_in_", None)
        if hasattr(model, "steps") and hasattr(model[:-1], "get_feature_names_out"):
            names = model[:-1].get_feature_names_out()
        if names is None:
            names = [f"x{j + 1}" for j in range(classifier.n_features_in_)]
        labels = [str(label) for label in classifier.classes_]
        return cls([str(n) for n in names], classifier.coef_, classifier.intercept_, labels)

    def as_list(self) -> list[dict[str, Any]]:
        """All of them, one entry per hyperplane, for JSON."""
        positives = self.classes[1:] if len(self.coef) == 1 else self.classes
        return [
            {
                "positive": name,
                "weights": dict(zip(self.features, map(float, w), strict=True)),
                "bias": float(b),
            }
            for name, w, b in zip(positives, self.coef, self.intercept, strict=True)
        ]


EXPLANATIONS = {
    "data": "Numbers are standardised, to mean 0 and deviation 1; a column of text becomes one "
    "feature for each of its values.",
    "classes": "What is to be told apart, and how many rows there are of each.",
    "stopped": {
        "SEPARATED": "A fit never just stops: here a whole pass over the data made no mistake, so "
        "every row is on its side.",
        "EPOCH_LIMIT": "A fit never just stops: here it was cut off, so the hyperplane is one on "
        "the way. If no hyperplane can separate the classes, more epochs will not either.",
        "CYCLE": "A fit never just stops: here an epoch ended with weights that had been there "
        "before. From the same weights it goes the same way, round and round, for ever.",
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


def print_json(summary: Summary, weights: Weights) -> None:
    """Print it all for a script, with every weight."""
    import json

    whole = summary | {"hyperplanes": weights.as_list()}
    sys.stdout.write(json.dumps(whole, indent=2, ensure_ascii=False) + "\n")


def print_report(
    title: str,
    summary: Summary,
    weights: Weights,
    top: int,
    *,
    saved: str = "",
    story: str = "",
    explained: bool = False,
) -> None:
    """Print it all to standard output; `explained`: with a sentence about every line."""
    console = Console(highlight=False)
    lines = Table.grid(padding=(0, 2))
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column(overflow="fold")
    for name, what in _lines(summary, weights, top):
        lines.add_row(name, what)
        if explained:
            lines.add_row("", Text(_explanation(name, summary) + "\n", "italic cyan"))
    if saved:
        lines.add_row("saved", saved)
    for k, note in enumerate(summary.get("notes", ())):
        lines.add_row("notes" if k == 0 else "", Text(note, style="dim"))
    if advice := _advice(summary):
        lines.add_row("next", Text(advice, style="italic"))
    with console.capture() as captured:
        console.print(Text(title, style="bold"))
        if story:
            console.print(f"\n{story}\n")
        console.print(lines)
    # Columns are padded to their width; no text should end in blanks.
    sys.stdout.write("\n".join(map(str.rstrip, captured.get().splitlines())) + "\n")


def _explanation(name: str, s: Summary) -> str:
    text: Any = EXPLANATIONS[name]
    if isinstance(text, str):
        return text
    return " ".join(text[reason] for reason in dict.fromkeys(s["stop_reasons"]) if reason in text)


def _lines(s: Summary, weights: Weights, top: int) -> Iterator[tuple[str, RenderableType]]:
    features = count(s["features"], "feature")
    if s["features"] != s.get("columns", s["features"]):
        features += f" from {count(s['columns'], 'column')}"
    rows = [count(s["rows"], "row")] if "rows" in s else []
    classes = count(len(s["classes"]), "class", "classes")
    yield "data", ", ".join([*rows, features, classes])
    yield "classes", _classes(s)
    yield "stopped", _stopped(s)
    yield "training", _training(s)
    if "margins" in s:
        yield "margin", _margin(s)
    if s.get("cross_validation"):
        yield "accuracy", _accuracy(s)
    yield "weights", _weights(weights, top)


def _classes(s: Summary) -> str:
    names = [f"{name} ({grouped(n)})" if n else name for name, n in s["classes"].items()]
    return f"{s['target']}: {listing(names, 8)}" if "target" in s else listing(names, 8)


def _stopped(s: Summary) -> RenderableType:
    """Why training ended; where there are several classes, for which of them."""
    by_reason: dict[str, list[int]] = {}
    for k, reason in enumerate(s["stop_reasons"]):
        by_reason.setdefault(reason, []).append(k)
    names, texts = list(s["classes"]), []
    for reason, problems in by_reason.items():
        style = "green" if reason in ("SEPARATED", "GAP_CLOSED") else "yellow"
        sentence = StopReason[reason].value
        if reason == "CYCLE":
            entry, period = s["cycles"][problems[0]]
            every = "every epoch" if period == 1 else f"every {period} epochs"
            sentence += f" (those after epoch {entry} come back {every})"
        text = Text.assemble((reason, f"bold {style}"), "  ", sentence)
        if len(by_reason) > 1:
            text.append(f", for {listing([names[k] for k in problems])}", "dim")
        texts.append(text)
    return Group(*texts)


def _training(s: Summary) -> str:
    """Mistakes, epochs and errors, in one sentence."""
    mistakes = f"{count(sum(s['mistakes']), 'mistake')} in {count(s['epochs'], 'epoch')}"
    errors = s["training_errors"]
    if not errors:
        return f"{mistakes}; no training errors left"
    share = f" ({percent(1 - errors / s['rows'])} right)" if "rows" in s else ""
    return f"{mistakes}; {count(errors, 'training error')} left{share}"


def _margin(s: Summary) -> str:
    found = [margin for margin in s["margins"] if margin is not None]
    unit = "standardised features" if s["standardized"] else "the columns' own units"
    if not found:
        return "none: this hyperplane does not separate the classes"
    if len(s["margins"]) == 1:
        return f"{number(found[0])} ({unit}): no row is closer to the hyperplane, all on its side"
    each = [
        f"{name} {number(margin) if margin is not None else 'none'}"
        for name, margin in zip(s["classes"], s["margins"], strict=True)
    ]
    return f"{listing(each, 8)} (each against the rest, {unit})"


def _accuracy(s: Summary) -> Text:
    scores = s["cross_validation"]
    spread = f" ± {100 * stdev(scores):.1f}" if len(scores) > 1 else ""
    common = max(s["classes"], key=s["classes"].__getitem__)
    mean = fmean(scores)
    style = "bold green" if mean > s["majority"] else "bold red"
    return Text.assemble(
        (percent(mean), style),
        f"{spread} by {len(scores)}-fold cross-validation; ",
        f"always saying {common} gives {percent(s['majority'])}",
    )


def _weights(weights: Weights, top: int) -> RenderableType:
    """The features with the largest weights, by name."""
    if len(weights.coef) == 1:
        return _signed_weights(weights, top)
    if len(weights.classes) <= MOST_COLUMNS:
        return _weights_by_class(weights, top)
    lines = []
    for name, w in zip(weights.classes, weights.coef, strict=True):
        best = sorted(range(len(w)), key=lambda j: -abs(w[j]))[:3]
        lines.append(f"{name}: " + ", ".join(f"{weights.features[j]} {w[j]:+.4g}" for j in best))
    return Group(*map(Text, lines))


def _signed_weights(weights: Weights, top: int) -> RenderableType:
    w = weights.coef[0]
    order = sorted(range(len(w)), key=lambda j: -abs(w[j]))
    largest = max(abs(w).max(), 1e-300)
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="ellipsis", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for j in order[:top]:
        bar = "█" * round(BAR * abs(w[j]) / largest) or "▏" * bool(w[j])
        style = "blue" if w[j] > 0 else "dark_orange"
        table.add_row(Text(weights.features[j]), f"{w[j]:+.4g}", Text(bar, style))
    table.add_row(Text("(bias)", "dim"), f"{weights.intercept[0]:+.4g}", "")
    rest = len(order) - top
    more = f"; {count(rest, 'smaller one')} not shown (--top)" if rest > 0 else ""
    sides = f"+ speaks for {weights.classes[1]}, - for {weights.classes[0]}{more}"
    return Group(table, Text(sides, "dim"))


def _weights_by_class(weights: Weights, top: int) -> RenderableType:
    size = abs(weights.coef).max(axis=0)
    order = sorted(range(len(size)), key=lambda j: -size[j])
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="ellipsis", no_wrap=True)
    for _ in weights.classes:
        table.add_column(justify="right", no_wrap=True)
    table.add_row("", *(Text(name, "dim") for name in weights.classes))
    for j in order[:top]:
        table.add_row(Text(weights.features[j]), *(_cell(w[j]) for w in weights.coef))
    table.add_row(Text("(bias)", "dim"), *(_cell(b) for b in weights.intercept))
    rest = len(order) - top
    more = [Text(f"{count(rest, 'smaller one')} not shown (--top)", "dim")] if rest > 0 else []
    return Group(table, *more)


def _cell(w: float) -> Text:
    return Text(f"{w:+.4g}", "blue" if w > 0 else "dark_orange")


def _advice(s: Summary) -> str:
    """What to try next, if there are errors left."""
    reasons = set(s["stop_reasons"])
    if "INTERRUPTED" in reasons:
        return "this is the model so far; run it again to train to the end"
    if not s["training_errors"] or reasons <= {"SEPARATED", "SMALL_CHANGE"}:
        return ""
    if s["model"] != "Perceptron":
        return "--max-epochs or --max-time, raised, come nearer the least squared error"
    keep = s["parameters"].get("keep", "last")
    if keep == "pocket":
        return "this is the best hyperplane the run passed through"
    better = "--keep pocket keeps the best hyperplane of the run"
    if keep != "average":
        better += ", --keep average their mean"
    return better if "CYCLE" in reasons else f"{better}; or raise --max-epochs"
