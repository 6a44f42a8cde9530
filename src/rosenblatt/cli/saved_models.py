"""A saved model and a new table: do they fit, and what does the model say."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli.options import refuse
from rosenblatt.contract.classifier import Classifier, choose
from rosenblatt.files.models import ModelFileError
from rosenblatt.report.saved import saved_facts
from rosenblatt.report.sentences import listing, percent, shortened
from rosenblatt.tables.cells import TRUTH, missing
from rosenblatt.tables.table import Table
from rosenblatt.visible import count

Columns = dict[str, NDArray[Any]]


def number_of(cell: str, classes: NDArray[Any]) -> int:
    """The number of the class that a cell of a table names, -1 if there is none.

    Whole numbers may be written ``1.0``, truth values ``True``.
    """
    for k, label in enumerate(classes.tolist()):
        if isinstance(label, str):
            if cell == label or (label in TRUTH and cell.lower() == label):
                return k
        else:
            with contextlib.suppress(ValueError):
                if float(cell) == float(label):
                    return k
    same = [k for k, label in enumerate(classes.tolist()) if _same_word(cell, label)]
    return same[0] if len(same) == 1 else -1


def _same_word(cell: str, label: Any) -> bool:
    """Whether two words are the same but for capital letters."""
    return isinstance(label, str) and cell.casefold() == label.casefold()


def class_named(name: str | None, classes: NDArray[Any]) -> Any:
    """The class that is drawn with the rest, None if there are only two."""
    known, several = f"the model has {listing(classes)}", len(classes) > 2
    if name is None:
        refuse(several, f"{known}: say with --class which of them to draw with the rest")
        return None
    two = f"--class {name} is for more than two classes, but {known}: leave it out"
    refuse(not several, two)
    k = number_of(name, classes)
    refuse(k < 0, f"--class {name} is not a class, {known}: give one of them")
    return classes[k]


class Tally:
    """What to say at the end: right answers, and values that training had not seen."""

    def __init__(self) -> None:
        self.judged = self.right = 0
        self.strange: Counter[str] = Counter()
        self.unseen: dict[str, Counter[str]] = {}

    def judge(self, predicted: NDArray[Any], true: NDArray[Any], classes: NDArray[Any]) -> None:
        """Count right answers; a class that is missing or not the model's is not judged."""
        numbers = {cell: number_of(cell, classes) for cell in set(true) if cell is not None}
        for answer, cell in zip(predicted.tolist(), true, strict=True):
            number = numbers.get(cell)
            if number is not None and number >= 0:
                self.judged += 1
                self.right += answer == classes[number]
            elif number is not None:
                self.strange[cell] += 1

    def meet(self, strangers: dict[str, NDArray[np.object_]]) -> None:
        """Count cells with values that were not there in training."""
        for name, cells in strangers.items():
            self.unseen.setdefault(name, Counter()).update(cells)

    def lines(self, classes: NDArray[Any]) -> list[str]:
        """A line for each thing worth saying."""
        lines = []
        for name, counts in self.unseen.items():
            most = [cell for cell, _ in counts.most_common()]
            lines.append(
                f"{count(counts.total(), 'cell')} of {shortened(name)} with values not seen in "
                f"training, which count for no class: {listing(most, 4)}"
            )
        if self.strange:
            lines.append(
                f"{count(self.strange.total(), 'row')} with a class that the model does not know, "
                f"not judged: {listing(self.strange, 4)} (it knows {listing(classes, 4)})"
            )
        if self.judged:
            share, are = percent(self.right / self.judged), "is" if self.judged == 1 else "are"
            lines.append(f"{share} of {count(self.judged, 'row')} with a known class {are} right")
        return lines


class Application:
    """A loaded model made ready for tables."""

    def __init__(self, model: Any, path: str) -> None:
        facts = saved_facts(model, path)
        self.path, self.trained_on = path, facts and facts.table
        self.target = self.trained_on and self.trained_on.target
        for needed in ("classes_", "decision_function"):
            what = f"{path} holds a {type(model).__name__}, which has no {needed}"
            refuse(not hasattr(model, needed), what)
        encodes = hasattr(model, "steps") and hasattr(model[0], "kinds_")
        self.encoder = model[0] if encodes else None
        self.classifier = model[-1] if encodes else model
        kinds = self.encoder.kinds_ if self.encoder is not None else {}
        self.texts = [name for name, kind in kinds.items() if kind == "text"]
        table = None if facts is None else facts.table
        self.how_to_read: dict[str, Any] = {
            "text": self.texts,
            "wanted": () if table and table.has_header is False else tuple(kinds),
            "missing": () if table is None else table.missing,
        }

    @property
    def layout(self) -> dict[str, str]:
        """The columns of the answer."""
        classes = self.classifier.classes_
        values = [f"decision_{label}" for label in classes] if len(classes) > 2 else ["decision"]
        label = "integer" if classes.dtype.kind in "iu" else "text"
        return {"prediction": label} | dict.fromkeys(values, "number")

    def fitting(self, table: Table) -> Table:
        """The table with the columns the model needs, and the class if it is there."""
        if self.trained_on and self.trained_on.has_header is False and not table.has_header:
            table = self._by_position(table, list(self.trained_on.names))
        kinds = self._kinds(table)
        if self.target is not None and self.target in table.names:
            kinds[self.target] = "text"
        return table.read_as(kinds)

    def _kinds(self, table: Table) -> dict[str, str]:
        if self.encoder is not None:
            return dict(self.encoder.kinds_)
        names = getattr(self.classifier, "feature_names_in_", None)
        if names is None:
            n = self.classifier.n_features_in_
            other = f"{table.path} has {_columns(table)}, but the model takes {n}"
            refuse(len(table.names) != n, other)
            names = table.names
        return dict.fromkeys(map(str, names), "number")

    def _by_position(self, table: Table, trained: list[str]) -> Table:
        """Files without names: the same columns, or all but the class."""
        rest = [name for name in trained if name != self.target]
        names = trained if len(table.names) == len(trained) else rest
        refuse(
            len(table.names) != len(names),
            f"{table.path} has {_columns(table)} without names, but the model was trained on "
            f"{len(rest)} and the class",
        )
        return table.renamed(names)

    def features(self, columns: Columns) -> Any:
        """The rows as the classifier takes them."""
        if self.encoder is not None:
            return self.encoder.transform(columns)
        return np.column_stack(list(columns.values()))

    def answer(self, columns: Columns, tally: Tally) -> Columns:
        """Labels and decision values."""
        true = columns.pop(self.target, None) if self.target else None
        values, predicted = self._answers(self.features(columns))
        if self.encoder is not None:
            tally.meet(self.encoder.unseen(columns))
        if true is not None:
            tally.judge(predicted, true, self.classifier.classes_)
        return dict(zip(self.layout, [predicted, *values.T], strict=True))

    def _answers(self, X: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Decision values and classes; what scikit-learn makes of a changed file, in one line."""
        try:
            values = self.classifier.decision_function(X).reshape(X.shape[0], -1)
            if isinstance(self.classifier, Classifier):  # values cost most, with a kernel
                return values, self.classifier.classes_[choose(values)]
            return values, np.asarray(self.classifier.predict(X))
        except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
            if isinstance(self.classifier, Classifier):
                raise
            why = " ".join(f"{type(error).__name__}: {error}".split())
            msg = f"{self.path} is damaged, or not for this table ({why}): save the model again"
            raise ModelFileError(msg) from error

    def training_data(self, table: Table) -> tuple[Any, NDArray[Any]]:
        """Features and classes of a table that has both, without the rows that have no class."""
        table, target = self.fitting(table), str(self.target)
        none = f"{table.path} has no classes (column {self.target!r}): give the table of the fit"
        refuse(self.target is None or target not in table.names, none)
        known, classes = ~missing(table[target]), self.classifier.classes_
        cells = table[target][known]
        numbers = np.array([number_of(cell, classes) for cell in cells])
        if (numbers < 0).any():
            strange = cells[numbers < 0][0]
            msg = f"{table.path} has the class {strange!r}, but the model knows {listing(classes)}"
            raise ValueError(msg)
        columns = {name: table[name][known] for name in table.names if name != target}
        return self.features(columns), classes[numbers]


def _columns(table: Table) -> str:
    return count(len(table.names), "column")
