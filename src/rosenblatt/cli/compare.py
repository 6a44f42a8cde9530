"""``rosenblatt compare``: which kind of model does best on a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rosenblatt.cli import options
from rosenblatt.cli.given_options import given_options
from rosenblatt.cli.options import check_outputs, check_seed, folds_of, max_seconds, shown_tables
from rosenblatt.cli.waiting import HeldCtrlC, ProgressLine
from rosenblatt.visible import print_json

if TYPE_CHECKING:
    from rosenblatt.report.comparison import ComparisonFacts
    from rosenblatt.report.fits import EncodedTable

CROSS = "In so many folds, the same for all; 5x3: three times. Default: 5x3, from 2000 rows on 5."
PLOT = "Draw the scores of all folds: .png, .svg or .pdf."
TIME = "Stop after this long: 30s, 5m. Kinds that are done by then are told."
SEED = "For folds, and for everything else that is random."
READING = (  # options that a command which is to do it again has to have, too
    *("target", "groups", "raw", "ignore", "use", "number", "category", "text", "missing"),
    *("header", "delimiter", "decimal", "dates", "skip_bad_lines", "sheet", "table_name"),
    *("query", "db"),
)


def compare(
    ctx: typer.Context,
    files: options.Files = None,
    target: options.Target = None,
    picture: Annotated[str | None, typer.Option("--plot", metavar="PICTURE", help=PLOT)] = None,
    folds: Annotated[str | None, typer.Option("--cv", metavar="FOLDS", help=CROSS)] = None,
    groups: options.Groups = None,
    max_time: Annotated[str | None, typer.Option(metavar="TIME", help=TIME)] = None,
    seed: Annotated[int, typer.Option(metavar="N", help=SEED)] = 0,
    n_jobs: options.Threads = None,
    json_: options.Json = False,
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
) -> None:
    """Say which kind of model does best on a table, and whether that is more than chance.

    Perceptron, average, pocket, maximum and soft margin and kernel perceptrons are judged by the
    same folds, beside always saying the most frequent class. What has to be chosen, C, gamma or
    degree, every fold chooses anew from its own rows to learn from. Of the kinds that cannot be
    told from the best, by a corrected t-test, the simplest is to be taken; the report ends
    with the command that does it.

    [dim]Example:[/dim] rosenblatt compare examples/banknotes.csv --plot kinds.png
    """
    check_outputs(picture=picture)
    n_folds, times = (5, None) if folds is None else folds_of(folds)
    none = f"--cv {folds} is not possible: kinds are compared by folds; give at least 2"
    options.refuse(n_folds == 0, none)
    check_seed(seed)
    limit = max_seconds(max_time)
    with ProgressLine() as progress, HeldCtrlC() as ctrl_c:
        table = _encoded(ctx.params, progress)
        facts = _compared(ctx, table, n_folds, times, limit, progress)
        ctrl_c.hold()
        drawn = picture if picture and facts.kinds else ""
        if drawn and not ctrl_c.unless_stopped(lambda: _draw(facts, drawn)):
            drawn = ""
    ctx.meta[options.EXIT_CODE] = 130 if facts.interrupted or ctrl_c.pressed else 0
    if json_:
        from rosenblatt.report.facts import as_json

        print_json(as_json(facts) | {"saved": [drawn] if drawn else []})
    else:
        from rosenblatt.report.comparison_report import print_comparison

        print_comparison(facts, saved=drawn)


def _encoded(asked: dict[str, Any], progress: ProgressLine) -> EncodedTable:
    """The table that was asked for, in numbers."""
    from rosenblatt.cli.reading import encoder_of, read_file
    from rosenblatt.kernel.estimator import KernelPerceptron
    from rosenblatt.report.encoding_notes import notes_about
    from rosenblatt.report.fits import EncodedTable

    files = options.tables_of(asked)
    progress.say(f"reading {shown_tables(files)}")
    table = read_file(files, asked["target"], KernelPerceptron, options.how_to_read(asked))
    encoder = encoder_of(table, standardize=not asked["raw"], **options.how_to_encode(asked))
    progress.say("encoding")
    X = encoder.fit_transform(table.columns)
    table.notes.extend(notes_about(encoder))
    return EncodedTable(**vars(table), encoder=encoder, X=X)


def _compared(
    ctx: typer.Context,
    table: EncodedTable,
    folds: int,
    repeats: int | None,
    limit: float | None,
    progress: ProgressLine,
) -> ComparisonFacts:
    from rosenblatt.report.comparison import compare_table

    def command(kind: tuple[str, ...], often: str) -> list[str]:
        numbers = ["--cv", often, "--seed", str(ctx.params["seed"])]
        return ["rosenblatt", "fit", *given_options(ctx, table.target, READING), *kind, *numbers]

    return compare_table(
        table,
        folds=folds,
        repeats=repeats,
        seed=ctx.params["seed"],
        max_time=limit,
        n_jobs=ctx.params["n_jobs"],
        command=command,
        tell=progress.say,
    )


def _draw(facts: ComparisonFacts, picture: str) -> bool:
    """Write the picture of all folds."""
    from rosenblatt import plot
    from rosenblatt.validation.kinds import MAJORITY

    scores = {kind.name: kind.scores for kind in facts.kinds if kind.name != MAJORITY}
    base = facts.by_name.get(MAJORITY)
    drawn = plot.scores(
        scores or {MAJORITY: base.scores if base else (0.0,)},
        baseline=None if base is None else base.accuracy,
        baseline_name=f"always {facts.majority_class}",
        alike=facts.alike,
        chosen=facts.preferred,
    )
    plot.save(drawn, picture)
    return True
