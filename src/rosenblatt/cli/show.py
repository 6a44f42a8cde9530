"""``rosenblatt show``: what is in a model file."""

from __future__ import annotations

from typing import Annotated

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

    from rosenblatt.cli.text import Weights, print_json, print_report
    from rosenblatt.cli.training import facts_of
    from rosenblatt.io.models import load

    loaded = load(model)
    weights = Weights.of(loaded)
    classifier = loaded[-1] if hasattr(loaded, "steps") else loaded
    summary = getattr(loaded, "summary_", None) or facts_of(classifier)
    if json_:
        print_json(summary, weights)
        return
    origin = ""
    if "trained" in summary:
        origin = f", trained on {summary['file']}, {summary['trained'][:10]}"
    print_report(f"{Path(model).name}: {summary['model']}{origin}", summary, weights, top)
