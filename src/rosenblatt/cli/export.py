"""``rosenblatt export``: a model for others: as a program, a graph or a text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rosenblatt.cli.options import refuse, refuse_overwriting, writes

Dialects = Literal["duckdb", "sqlite", "postgresql"]

MODEL = "A model saved by rosenblatt fit."
PYTHON = "Write a Python module here, with the functions predict and decision."
C = "Write a C file here, with the function decide."
SQL = "Print a SELECT that adds decision value and class to a table."
JSON = "Write the whole model here as JSON, which rb.io.load and all commands read."
OUTPUT = "Write the SELECT to this file instead."
FROM = "The table that the SELECT reads."


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)],
    python: Annotated[str | None, typer.Option(metavar="FILE.py", help=PYTHON)] = None,
    c: Annotated[str | None, typer.Option(metavar="FILE.c", help=C)] = None,
    sql: Annotated[Dialects | None, typer.Option(metavar="DIALECT", help=SQL)] = None,
    json_: Annotated[str | None, typer.Option("--json", metavar="FILE.json", help=JSON)] = None,
    output: Annotated[str | None, writes(metavar="FILE.sql", help=OUTPUT)] = None,
    table: Annotated[str, typer.Option("--from", metavar="TABLE", help=FROM)] = "data",
) -> None:
    """Write a model down for programs that know nothing of rosenblatt.

    Each takes the columns of the table, missing cells included, as plain numbers, dates and texts,
    and gives the decision values and the class. Dialects of SQL: duckdb, sqlite, postgresql.

    [dim]Example:[/dim] rosenblatt export notes.skops --python notes.py
    """
    refuse(output and not sql, f"-o {output} is for --sql: say which dialect")
    none = "nothing to write: give --python, --c, --sql or --json"
    refuse(not (python or c or sql or json_), none)
    from rosenblatt.files.models import load, text_of
    from rosenblatt.visible import print_data, print_line

    for file in filter(None, (python, c, json_, output)):
        refuse_overwriting(file, [model])
    loaded = load(model)
    written = {}
    if json_:
        written[json_] = text_of(loaded)
    if python or c or sql:
        programs = _programs(loaded, model, {"python": python, "c": c, "sql": sql}, table)
        files = {"python": python, "c": c, "sql": output}
        written |= {str(files[kind]): text for kind, text in programs.items() if files[kind]}
        if sql and not output:
            print_data(programs["sql"])
    for file, text in written.items():
        _write(file, text)
        print_line(f"written: {file}", error=bool(sql and not output))


def _programs(loaded: Any, model: str, wanted: dict[str, str | None], table: str) -> dict[str, str]:
    """The formula of a model in each of the languages that are wanted."""
    from rosenblatt import __version__
    from rosenblatt.exports.formula import formula_of
    from rosenblatt.report.saved import saved_facts

    facts = saved_facts(loaded, model)
    trained_on = facts.table if facts else None
    formula = formula_of(loaded, model, trained_on.as_they_stand if trained_on else None)
    title = f"{Path(model).name}, written by rosenblatt {__version__}."
    found = {}
    if wanted["python"]:
        from rosenblatt.exports.python_code import python_code

        found["python"] = python_code(formula, title)
    if wanted["c"]:
        from rosenblatt.exports.c_code import c_code

        found["c"] = c_code(formula, title)
    if wanted["sql"]:
        from rosenblatt.exports.sql import sql as select

        found["sql"] = select(formula, wanted["sql"], table, title)
    return found


def _write(file: str, text: str) -> None:
    from rosenblatt.files.whole import written_whole

    with written_whole(file) as beside:
        beside.write_text(text, encoding="utf-8")
