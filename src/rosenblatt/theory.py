"""The formulas behind the perceptron: radius, objectives, subgradients, updates, the bound.

Everything here is over the augmented vectors ``x̃ = (x, 1)`` and ``θ = (w, b)``, bias last, so
that ``w·x + b = θ·x̃``. Labels are -1 and +1. (One long file: most of it is the formulas' own
explanation, and a page of formulas is read as one.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import (
    floats,
    instance,
    number,
    positive_number,
    proportion,
    real_targets,
    signed_labels,
    whole_number,
    yes_or_no,
)
from rosenblatt.matrices import matrix
from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Floats


def _rows(X: Any) -> Any:
    """Samples as a 2-D array or a CSR matrix."""
    rows = matrix("X", X)
    return rows if hasattr(rows, "tocsr") or rows.dtype.kind == "f" else rows.astype(np.float64)


def _checked(
    hyperplane: Hyperplane,
    X: Any,
    y: ArrayLike,
    check: Callable[[str, Any, int], Floats] = signed_labels,
) -> tuple[Any, Floats]:
    """X as rows and y as floats, or one line that says what is wrong with what was given."""
    instance("hyperplane", hyperplane, Hyperplane, "give a rb.Hyperplane")
    rows = _rows(X)
    labels = check("y", y, rows.shape[0])
    if not len(labels):
        msg = "X has no rows: give at least one sample"
        raise ValueError(msg)
    return rows, labels


def _weighted_sum(coefficients: Floats, X: Any) -> Floats:
    """``Σ c_i x̃_i``, bias last."""
    return np.append(np.asarray(X.T @ coefficients, dtype=np.float64), coefficients.sum())


# The geometry -------------------------------------------------------------------------------


def augment(X: Any) -> Any:
    """The rows ``(x, 1)``: every hyperplane becomes one through the origin.

    A threshold ``k`` disappears into the weights: ``w·x > k`` exactly when
    ``(w, -k)·(x, 1) > 0``.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The samples. A sparse matrix gives CSR back.

    Returns
    -------
    float64 array or CSR matrix of shape (n, d + 1)
    """
    rows = _rows(X)
    n, d = rows.shape
    if not hasattr(rows, "tocsr"):
        return np.hstack([rows.astype(np.float64), np.ones((n, 1))])
    # Row i moves right by the i ones before it; its own 1 goes to the end of it.
    indptr = rows.indptr + np.arange(n + 1, dtype=np.int64)
    is_one = np.zeros(indptr[-1], dtype=bool)
    is_one[indptr[1:] - 1] = True
    data = np.ones(indptr[-1], dtype=np.float64)
    indices = np.full(indptr[-1], d, dtype=np.int64)
    data[~is_one] = rows.data[: rows.nnz]
    indices[~is_one] = rows.indices[: rows.nnz]
    return type(rows)((data, indices, indptr), shape=(n, d + 1))


def unaugment(theta: ArrayLike) -> Hyperplane:
    """The hyperplane of a vector ``θ = (w, b)``, bias last: the inverse of augmenting.

    Parameters
    ----------
    theta : array of shape (d + 1,)
        The weights, then the bias.
    """
    vector = floats("theta", theta)
    if vector.ndim != 1 or vector.size < 2:
        msg = f"theta has shape {vector.shape}: give a vector of the weights, then the bias"
        raise ValueError(msg)
    return Hyperplane(vector[:-1], float(vector[-1]))


def radius(X: Any, *, fit_intercept: bool = True) -> float:
    """The radius of the data, ``R = max_i ‖x̃_i‖``, or ``max_i ‖x_i‖`` without an intercept.

    It is infinite only where the true radius exceeds the largest float.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The samples.
    fit_intercept : bool
        Whether a bias is learned. If so the perceptron moves among the vectors ``(x, 1)``, and
        its bound holds for their radius, not for that of the ``x``.
    """
    rows = _rows(X)
    yes_or_no("fit_intercept", fit_intercept)
    if not rows.shape[0]:
        msg = "X has no rows: a radius needs at least one sample"
        raise ValueError(msg)
    largest = _largest_entry(rows, at_least=1.0 if fit_intercept else 0.0)
    if not math.isfinite(largest):
        msg = "X holds values that are not finite numbers"
        raise ValueError(msg)
    # Squares overflow above 1e154 and vanish below 1e-162. Dividing by a power of two is exact,
    # so doing it only where it is needed changes no other answer.
    exponent = 0 if largest == 0 or 1e-100 < largest < 1e100 else math.frexp(largest)[1]
    square = _largest_square(rows, exponent)
    if fit_intercept:
        square += math.ldexp(1.0, -exponent) ** 2
    try:
        return math.ldexp(math.sqrt(square), exponent)
    except OverflowError:
        return math.inf


def _largest_entry(rows: Any, at_least: float) -> float:
    """``max |x_ij|``, without a copy of the data."""
    entries = rows.data if hasattr(rows, "tocsr") else rows
    if not entries.size:
        return at_least
    # NumPy's maximum keeps a nan, Python's would lose it.
    return float(np.max([float(entries.max()), -float(entries.min()), at_least]))


def _largest_square(rows: Any, exponent: int) -> float:
    """``max_i ‖x_i / 2^exponent‖²``."""
    if not hasattr(rows, "tocsr"):
        if exponent:
            rows = np.ldexp(rows.astype(np.float64), -exponent)
        return float(np.einsum("ij,ij->i", rows, rows, dtype=np.float64).max())
    starts = rows.indptr[:-1][np.diff(rows.indptr) > 0]
    if not starts.size:
        return 0.0
    squares = np.ldexp(rows.data[: rows.nnz].astype(np.float64), -exponent) ** 2
    return float(np.add.reduceat(squares, starts).max())


def _radius_and_margin(R: Any, gamma: Any) -> tuple[float, float]:
    """Both as floats, if they can be a radius and a margin."""
    return (
        number("R", R, lambda x: x >= 0, "give a radius, zero or more"),
        number("gamma", gamma, lambda x: x > 0, "the bound needs a positive margin"),
    )


def mistake_bound_value(R: float, gamma: float) -> float:
    """The most mistakes the online perceptron can make, ``(R/γ)²``.

    Started at zero, after ``m`` mistakes ``θ·θ* >= m·γ`` for the unit vector ``θ*`` with margin
    ``γ`` (every mistake adds at least ``γ``) and ``‖θ‖² <= m·R²`` (every mistake adds at most
    ``R²``). By Cauchy-Schwarz ``m·γ <= √m·R`` [1]_.

    Parameters
    ----------
    R : float
        The radius of the vectors that the perceptron adds: of the ``(x, 1)`` if it has a bias.
    gamma : float
        A margin that some unit vector attains on these same vectors.

    References
    ----------
    .. [1] A. B. J. Novikoff, "On convergence proofs on perceptrons", Symposium on the
       Mathematical Theory of Automata, 1962.
    """
    R, gamma = _radius_and_margin(R, gamma)
    ratio = R / gamma
    return ratio * ratio


def mistake_bound_from_guess(R: float, gamma: float, along: float, length: float) -> float:
    """The most mistakes from a start guess ``θ₀``: the larger root of the proof's quadratic.

    After ``m`` mistakes at learning rate ``η``, ``θ·θ* >= θ₀·θ* + ηmγ`` and
    ``‖θ‖² <= ‖θ₀‖² + η²mR²``. With ``a = θ₀·θ*/η`` and ``s = ‖θ₀‖/η``, Cauchy-Schwarz says
    ``a + mγ <= √(s² + mR²)``; that is so from ``m = 0`` up to the larger root of
    ``γ²m² + (2aγ - R²)m + a² - s² = 0`` and not beyond. From zero it is ``(R/γ)²``.

    Parameters
    ----------
    R, gamma : float
        As for `mistake_bound_value`. For batches of k samples give ``√k·R``.
    along, length : float
        ``a`` and ``s`` above.
    """
    R, gamma = _radius_and_margin(R, gamma)
    along, length = number("along", along), number("length", length)
    if not length >= abs(along) * (1 - 1e-12):
        msg = f"along={along} is longer than length={length}: no vector has such a component"
        raise ValueError(msg)
    if R == 0:
        return max(length - along, 0.0) / gamma
    # In units of (R/γ)², so that nothing overflows that need not: m = (R/γ)²·t.
    a, s = along * gamma / R / R, length * gamma / R / R
    half, apart = 0.5 - a, max((s - a) * (s + a), 0.0)
    root = math.sqrt(half * half + apart)
    t = half + root if half > 0 else (apart / (root - half) if apart else 0.0)
    return mistake_bound_value(R, gamma) * t


def mistake_bound_in_epochs(
    R: float,
    gamma: float,
    shortfall: float,
    epochs: int,
    *,
    along: float = 0.0,
    length: float = 0.0,
) -> float:
    """The most mistakes in so many epochs, separable data or not: ``((R + √E·D)/γ)²``.

    Any unit vector ``u`` and any ``γ > 0`` will do. Where ``y(u·x̃)`` falls short of ``γ`` by
    ``d``, a mistake brings ``γ - d`` instead of ``γ``. If a sample comes once in an epoch, the
    squares of the ``d`` of all mistakes sum up to at most ``E·D²``, ``D² = Σ d_i²``, so ``m``
    mistakes fall short by at most ``√m·√E·D`` in all: ``mγ - √m·√E·D <= √m·R`` [1]_.

    Parameters
    ----------
    R, gamma : float
        The radius (for batches of k samples, ``√k`` times it), and the margin aimed at.
    shortfall : float
        ``D`` above.
    epochs : int
        ``E`` above.
    along, length : float
        ``θ₀·u/η`` and ``‖θ₀‖/η`` of a start guess. Then ``√m`` is at most the larger root of
        ``γx² - (R + √E·D)x + along - length = 0``.

    References
    ----------
    .. [1] Y. Freund and R. E. Schapire, "Large margin classification using the perceptron
       algorithm", Machine Learning 37, 1999, theorem 2, for the data repeated E times. See also
       M. Mohri and A. Rostamizadeh, "Perceptron mistake bounds", arXiv:1305.0208, 2013.
    """
    R, gamma = _radius_and_margin(R, gamma)
    shortfall = number("shortfall", shortfall, lambda x: x >= 0, "give a number, zero or more")
    whole_number("epochs", epochs)
    along, length = number("along", along), number("length", length)
    p = (R + math.sqrt(epochs) * shortfall) / gamma
    root = (p + math.sqrt(p * p + 4 * max(length - along, 0.0) / gamma)) / 2
    return root * root


# Objectives and the directions that lower them -----------------------------------------------


def zero_one_loss(hyperplane: Hyperplane, X: Any, y: ArrayLike) -> float:
    """The share of samples on the wrong side, ``(1/n) Σ [predict(x_i) ≠ y_i]``.

    As a function of ``(w, b)`` it is constant almost everywhere, so it has no useful gradient;
    the other objectives here are what one descends instead.

    Parameters
    ----------
    hyperplane : Hyperplane
        The hyperplane to judge.
    X, y : samples and labels
        One row and one label, -1 or +1, per sample.
    """
    rows, labels = _checked(hyperplane, X, y)
    return float(np.mean(hyperplane.predict(rows) != labels))


def perceptron_loss(hyperplane: Hyperplane, X: Any, y: ArrayLike) -> float:
    """``ℓ(w, b) = Σ max(0, -y_i(w·x_i + b))``: by how much the wrong values are wrong.

    Convex and never negative; zero exactly when no sample lies strictly on the wrong side. So
    ``(w, b) = 0`` minimises it too: it is the updates, not the minimum, that avoid that answer.

    Parameters
    ----------
    hyperplane : Hyperplane
        The hyperplane to judge.
    X, y : samples and labels
        One row and one label, -1 or +1, per sample.
    """
    rows, labels = _checked(hyperplane, X, y)
    return float(np.maximum(0.0, -labels * hyperplane.decision_function(rows)).sum())


def perceptron_subgradient(
    hyperplane: Hyperplane, X: Any, y: ArrayLike, *, at_zero: float = 0.0
) -> Floats:
    """A subgradient of `perceptron_loss` with respect to ``(w, b)``, bias last.

    With ``v_i = w·x_i + b``, a sample contributes::

        0                    where y_i v_i > 0
        -y_i x̃_i             where y_i v_i < 0
        -t y_i x̃_i           where v_i = 0, for any t in [0, 1]

    At ``v_i = 0`` the loss has a kink, and every ``t`` gives a subgradient. ``t = 1`` is the
    perceptron's choice: a step of length 1 against it is the perceptron's update, which counts
    a point on the hyperplane as a mistake.

    Parameters
    ----------
    hyperplane : Hyperplane
        Where to take the subgradient.
    X, y : samples and labels
        One row and one label, -1 or +1, per sample.
    at_zero : float
        The ``t`` above.
    """
    at_zero = proportion("at_zero", at_zero, "a subgradient takes a number from 0 to 1")
    rows, labels = _checked(hyperplane, X, y)
    signed = labels * hyperplane.decision_function(rows)
    share = np.where(signed == 0, at_zero, np.where(signed < 0, 1.0, 0.0))
    return _weighted_sum(-share * labels, rows)


def mistake_update(hyperplane: Hyperplane, X: Any, y: ArrayLike) -> Floats:
    """What one batch step adds to ``(w, b)``: ``Σ y_i x̃_i`` over the mistakes, bias last.

    A mistake has ``y_i(w·x_i + b) <= 0``. It is minus `perceptron_subgradient` with
    ``at_zero=1``.

    Parameters
    ----------
    hyperplane : Hyperplane
        Where the step begins.
    X, y : samples and labels
        One row and one label, -1 or +1, per sample.
    """
    rows, labels = _checked(hyperplane, X, y)
    mistaken = labels * hyperplane.decision_function(rows) <= 0
    return _weighted_sum(labels * mistaken, rows)


def target_output_update(hyperplane: Hyperplane, X: Any, y: ArrayLike) -> Floats:
    """The same step written with targets and outputs: ``Σ (t_i - o_i) x̃_i``, bias last.

    The target ``t_i`` is the label and the output ``o_i`` the prediction, both -1 or +1. Where
    they agree nothing is added; where they differ ``t_i - o_i = 2 y_i``. So this is twice
    `mistake_update`, a factor that the learning rate absorbs.

    The two disagree in one case: a point *on* the hyperplane. It is predicted -1, so with label
    -1 it adds nothing here though it is a mistake; with label +1 it adds ``2 x̃`` as it should.
    From ``(w, b) = 0`` this rule therefore learns from the positive samples alone.

    Parameters
    ----------
    hyperplane : Hyperplane
        Where the step begins.
    X, y : samples and labels
        One row and one label, -1 or +1, per sample.
    """
    rows, labels = _checked(hyperplane, X, y)
    return _weighted_sum(labels - hyperplane.predict(rows), rows)


def squared_loss(hyperplane: Hyperplane, X: Any, y: ArrayLike) -> float:
    """``(1/n) Σ (t_i - o_i)²/2`` with the linear output ``o_i = w·x_i + b``: Adaline's loss.

    Parameters
    ----------
    hyperplane : Hyperplane
        The hyperplane to judge.
    X, y : samples and targets
        One row and one number per sample: -1 and +1 for classes, or what is to be learned.
    """
    rows, targets = _checked(hyperplane, X, y, real_targets)
    return float(np.mean((targets - hyperplane.decision_function(rows)) ** 2) / 2)


def delta_rule_update(hyperplane: Hyperplane, X: Any, y: ArrayLike) -> Floats:
    """The delta rule's step, ``(1/n) Σ (t_i - o_i) x̃_i`` with ``o_i = w·x_i + b``, bias last.

    This is the direction of descent, *minus* the gradient of `squared_loss`: the rule of Widrow
    and Hoff [1]_ adds it to ``(w, b)``. It looks like `target_output_update`, but its output is
    the value before the threshold: it also moves for samples on the right side, and it may end
    with training errors on separable data.

    Parameters
    ----------
    hyperplane : Hyperplane
        Where the step begins.
    X, y : samples and targets
        One row and one number per sample: -1 and +1 for classes, or what is to be learned.

    References
    ----------
    .. [1] B. Widrow and M. E. Hoff, "Adaptive switching circuits", IRE WESCON, 1960.
    """
    rows, targets = _checked(hyperplane, X, y, real_targets)
    residuals = targets - hyperplane.decision_function(rows)
    return _weighted_sum(residuals, rows) / len(targets)


def slacks(hyperplane: Hyperplane, X: Any, y: ArrayLike) -> Floats:
    """``ξ_i = max(0, 1 - y_i(w·x_i + b))``: by how much each sample falls short of a value of 1.

    Zero on the edge of the margin and beyond it, up to 1 inside, above 1 on the wrong side. No
    smaller numbers satisfy ``y_i(w·x_i + b) >= 1 - ξ_i`` and ``ξ_i >= 0``.

    Parameters
    ----------
    hyperplane : Hyperplane
        The hyperplane to judge.
    X, y : samples and labels
        One row and one label, -1 or +1, per sample.
    """
    rows, labels = _checked(hyperplane, X, y)
    return losses["hinge"](labels * hyperplane.decision_function(rows))


def soft_margin_objective(hyperplane: Hyperplane, X: Any, y: ArrayLike, *, C: float = 1.0) -> float:
    """``½‖w‖² + (C/n) Σ ξ_i``: what the optimal soft-margin hyperplane minimises.

    Where a hyperplane in canonical form separates there is no slack, and it is ``½/margin²``: the
    wider the margin, the lower.

    Parameters
    ----------
    hyperplane : Hyperplane
        The hyperplane to judge. Its scale matters: ``(2w, 2b)`` has another value.
    X, y : samples and labels
        One row and one label, -1 or +1, per sample.
    C : float
        The price of slack, as for `rosenblatt.SoftMarginClassifier`.
    """
    C = positive_number("C", C)
    slack = slacks(hyperplane, X, y).mean()
    return float(hyperplane.w @ hyperplane.w / 2 + C * slack)


def all_samples_objective(hyperplane: Hyperplane, X: Any, y: ArrayLike) -> float:
    """The tempting but wrong objective ``-(1/n) Σ y_i(w·x_i + b)`` over *all* samples.

    It equals ``-θ·m`` with ``m`` the mean of the ``y_i x̃_i``. Being linear it has no minimum:
    unless ``m = 0``, scaling ``θ`` drives it below every number. Fixing ``‖θ‖ = 1`` does not save
    it: the minimum is then at ``m/‖m‖``, where a few far samples on the right side can pay for
    many on the wrong side. `all_samples_counterexample` shows one. Summing over the wrong
    samples only, as `perceptron_loss` does, leaves nothing to pay with.

    Parameters
    ----------
    hyperplane : Hyperplane
        The hyperplane to judge.
    X, y : samples and labels
        One row and one label, -1 or +1, per sample.
    """
    rows, labels = _checked(hyperplane, X, y)
    return float(-np.mean(labels * hyperplane.decision_function(rows)))


def all_samples_counterexample() -> tuple[Floats, NDArray[np.int64], Hyperplane, Hyperplane]:
    """Separable data where `all_samples_objective` prefers a hyperplane that does not separate.

    Returns ``X, y, good, bad``. Both hyperplanes have ``‖(w, b)‖ = 1``. `good`, ``w = (1, 0)``,
    separates with objective -1. `bad`, ``w = (0, 1)``, is wrong on three samples of four, yet
    the fourth, far away at ``(-1, -12)``, brings its objective to -2.
    """
    X = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -2.0], [-1.0, -12.0]])
    y = np.array([1, -1, 1, -1], dtype=np.int64)
    return X, y, Hyperplane(np.array([1.0, 0.0])), Hyperplane(np.array([0.0, 1.0]))


# Losses of one sample, as functions of its signed value --------------------------------------


def _logistic(z: ArrayLike) -> Floats:
    """``log2(1 + e^-z)``, so that it is 1 at zero; no overflow for any finite z."""
    with np.errstate(invalid="ignore"):  # of nan, which stays one
        return np.logaddexp(0.0, -floats("z", z)) / math.log(2.0)


losses: dict[str, Callable[[ArrayLike], Floats]] = {
    # A point on the hyperplane counts as a mistake.
    "zero_one": lambda z: (floats("z", z) <= 0).astype(np.float64),
    "perceptron": lambda z: np.maximum(0.0, -floats("z", z)),
    "hinge": lambda z: np.maximum(0.0, 1.0 - floats("z", z)),
    # ``(t - o)²``, because ``t² = 1``.
    "squared": lambda z: np.square(1.0 - floats("z", z)),
    "logistic": _logistic,
}
"""The loss of one sample by name, as a function of its signed value ``z = y(w·x + b)``."""


# Counting dichotomies ------------------------------------------------------------------------


def cover_count(n: int, d: int) -> int:
    """How many labelings of n points in general position in d dimensions hyperplanes realise.

    Cover's function counting theorem [1]_: ``C(n, d + 1) = 2 Σ_{k<=d} binom(n - 1, k)``. In general
    position every d + 1 of the points are affinely independent (all of them, if there are fewer).
    For other points it is an upper bound; `rosenblatt.boolean.count_dichotomies` counts these.

    Parameters
    ----------
    n : int
        The number of points.
    d : int
        The number of features, without the bias.

    References
    ----------
    .. [1] T. M. Cover, "Geometrical and statistical properties of systems of linear inequalities
       with applications in pattern recognition", IEEE Transactions on Electronic Computers
       EC-14, 1965.
    """
    _check_counts(n, d)
    if n == 0:
        return 1
    if d >= n - 1:
        return int(2**n)
    term = total = 1
    for k in range(d):
        term = term * (n - 1 - k) // (k + 1)
        total += term
    return 2 * total


def cover_probability(n: int, d: int) -> float:
    """The share of the 2ⁿ labelings of n points in general position that hyperplanes realise.

    It is `cover_count` divided by 2ⁿ: the chance that random labels are separable. It is 1 up
    to ``n = d + 1``, one half at ``n = 2(d + 1)``, and falls quickly from there.

    Parameters
    ----------
    n : int
        The number of points.
    d : int
        The number of features, without the bias.
    """
    _check_counts(n, d)
    if d >= n - 1:
        return 1.0
    if n > 10**6 and d <= 500:
        return 0.0  # as n^d/2^n is, to a float
    if n <= 5000 or d <= 500:
        return cover_count(n, d) / (1 << n)
    from scipy.special import bdtr

    # The same as the chance of at most d heads in n - 1 throws of a coin.
    return float(bdtr(d, n - 1, 0.5))


def _check_counts(n: int, d: int) -> None:
    for name, value in (("n", n), ("d", d)):
        whole_number(name, value, 0, "give a whole number, 0 or more")
