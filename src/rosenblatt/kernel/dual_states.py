"""The state of a run in dual form, for a checkpoint: what the rest of it follows from, to the bit.

Decisions do not depend on how scores were rounded, but how far the vector moved in an epoch does,
and so does the precision to work in. So the scores themselves are kept, as they are: of n samples
and k problems up to 8·3k·n bytes, within an epoch 8·k·n more for those that it began with, and the
updates of that epoch. Support vectors are rows of the data, and kept as numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.running.problems import saved_array, saved_number

if TYPE_CHECKING:
    from rosenblatt.kernel.dual_pocket import DualPocket
    from rosenblatt.kernel.dual_rule import DualRule
    from rosenblatt.kernel.scores import Expansion

KINDS = {"float32": np.float32, "float64": np.float64}


def rule_state(rule: DualRule) -> dict[str, Any]:
    """All that the rule needs to go on, as plain values."""
    scores, values = rule.scores, rule.values
    rule.ledger.backlog.wait()
    return {
        "expansion": _expansion_state(rule.expansion),
        "sums": scores.sums,
        "total": scores.total,
        "additions": scores.additions,
        "kind": values.kind.name,
        "computed": values.computed,
        "longest": [values.longest, values.longest_double],
        "visited": rule.visited,
        "settled": rule.settled,
        "pocket": None if rule.pocket is None else _pocket_state(rule.pocket),
        "epoch": _epoch_state(rule) if rule.begun else None,
    }


def restore_rule(rule: DualRule, state: dict[str, Any]) -> None:
    """Go on from such a state."""
    scores, values = rule.scores, rule.values
    kind = KINDS[state["kind"]]
    if values.kind != kind:
        values.change_precision(kind)
    _restore_expansion(rule, state["expansion"])
    scores.sums = saved_array(state["sums"], np.float64, (rule.n_rows, scores.columns))
    scores.total[:] = saved_array(state["total"], np.float64, (rule.k,))
    scores.additions = saved_number(state["additions"])
    values.computed = rule.computed_before = saved_number(state["computed"])
    values.longest, values.longest_double = map(saved_number, state["longest"])
    rule.visited, rule.settled = saved_number(state["visited"]), saved_number(state["settled"])
    if rule.pocket is not None:
        _restore_pocket(rule.pocket, state["pocket"])
    if state["epoch"] is not None:
        _restore_epoch(rule, state["epoch"])


def bounded(numbers: Any, low: int, high: int, shape: tuple[int, ...] | None = None) -> Any:
    """Whole numbers of a checkpoint, if they are from `low` to below `high`."""
    found = saved_array(numbers, np.int64, shape)
    if found.size and not (found.min() >= low and found.max() < high):
        msg = "numbers of rows that there are not"
        raise ValueError(msg)
    return found


def _expansion_state(expansion: Expansion) -> dict[str, Any]:
    a, size = expansion.arrays, expansion.size
    slots = {name: getattr(a, name)[:size] for name in ("coef", "counts", "lag", "age", "sample")}
    return {**slots, "slot": a.slot, "dropped": a.dropped, "time": expansion.time}


def _restore_expansion(rule: DualRule, state: dict[str, Any]) -> None:
    """The support vectors; those of this run are rows of the data."""
    expansion, n = rule.expansion, rule.n_rows
    begun, size = expansion.size, len(saved_array(state["age"], np.int64))
    if begun > size:
        msg = "too few support vectors"
        raise ValueError(msg)
    expansion.reserve(size)
    a = expansion.arrays
    for name in ("coef", "counts", "lag", "age"):
        into = getattr(a, name)[:size]
        into[:] = saved_array(state[name], into.dtype, into.shape)
    a.sample[:size] = bounded(state["sample"], -1, n, (size,))
    a.slot[:] = bounded(state["slot"], -1, size, (n,))
    a.dropped[:] = saved_array(state["dropped"], np.bool_, a.dropped.shape)
    if (a.sample[begun:size] < 0).any():
        msg = "support vectors that are no samples"
        raise ValueError(msg)
    expansion.size, expansion.time = size, saved_number(state["time"])
    rule.values.support.reserve(len(a.age))
    used = np.flatnonzero(a.sample[:size] >= 0)
    rule.values.add(a.sample[used], used)


def _pocket_state(pocket: DualPocket) -> dict[str, Any]:
    return {"best": pocket.best, "errors": pocket.errors}


def _restore_pocket(pocket: DualPocket, state: dict[str, Any]) -> None:
    size, k = pocket.rule.expansion.size, pocket.rule.k
    best = [saved_array(one, np.float64) for one in state["best"]]
    if len(best) != k or any(len(one) > size for one in best):
        msg = "a pocket of other vectors"
        raise ValueError(msg)
    pocket.best, pocket.errors = best, saved_array(state["errors"], np.float64, (k,))


def _epoch_state(rule: DualRule) -> dict[str, Any]:
    """What an epoch that has begun has left behind it, and where it stands."""
    slots, factors = rule.ledger.events.since(0)
    return {
        "slots": slots,
        "factors": factors,
        "contained": np.array(rule.ledger.contained, np.int64),
        "turned": rule.turned,
        "by_gram": rule.by_gram,
        "scores_before": rule.scores_before,
        "coef_before": rule.coef_before,
    }


def _restore_epoch(rule: DualRule, state: dict[str, Any]) -> None:
    size, columns = rule.expansion.size, rule.scores.columns
    slots = bounded(state["slots"], 0, size)
    ledger = rule.ledger
    ledger.begin(np.arange(rule.n_rows))
    ledger.events.append(slots, saved_array(state["factors"], np.float64, (len(slots), columns)))
    contained = bounded(state["contained"], 0, len(slots) + 1, (len(ledger.contained),))
    ledger.contained = contained.tolist()
    rule.turned, rule.by_gram = saved_number(state["turned"]), bool(state["by_gram"])
    rule.scores_before = saved_array(state["scores_before"], np.float64, (rule.n_rows, rule.k))
    before = state["coef_before"]
    rule.coef_before = saved_array(before, np.float64, (min(len(before), size), rule.k))
    rule.begun = True
