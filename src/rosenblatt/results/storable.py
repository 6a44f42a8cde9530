"""Objects as plain dicts, lists and arrays, and back: what a model file may hold.

A dict that stands for something else says what under the key "is", which, being a keyword of
Python, cannot be the name of a field.
"""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from fractions import Fraction
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

KIND = "is"

# What annotations of fields mean that do not name a class; `kind` of the elements of an array.
ARRAYS = {"Floats": "f", "Ints": "iu", "NDArray[np.float64]": "f", "NDArray[np.int64]": "iu"}
NUMBERS = {"int": Integral, "float": Real}


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
        if KIND not in parts:
            return parts
        kind = parts.pop(KIND)
        if kind == "dict":
            return dict(zip(parts["keys"], parts["items"], strict=True))
        if kind == "fraction":
            return Fraction(*(int(text, 16) for text in parts["numbers"]))
        if kind == "numbers":
            return parts["values"].tolist()
        for known in types:
            if kind == known.__name__ or kind in getattr(known, "formerly", ()):
                return known[parts["name"]] if issubclass(known, Enum) else _made(known, parts)
        msg = f"{kind!r} is not known: this model may come from a newer version of rosenblatt"
        raise ValueError(msg)
    if type(value) is list:
        return [from_plain(item, types) for item in value]
    if type(value) is tuple:
        return tuple(from_plain(item, types) for item in value)
    return value


def _made(known: type[Any], parts: dict[str, Any]) -> Any:
    """An object of this dataclass, if its parts are what the annotations say.

    Its `formerly` maps the names that it and its fields had in older files to those of today.
    """
    names = getattr(known, "formerly", {})
    parts = {names.get(name, name): part for name, part in parts.items()}
    for field in fields(known):
        kinds = map(str.strip, str(field.type).split("|"))
        if field.name in parts and not any(_is(parts[field.name], kind) for kind in kinds):
            msg = f"{field.name} of a {known.__name__} is not {field.type}"
            raise ValueError(msg)
    return known(**parts)


def _is(value: Any, name: str) -> bool:
    """Whether a value is of the type that an annotation names."""
    if name in ARRAYS:
        return isinstance(value, np.ndarray) and value.dtype.kind in ARRAYS[name]
    if name in NUMBERS:
        return isinstance(value, NUMBERS[name]) and not isinstance(value, bool)
    own = name.partition("[")[0].rpartition(".")[2]
    types = {known.__name__ for known in type(value).__mro__}
    return name == "Any" or (value is None if name == "None" else own in types)
