"""Kernel values on a device: data in arrays of PyTorch, CuPy or any other array API library.

Matrix products and kernels are computed where the data are. The steps within a block, and whatever
is in doubt, are computed on the processor, exactly as for data in memory: the mistakes are the
same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import to_host
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import IN_ORDER
from rosenblatt.kernel.given_values import FunctionValues, GivenValues
from rosenblatt.kernel.kernel_values import Values
from rosenblatt.kernel.loops import norms2
from rosenblatt.kernel.measured import are_nonnegative
from rosenblatt.kernel.support_vectors import Batch, SupportVectors, as_slice
from rosenblatt.kernels import Precomputed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.rows import Rows
    from rosenblatt.data.sources import Order, Piece, Source
    from rosenblatt.kernels import Kernel
    from rosenblatt.running.threads import Team


BLOCK = 1024  # samples scored and visited at a time where support vectors are forgotten
WIDE_BLOCK = 2048  # and elsewhere
CHUNK = 8192  # support vectors multiplied at a time
ROWS = 1 << 24  # numbers looked at at a time


def is_on_device(X: Any) -> bool:
    """Whether X is an array of another library than NumPy, with the array API."""
    if isinstance(X, np.ndarray | np.generic):
        return False
    return hasattr(X, "__array_namespace__") or type(X).__module__.split(".")[0] == "torch"


def namespace_of(X: Any) -> Any:
    """The array library of X."""
    try:
        import array_api_compat
    except ImportError:
        if hasattr(X, "__array_namespace__"):
            return X.__array_namespace__()
        msg = "arrays of PyTorch need array-api-compat: pip install rosenblatt[gpu]"
        raise ImportError(msg) from None
    return array_api_compat.array_namespace(X)


class Device:
    """A library and a device: brings arrays there."""

    def __init__(self, X: Any) -> None:
        self.xp = namespace_of(X)
        self.device = X.device

    def put(self, array: Any, kind: Any = None) -> Any:
        """A NumPy array as one of the device."""
        array = np.ascontiguousarray(array if kind is None else array.astype(kind))
        if array.dtype == np.bool_ or not array.flags.writeable:
            array = array.copy()
        return self.xp.asarray(array, device=self.device)

    def dtype(self, kind: Any) -> Any:
        """The library's name of a floating-point type."""
        return self.xp.float32 if np.dtype(kind) == np.float32 else self.xp.float64

    def rows(self, X: Any, sample: Ints) -> Any:
        """Some rows of a matrix, or numbers of a vector, there."""
        found = as_slice(np.asarray(sample, np.int64))
        if isinstance(found, slice):
            return X[found, ...]
        return self.xp.take(X, self.put(found), axis=0)

    def rounds_coarsely(self) -> bool:
        """Whether products in single precision are not what they are called."""
        torch = getattr(self.xp, "get_float32_matmul_precision", None)
        return torch is not None and torch() != "highest"


class DeviceVectors(SupportVectors):
    """Support vectors: as given in memory, and in the working precision on the device."""

    def __init__(
        self, n_features: int, dtype: Any, kind: Any, place: Device, center: Any = None
    ) -> None:
        super().__init__(n_features, dtype, dtype)
        self.center, self.place = center, place
        self.change_precision(kind)

    def change_precision(self, kind: Any) -> None:
        """Work in this precision from now on."""
        self.kind = kind
        self.there = self.place.put(self.moved(self.given), kind)
        self.there2 = self.place.put(self.y2, kind)

    def reserve(self, size: int) -> None:
        """Make room for so many vectors."""
        before = len(self.given)
        super().reserve(size)
        if len(self.given) > before:
            self.change_precision(self.kind)

    def begin(self, vectors: Any, y2: Floats) -> None:
        """Have these vectors in the first slots."""
        self.reserve(len(y2))
        self.put(np.arange(len(y2)), vectors, y2)

    def put(self, slots: Ints, X: Any, y2: Floats) -> None:
        """Put vectors into slots."""
        super().put(slots, X, y2)
        xp, found = self.place.xp, as_slice(slots)
        X, y2 = self.place.put(self.moved(X), self.kind), self.place.put(y2, self.kind)
        if isinstance(found, slice):
            self.there[found, :], self.there2[found] = X, y2
        elif len(slots):
            # Slots here and there: the standard knows no such assignment, so gather all anew.
            where = np.arange(self.there.shape[0])
            where[slots] = len(where) + np.arange(len(slots))
            index = self.place.put(where)
            self.there = xp.take(xp.concat([self.there, X]), index, axis=0)
            self.there2 = xp.take(xp.concat([self.there2, y2]), index)

    def at(self, slots: Ints) -> tuple[Any, Any]:
        """The vectors of the slots on the device, and their squared norms."""
        return self.place.rows(self.there, slots), self.place.rows(self.there2, slots)


class DeviceValues(Values):
    """Kernel values of data on a device: X is of any library with the array API.

    Vectors to begin with are in memory.
    """

    support: DeviceVectors
    slack = 1 + 1e-9
    foreseen = 128

    def _open(self) -> None:
        self.place, self.chunk, self.sparse = Device(self.X), CHUNK, False
        self.side_by_side = self.waves = False
        self._fetched: dict[int, Any] = {}
        self.xp = self.place.xp

    def _precision(self) -> Any:
        kind = super()._precision()
        return np.float64 if self.place.rounds_coarsely() else kind

    def _make_room(self, vectors: Any) -> None:
        single = self.X.dtype == self.xp.float32
        single = single and (vectors is None or vectors.dtype == np.float32)
        given = np.float32 if single else np.float64
        self.support = DeviceVectors(self.n_features, given, self.kind, self.place, self.center)
        self.wide_rows, self.block_rows = WIDE_BLOCK, BLOCK

    def _blocks(self) -> Iterator[tuple[int, Any]]:
        step = max(1, ROWS // max(1, self.n_features))
        starts = range(0, self.n, step)
        return ((a, self.X[a : min(a + step, self.n), :]) for a in starts)

    def _measure_block(self, X: Any, x2: Floats, terms: Floats) -> bool:
        xp, wide = self.xp, self.xp.astype(X, self.xp.float64)
        with np.errstate(over="ignore"):  # libraries on top of NumPy would warn
            x2[:] = to_host(xp.sum(wide * wide, axis=1))
        terms[:] = to_host(xp.sum(xp.astype(X != 0, xp.float64), axis=1))
        return are_nonnegative(X, xp)

    def _mean(self) -> Floats:
        xp, total = self.xp, np.zeros(self.n_features)
        for _, X in self._blocks():
            total += to_host(xp.sum(xp.astype(X, xp.float64), axis=0))
        return total / self.n

    def _distances2(self, center: Floats) -> Floats:
        return super()._distances2(self.place.put(center))

    def batch(self, sample: Ints) -> Batch:
        """These samples, ready."""
        self._fetched = {}
        X = self.place.rows(self.X, sample)
        if self.center is not None:
            X = self.xp.astype(X, self.xp.float64) - self.place.put(self.center)
        X = self.xp.astype(X, self.place.dtype(self.kind))
        return Batch(sample, X, self.place.put(self.x2[sample], self.kind))

    def add(self, sample: Ints, slots: Ints) -> None:
        """Let some samples be the vectors of these slots."""
        if len(slots):
            self.fetch(sample)
            X, y2 = np.stack([self._fetched[i] for i in sample.tolist()]), self.x2[sample]
            X = X.astype(self.support.given.dtype, copy=False)
            if self.center is None:  # as they will be measured in a later run
                norms2(as_rows(X), 0, len(X), y2)
            self.support.put(slots, X, y2)

    def sums(self, batch: Batch, slots: Ints, factors: Floats, k: int) -> Floats:
        """``K @ factors`` over the vectors of the slots; ``|K|`` for the last k columns."""
        total = np.zeros((len(batch.sample), factors.shape[1]))
        cut = factors.shape[1] - (0 if self.kernel.nonnegative(self.no_negatives) else k)
        for a in range(0, len(slots), self.chunk):
            some = factors[a : a + self.chunk, :cut]
            self.longest = max(self.longest, int(np.count_nonzero(some, axis=0).max(initial=0)))
            K, kind = self._there(batch, slots[a : a + self.chunk]), self._kind_for(some)
            if kind != self.kind:
                K = self.xp.astype(K, self.place.dtype(kind))
            total[:, :cut] += to_host(K @ self.place.put(some, kind))
        return total

    def _there(self, batch: Batch, slots: Ints) -> Any:
        """Values of the samples with the vectors of the slots, on the device."""
        Y, y2 = self.support.at(slots)
        return self._finish(batch.X @ Y.T, batch.x2, y2)

    def _finish(self, Z: Any, x2: Any, y2: Any) -> Any:
        K = self.kernel.of_products(Z, x2, y2, self.xp)
        if self.bias:
            K += self.bias
        return K

    def matrix(self, batch: Batch, slots: Ints) -> Any:
        """Values of the samples (rows) with the vectors of the slots, in memory."""
        return to_host(self._there(batch, slots))

    def across(self, batch: Batch, slots: Ints) -> Any:
        """The same with a row for each vector."""
        Y, y2 = self.support.at(slots)
        return to_host(self._finish(Y @ batch.X.T, y2, batch.x2))

    def pick(self, batch: Batch, some: Ints) -> Batch:
        """Some samples of a batch."""
        index = self.place.put(some)
        X, x2 = self.xp.take(batch.X, index, axis=0), self.xp.take(batch.x2, index)
        return Batch(batch.sample[some], X, x2)

    def among(self, batch: Batch, some: Ints) -> Any:
        """Values of some of the samples (rows) with all of them, in memory.

        The samples themselves come along: mistakes become support vectors, which are there too.
        """
        vectors, m = self.pick(batch, some), len(batch.sample)
        K = self._finish(vectors.X @ batch.X.T, vectors.x2, batch.x2)
        self.computed += len(some) * m
        rounded = self.kind == np.float32 and self.X.dtype != self.xp.float32
        if self.center is not None or rounded:
            self.fetch(vectors.sample)
            return to_host(K)
        both = to_host(self.xp.concat([K, vectors.X], axis=1))
        self._fetched.update(zip(vectors.sample.tolist(), both[:, m:], strict=True))
        return both[:, :m]

    def between(self, vectors: Batch, batch: Batch) -> Any:
        """Values of some samples as vectors (rows) with others, in memory."""
        return to_host(super().between(vectors, batch))

    def form(self, V: Any, delta: Floats) -> Floats:
        """``‖Σ delta_i φ(v_i)‖²``, a column for each problem."""
        there, D = self.place.put(self.support.moved(V), np.float64), self.place.put(delta)
        v2 = self.xp.sum(there * there, axis=1)
        total = np.zeros(delta.shape[1])
        for a in range(0, len(delta), BLOCK):
            part = slice(a, min(a + BLOCK, len(delta)))
            K = self._finish(there[part, :] @ there.T, v2[part], v2)
            total += (delta[part] * to_host(K @ D)).sum(axis=0)
        return np.maximum(total, 0.0)

    def twins(self) -> NDArray[np.intp]:
        """Identical samples are not looked for here."""
        return np.empty(0, np.intp)

    def exact(self, sample: int, slots: Ints) -> Floats:
        """Values of one sample with the vectors of the slots, each by itself."""
        self.fetch(np.array([sample]))
        return self._exactly(self._fetched[sample].astype(np.float64), slots)

    def fetch(self, sample: Ints) -> None:
        """Have samples in memory that will be asked for one by one: in one transfer."""
        new = np.array([i for i in sample.tolist() if i not in self._fetched], np.int64)
        if len(new):
            rows = np.ascontiguousarray(to_host(self.place.rows(self.X, new)))
            self._fetched.update(zip(new.tolist(), rows, strict=True))


def kernel_values(kernel: Kernel, bias: float, X: Any, team: Team, **options: Any) -> Values:
    """The kernel's values with X, wherever X is."""
    kind: type[Values] = GivenValues if isinstance(kernel, Precomputed) else FunctionValues
    if kernel.needs_features:
        kind = Values
    if is_on_device(X):
        kind = DeviceValues
    return kind(kernel, bias, X, team, **options)


def check_on_device(model: Any, X: Any, *, reset: bool) -> None:
    """Refuse X unless it is a matrix of finite floating-point numbers that fits the model."""
    xp = namespace_of(X)
    if len(X.shape) != 2:
        msg = f"X has shape {tuple(X.shape)}: give a matrix with one sample in each row"
        raise ValueError(msg)
    if X.dtype not in (xp.float32, xp.float64):
        msg = f"X holds {X.dtype}: on a device give float32 or float64"
        raise ValueError(msg)
    n, d = X.shape
    if not n or not d:
        msg = f"X has shape {(n, d)}: give at least one sample with one feature"
        raise ValueError(msg)
    if not bool(xp.all(xp.isfinite(X))):
        msg = "X holds numbers that are not finite: give finite numbers"
        raise ValueError(msg)
    if reset:
        model.n_features_in_ = d
        if hasattr(model, "feature_names_in_"):
            del model.feature_names_in_
    elif model.n_features_in_ != d:
        msg = (
            f"X has {d} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input"
        )
        raise ValueError(msg)


class DeviceSource:
    """Samples on a device, all at once, with labels and weights in memory.

    Blocks have no features; `X` has.
    """

    def __init__(self, labels: Source, X: Any) -> None:
        self.labels, self.X = labels, X
        self.n_rows, self.n_features = labels.n_rows, labels.n_features
        self.n_entries, self.weighted = self.n_rows * self.n_features, labels.weighted

    def pieces(self, order: Order = IN_ORDER) -> Iterator[Piece]:
        """The labels and weights in the given order of rows."""
        return self.labels.pieces(order)


def label_rows(n: int) -> Rows:
    """Rows without features, for labels and weights that are in memory."""
    return as_rows(np.empty((n, 0)))


def pick_rows(X: Any, sample: NDArray[np.int64]) -> Any:
    """Some rows of X, wherever X is."""
    return Device(X).rows(X, sample) if is_on_device(X) else X[sample]


def answer(values: Any, X: Any) -> Any:
    """Numbers where X is; labels that are no numbers stay in memory."""
    if not is_on_device(X) or values.dtype.kind not in "biuf":
        return values
    return Device(X).put(values)
