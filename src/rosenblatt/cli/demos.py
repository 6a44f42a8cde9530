"""The demos: data with a story, fitted by the same code as ``rosenblatt fit``."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import typer

from rosenblatt import datasets
from rosenblatt.cli.progress import Progress
from rosenblatt.cli.reading import Task, read_task
from rosenblatt.cli.text import Weights, print_report
from rosenblatt.cli.training import MODELS, train
from rosenblatt.cli.words import listing, suggestion
from rosenblatt.tables.encoder import TableEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Demo(NamedTuple):
    """Data, and what to look at."""

    title: str
    story: str
    read: Callable[[], Task]
    parameters: Mapping[str, Any] = {}
    model: str = "perceptron"


def _penguins() -> Task:
    from rosenblatt.tables.table import read_table

    with (
        as_file(files("rosenblatt.cli") / "data" / "penguins.csv") as path,
        read_table(str(path)) as table,
    ):
        return read_task(table, "species")


def _generated(data: datasets.Dataset, target: str) -> Task:
    columns = dict(zip(data.feature_names, data.X.T, strict=True))
    named = data.target_names != ("-1", "+1")
    labels = np.where(data.y > 0, *data.target_names[::-1]) if named else data.y
    return Task(target, columns, labels, {"file": data.description, "names": []}, [])


DEMOS = {
    "penguins": Demo(
        "three species from measurements, with text and missing cells",
        "344 penguins of three species were measured in Antarctica. Some cells are missing, and "
        "two columns are text. Can straight cuts tell the species apart?",
        _penguins,
    ),
    "dunkers": Demo(
        "who can dunk: two features, two classes, a gap between them",
        "80 invented basketball players: inches above the average in height and in leap, and "
        "whether they can dunk. Tall and springy helps; there is a line between those who can and "
        "those who cannot.",
        lambda: _generated(datasets.dunkers(random_state=0), "player"),
    ),
    "eight-points": Demo(
        "the smallest example: eight points in the plane",
        "Eight points in the plane, four of each class, symmetric about the origin.",
        lambda: _generated(datasets.eight_points(), "class"),
    ),
    "noisy": Demo(
        "wrong labels among the right ones: the pocket keeps the best hyperplane",
        "1000 points with a clear gap between the classes, but 5 % of the labels are wrong. The "
        "perceptron never comes to rest on such data, so the pocket remembers the best hyperplane.",
        lambda: _generated(
            datasets.flip_labels(
                datasets.known_margin(1000, 2, margin=0.1, random_state=0), 0.05, random_state=0
            ),
            "class",
        ),
        {"keep": "pocket", "max_epochs": 100},
    ),
    "rings": Demo(
        "a curve around the inner ring, and the rows whose class is wrong",
        "200 points on two rings, and no line between them. A kernel perceptron bends its boundary "
        "around the inner ring. Ten labels are wrong: can it tell which?",
        lambda: _generated(
            datasets.flip_labels(
                datasets.circles(200, noise=0.1, random_state=0), 0.05, random_state=1
            ),
            "ring",
        ),
        {"drop_after": 5},
        "kernel",
    ),
    "xor": Demo(
        "no line can do it, and the run proves that it goes in circles",
        "Exclusive or: +1 where exactly one of two inputs is 1. Four points, and no line that "
        "separates them: this is what ended the first wave of enthusiasm for perceptrons.",
        lambda: _generated(datasets.xor(), "class"),
    ),
}


def _find(name: str) -> Demo:
    if name not in DEMOS:
        near = suggestion(name, list(DEMOS))
        msg = f"there is no demo {name!r}.{near} The demos are {listing(DEMOS)}"
        raise ValueError(msg)
    return DEMOS[name]


def run(name: str) -> None:
    """Fit and explain."""
    one = _find(name)
    task = one.read()
    with Progress() as progress:
        # What the command does for a kernel unless told otherwise.
        usual = {"order": "shuffled", "random_state": 0} if one.model == "kernel" else {}
        classifier = MODELS[one.model](**usual, **one.parameters)
        outcome = train(task, classifier, TableEncoder(), 5, progress)
    print_report(
        f"{name}: {one.title}",
        outcome.summary,
        Weights.of(outcome.pipeline),
        top=20,
        story=one.story,
        explained=True,
    )
    keep = f" --model {one.model}" * (one.model != "perceptron")
    keep += "".join(f" --{k.replace('_', '-')} {v}" for k, v in one.parameters.items())
    typer.echo("\nNow you: get the data, fit them in other ways, draw them.\n")
    typer.echo(f"  rosenblatt demo {name} --save {name}.csv")
    typer.echo(f"  rosenblatt fit {name}.csv --target {task.target}{keep} --plot {name}.png")


def write(name: str, path: str) -> None:
    """Write the data of a demo to a table."""
    from rosenblatt.tables.output import TableWriter

    task = _find(name).read()
    layout = {
        column: "text" if cells.dtype.kind == "O" else "number"
        for column, cells in task.columns.items()
    }
    labels = "text" if task.y.dtype.kind == "U" else "integer"
    with TableWriter(path, layout | {task.target: labels}) as out:
        out.write(task.columns | {task.target: task.y})
