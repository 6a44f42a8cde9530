"""What work of several parts notes of its state, for a checkpoint: a page for each part."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.columns import brought
from rosenblatt.results import (
    Conditions,
    Hyperplane,
    Inseparable,
    MarginFit,
    MarginTrace,
    Optimum,
    QuasiSeparable,
    Separable,
    StopReason,
    Undecided,
)
from rosenblatt.results.storable import KIND, from_plain, to_plain
from rosenblatt.running.checkpoints import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from rosenblatt.running.checkpoints import Keeper

    T = TypeVar("T")

PARTS = (
    Conditions,
    Hyperplane,
    Inseparable,
    MarginFit,
    MarginTrace,
    Optimum,
    QuasiSeparable,
    Separable,
    StopReason,
    Undecided,
)
TUPLE, OBJECTS = "tuple", "objects"
# What restoring from values that make no sense, in a file that is whole, can raise.
NONSENSE = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)


class Notes:
    """Pages of notes, each by its name; all of them are written together, if there is a keeper.

    A page is a value, of texts, numbers, arrays, fractions, dicts, lists, tuples and results, that
    nobody changes any more: another takes its place. Columns that are elsewhere are brought here.
    `of` gives the notes of a part of the work, whose pages have its name before theirs.
    """

    def __init__(self, keeper: Keeper | None = None) -> None:
        self.keeper, self._under = keeper, ""
        self._pages: dict[str, Any] = {}
        if keeper is not None and keeper.saved is not None:
            try:
                self._pages = dict(from_pages(keeper.saved))
            except NONSENSE:
                keeper.refuse("does not hold the state of such a run")

    def of(self, part: object) -> Notes:
        """The notes of a part."""
        notes = Notes()
        notes.keeper, notes._pages = self.keeper, self._pages
        notes._under = f"{self._under}{part}/"
        return notes

    def page(self, name: str) -> Any:
        """What was noted last, by this run or the one that it goes on with; None: nothing."""
        return self._pages.get(self._under + name)

    def blank(self) -> bool:
        """Whether nothing of this part was noted."""
        return not any(page.startswith(self._under) for page in self._pages)

    def restored(self, name: str, restore: Callable[[Any], T]) -> T | None:
        """What `restore` makes of a page, if there is one."""
        found = self.page(name)
        if found is None:
            return None
        try:
            return restore(found)
        except NONSENSE:
            assert self.keeper is not None  # what this run has noted makes sense
            self.keeper.refuse("does not hold the state of such a run")

    def note(self, name: str, value: Any) -> None:
        """Put a page in the place of the one before, and write all if it is time to."""
        if self.keeper is not None:
            self._pages[self._under + name] = brought(value)
            if self.keeper.due():
                self.keeper.write(to_pages(self._pages))

    def done(self, name: str, value: Any) -> None:
        """Note what came of this part: its other pages are of no use any more."""
        for page in [page for page in self._pages if page.startswith(self._under)]:
            del self._pages[page]
        self.note(name, value)

    def write(self) -> None:
        """Write all pages, at the end of the work or of its time."""
        if self.keeper is not None:
            self.keeper.write(to_pages(self._pages), last=True)


@contextmanager
def written_at_the_end(notes: Notes) -> Iterator[Notes]:
    """Notes that are written at the end, however it comes, unless they were refused."""
    try:
        yield notes
    except CheckpointError:
        raise
    except BaseException:
        notes.write()
        raise
    notes.write()


def to_pages(value: Any) -> Any:
    """`value` as dicts, lists, arrays, texts and numbers."""
    return _without_tuples(to_plain(value, PARTS))


def from_pages(value: Any) -> Any:
    """What `to_pages` was given; named tuples are plain ones."""
    return from_plain(_with_tuples(value), PARTS)


def _without_tuples(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype == object:
        items = [to_plain(item, PARTS) for item in value.tolist()]
        return {KIND: OBJECTS, "items": items}
    if isinstance(value, tuple):
        return {KIND: TUPLE, "items": [_without_tuples(to_plain(v, PARTS)) for v in value]}
    if isinstance(value, list):
        return [_without_tuples(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_tuples(item) for key, item in value.items()}
    return value


def _with_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_tuples(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get(KIND) == TUPLE:
        return tuple(_with_tuples(value["items"]))
    if value.get(KIND) == OBJECTS:
        objects = np.empty(len(value["items"]), dtype=object)
        objects[:] = from_plain(value["items"], PARTS)
        return objects
    return {key: _with_tuples(item) for key, item in value.items()}
