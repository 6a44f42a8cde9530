"""A two-class problem on its way: what has happened to it, and how to go on with it."""

from __future__ import annotations

import hashlib
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rosenblatt.results import Cycle, StopReason, Trace

if TYPE_CHECKING:
    from typing import Self

    from rosenblatt.array_types import Floats
    from rosenblatt.results import Mistakes

DIGEST = 16  # bytes
# After these the last vector has every sample that takes part on its side.
WITHOUT_MISTAKES = (StopReason.SEPARATED, StopReason.NO_MISTAKES)
# What a state raises that somebody has made up.
NONSENSE = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


@dataclass(frozen=True)
class Settings:
    """How to train. Already validated; the words are those of the estimators' parameters."""

    update: str = "online"
    batch_size: int | None = None
    shards: int | None = None
    tile: int = 0  # rows of a tile in which a batch is summed; 0: row after row
    order: str = "cyclic"
    eta: float = 1.0
    fit_intercept: bool = True
    keep: str = "last"
    multiclass: str = "ovr"
    at_zero: int | None = None
    drop_after: int | None = None
    budget: int | None = None
    max_epochs: int = 1000
    max_time: float | None = None
    tol: float | None = None
    record: bool = False
    seed: int = 0

    @property
    def averaging(self) -> bool:
        """Whether the mean of the vectors may be wanted at the end."""
        return self.keep in ("average", "auto")

    def with_changes(self, **changes: Any) -> Settings:
        """Return a copy with some settings changed."""
        return replace(self, **changes)


class CycleFinder:
    """Remembers a digest of the weights after every epoch, to see whether a run repeats itself."""

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}

    def met_before(self, theta: Floats, epoch: int) -> int | None:
        """The earlier epoch that ended with the same weights, as far as digests can tell."""
        state = theta + 0.0  # -0.0 and 0.0 are the same weight
        digest = hashlib.blake2b(state.tobytes(), digest_size=DIGEST).digest()
        first = self._seen.setdefault(digest, epoch)
        return first if first != epoch else None

    @property
    def state(self) -> Any:
        """What it remembers, as plain values."""
        digests = np.frombuffer(b"".join(self._seen), np.uint8).reshape(-1, DIGEST)
        return {"digests": digests, "epochs": np.array([*self._seen.values()], np.int64)}

    @state.setter
    def state(self, state: Any) -> None:
        epochs = saved_array(state["epochs"], np.int64)
        digests = saved_array(state["digests"], np.uint8, (len(epochs), DIGEST))
        self._seen = dict(zip(map(bytes, digests), epochs.tolist(), strict=True))


def saved_array(value: Any, kind: Any, shape: tuple[int, ...] | None = None) -> Any:
    """A value of a checkpoint, if it is an array of this kind and shape (None: of one axis)."""
    if not isinstance(value, np.ndarray) or value.dtype != np.dtype(kind):
        msg = f"no array of {np.dtype(kind)}"
        raise ValueError(msg)
    if value.shape != (shape or value.shape[:1]):
        msg = f"an array of shape {value.shape}"
        raise ValueError(msg)
    return value


def saved_number(value: Any, most: int | None = None) -> int:
    """A value of a checkpoint, if it is a whole number from 0 on, to `most`."""
    if type(value) is not int or value < 0 or (most is not None and value > most):
        msg = f"{value!r} in the place of a count"
        raise ValueError(msg)
    return value


@dataclass(kw_only=True, eq=False)
class TwoClassProblem:
    """One problem on its way, "class `positive` against the rest", and what has happened to it.

    `visits` are in whole epochs, and `within` the present one.
    """

    positive: int
    rng: np.random.Generator
    visits: int = 0
    within: int = 0
    n_updates: int = 0
    mistakes: list[int] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    pocket_errors: list[float] = field(default_factory=list)
    records: list[tuple[Any, ...]] = field(default_factory=list)
    cycles: CycleFinder | None = None
    cycle: Cycle | None = None
    stop: StopReason | None = None

    def ready(self) -> Self:
        """Return a copy to go on with: what fails half-way leaves the original as it was."""
        parts: dict[str, Any] = {k: list(v) for k, v in vars(self).items() if isinstance(v, list)}
        if self.mistakes:  # before, nobody has drawn from it
            parts["rng"] = deepcopy(self.rng)
        parts |= {"stop": None, "cycle": None, "cycles": None}
        return replace(self, **parts)

    lists: ClassVar[dict[str, type]] = {  # that grow with the epochs, and what they hold
        "mistakes": int,
        "changes": float,
        "seconds": float,
        "pocket_errors": float,
    }

    def state(self) -> dict[str, Any]:
        """What a run needs to go on with it, as plain values."""
        if len(self.records) > 1:  # the next time there will be fewer to join
            self.records = [tuple(map(np.concatenate, zip(*self.records, strict=True)))]
        numbers: dict[str, Any] = {
            name: np.array(getattr(self, name), kind) for name, kind in self.lists.items()
        }
        # A run that is cut off while it completes an epoch has not completed it.
        numbers["pocket_errors"] = numbers["pocket_errors"][: len(self.changes)]
        return {
            **numbers,
            "visits": self.visits,
            "within": self.within,
            "n_updates": self.n_updates,
            "records": list(self.records[0]) if self.records else None,
            "rng": self.rng.bit_generator.state,
            "cycles": None if self.cycles is None else self.cycles.state,
            "cycle": None if self.cycle is None else [self.cycle.entry, self.cycle.period],
            "stop": None if self.stop is None else self.stop.name,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from such a state; what makes no sense raises one of `NONSENSE`."""
        for name, kind in self.lists.items():
            setattr(self, name, saved_array(state[name], kind).tolist())
        for name in ("visits", "within", "n_updates"):
            setattr(self, name, saved_number(state[name]))
        self.records = []
        if state["records"] is not None:
            length = state["records"][0].shape
            kinds = [part.dtype for part in state["records"]]
            if any(kind not in (np.int64, np.float64) for kind in kinds):
                msg = "no record of updates"
                raise ValueError(msg)
            self.records = [tuple(map(saved_array, state["records"], kinds, repeat(length)))]
        self.rng.bit_generator.state = state["rng"]
        self.cycles = None
        if state["cycles"] is not None:
            self.cycles = CycleFinder()
            self.cycles.state = state["cycles"]
        self.cycle = None if state["cycle"] is None else Cycle(*map(saved_number, state["cycle"]))
        self.stop = None if state["stop"] is None else StopReason[state["stop"]]

    def keeps_average(self, settings: Settings) -> bool:
        """Whether the mean of its vectors is kept, and not another of them."""
        return settings.keep == "average" or (
            settings.keep == "auto" and self.stop not in WITHOUT_MISTAKES
        )

    def outcome(self, settings: Settings, updates: Mistakes | None) -> dict[str, Any]:
        """What came of it, whatever the rule."""
        assert self.stop is not None
        losses = getattr(self, "losses", [])
        return {
            "stop_reason": self.stop,
            "n_mistakes": sum(self.mistakes),
            "n_updates": self.n_updates,
            "n_epochs": len(self.mistakes),
            "certificate": self.cycle,
            "trace": Trace(
                mistakes=np.array(self.mistakes, np.int64),
                change=np.array(self.changes),
                seconds=np.array(self.seconds),
                loss=np.array(losses) if losses else None,
                pocket_errors=np.array(self.pocket_errors) if settings.keep == "pocket" else None,
                updates=updates,
            ),
        }


NO_RECORD = tuple(np.empty(0, kind) for kind in (np.int64, np.int64, float, float, np.int64))


def joined(none: tuple[Any, ...], parts: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Columns of several records as one; `none` is a record of nothing."""
    return tuple(np.concatenate(column) for column in zip(none, *parts, strict=True))
