"""One pass over what comes in: whether numbers are finite, and which labels there are."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.compiled import loop


@loop
def are_finite(values: Any, start: int, stop: int) -> bool:
    """Whether all numbers from `start` to `stop` are finite."""
    others = 0
    for k in range(start, stop):
        others += not abs(values[k]) < np.inf
    return others == 0


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
