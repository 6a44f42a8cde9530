"""Checkpoints: the state of a run in a file, whole or not at all, to go on from."""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rosenblatt.arguments import brief, file_path, number, yes_or_no
from rosenblatt.running.plain_files import NotWhole, pack, unpack
from rosenblatt.whole_files import check_writable, remove_leftovers, written_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from rosenblatt.array_types import Floats

VERSION: str = import_module("rosenblatt").__version__  # that module stands above this layer


SELDOM = 20  # times what it takes to have a state ready is the least time between two
PARTS = {"kind": str, "version": str, "settings": dict, "seed": int, "data": str, "state": Any}


class CheckpointError(ValueError):
    """A checkpoint that cannot be written, or that a run cannot go on from."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the run goes on."""


@dataclass(frozen=True)
class Checkpoint:
    """Where a run writes its state, so that it can go on if it is killed.

    A run that was killed at any moment, and one that ended early (Ctrl-C, `max_time`,
    `max_epochs`), goes on where the file says, and ends to the bit as if nothing had happened. The
    file is written whole or not at all, and holds plain numbers and texts: reading one runs no
    code. It belongs to these data, settings and version of rosenblatt, and is refused otherwise;
    `max_epochs`, `max_time`, `n_jobs`, `progress` and `callback` may change. (`max_time` counts
    from where the run goes on, `max_epochs` from its beginning.)

    Parameters
    ----------
    path : path of the file
        By custom its name ends in ``.checkpoint``.
    every : float
        Seconds between two writes; 0: at every opportunity. The last state is written in any case.
    resume : bool
        Go on with what the file holds, or begin if there is none. Without it a file that is there
        already is refused.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> rb.Perceptron(checkpoint=rb.Checkpoint("run.checkpoint", every=60, resume=True))
    Perceptron(checkpoint=Checkpoint(path='run.checkpoint', every=60.0, resume=True))
    """

    path: str
    every: float = 30.0
    resume: bool = False

    def __post_init__(self) -> None:
        path = os.fspath(file_path("path", self.path))
        if not isinstance(path, str) or not path:
            msg = f"path={brief(self.path)} is not the path of a file: give one, as a text"
            raise ValueError(msg)
        every = number("every", self.every, lambda s: 0 <= s < np.inf, "give seconds, from 0")
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "every", every)
        object.__setattr__(self, "resume", yes_or_no("resume", self.resume))


class Keeper:
    """What a run gives its state to, and has it from: one file, read when the keeper is made.

    `identify` says what the run is; only then is there `saved`, the state to go on from, or None.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        self.path = Path(checkpoint.path).absolute()  # whatever folder the program goes to
        self.saved: Any = None
        self._file: dict[str, Any] | None = None
        self._identity: dict[str, Any] = {}
        self._held: bytes | None = None
        self._last, self._warned = time.perf_counter(), False
        self._last_held = self._took = 0.0  # when a state was held, and how long that took
        name = self.path.name.encode("utf-8", "surrogateescape")
        own = hashlib.blake2b(name, digest_size=4).hexdigest()
        self._suffix = f".{own}.part"  # of what is being written
        try:
            check_writable(checkpoint.path)
        except OSError as error:
            msg = f"checkpoint: {error}"
            raise CheckpointError(msg) from error
        if self.path.exists():
            self._file = self._read()
        remove_leftovers(self.path, self._suffix)

    def _read(self) -> dict[str, Any]:
        """The file; refused if nobody has said to go on with it, or if it is damaged."""
        if not self.checkpoint.resume:
            remedy = "give resume=True (--resume) to go on with it, or delete it"
            msg = f"checkpoint {self.checkpoint.path} exists: {remedy}"
            raise CheckpointError(msg)
        try:
            found = unpack(self.path.read_bytes())
        except OSError as error:
            self.refuse(f"cannot be read ({(error.strerror or str(error)).lower()})")
        except NotWhole as error:
            self.refuse(str(error))
        if not isinstance(found, dict) or tuple(found) != tuple(PARTS):
            self.refuse("is not a checkpoint of a run")
        if any(kind is not Any and type(found[name]) is not kind for name, kind in PARTS.items()):
            self.refuse("is not a checkpoint of a run")
        return found

    def refuse(self, why: str) -> NoReturn:
        """Say what is wrong with the file, and what to do."""
        msg = f"checkpoint {self.checkpoint.path} {why}: delete it, or give another path"
        raise CheckpointError(msg)

    @property
    def found(self) -> Any:
        """The state in the file, whatever run it is of; None: there is no file."""
        return None if self._file is None else self._file["state"]

    @property
    def seed(self) -> int | None:
        """The seed of the run that the file is of, if there is a file."""
        return None if self._file is None else self._file["seed"]

    def identify(self, kind: str, settings: dict[str, Any], seed: int, data: str) -> None:
        """Say what the run is: refused unless the file, if there is one, is of the same.

        `settings` are those that matter for the result, by the names that users know, as plain
        values; `data` is a fingerprint.
        """
        self._identity = dict(zip(PARTS, (kind, VERSION, settings, seed, data), strict=False))
        if self._file is None:
            return
        file = self._file
        if file["version"] != VERSION:
            self.refuse(f"is of rosenblatt {file['version']}, but this is {VERSION}")
        if file["kind"] != kind:
            self.refuse(f"is of a run of {file['kind']}, not {kind}")
        if file["seed"] != seed:
            self.refuse("was written with another random_state")
        for name in sorted({*settings, *file["settings"]}):
            was, now = file["settings"].get(name), settings.get(name)
            if was != now:
                self.refuse(f"was written with {name}={brief(was)}, not {brief(now)}")
        if file["data"] != data:
            self.refuse("is of other data (X, y or weights differ)")
        self.saved = file["state"]

    def due(self) -> bool:
        """Whether it is time to write again."""
        return time.perf_counter() - self._last >= self.checkpoint.every

    def write(self, state: Any, *, last: bool = False) -> None:
        """Put a state, of plain values, in the place of the one before.

        If that fails, the one before stays, and the run goes on; a warning says so, the first time
        and the `last`.
        """
        self._put(pack({**self._identity, "state": state}), last)

    def hold(self, state: Callable[[], Any]) -> None:
        """Have a state ready, for `write_held`, as long as no later one is written.

        It may be older than the last one given, by `SELDOM` times the seconds that having one
        ready takes: states grow, and together they would take longer than the run.
        """
        began = time.perf_counter()
        if began - self._last_held >= SELDOM * self._took:
            self._held = pack({**self._identity, "state": state()})
            self._last_held = time.perf_counter()
            self._took = self._last_held - began

    def write_held(self) -> None:
        """Write the state that is held, if one is: the run has failed, and can go on from there."""
        if self._held is not None:
            self._put(self._held, last=True)

    def _put(self, whole: bytes, last: bool) -> None:
        self._held = None
        try:
            with written_whole(self.path, self._suffix) as beside:
                beside.write_bytes(whole)
        except OSError as error:
            if last or not self._warned:
                self._warned = True
                what = "the last checkpoint" if last else "a checkpoint"
                left = "the one before stays" if self.path.exists() else "there is none so far"
                msg = f"{what} was not written, {left}: {' '.join(str(error).split())}"
                warnings.warn(msg, CheckpointWarning, stacklevel=3)
        self._last = time.perf_counter()


def digest_of(numbers: Floats) -> str:
    """A short digest of an array, for settings that are arrays."""
    found = hashlib.blake2b(np.ascontiguousarray(numbers, "<f8").tobytes(), digest_size=8)
    return found.hexdigest()
