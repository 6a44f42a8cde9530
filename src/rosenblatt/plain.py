"""Objects as plain dicts, lists and arrays, and back: what a model file may hold.

A dict that stands for something else says what under the key "is", which, being a keyword of
Python, cannot be the name of a field.
"""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

KIND = "is"


def to_plain(value: Any, types: Sequence[type]) -> Any:
    """`value` with every object of these types, dataclasses and enums, as a dict.

    Lists of numbers become arrays, which take less room. Whatever else there is stays itself.
    """
    if type(value) in types:
        if isinstance(value, Enum):
            return {KIND: type(value).__name__, "name": value.name}
        parts = {f.name: to_plain(getattr(value, f.name), types) for f in fields(value) if f.init}
        return {KIND: type(value).__name__, **parts}
    if type(value) is dict:
        if KIND not in value and all(type(key) is str for key in value):
            return {key: to_plain(item, types) for key, item in value.items()}
        keys, items = list(value), list(value.values())
        return {KIND: "dict", "keys": to_plain(keys, types), "items": to_plain(items, types)}
    if type(value) is list:
        if {type(item) for item in value} in ({int}, {float}):
            numbers = np.array(value)
            if numbers.dtype in (np.int64, np.float64):  # not a whole number beyond 64 bits
                return {KIND: "numbers", "values": numbers}
        return [to_plain(item, types) for item in value]
    if type(value) is tuple:
        return tuple(to_plain(item, types) for item in value)
    if type(value) is Fraction:
        return {KIND: "fraction", "numbers": [hex(n) for n in value.as_integer_ratio()]}
    return value


def from_plain(value: Any, types: Sequence[type]) -> Any:
    """The object that `to_plain` turned into `value`; no others than of these types."""
    if type(value) is dict:
        parts = {key: from_plain(item, types) for key, item in value.items()}
        kind = parts.pop(KIND, None)
        if kind is None:
            return parts
        if kind == "dict":
            return dict(zip(parts["keys"], parts["items"], strict=True))
        if kind == "fraction":
            return Fraction(*(int(text, 16) for text in parts["numbers"]))
        if kind == "numbers":
            return parts["values"].tolist()
        for known in types:
            if known.__name__ == kind:
                return known[parts["name"]] if issubclass(known, Enum) else known(**parts)
        msg = f"{kind!r} is not known: this model may come from a newer version of rosenblatt"
        raise ValueError(msg)
    if type(value) is list:
        return [from_plain(item, types) for item in value]
    if type(value) is tuple:
        return tuple(from_plain(item, types) for item in value)
    return value
