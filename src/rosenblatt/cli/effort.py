"""How much the command does when nobody says how much: epochs, folds, records.

Training is limited by work, which is told from counts alone, so that a table gives the same model
on every machine at any hour. Only the folds go by the clock, and the report says so.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from scipy.sparse import issparse

from rosenblatt.results import Epoch, StopReason
from rosenblatt.running.clock import Halt
from rosenblatt.running.orders import ONCE, PICKING
from rosenblatt.running.problems import NONSENSE

# Work is in nanoseconds of one core, about.
FREE = 2e9  # done without asking what comes of it
MOST = 4e9  # done as long as the mistakes come down
STILL = 10  # epochs without a new fewest number of mistakes after which they do no more
RECORD = 1_000_000  # mistakes whose record is kept for a bound: with its proof, about 200 MB

# What a visit, an update, a kernel value take; fitted to runs, they need not be exact.
ENTRY, UPDATE = 1.5, 8.0  # for each number of a row
JUDGED = 0.05  # for each number of the table, to judge a vector for the pocket
VALUE, PRODUCT = 5.0, 0.05  # a kernel value, and more for each number of a row
AT_HAND = 1.0  # a kernel value that is kept
DOUBTS = 1000  # kernel values of a row that an epoch takes besides those of its mistakes
JUDGED_VALUES = 3  # times the values, for a kernel's pocket

CHOSEN = {StopReason.NO_PROGRESS, StopReason.WORK_LIMIT}


@dataclass(frozen=True)
class Effort:
    """What the command may choose by itself."""

    epochs: bool = False  # how long to train
    folds_time: float | None = None  # seconds after which no fold is begun; None: all are done
    record: int | None = None  # mistakes after which a recorded run ends

    def course(self, classifier: Any, X: Any, n_problems: int) -> Course:
        """The course of a fit that is about to begin."""
        return Course(classifier, X, n_problems, self)


class Course:
    """The course of a fit, told after every epoch; it ends the fit when it has done enough.

    `share`: how much has been done of the most that may be.
    """

    def __init__(self, classifier: Any, X: Any, n_problems: int, effort: Effort) -> None:
        self._work, self._limits, self._epochs = 0.0, effort, int(classifier.max_epochs)
        self._of_epoch = _kernel_work if hasattr(classifier, "kernel") else _linear_work
        self._about = classifier, X, n_problems
        # One mistake is made in every epoch of these, and errors are not what Adaline minimises.
        falls = classifier.order not in PICKING and hasattr(classifier, "keep")
        self._still = STILL if falls else None
        self._fewest, self._since, self._mistakes, self.share = -1, 0, 0, 0.0

    def __call__(self, epoch: Epoch) -> None:
        """Look at another epoch; raises `Halt` if it was the last."""
        reason = self._after(epoch.number, sum(epoch.mistakes))
        if reason is not None:
            raise Halt(reason)

    def recall(self, state: Any) -> StopReason | None:
        """Look at the epochs of the run that a fit goes on with, given its state.

        The reason to stop if it had ended there.
        """
        reason = None
        with suppress(*NONSENSE):  # which the fit refuses
            made = [problem["mistakes"].tolist() for problem in state["problems"]]
            for number in range(1, state["epochs"] + 1):
                reason = self._after(number, sum(one[min(number, len(one)) - 1] for one in made))
            return reason if state["phase"] == "between" else None
        return None

    def _after(self, number: int, mistakes: int) -> StopReason | None:
        """Take down an epoch; the reason to stop after it, if there is one."""
        self._mistakes += mistakes
        self._work += self._of_epoch(*self._about, number, mistakes)
        if self._fewest < 0 or mistakes < self._fewest:
            self._fewest, self._since = mistakes, number
        limits, parts = self._limits, [number / self._epochs]
        parts += [self._work / MOST] if limits.epochs else []
        parts += [self._mistakes / limits.record] if limits.record else []
        self.share = min(1.0, max(parts))
        if not mistakes or number == self._epochs:
            return None  # it ends by itself
        if max(parts[1:], default=0.0) >= 1.0:
            return StopReason.WORK_LIMIT
        still = self._still is not None and number - self._since >= self._still
        return StopReason.NO_PROGRESS if limits.epochs and still and self._work >= FREE else None


def _linear_work(model: Any, X: Any, n_problems: int, number: int, mistakes: int) -> float:
    """What an epoch with so many mistakes takes."""
    entries = float(X.nnz if issparse(X) else X.size)
    work = ENTRY * entries * n_problems + UPDATE * mistakes * entries / float(X.shape[0])
    judged = bool(getattr(model, "keep", "last") == "pocket")
    return work + JUDGED * mistakes * entries * judged


def _kernel_work(model: Any, X: Any, n_problems: int, number: int, mistakes: int) -> float:
    """The same of a kernel perceptron: as many kernel values as there are rows, for each mistake.

    Of a table that is not too long they are computed once and kept. A mistake that is recorded has
    its values computed once more, each by itself.
    """
    from rosenblatt.kernel.kernel_values import ROOM

    n, judged = float(X.shape[0]), bool(model.keep == "pocket")
    value = VALUE + PRODUCT * float(X.nnz if issparse(X) else X.size) / n
    recorded = value * n * mistakes * bool(model.record)
    if model.budget is not None:
        return recorded + value * n * min(mistakes + DOUBTS, int(model.budget))
    if model.order in ONCE and not judged and 4 * n * n <= ROOM:
        return recorded + AT_HAND * n * mistakes + value * n * n * (number == 1)
    besides = 0 if model.order in PICKING else DOUBTS
    return recorded + value * n * (mistakes + besides) * (JUDGED_VALUES if judged else 1)
