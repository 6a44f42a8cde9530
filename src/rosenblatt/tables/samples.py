"""Samples for questions about them: arrays as they are, tables with texts or gaps encoded."""

from __future__ import annotations

from numbers import Number  # decimals and fractions are such, too
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.arguments import exact
from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.frames import Frame, is_named
from rosenblatt.tables.texts import Texts


class Samples(NamedTuple):
    """Samples as numbers.

    Attributes
    ----------
    X : array, sparse matrix or data frame of numbers
    features : tuple of str or None
        Their names; None: they have none.
    left_out : tuple of str
        Columns that became no features.
    """

    X: Any
    features: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, X: Any) -> Samples:
        """From whatever holds samples.

        A table of numbers, none of them missing, is taken as it is, every column of it; any other
        as ``rosenblatt check`` does, with numbers not standardised.
        """
        if not is_named(X):
            return cls(X)
        try:
            return cls._of_table(X)
        except (TypeError, ValueError) as error:
            msg = f"X is no table that can be used: {error}"
            raise ValueError(msg) from None

    @classmethod
    def _of_table(cls, X: Any) -> Samples:
        frame = Frame.of_columns(X)
        columns = {name: frame[name] for name in frame.names}
        if all(map(_are_numbers, columns.values())):
            if not hasattr(X, "dtypes"):  # no data frame, which has been read before
                X = np.column_stack([exact("X", np.asarray(c)) for c in columns.values()])
            return cls(X, tuple(columns))
        encoder = TableEncoder(standardize=False, keep_constant=True)
        made = encoder.fit_transform(columns)
        left_out = tuple(spec["name"] for spec in encoder.columns_ if "dropped" in spec)
        return cls(made, tuple(map(str, encoder.get_feature_names_out())), left_out)


def _are_numbers(cells: Any) -> bool:
    """Whether a column holds numbers, and none is missing."""
    if isinstance(cells, Texts):
        return False
    values = np.asarray(cells)
    if values.ndim != 1:
        return False
    if values.dtype.kind == "O":
        return all(isinstance(cell, Number) and cell == cell for cell in values)
    return values.dtype.kind in "biu" or (values.dtype.kind == "f" and not np.isnan(values).any())
