"""Text that can be shown: characters that would act on a terminal, or hide, are spelled out."""

from __future__ import annotations

import json
import math
from typing import Any
from unicodedata import category

# Controls, formats (bidirectional overrides, zero widths), lone surrogates, line separators.
UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
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
