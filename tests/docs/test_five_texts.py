"""The table of the texts' formulas: every name in it exists, and no formula is left out."""

import re
from operator import attrgetter
from pathlib import Path

import pytest

import rosenblatt as rb

PAGE = Path(__file__).parents[2] / "docs" / "texts" / "formulas.md"
NAMES = sorted(set(re.findall(r"`rb\.([\w.]+)`", PAGE.read_text())))


@pytest.mark.parametrize("name", NAMES)
def test_a_formula_lives_where_the_table_says(name):
    assert attrgetter(name)(rb) is not None


def test_the_table_names_every_formula_of_the_theory():
    theory = {
        name
        for name, value in vars(rb.theory).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == rb.theory.__name__
    }
    assert {f"theory.{name}" for name in theory | {"losses"}} == {
        name for name in NAMES if name.startswith("theory.")
    }
