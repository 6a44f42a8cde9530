"""``rosenblatt bound``: the mistakes of a run beside the most that there can be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rosenblatt.cli import options
from rosenblatt.cli.options import Orders, check_outputs, check_seed, max_seconds, trains
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import print_json

if TYPE_CHECKING:
    from rosenblatt.report.fits import EncodedTable, LabelledTable
    from rosenblatt.results import BoundReport
    from rosenblatt.validation.refits import Encoder

Model = Literal["perceptron", "kernel"]

PLOT = "Draw the run between the two curves of the proof: .png, .svg or .pdf."
MODEL = "perceptron (the default), or kernel: in the feature space of a kernel."
ORDER = (
    "shuffled (the default), cyclic: as in the file, sampled, blocks: shuffled in tiles, for "
    "tables on disk, random- or worst-mistake."
)
TIME = "Stop training after this long: 10s, 5m, 1h. The bound takes as long as it needs."


def bound(
    ctx: typer.Context,
    files: options.Files = None,
    target: options.Target = None,
    picture: Annotated[str | None, typer.Option("--plot", metavar="PICTURE", help=PLOT)] = None,
    json_: options.Json = False,
    quiet: options.Quiet = False,
    model: Annotated[Model | None, trains(metavar="RULE", help=MODEL)] = None,
    update: options.Update = None,
    batch_size: options.BatchSize = None,
    shards: options.Shards = None,
    order: Annotated[Orders | None, trains(metavar="ORDER", help=ORDER)] = None,
    multiclass: options.Multiclass = None,
    eta0: Annotated[str | None, trains(metavar="RATE", help="The learning rate (1).")] = None,
    at_zero: options.AtZero = None,
    init: options.Init = None,
    intercept: options.Intercept = None,
    max_epochs: options.MaxEpochs = None,
    max_time: Annotated[str | None, trains(metavar="TIME", help=TIME)] = None,
    class_weight: options.ClassWeight = None,
    seed: options.Seed = None,
    n_jobs: options.Threads = None,
    kernel: options.Kernel = None,
    gamma: options.Gamma = None,
    sigma: options.Sigma = None,
    degree: options.Degree = None,
    coef0: options.Coef0 = None,
    raw: options.Raw = False,
    ignore: options.Ignore = None,
    use: options.Use = None,
    number: options.Number = None,
    category: options.Category = None,
    text: options.Text = None,
    missing: options.Missing = None,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    dates: options.Dates = None,
    skip_bad_lines: options.SkipBadLines = None,
    sheet: options.Sheet = None,
    table_name: options.TableName = None,
    query: options.Query = None,
    db: options.Database = None,
    memory: options.Memory = None,
    cache: options.CacheFolder = None,
    cache_size: options.CacheSize = None,
) -> None:
    """Train a perceptron, and set its mistakes beside the bound that theory gives.

    The table is read, encoded and standardised as rosenblatt fit does, and the bound is for that
    run. It is evaluated together with its proof, at every single update; with --kernel in the
    feature space of that kernel. The exit code is 0, or 1 if no hyperplane separates the classes
    there: then only so many epochs have a bound.

    [dim]Example:[/dim] rosenblatt bound examples/banknotes.csv
    """
    check_outputs(picture=picture)
    check_seed(seed or 0)
    max_seconds(max_time)
    with ProgressLine(not quiet) as progress:
        from rosenblatt.cli.fitting import prepare
        from rosenblatt.report.bound_report import BoundFacts, print_bounds
        from rosenblatt.report.fits import kernel_facts

        unasked = max_epochs is None and max_time is None
        table, classifier, encoder = prepare(ctx.params, progress, record=True)
        encoded, reports = _examine(table, classifier, encoder, progress, unasked)
        if picture:
            progress.say("drawing")
            from rosenblatt import plot

            plot.save(plot.bound(reports[0] if len(reports) == 1 else reports), picture)
    known = kernel_facts(classifier) if hasattr(classifier, "kernel_") else None
    facts = BoundFacts(encoded, reports, known, picture)
    ctx.meta[options.EXIT_CODE] = 130 if facts.interrupted else int(not facts.separable)
    if json_:
        print_json(facts.as_json())
    elif not quiet:
        print_bounds(facts)


def _examine(
    table: LabelledTable,
    model: Any,
    encoder: Encoder,
    progress: ProgressLine,
    unasked: bool,
) -> tuple[EncodedTable, tuple[BoundReport, ...]]:
    """Encode, train, and set the run beside its bound; `unasked`: for as long as it is worth."""
    import numpy as np

    from rosenblatt.cli.effort import RECORD, Effort
    from rosenblatt.cli.fitting import run
    from rosenblatt.cli.on_disk import features_of
    from rosenblatt.kernels.gram_matrices import IndefiniteKernelError
    from rosenblatt.report.encoding_notes import notes_about
    from rosenblatt.report.fits import EncodedTable

    progress.say("encoding")
    X = features_of(table, encoder)
    encoded = EncodedTable(**vars(table), encoder=encoder, X=X)
    _refuse_too_many(model, X)
    effort = Effort(epochs=unasked, record=RECORD)
    table.notes.extend(run(model, encoded.source, progress, effort=effort))
    table.notes.extend(notes_about(encoder))
    progress.say("looking for the bound")
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            reports = model.bound_report(encoded.source)
    except IndefiniteKernelError as error:
        msg = (
            f"--kernel {model.kernel} is no inner product of these rows, so there is no bound: "
            "give --kernel rbf or poly"
        )
        raise ValueError(msg) from error
    reports = reports if isinstance(reports, tuple) else (reports,)
    if not all(math.isfinite(report.bound.R) for report in reports):
        smaller = ", or give a smaller --degree or --gamma" if hasattr(model, "kernel") else ""
        msg = f"R is beyond what floating point can hold: scale the features{smaller}"
        raise ValueError(msg)
    return encoded, reports


def _refuse_too_many(model: Any, X: Any) -> None:
    """Refuse, before any work, rows of which no bound can be found."""
    from rosenblatt.kernel.choice import find_kernel
    from rosenblatt.separation.feature_vectors import SAMPLES, too_many

    if hasattr(model, "kernel") and too_many(find_kernel(model, X), X):
        msg = (
            f"{X.shape[0]} rows are too many to see whether --kernel {model.kernel} is an inner "
            f"product of them: give up to {SAMPLES}, or --kernel rbf or poly"
        )
        raise ValueError(msg)
