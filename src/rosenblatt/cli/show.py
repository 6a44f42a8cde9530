"""``rosenblatt show``: what is in a model file, and how it differs from another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rosenblatt.cli import options

if TYPE_CHECKING:
    from rosenblatt.report.differences import Card

MODELS = "A model saved by rosenblatt fit; with --diff two of them."
DIFF = "Say how two models differ; the exit code is 0 if they are the same, 1 if not."


def show(
    ctx: typer.Context,
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help=MODELS)],
    diff: Annotated[bool, typer.Option("--diff", metavar="", help=DIFF)] = False,
    top: Annotated[int, typer.Option(min=1, metavar="N", help=options.TOP)] = 20,
    json_: options.Json = False,
) -> None:
    """Say what a model is, what it was trained on and by what, and its weights by name.

    With --diff A B, what is different about two: parameters, data, verdict, evaluation, weights,
    versions. When and by what command they were made is not compared.

    [dim]Example:[/dim] rosenblatt show notes.skops
    """
    n = len(models)
    options.refuse(diff and n != 2, f"--diff compares two models: {n} given")
    options.refuse(not diff and n != 1, f"{n} models given: give one, or two with --diff")
    cards = [read_card(model) for model in models]
    if not diff:
        _show(models[0], cards[0], top, json_)
        return
    from rosenblatt.report.card_report import print_differences
    from rosenblatt.report.differences import differences
    from rosenblatt.report.facts import as_json
    from rosenblatt.visible import print_json

    found = differences(*cards)
    ctx.meta[options.EXIT_CODE] = 0 if found.same else 1
    if json_:
        print_json({"same": found.same} | as_json(found))
    else:
        print_differences(found, top)


def read_card(file: str) -> Card:
    """A model with all that is known of it."""
    from pathlib import Path

    from rosenblatt.contract.classifier import classifier_of
    from rosenblatt.files.models import load, versions_in
    from rosenblatt.report.differences import Card
    from rosenblatt.report.fits import fit_facts
    from rosenblatt.report.saved import saved_facts

    loaded = load(file)
    classifier = classifier_of(loaded)
    if not (hasattr(classifier, "fits_") and hasattr(classifier, "classes_")):
        msg = f"{file} holds a {type(classifier).__name__}, not one of rosenblatt's classifiers"
        raise ValueError(msg)
    facts = saved_facts(loaded, file) or fit_facts(classifier)
    return Card(Path(file).name, loaded, facts, facts.versions or versions_in(file))


def _show(file: str, card: Card, top: int, as_json: bool) -> None:
    from pathlib import Path

    from rosenblatt.contract.classifier import classifier_of
    from rosenblatt.report.card_report import card_lines
    from rosenblatt.report.fit_report import print_document, print_report, size_of
    from rosenblatt.report.fits import expansion_document
    from rosenblatt.report.sentences import shortened
    from rosenblatt.report.terminal import NamedWeights
    from rosenblatt.visible import count

    facts, weights = card.facts, NamedWeights.of(card.model)
    if as_json:
        document = facts.as_json() if facts.table is None else card.model.summary_
        document = document | {"versions": dict(card.versions)}
        if weights is None:
            whole = facts.table is not None and not facts.table.rows_without_class
            rows = range(1, (facts.rows or 0) + 1) if whole else None  # the samples are all of them
            document = document | expansion_document(classifier_of(card.model), rows)
        print_document(document, weights)
        return
    origin, size = "", ""
    if facts.table is not None:
        origin = f", trained on {shortened(facts.table.file, 80)}, {facts.table.trained[:10]}"
    if facts.expansion is not None:
        vectors = count(facts.expansion.support.count, "support vector")
        size = f"{size_of(Path(file).stat().st_size)}; it holds {vectors} of "
        size += count(facts.features, "feature")
    title = f"{shortened(card.file, 80)}: {facts.model}{origin}"
    card_ = list(card_lines(facts, card.versions))
    print_report(title, facts, weights, top, card=card_, file=size)
