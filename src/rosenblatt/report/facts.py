"""The facts about a fit, frozen: nothing in them is a sentence, and no sentence is needed.

Their names and annotations say what stands in JSON (`as_json`), and how it is read (`saved`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from rosenblatt.report.choice import ChoiceFacts
from rosenblatt.report.cross_validation import ValidationFacts
from rosenblatt.report.evaluation import EvaluationFacts
from rosenblatt.results import Inseparable, QuasiSeparable, Separable, StopReason, Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Document = dict[str, Any]

PATIENCE = 10.0  # seconds that the verdicts on a fit may take together, at most
# What is called otherwise in JSON, and parts whose entries stand there among those of the whole.
KEYS = {
    "version": "rosenblatt",
    "counts": "classes",
    "scores": "cross_validation",
    "label": "class",
}
SOLVED = (StopReason.SEPARATED, StopReason.NO_MISTAKES)
KEPT = ("last", "average", "pocket", "vote")
MERGED = ("table", "run", "expansion", "sides", "numbers")
ORDER = (
    *("file", "has_header", "days_first", "months_first", "years_first", "decimal_points"),
    *("decimal_commas", "units", "as_they_stand", "names", "rosenblatt", "model"),
    *("parameters", "choice", "classes", "features", "feature_map", "stop_reasons", "cycles"),
    *("epochs", "mistakes"),
    *(
        "updates",
        "kept",
        "optima",
        "kernel",
        "support",
        "dropped",
        "training_errors",
        "missed",
        "trained",
    ),
    *("target", "rows", "rows_without_class", "missing", "columns", "standardized"),
    *("steps", "weighted", "margins"),
    *("cross_validation", "folds", "validation", "calibration", "bend", "majority"),
    *("tested_on", "test"),
    *("verdicts", "evidence", "proved"),
    *("grounds", "seconds", "fingerprint", "command", "versions", "notes"),
)


def as_json(value: Any) -> Any:
    """Facts as JSON has them; what has its default is left out."""
    if is_dataclass(value):
        found: Document = {}
        for one in fields(value):
            part, name = getattr(value, one.name), KEYS.get(one.name, one.name)
            if part != one.default:
                found |= as_json(part) if one.name in MERGED else {name: as_json(part)}
        return found
    if isinstance(value, tuple):
        return [as_json(part) for part in value]
    if isinstance(value, Mapping):
        return dict(value)
    return value.name if isinstance(value, Enum) else value


@dataclass(frozen=True)
class TableFacts:
    """The table of a fit, and what was learned from which part of it."""

    file: str
    names: tuple[str, ...]
    trained: str  # when
    target: str
    rows: int
    rows_without_class: int
    columns: int
    standardized: bool
    scores: tuple[float, ...]  # the share of right answers in each fold
    majority: float  # the share of the largest class
    has_header: bool | None = None  # None: it was made, not read
    folds: int | None = None  # that there were to be, where there was time for fewer
    missing: tuple[str, ...] = ()  # what else stood for missing cells
    days_first: tuple[str, ...] = ()  # columns of dates such as 31/12/2024
    months_first: tuple[str, ...] = ()  # and such as 12/31/2024
    years_first: tuple[str, ...] = ()  # and such as 24/12/31
    decimal_points: tuple[str, ...] = ()  # columns of numbers such as 1,234.5 or $5
    decimal_commas: tuple[str, ...] = ()  # and such as 1.234,5
    units: Mapping[str, str] | None = None  # that stand behind numbers
    as_they_stand: tuple[str, ...] = ()  # columns in which YES is not yes
    steps: tuple[str, ...] = ()  # of a pipeline in Python that made the features of the columns
    weighted: bool = False  # whether samples had weights of their own
    fingerprint: str = ""  # of what was learned from: `report.fingerprints`


@dataclass(frozen=True)
class RunFacts:
    """What the epochs of a run came to; of each two-class problem where there are several."""

    cycles: tuple[tuple[int, int] | None, ...]  # entry and period
    epochs: int
    mistakes: tuple[int, ...]
    updates: tuple[int, ...]
    kept: tuple[str, ...] = ()  # "last", "average" and so on; empty: there is no choice


@dataclass(frozen=True)
class ProofFacts:
    """Rows whose convex hulls meet, with their shares of the point where they do."""

    rows: tuple[int, ...]
    shares: tuple[float, ...]
    classes: tuple[str, ...] | None = None  # None: the table is not at hand


@dataclass(frozen=True)
class SideFacts:
    """How many rows lie where about a margin, their slack, and N, what their weights sum to."""

    N: float
    slack: float
    outside: int
    on: int
    inside: int
    wrong: int


@dataclass(frozen=True, kw_only=True)
class OptimumFacts:
    """How good a hyperplane is, of which it was asked that it be the best."""

    C: float | None
    margin: float | None
    primal: float | None
    dual: float | None
    gap: float | None
    scans: int
    support: tuple[int, ...]  # rows
    conditions: Mapping[str, Any] = field(default_factory=dict)
    proof: ProofFacts | None  # that there is no maximum margin
    positive: str
    sides: SideFacts | None = None  # None: the table is not at hand


@dataclass(frozen=True)
class MistakenRow:
    """A row that was often a mistake; `epoch` and `positive`: when, and for whom, it was dropped.

    `label`, its class, is None where the table is not at hand.
    """

    row: int
    mistakes: int
    epoch: int | None = None
    label: str | None = None
    positive: str | None = None


@dataclass(frozen=True)
class KernelFacts:
    """A kernel with its numbers."""

    name: str
    formula: str
    numbers: Mapping[str, float]


@dataclass(frozen=True)
class MapFacts:
    """A feature map between the columns and a linear model."""

    name: str  # of its class
    of: int  # how many features it was given
    size: int | None  # its degree, or how many features were asked for
    gamma: float | None = None  # of the Gaussian kernel that it is near

    @property
    def random(self) -> bool:
        """Whether its features are drawn at random, so that none means anything by itself."""
        return self.name in ("RandomFourier", "Nystroem")


@dataclass(frozen=True)
class SupportFacts:
    """How many support vectors there are, of each class if that is known, and the hardest."""

    count: int
    hardest: tuple[MistakenRow, ...]
    counts: Mapping[str, int] | None = None


@dataclass(frozen=True)
class ExpansionFacts:
    """The sum that a kernel perceptron is: its kernel, its support vectors, rows left out."""

    kernel: KernelFacts
    support: SupportFacts
    dropped: tuple[MistakenRow, ...]


class Ground(Enum):
    """What a verdict rests on, or why there is none."""

    MODEL = "the model itself separates the rows"
    LAST_VECTOR = "the last vector of the run, which is not the model, separates them"
    HYPERPLANE = "a hyperplane that was looked for"
    HULLS = "rows whose convex hulls meet"
    SAME_ROWS = "two rows that are the same but for their classes"
    DIFFERENT_ROWS = "this kernel separates all rows that differ, and these do"
    TIME = "time ran out"
    WORK = "exact arithmetic would have taken too long"
    STOPPED = "Ctrl-C came first"
    TOO_MANY_ROWS = "this kernel is not compared among so many rows"
    NO_INNER_PRODUCT = "the kernel is no inner product of these rows"
    ERROR_UNKNOWN = "nobody knows how far the values of the kernel are off"
    FAILED = "an error, which `message` has"
    TOLD = "a sentence of version 0.1, which `message` has"


@dataclass(frozen=True)
class VerdictFacts:
    """Whether anything of its kind could have separated the rows of a fit, and how one knows."""

    verdict: Verdict
    ground: Ground
    proved: bool = False  # beyond rounding
    rows: tuple[int, ...] = ()  # that prove it: two that are the same, or whose convex hulls meet
    rounded: bool = False  # whether the two differ in the table, and rounding made them the same
    some_columns: bool = False  # whether there are columns, not used, in which they may differ
    on: int | None = None  # how many rows lie on every hyperplane with none on its wrong side
    margin: float | None = None  # of the hyperplane that was found
    tolerance: float | None = None  # by which values of the kernel may be off
    in_features: bool = False  # about hyperplanes in the space of a kernel
    through_origin: bool = False  # about those through the origin only
    joint: bool = False  # about all classes as one problem
    with_bias: bool = False  # about those with a bias though the model has none
    repeats: bool = False  # the run repeats itself, which the verdict explains
    n_rows: int = 0  # among how many it would have been looked for
    patience: float = PATIENCE  # seconds after which time ran out
    message: str = ""  # what somebody else said
    proof: QuasiSeparable | Inseparable | None = None  # that nothing separates; it is not stored

    @classmethod
    def of(cls, certificate: Any, rows: NDArray[np.int64], some_columns: bool) -> VerdictFacts:
        """What a certificate proves; `rows` of the file its samples are."""
        verdict = certificate.verdict
        if isinstance(certificate, Separable):
            margin = float(certificate.margin)
            return cls(verdict, Ground.HYPERPLANE, proved=True, margin=margin)
        same = len(certificate.support) == 2
        return cls(
            verdict,
            Ground.SAME_ROWS if same else Ground.HULLS,
            proved=True,
            rows=tuple(rows[certificate.support].tolist()),
            some_columns=same and some_columns,
            on=len(certificate.on) if isinstance(certificate, QuasiSeparable) else None,
            proof=certificate,
        )


@dataclass(frozen=True)
class CalibrationFacts:
    """How decision values become probabilities, and by answers to how many rows left out."""

    method: str  # "sigmoid" or "isotonic"
    rows: int


@dataclass(frozen=True)
class BendFacts:
    """What bends the boundary, in `options`, and how many of the `rows` of a fold it had `right`.

    The model as it is, which does not bend, had as many right as `straight` says.
    """

    options: str
    rows: int
    right: int
    straight: int


@dataclass(frozen=True)
class FitFacts:
    """All there is to say about a fit; tuples have an entry for each two-class problem.

    `run` is None for margin classifiers, `optima` empty for the others; `expansion` is there for
    kernel perceptrons only, and `margins` for all but them; `table` is None for a model that was
    fitted in Python.
    """

    version: str
    model: str
    parameters: Mapping[str, Any]  # those that are not the defaults, as JSON has them
    counts: Mapping[str, int | None]  # rows of each class, None where the table is not at hand
    features: int
    stop_reasons: tuple[StopReason, ...]
    training_errors: int
    run: RunFacts | None = None
    optima: tuple[OptimumFacts, ...] = ()
    expansion: ExpansionFacts | None = None
    table: TableFacts | None = None
    margins: tuple[float | None, ...] | None = None
    verdicts: tuple[VerdictFacts, ...] = ()  # empty: nobody asked
    seconds: float | None = None
    notes: tuple[str, ...] = ()
    test: EvaluationFacts | None = None  # on rows that were not learned from
    tested_on: str = ""  # the file of these rows, or how many were held out
    feature_map: MapFacts | None = None
    validation: ValidationFacts | None = None  # by cross-validation
    choice: ChoiceFacts | None = None  # of a parameter, by folds
    calibration: CalibrationFacts | None = None  # if there are probabilities
    bend: BendFacts | None = None  # what would bend the boundary, and helped
    missed: tuple[str, ...] = ()  # classes none of whose rows a linear model gets right
    command: str = ""  # as it was typed, but for passwords and the home folder
    versions: Mapping[str, str] | None = None  # of what made the model

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return tuple(self.counts)

    @property
    def joint(self) -> bool:
        """Whether all its classes were one problem."""
        return self.parameters.get("multiclass") == "joint" and len(self.counts) > 2

    @property
    def rows(self) -> int | None:
        """How many were learned from, if that is known."""
        return None if self.table is None else self.table.rows

    @property
    def reasons(self) -> frozenset[StopReason]:
        """Why it stopped."""
        return frozenset(self.stop_reasons)

    @property
    def standardized(self) -> bool:
        """Whether there were numbers that were standardised."""
        return self.table is not None and self.table.standardized

    @property
    def weighted(self) -> bool:
        """Whether some rows counted more than others."""
        own = self.table is not None and self.table.weighted
        return own or self.parameters.get("class_weight") is not None

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of a pipeline that made the features, where they are none of the library's."""
        return () if self.table is None else self.table.steps

    @property
    def hopeless(self) -> bool:
        """Whether each of the problems that are not solved has no hyperplane that separates it."""
        none = {Verdict.INSEPARABLE, Verdict.QUASI_SEPARABLE}
        left = {one.verdict for one in self.verdicts} - {Verdict.SEPARABLE}
        cut_off = [
            one.verdict is Verdict.SEPARABLE and reason not in SOLVED
            for one, reason in zip(self.verdicts, self.stop_reasons, strict=False)
        ]
        return bool(left) and left <= none and not any(cut_off)

    @property
    def missed_small(self) -> str:
        """The smallest class that is missed altogether, if it is small beside the largest."""
        if "class_weight" in self.parameters:
            return ""
        sizes = {name: n or 0 for name, n in self.counts.items()}
        small = [name for name in self.missed if 2 * sizes[name] <= max(sizes.values())]
        return min(small, key=lambda name: sizes[name], default="")

    @property
    def separable(self) -> bool:
        """Whether each of the problems has a hyperplane that separates it."""
        return {one.verdict for one in self.verdicts} == {Verdict.SEPARABLE}

    @property
    def without_maximum(self) -> list[OptimumFacts]:
        """The problems for which it is proved that there is no maximum margin."""
        return [one for one in self.optima if one.proof is not None]

    def as_json(self) -> Document:
        """As ``--json`` prints it and a model file stores it: with the sentences on verdicts."""
        from rosenblatt.report.sentences import verdict_sentence

        found = as_json(replace(self, verdicts=()))
        if self.table is not None:
            found |= {"notes": list(self.notes)}
        if self.verdicts:
            grounds = [as_json(replace(one, proof=None)) for one in self.verdicts]
            found |= {
                "verdicts": [ground.pop("verdict") for ground in grounds],
                "evidence": [verdict_sentence(one) for one in self.verdicts],
                "proved": [ground.pop("proved", False) for ground in grounds],
                "grounds": grounds,
            }
        return {name: found[name] for name in ORDER if name in found}
