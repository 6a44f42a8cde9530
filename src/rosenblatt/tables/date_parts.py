"""The parts of dates: the hour of the day, the day of the week, the month of the year.

What comes round again is not seen by a weighted sum of days since 1970.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tables.cells import MISSING
from rosenblatt.tables.frames import Cells, Numbers, are_equal, mean_and_deviation
from rosenblatt.tables.texts import MISSING_CODE, Texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rosenblatt.array_types import Floats
    from rosenblatt.tables.feature_values import Spec

HOUR, WEEKDAY, MONTH = "hour", "weekday", "month"
ROUND = {
    WEEKDAY: ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    MONTH: ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
}
# Days that dates must span, so that what comes round again does so.
LEAST_SPAN = {WEEKDAY: 14, MONTH: 2 * 365}


def parts_of(column: Cells, standardize: bool) -> list[Spec]:
    """What the features of the parts of dates are made of."""
    assert isinstance(column.values, Numbers)
    present = column.values.present().as_floats()
    found = list(_hours(column.name, present, standardize))
    for part, span in LEAST_SPAN.items():
        if np.ptp(present) >= span:
            places = np.unique(_places(present, part))
            values = [ROUND[part][place] for place in places]
            values += [MISSING] * bool(column.values.n_missing)
            found += [{"name": f"{column.name}:{part}", "kind": "text", "values": values}]
    return found


def _hours(name: str, days: Floats, standardize: bool) -> Iterator[Spec]:
    """How to scale the hours of the day, if there are any but midnight."""
    hours = Numbers.of(_hours_of(days))
    mean, deviation = mean_and_deviation(hours)
    if not are_equal(hours, mean, deviation):
        scale = {"mean": mean, "deviation": deviation}
        scale = scale if standardize else {"mean": 0.0, "deviation": 1.0}
        yield {"name": f"{name}:{HOUR}", "kind": "number", "fill": mean} | scale


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
    days = column.values.as_floats()
    if spec["kind"] == "number":
        return Cells(spec["name"], "number", Numbers.of(_hours_of(days)))
    part = spec["name"].removeprefix(f"{column.name}:")
    gone = np.isnan(days)
    places = _places(np.where(gone, 0.0, days), part)
    codes = np.where(gone, MISSING_CODE, places).astype(np.int32)
    return Cells(spec["name"], "text", Texts(np.array(ROUND[part], dtype=object), codes))


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
    """Whether the parts of a column are named as `parts_of` might have done."""
    parts = spec.get("parts", [])
    if not isinstance(parts, list) or (parts and spec["kind"] != "date"):
        return False
    known = {f"{spec['name']}:{HOUR}": "number"}
    known |= {f"{spec['name']}:{part}": "text" for part in ROUND}
    found = {part["name"]: part["kind"] for part in parts}
    return len(found) == len(parts) and found.items() <= known.items()
