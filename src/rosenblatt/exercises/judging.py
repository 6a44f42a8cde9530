"""Which function judges the answers to an exercise, and which gives its data: filled by pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats

    Judge = Callable[[Any], str]

JUDGES: dict[int, Judge] = {}
DATA: dict[int, Callable[[], tuple[Floats, NDArray[np.int64]]]] = {}


def judge(n: int) -> Callable[[Judge], Judge]:
    """Make a function the judge of exercise n: it says why an answer is right, or raises."""

    def registered(function: Judge) -> Judge:
        JUDGES[n] = function
        return function

    return registered


def given(n: int, X: Sequence[Sequence[float]], y: Sequence[int]) -> None:
    """Make samples and labels the data of exercise n."""
    DATA[n] = lambda: (np.array(X, np.float64), np.array(y, np.int64))
