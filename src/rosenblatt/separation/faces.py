"""All samples that cancel, in one go: the largest face of the cone that they span.

A sample cancels with others exactly if no θ that is negative on none is positive on it. So there
are two ways to narrow down which do, and each is quick where the other is not: a θ that is
negative on none takes those away on which it is positive, and weights name those that stay. Both
come from one linear program on a few rows. What comes of it in floats is settled exactly later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import qr

from rosenblatt.nearest.scans import worst
from rosenblatt.nearest.working_set import batch
from rosenblatt.separation import evidence
from rosenblatt.separation.programs import cancelling_weights

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.exact.rationals import Mask
    from rosenblatt.nearest.working_set import Samples
    from rosenblatt.separation.coordinates import View
    from rosenblatt.separation.evidence import Cancelling
    from rosenblatt.separation.solver import Search

ZERO = 1e-6  # a value this small beside the largest is zero as far as a linear program can tell
NOISE = 1e-9  # the same of a vector that is zero on some rows


class Face(NamedTuple):
    """The rows of the linear program, and their weights if they cancel.

    The rows `spanned` are independent, and if `closed` they span all that are `left`.
    """

    rows: Ints
    weights: Floats
    spanned: Ints
    left: Mask
    closed: bool


def all_that_cancel(
    search: Search, view: View, rows: Ints, basis: Ints, left: Mask
) -> tuple[Cancelling | None, Face]:
    """Samples that cancel and span all that do, as far as floats can tell; None if none do.

    Only samples that are `left` are asked, beginning with `rows`. They cancel up to the samples
    of the `basis`. Also returned is what they were found by.
    """
    samples = search.samples
    spanned = _joined(samples, basis, rows[:0], rows)
    face = search.log.face(Face(np.sort(rows), np.empty(0), spanned, left, False))
    while face.spanned.size:
        search.log.note("face", face=face)
        rows, weights, spanned, left, closed = face
        if not closed:
            new = _not_spanned(search, view, spanned, left)
            more = _joined(samples, basis, spanned, new)
            if len(more) > len(spanned):
                face = Face(np.union1d(rows, new), np.empty(0), more, left, False)
                continue
        if weights.size:
            used = weights > 0
            return evidence.cancel(samples, rows[used], basis, weights[used]), face
        Z, at = view.scaled(rows), np.searchsorted(rows, spanned)
        found = cancelling_weights(Z, at, samples.clock)
        if found is None:
            break
        weights, coefficients = found
        if (weights[at] > 0).all():
            face = Face(rows, weights, spanned, left, True)
            continue
        values = samples.values(view.unscaled(coefficients))
        values[~left] = np.inf
        size = float(np.abs(values[rows]).max())
        new = worst(values, -ZERO * size, batch(Z.shape[1]), rows)
        if new.size:
            face = Face(np.union1d(rows, new), np.empty(0), spanned, left, True)
            continue
        left = left & (values <= ZERO * size)
        rest = left[rows]
        face = Face(rows[rest], weights[rest], spanned[left[spanned]], left, False)
    return None, face


def _joined(samples: Samples, basis: Ints, spanned: Ints, new: Ints) -> Ints:
    """Independent rows, also of the basis, with those of the new ones that they do not span."""
    if not new.size:
        return spanned
    all_rows = np.concatenate([basis, spanned, new])
    chosen = evidence.independent(samples, samples.signed(all_rows))[0]
    return all_rows[chosen[chosen >= len(basis)]]


def _not_spanned(search: Search, view: View, spanned: Ints, left: Mask) -> Ints:
    """Some of the rows left that these do not span: not zero along a random vector as they are."""
    Z = view.scaled(spanned)
    if not 0 < len(Z) < Z.shape[1]:
        return spanned[:0]
    Q = qr(Z.T, mode="economic", check_finite=False)[0]
    v = search.rng.normal(size=(Z.shape[1],))
    for _ in range(2):  # again, for what rounding has left
        v -= Q @ (v @ Q)
    values = -np.abs(search.samples.values(view.unscaled(v)))
    values[~left] = 0.0
    return worst(values, NOISE * float(values.min()), batch(len(v)), spanned)


# Features of one sign ---------------------------------------------------------------------------


class Peeled(NamedTuple):
    """Which samples are left, and a ``(w, b)`` that is positive on the others, zero on these."""

    left: Mask
    theta: Floats


def peeled(samples: Samples, rows: Ints) -> Peeled:
    """Take away the samples with a feature that is zero in the other class; again in the rest.

    A feature that only one class has, always of one sign, is a θ that is negative on no sample.
    Some `rows` tell whether there can be any.
    """
    found = Peeled(np.ones(samples.n, bool), np.zeros(samples.d + 1))
    Z = samples.signed(rows)[:, :-1]
    reached = np.zeros(samples.n)
    while True:
        here = Z[found.left[rows]]
        able = ~((here < 0).any(axis=0) & (here > 0).any(axis=0))
        if not able.any():
            return found
        one, other = (samples.total(found.left * (samples.y == side)) for side in (1.0, -1.0))
        theta = np.append(np.sign(one + other) * (able & ((one == 0) | (other == 0))), 0.0)
        values = samples.values(theta)
        if not theta.any() or values[found.left].min() < 0:
            return found
        # The values before count so much more that these cannot change their signs.
        away = ~found.left
        lack = float(np.max(-values[away] / reached[away], initial=0.0))
        factor = 2.0 ** np.ceil(np.log2(2 * lack)) if lack > 0 else 1.0
        reached = factor * reached + values
        found = Peeled(found.left & (values == 0), factor * found.theta + theta)
