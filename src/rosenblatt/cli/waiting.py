"""While one waits: what is going on, on standard error, and what Ctrl-C ends."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from rosenblatt.data.compiling import COMPILING, ONCE
from rosenblatt.visible import count, print_line, visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from rosenblatt.cli.effort import Course
    from rosenblatt.results import Epoch, MarginRound

T = TypeVar("T")
PATIENCE = 1.0
FULL = 1000  # of a bar
TERMINATED = 128 + 15  # the exit code after SIGTERM


class ProgressLine:
    """A line that appears after a second and goes away at the end; on a terminal only."""

    def __init__(self, wanted: bool = True) -> None:
        self._shown = wanted and sys.stderr.isatty()

    def __enter__(self) -> ProgressLine:
        if self._shown:
            from rich import progress
            from rich.console import Console

            self._bars = progress.Progress(
                progress.SpinnerColumn(),
                progress.TextColumn("{task.description}", markup=False),
                progress.BarColumn(bar_width=24),
                progress.TextColumn("{task.fields[detail]}", markup=False),
                progress.TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._what = "starting"
            self._task = self._bars.add_task(self._what, total=None, detail="")
            self._timer = threading.Timer(PATIENCE, self._bars.start)
            self._timer.daemon = True
            self._timer.start()
            self._watching = ExitStack()
            self._watching.enter_context(COMPILING.watched(self._while_compiling))
            self._compiled = COMPILING.loops, COMPILING.seconds
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._watching.close()
            self._timer.cancel()
            self._timer.join()
            self._bars.stop()
            loops, seconds = self._compiled
            if COMPILING.seconds - seconds >= PATIENCE:
                print_line(
                    _compiled(COMPILING.loops - loops, COMPILING.seconds - seconds), error=True
                )

    def say(self, what: str, done: int = 0, total: int | None = None, detail: str = "") -> None:
        """Tell what is being done, and how much of it is done if that is known."""
        if self._shown:
            what, detail = visible(what), visible(detail)
            if what != self._what:
                self._what = what
                self._bars.reset(self._task, description=what)  # what is done shows no time
            self._bars.update(self._task, completed=done, total=total, detail=detail)

    def _while_compiling(self, begins: bool) -> None:
        self._bars.update(self._task, description=ONCE if begins else self._what)

    def after_epoch(self, what: str, course: Course, epoch: Epoch) -> None:
        """Tell where a fit is, unless that was its last epoch."""
        course(epoch)
        detail = f"epoch {epoch.number}, {sum(epoch.mistakes)} mistakes"
        self.say(what, round(FULL * course.share), FULL, detail)

    def after_scan(self, what: str, n_problems: int, scan: MarginRound) -> None:
        """The same of a fit to a best hyperplane, or to one for each of several classes."""
        of = f"class {scan.problem + 1} of {n_problems}, " if n_problems > 1 else ""
        self.say(what, detail=f"{of}scan {scan.number}, gap {scan.gap:.2g}")


def _compiled(loops: int, seconds: float) -> str:
    """What is said when one has waited for loops to be compiled."""
    told = f"rosenblatt: {count(loops, 'loop')} compiled in {seconds:.1f} s"
    if COMPILING.folder is None:
        return (
            f"{told}, as in every run: no folder could be written to keep them; "
            "set NUMBA_CACHE_DIR to one that can"
        )
    return f"{told}, once after installing: they are kept in {COMPILING.folder}"


class FoldProgress:
    """How far the folds of a cross-validation are, some of which may be done side by side."""

    def __init__(self, line: ProgressLine, folds: int) -> None:
        self._line, self._folds = line, folds
        self._shares: dict[str, float] = {}

    def after_epoch(self, fold: str, course: Course, epoch: Epoch) -> None:
        """Tell of an epoch in a fold."""
        course(epoch)
        self._say(fold, course.share, f"epoch {epoch.number}, {sum(epoch.mistakes)} mistakes")

    def after_scan(self, fold: str, n_problems: int, scan: MarginRound) -> None:
        """The same of a fit to a best hyperplane."""
        self._say(fold, 0.5, f"scan {scan.number}, gap {scan.gap:.2g}")

    def _say(self, fold: str, share: float, detail: str) -> None:
        self._shares |= dict.fromkeys(map(str, range(1, int(fold))), 1.0) | {fold: share}
        done = round(FULL * sum(self._shares.values()) / self._folds)
        self._line.say("cross-validation", done, FULL, f"fold {fold}, {detail}")


class HeldCtrlC:
    """Ctrl-C once there is a model: what can be left out ends, and the model is still written.

    `pressed`: whether it came while it was held back; it is, from `hold` to the end. SIGTERM is
    like Ctrl-C but for the exit code (`terminated`); the second one ends all at once.
    """

    def __init__(self) -> None:
        self.pressed = self.terminated = False
        self._holding = self._trained = False
        self._before: Any = None  # what SIGTERM does elsewhere

    def __enter__(self) -> HeldCtrlC:
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGTERM)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGTERM, self._terminate)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._release()
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)
        if self.terminated and isinstance(error, KeyboardInterrupt):
            raise SystemExit(TERMINATED)

    @property
    def exit_code(self) -> int:
        """How to leave after it was pressed."""
        return TERMINATED if self.terminated else 130

    @property
    def how(self) -> str:
        """What ended it."""
        return "by SIGTERM" if self.terminated else "with Ctrl-C"

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        self.terminated = True
        signal.signal(signal.SIGTERM, self._before)
        training = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        if training or self._trained:
            signal.raise_signal(signal.SIGINT)
        else:
            self._before(number, frame)

    def hold(self) -> None:
        """From now on take Ctrl-C down only; where others handle the signal nothing changes."""
        self._trained = True
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            self._holding = True
            signal.signal(signal.SIGINT, self._note)

    def unless_stopped(self, work: Callable[[], T]) -> T | None:
        """Do what can be left out: None if Ctrl-C ended it."""
        try:
            self._release()
            result = work()
            self.hold()
        except KeyboardInterrupt:
            self.hold()
            self.pressed = True
            return None
        return result

    def _release(self) -> None:
        if self._holding:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._holding = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True
