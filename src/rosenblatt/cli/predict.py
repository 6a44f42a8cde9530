"""``rosenblatt predict``: the classes of new rows."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from rosenblatt.cli import options
from rosenblatt.cli.options import refuse, refuse_overwriting, shown_tables, tables_of, writes
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import print_line

if TYPE_CHECKING:
    from rosenblatt.tables.table import Table

CHUNK = 61_440  # rows read at a time: half of what most files store together
CELLS = 25 * CHUNK  # fewer of them where the table is wider, for the sake of memory
MODEL = "A model saved by rosenblatt fit."
TABLE = "A table with the same columns; - for standard input."
OUTPUT = "Write to this .csv, .tsv or .parquet file. Default: CSV on standard output."
PROBA = "Write, too, the probability of each class, of a model fitted with --calibrate."
EXPLAIN = "Write, too, which columns led to each answer, those that count most first: because."
TOP = "How many columns --explain names (3)."
CONTRIBUTIONS = "Write, too, what every column adds to the decision value, and what it starts from."
QUIET = "Say nothing but errors."
KEEP = "Write this column, too, such as the name or number of the row. May be given several times."


def rows_at_a_time(table: Table, answers: int = 0) -> int:
    """How many rows of a table to take at once, with so many columns of answers."""
    return max(1, min(CHUNK, CELLS // max(len(table.names), answers)))


def predict(
    ctx: typer.Context,
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)],
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE...", help=TABLE)] = None,
    output: Annotated[str | None, writes(metavar="TABLE", help=OUTPUT)] = None,
    keep: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help=KEEP)] = None,
    proba: Annotated[bool, typer.Option("--proba", metavar="", help=PROBA)] = False,
    explain: Annotated[bool, typer.Option("--explain", metavar="", help=EXPLAIN)] = False,
    top: Annotated[int | None, typer.Option(min=1, metavar="N", help=TOP)] = None,
    contributions: Annotated[
        bool, typer.Option("--contributions", metavar="", help=CONTRIBUTIONS)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help=QUIET)] = False,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    dates: options.Dates = None,
    skip_bad_lines: options.SkipBadLines = None,
    sheet: options.Sheet = None,
    table_name: options.TableName = None,
    query: options.Query = None,
    db: options.Database = None,
    cache: options.CacheFolder = None,
    cluster: options.Cluster = None,
) -> None:
    """Say the class of every row of a table, and its decision value.

    Columns are found by name, in any order; further columns do no harm. If the true classes are
    among them, the share of right answers is said on standard error. Large files are streamed.

    [dim]Example:[/dim] rosenblatt predict notes.skops examples/banknotes.csv -o answers.csv
    """
    files = tables_of(ctx.params)
    refuse(top and not explain, f"--top {top} says how many columns to name: add --explain")
    with ProgressLine(not quiet) as progress:
        engine = ctx.with_resource(options.on_cluster(cluster, progress))
        from rosenblatt.cli.explaining import Explained
        from rosenblatt.cli.on_cluster import answered
        from rosenblatt.cli.reading import open_table
        from rosenblatt.cli.saved_models import Application, Tally, notes_without_options
        from rosenblatt.files.models import load
        from rosenblatt.running.ahead import ahead, share_one_heap
        from rosenblatt.streams.cache import Cache
        from rosenblatt.tables.output import TableWriter
        from rosenblatt.tables.table_on_workers import TableOnWorkers

        share_one_heap()
        output = None if output == "-" else output
        if output is None and hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8")  # data, not words for a terminal
        explained = Explained((top or 3) * explain, contributions)
        application = Application(load(model), model, keep or (), explained=explained, proba=proba)
        tally = Tally()
        refuse_overwriting(output, [model, *files])
        writer = TableWriter(output, application.layout)
        progress.say(f"reading {shown_tables(files)}")
        how = options.how_to_read(ctx.params)
        parts = {"in_parts": True, "folder": Cache(cache).folder}
        with open_table(files, how, engine, **application.how_to_read, **parts) as table:
            if isinstance(table, TableOnWorkers):
                answers = ahead(answered(table.engine, application, table, tally))
            else:
                step = rows_at_a_time(table, len(application.answers))
                answers = ahead(application.answers_to(table, step, tally))
            done = 0
            with writer as out, closing(answers):
                for answer in answers:
                    out.write(answer)
                    done += len(answer["prediction"])
                    progress.say("predicting", done, table.n_rows)
    if not quiet:
        told = tally.lines(application.classifier.classes_)
        for line in [*notes_without_options(application.notes), *told]:
            print_line(line, error=True)
