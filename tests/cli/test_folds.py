"""Cross-validation by the command: the scores of the honest pipeline, to the bit."""

import signal
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from rosenblatt import KernelPerceptron, Perceptron, TableEncoder
from rosenblatt.cli.fitting import cross_validate
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.report.fits import EncodedTable, LabelledTable, numbered
from rosenblatt.running.threads import Team
from rosenblatt.tables.texts import Texts
from rosenblatt.validation import refits
from rosenblatt.validation.plans import plan_folds

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
WEIGHTS = {"a": 3.0, "b": 1.0, "c": 0.5}


def labelled(n, n_classes, as_texts):
    """Numbers, holes, days, words, and names that may not be used with all the rows."""
    rng = np.random.default_rng(n)
    y = rng.choice(["a", "b", "c"][:n_classes], n)
    x = rng.standard_normal(n) + (y == "a")
    words = rng.choice(np.array(["red", "blue", "rare", None], object), n, p=[0.5, 0.4, 0.01, 0.09])
    names = np.array([f"name {k}" for k in rng.integers(0, n, n)], dtype=object)
    columns = {
        "x": x,
        "holes": np.where(rng.random(n) < 0.1, np.nan, x * 1e200),
        "day": np.datetime64("2024-01-01", "us") + rng.integers(0, 10**12, n),
        "word": Texts.of(words) if as_texts else words,
        "name": Texts.of(names) if as_texts else names,
        "same": np.ones(n),
    }
    return LabelledTable(
        file="t.csv", names=[*columns, "y"], target="y", columns=columns, **numbered(y)
    )


def honest(table, classifier, encoder, folds):
    """Every fold encoded and trained from nothing but its own rows."""
    encoder = clone(encoder).set_params(use=tuple(encoder.kinds_))
    split = StratifiedKFold(folds, shuffle=True, random_state=0)
    scores = []
    for learn, test in split.split(np.zeros(len(table.y)), table.y):
        model, fresh = clone(classifier), clone(encoder)
        X = fresh.fit_transform({name: column[learn] for name, column in table.columns.items()})
        model.fit(X, table.y[learn])
        X = fresh.transform({name: column[test] for name, column in table.columns.items()})
        scores.append(float(np.mean(model.predict(X) == table.y[test])))
    return tuple(scores)


def validated(table, classifier, encoder, X, progress):
    training = EncodedTable(**vars(table), encoder=encoder, X=X)
    return cross_validate(training, classifier, plan_folds(training.labels, 4), progress)


@quiet
@pytest.mark.parametrize("as_texts", [False, True])
@pytest.mark.parametrize(
    ("classifier", "n_classes"),
    [
        (Perceptron(max_epochs=3), 2),
        (Perceptron(max_epochs=3, class_weight=WEIGHTS, keep="average"), 3),
        (Perceptron(max_epochs=2, class_weight="balanced", order="shuffled", random_state=0), 3),
        (KernelPerceptron(max_epochs=2), 2),
    ],
)
def test_scores_are_those_of_the_honest_pipeline(classifier, n_classes, as_texts):
    table = labelled(300, n_classes, as_texts)
    compare(table, classifier, TableEncoder())


@quiet
def test_folds_side_by_side_have_the_same_scores(monkeypatch):
    monkeypatch.setattr(refits, "WORTHWHILE", 0)
    classifier, sizes = Perceptron(max_epochs=3, n_jobs=3), []
    monkeypatch.setattr(refits, "Team", lambda size: sizes.append(size) or Team(size))
    compare(labelled(300, 3, True), classifier, TableEncoder())
    assert sizes == [3]


@quiet
def test_ctrl_c_ends_all_folds_that_are_under_way(monkeypatch):
    """It comes to the main thread, which waits; the fits in the others end where they are."""
    monkeypatch.setattr(refits, "WORTHWHILE", 0)
    table, encoder = labelled(300, 2, True), TableEncoder()
    classifier = Perceptron(max_epochs=10**9, order="shuffled", n_jobs=2, max_time=0.05)
    X = encoder.fit_transform(table.columns)
    classifier.fit(X, table.y)
    classifier.set_params(max_time=None)

    class Interrupted(Team):
        def each(self, task, items):
            threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
            return super().each(task, items)

    monkeypatch.setattr(refits, "Team", Interrupted)
    with ProgressLine(False) as progress, pytest.raises(KeyboardInterrupt):
        validated(table, classifier, encoder, X, progress)
    assert not [t for t in threading.enumerate() if t.name.startswith("ThreadPoolExecutor")]


@quiet
@pytest.mark.parametrize("as_texts", [False, True])
def test_words_are_those_of_each_folds_own_rows(as_texts):
    table = labelled(300, 2, as_texts)
    compare(table, Perceptron(max_epochs=3), TableEncoder(text=["name", "word"]))


def compare(table, classifier, encoder):
    X = encoder.fit_transform(table.columns)
    classifier.fit(X, table.y)
    with ProgressLine(False) as progress:
        scores = validated(table, classifier, encoder, X, progress).scores
    assert len(set(scores)) > 1
    assert scores == honest(table, classifier, encoder, 4)
