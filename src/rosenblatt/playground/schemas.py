"""What the page may ask: data, settings, questions. With `answers` the contract of the two sides.

Whatever does not fit is refused with one sentence: unknown fields, numbers that are not finite,
more points, features, epochs or text than the limits below.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

MOST_POINTS = 2_000  # drawn, and sent with a request
MOST_CLASSES = 8
MOST_EPOCHS = 100_000
MOST_ENTRIES = 5_000
MOST_TEXT = 4_000_000  # characters of a pasted table
FARTHEST = 1e9  # a coordinate
LARGEST = 1e6  # any other number
SEEDS = 2**32 - 1


class Asked(BaseModel):
    """Base of what is asked: frozen, finite, nothing that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


Coordinate = Annotated[float, Field(ge=-FARTHEST, le=FARTHEST)]
Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Positive = Annotated[float, Field(gt=0, le=LARGEST)]
ClassNumber = Annotated[int, Field(ge=0, lt=MOST_CLASSES)]
Name = Annotated[str, StringConstraints(max_length=200)]
Fingerprint = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]


# Data -------------------------------------------------------------------------------------------


class Points(Asked):
    """Points in the plane, each with the number of its class."""

    points: list[tuple[Coordinate, Coordinate]] = Field(max_length=MOST_POINTS)
    labels: list[ClassNumber] = Field(max_length=MOST_POINTS)
    names: list[Name] = Field(default=[], max_length=MOST_CLASSES, description="Of the classes.")

    @model_validator(mode="after")
    def _one_label_each(self) -> Points:
        if len(self.points) != len(self.labels):
            msg = f"there are {len(self.points)} points but {len(self.labels)} labels"
            raise ValueError(msg)
        return self


class FromTable(Asked):
    """A table that the server holds, seen in two of its features or along w."""

    table: Fingerprint
    columns: tuple[Name, Name] | Literal["along-w"] = Field(
        description="Two features, which are then all that is used; or 'along-w': all features "
        "are used, and seen along w against the main remaining direction."
    )


Data = Points | FromTable

# Settings ---------------------------------------------------------------------------------------

Order = Literal["cyclic", "shuffled", "sampled", "random-mistake", "worst-mistake"]
Start = Annotated[list[Number], Field(max_length=1001)]
Epochs = Annotated[int, Field(ge=1, le=MOST_EPOCHS)]


class InEpochs(Asked):
    """What all have that learn in epochs. Words and meanings are those of the estimators."""

    max_epochs: Epochs = 100
    tol: Positive | None = None
    class_weight: Literal["balanced"] | list[Annotated[float, Field(ge=0, le=LARGEST)]] | None = (
        Field(default=None, description="A list has a weight for each class, by its number.")
    )
    random_state: int = Field(default=0, ge=0, le=SEEDS)


class Linear(InEpochs):
    """What all have that move a hyperplane."""

    update: Literal["online", "batch", "minibatch"] = "online"
    batch_size: int | None = Field(default=None, ge=1, le=1_000_000)
    fit_intercept: bool = True
    init: Literal["zeros", "random"] | Start | Annotated[list[Start], Field(max_length=8)] = "zeros"


class AnyPerceptron(Linear):
    """What the perceptron has in all its forms."""

    order: Order = "cyclic"
    eta0: Positive = 1.0
    at_zero: Literal[-1, 1] | None = None
    multiclass: Literal["ovr", "joint"] = "ovr"


class PerceptronSettings(AnyPerceptron):
    """The perceptron; "auto" keeps the last vector if it separates, otherwise the average."""

    algorithm: Literal["perceptron"]
    keep: Literal["last", "auto"] = "last"


class PocketSettings(AnyPerceptron):
    """The perceptron that keeps the vector with the fewest training errors."""

    algorithm: Literal["pocket"]


class AverageSettings(AnyPerceptron):
    """The perceptron that keeps the mean of its vectors after every visit."""

    algorithm: Literal["average"]


class AdalineSettings(Linear):
    """The delta rule."""

    algorithm: Literal["adaline"]
    order: Literal["cyclic", "shuffled", "sampled"] = "cyclic"
    eta0: Positive | Literal["auto"] = "auto"
    tol: Positive | None = 1e-6


class KernelFunction(Asked):
    """A kernel with its parameters."""

    kernel: Literal["rbf", "gaussian", "poly", "linear", "sigmoid"] = "rbf"
    degree: int = Field(default=3, ge=1, le=20)
    gamma: Positive | Literal["scale", "auto"] = "scale"
    coef0: Number = 1.0
    sigma: Positive | None = None
    fit_intercept: bool = False


class AnyKernel(KernelFunction, InEpochs):
    """What the kernel perceptron has in all its forms."""

    max_epochs: Epochs = 30
    order: Order = "cyclic"


class VoteSettings(AnyKernel):
    """All vectors of a run vote, each with the visits that it lived for."""

    algorithm: Literal["vote"]
    kernel: Literal["rbf", "gaussian", "poly", "linear", "sigmoid"] = "linear"
    fit_intercept: bool = True


class KernelSettings(AnyKernel):
    """The kernel perceptron."""

    algorithm: Literal["kernel"]
    keep: Literal["last", "pocket", "average", "auto"] = "last"
    drop_after: int | None = Field(default=None, ge=2, le=1_000_000)
    budget: int | None = Field(default=None, ge=1, le=1_000_000)


class MaxMarginSettings(Asked):
    """The maximum-margin hyperplane."""

    algorithm: Literal["max-margin"]
    tol: Annotated[float, Field(gt=0, le=1)] = 1e-8


class SoftMarginSettings(Asked):
    """The soft-margin hyperplane."""

    algorithm: Literal["soft-margin"]
    C: Annotated[float, Field(gt=0, le=1e9)] = 1.0
    tol: Annotated[float, Field(gt=0, le=1)] = 1e-6
    class_weight: Literal["balanced"] | list[Annotated[float, Field(ge=0, le=LARGEST)]] | None = (
        None
    )


Settings = Annotated[
    PerceptronSettings
    | PocketSettings
    | AverageSettings
    | VoteSettings
    | AdalineSettings
    | KernelSettings
    | MaxMarginSettings
    | SoftMarginSettings,
    Field(discriminator="algorithm"),
]

# Questions --------------------------------------------------------------------------------------


class RunAsked(Asked):
    """Train, and tell all of it."""

    data: Data
    settings: Settings
    around: int | None = Field(
        default=None,
        ge=0,
        description="Of a run too long to be told whole: all updates around this one.",
    )
    most: int | None = Field(
        default=None,
        ge=20,
        le=MOST_ENTRIES,
        description="Entries to tell, where fewer than usual will do: a point is being moved.",
    )


class JudgeAsked(Asked):
    """Whether any hyperplane separates the classes, and how many mistakes there can be."""

    data: Data
    bias: bool = True
    kernel: KernelFunction | None = Field(
        default=None, description="Ask in its feature space; its fit_intercept is the bias."
    )


class CodeAsked(Asked):
    """Python code and a command that do the same."""

    data: Data
    settings: Settings


class RecordingAsked(Asked):
    """The run as one HTML file."""

    data: Data
    settings: list[Settings] = Field(min_length=1, max_length=4)
    title: Name = ""
    page: dict[str, Any] = Field(
        default={}, description="What the page wants to find again in the file: its own state."
    )


class TableAsked(Asked):
    """A table as text: comma, tab or semicolon between cells, with or without a header."""

    text: str = Field(max_length=MOST_TEXT)
    target: Name | None = Field(default=None, description="The column of the class; None: found.")


Kind = Literal[
    "separable",
    "xor",
    "rings",
    "moons",
    "eight-points",
    "dunkers",
    "quasi-separable",
    "cycle",
    "blobs",
]


class GenerateAsked(Asked):
    """Data of a kind about which something is known."""

    kind: Kind
    n: int = Field(default=60, ge=6, le=MOST_POINTS)
    margin: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.1, description="Of separable data in a disc of radius 1; dunkers: the gap."
    )
    noise: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.0, description="The share of labels that are flipped."
    )
    scatter: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.0, description="How far the points of xor, rings and moons are scattered."
    )
    classes: int = Field(default=3, ge=2, le=MOST_CLASSES, description="Of blobs.")
    seed: int = Field(default=0, ge=0, le=SEEDS)
