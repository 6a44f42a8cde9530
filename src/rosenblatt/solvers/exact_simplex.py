"""Do vectors of whole numbers lie strictly on one side of the origin? Decided without rounding.

The last resort where floating point cannot settle it: slow, but it always ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def decide(
    vectors: Sequence[Sequence[int]], look_up: Callable[[], None]
) -> tuple[list[int], None] | tuple[None, list[int]]:
    """``(θ, None)`` with ``v·θ > 0`` for all vectors, or ``(None, support)``.

    The support lists vectors, as few as possible, that cancel with positive weights: exactly one
    of the two exists (Gordan).

    The first phase of the simplex method for ``Σ λ_i v_i = 0, Σ λ_i = 1, λ >= 0`` on a tableau
    of whole numbers over one denominator, which divides every pivot step without remainder
    [1]_. Bland's rule keeps it from going round in circles [2]_.

    References
    ----------
    .. [1] J. Edmonds and J.-F. Maurras, "Note sur les Q-matrices d'Edmonds", RAIRO 31(2), 1997.
    .. [2] R. G. Bland, "New finite pivoting rules for the simplex method", Mathematics of
       Operations Research 2(2), 1977.
    """
    V = np.array([[int(v) for v in vector] for vector in vectors], dtype=object)
    m, D = V.shape
    # Columns: the vectors, the artificial variables, the right side. Last row: reduced costs.
    tableau: Any = np.zeros((D + 2, m + D + 2), dtype=object)
    tableau[:D, :m] = V.T
    tableau[D, :m] = 1
    for i in range(D + 1):
        tableau[i, m + i] = 1
    tableau[D, -1] = 1
    tableau[-1] = -tableau[:-1].sum(axis=0)
    tableau[-1, m:-1] = 0
    basis = [m + i for i in range(D + 1)]
    denominator = 1
    while True:
        look_up()
        entering = next((j for j in range(m) if tableau[-1, j] < 0), None)
        if entering is None or tableau[-1, -1] == 0:
            break
        leaving = _leaving(tableau, entering, basis)
        pivot, row = tableau[leaving, entering], tableau[leaving].copy()
        tableau = (tableau * pivot - np.outer(tableau[:, entering], row)) // denominator
        tableau[leaving] = row
        basis[leaving], denominator = entering, pivot
    if tableau[-1, -1] == 0:
        return None, sorted(j for i, j in enumerate(basis) if j < m and tableau[i, -1] > 0)
    # The costs of the artificial variables are 1 - multiplier: minus the multipliers separate.
    return [int(tableau[-1, m + i] - denominator) for i in range(D)], None


def _leaving(tableau: Any, entering: int, basis: list[int]) -> int:
    """The row with the smallest ratio; of several the one with the lowest variable."""
    best = -1
    for i in range(len(basis)):
        if tableau[i, entering] > 0:
            if best < 0:
                best = i
                continue
            one = tableau[i, -1] * tableau[best, entering]
            other = tableau[best, -1] * tableau[i, entering]
            if one < other or (one == other and basis[i] < basis[best]):
                best = i
    return best
