"""``rosenblatt predict``: the classes of new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rosenblatt.cli.options import refuse_overwriting, writes
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import print_line

CHUNK = 1 << 16
MODEL = "A model saved by rosenblatt fit."
TABLE = "A table with the same columns; - for standard input."
OUTPUT = "Write to this .csv, .tsv or .parquet file. Default: CSV on standard output."
QUIET = "Say nothing but errors."
HEADER = "Whether the first line has names."
DELIMITER = "What stands between cells."


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)],
    file: Annotated[str, typer.Argument(metavar="FILE", help=TABLE)],
    output: Annotated[str | None, writes(metavar="TABLE", help=OUTPUT)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help=QUIET)] = False,
    header: Annotated[bool | None, typer.Option(metavar="", help=HEADER)] = None,
    delimiter: Annotated[str | None, typer.Option(metavar="C", help=DELIMITER)] = None,
) -> None:
    """Say the class of every row of a table, and its decision value.

    Columns are found by name, in any order; further columns do no harm. If the true classes are
    among them, the share of right answers is said on standard error. Large files are streamed.

    [dim]Example:[/dim] rosenblatt predict notes.skops examples/banknotes.csv -o answers.csv
    """
    with ProgressLine(not quiet) as progress:
        from rosenblatt.cli.saved_models import Application, Tally
        from rosenblatt.files.models import load
        from rosenblatt.tables.output import TableWriter
        from rosenblatt.tables.table import read_table

        output = None if output == "-" else output
        if output is None and hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8")  # data, not words for a terminal
        application, tally = Application(load(model), model), Tally()
        refuse_overwriting(output, [model, file])
        writer = TableWriter(output, application.layout)
        progress.say(f"reading {Path(file).name}")
        how = application.how_to_read
        with read_table(file, header=header, delimiter=delimiter, **how) as table:
            rows = application.fitting(table)
            with writer as out:
                for start in range(0, table.n_rows, CHUNK):
                    stop = min(start + CHUNK, table.n_rows)
                    out.write(application.answer(rows.chunk(start, stop), tally))
                    progress.say("predicting", stop, table.n_rows)
    if not quiet:
        for line in [*table.notes, *tally.lines(application.classifier.classes_)]:
            print_line(line, error=True)
