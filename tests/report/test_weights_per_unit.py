"""Weights per unit of the table: what one more in a cell does to the decision value."""

import numpy as np
import pytest

from commands import call, fitted, table

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture
def patients():
    hours = [f"2024-01-{1 + k * k % 28:02} {5 * k * k % 23:02}:00" for k in range(12)]
    return {
        "age": [30 + 5 * k for k in range(12)],
        "weight": [f"{70 + 3 * (k % 5)} kg" for k in range(12)],
        "when": hours,
        "smokes": ["yes", "no", "no"] * 4,
        "ill": ["no"] * 6 + ["yes"] * 6,
    }


def test_one_more_unit_changes_the_decision_by_the_weight_per_unit(patients):
    name = table("patients.csv", patients)
    (plane,) = fitted(name, "--cv", 0, "-o", "m.skops")["hyperplanes"]
    slopes = plane["weights_per_unit"]
    assert list(slopes) == ["age", "weight", "when", "when:hour"]
    before = {"age": [40], "weight": ["70 kg"], "when": ["2024-01-01 06:00"], "smokes": ["no"]}
    later = "2024-01-08 06:00", "2024-01-01 07:00"  # the same day of the week, the same day
    more = {"age": [41], "weight": ["71 kg"], "when": [later[0]]}, {"when": [later[1]]}
    rows = [before, *(before | {name: cells} for name, cells in more[0].items()), before | more[1]]
    new = table("new.csv", {name: [row[name][0] for row in rows] for name in before})
    lines = call("predict", "m.skops", new, "-q").stdout.splitlines()[1:]
    first, *others = (float(line.rpartition(",")[2]) for line in lines)
    wanted = [slopes["age"], slopes["weight"], 7 * slopes["when"]]
    wanted.append(slopes["when"] / 24 + slopes["when:hour"])
    np.testing.assert_allclose(np.array(others) - first, wanted, atol=1e-12)
    assert all(slopes.values())
    shown = " ".join(call("show", "m.skops").stdout.split())
    for column, unit in {"age": "unit", "weight": "kg", "when": "day", "when:hour": "hour"}.items():
        assert f"{slopes[column]:+.4g} per {unit}" in shown
    assert shown.count(" per ") == 4  # smokes=yes is there or not


def test_numbers_as_they_are_have_one_weight(patients):
    name = table("patients.csv", {column: patients[column] for column in ("age", "ill")})
    (plane,) = fitted(name, "--cv", 0, "--raw", "-o", "m.skops")["hyperplanes"]
    assert "weights_per_unit" not in plane
    assert " per unit" not in call("show", "m.skops").stdout
