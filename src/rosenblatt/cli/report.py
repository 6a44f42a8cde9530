"""``rosenblatt report``: one page about a model, to hand on."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from rosenblatt.cli import options
from rosenblatt.cli.fit import fit
from rosenblatt.cli.options import WrongUseError, writes
from rosenblatt.visible import print_line

OUTPUT = "Write the page here: one file, .html, that needs no network."
NOT_HERE = ("output", "picture", "page", "top", "rows", "json_")  # of the options of fit


def report(ctx: typer.Context, **given: Any) -> None:
    """Train as rosenblatt fit does, and write one page about the model.

    It says what the model is worth, proves whether the classes can be separated, and shows weights,
    training, other models, rows to look at and the data, with pictures; and how to get the same
    model again. It is one file without scripts, for a telephone, for print and for the dark.

    [dim]Example:[/dim] rosenblatt report examples/banknotes.csv -o report.html
    """
    file = given.pop("output")
    if file is None:
        msg = "nowhere to write the page: give -o report.html"
        raise WrongUseError(msg)
    ctx.meta[options.PAGE_ONLY] = True
    fit(ctx, page=file, **given)
    if ctx.meta[options.EXIT_CODE] == 130:
        raise KeyboardInterrupt
    ctx.meta[options.EXIT_CODE] = 0
    if not given["quiet"]:
        print_line(f"written: {file}")


def _signature() -> inspect.Signature:
    """The options of `fit`, but for what it prints and writes; -o is the page."""
    parameters = inspect.signature(fit, eval_str=True).parameters
    page = Annotated[str | None, writes(metavar="PAGE.html", help=OUTPUT)]
    here = {name: one for name, one in parameters.items() if name not in NOT_HERE}
    here["output"] = parameters["output"].replace(annotation=page)
    order = [*("ctx", "files", "target", "output"), *(name for name in here if name != "output")]
    return inspect.Signature([here[name] for name in dict.fromkeys(order)])


report.__signature__ = _signature()  # type: ignore[attr-defined]
