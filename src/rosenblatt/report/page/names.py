"""Names inside sentences, so that none of them turns what stands around it."""

from __future__ import annotations

from typing import Any
from unicodedata import bidirectional

from rosenblatt.report.sentences import shortened

LEFTWARD = {"R", "AL", "AN"}
ISOLATE, END = "\u2068", "\u2069"


def isolated(name: Any, width: int = 40) -> str:
    """A name in one line; one that is written from right to left keeps to itself."""
    text = shortened(name, width)
    if any(bidirectional(c) in LEFTWARD for c in text):
        return f"{ISOLATE}{text}{END}"
    return text
