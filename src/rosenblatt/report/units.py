"""Weights in the units of the table: what one more of a number does to a decision value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.tables.date_parts import with_parts
from rosenblatt.tables.feature_values import width

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats


class Units(NamedTuple):
    """For each feature its standard deviation, NaN where it has none, and its unit.

    A weight per standard deviation, divided by this, is one per unit of the table. Values of
    texts and words have no deviation: they are there or not.
    """

    deviations: Floats
    names: list[str]

    @classmethod
    def of(cls, encoder: Any) -> Units | None:
        """Those of the features of a table; None if no numbers were standardised."""
        if not (getattr(encoder, "standardize", False) and getattr(encoder, "spans_", None)):
            return None
        deviations: list[float] = []
        names: list[str] = []
        for column in encoder.columns_:
            for spec in with_parts([] if "dropped" in column else [column]):
                own = {"date": "day", "number": "" if spec is column else "hour"}
                deviations += [spec.get("deviation", np.nan)] * width(spec)
                names += [own.get(spec["kind"], "")] * width(spec)
        known = np.array(deviations)
        return None if np.isnan(known).all() else cls(known, names)
