"""Best hyperplanes in words: the margin, the rows that carry it, and how good it is proved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from rosenblatt.report.check_report import Member, meeting_rows
from rosenblatt.report.facts import FitFacts, OptimumFacts, ProofFacts, SideFacts
from rosenblatt.report.sentences import (
    four_digits,
    listing,
    percent,
    shortened,
    these_rows,
    told_apart,
    unit_of,
)
from rosenblatt.report.terminal import Line, columns
from rosenblatt.results import StopReason
from rosenblatt.results.words import near_the_best, places
from rosenblatt.visible import count, grouped

SOFT = 1e-6  # the gap at which a soft margin that stands in for a maximum margin is the best
NOISE = 1e-9  # slack that is no more than rounding
FEW = 10  # row numbers of support vectors that are shown
MOST_CLASSES = 12  # that have a line of their own
PLACES = ("outside", "on", "inside", "wrong")


def margin_lines(s: FitFacts, top: int) -> Iterator[Line]:
    """Named lines about what the problems came to."""
    optima, stuck = s.optima, s.without_maximum
    weighted = s.weighted
    if len(optima) > 1 and stuck:
        yield "proof", _proofs(stuck)
    elif stuck and stuck[0].proof is not None and len(stuck[0].proof.rows) > 2:
        yield "proof", _proof(stuck[0].proof, s, top)
    if stuck:
        yield "instead", _instead(stuck, len(optima))
    elif optima[0].C is not None:
        yield "C", _price(optima)
    soft = any(one.C is not None and one.sides is not None for one in optima)
    if len(optima) > 1:
        yield "margins", _by_class(optima, _unit(s))
        if soft:
            yield "rows", _sides_by_class(optima, weighted)
    elif optima[0] not in _without_answer(stuck):
        (one,) = optima
        yield "margin", _margin(one, s)
        if soft and one.sides is not None:
            yield "rows", _sides(one.sides, weighted)
        yield "support", _support(one.support)
        yield "optimum", _optimum(one, weighted)
    scans = count(sum(one.scans for one in optima), "scan")
    yield "training", f"{scans} of the data; {errors_left(s)}"


def errors_left(s: FitFacts, left: str = "") -> str:
    """How many rows of the training the model gets wrong."""
    errors = s.training_errors
    share = f" ({percent(1 - errors / s.rows)} right)" if s.rows and errors else ""
    return f"{count(errors, 'training error') if errors else 'no training errors'}{left}{share}"


def margin_advice(s: FitFacts) -> str:
    """What to try next."""
    stand_ins, least = s.without_maximum, max(SOFT, s.parameters.get("tol", 0))
    if _without_answer(stand_ins):
        C = f", for instance with --C {s.rows}" if s.rows else ""
        which = "" if len(s.optima) == 1 else f" for {_named(stand_ins)}"
        return f"--model soft-margin{C}: more time finds no maximum margin{which}, there is none"
    if "max_time" in s.parameters and any((one.gap or 0) > least for one in stand_ins):
        return (
            f"--model soft-margin --C {_whole(stand_ins[0].C)} with a larger --max-time: the "
            "soft margin that stands in is not the best yet"
        )
    if stand_ins:
        return _same_with_C(stand_ins, s.optima)
    if StopReason.TIME_LIMIT in s.reasons:
        return "raise --max-time, or --tol, to close the gap"
    if StopReason.ROUNDING in s.reasons:
        scaled = "" if s.standardized else ", or leave out --raw: similar scales round less"
        return f"raise --tol: floats allow no smaller gap here{scaled}"
    if s.missed_small:
        return missed_advice(s)
    if _no_better_than_one_class(s):
        return f"no better than always the same answer: raise --C, for instance to {s.rows}"
    if s.training_errors and s.separable:
        return "the classes are separable: --model max-margin, or a larger --C, leaves no error"
    return ""


def missed_advice(s: FitFacts) -> str:
    """What to try where a small class is missed altogether."""
    return f"--class-weight balanced: no row of {shortened(s.missed_small)} is found otherwise"


def _no_better_than_one_class(s: FitFacts) -> bool:
    """Whether a soft margin with a small C has as many errors as the largest class would have."""
    C = s.optima[0].C
    if C is None or s.rows is None or s.rows <= C:
        return False
    return s.training_errors >= s.rows - max(n or 0 for n in s.counts.values())


def _same_with_C(stand_ins: Sequence[OptimumFacts], optima: Sequence[OptimumFacts]) -> str:
    """How to ask for the soft margins that stand in."""
    which = "this one" if len(optima) == 1 else "these"
    if len(stand_ins) < len(optima):
        rest = _named([one for one in optima if one.proof is None])
        which = f"these soft margins, and for one of {rest}, too"
    return (
        f"--model soft-margin --C {_whole(stand_ins[0].C)} asks for {which}; a smaller C widens "
        "the margin, a larger one leaves less slack"
    )


def _named(optima: Sequence[OptimumFacts]) -> str:
    return listing(one.positive for one in optima)


def _without_answer(stuck: Sequence[OptimumFacts]) -> list[OptimumFacts]:
    """Those of the problems without a maximum margin that have no soft one in its place."""
    return [one for one in stuck if one.C is None]


# Lines ------------------------------------------------------------------------------------------


def _unit(s: FitFacts) -> str:
    if s.table is None:
        return "in the units of the features"
    return unit_of(s)


def _proof(proof: ProofFacts, s: FitFacts, top: int) -> RenderableType:
    """The rows whose convex hulls meet, with their shares, as `rosenblatt check` has them."""
    if proof.classes is None:
        return f"the convex hulls of {these_rows(proof.rows)} meet"
    names = list(s.classes)
    triples = zip(proof.rows, proof.classes, proof.shares, strict=True)
    ordered = sorted(triples, key=lambda one: (names.index(one[1]), -one[2]))
    members = [Member(row, shortened(name, 30), four_digits(x)) for row, name, x in ordered]
    sides = [shortened(name, 30) for name in names]
    return meeting_rows(members, proof.classes.count(names[0]), sides, top)


def _proofs(stuck: Sequence[OptimumFacts]) -> RenderableType:
    """For each class that no hyperplane separates from the rest the rows that prove it."""

    def cells(one: OptimumFacts) -> list[str]:
        assert one.proof is not None
        if one.proof.classes is None:
            return [these_rows(one.proof.rows, FEW)]
        pairs = list(zip(one.proof.rows, one.proof.classes, strict=True))
        own = [row for row, label in pairs if label == one.positive]
        rest = [row for row, label in pairs if label != one.positive]
        return [f"{these_rows(own)}; of the rest {these_rows(rest)}"]

    return Group("the convex hulls of these rows meet:", _table([], stuck, cells))


def _instead(stuck: Sequence[OptimumFacts], n_problems: int) -> str:
    """What the model is where there is no maximum margin."""
    which = "" if len(stuck) == n_problems else f" for {_named(stuck)}"
    soft = [one for one in stuck if one.C is not None]
    told = f"there is no maximum margin{which}; "
    if not soft:
        return f"{told}time was up before a soft margin was found in its place"
    told += f"this is the soft margin with C = {_whole(soft[0].C)}, the number of rows "
    told += "(scikit-learn's C = 1)"
    if len(soft) < len(stuck):
        told += f", except for {_named(_without_answer(stuck))}, for which time was up"
    return told


def _whole(C: float | None) -> str:
    """A number as somebody would give it: with all its digits, or as 1e+12."""
    C = C or 0.0
    short = f"{C:g}"
    return short if C >= 1e9 and float(short) == C else f"{C:.15g}"


def _amount(x: float) -> str:
    """Four significant digits, of large numbers all before the point."""
    return f"{x:,.0f}" if 1e4 <= x < 1e9 else four_digits(x)


def _price(optima: Sequence[OptimumFacts]) -> str:
    """C, and the same in the terms of scikit-learn."""
    C, (total, *others) = optima[0].C, {one.sides.N if one.sides else None for one in optima}
    told = f"{_whole(C)}, the price of the mean slack"
    if others or total is None or C is None:
        return told
    return f"{told}; scikit-learn's C is C/N = {four_digits(C / total)}"


def _margin(one: OptimumFacts, s: FitFacts) -> str:
    if one.margin is None and one.primal is None:
        return "none: no hyperplane of floats that separates the classes was found"
    if one.margin is None:
        return "infinite: the weights are 0, so all rows get the same class"
    told, unit = four_digits(one.margin), f"(1/‖w‖, {_unit(s)})"
    if one.C is not None:
        return f"{told} {unit}: half the width of the band around the hyperplane"
    if one.gap is not None and one.gap <= SOFT:
        return f"{told} {unit}: the largest there is, no row is closer to the hyperplane"
    if not one.dual or one.dual <= 0:
        return f"{told} {unit}: no row is closer; how large the largest is was not found yet"
    widest = 1 / math.sqrt(2 * one.dual)  # the dual value is below every ½‖w‖²
    told, bound = _apart(one.margin, widest)
    share = 1 - one.margin / widest
    factor = f"a factor of {four_digits(widest / one.margin)}"
    below = factor if share > 0.5 else f"{100 * share:.2g}%"
    return f"{told} {unit}: no row is closer; at most {below} below the largest, {bound} or less"


def _apart(a: float, b: float) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to tell them apart, four at least."""
    for digits in range(4, 17):
        if f"{a:.{digits}g}" != f"{b:.{digits}g}":
            break
    return f"{a:.{digits}g}", f"{b:.{digits}g}"


def _places(sides: SideFacts) -> list[str]:
    """How many rows lie where, and the total slack without what is only rounding."""
    slack = _amount(sides.slack) if sides.slack > NOISE else "0"
    return [*(grouped(getattr(sides, place)) for place in PLACES), slack]


def _sides(sides: SideFacts, weighted: bool) -> str:
    outside, on, inside, wrong, slack = _places(sides)
    where = places(outside, on, inside, wrong)
    return f"{where}; total {'weighted ' if weighted else ''}slack {slack}"


def _support(rows: Sequence[int]) -> str:
    """The support vectors: how many, and the first of them."""
    if not rows:
        return "no support vectors yet"
    named = ", ".join(str(row) for row in rows[:FEW])
    if len(rows) > FEW:
        return f"rows {named}, ... ({grouped(len(rows))} in all)"
    return f"{'rows' if len(rows) > 1 else 'row'} {named} ({grouped(len(rows))} in all)"


def _optimum(one: OptimumFacts, weighted: bool) -> str:
    if one.primal is None:
        return "no objective yet"
    what = "½‖w‖²"
    if one.C is not None:
        what += " + C/N Σ sξ" if weighted else " + C/N Σξ"
    return near_the_best(what, _amount(one.primal), one.gap or 0.0)


# Several classes --------------------------------------------------------------------------------


def _by_class(optima: Sequence[OptimumFacts], unit: str) -> RenderableType:
    """Margin, gap and support vectors of each class against the rest."""

    def cells(one: OptimumFacts) -> list[str]:
        if one.primal is None:
            return ["none"]
        margin = "∞" if one.margin is None else four_digits(one.margin)
        rows = ", ".join(map(str, one.support[:3])) + ", ..." * (len(one.support) > 3)
        support = f"{grouped(len(one.support))} ({rows})"
        return [margin, _amount(one.primal), f"{one.gap:.1g}", support]

    table = _table(["1/‖w‖", "objective", "gap", "support rows"], optima, cells)
    return Group(table, Text(f"each class against the rest, {unit}", "dim"))


def _sides_by_class(optima: Sequence[OptimumFacts], weighted: bool) -> RenderableType:
    """Where the rows lie for each class against the rest."""

    def cells(one: OptimumFacts) -> list[str]:
        return [] if one.primal is None or one.sides is None else _places(one.sides)

    return _table([*PLACES, f"{'weighted ' * weighted}slack"], optima, cells, "right")


def _table(
    heads: Sequence[str],
    optima: Sequence[OptimumFacts],
    cells: Callable[[OptimumFacts], list[str]],
    last: Any = "left",
) -> RenderableType:
    table = columns("left", *["right"] * (len(heads) - 1))
    table.add_column(justify=last)  # gives way first: no number must be cut off
    if heads:
        table.add_row("", *(Text(head, "dim") for head in heads))
    named = told_apart((one.positive for one in optima), 20)
    for one in optima[:MOST_CLASSES]:
        table.add_row(Text(named[one.positive]), *cells(one))
    rest = len(optima) - MOST_CLASSES
    return Group(table, *([Text(f"and {rest} more (--json)", "dim")] if rest > 0 else []))
