"""``rosenblatt show``: what is in a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rosenblatt.cli import options

if TYPE_CHECKING:
    from rosenblatt.report.facts import FitFacts


def show(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model saved by rosenblatt fit.")],
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many weights to show.")] = 20,
    json_: options.Json = False,
) -> None:
    """Say what a model is, what it was trained on, and its weights by name.

    [dim]Example:[/dim] rosenblatt show notes.skops
    """
    from pathlib import Path

    from rosenblatt.files.models import load
    from rosenblatt.report.fit_report import file_line, print_document, print_report
    from rosenblatt.report.fits import fit_facts
    from rosenblatt.report.saved import saved_facts
    from rosenblatt.report.sentences import shortened
    from rosenblatt.report.terminal import NamedWeights

    loaded = load(model)
    classifier = loaded[-1] if hasattr(loaded, "steps") else loaded
    if not hasattr(classifier, "fits_"):
        msg = f"{model} holds a {type(classifier).__name__}, not one of rosenblatt's classifiers"
        raise ValueError(msg)
    saved = saved_facts(loaded, model)
    facts = saved or fit_facts(classifier)
    weights = NamedWeights.of(loaded)
    if json_:
        document = facts.as_json() if saved is None else loaded.summary_
        if weights is None:
            document = document | _coefficients(classifier, facts)
        print_document(document, weights)
        return
    origin, size = "", ""
    if facts.table is not None:
        origin = f", trained on {shortened(facts.table.file, 80)}, {facts.table.trained[:10]}"
    title = f"{shortened(Path(model).name, 80)}: {facts.model}{origin}"
    if facts.expansion is not None:
        size = file_line(Path(model).stat().st_size, facts, facts.expansion)
    print_report(title, facts, weights, top, file=size)


def _coefficients(classifier: Any, facts: FitFacts) -> dict[str, Any]:
    """The sum of a kernel perceptron, with rows of the file where the samples are all its rows."""
    import numpy as np

    from rosenblatt.report.fits import expansion_document

    table = facts.table
    whole = table is not None and not table.rows_without_class
    return expansion_document(classifier, np.arange(1, table.rows + 1) if table and whole else None)
