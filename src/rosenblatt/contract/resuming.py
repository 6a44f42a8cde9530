"""What the estimators with a `checkpoint` share: where a run's state is kept, and whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.contract.parameters import checkpoint_of
from rosenblatt.data.fingerprint import fingerprint
from rosenblatt.running.checkpoints import Keeper, digest_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats
    from rosenblatt.data.sources import Source
    from rosenblatt.running.problems import Settings
    from rosenblatt.running.threads import Team

# Parameters that may change when a run goes on. (The seed stands for random_state; where a run
# began for warm_start.)
FREE = (
    "callback",
    "checkpoint",
    "max_epochs",
    "max_time",
    "n_jobs",
    "progress",
    "random_state",
    "warm_start",
)


def keeper_of(model: Any) -> Keeper | None:
    """What keeps the state of a fit of this model, if its `checkpoint` says so.

    To be asked before any work: it refuses a file that must not be there, or is no checkpoint.
    """
    return keeper_at(getattr(model, "checkpoint", None))


def keeper_at(checkpoint: Any) -> Keeper | None:
    """What keeps the state of a run where a `checkpoint` parameter says."""
    found = checkpoint_of(checkpoint)
    return None if found is None else Keeper(found)


def seeded_alike(model: Any, settings: Settings, keeper: Keeper | None) -> Settings:
    """The settings with the seed of the run to go on with, where any seed will do."""
    if keeper is None or keeper.seed is None or model.random_state is not None:
        return settings
    return settings.with_changes(seed=keeper.seed)


def identify(
    keeper: Keeper,
    model: Any,
    seed: int,
    source: Source,
    team: Team,
    *more: NDArray[Any],
    **instead: Any,
) -> None:
    """Tell the keeper what the run is: the model with its parameters, the seed, the data.

    `more` are arrays that the data have beside the source, `instead` are settings that stand for
    parameters of these names, or beside them.
    """
    given = model.get_params(deep=False)
    settings = {name: _plain(value) for name, value in given.items() if name not in FREE}
    settings |= {name: _plain(value) for name, value in instead.items()}
    keeper.identify(type(model).__name__, settings, seed, fingerprint(source, team, *more))


def start_setting(init: Any, start: Floats) -> Any:
    """What stands for `init`: the vectors themselves, unless they are zeros, and were asked for."""
    return init if isinstance(init, str) and init == "zeros" and not start.any() else start


def saved_rate(keeper: Keeper | None) -> float | None:
    """The learning rate of the run to go on with: other machines may round another one."""
    if keeper is None or keeper.saved is None:
        return None
    rate = keeper.saved.get("eta") if isinstance(keeper.saved, dict) else None
    if not isinstance(rate, float) or not 0 < rate < np.inf:
        keeper.refuse("is damaged (no learning rate)")
    return rate


def _plain(value: Any) -> Any:
    """A parameter as a plain value that is the same if it is."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray | list | tuple):
        numbers = np.asarray(value, dtype=np.float64)
        shape = " x ".join(map(str, numbers.shape))
        return f"{shape} numbers with the digest {digest_of(numbers)}"
    return " ".join(repr(value).split())
