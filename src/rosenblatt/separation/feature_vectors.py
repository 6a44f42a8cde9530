"""Vectors that stand for the features of samples in the space of a kernel."""

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
from rosenblatt.kernels.functions import Products, squared_norms
from rosenblatt.kernels.gram_matrices import IndefiniteKernelError
from rosenblatt.nearest.signed_vectors import U, Vectors
from rosenblatt.running.clock import Kind
from rosenblatt.separation.kernel_vectors import is_inner_product

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.running.clock import Clock
    from rosenblatt.running.threads import Team

    Labels = NDArray[np.int32]

NUMBERS = 20_000_000  # of features written down, at most
SAMPLES = 4_000  # of which a matrix of kernel values is taken apart, at most
FEW = 300  # features that make a hyperplane among them quick to find
TAKEN_APART = 1.5  # products for each in n³ that taking a matrix apart takes
INDEFINITE = 1e-8  # what is left of a matrix, as a share of it, that rounding does not explain
OVERFLOW = "the values of the kernel overflow: scale the features"


class Features(NamedTuple):
    """Vectors that stand for the features of samples, dense or CSR."""

    vectors: Any
    off: float  # in the right coordinates, no vector is farther than this from its φ(x)
    tolerance: float  # the largest difference between inner products and the kernel's values
    explicit: bool = True  # the features written down, rather than made from these values


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
    if not isinstance(kernel, kernels.Polynomial):
        return isinstance(kernel, kernels.Linear)
    return kernel.coef0 >= 0 and X.shape[0] * n_features(kernel, X) <= NUMBERS


def n_features(kernel: kernels.Kernel, X: Any) -> int:
    """How many features a kernel has; of one without a map as many as there are samples."""
    if isinstance(kernel, kernels.Linear):
        return int(X.shape[1])
    if isinstance(kernel, kernels.Polynomial) and kernel.coef0 >= 0:
        return maps.n_monomials(X.shape[1], kernel.degree)
    return int(X.shape[0])


def by_values(kernel: kernels.Kernel, X: Any) -> bool:
    """Whether vectors of features are better known by the kernel's values than written down."""
    few = spelled_out(kernel, X) and n_features(kernel, X) <= FEW
    return is_inner_product(kernel) and not isinstance(kernel, kernels.Linear) and not few


def has_vectors(kernel: kernels.Kernel, X: Any) -> bool:
    """Whether vectors can be made that stand for the features."""
    return spelled_out(kernel, X) or int(X.shape[0]) <= SAMPLES


def too_many(kernel: kernels.Kernel, X: Any) -> bool:
    """Whether the samples are too many to see if a kernel is an inner product on them."""
    return int(X.shape[0]) > SAMPLES and not is_inner_product(kernel)


def making_time(X: Any, kernel: kernels.Kernel, clock: Clock) -> float:
    """Seconds, roughly, that the features of samples take: they are made in one go."""
    n, d = X.shape
    if spelled_out(kernel, X):
        return clock.seconds(Kind.READING, 2 * n * n_features(kernel, X))
    return clock.seconds(Kind.PRODUCTS, TAKEN_APART * n**3 + n * n * d)


def feature_vectors(X: Any, kernel: kernels.Kernel, fit_intercept: bool = False) -> Features:
    """Vectors whose inner products are the values of the kernel, but for a stated error.

    X has been validated: an array or a canonical CSR matrix of floats.
    """
    if isinstance(kernel, kernels.Linear):
        return Features(_with_one(X) if fit_intercept else X, 0.0, 0.0)
    if isinstance(kernel, kernels.Polynomial) and spelled_out(kernel, X):
        return _from_map(X, kernel, fit_intercept)
    return from_values(X, kernel, fit_intercept)


def _from_map(X: Any, kernel: kernels.Polynomial, bias: bool) -> Features:
    with np.errstate(over="ignore", invalid="ignore"):
        vectors = maps.features(X, kernel.degree, kernel.gamma, kernel.coef0)
    squares = vectors**2 if isinstance(vectors, np.ndarray) else vectors.multiply(vectors)
    square = float(np.asarray(squares.sum(axis=1)).max())
    if not math.isfinite(square):
        raise ValueError(OVERFLOW)
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
    if X.shape[0] > SAMPLES:
        msg = (
            f"X has {X.shape[0]} samples, but whether {named(kernel, bias)} is an inner product is "
            f"looked at for up to {SAMPLES}: give fewer, for instance a random part"
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
        raise ValueError(OVERFLOW)
    if isinstance(kernel, kernels.Function):
        return (K + K.T) / 2, float(np.abs(K - K.T).max())
    x2 = squared_norms(X)
    entries = X if isinstance(X, np.ndarray) else X.data
    known = Products(U, X.shape[1], x2, float(x2.max()), bool((entries >= 0).all()))
    rounding = kernel.rounding(known)
    most = np.abs(K).max(axis=1)
    return (K + K.T) / 2, float(np.max(rounding.relative * most + rounding.absolute))


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
        rows, m = as_rows(features.vectors), features.vectors.shape[1]
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
