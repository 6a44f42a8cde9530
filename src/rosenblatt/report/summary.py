"""`report`: what the command says of a fit, of a model that was fitted in Python."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count as counted
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import file_path
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
from rosenblatt.report.given import GivenModel, as_pipeline, step_names, training_table
from rosenblatt.report.judging import with_verdicts
from rosenblatt.visible import count

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from rosenblatt.report.page.facts import PageFacts
    from rosenblatt.report.terminal import NamedWeights

TOP, ROWS = 8, 10  # weights that are shown, and rows of each kind on the page
CLOSE = 1e-4  # share by which an objective that is summed up again may differ
NUMBERING = "rows are counted from 1"  # which is for a reader in Python to know
SHOWN = counted(1)  # every part of a notebook needs ids of its own
EMPTY = ("file", "target", "trained")  # what is known of a file only


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What came of a fit: ``print`` shows what ``rosenblatt fit`` prints, a notebook a page.

    Rows are counted from 1 in all that it says, as the command does.

    Attributes
    ----------
    facts : rosenblatt.report.facts.FitFacts
        All there is to say, as frozen values.
    verdicts : tuple of rosenblatt.report.facts.VerdictFacts
        Whether anything of the model's kind could have separated the classes, for each problem.
    evaluation : rosenblatt.report.evaluation.EvaluationFacts or None
        What the model is worth on the samples given as `test`.
    page : rosenblatt.report.page.facts.PageFacts
        What the page shows: these facts, and more about rows, columns and the run.
    """

    facts: FitFacts
    classifier: Any = field(repr=False)
    training: EncodedTable = field(repr=False)
    test: tuple[Any, Any] | None = field(default=None, repr=False)  # features and classes

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
        facts = replace(self.facts, notes=(NUMBERING, *self.facts.notes))
        return report_text(title, facts, self._weights, top)

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

    @cached_property
    def page(self) -> PageFacts:
        """What the page shows: these facts, and more about rows, columns and the run."""
        from rosenblatt.report.page.gathering import decision_values, judgement, page_facts
        from rosenblatt.report.rows import rows_facts

        model = as_pipeline(self.training.encoder, self.classifier)
        rows, judged = rows_facts(model, self.training, ROWS, self.verdicts), None
        if self.test is not None:
            X, y = self.test
            values = decision_values(self.classifier, X)
            true = np.searchsorted(self.classifier.classes_, y)
            judged = judgement("held out", self.classifier, values, true)
        return page_facts(self.classifier, self.training, self.facts, rows=rows, judgement=judged)

    def _repr_html_(self) -> str:
        from rosenblatt.report.page.rendering import fragment

        return fragment(self.page, f"rb{next(SHOWN)}")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, one HTML file that needs no other and no network."""
        from rosenblatt.files.whole import written_whole
        from rosenblatt.report.page.rendering import page

        file_path("path", path)
        with written_whole(path) as beside:
            beside.write_text(page(self.page), "utf-8")


def report(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    test: tuple[Any, Any] | None = None,
    name: str = "",
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
    sample_weight : array of n numbers, optional
        That of the training, if there was one: a soft margin is about weighted slack.
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
    training = training_table(given, X, y, sample_weight, name)
    classifier = given.classifier
    facts = replace(fit_facts(classifier, training), margins=margins_of(classifier, training))
    _require_weights(facts, classifier)
    facts = with_verdicts(facts, classifier, training)
    about = replace(
        table_facts(training),
        trained="",
        steps=step_names(training.encoder, given),
        weighted=training.weight is not None,
    )
    if _is_matrix(training):
        about = replace(about, columns=facts.features)
    notes = (*training.notes, *notes_about(training.encoder))
    facts = replace(facts, table=about, notes=notes)
    if test is None:
        return Report(facts, classifier, training)
    X, y = _other_samples(given, test)
    told = f"{count(len(y), 'row')} held out"
    facts = replace(facts, test=evaluated(classifier, X, y), tested_on=told)
    return Report(facts, classifier, training, (X, y))


def _require_weights(facts: FitFacts, classifier: Any) -> None:
    """Refuse samples whose slack does not make up the objective: others, or weighted otherwise."""
    for one, fit in zip(facts.optima, classifier.fits_, strict=False):
        if one.C is None or one.primal is None or one.sides is None:
            continue
        w = fit.hyperplane.w
        found = 0.5 * float(w @ w) + one.C * one.sides.slack / one.sides.N
        if abs(found - one.primal) > CLOSE * one.primal:
            msg = "these samples have another objective: give the sample_weight of the training"
            raise ValueError(msg)


def _is_matrix(training: EncodedTable) -> bool:
    """Whether it is a sparse matrix, whose columns are its features."""
    return any(hasattr(column, "indptr") for column in training.columns.values())


def _other_samples(given: GivenModel, test: Any) -> tuple[Any, NDArray[Any]]:
    """The features and classes of samples to judge by."""
    if not isinstance(test, tuple | list) or len(test) != 2:
        msg = "test is not a pair: give test=(X_test, y_test)"
        raise ValueError(msg)
    X, y = given.features(test[0]), given.labels(test[1])
    if X.shape[0] != len(y):
        msg = f"test has {len(y)} labels but {X.shape[0]} rows"
        raise ValueError(msg)
    return X, y
