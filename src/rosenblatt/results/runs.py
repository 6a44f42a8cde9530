"""What a run returns: why it stopped, what it did, epoch by epoch and update by update."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.results.hyperplane import Hyperplane
from rosenblatt.results.updates import Frozen
from rosenblatt.results.words import FEW, Shown, coming_back, numbered
from rosenblatt.visible import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.array_types import Floats, Ints


class StopReason(enum.Enum):
    """Why a fit ended; the text says what the returned vector means."""

    SEPARATED = "an epoch without mistakes: the last hyperplane separates the training data"
    NO_MISTAKES = (
        "an epoch without mistakes that proves no separation: "
        "samples were dropped, or points on the hyperplane count as right"
    )
    SMALL_CHANGE = "the weights changed by less than tol over an epoch"
    EPOCH_LIMIT = "max_epochs was reached while mistakes were still being made"
    TIME_LIMIT = "max_time was reached before the work was done"
    NO_PROGRESS = "the mistakes of an epoch have come down no more for some epochs"
    WORK_LIMIT = "mistakes were still being made after as much work as is done unasked"
    CYCLE = "the weights repeat exactly: this run can never end"
    GAP_CLOSED = "the duality gap is within tol: the answer is optimal to that precision"
    INSEPARABLE = "no hyperplane separates the classes"
    ROUNDING = (
        "rounding leaves nothing to gain: "
        "what is left of the gap, or of the mistakes, is beyond floats here"
    )
    INTERRUPTED = "interrupted: the model is the one reached so far"

    def __repr__(self) -> str:
        return f"StopReason.{self.name}"


@dataclass(frozen=True)
class Cycle:
    """Evidence that a run repeats itself: the weights after epoch `entry` come back exactly.

    They are the same again after epoch ``entry + period``, and an epoch depends on nothing but
    the weights it starts with, so the run goes round for ever. Confirmed by going round once
    more. (It shows that the data are inseparable only if no update was rounded.)
    """

    entry: int
    period: int

    def __str__(self) -> str:
        return f"{coming_back(self.entry, self.period)}: this run can never end"


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Shown):
    """The record of a fit: per epoch always, per update on request.

    Attributes
    ----------
    mistakes : int array
        Mistakes used in each epoch (0 or 1 where an epoch picks one of them).
    change : float array
        ``‖(w, b) - (w, b) before‖`` over each epoch.
    seconds : float array
        Time since the fit began, at the end of each epoch.
    loss : float array or None
        The delta rule only: mean of ``(t - o)²/2`` over the visits of each epoch.
    pocket_errors : float array or None
        ``keep="pocket"`` only: (weighted) training errors of the pocket after each epoch.
    updates : Updates, Mistakes or None
        ``record=True`` only: every single update.
    """

    mistakes: Ints
    change: Floats
    seconds: Floats
    loss: Floats | None = None
    pocket_errors: Floats | None = None
    updates: Any = None

    def __len__(self) -> int:
        """Return the number of epochs."""
        return len(self.mistakes)

    def __repr__(self) -> str:
        return f"<Trace: {self}>"

    def __str__(self) -> str:
        mistakes, n = self.mistakes.tolist(), len(self)
        shown = [str(k) for k in mistakes]
        if n > 2 * FEW:
            shown = [*shown[:FEW], "...", *shown[-FEW:]]
        by_epoch = f": {', '.join(shown)}" if n > 1 else ""
        return f"{count(sum(mistakes), 'mistake')} in {count(n, 'epoch')}{by_epoch}"


@dataclass(frozen=True, eq=False, repr=False)
class Epoch(Shown):
    """What a callback is told after each epoch; tuples have one entry per two-class problem.

    Attributes
    ----------
    number : int
        From 1.
    mistakes : tuple of int
        Mistakes in this epoch, or in the last one of a problem that has already stopped.
    hyperplanes : tuple of Hyperplane
        The hyperplanes at its end; none for a kernel perceptron.
    seconds : float
        Time since the fit began.
    """

    number: int
    mistakes: tuple[int, ...]
    hyperplanes: tuple[Hyperplane, ...]
    seconds: float

    def __str__(self) -> str:
        made = ", ".join(count(n, "mistake") for n in self.mistakes[:FEW])
        more = f" and so on, of {len(self.mistakes)} problems" * (len(self.mistakes) > FEW)
        return f"epoch {self.number}: {made}{more}"


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Shown):
    """The outcome of one two-class problem.

    Attributes
    ----------
    hyperplane : Hyperplane
        What was to be kept: the last, the pocket's or the average.
    last : Hyperplane
        Where the run ended.
    keeps_last : bool
        Whether the two are the same.
    stop_reason : StopReason
    n_mistakes, n_updates, n_epochs : int
    trace : Trace
    certificate : Cycle or None
        Evidence beyond the hyperplane itself.
    """

    hyperplane: Hyperplane
    last: Hyperplane
    stop_reason: StopReason
    n_mistakes: int
    n_updates: int
    n_epochs: int
    trace: Trace
    certificate: Cycle | None = None

    @property
    def keeps_last(self) -> bool:
        """Whether the vector that was kept is the last one."""
        return self.hyperplane == self.last

    def __str__(self) -> str:
        last = "" if self.keeps_last else ", not the last"
        return f"{ending(self)}; kept{last}: {self.hyperplane}"


def ending(fit: Any) -> str:
    """How a run came to its end."""
    mistakes, epochs = count(fit.n_mistakes, "mistake"), count(fit.n_epochs, "epoch")
    why = fit.stop_reason.value if fit.certificate is None else str(fit.certificate)
    return f"{fit.stop_reason.name} after {mistakes} in {epochs} ({why})"


# In dual form: coefficients of samples instead of weights of features -----------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Dropped(Frozen):
    """The samples that were left out as probable outliers, in the order in which that happened.

    Iterating gives pairs of a row number and its count of mistakes.

    Attributes
    ----------
    sample : int array
        Row numbers.
    count : int array
        Their mistakes by then.
    epoch : int array
        The epochs, from 1, in which they were dropped.
    """

    sample: Ints
    count: Ints
    epoch: Ints

    def __len__(self) -> int:
        return len(self.sample)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self.sample.tolist(), self.count.tolist(), strict=True))

    def __str__(self) -> str:
        if not len(self):
            return "no samples dropped"
        which = numbered("sample", self.sample)
        return f"{which} dropped as probable outliers, at {count(int(self.count[0]), 'mistake')}"


@dataclass(frozen=True, eq=False, repr=False)
class Path(Frozen):
    """All vectors of a run, as the steps between them; there with ``keep="vote"``.

    Attributes
    ----------
    vector : int array
        The support vector of each update, as a position in ``support_``.
    step : float array
        What was added to its coefficient.
    lives : int array
        The visits for which the vector after the update lived.
    first : int
        The visits for which the start, zero, lived.
    """

    vector: Ints
    step: Floats
    lives: Ints
    first: int

    def __str__(self) -> str:
        visits = count(int(self.lives.sum()) + self.first, "visit")
        return f"{count(len(self.vector) + 1, 'vector')} that vote, together over {visits}"


@dataclass(frozen=True, eq=False, repr=False)
class KernelFit(Frozen):
    """The outcome of one two-class problem in dual form.

    Arrays have an entry for each support vector, in the order of ``support_``.

    Attributes
    ----------
    coef : float array
        What was to be kept: the coefficients of the last vector, the pocket's or the average.
    last : float array
        Those where the run ended, ``α*y`` times the weight of the sample.
    keeps_last : bool
        Whether the two are the same, and no others take part in a vote.
    alpha : int array
        The mistake counters.
    stop_reason : StopReason
    n_mistakes, n_updates, n_epochs : int
    trace : Trace
    dropped : Dropped
    path : Path or None
        All vectors of the run, for a vote.
    certificate : Cycle or None
        The proof, where the run repeats itself.
    """

    coef: Floats
    last: Floats
    alpha: Ints
    stop_reason: StopReason
    n_mistakes: int
    n_updates: int
    n_epochs: int
    trace: Trace
    dropped: Dropped
    path: Path | None = None
    certificate: Cycle | None = None

    @property
    def keeps_last(self) -> bool:
        """Whether the vector that was kept is the last one."""
        return self.path is None and np.array_equal(self.coef, self.last)

    def __str__(self) -> str:
        told = [ending(self), count(int(np.count_nonzero(self.alpha)), "support vector")]
        return "; ".join([*told, *[str(self.dropped)] * bool(len(self.dropped))])
