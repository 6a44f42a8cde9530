"""An encoder with a feature map behind it, as one encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from rosenblatt.tables.encoder import TableEncoder
from rosenblatt.tables.sparse_features import SparseEncoder

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from rosenblatt.features.estimators import FeatureMap

Plain = TableEncoder | SparseEncoder


class MappedEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The features that a map makes of those of an encoder.

    It has the face of an encoder: what it says of columns is what the encoder says. In a saved
    model the two are steps of their own.

    Parameters
    ----------
    encoder : TableEncoder or SparseEncoder
    mapping : feature map of rb.features
    check : callable, optional
        Is given the encoded features before the map is applied to them; may refuse them.

    Attributes
    ----------
    n_features_, n_features_out_ : int
        How many features the encoder and the map have made.
    """

    def __init__(
        self, encoder: Plain, mapping: FeatureMap, *, check: Callable[[Any], None] | None = None
    ) -> None:
        self.encoder = encoder
        self.mapping = mapping
        self.check = check

    def fit(self, X: Any, y: Any = None) -> MappedEncoder:
        """Fit the encoder to a table and the map to its features."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """`fit` and `transform` of the same table, which is encoded only once."""
        encoded = self.encoder.fit_transform(X)
        if self.check is not None:
            self.check(encoded)
        made = self.mapping.fit(encoded).transform(encoded)
        self.n_features_, self.n_features_out_ = int(encoded.shape[1]), int(made.shape[1])
        return made

    def transform(self, X: Any) -> Any:
        """The features of each row."""
        check_is_fitted(self)
        return self.mapping.transform(self.encoder.transform(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the features of the map."""
        check_is_fitted(self)
        return self.mapping.get_feature_names_out(self.encoder.get_feature_names_out())

    @property
    def standardize(self) -> bool:
        """Whether numbers were standardised before the map."""
        return bool(self.encoder.standardize)

    @property
    def columns_(self) -> list[dict[str, Any]]:
        """What the encoder's features are made of."""
        return self.encoder.columns_

    @property
    def kinds_(self) -> dict[str, str]:
        """The kind of every column in use."""
        return self.encoder.kinds_

    @property
    def identifiers_(self) -> list[str]:
        """The columns left out because they tell the rows apart."""
        return self.encoder.identifiers_

    @property
    def n_missing_(self) -> dict[str, int]:
        """How many cells were missing, for the columns that had any."""
        return self.encoder.n_missing_

    def unscaled(self) -> Plain:
        """The encoder alone, with numbers as they stand in the table."""
        return self.encoder.unscaled()

    def unseen(self, X: Any) -> dict[str, NDArray[np.object_]]:
        """The cells, by column, whose value was not there in training."""
        return self.encoder.unseen(X)


def steps_of(encoder: Any) -> list[tuple[str, Any]]:
    """The steps of a pipeline that an encoder is: itself, and the map behind it if there is one."""
    mapping = [("features", encoder.mapping)] if isinstance(encoder, MappedEncoder) else []
    return [("encode", plain(encoder)), *mapping]


def plain(encoder: Plain | MappedEncoder) -> Plain:
    """The encoder, without a map behind it."""
    return encoder.encoder if isinstance(encoder, MappedEncoder) else encoder
