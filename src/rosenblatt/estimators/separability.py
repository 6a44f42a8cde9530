"""`separability`: the verdict on two classes, with evidence that has been checked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets

from rosenblatt.certificates import Separable, Undecided
from rosenblatt.certify import check
from rosenblatt.estimators._base import LAYOUT
from rosenblatt.estimators._validation import (
    canonical,
    count_threads,
    number_classes,
    refuse_long_integers,
    shown,
    time_limit,
)
from rosenblatt.rows import as_rows
from rosenblatt.solvers.evidence import BEYOND_FLOATS
from rosenblatt.solvers.separability import find_certificate
from rosenblatt.solvers.threads import Team
from rosenblatt.sources import MemorySource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.certificates import Certificate


def separability(X: Any, y: Any, *, max_time: float | None = None) -> Certificate:
    """Whether a hyperplane separates the two classes, proved.

    Floats are rational numbers, and the verdict is exact for them: every certificate has been
    checked by `rosenblatt.certify.check` before it is returned.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The samples. A C-ordered float array or a CSR matrix is not copied.
    y : array of shape (n,)
        Labels of two classes; the second in sorted order is +1.
    max_time : float, optional
        Seconds after which the answer is `Undecided`. By default there is no limit.

    Returns
    -------
    Separable, QuasiSeparable, Inseparable or Undecided

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> xor = rb.separability(X, [0, 0, 1, 1])
    >>> xor.verdict, xor.support, xor.point
    (Verdict.INSEPARABLE, array([0, 1, 2, 3]), array([0.5, 0.5]))
    """
    time_limit(max_time)
    X, labels = read_two_classes(X, y)
    source = MemorySource(as_rows(X), labels, X.shape[1])
    with Team(count_threads(None)) as team:
        return proved(source, team, X, labels, max_time)


def proved(
    source: MemorySource, team: Team, X: Any, labels: NDArray[np.int32], max_time: float | None
) -> Certificate:
    """The verdict on data that have been validated, and checked evidence for it."""
    began = time.perf_counter()
    for exactly in (False, True):
        left = None
        if max_time is not None:
            left = max(0.0, max_time - (time.perf_counter() - began))
        certificate = find_certificate(source, team, 1, left, exactly=exactly)
        if isinstance(certificate, Undecided):
            return certificate
        result = check(certificate, X, labels)
        if result.valid:
            return certificate
    if _beyond_floats(certificate):
        raise ValueError(BEYOND_FLOATS)
    msg = f"the certificate found does not hold, which is a fault of this program: {result.why}"
    raise RuntimeError(msg)


def _beyond_floats(certificate: Certificate) -> bool:
    """Whether weights have lost digits because floats end."""
    if isinstance(certificate, Separable | Undecided):
        return False
    weights = np.concatenate([certificate.weights, certificate.spanning_weights])
    return not bool(((weights > 1e-290) & (weights < 1e290)).all())


def read_two_classes(X: Any, y: Any) -> tuple[Any, NDArray[np.int32]]:
    """Samples as a C-ordered array or canonical CSR matrix, and labels 0 and 1, validated."""
    given = X
    X, y = check_X_y(X, y, **LAYOUT)
    refuse_long_integers(given)
    check_classification_targets(y)
    X = canonical(X)
    classes, labels = number_classes(y)
    if len(classes) > 2:
        msg = (
            f"y holds {len(classes)} classes ({shown(classes)}): give two, "
            "for instance y == one of them for this class against the rest"
        )
        raise ValueError(msg)
    return X, labels
