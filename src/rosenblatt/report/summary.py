"""`report`: what the command says of a fit, of a model that was fitted in Python."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.report.encoding_notes import notes_about
from rosenblatt.report.evaluation import EvaluationFacts, evaluated
from rosenblatt.report.facts import Document, FitFacts, VerdictFacts
from rosenblatt.report.fits import (
    EncodedTable,
    expansion_document,
    fit_facts,
    margins_of,
    table_facts,
)
from rosenblatt.report.given import GivenModel, step_names, training_table
from rosenblatt.report.judging import with_verdicts
from rosenblatt.visible import count

if TYPE_CHECKING:
    from rosenblatt.report.terminal import NamedWeights

TOP = 8  # weights that are shown, as the command does
EMPTY = ("file", "target", "trained")  # what is known of a file only


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What came of a fit: ``print`` shows what ``rosenblatt fit`` prints, a notebook a page.

    Attributes
    ----------
    facts : rosenblatt.report.facts.FitFacts
        All there is to say, as frozen values.
    verdicts : tuple of rosenblatt.report.facts.VerdictFacts
        Whether anything of the model's kind could have separated the classes, for each problem.
    evaluation : rosenblatt.report.evaluation.EvaluationFacts or None
        What the model is worth on the samples given as `test`.
    """

    facts: FitFacts
    classifier: Any = field(repr=False)
    training: EncodedTable = field(repr=False)

    @property
    def verdicts(self) -> tuple[VerdictFacts, ...]:
        """Of each problem, whether anything of its kind separates its classes."""
        return self.facts.verdicts

    @property
    def evaluation(self) -> EvaluationFacts | None:
        """What the model is worth on other samples, if there are any."""
        return self.facts.test

    @cached_property
    def _weights(self) -> NamedWeights | None:
        from rosenblatt.report.terminal import NamedWeights  # late: it loads Rich

        return NamedWeights.of(self.classifier, self.training.encoder)

    def text(self, top: int = TOP) -> str:
        """The report as the command prints it, with so many weights."""
        from rosenblatt.report.fit_report import report_text
        from rosenblatt.report.sentences import shortened

        file = shortened(self.training.file, 80)
        title = f"{file} → {self.facts.model}" if file else self.facts.model
        return report_text(title, self.facts, self._weights, top)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        s = self.facts
        size = f"{count(s.rows or 0, 'row')}, {count(len(s.classes), 'class', 'classes')}"
        stopped = ", ".join(dict.fromkeys(reason.name for reason in s.stop_reasons))
        return f"<Report on {s.model}: {size}, {stopped}>"

    def as_json(self) -> Document:
        """The facts with every weight, or all support vectors, as ``--json`` prints them."""
        document, weights = self.facts.as_json(), self._weights
        document = {k: v for k, v in document.items() if v or k not in EMPTY}
        if weights is None:
            return document | expansion_document(self.classifier, self.training.rows)
        return document | {"hyperplanes": weights.as_list()}

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.text())}</pre>"

    def save(self, path: Any) -> None:
        """Write the page, one HTML file that needs no other and no network."""
        document = f"<!doctype html>\n<meta charset='utf-8'>\n{self._repr_html_()}\n"
        Path(path).write_text(document, encoding="utf-8")


def report(
    model: Any, X: Any, y: Any, *, test: tuple[Any, Any] | None = None, name: str = ""
) -> Report:
    """What came of a fit: why it stopped, whether anything separates the classes, the weights.

    These are the facts that ``rosenblatt fit`` finds and the sentences that it prints. The
    verdicts are looked for as long as the command does: ten seconds in all, or the `max_time` of
    the classifier if that is less, but a second at least.

    Parameters
    ----------
    model : classifier or Pipeline
        A fitted classifier of this library, bare or as the last step of a pipeline with any steps
        before it; or a search, such as GridSearchCV, that found one of these.
    X, y : samples and labels
        Those of the training, as they were given to `fit`: arrays, sparse matrices, data frames,
        Arrow tables or dicts of columns.
    test : pair of samples and labels, optional
        Others, not learned from, to judge the model by.
    name : str, optional
        What to call the data in the title.

    Returns
    -------
    Report
        ``print`` shows it, `facts` has its values, ``as_json()`` all for a program, and
        ``save("report.html")`` writes a page, which is also what a notebook shows.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.eight_points()
    >>> found = rb.report(rb.Perceptron().fit(X, y), X, y)
    >>> found
    <Report on Perceptron: 8 rows, 2 classes, SEPARATED>
    >>> found.facts.training_errors, found.verdicts[0].verdict
    (0, Verdict.SEPARABLE)
    """
    given = GivenModel.of(model)
    training = training_table(given, X, y, name)
    classifier = given.classifier
    facts = replace(fit_facts(classifier, training), margins=margins_of(classifier, training))
    facts = with_verdicts(facts, classifier, training)
    steps = step_names(training.encoder, given)
    about = replace(table_facts(training), trained="", steps=steps)
    about = replace(about, columns=facts.features if _is_matrix(training) else about.columns)
    notes = (*training.notes, *notes_about(training.encoder))
    facts = replace(facts, table=about, notes=notes)
    if test is not None:
        facts = _tested(facts, given, test)
    return Report(facts, classifier, training)


def _is_matrix(training: EncodedTable) -> bool:
    """Whether it is a sparse matrix, whose columns are its features."""
    return any(hasattr(column, "indptr") for column in training.columns.values())


def _tested(facts: FitFacts, given: GivenModel, test: Any) -> FitFacts:
    """The facts with what the model says of other samples."""
    if not isinstance(test, tuple | list) or len(test) != 2:
        msg = "test is not a pair: give test=(X_test, y_test)"
        raise ValueError(msg)
    X, y = given.features(test[0]), given.labels(test[1])
    if X.shape[0] != len(y):
        msg = f"test has {len(y)} labels but {X.shape[0]} rows"
        raise ValueError(msg)
    told = f"{count(len(y), 'row')} held out"
    return replace(facts, test=evaluated(given.classifier, X, y), tested_on=told)
