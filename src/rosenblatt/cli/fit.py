"""``rosenblatt fit``: from a table to a model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rosenblatt.cli.check import EXIT_CODE

if TYPE_CHECKING:
    from rosenblatt.cli.interrupts import Interrupts
    from rosenblatt.cli.training import Outcome

trains = partial(typer.Option, rich_help_panel="How to train")
curves = partial(typer.Option, rich_help_panel="Kernels (--model kernel)")
reads = partial(typer.Option, rich_help_panel="How to read the table")

Model = Literal["perceptron", "adaline", "kernel", "max-margin", "soft-margin"]
Update = Literal["online", "batch", "minibatch"]
Order = Literal["cyclic", "shuffled", "sampled", "random-mistake", "worst-mistake"]
Keep = Literal["last", "pocket", "average", "vote"]
Kernel = Literal["rbf", "gaussian", "poly", "linear", "sigmoid"]

JSON = "Print JSON, for scripts."
QUIET = "Print nothing but errors and --json."
FILE = "A table: CSV, TSV, Parquet or JSON lines, also compressed; - for standard input."
TARGET = "The column with the classes. Default: the last one."
PLOT = "Draw the classes and the boundary: .png, .svg or .pdf."
MODEL = (
    "perceptron (the default); adaline: the delta rule; kernel: curved boundaries; "
    "max-margin or soft-margin: the best hyperplane, proved."
)
UPDATE = "online: one update per mistake (the default); batch: per epoch; minibatch."
ORDER = "cyclic, shuffled (adaline, kernel: the default), sampled, random- or worst-mistake."
KEEP = "last (the default), pocket: that with fewest errors, average: the mean; kernel also: vote."
RATE = "The learning rate (1; adaline: auto)."
BIAS = "Whether to learn a bias. Default: yes; kernel: no."
KERNEL = "rbf (the default), gaussian, poly, linear or sigmoid."
GAMMA = "scale (the default: 1/(features * variance)), auto (1/features), or a number."
SIGMA = "gaussian: the width, instead of --gamma."
COEF0 = "poly, sigmoid: the number added (1)."
DROP = "Leave a row out as an outlier when it has made so many mistakes."
BUDGET = "Most support vectors: the one whose mistake lies longest ago is forgotten."
INIT = "zeros (the default), random, or weights with commas, the bias last."
PRICE = "soft-margin: the price of slack (1), scikit-learn's C times the number of rows."
TOL = "Stop when an epoch moves the weights by less; margins: when the gap is so small."
TIME = "Stop training after this long: 10s, 5m, 1h. Each fold may take as long."
WEIGHTS = "How much the classes count: balanced, or CLASS=WEIGHT with commas."
RECORD = "Keep every update, for plot updates and plot animate."
RAW = "Leave numbers as they are instead of standardising them."
USE = "Use this column even if it looks like an identifier."
DELIMITER = "What stands between cells. Default: look."
HEADER = "Whether the first line has names. Default: look."


def fit(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help=FILE)],
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help=TARGET)
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="MODEL.skops", help="Save the model here."),
    ] = None,
    picture: Annotated[str | None, typer.Option("--plot", metavar="PICTURE", help=PLOT)] = None,
    folds: Annotated[
        int, typer.Option("--cv", metavar="FOLDS", help="Cross-validate in so many folds; 0: not.")
    ] = 5,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many weights to show.")] = 8,
    json_: Annotated[bool, typer.Option("--json", metavar="", help=JSON)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help=QUIET)] = False,
    model: Annotated[Model, trains(metavar="RULE", help=MODEL, show_default=False)] = "perceptron",
    update: Annotated[Update | None, trains(metavar="WHEN", help=UPDATE)] = None,
    batch_size: Annotated[int | None, trains(metavar="N", help="Rows per minibatch.")] = None,
    order: Annotated[Order | None, trains(metavar="ORDER", help=ORDER)] = None,
    keep: Annotated[Keep | None, trains(metavar="WHICH", help=KEEP)] = None,
    eta0: Annotated[str | None, trains(metavar="RATE", help=RATE)] = None,
    init: Annotated[str | None, trains(metavar="START", help=INIT)] = None,
    intercept: Annotated[bool | None, trains(metavar="", help=BIAS)] = None,
    max_epochs: Annotated[int | None, trains(metavar="N", help="Most passes (1000).")] = None,
    max_time: Annotated[str | None, trains(metavar="TIME", help=TIME)] = None,
    C: Annotated[float | None, trains("--C", metavar="X", help=PRICE)] = None,
    tol: Annotated[float | None, trains(metavar="X", help=TOL)] = None,
    class_weight: Annotated[str | None, trains(metavar="WEIGHTS", help=WEIGHTS)] = None,
    record: Annotated[bool, trains("--record", metavar="", help=RECORD)] = False,
    seed: Annotated[int | None, trains(metavar="N", help="For everything random (0).")] = None,
    n_jobs: Annotated[int | None, trains(metavar="N", help="Threads (one per core).")] = None,
    kernel: Annotated[Kernel | None, curves(metavar="KERNEL", help=KERNEL)] = None,
    gamma: Annotated[str | None, curves(metavar="X", help=GAMMA)] = None,
    sigma: Annotated[float | None, curves(metavar="X", help=SIGMA)] = None,
    degree: Annotated[int | None, curves(min=1, metavar="N", help="poly: its degree (3).")] = None,
    coef0: Annotated[float | None, curves(metavar="X", help=COEF0)] = None,
    drop_after: Annotated[int | None, curves(min=1, metavar="N", help=DROP)] = None,
    budget: Annotated[int | None, curves(min=1, metavar="N", help=BUDGET)] = None,
    raw: Annotated[bool, reads("--raw", metavar="", help=RAW)] = False,
    ignore: Annotated[list[str] | None, reads(metavar="COLUMN", help="Leave it out.")] = None,
    use: Annotated[list[str] | None, reads(metavar="COLUMN", help=USE)] = None,
    header: Annotated[bool | None, reads(metavar="", help=HEADER)] = None,
    delimiter: Annotated[str | None, reads(metavar="C", help=DELIMITER)] = None,
) -> None:
    """Learn to tell classes apart, and say what was found.

    Numbers are standardised, a text column becomes one feature per value, and the classes are in
    the column --target. Saved models are for rosenblatt predict, and for Python: rb.io.load.
    The exit code is 0, or 1 if a maximum margin was asked for and there is none.

    [dim]Example:[/dim] rosenblatt fit examples/banknotes.csv -o notes.skops
    """
    from rosenblatt.cli.interrupts import Interrupts
    from rosenblatt.cli.options import (
        check_folds,
        check_outputs,
        check_seed,
        estimator_options,
        time_limit,
    )
    from rosenblatt.cli.progress import Progress

    check_outputs(model=output, picture=picture)
    check_folds(folds)
    check_seed(seed or 0)
    time_limit(max_time)
    with Progress(not quiet) as progress, Interrupts() as interrupts:
        progress.say("starting")
        from rosenblatt.cli.training import MODELS, read_task, train
        from rosenblatt.estimators.table import TableEncoder
        from rosenblatt.io.tables import TableError, read_table

        progress.say(f"reading {Path(file).name}")
        try:
            with read_table(file, header=header, delimiter=delimiter) as table:
                task = read_task(table, target, ignore or (), use or ())
        except TableError as error:
            told = str(error).replace("fit rb.Perceptron", f"fit rb.{MODELS[model].__name__}")
            raise TableError(told) from error
        given = {
            "update": update,
            "batch_size": batch_size,
            "order": order,
            "keep": keep,
            "eta0": eta0,
            "init": init,
            "fit_intercept": intercept,
            "max_epochs": max_epochs,
            "max_time": max_time,
            "C": C,
            "kernel": kernel,
            "gamma": gamma,
            "sigma": sigma,
            "degree": degree,
            "coef0": coef0,
            "drop_after": drop_after,
            "budget": budget,
            "tol": tol,
            "class_weight": class_weight,
            "record": record or None,
            "random_state": seed,
            "n_jobs": n_jobs,
        }
        if "margin" not in model:  # nothing is random about the best hyperplane
            given["random_state"] = seed or 0
        elif intercept:  # they always have one
            given["fit_intercept"] = None
        classifier = MODELS[model](**estimator_options(MODELS[model], given, task.y))
        encoder = TableEncoder(standardize=not raw, use=tuple(use or ()))
        outcome = train(task, classifier, encoder, folds, progress, interrupts)
        progress.say("writing")
        files = _write(outcome, output, picture, interrupts)
    answered_no = any(facts["proof"] for facts in outcome.summary.get("optima", ()))
    stopped = outcome.interrupted or interrupts.pressed
    ctx.meta[EXIT_CODE] = 130 if stopped else int(answered_no)
    if json_ or not quiet:
        _print(outcome, top, json_, files)
    raise typer.Exit(ctx.meta[EXIT_CODE])


def _write(
    outcome: Outcome, output: str | None, picture: str | None, interrupts: Interrupts
) -> list[str]:
    """Write the files asked for; those written: Ctrl-C ends the drawing."""
    files = []
    if output:
        from rosenblatt.io.models import save

        save(outcome.pipeline, output, summary=outcome.summary)
        files.append(output)
    if picture:
        name = picture
        if interrupts.unless_stopped(lambda: _draw(outcome, name)):
            files.append(name)
    return files


def _draw(outcome: Outcome, picture: str) -> bool:
    from rosenblatt import plot
    from rosenblatt.cli.text import axis_names

    names = axis_names(outcome.pipeline)
    best = len(outcome.summary.get("optima", ())) == 1  # several are best seen together
    draw = plot.margin if best else plot.decision
    ax = draw(outcome.pipeline[-1], outcome.X, outcome.y, feature_names=names)
    plot.save(ax, picture)
    return True


def _print(outcome: Outcome, top: int, as_json: bool, files: list[str]) -> None:
    from rosenblatt.cli.text import Weights, print_json, print_report

    summary, weights = outcome.summary, Weights.of(outcome.pipeline)
    if as_json:
        if weights is None:
            from rosenblatt.cli.expansion import coefficients_of

            summary = summary | coefficients_of(outcome.pipeline[-1], outcome.rows)
        print_json(summary | {"saved": files}, weights)
        return
    saved = ", ".join(files) or "nothing (-o MODEL.skops saves the model)"
    title = f"{summary['file']} → {summary['model']}"
    print_report(title, summary, weights, top, saved=saved)
