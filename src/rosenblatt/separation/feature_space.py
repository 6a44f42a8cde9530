"""Separability in the feature space of a kernel, by vectors that stand for the features.

A kernel perceptron looks for a hyperplane through the origin of the space where ``φ(x)`` lives;
with a bias, in that of the kernel ``K + 1``. A polynomial kernel's features can be written down;
of any other the matrix of its values is taken apart, ``K = LLᵀ``: the rows of L have the inner
products of the ``φ(x)``, up to rounding. The linear machinery is given these vectors; what holds
with room to spare for them holds for the features.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csr_array, hstack, vstack

from rosenblatt import kernels
from rosenblatt.arguments import brief
from rosenblatt.contract.parameters import time_limit
from rosenblatt.data.identical import distinct
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.kernels import maps
from rosenblatt.kernels.functions import Products, Radial, squared_norms
from rosenblatt.kernels.gram_matrices import IndefiniteKernelError
from rosenblatt.nearest.signed_vectors import U, Vectors
from rosenblatt.proofs import check
from rosenblatt.results import (
    Hyperplane,
    Inseparable,
    QuasiSeparable,
    Separable,
    Undecided,
    Verdict,
)
from rosenblatt.results.words import Shown
from rosenblatt.running.clock import Kind
from rosenblatt.separation.explaining import twins
from rosenblatt.separation.function import read_two_classes, separability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.results import Certificate
    from rosenblatt.running.clock import Clock
    from rosenblatt.running.threads import Team

    Labels = NDArray[np.int32]
    # The evidence, whether it is exact, otherwise the tolerance; and vectors and labels it is for.
    Answer = tuple[Certificate, bool, float | None, tuple[Any, Ints]]

NUMBERS = 20_000_000  # of features written down, at most
SAMPLES = 4_000  # of which a matrix of kernel values is taken apart, at most
WIDE = 2_000  # features that make a matrix of their own products no burden
TAKEN_APART = 1.5  # products for each in n³ that taking a matrix apart takes
INDEFINITE = 1e-8  # what is left of a matrix, as a share of it, that rounding does not explain
OVERFLOW = "the values of the kernel overflow: scale the features"

# Verdicts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class FeatureVerdict(Shown):
    """Whether a hyperplane separates two classes in the feature space of a kernel.

    Attributes
    ----------
    certificate : Separable, QuasiSeparable, Inseparable or Undecided
        The evidence, for `vectors` and `labels`: `rosenblatt.certify.check` accepts the three.
    kernel : kernel object
    fit_intercept : bool
        Whether the hyperplane may have a bias, so that the kernel is ``K + 1``.
    exact : bool
        Whether it is proved that some hyperplane separates the classes, or that none does.
        Otherwise this holds for `vectors`, which are off by rounding.
    tolerance : float or None
        How far the inner products of `vectors` are from the kernel's values; None where the
        vectors are monomials and no product was rounded.
    vectors, labels : array or CSR matrix, int array
        The question that the certificate answers. Where a hyperplane has to pass through the
        origin they are the signed vectors ``z = yφ(x)`` and, on the other side, the ``-z``.
    n : int
        How many samples there are.
    """

    certificate: Certificate
    kernel: kernels.Kernel
    fit_intercept: bool
    exact: bool
    tolerance: float | None
    vectors: Any
    labels: Ints
    n: int

    @property
    def verdict(self) -> Verdict:
        """That of the certificate."""
        return self.certificate.verdict

    @property
    def dimension(self) -> int:
        """How many numbers the vectors have."""
        return int(self.vectors.shape[1])

    @property
    def separable(self) -> bool | None:
        """Whether a hyperplane separates the classes; None: that was not settled."""
        return None if self.verdict is Verdict.UNDECIDED else self.verdict is Verdict.SEPARABLE

    @property
    def support(self) -> Ints:
        """The samples whose features prove that nothing separates; empty if something does."""
        if isinstance(self.certificate, QuasiSeparable | Inseparable):
            return np.unique(self.certificate.support % self.n)
        return np.empty(0, np.int64)

    def __str__(self) -> str:
        where = f"in the feature space of {named(self.kernel, self.fit_intercept)}"
        if self.separable is None:
            return f"undecided {where}: {self.verdict.value}"
        what = "separable" if self.separable else "not separable"
        if self.exact:
            return f"{what} {where}: proved"
        sure = f"{what} {where}, as far as values with an error of {self.tolerance:.2g} can tell"
        if not self.separable and isinstance(self.kernel, Radial):
            sure += " (with exact numbers it is: different samples have independent features)"
        return sure


def separability_in_features(
    X: Any, y: Any, kernel: Any, bias: bool, max_time: float | None
) -> FeatureVerdict:
    """`separability` with a kernel; X is the matrix of its values for a precomputed one."""
    kernel = as_kernel(kernel)
    time_limit(max_time)
    X, labels = read_two_classes(X, y)
    ask = _of_monomials if spelled_out(kernel, X) else _of_values
    found, exact, tolerance, problem = ask(X, labels, kernel, bias, max_time)
    exact = exact and not isinstance(found, Undecided)
    return FeatureVerdict(found, kernel, bias, exact, tolerance, *problem, X.shape[0])


def _of_monomials(
    X: Any, labels: Labels, kernel: kernels.Kernel, bias: bool, max_time: float | None
) -> Answer:
    """From the features written down."""
    degree, constant = 1, bias
    made = maps.Monomials(X, True)
    if isinstance(kernel, kernels.Polynomial):
        degree, constant = kernel.degree, bias or kernel.coef0 > 0
        with np.errstate(over="ignore", invalid="ignore"):
            # The constant feature is the bias, so that it need not be there.
            made = maps.monomials(X, degree, 1 if kernel.coef0 else degree)
    values = made.values if isinstance(made.values, np.ndarray) else made.values.data
    if not np.isfinite(values).all():
        msg = f"the products of {degree} features overflow: scale the features"
        raise ValueError(msg)
    problem = (made.values, labels.astype(np.int64)) if constant else _halves(made.values, labels)
    found = separability(*problem, max_time=max_time)
    equal = twins(X, 2 * labels - 1).pairs  # no features tell them apart
    exact = made.exact or bool(equal) or _with_room(found, *problem, degree)
    off = None if made.exact else (degree - 1) * U * float((values**2).max(initial=0.0))
    return found, exact, off, problem


def _halves(vectors: Any, labels: Labels) -> tuple[Any, Ints]:
    """``z = yφ(x)`` and ``-z``: what a hyperplane separates if one through the origin has all z."""
    y = np.where(labels > 0, 1.0, -1.0)
    if isinstance(vectors, np.ndarray):
        z = vectors.astype(np.float64) * y[:, np.newaxis]
        whole: Any = np.vstack([z, -z])
    else:
        z = csr_array(vectors, copy=True).astype(np.float64)
        z.data *= np.repeat(y, np.diff(z.indptr))
        whole = vstack([z, -z], format="csr")
    return whole, np.repeat(np.array([1, 0]), len(labels))


def _with_room(found: Certificate, vectors: Any, labels: Ints, degree: int) -> bool:
    """Whether a hyperplane separates by more than the rounding of monomials can matter."""
    if not isinstance(found, Separable):
        return False
    w, b = found.hyperplane.w, found.hyperplane.b
    values = np.where(labels > 0, 1.0, -1.0) * (vectors @ w + b)
    sizes = abs(vectors) @ abs(w) + abs(b)
    return bool((values > 2 * (degree + len(w) + 4) * U * sizes).all())


def _of_values(
    X: Any, labels: Labels, kernel: kernels.Kernel, bias: bool, max_time: float | None
) -> Answer:
    """From vectors made of the kernel's values."""
    features = from_values(X, kernel, bias)
    vectors, _ = problem = _halves(features.vectors, labels)
    found: Certificate | None = _where_independent(features.vectors, labels)
    if found is None or not check(found, *problem).valid:
        found = separability(*problem, max_time=max_time)
    exact = bool(twins(X, 2 * labels - 1).pairs)  # no features tell them apart
    if isinstance(found, Separable):
        w = found.hyperplane.w
        room = 4 * (len(w) + 8) * U * float(np.linalg.norm(vectors, axis=1).max())
        least = float((vectors[: len(labels)] @ w).min()) / float(np.linalg.norm(w))
        exact = least > features.off + room
    return found, exact, features.tolerance, problem


def _where_independent(L: Floats, labels: Labels) -> Separable | None:
    """A hyperplane with the values +1 and -1, if the vectors are independent."""
    if L.shape[0] != L.shape[1]:
        return None
    y = np.where(labels > 0, 1.0, -1.0)
    w: Floats = np.linalg.solve(L, y).astype(np.float64)
    margin = float((y * (L @ w)).min() / np.linalg.norm(w))
    return Separable(Hyperplane(w, 0.0), margin) if margin > 0 else None


# Vectors ----------------------------------------------------------------------------------------


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
    numbers = int(X.shape[0]) * maps.n_monomials(X.shape[1], kernel.degree)
    return kernel.coef0 >= 0 and numbers <= NUMBERS


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
    if isinstance(kernel, kernels.Polynomial) and spelled_out(kernel, X):
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
