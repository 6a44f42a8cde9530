"""What the command's defaults are worth: accuracy in cross-validation, beside its peers.

``python -m benchmarks.defaults`` prints a table and writes ``benchmarks/results/defaults.json``.
The tables are those that scikit-learn brings along and, where ``ROSENBLATT_DATA`` names a folder
that has them, some of the field's usual ones. Every model is trained and judged on the same folds
of the same features, made by the command's own encoder anew for each fold.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import datasets
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Perceptron as Peer
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

import rosenblatt as rb
from benchmarks.measure import (
    Table,
    data_file,
    write_json,
    write_report,
)
from rosenblatt.cli.options import usual_options
from rosenblatt.cli.reading import labelled_table

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_ROWS = 5000
FILES = (
    *("banknote_authentication.csv", "pima-indians-diabetes.csv", "sonar.csv", "spambase.data"),
    *("colon.csv.gz", "kr-vs-k-zero-one_vs_draw.csv", "adult-train.csv.gz", "covtype.csv.gz"),
)
BUNDLED = ("iris", "wine", "breast_cancer", "digits")
LINEAR = {
    "cyclic, last": rb.Perceptron(),
    "shuffled, last": rb.Perceptron(order="shuffled", random_state=0),
    "default": rb.Perceptron(**usual_options("perceptron", {}), random_state=0),
    "sklearn": Peer(random_state=0),
    "LinearSVC": LinearSVC(random_state=0),
    "majority": DummyClassifier(),
}
CURVED = {
    keep: rb.KernelPerceptron(
        kernel="rbf", keep=keep, order="shuffled", random_state=0, max_epochs=100
    )
    for keep in ("last", "auto", "average")
}
INTRODUCTION = """
# What the defaults are worth

Made by `python -m benchmarks.defaults --report docs/benchmarks/defaults.md`, with `ROSENBLATT_DATA`
naming a folder of tables (those named like files). The share of right answers in 5-fold
cross-validation, in per cent, with the folds, the encoding and the standardising of
`rosenblatt fit`; of larger tables the first rows, up to {most}, evenly taken, in the order of the
file. Every model sees the same rows of the same features in the same order.

"cyclic, last" is the textbook's run, which was the command's default at first and is Python's;
"default" is what `rosenblatt fit` does now: a new order of the rows in each epoch, and the last
hyperplane where it separates the training rows, otherwise the average of the run. "sklearn" is
scikit-learn's `Perceptron`, "LinearSVC" its soft margin, "majority" names the largest class always.

What to take from it: files are often sorted by class, and where the classes overlap the last
hyperplane is as good as its last few mistakes. The average does as well as a soft margin, without
a C to choose. Where the classes are separable all do about the same.
"""


def tables() -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Names, columns and classes."""
    for name in BUNDLED:
        found = getattr(datasets, f"load_{name}")()
        yield name, {f"x{j}": column for j, column in enumerate(found.data.T)}, found.target
    for name in FILES:
        path = data_file(name)
        if path is None:
            print(f"{name}: not in ROSENBLATT_DATA, left out")
            continue
        with rb.io.read_table(path) as table:
            labelled = labelled_table(table, None)
        every = max(1, -(-len(labelled.y) // MOST_ROWS))
        columns = {key: cells[::every] for key, cells in labelled.columns.items()}
        yield name, columns, labelled.y[::every]


def accuracies(models: dict[str, Any], columns: dict[str, Any], y: Any) -> dict[str, float]:
    """The mean share of right answers over the folds, for each model."""
    encoder = rb.TableEncoder().fit(columns)
    encoder = clone(encoder).set_params(use=tuple(encoder.kinds_))
    right: dict[str, list[float]] = {name: [] for name in models}
    for learn, test in StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        X = encoder.fit_transform({name: cells[learn] for name, cells in columns.items()})
        Z = encoder.transform({name: cells[test] for name, cells in columns.items()})
        for name, model in models.items():
            fitted = clone(model).fit(X, y[learn])
            right[name].append(float(np.mean(fitted.predict(Z) == y[test])))
    return {name: 100 * statistics.fmean(shares) for name, shares in right.items()}


def compared(title: str, models: dict[str, Any], most: int | None = None) -> Table:
    """The models on all tables, and their means."""
    found: list[dict[str, float]] = []
    table = Table(title, ["table                       ", "rows", *models])
    for name, columns, y in tables():
        if most is not None and len(y) > most:
            continue
        shares = accuracies(models, columns, y)
        found.append(shares)
        rounded = {key: round(share, 1) for key, share in shares.items()}
        table.add(**{table.columns[0]: name, "rows": len(y)}, **rounded)
    means = {key: round(statistics.fmean(one[key] for one in found), 1) for key in models}
    table.add(**{table.columns[0]: "mean", "rows": ""}, **means)
    if "majority" in models:
        below = {key: sum(one[key] < one["majority"] for one in found) for key in models}
        table.add(**{table.columns[0]: "tables below the majority", "rows": ""}, **below)
    return table


def main() -> None:
    """Print the tables and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, help="also write a page with the tables")
    results = Path(__file__).parent / "results" / "defaults.json"
    parser.add_argument("--output", type=Path, default=results)
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        linear = compared("Perceptrons", LINEAR)
        curved = compared(
            "Kernel perceptrons (rbf, shuffled, 100 epochs; up to 2000 rows)", CURVED, 2000
        )
    write_json(arguments.output, [linear, curved])
    if arguments.report:
        introduction = INTRODUCTION.format(most=MOST_ROWS)
        write_report(arguments.output, arguments.report, introduction)


if __name__ == "__main__":
    main()
