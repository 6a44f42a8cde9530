"""The pictures of a page, each from its facts."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from rosenblatt.report.comparison import ComparisonFacts
from rosenblatt.report.evaluation import EvaluationFacts
from rosenblatt.report.page.charting import (
    BOTTOM,
    LEFT,
    MOST_LINES,
    RIGHT,
    SERIES,
    TOP,
    WIDTH,
    Picture,
    Scale,
    across,
    axes,
    box,
    dot,
    path,
    share,
    short,
    ticks,
    upward,
)
from rosenblatt.report.page.facts import (
    CourseFacts,
    Histogram,
    LearningCurve,
    MistakesFacts,
    Points,
    RankingCurves,
)
from rosenblatt.report.page.names import isolated
from rosenblatt.report.sentences import four_digits, percent
from rosenblatt.validation.kinds import MAJORITY
from rosenblatt.visible import count, grouped

SQUARE = 250  # the height of pictures whose axes are both shares
HALVES = (0.0, 0.25, 0.5, 0.75, 1.0)
MOST_CELLS = 40  # classes whose confusions are drawn one by one
UNITS = {
    "distance": "signed distance from the hyperplane",
    "value": "decision value",
    "lead": "lead of the own class over the strongest other",
}


def accuracy_bar(found: EvaluationFacts) -> Picture:
    """The share of right answers with its interval, beside the most frequent class."""
    low, high = found.interval
    width = 250
    picture = Picture(
        "accuracy",
        "Right answers",
        f"{percent(found.accuracy)} right, 95% interval {percent(low)} to {percent(high)}; "
        f"always saying {isolated(found.majority_class)} gives {percent(found.majority)}.",
        width=width,
        height=58,
    )
    x = Scale(0.0, 1.0, 1, width - 1)
    picture.draw(box(x(0), 20, x(1) - x(0), 10), "track")
    picture.draw(box(x(0), 20, x(found.accuracy) - x(0), 10), "bar good")
    picture.draw(box(x(low), 23.5, max(1.0, x(high) - x(low)), 3), "interval")
    at = x(found.majority)
    picture.draw(path([(at, 14), (at, 36)]), "mark")
    middle = min(max(at, 56), width - 56)
    picture.write(middle, 10, f"largest class {percent(found.majority)}", "middle tick")
    for value in HALVES:
        picture.write(x(value), 48, share(value), _side(value))
    return picture


def _side(value: float) -> str:
    return "tick" if value == 0 else "end tick" if value == 1 else "middle tick"


def distance_bars(found: Histogram) -> Picture:
    """A histogram: two classes up and down, or all classes together with the wrong ones apart."""
    unit, names = UNITS[found.unit], list(found.counts)
    two = len(names) == 2
    picture = Picture(
        "distances",
        "Where the rows lie",
        f"Histogram of the {unit} of {count(sum(map(sum, found.counts.values())), 'row')}. "
        + " ".join(_told(name, found.counts[name], found) for name in names),
    )
    edges = found.edges
    x = across(edges[0], edges[-1])
    most = [max(1, *found.counts[name]) for name in names]
    y = upward(-most[0], most[1]) if two else upward(0, most[0])
    marks = ticks(0, max(most), 3)
    if two:
        marks = sorted({-m for m in marks if m <= most[0]} | {m for m in marks if m <= most[1]})
    axes(picture, x, y, (unit, "rows"), y_text=lambda n: short(abs(n)), y_ticks=marks)
    for k, name in enumerate(names):
        for left, right, n in zip(edges, edges[1:], found.counts[name], strict=False):
            downward = two and k == 0
            top, height = (y(0), y(-n) - y(0)) if downward else (y(n), y(0) - y(n))
            kind = f"f{k}" if two else ("good" if left >= 0 else "bad")
            width = max(0.5, x(right) - x(left) - 0.8)
            if n:
                picture.draw(box(x(left) + 0.4, top, width, max(0.8, height)), f"fill {kind}")
    picture.draw(path([(x.start, y(0)), (x.end, y(0))]), "axis")
    picture.draw(path([(x(0), TOP), (x(0), picture.height - BOTTOM)]), "mark")
    for at in (-found.margin, found.margin) if found.margin else ():
        if x.low < at < x.high:
            picture.draw(path([(x(at), TOP), (x(at), picture.height - BOTTOM)]), "mark dashed")
    if two:
        up, down = isolated(names[1], 24), isolated(names[0], 24)
        picture.legend = [("f1", f"{up}, upwards"), ("f0", f"{down}, downwards")]
    else:
        picture.legend = [("good", "right"), ("bad", "wrong")]
    return picture


def _told(name: str, counts: Sequence[int], found: Histogram) -> str:
    beyond = sum(n for left, n in zip(found.edges, counts, strict=False) if left >= 0)
    what = isolated(name) if found.unit != "lead" else "Of all rows"
    return f"{what}: {grouped(beyond)} above 0, {grouped(sum(counts) - beyond)} below."


def course_lines(found: CourseFacts) -> Picture:
    """Mistakes, or the loss, epoch by epoch."""
    what = "mistakes" if found.what == "mistakes" else "mean squared error"
    most = max(max(values) for values in found.values.values())
    last = found.epochs[-1]
    told = [f"{isolated(k)} from {short(v[0])} to {short(v[-1])}" for k, v in found.values.items()]
    if len(told) == 1:
        (values,) = found.values.values()
        told = [f"From {short(values[0])} in the first epoch to {short(values[-1])} in the last"]
    picture = Picture(
        "course",
        f"{what.capitalize()} in each epoch",
        f"{what.capitalize()} over {count(last, 'epoch')}. {'; '.join(told[:8])}.",
    )
    x, y = across(min(1, last - 1), last), upward(0, most or 1)
    first = [1.0, *(t for t in ticks(1, last) if t > 1)] if last > 1 else [1.0]
    axes(picture, x, y, ("epoch", f"{what} in an epoch"), x_ticks=first)
    many = len(found.values) > SERIES
    for k, values in enumerate(list(found.values.values())[:MOST_LINES]):
        points = [(x(e), y(v)) for e, v in zip(found.epochs, values, strict=True)]
        kind = "faint" if many else f"s{k}"
        if len(points) == 1:
            picture.draw(dot(*points[0], 3), f"fill f{k}")
        else:
            picture.draw(path(points), f"line {kind}")
    if 1 < len(found.values) <= SERIES:
        picture.legend = [(f"s{k}", isolated(name, 24)) for k, name in enumerate(found.values)]
    return picture


def learning_line(found: LearningCurve, majority: float) -> Picture:
    """Right answers by the number of rows that were learned from."""
    means = [fmean(scores) for scores in found.right]
    low, high = min(map(min, found.right)), max(map(max, found.right))
    told = [f"{count(n, 'row')}: {percent(m)}" for n, m in zip(found.rows, means, strict=True)]
    picture = Picture("learning", "Right answers by rows learned from", f"{'; '.join(told)}.")
    spare = max(0.02, 0.1 * (high - low))
    x = across(0, found.rows[-1])
    y = upward(max(0.0, low - spare), min(1.0, high + spare))
    axes(picture, x, y, ("rows learned from", "right answers"), y_text=share)
    if y.low < majority < y.high:
        picture.draw(path([(x.start, y(majority)), (x.end, y(majority))]), "mark dashed")
    places = list(zip(found.rows, found.right, strict=True))
    upper = [(x(n), y(max(scores))) for n, scores in places]
    lower = [(x(n), y(min(scores))) for n, scores in places]
    picture.draw(path([*upper, *reversed(lower)]) + "z", "band")
    line = [(x(n), y(m)) for n, m in zip(found.rows, means, strict=True)]
    picture.draw(path(line), "line s0")
    for at in line:
        picture.draw(dot(*at, 2.6), "fill f0")
    return picture


def roc(curves: Sequence[RankingCurves], found: EvaluationFacts) -> Picture:
    """Found against wrongly taken, over all thresholds."""
    areas = _areas({one.name: one.roc_auc for one in found.classes}, curves)
    picture = _shares(
        "roc",
        "ROC curve",
        f"Share of a class that is found against the share of the others taken for it. {areas}",
        ("others taken for it", "found"),
    )
    x, y = _square()
    picture.draw(path([(x(0), y(0)), (x(1), y(1))]), "mark dashed")
    _lines(picture, [one.roc for one in curves], [one.name for one in curves])
    return picture


def precision_recall(curves: Sequence[RankingCurves], found: EvaluationFacts) -> Picture:
    """Precision against recall, over all thresholds."""
    areas = _areas({one.name: one.average_precision for one in found.classes}, curves)
    picture = _shares(
        "precision",
        "Precision and recall",
        f"Share of the rows taken for a class that are of it, against the share found. {areas}",
        ("recall: found of the class", "precision: right of those taken for it"),
    )
    _lines(picture, [one.precision for one in curves], [one.name for one in curves])
    return picture


def _areas(areas: dict[str, float | None], curves: Sequence[RankingCurves]) -> str:
    known = [(one.name, areas.get(one.name)) for one in curves[:8]]
    return "; ".join(f"{isolated(n)}: area {a:.4f}" for n, a in known if a is not None) + "."


def _square() -> tuple[Scale, Scale]:
    return across(0, 1), upward(0, 1, SQUARE)


def _shares(name: str, title: str, description: str, names: tuple[str, str]) -> Picture:
    picture = Picture(name, title, description, height=SQUARE)
    x, y = _square()
    axes(picture, x, y, names, x_text=share, y_text=share, x_ticks=HALVES, y_ticks=HALVES)
    return picture


def _lines(picture: Picture, curves: Sequence[Points], names: list[str]) -> None:
    x, y = _square()
    many = len(curves) > SERIES
    for k, points in enumerate(curves[:MOST_LINES]):
        kind = "faint" if many else f"s{k}"
        picture.draw(path((x(a), y(b)) for a, b in points), f"line {kind}")
    if 1 < len(curves) <= SERIES:
        picture.legend = [(f"s{k}", isolated(name, 24)) for k, name in enumerate(names)]


def confusion_map(found: EvaluationFacts) -> Picture | None:
    """Which classes are taken for which, a square each; None for too many."""
    k = len(found.classes)
    if k > MOST_CELLS:
        return None
    side = (WIDTH - LEFT - RIGHT) / k
    wrong = found.rows - found.right
    picture = Picture(
        "confusion",
        "What is taken for what",
        f"{count(k, 'class', 'classes')} down, what they are taken for across; "
        f"{count(wrong, 'row')} off the diagonal.",
        height=TOP + WIDTH - LEFT - RIGHT + 6,
    )
    for i, line in enumerate(found.confusion):
        total = sum(line) or 1
        middle, name = (i + 0.5) * side, found.classes[i].name
        picture.write(LEFT - 4, TOP + middle + 2.5, isolated(name, 7), "end cell")
        picture.write(LEFT + middle, TOP - 4, isolated(name, 3), "middle cell")
        for j, n in enumerate(line):
            depth = 1 + min(4, int((5 if i == j else 12) * n / total))
            kind = f"{'good' if i == j else 'bad'} d{depth}" if n else "empty"
            at = LEFT + j * side, TOP + i * side
            picture.draw(box(*at, side - 0.6, side - 0.6), f"fill {kind}")
    return picture


def kinds_dots(found: ComparisonFacts, own: float | None) -> Picture:
    """Right answers of kinds of models with their intervals; `own`: of the model of the page."""
    told = [f"{one.name} {percent(one.accuracy)}" for one in found.kinds]
    kinds = [one for one in found.kinds if one.name != MAJORITY] or found.kinds
    step = 20
    height = TOP + step * len(kinds) + BOTTOM
    picture = Picture("kinds", "Kinds of models", f"{'; '.join(told)}.", height=height)
    ends = [bound for one in kinds for bound in one.interval]
    low, high = min(ends), max(ends)
    spare = max(0.002, 0.06 * (high - low))
    x = across(max(0.0, low - spare), min(1.0, high + spare), left=112)
    floor = height - BOTTOM
    for value in ticks(x.low, x.high, 4):
        picture.draw(path([(x(value), TOP), (x(value), floor)]), "rule")
        picture.write(x(value), floor + 14, share(value), "middle tick")
    if own is not None and x.low <= own <= x.high:
        picture.draw(path([(x(own), TOP - 4), (x(own), floor)]), "mark dashed")
        picture.write(min(x(own), WIDTH - 40), 10, "this model", "middle name")
    for k, one in enumerate(kinds):
        y = TOP + step * (k + 0.5)
        kind = "s0" if one.name in (found.best, *found.alike) else "s5 plain"
        picture.write(106, y + 3.5, isolated(one.name, 18), "end tick")
        picture.draw(path([(x(bound), y) for bound in one.interval]), f"line {kind}")
        picture.draw(dot(x(one.accuracy), y, 3.2), f"fill f{kind[1]}")
    picture.write((x.start + x.end) / 2, height - 5, "right answers", "middle name")
    return picture


def mistakes_bar(found: MistakesFacts) -> Picture:
    """The mistakes of a run as a share of the most there can be."""
    picture = Picture(
        "mistakes",
        "Mistakes beside the bound",
        f"{count(found.mistakes, 'mistake')} of at most {four_digits(found.most)}.",
        height=34,
    )
    x = Scale(0.0, 1.0, 1, WIDTH - 1)
    picture.draw(box(x(0), 18, x(1) - x(0), 10), "track")
    width = (x(1) - x(0)) * found.mistakes / (found.most or 1.0)
    picture.draw(box(x(0), 18, max(1.0, width), 10), "bar")
    picture.write(x(0), 12, f"{count(found.mistakes, 'mistake')} made", "tick")
    most = grouped(found.most) if found.most < 1e9 else four_digits(found.most)
    picture.write(x(1), 12, f"at most {most}", "end tick")
    return picture
