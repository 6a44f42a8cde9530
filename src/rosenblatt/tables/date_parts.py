"""The parts of dates: the hour of the day, the day of the week, the month of the year.

What comes round again is not seen by a weighted sum of days since 1970.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tables.cells import MISSING
from rosenblatt.tables.exact_sums import ExactSums
from rosenblatt.tables.frames import Cells, Numbers
from rosenblatt.tables.texts import MISSING_CODE, Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rosenblatt.array_types import Floats
    from rosenblatt.tables.feature_values import Spec

HOUR, WEEKDAY, MONTH = "hour", "weekday", "month"
ROUND = {
    WEEKDAY: ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    MONTH: ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
}
# Days that dates must span, so that what comes round again does so.
LEAST_SPAN = {WEEKDAY: 14, MONTH: 2 * 365}


class PartsTally:
    """What must be known of dates, days since 1970, to make features of their parts."""

    def __init__(self) -> None:
        self._hours = ExactSums()
        self._first, self._last = np.inf, -np.inf
        self._seen = {part: np.zeros(len(names), dtype=np.bool_) for part, names in ROUND.items()}

    def add(self, days: Floats) -> None:
        """Take note of some dates; NaN are missing."""
        days = days[~np.isnan(days)]
        if not days.size:
            return
        self._hours.add(_hours_of(days))
        self._first, self._last = min(self._first, days.min()), max(self._last, days.max())
        for part, seen in self._seen.items():
            if not seen.all():
                seen[_places(days, part)] = True

    def merge(self, other: PartsTally) -> None:
        """Take note of the dates of another tally."""
        self._hours.merge(other._hours)
        self._first = min(self._first, other._first)
        self._last = max(self._last, other._last)
        for part, seen in other._seen.items():
            self._seen[part] |= seen

    def settle(self) -> None:
        """Give up room that the next dates need again."""
        self._hours.settle()

    def specs(self, name: str, standardize: bool, gaps: bool) -> list[Spec]:
        """What the features of the parts are made of."""
        found = []
        if not self._hours.same:  # there are others than midnight
            mean = self._hours.mean
            scale = (mean, self._hours.scale) if standardize else (0.0, 1.0)
            spec: Spec = {"name": f"{name}:{HOUR}", "kind": "number", "fill": mean}
            found.append(spec | dict(zip(("mean", "deviation"), scale, strict=True)))
        for part, span in LEAST_SPAN.items():
            if self._last - self._first >= span:
                values = [ROUND[part][place] for place in np.flatnonzero(self._seen[part])]
                values += [MISSING] * gaps
                found.append({"name": f"{name}:{part}", "kind": "text", "values": values})
        return found


def _hours_of(days: Floats) -> Floats:
    hours: Floats = (days - np.floor(days)) * 24
    return hours


def _places(days: Floats, part: str) -> Any:
    """Which day of the week or month of the year it is, from 0."""
    whole = np.floor(days).astype(np.int64)
    if part == WEEKDAY:
        return (whole + 3) % 7  # the first of January 1970 was a Thursday
    return whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12


def _cells(spec: Spec, column: Cells) -> Cells:
    """The part of dates that `spec` is about."""
    assert isinstance(column.values, Numbers)
    n, start = len(column), 0
    hours = spec["kind"] == "number"
    part = spec["name"].removeprefix(f"{column.name}:")
    made: Any = np.empty(n, dtype=np.float64 if hours else np.int32)
    for days in column.values.pieces():
        out = made[start : start + len(days)]
        start += len(days)
        out[:] = _hours_of(days) if hours else _codes(days, part)
    if hours:
        return Cells(spec["name"], "number", Numbers(made, column.values.complete))
    return Cells(spec["name"], "text", Texts(np.array(ROUND[part], dtype=object), made))


def _codes(days: Floats, part: str) -> Any:
    gone = np.isnan(days)
    return np.where(gone, MISSING_CODE, _places(np.where(gone, 0.0, days), part))


def with_parts(specs: Sequence[Spec]) -> list[Spec]:
    """The columns and, behind each of dates, its parts."""
    return [one for spec in specs for one in (spec, *spec.get("parts", ()))]


def cells_with_parts(specs: Sequence[Spec], columns: Sequence[Cells]) -> list[Cells]:
    """The cells of `with_parts`."""
    return [
        cells
        for spec, column in zip(specs, columns, strict=True)
        for cells in (column, *(_cells(part, column) for part in spec.get("parts", ())))
    ]


def are_parts(spec: Spec) -> bool:
    """Whether the parts of a column are named as `PartsTally` might have done."""
    parts = spec.get("parts", [])
    if not isinstance(parts, list) or (parts and spec["kind"] != "date"):
        return False
    known = {f"{spec['name']}:{HOUR}": "number"}
    known |= {f"{spec['name']}:{part}": "text" for part in ROUND}
    found = {part["name"]: part["kind"] for part in parts}
    return len(found) == len(parts) and found.items() <= known.items()
