"""``rosenblatt suspects``: rows whose class is suspicious, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rosenblatt.cli import options
from rosenblatt.cli.options import check_seed, refuse, refuse_overwriting, shown_tables, writes
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import count, print_json

if TYPE_CHECKING:
    from rosenblatt.report.fits import EncodedTable, LabelledTable
    from rosenblatt.report.suspicion import SuspicionFacts

OUTPUT = "Write all suspicious rows here, with what speaks against them: .csv, .tsv, .parquet."
TOP = "How many rows to show; -o and --json have all."
OWN = {  # columns of the table that is written, before those of the table that was read
    "row": "integer",
    "given": "text",
    "rather": "text",
    "suspicion": "number",
    "why": "text",
}
TIME = "Begin nothing new after this long, and tell what was judged: 30s, 5m."
SEED = "For folds, and for the order in which rows are taken."


def suspects(
    ctx: typer.Context,
    files: options.Files = None,
    target: options.Target = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help=TOP)] = 10,
    json_: options.Json = False,
    output: Annotated[str | None, writes(metavar="TABLE", help=OUTPUT)] = None,
    max_time: Annotated[str | None, typer.Option(metavar="TIME", help=TIME)] = None,
    seed: Annotated[int, typer.Option(metavar="N", help=SEED)] = 0,
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
    """List rows whose class is suspicious, the most suspicious first, and say why.

    Suspicious are rows that a hyperplane and a kernel perceptron, which have not learned from
    them, both take for another class, and rows that are identical with more of another class.
    They are ranked by these, by their slack, and by the mistakes of a kernel perceptron.

    [dim]Example:[/dim] rosenblatt suspects examples/banknotes.csv
    """
    files = options.tables_of(ctx.params)
    check_seed(seed)
    limit = options.max_seconds(max_time)
    with ProgressLine() as progress:
        from rosenblatt.cli.reading import read_file
        from rosenblatt.kernel.estimator import KernelPerceptron
        from rosenblatt.report.facts import as_json
        from rosenblatt.report.suspicion_report import print_suspects
        from rosenblatt.tables.output import TableWriter

        refuse_overwriting(output, files)
        if output is not None:
            TableWriter(output, OWN)  # refuses what cannot be written before any work is done
        progress.say(f"reading {shown_tables(files)}")
        how = options.how_to_read(ctx.params)
        table = _encoded(read_file(files, target, KernelPerceptron, how), ctx.params)
        facts = examined(table, seed, progress, limit)
        if output is not None:
            _write(facts, output)
    if facts.stopped:
        ctx.meta[options.EXIT_CODE] = 130
    if json_:
        print_json(as_json(facts) | {"notes": table.notes})
    else:
        print_suspects(facts, table.notes, top, output)


def _encoded(table: LabelledTable, asked: dict[str, Any]) -> EncodedTable:
    """The table in numbers; a class with one row cannot be judged by others of its kind."""
    import numpy as np

    from rosenblatt.cli.reading import encoder_of
    from rosenblatt.report.encoding_notes import notes_about
    from rosenblatt.report.fits import EncodedTable
    from rosenblatt.report.sentences import listing

    (labels, numbers), counts = table.labels, np.array(list(table.counts.values()))
    single = labels[counts == 1]
    if len(single):
        few = f"{table.target!r} has {count(len(labels) - len(single), 'class', 'classes')}"
        why = f"{few} of at least two rows: rows are judged by others of two classes; give more"
        refuse(len(labels) - len(single) < 2, why)
        names = listing(map(str, single))
        table.notes.append(f"not judged, for they are the only ones of their class: {names}")
        table = table.taken(np.flatnonzero(counts[numbers] > 1))
    # Nothing of the classes goes into features, so that folds can share them.
    encoder = encoder_of(table, standardize=not asked["raw"], **options.how_to_encode(asked))
    X = encoder.fit_transform(table.columns)
    table.notes.extend(notes_about(encoder))
    return EncodedTable(**vars(table), encoder=encoder, X=X)


def examined(
    table: EncodedTable, seed: int, progress: ProgressLine, max_time: float | None = None
) -> SuspicionFacts:
    """The suspicious rows; of a large table kernel perceptrons see a part at a time."""
    from rosenblatt.report.suspicion import FOLDS, MOST_ROWS, gather, suspicion_facts
    from rosenblatt.validation.plans import stratified

    y = table.labels[1]
    folds, parts = min(FOLDS, len(y)), -(-len(y) // MOST_ROWS)
    if parts > 1:
        most = count(MOST_ROWS, "row")
        table.notes.append(f"kernel perceptrons learn from at most {most} at a time")
    split, pieces = stratified(y, folds, seed), stratified(y, parts, seed)
    evidence = gather(table.X, y, split, pieces, seed, progress.say, max_time)
    return suspicion_facts(table, evidence, folds, seed)


def _write(facts: SuspicionFacts, output: str) -> None:
    """All suspicious rows as a table: what there is to say, then their cells."""
    import numpy as np

    from rosenblatt.report.suspicion_report import why
    from rosenblatt.tables.output import TableWriter

    rows = facts.suspects
    told: dict[str, list[Any]] = {name: [getattr(one, name, None) for one in rows] for name in OWN}
    told["why"] = ["; ".join(why(one, facts.epochs)) for one in rows]
    kinds, found = dict(OWN), {name: np.array(cells) for name, cells in told.items()}
    for name in facts.columns:
        cells = [one.cells[name] for one in rows]
        numbers = all(value is None or isinstance(value, int | float) for value in cells)
        while name in kinds:
            name += "_"
        kinds[name] = "number" if numbers else "text"
        found[name] = np.array(cells, dtype=float if numbers else object)
    with TableWriter(output, kinds) as out:
        out.write(found)
