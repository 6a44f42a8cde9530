"""Words: numbers, amounts and names as people read them, and verdicts as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.report.facts import FitFacts, Ground, MapFacts, VerdictFacts
from rosenblatt.results import Certificate, Undecided, Verdict
from rosenblatt.results.joint import JOINT_MEANINGS as OF_SAMPLES
from rosenblatt.results.words import identical, numbered
from rosenblatt.visible import count, grouped, visible

MEANINGS = {
    Verdict.SEPARABLE: "a hyperplane has every row strictly on its right side",
    Verdict.QUASI_SEPARABLE: "a hyperplane has no row on its wrong side, but none has all off it",
    Verdict.INSEPARABLE: "the classes overlap, no hyperplane has them on its two sides",
    Verdict.UNDECIDED: "the question was not settled",
}
# A sample of X is a row of the table.
JOINT_MEANINGS = {one: told.replace("sample", "row") for one, told in OF_SAMPLES.items()}
IN_FEATURES = {
    Verdict.SEPARABLE: "a hyperplane{} has every row strictly on its right side",
    Verdict.QUASI_SEPARABLE: "a hyperplane{} has no row on its wrong side, but none has all off it",
    Verdict.INSEPARABLE: "no hyperplane{} has the classes on its two sides",
}
STOPPED = "stopped with Ctrl-C before the question was settled"
LATER = "time ran out, not settled in {seconds}; rosenblatt check takes longer"
TIME_UP = "time ran out before it was settled"
ALWAYS = "certain with this kernel: rows that differ can always be separated, by however little"
OPEN = {
    Ground.STOPPED: STOPPED,
    Ground.TIME: LATER,
    Ground.WORK: f"{Undecided.WORK} before the question was settled",
    Ground.FAILED: "the verdict could not be had ({message})",
    Ground.TOLD: "{message}",
}
OPEN_IN_FEATURES = OPEN | {
    Ground.TIME: TIME_UP,
    Ground.WORK: f"{Undecided.WORK} before it was settled",
    Ground.TOO_MANY_ROWS: "not looked for among more than {n_rows} rows with this kernel",
    Ground.NO_INNER_PRODUCT: (
        "this kernel is no inner product of these rows, so there is no such space"
    ),
    Ground.ERROR_UNKNOWN: "floating point cannot tell how far the features are off: scale them",
    Ground.FAILED: "{message}",
}
FEW = 6  # rows that are named
MOST_NAMED = 8  # classes that are named in a line; of more, shorter names
SHORT = 24


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


def told_apart(names: Iterable[Any], width: int) -> dict[str, str]:
    """Names not longer than this, by name, such that different ones look different.

    Where the middle of a name would be cut off and two names would look the same, they lose what
    all long ones have in common instead: ``species number 7 of a list`` is ``species number 7…``.
    """
    texts = list(map(str, names))
    short = {text: shortened(text, width) for text in texts}
    if len(set(short.values())) == len(short):
        return short
    long = [text for text in short if short[text] != text]
    front = _common_start(long)
    back = _common_start([text[len(front) :][::-1] for text in long])[::-1]
    for text in long:
        own = text[len(front) : len(text) - len(back)]
        room = width - len(own) - 2
        if room < 0:
            continue
        tail = back if len(back) <= room // 2 else ""
        head = front[: room - len(tail)]
        parts = (head, "…" * (head != front), own, "…" * (tail != back), tail)
        short[text] = visible("".join(parts))
    return short


def _common_start(texts: Sequence[str]) -> str:
    """The letters with which all of them begin."""
    first, last = min(texts), max(texts)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(letter for letter, _ in same)


def listing(names: Iterable[Any], most: int = 6) -> str:
    """Names with commas, and how many more there are."""
    shown = [shortened(name) for name in names]
    rest = len(shown) - most
    return ", ".join(shown if rest <= 0 else [*shown[:most], f"and {rest} more"])


def four_digits(x: float) -> str:
    """Four significant digits."""
    return f"{x:.4g}"


def suggestion(wrong: str, names: Sequence[str]) -> str:
    """`` Did you mean 'species'?``, or nothing."""
    near = get_close_matches(wrong, names, 1, 0.6)
    return f" Did you mean {near[0]!r}?" if near else ""


def these_rows(rows: Sequence[int] | NDArray[np.int64], most: int = 6) -> str:
    """``row 3``, ``rows 3 and 7``, ``rows 3, 4, 5 and 12 more``."""
    return numbered("row", rows, most)


def data_line(rows: int | None, features: int, columns: int, classes: int) -> str:
    """How many rows, features and classes."""
    told = count(features, "feature")
    if features != columns:
        told += f" from {count(columns, 'column')}"
    known = [] if rows is None else [count(rows, "row")]
    return ", ".join([*known, told, count(classes, "class", "classes")])


def classes_line(counts: Mapping[str, int | None], target: str | None) -> str:
    """The classes and how many rows there are of each."""
    short = told_apart(counts, 40 if len(counts) <= MOST_NAMED else SHORT)
    named = [(short[name], n) for name, n in counts.items()]
    names = [f"{name} ({grouped(n)})" if n else name for name, n in named]
    return listing(names, 8) if target is None else f"{shortened(target)}: {listing(names, 8)}"


def unit_of(s: FitFacts) -> str:
    """What lengths in the space of the features are measured in."""
    if s.feature_map:
        return "features of the map"
    if s.steps:
        return f"features after {listing(s.steps)}"
    return "standardised features" if s.standardized else "the columns' own units"


def map_sentence(made: MapFacts) -> str:
    """What a feature map makes of the features that the columns became."""
    given = count(made.of, "feature")
    if made.name == "Squares":
        return f"squares: each of {given}, and its square"
    if made.name == "Polynomial":
        return f"poly:{made.size}: the products of up to {made.size} of {given}, with their powers"
    near = f"near the kernel exp(-{four_digits(made.gamma or 0.0)}·‖x - y‖²)"
    if made.name == "RandomFourier":
        return f"rff:{made.size}: waves in random directions of {given}, {near}"
    return f"nystroem:{made.size}: kernel values with rows drawn at random, {near}"


# Verdicts ---------------------------------------------------------------------------------------


def verdict_word(verdict: Verdict) -> str:
    """``separable``, ``quasi-separable``, ``inseparable`` or ``undecided``."""
    return verdict.word


def meaning(certificate: Certificate) -> str:
    """What a verdict means, or why there is none."""
    if isinstance(certificate, Undecided):
        return f"{certificate.why} before the question was settled"
    return MEANINGS[certificate.verdict]


def same_sentence(
    rows: Sequence[int] | NDArray[np.int64], rounded: bool, some_columns: bool
) -> str:
    """That rows are the same but for their classes, in what, and whether by rounding only."""
    if rounded:
        return f"{these_rows(rows)} have different classes, and rounding made them the same"
    where = " in the features used" if some_columns else ""
    return identical(these_rows(rows), where)


def verdict_sentence(found: VerdictFacts) -> str:
    """What a verdict on the rows of a fit means, and what it rests on."""
    sentence = _in_features(found) if found.in_features else _among_rows(found)
    if not found.repeats:
        return sentence
    if found.verdict is Verdict.SEPARABLE:
        return f"{sentence}; only rounding makes this run repeat"
    return f"{sentence}; so no run can end"


def _same(found: VerdictFacts) -> str:
    return same_sentence(found.rows, found.rounded, found.some_columns)


def _among_rows(found: VerdictFacts) -> str:
    if found.ground in OPEN:
        seconds = f"{found.patience:.3g} second{'s' * (found.patience != 1)}"
        why = OPEN[found.ground].format(message=found.message, seconds=seconds)
        if not found.rows:
            return why
        whether = "whether one leaves none on a wrong side"
        return f"no hyperplane separates all rows, for {_same(found)}; {whether}: {why}"
    if found.ground in (Ground.MODEL, Ground.LAST_VECTOR):
        own = "this hyperplane" if found.ground is Ground.MODEL else "the last one of the run"
        if found.joint:
            own = "this model" if found.ground is Ground.MODEL else "the last ones of the run"
            return f"{JOINT_MEANINGS[found.verdict]}; proved by {own}"
        return f"proved by {own}"
    if found.joint:
        by = "by hyperplanes that were looked for"
        if found.rows:
            by = f"by {count(len(found.rows), 'row')} whose demands cancel"
        bias = ", with biases" if found.with_bias else ""
        return f"{JOINT_MEANINGS[found.verdict]}; proved {by}{bias}"
    return f"{MEANINGS[found.verdict]}; {evidence(found)}"


def evidence(found: VerdictFacts) -> str:
    """What was looked for, and found, in one sentence."""
    if found.margin is not None:
        bias = ", with a bias" if found.with_bias else ""
        return f"proved by a hyperplane with margin {four_digits(found.margin)}{bias}"
    meet = _same(found)
    if found.ground is Ground.HULLS:
        touch = "touch" if found.verdict is Verdict.QUASI_SEPARABLE else "meet"
        meet = f"proved by {count(len(found.rows), 'row')} whose convex hulls {touch}"
    if found.on is None:
        return meet
    return f"{count(found.on, 'row')} on every such hyperplane; {meet}"


def _in_features(found: VerdictFacts) -> str:
    """The same about hyperplanes in the feature space of a kernel."""
    if found.ground in OPEN_IN_FEATURES:
        return OPEN_IN_FEATURES[found.ground].format(message=found.message, n_rows=found.n_rows)
    if found.ground in (Ground.MODEL, Ground.LAST_VECTOR):
        own = "this model" if found.ground is Ground.MODEL else "the last vector of the run"
        if found.proved:
            return f"proved by {own}"
        return f"shown by {own}, as far as rounding lets one tell"
    if found.ground is Ground.SAME_ROWS:
        return _same(found)
    if found.ground is Ground.DIFFERENT_ROWS:
        return ALWAYS
    through = " through the origin" if found.through_origin else ""
    by, n = "", len(found.rows)
    if n:
        by = f" by {these_rows(found.rows) if n <= FEW else count(n, 'row')}"
        by += ", which is at the origin" * (n == 1)  # nothing else is its own opposite
    sure = f"proved{by}"
    if not found.proved:
        sure = f"shown{by}, as far as values with an error of {found.tolerance:.2g} can tell"
    return f"{IN_FEATURES[found.verdict].format(through)}; {sure}"
