"""Whether a model that was read is whole, and how to say in one line what is wrong with it."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any


class ModelFileError(ValueError):
    """A model that cannot be written to a file, or a file that cannot be read as a model."""


def refuse_damaged(why: str) -> None:
    """Say what is wrong with a file, and what to do."""
    msg = f"is damaged ({why}): save the model again"
    raise ModelFileError(msg)


def check_whole(model: Any) -> None:
    """Refuse a model that could not have been saved: not fitted, or in parts that do not fit."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if not isinstance(getattr(model, "summary_", {}), dict):
        refuse_damaged(f"its summary is a {type(model.summary_).__name__}")
    parts = parts_of(model)
    for part in parts:
        check_is_fitted(part)
        if hasattr(part, "check_parameters"):
            part.check_parameters()
        _check_features(part)
    for before, after in pairwise(parts):
        if not type(before).__module__.startswith("rosenblatt."):
            continue
        wide = len(before.get_feature_names_out())
        taken = getattr(after, "n_features_in_", wide)
        if wide != taken:
            refuse_damaged(f"{wide} features for {taken}")


def parts_of(model: Any) -> list[Any]:
    """The steps of a pipeline that do anything, or the model itself."""
    if not hasattr(model, "steps"):
        return [model]
    return [part for _, part in model.steps if part is not None and part != "passthrough"]


def _check_features(part: Any) -> None:
    """Refuse one of our feature maps, whose insides are scikit-learn's, that gives no features."""
    import numpy as np

    if not type(part).__module__.startswith("rosenblatt.features."):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of features that had names
        made = part.transform(np.zeros((1, part.n_features_in_)))
    if made.shape != (1, len(part.get_feature_names_out())):
        msg = f"is damaged ({type(part).__name__} gives {made.shape[1]} features): save it again"
        raise ModelFileError(msg)


def shown(names: list[Any]) -> str:
    """Names out of a file for a message: a few, in one line, whatever they hold."""
    texts = [str(name)[:80] for name in names[:5]]
    more = [f"... ({len(names)} in all)"] if len(names) > 5 else []
    return ", ".join([n if n.isprintable() else ascii(n) for n in texts] + more)


def one_line(thing: Any) -> str:
    """An error or a value for a message."""
    text = " ".join(str(thing).split())[:200] or type(thing).__name__
    return text if text.isprintable() else ascii(text)
