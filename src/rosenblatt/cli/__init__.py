"""The command ``rosenblatt``: one file per subcommand."""

import os
import signal
import sys
import warnings
from types import FrameType


def main() -> None:
    """Run the command with the arguments of this process."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we began
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _leave)
    warnings.showwarning = _warn
    try:
        from rosenblatt.cli.app import app
    except KeyboardInterrupt:
        sys.exit(130)
    app(prog_name="rosenblatt")


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """A warning of a library in one line, without where it arose."""
    sys.stderr.write(f"rosenblatt: {' '.join(str(message).split())}\n")


def _leave(number: int, frame: FrameType | None) -> None:
    """End as if by an error, so that temporary files are removed on the way out."""
    sys.exit(128 + number)
