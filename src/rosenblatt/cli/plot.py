"""``rosenblatt plot``: pictures of models, runs and ideas."""

from __future__ import annotations

from functools import partial
from shlex import quote
from typing import Annotated, Any, Literal, get_args

import typer

from rosenblatt.cli import options
from rosenblatt.cli.options import check_outputs, refuse, writes
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import print_line

Samples = Literal["points", "bound-geometry"]
OfModels = Literal["decision", "margin", "nearest", "updates", "epochs", "neuron", "animate"]
OfWeights = Literal["weight-space", "loss-surface"]
Ideas = Literal["fan", "bias", "losses", "objective", "nerve-cell"]
OF_WEIGHTS = get_args(OfWeights)
OF_RECORDS = ("updates", "animate", *OF_WEIGHTS)
OF_RUNS = ("epochs", *OF_RECORDS)
OF_MARGINS = ("margin", "nearest")
OF_KERNELS = ("decision", "animate", "epochs")
OF_TABLES = ("decision", *OF_MARGINS, *OF_RECORDS)

may_have = partial(typer.Argument, show_default=False)

KIND = "Which picture."
MODEL = "A model saved by rosenblatt fit."
TABLE = "The table it was trained on."
OUTPUT = "Where to: .png, .svg, .pdf; animate: .gif or .mp4. Default: KIND.png."
COLUMN = "points, bound-geometry: draw this column; give two of them for a plane."
WHICH = "margin, nearest: of more than two classes, the one to draw with the rest."


def plot(
    ctx: typer.Context,
    kind: Annotated[
        Literal[Samples, OfModels, OfWeights, Ideas], typer.Argument(metavar="KIND", help=KIND)
    ],
    model: Annotated[str | None, may_have(metavar="MODEL", help=MODEL)] = None,
    files: Annotated[list[str] | None, may_have(metavar="FILE...", help=TABLE)] = None,
    output: Annotated[str | None, writes(metavar="PICTURE", help=OUTPUT)] = None,
    first: Annotated[int, typer.Option(min=1, metavar="N", help="updates: how many to draw.")] = 4,
    which: Annotated[str | None, typer.Option("--class", metavar="CLASS", help=WHICH)] = None,
    column: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help=COLUMN)] = None,
    target: options.Target = None,
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
    """Draw a picture of samples, of a model, of a run, or of an idea.

    points FILE: the classes alone, before any line; of one or two columns (--column, --target).

    bound-geometry FILE: R and γ of the mistake bound among the rows of two columns.

    decision MODEL FILE: the classes and the hyperplane, or the view along its normal; for
    kernels the curve and the support vectors.

    margin MODEL FILE: the edges of the margin, support vectors, slacks (a margin model).

    nearest MODEL FILE: the nearest points of the two convex hulls (fit with --model max-margin).

    updates MODEL FILE: the first updates as sums of vectors (fit with --record).

    weight-space, loss-surface MODEL FILE: the run in the plane of its two weights (fit two columns
    with --no-intercept --record, or with --model adaline).

    animate MODEL FILE: the whole run, moving (fit with --record, or with --model adaline).

    epochs MODEL: mistakes and errors per epoch.

    neuron MODEL: inputs, weights, sum, step; without MODEL, the textbook's.

    fan, bias, losses, objective, nerve-cell: ideas; they need no model.

    [dim]Example:[/dim] rosenblatt plot decision notes.skops examples/banknotes.csv -o notes.png
    """
    output = output or f"{kind}.{'gif' if kind == 'animate' else 'png'}"
    check_outputs(**{"animation" if kind == "animate" else "picture": output})
    given = any(ctx.params[name] is not None for name in ("query", "db"))
    if kind in get_args(Samples) and model is not None:
        files, model = [model, *(files or ())], None
    tables = options.tables_of({**ctx.params, "files": files}) if files or given else []
    _check_arguments(kind, model, bool(files or given))
    for name, value in (("column", column), ("target", target)):
        strange = f"--{name} does not go with plot {kind}: it is for points and bound-geometry"
        refuse(bool(value) and kind not in get_args(Samples), strange)
    strange = f"--class does not go with plot {kind}: it is for {' and '.join(OF_MARGINS)}"
    refuse(which is not None and kind not in OF_MARGINS, strange)
    with ProgressLine() as progress:
        progress.say("drawing")
        if kind in get_args(Samples):
            _draw_samples(kind, tables, output, ctx.params)
        else:
            _draw(kind, model, tables if files or given else None, output, ctx.params)
    print_line(f"drawn: {output}")


def _check_arguments(kind: str, model: str | None, has_table: bool) -> None:
    if kind in get_args(Samples):
        refuse(not has_table, f"plot {kind} needs a table: rosenblatt plot {kind} TABLE")
        return
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
        hasattr(classifier, "kernel_") and kind not in (*OF_KERNELS, *OF_MARGINS),
        f"plot {kind} draws weights of features, which {name}, a {what}, has not: "
        "plot decision draws what it decides, plot epochs its mistakes",
    )
    unknown = f"plot {kind} draws single updates, of which {name} has no record: fit with --record"
    refuse(kind in OF_RECORDS and getattr(classifier, "record", None) is False, unknown)
    weights = int(classifier.n_features_in_) + bool(getattr(classifier, "fit_intercept", True))
    several = f"plot {kind} draws two weights, but {name} has {weights}"
    remedy = "fit two columns with --no-intercept, or one column"
    refuse(kind in OF_WEIGHTS and weights != 2, f"{several}: {remedy}")
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


def _draw_samples(kind: str, tables: list[str], output: str, given: dict[str, Any]) -> None:
    """Pictures that need no model: of the rows as they are, not standardised."""
    from rosenblatt import plot as pictures
    from rosenblatt.cli.reading import read_checked
    from rosenblatt.report.sentences import listing, suggestion

    table = read_checked(tables, given["target"], options.how_to_read(given))
    names = table.features
    wanted = given["column"] or names
    for name in wanted:
        told = f"there is no column {name!r} to draw, there are {listing(names)}."
        refuse(name not in names, f"{told}{suggestion(name, names)}")
    two = " ".join(f"--column {quote(name)}" for name in names[:2])
    many = f"plot {kind} draws one or two columns, but there are {len(wanted)}: choose, as in {two}"
    refuse(len(wanted) > 2, many)
    X = table.X[:, [names.index(name) for name in wanted]]
    draw = pictures.points if kind == "points" else pictures.bound_geometry
    pictures.save(draw(X, table.y, feature_names=wanted), output)


def _draw(
    kind: str, model: str | None, files: list[str] | None, output: str, given: dict[str, Any]
) -> None:
    from rosenblatt import plot as pictures

    draw = getattr(pictures, kind.replace("-", "_"))
    if model is None:
        pictures.save(draw(), output)
        return
    from rosenblatt.contract.classifier import classifier_of
    from rosenblatt.files.models import load
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

    how: dict[str, Any] = {} if kind in OF_WEIGHTS else {"feature_names": axis_names(loaded)}
    if kind in OF_MARGINS:
        how["which"] = class_named(given["which"], classifier.classes_)
    if kind == "nearest":
        _check_nearest(model, loaded, classifier, how["which"])
    if kind == "updates":
        how["first"] = given["first"]
    application = Application(loaded, model)
    in_columns = bool(application.maps) and kind in ("decision", "margin")
    with open_table(files, options.how_to_read(given), **application.how_to_read) as table:
        if in_columns:  # whose units say more than those of the map
            X, y = application.training_columns(table)
        else:
            X, y = application.training_data(table)
    if kind == "animate":
        pictures.animate(classifier, X, y, output, **how)
    elif in_columns:
        del how["feature_names"]
        pictures.save(draw(loaded, X, y, **how), output)
    else:
        pictures.save(draw(classifier, X, y, **how), output)
