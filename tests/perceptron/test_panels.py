"""Errors that products in single precision are sure of, for many vectors at a time."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rosenblatt.data.compiled import loop
from rosenblatt.data.rows import Block, as_rows
from rosenblatt.perceptron.panels import (
    WIDTH,
    count_sure_errors,
    count_wrong,
    multiply_four,
    room,
)

D = 7


def data(n, n_classes, weighted, layout):
    rng = np.random.default_rng(n)
    X = rng.integers(-8, 9, (n, D)).astype(float) * (rng.random((n, D)) < 0.7)
    label = rng.integers(0, n_classes, n).astype(np.int32)
    weight = rng.integers(0, 4, n) / 2 if weighted else np.empty(0)
    factor = rng.integers(1, 3, (n_classes, 2)) / 1.0 if weighted else np.empty((0, 0))
    Xt = np.column_stack([X, np.ones(n)])
    norm = (np.linalg.norm(Xt, axis=1) * (1 + 1e-6)).astype(np.float32)
    return Xt, Block(as_rows(layout(X)), label, weight, factor), norm


def leads(Xt, label, thetas, positive):
    """``y θ·x̃`` of every row and vector, or the lead of the own class, in whole numbers."""
    values = np.einsum("nj,tcj->ntc", Xt, thetas)
    if positive >= 0:
        return np.where(label == positive, 1, -1)[:, np.newaxis] * values[:, :, 0]
    own = values[np.arange(len(Xt)), :, label]
    for k in range(len(Xt)):
        values[k, :, label[k]] = -np.inf
    return own - values.max(axis=2)


def weights(block, positive):
    n, weight = len(block.label), block.weight
    weight = weight if weight.size else np.ones(n)
    if not block.factor.size:
        return weight
    own = block.label if positive < 0 else np.full(n, positive)
    return weight * block.factor[own, (block.label == own).astype(int)]


@pytest.mark.parametrize("layout", [np.asarray, np.float32, csr_array], ids=["64", "32", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_classes", "positive"), [(2, 1), (3, 0), (3, -1)])
@pytest.mark.parametrize("n", [1, 6, 1030])
def test_whole_numbers_are_counted_one_for_one(n, n_classes, positive, weighted, layout):
    """Where nothing is near zero but zero itself, sure errors are all errors."""
    Xt, block, norm = data(n, n_classes, weighted, layout)
    planes = 1 if positive >= 0 else n_classes
    thetas = np.random.default_rng(1).integers(-9, 10, (2 * WIDTH, planes, D + 1)).astype(float)
    panels = np.ascontiguousarray(
        thetas.astype(np.float32).reshape(2, WIDTH, planes, D + 1).transpose(0, 2, 3, 1)
    )
    slack, errors = np.full((2, WIDTH), 1e-4, np.float32), np.zeros((2, WIDTH))
    listed = np.random.default_rng(2).permutation(n)
    args = block, positive, 1.0, listed, norm
    count_sure_errors(*args, panels, slack, np.inf, room(D + 1), errors)
    wrong = leads(Xt, block.label, thetas, positive) < 0
    weight = weights(block, positive)
    np.testing.assert_array_equal(errors.ravel(), weight @ wrong)
    counts = np.zeros(n)
    count_wrong(*args, panels[0], room(D + 1), counts)
    # Products that are zero may come out below it, in single precision.
    exact = (weight * wrong[:, :WIDTH].sum(axis=1))[listed]
    ties = (leads(Xt, block.label, thetas, positive)[:, :WIDTH] == 0).any(axis=1)[listed]
    np.testing.assert_array_equal(counts[~ties], exact[~ties])


def test_rows_near_the_hyperplane_and_rows_of_unknown_length_are_not_counted():
    X = np.array([[-1e-9, 0.0], [-1.0, 0.0], [-1e300, 0.0]])
    block = Block(as_rows(X), np.ones(3, np.int32), np.empty(0), np.empty((0, 0)))
    panels = np.zeros((1, 1, 3, WIDTH), np.float32)
    panels[:, :, 0] = 1.0
    errors, norm = np.zeros((1, WIDTH)), np.array([1.0, 1.5, np.inf], np.float32)
    slack = np.full((1, WIDTH), 1e-6, np.float32)
    count_sure_errors(block, 1, 1.0, np.arange(3), norm, panels, slack, np.inf, room(3), errors)
    assert (errors == 1).all()


def test_a_panel_without_a_vector_left_is_not_counted_to_the_end():
    n = 5_000
    block = Block(as_rows(-np.ones((n, 1))), np.ones(n, np.int32), np.empty(0), np.empty((0, 0)))
    panels, slack = np.ones((2, 1, 2, WIDTH), np.float32), np.zeros((2, WIDTH), np.float32)
    panels[:, :, 1] = 0.0
    panels[1] *= -1  # which gets everything right
    errors, norm = np.zeros((2, WIDTH)), np.full(n, 2.0, np.float32)
    count_sure_errors(
        block, 1, 1.0, np.arange(n), norm, panels[:1], slack, 10.0, room(2), errors[:1]
    )
    assert (errors[0] > 10).all()
    assert (errors[0] < n).all()
    count_sure_errors(block, 1, 1.0, np.arange(n), norm, panels, slack, 10.0, room(2), errors)
    assert (errors[1] == 0).all()


@loop
def compiled(near, W, sums):
    multiply_four(near, W, sums)


@pytest.mark.parametrize("size", [1, 2, 31])
def test_the_compiled_products_are_those_of_plain_python(size):
    rng = np.random.default_rng(0)
    near = rng.standard_normal((4, size)).astype(np.float32)
    W = rng.standard_normal((size, WIDTH)).astype(np.float32)
    plain, fast = np.zeros((4, WIDTH), np.float32), np.full((4, WIDTH), np.nan, np.float32)
    multiply_four(near, W, plain)
    compiled(near, W, fast)
    np.testing.assert_array_equal(fast, plain)
