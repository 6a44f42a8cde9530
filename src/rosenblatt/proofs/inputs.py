"""What is given to be checked, a certificate and samples: read with suspicion, nothing rounded."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from rosenblatt.arguments import as_array, exact
from rosenblatt.exact.blocks import LabelledStack, Stack, tiles
from rosenblatt.exact.kesler import kesler_vectors
from rosenblatt.exact.passes import in_turn, map_blocks
from rosenblatt.exact.sides import as_signs
from rosenblatt.matrices import matrix
from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.exact.passes import Each

NUMBERS = 1 << 22  # in Kesler's vectors that are made at a time
WANTED = "give a matrix with one row per sample"

# The fields of a certificate ---------------------------------------------------------------------


class WrongError(Exception):
    """A certificate does not prove its verdict; the text says why.

    `sample` is the one that refutes it, if one does, and `where` it lies.
    """

    def __init__(self, why: str, sample: int | None = None, where: str = "") -> None:
        super().__init__(why)
        self.sample, self.where = sample, where


def require(condition: Any, why: str) -> None:
    """Go on only if a condition holds."""
    if not condition:
        raise WrongError(why)


def require_fields(certificate: Any) -> None:
    """Go on only if nothing is missing of what a certificate of this kind has."""
    if is_dataclass(certificate) and not isinstance(certificate, type):
        for one in fields(certificate):
            require(hasattr(certificate, one.name), f"{one.name} is missing")


def _array(values: Any, kinds: str, name: str) -> NDArray[Any]:
    require(isinstance(values, np.ndarray), f"{name} is not an array")
    require(values.dtype.kind in kinds, f"{name} has dtype {values.dtype}")
    require(values.dtype.itemsize <= 8, f"{name} has dtype {values.dtype}")
    require(values.ndim == 1, f"{name} has shape {values.shape} instead of one dimension")
    # No subclass with rules of its own, and in the machine's order of bytes.
    array: NDArray[Any] = np.array(values, dtype=values.dtype.newbyteorder("="))
    return array


def read_rows(values: Any, n: int, name: str) -> Ints:
    """Distinct row numbers below `n`, ascending, at least one."""
    given = _array(values, "iu", name)
    require(given.size, f"{name} names no samples")
    exist = int(given.min()) >= 0 and int(given.max()) < n
    require(exist, f"{name} names samples that do not exist")
    rows = given.astype(np.int64)
    require((np.diff(rows) > 0).all(), f"{name} is not in ascending order without repeats")
    return rows


def read_weights(values: Any, count: int, name: str) -> Floats:
    """`count` positive numbers."""
    weights = _array(values, "f", name).astype(np.float64)
    require(len(weights) == count, f"{name} has {len(weights)} entries for {count} samples")
    positive = np.isfinite(weights).all() and (weights > 0).all()
    require(positive, f"{name} has entries that are not positive numbers")
    return weights


def read_fractions(values: Any, count: int, name: str) -> list[Fraction]:
    """`count` fractions."""
    right = isinstance(values, tuple) and all(isinstance(v, Fraction | int) for v in values)
    require(right, f"{name} is not a tuple of fractions")
    require(len(values) == count, f"{name} has {len(values)} entries instead of {count}")
    # A fraction made past its constructor may hold anything.
    parts = [part for v in values for part in (v.numerator, v.denominator)]
    whole = all(isinstance(part, int | np.integer) for part in parts)
    require(whole and min(parts[1::2], default=1) > 0, f"{name} has entries that are no fractions")
    return [Fraction(int(v.numerator), int(v.denominator)) for v in values]


def read_exact_weights(values: Any, floats: Any, name: str) -> list[Fraction]:
    """Positive fractions, and the floats that go with them, which may have come to 0."""
    near = _array(floats, "f", name).astype(np.float64)
    exact = read_fractions(values, len(near), f"exact_{name}")
    require(min(exact, default=0) > 0, f"exact_{name} has entries that are not positive numbers")
    require_rounded(near.tolist(), exact, f"{name} are not the exact ones, rounded")
    return exact


def require_rounded(floats: list[float], exact: list[Fraction], why: str) -> None:
    """Floats are these numbers but for rounding."""
    for near, number in zip(floats, exact, strict=True):
        require(math.isfinite(near), why)
        # A float below the normal ones has fewer digits.
        tolerance = abs(number) / 10**12 + Fraction(5e-324)
        require(abs(Fraction(near) - number) <= tolerance, why)


def read_point(values: Any, d: int) -> Floats:
    """A point with `d` coordinates."""
    point = _array(values, "f", "point").astype(np.float64)
    require(len(point) == d, f"point has {len(point)} coordinates instead of {d}")
    require(np.isfinite(point).all(), "point has coordinates that are not finite")
    return point


def read_theta(hyperplane: Any, exact: Any, d: int) -> list[Any]:
    """``(w, b)``, bias last: in fractions if there are any, otherwise in floats."""
    require(isinstance(hyperplane, Hyperplane), "hyperplane is not a Hyperplane")
    w = _array(getattr(hyperplane, "w", None), "f", "w").astype(np.float64)
    require(len(w) == d, f"hyperplane has {len(w)} weights instead of {d}")
    b: Any = getattr(hyperplane, "b", None)
    require(isinstance(b, float | np.floating), "b is not a float")
    floats = [*w.tolist(), float(b)]
    require(np.isfinite(floats).all(), "hyperplane has numbers that are not finite")
    if exact is None:
        return floats
    numbers = read_fractions(exact, d + 1, "exact")
    require_rounded(floats, numbers, "hyperplane is not the exact one, rounded")
    return numbers


# Samples and labels -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SignedRows:
    """Samples with signed labels.

    Attributes
    ----------
    X : array of shape (n, d), CSR matrix without duplicate entries, or Stack of these
        Finite numbers, every one of which is a float.
    y : array
        -1 for the first class in sorted order, 1 for the second.
    each : function
        What may look at several blocks of samples side by side.
    """

    X: Any
    y: NDArray[Any]
    each: Each = field(default=in_turn, kw_only=True)

    @property
    def n(self) -> int:
        """How many samples there are."""
        return len(self.y)

    @property
    def d(self) -> int:
        """How many features they have."""
        return int(self.X.shape[1])

    def points(self, rows: Any) -> Floats:
        """The chosen samples, as a dense array."""
        chosen = self.X[rows]
        dense = chosen.toarray() if hasattr(chosen, "toarray") else chosen
        return np.asarray(dense, dtype=np.float64)

    def signed(self, rows: Any) -> Floats:
        """``z_i = y_i (x_i, 1)`` for the chosen samples."""
        points = self.points(rows)
        z: Floats = np.hstack([points, np.ones((len(points), 1))]) * self.y[rows][:, None]
        return z


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Samples of several classes; `label` is the number of each one's class in sorted order."""

    X: Any
    label: NDArray[np.int64]
    n_classes: int

    @property
    def n(self) -> int:
        """How many samples there are."""
        return len(self.label)

    def kesler(self) -> SignedRows:
        """The vectors of Kesler's construction, without the first class, and the origin as -1."""
        k, d = self.n_classes, int(self.X.shape[1])
        shape = self.n * (k - 1) + 1, (k - 1) * (d + 1)

        def make() -> Iterator[Any]:
            size = max(1, NUMBERS // (2 * (k - 1) * (d + 1)))
            for start, X in tiles(self.X, size):
                label = self.label[start : start + X.shape[0]]
                yield kesler_vectors(X, label, k, first=1)
            yield csr_array((1, shape[1]))

        y = np.ones(shape[0], np.int8)
        y[-1] = -1
        return SignedRows(Stack(shape, make), y)


def read_samples(X: Any, y: Any, each: Each = in_turn) -> SignedRows:
    """X and y, or blocks of them, as samples; ValueError says in one line what is wrong."""
    matrix, labels = _read(X, y, each)
    signs = _signs_of(labels)
    if isinstance(X, LabelledStack) and X.X.far is not None:
        X.X.far.knows(signs, X.signs)
    return SignedRows(matrix, signs, each=each)


def read_labelled_samples(X: Any, y: Any) -> LabelledRows:
    """The same for several classes."""
    X, labels = _read(X, y)
    classes, label = _numbered(labels)
    return LabelledRows(X, label.astype(np.int64), len(classes))


def _read(X: Any, y: Any, each: Each = in_turn) -> tuple[Any, NDArray[Any]]:
    """Samples as a matrix or in blocks, and their labels as given."""
    if isinstance(X, LabelledStack):
        _require_finite(X.X, each)
        return X.X, _label_vector(X.y, X.X.shape[0])
    if y is None:
        return _read_blocks(X, each)
    X = _read_matrix(X)
    if X.shape[0] == 0:
        msg = f"X has shape {X.shape}: {WANTED}"
        raise ValueError(msg)
    _require_finite(X, each)
    return X, _label_vector(y, X.shape[0])


def _read_blocks(given: Any, each: Each) -> tuple[Any, NDArray[Any]]:
    """Samples in blocks, pairs of X and y; they are gone through once for their labels."""
    labels, n, kinds = [], 0, set()
    for X, y in _pairs(given):
        labels.append(_label_vector(y, X.shape[0]))
        kinds.add((type(X) is np.ndarray, X.shape[1]))
        n += X.shape[0]
        _require_finite(X, each)
    if len(kinds) > 1:
        msg = "the blocks differ in kind: give all of them as many columns, and none or all sparse"
        raise ValueError(msg)
    if not n:
        msg = "there are no samples: give blocks as pairs (X, y), to be gone through several times"
        raise ValueError(msg)
    ((_, d),) = kinds
    X = Stack((n, d), lambda: (X for X, _ in _pairs(given)))
    return X, np.concatenate(labels)


def _pairs(given: Any) -> Iterator[tuple[Any, Any]]:
    """The blocks that are not empty."""
    wanted = "give y, the labels, or blocks as pairs (X, y)"
    if not hasattr(given, "__iter__") or hasattr(given, "__next__"):
        msg = f"X is a {type(given).__name__} and there is no y: {wanted} in a list or the like"
        raise ValueError(msg)
    for pair in given:
        if not isinstance(pair, tuple) or len(pair) != 2:
            msg = f"y is missing: {wanted}"
            raise ValueError(msg)
        X = _read_matrix(pair[0])
        if X.shape[0]:
            yield X, pair[1]


def _read_matrix(X: Any) -> Any:
    return _native(matrix("X", X, WANTED))


def _require_finite(X: Any, each: Each) -> None:
    if not all(map_blocks(X, lambda block, _: block.finite(), each)):
        msg = "X contains NaN or infinite values: remove or replace them"
        raise ValueError(msg)


def _native(X: Any) -> Any:
    """An array of floats or integers that NumPy computes with directly; CSR as it is."""
    if not isinstance(X, np.ndarray):
        return X
    if X.dtype.kind == "b":
        return X.view(np.uint8)
    return X.astype(X.dtype.newbyteorder("="), copy=False)


def _label_vector(y: Any, n: int) -> NDArray[Any]:
    """A label for each of n samples."""
    labels = as_array("y", y)
    if labels.ndim != 1:
        msg = f"y has shape {labels.shape}: give one label per sample"
        raise ValueError(msg)
    if len(labels) != n:
        msg = f"y has {len(labels)} samples but X has {n} rows"
        raise ValueError(msg)
    return labels


def _numbered(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes in sorted order, and the number of each sample's."""
    try:
        classes, codes = _two_numbered(labels) or np.unique(labels, return_inverse=True)
        missing = bool((classes != classes).any())
    except TypeError:
        msg = "y has labels that cannot be sorted: give labels of one type"
        raise ValueError(msg) from None
    if missing:
        msg = "y contains NaN: give every sample a label"
        raise ValueError(msg)
    return classes, codes.ravel()


def _two_numbered(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]] | None:
    """The same if there are two classes, which needs no sorting of all labels."""
    one = labels == labels[0]
    other = labels[np.argmin(one)]
    if np.all(one) or not np.all(one | (labels == other)):
        return None
    classes = np.unique(np.array([labels[0], other], dtype=labels.dtype))
    return classes, labels == classes[1]


def _signs_of(labels: NDArray[Any]) -> NDArray[np.int8]:
    """-1 for the first of two classes in sorted order, 1 for the second."""
    classes, codes = _numbered(labels)
    if len(classes) != 2:
        msg = f"y has {len(classes)} class{'es' * (len(classes) != 1)}: give exactly two"
        raise ValueError(msg)
    return as_signs(codes != 0)


def read_sample_weight(sample_weight: Any, n: int) -> Floats | None:
    """Weights as floats; ValueError says in one line what is wrong with them."""
    if sample_weight is None:
        return None
    weights = as_array("sample_weight", sample_weight)
    if weights.dtype.kind not in "biuf":
        msg = f"sample_weight has dtype {weights.dtype}: give numbers"
        raise ValueError(msg)
    if weights.shape != (n,):
        msg = f"sample_weight has shape {weights.shape}: give one number for each of {n} samples"
        raise ValueError(msg)
    if not np.isfinite(weights).all() or (weights < 0).any():
        msg = "sample_weight has entries that are negative or not finite: give numbers from 0 on"
        raise ValueError(msg)
    if not weights.any():
        msg = "sample_weight is 0 for every sample: give some of them a positive weight"
        raise ValueError(msg)
    return exact("sample_weight", weights).astype(np.float64)
