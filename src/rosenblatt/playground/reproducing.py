"""Python code and a command that do what the page does: the same estimator on the same data."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from rosenblatt.playground.answers import Code
from rosenblatt.playground.estimators import recipe

if TYPE_CHECKING:
    from rosenblatt.playground.held_tables import HeldTable
    from rosenblatt.playground.samples import Samples
    from rosenblatt.playground.schemas import Settings

MODELS = {"pocket": "perceptron", "average": "perceptron", "vote": "kernel"}
POINTS = "points.csv"  # as the page saves them
# Parameters of estimators that options of the command call otherwise.
OPTIONS = {"random_state": "seed"}
ALWAYS = ("order", "keep")  # the command has other defaults


def code(samples: Samples, settings: Settings) -> Code:
    """What reproduces a run."""
    chosen = recipe(settings, samples)
    make = f"rb.{chosen.name}({_arguments(chosen.chosen())})"
    data = _points(samples) if samples.table is None else _table(samples, samples.table)
    lines = ["import rosenblatt as rb", *data, "", f"model = {make}", "model.fit(X, y)"]
    lines += ["print(model.stop_reason_, model.n_errors_)"]
    lines += ["print(model.coef_, model.intercept_)"] * (chosen.name != "KernelPerceptron")
    command, note = _command(samples, settings)
    return Code(python="\n".join(lines) + "\n", command=command, note=note)


def _arguments(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in parameters.items())


def _points(samples: Samples) -> list[str]:
    """The points, written out."""
    named = ", ".join(f"{k}: {samples.named(k)}" for k in samples.classes)
    return [
        "",
        f"X = {_rows(samples.X.tolist())}",
        f"y = {_wrapped(samples.y.tolist())}  # {' '.join(named.split())}",
    ]


def _rows(rows: list[list[float]]) -> str:
    return "[\n" + "".join(f"    {row},\n" for row in rows) + "]"


def _wrapped(values: list[int]) -> str:
    """Numbers, thirty on a line."""
    if len(values) <= 30:
        return repr(values)
    lines = [values[a : a + 30] for a in range(0, len(values), 30)]
    return "[\n" + "".join(f"    {', '.join(map(str, line))},\n" for line in lines) + "]"


def _table(samples: Samples, table: HeldTable) -> list[str]:
    """How to read the same features from the file."""
    columns = _columns(table)
    used = columns if samples.along else [name for name in columns if name in samples.features]
    path = table.path or "table.csv"
    lines = ["", f"with rb.io.read_table({path!r}) as table:"]
    lines += [f"    columns = {{name: table[name] for name in {used!r}}}"]
    lines += [f"    y = table[{table.source.target!r}]"]
    lines += ["X = rb.TableEncoder().fit_transform(columns)"]
    if not samples.along and list(samples.features) != used:
        lines += [f"X = X[:, {[used.index(name) for name in samples.features]}]"]
    return lines


def _columns(table: HeldTable) -> list[str]:
    """The columns of the file that features are made of."""
    return list(table.source.encoder.kinds_)


def _command(samples: Samples, settings: Settings) -> tuple[str | None, str | None]:
    """The command, and what it does otherwise."""
    table = samples.table
    note: str | None
    if table is None:
        file, reading, note = POINTS, ["--raw"], f"Save the points as {POINTS} first."
        names = [samples.named(k) for k in samples.classes]
        if names != sorted(names) or len(set(names)) < len(names):
            note = f"{note} There classes are in the order of their names, which may turn signs."
    else:
        file, note = table.path or "table.csv", None if table.path else "Save the table first."
        reading = ["--target", table.source.target]
        if not samples.along:
            if not set(samples.features) <= set(_columns(table)):
                return None, "The command takes whole columns, not single values of one."
            if len(set(samples.features)) < 2:
                return None, "The command takes a column once."
            for name in _columns(table):
                reading += [] if name in samples.features else ["--ignore", name]
            if list(samples.features) != [n for n in _columns(table) if n in samples.features]:
                note = " ".join(filter(None, [note, "There the features are in their own order."]))
    options, refused = _options(settings, samples)
    if refused is not None:
        return None, refused
    words = [
        "rosenblatt",
        "fit",
        file,
        *reading,
        "--model",
        _model(settings),
        *options,
        "--cv",
        "0",
    ]
    return shlex.join(words), note


def _model(settings: Settings) -> str:
    return MODELS.get(settings.algorithm, settings.algorithm)


def _options(settings: Settings, samples: Samples) -> tuple[list[str], str | None]:
    """The options that say what the settings say, or why none do."""
    chosen = recipe(settings, samples)
    given = chosen.chosen() | {k: v for k, v in chosen.parameters.items() if k in ALWAYS}
    if getattr(settings, "update", None) == "batch":
        given.pop("order")
    if "max_epochs" in chosen.parameters:
        given["max_epochs"] = chosen.parameters["max_epochs"]  # or it chooses by itself
    if given.get("budget") is not None:
        given.pop("keep")
    options: list[str] = []
    for name, value in given.items():
        match name, value:
            case "fit_intercept", bool():
                options += ["--intercept" if value else "--no-intercept"]
            case "class_weight", dict():
                if any(set(samples.named(k)) & set(",=") for k in value):
                    return [], "The command cannot weigh classes with such names."
                weights = [f"{samples.named(k)}={weight!r}" for k, weight in value.items()]
                options += ["--class-weight", ",".join(weights)]
            case "init", list():
                if any(isinstance(part, list) for part in value):
                    return [], "The command starts all classes from the same vector."
                options += [f"--init={','.join(map(repr, value))}"]
            case "at_zero", int():
                options += [f"--at-zero={value:+d}"]
            case "tol", None:
                return [], "The command does not run a rule without tol."
            case _:
                shown = value if isinstance(value, str) else repr(value)
                options += [f"--{OPTIONS.get(name, name).replace('_', '-')}", shown]
    return options, None
