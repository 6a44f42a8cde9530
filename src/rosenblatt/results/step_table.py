"""A run as a table, update after update, to be set beside a calculation by hand."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt import arguments
from rosenblatt.visible import count, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rosenblatt.array_types import Floats, Ints

FEATURES = 6  # whose weights people are shown
MISTAKES = 6  # of one update that they are shown
EXACT = 1e15  # below it whole numbers are written with all their digits
FORMATS = ("text", "csv", "markdown", "latex")


class StepLine(NamedTuple):
    """One update: the mistakes that make it up, what it adds to ``(w, b)``, and what comes of it.

    `angle` is that between ``(w, b)`` and the vector aimed at, in degrees. The start has no
    mistakes, and where nothing is known of weights there are none.
    """

    step: int
    epoch: int
    samples: Ints
    signs: Ints
    values: Floats
    change: Floats
    theta: Floats
    angle: float | None


@dataclass(frozen=True, eq=False, repr=False)
class StepTable:
    """The updates of a run, a line for each; ``print`` shows it, and a notebook does.

    Attributes
    ----------
    lines : tuple of StepLine
        The start, where weights are known, and every update: ``step``, ``epoch``, the ``samples``
        that were mistakes with their ``signs`` (y) and decision ``values``, the ``change`` of
        ``(w, b)``, ``theta``, which is ``(w, b)`` after it, and the ``angle``.
    names : tuple of str
        The features.
    fit_intercept : bool
        Whether there is a bias to show.
    counted : str
        What the numbers of the samples are: "sample", from 0, or "row", as a file counts.
    notes : tuple of str
        Sentences below the table.
    """

    lines: tuple[StepLine, ...]
    names: tuple[str, ...]
    fit_intercept: bool
    counted: str = "sample"
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)

    def to(self, format: str = "text", top: int | None = FEATURES) -> str:
        """The table as "text", "csv", "markdown" or "latex".

        Parameters
        ----------
        format : {"text", "csv", "markdown", "latex"}
        top : int, optional
            How many features to show, those with the largest weights at the end; None: all. CSV
            always has all of them, and all digits of every number.
        """
        arguments.one_of("format", format, FORMATS)
        if top is not None:
            arguments.positive_int("top", top, hint=", or None for all")
        if format == "csv":
            return self._csv()
        make: dict[str, Callable[[_Shown], str]] = {
            "text": _text,
            "markdown": _markdown,
            "latex": _latex,
        }
        return make[format](self._shown(top, _in_latex if format == "latex" else _short))

    def __repr__(self) -> str:
        return f"<StepTable: {count(len(self), 'line')}, {count(len(self.names), 'feature')}>"

    def __str__(self) -> str:
        return self.to("text").rstrip("\n")

    def _repr_html_(self) -> str:
        return _html(self._shown(FEATURES, _short))

    def with_notes(self, *notes: str) -> StepTable:
        """The same with these sentences below it."""
        return replace(self, notes=notes)

    def _shown(self, top: int | None, write: Callable[[float], str]) -> _Shown:
        """The cells as people are to see them."""
        weighted, angles = bool(self.lines and self.lines[0].theta.size), self._has_angles()
        chosen, notes = self._chosen(top), list(self.notes)
        header = ["step", "epoch", self.counted, "y", "value"]
        if weighted:
            header += ["added to w", "to b", "w", "b"] if self.fit_intercept else ["added", "w"]
        header += ["angle"] if angles else []
        cells = [_mistakes(line, write) for line in self.lines]
        if weighted:
            hidden = len(self.names) - len(chosen)
            columns = [
                _vectors([line.change for line in self.lines], chosen, hidden, write),
                [write(line.change[-1]) if line.step else "" for line in self.lines],
                _vectors([line.theta for line in self.lines], chosen, hidden, write),
                [write(line.theta[-1]) for line in self.lines],
            ]
            columns = columns if self.fit_intercept else columns[::2]
            for row, *more in zip(cells, *columns, strict=True):
                row.extend(more)
            named = ", ".join(visible(self.names[j]) for j in chosen)
            others = f", and {hidden} with smaller weights that are not shown" if hidden else ""
            notes.insert(0, f"w = ({named}){others}")
        if angles:
            for row, line in zip(cells, self.lines, strict=True):
                row.append("" if line.angle is None else f"{line.angle:.2f}°")
        return _Shown(header, cells, tuple(notes))

    def _has_angles(self) -> bool:
        return any(line.angle is not None for line in self.lines)

    def _chosen(self, top: int | None) -> list[int]:
        """The features to show, in their order."""
        if top is None or len(self.names) <= top or not self.lines:
            return list(range(len(self.names)))
        size = np.abs(self.lines[-1].theta[:-1])
        return sorted(np.argsort(-size, kind="stable")[:top].tolist())

    def _csv(self) -> str:
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        header = ["step", "epoch", self.counted, "y", "value"]
        names = [*self.names, "bias"] if self.fit_intercept else list(self.names)
        weighted = bool(self.lines and self.lines[0].theta.size)
        if weighted:
            header += [*(f"added to {name}" for name in names), *names]
        header += ["angle"] if self._has_angles() else []
        writer.writerow(header)
        for line in self.lines:
            row = [str(line.step), str(line.epoch) if line.step else ""]
            row += [" ".join(map(_whole, part)) for part in (line.samples, line.signs, line.values)]
            if weighted:
                d = len(names)
                row += [_whole(x) for x in line.change[:d]] or [""] * d
                row += [_whole(x) for x in line.theta[:d]]
            if self._has_angles():
                row.append("" if line.angle is None else repr(line.angle))
            writer.writerow(row)
        return file.getvalue()


def angle_between(a: Floats, b: Floats) -> float | None:
    """The angle between two vectors in degrees; None if one of them is zero."""
    if not a.any() or not b.any():
        return None
    a, b = a / np.abs(a).max(), b / np.abs(b).max()  # whose squares cannot overflow
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    # More exact than the arc cosine where the angle is small.
    return math.degrees(2 * math.atan2(np.linalg.norm(a - b), np.linalg.norm(a + b)))


# Cells ------------------------------------------------------------------------------------------


class _Shown(NamedTuple):
    """A header, cells, and what is said below."""

    header: list[str]
    cells: list[list[str]]
    notes: tuple[str, ...]


def _whole(x: Any) -> str:
    """A number with all its digits; a whole one without a point."""
    x = float(x)
    return str(int(x)) if abs(x) < EXACT and x == int(x) else repr(x)


def _short(x: float) -> str:
    """The same in four digits, unless it is whole."""
    text = _whole(x)
    return f"{x:.4g}" if "." in text or "e" in text else text


def _in_latex(x: float) -> str:
    digits, _, power = _short(x).partition("e")
    return f"{digits} \\cdot 10^{{{int(power)}}}" if power else digits


def _mistakes(line: StepLine, write: Callable[[float], str]) -> list[str]:
    """The first cells of a line."""
    if not line.step:
        return ["0", "", "", "", ""]
    shown = slice(MISTAKES)
    parts = [
        [str(int(i)) for i in line.samples[shown]],
        [f"{int(y):+d}" for y in line.signs[shown]],
        [write(value) for value in line.values[shown]],
    ]
    rest = len(line.samples) - MISTAKES
    if rest > 0:
        parts[0].append(f"{rest} more")
    return [str(line.step), str(line.epoch), *(", ".join(part) for part in parts)]


def _vectors(
    vectors: Sequence[Floats], chosen: list[int], hidden: int, write: Callable[[float], str]
) -> list[str]:
    """Vectors in brackets, one below the other, those parts that are chosen."""
    texts = [[write(v[j]) for j in chosen] if v.size else [] for v in vectors]
    widths = [max((len(t[k]) for t in texts if t), default=0) for k in range(len(chosen))]
    more = ", …" if hidden else ""
    return [
        "(" + ", ".join(x.rjust(w) for x, w in zip(t, widths, strict=True)) + more + ")"
        if t
        else ""
        for t in texts
    ]


# Formats ----------------------------------------------------------------------------------------


def _text(shown: _Shown) -> str:
    rows = [shown.header, *shown.cells]
    widths = [max(len(row[j]) for row in rows) for j in range(len(shown.header))]
    lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([line.rstrip() for line in [*lines, *shown.notes]]) + "\n"


def _markdown(shown: _Shown) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(re.sub(r"([|\\`*_<>])", r"\\\1", c) for c in cells) + " |"

    rule = "|" + "|".join(["---:"] * len(shown.header)) + "|"
    table = [line(shown.header), rule, *(line(row) for row in shown.cells)]
    below = [re.sub(r"([\\`*_<>])", r"\\\1", note) for note in shown.notes]
    return "\n".join([*table, *(f"\n{note}" for note in below)]) + "\n"


def _latex(shown: _Shown) -> str:
    def cell(text: str) -> str:
        maths = (
            text.replace("°", r"^\circ").replace("…", r"\ldots").replace("more", r"\mathrm{ more}")
        )
        return f"${maths}$" if maths else ""

    names = {"w": "$w$", "b": "$b$", "y": "$y$"}
    header = [names.get(h, h.replace(" w", " $w$").replace(" b", " $b$")) for h in shown.header]
    lines = [f"\\begin{{tabular}}{{{'r' * len(header)}}}", r"\hline"]
    lines += [" & ".join(header) + r" \\", r"\hline"]
    lines += [" & ".join(map(cell, row)) + r" \\" for row in shown.cells]
    comments = [f"% {note}" for note in shown.notes]
    return "\n".join([*lines, r"\hline", r"\end{tabular}", *comments]) + "\n"


def _html(shown: _Shown) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    body = "".join(row(cells, "td") for cells in shown.cells)
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in shown.notes)
    return f"<table><thead>{row(shown.header, 'th')}</thead><tbody>{body}</tbody></table>{notes}"
