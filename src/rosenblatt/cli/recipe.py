"""How to get a model again: the command line, and the same in Python."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.cli.effort import CHOSEN
from rosenblatt.cli.given_options import given_options
from rosenblatt.cli.options import how_to_read, typed
from rosenblatt.report.page.facts import Recipe
from rosenblatt.results import StopReason
from rosenblatt.tables.mapped_features import MappedEncoder, plain
from rosenblatt.tables.sparse_features import SparseEncoder

if TYPE_CHECKING:
    import typer

    from rosenblatt.cli.fitting import TrainedModel

# What does not matter to the model: where it is written, and how it is told.
BESIDES = {"output", "picture", "page", "page_time", "top", "rows", "json_", "quiet", "record"}
UNSET = {"callback", "progress", "record", "n_jobs"}  # of estimators, which change no weight
BY_CLOCK = "Training was ended by the clock (--max-time), so another run may end elsewhere."
NO_FILE = "The table was no file, so there is no short program in Python."
GROUPS = "In Python, the groups that were held out would first have to be drawn again."
UNSURE = (
    "Either gives the same model, to the last bit, with this version of rosenblatt; that in Python "
    "has no probabilities (--calibrate)."
)
SPELLINGS = "In Python, words in several spellings would first have to be given one."


def recipe(ctx: typer.Context, trained: TrainedModel) -> Recipe:
    """The command and the Python that give the same model again."""
    reasons = {fit.stop_reason for fit in trained.classifier.fits_}
    why_not = BY_CLOCK if StopReason.TIME_LIMIT in reasons else ""
    hindrance = _hindrance(trained, ctx.params)
    python = "" if hindrance else "\n".join(_python(trained, ctx.params))
    if not why_not and not hindrance and trained.facts.calibration is not None:
        why_not = UNSURE
    return Recipe(command(ctx, trained), python, " ".join(filter(None, [why_not, hindrance])))


def _hindrance(trained: TrainedModel, given: Mapping[str, Any]) -> str:
    """Why there is no short program that gives the same model, if there is none."""
    if any("several spellings" in note for note in trained.facts.notes):
        return SPELLINGS
    if given.get("holdout") is not None and given.get("groups") is not None:
        return GROUPS
    return "" if given["files"] and given["files"] != ["-"] else NO_FILE


def command(ctx: typer.Context, trained: TrainedModel) -> str:
    """``rosenblatt fit`` with every option that was given, and the class by name."""
    options = {str(option.name) for option in ctx.command.params} - BESIDES
    given = given_options(ctx, trained.training.target, options)
    return typed(["fit", *given, "-o", "model.skops"])


# Python -----------------------------------------------------------------------------------------


def _python(trained: TrainedModel, given: Mapping[str, Any]) -> Iterator[str]:
    """Lines of a program whose `model` is the same."""
    training, encoder = trained.training, trained.training.encoder
    sparse = isinstance(plain(encoder), SparseEncoder)
    how = how_to_read(given)
    if _needs_numpy(trained, given):
        yield "import numpy as np"
    if any(_path(file).startswith("Path") for file in given["files"]):
        yield "from pathlib import Path"
    yield "import rosenblatt as rb"
    yield "from sklearn.pipeline import make_pipeline"
    yield ""
    yield from _reading(given["files"], how, training)
    target, left_out = training.target, [training.target, *how["ignore"]]
    names = [name for name in training.columns if name not in left_out]
    yield (
        f"target = table[{_text(target)}]"
        if not _as_written(training)
        else (f'target = table.read_as({{{_text(target)}: "text"}})[{_text(target)}]')
    )
    rows = ""
    if training.rows_left_out:
        yield "known = np.array([cell is not None and cell == cell for cell in target])"
        rows = "[known]"
    yield f"y = {_labels(training, f'target{rows}')}"
    if sparse:
        yield f"X = table[{_text(names[0])}]{rows}"
    elif list(training.names) == [*names, target]:
        yield f"X = {{name: table[name]{rows} for name in table.names[:-1]}}"
    else:
        yield f"X = {{name: table[name]{rows} for name in {_names(names)}}}"
    if given.get("holdout") is not None:
        yield from _holdout(given, sparse)
    steps = [] if sparse else [_call("rb.TableEncoder", _encoder_parameters(encoder))]
    if isinstance(encoder, MappedEncoder):
        made = encoder.mapping
        steps.append(_call(f"rb.features.{type(made).__name__}", _changed(made)))
    steps.append(_call(f"rb.{type(trained.classifier).__name__}", _parameters(trained)))
    yield "model = make_pipeline("
    yield from (f"    {step}," for step in steps)
    yield ")"
    yield "model.fit(X, y)"


def _needs_numpy(trained: TrainedModel, given: Mapping[str, Any]) -> bool:
    training = trained.training
    numbers = training.classes.dtype.kind == "U" and _are_numbers(training)
    return bool(training.rows_left_out) or given.get("holdout") is not None or numbers


def _reading(files: Sequence[str], how: Mapping[str, Any], training: Any) -> Iterator[str]:
    """The table, read as the options say."""
    options: dict[str, Any] = {
        name: how[name]
        for name in ("header", "delimiter", "decimal", "dates", "sheet", "table", "query")
        if how.get(name) is not None
    }
    numbers, words = list(how["number"]), [*how["category"], *how["text"]]
    options |= {"numbers": numbers} if numbers else {}
    options |= {"text": words} if words else {}
    options |= {"missing": list(how["missing"])} if how["missing"] else {}
    options |= {"skip_bad_lines": True} if how.get("skip_bad_lines") else {}
    where = _path(files[0]) if len(files) == 1 else f"[{', '.join(map(_path, files))}]"
    told = "".join(f", {name}={_value(value)}" for name, value in options.items())
    yield f"table = rb.io.read_table({where}{told})"
    kinds = dict.fromkeys(numbers, "number") | dict.fromkeys(words, "text")
    if kinds:
        yield f"table = table.read_as(table.kinds | {_value(kinds)})"


def _path(file: str) -> str:
    """A file as Python reads it; the folder of its owner, often a person's name, is not told."""
    home = f"{Path.home()}/"
    if not file.startswith(home) or len(home) < 3:
        return _text(file)
    return f"Path.home() / {_text(file.removeprefix(home))}"


def _as_written(training: Any) -> bool:
    """Whether the classes are numbers that are called as they are written."""
    return training.classes.dtype.kind == "U" and training.target in training.decimals


def _are_numbers(training: Any) -> bool:
    """Whether the classes are fractions, which are called by few digits."""
    try:
        names = [float(name) for name in training.classes]
    except ValueError:
        return False
    return not _as_written(training) and any(name != round(name) for name in names)


def _labels(training: Any, cells: str) -> str:
    if training.classes.dtype.kind == "i":
        return f"{cells}.astype(int)"
    if training.classes.dtype.kind == "U" and _are_numbers(training):
        return f'np.array([f"{{number:g}}" for number in {cells}])'
    return f"{cells}.astype(str)"


def _holdout(given: Mapping[str, Any], sparse: bool) -> Iterator[str]:
    """The rows that were not held out, drawn as the command draws them."""
    from rosenblatt.cli.testing import share_of

    yield f"random, held = np.random.default_rng({given.get('seed') or 0}), []"
    yield "for name in np.unique(y):"
    yield "    rows = random.permutation(np.flatnonzero(y == name))"
    share = share_of(str(given["holdout"]))
    yield f"    n = min(len(rows) - 1, max(1, round({share!r} * len(rows))))"
    yield "    held.extend(rows[:n])"
    yield "learn = np.setdiff1d(np.arange(len(y)), held)"
    some = "X[learn]" if sparse else "{name: cells[learn] for name, cells in X.items()}"
    yield f"X, y = {some}, y[learn]"


def _encoder_parameters(encoder: Any) -> dict[str, Any]:
    return {name: _listed(value) for name, value in _changed(plain(encoder)).items()}


def _parameters(trained: TrainedModel) -> dict[str, Any]:
    """What is not as it is by default; epochs that the command chose are written out."""
    classifier = trained.classifier
    found = {name: value for name, value in _changed(classifier).items() if name not in UNSET}
    if not CHOSEN.isdisjoint(fit.stop_reason for fit in classifier.fits_):
        found["max_epochs"] = int(classifier.n_iter_)
    return found


def _changed(estimator: Any) -> dict[str, Any]:
    defaults = type(estimator)().get_params(deep=False)
    given = estimator.get_params(deep=False)
    return {
        name: value for name, value in given.items() if not np.array_equal(value, defaults[name])
    }


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _call(name: str, parameters: Mapping[str, Any]) -> str:
    told = ", ".join(f"{key}={_value(value)}" for key, value in parameters.items())
    return f"{name}({told})"


def _names(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, names))}]"


def _value(value: Any) -> str:
    """A value as Python reads it."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_value(k)}: {_value(v)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, np.ndarray):
        return _value(value.tolist())
    return repr(value.item() if isinstance(value, np.generic) else value)


def _text(text: str) -> str:
    r"""A string in double quotes, with nothing in it that cannot be seen."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if quoted.isprintable() else ascii(text)
