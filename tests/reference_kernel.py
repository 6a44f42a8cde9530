"""The kernel perceptron straight from the textbook: two loops, and sums without rounding.

Kernel values are floats, each made from one inner product (or squared distance) by
`rows.dot`; coefficients are floats. A score ``f(x_i) = Σ a_j K(x_i, x_j)`` is the exact
sum of their products: all floats are multiples of a power of two, so that Python's whole numbers
hold it.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, pairwise

import numpy as np

from reference import orders
from rosenblatt.contract.parameters import seed_from
from rosenblatt.data.dots import dot
from rosenblatt.kernels.functions import Radial
from rosenblatt.results import StopReason


def dots(X, Y):
    """``x·y`` for every row of X with every row of Y, in the library's order of additions.

    Dense rows as in `rows.dot`; of sparse rows of Y the entries at even and odd places.
    """
    if hasattr(Y, "indptr"):
        X = X.toarray().astype(np.float64)
        rows = [slice(*Y.indptr[j : j + 2]) for j in range(Y.shape[0])]
        P = [X[:, Y.indices[row]] * Y.data[row].astype(np.float64) for row in rows]
        return np.column_stack([in_turn(p[:, ::2]) + in_turn(p[:, 1::2]) for p in P])
    P = X.astype(np.float64)[:, None] * Y.astype(np.float64)
    whole = P.shape[2] // 16 * 16
    sums = np.zeros((*P.shape[:2], 16))
    for j in range(0, whole, 16):
        sums += P[:, :, j : j + 16]
    for width in (8, 4, 2, 1):
        sums = sums[:, :, :width] + sums[:, :, width:]
        if P.shape[2] & width:
            sums += P[:, :, whole : whole + width]
            whole += width
    return sums[:, :, 0]


def in_turn(P):
    """Sums of the rows, one term after the other."""
    return np.cumsum(np.column_stack([np.zeros(len(P)), P]), axis=1)[:, -1]


def norms2(X):
    """``‖x‖²`` of every row."""
    if hasattr(X, "indptr"):
        squares = [X.data[a:z].astype(np.float64) ** 2 for a, z in pairwise(X.indptr)]
        return np.array([in_turn(row[None])[0] for row in squares])
    return np.array([dot(x, x) for x in X])


def gram(kernel, X, Y=None, bias=0.0):
    """Values of every row of X with every row of Y."""
    Y = X if Y is None else Y
    if isinstance(kernel, Radial):
        X, Y = (A.toarray() if hasattr(A, "indptr") else A for A in (X, Y))
        apart = X.astype(np.float64)[:, None] - Y.astype(np.float64)
        rows = apart.reshape(-1, apart.shape[2])
        squares = np.array([dot(row, row) for row in rows]).reshape(apart.shape[:2])
        return np.array([kernel.of_distances(row) for row in squares]) + bias
    Z = dots(X, Y)
    y2 = norms2(Y)
    for i, x2 in enumerate(norms2(X)):
        Z[i] = kernel.of_products(Z[[i]], np.array([x2]), y2)[0] + bias
    return Z


def whole(values):
    """The floats times one power of two, as Python's integers; and that power's exponent."""
    m, e = np.frexp(np.asarray(values, np.float64))
    low = int(e[m != 0].min()) if m.any() else 0
    ints = [
        int(a * 2.0**53) << max(0, int(b) - low)
        for a, b in zip(m.ravel().tolist(), e.ravel().tolist(), strict=True)
    ]
    return np.array(ints, dtype=object).reshape(m.shape), 53 - low


@dataclass
class Path:
    """What a run passed through.

    `log` has (epoch, sample, exact score rounded, step) of every mistake; `vectors` the
    coefficients at the start and after every update, with the visits each lived for in `lives`
    and which samples had scores > 0 in `positive`.
    """

    coef: np.ndarray
    counts: np.ndarray
    mistakes: list = field(default_factory=list)
    log: list = field(default_factory=list)
    vectors: list = field(default_factory=list)
    lives: list = field(default_factory=list)
    positive: list = field(default_factory=list)
    updates_until: list = field(default_factory=list)
    dropped: list = field(default_factory=list)
    separated: bool = False

    def live(self, scores):
        self.vectors.append(self.coef.copy())
        self.positive.append(np.array([f > 0 for f in scores], bool))
        self.lives.append(0)

    @property
    def average(self):
        return np.average(self.vectors, axis=0, weights=self.lives)

    def vote(self, K):
        """The share of the vote for minus that against, for the rows of K."""
        signs = np.where(K @ np.array(self.vectors).T > 0, 1, -1)
        return signs @ np.array(self.lives) / sum(self.lives)


def train(K, y, epochs, weight=None, drop_after=None, pick=None):
    """One update ``a_i += weight_i y_i`` per mistake, in the given orders.

    With `pick` an epoch finds all mistakes and uses the one it chooses (from the exact scores).
    """
    n, y = len(y), np.asarray(y).tolist()
    weight = np.ones(n) if weight is None else weight
    (k, a), (_, b) = whole(K), whole(weight)
    f, unit = np.array([0] * n, dtype=object), Fraction(2) ** -(a + b)
    path = Path(np.zeros(n), np.zeros(n, np.int64))
    path.live(f)
    gone = np.zeros(n, bool)

    def wrong(i):
        return not y[i] * f[i] > 0 and weight[i] > 0 and not gone[i]

    for order in epochs:
        path.mistakes.append(0)
        if pick is not None:
            order = [i for i in range(n) if wrong(i)]
            order = [order[pick([y[i] * f[i] for i in order])]] if order else []
        for i in order:
            if wrong(i):
                step, before = y[i] * weight[i], path.coef[i]
                path.coef[i] += step
                path.counts[i] += 1
                if drop_after and path.counts[i] >= drop_after:
                    step, path.coef[i], gone[i] = step - path.coef[i], 0.0, True
                    path.dropped.append((int(i), int(path.counts[i]), len(path.mistakes)))
                path.log.append((len(path.mistakes), int(i), float(f[i] * unit), float(step)))
                path.mistakes[-1] += 1
                moved = (Fraction(path.coef[i]) - Fraction(before)) * Fraction(2) ** b
                f = f + int(moved) * k[:, i]
                path.live(f)
            path.lives[-1] += 1
        if pick is not None:
            path.lives[-1] += not order
        path.updates_until.append(len(path.vectors))
        path.separated = path.mistakes[-1] == 0 and not any(wrong(i) for i in range(n))
        if path.separated:
            break
    return path


def pocket(path, y, weight=None):
    """Coefficients with the smallest weight of errors, the earliest; and that after each epoch."""
    weight = np.ones(len(y)) if weight is None else weight
    best, fewest, after = None, np.inf, []
    for t, (vector, positive) in enumerate(zip(path.vectors, path.positive, strict=True), 1):
        found = sum(weight[positive != (y > 0)], 0.0)
        if found < fewest:
            best, fewest = vector, found
        after += [fewest] * path.updates_until.count(t)
    return best, np.array(after)


def forgetful(K, Y, epochs, budget, known=()):
    """With a budget: at a mistake on a new sample, the one with the oldest mistake goes first.

    `Y` has a column of labels -1 and 1 for each two-class problem; they share the support
    vectors and what is forgotten, and so go on until none of them makes a mistake. `known` are
    rows of K that stand for earlier data, already support vectors: pairs of
    the row and its coefficients, oldest first. Returns what `support` ended as, and the mistakes
    (epoch, sample) of each problem.
    """
    ints, _ = whole(K)
    support = {i: np.array(coef, dtype=object) for i, coef in known}
    logs = [[] for _ in Y.T]
    for epoch, order in enumerate(epochs, 1):
        mistakes = False
        for i in order:
            f = sum((coef * ints[i, j] for j, coef in support.items()), np.zeros(len(logs), int))
            wrong = [c for c in range(len(logs)) if not Y[i, c] * f[c] > 0]
            if not wrong:
                continue
            if i not in support and len(support) == budget:
                del support[next(iter(support))]
            coef = support.pop(i, np.zeros(len(logs), dtype=object))
            for c in wrong:
                coef[c] += int(Y[i, c])
                logs[c].append((epoch, int(i)))
                mistakes = True
            support[i] = coef  # a dict keeps the order: the latest mistake comes last
        if not mistakes:
            break
    return support, logs


def noise(n=40, d=4, classes=2, seed=0):
    """Samples, and labels that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), np.r_[np.arange(classes), rng.integers(0, classes, n)][:n]


def signs(y):
    """Labels 0 and 1 as -1 and +1."""
    return np.where(y == 1, 1, -1)


def spread(model, n, k=0):
    """The coefficients of all n samples."""
    coef = np.zeros(n)
    coef[model.support_] = model.dual_coef_[k]
    return coef


def epochs_of(model, n, k=0):
    """The orders that a model drew in its k-th problem."""
    drawn = orders(model.order, n, model.max_epochs, seed_from(model.random_state))
    return islice(drawn, model.fits_[k].n_epochs)


def two_class(model, y, sample_weight=None):
    """Labels -1 and 1, and weights, of each two-class problem."""
    positives = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    factors = model.class_weight or {}
    for positive in positives:
        own = y == positive
        weight = np.ones(len(y)) if sample_weight is None else np.array(sample_weight, float)
        rest = 1.0
        if len(model.classes_) == 2:
            rest = factors.get(model.classes_[0], 1.0)
        yield np.where(own, 1, -1), weight * np.where(own, factors.get(positive, 1.0), rest)


def assert_same_run(model, path, k=0):
    """The recorded run has the path's mistakes, with their exact scores, and its coefficients."""
    fit = model.fits_[k]
    updates = fit.trace.updates
    columns = (updates.epoch, updates.sample, updates.value, updates.step)
    found = list(zip(*(column.tolist() for column in columns), strict=True))
    assert [row[:2] for row in found] == [row[:2] for row in path.log]
    assert found == path.log
    assert fit.trace.mistakes.tolist() == path.mistakes
    assert fit.n_mistakes == fit.n_updates == len(path.log)
    quiet = StopReason.NO_MISTAKES if path.dropped else StopReason.SEPARATED
    assert (fit.stop_reason is quiet) == path.separated
    coef, counts = np.zeros(len(path.coef)), np.zeros(len(path.coef), int)
    coef[model.support_], counts[model.support_] = fit.last, fit.alpha
    np.testing.assert_array_equal(coef, path.coef)
    alive = path.coef != 0
    np.testing.assert_array_equal(counts[alive], path.counts[alive])
