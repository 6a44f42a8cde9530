"""Plans of folds: every row judged once in each repeat, groups never parted, classes shared out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from rosenblatt.validation.plans import grouped, held_groups, plan_folds

CLASSES = np.array(["a", "b", "c"])


def unevenness(y, fold_of, folds):
    """How far the shares of a class in the folds are apart, on average over the classes."""
    counts = np.stack([np.bincount(y[fold_of == k], minlength=y.max() + 1) for k in range(folds)])
    return (counts / counts.sum(axis=0)).std(axis=0).mean()


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 3))
def test_groups_are_never_parted_and_every_row_is_judged_in_each_repeat(seed, folds, repeats):
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(folds, 40))
    groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, 60)])
    y = np.concatenate([[0, 0, 1, 1, 2, 2], rng.integers(0, 3, len(groups) - 6)])
    plan = plan_folds((CLASSES, y), folds, groups=groups, repeats=repeats, seed=seed % 97)
    if not plan.folds:
        assert plan.notes[0].startswith("no cross-validation: without the groups of a fold only")
        return
    assert len(plan) == folds * repeats == len(list(plan))
    judged = np.zeros(len(y), int)
    for learn, test in plan:
        assert len(learn)
        assert len(test)
        assert not set(groups[learn]) & set(groups[test])
        judged[test] += 1
    assert (judged == repeats).all()


@pytest.mark.parametrize("n_groups", [12, 40, 200])
def test_grouped_folds_are_about_as_even_as_scikit_learns(n_groups):
    ours, theirs = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        groups = np.concatenate([np.arange(n_groups), rng.zipf(1.7, 800) % n_groups])
        y = (rng.random(len(groups)) < 0.1 + 0.6 * (groups % 3 == 0)).astype(int)
        ours.append(unevenness(y, grouped(y, groups, 5, seed).fold_of[0], 5))
        fold_of = np.empty(len(y), int)
        split = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
        for k, (_, test) in enumerate(split.split(y, y, groups)):
            fold_of[test] = k
        theirs.append(unevenness(y, fold_of, 5))
    assert np.mean(ours) <= 1.25 * np.mean(theirs) + 1e-3


def test_groups_of_one_row_each_are_shared_out_as_rows_are():
    y = np.repeat([0, 1], [300, 37])
    fold_of = grouped(y, np.random.default_rng(0).permutation(337), 5).fold_of[0]
    for label, least in ((0, 60), (1, 7)):
        counts = np.bincount(fold_of[y == label])
        assert counts.min() == least
        assert counts.max() <= least + 1


def test_repeats_differ_and_the_first_is_the_plan_without_repeats():
    y = np.arange(60) % 3
    plan = plan_folds((CLASSES, y), 4, repeats=3, seed=5)
    assert len({tuple(one) for one in plan.fold_of}) == 3
    alone = plan_folds((CLASSES, y), 4, seed=5)
    np.testing.assert_array_equal(plan.fold_of[:1], alone.fold_of)
    theirs = StratifiedKFold(4, shuffle=True, random_state=7).split(y, y)
    for k, (_, test) in enumerate(theirs):
        np.testing.assert_array_equal(np.flatnonzero(plan.fold_of[2] == k), test)
    last = plan_folds((CLASSES, y), 4, repeats=2, seed=2**32 - 1)  # then from 0 again
    np.testing.assert_array_equal(last.fold_of[1:], plan_folds((CLASSES, y), 4).fold_of)
    groups = np.repeat(np.arange(20), 3) * 7 % 20
    of_groups = plan_folds((CLASSES, y), 4, repeats=3, groups=groups).fold_of
    assert len({tuple(one) for one in of_groups}) == 3


@pytest.mark.parametrize(
    ("y", "groups", "folds", "note"),
    [
        ([0, 0, 0, 1], None, 3, "no cross-validation: class b has only one row"),
        ([0, 0, 0, 1, 1], None, 3, "2 folds: the smallest class has only 2 rows"),
        ([0, 0, 1, 1], [4, 4, 4, 4], 2, "no cross-validation: all rows are of one group"),
        ([0, 1, 0, 1], ["x", "x", "y", "y"], 5, "2 folds: there are only so many groups"),
        (
            [0, 0, 1, 1, 0],
            [1, 2, 3, 3, 4],
            2,
            "no cross-validation: without the groups of a fold only class a is left to learn from",
        ),
        (
            [0, 1, 0, 1, 2, 2],
            [1, 1, 2, 2, 3, 3],
            3,
            "a fold has no rows of c to learn from, for all are in its groups",
        ),
    ],
)
def test_what_cannot_be_planned_is_told(y, groups, folds, note):
    groups = None if groups is None else np.array(groups)
    plan = plan_folds((CLASSES[: max(y) + 1], np.array(y)), folds, groups=groups)
    assert plan.notes == (note,)
    assert (len(plan) == 0) is note.startswith("no")


@given(st.integers(0, 10**6), st.floats(0.05, 0.9))
def test_whole_groups_are_held_out_and_every_class_is_left(seed, share):
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(2, 60))
    groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, 100)])
    y = np.concatenate([[0, 1, 2], rng.integers(0, 3, len(groups) - 3)])
    test = held_groups(y, groups, share, seed % 97)
    learn = np.setdiff1d(np.arange(len(y)), test)
    assert set(y[learn]) == {0, 1, 2}
    assert not set(groups[learn]) & set(groups[test])
    largest = np.bincount(groups).max()
    if n_groups > 20:
        assert abs(len(test) / len(y) - share) <= largest / len(y) + 0.05
