"""Multipliers on their way: most of a soft margin's are zero or at the price of their class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats

FEW = 1024  # numbers that are not worth it
SHARE = 4  # one of so many may be of no common size
SIZES = 2  # beside zero: one for each class
ASKED = 4000  # numbers that tell which size is common


class Packed(NamedTuple):
    """Numbers of which most are zero or of a common size, to the bit.

    `places` has the bits of those that are zero, and of those that have each of the `sizes`, a
    byte for eight numbers; `negative` of those with a minus, if there are any.
    """

    length: int
    sizes: list[float]
    places: list[NDArray[np.uint8]]
    negative: NDArray[np.uint8] | None
    others: Floats


def packed(numbers: NDArray[Any]) -> NDArray[Any] | Packed:
    """The numbers in little room, if they are of that kind."""
    if numbers.dtype != np.float64 or len(numbers) < FEW:
        return numbers
    amounts = np.abs(numbers)
    sizes, masks = list[float](), [amounts == 0]
    left = ~masks[0]
    asked = max(1, len(numbers) // ASKED)
    while len(sizes) < SIZES:
        values, often = np.unique(amounts[::asked][left[::asked]], return_counts=True)
        if SHARE * often.max(initial=0) <= often.sum():
            break
        sizes.append(float(values[often.argmax()]))
        masks.append(left & (amounts == sizes[-1]))
        left &= ~masks[-1]
    if not np.count_nonzero(left) * SHARE <= len(numbers):
        return numbers
    minus = np.signbit(numbers)
    places = [np.packbits(mask) for mask in masks]
    negative = np.packbits(minus) if minus.any() else None
    return Packed(len(numbers), sizes, places, negative, numbers[left])


def unpacked(given: NDArray[Any] | Packed) -> NDArray[Any]:
    """What has been packed."""
    if not isinstance(given, Packed):
        return given
    numbers, left = np.zeros(given.length), np.ones(given.length, np.bool_)
    for size, bits in zip([0.0, *given.sizes], given.places, strict=True):
        here = np.unpackbits(bits, count=given.length).view(np.bool_)
        numbers[here] = size
        left &= ~here
    if given.negative is not None:
        minus = np.unpackbits(given.negative, count=given.length).view(np.bool_)
        np.negative(numbers, out=numbers, where=minus)
    numbers[left] = given.others
    return numbers
