"""What can be shown: characters that would act on a terminal, or hide, are spelled out.

Amounts as people write them; and printing, on standard output and error, whatever letters they
know.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any
from unicodedata import category

# Controls, formats (bidirectional overrides, zero widths), lone surrogates, line separators.
UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
PLAIN = str.maketrans(
    {"→": ">", "█": "#", "▏": "|", "±": "~", "…": "~", "‖": "|", "½": "0.5", "²": "^2"}
    | {"Σ": "sum ", "ξ": "slack", "∞": "inf", "·": "*", "°": " deg"}
)
JOINERS = "\u200c\u200d"  # Persian, Hindi and emoji are written with these


def visible(text: str, keep: str = "") -> str:
    r"""The text with an escape character as ``\x1b``, a line break as ``\n`` and so on.

    Those in `keep` stay. Letters of every script do, and so do blanks.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c in keep or not _is_unseen(c) else c.encode("unicode_escape").decode() for c in text
    )


def grouped(n: float) -> str:
    """A whole number, from ten thousand on with its thousands apart: ``1372``, ``32,561``."""
    text = f"{round(n):,}" if abs(n) >= 10_000 else f"{n:.0f}"
    return text.replace("-", "−")


def count(n: int, noun: str, plural: str | None = None) -> str:
    """``1 row``, ``344 rows``, ``32,561 rows``."""
    return f"{grouped(n)} {noun if n == 1 else plural or noun + 's'}"


def size_in_words(n_bytes: float) -> str:
    """``512 bytes``, ``1.5 MB``, ``82 GB``."""
    size, unit = float(n_bytes), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.3g} {unit}" if size < 999.5 else f"{size:.0f} {unit}"


def json_text(document: Any) -> str:
    """A document as JSON, indented, that every reader takes and every terminal can show.

    What is not finite, for which JSON has no number, is null.
    """
    text = json.dumps(_finite(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or not _is_unseen(c) else _as_json(c) for c in text)


def _is_unseen(c: str) -> bool:
    return not c.isprintable() and c not in JOINERS and category(c) in UNSEEN


def _as_json(c: str) -> str:
    r"""``\u202e``: one such number for every 16 bits."""
    units = c.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Printing ---------------------------------------------------------------------------------------


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
