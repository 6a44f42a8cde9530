"""Small tables with known answers."""

from pathlib import Path

import pytest

from commands import dunkers_table, table, xor_table


@pytest.fixture
def apart():
    """Separable by x at 2.5 and by nothing else."""
    return table(
        "apart.csv",
        {"x": [1, 2, 3, 4], "z": [5, 1, 1, 5], "y": ["low", "low", "high", "high"]},
    )


@pytest.fixture
def quasi():
    """Widows are always poor, gain is always rich; the rest is mixed. Row 9 has no class."""
    text = """age,marital,gain,who
    30,Widowed,0,poor
    40,Widowed,0,poor
    35,Married,0,poor
    35,Single,0,rich
    37,Married,0,rich
    33,Single,0,poor
    50,Married,9,rich
    36,Single,0,poor
    36,Single,0,
    36,Single,0,rich
    """
    Path("quasi.csv").write_text("\n".join(line.strip() for line in text.splitlines()) + "\n")
    return "quasi.csv"


@pytest.fixture
def twins():
    return table(
        "twins.csv", {"a": [1, 5, 3, 5, 2], "b": [0, 1, 0, 1, 1], "y": ["n", "n", "n", "p", "p"]}
    )


@pytest.fixture
def dunkers():
    return dunkers_table()


@pytest.fixture
def xor():
    return xor_table()
