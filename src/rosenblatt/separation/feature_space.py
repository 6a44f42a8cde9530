"""Separability in the feature space of a kernel, by vectors that stand for the features.

A kernel perceptron looks for a hyperplane through the origin of the space where ``φ(x)`` lives;
with a bias, in that of the kernel ``K + 1``. Among many samples it is looked for in kernel values
with a few of them (`kernel_vectors`, `dual_margin`): if it has room to spare, that proves it. For
the rest there are vectors. A polynomial kernel's features can be written down; of any other the
matrix of its values is taken apart, ``K = LLᵀ``: the rows of L have the inner products of the
``φ(x)``, up to rounding. The linear machinery is given these vectors; what holds with room to
spare for them holds for the features.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, vstack

from rosenblatt import kernels
from rosenblatt.contract.parameters import count_threads, time_limit
from rosenblatt.exact import margin_of
from rosenblatt.exact.blocks import Stack
from rosenblatt.kernels import maps
from rosenblatt.kernels.functions import Radial
from rosenblatt.nearest.signed_vectors import U
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
from rosenblatt.running.clock import Clock, Halt
from rosenblatt.running.threads import Team
from rosenblatt.separation.dual_margin import widest
from rosenblatt.separation.explaining import twins
from rosenblatt.separation.feature_vectors import (
    OVERFLOW,
    as_kernel,
    by_values,
    from_values,
    has_vectors,
    n_features,
    named,
    spelled_out,
)
from rosenblatt.separation.function import read_two_classes, separability
from rosenblatt.separation.kernel_vectors import KernelVectors, ValuesWith, is_inner_product

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.results import Certificate

    Labels = NDArray[np.int32]
    # The evidence, whether it is exact, otherwise the tolerance; and vectors and labels it is for.
    Answer = tuple[Certificate, bool, float | None, tuple[Any, Ints]]

WHOLE = 1_000_000  # numbers in vectors up to which the linear machinery is quick enough
PASSES = 6  # times what a margin takes, to check it
LEAST_TIME = 1e-9  # seconds that are left when none are
HIDDEN = "no margin was found that is wider than rounding"

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
        How far the inner products of `vectors` are from the kernel's values; None where none was
        rounded, or a proof has allowed for it.
    vectors, labels : array or CSR matrix, int array
        The question that the certificate answers. Where a hyperplane has to pass through the
        origin they are the signed vectors ``z = yφ(x)`` and, on the other side, the ``-z``. Where
        there is a `basis` they are its kernel values with each sample, ``K(x, s)`` or
        ``K(x, s) + 1``: a hyperplane ``Σ w_s K(x, s) = 0`` of these is one of feature space.
    seen : array, CSR matrix or blocks
        What `vectors` gives as a matrix: those of a basis are not made before they are asked for.
    basis : int array or None
        The samples that the hyperplane was found with.
    samples : int array
        Which samples these vectors are of: all, or two that are the same but for their classes.
        The verdict is then ``INSEPARABLE`` for these two, so that nothing separates all samples;
        whether a hyperplane could have the others on their sides is left open.
    n : int
        How many samples there are.
    """

    certificate: Certificate
    kernel: kernels.Kernel
    fit_intercept: bool
    exact: bool
    tolerance: float | None
    seen: Any
    labels: Ints
    n: int
    samples: Ints
    basis: Ints | None = None

    @property
    def vectors(self) -> Any:
        """What the certificate is about."""
        return self.seen.whole() if isinstance(self.seen, ValuesWith) else self.seen

    @property
    def verdict(self) -> Verdict:
        """That of the certificate, which may be about two samples alone: see `samples`."""
        return self.certificate.verdict

    @property
    def dimension(self) -> int:
        """How many numbers the vectors have."""
        return int(self.seen.shape[1])

    @property
    def separable(self) -> bool | None:
        """Whether a hyperplane separates the classes; None: that was not settled."""
        return None if self.verdict is Verdict.UNDECIDED else self.verdict is Verdict.SEPARABLE

    @property
    def support(self) -> Ints:
        """The samples whose features prove that nothing separates; empty if something does."""
        if isinstance(self.certificate, QuasiSeparable | Inseparable):
            return np.unique(self.samples[self.certificate.support % len(self.samples)])
        return np.empty(0, np.int64)

    def __str__(self) -> str:
        where = f"in the feature space of {named(self.kernel, self.fit_intercept)}"
        if isinstance(self.certificate, Undecided):
            return f"undecided {where}: {self.certificate.why}{self._otherwise}"
        what = "separable" if self.separable else "not separable"
        if self.exact:
            return f"{what} {where}: proved"
        sure = f"{what} {where}, as far as values with an error of {self.tolerance:.2g} can tell"
        return sure if self.separable else f"{sure}{self._otherwise}"

    @property
    def _otherwise(self) -> str:
        """What theory knows of samples of which no two are the same but for their classes."""
        if not isinstance(self.kernel, Radial):
            return ""
        return " (with exact numbers it is separable: different samples have independent features)"


def separability_in_features(
    X: Any, y: Any, kernel: Any, bias: bool, max_time: float | None
) -> FeatureVerdict:
    """`separability` with a kernel; X is the matrix of its values for a precomputed one.

    Two samples that are the same but for their classes settle it. Of small data the linear
    machinery finds out more, whether a hyperplane has the others on their sides; of large data
    that is not asked.
    """
    kernel, clock = as_kernel(kernel), Clock(time_limit(max_time))
    X, labels = read_two_classes(X, y)
    n, about = X.shape[0], (kernel, bias)
    equal = twins(X, 2 * labels - 1).pairs  # no features tell them apart
    certain = bool(equal) and is_inner_product(kernel)
    if by_values(kernel, X) and n * n_features(kernel, X) > WHOLE:
        if certain:
            return _of_pair(X, labels, equal[0], *about)
        found = _of_working_set(X, labels, *about, clock)
        if found.exact or clock.left() <= 0 or not has_vectors(kernel, X):
            return found
    ask = _of_monomials if spelled_out(kernel, X) else _of_values
    left = None if max_time is None else max(clock.left(), LEAST_TIME)
    evidence, exact, tolerance, problem = ask(X, labels, *about, left)
    if isinstance(evidence, Undecided) and certain:
        return _of_pair(X, labels, equal[0], *about)
    exact = (exact or bool(equal)) and not isinstance(evidence, Undecided)
    return FeatureVerdict(evidence, *about, exact, tolerance, *problem, n, np.arange(n))


def _of_pair(
    X: Any, labels: Labels, pair: tuple[int, int], kernel: kernels.Kernel, bias: bool
) -> FeatureVerdict:
    """That two samples are the same, whatever their features are."""
    rows = np.array(sorted(pair))
    problem = X[rows], labels[rows].astype(np.int64)
    return FeatureVerdict(
        separability(*problem), kernel, bias, True, None, *problem, X.shape[0], rows
    )


def _of_working_set(
    X: Any, labels: Labels, kernel: kernels.Kernel, bias: bool, clock: Clock
) -> FeatureVerdict:
    """From kernel values with a few samples; undecided where they do not prove a separation."""
    n, y = X.shape[0], np.where(labels > 0, 1.0, -1.0)
    found: Certificate = Undecided((-np.inf, np.inf), Undecided.TIME)
    with Team(count_threads(None)) as team:
        z = KernelVectors(X, y, kernel, float(bias), team, clock)
        seen = ValuesWith(z.sums, np.empty(0, np.int64), labels)
        R = z.radius()
        if not math.isfinite(R):
            raise ValueError(OVERFLOW)
        with suppress(Halt):
            theta, _, high = widest(z, R, first=True)
            seen, began = ValuesWith(z.sums, np.flatnonzero(theta), labels), time.perf_counter()
            found = hidden = Undecided((z.margin(theta, R), high), HIDDEN)
            if hidden.bracket[0] > 0:
                found = replace(hidden, why=Undecided.TIME)
                clock.afford(PASSES * (time.perf_counter() - began))
                found = _separated(seen, theta[seen.basis] * y[seen.basis], y) or hidden
    proved, whole = isinstance(found, Separable), (labels.astype(np.int64), n, np.arange(n))
    return FeatureVerdict(found, kernel, bias, proved, None, seen, *whole, seen.basis)


def _separated(seen: ValuesWith, w: Floats, y: Floats) -> Separable | None:
    """That ``Σ w_s K(x, s)`` separates the classes, if a check confirms it."""
    margin = margin_of(Stack(seen.shape, seen.blocks), y, [*w.tolist(), 0.0])
    found = Separable(Hyperplane(w, 0.0), margin)
    return found if check(found, seen).valid else None


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
    exact = made.exact or _with_room(found, *problem, degree)
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
    exact = False
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
