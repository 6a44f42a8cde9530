"""Lines with names, printed as wide as the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from rosenblatt.report.printing import print_styled
from rosenblatt.report.verdict_sentences import verdict_word
from rosenblatt.results import Verdict
from rosenblatt.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

LEAST_WIDTH = 60


def new_console() -> Console:
    """Standard output as wide as the terminal."""
    # Names may hold what Rich would take for markup; and no number must ever be cut off.
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = max(console.width, LEAST_WIDTH)
    return console


def new_grid(width: int | None = None) -> Table:
    """Lines with a name in front, which takes at least this width."""
    lines = Table.grid(padding=(0, 2, 0, 0))
    lines.add_column(style="dim", no_wrap=True, min_width=width)
    lines.add_column(overflow="fold")
    return lines


def print_parts(console: Console, *parts: RenderableType) -> None:
    """Print to standard output, whatever letters it knows."""
    with console.capture() as captured:
        for part in parts:
            seen = (
                Segment(visible(segment.text, keep="\n"), segment.style, segment.control)
                for segment in console.render(part)
            )
            console.print(Segments(seen), end="", crop=False)
    # Columns are padded to their width; no text should end in blanks.
    print_styled("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))


def verdict_text(verdict: Verdict, sentence: str, after: str = "") -> Text:
    """The verdict in colour, after what was done to the numbers, and what it means."""
    style = "green" if verdict is Verdict.SEPARABLE else "yellow"
    return Text.assemble((verdict_word(verdict), f"bold {style}"), f"{after}: {sentence}")


def add_last_lines(lines: Table, notes: Sequence[str], advice: str) -> None:
    """What else is worth knowing, and what to do next."""
    for k, note in enumerate(notes):
        lines.add_row("notes" if k == 0 else "", Text(note, style="dim"))
    if advice:
        lines.add_row("next", Text(advice, style="italic"))
