"""Sums over tiles: the same bits however the rows are cut, and in whatever order parts come."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.data.tile_sums import TileSums, tile_rows
from rosenblatt.tree_sums import PartialSum, sum_in_tiles


def naive(leaves, level, k):
    """Node k of a level, by its definition; None if there is nothing below it."""
    if level == 0:
        return leaves.get(k)
    left, right = (naive(leaves, level - 1, 2 * k + side) for side in (0, 1))
    if left is None or right is None:
        return right if left is None else left
    return left + right


def some_leaves(rng, n, share):
    """Vectors of very different sizes for some of the leaves."""
    chosen = np.flatnonzero(rng.random(n) < share)
    return chosen, rng.standard_normal((len(chosen), 3)) * 10.0 ** rng.integers(-8, 8, (1, 3))


def part_of(leaves, vectors, first, stop):
    """The partial sum of some leaves that follow one another."""
    part = PartialSum(3)
    a, z = np.searchsorted(leaves, (first, stop))
    part.add(first, stop, leaves[a:z], vectors[a:z])
    return part


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 65, 200])
def test_any_cutting_and_any_order_give_the_bits_of_the_definition(n, share):
    rng = np.random.default_rng(n)
    leaves, vectors = some_leaves(rng, n, share)
    wanted = naive(dict(zip(leaves.tolist(), vectors, strict=True)), 8, 0)
    wanted = np.zeros(3) if wanted is None else wanted
    for parts in (1, 2, 5, n):
        cuts = np.unique([0, *rng.integers(0, n + 1, parts), n])
        made = [part_of(leaves, vectors, a, z) for a, z in pairwise(cuts)]
        rng.shuffle(made)
        whole = PartialSum(made[0].size)
        for part in pickle.loads(pickle.dumps(made)):
            whole.merge(part)
        np.testing.assert_array_equal(whole.total(), wanted)
        assert len(whole.nodes) == n.bit_count()


def test_one_after_the_other_is_another_sum():
    leaves, vectors = some_leaves(np.random.default_rng(0), 200, 1.0)
    total = part_of(leaves, vectors, 0, 200).total()
    assert (total != np.add.accumulate(vectors)[-1]).any()
    np.testing.assert_allclose(total, vectors.sum(axis=0), rtol=1e-12)


def test_a_part_in_the_middle_is_small():
    leaves, vectors = some_leaves(np.random.default_rng(0), 1000, 1.0)
    assert len(part_of(leaves, vectors, 1, 999).nodes) <= 2 * 10


def test_a_sum_with_a_gap_has_no_total():
    leaves, vectors = some_leaves(np.random.default_rng(0), 10, 1.0)
    part = part_of(leaves, vectors, 0, 4)
    part.merge(part_of(leaves, vectors, 5, 10))
    with pytest.raises(ValueError, match="leaf 4 is missing"):
        part.total()


def side_by_side(write, parts):
    """The last part first."""
    return [write(k) for k in reversed(parts)]


@pytest.mark.parametrize("parts", [1, 3, 100])
@pytest.mark.parametrize("block", [1, 7, 16, 100, 1000])
def test_blocks_and_threads_do_not_matter(block, parts):
    rng = np.random.default_rng(1)
    n, tile = 333, 16
    X, chosen = rng.standard_normal((n, 2)), rng.random(n) < 0.1
    rows = np.flatnonzero(chosen)

    def add(k, out):
        out += X[rows[k]]

    leaves = {}
    for i in rows.tolist():
        leaves[i // tile] = leaves.get(i // tile, np.zeros(2)) + X[i]
    wanted, sums = naive(leaves, 5, 0), TileSums(n, tile, 2)
    np.testing.assert_array_equal(sum_in_tiles(rows, tile, 2, add), wanted)
    for start in range(0, n, block):

        def write(a, z, out, used):
            for i in range(a, z):
                if chosen[i]:
                    out[i // tile - a // tile] += X[i]
                    used[i // tile - a // tile] += 1
            return z - a

        seen = sums.add(start, min(start + block, n), write, side_by_side, parts)
        assert sum(seen) == min(block, n - start)
    np.testing.assert_array_equal(sums.total(), wanted)


def source_of(X):
    return MemorySource(as_rows(X), np.zeros(X.shape[0], np.int32), X.shape[1])


def test_tiles_are_longer_where_rows_are_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    assert tile_rows(source_of(np.ones((5000, 20)))) == 256
    wide = sparse.random_array((5000, 1000), density=0.01, format="csr", rng=0)
    assert wide.nnz == 50_000
    assert tile_rows(source_of(wide)) == 1024  # times 10 numbers each, at least 8 times 1001
    assert tile_rows(source_of(wide[:300])) == 512  # all rows are in it
