"""Plain data in a file that proves itself whole: reading one runs no code.

A file is the line that says what it is, a digest of everything else, and then JSON in which arrays
stand by their type, shape and place among the bytes that follow it.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np

TITLE = b"rosenblatt checkpoint "
FORMAT = 1
ARRAY = "array"  # the key that only stands for an array
TYPES = ("<f8", "<f4", "<i8", "<i4", "<u8", "<u4", "|u1", "|b1")
DIGITS = 64
STRANGE = "is not a checkpoint"
TRUNCATED, CHANGED = "is truncated", "is damaged, truncated or changed"


class NotWhole(ValueError):
    """What was read is not what was written; the message goes on after the name of the file."""


def pack(value: Any) -> bytes:
    """Dicts with texts as keys, lists, arrays, texts and numbers, as the bytes of a file."""
    arrays: list[bytes] = []
    text = json.dumps(_without_arrays(value, arrays, [0]), separators=(",", ":")).encode()
    head = TITLE + b"%d\n" % FORMAT
    body = b"".join([b"%d\n" % len(text), text, *arrays])
    return b"".join([head, _digest(head, body), b"\n", body])


def unpack(data: bytes) -> Any:
    """What `pack` made into these bytes; tuples have become lists."""
    head, _, rest = data.partition(b"\n")
    if not head.startswith(TITLE):
        if TITLE.startswith(data[: len(TITLE)]):
            raise NotWhole(TRUNCATED)
        raise NotWhole(STRANGE)
    if head != TITLE + b"%d" % FORMAT:
        if not rest:
            raise NotWhole(TRUNCATED)
        version = head[len(TITLE) :][:20].decode("ascii", "replace")
        msg = f"has the format {version!r}, but this version of rosenblatt reads {FORMAT}"
        raise NotWhole(msg)
    digest, body = rest[:DIGITS], rest[DIGITS + 1 :]
    if digest != _digest(head + b"\n", body) or rest[DIGITS : DIGITS + 1] != b"\n":
        raise NotWhole(CHANGED)
    size, _, rest = body.partition(b"\n")
    try:
        return _with_arrays(json.loads(rest[: int(size)]), memoryview(rest)[int(size) :])
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError):
        raise NotWhole(CHANGED) from None


def _digest(head: bytes, body: bytes) -> bytes:
    found = hashlib.blake2b(head, digest_size=DIGITS // 2)
    found.update(body)
    return found.hexdigest().encode()


def _without_arrays(value: Any, arrays: list[bytes], end: list[int]) -> Any:
    """The value with each array replaced by where it is; their bytes are appended."""
    if isinstance(value, np.ndarray):
        dtype = value.dtype.newbyteorder("<")
        if dtype.str not in TYPES:
            msg = f"an array of {value.dtype} has no place in a checkpoint"
            raise TypeError(msg)
        data = np.ascontiguousarray(value, dtype).tobytes()
        arrays.append(data)
        end[0] += len(data)
        return {ARRAY: dtype.str, "shape": list(value.shape), "at": end[0] - len(data)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        assert ARRAY not in value
        return {key: _without_arrays(item, arrays, end) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(item, arrays, end) for item in value]
    return value


def _with_arrays(value: Any, data: memoryview) -> Any:
    """The value with its arrays, each a copy that can be written to."""
    if isinstance(value, list):
        return [_with_arrays(item, data) for item in value]
    if not isinstance(value, dict):
        return value
    if ARRAY not in value:
        return {key: _with_arrays(item, data) for key, item in value.items()}
    kind, shape, at = value[ARRAY], tuple(value["shape"]), value["at"]
    if kind not in TYPES or at < 0 or any(n < 0 for n in shape):
        raise ValueError
    dtype = np.dtype(kind)
    count = math.prod(shape)
    part = data[at : at + count * dtype.itemsize]
    native = np.frombuffer(part, dtype, count).astype(dtype.newbyteorder("="))
    return native.reshape(shape)
