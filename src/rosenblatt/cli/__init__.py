"""The command ``rosenblatt``: one file per subcommand."""

import os
import signal
import sys
import threading
import warnings
from types import FrameType

SIGNALS = ("SIGTERM", "SIGHUP")


def main() -> None:
    """Run the command with the arguments of this process."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we began
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
    for name in SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _leave)
    warnings.showwarning = _warn
    sys.unraisablehook = _unraised
    try:
        from rosenblatt.cli.app import app
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        app(prog_name="rosenblatt")
    finally:  # the way out is short: a signal there would only be reported
        for name in SIGNALS:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """A warning of a library in one line, without where it arose."""
    from rosenblatt.cli.printing import print_line

    print_line(f"rosenblatt: {' '.join(str(message).split())}", error=True)


def _leave(number: int, frame: FrameType | None) -> None:
    """End as if by an error, so that temporary files are removed on the way out."""
    sys.exit(128 + number)


def _unraised(what: "sys.UnraisableHookArgs") -> None:
    """Leave after all, where Python was doing what cannot be left (a finalizer, a callback)."""
    if isinstance(what.exc_value, SystemExit):
        number = int(str(what.exc_value)) - 128
        again = threading.Timer(0.02, os.kill, [os.getpid(), number])
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(what)
