"""The commands together, and what they answer when something goes wrong."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from rosenblatt import __version__
from rosenblatt.cli.demo import demo
from rosenblatt.cli.fit import fit
from rosenblatt.cli.plot import plot
from rosenblatt.cli.predict import predict
from rosenblatt.cli.show import show

if TYPE_CHECKING:
    from typing import NoReturn

EPILOG = (
    "Exit codes: 0 fine, 1 the answer is no, 2 any error, 130 stopped with Ctrl-C. "
    "ROSENBLATT_DEBUG=1 shows where an error arose."
)


class Commands(TyperGroup):
    """A group whose commands answer every error with one line and its exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # a full disk shows here at the latest, not at exit
            return result
        except BrokenPipeError:
            # The reader, `head` for instance, has what it wanted.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except KeyboardInterrupt:
            _stop("stopped with Ctrl-C; nothing was written", 130)
        except (ValueError, OSError, MemoryError) as error:
            _stop(_in_one_line(error), 2)
        except ImportError as error:
            _stop(f"a part is not installed: {_in_one_line(error)}", 2)
        except Exception as error:
            if hasattr(error, "exit_code") or isinstance(error, typer.Abort):
                raise  # Typer's own ways to leave; a wrong use it explains with the usage
            _stop_as_bug(error)


def _in_one_line(error: BaseException) -> str:
    """The message without line breaks; for errors of the system the file first."""
    if isinstance(error, MemoryError):
        return "the memory of this machine is too small for these data"
    if isinstance(error, OSError) and error.strerror:
        what = error.strerror[0].lower() + error.strerror[1:]
        return f"{error.filename}: {what}" if error.filename else what
    return " ".join(str(error).split()) or type(error).__name__


def _stop_as_bug(error: Exception) -> NoReturn:
    kind = type(error).__name__
    _stop(
        f"this should not have happened: {kind}: {_in_one_line(error)} "
        "(ROSENBLATT_DEBUG=1 shows where; please report it)",
        2,
    )


def _stop(message: str, code: int) -> NoReturn:
    """Say what happened in one line on standard error, and leave."""
    if os.environ.get("ROSENBLATT_DEBUG"):
        import traceback

        traceback.print_exc()
    try:
        sys.stdout.flush()
    except OSError:  # what could not be written cannot be written now
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.stderr.write(f"rosenblatt: {message}\n")
    raise typer.Exit(code) from None


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rosenblatt {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)
app.command()(fit)
app.command()(predict)
app.command()(show)
app.command()(plot)
app.command()(demo)


@app.callback()
def rosenblatt(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """Give it labelled points. It finds the hyperplane, and proves what it found."""
