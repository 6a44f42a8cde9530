"""``rosenblatt plot``: pictures of models, runs and ideas."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal, get_args

import typer

from rosenblatt.cli import options
from rosenblatt.cli.options import check_outputs, refuse, writes
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import print_line

OfModels = Literal["decision", "margin", "nearest", "updates", "epochs", "neuron", "animate"]
Ideas = Literal["fan", "bias", "losses", "objective"]
OF_RUNS = ("updates", "animate", "epochs")
OF_MARGINS = ("margin", "nearest")
OF_TABLES = ("decision", *OF_MARGINS, "updates", "animate")

may_have = partial(typer.Argument, show_default=False)

KIND = "Which picture."
MODEL = "A model saved by rosenblatt fit."
TABLE = "The table it was trained on."
OUTPUT = "Where to: .png, .svg, .pdf; animate: .gif or .mp4. Default: KIND.png."
WHICH = "margin, nearest: of more than two classes, the one to draw with the rest."


def plot(
    ctx: typer.Context,
    kind: Annotated[Literal[OfModels, Ideas], typer.Argument(metavar="KIND", help=KIND)],
    model: Annotated[str | None, may_have(metavar="MODEL", help=MODEL)] = None,
    files: Annotated[list[str] | None, may_have(metavar="FILE...", help=TABLE)] = None,
    output: Annotated[str | None, writes(metavar="PICTURE", help=OUTPUT)] = None,
    first: Annotated[int, typer.Option(min=1, metavar="N", help="updates: how many to draw.")] = 4,
    which: Annotated[str | None, typer.Option("--class", metavar="CLASS", help=WHICH)] = None,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    dates: options.Dates = None,
    skip_bad_lines: options.SkipBadLines = None,
    sheet: options.Sheet = None,
    table_name: options.TableName = None,
    query: options.Query = None,
    db: options.Database = None,
) -> None:
    """Draw a picture of a model, of a run, or of an idea.

    decision MODEL FILE: the classes and the hyperplane, or the view along its normal; for
    kernels the curve and the support vectors.

    margin MODEL FILE: the edges of the margin, support vectors, slacks (a margin model).

    nearest MODEL FILE: the nearest points of the two convex hulls (fit with --model max-margin).

    updates MODEL FILE: the first updates as sums of vectors (fit with --record).

    animate MODEL FILE: the whole run, moving (fit with --record).

    epochs MODEL: mistakes and errors per epoch.

    neuron MODEL: inputs, weights, sum, step; without MODEL, the textbook's.

    fan, bias, losses, objective: ideas; they need no model.

    [dim]Example:[/dim] rosenblatt plot decision notes.skops examples/banknotes.csv -o notes.png
    """
    output = output or f"{kind}.{'gif' if kind == 'animate' else 'png'}"
    check_outputs(**{"animation" if kind == "animate" else "picture": output})
    given = any(ctx.params[name] is not None for name in ("query", "db"))
    tables = options.tables_of(ctx.params) if files or given else []
    _check_arguments(kind, model, bool(files or given))
    strange = f"--class does not go with plot {kind}: it is for {' and '.join(OF_MARGINS)}"
    refuse(which is not None and kind not in OF_MARGINS, strange)
    with ProgressLine() as progress:
        progress.say("drawing")
        _draw(kind, model, tables if files or given else None, output, ctx.params)
    print_line(f"drawn: {output}")


def _check_arguments(kind: str, model: str | None, has_table: bool) -> None:
    idea, of_table = kind in get_args(Ideas), kind in OF_TABLES
    refuse(idea and model is not None, f"plot {kind} takes no model: it draws an idea")
    needs = f"plot {kind} needs a model: rosenblatt plot {kind} MODEL.skops"
    refuse((of_table or kind == "epochs") and model is None, needs)
    needs = f"plot {kind} needs the table, too: rosenblatt plot {kind} {model} TABLE"
    refuse(of_table and not has_table, needs)
    refuse(not of_table and has_table, f"plot {kind} takes no table")


def _check_model(kind: str, name: str, classifier: Any) -> None:
    """Refuse pictures of what a model has not."""
    best, what = hasattr(classifier, "gap_"), type(classifier).__name__
    refuse(
        hasattr(classifier, "kernel_") and kind not in ("decision", "epochs", *OF_MARGINS),
        f"plot {kind} draws weights of features, which {name}, a {what}, has not: "
        "plot decision draws what it decides, plot epochs its mistakes",
    )
    other = f"plot {kind} draws mistakes, but {name} is a {what}: plot margin draws it"
    refuse(best and kind in OF_RUNS, other)
    accepted = "max-margin" if kind == "nearest" else "max-margin or soft-margin"
    other = f"plot {kind} draws a best hyperplane, but {name} is a {what}: fit --model {accepted}"
    refuse(not best and kind in OF_MARGINS, other)


def _check_nearest(name: str, loaded: Any, classifier: Any, which: Any) -> None:
    """Refuse nearest points of what has none, in the words of the shell."""
    from rosenblatt.report.saved import saved_facts
    from rosenblatt.results import Inseparable, QuasiSeparable

    k = 0 if which is None else classifier.classes_.tolist().index(which)
    fit, facts = classifier.fits_[k], saved_facts(loaded, name)
    stuck = isinstance(fit.certificate, Inseparable | QuasiSeparable)
    refuse(
        stuck or (facts and facts.optima[k].proof),
        f"{name} has no nearest points: no hyperplane separates these classes, which "
        "rosenblatt check proves; plot margin draws the model",
    )
    soft = f"{name} holds a soft margin, which has no nearest points: fit with --model max-margin"
    refuse(fit.optimum.C is not None, soft)
    early = f"{name} was stopped before it had nearest points: fit again with more --max-time"
    refuse(not fit.optimum.support.size, early)


def _draw(
    kind: str, model: str | None, files: list[str] | None, output: str, given: dict[str, Any]
) -> None:
    from rosenblatt import plot as pictures

    draw = getattr(pictures, kind)
    if model is None:
        pictures.save(draw(), output)
        return
    from rosenblatt.files.models import load
    from rosenblatt.report.facts import classifier_of
    from rosenblatt.report.terminal import axis_names, feature_names

    loaded = load(model)
    classifier = classifier_of(loaded)
    _check_model(kind, model, classifier)
    if files is None:
        more = {"feature_names": feature_names(loaded)} if kind == "neuron" else {}
        pictures.save(draw(classifier, **more), output)
        return
    from rosenblatt.cli.reading import open_table
    from rosenblatt.cli.saved_models import Application, class_named

    how: dict[str, Any] = {"feature_names": axis_names(loaded)}
    if kind in OF_MARGINS:
        how["which"] = class_named(given["which"], classifier.classes_)
    if kind == "nearest":
        _check_nearest(model, loaded, classifier, how["which"])
    if kind == "updates":
        how["first"] = given["first"]
    application = Application(loaded, model)
    with open_table(files, options.how_to_read(given), **application.how_to_read) as table:
        X, y = application.training_data(table)
    if kind == "animate":
        pictures.animate(classifier, X, y, output, **how)
    else:
        pictures.save(draw(classifier, X, y, **how), output)
