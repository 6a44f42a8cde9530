"""Networks of threshold units, and their pictures."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from reference_boolean import corners, tables
from rosenblatt import boolean


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


def test_wrong_answers_of_the_solver_do_not_get_out(monkeypatch):
    from rosenblatt.boolean import networks, units

    monkeypatch.setattr(units, "_weights", lambda values, **_: ((1, 1), 1))
    with pytest.raises(RuntimeError, match="please report it"):
        boolean.threshold_unit("a & b")
    monkeypatch.undo()
    few = networks._few_products
    monkeypatch.setattr(
        networks, "_few_products", lambda values: (few(values)[0][1:], few(values)[1])
    )
    with pytest.raises(RuntimeError, match="please report it"):
        boolean.two_level_network("a & b | c & d")


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
