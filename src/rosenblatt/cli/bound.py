"""``rosenblatt bound``: the mistakes of a run beside the most that there can be."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rosenblatt.cli import arguments as given_as
from rosenblatt.cli.arguments import Orders, trains
from rosenblatt.cli.check import EXIT_CODE
from rosenblatt.cli.printing import print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.cli.progress import Progress
    from rosenblatt.results import BoundReport, MistakeBound

    Summary = dict[str, Any]

Model = Literal["perceptron", "kernel"]

PLOT = "Draw the run between the two curves of the proof: .png, .svg or .pdf."
QUIET = "Print nothing but errors and --json; the exit code tells."
MODEL = "perceptron (the default), or kernel: in the feature space of a kernel."
ORDER = "cyclic, shuffled (kernel: the default), sampled, random-mistake or worst-mistake."
TIME = "Stop training after this long: 10s, 5m, 1h."
WIDTH = len("tightness")
STANDARDISED, AFTER = "standardised", " after standardising"


def bound(
    ctx: typer.Context,
    file: given_as.File,
    target: given_as.Target = None,
    picture: Annotated[str | None, typer.Option("--plot", metavar="PICTURE", help=PLOT)] = None,
    json_: given_as.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help=QUIET)] = False,
    model: Annotated[Model | None, trains(metavar="RULE", help=MODEL)] = None,
    update: given_as.Update = None,
    batch_size: given_as.BatchSize = None,
    order: Annotated[Orders | None, trains(metavar="ORDER", help=ORDER)] = None,
    eta0: Annotated[str | None, trains(metavar="RATE", help="The learning rate (1).")] = None,
    init: given_as.Init = None,
    intercept: given_as.Intercept = None,
    max_epochs: given_as.MaxEpochs = None,
    max_time: Annotated[str | None, trains(metavar="TIME", help=TIME)] = None,
    class_weight: given_as.ClassWeight = None,
    seed: given_as.Seed = None,
    n_jobs: given_as.Threads = None,
    kernel: given_as.Kernel = None,
    gamma: given_as.Gamma = None,
    sigma: given_as.Sigma = None,
    degree: given_as.Degree = None,
    coef0: given_as.Coef0 = None,
    raw: given_as.Raw = False,
    ignore: given_as.Ignore = None,
    use: given_as.Use = None,
    header: given_as.Header = None,
    delimiter: given_as.Delimiter = None,
) -> None:
    """Train a perceptron, and set its mistakes beside the bound that theory gives.

    The table is read, encoded and standardised as rosenblatt fit does, and the bound is for that
    run. It is evaluated together with its proof, at every single update; with --kernel in the
    feature space of that kernel. The exit code is 0, or 1 if no hyperplane separates the classes
    there: then only so many epochs have a bound.

    [dim]Example:[/dim] rosenblatt bound examples/banknotes.csv
    """
    from rosenblatt.cli.options import (
        check_outputs,
        check_seed,
        chosen_model,
        estimator_options,
        time_limit,
    )
    from rosenblatt.cli.progress import Progress

    check_outputs(picture=picture)
    check_seed(seed or 0)
    time_limit(max_time)
    with Progress(not quiet) as progress:
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
    separable = all(report.bound.separable for report in reports)
    interrupted = any(report.stop_reason.name == "INTERRUPTED" for report in reports)
    ctx.meta[EXIT_CODE] = 130 if interrupted else int(not separable)
    if json_ or not quiet:
        summary = _summary(task, encoder, classifier, reports, picture)
        if "kernel" in summary and not separable:
            summary["identical"] = _identical(X, task)
        _tell(summary, reports, json_)
    raise typer.Exit(ctx.meta[EXIT_CODE])


def _examine(
    model: Any, encoder: Any, task: Any, progress: Progress
) -> tuple[Any, tuple[BoundReport, ...]]:
    """Encode, train, and set the run beside its bound; the encoded rows, too."""
    import numpy as np

    from rosenblatt.cli.kernel_judging import INDEFINITE
    from rosenblatt.cli.training import run

    progress.say("encoding")
    X = encoder.fit_transform(task.columns)
    _refuse_too_many(model, X)
    task.notes.extend(run(model, X, task.y, progress))
    progress.say("looking for the bound")
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            reports = model.bound_report(X, task.y)
    except ValueError as error:
        if INDEFINITE not in str(error):
            raise
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


def _identical(X: Any, task: Any) -> list[int]:
    """Two rows of the file that no kernel tells apart though their classes differ, or nothing."""
    import numpy as np

    from rosenblatt.cli.kernel_judging import identical

    for positive in np.unique(task.y):
        pair = identical(X, np.where(task.y == positive, 1, -1))
        if pair:
            return task.rows[pair].tolist()  # type: ignore[no-any-return]
    return []


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


def _summary(
    task: Any, encoder: Any, model: Any, reports: tuple[BoundReport, ...], picture: str | None
) -> Summary:
    """All there is to say, as JSON has it."""
    import numpy as np

    from rosenblatt import __version__
    from rosenblatt.cli.expansion import kernel_facts
    from rosenblatt.cli.training import is_standardised, notes_about

    labels, counts = np.unique(task.y, return_counts=True)
    return {
        "rosenblatt": __version__,
        "file": task.origin["file"],
        "target": task.target,
        "rows": len(task.y),
        "columns": len(task.columns),
        "features": len(encoder.get_feature_names_out()),
        "classes": {str(name): int(n) for name, n in zip(labels, counts, strict=True)},
        "standardized": is_standardised(encoder),
        **({"kernel": kernel_facts(model)} if hasattr(model, "kernel_") else {}),
        "intercept": reports[0].fit_intercept,
        "separable": all(report.bound.separable for report in reports),
        "problems": [_facts(report) for report in reports],
        "drawn": picture,
        "notes": [*task.notes, *notes_about(encoder)],
    }


def _facts(report: BoundReport) -> Summary:
    limit = report.bound
    return {
        "positive": str(report.positive),
        "separable": limit.separable,
        "R": limit.R,
        "gamma": limit.gamma if limit.hyperplane is not None else None,
        "shortfall": limit.shortfall,
        "batch_size": limit.batch_size,
        "eta0": limit.eta0,
        "bound": limit.bound if math.isfinite(limit.bound) else None,  # JSON has no infinity
        "bound_epochs": limit.epochs,
        "formula": limit.formula,
        "mistakes": report.n_mistakes,
        "updates": report.n_updates,
        "epochs": report.n_epochs,
        "stop_reason": report.stop_reason.name,
        "tightness": report.tightness,
        "within": report.within,
        "progress_holds": report.progress_holds,
        "length2_holds": report.length2_holds,
    }


def _tell(summary: Summary, reports: tuple[BoundReport, ...], as_json: bool) -> None:
    if as_json:
        print_json(summary)
        return
    from rich.text import Text

    from rosenblatt.cli.text import classes_line, data_line, new_console, new_grid, print_parts

    console, lines = new_console(), new_grid(WIDTH)
    lines.add_row("data", data_line(summary))
    lines.add_row("classes", classes_line(summary))
    if "kernel" in summary:
        lines.add_row("kernel", summary["kernel"]["formula"])
    unit = STANDARDISED if summary["standardized"] else "in the columns' own units"
    for report in reports:
        told = (_lines if len(reports) == 1 else _in_short)(report, unit)
        for name, what in told:
            lines.add_row(name, what)
    if summary["drawn"]:
        lines.add_row("drawn", summary["drawn"])
    for k, note in enumerate(summary["notes"]):
        lines.add_row("notes" if k == 0 else "", Text(note, style="dim"))
    if advice := _advice(summary):
        lines.add_row("next", Text(advice, style="italic"))
    print_parts(console, Text(f"{summary['file']}: mistakes and their bound", style="bold"), lines)


def _lines(report: BoundReport, unit: str) -> Iterator[tuple[str, Any]]:
    """Named lines about the one problem of two classes."""
    from rich.text import Text

    from rosenblatt.cli.words import count

    limit = report.bound
    made = f"{count(report.n_mistakes, 'mistake')} in {count(report.n_epochs, 'epoch')}"
    yield "run", f"{made}, {report.stop_reason.name}"
    if not limit.separable:
        yield "separable", Text(_inseparable(report, unit), style="yellow")
    where = f" in {count(limit.epochs, 'epoch')}" if limit.epochs else ", however long it runs"
    mistakes = "mistake" if limit.most == 1 else "mistakes"
    yield "bound", f"at most {_amount(limit)} {mistakes}{where}: {limit.formula}"
    vector = "φ(x)" if limit.kernel else "x"
    of = f"; of {f'({vector}, 1)' if report.fit_intercept else vector}, {unit}"
    yield "", f"{limit.terms}{of if limit.hyperplane is not None else ''}"
    yield "tightness", f"{_share(report)} of the bound"
    if limit.hyperplane is not None:
        yield "proof", f"θ·θ* grew as much as it must: {_held(report, report.progress_holds)}"
    name = "" if limit.hyperplane is not None else "proof"
    yield name, f"‖θ‖² grew no more than it may: {_held(report, report.length2_holds)}"


def _inseparable(report: BoundReport, unit: str) -> str:
    """That nothing separates the classes, or nothing that rounding lets one find."""
    through = "" if report.fit_intercept else " through the origin"
    where = f" {'of' if through else 'in'} feature space" if report.bound.kernel else ""
    after = AFTER if unit == STANDARDISED else ""
    if report.bound.separable is None:
        none = f"no hyperplane{through}{where} separates the classes{after} by more than rounding"
        return f"unknown: {none}, and no bound is known for ever"
    none = f"no hyperplane{through}{where} separates the classes{after}"
    return f"no: {none}, and no bound holds for ever"


def _in_short(report: BoundReport, unit: str) -> Iterator[tuple[str, Any]]:
    """One line about one class against the rest."""
    from rosenblatt.cli.words import count, grouped, shortened

    limit = report.bound
    inseparable = "not separable" if limit.separable is False else "not known to be separable"
    inseparable += AFTER if unit == STANDARDISED else ""
    where = "" if not limit.epochs else f" in {count(limit.epochs, 'epoch')} ({inseparable})"
    held = "both lemmas held" if report.holds else "a lemma did NOT hold"
    yield (
        shortened(report.positive, 30),
        f"{grouped(report.n_mistakes)} of at most {_amount(limit)} mistakes{where}, "
        f"{_share(report)}; {limit.terms}; {held} at "
        f"{count(report.n_updates, 'update')}",
    )


def _share(report: BoundReport) -> str:
    """The mistakes as a share of the bound."""
    from rosenblatt.cli.words import percent

    return percent(report.tightness) if math.isfinite(report.bound.bound) else "next to none"


def _amount(limit: MistakeBound) -> str:
    """A number of mistakes, whole as long as it is not astronomical."""
    from rosenblatt.results import power_of_ten

    n = limit.most
    if not math.isfinite(n):
        return power_of_ten(limit)
    return f"{n:,.0f}" if 10_000 <= n < 1e12 else f"{n:.0f}" if n < 10_000 else f"{n:.3g}"


def _held(report: BoundReport, held: bool) -> str:
    from rosenblatt.results import at_every

    return at_every(report.n_updates) if held else "NOT at every update"


def _advice(summary: Summary) -> str:
    """What to try next."""
    if not summary["separable"] and "kernel" in summary:
        from rosenblatt.cli.kernel_text import bends_more
        from rosenblatt.cli.verdicts import these_rows

        if summary["identical"]:
            pair = f"{these_rows(summary['identical'])} are the same but for their classes"
            return f"{pair}: no kernel separates them"
        return f"another kernel may separate the classes: try {bends_more(summary['kernel'])}"
    if not summary["separable"]:
        if not summary["intercept"]:
            return "without --no-intercept a hyperplane may separate the classes"
        if summary["standardized"]:
            return f"rosenblatt check {summary['file']} answers this for the numbers as they are"
        return f"rosenblatt check {summary['file']} proves that nothing separates the classes"
    reasons = {problem["stop_reason"] for problem in summary["problems"]}
    if "EPOCH_LIMIT" in reasons:
        return "the classes are separable, so the mistakes come to an end: raise --max-epochs"
    return ""
