"""A summary as text: what was learned from what, and what it is worth."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console, Group
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from rosenblatt.cli.kernel_text import EXPLANATIONS as ABOUT_KERNELS
from rosenblatt.cli.kernel_text import kernel_advice, kernel_line, kernel_lines, stop_sentence
from rosenblatt.cli.margin_text import margin_advice, margin_lines
from rosenblatt.cli.printing import print_json, print_styled
from rosenblatt.cli.verdicts import verdict_text
from rosenblatt.cli.words import count, grouped, listing, number, percent, shortened
from rosenblatt.results import StopReason, Verdict
from rosenblatt.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from rich.console import RenderableType

    Summary = dict[str, Any]

MOST_COLUMNS = 6
BAR = 16
LEAST_WIDTH = 60


class Weights(NamedTuple):
    """The hyperplanes of a model with names: one row of `coef` for two classes."""

    features: list[str]
    coef: NDArray[Any]
    intercept: NDArray[Any]
    classes: list[str]

    @classmethod
    def of(cls, model: Any) -> Weights | None:
        """From a pipeline that begins with a table encoder, or from a bare classifier.

        None for a kernel perceptron, which has none.
        """
        classifier = model[-1] if hasattr(model, "steps") else model
        if not hasattr(classifier, "coef_"):
            return None
        labels = [str(label) for label in classifier.classes_]
        return cls(feature_names(model), classifier.coef_, classifier.intercept_, labels)

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


def feature_names(model: Any) -> list[str]:
    """The features of a pipeline or a bare classifier by name."""
    classifier = model[-1] if hasattr(model, "steps") else model
    names = getattr(classifier, "feature_names_in_", None)
    if hasattr(model, "steps") and hasattr(model[:-1], "get_feature_names_out"):
        names = model[:-1].get_feature_names_out()
    if names is None:
        names = [f"x{j + 1}" for j in range(classifier.n_features_in_)]
    return [str(name) for name in names]


def axis_names(model: Any) -> list[str]:
    """The features as axes show them: the model sees numbers standardised."""
    names = feature_names(model)
    encoder = model[0] if hasattr(model, "steps") else None
    if encoder is None or not getattr(encoder, "standardize", False):
        return names
    scaled = {name for name, kind in encoder.kinds_.items() if kind != "text"}
    return [f"{name} (standardised)" if name in scaled else name for name in names]


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
    "verdict": {
        "SEPARABLE": "Whether any hyperplane at all can separate the classes. One can, and there "
        "it is: whoever has the data can check it again.",
        "QUASI_SEPARABLE": "Whether any hyperplane at all can separate the classes. Almost: they "
        "touch, but do not cross.",
        "INSEPARABLE": "Whether any hyperplane at all can separate the classes. None can: a point "
        "that is a weighted mean of rows of both classes would have to be on both sides.",
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


def print_facts(summary: Summary, weights: Weights | None) -> None:
    """Print it all for a script, with every weight."""
    print_json(summary | ({} if weights is None else {"hyperplanes": weights.as_list()}))


def print_report(
    title: str,
    summary: Summary,
    weights: Weights | None,
    top: int,
    *,
    saved: str = "",
    file: str = "",
    story: str = "",
    explained: bool = False,
) -> None:
    """Print it all to standard output; `explained`: with a sentence about every line."""
    console, lines = new_console(), new_grid()
    for name, what in _lines(summary, weights, top, console.width):
        lines.add_row(name, what)
        if explained:
            lines.add_row("", Text(_explanation(name, summary) + "\n", "italic cyan"))
    for name, what in (("saved", saved), ("file", file)):
        if what:
            lines.add_row(name, what)
    for k, note in enumerate(summary.get("notes", ())):
        lines.add_row("notes" if k == 0 else "", Text(note, style="dim"))
    if advice := _advice(summary):
        lines.add_row("next", Text(advice, style="italic"))
    print_parts(console, Text(title, style="bold"), *([f"\n{story}\n"] if story else []), lines)


def new_console() -> Console:
    """Standard output as wide as the terminal."""
    # Names may hold what Rich would take for markup; and no number must ever be cut off.
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = max(console.width, LEAST_WIDTH)
    return console


def new_grid(width: int | None = None) -> Table:
    """Lines with a name in front, which takes at least this width."""
    lines = Table.grid(padding=(0, 2, 0, 0))
    lines.add_column(style="dim", no_wrap=True, min_width=width)
    lines.add_column(overflow="fold")
    return lines


def print_parts(console: Console, *parts: RenderableType) -> None:
    """Print to standard output, whatever letters it knows."""
    with console.capture() as captured:
        for part in parts:
            seen = (
                Segment(visible(segment.text, keep="\n"), segment.style, segment.control)
                for segment in console.render(part)
            )
            console.print(Segments(seen), end="", crop=False)
    # Columns are padded to their width; no text should end in blanks.
    print_styled("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))


def _explanation(name: str, s: Summary) -> str:
    text: Any = (EXPLANATIONS | (ABOUT_KERNELS if "kernel" in s else {}))[name]
    if isinstance(text, str):
        return text
    cases = s["verdicts"] if name == "verdict" else s["stop_reasons"]
    return " ".join(text[case] for case in dict.fromkeys(cases) if case in text)


def _lines(
    s: Summary, weights: Weights | None, top: int, width: int
) -> Iterator[tuple[str, RenderableType]]:
    yield "data", data_line(s)
    yield "classes", classes_line(s)
    if "kernel" in s:
        yield "kernel", kernel_line(s)
    yield "stopped", _stopped(s)
    if "verdicts" in s:
        yield "verdict", _verdict(s)
    if "optima" in s:
        yield from margin_lines(s, top)
    else:
        yield "training", _training(s)
        if "margins" in s:
            yield "margin", _margin(s)
    if "kernel" in s:
        yield from kernel_lines(s, top)
    if s.get("cross_validation"):
        yield "accuracy", _accuracy(s)
    if weights is not None:
        yield "weights", _weights(weights, top, width - 12)


def data_line(s: Summary) -> str:
    """How many rows, features and classes."""
    features = count(s["features"], "feature")
    if s["features"] != s.get("columns", s["features"]):
        features += f" from {count(s['columns'], 'column')}"
    rows = [count(s["rows"], "row")] if "rows" in s else []
    classes = count(len(s["classes"]), "class", "classes")
    return ", ".join([*rows, features, classes])


def classes_line(s: Summary) -> str:
    """The classes and how many rows there are of each."""
    named = [(shortened(name), n) for name, n in s["classes"].items()]
    names = [f"{name} ({grouped(n)})" if n else name for name, n in named]
    return f"{shortened(s['target'])}: {listing(names, 8)}" if "target" in s else listing(names, 8)


def _stopped(s: Summary) -> RenderableType:
    """Why training ended; where there are several classes, for which of them."""
    by_reason: dict[str, list[int]] = {}
    for k, reason in enumerate(s["stop_reasons"]):
        by_reason.setdefault(reason, []).append(k)
    names, texts = list(s["classes"]), []
    for reason, problems in by_reason.items():
        style = "green" if reason in ("SEPARATED", "GAP_CLOSED") else "yellow"
        sentence = stop_sentence(reason) if "kernel" in s else StopReason[reason].value
        if reason == "CYCLE":
            what = "scores" if "kernel" in s else "weights"
            sentence += f" ({_cycle(what, *s['cycles'][problems[0]])})"
        text = Text.assemble((reason, f"bold {style}"), "  ", sentence)
        if len(by_reason) > 1:
            text.append(f", for {listing([names[k] for k in problems])}", "dim")
        texts.append(text)
    return Group(*texts)


def _verdict(s: Summary) -> RenderableType:
    """Whether any hyperplane separates the classes; where there are several, which of them."""
    cases: dict[tuple[str, str], list[int]] = {}
    for k, case in enumerate(zip(s["verdicts"], s["evidence"], strict=True)):
        cases.setdefault(case, []).append(k)
    after = " in feature space" if "kernel" in s else ""
    after += " after standardising" if s.get("standardized") else ""
    names, texts = list(s["classes"]), []
    for (name, why), problems in cases.items():
        text = verdict_text(Verdict[name], why, after)
        if len(s["verdicts"]) > 1:
            which = listing([names[k] for k in problems]) if len(cases) > 1 else "every class"
            text.append(f", for {which} against the rest", "dim")
        texts.append(text)
    return Group(*texts)


def _cycle(what: str, entry: int, period: int) -> str:
    where = f"the {what} after epoch {entry}" if entry else f"the {what} of the start"
    return f"{where} come back after {count(period, 'epoch')}"


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
    if not found and len(s["margins"]) > 1:
        return "none: no class is separated from the rest"
    if not found:
        return "none: this hyperplane does not separate the classes"
    if len(s["margins"]) == 1:
        return f"{number(found[0])} ({unit}): no row is closer to the hyperplane, all on its side"
    each = [
        f"{shortened(name)} {number(margin) if margin is not None else 'none'}"
        for name, margin in zip(s["classes"], s["margins"], strict=True)
    ]
    return f"{listing(each, 8)} (each against the rest, {unit})"


def _accuracy(s: Summary) -> Text:
    scores = s["cross_validation"]
    spread = f" ± {100 * stdev(scores):.1f}" if len(scores) > 1 else ""
    common = shortened(max(s["classes"], key=s["classes"].__getitem__))
    mean, useful = fmean(scores), fmean(scores) > s["majority"]
    return Text.assemble(
        (percent(mean), "bold green" if useful else "bold red"),
        f"{spread} by {len(scores)}-fold cross-validation; ",
        f"always saying {common} gives {'' if useful else 'no less, '}{percent(s['majority'])}",
    )


def _weights(weights: Weights, top: int, width: int) -> RenderableType:
    """The features with the largest weights, by name."""
    if len(weights.coef) == 1:
        return signed_weights(weights, top, width)
    if len(weights.classes) <= MOST_COLUMNS and width >= 20 + 10 * len(weights.classes):
        return _weights_by_class(weights, top, width)
    lines = []
    for name, w in zip(weights.classes, weights.coef, strict=True):
        best = sorted(range(len(w)), key=lambda j: -abs(w[j]))[:3]
        largest = (f"{shortened(weights.features[j], 30)} {w[j]:+.4g}" for j in best)
        lines.append(f"{shortened(name, 30)}: " + ", ".join(largest))
    return Group(*map(Text, lines))


def signed_weights(weights: Weights, top: int, width: int) -> RenderableType:
    """The largest weights of one hyperplane, with bars."""
    w = weights.coef[0]
    order = sorted(range(len(w)), key=lambda j: -abs(w[j]))
    largest = max(abs(w).max(), 1e-300)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for j in order[:top]:
        bar = "█" * round(BAR * (abs(w[j]) / largest)) or "▏" * bool(w[j])
        name = Text(shortened(weights.features[j], width - BAR - 14))
        table.add_row(name, f"{w[j]:+.4g}", Text(bar, _colour(w[j])))
    table.add_row(Text("(bias)", "dim"), f"{weights.intercept[0]:+.4g}", "")
    minus, plus = (shortened(name, 25) for name in weights.classes)
    return Group(table, Text(f"+ speaks for {plus}, - for {minus}{_rest(order, top)}", "dim"))


def _weights_by_class(weights: Weights, top: int, width: int) -> RenderableType:
    size = abs(weights.coef).max(axis=0)
    order = sorted(range(len(size)), key=lambda j: -size[j])
    share = max(9, (width - 30) // len(weights.classes) - 2)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    for _ in weights.classes:
        table.add_column(justify="right", no_wrap=True)
    table.add_row("", *(Text(shortened(name, share), "dim") for name in weights.classes))
    room = max(12, width - len(weights.classes) * (share + 2) - 2)
    for j in order[:top]:
        name = Text(shortened(weights.features[j], room))
        table.add_row(name, *(_cell(w[j]) for w in weights.coef))
    table.add_row(Text("(bias)", "dim"), *(_cell(b) for b in weights.intercept))
    rest = _rest(order, top)
    return Group(table, Text(rest.removeprefix("; "), "dim")) if rest else table


def _rest(order: list[int], top: int) -> str:
    rest = len(order) - top
    return f"; {count(rest, 'smaller one')} not shown (--top)" if rest > 0 else ""


def _colour(w: float) -> str:
    return "blue" if w > 0 else "dark_orange"


def _cell(w: float) -> Text:
    return Text(f"{w:+.4g}", _colour(w))


def _advice(s: Summary) -> str:
    """What to try next, if there are errors left."""
    reasons = set(s["stop_reasons"])
    if "INTERRUPTED" in reasons:
        return "this is the model so far; run it again to train to the end"
    if "optima" in s:
        return margin_advice(s)
    if "kernel" in s:
        return kernel_advice(s)
    if not s["training_errors"] or reasons <= {"SEPARATED", "NO_MISTAKES", "SMALL_CHANGE"}:
        return ""
    if s["model"] != "Perceptron":
        return "raise --max-epochs or --max-time to come nearer the least squared error"
    cut_off = reasons & {"EPOCH_LIMIT", "TIME_LIMIT"}
    if cut_off and set(s.get("verdicts", [""])) == {"SEPARABLE"}:
        limit = "--max-epochs" if "EPOCH_LIMIT" in reasons else "--max-time"
        return f"the classes are separable, so the mistakes come to an end: raise {limit}"
    keep = s["parameters"].get("keep", "last")
    if "ROUNDING" in reasons and not s.get("standardized"):
        return "leave out --raw: features of similar scales around 0 lose less to rounding"
    if keep == "pocket":
        return "this is the best hyperplane the run passed through; more epochs may find a better"
    better = "--keep pocket keeps the best hyperplane of the run"
    if keep != "average":
        better += ", --keep average their mean"
    hopeless = set(s.get("verdicts", [""])) <= {"INSEPARABLE", "QUASI_SEPARABLE"}
    return better if hopeless or "CYCLE" in reasons else f"{better}; or raise --max-epochs"
