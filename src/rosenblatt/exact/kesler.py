"""Kesler's construction: several classes as one problem about one vector.

Class k has the vector ``θ_k = (w_k, b_k)``, and ``Θ = (θ_0, θ_1, ...)`` is all of them in a row.
That a sample x̃ = (x, 1) of class `own` has a higher value there than in class `rival`,
``θ_own·x̃ > θ_rival·x̃``, says ``Θ·z > 0`` for the vector z that has x̃ in the place of `own`, -x̃
in the place of `rival`, and zeros elsewhere. (N. J. Nilsson, "Learning Machines", 1965.) Nothing
is rounded in this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, hstack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Ints


def rivals(label: NDArray[Any], n_classes: int) -> Ints:
    """The rivals of each sample, in ascending order: all classes but its own."""
    others = np.arange(n_classes - 1)
    found: Ints = others + (others >= label[:, np.newaxis])
    return found


def pairs_of(rows: Ints, label: NDArray[Any], n_classes: int) -> Ints:
    """The sample and the rival that each of some of Kesler's vectors is about."""
    sample, place = np.divmod(rows, n_classes - 1)
    pairs: Ints = np.column_stack([sample, place + (place >= label[sample])])
    return pairs


def kesler_vectors(
    X: Any, label: NDArray[Any], n_classes: int, *, bias: bool = True, first: int = 0
) -> csr_array:
    """The vectors of all pairs of a sample and a rival, one sample after the other.

    X is an array or a CSR matrix without duplicate entries. With ``first=1`` the first class has no
    place: what Θ does to values depends on differences alone, so its vector may be zero.
    """
    n, d = X.shape
    A = csr_array(X)
    if bias:
        A = hstack([A, np.ones((n, 1))], format="csr")
    row = np.repeat(np.arange(n), 2 * (n_classes - 1))
    own = np.repeat(label.astype(np.int64), n_classes - 1)
    rival = rivals(label, n_classes).ravel()
    place = np.column_stack([np.minimum(own, rival), np.maximum(own, rival)]).ravel()
    sign = np.where(place == np.repeat(own, 2), 1.0, -1.0)
    length = np.where(place >= first, np.diff(A.indptr)[row], 0)
    ends = np.cumsum(length)
    at = np.arange(ends[-1]) + np.repeat(A.indptr[row] - (ends - length), length)
    data = A.data[at] * np.repeat(sign, length)
    columns = A.indices[at] + np.repeat((place - first) * (d + 1), length)
    shape = n * (n_classes - 1), (n_classes - first) * (d + 1)
    return csr_array((data, columns, np.append(0, ends[1::2])), shape=shape)
