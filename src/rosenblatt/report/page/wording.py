"""The sentences of a page, from its facts."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Any, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rosenblatt.report.comparison import ComparisonFacts
from rosenblatt.report.comparison_report import comparison_lines
from rosenblatt.report.evaluation import EvaluationFacts
from rosenblatt.report.facts import FitFacts, VerdictFacts
from rosenblatt.report.fit_report import advice, fit_lines
from rosenblatt.report.page.charting import MOST_LINES, SERIES
from rosenblatt.report.page.facts import ColumnFacts, Judgement, MistakesFacts, PageFacts
from rosenblatt.report.page.names import isolated
from rosenblatt.report.sentences import (
    MEANINGS,
    data_line,
    four_digits,
    listing,
    percent,
    verdict_sentence,
    verdict_word,
)
from rosenblatt.report.terminal import NamedWeights
from rosenblatt.results import Verdict
from rosenblatt.visible import count, grouped

NAMES = {
    "Perceptron": "a perceptron",
    "Adaline": "an Adaline (the delta rule)",
    "KernelPerceptron": "a kernel perceptron",
    "MaxMarginClassifier": "a maximum-margin hyperplane",
    "SoftMarginClassifier": "a soft-margin hyperplane",
}
KINDS = {"number": "numbers", "date": "dates", "text": "words", "words": "free text"}
ELSEWHERE = {"data", "classes", "verdict", "accuracy", "test", "weights"}  # on the page
FAR = 0.5  # of the errors of the largest class are left where a model is far better
MOST_TERMS = 6  # of a hyperplane that is written out
MOST_TELLING = 3


class Grade(NamedTuple):
    """What the model is worth at a glance: how it looks, a word, a sentence."""

    kind: str  # good, fair or bad
    word: str
    told: str


def title(s: FitFacts) -> str:
    """What the page is about."""
    names = [isolated(name, 40) for name in s.classes]
    if len(names) == 2:
        return f"Telling {names[0]} from {names[1]}"
    target = f" of {isolated(s.table.target, 40)}" if s.table and s.table.target else ""
    return f"Telling {len(names)} classes{target} apart"


def model_name(s: FitFacts) -> str:
    """What was trained, in words."""
    return NAMES.get(s.model, s.model)


def whose(found: Judgement) -> str:
    """The rows by which a model was judged."""
    rows = count(found.evaluation.rows, "row")
    if found.by == "folds":
        return f"{rows}, each judged by a model that had not seen it"
    if found.by == "held out":
        return f"{rows} that were held out"
    if found.by == "test":
        return f"{rows} of {isolated(found.where)}"
    return f"the {rows} it was trained on"


def judged_on(found: Judgement) -> str:
    """How the answers were found that are judged below."""
    if found.by == "folds":
        folds = count(found.folds, "fold")
        return f"Cross-validation: {folds}, in each of which the rows of that fold were left out."
    if found.by == "training":
        return "No rows were left out to judge by: the numbers below are about those of training."
    return f"Judged by {whose(found)}, from which nothing was learned."


def grade(found: Judgement) -> Grade:
    """Whether the model is better than always naming the largest class, and how sure that is."""
    e = found.evaluation
    low, high = (f"{100 * bound:.1f}" for bound in e.interval)
    always = f"always saying {isolated(e.majority_class)} would give {percent(e.majority)}"
    if found.by == "training":
        told = f"Of {whose(found)}, {percent(e.accuracy)} are right; {always}. "
        return Grade("fair", "Not tested", told + "New rows may do worse.")
    sure = f"between {low} and {high}% with 95% confidence; {always}"
    told = f"Of {whose(found)}, {percent(e.accuracy)} are right, {sure}."
    if e.interval[0] > e.majority:
        left = (1 - e.accuracy) / (1 - e.majority) if e.majority < 1 else 1.0
        if left < FAR:
            return Grade("good", "Far better than guessing", told)
        return Grade("fair", "Better than guessing", told)
    if e.interval[1] < e.majority:
        return Grade("bad", "Worse than guessing", told)
    return Grade("bad", "No better than guessing", told)


def verdicts(s: FitFacts) -> list[tuple[str, str, str]]:
    """For each verdict how it looks, the word, and the sentence with the classes it is about."""
    after = " in feature space" if s.expansion else ""
    after += " after standardising" if s.standardized else ""
    cases: dict[tuple[Verdict, str], list[int]] = {}
    for k, one in enumerate(s.verdicts):
        cases.setdefault((one.verdict, _verdict(one)), []).append(k)
    found = []
    for (verdict, sentence), problems in cases.items():
        kind = {Verdict.SEPARABLE: "good", Verdict.UNDECIDED: "fair"}.get(verdict, "note")
        told = f"{sentence[0].upper()}{sentence[1:]}"
        if len(s.verdicts) > 1:
            every = len(problems) == len(s.verdicts)
            of = "every class" if every else listing((s.classes[k] for k in problems), 4)
            told = f"For {of} against the rest: {sentence}"
        found.append((kind, f"{verdict_word(verdict)}{after}", f"{told}."))
    return found


def verdicts_in_short(s: FitFacts) -> list[tuple[str, str, str]]:
    """The same with one entry for each verdict, and how many of several classes it is about."""
    if len(s.verdicts) < 2:
        return verdicts(s)
    found, n = dict[tuple[str, str], int](), len(s.verdicts)
    for kind, word, _ in verdicts(s):
        verdict = word.split(" ")[0]
        found[kind, word] = sum(verdict_word(one.verdict) == verdict for one in s.verdicts)
    told = {True: f"All {n} classes, each against the rest.", False: "{} of {} classes."}
    return [(*case, told[m == n].format(m, n)) for case, m in found.items()]


def _verdict(one: VerdictFacts) -> str:
    """What a verdict means, also where the model itself is the proof."""
    told = verdict_sentence(one)
    alone = told.startswith(("proved", "shown"))
    return f"{MEANINGS[one.verdict]}; {told}" if alone else told


def telling(weights: NamedWeights) -> str:
    """The features with the largest weights, and what they speak for."""
    order = abs(weights.coef).max(axis=0).argsort()[::-1][:MOST_TELLING]
    if len(weights.coef) > 1:
        return ", ".join(isolated(weights.features[j]) for j in order)
    w, found = weights.coef[0], list[str]()
    for sign, name in ((1, weights.classes[1]), (-1, weights.classes[0])):
        own = [weights.features[j] for j in order if sign * w[j] > 0]
        found += [f"{', '.join(map(isolated, own))} for {isolated(name, 30)}"] * bool(own)
    return "; ".join(found) or "nothing: all weights are 0"


def equation(weights: NamedWeights) -> str:
    """The hyperplane written out, the largest terms first."""
    w, b = weights.coef[0], float(weights.intercept[0])
    order = abs(w).argsort()[::-1]
    terms = [f"{_signed(w[j])} × {isolated(weights.features[j], 30)}" for j in order[:MOST_TERMS]]
    if len(order) > MOST_TERMS:
        terms.append(f"+ {count(len(order) - MOST_TERMS, 'smaller term')}")
    return f"{' '.join([*terms, _signed(b)]).lstrip('+ ')}"


def _signed(x: float) -> str:
    return f"{'−' if x < 0 else '+'} {four_digits(abs(x))}"


def data_sentence(s: FitFacts) -> str:
    """Rows, columns and features in a sentence."""
    t = s.table
    columns = s.features if t is None else t.columns
    told = f"{data_line(s.rows, s.features, columns, len(s.classes))}."
    if t is not None:
        if t.rows_without_class:
            told += f" {count(t.rows_without_class, 'row')} without a class were left out."
        if t.standardized:
            told += " Numbers were standardised: mean 0, standard deviation 1."
    return told


def holds(column: ColumnFacts) -> str:
    """What is in a column."""
    if column.mean is not None and column.low is not None and column.high is not None:
        spread = "" if column.deviation is None else f" ± {four_digits(column.deviation)}"
        span = f"{four_digits(column.low)} to {four_digits(column.high)}"
        return f"{span}; mean {four_digits(column.mean)}{spread}".replace("-", "−")
    if column.values:
        first = ", ".join(f"{isolated(v, 24)} ({grouped(n)})" for v, n in column.values)
        rest = column.n_values - len(column.values)
        return first + (f" and {grouped(rest)} more" if rest > 0 else "")
    return ""


def became(column: ColumnFacts) -> str:
    """What the model sees of a column."""
    if column.left_out:
        return f"left out: {column.left_out}"
    return count(column.features, "feature") if column.features else "features, with others"


def bound_sentence(one: MistakesFacts) -> str:
    """The mistakes of a run, and why there cannot be many more."""
    made = count(one.mistakes, "mistake")
    most = grouped(one.most) if one.most < 1e12 else four_digits(one.most)
    where = "however long it runs" if one.epochs is None else f"in {count(one.epochs, 'epoch')}"
    radius = f"R = {four_digits(one.R)}"
    terms = radius if one.gamma is None else f"{radius}, γ = {four_digits(one.gamma)}"
    return f"{made} of at most {most} {where}: {one.formula} with {terms}."


def balance(e: EvaluationFacts) -> str:
    """Balanced accuracy and rankings in a sentence."""
    told = f"Balanced over the classes, {percent(e.balanced_accuracy)} are found."
    if e.roc_auc is not None and e.average_precision is not None:
        of = "mean over the classes" if len(e.classes) > 2 else isolated(e.classes[1].name)
        told += f" ROC AUC {e.roc_auc:.4f}, average precision {e.average_precision:.4f} ({of})."
    return told


def confusions(e: EvaluationFacts, most: int) -> list[tuple[str, str, int]]:
    """What is most often taken for what."""
    names = [one.name for one in e.classes]
    pairs = [
        (names[i], names[j], n)
        for i, row in enumerate(e.confusion)
        for j, n in enumerate(row)
        if n and i != j
    ]
    return sorted(pairs, key=lambda pair: -pair[2])[:most]


def next_step(s: FitFacts) -> str:
    """What to try next."""
    told = advice(s)
    return f"{told[0].upper()}{told[1:]}." if told else ""


# What the command says --------------------------------------------------------------------------


class Said(NamedTuple):
    """A line of the command's report: its name, and texts or tables."""

    name: str
    parts: list[str | list[list[str]]]


def said(s: PageFacts) -> Iterator[Said]:
    """The lines of the report of `rosenblatt fit`, for all that has no picture."""
    for name, what in fit_lines(s.fit, None, 8, 100):
        if name not in ELSEWHERE:
            yield Said(name, list(_plain(what)))


def compared(found: ComparisonFacts) -> Iterator[Said]:
    """The lines of the report of `rosenblatt compare`, but for its table."""
    for name, what in comparison_lines(found, 100):
        if name not in (*ELSEWHERE, "kinds", "again"):
            yield Said(name, list(_plain(what)))


def _plain(what: RenderableType) -> Iterator[str | list[list[str]]]:
    if isinstance(what, Group):
        for part in what.renderables:
            yield from _plain(part)
    elif isinstance(what, Table):
        cells = [[_text(cell) for cell in column.cells] for column in what.columns]
        yield [list(row) for row in zip(*cells, strict=True)]
    else:
        yield _text(what)


def _text(what: Any) -> str:
    return what.plain if isinstance(what, Text) else str(what)


# Below pictures ---------------------------------------------------------------------------------


def curves_caption(n: int) -> str:
    """What the lines are where they have no names."""
    if n <= SERIES:
        return ""
    return f"A line for each class{f', the first {MOST_LINES}' if n > MOST_LINES else ''}. "


def learning_caption(s: PageFacts) -> str:
    """What the last rows have brought."""
    found = s.learning
    if found is None or len(found.rows) < 2:
        return ""
    gain = 100 * (fmean(found.right[-1]) - fmean(found.right[-2]))
    told = f"The last {grouped(found.rows[-1] - found.rows[-2])} rows changed it by {gain:+.1f} "
    told += f"points. Mean over {count(len(found.right[0]), 'fold')}, with the worst and the best."
    return told.replace("-", "−")


def distance_caption(s: PageFacts) -> str:
    """How to read the histogram."""
    found = s.distances
    if found is None:
        return ""
    cut = f" {count(found.cut, 'row')} lie farther out and are with the last bars." * bool(
        found.cut
    )
    if found.unit == "lead":
        return f"Below 0 another class has the higher value, and the row is wrong.{cut}"
    rows = "rows of training"
    what = "hyperplane" if found.unit == "distance" else "boundary"
    edge = ", dashed lines the margin" if found.margin else ""
    told = f"The {rows}; the upright line is the {what}{edge}. "
    return f"{told}Bars on the other class's side are errors.{cut}"


def course_caption(s: PageFacts) -> str:
    """How to read the course of a run."""
    run = s.fit.run
    if run is None or s.course is None:
        return ""
    if s.course.what == "loss":
        return "The delta rule makes this smaller, not the number of errors."
    made = f"{count(sum(run.mistakes), 'mistake')} in {count(run.epochs, 'epoch')}"
    lines = curves_caption(len(s.course.values))
    return f"{lines}{made}. Where it comes to 0, every row was right in a whole epoch."
