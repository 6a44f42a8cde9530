"""Rows with their cells, as tables: those of a proof, close ones, wrong ones, suspects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rosenblatt.report.page.facts import PageFacts
from rosenblatt.report.rows import JudgedRow, ProofTable, ProvingRow
from rosenblatt.report.sentences import four_digits, percent
from rosenblatt.report.suspicion_report import why
from rosenblatt.results import Verdict
from rosenblatt.visible import count, grouped

MOST_CELLS = 12  # columns
MOST_ROWS = 10
MOST_PROOFS = 6


class ShownRow(NamedTuple):
    """A row: its number, what is told of it, its cells."""

    row: int
    told: tuple[str, ...]
    cells: Mapping[str, Any]


@dataclass(frozen=True)
class RowTable:
    """Rows under a heading; `numeric` columns are set to the right."""

    title: str
    told: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    numeric: Mapping[str, bool]
    rows: tuple[ShownRow, ...]
    rest: str = ""


@dataclass(frozen=True)
class ShownProof:
    """The rows that prove a verdict on a class against the rest, or on all (None)."""

    positive: str | None
    told: str
    rows: tuple[ProvingRow, ...]
    shares: bool
    columns: tuple[str, ...]
    numeric: Mapping[str, bool]


def row_tables(s: PageFacts) -> list[RowTable]:
    """All that a page has, but for proofs."""
    return [*_judged(s), *_suspects(s)]


def _judged(s: PageFacts) -> Iterator[RowTable]:
    """Rows close to the boundary, and wrong ones."""
    found = s.rows
    if found is None:
        return
    if found.errors:
        told = f"{count(found.wrong, 'row')} of training are wrong; these by most."
        yield _of_rows("The worst errors", told, found.errors, found.columns, found.wrong)
    if found.closest:
        near = "A little change in a cell may turn the answer to these."
        yield _of_rows("Closest to the boundary", near, found.closest, found.columns, 0)


def _of_rows(
    title: str, told: str, rows: Sequence[JudgedRow], columns: Sequence[str], total: int
) -> RowTable:
    shown = rows[:MOST_ROWS]
    found = tuple(
        ShownRow(one.row, (one.label, one.predicted, _lead(one.lead)), one.cells) for one in shown
    )
    names, rest = _columns(columns, found)
    more = total - len(shown)
    rest = [*([f"{count(more, 'more row')} not shown"] if more > 0 else []), *rest]
    return RowTable(
        title,
        told,
        ("class", "taken for", "lead of its class"),
        names,
        _numeric(names, (one.cells for one in found)),
        found,
        _sentence(rest),
    )


def _lead(lead: float) -> str:
    return four_digits(lead).replace("-", "−")


def _suspects(s: PageFacts) -> Iterator[RowTable]:
    found = s.suspects
    if found is None:
        return
    n = len(found.suspects)
    share = f"{grouped(n)} ({percent(n / found.rows)})" if n else "none"
    has = "has" if n < 2 else "have"
    told = (
        f"Of {count(found.rows, 'row')}, {share} {has} a class that is suspicious: a hyperplane "
        "and a kernel perceptron that have not seen the row both take it for another, "
        "or identical rows have another."
    )
    rows = tuple(
        ShownRow(one.row, (one.given, one.rather, "; ".join(why(one, found.epochs))), one.cells)
        for one in found.suspects[:MOST_ROWS]
    )
    names, rest = _columns(found.columns, rows)
    rest = [*([f"{count(n - MOST_ROWS, 'more row')} not shown"] if n > MOST_ROWS else []), *rest]
    heads = ("class", "rather", "why")
    numeric = _numeric(names, (one.cells for one in rows))
    title = "Rows whose class is suspicious"
    yield RowTable(title, told, heads, names, numeric, rows, _sentence(rest))


def proof_tables(s: PageFacts) -> list[ShownProof]:
    """The rows that prove that nothing separates the classes."""
    if s.rows is None:
        return []
    found = []
    for proof in s.rows.proofs[:MOST_PROOFS]:
        cells = [one.cells for one in proof.rows]
        given = s.rows.columns or tuple(dict.fromkeys(name for one in cells for name in one))
        columns = tuple(given[:MOST_CELLS])
        shares = any(one.share is not None for one in proof.rows)
        found.append(
            ShownProof(
                proof.positive,
                _why(proof, shares),
                proof.rows,
                shares,
                columns,
                _numeric(columns, cells),
            )
        )
    return found


def _why(proof: ProofTable, shares: bool) -> str:
    """Why these rows prove it."""
    if proof.verdict is Verdict.UNDECIDED or len(proof.rows) == 2:
        return "These rows are the same in all features, and have different classes."
    if not shares:
        return "No hyperplane has all of these rows on their sides."
    touch = "touch" if proof.verdict is Verdict.QUASI_SEPARABLE else "meet"
    return (
        f"The hulls of the two sides {touch}: the mean of the rows of one side, with these "
        "weights, is the very same point as that of the other, and no hyperplane has a point on "
        "both its sides. It was checked in exact arithmetic."
    )


def _columns(given: Sequence[str], rows: Sequence[ShownRow]) -> tuple[tuple[str, ...], list[str]]:
    """The columns to show; of a sparse table those of the first rows."""
    names = tuple(given) or tuple(dict.fromkeys(name for one in rows for name in one.cells))
    more = len(names) - MOST_CELLS
    return names[:MOST_CELLS], [f"{count(more, 'more column')} not shown"] if more > 0 else []


def _numeric(names: Iterable[str], cells: Iterable[Mapping[str, Any]]) -> dict[str, bool]:
    every = list(cells)
    return {
        name: all(isinstance(one.get(name), int | float | None) for one in every) for name in names
    }


def _sentence(parts: Sequence[str]) -> str:
    return f"{'; '.join(parts)}." if parts else ""
