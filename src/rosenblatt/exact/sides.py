"""The exact sign of ``w·x + b`` for every sample, at little more than the cost of ``X @ w``.

The floating-point value comes with a bound on its error (N. J. Higham, "Accuracy and Stability
of Numerical Algorithms", 2nd ed., 2002, section 3.1). Where it does not tell the sign, a few floats
that sum to the value do (see `sums`), and where numbers differ too much for these, integers.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.exact.blocks import Block, blocks, chosen, shape
from rosenblatt.exact.integers import NONE, nearest_float
from rosenblatt.exact.sums import exact_parts, rounded_sums, smallest_sum

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

CHUNK = 2**12  # rows settled in integers at a time
FEW = 16  # rows that are settled in integers without further ado


class Form:
    """A linear form ``x -> (Σ_j x_j numbers_j + numbers_d) / denominator`` and nearby floats.

    Attributes
    ----------
    t : float array
        The coefficients times ``2**-scale``, rounded; the bias last.
    g : float array
        ``|x|·g`` bounds the error of ``x·t``, from rounding `t` and from computing.
    """

    def __init__(self, theta: Sequence[Any], sizes: Floats) -> None:
        # A fraction may have been made of NumPy's integers, which overflow.
        ratios = [tuple(map(int, number.as_integer_ratio())) for number in theta]
        self.denominator = math.lcm(*(d for _, d in ratios))
        self.numbers = np.empty(len(ratios), dtype=object)
        self.numbers[:] = [n * (self.denominator // d) for n, d in ratios]
        self.scale = self._scale(np.append(sizes, 1.0))
        up, down = 1 << max(-self.scale, 0), self.denominator << max(self.scale, 0)
        self.t = np.array([nearest_float(n * up, down) for n in self.numbers])
        differs = [
            n * up * b != a * down
            for n, (a, b) in zip(
                self.numbers, (x.as_integer_ratio() for x in self.t.tolist()), strict=True
            )
        ]
        self.exact = not any(differs)
        size = np.abs(self.t)
        self.g = np.where(differs, size * 2.0**-52 + 2.0**-1074, 0.0)
        # Twice what products and sums need, and so enough for integers rounded to floats, too.
        self.g += size * (len(ratios) + 4) * 2.0**-52

    def _scale(self, sizes: Floats) -> int:
        """The power of two that brings the largest product ``|x_j θ_j|`` near 1."""
        lengths = np.array([n.bit_length() - self.denominator.bit_length() for n in self.numbers])
        used = np.array([n != 0 for n in self.numbers])
        if not used.any():
            return 0
        products = (lengths + np.frexp(sizes)[1])[used & (sizes > 0)]
        return max(int(products.max(initial=-NONE)), int(lengths[used].max()) - 1000)

    def rough_values(self, block: Block) -> tuple[Floats, float]:
        """``(x_i, 1)·t``, and one bound on all errors: cheap, and good enough for most rows."""
        with np.errstate(all="ignore"):
            values = block.dot(self.t[:-1]) + self.t[-1]
            floats = block.floats
            largest = max(float(floats.max(initial=0.0)), -float(floats.min(initial=0.0)))
            error = 1.01 * float(largest * self.g[:-1].sum() + self.g[-1])
        error += len(self.t) * 2.0**-1070
        return values, error if np.isfinite(values).all() else np.inf

    def values(self, block: Block) -> tuple[Floats, Floats]:
        """``(x_i, 1)·t``, and bounds on the errors."""
        with np.errstate(all="ignore"):
            values = block.dot(self.t[:-1]) + self.t[-1]
            errors = block.size_dot(self.g[:-1]) + self.g[-1]
        errors *= 1.01
        errors += len(self.t) * 2.0**-1070
        errors[~np.isfinite(values)] = np.inf
        return values, errors

    def exact_values(self, block: Block) -> Iterator[Fraction]:
        """``w·x_i + b`` for every row."""
        for n, e in block.exact(self.numbers[:-1]):
            up, down = 1 << max(e, 0), 1 << max(-e, 0)
            yield Fraction(n * up + self.numbers[-1] * down, down * self.denominator)

    def exact_signs(self, block: Block) -> Iterator[int]:
        """The signs of ``w·x_i + b``."""
        for n, e in block.exact(self.numbers[:-1]):
            bias = self.numbers[-1]
            value = (n << e) + bias if e >= 0 else n + (bias << -e)
            yield (value > 0) - (value < 0)


def _form(X: Any, theta: Any) -> Form:
    """The form, scaled to the sizes that the first samples have."""
    numbers = theta.tolist() if isinstance(theta, np.ndarray) else list(theta)
    d = shape(X)[1]
    if len(numbers) != d + 1:
        msg = f"theta has {len(numbers)} entries but X has {d} columns: give {d + 1}, bias last"
        raise ValueError(msg)
    first = next((block for _, block in blocks(X)), None)
    return Form(numbers, np.zeros(d) if first is None else first.largest())


def signs(X: Any, theta: Sequence[Any]) -> NDArray[np.int8]:
    """The exact sign of ``w·x_i + b`` for every row of X: -1, 0 or 1.

    Parameters
    ----------
    X : array of shape (n, d), or CSR matrix without duplicate entries
        Floats or integers, finite.
    theta : sequence of d + 1 floats or Fractions
        ``(w, b)``, bias last.
    """
    form = _form(X, theta)
    result = np.zeros(shape(X)[0], dtype=np.int8)
    for start, block in blocks(X):
        values, errors = form.values(block)
        doubtful = np.flatnonzero(~(np.abs(values) > errors))
        if doubtful.size > FEW and form.exact:
            parts, sure, _ = exact_parts(block.take(doubtful), form.t)
            values[doubtful[sure]] = rounded_sums(parts[sure])
            doubtful = doubtful[~sure]
        values[np.isnan(values)] = 0.0
        here = result[start : start + len(block)]
        here[:] = np.sign(values)
        for at in range(0, doubtful.size, CHUNK):
            rows = doubtful[at : at + CHUNK]
            here[rows] = list(form.exact_signs(block.take(rows)))
    return result


def margin_of(X: Any, y_signed: ArrayLike, theta: Sequence[Any]) -> float:
    """``min_i y_i(w·x_i + b)/‖w‖``, rounded once: right even where the sums cancel.

    It has the exact sign: what is not zero never becomes zero.

    Parameters
    ----------
    X : array of shape (n, d), or CSR matrix without duplicate entries
    y_signed : array of n labels -1 and 1
    theta : sequence of d + 1 floats or Fractions
        ``(w, b)``, bias last; w is not 0.
    """
    form = _form(X, theta)
    return _over_norm(_smallest(X, np.asarray(y_signed), form), form)


def smallest(
    X: Any, y_signed: ArrayLike, theta: Sequence[Any], among: Ints | None = None
) -> Fraction:
    """``min_i y_i(w·x_i + b)``, exactly; parameters as for `margin_of`.

    With `among`, row numbers in ascending order, of these rows only.
    """
    return _smallest(X, np.asarray(y_signed), _form(X, theta), among)


def _labelled(X: Any, y: NDArray[Any], among: Ints | None) -> Iterator[tuple[Block, Any]]:
    """The rows block by block, with what belongs to each; only some of them if these are given."""
    if among is None:
        for start, block in blocks(X):
            yield block, y[start : start + len(block)]
        return
    for block, where in chosen(X, among):
        yield block, y[among[where]]


def _smallest(X: Any, y: NDArray[Any], form: Form, among: Ints | None = None) -> Fraction:
    """``min_i y_i(w·x_i + b)`` of a form."""
    best: Fraction | None = None
    ceiling = np.inf
    for block, side in _labelled(X, y, among):
        values, error = form.rough_values(block)
        values *= side
        with np.errstate(invalid="ignore"):
            least = min(ceiling, float(values.min()) + error)
            rows = np.flatnonzero(~(values - error > least))
        part = block.take(rows)
        values, errors = form.values(part)
        with np.errstate(all="ignore"):
            values *= side[rows]
            # Twice the bound covers the rounding of these two lines as well.
            ceiling = min(ceiling, float(np.nanmin(values + 2 * errors, initial=np.inf)))
            close = np.flatnonzero(~(values - 2 * errors > ceiling))
        if close.size > FEW and form.exact:
            parts, sure, _ = exact_parts(part.take(close), form.t)
            parts *= side[rows[close], np.newaxis]
            first = [smallest_sum(parts[sure])] if sure.any() else []
            close = np.append(close[~sure], close[sure][first])
        for at in range(0, close.size, CHUNK):
            few = close[at : at + CHUNK]
            exact = form.exact_values(part.take(few))
            best_here = min(v * int(s) for v, s in zip(exact, side[rows[few]], strict=True))
            best = best_here if best is None else min(best, best_here)
    assert best is not None
    return best


def _over_norm(value: Fraction, form: Form) -> float:
    """``value / ‖w‖``, to the last bit or nearly; with its sign, however small."""
    square = sum(int(n) * int(n) for n in form.numbers[:-1])
    if square == 0:
        return math.copysign(math.inf, value) if value else math.nan
    a = (value.numerator * form.denominator) ** 2
    b = value.denominator**2 * square
    shift = 200 + b.bit_length() - a.bit_length()
    shift += shift % 2
    root = math.isqrt((a << shift) // b if shift >= 0 else a // (b << -shift))
    size = nearest_float(root << max(-shift // 2, 0), 1 << max(shift // 2, 0))
    if value:
        size = min(max(size, math.ulp(0.0)), sys.float_info.max)
    return -size if value < 0 else size


def first_not_annihilated(
    X: Any, vectors: Sequence[Sequence[int]], among: Ints | None = None
) -> int | None:
    """The first row with ``(x_i, 1)·v != 0`` for one of the integer vectors, or None.

    With `among`, row numbers in ascending order, the first of these.
    """
    if not len(vectors):
        return None
    V = np.array([[int(n) for n in v] for v in vectors], dtype=object).T
    short = all(abs(n) < 2**53 for n in V.ravel())
    floats = V.astype(np.float64) if short else np.zeros(V.shape)
    sizes = np.abs(floats).max(axis=1)
    low = np.where(sizes > 0, 0, NONE)
    numbers = np.arange(shape(X)[0])
    for block, rows in _labelled(X, numbers, among):
        with np.errstate(all="ignore"):
            total = 1.01 * (block.size_dot(sizes[:-1]) + sizes[-1])
            units = np.minimum(block.units(low[:-1]), low[-1])
            limit = np.ldexp(1.0, np.clip(units + 53, -2000, 2000).astype(np.intc))
            certain = (total < limit) & (units >= -1022) & ~block.rounded() & short
            zero = np.ones(len(block), dtype=bool)
            for column in floats.T if short else ():
                zero &= block.dot(column[:-1]) + column[-1] == 0
        unsure = np.flatnonzero(~certain)
        if unsure.size:
            for i, (n, e) in zip(unsure, block.take(unsure).exact(V[:-1]), strict=True):
                bias = V[-1]
                zero[i] = not ((n << e) + bias if e >= 0 else n + (bias << -e)).any()
        if not zero.all():
            return int(rows[np.argmin(zero)])
    return None
