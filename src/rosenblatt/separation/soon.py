"""A hyperplane that separates, where the maximum margin's method soon comes across one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.nearest.max_margin import MaxMargin
from rosenblatt.results import StopReason
from rosenblatt.running.clock import Halt

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats
    from rosenblatt.nearest.working_set import Samples
    from rosenblatt.running.notes import Notes

ANY = 0.999  # a gap that any hyperplane has that separates all samples


def soon_separated(samples: Samples, notes: Notes) -> Floats | None:
    """A θ that is positive on all samples, for certain; None if none is soon found."""
    solver = Hasty(samples, np.ones(samples.n, bool), tol=ANY, notes=notes)
    reason = solver.run()
    if reason is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    if reason is StopReason.INSEPARABLE:
        return None
    samples.clock.look_up()
    theta = np.append(solver.best.w, solver.best.b)
    if solver.best.primal < np.inf and (samples.signs(theta) > 0).all():
        return theta
    return None


class Hasty(MaxMargin):
    """The search for a maximum margin, given up where it begins to take long.

    On dense rows that cannot be separated, rounds take far longer than it takes to prove that.
    """

    def _by_rounds(self, target: float) -> None:
        if self.samples.dense:
            raise Halt(StopReason.INSEPARABLE)
        super()._by_rounds(target)
