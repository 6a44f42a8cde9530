"""What ``rosenblatt predict`` writes of the contributions of columns to its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.report.contributions import Contributions, Sides

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats

BECAUSE, RUNNER_UP = "because", "runner_up"


class Explained(NamedTuple):
    """What to write: the `top` largest as text, and all of them as numbers."""

    top: int = 0
    numbers: bool = False


class Explanation(NamedTuple):
    """The contributions of a model's columns, and what to write of them."""

    contributions: Contributions
    wanted: Explained

    @classmethod
    def of(cls, model: Any, path: str, wanted: Explained) -> Explanation | None:
        """What explains a model; None if nothing is wanted."""
        return cls(Contributions.of(model, path), wanted) if any(wanted) else None

    def layout(self, label: str | None) -> dict[str, str]:
        """The columns that are written; `label`: what the runner-up is, if there is one."""
        found = {} if label is None else {RUNNER_UP: label}
        found |= {BECAUSE: "text"} if self.wanted.top else {}
        return found | dict.fromkeys(self._numbers, "number")

    @property
    def _numbers(self) -> list[str]:
        each = [f"contribution_{name}" for name in self.contributions.names]
        return ["base", *each] if self.wanted.numbers else []

    def columns(
        self, X: Any, values: Floats, chosen: NDArray[np.intp]
    ) -> tuple[dict[str, Any], NDArray[np.intp]]:
        """These columns for some rows, and the numbers of the runners-up."""
        sides, found = Sides.of(values, chosen), dict[str, Any]()
        if self.wanted.top:
            found[BECAUSE] = self.contributions.texts(X, sides, self.wanted.top)
        if self.wanted.numbers:
            blocks = list(self.contributions.of_rows(X, sides))
            each = np.vstack(blocks) if blocks else np.empty((0, len(self.contributions.names)))
            base = self.contributions.base(sides)
            found |= dict(zip(self._numbers, [base, *each.T], strict=True))
        return found, sides.minus
