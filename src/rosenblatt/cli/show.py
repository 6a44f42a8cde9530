"""``rosenblatt show``: what is in a model file."""

from __future__ import annotations

from typing import Annotated

import typer

from rosenblatt.cli import options


def show(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model saved by rosenblatt fit.")],
    top: Annotated[int, typer.Option(min=1, metavar="N", help=options.TOP)] = 20,
    json_: options.Json = False,
) -> None:
    """Say what a model is, what it was trained on, and its weights by name.

    [dim]Example:[/dim] rosenblatt show notes.skops
    """
    from pathlib import Path

    from rosenblatt.contract.classifier import classifier_of
    from rosenblatt.files.models import load
    from rosenblatt.report.fit_report import print_document, print_report, size_of
    from rosenblatt.report.fits import expansion_document, fit_facts
    from rosenblatt.report.saved import saved_facts
    from rosenblatt.report.sentences import shortened
    from rosenblatt.report.terminal import NamedWeights
    from rosenblatt.visible import count

    loaded = load(model)
    classifier = classifier_of(loaded)
    if not (hasattr(classifier, "fits_") and hasattr(classifier, "classes_")):
        msg = f"{model} holds a {type(classifier).__name__}, not one of rosenblatt's classifiers"
        raise ValueError(msg)
    saved = saved_facts(loaded, model)
    facts = saved or fit_facts(classifier)
    weights = NamedWeights.of(loaded)
    if json_:
        document = facts.as_json() if saved is None else loaded.summary_
        if weights is None:
            whole = facts.table is not None and not facts.table.rows_without_class
            rows = range(1, (facts.rows or 0) + 1) if whole else None  # the samples are all of them
            document = document | expansion_document(classifier, rows)
        print_document(document, weights)
        return
    origin, size = "", ""
    if facts.table is not None:
        origin = f", trained on {shortened(facts.table.file, 80)}, {facts.table.trained[:10]}"
    if facts.expansion is not None:
        vectors = count(facts.expansion.support.count, "support vector")
        size = f"{size_of(Path(model).stat().st_size)}; it holds {vectors} of "
        size += count(facts.features, "feature")
    title = f"{shortened(Path(model).name, 80)}: {facts.model}{origin}"
    print_report(title, facts, weights, top, file=size)
