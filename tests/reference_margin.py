"""Best hyperplanes in other ways than ours: slow, short, and for few samples only."""

import warnings
from fractions import Fraction

import numpy as np
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

import rosenblatt as rb


def dense(X):
    """An array of float64."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)


def signs(y):
    """-1 for the first of two classes in sorted order, +1 for the second."""
    return np.where(np.asarray(y) == np.unique(y)[1], 1.0, -1.0)


def prices(C, n, s=None):
    """``c_i = C s_i/N``."""
    s = np.ones(n) if s is None else np.asarray(s, dtype=float)
    return C * s / s.sum()


def objective(X, y, C, w, b, s=None):
    """``½‖w‖² + Σ c_i max(0, 1 - y_i(w·x_i + b))``."""
    slack = np.maximum(0.0, 1.0 - signs(y) * (dense(X) @ w + b))
    return 0.5 * w @ w + prices(C, len(slack), s) @ slack


def dual_value(X, y, alpha):
    """``Σ α_i - ½‖Σ α_i y_i x_i‖²``, the class with the larger sum scaled down."""
    y = signs(y)
    total = {side: alpha[y == side].sum() for side in (-1.0, 1.0)}
    alpha = alpha * np.array([min(total.values()) / total[side] for side in y])
    pull = (alpha * y) @ dense(X)
    return alpha.sum() - 0.5 * pull @ pull


def soft_margin(X, y, C, s=None):
    """What libsvm finds: w, b, and a multiplier for each sample. Its C is ours divided by N.

    It may be far from done when its steps are used up; its own gap tells how far. Of its b few
    digits are right, so this is the best for its w.
    """
    X, y = dense(X), signs(y)
    s = np.ones(len(y)) if s is None else np.asarray(s, dtype=float)
    there = np.flatnonzero(s)
    model = SVC(kernel="linear", C=C / s.sum(), tol=1e-9, max_iter=100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[there], y[there], sample_weight=s[there])
    alpha = np.zeros(len(y))
    alpha[there[model.support_]] = np.abs(model.dual_coef_[0])
    w = model.coef_[0]
    return w, np.mean(bias_range(X @ w, y, prices(C, len(y), s))), alpha


def max_margin(X, y):
    """The maximum-margin hyperplane (w, b) in canonical form; None if nothing separates.

    The difference of the hulls is the hull of the differences; its point nearest to the origin
    solves ``min ‖Dλ‖² + (1 - Σλ)²`` over ``λ >= 0`` but for a factor.
    """
    X, y = dense(X), signs(y)
    high, low = X[y > 0], X[y < 0]
    D = (high[:, np.newaxis] - low).reshape(-1, X.shape[1])
    size = np.abs(D).max() or 1.0
    shares, _ = nnls(np.vstack([D.T / size, np.ones(len(D))]), np.append(np.zeros(X.shape[1]), 1.0))
    apart = D.T @ (shares / shares.sum())
    if np.abs(apart).max() <= 1e-7 * size:
        return None
    w = 2 * apart / (apart @ apart)
    return w, -((high @ w).min() + (low @ w).max()) / 2


BARELY_MORE = 1 + Fraction(1, 10**12)


def bias_range(values, y, c):
    """All b with the least loss ``Σ c_i max(0, 1 - y_i(values_i + b))``, from and to.

    The loss is piecewise linear: its minimum is at one of the corners, or between two. It may be
    zero at both, which floats would miss.
    """
    rows = [(Fraction(v), int(side), Fraction(w)) for v, side, w in zip(values, y, c, strict=True)]
    corners = sorted(side - v for v, side, w in rows if w > 0)
    loss = [sum(w * max(0, 1 - side * (v + b)) for v, side, w in rows) for b in corners]
    best = [b for b, lost in zip(corners, loss, strict=True) if lost <= min(loss) * BARELY_MORE]
    return float(best[0]), float(best[-1])


def exact_smallest(X, y, w, b):
    """``min y(w·x + b)`` in rational numbers."""
    w = [Fraction(v) for v in w.tolist()]
    rows = zip(X.tolist(), y.tolist(), strict=True)
    return min(
        int(side) * (sum(Fraction(v) * a for v, a in zip(x, w, strict=True)) + Fraction(b))
        for x, side in rows
    )


def assert_honest(model, X, y, s=None, tol=None):
    """A closed gap that is what it says: proved by `certify`, and true of the hyperplane."""
    tol = model.tol if tol is None else tol
    assert model.stop_reason_ is rb.StopReason.GAP_CLOSED
    best = model.certificate_
    assert best is model.optimum_
    assert 0 <= model.gap_ == best.gap <= tol
    found = rb.certify.check(best, X, y, s)
    assert found, found.why
    w, b = model.coef_[0], model.intercept_[0]
    if best.C is None:
        counted = np.ones(len(signs(y)), bool) if s is None else np.asarray(s) > 0
        least = exact_smallest(dense(X)[counted], signs(y)[counted], w, b)
        assert abs(least - 1) <= 1e-9 + 1e-14 * np.abs(dense(X) @ w).max()
        square = sum(Fraction(v) ** 2 for v in w.tolist())
        exact = square / (2 * least**2)
        assert exact <= Fraction(best.primal) <= exact * (1 + Fraction(1, 10**15))
    else:
        primal = objective(X, y, best.C, w, b, s)
        assert abs(best.primal - primal) <= 1e-9 * primal + 1e-14 * best.C * np.abs(dense(X)).max()
    pull = (model.dual_coef_ @ dense(X)[model.support_])[0]
    # The objective grows at least as the square of the distance from the best w.
    assert np.linalg.norm(w - pull) <= 2 * np.sqrt(2 * tol * best.primal) + 1e-12 * np.abs(w).max()
    return best


def assert_same(one, other, scale=1.0, off=1e-12):
    """Two fits to the same optimum, as near to each other as their gaps allow.

    `off` is what rounding may do to ``y(w·x + b) >= 1``.
    """
    a, b = one.optimum_, other.optimum_
    assert a.dual <= b.primal * (1 + 4 * off)
    assert b.dual <= a.primal * (1 + 4 * off)
    far = sum(np.sqrt(2 * max(1e-15 * o.primal, o.primal - o.dual)) for o in (a, b))
    near = far + 1e-9 * np.linalg.norm(a.hyperplane.w)
    assert np.linalg.norm(a.hyperplane.w - scale * b.hyperplane.w) <= near


def assert_no_worse_than_libsvm(optimum, X, y, C, s=None):
    """Neither's bound is above the other's objective, and w is as near as the gaps allow."""
    w, b, alpha = soft_margin(X, y, C, s)
    primal, dual = objective(X, y, C, w, b, s), dual_value(X, y, alpha)
    assert optimum.dual <= primal * (1 + 1e-10)
    assert dual <= optimum.primal * (1 + 1e-10)
    far = np.sqrt(2 * max(0, primal - dual)) + np.sqrt(2 * max(0, optimum.primal - optimum.dual))
    assert np.linalg.norm(optimum.hyperplane.w - w) <= far + 1e-5 * np.sqrt(primal)
    return primal, dual
