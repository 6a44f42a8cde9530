"""What the command says, on standard output and error: nothing in it acts on the terminal."""

from __future__ import annotations

import sys
from typing import Any

from rosenblatt.visible import json_text, visible

PLAIN = str.maketrans(
    {"→": ">", "█": "#", "▏": "|", "±": "~", "…": "~", "‖": "|", "½": "0.5", "²": "^2"}
    | {"Σ": "sum ", "ξ": "slack", "∞": "inf", "·": "*"}
)


def print_line(text: str, *, error: bool = False) -> None:
    """One line, whatever the names in it hold."""
    print_styled(f"{visible(text)}\n", error=error)


def print_styled(text: str, *, error: bool = False) -> None:
    """Print as it is, colours included, but for letters that the stream does not know."""
    stream = sys.stderr if error else sys.stdout
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(PLAIN).encode(encoding, "replace").decode(encoding)
    stream.write(text)


def print_json(document: Any) -> None:
    """Print for a script, in UTF-8 wherever this is."""
    print_data(json_text(document))


def print_data(text: str) -> None:
    """Print what is not for a terminal but for a program."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)
