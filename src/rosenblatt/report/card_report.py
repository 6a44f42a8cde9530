"""A model's card in words: what made it from what, and how it differs from another's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean, stdev
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from rosenblatt.report.differences import SECTIONS, ModelDifferences, WeightChanges
from rosenblatt.report.facts import FitFacts
from rosenblatt.report.sentences import four_digits, listing, percent, shortened, verdict_word
from rosenblatt.report.terminal import Line, columns, new_console, print_lines
from rosenblatt.results import Verdict
from rosenblatt.visible import count

NAMES = {
    "rosenblatt": "rosenblatt",
    "python": "Python",
    "numpy": "NumPy",
    "scikit-learn": "scikit-learn",
    "numba": "Numba",
}
DIGITS = 12  # of a fingerprint that are shown: enough to tell tables apart
NOTHING = "–"
ARROW = "→"


def card_lines(facts: FitFacts, versions: Mapping[str, str]) -> Iterator[Line]:
    """Named lines on what made a model."""
    if facts.table is not None and facts.table.fingerprint:
        print_ = _short(facts.table.fingerprint)
        yield "table", f"{print_}, the fingerprint of the values it learned from"
    if facts.command:
        yield "command", Text(facts.command)
    when = "" if facts.table is None else f"{facts.table.trained[:16].replace('T', ' ')} UTC, "
    yield "made", f"{when}with {', '.join(f'{_name(k)} {v}' for k, v in versions.items())}"


def _name(name: str) -> str:
    return NAMES.get(name, name)


def _short(fingerprint: str) -> str:
    head, _, digits = fingerprint.partition(":")
    return f"{head}:{digits[:DIGITS]}…" if len(digits) > DIGITS else fingerprint


def print_differences(found: ModelDifferences, top: int) -> None:
    """Print them to standard output."""
    first, second = (shortened(name, 60) for name in found.files)
    if found.same:
        what = "kind, parameters, data, verdict, evaluation, versions and weights"
        print_lines(f"{first} and {second} are the same model", [("same", what)])
        return
    lines = [
        (section, table)
        for section in SECTIONS
        if (table := _section(found, section, top)) is not None
    ]
    if found.weights is not None:
        lines.append(("weights", _weights(found.weights, top)))
    print_lines(f"{first} {ARROW} {second}", lines)


def _section(found: ModelDifferences, section: str, top: int) -> RenderableType | None:
    those = [one for one in found.differences if one.about == section]
    if not those:
        return None
    names = [shortened(one.name.replace("_", " "), 32) for one in those[:top]]
    room = (new_console().width - 18 - max(map(len, names))) // 2
    table = columns("left", "left")
    for name, one in zip(names, those, strict=False):
        none = "default" if section == "parameters" else NOTHING
        told = [shortened(_value(one.name, value, none), room) for value in (one.first, one.second)]
        if told[0] == told[1]:  # but for more digits
            told = [
                f"{x:.8g}" if isinstance(x, float) else told[0] for x in (one.first, one.second)
            ]
        table.add_row(Text(name, "dim"), f" {ARROW} ".join(told))
    rest = len(those) - top
    more = [Text(f"and {count(rest, 'more difference')} (--top)", "dim")] * (rest > 0)
    return Group(table, *more)


def _value(name: str, value: Any, none: str = "none") -> str:
    """What stands in a summary, in a few characters."""
    if value is None:
        return none
    if name == "fingerprint":
        return _short(value)
    if name == "verdicts":
        return listing(dict.fromkeys(verdict_word(Verdict[one]) for one in value))
    if name == "cross_validation":
        spread = f" ± {100 * stdev(value):.1f}" if len(value) > 1 else ""
        return f"{percent(fmean(value))}{spread}" if value else "none"
    if isinstance(value, float):
        return four_digits(value)
    if isinstance(value, list):
        if any(isinstance(one, dict | list) for one in value):
            return count(len(value), "entry", "entries")
        return listing((_value("", one) for one in value), 4) or "none"
    return str(value)


def _weights(found: WeightChanges, top: int) -> RenderableType:
    """The angles, and the weights that changed most."""
    several = len(found.angles) > 1
    by_angle = sorted(found.angles.items(), key=lambda one: -one[1])
    told = listing((f"{four_digits(a)}°{f' ({name})' * several}" for name, a in by_angle), 4)
    shown = found.changes[:top]
    table = columns("left", "right", "left", "right", *["left"] * several)
    for one in shown:
        cells = [shortened(one.feature, 40), f"{one.first:+.4g}", ARROW, f"{one.second:+.4g}"]
        table.add_row(*map(Text, cells), *[Text(shortened(one.positive, 25), "dim")] * several)
    rest = len(found.changes) - len(shown)
    more = [Text(f"and {count(rest, 'smaller change')} (--top)", "dim")] * (rest > 0)
    turned = f"turned by {told}; changed most, each as a share of the length of its vector:"
    return Group(Text(turned), table, *more)
