"""``rosenblatt playground``: a local web page on which to watch every algorithm learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rosenblatt.cli import options
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import print_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rosenblatt.playground.held_tables import Tables
    from rosenblatt.playground.serving import Playground
    from rosenblatt.report.fits import EncodedTable

PORT = "Where to listen. Default: the first free port from 8747 on; 0: any."
HOST = "Whom to listen to: 127.0.0.1, this machine alone. Others can then reach the page."
NO_BROWSER = "Only print the address."
WIDE_OPEN = (
    "--host {host}: whoever can reach this machine and has the token can use its processor and see "
    "the table, and whoever can listen on the way sees both, for nothing is encrypted."
)


def playground(
    ctx: typer.Context,
    files: options.Files = None,
    target: options.Target = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, metavar="N", help=PORT)] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help=HOST)] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", metavar="", help=NO_BROWSER)] = False,
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
    """Open a page on which to watch every algorithm learn, step by step and back.

    Points are drawn with the mouse, made, pasted, or those of FILE. The page is for this machine
    alone, and for whoever has the token in its address. Ctrl-C ends it.

    [dim]Example:[/dim] rosenblatt playground examples/banknotes.csv
    """
    with ProgressLine() as progress:
        progress.say("starting")
        make = _playground()
        from rosenblatt.playground.held_tables import Tables

        tables = Tables(_read)
        given = ctx.params
        if given["files"] or given["query"] or given["db"]:
            _hold(tables, given, progress)
        server = make(host, port, tables)
    _tell(server, host)
    server.run(lambda: None if no_browser else _open(server.address))


def _playground() -> type[Playground]:
    """The server, if what it takes is installed."""
    try:
        from rosenblatt.playground.serving import Playground
    except ImportError as error:
        if error.name not in ("fastapi", "uvicorn", "starlette", "pydantic"):
            raise
        msg = f'the playground takes {error.name}: pip install "rosenblatt[playground]"'
        raise ValueError(msg) from None
    return Playground


def _read(path: str, target: str | None, scaled: bool) -> EncodedTable:
    """The table in a file, as `fit` would read it."""
    nothing = dict.fromkeys([*options.READING.values(), "ignore", "use", "text"])
    return _encoded([path], target, nothing, scaled)


def _encoded(
    files: list[str], target: str | None, given: Mapping[str, Any], scaled: bool
) -> EncodedTable:
    from rosenblatt import Perceptron
    from rosenblatt.cli.reading import encoder_of, read_file
    from rosenblatt.report.encoding_notes import notes_about
    from rosenblatt.report.fits import EncodedTable

    table = read_file(files, target, Perceptron, options.how_to_read(given))
    encoder = encoder_of(table, standardize=scaled, **options.how_to_encode(given))
    X = encoder.fit_transform(table.columns)
    table.notes.extend(notes_about(encoder))
    return EncodedTable(**vars(table), encoder=encoder, X=X)


def _hold(tables: Tables, given: Mapping[str, Any], progress: ProgressLine) -> None:
    """Read the table of the command."""
    from rosenblatt.playground.held_tables import held

    files = options.tables_of(given)
    progress.say(f"reading {options.shown_tables(files)}")
    table = _encoded(files, given["target"], given, True)
    tables.keep(held(table, files[0] if len(files) == 1 else table.file))


def _tell(server: Playground, host: str) -> None:
    """Say where the page is, and to whom."""
    from rosenblatt.playground.serving import is_loopback

    if not is_loopback(host):
        print_line(WIDE_OPEN.format(host=host), error=True)
    print_line(f"The playground is at {server.address}")
    print_line("Ctrl-C ends it.")


def _open(address: str) -> None:
    """Open the page, and do not wait for the browser."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
