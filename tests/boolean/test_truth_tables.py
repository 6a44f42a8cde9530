"""Truth tables: expressions, and other ways to give a boolean function."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_boolean import corners
from rosenblatt import boolean

SPELLINGS = {
    "&": ["&", "&&", " and ", " AND ", "∧"],
    "|": ["|", "||", " or ", "∨"],
    "^": ["^", " xor ", "⊕"],
    "~": ["~", "!", " not ", "¬"],
}


TIGHTNESS = {"|": 0, "^": 1, "&": 2}


VARIABLES = ["a", "b2", "größe", "_x"]


@st.composite
def expressions(draw, depth=4):
    """A text, its tightness and a function that computes its value by Python's own operators."""
    kind = draw(st.sampled_from(["name", "constant", "~", "&", "|", "^"])) if depth else "name"
    if kind == "name":
        name = draw(st.sampled_from(VARIABLES))
        return name, 4, lambda at: at[name]
    if kind == "constant":
        value = draw(st.booleans())
        return str(int(value)), 4, lambda at: value
    if kind == "~":
        text, tight, inner = draw(expressions(depth - 1))
        sign = draw(st.sampled_from(SPELLINGS["~"]))
        return f"{sign}{text if tight >= 3 else f'({text})'}", 3, lambda at: not inner(at)
    sides = []
    for _ in range(2):
        text, tight, inner = draw(expressions(depth - 1))
        needed = tight < TIGHTNESS[kind] or draw(st.booleans())
        sides.append((f"({text})" if needed else text, inner))
    (left, f), (right, g) = sides
    compute = {
        "&": lambda at: f(at) and g(at),
        "|": lambda at: f(at) or g(at),
        "^": lambda at: f(at) != g(at),
    }
    sign = draw(st.sampled_from(SPELLINGS[kind]))
    return f"{left}{sign}{right}", TIGHTNESS[kind], compute[kind]


class TestParse:
    @settings(max_examples=200)
    @given(expressions())
    def test_value_on_every_input(self, expression):
        text, _, compute = expression
        table = boolean.parse(text, names=VARIABLES)
        for row, value in zip(corners(4), table.values, strict=True):
            assert value == compute(dict(zip(VARIABLES, map(bool, row), strict=True)))

    def test_first_variable_is_most_significant(self):
        assert boolean.parse("x1", names=["x1", "x2"]).bits == "0011"
        assert boolean.parse("x10 & ~x2").names == ("x2", "x10")
        assert boolean.parse("b & ~a") == boolean.parse("~a & b")
        assert boolean.parse("b & ~a").bits == "0100"
        assert boolean.parse("b & ~a").inputs.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]

    def test_tightness(self):
        assert boolean.parse("a | b ^ c & ~d") == boolean.parse("a | (b ^ (c & (~d)))")
        assert boolean.parse("not a and b or c") == boolean.parse("((not a) and b) or c")

    def test_constants(self):
        assert boolean.parse("1").values.tolist() == [True]
        assert boolean.parse("0").values.tolist() == [False]
        assert boolean.parse("true ^ x").bits == "10"
        assert boolean.parse("~~~~~0 & 1").values.tolist() == [True]

    def test_bits_and_arrays(self):
        xor = boolean.parse("0110")
        assert xor == boolean.parse("x1 ^ x2") == boolean.truth_table([0, 1, 1, 0])
        assert boolean.truth_table(np.array([0.0, 1.0])).bits == "01"
        assert boolean.parse("0110 1001").n == 3
        assert boolean.truth_table(xor, names="ab").names == ("a", "b")

    def test_a_table_is_a_function(self):
        table = boolean.parse("x1 & (x2 | ~x3)")
        assert table(1, 0, 0) is True
        assert table(*corners(3).T).tolist() == table.values.tolist()
        assert boolean.parse("1")() is True

    def test_a_table_cannot_be_changed(self):
        table = boolean.parse("0110")
        with pytest.raises(ValueError, match="read-only"):
            table.values[0] = True
        assert {table, boolean.parse("0110")} == {table}
        assert table != "0110"

    def test_text(self):
        assert str(boolean.parse("a & ~bb")).splitlines() == [
            "a  bb  value", "0   0  0", "0   1  0", "1   0  1", "1   1  0"
        ]  # fmt: skip
        assert repr(boolean.parse("a ^ b")) == "TruthTable('0110', names=('a', 'b'))"
        assert repr(boolean.parse("0" * 64)) == "TruthTable(6 variables, 1 on 0 of 64 inputs)"

    def test_long_chains_and_many_negations(self):
        assert boolean.parse(" & ".join(["x"] * 5000)).bits == "01"
        assert boolean.parse("~" * 5001 + "x").bits == "10"

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "the expression is empty"),
            ("   ", "the expression is empty"),
            ("x1 &", "'x1 &' ends too early: a variable"),
            ("x1 & & x2", "'&' at position 6 of .* is out of place: a variable"),
            ("(x1 | x2", "the bracket at position 1 of .* is never closed"),
            ("x1)", r"'\)' at position 3 of .* is out of place: an operator"),
            ("x1 x2", "'x2' at position 4 of .* is out of place: an operator"),
            ("()", r"'\)' at position 2"),
            ("x + y", r"'\+' at position 3 of .* is not understood"),
            ("x1 & 2", "'2' at position 6"),
            ("x1 & 0x", "'0' at position 6"),
            ("x.y", r"'\.' at position 2"),
            ("__import__(os)", r"'\(' at position 11"),
            ("x ~ y", "'~' at position 3"),
            ("not", "'not' ends too early"),
            ("(" * 101 + "x" + ")" * 101, "more than 100 deep"),
            ("011", "3 values fit no number of variables"),
            ("01" * 2**16, "17 variables make a table of 2\\^17 rows: give at most 16"),
            (" & ".join(f"x{j}" for j in range(40)), "40 variables make a table of 2\\^40 rows"),
        ],
    )
    def test_nonsense(self, text, says):
        with pytest.raises(ValueError, match=says) as caught:
            boolean.parse(text)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 200

    @pytest.mark.parametrize(
        ("call", "says"),
        [
            (lambda: boolean.parse("a & b", names=["a"]), "names lacks b"),
            (lambda: boolean.parse("a", names=["a", "a"]), "not all different"),
            (lambda: boolean.parse("0110", names=["a"]), "1 names for 4 values: give 2"),
            (lambda: boolean.truth_table([0, 1, 2, 3]), "this is none"),
            (lambda: boolean.truth_table([[0, 1]]), "this is none"),
            (lambda: boolean.truth_table(None), "this is none"),
            (lambda: boolean.truth_table([]), "0 values fit no number"),
            (lambda: boolean.parse("a")(2), "inputs are 0 and 1"),
        ],
    )
    def test_wrong_names_and_values(self, call, says):
        with pytest.raises(ValueError, match=says):
            call()
