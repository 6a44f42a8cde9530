"""``rosenblatt export``: a model for others: as a program, a graph or a text."""

from __future__ import annotations

from collections.abc import Collection
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
ONNX = "Write an ONNX graph here, from the columns to decision values and classes."
OUTPUT = "Write the SELECT to this file instead."
FROM = "The table that the SELECT reads."


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)],
    python: Annotated[str | None, typer.Option(metavar="FILE.py", help=PYTHON)] = None,
    c: Annotated[str | None, typer.Option(metavar="FILE.c", help=C)] = None,
    sql: Annotated[Dialects | None, typer.Option(metavar="DIALECT", help=SQL)] = None,
    json_: Annotated[str | None, typer.Option("--json", metavar="FILE.json", help=JSON)] = None,
    onnx: Annotated[str | None, typer.Option(metavar="FILE.onnx", help=ONNX)] = None,
    output: Annotated[str | None, writes(metavar="FILE.sql", help=OUTPUT)] = None,
    table: Annotated[str, typer.Option("--from", metavar="TABLE", help=FROM)] = "data",
) -> None:
    """Write a model down for programs that know nothing of rosenblatt.

    Each takes the columns of the table, missing cells included, as plain numbers, dates and texts,
    and gives the decision values and the class. Dialects of SQL: duckdb, sqlite, postgresql.

    [dim]Example:[/dim] rosenblatt export notes.skops --python notes.py
    """
    refuse(output and not sql, f"-o {output} is for --sql: say which dialect")
    none = "nothing to write: give --python, --c, --sql, --json or --onnx"
    refuse(not (python or c or sql or json_ or onnx), none)
    from rosenblatt.files.models import load, text_of
    from rosenblatt.visible import print_data, print_line

    for file in filter(None, (python, c, json_, onnx, output)):
        refuse_overwriting(file, [model])
    loaded = load(model)
    written: dict[str, bytes | str] = {}
    if json_:
        written[json_] = text_of(loaded)
    if onnx:
        written[onnx] = _graph(loaded, model)
    if python or c or sql:
        programs = _programs(loaded, model, {"python": python, "c": c, "sql": sql}, table)
        files = {"python": python, "c": c, "sql": output}
        written |= {str(files[kind]): text for kind, text in programs.items() if files[kind]}
        if sql and not output:
            print_data(programs["sql"])
    for file, text in written.items():
        _write(file, text)
        print_line(f"written: {file}", error=bool(sql and not output))


def _graph(loaded: Any, model: str) -> bytes:
    from rosenblatt.exports.formula import taken_apart
    from rosenblatt.exports.onnx_graph import INSTALL, onnx_graph

    try:
        parts = taken_apart(loaded, model, _as_they_stand(loaded, model))
        return onnx_graph(parts, _title(model), model)
    except ImportError:
        raise ValueError(INSTALL) from None


def _as_they_stand(loaded: Any, model: str) -> Collection[str] | None:
    """The columns whose words are compared as they stand; None: all of them."""
    from rosenblatt.report.saved import saved_facts

    facts = saved_facts(loaded, model)
    return facts.table.as_they_stand if facts and facts.table else None


def _title(model: str) -> str:
    from rosenblatt import __version__

    return f"{Path(model).name}, written by rosenblatt {__version__}."


def _programs(loaded: Any, model: str, wanted: dict[str, str | None], table: str) -> dict[str, str]:
    """The formula of a model in each of the languages that are wanted."""
    from rosenblatt.exports.formula import formula_of

    formula, title = formula_of(loaded, model, _as_they_stand(loaded, model)), _title(model)
    found = {}
    if wanted["python"]:
        from rosenblatt.exports.python_code import python_code

        found["python"] = python_code(formula, title)
    if wanted["c"]:
        from rosenblatt.exports.c_code import c_code

        found["c"] = c_code(formula, title)
    if wanted["sql"]:
        from rosenblatt.exports.sql import sql as select

        found["sql"] = select(formula, wanted["sql"], table, title, model)
    return found


def _write(file: str, content: bytes | str) -> None:
    from rosenblatt.files.whole import written_whole

    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    with written_whole(file) as beside:
        beside.write_bytes(data)
