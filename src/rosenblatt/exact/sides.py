"""``w·x + b`` for every sample, its sign exact, at little more than the cost of ``X @ w``.

The floating-point value comes with a bound on its error (N. J. Higham, "Accuracy and Stability
of Numerical Algorithms", 2nd ed., 2002, section 3.1). Where it does not tell the sign, a few
floats that sum to the value do (see `dot_products`), and where numbers differ too much for these,
integers.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.exact.blocks import (
    RowBlock,
    Sparse,
    block_of,
    blocks,
    rounds_nothing,
    shape,
    without_rounding,
)
from rosenblatt.exact.dot_products import exact_parts, rounded_sums, smallest_sum
from rosenblatt.exact.passes import in_turn, map_blocks
from rosenblatt.exact.rationals import (
    LARGEST,
    NONE,
    SMALLEST,
    decompose,
    nearest_float,
    over_one_denominator,
    root_near,
    short_integers,
    with_its_sign,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.exact.passes import Each
    from rosenblatt.exact.rationals import Mask, Objects

FIRST = 256  # rows that tell sizes
CHUNK = 2**12  # rows settled in integers at a time
FEW = 16  # rows that are settled in integers without further ado
NORMAL = sys.float_info.min
LOST = 1e-290  # more than all the products that are too small for floats can add up to


class Form:
    """A linear form ``x -> (Σ_j x_j numbers_j + numbers_d) / denominator`` and nearby floats.

    `t` has the coefficients times ``2**-scale``, rounded, the bias last; ``|x|·g`` bounds the
    error of ``x·t``, from rounding `t` and from computing.
    """

    def __init__(self, theta: Sequence[Any], sizes: Floats) -> None:
        self._theta = theta
        floats = np.array(theta) if all(isinstance(number, float) for number in theta) else None
        self.scale = self._scale(floats, np.append(sizes, 1.0))
        if floats is None:
            differs = self._round()
        else:  # as the integers would have it, but for those that take long to make
            self.t = np.ldexp(floats, -self.scale)
            differs = np.ldexp(self.t, self.scale) != floats
        self.exact = not differs.any()
        size = np.abs(self.t)
        self.g = np.where(differs, size * 2.0**-52 + 2.0**-1074, 0.0)
        # Twice what products and sums need, and so enough for integers rounded to floats, too.
        self.g += size * (len(theta) + 4) * 2.0**-52

    @cached_property
    def _over_one(self) -> tuple[Objects, int]:
        return over_one_denominator(self._theta)

    @property
    def numbers(self) -> Objects:
        """The numerators."""
        return self._over_one[0]

    @property
    def denominator(self) -> int:
        """What they are over."""
        return self._over_one[1]

    def _numbers_for(self, block: RowBlock) -> tuple[Objects, int]:
        """Numerators and denominator, for the columns that the entries of a block are in."""
        d = len(self._theta) - 1
        if not isinstance(block, Sparse) or 4 * block.columns.size > d:
            return self._over_one
        used = np.append(np.unique(block.columns), d)
        numbers = np.zeros(d + 1, dtype=object)
        numbers[used], denominator = over_one_denominator([self._theta[j] for j in used.tolist()])
        return numbers, denominator

    def _round(self) -> Mask:
        """Round the coefficients; returned is which of them that has changed."""
        up, down = 1 << max(-self.scale, 0), self.denominator << max(self.scale, 0)
        self.t = np.array([nearest_float(n * up, down) for n in self.numbers])
        ratios = [x.as_integer_ratio() for x in self.t.tolist()]
        pairs = zip(self.numbers, ratios, strict=True)
        return np.array([n * up * b != a * down for n, (a, b) in pairs])

    def _scale(self, floats: Floats | None, sizes: Floats) -> int:
        """The power of two that brings the largest product ``|x_j θ_j|`` near 1."""
        if floats is None:
            own = self.denominator.bit_length()
            lengths = np.array([n.bit_length() - own for n in self.numbers])
            used = np.array([n != 0 for n in self.numbers])
        else:
            lengths, used = np.frexp(floats)[1].astype(np.int64) - 1, floats != 0
        if not used.any():
            return 0
        known = used & (sizes > 0)  # if none is, they may be about 1
        products = (lengths + np.frexp(sizes)[1])[known] if known.any() else lengths[used]
        return max(int(products.max()), int(lengths[used].max()) - 1000)

    def rough_values(self, block: RowBlock) -> tuple[Floats, float]:
        """``(x_i, 1)·t``, and one bound on all errors: cheap, and good enough for most rows."""
        with np.errstate(all="ignore"):
            values = block.dot(self.t[:-1])
            values += self.t[-1]
            # By Cauchy and Schwarz, and no length is more than the sum of the numbers' sizes.
            error = 1.01 * float(block.length() * self.g[:-1].sum() + self.g[-1])
        error += len(self.t) * 2.0**-1070
        return values, error if np.isfinite(values).all() else np.inf

    def values(self, block: RowBlock) -> tuple[Floats, Floats]:
        """``(x_i, 1)·t``, and bounds on the errors."""
        with np.errstate(all="ignore"):
            values = block.dot(self.t[:-1]) + self.t[-1]
            errors = block.size_dot(self.g[:-1]) + self.g[-1]
        errors *= 1.01
        errors += len(self.t) * 2.0**-1070
        errors[~np.isfinite(values)] = np.inf
        return values, errors

    def values_apart(self, block: RowBlock) -> tuple[Floats, Floats]:
        """The same; what becomes of a row does not depend on its neighbours."""
        sizes = replace(block, floats=np.abs(block.floats))
        with np.errstate(all="ignore"):
            values = block.dot_apart(self.t[:-1]) + self.t[-1]
            errors = 1.01 * (sizes.dot_apart(self.g[:-1]) + self.g[-1])
        errors += len(self.t) * 2.0**-1070
        errors[~np.isfinite(values)] = np.inf
        return values, errors

    @cached_property
    def low(self) -> Ints:
        """Exponents of two: every number in `t` is a multiple of its power; none for 0."""
        return _units(self.t)

    def rounds_nothing(self, block: RowBlock) -> bool:
        """Whether floats compute ``(x_i, 1)·t`` exactly for whole numbers as small as these."""
        return self.exact and rounds_nothing(block, self.low, np.abs(self.t))

    def exact_values(self, block: RowBlock) -> Iterator[Fraction]:
        """``w·x_i + b`` for every row."""
        numbers, denominator = self._numbers_for(block)
        return (Fraction(n, d) for n, d in _ratios(block, numbers, denominator))

    def exact_signs(self, block: RowBlock) -> NDArray[np.int8]:
        """The signs of ``w·x_i + b``."""
        n, _ = _numerators(block, self.numbers)
        return (n > 0).astype(np.int8) - (n < 0).astype(np.int8)


def _units(numbers: Floats) -> Ints:
    """For each number the exponent of a power of two that it is a multiple of; none for 0."""
    M, E = decompose(numbers)
    return np.where(M != 0, E, NONE)


def _numerators(block: RowBlock, numbers: Objects) -> tuple[Objects, Ints]:
    """Integers n and k, ``Σ_j x_ij numbers_j + numbers_d`` being ``n / 2**k``, for every row.

    With a row of numbers for each column, and a row of integers.
    """
    n, e = block.exact(numbers[:-1])
    up, down = (np.maximum(x, 0) for x in (e, -e))
    wide = (len(e),) + (1,) * (n.ndim - 1)
    shifted = n << up.astype(object).reshape(wide)
    return shifted + (numbers[-1] << down.astype(object).reshape(wide)), down


def _ratios(block: RowBlock, numbers: Objects, denominator: int) -> Iterator[tuple[int, int]]:
    """``(Σ_j x_ij numbers_j + numbers_d) / denominator`` as a fraction, for every row."""
    n, k = _numerators(block, numbers)
    return zip(n.tolist(), (denominator << power for power in k.tolist()), strict=True)


def _form(X: Any, theta: Any) -> Form:
    """The form, scaled to the sizes that the first samples have."""
    numbers = theta.tolist() if isinstance(theta, np.ndarray) else list(theta)
    d = shape(X)[1]
    if len(numbers) != d + 1:
        msg = f"theta has {len(numbers)} entries but X has {d} columns: give {d + 1}, bias last"
        raise ValueError(msg)
    if getattr(X, "far", None) is not None:
        few = X[np.arange(min(FIRST, X.shape[0]))]
        return Form(numbers, block_of(few, 0, few.shape[0]).largest())
    first = next((block for _, block in blocks(X)), None)
    return Form(numbers, np.zeros(d) if first is None else first.largest())


def signs(
    X: Any,
    theta: Sequence[Any],
    look_up: Callable[[float], None] | None = None,
    each: Each = in_turn,
) -> NDArray[np.int8]:
    """The exact sign of ``w·x_i + b`` for every row of X: -1, 0 or 1.

    X is an array or a CSR matrix without duplicate entries, of finite floats or integers; `theta`
    has d + 1 floats or Fractions, bias last: here and below. `look_up` is called before each
    block, with how many numbers it has; it may raise to end the work. `each` may look at several
    blocks side by side.
    """
    result, at = np.zeros(shape(X)[0], dtype=np.int8), 0
    for found in map_blocks(X, partial(_signs, _form(X, theta)), each, look_up=look_up):
        result[at : at + len(found)] = found
        at += len(found)
    return result


def _signs(form: Form, block: RowBlock, rows: slice) -> NDArray[np.int8]:
    """The exact signs of the rows of a block."""
    values, error = form.rough_values(block)
    with np.errstate(invalid="ignore"):
        found = np.sign(values).astype(np.int8)
    doubtful = np.flatnonzero(~(np.abs(values) > error))
    if doubtful.size and not (doubtful.size > FEW and form.rounds_nothing(block)):
        found[doubtful] = _settled_signs(form, block.take(doubtful))
    return found


def _settled_signs(form: Form, block: RowBlock) -> NDArray[np.int8]:
    """The exact signs of rows that are close to zero, or may be."""
    values, errors = form.values(block)
    doubtful = np.flatnonzero(~(np.abs(values) > errors))
    if doubtful.size and form.exact:
        certain = without_rounding(block.take(doubtful), form.low, np.abs(form.t))
        doubtful = doubtful[~certain]
    if doubtful.size > FEW and form.exact:
        parts, sure, _ = exact_parts(block.take(doubtful), form.t)
        values[doubtful[sure]] = rounded_sums(parts[sure])
        doubtful = doubtful[~sure]
    values[np.isnan(values)] = 0.0
    result = np.sign(values).astype(np.int8)
    for at in range(0, doubtful.size, CHUNK):
        rows = doubtful[at : at + CHUNK]
        result[rows] = form.exact_signs(block.take(rows))
    return result


def as_signs(positive: Mask) -> NDArray[np.int8]:
    """1 where it is true, -1 elsewhere."""
    found = positive.astype(np.int8)
    found *= 2
    found -= 1
    return found


def margin_of(
    X: Any,
    y_signed: ArrayLike,
    theta: Sequence[Any],
    each: Each = in_turn,
    look_up: Callable[[float], None] | None = None,
) -> float:
    """``min_i y_i(w·x_i + b)/‖w‖``, rounded once: right even where the sums cancel.

    It has the exact sign: what is not zero never becomes zero. The labels are -1 and 1, w is not 0.
    `each` and `look_up` as for `signs`.
    """
    form = _form(X, theta)
    least = _smallest(X, np.asarray(y_signed), form, look_up=look_up, each=each)
    return _over_norm(least, form)


def smallest(
    X: Any,
    y_signed: ArrayLike,
    theta: Sequence[Any],
    among: Ints | None = None,
    look_up: Callable[[float], None] | None = None,
    each: Each = in_turn,
) -> Fraction:
    """``min_i y_i(w·x_i + b)``, exactly; parameters as for `margin_of`.

    With `among`, row numbers in ascending order, of these rows only. `look_up` as for `signs`.
    """
    return _smallest(X, np.asarray(y_signed), _form(X, theta), among, look_up, each)


class Lowest(NamedTuple):
    """Rows of a block that may have its smallest value, and their labels."""

    low: float  # the smallest value of the block is between these
    high: float
    rows: RowBlock
    side: NDArray[Any]


def _lowest(form: Form, block: RowBlock, numbers: Any, side: NDArray[Any]) -> Lowest:
    """The rows of a block that may have its smallest value."""
    values, error = form.rough_values(block)
    values *= side
    # Twice the bound covers the rounding of these lines as well.
    low, high = values.min() - 2 * error, values.min() + 2 * error
    rows = np.flatnonzero(~(values - 2 * error > high))
    return Lowest(float(low), float(high), block.take(rows), side[rows])


def _still_lowest(found: list[Lowest]) -> list[Lowest]:
    """Those of some blocks that may have the smallest value of all."""
    ceiling = min((one.high for one in found), default=np.inf)
    return [one for one in found if not one.low > ceiling]


def _smallest(
    X: Any,
    y: NDArray[Any],
    form: Form,
    among: Ints | None = None,
    look_up: Callable[[float], None] | None = None,
    each: Each = in_turn,
) -> Fraction:
    """``min_i y_i(w·x_i + b)`` of a form."""
    best: Fraction | None = None
    ceiling = np.inf
    columns = [y.astype(np.int8, copy=False)]  # they may have to travel
    task = partial(_lowest, form)
    for found in map_blocks(X, task, each, among, look_up, columns, sift=_still_lowest):
        if not found.low > ceiling:
            ceiling = min(ceiling, found.high)
            exact, ceiling = _settled_values(form, found, ceiling)
            best = min([*exact, *([] if best is None else [best])], default=None)
    assert best is not None
    return best


def _settled_values(form: Form, found: Lowest, ceiling: float) -> tuple[list[Fraction], float]:
    """The exact values of rows that may be the smallest of all, and a bound above that."""
    values, errors = form.values(found.rows)
    with np.errstate(all="ignore"):
        values *= found.side
        ceiling = min(ceiling, float(np.nanmin(values + 2 * errors, initial=np.inf)))
        close = np.flatnonzero(~(values - 2 * errors > ceiling))
    if close.size > FEW and form.exact:
        parts, sure, _ = exact_parts(found.rows.take(close), form.t)
        parts *= found.side[close, np.newaxis]
        first = [smallest_sum(parts[sure])] if sure.any() else []
        close = np.append(close[~sure], close[sure][first])
    exact: list[Fraction] = []
    for at in range(0, close.size, CHUNK):
        few = close[at : at + CHUNK]
        pairs = zip(form.exact_values(found.rows.take(few)), found.side[few], strict=True)
        exact.append(min(v * int(s) for v, s in pairs))
    return exact, ceiling


def _over_norm(value: Fraction, form: Form) -> float:
    """``value / ‖w‖``, to the last bit or nearly; with its sign, however small."""
    square = sum(n * n for n in form.numbers[:-1])
    if square == 0:
        return math.copysign(math.inf, value) if value else math.nan
    size = root_near((value * form.denominator) ** 2 / square)
    if value:
        size = min(max(size, SMALLEST), LARGEST)
    return -size if value < 0 else size


def first_not_annihilated(
    X: Any, vectors: Sequence[Sequence[int]], among: Ints | None = None, each: Each = in_turn
) -> int | None:
    """The first row with ``(x_i, 1)·v != 0`` for one of the integer vectors, or None.

    With `among`, row numbers in ascending order, the first of these. `each` as for `signs`.
    """
    if not len(vectors):
        return None
    short = short_integers(vectors)
    V = np.array([[int(n) for n in v] for v in vectors] if short is None else short, object).T
    floats = np.zeros(V.shape) if short is None else short.T.astype(np.float64)
    sizes = np.abs(floats).max(axis=1)
    low = np.where(sizes > 0, 0, NONE)
    packed: dict[int, Floats] = {}
    some = among is not None

    def missed(block: RowBlock, rows: Any) -> int | None:
        certain = np.zeros(len(block), dtype=bool)
        if short is not None:
            certain = without_rounding(block, low, sizes)
        bits = _digits(block, sizes)
        P = packed[bits] = packed[bits] if bits in packed else _packed(floats, bits)
        zero = (block.times(P[:-1]) + P[-1] == 0).all(axis=1)
        unsure = np.flatnonzero(~certain)
        if unsure.size:
            zero[unsure] = ~(_numerators(block.take(unsure), V)[0] != 0).any(axis=1)
        if zero.all():
            return None
        at = int(np.argmin(zero))
        return int(rows[at]) if some else rows.start + at

    return next((row for row in map_blocks(X, missed, each, among) if row is not None), None)


def _digits(block: RowBlock, sizes: Floats) -> int:
    """How many bits any ``(x_i, 1)·v`` of whole numbers has, sign included; 53 if not whole."""
    largest = float((block.size_dot(sizes[:-1]) + sizes[-1]).max(initial=0.0))
    if not largest < 2.0**50 or not block.whole():
        return 53
    return int(np.frexp(2.02 * largest + 2)[1])


def _packed(V: Floats, bits: int) -> Floats:
    """Several columns as the digits of one, as many as floats of 53 bits have room for.

    A sum of products with whole numbers is zero exactly if all its digits are.
    """
    m, k = V.shape
    per = max(1, 53 // bits)
    wide = np.zeros((m, -(-k // per) * per))
    wide[:, :k] = V
    packed: Floats = wide.reshape(m, -1, per) @ 2.0 ** (bits * np.arange(per))
    return packed


# Values -----------------------------------------------------------------------------------------


def values(X: Any, theta: Floats) -> Floats:
    """``w·x_i + b`` for every row of X, near the exact value and on its side of zero.

    It is zero exactly where the value is, and the largest float where it is larger. Entries of a
    CSR matrix that are given twice add up.
    """
    n, d = shape(X)
    compressed = hasattr(X, "indptr")
    terms = int(np.diff(X.indptr).max(initial=0)) if compressed else d
    w, b, size = theta[:-1], float(theta[-1]), np.abs(theta)
    # Twice what products and sums need, and so enough for integers rounded to floats, too.
    unit = 1.01 * (terms + 4) * 2.0**-52
    with np.errstate(all="ignore"):
        result: Floats = X @ w + b if compressed else np.empty(n)
    for start, block in blocks(X):
        here = result[start : start + len(block)]
        with np.errstate(all="ignore"):
            if not compressed:
                np.add(block.dot(w), b, out=here)
            floats = block.floats
            largest = max(floats.max(initial=0.0), -floats.min(initial=0.0))
            if not np.isfinite(largest):
                msg = "X holds numbers that are not finite: give finite numbers"
                raise ValueError(msg)
            doubtful = _below(here, unit * (largest * size[:-1].sum() + size[-1]))
            if doubtful.size:
                part = block.take(doubtful)
                errors = unit * (part.size_dot(size[:-1]) + size[-1])
                doubtful = doubtful[_below(here[doubtful], errors)]
        if doubtful.size:
            here[doubtful] = _settled(block.take(doubtful), theta)
    return result


def _below(values: Floats, errors: Any) -> Ints:
    """Where an error may be larger than the value, or the value is no number."""
    sizes = np.abs(values)
    return np.flatnonzero(~((sizes > errors + LOST) & (sizes <= LARGEST)))


def settled(X: Any, theta: Floats) -> Floats:
    """`values`, each the float nearest to the exact value whether in doubt or not."""
    low, sizes, parts = _units(theta), np.abs(theta), [np.empty(0)]
    for _, block in blocks(X):
        if rounds_nothing(block, low, sizes):
            parts.append(block.dot(theta[:-1]) + theta[-1] + 0.0)  # a zero has no sign
        else:
            parts.append(_settled(block, theta))
    return np.concatenate(parts)


def _settled(block: RowBlock, theta: Floats) -> Floats:
    """The nearest floats: of a few floats that sum to the value, or else from integers."""
    with np.errstate(all="ignore"):
        parts, sure, top = exact_parts(block, theta)
        sums = rounded_sums(parts[sure])
        result = np.zeros(len(block))
        result[sure] = np.ldexp(sums, top)
        sizes = np.abs(result[sure])
        sure[sure] = (sums == 0) | ((sizes > NORMAL) & (sizes <= LARGEST))
    rest = np.flatnonzero(~sure)
    for at in range(0, rest.size, CHUNK):
        rows = rest[at : at + CHUNK]
        ratios = _ratios(block.take(rows), *over_one_denominator(theta.tolist()))
        result[rows] = [with_its_sign(n, d) for n, d in ratios]
    return result
