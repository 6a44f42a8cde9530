"""``rosenblatt predict``: the classes of new rows."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rosenblatt.cli import options
from rosenblatt.cli.options import refuse_overwriting, shown_tables, tables_of, writes
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import print_line

CHUNK = 1 << 16
MODEL = "A model saved by rosenblatt fit."
TABLE = "A table with the same columns; - for standard input."
OUTPUT = "Write to this .csv, .tsv or .parquet file. Default: CSV on standard output."
QUIET = "Say nothing but errors."


def predict(
    ctx: typer.Context,
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)],
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE...", help=TABLE)] = None,
    output: Annotated[str | None, writes(metavar="TABLE", help=OUTPUT)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help=QUIET)] = False,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    sheet: options.Sheet = None,
    table_name: options.TableName = None,
    query: options.Query = None,
    db: options.Database = None,
) -> None:
    """Say the class of every row of a table, and its decision value.

    Columns are found by name, in any order; further columns do no harm. If the true classes are
    among them, the share of right answers is said on standard error. Large files are streamed.

    [dim]Example:[/dim] rosenblatt predict notes.skops examples/banknotes.csv -o answers.csv
    """
    files = tables_of(ctx.params)
    with ProgressLine(not quiet) as progress:
        from rosenblatt.cli.reading import open_table
        from rosenblatt.cli.saved_models import Application, Tally
        from rosenblatt.files.models import load
        from rosenblatt.tables.output import TableWriter

        output = None if output == "-" else output
        if output is None and hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8")  # data, not words for a terminal
        application, tally = Application(load(model), model), Tally()
        refuse_overwriting(output, [model, *files])
        writer = TableWriter(output, application.layout)
        progress.say(f"reading {shown_tables(files)}")
        how = options.how_to_read(ctx.params)
        with open_table(files, how, **application.how_to_read) as table:
            rows = application.fitting(table)
            with writer as out:
                for start in range(0, table.n_rows, CHUNK):
                    stop = min(start + CHUNK, table.n_rows)
                    out.write(application.answer(rows.chunk(start, stop), tally))
                    progress.say("predicting", stop, table.n_rows)
    if not quiet:
        for line in [*table.notes, *tally.lines(application.classifier.classes_)]:
            print_line(line, error=True)
