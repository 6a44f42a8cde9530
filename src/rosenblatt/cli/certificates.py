"""Certificates of tables: the document that ``rosenblatt check`` writes, and its test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.certify import check
from rosenblatt.cli.reading import leaves_out, notes_about, read_task
from rosenblatt.files.certificates import (
    CertificateFileError,
    certificate_as_json,
    certificates_in,
    digest,
)
from rosenblatt.report.checks import CheckedTable, problems_of, rows_and_features
from rosenblatt.report.phrases import listing
from rosenblatt.report.verdict_sentences import verdict_word
from rosenblatt.results import Optimum, Separable
from rosenblatt.separation.explaining import Twins, single_features, twins
from rosenblatt.tables.encoder import TableEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rosenblatt.certify import CheckResult
    from rosenblatt.cli.progress import ProgressLine
    from rosenblatt.report.checks import Finding, TwoClasses
    from rosenblatt.results import Certificate
    from rosenblatt.tables.table import Table

    Ints = NDArray[np.int64]

NUMBERING = (
    "samples are counted from 0, over the rows that have a class (and, in a problem about a pair "
    "of classes, one of these two); rows are counted from 1 as they stand in the file, its header "
    "not counted"
)
CHECKED = (
    "the verdicts with all their evidence, and what is said of the table, its rows and features"
)
NOT_CHECKED = "the notes on estimates and chance"


def read_checked(
    table: Table, target: str | None, ignored: Sequence[str], used: Sequence[str]
) -> CheckedTable:
    """The features and the classes of a table."""
    task = read_task(table, target, ignored, used)
    # Where all columns are constant, which no fit would use, the answer is no.
    encoder = TableEncoder(standardize=False, use=tuple(used), keep_constant=True)
    X = encoder.fit_transform(task.columns)
    classes, label = np.unique(task.y, return_inverse=True)
    left_out = [] if task.known is None else (np.flatnonzero(~task.known) + 1).tolist()
    notes = [*task.notes, *notes_about(encoder), *_notes_on_rounding(encoder, task.columns)]
    return CheckedTable(
        file=task.origin["file"],
        target=task.target,
        y=task.y,
        rows=task.rows,
        rows_left_out=tuple(left_out),
        n_columns=len(task.columns),
        some_columns=leaves_out(task, encoder),
        notes=tuple(notes),
        X=X,
        encoder=encoder,
        classes=classes,
        label=label,
    )


def _notes_on_rounding(encoder: TableEncoder, columns: dict[str, NDArray[Any]]) -> list[str]:
    """Which columns hold whole numbers that may not be what stands in the file."""
    numbers = [name for name, kind in encoder.kinds_.items() if kind == "number"]
    large = [name for name in numbers if np.nanmax(np.abs(columns[name])) >= 2**53]
    if not large:
        return []
    return [
        f"beyond 2^53, where floats cannot hold every whole number: {listing(large)}; each number "
        "there was rounded to the nearest float, and different ones may have become the same"
    ]


def document_of(
    table: CheckedTable, findings: list[Finding], how: dict[str, Any]
) -> dict[str, Any]:
    """All that is needed to check it again; `how` the table was read."""
    head = {"file": table.file, "target": table.target, "read": how}
    problems = [finding.as_json(table.names) for finding in findings]
    return head | about_table(table) | {"problems": problems}


def about_table(table: CheckedTable) -> dict[str, Any]:
    """What a file says of the table, all of which `check_again` compares."""
    return {
        "classes": table.counts,
        "numbering": NUMBERING,
        "samples": len(table.y),
        "rows_left_out": list(table.rows_left_out),
        "encoding": [_encoding(spec, table.encoder) for spec in table.encoder.columns_],
        "features": table.names,
        "digest": digest(table.X, table.y),
    }


def _encoding(spec: dict[str, Any], encoder: TableEncoder) -> dict[str, Any]:
    """How a column became features; nothing that makes no difference."""
    wanted = {"name", "kind", "dropped", "values"}
    if spec["name"] in encoder.n_missing_:
        wanted.add("fill")
    return {name: value for name, value in spec.items() if name in wanted}


# Checking again ---------------------------------------------------------------------------------


def how_it_was_read(document: dict[str, Any], path: str) -> dict[str, Any]:
    """How to read the table of a certificate, in the terms of `document_of`."""
    how, target = document.get("read"), document.get("target")
    found = certificates_in(document, path)  # raises if it holds none
    if any(isinstance(certificate, Optimum) for certificate in found):
        msg = (
            f"{path} is about a best hyperplane, and does not hold the weights of the samples: "
            "check it in Python with rb.certify.check"
        )
        raise CertificateFileError(msg)
    if not isinstance(how, dict) or not isinstance(target, str):
        msg = (
            f"{path} does not say how its table was read: it was written in Python, "
            "so check it there with rb.certify.check"
        )
        raise CertificateFileError(msg)
    kinds = {"ignore": list, "use": list, "header": bool | None, "delimiter": str | None}
    for name, kind in (kinds | {"pairs": bool}).items():
        if not isinstance(how.get(name), kind):
            msg = f"{path} is damaged (in read, {name}): write the certificate again"
            raise CertificateFileError(msg)
    return how | {"target": target}


class Rechecked(NamedTuple):
    """Whether the certificate of a problem is valid, and why (not)."""

    name: str
    valid: bool
    why: str


def check_again(
    document: dict[str, Any],
    path: str,
    table: CheckedTable,
    pairs: bool,
    progress: ProgressLine,
) -> list[Rechecked]:
    """Check the certificate of each problem; nothing but `rosenblatt.certify` is trusted."""
    certificates = certificates_in(document, path)
    if document.get("digest") != digest(table.X, table.y):
        why = (
            f"{table.file} does not hold the numbers and classes that {path} is "
            "about: the digests differ"
        )
        return [Rechecked("", False, why)]
    problems = problems_of(table, pairs)
    named = [(p.get("positive"), p.get("negative")) for p in document["problems"]]
    if named != [(p.positive, p.negative) for p in problems]:
        wanted = listing(p.name for p in problems)
        return [Rechecked("", False, f"{path} is not about the problems of the table: {wanted}")]
    if wrong := _first_different(about_table(table), document):
        return [Rechecked("", False, f"{path} says what is not so of the table, in {wrong}")]
    found: list[Rechecked] = []
    for problem, certificate, stored in zip(
        problems, certificates, document["problems"], strict=True
    ):
        progress.say("checking", len(found), len(problems), problem.name)
        result = check(certificate, problem.X, problem.y)
        why = _in_rows(result, problem.rows)
        wrong = _wrong_beside(problem, certificate, stored, table.names) if result else ""
        if wrong:
            why = f"the proof holds, but {wrong} is not what belongs to it"
        about = f"{problem.name} is {verdict_word(certificate.verdict)}"
        found.append(Rechecked(about, result.valid and not wrong, why))
    return found


def _wrong_beside(
    problem: TwoClasses, certificate: Certificate, stored: dict[str, Any], names: list[str]
) -> str:
    """The first entry beside a valid certificate that is not as it should be, if any."""
    X, y = problem.X, problem.y
    same = Twins([], 0) if isinstance(certificate, Separable) else twins(X, y)
    beside = rows_and_features(problem, certificate, single_features(X, y), same, names)
    exact = certificate_as_json(certificate, X, y)
    beside |= {name: exact[name] for name in ("meaning", "exact_weights") if name in exact}
    return _first_different(beside, stored)


def _first_different(wanted: dict[str, Any], stored: dict[str, Any]) -> str:
    plain = json.loads(json.dumps(wanted))
    return next((name for name in plain if stored.get(name) != plain[name]), "")


def _in_rows(result: CheckResult, rows: Ints) -> str:
    """Why a certificate is (not) valid; the one sample that lies elsewhere as a row of the file."""
    if result.sample is None:
        return result.why.removeprefix("proved: ")
    return f"row {rows[result.sample]} lies {result.where}"
