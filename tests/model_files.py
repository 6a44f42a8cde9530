"""Models to save, and whether they come back the same."""

import copy
import dataclasses
import struct

import numpy as np
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from rosenblatt.files.models import load, save


def cloud(classes=2, n=80, d=3, seed=0):
    X, y = make_blobs(n, d, centers=classes, cluster_std=4.0, random_state=seed)
    return X, y


def differences(a, b, skip=(), at="model"):
    """Where two objects are not the same in every bit, as text."""
    if type(a) is not type(b):
        return [f"{at}: {type(a)} is not {type(b)}"]
    if dataclasses.is_dataclass(a):
        a, b = vars(a), vars(b)
    if isinstance(a, np.random.Generator):
        a, b = a.bit_generator.state, b.bit_generator.state
    if isinstance(a, np.random.RandomState):
        a, b = a.get_state(legacy=False), b.get_state(legacy=False)
    if isinstance(a, np.ndarray):
        if a.dtype.hasobject:
            a, b = (a.shape, a.tolist()), (b.shape, b.tolist())
        else:
            a, b = ((v.dtype, v.shape, v.tobytes()) for v in (a, b))
    if hasattr(a, "get_params") and not isinstance(a, type):
        a, b = vars(a), vars(b)
    if isinstance(a, dict):
        if list(a) != list(b):
            return [f"{at}: {list(a)} are not {list(b)}"]
        return [
            text
            for key in a
            if key not in skip
            for text in differences(a[key], b[key], skip, f"{at}.{key}")
        ]
    if isinstance(a, list | tuple):
        if len(a) != len(b):
            return [f"{at}: length {len(a)} is not {len(b)}"]
        pairs = enumerate(zip(a, b, strict=True))
        return [t for i, (x, z) in pairs for t in differences(x, z, skip, f"{at}[{i}]")]
    if isinstance(a, float):
        a, b = struct.pack("d", a), struct.pack("d", b)
    return [] if a == b else [f"{at}: {a!r} is not {b!r}"]


def round_trip(model, folder, **more):
    path = folder / "model.skops"
    save(model, path, **more)
    return load(path)


def without_summary(model):
    model = copy.copy(model)
    del model.summary_
    return model


numbers = st.integers() | st.floats(allow_nan=False) | st.just(float("nan"))  # JSON has one NaN


KEYS = st.sampled_from(["is", "a", "1", 1, True, False, 0.5, None, ("is", 2)])


def nested(inner):
    pair, table = st.tuples(inner, inner), st.dictionaries(KEYS, inner, max_size=3)
    return inner | st.lists(inner, max_size=3) | pair | table


# Three levels by hand: whether st.recursive warns depends on the tests that ran before.
anything = nested(nested(nested(st.none() | st.booleans() | numbers | st.text(max_size=3))))
