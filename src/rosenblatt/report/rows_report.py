"""Rows with their cells as small tables for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from rosenblatt.report.rows import Cells, JudgedRow, ProofTable, RowsFacts
from rosenblatt.report.sentences import four_digits, shortened, told_apart, verdict_word
from rosenblatt.report.terminal import Line, columns
from rosenblatt.visible import count

LONGEST = 24  # characters of a cell
LONGEST_NAME = 18  # of a class or a column
MISSING = "missing"
MOST_PROOFS = 3  # problems whose proofs are shown


def cell_text(value: Any) -> str:
    """A cell in one short line: whole numbers in full, others in six digits."""
    if value is None:
        return MISSING
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}" if isinstance(value, float) else shortened(value, LONGEST)


def rows_lines(facts: RowsFacts, top: int, width: int) -> Iterator[Line]:
    """Named lines about single rows: of proofs, close to the boundary, and wrong."""
    for proof in facts.proofs[:MOST_PROOFS]:
        yield "proof", proof_table(proof, facts.columns, top, width)
    if facts.closest:
        yield "closest", _judged(facts.closest, facts.columns, top, width)
    if facts.errors:
        rest = facts.wrong - len(facts.errors)
        more = [Text(f"{count(rest, 'more row')} wrong, by less (--rows)", "dim")] * (rest > 0)
        yield "wrong", Group(_judged(facts.errors, facts.columns, top, width), *more)


def _judged(
    rows: Sequence[JudgedRow], names: Sequence[str], top: int, width: int
) -> RenderableType:
    named = told_apart((name for one in rows for name in (one.label, one.predicted)), LONGEST_NAME)
    told = [
        [str(one.row), named[one.label], named[one.predicted], four_digits(one.lead)]
        for one in rows
    ]
    heads = ["row", "class", "taken for", "lead"]
    return with_cells(heads, told, [one.cells for one in rows], names, top, width)


def proof_table(proof: ProofTable, names: Sequence[str], top: int, width: int) -> RenderableType:
    """The rows that prove a verdict, so many of them."""
    shown = proof.rows[:top]
    heads, known = ["row", "class"], all(one.share is not None for one in shown)
    named = told_apart((one.label for one in shown), LONGEST_NAME)
    told = [[str(one.row), named[one.label]] for one in shown]
    if known:
        heads.append("share")
        told = [
            [*line, four_digits(one.share or 0.0)] for line, one in zip(told, shown, strict=True)
        ]
    of = "" if proof.positive is None else f"{shortened(proof.positive)} against the rest, "
    rest = len(proof.rows) - len(shown)
    more = [Text(f"and {count(rest, 'more row')} (--top)", "dim")] * (rest > 0)
    head = Text(f"{of}{verdict_word(proof.verdict)} by {count(len(proof.rows), 'row')}:")
    cells = [one.cells for one in shown]
    return Group(head, with_cells(heads, told, cells, names, top, width), *more)


def with_cells(
    heads: Sequence[str],
    told: Sequence[Sequence[str]],
    cells: Sequence[Cells],
    names: Sequence[str],
    top: int,
    width: int,
) -> RenderableType:
    """A table of what is told of rows and of their cells, as many columns as there is room for.

    `names` are the columns of the cells, the first ones first; without any, as of a sparse table,
    those that most of the rows have.
    """
    if not names:
        names = [name for name, _ in Counter(name for one in cells for name in one).most_common()]
    lines = [heads, *told]
    room = width - sum(max(map(len, column)) + 2 for column in zip(*lines, strict=True))
    chosen = list[tuple[str, str, list[str]]]()  # a column's name, side and cells
    for name in names[:top]:
        values = [one.get(name, 0.0) for one in cells]
        texts, head = list(map(cell_text, values)), shortened(name, LONGEST_NAME)
        wide = max(map(len, [*texts, head])) + 2
        if wide > room and chosen:
            break
        room -= wide
        numbers = all(value is None or isinstance(value, int | float) for value in values)
        chosen.append((head, "right" if numbers else "left", texts))
    sides = ["right", *["left"] * (len(heads) - 1), *(side for _, side, _ in chosen)]
    table = columns(*sides)
    table.add_row(*(Text(text, "dim") for text in [*heads, *(name for name, _, _ in chosen)]))
    for k, line in enumerate(told):
        table.add_row(*map(Text, [*line, *(texts[k] for _, _, texts in chosen)]))
    rest = len(names) - len(chosen)
    more = f"{count(rest, 'more column')} not shown"
    return Group(table, Text(more, "dim")) if rest else table
