"""A check of several classes as one problem: its facts, its document, its report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from rosenblatt.files.certificates import certificate_as_json
from rosenblatt.proofs import check
from rosenblatt.report.facts import Document
from rosenblatt.report.fits import EncodedTable
from rosenblatt.report.rows import cells_of, column_names
from rosenblatt.report.rows_report import LONGEST_NAME, with_cells
from rosenblatt.report.sentences import JOINT_MEANINGS, four_digits, shortened, verdict_word
from rosenblatt.report.terminal import (
    Line,
    NamedWeights,
    first_lines,
    last_lines,
    new_console,
    print_lines,
    verdict_text,
    weights_table,
)
from rosenblatt.results import Inseparable, JointCertificate, Undecided, Verdict
from rosenblatt.separation.function import separability
from rosenblatt.visible import count

NAME = "all classes as one problem"
WIDTH = len("estimates")
ESTIMATES = {
    Verdict.SEPARABLE: "a multinomial logistic regression has none: coefficients run to infinity",
    Verdict.QUASI_SEPARABLE: "a multinomial logistic regression has some that are not finite",
    Verdict.INSEPARABLE: "a multinomial logistic regression has finite ones",
}


@dataclass(frozen=True)
class JointFinding:
    """What there is to say of all classes of a table as one problem."""

    table: EncodedTable
    certificate: JointCertificate

    def as_json(self) -> Document:
        """The certificate and the rest, for scripts."""
        return certificate_as_json(self.certificate) | self.beside()

    def beside(self) -> Document:
        """What stands beside a certificate, and can be checked again like it."""
        classes, _ = self.table.labels
        sample, rival = self.certificate.pairs.T
        rows, rivals = self.table.rows[sample].tolist(), [str(classes[r]) for r in rival]
        return {"support_rows": rows, "support_rivals": rivals}


def examine_jointly(
    table: EncodedTable, max_time: float | None, checkpoint: Any = None
) -> JointFinding:
    """Settle whether each class can have the highest value on its rows."""
    how: dict[str, Any] = {"max_time": max_time, "checkpoint": checkpoint}
    found: Any = separability(table.X, table.label, multiclass="joint", **how)
    return JointFinding(table, found)


def checked_jointly(table: EncodedTable, certificate: Any, stored: Document) -> tuple[bool, str]:
    """Whether a stored certificate is valid, and why (not)."""
    result = check(certificate, table.X, table.labels[1])
    if not result:
        if result.sample is None:
            return False, result.why
        return False, f"row {table.rows[result.sample]} lies {result.where}"
    wanted = JointFinding(table, certificate).as_json()
    plain = json.loads(json.dumps(wanted))
    wrong = next((name for name in plain if stored.get(name) != plain[name]), "")
    if wrong:
        return False, f"the proof holds, but {wrong} is not what belongs to it"
    return True, result.proved


def told(certificate: JointCertificate) -> str:
    """What it is that was settled, for `Rechecked`."""
    return f"{NAME}: {verdict_word(certificate.verdict)}"


def print_joint_check(finding: JointFinding, top: int, output: str | None) -> None:
    """Print it all to standard output."""
    table, width = finding.table, new_console().width - 13
    late = "give it more time with --max-time, or as much as it needs without"
    timed = getattr(finding.certificate.certificate, "why", "") == Undecided.TIME
    lines = [*first_lines(table), *_lines(finding, top, width)]
    lines += last_lines(table.notes, late if timed else "", saved=output)
    question = "can each class have the highest value on its rows?"
    print_lines(f"{table.file}: {question}", lines, WIDTH)


def _lines(finding: JointFinding, top: int, width: int) -> Iterator[Line]:
    joint, table = finding.certificate, finding.table
    inner = joint.certificate
    if isinstance(inner, Undecided):
        yield "verdict", verdict_text(inner.verdict, f"{inner.why} before it was settled")
        return
    yield "verdict", verdict_text(inner.verdict, JOINT_MEANINGS[inner.verdict])
    if len(joint.pairs):
        yield "proof", _proof(finding, top, width)
    if not isinstance(inner, Inseparable):
        coef = np.array([plane.w for plane in joint.hyperplanes])
        bias = np.array([plane.b for plane in joint.hyperplanes])
        names = [str(label) for label in table.labels[0]]
        yield "weights", weights_table(NamedWeights(table.features, coef, bias, names), top, width)
    yield "estimates", ESTIMATES[inner.verdict]


def _proof(finding: JointFinding, top: int, width: int) -> RenderableType:
    """The rows and rivals whose vectors cancel, the heaviest first."""
    joint, table = finding.certificate, finding.table
    classes, label = table.labels
    order = np.argsort(-joint.weights, kind="stable")
    told = []
    for k in order[:top]:
        sample, rival = joint.pairs[k]
        own, other = (shortened(classes[c], LONGEST_NAME) for c in (label[sample], rival))
        share = four_digits(float(joint.weights[k]))
        told.append([str(table.rows[sample]), own, f"over {other}", share])
    what = (
        f"{count(len(order), 'demand')} that a row be higher in its class than in another; added "
        "up with these weights they ask for nothing above zero:"
    )
    rest, heads = len(order) - top, ("row", "class", "demanded", "weight")
    cells = cells_of(table, joint.pairs[order[:top], 0])
    grid = with_cells(heads, told, cells, column_names(table), top, width)
    return Group(Text(what), grid, *[Text(f"and {rest} more (--top)", "dim")] * (rest > 0))
