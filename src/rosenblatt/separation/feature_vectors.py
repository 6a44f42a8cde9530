"""Vectors that stand for the features of a kernel.

The polynomial kernel's features can be written down (`rosenblatt.kernels.maps`). Of any other
kernel, the matrix of its values with the samples is taken apart, ``K = LLᵀ``: the rows of L have
the inner products of the ``φ(x)``, up to rounding.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csr_array, hstack

from rosenblatt import kernels
from rosenblatt.arguments import brief
from rosenblatt.data.identical import distinct
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.kernels import maps
from rosenblatt.kernels.functions import Products, Radial, squared_norms
from rosenblatt.kernels.gram_matrices import IndefiniteKernelError
from rosenblatt.nearest.signed_vectors import U, Vectors
from rosenblatt.running.clock import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.running.clock import Clock
    from rosenblatt.running.threads import Team

    Labels = NDArray[np.int32]

NUMBERS = 20_000_000  # of features written down, at most
BLOCK = 1000  # rows whose kernel values are held at a time
SAMPLES = 4_000  # of which a matrix of kernel values is taken apart, at most
WIDE = 2_000  # features that make a matrix of their own products no burden
TAKEN_APART = 1.5  # products for each in n³ that taking a matrix apart takes
INDEFINITE = 1e-8  # what is left of a matrix, as a share of it, that rounding does not explain


class Features(NamedTuple):
    """Vectors that stand for the features of samples.

    Attributes
    ----------
    vectors : array or CSR matrix of shape (n, m)
    off : float
        In the right coordinates, no vector is farther than this from its ``φ(x)``.
    tolerance : float
        The largest difference between their inner products and the kernel's values.
    explicit : bool
        Whether they are the features written down, rather than made from the kernel's values.
    """

    vectors: Any
    off: float
    tolerance: float
    explicit: bool = True


def named(kernel: kernels.Kernel, fit_intercept: bool) -> str:
    """The kernel in symbols, with the 1 that a bias adds."""
    return f"{kernel} + 1" if fit_intercept else str(kernel)


def as_kernel(kernel: Any) -> kernels.Kernel:
    """`kernel`, if it is one; a function is made one."""
    if isinstance(kernel, kernels.Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return kernels.Function(kernel)
    msg = (
        f"kernel={brief(kernel)} is not allowed: give a kernel with its parameters, "
        "for instance rb.kernels.RBF(0.5) or the kernel_ of a model, or a function of two vectors"
    )
    raise ValueError(msg)


def spelled_out(kernel: kernels.Kernel, X: Any) -> bool:
    """Whether the features are few enough to be written down."""
    if isinstance(kernel, kernels.Linear):
        return True
    if not isinstance(kernel, kernels.Polynomial) or kernel.coef0 < 0:
        return False
    return int(X.shape[0]) * maps.n_monomials(X.shape[1], kernel.degree) <= NUMBERS


def making_time(X: Any, kernel: kernels.Kernel, clock: Clock) -> float:
    """Seconds, roughly, that the features of samples take: they are made in one go."""
    n, d = X.shape
    if spelled_out(kernel, X):
        degree = kernel.degree if isinstance(kernel, kernels.Polynomial) else 1
        return clock.seconds(Kind.READING, 2 * n * maps.n_monomials(d, degree))
    return clock.seconds(Kind.PRODUCTS, TAKEN_APART * n**3 + n * n * d)


def feature_vectors(X: Any, kernel: kernels.Kernel, fit_intercept: bool = False) -> Features:
    """Vectors whose inner products are the values of the kernel, but for a stated error.

    X has been validated: an array or a canonical CSR matrix of floats.
    """
    if isinstance(kernel, kernels.Linear):
        return Features(_with_one(X) if fit_intercept else X, 0.0, 0.0)
    if spelled_out(kernel, X):
        assert isinstance(kernel, kernels.Polynomial)
        few = maps.n_monomials(X.shape[1], kernel.degree) <= max(WIDE, 2 * X.shape[0])
        if few or X.shape[0] > SAMPLES:
            return _from_map(X, kernel, fit_intercept)
    return from_values(X, kernel, fit_intercept)


def _from_map(X: Any, kernel: kernels.Polynomial, bias: bool) -> Features:
    with np.errstate(over="ignore", invalid="ignore"):
        vectors = maps.features(X, kernel.degree, kernel.gamma, kernel.coef0)
    squares = vectors**2 if isinstance(vectors, np.ndarray) else vectors.multiply(vectors)
    square = float(np.asarray(squares.sum(axis=1)).max())
    if not math.isfinite(square):
        msg = "the values of the kernel overflow: scale the features"
        raise ValueError(msg)
    rounding = (kernel.degree + 4) * U
    off, tolerance = rounding * math.sqrt(square), 2 * rounding * square
    return Features(_with_one(vectors) if bias else vectors, off, tolerance)


def _with_one(vectors: Any) -> Any:
    """The feature that a bias adds, last."""
    ones = np.ones((vectors.shape[0], 1))
    if isinstance(vectors, np.ndarray):
        return np.hstack([vectors, ones])
    return hstack([vectors, csr_array(ones)], format="csr")


def from_values(X: Any, kernel: kernels.Kernel, bias: bool) -> Features:
    """From ``K = LLᵀ``, the samples taken in the order that leaves least of the matrix [1]_.

    Equal samples have equal vectors. If ``‖K - LLᵀ‖ <= e``, the vectors can be turned so that each
    is within ``√e`` of its features: square roots of matrices differ by no more [2]_.

    References
    ----------
    .. [1] N. J. Higham, "Analysis of the Cholesky decomposition of a semi-definite matrix", 1990.
    .. [2] R. Bhatia, "Matrix Analysis", theorem X.1.1, 1997.
    """
    n = X.shape[0]
    if n > SAMPLES:
        msg = (
            f"X has {n} samples, but the values of this kernel are compared for up to {SAMPLES}: "
            "give fewer, for instance a random part"
        )
        raise ValueError(msg)
    first, group = distinct(X)
    if isinstance(X, np.ndarray):  # by their bytes, so that pivots do not depend on their order
        rows = np.ascontiguousarray(X[first] + 0.0)
        bytewise = np.argsort(rows.view(np.dtype((np.void, rows[0].nbytes))).ravel())
        first, group = first[bytewise], np.argsort(bytewise)[group]
    K, error = _gram(X, kernel, first)
    K += float(bias)
    c, order, rank, info = lapack.dpstrf(K, lower=1)
    assert info >= 0
    L = np.zeros((len(K), max(rank, 1)))  # a kernel may be zero everywhere
    L[order - 1, :rank] = np.tril(c)[:, :rank]
    left = K - L @ L.T
    largest = float(np.abs(K).max())
    tolerance = float(np.abs(left).max())
    if tolerance > INDEFINITE * largest:
        msg = (
            f"{named(kernel, bias)} has no feature space on these data: its matrix is not "
            "positive semi-definite (see rb.kernels.is_positive_semidefinite)"
        )
        raise IndefiniteKernelError(msg)
    off = math.sqrt(float(np.linalg.norm(left)) * (1 + 1e-9) + len(K) * (error + 8 * U * largest))
    return Features(np.ascontiguousarray(L[group]), off, tolerance, explicit=False)


def _gram(X: Any, kernel: kernels.Kernel, first: Ints) -> tuple[Floats, float]:
    """The kernel's values between the listed samples, and how far they can be off."""
    if isinstance(kernel, kernels.Precomputed):
        K = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        if K.shape[0] != K.shape[1] or np.abs(K - K.T).max() > INDEFINITE * np.abs(K).max():
            msg = f"X of shape {K.shape} is no symmetric matrix: give the values K(x_i, x_j)"
            raise ValueError(msg)
        return K[np.ix_(first, first)], 0.0
    X = X[first].astype(np.float64)
    K = kernel(X)
    if not np.isfinite(K).all():
        msg = "the values of the kernel overflow: scale the features"
        raise ValueError(msg)
    if isinstance(kernel, kernels.Function):
        return (K + K.T) / 2, float(np.abs(K - K.T).max())
    x2 = squared_norms(X)
    entries = X if isinstance(X, np.ndarray) else X.data
    terms = X.shape[1]
    known = Products(U, terms, x2, float(x2.max()), bool((entries >= 0).all()))
    rounding = kernel.rounding(known)
    most = np.abs(K).max(axis=1)
    return (K + K.T) / 2, float(np.max(rounding.relative * most + rounding.absolute))


def is_inner_product(kernel: kernels.Kernel) -> bool:
    """Whether a kernel is an inner product of features on any data."""
    if isinstance(kernel, kernels.Polynomial):
        return kernel.coef0 >= 0
    return isinstance(kernel, kernels.Linear | Radial)


def scores(
    kernel: kernels.Kernel, bias: bool, V: Any, coef: Floats, X: Any
) -> tuple[Floats, Floats]:
    """``Σ coef*K(v, x)`` for each row x, and how far rounding can have moved it."""
    moved = isinstance(kernel, Radial) and isinstance(X, np.ndarray)
    center = X.mean(axis=0) if moved else 0.0  # around the origin fewer digits cancel
    V, size = V - center if moved else V, np.abs(coef)
    entries = [part.data if hasattr(part, "tocsr") else part for part in (X, V)]
    plain = not moved and all(bool((part >= 0).all()) for part in entries)
    most = float(squared_norms(V).max(initial=0.0))
    values, off = np.empty(X.shape[0]), np.empty(X.shape[0])
    for a in range(0, X.shape[0], BLOCK):
        part = slice(a, a + BLOCK)
        rows = X[part] - center if moved else X[part]
        known = Products(U, X.shape[1] + 4, squared_norms(rows), most, plain)
        relative, absolute = kernel.rounding(known)
        with np.errstate(over="ignore", invalid="ignore"):
            K = kernels.Kernel.__call__(kernel, rows, V) + bias
            values[part] = K @ coef
            sums = (relative + (len(size) + 8) * U) * (np.abs(K) @ size)
            off[part] = 1.01 * (sums + absolute * size.sum())
    return values, off


class FeatureVectors(Vectors):
    """The signed vectors of `Features`: margins are rounded down by how far these are off."""

    def __init__(
        self,
        features: Features,
        labels: Labels,
        team: Team,
        positive: int = 1,
        clock: Clock | None = None,
        **weights: Any,
    ) -> None:
        rows = as_rows(features.vectors)
        m = features.vectors.shape[1]
        super().__init__(MemorySource(rows, labels, m, **weights), team, positive, 0.0, clock)
        self.off, self._rounding = features.off, self.slack
        self.slack += self.off / (super().radius() or 1.0)

    def radius(self) -> float:
        """``R``, rounded up."""
        return math.nextafter(super().radius() + self.off, math.inf)

    def margin(self, theta: Floats, R: float) -> float:
        """What the margin of θ on the features themselves is at least."""
        if not self.off:
            return super().margin(theta, R)
        norm = float(np.linalg.norm(theta))
        return float(self.values(theta).min()) / norm - self._rounding * R - self.off
