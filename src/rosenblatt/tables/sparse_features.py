"""Sparse tables as features: the encoder of a table whose features are one matrix already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


class SparseEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The matrix of a sparse table as it is, with as many features as in training.

    It has the face of `TableEncoder`. Numbers are not standardised: taking off the mean would
    fill the zeros. A feature that training did not see has no weight, and is left out.

    Attributes
    ----------
    n_features_ : int
        How many features there were in training.
    """

    standardize = False

    def fit(self, X: Mapping[str, Any], y: Any = None) -> SparseEncoder:
        """Note the name of the matrix and the number of its features."""
        ((name, matrix),) = X.items()
        self.columns_ = [{"name": name, "kind": "sparse"}]
        self.n_features_ = int(matrix.shape[1])
        return self

    def transform(self, X: Mapping[str, Any]) -> csr_matrix:
        """The features of each row."""
        check_is_fitted(self)
        (name,) = self.kinds_
        matrix = X[name]
        known = matrix[:, : self.n_features_]
        shape = (matrix.shape[0], self.n_features_)
        return csr_matrix((known.data, known.indices, known.indptr), shape=shape)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the features: ``x7`` is number 7 of the file, which counts from 1."""
        check_is_fitted(self)
        (name,) = self.kinds_
        return np.array([f"{name}{j}" for j in range(1, self.n_features_ + 1)], dtype=object)

    @property
    def kinds_(self) -> dict[str, str]:
        """The kind of the only column."""
        return {spec["name"]: spec["kind"] for spec in self.columns_}

    @property
    def spans_(self) -> dict[str, range]:
        """The numbers of its features."""
        return {name: range(self.n_features_) for name in self.kinds_}

    @property
    def identifiers_(self) -> list[str]:
        """No feature is left out."""
        return []

    @property
    def n_missing_(self) -> dict[str, int]:
        """No cell is missing: what a line leaves out is 0."""
        return {}

    def unscaled(self) -> SparseEncoder:
        """The same encoder."""
        return self

    def unseen(self, X: Any) -> dict[str, NDArray[np.object_]]:
        """There are no texts."""
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "columns_"):
            whole = type(self.n_features_) is int and self.n_features_ > 0
            (spec,) = self.columns_
            if not whole or spec["kind"] != "sparse" or not isinstance(spec["name"], str):
                msg = "the parts of this SparseEncoder do not fit together"
                raise ValueError(msg)


def is_sparse(columns: Mapping[str, Any]) -> bool:
    """Whether these columns are the matrix of a sparse table."""
    return any(issparse(column) for column in columns.values())
