"""``rosenblatt boolean``: can one unit compute a boolean function, and what can if it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rosenblatt.cli import options
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import print_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from rosenblatt.boolean import Network, TruthTable, Unit
    from rosenblatt.report.terminal import Line

    Share = tuple[Fraction, list[int]]  # of an input in a mean
    Shares = tuple[list[Share], list[Share]]  # of inputs with the value 0, and with the value 1

MOST_ROWS = 32  # of a truth table that is printed whole
MOST_UNITS = 12
EXPRESSION = "Such as 'x1 & (x2 | ~x3)', or the values of the table such as 0110."
PLOT = "Draw the unit or the network: .png, .svg or .pdf."


def boolean(
    ctx: typer.Context,
    expression: Annotated[str, typer.Argument(metavar="EXPRESSION", help=EXPRESSION)],
    plot: Annotated[str | None, typer.Option("--plot", metavar="PICTURE", help=PLOT)] = None,
    json_: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say whether one threshold unit can compute a boolean function, and prove it.

    If one can, its smallest whole weights and threshold; if not, the inputs that prove it, and a
    network on two levels that does. Operators are & | ~ ^ or and, or, not, xor. The exit code is
    0 if one unit can, 1 if not, 2 after an error.

    [dim]Example:[/dim] rosenblatt boolean "x1 & (x2 | ~x3)"
    """
    options.check_outputs(picture=plot)
    with ProgressLine(not quiet) as progress:
        from rosenblatt.boolean import Unit, parse, threshold_unit, two_level_network

        table = parse(expression)
        progress.say("looking for one unit")
        found = threshold_unit(table)
        network = None
        if not isinstance(found, Unit):
            progress.say("looking for a network")
            network = two_level_network(table)
        if plot:
            from rosenblatt import plot as pictures

            pictures.save(pictures.network(network or found), plot)
    ctx.meta[options.EXIT_CODE] = 0 if network is None else 1
    if json_:
        _print_json(table, found, network)
    elif not quiet:
        from rosenblatt.report.sentences import shortened
        from rosenblatt.report.terminal import print_lines

        lines = _lines(table, found, network, plot)
        print_lines(shortened(expression, 76), lines, len("function"))


def common_point(certificate: Any, table: TruthTable) -> tuple[Shares, list[Fraction]]:
    """A point that is a mean of inputs with the value 0, and of inputs with the value 1."""
    from fractions import Fraction

    shares: Shares = ([], [])
    inputs = table.inputs
    for i, weight in zip(certificate.support, certificate.weights, strict=True):
        share = Fraction(float(weight)).limit_denominator(10**6)
        shares[int(table.values[i])].append((share, inputs[i].tolist()))
    point, other = (
        [sum((share * row[j] for share, row in side), Fraction()) for j in range(table.n)]
        for side in shares
    )
    if point != other:
        msg = f"the shares of the meeting point of {table!r} are too long to be written down"
        raise RuntimeError(msg)
    return shares, point


def _lines(
    table: TruthTable, found: Any, network: Network | None, plot: str | None
) -> Iterator[Line]:
    from rich.text import Text

    from rosenblatt.visible import count

    size = f"{count(table.n, 'variable')}; 1 on {int(table.values.sum())} of "
    yield "function", size + count(table.values.size, "input")
    if table.values.size <= MOST_ROWS:
        yield "table", Text(str(table), no_wrap=True)
    if network is None:
        yield "one unit", Text.assemble(("yes", "bold green"), f": {found}")
        yield "", Text("smallest whole weights, tried on every input", "dim")
    else:
        no = "no hyperplane parts the inputs with 1 from those with 0"
        yield "one unit", Text.assemble(("no", "bold yellow"), f": {no}")
        yield "proof", _proof(*common_point(found, table))
        yield "network", _described(network)
        yield from (("", line) for line in _shown(network))
    if plot:
        yield "drawn", plot


def _proof(shares: Shares, point: list[Fraction]) -> str:
    """The two sums, and why they are a proof."""
    sides = []
    for value, side in enumerate(shares):
        terms = [f"{share} {_vector(row)}" if share != 1 else _vector(row) for share, row in side]
        sides.append(f"with {value}: {' + '.join(terms)} = {_vector(point)}")
    why = "both kinds have this mean: a hyperplane would have it on both sides"
    return "\n".join([*sides, why])


def _vector(values: list[Any]) -> str:
    return f"({','.join(map(str, values))})"


def _described(network: Network) -> str:
    from rosenblatt.visible import count

    units = f"{count(len(network.hidden), 'hidden unit')}"
    if network.form == "counting":
        return f"{units}, which count the inputs that are on"
    if network.fewest:
        return f"{units}, a {network.form}; no sum of products, nor product of sums, has fewer"
    return f"{units}, a {network.form}; few, but perhaps not the fewest"


def _shown(network: Network) -> list[str]:
    lines, unit = str(network).splitlines(), network.output
    rest = len(network.hidden) - MOST_UNITS
    if rest <= 0:
        return lines
    if len(lines[-1]) >= 100:
        from rosenblatt.boolean.units import weighted_sum

        first = weighted_sum(unit.w[:3], unit.names[:3])
        lines[-1] = f"output fires where {first} + ... >= {unit.k:g}"
    return [*lines[:MOST_UNITS], f"... {rest} more (--json has them all)", lines[-1]]


def _print_json(table: TruthTable, found: Any, network: Network | None) -> None:
    whole: dict[str, Any] = {"names": list(table.names), "values": table.bits}
    whole["one_unit"] = network is None
    if network is None:
        whole["unit"] = _unit_as_json(found)
    else:
        shares, point = common_point(found, table)
        whole["proof"] = {"verdict": found.verdict.name, "point": list(map(str, point))}
        for name, side in zip(("zeros", "ones"), shares, strict=True):
            whole["proof"][name] = [{"input": row, "share": str(share)} for share, row in side]
        whole["network"] = {
            "form": network.form,
            "fewest": network.fewest,
            "hidden": [_unit_as_json(unit) for unit in network.hidden],
            "output": _unit_as_json(network.output),
        }
    print_json(whole)


def _unit_as_json(unit: Unit) -> dict[str, Any]:
    return {"w": list(unit.w), "k": unit.k}
