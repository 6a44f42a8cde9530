"""``rosenblatt bound``: the mistakes of a run beside the most that there can be."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rosenblatt.cli import options
from rosenblatt.cli.check import EXIT_CODE
from rosenblatt.cli.options import (
    Orders,
    check_outputs,
    check_seed,
    chosen_model,
    estimator_options,
    time_limit,
    trains,
)

if TYPE_CHECKING:
    from rosenblatt.cli.progress import ProgressLine
    from rosenblatt.cli.reading import Task
    from rosenblatt.report.bound_report import BoundFacts
    from rosenblatt.results import BoundReport
    from rosenblatt.tables.encoder import TableEncoder

Model = Literal["perceptron", "kernel"]

PLOT = "Draw the run between the two curves of the proof: .png, .svg or .pdf."
QUIET = "Print nothing but errors and --json; the exit code tells."
MODEL = "perceptron (the default), or kernel: in the feature space of a kernel."
ORDER = "cyclic, shuffled (kernel: the default), sampled, random-mistake or worst-mistake."
TIME = "Stop training after this long: 10s, 5m, 1h."


def bound(
    ctx: typer.Context,
    file: options.File,
    target: options.Target = None,
    picture: Annotated[str | None, typer.Option("--plot", metavar="PICTURE", help=PLOT)] = None,
    json_: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help=QUIET)] = False,
    model: Annotated[Model | None, trains(metavar="RULE", help=MODEL)] = None,
    update: options.Update = None,
    batch_size: options.BatchSize = None,
    order: Annotated[Orders | None, trains(metavar="ORDER", help=ORDER)] = None,
    eta0: Annotated[str | None, trains(metavar="RATE", help="The learning rate (1).")] = None,
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
    header: options.Header = None,
    delimiter: options.Delimiter = None,
) -> None:
    """Train a perceptron, and set its mistakes beside the bound that theory gives.

    The table is read, encoded and standardised as rosenblatt fit does, and the bound is for that
    run. It is evaluated together with its proof, at every single update; with --kernel in the
    feature space of that kernel. The exit code is 0, or 1 if no hyperplane separates the classes
    there: then only so many epochs have a bound.

    [dim]Example:[/dim] rosenblatt bound examples/banknotes.csv
    """
    from rosenblatt.cli.progress import ProgressLine

    check_outputs(picture=picture)
    check_seed(seed or 0)
    time_limit(max_time)
    with ProgressLine(not quiet) as progress:
        progress.say("starting")
        from rosenblatt.cli.reading import read_file
        from rosenblatt.cli.training import MODELS
        from rosenblatt.tables.encoder import TableEncoder

        given = {
            "update": update,
            "batch_size": batch_size,
            "order": order,
            "eta0": eta0,
            "init": init,
            "fit_intercept": intercept,
            "max_epochs": max_epochs,
            "max_time": max_time,
            "kernel": kernel,
            "gamma": gamma,
            "sigma": sigma,
            "degree": degree,
            "coef0": coef0,
            "class_weight": class_weight,
            "random_state": seed or 0,
            "n_jobs": n_jobs,
        }
        rule = MODELS[chosen_model(model, given)]
        progress.say(f"reading {Path(file).name}")
        how: dict[str, Any] = {
            "header": header,
            "delimiter": delimiter,
            "ignored": ignore,
            "wanted": use,
        }
        task = read_file(file, target, rule, **how)
        classifier = rule(record=True, **estimator_options(rule, given, task.y))
        encoder = TableEncoder(standardize=not raw, use=tuple(use or ()))
        X, reports = _examine(classifier, encoder, task, progress)
        if picture:
            progress.say("drawing")
            _draw(reports, picture)
    from rosenblatt.report.bound_report import print_bounds
    from rosenblatt.report.printing import print_json

    facts = _facts(task, encoder, classifier, X, reports, picture)
    ctx.meta[EXIT_CODE] = 130 if facts.interrupted else int(not facts.separable)
    if json_:
        print_json(facts.as_json())
    elif not quiet:
        print_bounds(facts)
    raise typer.Exit(ctx.meta[EXIT_CODE])


def _examine(
    model: Any, encoder: TableEncoder, task: Task, progress: ProgressLine
) -> tuple[Any, tuple[BoundReport, ...]]:
    """Encode, train, and set the run beside its bound; the encoded rows, too."""
    import numpy as np

    from rosenblatt.cli.training import run
    from rosenblatt.kernels.gram_matrices import IndefiniteKernelError

    progress.say("encoding")
    X = encoder.fit_transform(task.columns)
    _refuse_too_many(model, X)
    task.notes.extend(run(model, X, task.y, progress))
    progress.say("looking for the bound")
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            reports = model.bound_report(X, task.y)
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
    return X, reports


def _facts(
    task: Task,
    encoder: TableEncoder,
    model: Any,
    X: Any,
    reports: tuple[BoundReport, ...],
    picture: str | None,
) -> BoundFacts:
    import numpy as np

    from rosenblatt.cli.reading import is_standardised, notes_about
    from rosenblatt.report.bound_report import BoundFacts
    from rosenblatt.report.fits import kernel_facts

    labels, counts = np.unique(task.y, return_counts=True)
    kernel = kernel_facts(model) if hasattr(model, "kernel_") else None
    separable = all(report.bound.separable for report in reports)
    return BoundFacts(
        file=task.origin["file"],
        target=task.target,
        rows=len(task.y),
        columns=len(task.columns),
        features=len(encoder.get_feature_names_out()),
        counts={str(name): int(n) for name, n in zip(labels, counts, strict=True)},
        standardized=is_standardised(encoder),
        kernel=kernel,
        same_rows=() if kernel is None or separable else _same_rows(X, task),
        reports=reports,
        drawn=picture,
        notes=(*task.notes, *notes_about(encoder)),
    )


def _same_rows(X: Any, task: Task) -> tuple[int, ...]:
    """Two rows of the file that no kernel tells apart though their classes differ, or nothing."""
    import numpy as np

    from rosenblatt.report.verdicts import first_same

    for positive in np.unique(task.y):
        pair = first_same(X, np.where(task.y == positive, 1, -1))
        if pair:
            return tuple(task.rows[pair].tolist())
    return ()


def _refuse_too_many(model: Any, X: Any) -> None:
    """Refuse, before any work, rows of which no bound can be found."""
    from rosenblatt.kernel.parameters import find_kernel
    from rosenblatt.separation.feature_vectors import SAMPLES, spelled_out

    if not hasattr(model, "kernel") or X.shape[0] <= SAMPLES:
        return
    if not spelled_out(find_kernel(model, X), X):
        msg = (
            f"{X.shape[0]} rows are too many for a bound with --kernel {model.kernel}: give up to "
            f"{SAMPLES}, or --kernel linear"
        )
        raise ValueError(msg)


def _draw(reports: tuple[BoundReport, ...], picture: str) -> None:
    from rosenblatt import plot

    plot.save(plot.bound(reports[0] if len(reports) == 1 else reports), picture)
