"""Which kernel is meant by the parameters of an estimator."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from rosenblatt.arguments import brief, number, one_of, positive_number, to_host
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource, RowsByNumber, is_mapped, stack
from rosenblatt.kernel.device import DeviceSource, is_on_device, namespace_of, pick_rows
from rosenblatt.kernels import (
    RBF,
    Function,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    is_positive_semidefinite,
)
from rosenblatt.kernels.gram_matrices import IndefiniteKernelWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rosenblatt.data.sources import Source

NAMES = ("linear", "poly", "gaussian", "rbf", "sigmoid", "precomputed")
LEAF = 1 << 16  # numbers that NumPy adds up by itself
BUFFER = 8192  # numbers that NumPy converts at a time
CUT = 1 << 20  # numbers at a time
SAMPLE = 256  # samples among which an indefinite kernel is looked for


def kernel_for(model: Any, source: Source, first: bool) -> Kernel:
    """The kernel to train with: by the parameters at `first`, then the one there is."""
    X = feature_matrix(source)
    kernel = find_kernel(model, X) if first else _same_kernel(model)
    if model._pairwise and X.shape[0] != X.shape[1]:
        msg = (
            f"X has shape {X.shape}: kernel='precomputed' needs the square matrix of the "
            "kernel's values between the training samples"
        )
        raise ValueError(msg)
    if first:
        warn_if_indefinite(kernel, X)
    return kernel


def _same_kernel(model: Any) -> Kernel:
    """The kernel to go on with, if nobody has changed it."""
    for name, value in meaning(model).items():
        before = model._fitted_with[name]
        if value is not before and value != before:
            msg = (
                f"{name}={brief(value)} was {brief(before)} when the support vectors were "
                "found: go on with that, or fit anew with warm_start=False"
            )
            raise ValueError(msg)
    return model.kernel_  # type: ignore[no-any-return]


def meaning(model: Any) -> dict[str, Any]:
    """The parameters that say what the decision values are."""
    names = ("kernel", "degree", "gamma", "coef0", "sigma", "fit_intercept")
    return {name: getattr(model, name) for name in names}


def kernel_named(kernel: Kernel) -> str:
    """A kernel as a text that is the same if it is; of a function the name will do."""
    if not isinstance(kernel, Function):
        return repr(kernel)
    function = kernel.function
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"the function {getattr(function, '__module__', '')}.{name}"


def feature_matrix(source: Source) -> Any:
    """The samples of a source: on the device, as one matrix, or by number where they pass by."""
    if isinstance(source, DeviceSource):
        return source.X
    matrices = list(stack(source)) if source.resident else []
    return matrices[0] if len(matrices) == 1 else RowsByNumber(source)


def find_kernel(model: Any, X: Any) -> Kernel:
    """The kernel that `kernel`, `degree`, `gamma`, `coef0` and `sigma` describe for these data."""
    kernel = model.kernel
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        msg = (
            f"kernel={kernel.__name__} is a class: give one of its kernels, {kernel.__name__}(...)"
        )
        raise ValueError(msg)
    if callable(kernel):
        return Function(kernel)
    name = one_of("kernel", kernel, NAMES)
    if name in ("poly", "sigmoid"):
        number("coef0", model.coef0)
    if model.sigma is not None and name != "gaussian":
        msg = (
            f"sigma={brief(model.sigma)} is for kernel='gaussian', but kernel={name!r}: give gamma"
        )
        raise ValueError(msg)
    if name == "linear":
        return Linear()
    if name == "precomputed":
        return Precomputed()
    if name == "gaussian" and model.sigma is not None:
        return Gaussian(model.sigma)
    gamma = find_gamma(model.gamma, X)
    if name == "gaussian":
        return Gaussian(float(np.sqrt(0.5 / gamma)))
    if name == "rbf":
        return RBF(gamma)
    if name == "sigmoid":
        return Sigmoid(gamma, model.coef0)
    return Polynomial(model.degree, gamma, model.coef0)


def find_gamma(gamma: Any, X: Any) -> float:
    """A number, or what a word says for these data, as in scikit-learn."""
    if isinstance(gamma, str):
        if one_of("gamma", gamma, ("scale", "auto")) == "auto":
            return 1.0 / int(X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            variance = _variance(X)
        gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        if not 0 < gamma <= 1e300:
            msg = (
                "gamma='scale' needs the variance of X, which is beyond floating point: scale the "
                "features, or give gamma as a number"
            )
            raise ValueError(msg)
        return float(gamma)
    return positive_number("gamma", gamma, hint=", or 'scale' or 'auto'")


def _variance(X: Any) -> float:
    """The variance of all numbers in X."""
    if is_on_device(X):
        xp = namespace_of(X)
        return float(xp.var(xp.astype(X, xp.float64)))
    if is_mapped(X.data if issparse(X) else X):  # of which NumPy would make a copy
        label = np.broadcast_to(np.int32(0), X.shape[:1])
        X = RowsByNumber(MemorySource(as_rows(X), label, X.shape[1]))
    if isinstance(X, RowsByNumber):
        return _variance_in_blocks(X)
    if hasattr(X, "multiply"):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(np.var(X, dtype=np.float64))


def _variance_in_blocks(X: RowsByNumber) -> float:
    """The same bits, of rows that pass by."""
    n = X.shape[0] * X.shape[1]
    if X.sparse:
        squares = _sum(lambda: (block.multiply(block).data * (1.0 / n) for block in X))
        return float(squares - _sum(lambda: (block.data * (1.0 / n) for block in X)) ** 2)
    mean = _sum(lambda: (block.ravel() for block in X), BUFFER) / n
    return float(
        _sum(lambda: ((part - np.full((1, 1), mean)).ravel() ** 2 for part in _cut(X))) / n
    )


def _cut(X: RowsByNumber) -> Iterator[Any]:
    """The rows of its blocks, some at a time, of which copies may be made."""
    step = max(1, CUT // X.shape[1])
    return (block[a : a + step] for block in X for a in range(0, block.shape[0], step))


def _sum(parts: Callable[[], Iterator[Any]], buffer: int = 0) -> Any:
    """The sum of the numbers in all parts, as NumPy adds up one array: in halves.

    Numbers in single precision, wanted in double, go through a `buffer` of so many.
    """
    n, flow, rest = sum(part.size for part in parts()), parts(), next(parts())[:0]
    kind = np.float64 if buffer else rest.dtype
    buffered = buffer if rest.dtype != kind else 0

    def read(count: int) -> Any:
        nonlocal rest
        while len(rest) < count:
            rest = np.concatenate([rest, next(flow)])
        here, rest = rest[:count], rest[count:]
        return here.sum(dtype=kind)

    def add(count: int) -> Any:
        if count <= LEAF:
            return read(count)
        half = count // 2 - count // 2 % 8
        first = add(half)
        return first + add(count - half)

    if buffered:
        return sum((read(min(buffered, n - a)) for a in range(0, n, buffered)), kind(0.0))
    return add(n)


def warn_if_indefinite(kernel: Kernel, X: Any) -> None:
    """Warn where samples of the data refute that the kernel is an inner product."""
    if not isinstance(kernel, Sigmoid):
        return
    some = np.unique(np.linspace(0, X.shape[0] - 1, SAMPLE).astype(np.int64))
    picked = to_host(pick_rows(X, some)) if is_on_device(X) else X[some]
    with np.errstate(over="ignore", invalid="ignore"):
        K = kernel(picked)
    if not np.isfinite(K).all():
        return  # the fit itself says what is wrong
    found = is_positive_semidefinite(K, tol=1e-10)
    if not found:
        warning = IndefiniteKernelWarning(kernel.formula, picked.shape[0], found.smallest)
        warnings.warn(warning, stacklevel=4)
