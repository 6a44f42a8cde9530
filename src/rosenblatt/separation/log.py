"""What a search for a certificate notes of its state, to go on from if it is ended half-way.

A search is where its innermost loop is: a face of the cone, a working set of rows, and within it
the rows of a linear program, or those that exact arithmetic is at. All that happens from the head
of a loop on follows from what is noted there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.separation.evidence import Cancelling

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.running.notes import Notes
    from rosenblatt.separation.faces import Face
    from rosenblatt.separation.solver import Search

LEVELS = {"faces": 0, "set": 1, "face": 2, "exactly": 2}  # a loop within another has more
STATES = {
    "faces": ["found"],
    "set": ["rows", "zooms"],
    "face": ["face"],
    "exactly": ["rows"],
}


class SearchLog:
    """The loops that a search is in; `notes` keep them.

    What was noted by a search that this one goes on with is taken loop by loop, each once.
    """

    def __init__(self, search: Search, notes: Notes) -> None:
        self.search, self.notes = search, notes
        self._loops: dict[str, Any] = {}
        self._closed = False
        self._left: dict[str, Any] = notes.restored("loops", _checked) or {}
        self._loops |= self._left

    def note(self, loop: str, **state: Any) -> None:
        """At the head of a loop, see whether to go on, and note all that comes depends on."""
        search = self.search
        search.look_up()
        if self.notes.keeper is None or self._closed or self._left:  # on the way to where it was
            return
        state["rng"] = search.rng.bit_generator.state
        state["work"] = search.clock.work, search.clock.systems
        state["widest"] = search.margin, search.theta, search.distance, search.mixture
        outer = {name: it for name, it in self._loops.items() if LEVELS[name] < LEVELS[loop]}
        self._loops = {**outer, loop: state}
        self.notes.note("loops", self._loops)

    def close(self) -> None:
        """Note nothing any more: the rest is short, and done again if it has to be."""
        self._closed = True

    def _taken(self, loop: str) -> Any:
        """What was noted at the head of a loop, once; the search is as it was there."""
        state, search = self._left.pop(loop, None), self.search
        if state is not None:
            search.rng.bit_generator.state = state["rng"]
            search.clock.work, search.clock.systems = state["work"]
            search.margin, search.theta, search.distance, search.mixture = state["widest"]
        return state

    def faces(self) -> tuple[Cancelling, Cancelling, Ints] | None:
        """How samples cancel, first and altogether, and independent ones of them; if they do."""
        state = self._taken("faces")
        if state is None:
            return None
        first, spanning, basis = state["found"]
        return Cancelling(*first), Cancelling(*spanning), basis

    def working_set(self, rows: Ints) -> tuple[list[tuple[Ints, Floats]], Ints]:
        """How the view was zoomed, and the rows; those given if nothing was noted."""
        state = self._taken("set")
        return ([], rows) if state is None else (state["zooms"], state["rows"])

    def face(self, start: Face) -> Face:
        """Where the linear programs of a face are; at the start if nothing was noted."""
        state = self._taken("face")
        return start if state is None else type(start)(*state["face"])

    def exact_rows(self) -> Ints | None:
        """The rows that exact arithmetic is at, in its order, if it has come to that."""
        state = self._taken("exactly")
        if state is None:
            return None
        self._left = {}  # the working set led here
        rows: Ints = state["rows"]
        return rows


def _checked(loops: Any) -> dict[str, Any]:
    """What was noted, if it is what a search notes."""
    for loop, state in loops.items():
        if sorted(state) != sorted([*STATES[loop], "rng", "widest", "work"]):
            raise ValueError(loop)
        np.random.default_rng().bit_generator.state = state["rng"]
        [float(units) for units in state["work"]]
        _, _, _, (_, _) = state["widest"]
        if loop == "face":
            _, _, _, _, _ = state["face"]
        if loop == "faces":
            first, spanning, _ = state["found"]
            Cancelling(*first), Cancelling(*spanning)
    return dict(loops)
