"""What an encoder made of the columns of a table, in lines that a reader would want to know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rosenblatt.report.sentences import listing, shortened
from rosenblatt.tables.free_text import MOST_WORDS
from rosenblatt.visible import count

# What is made of missing cells, by what there is to say of a column.
FILLED = {"mean": "the mean", "values": "a value of their own", "words": "texts without words"}


def notes_about(encoder: Any) -> list[str]:
    """What the encoder did that a reader would want to know."""
    reasons: dict[str, list[str]] = {}
    for spec in encoder.columns_:
        if "dropped" in spec:
            reasons.setdefault(spec["dropped"], []).append(spec["name"])
    notes = [f"left out: {listing(names)} ({reason})" for reason, names in reasons.items()]
    used = [spec for spec in encoder.columns_ if "dropped" not in spec]
    notes += [_note_on_dates(spec) for spec in used if spec["kind"] == "date"]
    filled = [spec for spec in used if spec["name"] in encoder.n_missing_]
    for part, what in FILLED.items():
        names = [s["name"] for s in filled if part in s]
        if names:
            cells = listing(f"{name} ({encoder.n_missing_[name]})" for name in names)
            notes.append(f"missing cells, taken as {what}: {cells}")
    return notes + [_note_on_words(spec) for spec in encoder.columns_ if "words" in spec]


def _note_on_dates(spec: Mapping[str, Any]) -> str:
    parts = [part["name"].rpartition(":")[2] for part in spec.get("parts", ())]
    more = f", with {listing(parts)}" if parts else ""
    return f"{shortened(spec['name'])}: days since 1970{more}"


def _note_on_words(spec: Mapping[str, Any]) -> str:
    """How many words of a column became features."""
    what = f"{shortened(spec['name'])}: {count(len(spec['idf']), 'word')} as features (TF-IDF)"
    if not spec["left_out"]:
        return what
    many = len(spec["idf"]) == MOST_WORDS
    why = f"only the {MOST_WORDS} in most rows are kept" if many else "they stand in a single row"
    return f"{what}; {count(spec['left_out'], 'other word')} left out, for {why}"
