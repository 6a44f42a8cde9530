"""Multipliers on their way to workers: most of a soft margin's are zero or at their price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats

FEW = 1024  # numbers that are not worth it
SHARE = 4  # one of so many may be neither


class Packed(NamedTuple):
    """Numbers that are mostly zero or of one size, to the bit: three bits of each, and the others.

    `zero`, `sized` and `negative` are bits, a byte for eight numbers.
    """

    length: int
    size: float
    zero: NDArray[np.uint8]
    sized: NDArray[np.uint8]
    negative: NDArray[np.uint8]
    others: Floats


def packed(numbers: NDArray[Any]) -> NDArray[Any] | Packed:
    """The numbers in little room, if they are of that kind."""
    if numbers.dtype != np.float64 or len(numbers) < FEW:
        return numbers
    sizes = np.abs(numbers)
    size = sizes.max()
    zero, sized = sizes == 0, sizes == size
    others = ~(zero | sized)
    if not np.count_nonzero(others) * SHARE <= len(numbers):
        return numbers
    bits = [np.packbits(mask) for mask in (zero, sized, np.signbit(numbers))]
    return Packed(len(numbers), float(size), bits[0], bits[1], bits[2], numbers[others])


def unpacked(given: NDArray[Any] | Packed) -> NDArray[Any]:
    """What has been packed."""
    if not isinstance(given, Packed):
        return given
    bits = given.zero, given.sized, given.negative
    zero, sized, negative = (np.unpackbits(b, count=given.length).view(np.bool_) for b in bits)
    numbers = np.where(sized, given.size, 0.0)
    np.negative(numbers, out=numbers, where=negative)
    numbers[~(zero | sized)] = given.others
    return numbers
