"""Checks of parameters and labels. Each answers with one line: what was given, what to give."""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from rosenblatt.arguments import brief, floats, number, one_of, positive_int, positive_number
from rosenblatt.running.checkpoints import Checkpoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.running.problems import Settings

UPDATES = ("online", "batch", "minibatch")
MIXED = (*UPDATES, "mixed")
SHARDS = 16  # unless told otherwise
MOST_THREADS = 1024


def time_limit(value: Any) -> float | None:
    """`value` as a `max_time`: seconds, or None."""
    hint = " of seconds, or None for no limit"
    return None if value is None else positive_number("max_time", value, hint=hint)


def checkpoint_of(value: Any) -> Checkpoint | None:
    """`value` as a `checkpoint`: one with a path alone, or as it is, or None."""
    if value is None or isinstance(value, Checkpoint):
        return value
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        msg = f"checkpoint={brief(value)} is not allowed: give a path, a rb.Checkpoint, or None"
        raise ValueError(msg)
    return Checkpoint(os.fspath(value))


def check_callback(value: Any) -> None:
    """Refuse a `callback` that is neither a function nor None."""
    if value is not None and not callable(value):
        msg = f"callback={brief(value)} cannot be called: give a function, or None"
        raise ValueError(msg)


def seed_from(random_state: Any) -> int:
    """A seed drawn from whatever scikit-learn accepts as `random_state`."""
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except (TypeError, ValueError):
        wanted = "give a whole number from 0 to 2^32 - 1, a RandomState, or None"
        msg = f"random_state={brief(random_state)} cannot be used to seed: {wanted}"
        raise ValueError(msg) from None


def count_threads(n_jobs: Any) -> int:
    """Threads to use: `n_jobs`, or every core unless an outer pool already uses them."""
    if n_jobs is None:
        backend, _ = get_active_backend()
        cores = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
        return 1 if backend.nesting_level else cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        msg = (
            f"n_jobs={brief(n_jobs)} is not allowed: give a number of threads, -1 for all, or None"
        )
        raise ValueError(msg)
    return int(effective_n_jobs(min(int(n_jobs), MOST_THREADS)))


def side_at_zero(value: Any) -> int | None:
    """`value` as an `at_zero`: the side of points on the hyperplane, or None."""
    if value is None:
        return None
    wanted = "give -1 or 1, the side of points on the hyperplane, or None: mistakes in training"
    return int(number("at_zero", value, lambda side: side in (-1, 1), wanted))


def batches(update: Any, size: Any, known: tuple[str, ...] = UPDATES) -> tuple[str, int | None]:
    """`update` and `batch_size`, which only batches of a chosen size have."""
    update = one_of("update", update, known)
    if update == "minibatch":
        return update, positive_int("batch_size", size, hint=", the samples per update")
    if size is not None:
        msg = f"batch_size={brief(size)} needs update='minibatch', but update={update!r}"
        raise ValueError(msg)
    return update, None


def shards_of(update: str, shards: Any) -> int | None:
    """How many shards learn side by side, if they do."""
    if update == "mixed":
        return (
            SHARDS
            if shards is None
            else positive_int("shards", shards, hint=f", or None for {SHARDS}")
        )
    if shards is not None:
        msg = f"shards={brief(shards)} needs update='mixed', but update={update!r}"
        raise ValueError(msg)
    return None


def start_vectors(init: Any, k: int, d: int, settings: Settings) -> NDArray[np.float64]:
    """One start vector for each of k problems, bias last, as `init` says.

    Without a bias to learn, its weights alone will do, and a bias of 0 after them is taken.
    """
    if isinstance(init, str):
        one_of("init", init, ("zeros", "random"))
        start = np.zeros(d + 1)
        if init == "random":
            start = np.random.default_rng([settings.seed, 0]).standard_normal(d + 1)
            start[-1] *= settings.fit_intercept
        return np.tile(start, (k, 1))
    rows = f", or {k} rows of these" if k > 1 else ""
    count = f"{d + 1} numbers ({d} weights, then the bias)"
    if not settings.fit_intercept:
        count = f"{d} numbers (weights; fit_intercept=False), or {d + 1}, the last of them 0"
    wanted = f"give {count}{rows}, or 'zeros' or 'random'"
    try:
        start = floats("init", init)
    except (TypeError, ValueError):
        msg = f"init={brief(init)} is not a vector of numbers that are floats: {wanted}"
        raise ValueError(msg) from None
    if not settings.fit_intercept and start.shape in ((d,), (k, d)):
        start = np.concatenate([start, np.zeros((*start.shape[:-1], 1))], axis=-1)
    if start.shape not in ((d + 1,), (k, d + 1)):
        msg = f"init has shape {start.shape}: {wanted}"
        raise ValueError(msg)
    if not np.isfinite(start).all():
        msg = f"init holds numbers that are not finite: {wanted}"
        raise ValueError(msg)
    if not settings.fit_intercept and np.any(start[..., -1]):
        msg = (
            f"init ends with a bias, but fit_intercept=False: give its {d} weights alone, "
            f"or {d + 1} numbers, the last of them 0"
        )
        raise ValueError(msg)
    return np.broadcast_to(start, (k, d + 1)).copy()


def joint_start(init: Any, k: int, d: int, settings: Settings) -> NDArray[np.float64]:
    """A start vector for each of k classes: zeros, k rows as given, or different random ones."""
    if isinstance(init, str) and init == "random":
        starts = np.random.default_rng([settings.seed, 0]).standard_normal((k, d + 1))
        starts[:, -1] *= settings.fit_intercept
        return starts
    starts = start_vectors(init, k, d, settings)
    if starts.any() and (starts == starts[0]).all():
        msg = (
            "init has the same vector for every class, which leaves them tied: "
            f"with multiclass='joint' give {k} rows, one for each class"
        )
        raise ValueError(msg)
    return starts


def at_least_two(classes: NDArray[Any]) -> NDArray[Any]:
    """The classes, if there is more than one."""
    if len(classes) < 2:
        msg = (
            f"y holds only one class, {brief(classes.tolist()[0])}: "
            "a classifier needs samples of at least two classes"
        )
        raise ValueError(msg)
    return classes


def find_classes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """The number of each label among the known classes."""
    unknown = np.setdiff1d(y, classes)
    if unknown.size:
        msg = f"y holds {brief(unknown.tolist()[0])}, but the classes are {shown(classes)}"
        raise ValueError(msg)
    return np.searchsorted(classes, y).astype(np.int32)


def shown(classes: NDArray[Any]) -> str:
    """Classes for a message: the first few."""
    names = [brief(name) for name in classes.tolist()]
    return ", ".join(names if len(names) <= 5 else [*names[:4], f"... ({len(names)} in all)"])


def class_weights(
    given: Any, classes: NDArray[Any], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The weight of each class from a dict (1 where it says nothing) or "balanced".

    `counts` has how many samples there are of each.
    """
    factors = np.ones(len(classes))
    if isinstance(given, str):
        if given != "balanced":
            msg = f"class_weight={brief(given)} is not known: give a dict, 'balanced' or None"
            raise ValueError(msg)
        factors = counts.sum() / (np.count_nonzero(counts) * np.maximum(counts, 1))
    elif isinstance(given, Mapping):
        for name, weight in given.items():
            place = np.flatnonzero(classes == name)
            if not place.size:
                msg = f"class_weight names {brief(name)}, but the classes are {shown(classes)}"
                raise ValueError(msg)
            factors[place] = number("class_weight", weight, lambda x: x == x, "give numbers")
    else:
        msg = f"class_weight={brief(given)} is not allowed: give a dict, 'balanced' or None"
        raise ValueError(msg)
    check_weights("class_weight", factors)
    return factors


def sample_weights(given: Any, y: Any) -> Any:
    """Weights of the samples, None where all are 1."""
    if given is None:
        return None
    weight = _check_sample_weight(floats("sample_weight", given), y, dtype=np.float64)
    weight = np.require(weight, requirements="W")  # one type of array, compiled once
    check_weights("sample_weight", weight)
    return None if (weight == 1.0).all() else weight


def check_weights(name: str, weights: NDArray[np.float64]) -> None:
    """Refuse weights that are negative, not finite, or all zero."""
    if not np.isfinite(weights).all() or (weights < 0).any():
        bad = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        msg = f"{name} holds {bad:g}: weights must be finite numbers, zero or positive"
        raise ValueError(msg)
    if not weights.any():
        msg = f"{name} is zero everywhere: nothing is left to learn from"
        raise ValueError(msg)
