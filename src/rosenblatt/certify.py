"""Certificates tested again from the data alone.

`check` trusts nobody, and takes whatever `rosenblatt.separability` does: arrays, tables, and for
several classes a certificate of each; and samples in blocks. `conditions` says in plain floating
point how nearly a best hyperplane is the best.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt import proofs
from rosenblatt.arguments import real_labels
from rosenblatt.cluster.engine import is_of_dask, released
from rosenblatt.cluster.opened import is_on_cluster
from rosenblatt.contract.classifier import labels_of
from rosenblatt.contract.clustered import read_clustered, refuse_clustered
from rosenblatt.contract.parameters import count_threads
from rosenblatt.contract.samples import class_numbers
from rosenblatt.data.opened import OpenedSource
from rosenblatt.data.sources import labelled
from rosenblatt.proofs import exact_weights
from rosenblatt.results import CheckResult, CheckResults, Conditions
from rosenblatt.running.threads import Team, blas_threads_for
from rosenblatt.tables.samples import Samples

__all__ = ["CheckResult", "CheckResults", "Conditions", "check", "conditions", "exact_weights"]


def check(
    certificate: Any, X: Any, y: Any = None, sample_weight: Any = None
) -> CheckResult | CheckResults:
    """Whether a certificate proves its verdict on these data; trusts nobody.

    Signs are exact, weights are compared with the exact ones, and rank and span are proved. Of a
    best hyperplane it is proved how much better another one could be at most.

    Parameters
    ----------
    certificate : Separable, QuasiSeparable, Inseparable, Undecided, JointCertificate or Optimum
        Undecided proves nothing. Of several classes a tuple with one for each, in the order of the
        classes: what `rosenblatt.separability` gives, or the `certificate_` of a model.
    X : array of shape (n, d), sparse matrix or table; an opened source; or blocks of samples
        Finite numbers, or a table that is encoded anew, as `rosenblatt.separability` does. Blocks
        are pairs ``(X, y)`` in a list, or in anything else that can be gone through again and
        again; one of them at a time is held.
    y : array of n labels
        Two classes, or those of a JointCertificate or of a tuple; None with blocks, which have
        their own.
    sample_weight : array of n numbers from 0 on, or None
        For an Optimum those that it was found with; None: all 1. Verdicts know no weights.

    Returns
    -------
    CheckResult
        With `why` in one line; true in an ``if`` if the certificate is valid. Of a tuple
        `CheckResults`, a tuple of these, which is true if all are.

    Raises
    ------
    ValueError
        If X, y or the weights cannot be used. A wrong certificate never raises.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> table = {"size": [1.0, 1.2, 3.0, 3.1, 5.0], "colour": ["red", "red", "red", "blue", "blue"]}
    >>> y = ["small", "small", "medium", "medium", "large"]
    >>> found = rb.separability(table, y)
    >>> rb.certify.check(found, table, y).valid
    True
    >>> bool(rb.certify.check(found, table, y[::-1]))
    False
    """
    if is_on_cluster(X):
        return _checked_on_cluster(certificate, X, y, sample_weight)
    if isinstance(X, OpenedSource):
        X, y = X.X, labels_of(X, y)[0]
    if y is None:
        if isinstance(certificate, tuple):
            msg = "certificates of several classes are checked with X and y, not with blocks"
            raise ValueError(msg)
        return _checked(certificate, X, y, sample_weight)
    X = Samples.of(X).X
    if not isinstance(certificate, tuple):
        return _checked(certificate, X, y, sample_weight)
    classes, label = class_numbers(np.asarray(real_labels("y", y)))
    if len(classes) != len(certificate) or len(classes) == 2:
        msg = (
            f"y has {len(classes)} classes, but {len(certificate)} certificates were given: give "
            "one for each of three classes or more, or the only one of two"
        )
        raise ValueError(msg)
    each = enumerate(certificate)
    return CheckResults(_checked(one, X, label == k, sample_weight) for k, one in each)


def conditions(optimum: Any, X: Any, y: Any, sample_weight: Any = None) -> Conditions:
    """How well a hyperplane and its multipliers meet the conditions of an optimum.

    Plain floating point, unlike `check`: nothing is proved.

    Parameters
    ----------
    optimum : Optimum
    X : array of shape (n, d), data frame or sparse matrix
        Finite numbers.
    y : array of n labels
        Exactly two classes.
    sample_weight : array of n numbers from 0 on, or None
        Those that the optimum was found with. None: all 1.

    Raises
    ------
    ValueError
        If X, y or the weights cannot be used, or the optimum has fields that do not fit them.
    """
    refuse_clustered(X, "conditions")
    return proofs.conditions(optimum, X, y, sample_weight)


def _checked_on_cluster(
    certificate: Any, X: Any, y: Any, sample_weight: Any
) -> CheckResult | CheckResults:
    """The check of certificates about data on a cluster, where they are."""
    if is_of_dask(sample_weight):
        sample_weight = np.asarray(sample_weight.compute()).ravel()
    with released():
        source, classes = read_clustered(X, y, None, None, lambda classes, counts: None)
        return _checked_of(certificate, source, classes, sample_weight)


def _checked_of(
    certificate: Any, source: Any, classes: Any, sample_weight: Any
) -> CheckResult | CheckResults:
    several = isinstance(certificate, tuple)
    if several != (len(classes) > 2) or (several and len(classes) != len(certificate)):
        msg = f"y has {len(classes)} classes: give the certificate of two, or one for each of more"
        raise ValueError(msg)
    if not several:
        return _checked(certificate, labelled(source, 1), None, sample_weight)
    each = enumerate(certificate)
    return CheckResults(_checked(one, labelled(source, k), None, sample_weight) for k, one in each)


def _checked(certificate: Any, X: Any, y: Any, sample_weight: Any) -> CheckResult:
    """The check of one certificate, by all threads."""
    d = (getattr(X, "shape", None) or (0,))[-1]
    with Team(count_threads(None)) as team, blas_threads_for(d**3):
        return proofs.check(certificate, X, y, sample_weight, team.each_product)
