"""One question to the library: timed, its warnings kept, ended when it takes too long."""

import contextlib
import re
import signal
import time
import traceback
import warnings
from dataclasses import dataclass, field
from typing import Any

from .judge import Fault

KNOWN_WARNINGS = ("ConvergenceWarning", "NotSeparableWarning")
CPU_LIMIT = 60.0  # seconds of a single question


class TooSlow(BaseException):
    """The time of a question is over. (No handler of ordinary errors in between may keep it.)"""


@dataclass
class Reply:
    """What came back: a value or an error, the names of warnings, and the CPU time it took."""

    value: Any = None
    error: BaseException | None = None
    warned: set = field(default_factory=set)
    seconds: float = 0.0
    faults: list = field(default_factory=list)


@contextlib.contextmanager
def limited(seconds):
    """Raise TooSlow in here after so much CPU time."""

    def stop(number, frame):
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def ask(question, *accepted):
    """Call `question`; errors of other kinds than the `accepted` names are faults."""
    reply = Reply()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.process_time()
        try:
            with limited(CPU_LIMIT):
                reply.value = question()
        except TooSlow as error:
            reply.error = error
            reply.faults.append(Fault("too slow", f"more than {CPU_LIMIT:g} s of CPU"))
        except Exception as error:
            reply.error = error
            if type(error).__name__ not in accepted:
                reply.faults.append(_crash(error))
        reply.seconds = time.process_time() - began
    for warning in caught:
        name = warning.category.__name__
        # BLAS libraries now and then raise this flag for finite numbers and a finite product.
        if "encountered in matmul" not in str(warning.message):
            reply.warned.add(name)
            if name not in KNOWN_WARNINGS:
                reply.faults.append(Fault(f"warning {name}", str(warning.message)[:200]))
    return reply


def refusal(message):
    """A refusal of valid data; of one kind whatever the numbers in it."""
    words = re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", message)
    return Fault(f"refused: {words[:70]}", message[:200])


def _crash(error):
    """An error that nobody meant, or a refusal."""
    message = " ".join(str(error).split())
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if isinstance(error, ValueError) and (frame.line or "").startswith("raise "):
        return refusal(message)
    where = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} in {frame.name}"
    return Fault(f"crash {type(error).__name__} in {frame.name}", f"{message[:200]} ({where})")
