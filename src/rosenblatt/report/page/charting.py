"""Pictures as shapes and labels, which a template turns into SVG.

Colours are names of classes in the style sheet, so that one picture serves the light, the dark
and print. Every picture has a title and a description in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT = 360, 216
LEFT, RIGHT, TOP, BOTTOM = 42, 12, 22, 36
SERIES = 6  # that have a colour of their own
MOST_LINES = 40  # of classes in one picture


@dataclass(frozen=True)
class Shape:
    """A path and how it looks."""

    d: str
    kind: str


@dataclass(frozen=True)
class Label:
    """A text, and where it begins, ends or has its middle."""

    x: float
    y: float
    text: str
    kind: str = ""


@dataclass
class Picture:
    """What is drawn, and in words what there is to see."""

    name: str
    title: str
    description: str
    width: float = WIDTH
    height: float = HEIGHT
    shapes: list[Shape] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    legend: list[tuple[str, str]] = field(default_factory=list)  # how it looks, what it is

    def draw(self, d: str, kind: str) -> None:
        """Add a shape."""
        self.shapes.append(Shape(d, kind))

    def write(self, x: float, y: float, text: str, kind: str = "") -> None:
        """Add a label."""
        self.labels.append(Label(round(x, 1), round(y, 1), text, kind))


@dataclass(frozen=True)
class Scale:
    """From numbers to places."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a number."""
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)


def across(low: float, high: float, width: float = WIDTH, left: float = LEFT) -> Scale:
    """A horizontal scale."""
    return Scale(low, high, left, width - RIGHT)


def upward(low: float, high: float, height: float = HEIGHT) -> Scale:
    """A vertical scale."""
    return Scale(low, high, height - BOTTOM, TOP)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """A few round numbers from `low` to `high`."""
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [low]
    step = 10.0 ** math.floor(math.log10(span / (most + 1)))
    step = next(step * k for k in (1, 2, 5, 10, 20) if span / (step * k) < most + 1)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def short(value: float) -> str:
    """A number on an axis: ``0.25``, ``1,000``, ``20k``, ``3M``."""
    size = abs(value)
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= 10 * unit or (size >= unit and unit > 1e3):
            return f"{value / unit:g}{letter}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


def share(value: float) -> str:
    """A share on an axis."""
    return f"{100 * value:.3g}%"


def path(points: Iterable[tuple[float, float]]) -> str:
    """A line through points."""
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def box(x: float, y: float, width: float, height: float) -> str:
    """A rectangle."""
    return f"M{x:.1f},{y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}z"


def dot(x: float, y: float, r: float) -> str:
    """A circle."""
    return f"M{x - r:.1f},{y:.1f}a{r},{r} 0 1,0 {2 * r},0a{r},{r} 0 1,0 {-2 * r},0z"


def axes(
    picture: Picture,
    x: Scale,
    y: Scale,
    names: tuple[str, str],
    *,
    x_text: Callable[[float], str] = short,
    y_text: Callable[[float], str] = short,
    x_ticks: Sequence[float] | None = None,
    y_ticks: Sequence[float] | None = None,
) -> None:
    """Draw both axes with their numbers and names, and faint lines across."""
    floor = picture.height - BOTTOM
    for value in ticks(y.low, y.high, 4) if y_ticks is None else y_ticks:
        at = y(value)
        picture.draw(path([(x.start, at), (x.end, at)]), "rule")
        picture.write(x.start - 5, at + 3.5, y_text(value), "end tick")
    for value in ticks(x.low, x.high) if x_ticks is None else x_ticks:
        at = x(value)
        picture.draw(path([(at, floor), (at, floor + 3)]), "axis")
        picture.write(at, floor + 14, x_text(value), "middle tick")
    picture.draw(path([(x.start, floor), (x.end, floor)]), "axis")
    picture.write((x.start + x.end) / 2, picture.height - 5, names[0], "middle name")
    picture.write(0, 10, names[1], "name")
