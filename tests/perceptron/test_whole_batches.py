"""A batch of all rows is a sum in tiles: the same bits for any threads, blocks, interruptions."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.data.tile_sums import TileSums
from rosenblatt.exact import sides
from rosenblatt.exact.blocks import Stack
from rosenblatt.exact.tile_passes import map_tiles, sum_of_rows
from rosenblatt.nearest.directions import curvature
from rosenblatt.nearest.slacks import sides_of
from rosenblatt.nearest.working_set import Samples
from rosenblatt.running.clock import Clock
from rosenblatt.running.threads import Team

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

D = 20


def samples(n=40_000, classes=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D)) * 10.0 ** rng.integers(-3, 3, D)
    values = X @ rng.normal(size=(D, classes)) + rng.normal(size=(n, classes))
    return X, values.argmax(axis=1)


def tiles_of(n):
    return [slice(a, a + 256) for a in range(0, n, 256)]


def added(vectors):
    """Neighbours added, and what comes of them, until there is one: the last may have none."""
    while len(vectors) > 1:
        pairs = [vectors[k : k + 2] for k in range(0, len(vectors), 2)]
        vectors = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
    return vectors[0]


def one_by_one(numbers):
    return np.add.accumulate(numbers)[-1]


@pytest.mark.compiled
@pytest.mark.parametrize(
    "model",
    [
        rb.Perceptron(update="batch", max_epochs=4, record=True),
        rb.Perceptron(update="batch", max_epochs=4, keep="average"),
        rb.Adaline(update="batch", max_epochs=4),
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_any_number_of_threads(model, classes):
    X, y = samples(classes=classes)
    found = [type(model)(**(model.get_params() | {"n_jobs": k})).fit(X, y) for k in (1, 2, 5)]
    for other in found[1:]:
        assert np.array_equal(found[0].coef_, other.coef_)
        assert np.array_equal(found[0].intercept_, other.intercept_)
    if model.get_params().get("record"):
        traces = [one.trace_ if classes > 2 else (one.trace_,) for one in found]
        for other in traces[1:]:
            for near, far in zip(traces[0], other, strict=True):
                assert np.array_equal(near.updates.sample, far.updates.sample)


def test_the_sum_is_that_of_tiles_in_a_tree():
    """From zeros all samples are mistakes."""
    X, y = samples(3000)
    signed = np.where(y == 1, 1.0, -1.0)[:, np.newaxis] * np.column_stack([X, np.ones(len(y))])
    model = rb.Perceptron(update="batch", max_epochs=1).fit(X, y)
    theta = added([one_by_one(signed[tile]) for tile in tiles_of(len(y))])
    assert np.array_equal(np.append(model.coef_[0], model.intercept_[0]), theta)


@pytest.mark.compiled
@pytest.mark.parametrize("size", [None, 100, 256, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_totals_and_curvatures_of_any_blocks(size, threads):
    X, y = samples(3000)
    weight = np.where(np.arange(3000) % 3, np.linspace(1, 2, 3000), 0.0)
    source = MemorySource(as_rows(X), y.astype(np.int32), D, block_size=size)
    with Team(threads) as team:
        some = Samples(source, team, 1, Clock())
        hefts, sums = sides_of(some, weight)
        centre, total, H = curvature(some, weight)

    def in_tiles(numbers, used):
        """The sum over the tiles of what is used, one sample after the other."""
        return added([one_by_one(np.where(used[k], numbers[k].T, 0.0).T) for k in tiles_of(3000)])

    for side in (0, 1):
        used = (y == side) & (weight > 0)
        assert hefts[side] == in_tiles(weight, used)
        assert np.array_equal(sums[side], in_tiles(weight[:, None] * X, used))
    assert total == in_tiles(weight, weight > 0)
    assert np.array_equal(centre, in_tiles(weight[:, None] * X, weight > 0) / total)
    about = X - centre
    outer = (weight[:, None] * about)[:, :, None] * about[:, None, :]
    assert np.array_equal(H, np.tril(in_tiles(outer, weight > 0)))


def test_rows_summed_for_proofs_do_not_depend_on_blocks():
    X, _ = samples(3000)
    rows, v = np.arange(0, 3000, 3), np.linspace(-1, 1, 1000)
    whole, form = sum_of_rows(X, rows, v), sides.Form([1.0] * (D + 1), np.ones(D))
    values = np.concatenate(list(map_tiles(X, lambda block, first: form.values_apart(block)[0])))
    for size in (1, 7, 256, 1000):
        parts = Stack(X.shape, lambda size=size: (X[a : a + size] for a in range(0, 3000, size)))
        for one, other in zip(whole, sum_of_rows(parts, rows, v), strict=True):
            assert np.array_equal(one, other)
        seen = list(map_tiles(parts, lambda block, first: form.values_apart(block)[0]))
        assert np.array_equal(values, np.concatenate(seen))
    assert np.allclose(whole[0], v @ X[rows], rtol=0, atol=1e-12 * whole[1].max())


@pytest.mark.parametrize("stop", [256, 700, 999])
def test_sums_go_on_where_their_state_ends(stop):
    numbers = np.random.default_rng(0).normal(size=(1000, 3)) * 1e3

    def write(a, z, sums, used):
        for row in range(a, z):
            sums[row // 256 - a // 256] += numbers[row]
            used[row // 256 - a // 256] += 1

    each = lambda task, items: [task(item) for item in items]  # noqa: E731
    whole, first, then = (TileSums(1000, 256, 3) for _ in range(3))
    whole.add(0, 1000, write, each, 2)
    first.add(0, stop, write, each, 1)
    then.restore(first.state())
    then.add(stop, 1000, write, each, 3)
    assert np.array_equal(whole.total(), then.total())
    damaged = first.state() | {"count": -0.5}
    with pytest.raises(ValueError, match="sums of shapes"):
        TileSums(1000, 256, 3).restore(damaged)


def test_sparse_rows_are_summed_as_dense_ones():
    X, y = samples(3000)
    X[np.abs(X) < 0.5] = 0
    X = np.rint(X)
    dense, sparse = (
        rb.Perceptron(update="batch", max_epochs=5).fit(Z, y) for Z in (X, csr_array(X))
    )
    assert np.array_equal(dense.coef_, sparse.coef_)
