"""The rows of each fold of a cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.visible import count

Rows = NDArray[np.intp]
MOST_SEEDS = 2**32  # that NumPy takes
LEAST_FACTOR = 0.5  # of the size of groups, by chance, in the order in which they are dealt out


@dataclass(frozen=True)
class Plan:
    """Which rows to learn from and which to judge by, again and again.

    Iterating gives the pairs, repeat by repeat; in each repeat every row is judged once.

    Attributes
    ----------
    fold_of : a line for each repeat: the fold in which each row is judged.
    folds : of each repeat.
    groups : the number of each row's group, whose rows are never on both sides; None: no groups.
    notes : what is not as it was asked for.
    """

    fold_of: NDArray[np.integer[Any]]
    folds: int
    groups: Rows | None = None
    notes: tuple[str, ...] = ()

    @property
    def repeats(self) -> int:
        """How often every row is judged."""
        return len(self.fold_of)

    def __len__(self) -> int:
        return self.repeats * self.folds

    def __iter__(self) -> Iterator[tuple[Rows, Rows]]:
        for fold_of in self.fold_of:
            for k in range(self.folds):
                yield np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)


def stratified(y: Rows, folds: int, seed: int = 0) -> Plan:
    """Folds that share out the classes evenly.

    `y` holds the numbers of the classes, from 0. The folds are those of scikit-learn's
    ``StratifiedKFold(folds, shuffle=True, random_state=seed)``, whose import alone takes longer
    than to learn from a small table: the classes, in the order in which they first appear, are
    dealt out like cards, which says how many rows of a class each fold gets; then they are
    shuffled.
    """
    _, first, counts = np.unique(y, return_index=True, return_counts=True)
    by_appearance = np.argsort(first)
    dealt = np.repeat(by_appearance, counts[by_appearance])
    shares = np.stack([np.bincount(dealt[k::folds], minlength=len(counts)) for k in range(folds)])
    random = np.random.RandomState(seed)
    fold_of = np.empty(len(y), dtype=np.intp)
    for label in by_appearance:
        of_class = np.repeat(np.arange(folds), shares[:, label])
        random.shuffle(of_class)
        fold_of[y == label] = of_class
    return Plan(fold_of[np.newaxis], folds)


def grouped(y: Rows, groups: Rows, folds: int, seed: int = 0) -> Plan:
    """Folds that never part a group, and share out the classes as evenly as groups allow.

    `y` and `groups` hold numbers from 0; there are at least as many groups as folds.
    """
    fold_of = _dealt(_sizes(y, groups), np.full(folds, 1 / folds), seed)
    return Plan(fold_of[groups][np.newaxis], folds, groups)


def held_groups(y: Rows, groups: Rows, share: float, seed: int = 0) -> Rows:
    """The rows of some groups, about so large a share of each class, to be judged by.

    Of every class there are others, to learn from. There may be none.
    """
    sizes = _sizes(y, groups)
    held = _dealt(sizes, np.array([1 - share, share]), seed) == 1
    smallest = np.argsort(sizes.sum(axis=1), kind="stable")
    if not held.any():
        held[smallest[0]] = True
    for label in np.flatnonzero(sizes[~held].sum(axis=0) == 0):
        back = next(group for group in smallest if sizes[group, label])
        held[back] = False
    return np.flatnonzero(held[groups])


def _sizes(y: Rows, groups: Rows) -> Rows:
    """For each group, a line, how many of its rows are of each class."""
    k, n = int(y.max()) + 1, int(groups.max()) + 1
    return np.bincount(groups * k + y, minlength=n * k).reshape(n, k)


def _dealt(sizes: Rows, shares: NDArray[np.float64], seed: int) -> Rows:
    """The part that each group goes to, so that each part gets about its share of every class.

    Groups go, the largest first and to some degree by chance, to the part that has least of their
    classes so far, for its share; those with equally many rows of each class go together, so that
    there may be very many.
    """
    (n, k), total = sizes.shape, np.maximum(sizes.sum(axis=0), 1)
    kinds, kind = np.unique(sizes, axis=0, return_inverse=True)
    random = np.random.default_rng(seed)
    shuffled = random.permutation(n)
    by_kind = shuffled[np.argsort(kind[shuffled], kind="stable")]
    members = np.split(by_kind, np.cumsum(np.bincount(kind))[:-1])
    weight = (kinds / total).max(axis=1) * random.uniform(LEAST_FACTOR, 1, len(kinds))
    part_of, filled = np.empty(n, dtype=np.intp), np.zeros((len(shares), k))
    for i in np.argsort(-weight, kind="stable"):
        of_total = kinds[i] / total**2
        each = float((kinds[i] * of_total).sum())  # not by BLAS: sums may differ by machine
        given = _levelled((filled * of_total).sum(axis=1), shares, each, len(members[i]))
        filled += np.outer(given, kinds[i])
        for _ in range(len(members[i]) - int(given.sum())):
            level = ((filled * of_total).sum(axis=1) + each / 2) / shares
            part = np.lexsort((filled.sum(axis=1), level))[0]
            given[part] += 1
            filled[part] += kinds[i]
        part_of[members[i]] = np.repeat(np.arange(len(shares)), given)
    return part_of


def _levelled(loads: NDArray[np.float64], shares: NDArray[np.float64], each: float, m: int) -> Rows:
    """How many of `m` weights go onto each load so that none is above its share of a level.

    Fewer than there are loads remain, for which there is no room below it.
    """
    order = np.argsort(loads / shares)
    levels = (m * each + np.cumsum(loads[order])) / np.cumsum(shares[order])
    # Shared by too few of them, or by some that are above it, the level would be higher.
    given: Rows = np.maximum(np.floor((levels.min() * shares - loads) / each), 0).astype(np.intp)
    return given


def plan_folds(
    labels: tuple[NDArray[Any], Rows],
    folds: int,
    *,
    groups: Rows | None = None,
    repeats: int = 1,
    seed: int = 0,
) -> Plan:
    """The plan of a cross-validation, as far as there are rows for it.

    `labels` are the classes in order, and the number of each row's class among them; `groups` are
    numbers of any kind. Each repeat has a seed of its own, the first `seed`, the next one
    more. The plan has no folds, and says why, where there can be none.
    """
    classes, y = labels
    counts, notes = np.bincount(y), list[str]()
    least = int(counts.min())
    of = None if groups is None else np.unique(groups, return_inverse=True)[1]
    if least < 2:
        single = classes[counts.argmin()]
        return _none(len(y), f"class {single} has only one row")
    if of is not None:
        n_groups = int(of.max()) + 1
        if n_groups < 2:
            return _none(len(y), "all rows are of one group")
        if folds > n_groups:
            notes.append(f"{n_groups} folds: there are only so many groups")
        folds = min(folds, n_groups)
    elif folds > least:
        notes.append(f"{least} folds: the smallest class has only {count(least, 'row')}")
        folds = least
    seeds = [(seed + k) % MOST_SEEDS for k in range(repeats)]
    if of is None:
        each = [stratified(y, folds, one) for one in seeds]
    else:
        each = [grouped(y, of, folds, one) for one in seeds]
    small = np.min_scalar_type(folds)  # as there may be many rows, many times
    fold_of = np.concatenate([one.fold_of.astype(small) for one in each])
    plan = Plan(fold_of, folds, of, tuple(notes))
    return plan if of is None else _with_classes(plan, *labels)


def _with_classes(plan: Plan, classes: NDArray[Any], y: Rows) -> Plan:
    """A plan of groups, with a word on folds that have not all classes to learn from."""
    k, absent = len(classes), set[int]()
    for learn, _ in plan:
        there = np.bincount(y[learn], minlength=k) > 0
        if there.sum() < 2:
            only = classes[there.argmax()]
            why = f"without the groups of a fold only class {only} is left to learn from"
            return _none(len(y), why)
        absent |= set(np.flatnonzero(~there).tolist())
    if not absent:
        return plan
    names = ", ".join(str(classes[j]) for j in sorted(absent)[:3])
    names += f" and {len(absent) - 3} more" if len(absent) > 3 else ""
    note = f"a fold has no rows of {names} to learn from, for all are in its groups"
    return Plan(plan.fold_of, plan.folds, plan.groups, (*plan.notes, note))


def _none(n: int, why: str) -> Plan:
    return Plan(np.zeros((1, n), dtype=np.intp), 0, None, (f"no cross-validation: {why}",))
