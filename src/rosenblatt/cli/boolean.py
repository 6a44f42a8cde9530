"""``rosenblatt boolean``: can one unit compute a boolean function, and what can if it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rosenblatt.cli import options
from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.visible import print_json

if TYPE_CHECKING:
    from fractions import Fraction

    from rosenblatt.boolean import Network, TruthTable, Unit
    from rosenblatt.results import Inseparable, QuasiSeparable

MOST_ROWS = 32  # of a truth table that is printed whole
MOST_UNITS = 12
EXPRESSION = "Such as 'x1 & (x2 | ~x3)', or the values of the table such as 0110."
PLOT = "Draw the unit or the network: .png, .svg or .pdf."


class CommonPoint(NamedTuple):
    """A point that is a mean of inputs with the value 0, and of inputs with the value 1."""

    zeros: list[tuple[Fraction, list[int]]]
    ones: list[tuple[Fraction, list[int]]]
    point: list[Fraction]


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
        progress.say("starting")
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
        _print(expression, table, found, network, plot)
    raise typer.Exit(ctx.meta[options.EXIT_CODE])


def common_point(certificate: Inseparable | QuasiSeparable, table: TruthTable) -> CommonPoint:
    """What a certificate proves, in fractions."""
    from fractions import Fraction

    shares: dict[int, list[tuple[Fraction, list[int]]]] = {0: [], 1: []}
    inputs = table.inputs
    for i, weight in zip(certificate.support, certificate.weights, strict=True):
        share = Fraction(float(weight)).limit_denominator(10**6)
        shares[int(table.values[i])].append((share, inputs[i].tolist()))
    points = [
        [sum((share * row[j] for share, row in shares[value]), Fraction()) for j in range(table.n)]
        for value in (0, 1)
    ]
    if points[0] != points[1]:
        msg = f"the shares of the meeting point of {table!r} are too long to be written down"
        raise RuntimeError(msg)
    return CommonPoint(shares[0], shares[1], points[0])


def _print(
    expression: str,
    table: TruthTable,
    found: Unit | Inseparable | QuasiSeparable,
    network: Network | None,
    plot: str | None,
) -> None:
    from rich.text import Text

    from rosenblatt.report.sentences import shortened
    from rosenblatt.report.terminal import new_console, new_grid, print_parts
    from rosenblatt.visible import count

    lines = new_grid(len("function"))
    size = f"{count(table.n, 'variable')}; 1 on {int(table.values.sum())} of "
    lines.add_row("function", size + count(table.values.size, "input"))
    if table.values.size <= MOST_ROWS:
        lines.add_row("table", Text(str(table), no_wrap=True))
    if network is None:
        lines.add_row("one unit", Text.assemble(("yes", "bold green"), f": {found}"))
        lines.add_row("", Text("smallest whole weights, tried on every input", "dim"))
    else:
        no = "no hyperplane parts the inputs with 1 from those with 0"
        lines.add_row("one unit", Text.assemble(("no", "bold yellow"), f": {no}"))
        certificate: Any = found
        lines.add_row("proof", _proof(common_point(certificate, table)))
        lines.add_row("network", _described(network))
        for line in _shown(network):
            lines.add_row("", line)
    if plot:
        lines.add_row("drawn", plot)
    print_parts(new_console(), Text(shortened(expression, 76), "bold"), lines)


def _proof(meet: CommonPoint) -> str:
    """The two sums, and why they are a proof."""
    sides = []
    for value, side in enumerate((meet.zeros, meet.ones)):
        terms = [f"{share} {_vector(row)}" if share != 1 else _vector(row) for share, row in side]
        sides.append(f"with {value}: {' + '.join(terms)} = {_vector(meet.point)}")
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
    lines = str(network).splitlines()
    rest = len(network.hidden) - MOST_UNITS
    if rest > 0:
        last = lines[-1] if len(lines[-1]) < 100 else f"output {_output(network)}"
        lines = [*lines[:MOST_UNITS], f"... {rest} more (--json has them all)", last]
    return lines


def _output(network: Network) -> str:
    """The output of very many hidden units, cut short."""
    from rosenblatt.boolean.units import weighted_sum

    unit = network.output
    return f"fires where {weighted_sum(unit.w[:3], unit.names[:3])} + ... >= {unit.k:g}"


def _print_json(
    table: TruthTable, found: Unit | Inseparable | QuasiSeparable, network: Network | None
) -> None:
    whole: dict[str, Any] = {
        "names": list(table.names),
        "values": table.bits,
        "one_unit": network is None,
    }
    answer: Any = found
    if network is None:
        whole["unit"] = _unit_as_json(answer)
    else:
        meet = common_point(answer, table)
        sides = {"zeros": meet.zeros, "ones": meet.ones}
        whole["proof"] = {
            "verdict": answer.verdict.name,
            "point": list(map(str, meet.point)),
            **{
                name: [{"input": row, "share": str(share)} for share, row in side]
                for name, side in sides.items()
            },
        }
        whole["network"] = {
            "form": network.form,
            "fewest": network.fewest,
            "hidden": [_unit_as_json(unit) for unit in network.hidden],
            "output": _unit_as_json(network.output),
        }
    print_json(whole)


def _unit_as_json(unit: Unit) -> dict[str, Any]:
    return {"w": list(unit.w), "k": unit.k}
