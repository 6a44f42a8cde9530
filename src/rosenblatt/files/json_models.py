"""Models as JSON: all that a model file holds, for people and programs to read.

`model.schema.json`, beside this file, describes it. An estimator is its parameters and what `fit`
found, under the names they have in Python, and reading one back sets these: no code is run, and
nothing but the estimators, kernels and arrays named here can come of a file. Floats are written
with as many digits as it takes to come back to the bit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse

FORMAT, LAYOUT = "rosenblatt model", 1
KIND = "$"  # in a dict: what it stands for
WIDE = 100  # characters of a line, if there is a choice
MOST_STEPS = 20

# What may stand in a file, by the name it has there.
ESTIMATORS = {
    "TableEncoder": "rosenblatt.tables.encoder",
    "SparseEncoder": "rosenblatt.tables.sparse_features",
    "features.Nystroem": "rosenblatt.features.estimators",
    "features.Polynomial": "rosenblatt.features.estimators",
    "features.RandomFourier": "rosenblatt.features.estimators",
    "features.Squares": "rosenblatt.features.estimators",
    "Adaline": "rosenblatt.perceptron.adaline",
    "AdalineRegressor": "rosenblatt.perceptron.regressor",
    "KernelPerceptron": "rosenblatt.kernel.estimator",
    "MaxMarginClassifier": "rosenblatt.margin.estimator",
    "Perceptron": "rosenblatt.perceptron.estimator",
    "SoftMarginClassifier": "rosenblatt.margin.estimator",
    "sklearn.Nystroem": "sklearn.kernel_approximation",
    "sklearn.RBFSampler": "sklearn.kernel_approximation",
    "sklearn.StandardScaler": "sklearn.preprocessing",
}
KERNELS = ("Gaussian", "Linear", "Polynomial", "RBF", "Sigmoid")
INTEGERS = ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")
NUMBERS = ("float64", "float32", *INTEGERS, "bool")
SPARSE = {"csr_array": csr_array, "csr_matrix": csr_matrix}
GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


class NotAModelError(ValueError):
    """JSON of another kind."""


# Writing ----------------------------------------------------------------------------------------


def as_json(model: Any, summary: dict[str, Any], versions: dict[str, str]) -> str:
    """The text of a model; `summary` is what `rosenblatt.files.models.save` was given.

    Raises TypeError, saying what, if it holds something that has no place there.
    """
    steps = model.steps if hasattr(model, "steps") else [("model", model)]
    document = {
        "format": FORMAT,
        "layout": LAYOUT,
        "versions": versions,
        "pipeline": hasattr(model, "steps"),
        "steps": [{"name": name, **_estimator(step)} for name, step in steps],
        "summary": summary,
    }
    return "".join(_written(document, 0)) + "\n"


def _estimator(one: Any) -> dict[str, Any]:
    """An estimator: what it is, its parameters, what `fit` found, and how to go on fitting."""
    kind = _name_of(type(one))
    state = dict(one.__getstate__())
    state.pop("summary_", None)
    if "checkpoint" in state:
        state["checkpoint"] = None  # it is no business of those who get the model
    names = set(one.get_params(deep=False))
    parameters = {name: _plain(state.pop(name)) for name in list(state) if name in names}
    going_on = {name: _plain(state.pop(name)) for name in ("_state",) if name in state}
    fitted = {name: _plain(value) for name, value in state.items()}
    found = {"kind": kind, "parameters": parameters, "fitted": fitted}
    return found | ({"going_on": going_on} if going_on else {})


def _name_of(cls: type) -> str:
    for name, module in ESTIMATORS.items():
        if cls.__name__ == name.rpartition(".")[2] and cls.__module__.startswith(module):
            return name
    raise TypeError(cls.__name__)


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {KIND: "float", "value": str(value)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, tuple):
        return {KIND: "tuple", "items": [_plain(item) for item in value]}
    if isinstance(value, dict):
        return _plain_dict(value)
    if isinstance(value, np.ndarray):
        return _array(value)
    if issparse(value) and value.format == "csr":
        return _csr(value)
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return _generator(value)
    if is_dataclass(value) and type(value).__module__ == "rosenblatt.kernels.functions":
        return {KIND: f"kernels.{type(value).__name__}", **asdict(value)}  # type: ignore[arg-type]
    if hasattr(value, "get_params"):
        return {KIND: "estimator", **_estimator(value)}
    raise TypeError(type(value).__name__)


def _plain_dict(value: dict[Any, Any]) -> dict[str, Any]:
    if KIND not in value and all(isinstance(key, str) for key in value):
        return {key: _plain(item) for key, item in value.items()}
    return {KIND: "dict", "items": [[_plain(key), _plain(item)] for key, item in value.items()]}


def _array(value: np.ndarray[Any, Any]) -> dict[str, Any]:
    kind = "text" if value.dtype.kind == "U" else value.dtype.name
    if kind == "object" and all(isinstance(item, str) for item in value.ravel()):
        kind = "words"
    if kind not in (*NUMBERS, "text", "words"):
        msg = f"array of {kind}"
        raise TypeError(msg)
    items = [_number(item) for item in value.ravel().tolist()]
    return {KIND: "array", "of": kind, "shape": list(value.shape), "values": items}


def _number(item: Any) -> Any:
    """An element of an array; what JSON has no number for, as text."""
    return str(item) if isinstance(item, float) and not math.isfinite(item) else item


def _csr(value: Any) -> dict[str, Any]:
    parts = {name: _array(getattr(value, name)) for name in ("data", "indices", "indptr")}
    return {KIND: type(value).__name__, "shape": list(value.shape), **parts}


def _generator(value: Any) -> dict[str, Any]:
    bits = value.bit_generator if isinstance(value, np.random.Generator) else value._bit_generator
    name = type(bits).__name__
    if name not in GENERATORS:
        raise TypeError(name)
    kind = "generator" if isinstance(value, np.random.Generator) else "random_state"
    return {KIND: kind, "of": name, "state": _plain(bits.state)}


def _written(value: Any, depth: int) -> Iterator[str]:
    """JSON with what is short in one line, and lists of numbers folded."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(line) + depth <= WIDE or not isinstance(value, dict | list) or not value:
        yield line
        return
    pad, end = " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, dict):
        for k, (key, item) in enumerate(value.items()):
            yield ("{" if k == 0 else ",") + "\n" + pad
            yield json.dumps(key, ensure_ascii=False) + ": "
            yield from _written(item, depth + 1)
        yield end + "}"
    elif any(isinstance(item, dict | list) for item in value):
        for k, item in enumerate(value):
            yield ("[" if k == 0 else ",") + "\n" + pad
            yield from _written(item, depth + 1)
        yield end + "]"
    else:
        yield "[\n" + "\n".join(_folded(value, pad)) + end + "]"


def _folded(items: list[Any], pad: str) -> Iterator[str]:
    """Simple items, as many to a line as there is room for."""
    line = pad
    for k, item in enumerate(items):
        text = json.dumps(item, ensure_ascii=False) + ("," if k < len(items) - 1 else "")
        if line != pad and len(line) + len(text) > WIDE:
            yield line.rstrip()
            line = pad
        line += text + " "
    yield line.rstrip()


# Reading ----------------------------------------------------------------------------------------


def from_json(text: str) -> tuple[Any, dict[str, Any], dict[str, str]]:
    """The model, its summary, and the versions that wrote it; None for one that is too new.

    Raises NotAModelError if it is something else, and ValueError, with the reason, or whatever
    estimators say, if it cannot have been written by `as_json`.
    """
    document = _document(text)
    if document["layout"] > LAYOUT:
        return None, {}, document["versions"]
    summary, steps = _dict(document, "summary"), document.get("steps")
    _check("steps", isinstance(steps, list) and 0 < len(steps) <= MOST_STEPS)
    made = [(_text(step, "name"), _estimator_of(step)) for step in steps or ()]
    if document.get("pipeline") is True:
        from sklearn.pipeline import Pipeline

        _check("steps", len({name for name, _ in made}) == len(made))
        return Pipeline(made), summary, document["versions"]
    _check("pipeline", document.get("pipeline") is False and len(made) == 1)
    return made[0][1], summary, document["versions"]


def header_of(text: str) -> dict[str, str]:
    """The versions that wrote a document."""
    versions: dict[str, str] = _document(text)["versions"]
    return versions


def _document(text: str) -> dict[str, Any]:
    """JSON, if it is a model by its format."""
    document = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise NotAModelError
    _check("layout", type(document.get("layout")) is int and document["layout"] > 0)
    versions = document.get("versions")
    texts = isinstance(versions, dict) and all(isinstance(v, str) for v in versions.values())
    _check("versions", texts and "scikit-learn" in document["versions"])
    return document


def _check(what: str, right: bool) -> None:
    if not right:
        msg = f"{what!r} is not as it should be"
        raise ValueError(msg)


def _refuse_constant(name: str) -> Any:
    msg = f"{name} is no number of JSON"
    raise ValueError(msg)


def _finite(text: str) -> float:
    value = float(text)
    _check(text, math.isfinite(value))
    return value


def _text(document: Any, name: str) -> str:
    _check(name, isinstance(document, dict) and isinstance(document.get(name), str))
    return str(document[name])


def _dict(document: Any, name: str) -> dict[str, Any]:
    _check(name, isinstance(document, dict) and isinstance(document.get(name), dict))
    return dict(document[name])


def _estimator_of(document: Any) -> Any:
    """An estimator, from its parameters and what `fit` found."""
    kind = _text(document, "kind")
    if kind not in ESTIMATORS:
        msg = f"{kind[:80]!r} is no kind of step that is known"
        raise ValueError(msg)
    cls = getattr(import_module(ESTIMATORS[kind]), kind.rpartition(".")[2])
    state: dict[str, Any] = {}
    for part in ("parameters", "fitted", "going_on"):
        values = _dict(document, part) if part in document else {}
        state |= {name: _value(item) for name, item in values.items()}
    _check("parameters", set(_dict(document, "parameters")) == set(cls().get_params(deep=False)))
    one = cls.__new__(cls)
    one.__setstate__(state)
    return one


def _value(item: Any) -> Any:
    """What stands for a value."""
    if isinstance(item, list):
        return [_value(part) for part in item]
    if not isinstance(item, dict):
        return item
    if KIND not in item:
        return {key: _value(part) for key, part in item.items()}
    kind = _text(item, KIND)
    if kind.startswith("kernels."):
        return _kernel(kind, item)
    if kind not in READERS:
        msg = f"{kind[:80]!r} is no kind of value that is known"
        raise ValueError(msg)
    return READERS[kind](item)


def _float(item: dict[str, Any]) -> float:
    _check("value", item.get("value") in ("nan", "inf", "-inf"))
    return float(item["value"])


def _items(item: dict[str, Any]) -> list[Any]:
    _check("items", isinstance(item.get("items"), list))
    return [_value(part) for part in item["items"]]


def _array_of(item: Any) -> Any:
    """An array, whose elements must be of the kind that it says."""
    kind, shape, values = _text(item, "of"), item.get("shape"), item.get("values")
    counts = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    _check("shape", counts and isinstance(values, list) and math.prod(shape) == len(values))
    _check("of", kind in (*NUMBERS, "text", "words"))
    if kind in ("text", "words"):
        _check("values", all(isinstance(value, str) for value in values))
        return np.array(values, dtype=object if kind == "words" else str).reshape(shape)
    if kind.startswith("float"):
        values = [_element(value) for value in values]
    else:
        wanted = bool if kind == "bool" else int
        _check("values", all(type(value) is wanted for value in values))
    return np.array(values, dtype=kind).reshape(shape)


def _element(value: Any) -> float:
    if isinstance(value, str):
        return _float({"value": value})
    _check("values", type(value) in (int, float))
    return float(value)


def _csr_of(item: dict[str, Any]) -> Any:
    parts = [_array_of(item.get(name)) for name in ("data", "indices", "indptr")]
    shape = item.get("shape")
    _check("shape", isinstance(shape, list) and [type(n) for n in shape] == [int, int])
    made = SPARSE[item[KIND]](tuple(parts), shape=tuple(item["shape"]))
    made.check_format(full_check=True)
    return made


def _kernel(kind: str, item: dict[str, Any]) -> Any:
    from rosenblatt import kernels

    name = kind.partition(".")[2]
    _check(KIND, name in KERNELS)
    return getattr(kernels, name)(**{key: part for key, part in item.items() if key != KIND})


def _generator_of(item: dict[str, Any]) -> Any:
    name = _text(item, "of")
    _check("of", name in GENERATORS)
    bits = getattr(np.random, name)()
    bits.state = _value(item.get("state"))
    return np.random.Generator(bits) if item[KIND] == "generator" else np.random.RandomState(bits)


READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "float": _float,
    "tuple": lambda item: tuple(_items(item)),
    "dict": lambda item: dict(_items(item)),
    "array": _array_of,
    "csr_array": _csr_of,
    "csr_matrix": _csr_of,
    "generator": _generator_of,
    "random_state": _generator_of,
    "estimator": _estimator_of,
}
