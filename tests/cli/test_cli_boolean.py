"""``rosenblatt boolean``: what it prints, what it draws, how it ends."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import commands
from rosenblatt import boolean

pytestmark = pytest.mark.usefixtures("plain_terminal")


def call(*arguments, code):
    done = commands.call("boolean", *arguments, code=code)
    return done.stdout if code != 2 else done.stderr


def test_one_unit():
    printed = call("x1 & (x2 | ~x3)", code=0)
    assert "3 variables; 1 on 3 of 8 inputs" in printed
    assert "one unit  yes: fires where 2 x1 + x2 - x3 >= 2\n" in printed
    rows = re.findall(r"^ +([01])  +([01])  +([01])  ([01])$", printed, re.MULTILINE)
    table = boolean.parse("x1 & (x2 | ~x3)")
    assert [tuple(map(int, row[:3])) for row in rows] == list(map(tuple, table.inputs.tolist()))
    assert "".join(row[3] for row in rows) == table.bits
    assert "proof" not in printed
    assert "network" not in printed


def test_no_unit():
    printed = call("a ^ b", code=1)
    for line in (
        "one unit  no: no hyperplane parts the inputs with 1 from those with 0",
        "proof     with 0: 1/2 (0,0) + 1/2 (1,1) = (1/2,1/2)",
        "          with 1: 1/2 (0,1) + 1/2 (1,0) = (1/2,1/2)",
        "          both kinds have this mean: a hyperplane would have it on both sides",
        "          h1 fires where a - b >= 1",
        "          output fires where h1 + h2 >= 1",
    ):
        assert line in printed.splitlines()


def test_bits_are_a_table():
    assert call("0110", code=1).splitlines()[1:] == call("x1 xor x2", code=1).splitlines()[1:]


def test_constants():
    assert "yes: always fires" in call("1", code=0)
    assert "yes: never fires" in call("x & ~x", code=0)


def test_parity_is_counted():
    assert "3 hidden units, which count the inputs that are on" in call("01101001", code=1)


def test_large_functions_are_summed_up():
    bits = "".join(map(str, np.random.default_rng(0).integers(0, 2, 2**11)))
    printed = call(bits, code=1)
    assert "11 variables; 1 on" in printed
    assert "value" not in printed
    hidden = int(re.search(r"(\d+) hidden units", printed).group(1))
    assert f"... {hidden - 12} more (--json has them all)" in printed
    assert re.search(r"output fires where h1 \+ h2 \+ h3 \+ \.\.\. >= \d+\n", printed)
    assert len(printed.splitlines()) < 30
    found = json.loads(call(bits, "--json", code=1))
    assert len(found["network"]["hidden"]) == hidden


def test_json_of_a_unit():
    found = json.loads(call("rain & ~umbrella", "--json", code=0))
    assert found == {
        "names": ["rain", "umbrella"],
        "values": "0010",
        "one_unit": True,
        "unit": {"w": [1, -1], "k": 1},
    }


@pytest.mark.parametrize("text", ["0110", "x1 & x2 | x3 & x4", "a ^ b ^ c", "0110100110010110"])
def test_json_of_a_proof_and_a_network_holds(text):
    """Both are tried again with what was printed alone."""
    from fractions import Fraction

    found = json.loads(call(text, "--json", code=1))
    table = boolean.parse(text)
    assert found["values"] == table.bits
    for value, side in enumerate((found["proof"]["zeros"], found["proof"]["ones"])):
        shares = [Fraction(part["share"]) for part in side]
        assert sum(shares) == 1
        assert min(shares) > 0
        assert all(table(*part["input"]) == value for part in side)
        inputs = zip(*(part["input"] for part in side), strict=True)
        mean = [sum(map(Fraction.__mul__, shares, map(Fraction, column))) for column in inputs]
        assert mean == list(map(Fraction, found["proof"]["point"]))
    network = found["network"]
    hidden = [table.inputs @ unit["w"] >= unit["k"] for unit in network["hidden"]]
    output = np.transpose(hidden) @ network["output"]["w"] >= network["output"]["k"]
    assert output.tolist() == table.values.tolist()


def test_a_reader_that_has_gone_changes_no_answer():
    script = f'"{sys.executable}" -m rosenblatt.cli boolean "a ^ b" | true; echo ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_terminals_that_know_few_letters():
    done = commands.call("boolean", "größe ^ b", code=1, charset="ascii")
    assert b"gr??e" in done.stdout_bytes
