"""What the feature maps have in common: a transformer that reads data and refuses bad features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from rosenblatt.arguments import names_of
from rosenblatt.contract.parameters import canonical
from rosenblatt.matrices import table, told_in_one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray


class FeatureMap(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the feature maps: reads data, refuses features that are not finite."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn what the map depends on.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d)
        y : ignored

        Returns
        -------
        self
        """
        self._learn(self._read(X, reset=True))
        return self

    def transform(self, X: Any) -> Any:
        """The features of each row of X, of shape (n, number of features)."""
        check_is_fitted(self)
        made = self._apply(self._read(X, reset=False))
        if not np.isfinite(made.data if issparse(made) else made).all():
            msg = f"{type(self).__name__} gave numbers that are not finite: scale the features of X"
            raise ValueError(msg)
        return made

    def _read(self, X: Any, *, reset: bool) -> Any:
        X = table("X", X)
        with told_in_one_line("X", X):
            X = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=np.float64,
                accept_large_sparse=True,
            )
        return canonical(X)

    def _learn(self, X: Any) -> None:
        raise NotImplementedError

    def _apply(self, X: Any) -> Any:
        raise NotImplementedError

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the features."""
        check_is_fitted(self)
        if input_features is not None:
            input_features = names_of("input_features", input_features)
        given = _check_feature_names_in(self, input_features).tolist()
        return np.array(self._names(given), dtype=object)

    def _names(self, given: list[str]) -> list[str]:
        word = type(self).__name__.lower()
        return [f"{word}{i}" for i in range(self._n_features_out)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
