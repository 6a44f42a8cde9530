"""``rosenblatt show``: what is in a model file."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def show(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model saved by rosenblatt fit.")],
    top: Annotated[int, typer.Option(min=1, metavar="N", help="How many weights to show.")] = 20,
    json_: Annotated[
        bool, typer.Option("--json", metavar="", help="Print JSON, for scripts.")
    ] = False,
) -> None:
    """Say what a model is, what it was trained on, and its weights by name.

    [dim]Example:[/dim] rosenblatt show notes.skops
    """
    from pathlib import Path

    from rosenblatt.cli.kernel_text import file_line
    from rosenblatt.cli.summaries import summary_of
    from rosenblatt.cli.text import Weights, print_facts, print_report
    from rosenblatt.cli.training import facts_of
    from rosenblatt.cli.words import shortened
    from rosenblatt.files.models import load

    loaded = load(model)
    classifier = loaded[-1] if hasattr(loaded, "steps") else loaded
    if not hasattr(classifier, "fits_"):
        msg = f"{model} holds a {type(classifier).__name__}, not one of rosenblatt's classifiers"
        raise ValueError(msg)
    summary = summary_of(loaded, model) or facts_of(classifier)
    weights = Weights.of(loaded)
    if json_:
        if weights is None:
            summary = summary | _coefficients(classifier, summary)
        print_facts(summary, weights)
        return
    origin = ""
    if "trained" in summary:
        origin = f", trained on {shortened(summary['file'], 80)}, {summary['trained'][:10]}"
    title = f"{shortened(Path(model).name, 80)}: {summary['model']}{origin}"
    size = file_line(Path(model).stat().st_size, summary) if "kernel" in summary else ""
    print_report(title, summary, weights, top, file=size)


def _coefficients(classifier: Any, summary: dict[str, Any]) -> dict[str, Any]:
    """The sum of a kernel perceptron, with rows of the file where the samples are all its rows."""
    import numpy as np

    from rosenblatt.cli.expansion import coefficients_of

    whole = summary.get("rows_without_class", 1) == 0
    return coefficients_of(classifier, np.arange(1, summary["rows"] + 1) if whole else None)
