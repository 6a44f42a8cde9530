"""``rosenblatt steps``: a run as a table, to be set beside a calculation by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rosenblatt.cli import options
from rosenblatt.cli.options import (
    Orders,
    WrongUseError,
    check_seed,
    max_seconds,
    refuse,
    refuse_overwriting,
    trains,
    writes,
)
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import count, print_data, print_styled, visible

if TYPE_CHECKING:
    from rosenblatt.report.fits import EncodedTable
    from rosenblatt.results import Hyperplane, StepTable

Format = Literal["text", "csv", "markdown", "latex"]
ROUNDING = 1e-12  # of the largest weight: smaller ones are what rounding left of zero
PATIENCE = 10.0  # seconds to look for the best hyperplane
BY_SUFFIX = {".txt": "text", ".csv": "csv", ".md": "markdown", ".tex": "latex"}

FIRST = "How many updates to show, or all."
TOP = "How many weights to show, the largest at the end, or all. CSV has all of them."
CLASS = "Of more than two classes: the one whose run to show. Default: one after the other."
FORMAT = "text (the default), csv, markdown or latex; without it, by the name after -o."
OUTPUT = "Write the table here: .txt, .csv, .md or .tex."
ORDER = "cyclic: as in the file (the default), shuffled, sampled, blocks, random- or worst-mistake."
MULTICLASS = "Of several classes: ovr, each against the rest. (joint has no such table.)"
SCALE = "Standardise numbers first, as fit does; otherwise they are taken as they stand."
TIME = "Stop training after this long: 10s, 5m, 1h."


def steps(
    ctx: typer.Context,
    files: options.Files = None,
    target: options.Target = None,
    first: Annotated[str, typer.Option(metavar="N", help=FIRST)] = "20",
    top: Annotated[str, typer.Option(metavar="N", help=TOP)] = "6",
    positive: Annotated[str | None, typer.Option("--class", metavar="NAME", help=CLASS)] = None,
    format_: Annotated[Format | None, typer.Option("--format", metavar="F", help=FORMAT)] = None,
    output: Annotated[str | None, writes(metavar="FILE", help=OUTPUT)] = None,
    update: options.Update = None,
    batch_size: options.BatchSize = None,
    shards: options.Shards = None,
    order: Annotated[Orders, trains(metavar="ORDER", help=ORDER)] = "cyclic",
    eta0: Annotated[str | None, trains(metavar="RATE", help="The learning rate (1).")] = None,
    at_zero: options.AtZero = None,
    init: options.Init = None,
    intercept: options.Intercept = None,
    multiclass: Annotated[
        Literal["ovr", "joint"] | None, trains(metavar="HOW", help=MULTICLASS)
    ] = None,
    max_epochs: options.MaxEpochs = None,
    max_time: Annotated[str | None, trains(metavar="TIME", help=TIME)] = None,
    class_weight: options.ClassWeight = None,
    seed: options.Seed = None,
    n_jobs: options.Threads = None,
    standardize: Annotated[bool, options.reads("--standardize", metavar="", help=SCALE)] = False,
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
) -> None:
    """Train a perceptron, and show its updates one by one.

    A line has the rows that were mistakes, y (-1 or +1), the decision value before the update, what
    is added to the weights w and the bias b, these after it, and the angle between (w, b) and that
    of the best hyperplane. Numbers and rows are taken as they stand in the file, as one would by
    hand.

    [dim]Example:[/dim] rosenblatt steps examples/banknotes.csv --first 5
    """
    joint = "--multiclass joint updates two weight vectors at a time, and has no table of steps"
    python = 'rb.Perceptron(multiclass="joint", record=True) has them in trace_.updates'
    refuse(multiclass == "joint", f"{joint}: leave it out, or use Python: {python}")
    many, widest = _number("--first", first), _number("--top", top)
    kind = _format(format_, output)
    check_seed(seed or 0)
    max_seconds(max_time)
    with ProgressLine() as progress:
        from rosenblatt.cli.fitting import prepare, run
        from rosenblatt.report.encoding_notes import notes_about
        from rosenblatt.report.fits import EncodedTable

        asked = ctx.params | {"model": None, "kernel": None, "raw": not standardize, "keep": "last"}
        refuse_overwriting(output, options.tables_of(asked))
        table, classifier, encoder = prepare(asked, progress, record=True)
        X = encoder.fit_transform(table.columns)
        encoded = EncodedTable(**vars(table), encoder=encoder, X=X)
        effort = _effort(max_epochs is None and not max_time)
        run(classifier, encoded.source, progress, effort=effort)
        progress.say("looking for the best hyperplane")
        chosen, notes = _chosen(classifier, positive), [*table.notes, *notes_about(encoder)]
        tables = [
            (str(name), _table(classifier, fit, encoded, name, many, notes)) for fit, name in chosen
        ]
    stopped = any(fit.stop_reason.name == "INTERRUPTED" for fit, _ in chosen)
    ctx.meta[options.EXIT_CODE] = 130 if stopped else 0
    _write(tables, kind, widest, output)


def _number(option: str, text: str) -> int | None:
    """A whole number from 1; None for all."""
    if text == "all":
        return None
    wrong = f"{option} {text} is not possible: give a whole number from 1, or all"
    refuse(not text.isascii() or not text.isdigit() or int(text) < 1, wrong)
    return int(text)


def _format(asked: str | None, output: str | None) -> str:
    """How to write the table."""
    if output is None:
        return asked or "text"
    from rosenblatt.files.whole import check_writable

    found = asked or BY_SUFFIX.get(Path(output).suffix.lower())
    if found is None:
        names = ", ".join(BY_SUFFIX)
        msg = f"{output} does not say how to write a table: let it end in {names}, or give --format"
        raise WrongUseError(msg)
    check_writable(output)
    return found


def _effort(unasked: bool) -> Any:
    from rosenblatt.cli.effort import RECORD, Effort

    return Effort(epochs=unasked, record=RECORD)


def _chosen(classifier: Any, wanted: str | None) -> list[tuple[Any, Any]]:
    """The runs to show, each with its class +1."""
    from rosenblatt.report.fits import positive_classes
    from rosenblatt.report.sentences import listing

    names = positive_classes(classifier)
    every = list(zip(classifier.fits_, names, strict=True))
    if wanted is None:
        return every
    known = "--class is for more than two classes: leave it out"
    refuse(len(names) == 1, known)
    found = [pair for pair in every if str(pair[1]) == wanted]
    refuse(not found, f"--class {wanted} is none of the classes: give {listing(names)}")
    return found


def _table(
    classifier: Any,
    fit: Any,
    encoded: EncodedTable,
    positive: Any,
    first: int | None,
    notes: list[str],
) -> StepTable:
    """The table of one run, and what there is to say below it."""
    updates, many = fit.trace.updates, len(classifier.classes_) > 2
    best, why = _best(classifier, encoded, positive)
    table: StepTable = updates.table(
        encoded.X, first=first, best=best, feature_names=encoded.features, rows=encoded.rows
    )
    other = "the rest" if many else str(classifier.classes_[0])
    shown, total = len(table) - 1, len(updates)
    what = count(total, "update") if shown == total else f"{shown} of {count(total, 'update')}"
    ended = f"{count(fit.n_mistakes, 'mistake')} in {count(fit.n_epochs, 'epoch')}"
    return table.with_notes(
        f"y = +1: {visible(str(positive))}, -1: {visible(other)}",
        why,
        f"{what}; the run: {ended}, {fit.stop_reason.name}",
        *map(visible, notes),
    )


def _best(classifier: Any, encoded: EncodedTable, positive: Any) -> tuple[Hyperplane | None, str]:
    """The best hyperplane of the vectors that the run adds up, or why there is none."""
    import rosenblatt

    bias = bool(classifier.fit_intercept)
    signs = encoded.signs(positive)
    try:
        found = rosenblatt.mistake_bound(encoded.X, signs, fit_intercept=bias, max_time=PATIENCE)
    except ValueError as error:
        why = str(error).partition(",")[0].partition(":")[0]
        if why.startswith("max_time"):
            why = f"the best hyperplane was not found in {PATIENCE:g} seconds"
        proof = " (rosenblatt check proves it)" if bias and why.startswith("no hyper") else ""
        return None, f"no angle: {why}{proof}"
    plane = found.hyperplane
    assert plane is not None
    aim = [*plane.w, *([plane.b] if bias else [])]
    nothing = ROUNDING * max(map(abs, aim))
    weights = ", ".join(f"{x:.4g}" if abs(x) > nothing else "0" for x in aim)
    shown = f" ({weights})" if len(plane.w) <= 6 else ""
    vector = "(w, b)" if bias else "w"
    return plane, f"angle: between {vector} and that of the best hyperplane{shown}"


def _write(
    tables: list[tuple[str, StepTable]], kind: str, top: int | None, output: str | None
) -> None:
    """All tables, in the file or on standard output."""
    if kind == "csv" and len(tables) > 1:
        parts = [
            _with_class(name, table.to("csv"), k == 0) for k, (name, table) in enumerate(tables)
        ]
        text = "".join(parts)
    else:
        text = "\n".join(table.to(kind, top) for _, table in tables)
    if output is not None:
        from rosenblatt.files.whole import written_whole

        with written_whole(output) as beside:
            beside.write_text(text, encoding="utf-8", newline="")
    elif kind == "text":
        print_styled(text)
    else:
        print_data(text)


def _with_class(name: str, text: str, header: bool) -> str:
    """The lines of a CSV file with the class in front."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for k, row in enumerate(csv.reader(io.StringIO(text))):
        if k or header:
            writer.writerow(["class" if k == 0 else name, *row])
    return out.getvalue()
