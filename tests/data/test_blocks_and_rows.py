"""The same answer whatever the threads, the blocks, the layout and the container of the data."""

import functools
import subprocess
import sys

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rosenblatt as rb
from reference import kept, last, sequence
from rosenblatt.data import rows
from rosenblatt.data.dots import dot
from rosenblatt.data.sources import IN_ORDER, MemorySource, take_rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="compares compiled code")

N = 60
MODELS = {
    "online": rb.Perceptron(),
    "shuffled": rb.Perceptron(order="shuffled"),
    "sampled": rb.Perceptron(order="sampled"),
    "random-mistake": rb.Perceptron(order="random-mistake"),
    "worst-mistake": rb.Perceptron(order="worst-mistake"),
    "batch": rb.Perceptron(update="batch"),
    "minibatch": rb.Perceptron(update="minibatch", batch_size=11),
    "minibatch-shuffled": rb.Perceptron(update="minibatch", batch_size=11, order="shuffled"),
    "pocket": rb.Perceptron(keep="pocket"),
    "pocket-batch": rb.Perceptron(keep="pocket", update="batch"),
    "average": rb.Perceptron(keep="average"),
    "average-minibatch": rb.Perceptron(keep="average", update="minibatch", batch_size=7),
    "adaline": rb.Adaline(eta0=0.01),
    "adaline-auto": rb.Adaline(),
    "adaline-batch": rb.Adaline(update="batch", eta0=0.01),
    "adaline-batch-auto": rb.Adaline(update="batch"),
    "adaline-minibatch": rb.Adaline(update="minibatch", batch_size=11, order="shuffled"),
}
models = pytest.mark.parametrize("name", MODELS)


def fit(name, X, y, weight=None, **more):
    model = MODELS[name]
    parameters = {**model.get_params(), "max_epochs": 12, "random_state": 3, **more}
    if isinstance(model, rb.Perceptron):
        parameters["record"] = True
    return type(model)(**parameters).fit(X, y, sample_weight=weight)


def data(classes=2, n=N, d=13, seed=0):
    """Floats that round, with weights that do not add up exactly."""
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((classes, d))
    y = np.arange(n) % classes
    X = centers[y] + rng.standard_normal((n, d))
    return X, y, rng.random(n)


def assert_same(a, b):
    """Two models that cannot be told apart, to the last bit."""
    assert len(a.fits_) == len(b.fits_)
    for k, (one, other) in enumerate(zip(a.fits_, b.fits_, strict=True)):
        np.testing.assert_array_equal(last(a, k), last(b, k))
        np.testing.assert_array_equal(kept(a, k), kept(b, k))
        assert one.stop_reason is other.stop_reason
        assert one.n_updates == other.n_updates
        for name in ("mistakes", "change", "loss", "pocket_errors"):
            np.testing.assert_array_equal(getattr(one.trace, name), getattr(other.trace, name))
        if one.trace.updates is not None:
            np.testing.assert_array_equal(sequence(a, k), sequence(b, k))
            np.testing.assert_array_equal(one.trace.updates.value, other.trace.updates.value)
            np.testing.assert_array_equal(one.trace.updates.update, other.trace.updates.update)
    assert a.n_errors_ == b.n_errors_


# ------------------------------------------------------------------------------ blocks, threads


@models
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_blocks_change_nothing(name, layout, weighted, in_blocks):
    X, y, weight = data()
    weight = weight if weighted else None
    whole = fit(name, layout(X), y, weight)
    for size in (1, 7, N - 1):
        in_blocks(size)
        assert_same(fit(name, layout(X), y, weight), whole)


@models
def test_blocks_change_nothing_for_several_classes(name, in_blocks):
    X, y, _ = data(classes=4)
    whole = fit(name, X, y)
    in_blocks(7)
    assert_same(fit(name, X, y), whole)


@models
@pytest.mark.parametrize("classes", [2, 5])
def test_threads_change_nothing(name, classes):
    X, y, weight = data(classes)
    alone = fit(name, X, y, weight, n_jobs=1)
    for jobs in (2, 3, -1, None):
        assert_same(fit(name, X, y, weight, n_jobs=jobs), alone)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "classes"),
    [
        *((name, 2) for name in ("online", "shuffled", "pocket", "batch", "worst-mistake")),
        *((name, 5) for name in ("online", "shuffled", "batch", "average")),
    ],
)
def test_threads_change_nothing_on_more_data(name, classes, in_blocks):
    """Enough numbers that work is really shared out."""
    X, y, _ = data(classes, n=20_000, d=16)
    alone, shared = (fit(name, X, y, n_jobs=jobs, max_epochs=4) for jobs in (1, 3))
    assert_same(shared, alone)
    np.testing.assert_array_equal(shared.decision_function(X), alone.decision_function(X))
    if name != "shuffled":  # a shuffled epoch changes blocks at almost every row
        in_blocks(6_007)
        assert_same(fit(name, X, y, n_jobs=2, max_epochs=4), alone)


SEVERAL_POCKETS = """
import warnings
import numpy as np
import rosenblatt as rb

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.standard_normal((20_000, 16)), np.arange(20_000) % 5
alone, shared = (
    rb.Perceptron(keep="pocket", max_epochs=2, n_jobs=jobs).fit(X, y) for jobs in (1, 3)
)
assert np.array_equal(alone.coef_, shared.coef_)
assert np.array_equal(alone.intercept_, shared.intercept_)
"""


@pytest.mark.compiled
def test_threads_that_share_work_do_not_wait_for_each_other():
    """Pockets of several classes: in a process of its own, so that a deadlock is a failure."""
    subprocess.run([sys.executable, "-c", SEVERAL_POCKETS], check=True, timeout=120)


@given(
    n=st.integers(1, 30),
    size=st.integers(1, 31),
    seed=st.integers(0, 9),
    ordered=st.booleans(),
)
def test_pieces_cover_the_order(n, size, seed, ordered):
    """Every position of an epoch comes once, in order, with the right row."""
    X = np.arange(2.0 * n).reshape(n, 2)
    label = np.arange(n, dtype=np.int32)
    source = MemorySource(rows.as_rows(X), label, n_features=2, block_size=size)
    order = IN_ORDER if ordered else np.random.default_rng(seed).integers(0, n, n)
    visited, position = [], 0
    for piece in source.pieces(order):
        assert piece.offset == position
        inside = piece.order if piece.order.size else np.arange(len(piece.block.label))
        assert len(inside) == piece.length
        visited += piece.block.label[inside].tolist()
        np.testing.assert_array_equal(piece.block.label[inside], inside + piece.start)
        np.testing.assert_array_equal(piece.block.rows.X[inside], X[inside + piece.start])
        position += piece.length
    assert visited == (list(range(n)) if ordered else order.tolist())


# --------------------------------------------------------------------------------------- layouts


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [N, 7])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_listed_rows_are_taken_from_wherever_they_are(layout, size, weighted):
    X, label, weight = data(3)
    listed = np.random.default_rng(1).permutation(N)[:20]
    source = MemorySource(
        rows.as_rows(layout(X)),
        label.astype(np.int32),
        X.shape[1],
        weight if weighted else None,
        block_size=size,
    )
    block, numbers = take_rows(source, listed)
    found = rows.as_matrix(block.rows, X.shape[1])[numbers]
    assert np.array_equal(found if layout is np.asarray else found.toarray(), X[listed])
    assert np.array_equal(block.label[numbers], label[listed])
    assert np.array_equal(
        rows.row_weights(block, 1, numbers), weight[listed] if weighted else np.ones(20)
    )
    if size == N:  # nothing to look for, and no copy
        assert numbers is listed
        assert block is next(source.pieces()).block


def strided(X):
    """Every second row and column of a larger array."""
    wide = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def csr(index, kind=sparse.csr_array):
    def make(X):
        S = kind(X)
        S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
        return S

    return make


def unsorted(X):
    """CSR whose rows list their entries backwards."""
    S = sparse.csr_array(X)
    for a, z in zip(S.indptr[:-1], S.indptr[1:], strict=True):
        S.indices[a:z] = S.indices[a:z][::-1].copy()
        S.data[a:z] = S.data[a:z][::-1].copy()
    S.has_sorted_indices = False
    return S


def doubled(X):
    """CSR with every entry in two parts (8 more and 8 less are exact here)."""
    S = sparse.csr_array(X)
    counts = 2 * np.diff(S.indptr)
    parts = np.repeat(S.data, 2)
    parts[::2] += 8
    parts[1::2] = -8
    S = sparse.csr_array(
        (parts, np.repeat(S.indices, 2), np.concatenate([[0], np.cumsum(counts)])), shape=S.shape
    )
    assert not S.has_canonical_format
    return S


def read_only_csr(X):
    S = sparse.csr_array(X)
    for part in (S.data, S.indices, S.indptr):
        part.setflags(write=False)
    return S


LAYOUTS = {
    "fortran": np.asfortranarray,
    "strided": strided,
    "read-only": read_only,
    "float32": lambda X: X.astype(np.float32),
    "float32 fortran": lambda X: np.asfortranarray(X.astype(np.float32)),
    "big-endian": lambda X: X.astype(">f8"),
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "list": lambda X: X.tolist(),
    "reversed twice": lambda X: X[::-1].copy()[::-1],
    "csr int32": csr(np.int32),
    "csr int64": csr(np.int64),
    "csr matrix": csr(np.int32, sparse.csr_matrix),
    "csr float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "csr int8": lambda X: sparse.csr_array(X.astype(np.int8)),
    "csr unsorted": unsorted,
    "csr doubled": doubled,
    "csr read-only": read_only_csr,
    "csc": sparse.csc_array,
    "csc matrix": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "coo matrix": sparse.coo_matrix,
    "lil": sparse.lil_matrix,
}


def integers(n=N, d=9, seed=0):
    """Integers, a third of them zero: sums are exact, so that no order of adding matters."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-5, 6, (n, d)) * rng.integers(0, 3, (n, d)).clip(max=1)
    X[4] = 0
    y = np.where(X @ rng.integers(-3, 4, d) + rng.integers(-4, 5, n) > 0, 1, 0)
    return X.astype(np.float64), y


def contents(X):
    """Everything that could be changed in X."""
    if sparse.issparse(X):
        X = X.copy()
        names = ("data", "indices", "indptr", "row", "col", "rows")
        return [np.array(getattr(X, name)) for name in names if hasattr(X, name)]
    return [np.array(X)]


@functools.cache
def plainly(name, make):
    """What all layouts of the same numbers have to give."""
    X, y = make()[:2]
    return fit(name, X, y)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "name", ["online", "shuffled", "batch", "minibatch", "worst-mistake", "pocket", "average"]
)
def test_layouts_agree_exactly_on_integers(layout, name):
    X, y = integers()
    given = LAYOUTS[layout](X)
    before = contents(given)
    model, plain = fit(name, given, y), plainly(name, integers)
    assert plain.n_mistakes_ > 5
    assert_same(model, plain)
    values, expected = model.decision_function(given), plain.decision_function(X)
    if name == "average":  # not a vector of integers
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(model.predict(given), plain.predict(X))
    for was, now in zip(before, contents(given), strict=True):
        np.testing.assert_array_equal(was, now)


@pytest.mark.parametrize("name", ["adaline", "adaline-batch", "adaline-batch-auto"])
def test_layouts_agree_for_the_delta_rule(name):
    X, y = integers()
    expected = kept(plainly(name, integers))
    for layout, change in LAYOUTS.items():
        model = fit(name, change(X), y)
        np.testing.assert_allclose(kept(model), expected, rtol=1e-10, atol=1e-12, err_msg=layout)


@models
def test_dense_layouts_agree_exactly_on_floats(name):
    X, y, _ = data()
    for layout in ("fortran", "strided", "read-only", "big-endian"):
        assert_same(fit(name, LAYOUTS[layout](X), y), plainly(name, data))


@pytest.mark.parametrize("kind", [np.ascontiguousarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", ["online", "batch", "minibatch", "pocket", "average"])
def test_float32_is_computed_in_double_precision(kind, name):
    X, y, _ = data()
    X = X.astype(np.float32)
    assert_same(fit(name, kind(X), y), fit(name, kind(X.astype(np.float64)), y))


@models
def test_dense_and_csr_agree_to_rounding(name):
    X, y, _ = data()
    X[np.abs(X) < 0.4] = 0
    dense, sparse_ = fit(name, X, y), fit(name, sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.trace_.mistakes, sparse_.trace_.mistakes)
    np.testing.assert_allclose(kept(dense), kept(sparse_), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", ["r", "c"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_memory_map(tmp_path, mode, kind):
    X, y = integers()
    path = tmp_path / "X.npy"
    np.save(path, X.astype(kind))
    written = path.read_bytes()
    mapped = np.load(path, mmap_mode=mode)
    assert isinstance(mapped, np.memmap)
    assert_same(fit("online", mapped, y), fit("online", X, y))
    assert_same(fit("pocket", mapped, y), fit("pocket", X, y))
    assert path.read_bytes() == written


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_c_ordered_floats_are_not_copied(kind, monkeypatch):
    X, y = integers()
    X = X.astype(kind)
    seen = []
    read = rb.Perceptron._read

    def spy(self, *args, **kwargs):
        data = read(self, *args, **kwargs)
        seen.extend(piece.block.rows for piece in data.source.pieces())
        return data

    monkeypatch.setattr(rb.Perceptron, "_read", spy)
    rb.Perceptron(max_epochs=2).fit(X, y)
    rb.Perceptron(max_epochs=2).fit(sparse_X := sparse.csr_array(X), y)
    assert np.shares_memory(seen[0].X, X)
    assert np.shares_memory(seen[1].data, sparse_X.data)
    assert X.flags.writeable
    assert sparse_X.data.flags.writeable


@pytest.mark.parametrize("name", ["online", "batch", "worst-mistake", "pocket", "average"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_csr_without_any_entry(name, fit_intercept):
    """All samples are the origin: only the bias can be learned."""
    X, y = np.zeros((6, 3)), np.array([0, 1, 0, 1, 1, 1])
    dense = fit(name, X, y, fit_intercept=fit_intercept)
    assert_same(fit(name, sparse.csr_array(X), y, fit_intercept=fit_intercept), dense)


# -------------------------------------------------------------------------- the row primitives


@compiled
@pytest.mark.parametrize("x_kind", [np.float32, np.float64])
@pytest.mark.parametrize("w_kind", [np.float32, np.float64])
def test_dot_compiled_equals_plain_bit_for_bit(x_kind, w_kind):
    @numba.njit
    def product(x, w):
        return dot(x, w)

    rng = np.random.default_rng(0)
    for n in range(71):
        for _ in range(5):
            x = (rng.standard_normal(n) * 10.0 ** rng.uniform(-9, 9, n)).astype(x_kind)
            w = (rng.standard_normal(n) * 10.0 ** rng.uniform(-9, 9, n)).astype(w_kind)
            assert product(x, w) == dot(x, w)
            np.testing.assert_allclose(
                dot(x, w), x.astype(float) @ w.astype(float), rtol=1e-6, atol=0
            )


@compiled
def test_dot_compiled_does_not_fuse():
    """A fused multiply-add would give 2**-60 here, not zero."""

    @numba.njit
    def product(x, w):
        return dot(x, w)

    e = 2.0**-30
    x, w = np.array([1 + e, -1.0]), np.array([1 - e, 1.0])
    assert product(x, w) == dot(x, w) == 0.0


def test_dot_reads_unaligned_and_offset_arrays():
    rng = np.random.default_rng(1)
    base = rng.standard_normal(40)
    X, y, _ = data(d=3)
    odd = np.frombuffer(b"x" + X.tobytes(), np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert_same(fit("online", odd, y), fit("online", X, y))
    assert dot(base[3:20], base[5:22]) == dot(base[3:20].copy(), base[5:22].copy())


@compiled
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, csr(np.int32), csr(np.int64)])
def test_row_primitives_compiled_equal_plain(kind, layout):
    @numba.njit
    def apply(block, i, a, w):
        rows.add_row(block, i, a, w)
        return rows.row_dot(block, i, w), rows.row_norm2(block, i)

    X, _, _ = data(d=23)
    X[np.abs(X) < 0.5] = 0
    block = rows.as_rows(layout(X.astype(kind)))
    rng = np.random.default_rng(2)
    w = rng.standard_normal(23)
    for i in range(N):
        plain = w.copy()
        rows.add_row(block, i, 0.3, plain)
        expected = rows.row_dot(block, i, plain), rows.row_norm2(block, i)
        assert apply(block, i, 0.3, w) == expected
        np.testing.assert_array_equal(w, plain)


@compiled
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.ascontiguousarray, sparse.csr_array])
def test_two_products_of_a_row_are_those_of_one_at_a_time(form, dtype):
    @numba.njit
    def both(block, i, w, v):
        return rows.two_row_dots(block, i, w, v)

    rng = np.random.default_rng(0)
    for d in (1, 2, 7, 15, 16, 17, 31, 47, 100):
        block = rows.as_rows(form(rng.standard_normal((3, d)).astype(dtype)))
        w, v = rng.standard_normal((2, d))
        for i in range(3):
            apart = rows.row_dot(block, i, w), rows.row_dot(block, i, v)
            assert both(block, np.uint64(i), w, v) == apart
