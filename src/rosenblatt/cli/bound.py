"""``rosenblatt bound``: the mistakes of a run beside the most that there can be."""

from __future__ import annotations

import math
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rosenblatt.cli.check import EXIT_CODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.cli.progress import Progress
    from rosenblatt.reports import BoundReport, MistakeBound

    Summary = dict[str, Any]

trains = partial(typer.Option, rich_help_panel="How to train")
reads = partial(typer.Option, rich_help_panel="How to read the table")

Update = Literal["online", "batch", "minibatch"]
Order = Literal["cyclic", "shuffled", "sampled", "random-mistake", "worst-mistake"]

FILE = "A table: CSV, TSV, Parquet or JSON lines, also compressed; - for standard input."
TARGET = "The column with the classes. Default: the last one."
PLOT = "Draw the run between the two curves of the proof: .png, .svg or .pdf."
JSON = "Print JSON, for scripts."
QUIET = "Print nothing but errors and --json; the exit code tells."
UPDATE = "online: one update per mistake (the default); batch: per epoch; minibatch."
ORDER = "cyclic (the default), shuffled, sampled, random-mistake or worst-mistake."
INIT = "zeros (the default), random, or weights with commas, the bias last."
TIME = "Stop training after this long: 10s, 5m, 1h."
WEIGHTS = "How much the classes count: balanced, or CLASS=WEIGHT with commas."
RAW = "Leave numbers as they are instead of standardising them."
USE = "Use this column even if it looks like an identifier."
DELIMITER = "What stands between cells. Default: look."
HEADER = "Whether the first line has names. Default: look."
WIDTH = len("tightness")
STANDARDISED, AFTER = "standardised", " after standardising"


def bound(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help=FILE)],
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help=TARGET)
    ] = None,
    picture: Annotated[str | None, typer.Option("--plot", metavar="PICTURE", help=PLOT)] = None,
    json_: Annotated[bool, typer.Option("--json", metavar="", help=JSON)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help=QUIET)] = False,
    update: Annotated[Update | None, trains(metavar="WHEN", help=UPDATE)] = None,
    batch_size: Annotated[int | None, trains(metavar="N", help="Rows per minibatch.")] = None,
    order: Annotated[Order | None, trains(metavar="ORDER", help=ORDER)] = None,
    eta0: Annotated[str | None, trains(metavar="RATE", help="The learning rate (1).")] = None,
    init: Annotated[str | None, trains(metavar="START", help=INIT)] = None,
    intercept: Annotated[bool, trains(metavar="", help="Whether to learn a bias.")] = True,
    max_epochs: Annotated[int | None, trains(metavar="N", help="Most passes (1000).")] = None,
    max_time: Annotated[str | None, trains(metavar="TIME", help=TIME)] = None,
    class_weight: Annotated[str | None, trains(metavar="WEIGHTS", help=WEIGHTS)] = None,
    seed: Annotated[int, trains(metavar="N", help="For everything random.")] = 0,
    n_jobs: Annotated[int | None, trains(metavar="N", help="Threads (one per core).")] = None,
    raw: Annotated[bool, reads("--raw", metavar="", help=RAW)] = False,
    ignore: Annotated[list[str] | None, reads(metavar="COLUMN", help="Leave it out.")] = None,
    use: Annotated[list[str] | None, reads(metavar="COLUMN", help=USE)] = None,
    header: Annotated[bool | None, reads(metavar="", help=HEADER)] = None,
    delimiter: Annotated[str | None, reads(metavar="C", help=DELIMITER)] = None,
) -> None:
    """Train a perceptron, and set its mistakes beside the bound that theory gives.

    The table is read, encoded and standardised as rosenblatt fit does, and the bound is for that
    run. It is evaluated together with its proof, at every single update. The exit code is 0, or
    1 if no hyperplane separates the classes: then only so many epochs have a bound.

    [dim]Example:[/dim] rosenblatt bound examples/banknotes.csv
    """
    from rosenblatt.cli.options import check_outputs, check_seed, estimator_options, time_limit
    from rosenblatt.cli.progress import Progress

    check_outputs(picture=picture)
    check_seed(seed)
    time_limit(max_time)
    with Progress(not quiet) as progress:
        progress.say("starting")
        from rosenblatt.cli.training import read_task
        from rosenblatt.estimators.perceptron import Perceptron
        from rosenblatt.estimators.table import TableEncoder
        from rosenblatt.io.tables import read_table

        progress.say(f"reading {Path(file).name}")
        with read_table(file, header=header, delimiter=delimiter) as table:
            task = read_task(table, target, ignore or (), use or ())
        given = {
            "update": update,
            "batch_size": batch_size,
            "order": order,
            "eta0": eta0,
            "init": init,
            "fit_intercept": None if intercept else False,
            "max_epochs": max_epochs,
            "max_time": max_time,
            "class_weight": class_weight,
            "random_state": seed,
            "n_jobs": n_jobs,
        }
        model = Perceptron(record=True, **estimator_options(Perceptron, given, task.y))
        encoder = TableEncoder(standardize=not raw, use=tuple(use or ()))
        reports = _examine(model, encoder, task, progress)
        if picture:
            progress.say("drawing")
            _draw(reports, picture)
    separable = all(report.bound.separable for report in reports)
    interrupted = any(report.stop_reason.name == "INTERRUPTED" for report in reports)
    ctx.meta[EXIT_CODE] = 130 if interrupted else int(not separable)
    if json_ or not quiet:
        _tell(_summary(task, encoder, reports, picture), reports, json_)
    raise typer.Exit(ctx.meta[EXIT_CODE])


def _examine(model: Any, encoder: Any, task: Any, progress: Progress) -> tuple[BoundReport, ...]:
    """Encode, train, and set the run beside its bound."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    progress.say("encoding")
    X = encoder.fit_transform(task.columns)
    model.set_params(callback=progress.watch("training", model.max_epochs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report says how it ended
        model.fit(X, task.y)
    progress.say("looking for the bound")
    reports = model.bound_report(X, task.y)
    return reports if isinstance(reports, tuple) else (reports,)


def _draw(reports: tuple[BoundReport, ...], picture: str) -> None:
    from rosenblatt import plot

    plot.save(plot.bound(reports[0] if len(reports) == 1 else reports), picture)


def _summary(
    task: Any, encoder: Any, reports: tuple[BoundReport, ...], picture: str | None
) -> Summary:
    """All there is to say, as JSON has it."""
    import numpy as np

    from rosenblatt import __version__
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
        import json

        sys.stdout.write(json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
        return
    from rich.text import Text

    from rosenblatt.cli.text import classes_line, data_line, new_console, new_grid, print_parts

    console, lines = new_console(), new_grid(WIDTH)
    lines.add_row("data", data_line(summary))
    lines.add_row("classes", classes_line(summary))
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
    if limit.separable is False:
        through = "" if report.fit_intercept else " through the origin"
        after = AFTER if unit == STANDARDISED else ""
        none = f"no hyperplane{through} separates the classes{after}, and no bound holds for ever"
        yield "separable", Text(f"no: {none}", style="yellow")
    where = f" in {count(limit.epochs, 'epoch')}" if limit.epochs else ", however long it runs"
    yield "bound", f"at most {_amount(limit)} mistakes{where}: {limit.formula}"
    of = f"; of {'(x, 1)' if report.fit_intercept else 'x'}, {unit}"
    yield "", f"{limit.terms}{of if limit.hyperplane is not None else ''}"
    yield "tightness", f"{_share(report)} of the bound"
    if limit.hyperplane is not None:
        yield "proof", f"θ·θ* grew as much as it must: {_held(report, report.progress_holds)}"
    name = "" if limit.hyperplane is not None else "proof"
    yield name, f"‖θ‖² grew no more than it may: {_held(report, report.length2_holds)}"


def _in_short(report: BoundReport, unit: str) -> Iterator[tuple[str, Any]]:
    """One line about one class against the rest."""
    from rosenblatt.cli.words import count, grouped, shortened

    limit = report.bound
    inseparable = f"not separable{AFTER if unit == STANDARDISED else ''}"
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
    from rosenblatt.reports import power_of_ten

    n = limit.most
    if not math.isfinite(n):
        return power_of_ten(limit)
    return f"{n:,.0f}" if 10_000 <= n < 1e12 else f"{n:.0f}" if n < 10_000 else f"{n:.3g}"


def _held(report: BoundReport, held: bool) -> str:
    from rosenblatt.reports import at_every

    return at_every(report.n_updates) if held else "NOT at every update"


def _advice(summary: Summary) -> str:
    """What to try next."""
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
