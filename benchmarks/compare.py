"""How long it takes to compare kinds of models on one table, beside a grid search of the peer.

``python -m benchmarks.compare`` prints tables and writes ``benchmarks/results/compare.json``.
The tables are one that scikit-learn brings along, the banknotes, and, where ``ROSENBLATT_DATA``
names a folder that has them, some of the field's usual ones. ``--only adult`` does those alone
whose name holds that.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import datasets
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC, LinearSVC

import rosenblatt as rb
from benchmarks.measure import (
    Table,
    data_file,
    write_json,
    write_report,
)
from rosenblatt.cli.reading import encoder_of, labelled_table
from rosenblatt.report.comparison import compare_table
from rosenblatt.report.fits import EncodedTable, LabelledTable, numbered
from rosenblatt.running.threads import Team
from rosenblatt.validation.plans import plan_folds
from rosenblatt.validation.refits import FoldedTable
from rosenblatt.validation.tuning import DEGREES, MOST_ROWS, values_to_try

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = Path(__file__).parent.parent / "examples" / "banknotes.csv"
FILES = (
    *("sonar.csv", "pima-indians-diabetes.csv", "spambase.data"),
    "adult-train.csv.gz",
)
FOLDS, INNER, EPOCHS, SEED = 5, 3, 30, 0
THREADS = 2
INTRODUCTION = """
# Kinds of models on one table, beside a grid search

Made by `python -m benchmarks.compare --report docs/benchmarks/compare.md`, with `ROSENBLATT_DATA`
naming a folder of tables (those named like files). [`rosenblatt compare`](../how-to/compare.md) on
five folds, on two threads, beside scikit-learn on the same folds and as many threads: its
`Perceptron`, the average of `SGDClassifier(loss="perceptron")`, `LinearSVC` with C chosen by
`GridSearchCV` in three inner folds, `SVC` with gamma and with the degree chosen in the same way,
and a `DummyClassifier`; the same values are tried, on as many rows drawn. The peer is given the
encoded folds; ours encodes them itself. What it has no counterpart of, the pocket, the maximum
margin and the tests, is in our time all the same. Of either the clock's seconds and those of the
processor, and the ratio ours/peer: below 1 we are faster.

The kinds are not the same models: an average of perceptrons and a kernel perceptron of a few
epochs beside support vector machines trained to the end. So the other tables have what each is
worth, by the mean share of right answers in the outer folds.
"""


def tables() -> Iterator[tuple[str, LabelledTable]]:
    """Names and tables."""
    found = datasets.load_breast_cancer()
    columns = {f"x{j}": column for j, column in enumerate(found.data.T)}
    yield (
        "breast_cancer",
        LabelledTable(
            file="breast_cancer",
            names=[*columns, "y"],
            target="y",
            columns=columns,
            **numbered(found.target_names[found.target]),
        ),
    )
    for name in ("banknotes.csv", *FILES):
        path = EXAMPLE if name == EXAMPLE.name else data_file(name)
        if path is None:
            print(f"{name}: not in ROSENBLATT_DATA, left out")
            continue
        with rb.io.read_table(path) as table:
            yield name, labelled_table(table, None)


def measured(task: Any) -> tuple[float, float, Any]:
    """Seconds by the clock and of the processor, and what came of it."""
    began, spent = time.perf_counter(), time.process_time()
    result = task()
    return time.perf_counter() - began, time.process_time() - spent, result


def ours(table: LabelledTable) -> dict[str, float]:
    """The mean scores of our kinds."""
    encoder = encoder_of(table)
    X = encoder.fit_transform(table.columns)
    encoded = EncodedTable(**vars(table), encoder=encoder, X=X)
    facts = compare_table(encoded, folds=FOLDS, repeats=1, seed=SEED, n_jobs=THREADS)
    return {kind.name: float(np.mean(kind.scores)) for kind in facts.kinds}


def encoded_folds(table: LabelledTable) -> tuple[list[Any], Any]:
    """The folds in numbers, as all kinds share them, and the numbers of the classes."""
    encoder = encoder_of(table)
    encoder.fit(table.columns)
    labels = np.unique(table.y, return_inverse=True)
    plan = plan_folds(labels, FOLDS, seed=SEED)
    folded = FoldedTable(table.columns, labels, encoder, plan, n_jobs=THREADS)
    return [folded.encoded(k, fold) for k, fold in enumerate(plan, 1)], labels[1]


def drawn(n: int, most: int) -> Any:
    """All rows, or as many as ours chooses by."""
    return np.sort(np.random.default_rng(SEED).permutation(n)[:most])


def searched(model: Any, grid: dict[str, Any], most: int, X: Any, y: Any) -> Any:
    """The model with the best value, found by folds of some rows and fitted to all."""
    rows = drawn(len(y), most)
    folds = StratifiedKFold(INNER, shuffle=True, random_state=SEED)
    search = GridSearchCV(model, grid, cv=folds, refit=False).fit(X[rows], y[rows])
    return clone(model).set_params(**search.best_params_).fit(X, y)


def peers(X: Any, y: Any) -> Iterator[tuple[str, Any]]:
    """Names, and models that are fitted to these rows."""
    yield "majority", DummyClassifier().fit(X, y)
    yield "perceptron", Perceptron(max_iter=EPOCHS, tol=None, random_state=SEED).fit(X, y)
    sgd = SGDClassifier(loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0)
    sgd.set_params(average=True, max_iter=EPOCHS, tol=None, random_state=SEED)
    yield "average", sgd.fit(X, y)
    prices = [price / len(y) for price in values_to_try("C", X)]  # theirs is a sum
    yield "soft margin", searched(LinearSVC(), {"C": prices}, MOST_ROWS["C"], X, y)
    rbf, poly = SVC(cache_size=500), SVC(kernel="poly", coef0=1.0, cache_size=500)
    widths = {"gamma": values_to_try("gamma", X)}
    yield "rbf kernel", searched(rbf, widths, MOST_ROWS["gamma"], X, y)
    yield "poly kernel", searched(poly, {"degree": DEGREES}, MOST_ROWS["degree"], X, y)


def theirs(folds: list[Any], y: Any) -> dict[str, float]:
    """The mean scores of the peer's kinds, as many folds at once as there are threads."""

    def fold_scores(fold: Any) -> dict[str, float]:
        test = y[fold.test]
        found = peers(fold.X, y[fold.learn])
        return {name: float(np.mean(model.predict(fold.X_test) == test)) for name, model in found}

    with Team(THREADS) as team:
        each = team.each(fold_scores, folds)
    return {name: float(np.mean([scores[name] for scores in each])) for name in each[0]}


def compared(only: str) -> list[Table]:
    """Times and scores of both."""
    columns = [
        "table",
        "rows",
        "ours s",
        "ours CPU s",
        "peer s",
        "peer CPU s",
        "ratio",
        "CPU ratio",
    ]
    times = Table("Seconds, and ours/peer", columns)
    found = []
    for name, table in tables():
        if only not in name:
            continue
        ours(table)  # what is compiled or loaded by the first is no part of it
        wall, cpu, mine = measured(lambda table=table: ours(table))
        folds, y = encoded_folds(table)
        peer_wall, peer_cpu, other = measured(lambda folds=folds, y=y: theirs(folds, y))
        times.add(
            table=name,
            rows=len(y),
            **{"ours s": wall, "ours CPU s": cpu, "peer s": peer_wall, "peer CPU s": peer_cpu},
            **{"ratio": wall / peer_wall, "CPU ratio": cpu / peer_cpu},
        )
        found.append((name, mine, other))
    scores = Table("Right answers, means over the five folds", ["table", "kind", "ours", "peer"])
    for name, mine, other in found:
        for kind in mine:
            peer = f"{other[kind]:.4f}" if kind in other else "-"
            scores.add(table=name, kind=kind, ours=f"{mine[kind]:.4f}", peer=peer)
    best = Table("The best kind of each", ["table", "ours", "peer", "ours less peer"])
    for name, mine, other in found:
        first, second = max(mine, key=mine.__getitem__), max(other, key=other.__getitem__)
        best.add(
            table=name,
            ours=f"{first} {mine[first]:.4f}",
            peer=f"{second} {other[second]:.4f}",
            **{"ours less peer": round(mine[first] - other[second], 4)},
        )
    return [times, best, scores]


def main() -> None:
    """Print the tables and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, help="also write a page with the tables")
    parser.add_argument("--only", default="", help="tables whose name holds this")
    results = Path(__file__).parent / "results" / "compare.json"
    parser.add_argument("--output", type=Path, default=results)
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compared(arguments.only)
    write_json(arguments.output, found)
    if arguments.report:
        write_report(arguments.output, arguments.report, INTRODUCTION)


if __name__ == "__main__":
    main()
