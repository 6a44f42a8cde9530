"""Model files: zip files in skops form, without pickle, so that loading one runs no code."""

from __future__ import annotations

import io
import json
import platform
import warnings
import zipfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.arguments import file_path, instance
from rosenblatt.files.whole import existing, written_whole
from rosenblatt.files.wholeness import (
    ModelFileError,
    check_whole,
    one_line,
    parts_of,
    refuse_damaged,
    shown,
)

if TYPE_CHECKING:
    import os

VERSION: str = import_module("rosenblatt").__version__  # that module stands above this layer
LAYOUT = 2  # of the state of our estimators; one more with each change that older versions misread
PROTOCOL = 2  # of skops, when this began: no need for its loaders of older ones
HEADER = "rosenblatt.json"
ZIP = b"PK\3\4"  # how its files begin
GIVE = "give a file saved by `rosenblatt fit -o` or rb.io.save"
BOMB = (1 << 30, 200)  # bytes unpacked, and how many times the bytes packed, that are too many

# What a file may hold besides scikit-learn's estimators, numbers, text and arrays.
ALLOWED = (
    "rosenblatt.features.estimators.Nystroem",
    "rosenblatt.features.estimators.Polynomial",
    "rosenblatt.features.estimators.RandomFourier",
    "rosenblatt.features.estimators.Squares",
    "rosenblatt.kernel.estimator.KernelPerceptron",
    "rosenblatt.kernels.functions.Gaussian",
    "rosenblatt.kernels.functions.Linear",
    "rosenblatt.kernels.functions.Polynomial",
    "rosenblatt.kernels.functions.RBF",
    "rosenblatt.kernels.functions.Sigmoid",
    "rosenblatt.margin.estimator.MaxMarginClassifier",
    "rosenblatt.margin.estimator.SoftMarginClassifier",
    "rosenblatt.perceptron.adaline.Adaline",
    "rosenblatt.perceptron.estimator.Perceptron",
    "rosenblatt.perceptron.regressor.AdalineRegressor",
    "rosenblatt.tables.encoder.TableEncoder",
    "rosenblatt.tables.sparse_features.SparseEncoder",
    "scipy.sparse._csr.csr_array",  # of support vectors
    # Plain parts of scikit-learn's estimators that skops does not know.
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.utils._bunch.Bunch",
)

# Where the classes of layout 1 are now.
MOVED = {
    "rosenblatt.estimators.adaline": "rosenblatt.perceptron.adaline",
    "rosenblatt.estimators.kernel": "rosenblatt.kernel.estimator",
    "rosenblatt.estimators.margin": "rosenblatt.margin.estimator",
    "rosenblatt.estimators.perceptron": "rosenblatt.perceptron.estimator",
    "rosenblatt.estimators.table": "rosenblatt.tables.encoder",
    "rosenblatt.features": "rosenblatt.features.estimators",
    "rosenblatt.kernels": "rosenblatt.kernels.functions",
}


class ModelFileWarning(UserWarning):
    """A model whose predictions may not be those that it gave when it was saved."""


def save(
    model: Any, path: str | os.PathLike[str], *, summary: dict[str, Any] | None = None
) -> None:
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : estimator
        Fitted: one of rosenblatt's, or a pipeline or another estimator of scikit-learn around it.
    path : path of the file
        By custom its name ends in ``.skops``: skops can read it too. If it ends in ``.json`` the
        model is written as text, for people and programs to read.
    summary : dict, optional
        What it was trained on, figures, anything that JSON can hold. The loaded model has it as
        ``summary_`` (an empty dict if there was none).

    See Also
    --------
    load : Read it again.
    """
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    file_path("path", path)
    if summary is not None:
        instance("summary", summary, dict, "give a dict, or None")
    instance("model", model, BaseEstimator, "give a fitted estimator")
    check_is_fitted(model)
    for part in parts_of(model):
        if hasattr(part, "check_parameters"):
            part.check_parameters()
    if str(path).lower().endswith(".json"):
        written = text_of(model, summary or {})
        with written_whole(path) as beside:
            beside.write_text(written, encoding="utf-8")
        return
    root = _copied(model, summary_=_as_json(summary or {}))
    try:
        data = _pack(root, zipfile.ZIP_DEFLATED)
        if _is_bomb(data):  # an honest one: let it take the room that it needs
            data = _pack(root, zipfile.ZIP_STORED)
        strangers = _strangers(data)
    except (RecursionError, TypeError, ValueError) as error:
        raise _cannot_save(model, None, error) from error
    if strangers:
        raise _cannot_save(model, strangers)
    with written_whole(path) as beside:
        beside.write_bytes(data)


def _copied(model: Any, **more: Any) -> Any:
    """A copy to save: without checkpoints, which are no business of those who get the model.

    Not by copy.copy, which would judge parts that do not fit together before naming them.
    """
    root = object.__new__(type(model))
    vars(root).update(vars(model), **more)
    if hasattr(root, "checkpoint"):
        root.checkpoint = None
    if hasattr(root, "steps"):
        root.steps = [
            (name, _copied(step) if hasattr(step, "checkpoint") else step)
            for name, step in root.steps
        ]
    return root


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote. No code in the file is run, whoever made it.

    Parameters
    ----------
    path : path of the file

    Returns
    -------
    model : estimator
        It predicts, and goes on training, exactly as the one that was saved; ``summary_`` is what
        `save` was given.

    Raises
    ------
    ModelFileError
        If it is no model file, is damaged, comes from a newer version, or holds anything else
        than numbers, text, arrays and estimators of rosenblatt and scikit-learn.
    """
    source = existing(file_path("path", path), "give the name of a model file")
    data = _read(source)
    try:
        if data.startswith(ZIP):
            versions = _read_header(data)
            data = _renamed(data) if int(versions["layout"]) == 1 else data
            model = _unpack(data, versions)
        else:
            model, versions = _parse(data)
    except ModelFileError as error:
        msg = f"{source} {error}"
        raise ModelFileError(msg) from error.__cause__
    except Exception as error:  # whatever comes out of a file that somebody else made
        msg = f"{source} is damaged and cannot be read ({one_line(error)}): save the model again"
        raise ModelFileError(msg) from error
    _warn_of_scikit_learn(source, model, versions)
    return model


def text_of(model: Any, summary: dict[str, Any] | None = None) -> str:
    """A fitted model as JSON, which `load` reads, too.

    Parameters
    ----------
    model : estimator
        As for `save`; of scikit-learn only `Pipeline` and `StandardScaler`.
    summary : dict, optional
        As for `save`; None: the one it was loaded with.
    """
    from rosenblatt.files.json_models import as_json

    summary = getattr(model, "summary_", {}) if summary is None else summary
    try:
        return as_json(model, _as_json(summary), versions())
    except TypeError as error:
        msg = f"this {type(model).__name__} holds a {error}, which has no place in a JSON model"
        raise ModelFileError(msg) from None


def _as_json(summary: dict[str, Any]) -> dict[str, Any]:
    try:
        return json.loads(json.dumps(summary))  # type: ignore[no-any-return]
    except (RecursionError, TypeError, ValueError) as error:
        msg = f"summary does not go into JSON ({error}): give plain numbers, text, lists and dicts"
        raise ModelFileError(msg) from None


def _pack(root: Any, compression: int) -> bytes:
    """The bytes of the file: what skops writes, and a header with the versions."""
    import skops.io

    buffer = io.BytesIO()
    skops.io.dump(root, buffer, compression=compression)
    with zipfile.ZipFile(buffer, "a", compression) as archive:
        archive.writestr(HEADER, json.dumps({"layout": LAYOUT, **versions()}))
    return buffer.getvalue()


def versions() -> dict[str, str]:
    """Of what makes models here, by name."""
    import numba
    import numpy as np
    import sklearn

    return {
        "rosenblatt": VERSION,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "numba": numba.__version__,
    }


def versions_in(path: str | os.PathLike[str]) -> dict[str, str]:
    """Those that wrote a model file, as far as it says."""
    from rosenblatt.files.json_models import header_of

    data = _read(Path(path))
    header = _read_header(data) if data.startswith(ZIP) else header_of(data.decode("utf-8"))
    return {name: shown([header[name]]) for name in versions() if name in header}


def _strangers(data: bytes) -> list[str]:
    """The types in the file that it may not hold. Imports and builds none of them."""
    from skops.io import get_untrusted_types

    return sorted(set(get_untrusted_types(data=data)) - set(ALLOWED))


def _cannot_save(model: Any, strangers: list[str] | None, error: Any = "") -> ModelFileError:
    """What stands in the way of saving, and what to do about it."""
    for name, value in model.get_params().items():
        if name.rpartition("__")[2] == "callback" and value is not None:
            return ModelFileError(
                f"{name}={one_line(value)} cannot go into a model file, which holds no code: "
                f"call set_params({name}=None) first"
            )
        if name.rpartition("__")[2] == "kernel" and _is_code(value):
            code = getattr(value, "function", value)
            return ModelFileError(
                f"{name}={one_line(code)} cannot go into a model file, which holds no code: fit "
                "with kernel='precomputed' on the values of the function, or with one of rb.kernels"
            )
    what = shown(strangers) if strangers else f"something else ({one_line(error)})"
    remedy = ": save its best_estimator_" if hasattr(model, "best_estimator_") else ""
    return ModelFileError(
        "only numbers, text, arrays and estimators of rosenblatt and scikit-learn can go into a "
        f"model file, but this {type(model).__name__} holds {what}{remedy}"
    )


def _is_code(kernel: Any) -> bool:
    """Whether a kernel is somebody's function, and not one of ours."""
    from rosenblatt.kernels import Function, Kernel

    return isinstance(kernel, Function) or (callable(kernel) and not isinstance(kernel, Kernel))


def _read(source: Path) -> bytes:
    with source.open("rb") as file:
        start = file.read(4)
        if start != ZIP and start[:1] != b"{":
            what = "is not a model file" if start else "is empty"
            msg = f"{source} {what}: {GIVE}"
            raise ModelFileError(msg)
        return start + file.read()


def _parse(data: bytes) -> tuple[Any, dict[str, Any]]:
    """A model that was written as JSON, and the versions that wrote it."""
    import numpy as np
    from sklearn.exceptions import InconsistentVersionWarning

    from rosenblatt.files.json_models import NotAModelError, from_json

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # `load` says it once
            model, summary, wrote = from_json(data.decode("utf-8"))
    except (NotAModelError, UnicodeDecodeError) as error:
        msg = f"is not a model file: {GIVE}"
        raise ModelFileError(msg) from error
    if model is None:
        _refuse_newer(wrote.get("rosenblatt"))
    model.summary_ = summary
    check_whole(model)
    last = parts_of(model)[-1]
    if hasattr(last, "n_features_in_"):  # anybody may have changed a text: it must give answers
        getattr(last, "decision_function", last.predict)(np.zeros((1, last.n_features_in_)))
    return model, wrote


def _refuse_newer(theirs: Any) -> None:
    msg = f"comes from rosenblatt {shown([theirs])}, newer than this {VERSION}: update to read it"
    raise ModelFileError(msg)


def _is_bomb(data: bytes) -> bool:
    """Whether little data would fill the memory."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(member.file_size for member in archive.infolist())
    return size > BOMB[0] and size > BOMB[1] * len(data)


def _read_header(data: bytes) -> dict[str, Any]:
    """The versions that wrote the file, if it is whole and one of ours."""
    if _is_bomb(data):
        msg = "would fill the memory when unpacked: it is not a model"
        raise ModelFileError(msg)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if HEADER not in archive.namelist():
            msg = f"is not a model file: {GIVE}"
            raise ModelFileError(msg)
        damaged = archive.testzip()
        if damaged is not None:
            refuse_damaged(f"in {shown([damaged])}")
        header: dict[str, Any] = json.loads(archive.read(HEADER))
        protocol = json.loads(archive.read("schema.json"))["protocol"]
    if int(header["layout"]) > LAYOUT:
        _refuse_newer(header["rosenblatt"])
    if int(protocol) < PROTOCOL:
        msg = f"is in protocol {int(protocol)} of skops, which rosenblatt never wrote"
        raise ModelFileError(msg)
    return header


def _renamed(data: bytes) -> bytes:
    """A file of layout 1 with the names that its classes have now."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "schema.json":
                content = json.dumps(json.loads(content, object_hook=_moved)).encode()
            new.writestr(name, content)
    return buffer.getvalue()


def _moved(node: dict[str, Any]) -> dict[str, Any]:
    module = node.get("__module__")
    return node | {"__module__": MOVED.get(module, module)} if isinstance(module, str) else node


def _unpack(data: bytes, versions: dict[str, Any]) -> Any:
    import sklearn
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import InconsistentVersionWarning
    from skops.io import loads

    strangers = _strangers(data)
    if strangers:
        msg = f"holds {shown(strangers)}, which no model file may hold: it was not loaded"
        if versions["rosenblatt"] != VERSION:
            theirs = shown([versions["rosenblatt"]])
            msg = f"{msg} (it comes from rosenblatt {theirs}, this is {VERSION})"
        raise ModelFileError(msg)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # `load` says it once
            model = loads(data, trusted=list(ALLOWED))
    except Exception as error:
        if versions["scikit-learn"] == sklearn.__version__:
            raise
        theirs, here = shown([versions["scikit-learn"]]), sklearn.__version__
        msg = (
            f"was saved with scikit-learn {theirs}, but this is {here} ({one_line(error)}): "
            "read it there, or fit and save it again here"
        )
        raise ModelFileError(msg) from error
    if not isinstance(model, BaseEstimator):
        msg = f"holds a {type(model).__name__} where the model should be"
        raise ModelFileError(msg)
    check_whole(model)
    return model


def _warn_of_scikit_learn(source: Path, model: Any, versions: dict[str, Any]) -> None:
    import sklearn

    saved, here = versions.get("scikit-learn"), sklearn.__version__
    if type(model).__module__.startswith("sklearn.") and saved != here:
        warnings.warn(
            f"{source} was saved with scikit-learn {shown([saved])}, this is {here}: the parts of "
            "it that are scikit-learn's may behave differently; check it, or fit and save it again",
            ModelFileWarning,
            stacklevel=3,
        )
