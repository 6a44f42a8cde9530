"""Numbers, amounts and names as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from rosenblatt.visible import visible


def count(n: int, noun: str, plural: str | None = None) -> str:
    """``1 row``, ``344 rows``, ``32,561 rows``."""
    return f"{grouped(n)} {noun if n == 1 else plural or noun + 's'}"


def grouped(n: int) -> str:
    """A whole number with its thousands apart."""
    return f"{n:,}" if abs(n) >= 10_000 else str(n)


def percent(share: float) -> str:
    """A share as a percentage; never rounded up to 100% or down to 0%."""
    text = f"{100 * share:.1f}"
    if share < 1 and text == "100.0":
        text = "over 99.9"
    if share > 0 and text == "0.0":
        text = "under 0.1"
    return f"{text}%"


def shortened(name: Any, width: int = 40) -> str:
    """A name in one line and not longer than this, with its middle left out."""
    text = visible(str(name))
    if len(text) <= width:
        return text
    head = (width - 1) // 2 + (width - 1) % 2
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def listing(names: Iterable[Any], most: int = 6) -> str:
    """Names with commas, and how many more there are."""
    shown = [shortened(name) for name in names]
    rest = len(shown) - most
    return ", ".join(shown if rest <= 0 else [*shown[:most], f"and {rest} more"])


def number(x: float) -> str:
    """Four significant digits."""
    return f"{x:.4g}"


def suggestion(wrong: str, names: Sequence[str]) -> str:
    """`` Did you mean 'species'?``, or nothing."""
    near = get_close_matches(wrong, names, 1, 0.6)
    return f" Did you mean {near[0]!r}?" if near else ""
