"""Verdicts as sentences: what they mean, and what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rosenblatt.report.facts import PATIENCE, Ground
from rosenblatt.report.phrases import count, number
from rosenblatt.results import Undecided, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rosenblatt.report.facts import VerdictFacts
    from rosenblatt.results import Certificate

MEANINGS = {
    Verdict.SEPARABLE: "a hyperplane has every row strictly on its right side",
    Verdict.QUASI_SEPARABLE: "a hyperplane has no row on its wrong side, but none has all off it",
    Verdict.INSEPARABLE: "the classes overlap, no hyperplane has them on its two sides",
    Verdict.UNDECIDED: "the question was not settled",
}
IN_FEATURES = {
    Verdict.SEPARABLE: "a hyperplane{} has every row strictly on its right side",
    Verdict.QUASI_SEPARABLE: "a hyperplane{} has no row on its wrong side, but none has all off it",
    Verdict.INSEPARABLE: "no hyperplane{} has the classes on its two sides",
}
STOPPED = "stopped with Ctrl-C before the question was settled"
LATER = f"time ran out, not settled in {PATIENCE} seconds; rosenblatt check takes longer"
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


def verdict_word(verdict: Verdict) -> str:
    """``separable``, ``quasi-separable``, ``inseparable`` or ``undecided``."""
    return verdict.name.lower().replace("_", "-")


def meaning(certificate: Certificate) -> str:
    """What a verdict means, or why there is none."""
    if isinstance(certificate, Undecided):
        return f"{certificate.why} before the question was settled"
    return MEANINGS[certificate.verdict]


def these_rows(rows: Sequence[int] | NDArray[np.int64], most: int = 6) -> str:
    """``row 3``, ``rows 3 and 7``, ``rows 3, 4, 5 and 12 more``."""
    shown = [str(int(row)) for row in rows[:most]]
    rest = len(rows) - len(shown)
    if len(shown) == 1 and not rest:
        return f"row {shown[0]}"
    *front, last = [*shown, f"{rest} more"] if rest else shown
    return f"rows {', '.join(front)} and {last}"


def same_rows(rows: Sequence[int] | NDArray[np.int64], rounded: bool, some_columns: bool) -> str:
    """That rows are the same but for their classes, in what, and whether by rounding only."""
    if rounded:
        return f"{these_rows(rows)} have different classes, and rounding made them the same"
    where = " in the columns used" if some_columns else ""
    return f"{these_rows(rows)} are identical{where} but have different classes"


def verdict_sentence(found: VerdictFacts) -> str:
    """What a verdict on the rows of a fit means, and what it rests on."""
    sentence = _in_features(found) if found.in_features else _among_rows(found)
    if not found.repeats:
        return sentence
    if found.verdict is Verdict.SEPARABLE:
        return f"{sentence}; only rounding makes this run repeat"
    return f"{sentence}; so no run can end"


def _same(found: VerdictFacts) -> str:
    return same_rows(found.rows, found.rounded, found.some_columns)


def _among_rows(found: VerdictFacts) -> str:
    if found.ground in OPEN:
        why = OPEN[found.ground].format(message=found.message)
        if not found.rows:
            return why
        whether = "whether one leaves none on a wrong side"
        return f"no hyperplane separates all rows, for {_same(found)}; {whether}: {why}"
    if found.ground in (Ground.MODEL, Ground.LAST_VECTOR):
        own = "this hyperplane" if found.ground is Ground.MODEL else "the last one of the run"
        return f"proved by {own}"
    return f"{MEANINGS[found.verdict]}; {_evidence(found)}"


def _evidence(found: VerdictFacts) -> str:
    """What was looked for, and found."""
    if found.margin is not None:
        bias = ", with a bias" if found.with_bias else ""
        return f"proved by a hyperplane with margin {number(found.margin)}{bias}"
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
