"""Kernels known by their values alone, and whether such values can come from inner products."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import brief, number
from rosenblatt.kernels.functions import Kernel, sample_matrix, sample_pair
from rosenblatt.matrices import matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rosenblatt.array_types import Floats


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The values themselves are the data: row i of X holds ``K(x_i, x_j)`` for all training j."""

    name = "precomputed"
    needs_features = False

    @property
    def formula(self) -> str:
        """The kernel in symbols."""
        return "given as a matrix"

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """The matrix as it is."""
        values: Floats = _dense(sample_matrix(X))
        return values

    def diagonal(self, X: Any) -> Floats:
        """The diagonal of the matrix."""
        return np.diagonal(_dense(sample_matrix(X))).copy()

    def keeps_integers(self) -> bool:
        """Whole numbers are taken as they are."""
        return True


@dataclass(frozen=True)
class Function(Kernel):
    """Any function of two vectors that gives a number, or of two matrices that gives a matrix.

    Which of the two it is, is found by a call with two and three rows. It has to be symmetric,
    and to give a pair of samples the same value in every call.
    """

    function: Any

    name = "function"
    needs_features = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            msg = f"kernel={brief(self.function)} cannot be called: give a function of two vectors"
            raise ValueError(msg)

    @property
    def formula(self) -> str:
        """The name of the function."""
        function = getattr(self.function, "func", self.function)  # of functools.partial
        return f"{getattr(function, '__name__', 'function')}(x, y)"

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """The function for every row of X with every row of Y (None: of X)."""
        X, Y = sample_pair(X, Y)
        Y = X if Y is None else Y
        if not X.shape[0] * Y.shape[0]:
            return np.empty((X.shape[0], Y.shape[0]))
        if self._takes_matrices(X, Y):
            values = plain_values(self.function(X, Y))
        else:
            rows, columns = _dense(X), _dense(Y)
            made = [[plain_values(self.function(x, y)) for y in columns] for x in rows]
            values = np.array(made, np.float64)
        if values.shape != (X.shape[0], Y.shape[0]) or not np.isfinite(values).all():
            finite = not values.size or np.isfinite(values).all()
            what = f"values of shape {values.shape}" if finite else "values that are not finite"
            msg = (
                f"the kernel {self.formula} gave {what}: give a function of two vectors with a "
                "finite number as its value, or of two matrices with a matrix of them"
            )
            raise ValueError(msg)
        return values

    def _takes_matrices(self, X: Any, Y: Any) -> bool:
        """Whether two rows with three give a 2 x 3 matrix."""
        few = 3 if X.shape[1] != 3 else 4  # so that they are no factors of a matrix product
        try:
            values = plain_values(self.function(X[np.zeros(2, np.intp)], Y[np.zeros(few, np.intp)]))
        except Exception:  # whatever a function of two vectors says to matrices
            return False
        return values.shape == (2, few)

    def diagonal(self, X: Any) -> Floats:
        """``K(x, x)`` for every row of X."""
        X = matrix("X", X)
        return np.array([self(X[i : i + 1])[0, 0] for i in range(X.shape[0])])


@dataclass(frozen=True, eq=False)
class Definiteness:
    """Whether a Gram matrix is positive semi-definite; true or false where a truth is asked for.

    Attributes
    ----------
    holds : bool
        False: a vector `witness` proves that it is not. True: no such vector was found, which is
        as much as a matrix can say: Mercer's condition asks for every set of samples there is.
    smallest : float
        ``v·Kv/v·v`` for the vector v of the smallest eigenvalue.
    tol : float
        What it was compared with: a matrix is refuted below ``-tol``.
    witness : array or None
        ``v`` with ``v·Kv < 0``, rounding taken into account.
    """

    holds: bool
    smallest: float
    tol: float
    witness: Floats | None

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.holds:
            return (
                f"not refuted: the smallest eigenvalue is {self.smallest:.3g}, not below "
                f"-{self.tol:.3g} (a Gram matrix can refute Mercer's condition, never prove it)"
            )
        return f"refuted: v·Kv/v·v = {self.smallest:.3g} < 0 for the witness v"


class IndefiniteKernelError(ValueError):
    """A kernel has no feature space on these data: its matrix is not positive semi-definite."""


class IndefiniteKernelWarning(UserWarning):
    """Samples of the data refute that a kernel is an inner product.

    Attributes
    ----------
    formula : str
        The kernel.
    n_samples : int
        How many samples were looked at.
    eigenvalue : float
        The smallest of their Gram matrix, below zero.
    """

    def __init__(self, formula: str, n_samples: int, eigenvalue: float) -> None:
        super().__init__(formula, n_samples, eigenvalue)
        self.formula, self.n_samples, self.eigenvalue = formula, n_samples, eigenvalue

    def __str__(self) -> str:
        return self.told("kernel='rbf' or 'poly'")

    def told(self, remedy: str) -> str:
        """What was found, and what to use instead."""
        return (
            f"the kernel {self.formula} is not an inner product: on {self.n_samples} of these "
            f"samples its Gram matrix has the eigenvalue {self.eigenvalue:.3g}, so neither the "
            f"mistake bound nor convergence is promised. {remedy} has both"
        )


def is_positive_semidefinite(K: ArrayLike, tol: float | None = None) -> Definiteness:
    """Whether a Gram matrix can come from inner products: ``v·Kv >= 0`` for all v.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel values of n samples with each other: symmetric.
    tol : float, optional
        How far below zero an eigenvalue may lie, in units of the largest; None: ``n*2⁻⁵²``.

    Returns
    -------
    Definiteness
        It counts as true or false. If false it holds a witness.

    Examples
    --------
    >>> import numpy as np
    >>> found = is_positive_semidefinite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    >>> bool(found), round(found.smallest, 3)
    (False, -1.0)
    """
    given = matrix("K", K, "give the square matrix of the kernel's values")
    K = np.asarray(_dense(given), np.float64)
    if K.shape[0] != K.shape[1] or not K.size:
        msg = f"K has shape {K.shape}: give the square matrix of the kernel's values"
        raise ValueError(msg)
    if not np.isfinite(K).all():
        msg = "K holds values that are not finite: give finite numbers"
        raise ValueError(msg)
    scale = float(np.abs(K).max()) or 1.0
    if np.abs(K - K.T).max() > 1e-8 * scale:
        msg = "K is not symmetric: a kernel's values are the same in both orders"
        raise ValueError(msg)
    if tol is not None:
        wanted = "give a number >= 0, or None for n*2^-52"
        tol = number("tol", tol, lambda x: 0 <= x < math.inf, wanted)
    M = (K / scale + K.T / scale) / 2
    values, vectors = np.linalg.eigh(M)
    least = (len(K) * 2.0**-52 if tol is None else float(tol)) * float(np.abs(values).max())
    v = vectors[:, 0]
    smallest = float(v @ M @ v / (v @ v))
    # The form's own rounding: a sum of n² products is off by 2n units of its size.
    error = 2 * (len(K) + 4) * 2.0**-53 * float(np.abs(v) @ np.abs(M) @ np.abs(v) / (v @ v))
    refuted = smallest < -least and smallest + error < 0
    return Definiteness(not refuted, smallest * scale, least * scale, v if refuted else None)


def plain_values(values: Any) -> Floats:
    """Values of a kernel as a dense array of numbers."""
    values = _dense(values)
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        msg = (
            f"values of a kernel are numbers, but here is {str(values)[:20]!r}: give a function "
            "of two vectors with a finite number as its value, or of two matrices with a matrix"
        )
        raise ValueError(msg) from None


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X
