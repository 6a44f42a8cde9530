"""Certificates tested again, from the data alone."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.dot_products import weighted_mean
from rosenblatt.exact.enclosure import enclose, enclose_combination
from rosenblatt.exact.kesler import pairs_of
from rosenblatt.exact.passes import in_turn
from rosenblatt.exact.rationals import exact_product, floats_of
from rosenblatt.exact.sides import first_not_annihilated, margin_of, signs
from rosenblatt.exact.systems import (
    independent_rows,
    null_basis,
    row_space,
    solve,
    spanning_rows,
)
from rosenblatt.proofs.inputs import (
    LabelledRows,
    SignedRows,
    WrongError,
    read_exact_weights,
    read_labelled_samples,
    read_point,
    read_rows,
    read_sample_weight,
    read_samples,
    read_theta,
    read_weights,
    require,
    require_fields,
)
from rosenblatt.proofs.optimum import prove_optimum
from rosenblatt.results import (
    CheckResult,
    Inseparable,
    JointCertificate,
    Optimum,
    QuasiSeparable,
    Separable,
    Undecided,
    Verdict,
)

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.exact.passes import Each

NARROW = 1e-11  # an enclosure this narrow decides
NO_MEETING = "the weights of the support do not cancel"
NO_SPANNING = "the weights of the spanning support do not cancel"


def check(
    certificate: Any, X: Any, y: Any = None, sample_weight: Any = None, each: Each = in_turn
) -> CheckResult:
    """Whether a certificate proves its verdict on these data: as `rosenblatt.certify.check`.

    It takes no tables of texts, and certificates one by one. `each` may look at several blocks of
    samples side by side.
    """
    with np.errstate(all="ignore"):
        joint = isinstance(certificate, JointCertificate)
        data: Any = read_labelled_samples(X, y) if joint else read_samples(X, y, each)
        weights = read_sample_weight(sample_weight, data.n)
        try:
            require_fields(certificate)
            if isinstance(certificate, Optimum):
                return _valid(prove_optimum(certificate, data, weights))
            if weights is not None:
                msg = "sample_weight is for an Optimum: leave it out, a verdict knows no weights"
                raise ValueError(msg)
            return _valid(_joint_proof(certificate, data) if joint else _proof(certificate, data))
        except WrongError as wrong:
            return CheckResult(False, str(wrong), wrong.sample, wrong.where)


def _valid(proved: str) -> CheckResult:
    return CheckResult(True, f"proved: {proved}", proved=proved)


def _proof(certificate: Any, data: SignedRows) -> str:
    """What was proved; WrongError if it was not."""
    for kind, verdict, prove in (
        (Separable, Verdict.SEPARABLE, _separable),
        (QuasiSeparable, Verdict.QUASI_SEPARABLE, _quasi_separable),
        (Inseparable, Verdict.INSEPARABLE, _inseparable),
    ):
        if isinstance(certificate, kind):
            why = "the verdict is not the one that this kind of certificate proves"
            require(certificate.verdict is verdict, why)
            return prove(certificate, data)
    msg = f"an object of type {type(certificate).__name__} is not a certificate"
    if isinstance(certificate, Undecided):
        msg = "undecided: nothing is claimed, so nothing is proved"
    raise WrongError(msg)


def _joint_proof(joint: Any, data: LabelledRows) -> str:
    """What was proved of all classes as one problem: it is a proof about Kesler's vectors."""
    k = joint.n_classes
    require(type(k) is int and k == data.n_classes, f"y has {data.n_classes} classes, not {k}")
    certificate = joint.certificate
    require_fields(certificate)
    try:
        _proof(certificate, data.kesler())
    except WrongError as wrong:
        if wrong.sample is None:
            raise
        if wrong.sample == data.n * (k - 1):
            msg = "the origin is not on its side of the hyperplane"
            raise WrongError(msg) from None
        sample, rival = pairs_of(np.array([wrong.sample]), data.label, k)[0].tolist()
        where = f"no higher in its own class than in class number {rival}"
        msg = f"sample {sample} lies {where}"
        raise WrongError(msg, sample, where) from None
    rows = getattr(certificate, "support", np.empty(1, np.int64))[:-1]
    right = isinstance(joint.pairs, np.ndarray) and joint.pairs.dtype.kind in "iu"
    right = right and np.array_equal(joint.pairs, pairs_of(rows, data.label, k))
    require(right, "pairs are not those of the support")
    if isinstance(certificate, Separable):
        return f"each of {data.n} samples has its highest value in its own class"
    if isinstance(certificate, QuasiSeparable):
        return (
            f"the vectors of {len(rows)} pairs of a sample and a rival cancel, "
            "and no sample has a higher value in another class"
        )
    return f"the vectors of {len(rows)} pairs of a sample and a rival cancel, and span all"


def _separable(certificate: Any, data: SignedRows) -> str:
    theta = read_theta(certificate.hyperplane, certificate.exact, data.d)
    true = margin_of(data.X, data.y, theta, data.each)
    if not true > 0:  # which has the exact sign
        _require_sides(data, theta, np.zeros(0, dtype=np.int64))
    margin = certificate.margin
    require(isinstance(margin, float | np.floating), "margin is not a float")
    right = margin == true or abs(float(margin) - true) <= 1e-9 * true
    require(right, f"the margin is {true:.17g}, not {float(margin):.17g}")
    return f"all {data.n} samples lie strictly on their sides"


def _quasi_separable(certificate: Any, data: SignedRows) -> str:
    on = read_rows(certificate.on, data.n, "on")
    require(len(on) < data.n, "all samples lie on the hyperplane")
    theta = read_theta(certificate.hyperplane, certificate.exact, data.d)
    _require_sides(data, theta, on)
    _require_meeting(certificate, data)
    _require_spanning(certificate, data, on)
    return (
        f"{data.n - len(on)} of {data.n} samples lie strictly on their sides, "
        f"the other {len(on)} on every hyperplane that has none on its wrong side"
    )


def _inseparable(certificate: Any, data: SignedRows) -> str:
    support = _require_meeting(certificate, data)
    spanning = _require_spanning(certificate, data, None)
    return (
        f"the convex hulls of {len(support)} samples meet, "
        f"and {len(spanning)} that cancel span all {data.n}"
    )


def _require_sides(data: SignedRows, theta: list[Any], on: Ints) -> None:
    """Samples of `on` lie on the hyperplane, all others strictly on their sides."""
    side = signs(data.X, theta, each=data.each)
    side *= data.y
    expected = np.ones(data.n, dtype=np.int8)
    expected[on] = 0
    wrong = np.flatnonzero(side != expected)
    if wrong.size:
        where = {-1: "on the wrong side", 0: "on the hyperplane", 1: "off the hyperplane"}
        first, there = int(wrong[0]), where[int(side[wrong[0]])]
        msg = f"sample {first} lies {there}"
        raise WrongError(msg, first, there)


def _support(certificate: Any, data: SignedRows) -> tuple[Ints, Floats | list[Fraction]]:
    """Samples of both classes, not more than can be independent but for one relation."""
    rows = read_rows(certificate.support, data.n, "support")
    weights = _weights(certificate, len(rows), "weights")
    require(len(set(data.y[rows].tolist())) == 2, "the support has samples of one class only")
    require(len(rows) <= data.d + 2, "the support is not minimal: it has more than d + 2 samples")
    return rows, weights


def _weights(certificate: Any, count: int, name: str) -> Floats | list[Fraction]:
    """Positive weights: in fractions if there are any, otherwise in floats."""
    exact = getattr(certificate, f"exact_{name}")
    floats = getattr(certificate, name)
    if exact is None:
        return read_weights(floats, count, name)
    found = read_exact_weights(exact, floats, name)
    require(len(found) == count, f"{name} has {len(found)} entries for {count} samples")
    return found


def _require_meeting(certificate: Any, data: SignedRows) -> Ints:
    """The support is minimal, and its only cancelling weights and their point are as given."""
    rows, weights = _support(certificate, data)
    point = read_point(certificate.point, data.d)
    last = int(np.argmax(weights))  # type: ignore[arg-type]
    given_exactly = isinstance(weights, list)
    found = None if given_exactly else _enclosed_weights(data, rows, last)
    if found is None:
        exact = _exact_weights(data, rows, last)
        require(not given_exactly or weights == list(exact), NO_MEETING)
        found = floats_of(exact), floats_of(exact)
    if not given_exactly:
        require(_near(weights, *found, 1e-9), NO_MEETING)
    positive, points = data.y[rows] > 0, data.points(rows)
    mean = weighted_mean(found[0][positive], points[positive])
    # Halves, for the difference of two floats may be beyond all floats.
    off = np.abs(point / 2 - mean / 2)
    near = off <= 0.5e-9 * np.abs(points).max(axis=0) + 2.0**-1074
    require(near.all(), "the point is not the weighted mean of the support")
    return rows


def _near(given: Any, low: Floats, high: Floats, share: float) -> bool:
    """Whether what lies between bounds is given but for rounding: then it is positive, too."""
    off = np.maximum(np.abs(given - low), np.abs(given - high))
    return bool((off <= share * low).all())


def _enclosed_weights(data: SignedRows, rows: Ints, last: int) -> tuple[Floats, Floats] | None:
    """Narrow bounds on the only cancelling weights of d + 2 samples, if floats suffice."""
    if len(rows) != data.d + 2:
        return None
    z = data.signed(rows)
    others = np.delete(np.arange(len(rows)), last)
    found = enclose(z[others].T, -z[last])
    if found is None or not _narrow(*found):
        return None
    require((found[0] > 0).all(), "the weights of the support cancel only with other signs")
    low, high = (np.insert(bound, last, 1.0) for bound in found)
    positive = data.y[rows] > 0
    ulps = 1 + (len(rows) + 4) * 2.0**-52
    return low / (high[positive].sum() * ulps), high / (low[positive].sum() / ulps)


def _narrow(low: Floats, high: Floats) -> bool:
    """Whether bounds are so close that they decide; never if 0 is between them."""
    with np.errstate(all="ignore"):
        return bool((high - low <= NARROW * np.minimum(np.abs(low), np.abs(high))).all())


def _exact_weights(data: SignedRows, rows: Ints, last: int) -> tuple[Fraction, ...]:
    """The only cancelling weights, summing to 1 in each class; WrongError if there are none."""
    z = data.signed(rows)
    others = np.delete(np.arange(len(rows)), last)
    try:
        solution = solve(z[others].T, -z[last])
    except ValueError:
        msg = "the support is not minimal: the weights that cancel are not unique"
        raise WrongError(msg) from None
    require(solution is not None, NO_MEETING)
    assert solution is not None
    numbers = [*solution.numerators]
    numbers.insert(last, solution.denominator)
    positive = min(numbers) > 0
    require(positive, "the weights of the support cancel only with other signs")
    total = sum(n for n, side in zip(numbers, data.y[rows].tolist(), strict=True) if side > 0)
    return tuple(Fraction(n, total) for n in numbers)


def exact_weights(certificate: Any, X: Any, y: Any) -> tuple[Fraction, ...]:
    """The weights of a certificate's support in rational numbers, summing to 1 in each class.

    Parameters
    ----------
    certificate : QuasiSeparable or Inseparable
    X, y : as for `check`

    Raises
    ------
    ValueError
        If X or y cannot be used, or the support has no unique positive weights that cancel.
    """
    data = read_samples(X, y)
    try:
        kinds = (QuasiSeparable, Inseparable)
        require(isinstance(certificate, kinds), "only a support has weights")
        rows, weights = _support(certificate, data)
        return _exact_weights(data, rows, int(np.argmax(weights)))  # type: ignore[arg-type]
    except WrongError as wrong:
        raise ValueError(str(wrong)) from None


def _require_spanning(certificate: Any, data: SignedRows, on: Ints | None) -> Ints:
    """Samples that cancel, and span all those in `on` (all there are, if None)."""
    rows = read_rows(certificate.spanning_support, data.n, "spanning_support")
    weights = _weights(certificate, len(rows), "spanning_weights")
    inside = on is None or np.isin(rows, on).all()
    require(inside, "the spanning support has samples that are not on the hyperplane")
    few = "the spanning support has more samples than it needs"
    require(len(rows) <= 2 * (data.d + 1), few)
    z = data.signed(rows)
    # More samples than dimensions are soonest proved dependent by what they are all zero along.
    basis, null = row_space(z) if len(z) > z.shape[1] else (spanning_rows(z), None)
    require(len(rows) <= 2 * len(basis), few)
    if isinstance(weights, list):
        require(not any(exact_product(z.T, weights)), NO_SPANNING)
    else:
        _require_cancelling(z, weights, basis)
    # A hyperplane holds all of `on`: with one dimension less than all they cannot span more.
    if len(basis) < (data.d + 1 if on is None else data.d):
        _require_in_span(data, z, rows, basis, null, on)
    return rows


def _require_cancelling(z: Floats, weights: Floats, basis: Ints) -> None:
    """Positive weights cancel exactly that differ from those given at most in rounding.

    The weights outside the basis are taken as they are; those of the basis are then determined.
    """
    rest = np.setdiff1d(np.arange(len(z)), basis)
    require(rest.size, NO_SPANNING)
    A, found = z[basis].T, None
    if len(basis) == z.shape[1]:
        found = enclose_combination(A, -z[rest].T, weights[rest])
    if found is None or not _narrow(*found):
        solution = solve(A, exact_product(-z[rest].T, weights[rest].tolist()))
        require(solution is not None, NO_SPANNING)
        assert solution is not None
        found = solution.floats(), solution.floats()
    require(_near(weights[basis], *found, 1e-6), NO_SPANNING)


def _require_in_span(
    data: SignedRows,
    z: Floats,
    rows: Ints,
    basis: Ints,
    null: list[list[int]] | None,
    on: Ints | None,
) -> None:
    """Every sample in question is a combination of the spanning ones."""
    why = "the spanning support does not span all samples that it should"
    count = data.n if on is None else len(on)
    if count - len(rows) > z.shape[1] - len(basis):
        null = null_basis(z[basis]) if null is None else null
        outside = first_not_annihilated(data.X, null, on, data.each)
        require(outside is None, why)
        return
    # Fewer samples than dimensions missing: rather relations between samples.
    others = np.setdiff1d(np.arange(data.n) if on is None else on, rows)
    both = np.vstack([z[basis], data.signed(others)])
    require(len(independent_rows(both)[0]) == len(basis), why)
    require(len(spanning_rows(both)) == len(basis), why)
