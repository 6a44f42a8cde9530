"""Sparse matrices of every kind: the same numbers everywhere, and none that end the program."""

import os
import subprocess
import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from rosenblatt import matrices
from rosenblatt.data.rows import as_rows

FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dia", "dok")

# Run by another process, as what is tested for ends it.
BROKEN = """
import warnings
import numpy as np
from scipy import sparse
import rosenblatt as rb

warnings.simplefilter("ignore")
X, y = rb.datasets.eight_points()
X = np.hstack([X, X, X])

def bsr(X):
    return sparse.bsr_array(X, blocksize=(1, 1))

def compressed(kind, part, value):
    matrix = kind(X)
    if callable(value):
        value = value(getattr(matrix, part))
    setattr(matrix, part, value)
    return matrix

def changed(at, value):
    def change(array):
        array = array.copy()
        array[at] = value
        return array
    return change

def matrices():
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, bsr):
        for number in (8, -1, 10**8, -10**8):
            yield compressed(kind, "indices", changed(3, number))
        for at, number in ((0, 1), (0, -1), (-1, 10**6), (3, 0), (3, 10**6), (3, -7)):
            yield compressed(kind, "indptr", changed(at, number))
        for size in (1, 2, 4, 100):
            yield compressed(kind, "indptr", np.zeros(size, np.int32))
        for part in ("indices", "data"):
            yield compressed(kind, part, lambda array: array[:-3])
        yield compressed(kind, "indices", lambda array: array.astype(float))
    for part in ("row", "col"):
        for number in (8, -1, 10**8):
            yield compressed(sparse.coo_matrix, part, changed(3, number))
        yield compressed(sparse.coo_matrix, part, lambda array: array[:-1])
    for rows in ([[99]], [[-9]], [[]]):
        matrix = sparse.lil_matrix(X)
        matrix.rows[2] = rows[0] * len(matrix.rows[2])
        yield matrix
    matrix = sparse.dok_array(X)
    matrix._dict[99, 99] = 1.0
    yield matrix

plane, kernel = rb.Hyperplane(np.ones(6)), rb.kernels.RBF(1.0)
models = [rb.Perceptron(), rb.Adaline(max_epochs=5), rb.KernelPerceptron(kernel="poly", degree=2)]
models += [rb.MaxMarginClassifier(), rb.SoftMarginClassifier()]
verdict = rb.separability(X, y)
calls = {}
for model in models:
    model.fit(X, y)
    calls[f"{type(model).__name__}.predict"] = model.predict
    calls[f"{type(model).__name__}.decision_function"] = model.decision_function
    calls[f"{type(model).__name__}.fit"] = lambda A, model=model: type(model)().fit(A, y)
for name in ("decision_function", "predict", "distance", "canonical", "project"):
    calls[f"Hyperplane.{name}"] = getattr(plane, name)
calls |= {
    "margin": lambda A: plane.margin(A, y),
    "kernel": kernel,
    "kernel of two": lambda A: kernel(X, A),
    "linear": rb.kernels.Linear(),
    "function": rb.kernels.Function(np.dot),
    "diagonal": kernel.diagonal,
    "augment": rb.theory.augment,
    "radius": rb.theory.radius,
    "loss": lambda A: rb.theory.perceptron_loss(plane, A, y),
    "features": lambda A: rb.features.Polynomial().fit(A),
    "transform": rb.features.Squares().fit(X).transform,
    "separability": lambda A: rb.separability(A, y),
    "mistake_bound": lambda A: rb.mistake_bound(A, y),
    "path": lambda A: rb.soft_margin_path(A, y, [1.0]),
    "check": lambda A: rb.certify.check(verdict, A, y),
    "dichotomies": rb.boolean.count_dichotomies,
}
count = 0
for matrix in matrices():
    for name, call in calls.items():
        what = f"{name}({type(matrix).__name__})"
        try:
            call(matrix)
        except ValueError as error:
            assert "X" in str(error) or "Y" in str(error), (what, error)
            assert "\\n" not in str(error), (what, error)
        else:
            raise AssertionError(what)
        count += 1
print(count)
"""


@pytest.mark.compiled
def test_broken_matrices_end_no_program():
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONFAULTHANDLER": "1"}
    run = subprocess.run(
        [sys.executable, "-c", BROKEN], capture_output=True, text=True, env=environment, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout) > 2500


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32", "float64", "bool"])
def test_every_format_is_read_as_it_is(kind, dtype):
    X = abs(rb.datasets.eight_points().X).astype(dtype)
    made = matrices.table("X", sparse.coo_array(X).asformat(kind))
    assert made.format == "csr"
    np.testing.assert_array_equal(made.toarray(), X)
    signs = rb.Hyperplane([1.0, -1.0], -0.5).predict(sparse.coo_array(X).asformat(kind))
    np.testing.assert_array_equal(signs, rb.Hyperplane([1.0, -1.0], -0.5).predict(X))


def twice(dtype, layout):
    """A matrix whose entries are given in two parts each, which a byte cannot hold together."""
    row, column = np.repeat(np.arange(4), 2), np.zeros(8, int)
    data = np.array([100, 100, 90, 90, -100, -100, -90, -90], dtype)
    made = sparse.coo_array((data, (row, column)), shape=(4, 1))
    if layout == "csr":  # as SciPy would not add them up here
        return sparse.csr_array((data, column, np.arange(0, 9, 2)), shape=(4, 1))
    return made


@pytest.mark.parametrize("layout", ["csr", "coo"])
@pytest.mark.parametrize("dtype", ["int8", "int16", "float32"])
def test_entries_given_twice_are_added_as_floats(dtype, layout):
    X, y = twice(dtype, layout), [1, 1, 0, 0]
    dense = np.array([[200.0], [180.0], [-200.0], [-180.0]])
    before = X.data.copy()
    verdict = rb.separability(X, y)
    assert verdict.margin == rb.separability(dense, y).margin
    assert rb.certify.check(verdict, X, y)
    for kind in (rb.Perceptron, rb.MaxMarginClassifier):
        model = kind().fit(X, y)
        np.testing.assert_array_equal(model.coef_, kind().fit(dense, y).coef_)
        np.testing.assert_array_equal(model.decision_function(X), model.decision_function(dense))
    optimum = rb.SoftMarginClassifier().fit(X, y).optimum_
    assert rb.certify.check(optimum, X, y)
    assert rb.Hyperplane([1.0]).margin(X, [1, 1, -1, -1]) == 180.0
    np.testing.assert_array_equal(X.data, before)


def test_sums_of_entries_that_overflow_are_refused():
    X = sparse.csr_array((np.full(4, 1e308), np.zeros(4, int), [0, 2, 4]), shape=(2, 1))
    with pytest.raises(ValueError, match="X has entries given twice whose sum is not finite"):
        rb.Perceptron().fit(X, [0, 1])


def test_a_matrix_that_is_right_is_not_copied():
    X = sparse.csr_array(np.eye(3))
    assert matrices.table("X", X) is X
    dense = np.eye(3, dtype=np.float32)
    assert matrices.table("X", dense) is dense


def test_long_numbers_in_sparse_matrices():
    X = sparse.csr_array(np.array([[2**53 + 1], [1]]))
    for kind in FORMATS:
        with pytest.raises(ValueError, match="X holds 9007199254740993, which no float is equal"):
            rb.separability(X.asformat(kind), [0, 1])
    third = np.array([[np.longdouble(1) / 3], [1]])
    with pytest.raises(ValueError, match="which no float is equal to"):
        rb.Perceptron().fit(sparse.csr_array(third), [0, 1])
    half = sparse.csr_array(np.array([[np.longdouble(0.5)], [1]]))
    assert rb.Perceptron().fit(half, [0, 1]).n_errors_ == 0
    assert Fraction(float(matrices.table("X", half).data[0])) == Fraction(1, 2)


@pytest.mark.parametrize("starts", [np.int32, np.int64])
@pytest.mark.parametrize("columns", [np.int32, np.int64])
def test_row_starts_are_of_the_kind_of_the_column_numbers(starts, columns):
    """Loops are compiled for one kind; starts that are beyond it stay as they are."""
    X = sparse.csr_array(np.eye(3))
    X.indptr, X.indices = X.indptr.astype(starts), X.indices.astype(columns)
    rows = as_rows(X)
    assert rows.indptr.dtype == columns
    assert rows.indptr.tolist() == [0, 1, 2, 3]
    assert X.indptr.dtype == starts
    assert np.shares_memory(rows.indptr, X.indptr) == (starts is columns)
    far = SimpleNamespace(data=X.data, indices=X.indices, indptr=np.array([0, 2**31]))
    assert as_rows(far).indptr[-1] == 2**31
