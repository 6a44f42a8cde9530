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
FEW = 10  # row numbers of support vectors that are shown
MOST_CLASSES = 12  # that have a line of their own
PLACES = ("outside", "on", "inside", "wrong")


def margin_lines(s: Summary, top: int) -> Iterator[tuple[str, RenderableType]]:
    """Named lines about what the problems came to."""
    optima = s["optima"]
    stuck = [facts for facts in optima if facts["proof"] is not None]
    if len(optima) == 1 and stuck and len(stuck[0]["proof"]["rows"]) > 2:
        yield "proof", _proof(stuck[0], s, top)
    if stuck:
        yield "instead", _instead(stuck, len(optima))
    elif optima[0]["C"] is not None:
        yield "C", _price(optima)
    soft = any(facts["C"] is not None and "slack" in facts for facts in optima)
    if len(optima) > 1:
        yield "margins", _by_class(optima, _unit(s))
        if soft:
            yield "rows", _sides_by_class(optima)
    else:
        (facts,) = optima
        yield "margin", _margin(facts, s)
        if soft:
            yield "rows", _sides(facts)
        yield "support", _support(facts["support"])
        yield "optimum", _optimum(facts)
    yield "training", _training(s)


def margin_advice(s: Summary) -> str:
    """What to try next."""
    reasons, verdicts = set(s["stop_reasons"]), set(s.get("verdicts", ()))
    stand_ins = [facts for facts in s["optima"] if facts["proof"] is not None]
    least = max(SOFT, s["parameters"].get("tol", 0))
    if "max_time" in s["parameters"] and any(facts["gap"] > least for facts in stand_ins):
        return "raise --max-time: the soft margin that stands in is not the best yet"
    if "INSEPARABLE" in reasons:
        return (
            f"--model soft-margin --C {_whole(stand_ins[0]['C'])} asks for this one; a smaller C "
            "widens the margin, a larger one leaves less slack"
        )
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


def _instead(stuck: Sequence[Facts], n_problems: int) -> str:
    """What the model is where there is no maximum margin."""
    which = ""
    if len(stuck) < n_problems:
        which = f" for {listing(facts['positive'] for facts in stuck)}"
    return (
        f"there is no maximum margin{which}; this is the soft margin with C = "
        f"{_whole(stuck[0]['C'])}, the number of rows (scikit-learn's C = 1)"
    )


def _whole(C: float) -> str:
    """A number as somebody would give it, with all its digits."""
    return f"{C:.15g}"


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
        return "none: no hyperplane that separates the classes was found yet"
    if facts["margin"] is None:
        return "infinite: the weights are 0, so all rows get the same class"
    told = f"{number(facts['margin'])} (1/‖w‖, {_unit(s)})"
    if facts["C"] is not None:
        return f"{told}: half the width of the band around the hyperplane"
    if s["stop_reasons"] == ["GAP_CLOSED"]:
        return f"{told}: the largest there is, no row is closer to the hyperplane"
    return f"{told}: no row is closer; the largest there is may be {_widest(facts)}"


def _widest(facts: Facts) -> str:
    """What no margin exceeds: the dual value is below every ½‖w‖²."""
    if not facts["dual"] or facts["dual"] <= 0:
        return "any"
    return f"up to {number(1 / math.sqrt(2 * facts['dual']))}"


def _sides(facts: Facts) -> str:
    """How many rows lie where."""
    return (
        f"{grouped(facts['outside'])} outside the margin, {grouped(facts['on'])} on its edge, "
        f"{grouped(facts['inside'])} inside, {grouped(facts['wrong'])} on the wrong side; "
        f"total slack {_amount(facts['slack'])}"
    )


def _support(rows: Sequence[int]) -> str:
    """The support vectors: how many, and the first of them."""
    if not rows:
        return "no support vectors yet"
    named = ", ".join(str(row) for row in rows[:FEW])
    if len(rows) > FEW:
        return f"rows {named}, ... ({grouped(len(rows))} in all)"
    return f"{'rows' if len(rows) > 1 else 'row'} {named} ({grouped(len(rows))} in all)"


def _optimum(facts: Facts) -> str:
    if facts["primal"] is None:
        return "no objective yet"
    what = "½‖w‖²" if facts["C"] is None else "½‖w‖² + C/N Σξ"
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


def _sides_by_class(optima: Sequence[Facts]) -> RenderableType:
    """Where the rows lie for each class against the rest."""

    def cells(facts: Facts) -> list[str]:
        return [*(grouped(facts[place]) for place in PLACES), _amount(facts["slack"])]

    return _table([*PLACES, "slack"], optima, cells)


def _table(
    heads: Sequence[str],
    optima: Sequence[Facts],
    cells: Callable[[Facts], list[str]],
    last: Any = "right",
) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    for _ in heads[:-1]:
        table.add_column(justify="right", no_wrap=True)
    table.add_column(justify=last)  # gives way first: no number must be cut off
    table.add_row("", *(Text(head, "dim") for head in heads))
    for facts in optima[:MOST_CLASSES]:
        table.add_row(Text(shortened(facts["positive"], 16)), *cells(facts))
    rest = len(optima) - MOST_CLASSES
    return Group(table, Text(f"and {rest} more (--json)", "dim")) if rest > 0 else table
