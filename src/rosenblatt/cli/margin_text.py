"""Best hyperplanes in words: the margin, the rows that carry it, and how good it is proved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from rosenblatt.cli.verdicts import meeting_rows, these_rows
from rosenblatt.cli.words import count, grouped, listing, number, percent, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType

    Summary = dict[str, Any]
    Facts = dict[str, Any]

SOFT = 1e-6  # the gap at which a soft margin that stands in for a maximum margin is the best
NOISE = 1e-9  # slack that is no more than rounding
FEW = 10  # row numbers of support vectors that are shown
MOST_CLASSES = 12  # that have a line of their own
PLACES = ("outside", "on", "inside", "wrong")


def margin_lines(s: Summary, top: int) -> Iterator[tuple[str, RenderableType]]:
    """Named lines about what the problems came to."""
    optima = s["optima"]
    stuck = [facts for facts in optima if facts["proof"] is not None]
    if len(optima) > 1 and stuck:
        yield "proof", _proofs(stuck)
    elif stuck and len(stuck[0]["proof"]["rows"]) > 2:
        yield "proof", _proof(stuck[0], s, top)
    if stuck:
        yield "instead", _instead(stuck, len(optima))
    elif optima[0]["C"] is not None:
        yield "C", _price(optima)
    soft = any(facts["C"] is not None and "slack" in facts for facts in optima)
    if len(optima) > 1:
        yield "margins", _by_class(optima, _unit(s))
        if soft:
            yield "rows", _sides_by_class(optima, _weighted(s))
    elif optima[0] not in _without_answer(stuck):
        (facts,) = optima
        yield "margin", _margin(facts, s)
        if soft:
            yield "rows", _sides(facts, _weighted(s))
        yield "support", _support(facts["support"])
        yield "optimum", _optimum(facts, _weighted(s))
    yield "training", _training(s)


def margin_advice(s: Summary) -> str:
    """What to try next."""
    reasons, verdicts = set(s["stop_reasons"]), set(s.get("verdicts", ()))
    stand_ins = [facts for facts in s["optima"] if facts["proof"] is not None]
    least = max(SOFT, s["parameters"].get("tol", 0))
    if _without_answer(stand_ins):
        C = f", for instance with --C {s['rows']}" if "rows" in s else ""
        which = "" if len(s["optima"]) == 1 else f" for {_named(stand_ins)}"
        return f"--model soft-margin{C}: more time finds no maximum margin{which}, there is none"
    if "max_time" in s["parameters"] and any(facts["gap"] > least for facts in stand_ins):
        return (
            f"--model soft-margin --C {_whole(stand_ins[0]['C'])} with a larger --max-time: the "
            "soft margin that stands in is not the best yet"
        )
    if stand_ins:
        return _same_with_C(stand_ins, s["optima"])
    if "TIME_LIMIT" in reasons:
        return "raise --max-time, or --tol, to close the gap"
    if "ROUNDING" in reasons:
        scaled = "" if s.get("standardized") else ", or leave out --raw: similar scales round less"
        return f"raise --tol: floats allow no smaller gap here{scaled}"
    rest = s["rows"] - max(s["classes"].values()) if "rows" in s else math.inf
    C = s["optima"][0]["C"]
    if C is not None and s["training_errors"] >= rest and s["rows"] > C:
        return f"no better than always the same answer: raise --C, for instance to {s['rows']}"
    if s["training_errors"] and verdicts == {"SEPARABLE"}:
        return "the classes are separable: --model max-margin, or a larger --C, leaves no error"
    return ""


def _same_with_C(stand_ins: Sequence[Facts], optima: Sequence[Facts]) -> str:
    """How to ask for the soft margins that stand in."""
    which = "this one" if len(optima) == 1 else "these"
    if len(stand_ins) < len(optima):
        rest = _named([facts for facts in optima if facts["proof"] is None])
        which = f"these soft margins, and for one of {rest}, too"
    return (
        f"--model soft-margin --C {_whole(stand_ins[0]['C'])} asks for {which}; a smaller C widens "
        "the margin, a larger one leaves less slack"
    )


def _named(optima: Sequence[Facts]) -> str:
    return listing(facts["positive"] for facts in optima)


def _without_answer(stuck: Sequence[Facts]) -> list[Facts]:
    """Those of the problems without a maximum margin that have no soft one in its place."""
    return [facts for facts in stuck if facts["C"] is None]


def _weighted(s: Summary) -> bool:
    return s["parameters"].get("class_weight") is not None


# Lines ------------------------------------------------------------------------------------------


def _unit(s: Summary) -> str:
    if "standardized" not in s:
        return "in the units of the features"
    return "standardised features" if s["standardized"] else "the columns' own units"


def _proof(facts: Facts, s: Summary, top: int) -> RenderableType:
    """The rows whose convex hulls meet, with their shares, as `rosenblatt check` has them."""
    proof = facts["proof"]
    if "classes" not in proof:
        return f"the convex hulls of {these_rows(proof['rows'])} meet"
    names = list(s["classes"])
    triples = zip(proof["rows"], proof["classes"], proof["shares"], strict=True)
    ordered = sorted(triples, key=lambda one: (names.index(one[1]), -one[2]))
    members = [(row, shortened(name, 30), number(share)) for row, name, share in ordered]
    minus = proof["classes"].count(names[0])
    return meeting_rows(members, minus, [shortened(name, 30) for name in names], top)


def _proofs(stuck: Sequence[Facts]) -> RenderableType:
    """For each class that no hyperplane separates from the rest the rows that prove it."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for facts in stuck[:MOST_CLASSES]:
        name, proof = facts["positive"], facts["proof"]
        told = these_rows(proof["rows"], FEW)
        if "classes" in proof:
            pairs = list(zip(proof["rows"], proof["classes"], strict=True))
            own = [row for row, label in pairs if label == name]
            rest = [row for row, label in pairs if label != name]
            told = f"{these_rows(own)}; of the rest {these_rows(rest)}"
        table.add_row(Text(shortened(name, 16)), told)
    more = len(stuck) - MOST_CLASSES
    last = [Text(f"and {more} more (--json)", "dim")] if more > 0 else []
    return Group("the convex hulls of these rows meet:", table, *last)


def _instead(stuck: Sequence[Facts], n_problems: int) -> str:
    """What the model is where there is no maximum margin."""
    which = "" if len(stuck) == n_problems else f" for {_named(stuck)}"
    soft = [facts for facts in stuck if facts["C"] is not None]
    told = f"there is no maximum margin{which}; "
    if not soft:
        return f"{told}time was up before a soft margin was found in its place"
    told += f"this is the soft margin with C = {_whole(soft[0]['C'])}, the number of rows "
    told += "(scikit-learn's C = 1)"
    if len(soft) < len(stuck):
        told += f", except for {_named(_without_answer(stuck))}, for which time was up"
    return told


def _whole(C: float) -> str:
    """A number as somebody would give it: with all its digits, or as 1e+12."""
    short = f"{C:g}"
    return short if C >= 1e9 and float(short) == C else f"{C:.15g}"


def _amount(x: float) -> str:
    """Four significant digits, of large numbers all before the point."""
    return f"{x:,.0f}" if 1e4 <= x < 1e9 else number(x)


def _price(optima: Sequence[Facts]) -> str:
    """C, and the same in the terms of scikit-learn."""
    C, totals = optima[0]["C"], {facts.get("N") for facts in optima}
    told = f"{_whole(C)}, the price of the mean slack"
    if len(totals) > 1 or None in totals:
        return told
    return f"{told}; scikit-learn's C is C/N = {number(C / totals.pop())}"


def _margin(facts: Facts, s: Summary) -> str:
    if facts["margin"] is None and facts["primal"] is None:
        return "none: no hyperplane of floats that separates the classes was found"
    if facts["margin"] is None:
        return "infinite: the weights are 0, so all rows get the same class"
    told, unit = number(facts["margin"]), f"(1/‖w‖, {_unit(s)})"
    if facts["C"] is not None:
        return f"{told} {unit}: half the width of the band around the hyperplane"
    if facts["gap"] <= SOFT:
        return f"{told} {unit}: the largest there is, no row is closer to the hyperplane"
    if not facts["dual"] or facts["dual"] <= 0:
        return f"{told} {unit}: no row is closer; how large the largest is was not found yet"
    widest = 1 / math.sqrt(2 * facts["dual"])  # the dual value is below every ½‖w‖²
    told, bound = _apart(facts["margin"], widest)
    share = 1 - facts["margin"] / widest
    below = (
        f"a factor of {number(widest / facts['margin'])}" if share > 0.5 else f"{100 * share:.2g}%"
    )
    return f"{told} {unit}: no row is closer; at most {below} below the largest, {bound} or less"


def _apart(a: float, b: float) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to tell them apart, four at least."""
    for digits in range(4, 17):
        if f"{a:.{digits}g}" != f"{b:.{digits}g}":
            break
    return f"{a:.{digits}g}", f"{b:.{digits}g}"


def _slack(facts: Facts) -> str:
    """The total slack, without what is only rounding."""
    return _amount(facts["slack"]) if facts["slack"] > NOISE else "0"


def _sides(facts: Facts, weighted: bool = False) -> str:
    """How many rows lie where."""
    return (
        f"{grouped(facts['outside'])} outside the margin, {grouped(facts['on'])} on its edge, "
        f"{grouped(facts['inside'])} inside, {grouped(facts['wrong'])} on the wrong side; "
        f"total {'weighted ' if weighted else ''}slack {_slack(facts)}"
    )


def _support(rows: Sequence[int]) -> str:
    """The support vectors: how many, and the first of them."""
    if not rows:
        return "no support vectors yet"
    named = ", ".join(str(row) for row in rows[:FEW])
    if len(rows) > FEW:
        return f"rows {named}, ... ({grouped(len(rows))} in all)"
    return f"{'rows' if len(rows) > 1 else 'row'} {named} ({grouped(len(rows))} in all)"


def _optimum(facts: Facts, weighted: bool = False) -> str:
    if facts["primal"] is None:
        return "no objective yet"
    what = "½‖w‖²"
    if facts["C"] is not None:
        what += " + C/N Σ sξ" if weighted else " + C/N Σξ"
    return (
        f"{what} = {_amount(facts['primal'])}, at most a share of {facts['gap']:.2g} (the gap) "
        "above the least there is"
    )


def _training(s: Summary) -> str:
    scans = count(sum(facts["scans"] for facts in s["optima"]), "scan")
    errors = s["training_errors"]
    if not errors:
        return f"{scans} of the data; no training errors"
    share = f" ({percent(1 - errors / s['rows'])} right)" if "rows" in s else ""
    return f"{scans} of the data; {count(errors, 'training error')}{share}"


# Several classes --------------------------------------------------------------------------------


def _by_class(optima: Sequence[Facts], unit: str) -> RenderableType:
    """Margin, gap and support vectors of each class against the rest."""

    def cells(facts: Facts) -> list[str]:
        margin = "∞" if facts["margin"] is None else number(facts["margin"])
        if facts["primal"] is None:
            return ["none", "", "", ""]
        rows = facts["support"]
        named = ", ".join(map(str, rows[:3])) + (", ..." if len(rows) > 3 else "")
        gap = f"{facts['gap']:.1g}"
        return [margin, _amount(facts["primal"]), gap, f"{grouped(len(rows))} ({named})"]

    table = _table(["1/‖w‖", "objective", "gap", "support rows"], optima, cells, last="left")
    return Group(table, Text(f"each class against the rest, {unit}", "dim"))


def _sides_by_class(optima: Sequence[Facts], weighted: bool = False) -> RenderableType:
    """Where the rows lie for each class against the rest."""

    def cells(facts: Facts) -> list[str]:
        if facts["primal"] is None:
            return [""] * (len(PLACES) + 1)
        return [*(grouped(facts[place]) for place in PLACES), _slack(facts)]

    return _table([*PLACES, "weighted slack" if weighted else "slack"], optima, cells)


def _table(
    heads: Sequence[str],
    optima: Sequence[Facts],
    cells: Callable[[Facts], list[str]],
    last: Any = "right",
) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    for _ in heads[:-1]:
        table.add_column(justify="right", no_wrap=True)
    table.add_column(justify=last)  # gives way first: no number must be cut off
    table.add_row("", *(Text(head, "dim") for head in heads))
    for facts in optima[:MOST_CLASSES]:
        table.add_row(Text(shortened(facts["positive"], 16)), *cells(facts))
    rest = len(optima) - MOST_CLASSES
    return Group(table, Text(f"and {rest} more (--json)", "dim")) if rest > 0 else table
