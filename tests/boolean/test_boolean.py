"""Boolean functions: expressions, units, networks, and how many dichotomies there are."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt import boolean, theory


def tables(n):
    """The values of every boolean function of n variables."""
    return (np.array(bits, dtype=bool) for bits in itertools.product([0, 1], repeat=2**n))


def corners(n):
    return np.array(list(itertools.product([0, 1], repeat=n))).reshape(2**n, n)


# units ---------------------------------------------------------------------------------------


class TestUnits:
    @pytest.mark.parametrize("n", [1, 2, 3, 5])
    def test_and_and_or_of_any_number_of_inputs(self, n):
        for x in corners(n):
            assert boolean.and_unit(n)(*x) == all(x)
            assert boolean.or_unit(n)(*x) == any(x)

    def test_weights_and_thresholds_are_the_textbooks(self):
        assert (boolean.and_unit().w, boolean.and_unit().k) == ((1, 1), 1.5)
        assert (boolean.or_unit().w, boolean.or_unit().k) == ((1, 1), 1)
        assert (boolean.not_unit().w, boolean.not_unit().k) == ((-1,), 0)

    def test_not(self):
        assert boolean.not_unit()(0) is True
        assert boolean.not_unit()(1) is False
        assert boolean.not_unit()(np.array([0, 1, 0])).tolist() == [True, False, True]

    def test_inputs_broadcast(self):
        found = boolean.and_unit()(np.array([[0], [1]]), [0, 1, 1])
        assert found.tolist() == [[False, False, False], [False, True, True]]
        X = corners(2)
        assert boolean.or_unit().fires(X).tolist() == boolean.or_unit()(*X.T).tolist()

    def test_units_feed_units(self):
        both, either, no = boolean.and_unit(), boolean.or_unit(), boolean.not_unit()
        x, y = corners(2).T
        assert both(either(x, y), no(both(x, y))).tolist() == (x != y).tolist()

    def test_a_unit_cannot_be_changed(self):
        unit = boolean.or_unit()
        with pytest.raises(AttributeError):
            unit.k = 2
        assert unit == boolean.Unit([1, 1], np.float64(1.0), names=["a", "b"])
        assert hash(unit) == hash(boolean.Unit((1, 1), 1))
        assert unit != boolean.and_unit()

    @pytest.mark.parametrize(
        ("w", "k", "text"),
        [
            ((2, 1, -1), 2, "fires where 2 x1 + x2 - x3 >= 2"),
            ((-1, 0, 3), 0, "fires where -x1 + 3 x3 >= 0"),
            ((0.5, -2.5), -1, "fires where 0.5 x1 - 2.5 x2 >= -1"),
            ((0, 0), 0, "always fires (w = 0, k = 0)"),
            ((0,), 1, "never fires (w = 0, k = 1)"),
        ],
    )
    def test_text(self, w, k, text):
        assert str(boolean.Unit(w, k)) == text

    @pytest.mark.parametrize(
        ("call", "says"),
        [
            (lambda: boolean.and_unit()(1), "1 inputs were given where there are 2"),
            (lambda: boolean.and_unit()(1, 2), "inputs are 0 and 1"),
            (lambda: boolean.or_unit()("0", "1"), "inputs are 0 and 1"),
            (lambda: boolean.and_unit(0), "n=0 is not allowed"),
            (lambda: boolean.Unit([[1]], 0), "make no unit"),
            (lambda: boolean.Unit(["a"], 0), "make no unit"),
            (lambda: boolean.Unit((1, 2), "x"), "make no unit"),
            (lambda: boolean.Unit((1, 2), [1]), "make no unit"),
            (lambda: boolean.Unit([[1], [1, 2]], 0), "make no unit"),
            (lambda: boolean.and_unit(2.5), "n=2.5 is not allowed"),
            (lambda: boolean.Unit([1], np.nan), "make no unit"),
            (lambda: boolean.Unit([1], 1, names=["a", "b"]), "2 names for 1 weights"),
        ],
    )
    def test_nonsense(self, call, says):
        with pytest.raises(ValueError, match=says):
            call()


# expressions ---------------------------------------------------------------------------------

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


# which functions one unit computes -----------------------------------------------------------


def smallest_by_trial(n, most):
    """The smallest unit of every function that weights up to `most` compute, by trying them."""
    best = {}
    for w in itertools.product(range(-most, most + 1), repeat=n):
        sums = corners(n) @ np.array(w, dtype=int)
        for k in range(-n * most, n * most + 2):
            size = (sum(map(abs, w)), abs(k), [-abs(v) for v in w])
            key = tuple(sums >= k)
            if key not in best or size < best[key][0]:
                best[key] = (size, boolean.Unit(w, k))
    return {key: unit for key, (_, unit) in best.items()}


def enumerated(n, most):
    """Every function that whole weights up to `most` compute, as a set of numbers."""
    W = np.array(list(itertools.product(range(-most, most + 1), repeat=n)))
    sums = corners(n) @ W.T
    places = 1 << np.arange(2**n)
    return set().union(
        *((places @ (sums >= k)).tolist() for k in range(-n * most, n * most + 2))
    )  # fmt: skip


class TestThresholdUnit:
    @pytest.mark.parametrize("n", [0, 1, 2, 3])
    def test_every_function_of_few_variables(self, n):
        known = smallest_by_trial(n, 3)
        assert len(known) == [2, 4, 14, 104][n]
        for values in tables(n):
            found = boolean.threshold_unit(values)
            if tuple(values) in known:
                assert found == known[tuple(values)]
                assert found.fires(corners(n)).tolist() == values.tolist()
            else:
                assert found.verdict in (rb.Verdict.INSEPARABLE, rb.Verdict.QUASI_SEPARABLE)
                assert rb.certify.check(found, corners(n).astype(float), values)
                assert len(found.support) == 4
            assert boolean.is_threshold(values) == (tuple(values) in known)

    @pytest.mark.parametrize(("n", "number"), [*enumerate([2, 4, 14, 104, 1882, 94572])])
    def test_how_many_there_are(self, n, number):
        """Counted as regions of an arrangement, in whole numbers: nothing is rounded."""
        assert boolean.count_threshold_functions(n) == number

    @pytest.mark.parametrize(
        ("n", "says"),
        [
            (7, "n=7 takes too long to count: give at most 6"),
            (2.5, r"n=2.5 is not allowed: give a number of variables, 0 to 6"),
            ("3", "n='3' is not allowed"),
            (-1, "n=-1 is not allowed"),
        ],
    )
    def test_what_is_not_counted(self, n, says):
        with pytest.raises(ValueError, match=says):
            boolean.count_threshold_functions(n)

    def test_all_tables_of_four_variables(self):
        """Weights up to 3 give 1882 of the 65 536 functions; as there are no more, exactly these.

        Neighbours of threshold functions, which differ from them in one value, are the hard ones.
        """
        known = enumerated(4, 3)
        assert len(known) == 1882 == boolean.count_threshold_functions(4)
        rng = np.random.default_rng(0)
        for number in rng.choice(sorted(known), 60, replace=False):
            for near in (number, number ^ (1 << rng.integers(16))):
                values = (int(near) >> np.arange(16)) & 1
                assert boolean.is_threshold(values) == (int(near) in known)

    @settings(max_examples=25)
    @given(st.integers(1, 10), st.integers(0, 2**32 - 1))
    def test_units_are_found_again_and_never_larger(self, n, seed):
        rng = np.random.default_rng(seed)
        w, k = rng.integers(-9, 10, n), int(rng.integers(-9, 10))
        values = corners(n) @ w >= k
        found = boolean.threshold_unit(values)
        assert found.fires(corners(n)).tolist() == values.tolist()
        assert sum(map(abs, found.w)) <= abs(w).sum()
        assert all(isinstance(v, int) for v in (*found.w, found.k))
        assert boolean.is_threshold(values)

    @settings(max_examples=15)
    @given(st.integers(4, 10), st.floats(0.1, 0.9), st.integers(0, 2**32 - 1))
    def test_proofs_of_larger_functions(self, n, share, seed):
        values = np.random.default_rng(seed).random(2**n) < share
        found = boolean.threshold_unit(values)
        if isinstance(found, boolean.Unit):
            assert boolean.is_threshold(values)
            return
        zeros, ones = (found.support[values[found.support] == value] for value in (0, 1))
        assert corners(n)[zeros].sum(axis=0).tolist() == corners(n)[ones].sum(axis=0).tolist()
        assert len(zeros) == len(ones) == 2
        assert rb.certify.check(found, corners(n).astype(float), values)

    def test_proofs_where_it_only_rises(self):
        """Two pairs of four variables: no variable both rises and falls, and yet no unit."""
        proof = boolean.threshold_unit("a & b | c & d")
        assert boolean.parse("a & b | c & d").inputs[proof.support].tolist() == [
            [0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0]
        ]  # fmt: skip

    def test_sixteen_variables(self):
        names = [f"x{j + 1}" for j in range(16)]
        unit = boolean.threshold_unit(" & ".join(names))
        assert (unit.w, unit.k) == ((1,) * 16, 16)
        assert not boolean.is_threshold(" ^ ".join(names))

    def test_xor(self):
        proof = boolean.threshold_unit("x1 ^ x2")
        assert proof.verdict is rb.Verdict.INSEPARABLE
        assert sorted(proof.support) == [0, 1, 2, 3]
        assert proof.weights.tolist() == [0.5] * 4
        assert proof.point.tolist() == [0.5, 0.5]

    def test_names_are_those_of_the_expression(self):
        assert str(boolean.threshold_unit("rain & ~umbrella")) == "fires where rain - umbrella >= 1"

    def test_variables_that_do_not_matter_have_no_weight(self):
        assert boolean.threshold_unit(boolean.parse("b", names="abc")).w == (0, 1, 0)
        assert boolean.threshold_unit("a | ~a") == boolean.Unit([0], 0)
        assert boolean.threshold_unit("a & ~a") == boolean.Unit([0], 1)


# networks ------------------------------------------------------------------------------------


def products(n):
    """All products of n variables as sets of inputs, in bits."""
    for literals in itertools.product([0, 1, None], repeat=n):
        fits = [all(a in (None, b) for a, b in zip(literals, x, strict=True)) for x in corners(n)]
        yield sum(1 << i for i, fit in enumerate(fits) if fit)


def fewest_products(values):
    """The length of the shortest sum of products, by trying one, two, three ... of them."""
    goal = sum(1 << i for i, value in enumerate(values) if value)
    implicants = [p for p in products(len(values).bit_length() - 1) if p & ~goal == 0]
    reached = {0}
    for length in itertools.count():
        if goal in reached:
            return length
        reached |= {a | b for a in reached for b in implicants}


def changes(values):
    """How often the value changes with the number of inputs on; None if not only that counts."""
    on = corners(len(values).bit_length() - 1).sum(axis=1)
    sets = [set(values[on == j].tolist()) for j in range(on.max() + 1)]
    if any(len(values_) > 1 for values_ in sets):
        return None
    return sum(a != b for a, b in itertools.pairwise(sets))


class TestNetworks:
    @pytest.mark.parametrize("n", [0, 1, 2, 3])
    def test_every_function_of_few_variables(self, n):
        single = 0
        for values in tables(n):
            network = boolean.two_level_network(values)
            assert network.fires(corners(n)).tolist() == values.tolist()
            assert network.fewest
            single += network.form == "one unit"
            assert (network.hidden == ()) == (network.form == "one unit")
            if network.hidden:
                sizes = [fewest_products(values), fewest_products(~values), changes(values)]
                assert len(network.hidden) == min(size for size in sizes if size is not None)
        assert single == [2, 4, 14, 104][n]

    @settings(max_examples=15)
    @given(st.integers(4, 12), st.floats(0, 1), st.integers(0, 2**32 - 1))
    def test_random_functions(self, n, share, seed):
        values = np.random.default_rng(seed).random(2**n) < share
        network = boolean.two_level_network(values)
        assert network(*corners(n).T).tolist() == values.tolist()
        assert len(network.hidden) <= 2 ** (n - 1)

    @pytest.mark.parametrize("n", [2, 3, 4, 5, 8])
    def test_parity_needs_no_more_hidden_units_than_inputs(self, n):
        network = boolean.two_level_network(" ^ ".join(f"x{j + 1}" for j in range(n)))
        assert len(network.hidden) == n
        assert network.form == ("sum of products" if n == 2 else "counting")

    def test_not_proved_is_said(self):
        values = np.random.default_rng(0).random(2**12) < 0.5
        network = boolean.two_level_network(values)
        assert not network.fewest
        assert network.form in ("sum of products", "product of sums")

    @settings(max_examples=30)
    @given(st.integers(0, 2**32 - 1))
    def test_hidden_units_are_ands_or_ors(self, seed):
        values = np.random.default_rng(seed).random(2**5) < 0.5
        network = boolean.two_level_network(values)
        for unit in network.hidden:
            plus, minus = unit.w.count(1), unit.w.count(-1)
            assert plus + minus + unit.w.count(0) == 5
            if network.form == "sum of products":
                assert unit.k == plus
            if network.form == "product of sums":
                assert unit.k == 1 - minus

    def test_text(self):
        assert str(boolean.two_level_network("x1 ^ x2")).splitlines() == [
            "h1 fires where x1 - x2 >= 1",
            "h2 fires where -x1 + x2 >= 1",
            "output fires where h1 + h2 >= 1",
        ]
        product = str(boolean.two_level_network("(a | b) & (c | d)"))
        assert product.splitlines()[-1] == "output fires where h1 + h2 >= 2"
        assert str(boolean.two_level_network("a & b")) == "output fires where a + b >= 2"

    def test_hidden_units_have_names_of_their_own(self):
        network = boolean.two_level_network("h1 ^ h2")
        assert network.names == ("h1", "h2")
        assert network.output.names == ("unit1", "unit2")

    def test_calls(self):
        network = boolean.two_level_network("x1 ^ x2")
        assert network(1, 0) is True
        assert network([0, 1], 1).tolist() == [True, False]
        with pytest.raises(ValueError, match="3 inputs were given where there are 2"):
            network(1, 0, 1)


# dichotomies ---------------------------------------------------------------------------------


def realised(X, y, fit_intercept):
    """Whether a hyperplane realises this labeling, as `rb.separability` judges."""
    if not fit_intercept:  # all y·x on one side of it: separated from their mirror images
        X, y = np.vstack([y[:, None] * X, -y[:, None] * X]), np.repeat([1, -1], len(X))
    if len(set(y.tolist())) < 2:
        return True
    return rb.separability(X.astype(float), y).verdict is rb.Verdict.SEPARABLE


def count_by_trial(X, fit_intercept=True):
    labelings = itertools.product([-1, 1], repeat=len(X))
    return sum(realised(X, np.array(y), fit_intercept) for y in labelings)


@st.composite
def few_points(draw):
    """Points on a small grid: often on one line, or twice the same."""
    d = draw(st.integers(1, 3))
    point = st.lists(st.integers(-1, 1), min_size=d, max_size=d)
    return np.array(draw(st.lists(point, min_size=1, max_size=5)))


class TestDichotomies:
    @settings(max_examples=25)
    @given(few_points(), st.booleans())
    def test_as_many_as_are_found_by_trial(self, X, fit_intercept):
        found = boolean.count_dichotomies(X, fit_intercept=fit_intercept)
        assert found == count_by_trial(X, fit_intercept)
        assert boolean.shatters(X, fit_intercept=fit_intercept) == (found == 2 ** len(X))

    @pytest.mark.parametrize(("n", "d"), [(1, 1), (4, 2), (9, 2), (8, 3), (9, 4), (7, 6), (6, 9)])
    def test_cover(self, n, d):
        X = np.random.default_rng(n + d).standard_normal((n, d))
        assert boolean.count_dichotomies(X) == theory.cover_count(n, d)
        through_zero = boolean.count_dichotomies(X, fit_intercept=False)
        assert through_zero == theory.cover_count(n, d - 1)

    @pytest.mark.parametrize("n", [1, 2, 5, 12])
    def test_points_on_a_line(self, n):
        X = np.outer(np.arange(n), [1, 2, -1]) + np.array([5, 0, 1])
        assert boolean.count_dichotomies(X) == 2 * n
        assert boolean.shatters(X) == (n <= 2)

    def test_a_point_given_twice_has_one_label(self):
        X = np.random.default_rng(0).standard_normal((5, 2))
        assert boolean.count_dichotomies(X[[0, 1, 2, 3, 4, 4, 0]]) == boolean.count_dichotomies(X)
        assert not boolean.shatters(X[[0, 0]])

    @pytest.mark.parametrize("scale", [1.0, 2.0**900, 2.0**-900])
    def test_nothing_is_rounded(self, scale):
        """The middle one of three points on a line, moved by the least a float can be moved."""
        line = np.array([[0.0, 0.0], [1.0, 3.0], [2.0, 6.0]])
        assert boolean.count_dichotomies(line * scale) == 6
        line[1, 0] = np.nextafter(1.0, 2.0)
        assert boolean.count_dichotomies(line * scale) == 8
        assert boolean.shatters(line * scale)

    def test_numbers_beyond_64_bits(self):
        X = np.random.default_rng(1).integers(0, 2, (8, 3)) * 1e300 + [[0], [1]] * 4
        small = X.copy()
        small[small > 1] = 10**6
        assert boolean.count_dichotomies(X) == boolean.count_dichotomies(small) > 8

    def test_nothing_at_all(self):
        assert boolean.count_dichotomies(np.zeros((0, 2))) == 1
        assert boolean.count_dichotomies(np.zeros((3, 0))) == 2
        assert boolean.count_dichotomies([[0, 0], [1, 1]], fit_intercept=False) == 0
        assert boolean.shatters(np.zeros((0, 2)))

    @pytest.mark.parametrize(
        ("X", "says"),
        [([1, 2], "shape"), ([["a"]], "X holds text: give numbers"), ([[np.nan]], "not finite")],
    )
    def test_nonsense(self, X, says):
        with pytest.raises(ValueError, match=says):
            boolean.count_dichotomies(X)

    @pytest.mark.parametrize(("n", "d"), [(30, 10), (20_000, 2)])
    def test_too_much_to_count(self, n, d):
        X = np.random.default_rng(0).integers(-(10**6), 10**6, (n, d))
        with pytest.raises(ValueError, match=r"^\d+ points .* too many .*theory\.cover_count"):
            boolean.count_dichotomies(X)

    def test_many_points_in_as_many_dimensions(self):
        X = np.vstack([np.eye(30), np.arange(30)])[:, :29]
        assert boolean.count_dichotomies(X) > 2**29  # work for a few dozen steps


class TestPointsInThePlane:
    """The classroom's questions: which labelings of two, three and four points have a line?"""

    square = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    triangle = np.array([[0, 0], [1, 0], [0, 1]])
    line = np.array([[0, 0], [1, 1], [2, 2], [3, 3]])
    inside = np.array([[0, 0], [4, 0], [0, 4], [1, 1]])

    def test_two(self):
        """Every two different points, in every labeling."""
        assert boolean.count_dichotomies(self.line[:2]) == 4
        assert boolean.shatters(self.line[:2])

    def test_three(self):
        """Some sets of three in every labeling, but not those on a line."""
        assert boolean.shatters(self.triangle)
        assert boolean.count_dichotomies(self.line[:3]) == 6
        assert not realised(self.line[:3], np.array([1, -1, 1]), fit_intercept=True)

    @pytest.mark.parametrize(
        ("points", "number", "impossible"),
        [("square", 14, [1, -1, -1, 1]), ("inside", 14, [1, 1, 1, -1]), ("line", 8, [1, -1, 1, 1])],
    )
    def test_four(self, points, number, impossible):
        """No set of four in every labeling; in general position all but two of the sixteen."""
        X = getattr(self, points)
        assert boolean.count_dichotomies(X) == number
        assert not boolean.shatters(X)
        assert not realised(X, np.array(impossible), fit_intercept=True)

    @given(st.lists(st.tuples(*[st.integers(-50, 50)] * 2), min_size=4, max_size=4))
    def test_no_four_points_are_shattered(self, points):
        assert not boolean.shatters(points)
        assert boolean.count_dichotomies(points) <= 14


class TestCover:
    def test_formula(self):
        for n in range(1, 12):
            for d in range(12):
                exact = 2 * sum(comb(n - 1, k) for k in range(d + 1))
                assert rb.theory.cover_count(n, d) == exact
                assert rb.theory.cover_probability(n, d) == exact / 2**n

    @pytest.mark.parametrize("d", [0, 1, 2, 10, 100, 3000])
    def test_half_at_twice_as_many_points_as_parameters(self, d):
        assert rb.theory.cover_probability(2 * (d + 1), d) == pytest.approx(0.5, rel=1e-11)
        assert rb.theory.cover_probability(d + 1, d) == 1.0

    def test_many_points(self):
        assert rb.theory.cover_probability(10**6, 20) == 0.0
        assert 0 < rb.theory.cover_probability(1000, 3) < 1e-290
        exact = Fraction(rb.theory.cover_count(6000, 2900), 2**6000)
        assert rb.theory.cover_probability(6000, 2900) == pytest.approx(float(exact), rel=1e-10)

    def test_names(self):
        assert theory.cover_count(4, 2) == 14
        assert theory.cover_probability(4, 2) == 14 / 16
        assert theory.cover_probability(0, 2) == 1.0

    @pytest.mark.parametrize(("n", "d"), [(-1, 2), (3, -1), (2.5, 1)])
    def test_nonsense(self, n, d):
        with pytest.raises(ValueError, match="is not allowed: give a whole number"):
            rb.theory.cover_count(n, d)


# what surrounds it ---------------------------------------------------------------------------


def test_wrong_answers_of_the_solver_do_not_get_out(monkeypatch):
    from rosenblatt.boolean import _products, _smallest

    monkeypatch.setattr(_smallest, "weights", lambda values, **_: ((1, 1), 1))
    with pytest.raises(RuntimeError, match="please report it"):
        boolean.threshold_unit("a & b")
    monkeypatch.undo()
    few = _products.few_products
    monkeypatch.setattr(
        _products, "few_products", lambda values: few(values)._replace(products=few(values)[0][1:])
    )
    with pytest.raises(RuntimeError, match="please report it"):
        boolean.two_level_network("a & b | c & d")


def test_the_reference_names_everything():
    import re
    from pathlib import Path

    text = (Path(__file__).parents[2] / "docs" / "reference.md").read_text()
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", text))))
    assert not set(boolean.__all__) - named
    assert all(getattr(boolean, name).__doc__ for name in boolean.__all__)


@pytest.mark.parametrize("part", ["tables", "units", "networks", "dichotomies"])
def test_docstrings(part):
    import doctest
    import importlib

    failed, tried = doctest.testmod(importlib.import_module(f"rosenblatt.boolean.{part}"))
    assert (failed, tried > 0) == (0, True)


# pictures ------------------------------------------------------------------------------------


def find(ax, start):
    return [line for line in ax.lines if str(line.get_gid()).startswith(start)]


class TestPicture:
    def test_network(self):
        network = boolean.two_level_network("left ^ right")
        ax = rb.plot.network(network)
        written = [text.get_text() for text in ax.texts]
        assert {"left", "right", "h1", "h2", "output"} <= set(written)
        assert written.count("≥ 1") == 3
        assert (written.count("+1"), written.count("−1")) == (4, 2)
        assert (len(find(ax, "weight 1")), len(find(ax, "weight 2"))) == (4, 2)

    def test_signs_differ_without_colour(self):
        (plus,), (minus,) = (
            find(rb.plot.network(boolean.Unit([w], 0)), "weight 1 0 0") for w in (1, -1)
        )
        assert plus.get_linestyle() != minus.get_linestyle()

    def test_unit(self):
        from matplotlib.figure import Figure

        ax = Figure().subplots()
        assert rb.plot.network(boolean.Unit([2, 1, -1, 0], 2), ax=ax) is ax
        written = [text.get_text() for text in ax.texts]
        assert {"≥ 2", "+2", "+1", "−1", "x4"} <= set(written)
        assert len(find(ax, "weight")) == 3

    def test_weights_stand_on_their_lines_and_not_on_each_other(self):
        ax = rb.plot.network(boolean.two_level_network("x1 & ~x2 | x3 & x4 | ~x1 & x5"))
        numbers = [text for text in ax.texts if text.get_text() in ("+1", "−1")]
        at = np.array([text.get_position() for text in numbers])
        apart = np.abs(at[:, None] - at) + 9 * np.eye(len(at))[:, :, None]
        assert ((apart[..., 0] > 0.4) | (apart[..., 1] > 0.24)).all()

    def test_large_networks_are_cut(self):
        values = np.random.default_rng(0).random(2**8) < 0.5
        network = boolean.two_level_network(values)
        ax = rb.plot.network(network)
        written = [text.get_text() for text in ax.texts]
        assert f"… {len(network.hidden) - 12} more" in written
        assert "h12" in written
        assert "h13" not in written
        assert "+1" not in written

    def test_many_inputs(self):
        ax = rb.plot.network(boolean.and_unit(15))
        assert "… 3 more" in [text.get_text() for text in ax.texts]
        assert len(find(ax, "weight")) == 12
        ax.figure.canvas.draw()
        assert ax.get_position().width > 0.9  # its caption leaves it room

    @pytest.mark.parametrize(
        ("table", "says"), [("0", "never fires"), ("1", "always fires"), ("1111", "always fires")]
    )
    def test_constants_say_what_they_do(self, table, says):
        ax = rb.plot.network(boolean.two_level_network(table))
        assert says in {text.get_text() for text in ax.texts}

    def test_no_inputs(self):
        ax = rb.plot.network(boolean.two_level_network("1"))
        assert "≥ 0" in [text.get_text() for text in ax.texts]

    def test_nonsense(self):
        with pytest.raises(ValueError, match="cannot draw str: give a Network or a Unit"):
            rb.plot.network("x1 ^ x2")
