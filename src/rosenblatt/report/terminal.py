"""What a terminal shows: lines with names, and the weights of hyperplanes with bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, Group, RenderableType
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from rosenblatt.contract.classifier import classifier_of
from rosenblatt.report.sentences import classes_line, data_line, shortened, told_apart, verdict_word
from rosenblatt.report.units import Units
from rosenblatt.results import Verdict
from rosenblatt.visible import count, print_styled, visible

if TYPE_CHECKING:
    from rosenblatt.report.fits import EncodedTable

Line = tuple[str, RenderableType]  # its name, and what it says

LEAST_WIDTH = 60
MOST_COLUMNS = 6
MOST_LINES = 12  # of classes or problems; of more, only the first are shown
BAR = 16
WIDE = 60  # room for weights per unit, too


def new_console(plain: bool = False) -> Console:
    """Standard output as wide as the terminal; plain: without colours, whatever it is."""
    # Names may hold what Rich would take for markup; and no number must ever be cut off.
    given: dict[str, Any] = {"color_system": None, "force_terminal": False} if plain else {}
    console = Console(highlight=False, markup=False, emoji=False, **given)
    console.width = max(console.width, LEAST_WIDTH)
    return console


def grid_of(lines: Iterable[Line], width: int | None = None) -> Table:
    """Lines with a name in front, which takes at least this width."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True, min_width=width)
    grid.add_column(overflow="fold")
    for line in lines:
        grid.add_row(*line)
    return grid


def columns(*justify: Any) -> Table:
    """A table of cells that are never cut off, each column set to this side."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for side in justify:
        table.add_column(justify=side, no_wrap=True)
    return table


def print_lines(
    title: str, lines: Iterable[Line], width: int | None = None, story: str = ""
) -> None:
    """Print a title, what leads to the lines if anything does, and the lines."""
    told = [f"\n{story}\n"] if story else []
    print_parts(new_console(), *titled(title, lines, width, *told))


def titled(
    title: str, lines: Iterable[Line], width: int | None = None, *between: RenderableType
) -> list[RenderableType]:
    """The parts of a report: its title, whatever stands between, and the lines."""
    return [Text(title, "bold"), *between, grid_of(lines, width)]


def print_parts(console: Console, *parts: RenderableType) -> None:
    """Print to standard output, whatever letters it knows."""
    print_styled(rendered(console, *parts))


def rendered(console: Console, *parts: RenderableType) -> str:
    """What a console shows of them, as text; nothing in names acts on a terminal."""
    with console.capture() as captured:
        for part in parts:
            seen = (
                Segment(visible(segment.text, keep="\n"), segment.style, segment.control)
                for segment in console.render(part)
            )
            console.print(Segments(seen), end="", crop=False)
    # Columns are padded to their width; no text should end in blanks.
    return "\n".join(line.rstrip(" ") for line in captured.get().split("\n"))


def verdict_text(verdict: Verdict, sentence: str, after: str = "") -> Text:
    """The verdict in colour, after what was done to the numbers, and what it means."""
    style = "green" if verdict is Verdict.SEPARABLE else "yellow"
    return Text.assemble((verdict_word(verdict), f"bold {style}"), f"{after}: {sentence}")


def first_lines(table: EncodedTable) -> Iterator[Line]:
    """What a report is about."""
    sizes = len(table.label), len(table.features), len(table.columns), len(table.counts)
    yield "data", data_line(*sizes)
    yield "classes", classes_line(table.counts, table.target)


def last_lines(notes: Sequence[str], advice: str, **files: str | None) -> Iterator[Line]:
    """Files that were written, what else is worth knowing, and what to do next."""
    yield from ((name, file) for name, file in files.items() if file)
    for k, note in enumerate(notes):
        yield "notes" if k == 0 else "", Text(note, style="dim")
    if advice:
        yield "next", Text(advice, style="italic")


# Weights ----------------------------------------------------------------------------------------


class NamedWeights(NamedTuple):
    """The hyperplanes of a model with names: one row of `coef` for two classes."""

    features: list[str]
    coef: NDArray[Any]
    intercept: NDArray[Any]
    classes: list[str]
    units: Units | None = None  # None: the weights are per unit already

    @classmethod
    def of(cls, model: Any, encoder: Any = None) -> NamedWeights | None:
        """From a pipeline or a bare classifier; None for a kernel perceptron, which has none.

        `encoder` made the features where the model itself does not know them.
        """
        classifier = classifier_of(model)
        if not hasattr(classifier, "coef_"):
            return None
        labels = [str(label) for label in classifier.classes_]
        if encoder is None:
            features, encoder = feature_names(model), encoder_alone(model)
        else:
            features = [str(name) for name in encoder.get_feature_names_out()]
        return cls(features, classifier.coef_, classifier.intercept_, labels, Units.of(encoder))

    def per_unit(self, w: NDArray[Any]) -> dict[int, float]:
        """For the features that are standardised numbers, a weight per unit of the table."""
        if self.units is None:
            return {}
        slopes = w / self.units.deviations
        return {j: float(slope) for j, slope in enumerate(slopes) if not np.isnan(slope)}

    def as_list(self) -> list[dict[str, Any]]:
        """All of them, one entry per hyperplane, for JSON."""
        positives = self.classes[1:] if len(self.coef) == 1 else self.classes
        found = []
        for name, w, b in zip(positives, self.coef, self.intercept.tolist(), strict=True):
            entry = {"positive": name, "weights": dict(zip(self.features, w.tolist(), strict=True))}
            if self.units is not None:
                slopes = self.per_unit(w).items()
                entry["weights_per_unit"] = {self.features[j]: slope for j, slope in slopes}
            found.append(entry | {"bias": b})
        return found


def feature_names(model: Any) -> list[str]:
    """The features of a pipeline or a bare classifier by name."""
    classifier = classifier_of(model)
    names = getattr(classifier, "feature_names_in_", None)
    if hasattr(model, "steps") and hasattr(model[:-1], "get_feature_names_out"):
        names = model[:-1].get_feature_names_out()
    if names is None:
        names = [f"x{j + 1}" for j in range(classifier.n_features_in_)]
    return [str(name) for name in names]


def encoder_alone(model: Any) -> Any:
    """The encoder of a pipeline whose features are those of its classifier, or None."""
    return model[0] if hasattr(model, "steps") and len(model.steps) == 2 else None


def axis_names(model: Any) -> list[str]:
    """The features as axes show them: the model sees numbers standardised."""
    names, encoder = feature_names(model), encoder_alone(model)
    if not getattr(encoder, "standardize", False):
        return names
    scaled = {name for name, kind in encoder.kinds_.items() if kind != "text"}
    return [f"{name} (standardised)" if name in scaled else name for name in names]


def weights_table(
    weights: NamedWeights, top: int, width: int, units: Mapping[str, str] | None = None
) -> RenderableType:
    """The features with the largest weights, by name; `units` of those of which they are known."""
    if len(weights.coef) == 1:
        return signed_weights(weights, top, width, units)
    if len(weights.classes) <= MOST_COLUMNS and width >= 20 + 10 * len(weights.classes):
        return _weights_by_class(weights, top, width)
    lines, n = list[Text](), lines_shown(len(weights.classes), top)
    named = told_apart(weights.classes, 30)
    for name, w in zip(weights.classes[:n], weights.coef[:n], strict=True):
        largest = [f"{shortened(weights.features[j], 30)} {w[j]:+.4g}" for j in _by_size(w)[:3]]
        lines.append(Text(f"{named[name]}: {', '.join(largest)}"))
    rest = len(weights.classes) - n
    more = [Text(f"and {count(rest, 'more class', 'more classes')} (--top, --json)", "dim")]
    return Group(*lines, *more * bool(rest))


def lines_shown(n: int, top: int) -> int:
    """How many of so many classes or problems have a line of their own: all, or the first."""
    return n if n <= max(MOST_LINES, top) else top


def signed_weights(
    weights: NamedWeights, top: int, width: int, units: Mapping[str, str] | None = None
) -> RenderableType:
    """The largest weights of one hyperplane, with bars, and what they are per unit."""
    w = weights.coef[0]
    largest, shown = max(abs(w).max(), 1e-300), _by_size(w)[:top]
    per_unit = weights.per_unit(w) if width >= WIDE else {}  # names come first
    slopes = {j: slope_text(weights, j, x, units or {}) for j, x in per_unit.items() if x}
    longest = max((len(slopes[j]) + 2 for j in shown if j in slopes), default=0)
    room, full = width - longest - 14, max(len(weights.features[j]) for j in shown)
    full_bar = BAR if not longest or full + BAR <= room else BAR // 2
    table = columns("left", "right", "left", "left")
    for j in shown:
        bar = "█" * round(full_bar * (abs(w[j]) / largest)) or "▏" * bool(w[j])
        name = Text(shortened(weights.features[j], max(12, room - full_bar)))
        table.add_row(
            name, f"{w[j]:+.4g}", Text(bar, _colour(w[j])), Text(slopes.get(j, ""), "dim")
        )
    table.add_row(Text("(bias)", "dim"), f"{weights.intercept[0]:+.4g}", "")
    minus, plus = (shortened(name, 25) for name in weights.classes)
    told = [f"+ speaks for {plus}, - for {minus}", *_rest(len(w) - top)]
    return Group(table, Text("; ".join(told), "dim"))


def slope_text(weights: NamedWeights, j: int, slope: float, units: Mapping[str, str]) -> str:
    """``+0.3 per year``: what one more of a number does."""
    own = weights.units.names[j] if weights.units is not None else ""
    unit = units.get(weights.features[j], "") or own or "unit"
    return f"{slope:+.4g} per {shortened(unit, 8)}"


def _weights_by_class(weights: NamedWeights, top: int, width: int) -> RenderableType:
    share = max(9, (width - 30) // len(weights.classes) - 2)
    table = columns("left", *["right"] * len(weights.classes))
    table.add_row("", *(Text(name, "dim") for name in told_apart(weights.classes, share).values()))
    room = max(12, width - len(weights.classes) * (share + 2) - 2)
    for j in _by_size(abs(weights.coef).max(axis=0))[:top]:
        name = Text(shortened(weights.features[j], room))
        table.add_row(name, *(_cell(w[j]) for w in weights.coef))
    table.add_row(Text("(bias)", "dim"), *(_cell(b) for b in weights.intercept))
    return Group(table, *(Text(rest, "dim") for rest in _rest(weights.coef.shape[1] - top)))


def _by_size(w: NDArray[Any]) -> list[int]:
    return sorted(range(len(w)), key=lambda j: -abs(w[j]))


def _rest(n: int) -> list[str]:
    return [f"{count(n, 'smaller one')} not shown (--top)"] if n > 0 else []


def _colour(w: float) -> str:
    return "blue" if w > 0 else "dark_orange"


def _cell(w: float) -> Text:
    return Text(f"{w:+.4g}", _colour(w))
