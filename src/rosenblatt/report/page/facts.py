"""All that a page shows, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rosenblatt.report.evaluation import EvaluationFacts
from rosenblatt.report.facts import FitFacts

if TYPE_CHECKING:
    from rosenblatt.report.comparison import ComparisonFacts
    from rosenblatt.report.rows import RowsFacts
    from rosenblatt.report.suspicion import SuspicionFacts
    from rosenblatt.report.terminal import NamedWeights

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True)
class ColumnFacts:
    """A column of the table: what it holds, and what became of it.

    `low`, `mean`, `high` and `deviation` are those of numbers; `values` are the most frequent
    ones of texts, with how often they occur, of `n_values` in all.
    """

    name: str
    kind: str  # number, date, text, words or features
    features: int
    missing: int = 0
    left_out: str = ""  # why, if it was
    low: float | None = None
    mean: float | None = None
    high: float | None = None
    deviation: float | None = None
    values: tuple[tuple[str, int], ...] = ()
    n_values: int = 0


@dataclass(frozen=True)
class Histogram:
    """How many rows of each kind lie where; `unit` is distance, value or lead.

    A distance is signed: above 0 is the side of the second class. So is a decision value of a
    kernel perceptron. A lead is the value of a row's own class less the highest of the others.
    `cut` rows lie beyond the first or the last edge and are counted with the outermost.
    """

    unit: str
    edges: tuple[float, ...]
    counts: Mapping[str, tuple[int, ...]]
    margin: float | None = None
    cut: int = 0


@dataclass(frozen=True)
class CourseFacts:
    """The mistakes of each epoch, by problem; of a long run some epochs, evenly spaced.

    `what` is "mistakes", or "loss" for the delta rule.
    """

    what: str
    epochs: tuple[int, ...]
    values: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, kw_only=True)
class MistakesFacts:
    """The mistakes of a run beside the most that there can be."""

    positive: str | None  # None: of all classes as one problem
    mistakes: int
    most: float
    R: float
    gamma: float | None
    formula: str
    epochs: int | None  # for which the bound holds; None: however long it runs


@dataclass(frozen=True)
class RankingCurves:
    """How well decision values rank the rows of one class before the others, at any threshold."""

    name: str
    roc: Points  # share of the others taken for it, share of it that is found
    precision: Points  # recall, precision


@dataclass(frozen=True)
class LearningCurve:
    """The share of right answers after learning from fewer rows; by fold, a number per size."""

    rows: tuple[int, ...]
    right: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Judgement:
    """What the model is worth by rows with known classes: `by` says whose.

    It is "test" (another table), "held out", "folds" or "training"; `where` is the table's name.
    """

    by: str
    evaluation: EvaluationFacts
    curves: tuple[RankingCurves, ...] = ()
    where: str = ""
    folds: int = 0


@dataclass(frozen=True)
class Recipe:
    """How to get the same model again; `why_not` the whole of it, if anything stands against it."""

    command: str
    python: str
    why_not: str = ""


@dataclass(frozen=True, kw_only=True)
class PageFacts:
    """Everything on the page; what is None or empty was not asked, or cannot be."""

    fit: FitFacts
    weights: NamedWeights | None = None
    columns: tuple[ColumnFacts, ...] = ()
    judgement: Judgement | None = None
    learning: LearningCurve | None = None
    distances: Histogram | None = None
    course: CourseFacts | None = None
    bounds: tuple[MistakesFacts, ...] = ()
    suspects: SuspicionFacts | None = None
    rows: RowsFacts | None = None
    comparison: ComparisonFacts | None = None
    recipe: Recipe | None = None
    left_out: tuple[str, ...] = ()  # what there was no time for, or cannot be
