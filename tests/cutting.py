"""Runs that are cut short where they write their state, as if killed, and go on from the file."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING, Any

import numpy as np

import rosenblatt as rb
from rosenblatt.running.checkpoints import Keeper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pytest


class Killed(BaseException):
    """What nobody catches."""


class Cuts:
    """Lets a run write so often, and then no more: `resumed` gives what came of it in the end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        self.path, self.writes, self.left = path, 0, -1
        self._write = Keeper.write
        monkeypatch.setattr(os, "fsync", lambda file: None)  # nobody draws the plug
        monkeypatch.setattr(Keeper, "write", lambda keeper, *a, **k: self.write(keeper, *a, **k))

    def write(self, keeper: Keeper, state: Any, *, last: bool = False) -> None:
        """Write, until the run is killed."""
        if self.left == 0:
            raise Killed
        self.writes, self.left = self.writes + 1, self.left - 1
        if self.left <= 0 or last:  # what is written over at once need not be written
            self._write(keeper, state, last=last)

    def checkpoint(self, every: float = 0.0) -> rb.Checkpoint:
        """The file, to be written at every opportunity."""
        return rb.Checkpoint(str(self.path), every=every, resume=True)

    def count(self, run: Callable[[rb.Checkpoint], Any]) -> int:
        """How often a run writes."""
        self.path.unlink(missing_ok=True)
        self.writes, self.left = 0, 10**9
        run(self.checkpoint())
        return self.writes

    def resumed(self, run: Callable[[rb.Checkpoint], Any], *cuts: int) -> Any:
        """What comes of a run that is killed after so many writes, again and again."""
        self.path.unlink(missing_ok=True)
        for cut in cuts:
            self.left = cut
            with contextlib.suppress(Killed):
                run(self.checkpoint())
        self.left = -1
        return run(self.checkpoint(every=1e9))

    def each(self, run: Callable[[rb.Checkpoint], Any], most: int = 10**9) -> Iterator[Any]:
        """What comes of a run that is killed once: after each of its writes, or so many of them."""
        n = self.count(run)
        for cut in sorted({round(k * n / min(n, most)) for k in range(min(n, most) + 1)}):
            yield self.resumed(run, cut)


def bits(value: Any) -> Any:
    """All that a result is made of, to the last bit, but for the clock."""
    if hasattr(value, "indptr"):
        return [bits(value.data), bits(value.indices), bits(value.indptr)]
    if isinstance(value, np.random.Generator):
        return str(value.bit_generator.state)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {name: bits(item) for name, item in value.items() if name != "seconds"}
    if isinstance(value, list | tuple):
        return [bits(item) for item in value]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    return value.hex() if isinstance(value, float) else str(value)


def fitted_bits(model: Any) -> Any:
    """All that a fitted model has."""
    return bits({name: value for name, value in vars(model).items() if name.endswith("_")})
