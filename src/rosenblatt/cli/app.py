"""The commands together, and what they answer when something goes wrong."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from rosenblatt import __version__
from rosenblatt.cli import code_of_exit
from rosenblatt.cli.boolean import boolean
from rosenblatt.cli.bound import bound
from rosenblatt.cli.check import check
from rosenblatt.cli.compare import compare
from rosenblatt.cli.demo import demo
from rosenblatt.cli.evaluate import evaluate
from rosenblatt.cli.export import export
from rosenblatt.cli.fit import fit
from rosenblatt.cli.options import EXIT_CODE, TYPED, WrongUseError
from rosenblatt.cli.playground import playground
from rosenblatt.cli.plot import plot
from rosenblatt.cli.predict import predict
from rosenblatt.cli.report import report
from rosenblatt.cli.show import show
from rosenblatt.cli.steps import steps
from rosenblatt.cli.suspects import suspects
from rosenblatt.cluster.engine import ClusterError
from rosenblatt.visible import print_line

EPILOG = (
    "Exit codes: 0 fine, 1 the answer is no, 2 any error, 130 stopped with Ctrl-C, 143 by SIGTERM. "
    "ROSENBLATT_DEBUG=1 shows where an error arose."
)


class Commands(TyperGroup):
    """A group that answers every error with one line and its exit code."""

    def main(self, *args: Any, **more: Any) -> Any:
        """Run, and leave with an exit code."""
        more["standalone_mode"] = False
        try:
            code = super().main(*args, **more)
            sys.stdout.flush()  # a full disk shows here at the latest, not at exit
        except typer.Abort:
            code = 130
        except SystemExit as leaving:
            # Typer leaves with 1 when the reader of its help has gone.
            code = 0 if leaving.code == 1 else leaving.code
        except Exception as error:
            code = code_of_exit(error) or _answer(error)
        sys.exit(code if isinstance(code, int) else 0)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, and keep them as they were typed."""
        ctx.meta[TYPED] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command; its exit code."""
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except WrongUseError as error:
            command = f"{ctx.command_path} {ctx.invoked_subcommand}"
            msg = f"{error}; {command} --help tells more"
            raise ValueError(msg) from None
        except BrokenPipeError:
            # The reader, `head` for instance, has what it wanted.
            _silence(sys.stdout)
        except KeyboardInterrupt as stopped:
            _say(" ".join(["stopped with Ctrl-C", *map(str, stopped.args)]))
            return 130
        return ctx.meta.get(EXIT_CODE, 0)


def _answer(error: Exception) -> int:
    """Say what went wrong in one line; the exit code."""
    if os.environ.get("ROSENBLATT_DEBUG"):
        import traceback

        traceback.print_exc()
    if hasattr(error, "format_message"):  # a wrong use of the command
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "rosenblatt"
        text = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")
        text = text.partition(", unable to parse string")[0]
        text = text.replace("Input should be a valid integer", "give a whole number")
        text = text.replace("Input should be", "give a number")  # greater than or equal to 1
        message = f"{text[0].lower()}{text[1:]}; {command} --help tells more" if text else command
    elif isinstance(error, ValueError | OSError | MemoryError | ClusterError):
        message = _in_one_line(error)
    elif isinstance(error, ImportError):
        message = f"a part is not installed: {_in_one_line(error)}"
    else:
        message = (
            f"this should not have happened: {type(error).__name__}: {_in_one_line(error)} "
            "(ROSENBLATT_DEBUG=1 shows where; please report it)"
        )
    _say(message)
    return 2


def _in_one_line(error: BaseException) -> str:
    """The message without line breaks; for errors of the system the file first."""
    if isinstance(error, MemoryError):
        return "the memory of this machine is too small for these data"
    if isinstance(error, OSError) and error.strerror:
        what = error.strerror[0].lower() + error.strerror[1:]
        return f"{error.filename}: {what}" if error.filename else what
    return " ".join(str(error).split()) or type(error).__name__


def _say(message: str) -> None:
    """One line on standard error, after whatever was still to be printed."""
    try:
        sys.stdout.flush()
    except OSError:  # what could not be written cannot be written now
        _silence(sys.stdout)
    print_line(f"rosenblatt: {message}", error=True)


def _silence(stream: TextIO) -> None:
    """Let nothing more come out, nor any complaint about that."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rosenblatt {__version__}")
        raise typer.Exit


def _unwrapped(text: str | None) -> str:
    """A docstring with every paragraph in one line, to be broken where the terminal ends."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)
COMMANDS = (
    *(fit, predict, evaluate, compare, check, suspects, bound, steps),
    *(boolean, show, export, plot, report, playground, demo),
)
for command in COMMANDS:
    app.command(help=_unwrapped(command.__doc__))(command)


@app.callback()
def rosenblatt(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """Give it labelled points. It finds the hyperplane, and proves what it found."""
