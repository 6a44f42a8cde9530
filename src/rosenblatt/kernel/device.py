"""Kernel values on a device: data in arrays of PyTorch, CuPy or any other array API library.

Matrix products and kernels are computed where the data are. The steps within a block, and whatever
is in doubt, are computed on the processor, exactly as for data in memory: the mistakes are the
same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.arguments import to_host
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import IN_ORDER
from rosenblatt.kernel.kernel_values import Values
from rosenblatt.kernel.loops import norms2
from rosenblatt.kernel.measured import FAR
from rosenblatt.kernel.support_vectors import SupportVectors, distances2_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.rows import Rows
    from rosenblatt.data.sources import Piece, Source


BLOCK = 1024  # samples that are visited with their kernel values at hand
WIDE_BLOCK = 8192  # samples scored at a time
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
        """Some rows of a matrix there."""
        found = self.index(sample)
        return X[found, :] if isinstance(found, slice) else self.xp.take(X, found, axis=0)

    def index(self, sample: Ints) -> Any:
        """Numbers as a slice, or else as an array there."""
        n = len(sample)
        if n and sample[-1] - sample[0] == n - 1 and (np.diff(sample) == 1).all():
            return slice(int(sample[0]), int(sample[0]) + n)
        return self.put(np.asarray(sample, np.int64))

    def rounds_coarsely(self) -> bool:
        """Whether products in single precision are not what they are called."""
        torch = getattr(self.xp, "get_float32_matmul_precision", None)
        return torch is not None and torch() != "highest"


class Ready(NamedTuple):
    """Some samples, on the device, in the working precision."""

    sample: Ints
    X: Any
    x2: Any


class DeviceVectors(SupportVectors):
    """Support vectors: as given in memory, and in the working precision on the device."""

    def __init__(
        self, n_features: int, dtype: Any, kind: Any, place: Device, center: Any = None
    ) -> None:
        super().__init__(n_features, dtype, dtype)
        self.center = center
        self.place, self.kind = place, np.dtype(kind)
        self.there = place.put(np.zeros((0, n_features)), kind)
        self.there2 = place.put(np.zeros(0), kind)

    def reserve(self, size: int) -> None:
        """Make room for so many vectors."""
        super().reserve(size)
        more = len(self.given) - self.there.shape[0]
        if more > 0:
            xp, place = self.place.xp, self.place
            room = place.put(np.zeros((more, self.given.shape[1])), self.kind)
            self.there = xp.concat([self.there, room])
            self.there2 = xp.concat([self.there2, place.put(np.zeros(more), self.kind)])

    def at(self, slots: Ints) -> tuple[Any, Any]:
        """The vectors of the slots on the device, and their squared norms."""
        found, xp = self.place.index(slots), self.place.xp
        if isinstance(found, slice):
            return self.there[found, :], self.there2[found]
        return xp.take(self.there, found, axis=0), xp.take(self.there2, found)

    def put_there(self, slots: Ints, X: Any, y2: Any) -> None:
        """Put vectors that are on the device already into slots."""
        xp, first = self.place.xp, int(slots[0])
        if (np.diff(slots) == 1).all():
            self.there[first : first + len(slots), :] = X
            self.there2[first : first + len(slots)] = y2
            return
        # Slots here and there: the standard knows no such assignment, so gather all anew.
        where = np.arange(self.there.shape[0])
        where[slots] = len(where) + np.arange(len(slots))
        index = self.place.put(where)
        self.there = xp.take(xp.concat([self.there, X]), index, axis=0)
        self.there2 = xp.take(xp.concat([self.there2, y2]), index)

    def change_precision(self, kind: Any) -> None:
        """Work in this precision from now on."""
        self.kind = np.dtype(kind)
        moved = self.given if self.center is None else self.given - self.center
        self.there = self.place.put(moved, kind)
        self.there2 = self.place.put(self.y2, kind)


class DeviceValues(Values):
    """Kernel values of data on a device: X is of any library with the array API.

    Vectors to begin with are in memory.
    """

    support: DeviceVectors

    def _open(self) -> None:
        self.place, self.chunk = Device(self.X), CHUNK

    def _precision(self) -> Any:
        kind = super()._precision()
        return np.float64 if self.place.rounds_coarsely() else kind

    def _make_room(self, vectors: Any) -> None:
        single = self.X.dtype == self.place.xp.float32
        single = single and (vectors is None or vectors.dtype == np.float32)
        given = np.float32 if single else np.float64
        self.support = DeviceVectors(self.n_features, given, self.kind, self.place, self.center)
        self.wide_rows, self.block_rows = WIDE_BLOCK, BLOCK

    def _pieces(self) -> Any:
        step = max(1, ROWS // max(1, self.n_features))
        starts = range(0, self.n, step)
        return ((a, self.X[a : min(a + step, self.n), :]) for a in starts)

    def _are_integers(self) -> bool:
        xp = self.place.xp
        return all(bool(xp.all(xp.round(part) == part)) for _, part in self._pieces())

    def _measure(self) -> None:
        xp = self.place.xp
        self.x2, self.terms = np.empty(self.n), np.empty(self.n)
        self.no_negatives = True
        for a, part in self._pieces():
            wide = xp.astype(part, xp.float64)
            here = slice(a, a + part.shape[0])
            with np.errstate(over="ignore"):  # libraries on top of NumPy would warn
                self.x2[here] = to_host(xp.sum(wide * wide, axis=1))
            self.terms[here] = to_host(xp.sum(xp.astype(part != 0, xp.float64), axis=1))
            self.no_negatives = self.no_negatives and bool(xp.all(part >= 0))
        self.most = float(self.x2.max(initial=0.0)) * (1 + 1e-9)

    def _find_center(self, vectors: Any) -> None:
        if vectors is None or not len(vectors):
            xp, total = self.place.xp, np.zeros(self.n_features)
            for _, part in self._pieces():
                total += to_host(xp.sum(xp.astype(part, xp.float64), axis=0))
            center = total / self.n
            x2 = apart = self._distances2(center)
            there = self.most
        else:
            center = vectors.mean(axis=0, dtype=np.float64)
            x2, apart = None, distances2_to(vectors, center)
            there = float(distances2_to(vectors, 0.0).max())
        if apart.max() * FAR < there:
            self.center, self.x2 = center, self._distances2(center) if x2 is None else x2
            self.most = float(self.x2.max()) * (1 + 1e-9)
            self.terms[:], self._there_center = self.n_features, self.place.put(center)

    def _distances2(self, center: Floats) -> Floats:
        """``‖x - center‖²`` for every sample."""
        xp, there, out = self.place.xp, self.place.put(center), np.empty(self.n)
        for a, part in self._pieces():
            apart = xp.astype(part, xp.float64) - there
            with np.errstate(over="ignore"):
                out[a : a + part.shape[0]] = to_host(xp.sum(apart * apart, axis=1))
        return out

    def _moved(self, X: Any) -> Any:
        """Samples on the device, less the center, in the working precision."""
        xp = self.place.xp
        if self.center is not None:
            X = xp.astype(X, xp.float64) - self._there_center
        return xp.astype(X, self.place.dtype(self.kind))

    def batch(self, sample: Ints) -> Any:
        """These samples, ready."""
        X = self._moved(self.place.rows(self.X, sample))
        return Ready(sample, X, self.place.put(self.x2[sample], self.kind))

    def add(self, sample: Ints, slots: Ints) -> None:
        """Let some samples be the vectors of these slots."""
        if len(slots):
            X = self.place.rows(self.X, sample)
            given, y2 = to_host(X), np.empty(len(sample))
            if self.center is None:
                norms2(as_rows(np.ascontiguousarray(given)), 0, len(given), y2)
            else:
                y2 = self.x2[sample]
            self.support.put(slots, given, y2)
            self.support.put_there(slots, self._moved(X), self.place.put(y2, self.kind))

    def _load(self, vectors: Any, y2: Floats) -> None:
        super()._load(vectors, y2)
        if len(y2):
            there = self._moved(self.place.put(vectors, np.float64))
            self.support.put_there(np.arange(len(y2)), there, self.place.put(y2, self.kind))

    def part(self, batch: Any, a: int, z: int) -> Any:
        """Samples a to z of a batch."""
        return Ready(batch.sample[a:z], batch.X[a:z, :], batch.x2[a:z])

    def sums(self, batch: Any, slots: Ints, factors: Floats, k: int) -> Floats:
        """``K @ factors`` over the vectors of the slots; ``|K|`` for the last k columns."""
        total = np.zeros((len(batch.sample), factors.shape[1]))
        cut = factors.shape[1] - (0 if self.kernel.nonnegative(self.no_negatives) else k)
        for a in range(0, len(slots), self.chunk):
            some = factors[a : a + self.chunk, :cut]
            self.longest = max(self.longest, int(np.count_nonzero(some, axis=0).max(initial=0)))
            K, kind = self._there(batch, slots[a : a + self.chunk]), self._kind_for(some)
            if kind != self.kind:
                K = self.place.xp.astype(K, self.place.dtype(kind))
            total[:, :cut] += to_host(K @ self.place.put(some, kind))
        return total

    def _there(self, batch: Any, slots: Ints) -> Any:
        """Values of the samples with the vectors of the slots, on the device."""
        Y, y2 = self.support.at(slots)
        return self._finish_there(batch.X @ Y.T, batch.x2, y2)

    def _finish_there(self, Z: Any, x2: Any, y2: Any) -> Any:
        K = self.kernel.of_products(Z, x2, y2, self.place.xp)
        if self.bias:
            K += self.bias
        return K

    def matrix(self, batch: Any, slots: Ints) -> Any:
        """Values of the samples (rows) with the vectors of the slots, in memory."""
        return to_host(self._there(batch, slots))

    def across(self, batch: Any, slots: Ints) -> Any:
        """The same with a row for each vector."""
        Y, y2 = self.support.at(slots)
        return to_host(self._finish_there(Y @ batch.X.T, y2, batch.x2))

    def _between(self, vectors: Any, batch: Any) -> Any:
        Z = vectors.X @ batch.X.T
        return to_host(self._finish_there(Z, vectors.x2, batch.x2))

    def form(self, V: Any, delta: Floats) -> Floats:
        """``‖Σ delta_i φ(v_i)‖²``, a column for each problem."""
        V = V if self.center is None else V - self.center
        there, D = self.place.put(V, np.float64), self.place.put(delta)
        v2 = self.place.xp.sum(there * there, axis=1)
        total = np.zeros(delta.shape[1])
        for a in range(0, len(delta), BLOCK):
            part = slice(a, min(a + BLOCK, len(delta)))
            K = self._finish_there(there[part, :] @ there.T, v2[part], v2)
            total += (delta[part] * to_host(K @ D)).sum(axis=0)
        return np.maximum(total, 0.0)

    def twins(self) -> NDArray[np.intp]:
        """Identical samples are not looked for here."""
        return np.empty(0, np.intp)

    def exact(self, sample: int, slots: Ints) -> Floats:
        """Values of one sample with the vectors of the slots, each by itself."""
        x = to_host(self.X[sample : sample + 1, :])
        return self._exactly(np.ascontiguousarray(x[0], np.float64), slots)


def check_on_device(model: Any, X: Any, *, reset: bool) -> Any:
    """X, if it is a matrix of finite floating-point numbers that fits the model."""
    place = Device(X)
    xp = place.xp
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
    return X


class DeviceSource:
    """Samples on a device, all at once, with labels and weights in memory.

    Blocks have no features; `X` has.
    """

    def __init__(self, labels: Source, X: Any) -> None:
        self.labels, self.X = labels, X
        self.n_rows, self.n_features = labels.n_rows, labels.n_features
        self.n_entries, self.weighted = self.n_rows * self.n_features, labels.weighted

    def pieces(self, order: NDArray[np.int64] = IN_ORDER) -> Iterator[Piece]:
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
