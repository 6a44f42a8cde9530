"""What the estimators share: rows to answer for, why a fit ended, model files."""

from __future__ import annotations

import os
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.cluster.engine import is_of_dask
from rosenblatt.cluster.reading import require_shape
from rosenblatt.contract.clustered import names_of, refuse_clustered
from rosenblatt.contract.samples import read_samples
from rosenblatt.data.opened import OpenedSource
from rosenblatt.results import StopReason
from rosenblatt.results.storable import from_plain, to_plain
from rosenblatt.running.checkpoints import Checkpoint


class Estimator(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators that a fit leaves with `fits_`, its outcomes."""

    fits_: tuple[Any, ...]
    n_iter_: int

    _parts: tuple[type, ...] = (StopReason,)

    def _rows_of(self, X: Any, *, finite: bool = True) -> Any:
        """Samples to answer for, as a C-ordered float array or a canonical CSR matrix.

        Where the answer will tell whether all numbers are `finite`, nobody looks here.
        """
        if isinstance(X, OpenedSource):
            return self._opened(X, reset=False)
        refuse_clustered(X, type(self).__name__)
        validate = partial(validate_data, self, reset=False)
        return read_samples(X, validate, getattr(self, "n_jobs", None), finite=finite)

    def _opened(self, source: OpenedSource, *, reset: bool) -> Any:
        """The samples of an opened source, which were validated as they were written."""
        X, remedy = source.X, "open it with encoder=, that of the training data"
        names = None if source.features is None else np.array(source.features, dtype=object)
        self._note_features(source.shape[1], names, repr(source), remedy, reset=reset)
        return X

    def _note_columns(self, X: Any) -> None:
        """See whether a collection of Dask's has the features of training."""
        if is_of_dask(X):
            require_shape(X, "X")
        self._note_features(int(X.shape[1]), names_of(X), "X", reset=False)

    def _note_features(
        self,
        count: int,
        names: Any,
        what: str,
        remedy: str = "give those of training",
        *,
        reset: bool,
    ) -> None:
        """Note how many features there are, and their names; or see that they are the same."""
        if reset:
            self.n_features_in_ = count
            self.__dict__.pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = names
            return
        if count != self.n_features_in_:
            msg = (
                f"{what} has {count} features, not the {self.n_features_in_} of training: {remedy}"
            )
            raise ValueError(msg)
        known = getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and list(names) != list(known):
            other = next(a for a, b in zip(names, known, strict=True) if a != b)
            msg = f"{what} has a feature {other!r}, unlike the training data: {remedy}"
            raise ValueError(msg)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fits_")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if isinstance(state.get("checkpoint"), os.PathLike):
            state["checkpoint"] = os.fspath(state["checkpoint"])
        return to_plain(state, (*self._parts, Checkpoint))  # type: ignore[no-any-return]

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A file of an older version knows nothing of parameters that came later.
        parts = (*self._parts, Checkpoint)
        super().__setstate__(vars(type(self)()) | from_plain(state, parts))
        if hasattr(self, "fits_") and not (self._has_basics() and self._fits_together()):
            msg = f"the parts of this {type(self).__name__} do not fit together"
            raise ValueError(msg)

    def _has_basics(self) -> bool:
        """Whether it has features, names for these, and counts."""
        d = self.n_features_in_
        names = getattr(self, "feature_names_in_", np.full(d, "", dtype=object))
        return (
            all(is_count(n) for n in (d, self.n_iter_))
            and isinstance(self.fits_, tuple)
            and isinstance(names, np.ndarray)
            and names.shape == (d,)
            and all(isinstance(name, str) for name in names)
        )

    def _settings(self) -> Any:
        """The parameters, checked, as settings."""
        raise NotImplementedError

    def _fits_together(self) -> bool:
        """Whether all shapes agree: compiled loops would read and write beyond wrong ones."""
        raise NotImplementedError

    def check_parameters(self) -> None:
        """Raise ValueError for a parameter that `fit` would not take."""
        given = self.get_params(deep=False) | {"random_state": None}  # which must not be drawn from
        type(self)(**given)._settings()

    def _view(self, name: str) -> Any:
        check_is_fitted(self)
        values = tuple(getattr(fit, name) for fit in self.fits_)
        return values[0] if len(values) == 1 else values

    @property
    def stop_reason_(self) -> StopReason | tuple[StopReason, ...]:
        """Why the fit ended (a tuple for more than two classes)."""
        return self._view("stop_reason")  # type: ignore[no-any-return]

    @property
    def trace_(self) -> Any:
        """The record of the fit (a tuple for more than two classes)."""
        return self._view("trace")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def are_floats(values: Any, shape: tuple[int, ...]) -> bool:
    """Whether it is an array of finite floating-point numbers of this shape."""
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
        return False
    return values.shape == shape and bool(np.isfinite(values).all())


def is_count(value: Any) -> bool:
    """Whether it is a whole number from 0."""
    return type(value) is not bool and isinstance(value, Integral) and int(value) >= 0
