"""What the server answers. Columns are lists with an entry for each update, never objects.

None stands for a number beyond floats, and for what there is none of.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Numbers = list[float | None]
Vectors = list[list[float]]


class Answer(BaseModel):
    """Base of what is answered."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null")


class Trouble(Answer):
    """Why there is no answer, in one sentence."""

    detail: str


# Runs -------------------------------------------------------------------------------------------


class Plane(Answer):
    """The line ``w·x + b = 0`` in the coordinates of the picture."""

    w: list[float]
    b: float


class Stop(Answer):
    """Why a run ended."""

    reason: str
    sentence: str


class CycleFound(Answer):
    """The weights after epoch `entry` come back every `period` epochs."""

    entry: int
    period: int


class Bound(Answer):
    """The most mistakes there can be."""

    R: float | None
    gamma: float | None
    bound: float | None = Field(description="None: beyond floats.")
    most: float | None
    epochs: int | None = Field(description="For how many it holds; None: any number.")
    separable: bool | None
    formula: str
    terms: str
    sentence: str


class Lemmas(Answer):
    """The two sides of both lemmas, an entry for each of the course."""

    progress: Numbers = Field(description="θ·θ*, for the best θ*.")
    progress_least: Numbers = Field(description="What it is at least.")
    length: Numbers = Field(description="‖θ‖.")
    length_most: Numbers = Field(description="What it is at most.")
    holds: bool


class Shown(Answer):
    """The vector that would be returned if the run were stopped after an entry.

    Of hyperplanes w and b; in dual form the number of the update whose vector it is (the pocket),
    or nothing (averages and votes follow from `visit`).
    """

    keep: Literal["pocket", "average", "vote"]
    w: Vectors | None = None
    b: Numbers | None = None
    number: list[int] | None = None


class Batch(Answer):
    """The mistakes of each entry: those of entry e are ``sample[offset[e]:offset[e + 1]]``."""

    offset: list[int]
    sample: list[int]
    step: list[float]


class EpochTable(Answer):
    """The end of each epoch (of very many, of some)."""

    epoch: list[int]
    updates: list[int] = Field(description="Done by then.")
    visits: list[int]
    mistakes: list[int] = Field(description="In this epoch.")
    errors: list[int] | None = Field(description="Training errors of the vector shown.")
    loss: Numbers | None = Field(
        description="Perceptrons: mean of max(0, -y f(x)) of the last vector. Delta rule: mean of "
        "(t - o)²/2 over the visits."
    )
    w: Vectors | None = Field(description="The vector shown: what stopping there would return.")
    b: Numbers | None


class Scans(Answer):
    """What each scan of a best hyperplane found; entry 0 of the course is before the first."""

    primal: Numbers
    dual: Numbers
    gap: Numbers
    rows: list[int]


class Margin(Answer):
    """A best hyperplane: who holds it, and where the samples lie."""

    width: float | None = Field(description="1/‖w‖, half the width of the band.")
    gap: float | None
    C: float | None = Field(description="None: the maximum margin.")
    support: list[int]
    multipliers: list[float]
    slack: list[float] = Field(description="Of each sample; of a table, of each row drawn.")
    outside: list[int] = Field(description="These four, too, are of the rows drawn.")
    on: list[int]
    inside: list[int]
    wrong: list[int]
    nearest: list[list[float]] | None = Field(description="The nearest points of the hulls.")


class Dropped(Answer):
    """A sample that was left out as a probable outlier."""

    sample: int
    count: int
    epoch: int
    number: int = Field(description="The update at which that happened.")


class Course(Answer):
    """One two-class problem from its start (entry 0) to its end; columns have equal lengths.

    Where several classes are one problem (`Run.joint`) there is a course for each class's
    hyperplane, with the same entries: sign 1 where it gains the sample, -1 where it loses it, 0
    where it stays.
    """

    positive: int = Field(description="The class that is +1.")
    negative: int | None = Field(description="The class that is -1; None: all others.")
    number: list[int] = Field(description="How many updates (epochs, scans) were done.")
    visit: list[int] = Field(
        description="How many samples (batches) had been visited, with this one: the one clock of "
        "all courses. A vector lives from its visit to the next."
    )
    epoch: list[int]
    sample: list[int] = Field(description="The (first) mistake; -1 at the start.")
    sign: list[int] = Field(description="Its side in this problem, 0 at the start.")
    step: list[float] = Field(description="The factor of the sample: eta*y*weight.")
    value: list[float] = Field(description="w·x + b of the sample before the update.")
    mistakes: list[int] = Field(description="So far.")
    w: Vectors | None = Field(description="After the update. None: in dual form.")
    b: Numbers | None
    shown: Shown | None = Field(default=None, description="None: what is shown is the last.")
    batch: Batch | None = Field(default=None, description="Where an entry has several mistakes.")
    removed: list[int] | None = Field(
        default=None, description="The support vector forgotten for this one (budget); -1: none."
    )
    dropped: list[Dropped] = []
    bound: Bound | None = None
    lemmas: Lemmas | None = None
    epochs: EpochTable | None = None
    scans: Scans | None = None
    margin: Margin | None = None
    stop: Stop
    cycle: CycleFound | None = None
    kept: Plane | None = Field(default=None, description="The model; None: in dual form.")
    coef: list[float] | None = Field(
        default=None,
        description="Dual form: coefficients of all samples in the model kept, if not too many.",
    )
    total: int = Field(description="Updates (epochs, scans) in all.")
    mistakes_in_all: int
    epochs_in_all: int


class KernelUsed(Answer):
    """The kernel with the numbers that were used: the page adds up K(x_i, x) + bias."""

    kind: Literal["linear", "poly", "rbf", "sigmoid"]
    degree: int
    gamma: float
    coef0: float
    bias: float
    formula: str


class Thinned(Answer):
    """That only some of the updates are told."""

    shown: int
    total: int
    sentence: str


class View(Answer):
    """How a table is seen: which rows are drawn, and where."""

    names: list[str] = Field(description="Of the two axes.")
    rows: list[int] = Field(description="Of the table, from 0; `sample` is one of all rows.")
    points: Vectors
    labels: list[int]
    total: int
    sentence: str
    features: list[str] = Field(description="All that the algorithm uses.")
    axes: Vectors | None = Field(description="Along w: the two directions. None: two features.")
    centre: list[float] | None


class Run(Answer):
    """A whole run, columnar. The state after entry e is entry e; entry 0 is the start."""

    algorithm: str
    unit: Literal["update", "epoch", "scan"] = Field(description="What an entry is.")
    joint: bool
    classes: list[int] = Field(description="The classes that there are samples of.")
    courses: list[Course]
    errors: int = Field(description="Training errors of the model.")
    eta: float | None = Field(description="The learning rate used.")
    kernel: KernelUsed | None = None
    thinned: Thinned | None = None
    view: View | None = None
    notes: list[str] = Field(description="What is to be said beside it, in sentences.")


# Verdicts ---------------------------------------------------------------------------------------


class Proof(Answer):
    """Samples whose weighted means meet in one point: why nothing separates strictly."""

    samples: list[int]
    weights: list[float] = Field(description="Sum to 1 in each class.")
    point: list[float]


class Verdict(Answer):
    """The verdict on two classes, or on one against the rest."""

    positive: int
    negative: int | None
    verdict: Literal["separable", "quasi-separable", "inseparable", "undecided"]
    sentence: str
    hyperplane: Plane | None
    margin: float | None = Field(description="Of the hyperplane.")
    widest: Plane | None = Field(description="The maximum-margin hyperplane, if it was looked for.")
    widest_margin: float | None
    proof: Proof | None
    spanning: list[int] = Field(description="Why nothing separates even weakly, or touches less.")
    on: list[int] = Field(description="Quasi-separable: the samples on the hyperplane.")
    bound: Bound | None = Field(
        description="Of an online perceptron from zero; None: there is none."
    )


class Judgement(Answer):
    """Whether hyperplanes separate the classes."""

    classes: list[int]
    verdicts: list[Verdict] = Field(description="One for two classes, one for each of more.")
    joint: Literal["separable", "quasi-separable", "inseparable", "undecided"] | None = Field(
        description="Whether each of more than two classes can have the highest value on its own."
    )
    joint_sentence: str | None
    hulls: dict[int, Vectors] = Field(description="The corners of each class's hull, in order.")
    overlap: Vectors = Field(description="What the hulls of two classes have in common.")
    kernel: str | None = Field(description="The kernel in symbols, where it was asked about.")


# Data, code -------------------------------------------------------------------------------------


class Generated(Answer):
    """Data, and what is known about them."""

    points: Vectors
    labels: list[int]
    names: list[str]
    features: list[str]
    description: str


class Held(Answer):
    """A table that the server holds, read-only, under its fingerprint."""

    table: str
    name: str
    target: str
    names: list[str] = Field(description="Of the classes.")
    counts: list[int] = Field(description="Rows of each class.")
    rows: int
    features: list[str]
    columns: list[str] = Field(description="Two features that are a good first look.")
    notes: list[str]


class TableRead(Answer):
    """A table that was pasted: its points, or, of other than two numbers a row, that it is held."""

    points: Generated | None
    held: Held | None


class Code(Answer):
    """What does the same elsewhere."""

    python: str
    command: str | None
    note: str | None = Field(description="What the command does otherwise, or why there is none.")
