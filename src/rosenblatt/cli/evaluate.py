"""``rosenblatt evaluate``: how good a saved model is on rows whose class is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rosenblatt.cli import options
from rosenblatt.cli.options import refuse, shown_tables, tables_of
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import count, print_json

if TYPE_CHECKING:
    from rosenblatt.cli.saved_models import Application, Tally
    from rosenblatt.cli.testing import AnswerKeeper
    from rosenblatt.report.evaluation import EvaluationFacts
    from rosenblatt.report.rows import RowKeeper
    from rosenblatt.tables.table import Table

MODEL = "A model saved by rosenblatt fit."
TABLE = "A table with the same columns, the class among them; - for standard input."
TARGET = "The column of true classes. Default: that of training."
TOP = "How many classes, confusions of one with another, and columns of rows, to show."
ROWS = "Of how many rows to show the cells: the closest to the boundary, and the worst errors."


def evaluate(
    ctx: typer.Context,
    model: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)],
    files: Annotated[list[str] | None, typer.Argument(metavar="FILE...", help=TABLE)] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help=TARGET)
    ] = None,
    rows: Annotated[int, typer.Option(min=0, metavar="N", help=ROWS)] = 3,
    top: Annotated[int, typer.Option(min=1, metavar="N", help=TOP)] = 10,
    json_: options.Json = False,
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
    """Say how good a model is on rows whose class is known, best such as it has never seen.

    The share of right answers with its interval, the classes one by one, and what is taken for
    what. Rows without a class, or with one that the model does not know, are not judged.

    [dim]Example:[/dim] rosenblatt evaluate notes.skops examples/banknotes.csv
    """
    files = tables_of(ctx.params)
    with ProgressLine() as progress:
        from rosenblatt.cli.reading import open_table
        from rosenblatt.cli.saved_models import Application, Tally, notes_without_options
        from rosenblatt.files.models import load
        from rosenblatt.report.evaluation_report import print_evaluation
        from rosenblatt.report.facts import as_json
        from rosenblatt.report.rows import RowKeeper
        from rosenblatt.report.sentences import shortened

        application, tally = Application(load(model), model, target=target), Tally()
        progress.say(f"reading {shown_tables(files)}")
        how = options.how_to_read(ctx.params)
        with open_table(files, how, **application.how_to_read, in_parts=True) as table:
            keeper = RowKeeper(application.model, rows)
            facts = judged(application, table, tally, progress, keeper)
    shown = keeper.facts()
    notes = [
        *notes_without_options(application.notes),
        *tally.notes(application.classifier.classes_),
    ]
    if tally.without:
        notes.append(f"{count(tally.without, 'row')} without a class, not judged")
    file, trained_on = Path(table.path).name, application.trained_on
    if trained_on and (trained_on.file, trained_on.rows) == (file, facts.rows):
        notes.append("this seems to be the table of training: new rows would tell more")
    if json_:
        print_json(as_json(facts) | {"shown_rows": as_json(shown), "notes": notes})
    else:
        title = f"{shortened(Path(model).name, 80)} on {shortened(file, 80)}"
        print_evaluation(title, facts, notes, top, shown)


def judged(
    application: Application,
    table: Table,
    tally: Tally,
    progress: ProgressLine,
    keeper: RowKeeper | AnswerKeeper | None = None,
) -> EvaluationFacts:
    """The answers to all rows, in pieces, and what they are worth; `keeper` meets them, too."""
    import numpy as np

    from rosenblatt.cli.predict import rows_at_a_time
    from rosenblatt.report.evaluation import evaluated_answers
    from rosenblatt.report.sentences import listing

    wanted = application.target
    nowhere = f"{table.path} has no classes to compare with: say with --target in which column"
    refuse(wanted is None, nowhere)
    none = f"{table.path} has no column {wanted!r} of true classes: say with --target which it is"
    refuse(wanted not in application.named(table).names, none)
    values, chosen, true = [], [], []
    step = rows_at_a_time(table)
    for k, (rows, _) in enumerate(application.chunks(table, step), 1):
        X, found = application.classified(rows, tally)
        assert found.true is not None
        known = found.true >= 0
        if keeper is not None:
            cells = {name: column for name, column in rows.items() if name != wanted}
            numbers = np.arange((k - 1) * step, (k - 1) * step + len(known)) + 1
            keeper.add(numbers, cells, X, found.values, found.chosen, found.true)
        values.append(found.values[known])
        chosen.append(found.chosen[known])
        true.append(found.true[known])
        progress.say("predicting", min(k * step, table.n_rows), table.n_rows)
    names = [str(label) for label in application.classifier.classes_]
    there = f"has {listing(map(repr, tally.strange), 4)}" if tally.strange else "is empty"
    refuse(
        not tally.judged,
        f"column {wanted!r} of {table.path} {there}, but the model knows {listing(names, 4)}: "
        "no row can be judged",
    )
    answers = np.concatenate(true), np.concatenate(chosen), np.concatenate(values)
    return evaluated_answers(application.classifier, *answers)
