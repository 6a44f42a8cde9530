"""Arguments and options that several commands have."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

trains = partial(typer.Option, rich_help_panel="How to train")
curves = partial(typer.Option, rich_help_panel="Kernels (--model kernel)")
reads = partial(typer.Option, rich_help_panel="How to read the table")

FILE = "A table: CSV, TSV, Parquet or JSON lines, also compressed; - for standard input."
TARGET = "The column with the classes. Default: the last one."
UPDATE = "online: one update per mistake (the default); batch: per epoch; minibatch."
INIT = "zeros (the default), random, or weights with commas, the bias last."
BIAS = "Whether to learn a bias. Default: yes; kernel: no."
WEIGHTS = "How much the classes count: balanced, or CLASS=WEIGHT with commas."
KERNEL = "rbf (the default), gaussian, poly, linear or sigmoid. Means --model kernel."
GAMMA = "scale (the default: 1/(features * variance)), auto (1/features), or a number."
SIGMA = "gaussian: the width, instead of --gamma."
COEF0 = "poly, sigmoid: the number added (1)."
RAW = "Leave numbers as they are instead of standardising them."
USE = "Use this column even if it looks like an identifier."
DELIMITER = "What stands between cells. Default: look."
HEADER = "Whether the first line has names. Default: look."

Updates = Literal["online", "batch", "minibatch"]
Orders = Literal["cyclic", "shuffled", "sampled", "random-mistake", "worst-mistake"]
Kernels = Literal["rbf", "gaussian", "poly", "linear", "sigmoid"]

File = Annotated[str, typer.Argument(metavar="FILE", help=FILE)]
Target = Annotated[str | None, typer.Option("--target", "-t", metavar="COLUMN", help=TARGET)]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON, for scripts.")]

Update = Annotated[Updates | None, trains(metavar="WHEN", help=UPDATE)]
BatchSize = Annotated[int | None, trains(metavar="N", help="Rows per minibatch.")]
Init = Annotated[str | None, trains(metavar="START", help=INIT)]
Intercept = Annotated[bool | None, trains(metavar="", help=BIAS)]
MaxEpochs = Annotated[int | None, trains(metavar="N", help="Most passes (1000).")]
ClassWeight = Annotated[str | None, trains(metavar="WEIGHTS", help=WEIGHTS)]
Seed = Annotated[int | None, trains(metavar="N", help="For everything random (0).")]
Threads = Annotated[int | None, trains(metavar="N", help="Threads (one per core).")]

Kernel = Annotated[Kernels | None, curves(metavar="KERNEL", help=KERNEL)]
Gamma = Annotated[str | None, curves(metavar="X", help=GAMMA)]
Sigma = Annotated[str | None, curves(metavar="X", help=SIGMA)]
Degree = Annotated[str | None, curves(metavar="N", help="poly: its degree (3).")]
Coef0 = Annotated[str | None, curves(metavar="X", help=COEF0)]

Raw = Annotated[bool, reads("--raw", metavar="", help=RAW)]
Ignore = Annotated[list[str] | None, reads(metavar="COLUMN", help="Leave it out.")]
Use = Annotated[list[str] | None, reads(metavar="COLUMN", help=USE)]
Header = Annotated[bool | None, reads(metavar="", help=HEADER)]
Delimiter = Annotated[str | None, reads(metavar="C", help=DELIMITER)]
