"""The report of ``rosenblatt check``: verdicts, the rows that prove them, what carries them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.text import Text

from rosenblatt.files.certificates import short_exact_weights
from rosenblatt.report.checks import INFINITY, Finding, TwoClasses
from rosenblatt.report.facts import VerdictFacts
from rosenblatt.report.fits import EncodedTable
from rosenblatt.report.rows import cells_of, column_names
from rosenblatt.report.rows_report import with_cells
from rosenblatt.report.sentences import (
    evidence,
    four_digits,
    listing,
    meaning,
    same_sentence,
    shortened,
    these_rows,
    verdict_word,
)
from rosenblatt.report.terminal import (
    Line,
    NamedWeights,
    first_lines,
    grid_of,
    last_lines,
    lines_shown,
    new_console,
    print_parts,
    signed_weights,
    verdict_text,
)
from rosenblatt.results import Certificate, Inseparable, QuasiSeparable, Separable, Undecided
from rosenblatt.separation.explaining import NEGLIGIBLE, Chance, SingleFeature
from rosenblatt.visible import count

WIDTH = len("estimates")
MOST_IN_DETAIL = 6  # problems; of more there is a line each
SHORT = 9  # characters of a fraction that is easier to read than a decimal number


def print_check(
    table: EncodedTable, findings: Sequence[Finding], top: int, output: str | None
) -> None:
    """Print it all to standard output."""
    console, n = new_console(), len(findings)
    head, width = list(first_lines(table)), console.width - 13
    if n == 1:
        head += _lines_about(findings[0], table, top, width)
    elif n > MOST_IN_DETAIL:
        head += _short_lines(findings, top)
    parts: list[Any] = [Text(f"{table.file}: {_question(findings)}", "bold"), grid_of(head, WIDTH)]
    for one in findings if 1 < n <= MOST_IN_DETAIL else ():
        lines = _lines_about(one, table, top, width)
        parts += [Text(f"\n{one.problem.name}", "bold"), grid_of(lines, WIDTH)]
    tail = grid_of(last_lines(table.notes, advice(findings), saved=output), WIDTH)
    if tail.row_count:
        parts += [*[""] * (n > 1), tail]
    print_parts(console, *parts)


def _are_identical(certificate: QuasiSeparable | Inseparable) -> bool:
    """Whether the classes meet because two rows are the same."""
    return len(certificate.support) == 2


def _told(certificate: Certificate, problem: TwoClasses) -> str:
    """Why a verdict holds, in one sentence."""
    if isinstance(certificate, Undecided):
        return certificate.known
    return evidence(VerdictFacts.of(certificate, problem.rows, problem.table.some_columns))


def _question(findings: Sequence[Finding]) -> str:
    """What is asked."""
    first = findings[0].problem
    if len(findings) == 1:
        sides = " from ".join(shortened(name, 30) for name in first.sides.values())
        return f"can a hyperplane separate {sides}?"
    each = "each class from the rest" if first.negative is None else "each pair of classes"
    return f"can a hyperplane separate {each}?"


def _short_lines(findings: Sequence[Finding], top: int) -> Iterator[Line]:
    """A line for each of many problems; of very many how the verdicts are, and the first."""
    shown = lines_shown(len(findings), top)
    if shown < len(findings):
        named: dict[str, list[str]] = {}
        for one in findings:
            named.setdefault(verdict_word(one.certificate.verdict), []).append(one.problem.name)
        told = [f"{len(names)} {word}: {listing(names, 3)}" for word, names in named.items()]
        told = told if len(named) > 1 else [f"all {len(findings)} {word}" for word in named]
        yield "verdicts", Group(*map(Text, told))
        findings = sorted(findings, key=lambda one: isinstance(one.certificate, Separable))
    yield from map(_one_line, findings[:shown])
    if shown < len(findings):
        yield "", Text(f"and {len(findings) - shown} more (--top, --json)", "dim")


def _one_line(finding: Finding) -> Line:
    """The shortest report."""
    certificate, problem = finding.certificate, finding.problem
    told = f"{verdict_word(certificate.verdict)}; {_told(certificate, problem)}"
    why = f": {certificate.why}" if isinstance(certificate, Undecided) else ""
    return "", Text(f"{problem.name}: {told}{why}")


def advice(findings: Sequence[Finding]) -> str:
    """What to do next, if there is anything."""
    whys = {f.certificate.why for f in findings if isinstance(f.certificate, Undecided)}
    if Undecided.TIME in whys:
        return "give it more time with --max-time, or as much as it needs without"
    if whys:
        return "leave out columns that nearly depend on others: rounding hides the answer there"
    return "--json shows the evidence for each" if len(findings) > MOST_IN_DETAIL else ""


def _lines_about(finding: Finding, data: EncodedTable, top: int, width: int) -> Iterator[Line]:
    """Named lines for the report on one problem."""
    problem, certificate, names = finding.problem, finding.certificate, data.features
    yield "verdict", verdict_text(certificate.verdict, meaning(certificate))
    if isinstance(certificate, Undecided):
        yield "margin", _told(certificate, problem)
        return
    if isinstance(certificate, Separable):
        yield "margin", _margin(certificate, problem)
    if isinstance(certificate, QuasiSeparable):
        yield "on it", _on(certificate, problem, top)
    if isinstance(certificate, QuasiSeparable | Inseparable):
        yield "proof", _proof(certificate, problem, top, width)
        if not _are_identical(certificate):
            yield "point", _point(certificate.point, names, top)
        if len(finding.twins.pairs) > _are_identical(certificate):
            yield "identical", _twins(finding)
    if isinstance(certificate, Separable | QuasiSeparable):
        plane, classes = certificate.hyperplane, list(problem.sides.values())
        weights = NamedWeights(names, plane.w[np.newaxis], np.array([plane.b]), classes)
        yield "weights", signed_weights(weights, top, width)
    if finding.alone:
        values = {j for group in data.groups for j in group}
        texts = [_alone(one, names, values, problem) for one in finding.alone[:top]]
        rest = len(finding.alone) - len(texts)
        texts += [f"and {rest} more like these (--top)"] if rest else []
        yield "features", Group(*map(Text, texts))
    yield "estimates", _estimates(finding, data, top)
    if finding.chance is not None and finding.chance.at_most > NEGLIGIBLE:
        yield "chance", _chance(finding.chance, *problem.X.shape)


def _margin(certificate: Separable, problem: TwoClasses) -> str:
    """How wide, and which rows are nearest."""
    told = f"{four_digits(certificate.margin)} (of this hyperplane, in the columns' own units)"
    if certificate.exact is not None:
        return f"{told}; so narrow that only fractions tell the sides apart, not floats"
    y, rows = problem.y, problem.rows
    nearest = certificate.hyperplane.support_vectors(problem.X, y).tolist()
    named = listing((f"{rows[k]} ({problem.sides[int(y[k])]})" for k in nearest), 4)
    return f"{told}; nearest: {'rows' if len(nearest) > 1 else 'row'} {named}"


def _on(certificate: QuasiSeparable, problem: TwoClasses, top: int) -> str:
    rows = problem.rows
    off = len(rows) - len(certificate.on)
    named = these_rows(rows[certificate.on], top)
    verb = "is" if len(certificate.on) == 1 else "are"
    return (
        f"{named} {verb} on this hyperplane and on every other such; "
        f"{count(off, 'row')} strictly on {'its' if off == 1 else 'their'} side"
    )


def _proof(
    certificate: QuasiSeparable | Inseparable, problem: TwoClasses, top: int, width: int
) -> RenderableType:
    """The rows whose hulls meet, with their shares and cells."""
    y, weights = problem.y[certificate.support], certificate.weights
    rows, table = problem.rows[certificate.support], problem.table
    sides = [shortened(name, 30) for name in problem.sides.values()]
    cells, names = cells_of(table, np.searchsorted(table.rows, rows)), column_names(table)
    if _are_identical(certificate):
        first, second = of = [sides[int(label > 0)] for label in y]
        said = f"{same_sentence(rows, False, table.some_columns)}, {first} and {second}:"
        told = [[str(row), side] for row, side in zip(rows, of, strict=True)]
        return Group(said, with_cells(("row", "class"), told, cells, names, top, width))
    exact = short_exact_weights(certificate, problem.X, problem.y) or [""] * len(rows)
    shares = [
        text if 0 < len(text) <= SHORT else four_digits(weight)
        for text, weight in zip(exact, weights, strict=True)
    ]
    # The class -1 first, and in each class the largest shares.
    order = sorted(range(len(rows)), key=lambda k: (y[k], -weights[k]))
    members = [Member(int(rows[k]), sides[int(y[k] > 0)], shares[k], cells[k]) for k in order]
    return meeting_rows(members, int((y < 0).sum()), sides, top, width, names)


class Member(NamedTuple):
    """A row of a proof in words: its class, its share, and its cells if they are known."""

    row: int
    side: str
    share: str
    cells: Mapping[str, Any] = {}


def meeting_rows(
    members: Sequence[Member],
    minus: int,
    sides: Sequence[str],
    top: int,
    width: int = 0,
    names: Sequence[str] = (),
) -> RenderableType:
    """A table of rows, their classes and shares; `minus` of them, the first, are of class -1.

    `names` are the columns of which there are cells.
    """
    upper = min(minus, max((top + 1) // 2, top - (len(members) - minus)))
    chosen = [*members[:upper], *members[minus : minus + max(1, top - upper)]]
    told = [[str(one.row), one.side, one.share] for one in chosen]
    heads, cells = ("row", "class", "share"), [one.cells for one in chosen]
    plus = len(members) - minus
    said = (
        f"{count(minus, 'row')} of {sides[0]} and {count(plus, 'row')} of {sides[1]} "
        "have the same weighted mean, and no hyperplane has one point on both sides:"
    )
    rest = len(members) - len(chosen)
    more = [Text(f"and {rest} more (--top)", "dim")] if rest else []
    return Group(Text(said), with_cells(heads, told, cells, names, top, width), *more)


def _twins(finding: Finding) -> str:
    """Rows that nothing tells apart, and how many there are."""
    rows = finding.problem.rows
    pairs = [" and ".join(map(str, sorted((rows[i], rows[j])))) for i, j in finding.twins.pairs]
    where = " in the features used" if finding.problem.table.some_columns else ""
    told = f"rows {pairs[0]} are the same{where} but for their classes"
    if len(pairs) > 1:
        told += f", so are {listing(pairs[1:], 3)}; {count(finding.twins.n_samples, 'row')} in all"
    return told


def _point(point: NDArray[np.float64], names: list[str], top: int) -> str:
    """Where the classes meet, without the coordinates that are 0."""
    there = [f"{shortened(names[j], 30)} {four_digits(x)}" for j, x in enumerate(point) if x != 0]
    zero = len(names) - len(there)
    named = [listing(there, top)] if there else []
    return "; ".join([*named, f"{'the others' if there else 'all'} 0"] if zero else named)


def _alone(one: SingleFeature, names: list[str], values: set[int], problem: TwoClasses) -> str:
    """What one feature alone says; those in `values` are 1 where a text column has this value."""
    name, at = shortened(names[one.feature]), four_digits(one.threshold)
    is_value = one.feature in values
    if float(at) != one.threshold:  # rows may be closer to it than so few digits tell
        at = f"{one.threshold:.10g}"
    up, down = problem.sides[one.above], problem.sides[-one.above]
    if is_value and one.complete:
        return f"{name} alone separates: {up} always, {down} never"
    if is_value:
        there, which = (one.n_above, up) if one.n_above else (one.n_below, down)
        return f"{'' if one.n_above else 'not '}{name}: only {which} ({count(there, 'row')})"
    if one.complete:
        return f"{name} alone separates: {down} below {at}, {up} above"
    sides = (("above", up, one.n_above), ("below", down, one.n_below))
    parts = [f"{where} {at} only {which} ({count(n, 'row')})" for where, which, n in sides if n]
    return f"{name}: {', '.join(parts)}"


def _estimates(finding: Finding, data: EncodedTable, top: int) -> str:
    """What a logistic regression would come to."""
    if isinstance(finding.certificate, Inseparable):
        return "a logistic regression has finite ones"
    if isinstance(finding.certificate, Separable):
        return "a logistic regression has none: every coefficient may run to infinity"
    named = [shortened(name) for name in [*data.features, "(bias)"]]
    running, left_out = finding.estimates
    away = [f"{named[j]} {INFINITY[sign]}" for j, sign in running if sign]
    open_ = [named[j] for j, sign in running if not sign]
    there = {j for j, _ in running}
    firsts = [named[group[0]] for group in data.groups if there & set(group)]
    parts = []
    if away:
        parts.append(f"no finite one for {count(len(away), 'coefficient')}: {listing(away, top)}")
    if open_:
        parts.append(f"{listing(open_, top)} may run to infinity, either way, or settle")
    if firsts:
        parts[-1] += f" (text values against {listing(firsts, 3)})"
    if len(running) + len(left_out) + len(data.groups) < len(named):
        parts.append("the others are finite")
    if left_out:
        parts.append(f"{listing((named[j] for j in left_out), 3)} left out as sums of others")
    has = "has " if away else "does not have all of them finite: "
    of = f"a logistic regression for {shortened(finding.problem.positive, 30)}"
    return f"{of} {has}{'; '.join(parts)}"


def _chance(chance: Chance, n: int, d: int) -> str:
    """How little a separation says where random labels would have been separable, too."""
    different = f" ({chance.n_distinct} different)" if chance.n_distinct < n else ""
    size = f"with {count(n, 'row')}{different} and {count(d, 'feature')}"
    if chance.any_labels:
        return f"{size} any labels would be separable: this says little"
    if chance.at_most >= 1:
        return f"{size} very many labels would be separable: this may say little"
    little = ": this may say little" if chance.at_most > 0.05 else ""
    share = four_digits(chance.at_most)
    return f"{size} random labels would be separable with probability at most {share}{little}"
