"""``rosenblatt fit``: from a table to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rosenblatt.cli import options
from rosenblatt.cli.options import (
    Orders,
    check_outputs,
    check_page,
    check_readable,
    check_seed,
    checkpoint_of,
    curves,
    folds_of,
    max_seconds,
    refuse,
    trains,
    writes,
)
from rosenblatt.cli.waiting import HeldCtrlC, ProgressLine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rosenblatt.cli.fitting import TrainedModel
    from rosenblatt.report.fits import LabelledTable

Model = Literal["perceptron", "adaline", "kernel", "max-margin", "soft-margin"]
Curves = Literal["sigmoid", "isotonic"]
Keep = Literal["auto", "last", "pocket", "average", "vote"]

OUTPUT = "Save the model here."
FOLDS, FOLDS_TIME = "5", 12.0  # unless asked for others; the seconds in which they begin
CROSS = (
    "Cross-validate in so many folds; 5x3: three times; 0: not. "
    f"Default: {FOLDS}, within {FOLDS_TIME:g} seconds."
)
CALIBRATE = (
    "Give the model probabilities, by the answers of --cv: sigmoid, or isotonic for many rows."
)
TEST = "Judge the model by another table, which it does not learn from."
HOLDOUT = "Learn from the other rows, and judge the model by this share of them: 20%."
ROWS = "Show the cells of so many rows: closest to the boundary, worst errors, proving rows."
QUIET = "Print nothing but errors and --json."
PLOT = "Draw the classes and the boundary: .png, .svg or .pdf."
PAGE = "Write one page about the model, to hand on: .html, as rosenblatt report does."
PAGE_TIME = "Most time for what is only on the page, such as other models (60s); 0s: none."
MODEL = (
    "perceptron (the default); adaline: the delta rule; kernel: curved boundaries; "
    "max-margin or soft-margin: the best hyperplane, proved."
)
ORDER = (
    "shuffled (the default), cyclic: as in the file, sampled, blocks: shuffled in tiles, for "
    "tables on disk, random- or worst-mistake."
)
KEEP = (
    "auto (the default): last if it separates, otherwise average, the mean; pocket: that with "
    "fewest errors; kernel also: vote."
)
RATE = "The learning rate (1; adaline: auto)."
DROP = "Leave a row out as an outlier when it has made so many mistakes."
BUDGET = "Most support vectors: the one whose mistake lies longest ago is forgotten."
PRICE = "soft-margin: the price of slack (1), scikit-learn's C times the number of rows."
TOL = "Stop when an epoch moves the weights by less; margins: when the gap is so small."
TIME = "Stop training after this long: 10s, 5m, 1h. The verdict and each fold may take as long."
TUNE = "Choose --C, --gamma or --degree by folds of the rows; every fold of --cv chooses anew."
RECORD = "Keep every update, for plot updates and plot animate."


def fit(
    ctx: typer.Context,
    files: options.Files = None,
    target: options.Target = None,
    output: Annotated[str | None, writes(metavar="MODEL.skops", help=OUTPUT)] = None,
    picture: Annotated[str | None, typer.Option("--plot", metavar="PICTURE", help=PLOT)] = None,
    page: Annotated[str | None, typer.Option("--report", metavar="PAGE.html", help=PAGE)] = None,
    page_time: Annotated[
        str | None, typer.Option("--report-time", metavar="TIME", help=PAGE_TIME)
    ] = None,
    folds: Annotated[str | None, typer.Option("--cv", metavar="FOLDS", help=CROSS)] = None,
    groups: options.Groups = None,
    calibrate: Annotated[Curves | None, typer.Option(metavar="CURVE", help=CALIBRATE)] = None,
    test: Annotated[str | None, typer.Option(metavar="FILE", help=TEST)] = None,
    holdout: Annotated[str | None, typer.Option(metavar="SHARE", help=HOLDOUT)] = None,
    rows: Annotated[int, typer.Option(min=0, metavar="N", help=ROWS)] = 0,
    top: Annotated[int, typer.Option(min=1, metavar="N", help=options.TOP)] = 8,
    json_: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help=QUIET)] = False,
    model: Annotated[Model | None, trains(metavar="RULE", help=MODEL)] = None,
    features: options.Features = None,
    update: options.Update = None,
    batch_size: options.BatchSize = None,
    shards: options.Shards = None,
    order: Annotated[Orders | None, trains(metavar="ORDER", help=ORDER)] = None,
    keep: Annotated[Keep | None, trains(metavar="WHICH", help=KEEP)] = None,
    multiclass: options.Multiclass = None,
    eta0: Annotated[str | None, trains(metavar="RATE", help=RATE)] = None,
    at_zero: options.AtZero = None,
    init: options.Init = None,
    intercept: options.Intercept = None,
    max_epochs: options.MaxEpochs = None,
    max_time: Annotated[str | None, trains(metavar="TIME", help=TIME)] = None,
    C: Annotated[str | None, trains("--C", metavar="X", help=PRICE)] = None,
    tune: Annotated[bool, trains("--tune", metavar="", help=TUNE)] = False,
    tol: Annotated[str | None, trains(metavar="X", help=TOL)] = None,
    class_weight: options.ClassWeight = None,
    record: Annotated[bool, trains("--record", metavar="", help=RECORD)] = False,
    seed: options.Seed = None,
    n_jobs: options.Threads = None,
    kernel: options.Kernel = None,
    gamma: options.Gamma = None,
    sigma: options.Sigma = None,
    degree: options.Degree = None,
    coef0: options.Coef0 = None,
    drop_after: Annotated[str | None, curves(metavar="N", help=DROP)] = None,
    budget: Annotated[str | None, curves(metavar="N", help=BUDGET)] = None,
    raw: options.Raw = False,
    ignore: options.Ignore = None,
    use: options.Use = None,
    number: options.Number = None,
    category: options.Category = None,
    text: options.Text = None,
    missing: options.Missing = None,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    dates: options.Dates = None,
    skip_bad_lines: options.SkipBadLines = None,
    sheet: options.Sheet = None,
    table_name: options.TableName = None,
    query: options.Query = None,
    db: options.Database = None,
    checkpoint: options.CheckpointPath = None,
    checkpoint_every: options.CheckpointEvery = None,
    resume: options.Resume = False,
    memory: options.Memory = None,
    cache: options.CacheFolder = None,
    cache_size: options.CacheSize = None,
    cluster: options.Cluster = None,
) -> None:
    """Learn to tell classes apart, and say what was found.

    Numbers are standardised, a text column becomes one feature per value, and the classes are in
    the column --target. Saved models are for rosenblatt predict, and for Python: rb.io.load.
    The exit code is 0, or 1 if a maximum margin was asked for and there is none.

    [dim]Example:[/dim] rosenblatt fit examples/banknotes.csv -o notes.skops
    """
    check_outputs(model=output, picture=picture, page=page)
    check_page(page, page_time, files)
    n_folds, times = folds_of(folds or FOLDS)
    needs = f"--calibrate {calibrate} goes by the answers of --cv: give at least 2 folds"
    refuse(calibrate is not None and not n_folds, needs)
    check_seed(seed or 0)
    max_seconds(max_time)
    both = "--test and --holdout both say what to judge the model by: give one of them"
    refuse(test is not None and holdout is not None, both)
    check_readable(test)
    kept = checkpoint_of(ctx.params)
    with ProgressLine(not quiet) as progress, HeldCtrlC() as ctrl_c:
        engine = ctx.with_resource(options.on_cluster(cluster, progress))
        from rosenblatt.cli.effort import Effort
        from rosenblatt.cli.fitting import prepare, train
        from rosenblatt.cli.folding import Folding

        table, classifier, encoder = prepare(
            ctx.params | {"record": record or None}, progress, engine
        )
        if engine is not None:
            table.notes.append("no cross-validation on a cluster (--test FILE: other rows)")
            n_folds = 0
        elif table.cache is not None:
            from rosenblatt.cli.on_disk import without_folds

            without_folds(table, ctx.params)
            n_folds = 0
        rest = None
        if holdout is not None:
            from rosenblatt.cli.testing import held_out, share_of

            table, rest = held_out(table, share_of(holdout), seed or 0)
        effort = Effort(
            epochs=max_epochs is None and max_time is None,
            folds_time=FOLDS_TIME if folds is None else None,
        )
        folding = Folding(n_folds, times, seed or 0, calibrate)
        trained = train(table, classifier, encoder, folding, progress, ctrl_c, effort, kept)
        trained = trained.made_by(options.typed(ctx.meta[options.TYPED]))
        trained, failed = _tested(trained, rest, test, ctx.params, progress)
        progress.say("writing")
        files = _write(trained, output, picture, ctrl_c)
        if page is not None:
            from rosenblatt.cli.paging import write_page

            files += write_page(page, trained, rest, ctx, progress, ctrl_c)
    if failed is not None:
        msg = f"{failed}{'; written all the same: ' * bool(files)}{', '.join(files)}"
        raise ValueError(msg) from failed
    stopped = trained.interrupted or ctrl_c.pressed
    no = int(bool(trained.facts.without_maximum))
    ctx.meta[options.EXIT_CODE] = ctrl_c.exit_code if stopped else no
    if (json_ or not quiet) and not ctx.meta.get(options.PAGE_ONLY):
        _print(trained, top, rows, json_, files)


def _tested(
    trained: TrainedModel,
    rest: LabelledTable | None,
    file: str | None,
    given: Mapping[str, Any],
    progress: ProgressLine,
) -> tuple[TrainedModel, Exception | None]:
    """The model with what it says of rows it has not learned from, if there are any.

    What is wrong with these, if anything is, is no reason not to write the model.
    """
    if trained.interrupted or (rest is None and file is None):
        return trained, None
    from rosenblatt.cli.testing import judged_by_file, judged_by_rows

    progress.say("testing")
    if rest is not None:
        return judged_by_rows(trained, rest), None
    try:
        return judged_by_file(trained, str(file), options.how_to_read(given), progress), None
    except (OSError, ValueError) as error:
        return trained, error


def _write(
    trained: TrainedModel, output: str | None, picture: str | None, ctrl_c: HeldCtrlC
) -> list[str]:
    """Write the files asked for; those written: Ctrl-C ends the drawing."""
    files = []
    if output:
        from rosenblatt.files.models import save

        save(trained.pipeline, output, summary=trained.facts.as_json())
        files.append(output)
    if picture:
        drawn = ctrl_c.unless_stopped(lambda: _draw(trained, picture))
        files += filter(None, [drawn])
    return files


def _draw(trained: TrainedModel, picture: str) -> str:
    from rosenblatt import plot
    from rosenblatt.report.terminal import axis_names

    names, training = axis_names(trained.pipeline), trained.training
    best = len(trained.facts.optima) == 1  # several are best seen together
    draw = plot.margin if best else plot.decision
    if trained.has_map:  # columns say more than the features of a map
        plot.save(draw(trained.pipeline, training.columns, training.y), picture)
    else:
        plot.save(draw(trained.classifier, training.X, training.y, feature_names=names), picture)
    return picture


def _print(trained: TrainedModel, top: int, rows: int, as_json: bool, files: list[str]) -> None:
    from rosenblatt.report.facts import as_json as in_json
    from rosenblatt.report.fit_report import print_document, print_report
    from rosenblatt.report.rows import rows_facts
    from rosenblatt.report.sentences import shortened

    facts, weights, shown = trained.facts, trained.weights, None
    if rows:
        shown = rows_facts(trained.pipeline, trained.training, rows, facts.verdicts)
    if as_json:
        document = facts.as_json() | ({} if shown is None else {"shown_rows": in_json(shown)})
        if weights is None:
            from rosenblatt.report.fits import expansion_document

            document |= expansion_document(trained.classifier, trained.training.rows)
        print_document(document | {"saved": files}, weights)
        return
    saved = ", ".join(files) or "nothing (-o MODEL.skops saves the model)"
    file = "" if facts.table is None else shortened(facts.table.file, 80)
    print_report(f"{file} → {facts.model}", facts, weights, top, rows=shown, saved=saved)
