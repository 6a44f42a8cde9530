"""Separability in the feature space of a kernel.

A kernel perceptron looks for a hyperplane through the origin of the space where ``φ(x)`` lives;
with a bias, in that of the kernel ``K + 1``. The linear machinery is given vectors that stand for
the features; what holds with room to spare for them holds for the features themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, vstack

from rosenblatt import kernels
from rosenblatt.certify import check
from rosenblatt.contract.parameters import time_limit, yes_or_no
from rosenblatt.data.identical import distinct
from rosenblatt.kernels import maps
from rosenblatt.kernels.functions import Radial
from rosenblatt.nearest.signed_vectors import U
from rosenblatt.results import (
    Hyperplane,
    Inseparable,
    QuasiSeparable,
    Separable,
    Undecided,
    Verdict,
)
from rosenblatt.separation.feature_vectors import (
    as_kernel,
    from_values,
    named,
    spelled_out,
)
from rosenblatt.separation.function import read_two_classes, separability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.results import Certificate

    Labels = NDArray[np.int32]
    # The evidence, whether it is exact, otherwise the tolerance; and vectors and labels it is for.
    Answer = tuple[Certificate, bool, float | None, tuple[Any, Ints]]


@dataclass(frozen=True, eq=False)
class FeatureVerdict:
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
    X: Any, y: Any, kernel: Any, *, fit_intercept: bool = False, max_time: float | None = None
) -> FeatureVerdict:
    """Whether a hyperplane separates two classes in the feature space of a kernel.

    For the linear and the polynomial kernel the verdict is exact wherever the products of the
    numbers in X are (whole numbers of moderate size, for instance), or where there is room to
    spare. For other kernels it is about the matrix of their values, and a tolerance is stated.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The samples; the matrix of kernel values for ``rb.kernels.Precomputed()``.
    y : array of shape (n,)
        Labels of two classes; the second in sorted order is +1.
    kernel : rb.kernels object or callable
    fit_intercept : bool
        Whether the hyperplane may have a bias: the kernel is then ``K + 1``. Otherwise it passes
        through the origin, as that of a kernel perceptron without a bias.
    max_time : float, optional
        Seconds after which the answer is undecided. By default there is no limit.
    """
    kernel, bias = as_kernel(kernel), yes_or_no("fit_intercept", fit_intercept)
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
    exact = made.exact or _in_both_classes(X, labels) or _with_room(found, *problem, degree)
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


def _in_both_classes(X: Any, labels: Labels) -> bool:
    """Whether equal samples have different labels: then no kernel's features tell them apart."""
    _, group = distinct(X)
    pairs = np.unique(np.column_stack([group, labels]), axis=0)
    return len(pairs) > int(group.max()) + 1


def _of_values(
    X: Any, labels: Labels, kernel: kernels.Kernel, bias: bool, max_time: float | None
) -> Answer:
    """From vectors made of the kernel's values."""
    features = from_values(X, kernel, bias)
    vectors, _ = problem = _halves(features.vectors, labels)
    found: Certificate | None = _where_independent(features.vectors, labels)
    if found is None or not check(found, *problem).valid:
        found = separability(*problem, max_time=max_time)
    exact = _in_both_classes(X, labels)
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
