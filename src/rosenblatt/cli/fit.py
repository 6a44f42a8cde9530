"""``rosenblatt fit``: from a table to a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rosenblatt.cli import arguments as given_as
from rosenblatt.cli.arguments import Orders, curves, trains
from rosenblatt.cli.check import EXIT_CODE

if TYPE_CHECKING:
    from rosenblatt.cli.interrupts import Interrupts
    from rosenblatt.cli.training import Outcome

Model = Literal["perceptron", "adaline", "kernel", "max-margin", "soft-margin"]
Keep = Literal["last", "pocket", "average", "vote"]

QUIET = "Print nothing but errors and --json."
PLOT = "Draw the classes and the boundary: .png, .svg or .pdf."
MODEL = (
    "perceptron (the default); adaline: the delta rule; kernel: curved boundaries; "
    "max-margin or soft-margin: the best hyperplane, proved."
)
ORDER = "cyclic, shuffled (adaline, kernel: the default), sampled, random- or worst-mistake."
KEEP = "last (the default), pocket: that with fewest errors, average: the mean; kernel also: vote."
RATE = "The learning rate (1; adaline: auto)."
DROP = "Leave a row out as an outlier when it has made so many mistakes."
BUDGET = "Most support vectors: the one whose mistake lies longest ago is forgotten."
PRICE = "soft-margin: the price of slack (1), scikit-learn's C times the number of rows."
TOL = "Stop when an epoch moves the weights by less; margins: when the gap is so small."
TIME = "Stop training after this long: 10s, 5m, 1h. Each fold may take as long."
RECORD = "Keep every update, for plot updates and plot animate."


def fit(
    ctx: typer.Context,
    file: given_as.File,
    target: given_as.Target = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="MODEL.skops", help="Save the model here."),
    ] = None,
    picture: Annotated[str | None, typer.Option("--plot", metavar="PICTURE", help=PLOT)] = None,
    folds: Annotated[
        int, typer.Option("--cv", metavar="FOLDS", help="Cross-validate in so many folds; 0: not.")
    ] = 5,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many weights to show.")] = 8,
    json_: given_as.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help=QUIET)] = False,
    model: Annotated[Model | None, trains(metavar="RULE", help=MODEL)] = None,
    update: given_as.Update = None,
    batch_size: given_as.BatchSize = None,
    order: Annotated[Orders | None, trains(metavar="ORDER", help=ORDER)] = None,
    keep: Annotated[Keep | None, trains(metavar="WHICH", help=KEEP)] = None,
    eta0: Annotated[str | None, trains(metavar="RATE", help=RATE)] = None,
    init: given_as.Init = None,
    intercept: given_as.Intercept = None,
    max_epochs: given_as.MaxEpochs = None,
    max_time: Annotated[str | None, trains(metavar="TIME", help=TIME)] = None,
    C: Annotated[str | None, trains("--C", metavar="X", help=PRICE)] = None,
    tol: Annotated[str | None, trains(metavar="X", help=TOL)] = None,
    class_weight: given_as.ClassWeight = None,
    record: Annotated[bool, trains("--record", metavar="", help=RECORD)] = False,
    seed: given_as.Seed = None,
    n_jobs: given_as.Threads = None,
    kernel: given_as.Kernel = None,
    gamma: given_as.Gamma = None,
    sigma: given_as.Sigma = None,
    degree: given_as.Degree = None,
    coef0: given_as.Coef0 = None,
    drop_after: Annotated[str | None, curves(metavar="N", help=DROP)] = None,
    budget: Annotated[str | None, curves(metavar="N", help=BUDGET)] = None,
    raw: given_as.Raw = False,
    ignore: given_as.Ignore = None,
    use: given_as.Use = None,
    header: given_as.Header = None,
    delimiter: given_as.Delimiter = None,
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
        chosen_model,
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
        from rosenblatt.cli.reading import read_file
        from rosenblatt.cli.training import MODELS, train
        from rosenblatt.tables.encoder import TableEncoder

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
        name = chosen_model(model, given)
        if "margin" not in name:  # nothing is random about the best hyperplane
            given["random_state"] = seed or 0
        elif intercept:  # they always have one
            given["fit_intercept"] = None
        progress.say(f"reading {Path(file).name}")
        how: dict[str, Any] = {
            "header": header,
            "delimiter": delimiter,
            "ignored": ignore,
            "wanted": use,
        }
        task = read_file(file, target, MODELS[name], **how)
        classifier = MODELS[name](**estimator_options(MODELS[name], given, task.y))
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
        from rosenblatt.files.models import save

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
    from rosenblatt.cli.text import Weights, print_facts, print_report
    from rosenblatt.cli.words import shortened

    summary, weights = outcome.summary, Weights.of(outcome.pipeline)
    if as_json:
        if weights is None:
            from rosenblatt.cli.expansion import coefficients_of

            summary = summary | coefficients_of(outcome.pipeline[-1], outcome.rows)
        print_facts(summary | {"saved": files}, weights)
        return
    saved = ", ".join(files) or "nothing (-o MODEL.skops saves the model)"
    title = f"{shortened(summary['file'], 80)} → {summary['model']}"
    print_report(title, summary, weights, top, saved=saved)
