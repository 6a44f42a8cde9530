"""``rosenblatt export``: a model as a program that needs no rosenblatt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rosenblatt.cli.options import refuse, refuse_overwriting, writes

Dialects = Literal["duckdb", "sqlite", "postgresql"]

MODEL = "A model saved by rosenblatt fit: of a linear classifier."
PYTHON = "Write a Python module here, with the functions predict and decision."
C = "Write a C file here, with the function decide."
SQL = "Print a SELECT that adds decision value and class to a table."
OUTPUT = "Write the SELECT to this file instead."
FROM = "The table that the SELECT reads."


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)],
    python: Annotated[str | None, typer.Option(metavar="FILE.py", help=PYTHON)] = None,
    c: Annotated[str | None, typer.Option(metavar="FILE.c", help=C)] = None,
    sql: Annotated[Dialects | None, typer.Option(metavar="DIALECT", help=SQL)] = None,
    output: Annotated[str | None, writes(metavar="FILE.sql", help=OUTPUT)] = None,
    table: Annotated[str, typer.Option("--from", metavar="TABLE", help=FROM)] = "data",
) -> None:
    """Write a linear model down for programs that know nothing of rosenblatt.

    Each takes the columns of the table, missing cells included, as plain numbers, dates and texts,
    and gives the decision values and the class. Dialects of SQL: duckdb, sqlite, postgresql.

    [dim]Example:[/dim] rosenblatt export notes.skops --python notes.py
    """
    refuse(output and not sql, f"-o {output} is for --sql: say which dialect")
    refuse(not (python or c or sql), "nothing to write: give --python, --c or --sql")
    from rosenblatt import __version__
    from rosenblatt.exports.formula import formula_of
    from rosenblatt.files.models import load
    from rosenblatt.report.saved import saved_facts
    from rosenblatt.visible import print_data, print_line

    loaded = load(model)
    facts = saved_facts(loaded, model)
    trained_on = facts.table if facts else None
    formula = formula_of(loaded, model, trained_on.as_they_stand if trained_on else None)
    title = f"{Path(model).name}, written by rosenblatt {__version__}."
    written = {}
    if python:
        from rosenblatt.exports.python_code import python_code

        written[python] = python_code(formula, title)
    if c:
        from rosenblatt.exports.c_code import c_code

        written[c] = c_code(formula, title)
    if sql:
        from rosenblatt.exports.sql import sql as select

        query = select(formula, sql, table, title)
        if output:
            written[output] = query
        else:
            print_data(query)
    for file, text in written.items():
        refuse_overwriting(file, [model])
        _write(file, text)
        print_line(f"written: {file}", error=bool(sql and not output))


def _write(file: str, text: str) -> None:
    from rosenblatt.files.whole import written_whole

    with written_whole(file) as beside:
        beside.write_text(text, encoding="utf-8")
