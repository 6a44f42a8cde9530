"""``rosenblatt demo``: a fit on data that come with the package, every line explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import rosenblatt as rb
from rosenblatt.cli.options import usual_options
from rosenblatt.cli.waiting import HeldCtrlC, ProgressLine
from rosenblatt.visible import print_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rosenblatt.report.facts import FitFacts
    from rosenblatt.report.fits import LabelledTable

NAME = "Which demo; --list names them."
LIST = "List the demos."
SAVE = "Write the data to a .csv or .parquet file instead."

NEVER = "A fit never just stops: here"
ANY = "Whether any hyperplane at all can separate the classes."
EXPLANATIONS = {
    "data": "Numbers are standardised, to mean 0 and deviation 1; a column of text becomes one "
    "feature for each of its values.",
    "classes": "What is to be told apart, and how many rows there are of each.",
    "stopped": {
        "SEPARATED": f"{NEVER} a whole pass over the data made no mistake, so every row "
        "is on its side.",
        "EPOCH_LIMIT": f"{NEVER} it was cut off, so the hyperplane is one on the way. If "
        "no hyperplane can separate the classes, more epochs will not either.",
        "CYCLE": f"{NEVER} an epoch ended with weights that had been there before. From "
        "the same weights it goes the same way, round and round, for ever.",
    },
    "verdict": {
        "SEPARABLE": f"{ANY} One can, and there it is: whoever has the data can check it again.",
        "QUASI_SEPARABLE": f"{ANY} Almost: they touch, but do not cross.",
        "INSEPARABLE": f"{ANY} None can: a point that is a weighted mean of rows of both "
        "classes would have to be on both sides.",
    },
    "kept": "Which of the hyperplanes that the run passed through is the model.",
    "training": "A mistake is a row on the wrong side, or on the hyperplane, when it is looked at. "
    "Each one turns the hyperplane: w += y*x. An error is a row that the final model gets wrong.",
    "margin": "How far the closest row is from the hyperplane; there is one exactly when the "
    "hyperplane separates the classes.",
    "accuracy": "How often it is right on rows it was not trained on. Only what goes beyond the "
    "share of the largest class is an achievement.",
    "weights": "How much each feature counts, and for which side. A row's decision value is the "
    "sum of its features times these, plus the bias.",
}
PASSED = "A fit never just stops: here a whole pass over the data made no mistake"
ASKED = (
    "Whether curves of this kind can separate the classes, no row left out; for the kernel they "
    "are hyperplanes, in a space of its own."
)
OF_KERNELS = {
    "kernel": "How alike two rows are. A row's decision value is the sum of its likeness to the "
    "support vectors, each with its sign and its number of mistakes; zero is the boundary.",
    "stopped": {
        "SEPARATED": f"{PASSED}.",
        "NO_MISTAKES": f"{PASSED}, but for rows that had been left out.",
    },
    "verdict": {
        "SEPARABLE": f"{ASKED} One can.",
        "QUASI_SEPARABLE": f"{ASKED} Almost: they touch, but do not cross.",
        "INSEPARABLE": f"{ASKED} None can.",
    },
    "training": "A mistake is a row with the wrong sign, or with zero, when it is looked at. Each "
    "one adds 1 to the counter of its row. An error is a row that the final model gets wrong.",
    "kept": "Which of the sums that the run passed through is the model.",
    "support": "The rows whose counter is not zero: all that a prediction needs.",
    "hardest": "The larger its counter, the harder a row was to learn.",
    "dropped": "A row that is a mistake again and again may have the wrong class. At the limit its "
    "counter is set to zero, and it takes no more part.",
}


def demo(
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAME)] = "penguins",
    list_: Annotated[bool, typer.Option("--list", "-l", metavar="", help=LIST)] = False,
    save: Annotated[str | None, typer.Option(metavar="TABLE", help=SAVE)] = None,
) -> None:
    """Show what a fit looks like and what each line of it means.

    [dim]Example:[/dim] rosenblatt demo xor
    """
    if list_:
        width = max(map(len, DEMOS))
        for key, one in DEMOS.items():
            typer.echo(f"{key:{width}}  {one.title}")
    elif save is not None:
        _write(name, save)
        print_line(f"written: {save}")
    else:
        _run(name)


class Demo(NamedTuple):
    """Data, and what to look at."""

    title: str
    story: str
    read: Callable[[], LabelledTable]
    parameters: Mapping[str, Any] = {}
    model: str = "perceptron"


def _penguins() -> LabelledTable:
    from importlib.resources import as_file, files

    from rosenblatt.cli.reading import labelled_table
    from rosenblatt.tables.table import read_table

    with (
        as_file(files("rosenblatt.cli") / "data" / "penguins.csv") as path,
        read_table(str(path)) as table,
    ):
        return labelled_table(table, "species")


def _generated(data: rb.datasets.Dataset, target: str) -> LabelledTable:
    import numpy as np

    from rosenblatt.report.fits import LabelledTable, numbered

    columns = dict(zip(data.feature_names, data.X.T, strict=True))
    named = data.target_names != ("-1", "+1")
    y = np.where(data.y > 0, *data.target_names[::-1]) if named else data.y
    return LabelledTable(
        file=data.description, names=[], target=target, columns=columns, **numbered(y)
    )


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
        lambda: _generated(rb.datasets.dunkers(random_state=0), "player"),
    ),
    "eight-points": Demo(
        "the smallest example: eight points in the plane",
        "Eight points in the plane, four of each class, symmetric about the origin.",
        lambda: _generated(rb.datasets.eight_points(), "class"),
    ),
    "noisy": Demo(
        "wrong labels among the right ones: the pocket keeps the best hyperplane",
        "1000 points with a clear gap between the classes, but 5 % of the labels are wrong. The "
        "perceptron never comes to rest on such data, so the pocket remembers the best hyperplane.",
        lambda: _generated(
            rb.datasets.flip_labels(
                rb.datasets.known_margin(1000, 2, margin=0.1, random_state=0), 0.05, random_state=0
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
            rb.datasets.flip_labels(
                rb.datasets.circles(200, noise=0.1, random_state=0), 0.05, random_state=1
            ),
            "ring",
        ),
        {"drop_after": 5},
        "kernel",
    ),
    "xor": Demo(
        "no line can do it, and the run proves that it goes in circles",
        "Exclusive or: +1 where exactly one of two inputs is 1. Four points, and no line that "
        "separates them: this is what ended the first wave of enthusiasm for perceptrons. Taken in "
        "the same order each time, they lead round in circles.",
        lambda: _generated(rb.datasets.xor(), "class"),
        {"order": "cyclic", "keep": "last"},
    ),
}


def _find(name: str) -> Demo:
    if name not in DEMOS:
        from rosenblatt.report.sentences import listing, suggestion

        near = suggestion(name, list(DEMOS))
        msg = f"there is no demo {name!r}.{near} The demos are {listing(DEMOS)}"
        raise ValueError(msg)
    return DEMOS[name]


def _run(name: str) -> None:
    """Fit and explain."""
    one = _find(name)
    from rosenblatt.cli.fitting import estimator, train
    from rosenblatt.cli.folding import Folding
    from rosenblatt.report.fit_report import print_report
    from rosenblatt.tables.encoder import TableEncoder

    table = one.read()
    with ProgressLine() as progress, HeldCtrlC() as ctrl_c:
        options = usual_options(one.model, one.parameters)
        classifier = estimator(one.model)(**options, random_state=0)
        trained = train(table, classifier, TableEncoder(), Folding(5), progress, ctrl_c)
    facts, weights = trained.facts, trained.weights
    texts = _explanations(facts)
    print_report(f"{name}: {one.title}", facts, weights, 20, story=one.story, explanations=texts)
    keep = f" --model {one.model}" * (one.model != "perceptron")
    keep += "".join(f" --{k.replace('_', '-')} {v}" for k, v in one.parameters.items())
    typer.echo("\nNow you: get the data, fit them in other ways, draw them.\n")
    typer.echo(f"  rosenblatt demo {name} --save {name}.csv")
    typer.echo(f"  rosenblatt fit {name}.csv --target {table.target}{keep} --plot {name}.png")


def _explanations(facts: FitFacts) -> dict[str, str]:
    """A sentence about each line of a report; of the reasons and verdicts those that are there."""
    cases = {
        "stopped": [reason.name for reason in facts.stop_reasons],
        "verdict": [one.verdict.name for one in facts.verdicts],
    }
    texts: dict[str, Any] = EXPLANATIONS | (OF_KERNELS if facts.expansion else {})
    for name, there in cases.items():
        told = (texts[name].get(case) for case in dict.fromkeys(there))
        texts[name] = " ".join(filter(None, told))
    return texts


def _write(name: str, path: str) -> None:
    """Write the data of a demo to a table."""
    from rosenblatt.tables.output import TableWriter
    from rosenblatt.tables.texts import Texts

    table = _find(name).read()
    texts = {name: isinstance(column, Texts) for name, column in table.columns.items()}
    layout = {name: "text" if is_text else "number" for name, is_text in texts.items()}
    labels = "text" if table.classes.dtype.kind == "U" else "integer"
    with TableWriter(path, layout | {table.target: labels}) as out:
        out.write(table.columns | {table.target: table.y})
