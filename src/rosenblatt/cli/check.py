"""``rosenblatt check``: can a hyperplane separate the classes, and what proves it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from rosenblatt.cli import arguments as given_as
from rosenblatt.cli.printing import print_data, print_json, print_line

if TYPE_CHECKING:
    from rosenblatt.cli.checking import Answer, Data, Finding
    from rosenblatt.cli.progress import Progress

EXIT_CODE = "exit code"  # in a context's `meta`: how to leave if the reader of the report has gone
WIDTH = len("estimates")

OUTPUT = "Write the certificates here."
VERIFY = "Check these certificates of the table again instead of looking for new ones."
PAIRS = "With more than two classes: each pair of them, not each against the rest."
TIME = "Stop looking after this long, all problems together: 10s, 5m, 1h."
TOP = "How many rows and features to list."
JSON = "Print the certificates, as JSON."
QUIET = "Print nothing but errors and --json; the exit code tells."


def check(
    ctx: typer.Context,
    file: given_as.File,
    target: given_as.Target = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="CERT.json", help=OUTPUT)
    ] = None,
    verify: Annotated[str | None, typer.Option(metavar="CERT.json", help=VERIFY)] = None,
    pairs: Annotated[bool, typer.Option("--pairs", metavar="", help=PAIRS)] = False,
    max_time: Annotated[str | None, typer.Option(metavar="TIME", help=TIME)] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help=TOP)] = 8,
    json_: Annotated[bool, typer.Option("--json", metavar="", help=JSON)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", metavar="", help=QUIET)] = False,
    ignore: given_as.Ignore = None,
    use: given_as.Use = None,
    header: given_as.Header = None,
    delimiter: given_as.Delimiter = None,
) -> None:
    """Say whether a hyperplane can separate the classes, and prove it.

    Numbers are not scaled, and a text column becomes one feature per value. The answer is
    separable, quasi-separable or inseparable, with the hyperplane or with the rows whose convex
    hulls meet. The exit code is 0 if all is separable, 1 if not, 2 after an error.

    [dim]Example:[/dim] rosenblatt check examples/banknotes.csv
    """
    from rosenblatt.cli.options import check_outputs, time_limit
    from rosenblatt.cli.predict import refuse_overwriting
    from rosenblatt.cli.progress import Progress

    how = {"ignore": ignore or [], "use": use or [], "header": header, "delimiter": delimiter}
    if verify is not None:
        _refuse(
            target=target, output=output, pairs=pairs, max_time=max_time, ignore=ignore, use=use
        )
        _verify(ctx, file, verify, how, (json_, quiet))
    check_outputs(certificate=output)
    refuse_overwriting(output, [file])
    limit = time_limit(max_time)
    with Progress(not quiet) as progress:
        progress.say("starting")
        from rosenblatt.cli.checking import all_separable, document_of, examine
        from rosenblatt.files.certificates import document_text, write_document

        data = _read(file, target, how, progress)
        findings = examine(data, pairs, limit, progress)
        document = document_of(data, findings, how | {"pairs": pairs})
        if output:
            write_document(document, output)
    code = 0 if all_separable(findings) else 1
    ctx.meta[EXIT_CODE] = code
    if json_:
        print_data(document_text(document))
    elif not quiet:
        _print(data, findings, document, top, output)
    raise typer.Exit(code)


def _read(file: str, target: str | None, how: dict[str, Any], progress: Progress) -> Data:
    from rosenblatt.cli.checking import Data
    from rosenblatt.tables.table import read_table

    progress.say(f"reading {Path(file).name}")
    with read_table(file, header=how["header"], delimiter=how["delimiter"]) as table:
        return Data.read(table, target, how["ignore"], how["use"])


def _print(
    data: Data, findings: list[Finding], document: dict[str, Any], top: int, output: str | None
) -> None:
    from rich.text import Text

    from rosenblatt.cli.text import classes_line, data_line, new_console, new_grid, print_parts
    from rosenblatt.cli.verdicts import MOST_IN_DETAIL, advice, lines_about, one_line, question

    console, head, tail = new_console(), new_grid(WIDTH), new_grid(WIDTH)
    facts = {
        "rows": document["samples"],
        "features": len(data.names),
        "columns": len(data.task.columns),
        "classes": document["classes"],
        "target": data.task.target,
    }
    head.add_row("data", data_line(facts))
    head.add_row("classes", classes_line(facts))
    parts: list[Any] = [Text(f"{document['file']}: {question(findings)}", "bold"), head]
    for finding in findings:
        if len(findings) > MOST_IN_DETAIL:
            head.add_row(*one_line(finding))
            continue
        lines = head if len(findings) == 1 else new_grid(WIDTH)
        if lines is not head:
            parts += [Text(f"\n{finding.problem.name}", "bold"), lines]
        for name, what in lines_about(finding, data, top, console.width - 13):
            lines.add_row(name, what)
    if output:
        tail.add_row("saved", output)
    for k, note in enumerate(data.task.notes):
        tail.add_row("notes" if k == 0 else "", Text(note, style="dim"))
    if todo := advice(findings):
        tail.add_row("next", Text(todo, style="italic"))
    if tail.row_count:
        parts += ([""] if len(findings) > 1 else []) + [tail]
    print_parts(console, *parts)


# --verify ---------------------------------------------------------------------------------------


def _refuse(**given: Any) -> None:
    """Refuse options that a certificate already settles."""
    for name, value in given.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            msg = f"{option} does not go with --verify: leave one of them out"
            raise ValueError(msg)


def _verify(
    ctx: typer.Context, file: str, path: str, how: dict[str, Any], shown: tuple[bool, bool]
) -> NoReturn:
    """Check certificates again, and leave with the exit code."""
    from rosenblatt.cli.progress import Progress

    as_json, quiet = shown
    with Progress(not quiet) as progress:
        progress.say("starting")
        from rosenblatt.cli.checking import CHECKED, NOT_CHECKED, check_again, how_it_was_read
        from rosenblatt.files.certificates import read_document

        document = read_document(path)
        stored = how_it_was_read(document, path)
        given = {name: value for name, value in how.items() if value not in (None, [])}
        data = _read(file, stored["target"], stored | given, progress)
        answers = check_again(document, path, data, stored["pairs"], progress)
    valid = all(answer.valid for answer in answers)
    ctx.meta[EXIT_CODE] = 0 if valid else 1
    if as_json:
        problems = [answer._asdict() for answer in answers]
        found = {"valid": valid, "problems": problems}
        found |= {"checked": CHECKED, "not_checked": NOT_CHECKED}
        print_json(found)
    elif not quiet:
        for answer in answers:
            print_line(_sentence(answer))
        if valid:
            print_line(f"checked: {CHECKED}; not {NOT_CHECKED}")
    raise typer.Exit(ctx.meta[EXIT_CODE])


def _sentence(answer: Answer) -> str:
    """One line about one problem."""
    if answer.valid:
        return f"valid: {answer.name}, for {answer.why}"
    about = f"it is not proved that {answer.name}: " if answer.name else ""
    return f"not valid: {about}{answer.why}"
