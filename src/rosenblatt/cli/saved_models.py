"""A saved model and a new table: do they fit, and what does the model say."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli.explaining import RUNNER_UP, Explained, Explanation
from rosenblatt.cli.options import refuse
from rosenblatt.contract.classifier import Classifier, choose
from rosenblatt.files.wholeness import ModelFileError
from rosenblatt.report.saved import saved_facts
from rosenblatt.report.sentences import listing, percent, shortened
from rosenblatt.results.calibration import probabilities
from rosenblatt.running.ahead import ahead
from rosenblatt.tables.cells import TRUTH
from rosenblatt.tables.spellings import as_known
from rosenblatt.tables.table import Table
from rosenblatt.tables.table_on_workers import TableOnWorkers
from rosenblatt.tables.texts import MISSING_CODE, Texts
from rosenblatt.tables.written_numbers import COMMA, POINT, value_of
from rosenblatt.visible import count

Columns = dict[str, Any]  # arrays, Texts, or a matrix


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
    for same_as in (_same_word, _same_number):
        same = [k for k, label in enumerate(classes.tolist()) if same_as(cell, label)]
        if len(same) == 1:
            return same[0]
    return -1


def _same_word(cell: str, label: Any) -> bool:
    """Whether two words are the same but for capital letters and a full stop at the end."""
    if not isinstance(label, str):
        return False
    return cell.casefold().removesuffix(".") == label.casefold().removesuffix(".")


def _same_number(cell: str, label: Any) -> bool:
    """Whether two words are the same number: $10 and $10.00, 50% and 50 %."""
    if not isinstance(label, str):
        return False
    values = [(value_of(cell, mark), value_of(label, mark)) for mark in (POINT, COMMA)]
    return any(one == other is not None for one, other in values)


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


def notes_without_options(notes: Sequence[str]) -> list[str]:
    """Notes on how a table was read, without the options of training: the model decides here."""
    return [re.sub(r" \(--(category|dates|decimal) [^)]*\)", "", note) for note in notes]


class Classified(NamedTuple):
    """Decision values of some rows, the numbers of the classes they are taken for, the true ones.

    A true class is -1 where it is not known; None: there is no such column.
    """

    values: NDArray[np.float64]
    chosen: NDArray[np.intp]
    true: NDArray[np.int64] | None


class Tally:
    """What to say at the end: right answers, and values that training had not seen."""

    def __init__(self) -> None:
        self.judged = self.right = self.without = 0
        self.strange: Counter[str] = Counter()
        self.unseen: dict[str, Counter[str]] = {}

    def judge(
        self, chosen: NDArray[np.intp], true: Texts, classes: NDArray[Any]
    ) -> NDArray[np.int64]:
        """Count right answers; the number of each row's class.

        It is -1 where the class is missing or not the model's: these rows are not judged.
        """
        of_value = [number_of(cell, classes) for cell in true.values]
        numbers = np.array([*of_value, -1], dtype=np.int64)[true.codes]
        self.judged += int((numbers >= 0).sum())
        self.right += int((chosen == numbers).sum())
        counts = np.bincount(true.codes[true.codes >= 0], minlength=len(true.values)).tolist()
        each = zip(true.values, of_value, counts, strict=True)
        self.strange.update({cell: n for cell, number, n in each if n and number < 0})
        self.without += int((true.codes < 0).sum())
        return numbers

    def merge(self, other: Tally) -> None:
        """Add what was counted of the rows that follow."""
        self.judged, self.right = self.judged + other.judged, self.right + other.right
        self.without += other.without
        self.strange.update(other.strange)
        for name, counts in other.unseen.items():
            self.unseen.setdefault(name, Counter()).update(counts)

    def meet(self, strangers: dict[str, NDArray[np.object_]]) -> None:
        """Count cells with values that were not there in training."""
        for name, cells in strangers.items():
            self.unseen.setdefault(name, Counter()).update(cells)

    def lines(self, classes: NDArray[Any]) -> list[str]:
        """A line for each thing worth saying."""
        lines = self.notes(classes)
        if self.judged:
            share, are = percent(self.right / self.judged), "is" if self.judged == 1 else "are"
            lines.append(f"{share} of {count(self.judged, 'row')} with a known class {are} right")
        return lines

    def notes(self, classes: NDArray[Any]) -> list[str]:
        """Of these the ones about cells and rows that the model cannot know what to do with."""
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
        return lines


class Application:
    """A loaded model made ready for tables."""

    def __init__(
        self,
        model: Any,
        path: str,
        kept: Sequence[str] = (),
        target: str | None = None,
        explained: Explained | None = None,
        proba: bool = False,
    ) -> None:
        facts, self.model = saved_facts(model, path), model
        self.path, self.trained_on = path, None if facts is None else facts.table
        trained_for = None if self.trained_on is None else self.trained_on.target
        self.target = target or trained_for
        for needed in ("classes_", "decision_function"):
            kind = type(model).__name__
            what = f"{path} holds a {kind}, which is no classifier: use it from Python, rb.io.load"
            refuse(not hasattr(model, needed), what)
        encodes = hasattr(model, "steps") and hasattr(model[0], "kinds_")
        self.encoder = model[0] if encodes else None
        self.classifier = model[-1] if encodes else model
        self.maps = [step for _, step in model.steps[1:-1]] if encodes else []
        kinds = self.encoder.kinds_ if self.encoder is not None else {}
        self.kept = list(dict.fromkeys(kept))
        self.notes: Sequence[str] = ()  # on how the table was read
        without_names = self.trained_on and self.trained_on.has_header is False
        self.how_to_read: dict[str, Any] = {
            "text": [*(name for name, kind in kinds.items() if kind == "text"), *self.kept],
            "numbers": [name for name, kind in kinds.items() if kind == "number"],
            "wanted": () if without_names else tuple(kinds),
            "missing": self.trained_on.missing if self.trained_on else (),
            **self._writings(),
        }
        classes = self.classifier.classes_
        values = [f"decision_{label}" for label in classes] if len(classes) > 2 else ["decision"]
        label = "integer" if classes.dtype.kind in "iu" else "text"
        self.answers = {"prediction": label} | dict.fromkeys(values, "number")
        self.proba = proba
        if proba:
            none = f"{path} has no probabilities: fit the model again with --calibrate sigmoid"
            refuse(not hasattr(self.classifier, "predict_proba"), none)
            self.answers |= dict.fromkeys((f"probability_{c}" for c in classes), "number")
        self.explanation = explained and Explanation.of(model, path, explained)
        if self.explanation is not None:
            self.answers |= self.explanation.layout(label if len(classes) > 2 else None)
        for name in self.kept:
            refuse(name in self.answers, f"--keep {name}: the answers have a column of that name")

    @property
    def layout(self) -> dict[str, str]:
        """The columns of the answer, after those that are kept."""
        return dict.fromkeys(self.kept, "text") | self.answers

    def fitting(self, table: Table) -> Table:
        """The table with the columns the model needs, and the class if it is there."""
        table = self.named(table)
        kinds = self._kinds(table)
        by_name = bool(self.trained_on and self.trained_on.has_header)
        nameless = not (table.has_header or "sparse" in table.kinds.values())
        refuse(
            by_name and nameless and not set(kinds) <= set(table.names),
            f"{table.path} has no names of columns, by which the model finds them: add a first "
            f"line with {listing(kinds)}, or --header if it is there",
        )
        if self.target is not None and self.target in table.names:
            numbers = self.classifier.classes_.dtype.kind in "iuf"
            numbers = numbers and table.kinds[self.target] == "number"
            kinds[self.target] = "number" if numbers else "text"
        return table.read_as(kinds, forgiving=True)

    def _writings(self) -> dict[str, Any]:
        """How numbers and dates were written in training, where that was not plain."""
        if not self.trained_on:
            return {}
        points, commas = self.trained_on.decimal_points, self.trained_on.decimal_commas
        days, months = self.trained_on.days_first, self.trained_on.months_first
        dates = dict.fromkeys(days, "dmy") | dict.fromkeys(months, "mdy")
        dates |= dict.fromkeys(self.trained_on.years_first, "ymd")
        decimal = dict.fromkeys(points, ".") | dict.fromkeys(commas, ",")
        return {"decimal": decimal, "dates": dates, "units": self.trained_on.units or {}}

    def named(self, table: Table) -> Table:
        """The table, under the names of training where neither had any."""
        if self.trained_on and self.trained_on.has_header is False and not table.has_header:
            return self._by_position(table, list(self.trained_on.names))
        return table

    def chunks(self, table: Table, step: int) -> Iterator[tuple[Columns, Columns]]:
        """The rows that the model needs, and what is kept of them, so many at a time."""
        rows = self.fitting(table)  # now, before anything is written
        self.notes = rows.notes_besides(self.target)
        kept = self.named(table).read_as(dict.fromkeys(self.kept, "text"))
        ranges = ((at, min(at + step, table.n_rows)) for at in range(0, table.n_rows, step))
        return ((rows.chunk(*part), kept.chunk(*part)) for part in ranges)

    def answers_to(self, table: Table, step: int, tally: Tally) -> Iterator[dict[str, Any]]:
        """What is written of all rows, so many at a time; they are read ahead."""
        chunks = self.chunks(table, step)  # now, before anything is written

        def answers() -> Iterator[dict[str, Any]]:
            with closing(ahead(chunks)) as ready:
                for chunk in ready:
                    yield self.answer(chunk, tally)

        return answers()

    def readings(self, table: TableOnWorkers) -> tuple[Any, Any]:
        """How workers make of a part the columns that the model needs, and those that are kept."""
        rows = self.fitting(table)
        assert isinstance(rows, TableOnWorkers)
        self.notes = rows.notes_besides(self.target)
        kept = self.named(table).read_as(dict.fromkeys(self.kept, "text"))
        assert isinstance(kept, TableOnWorkers)
        return rows.reading(), kept.reading()

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

    def _as_in_training(self, given: Columns) -> Columns:
        """The columns, with words as they were spelled in training."""
        columns = {name: Texts.of(c) if c.dtype == object else c for name, c in given.items()}
        exact = self.trained_on.as_they_stand if self.trained_on else ()
        for spec in getattr(self.encoder, "columns_", ()):
            name = spec["name"]
            if "values" in spec and "dropped" not in spec and name not in exact:
                columns[name] = as_known(columns[name], spec["values"])
        return columns

    def features(self, columns: Columns) -> Any:
        """The rows as the classifier takes them."""
        if self.encoder is None:
            return np.column_stack(list(columns.values()))
        X = self.encoder.transform(columns)
        for feature_map in self.maps:
            X = feature_map.transform(X)
        return X

    def classified(self, given: Columns, tally: Tally) -> tuple[Any, Classified]:
        """The features of some rows, what the model says of them, and what is true.

        The latter where the class is among the columns.
        """
        columns = self._as_in_training(given)
        true = columns.pop(self.target, None) if self.target else None
        X = self.features(columns)
        values, chosen = self._answers(X)
        if self.encoder is not None:
            tally.meet(self.encoder.unseen(columns))
        if true is None:
            return X, Classified(values, chosen, None)
        numbers = tally.judge(chosen, _as_texts(true), self.classifier.classes_)
        return X, Classified(values, chosen, numbers)

    def answer(self, chunk: tuple[Columns, Columns], tally: Tally) -> dict[str, Any]:
        """What is kept, labels and decision values, and what led to them."""
        given, kept = chunk
        X, (values, chosen, _) = self.classified(given, tally)
        reasons: Columns = {}
        if self.explanation is not None:
            reasons, second = self.explanation.columns(X, values, chosen)
            if RUNNER_UP in self.answers:
                reasons[RUNNER_UP] = self._labels(second)
        found = [self._labels(chosen), *values.T, *(self._probabilities(X, values).T)]
        answers = dict(zip(self.answers, found, strict=False))
        return kept | answers | reasons

    def _probabilities(self, X: Any, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Those of each class, if they are wanted."""
        if not self.proba:
            return np.empty((len(values), 0))
        if isinstance(self.classifier, Classifier):
            return probabilities(self.classifier.calibration_, values)
        return np.asarray(self.classifier.predict_proba(X), dtype=np.float64)

    def _labels(self, numbers: NDArray[np.intp]) -> Any:
        """The classes with these numbers, as they are written."""
        classes = self.classifier.classes_
        if self.answers["prediction"] == "integer":
            return classes[numbers]
        return Texts(np.array(list(map(str, classes)), object), numbers.astype(np.int32))

    def _answers(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Decision values and the numbers of the classes.

        What scikit-learn makes of a changed file is told in one line.
        """
        try:
            values = self.classifier.decision_function(X).reshape(X.shape[0], -1)
            if isinstance(self.classifier, Classifier):  # values cost most, with a kernel
                return values, choose(values, self.classifier.at_zero)
            predicted = np.asarray(self.classifier.predict(X))
            return values, np.searchsorted(self.classifier.classes_, predicted)
        except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
            if isinstance(self.classifier, Classifier):
                raise
            why = " ".join(f"{type(error).__name__}: {error}".split())
            msg = f"{self.path} is damaged, or not for this table ({why}): save the model again"
            raise ModelFileError(msg) from error

    def training_data(self, table: Table) -> tuple[Any, NDArray[Any]]:
        """Features and classes of a table that has both, without the rows that have no class."""
        columns, labels = self.training_columns(table)
        return self.features(columns), labels

    def training_columns(self, table: Table) -> tuple[Columns, NDArray[Any]]:
        """The same with columns as they stand in the table."""
        table, target = self.fitting(table), str(self.target)
        none = f"{table.path} has no classes (column {self.target!r}): give the table of the fit"
        refuse(self.target is None or target not in table.names, none)
        true, classes = _as_texts(table[target]), self.classifier.classes_
        known = true.codes >= 0
        cells = true[known]
        numbers = np.array([number_of(cell, classes) for cell in cells.values])[cells.codes]
        if (numbers < 0).any():
            strange = cells.values[cells.codes[numbers < 0][0]]
            msg = f"{table.path} has the class {strange!r}, but the model knows {listing(classes)}"
            raise ValueError(msg)
        columns = {name: table[name][known] for name in table.names if name != target}
        return self._as_in_training(columns), classes[numbers]


def _as_texts(cells: Any) -> Texts:
    """A column of classes as text; of numbers, whole ones without a point."""
    if isinstance(cells, Texts) or cells.dtype == object:
        return cells if isinstance(cells, Texts) else Texts.of(cells)
    values, codes = np.unique(cells, return_inverse=True)
    known = values[values == values].tolist()
    whole = (value == int(value) and abs(value) < 1e15 for value in known)
    texts = [str(int(v)) if is_whole else repr(v) for v, is_whole in zip(known, whole, strict=True)]
    codes = np.where(codes < len(known), codes, MISSING_CODE)
    return Texts(np.array(texts, dtype=object), codes.astype(np.int32))


def _columns(table: Table) -> str:
    return count(len(table.names), "column")
