"""One pass over what comes in: whether numbers are finite, and which labels there are."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.compiled import loop
from rosenblatt.data.dots import dot

TILE = 1 << 12  # numbers


@loop
def are_finite(values: Any, start: int, stop: int) -> bool:
    """Whether all numbers from `start` to `stop` are finite: if sums of their squares are."""
    for first in range(start, stop, TILE):
        part = values[first : min(first + TILE, stop)]
        if not dot(part, part) < np.inf:  # it may be too large
            for k in range(len(part)):
                if not abs(part[k]) < np.inf:
                    return False
    return True


@loop
def write_numbers(y: Any, classes: Any, label: Any, start: int, stop: int) -> bool:
    """Write which of the sorted classes each label is; False if one is none of them."""
    for i in range(start, stop):
        number = 0
        for k in range(1, len(classes)):
            number += y[i] >= classes[k]
        if y[i] != classes[number]:
            return False
        label[i] = number
    return True
