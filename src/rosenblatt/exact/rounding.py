"""Solutions of linear systems in floats, every number rounded once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.enclosure import enclosed_floats
from rosenblatt.exact.systems import solve

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def nearest_solution(A: ArrayLike, b: Any) -> Floats | None:
    """The floats nearest to the exact solution of ``A x = b``.

    An enclosure in twice the precision tells them at the cost of an inverse; where it does not,
    rational numbers do.

    Parameters
    ----------
    A : float array of shape (D, k)
        Of full column rank; more equations than unknowns are fine.
    b : float array of shape (D,), or a sequence of D ints or Fractions

    Returns
    -------
    float array of shape (k,), or None
        None if no x satisfies all equations. Infinite, or 0, where a number is beyond the floats.

    Raises
    ------
    ValueError
        If the columns of A are linearly dependent.
    """
    A = np.asarray(A, dtype=np.float64)
    if A.shape[0] == A.shape[1] and isinstance(b, np.ndarray):
        floats = enclosed_floats(A, b)
        if floats is not None:
            return floats
    found = solve(A, b)
    return None if found is None else found.floats()
