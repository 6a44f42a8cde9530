"""``rosenblatt check``: can a hyperplane separate the classes, and what proves it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rosenblatt.cli import options
from rosenblatt.cli.options import (
    check_outputs,
    checkpoint_of,
    max_seconds,
    refuse_overwriting,
    shown_tables,
    writes,
)
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import print_data, print_json, print_line

if TYPE_CHECKING:
    from rosenblatt.report.checks import Rechecked

OUTPUT = "Write the certificates here."
VERIFY = "Check these certificates of the table again instead of looking for new ones."
PAIRS = "With more than two classes: each pair of them, not each against the rest."
MULTICLASS = (
    "Of several classes: ovr (the default), each against the rest; joint: whether each can have "
    "the highest value on its rows."
)
TIME = "Stop looking after this long, all problems together: 10s, 5m, 1h."
TOP = "How many rows and features to list."
JSON = "Print the certificates, as JSON."


def check(
    ctx: typer.Context,
    files: options.Files = None,
    target: options.Target = None,
    output: Annotated[str | None, writes(metavar="CERT.json", help=OUTPUT)] = None,
    verify: Annotated[str | None, typer.Option(metavar="CERT.json", help=VERIFY)] = None,
    pairs: Annotated[bool, typer.Option("--pairs", metavar="", help=PAIRS)] = False,
    multiclass: Annotated[
        Literal["ovr", "joint"] | None, typer.Option(metavar="HOW", help=MULTICLASS)
    ] = None,
    max_time: Annotated[str | None, typer.Option(metavar="TIME", help=TIME)] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help=TOP)] = 8,
    json_: Annotated[bool, typer.Option("--json", metavar="", help=JSON)] = False,
    quiet: options.Quiet = False,
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
    """Say whether a hyperplane can separate the classes, and prove it.

    Numbers are not scaled, and a text column becomes one feature per value. The answer is
    separable, quasi-separable or inseparable, with the hyperplane or with the rows whose convex
    hulls meet. The exit code is 0 if all is separable, 1 if not, 2 after an error.

    [dim]Example:[/dim] rosenblatt check examples/banknotes.csv
    """
    how, files = options.how_to_read(ctx.params), options.tables_of(ctx.params)
    if verify is not None:
        settled = (
            "target",
            "output",
            "pairs",
            "multiclass",
            "max_time",
            "ignore",
            "use",
            "number",
            "category",
            "cluster",
            "checkpoint",
            "checkpoint_every",
            "resume",
        )
        for name in (*settled, "text", "missing"):
            option = f"--{name.replace('_', '-')}"
            why = f"{option} does not go with --verify: leave one of them out"
            options.refuse(ctx.params[name], why)
        return _verify(ctx, files, verify, how)
    kept = checkpoint_of(ctx.params)
    check_outputs(certificate=output)
    refuse_overwriting(output, files)
    limit, joint = max_seconds(max_time), multiclass == "joint"
    options.refuse(pairs and joint, "--pairs does not go with --multiclass joint: leave one out")
    with ProgressLine(not quiet) as progress:
        engine = ctx.with_resource(options.on_cluster(cluster, progress))
        from rosenblatt.cli.reading import read_checked
        from rosenblatt.cli.room import ON_DISK, Room
        from rosenblatt.files.certificates import document_text, write_document
        from rosenblatt.report.check_report import print_check
        from rosenblatt.report.checks import document_of, examine
        from rosenblatt.report.joint_checks import examine_jointly, print_joint_check
        from rosenblatt.results import Verdict

        progress.say(f"reading {shown_tables(files)}")
        if engine is not None:
            from rosenblatt.cli.on_cluster import without_what_needs_all_rows

            without_what_needs_all_rows(ctx.params)
        table = read_checked(files, target, how, Room.of(ctx.params), engine)
        tell = partial(progress.say, "looking for a hyperplane")
        how, findings = how | {"pairs": pairs}, list[Any]()
        if joint and len(table.counts) > 2:
            progress.say("looking for hyperplanes")
            findings, how = [examine_jointly(table, limit, kept)], how | {"multiclass": "joint"}
        else:
            findings, joint = list(examine(table, pairs, limit, tell, kept)), False
        document = document_of(table, findings, how)
        if output:
            write_document(document, output)
    yes = all(finding.certificate.verdict is Verdict.SEPARABLE for finding in findings)
    ctx.meta[options.EXIT_CODE] = 0 if yes else 1
    if json_:
        print_data(document_text(document))
        if (
            table.cache is not None and cluster is None and not quiet
        ):  # what is printed is the certificates alone
            told = next(note for note in table.notes if note.endswith(ON_DISK))
            print_line(f"rosenblatt: {told}", error=True)
    elif joint and not quiet:
        print_joint_check(findings[0], top, output)
    elif not quiet:
        print_check(table, findings, top, output)


# --verify ---------------------------------------------------------------------------------------


def _verify(ctx: typer.Context, files: list[str], path: str, how: dict[str, Any]) -> None:
    """Check certificates again."""
    as_json, quiet = ctx.params["json_"], ctx.params["quiet"]
    with ProgressLine(not quiet) as progress:
        from rosenblatt.cli.reading import read_checked
        from rosenblatt.cli.room import Room
        from rosenblatt.files.certificates import read_document
        from rosenblatt.report.checks import CHECKED, NOT_CHECKED, check_again, how_it_was_read

        document = read_document(path)
        stored = how_it_was_read(document, path)
        given = {name: value for name, value in how.items() if value not in (None, [])}
        progress.say(f"reading {shown_tables(files)}")
        room = Room.of(ctx.params)
        table = read_checked(files, stored["target"], stored | given, room)
        tell = partial(progress.say, "checking")
        answers = check_again(document, path, table, stored["pairs"], tell)
    valid = all(answer.valid for answer in answers)
    ctx.meta[options.EXIT_CODE] = 0 if valid else 1
    if as_json:
        found = {"valid": valid, "problems": [answer._asdict() for answer in answers]}
        print_json(found | {"checked": CHECKED, "not_checked": NOT_CHECKED})
    elif not quiet:
        for answer in answers:
            print_line(_sentence(answer))
        if valid:
            print_line(f"checked: {CHECKED}; not {NOT_CHECKED}")


def _sentence(answer: Rechecked) -> str:
    """One line about one problem."""
    if answer.valid:
        return f"valid: {answer.name}, for {answer.why}"
    about = f"it is not proved that {answer.name}: " if answer.name else ""
    return f"not valid: {about}{answer.why}"
