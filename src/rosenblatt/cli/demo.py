"""``rosenblatt demo``: a fit on data that come with the package, every line explained."""

from __future__ import annotations

from typing import Annotated

import typer

from rosenblatt.report.printing import print_line


def demo(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Which demo; --list names them.")
    ] = "penguins",
    list_: Annotated[
        bool, typer.Option("--list", "-l", metavar="", help="List the demos.")
    ] = False,
    save: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Write the data to a .csv or .parquet file instead."),
    ] = None,
) -> None:
    """Show what a fit looks like and what each line of it means.

    [dim]Example:[/dim] rosenblatt demo xor
    """
    from rosenblatt.cli.demos import DEMOS, run, write

    if list_:
        width = max(map(len, DEMOS))
        for key, one in DEMOS.items():
            typer.echo(f"{key:{width}}  {one.title}")
    elif save is not None:
        write(name, save)
        print_line(f"written: {save}")
    else:
        run(name)
