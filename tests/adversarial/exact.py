"""Exact arithmetic for the judges: nothing here but the standard library.

Floats are whole numbers times powers of two, so all of this is done in Python's integers; a
`Fraction` comes last. Elimination and simplex steps divide without remainder by the pivot before
(J. Edmonds, "Systems of distinct representatives and linear algebra", 1967).
"""

import sys
from fractions import Fraction
from math import lcm


def whole(numbers):
    """Integers and a positive Fraction: each number is its integer times the Fraction.

    Of one array the integers are as small as they can be without a division by odd numbers.
    """
    ratios = [number.as_integer_ratio() for number in numbers]
    below = lcm(*(d for _, d in ratios))
    integers = [n * (below // d) for n, d in ratios]
    shift = min((_trailing(n) for n in integers if n), default=0)
    return [n >> shift for n in integers], Fraction(1 << shift, below)


def _trailing(n):
    """How many zeros end a number in binary."""
    return (n & -n).bit_length() - 1


def dot(u, v):
    return sum(a * b for a, b in zip(u, v, strict=True) if a and b)


# Linear systems ---------------------------------------------------------------------------------


def reduce(rows):
    """The reduced form of an integer matrix: its rows, the pivot columns, and the one pivot.

    Every pivot column holds the pivot in its own row, and nothing else.
    """
    rows = [list(row) for row in rows]
    pivots, last = [], 1
    for column in range(len(rows[0]) if rows else 0):
        top = len(pivots)
        found = next((i for i in range(top, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        rows[top], rows[found] = rows[found], rows[top]
        last = _clear(rows, top, column, last)
        pivots.append(column)
    return rows[: len(pivots)], pivots, last


def _clear(rows, top, column, last):
    """One step: the column holds nothing but the pivot, which is returned."""
    row = rows[top]
    pivot = row[column]
    for i, other in enumerate(rows):
        if i != top:
            factor = other[column]
            rows[i] = [(pivot * a - factor * b) // last for a, b in zip(other, row, strict=True)]
    return pivot


def rank(rows):
    return len(reduce(rows)[1])


def only_relation(vectors):
    """The only numbers, but for a factor, with which integer vectors cancel; None if not one."""
    rows, pivots, pivot = reduce(list(map(list, zip(*vectors, strict=True))))
    free = [j for j in range(len(vectors)) if j not in pivots]
    if len(free) != 1:
        return None
    relation = [0] * len(vectors)
    relation[free[0]] = pivot
    for row, j in zip(rows, pivots, strict=True):
        relation[j] = -row[free[0]]
    return relation if pivot > 0 else [-number for number in relation]


def solve(rows, side):
    """The only solution of ``rows x = side`` in integers; None if there is none, or more."""
    n = len(rows[0])
    reduced, pivots, pivot = reduce([[*row, s] for row, s in zip(rows, side, strict=True)])
    if pivots != list(range(n)):
        return None
    return [Fraction(row[n], pivot) for row in reduced]


# Linear programs --------------------------------------------------------------------------------


def feasible(columns, side):
    """Whether non-negative multiples of the columns (integer vectors) can sum to `side`.

    The first phase of the simplex method. The steepest column enters, but the first one after a
    step that gained nothing (R. G. Bland, "New finite pivoting rules", 1977): so it ends.
    """
    m = len(side)
    flip = [-1 if s < 0 else 1 for s in side]
    rows = [
        [f * number for number in [*(c[i] for c in columns), side[i]]] for i, f in enumerate(flip)
    ]
    rows.append([-sum(column) for column in zip(*rows, strict=True)])  # what is missing, negated
    basis, last, stuck = [len(columns) + i for i in range(m)], 1, False
    while rows[m][-1]:
        costs = rows[m][:-1]
        entering = [j for j, cost in enumerate(costs) if cost < 0]
        if not entering:
            return False
        j = entering[0] if stuck else min(entering, key=costs.__getitem__)
        r = _leaving(rows, basis, j, m)
        stuck = not rows[r][-1]
        last = _clear(rows, r, j, last)
        basis[r] = j
    return True


def _leaving(rows, basis, j, m):
    """The row with the least ratio; of these the one whose variable comes first."""
    best = None
    for i in range(m):
        if rows[i][j] > 0:
            if best is not None:
                order = rows[i][-1] * rows[best][j] - rows[best][-1] * rows[i][j]
                if order > 0 or (order == 0 and basis[i] > basis[best]):
                    continue
            best = i
    return best


def verdict(signed):
    """What is true of signed, augmented samples (integer vectors): by two linear programs.

    Some shares of them cancel, or a hyperplane separates; positive multiples of all of them
    cancel, or a hyperplane has some off it and none on its wrong side.
    """
    size = len(signed[0])
    if not feasible([(*z, 1) for z in signed], [0] * size + [1]):
        return "SEPARABLE"
    total = [-sum(column) for column in zip(*signed, strict=True)]
    return "INSEPARABLE" if feasible(signed, total) else "QUASI_SEPARABLE"


def cancels(vectors):
    """Whether some positive multiples of all the vectors cancel."""
    return feasible(vectors, [-sum(column) for column in zip(*vectors, strict=True)])


# Nearest points ---------------------------------------------------------------------------------


def nearest(high, low):
    """The vector from the hull of `low` to the hull of `high` that is shortest, in Fractions.

    P. Wolfe, "Finding the nearest point in a polytope", Mathematical Programming 11, 1976, on
    the differences of two samples; exact, so it ends with the very point.
    """
    start = (0, 0)
    corral, weights = [start], [Fraction(1)]
    while True:
        points = [[a - b for a, b in zip(high[i], low[j], strict=True)] for i, j in corral]
        x, scale = _mean(points, weights)
        i = min(range(len(high)), key=lambda i: dot(x, high[i]))
        j = max(range(len(low)), key=lambda j: dot(x, low[j]))
        if (i, j) in corral or dot(x, x) <= scale * (dot(x, high[i]) - dot(x, low[j])):
            return [Fraction(number, scale) for number in x]
        points.append([a - b for a, b in zip(high[i], low[j], strict=True)])
        corral, weights = _descend([*corral, (i, j)], points, [*weights, Fraction(0)])


def _mean(points, weights):
    """The weighted mean of integer points: integers, and what to divide them by."""
    below = lcm(*(weight.denominator for weight in weights))
    shares = [weight.numerator * (below // weight.denominator) for weight in weights]
    return [dot(shares, column) for column in zip(*points, strict=True)], below


def _descend(corral, points, weights):
    """The corral in whose hull the point of its plane nearest to the origin lies, and that."""
    while True:
        target = _affine(points)
        if min(target) > 0:
            return corral, target
        falling = [(w, t) for w, t in zip(weights, target, strict=True) if t <= 0]
        step = min(w / (w - t) if w else w for w, t in falling)
        weights = [w + step * (t - w) for w, t in zip(weights, target, strict=True)]
        kept = [k for k, weight in enumerate(weights) if weight > 0]
        corral = [corral[k] for k in kept]
        points = [points[k] for k in kept]
        weights = [weights[k] for k in kept]


def _affine(points):
    """The shares, which sum to 1, of the point nearest to the origin in a plane through points."""
    gram = [[dot(p, q) for q in points] + [1] for p in points]
    gram.append([1] * len(points) + [0])
    found = solve(gram, [0] * len(points) + [1])
    assert found is not None, "the points of a corral are affinely independent"
    return found[:-1]


# Roots ------------------------------------------------------------------------------------------


def compare_root(number, square):
    """-1, 0 or 1: how a rational number compares with the root of a rational one (both >= 0)."""
    difference = number * number - square
    return (difference > 0) - (difference < 0)


def near_root(number, square, share):
    """Whether a float is the root of `square` but for a share of it, or for the end of floats."""
    tiny, huge = Fraction(5e-324), Fraction(2) ** 1024 - Fraction(2) ** 970
    if number != number:
        return False
    if number >= sys.float_info.max:  # infinity, and the largest float stands for more as well
        return square >= huge * huge * (1 - share) ** 2
    number = Fraction(number)
    low, high = number * (1 - share) - tiny, number * (1 + share) + tiny
    return (low <= 0 or low * low <= square) and high >= 0 and square <= high * high
