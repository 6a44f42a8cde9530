"""The command ``rosenblatt``: one file per subcommand, of which `app` is the list.

Begin with `fit`. The files of subcommands import little, so that help comes at once; the work is
in `reading`, `fitting` and `saved_models`, what is printed in `report`. May import every room.
"""

import os
import signal
import sys
import threading
import warnings
from types import FrameType

from rosenblatt.cli.starting import end_quickly, start_quickly

SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
AGAIN = 1.0  # seconds after which a signal that was not heard comes again


def main() -> None:
    """Run the command with the arguments of this process."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we began
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
    for number in SIGNALS:
        signal.signal(number, _leave)
    start_quickly()
    warnings.showwarning = _warn
    sys.unraisablehook = _unraised
    try:
        from rosenblatt.cli.app import app
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if code_of_exit(error) is None:
            raise
        sys.exit(code_of_exit(error))
    try:
        app(prog_name="rosenblatt")
    finally:  # the way out is short: a signal there would only be reported
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        end_quickly()


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """A warning of a library in one line, without where it arose."""
    from rosenblatt.visible import print_line

    print_line(f"rosenblatt: {' '.join(str(message).split())}", error=True)


def _leave(number: int, frame: FrameType | None) -> None:
    """End as if by an error, so that temporary files are removed on the way out.

    Where Python, or a library, swallows it (in a finalizer, a callback, a compiler), the signal
    comes again until it is heard.
    """
    again = threading.Timer(AGAIN, os.kill, [os.getpid(), number])
    again.daemon = True
    again.start()
    sys.exit(128 + number)


def code_of_exit(error: BaseException | None) -> int | None:
    """The exit code if an error is what Python has made of an exit on its way."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:  # one of a worker may be its own cause
        if isinstance(error, SystemExit) and isinstance(error.code, int):
            return error.code
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


def _unraised(what: "sys.UnraisableHookArgs") -> None:
    """Say nothing of an exit that could not be made: there will be another."""
    if not isinstance(what.exc_value, SystemExit):
        sys.__unraisablehook__(what)
