"""Numbers as people write them, from training to prediction."""

from pathlib import Path

import pytest

from commands import call, fitted

pytestmark = pytest.mark.usefixtures("folder")

QUICK = ("--cv", 0, "--max-epochs", 2)
AMOUNTS = [1234.5, 56.0, 7890.0, 12.25, 345678.0, 9.0, 1200.0, 33.5] * 3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, form, delimiter="\t", amounts=AMOUNTS):
    rows = [f"{form(x)}{delimiter}{'ab'[k % 2]}" for k, x in enumerate(amounts)]
    Path(name).write_text("\n".join([f"amount{delimiter}class", *rows]))
    return name


def english(x):
    return f"${x:,.2f}"


def german(x):
    return f"{x:,.2f} €".translate(str.maketrans(",.", ".,"))


def answers(model, file):
    call("predict", model, file, "-q", "-o", "answers.csv")
    return Path("answers.csv").read_text()


@pytest.mark.parametrize("form", [english, german])
def test_money_is_numbers_in_training_and_prediction(form):
    found = fitted(write("t.tsv", form), *QUICK, "-o", "m.skops")
    assert found["features"] == 1
    assert any("without the signs of money" in note for note in found["notes"])
    plain = write("plain.csv", str, ",")
    assert answers("m.skops", "t.tsv") == answers("m.skops", plain)


def test_prediction_reads_commas_as_training_did():
    fitted(write("t.tsv", english), *QUICK, "-o", "english.skops")
    fitted(write("u.tsv", german), *QUICK, "-o", "german.skops")
    whole = [x * 1000 for x in range(1, 25)]
    write("either.csv", lambda x: f'"{x:,}"', ",", whole)
    write("thousands.csv", str, ",", whole)
    write("units.csv", lambda x: str(x // 1000), ",", whole)
    assert answers("english.skops", "either.csv") == answers("english.skops", "thousands.csv")
    assert answers("german.skops", "either.csv") == answers("german.skops", "units.csv")


def test_prediction_names_no_option_of_training():
    fitted(write("t.tsv", english), *QUICK, "-o", "m.skops")
    said = call("predict", "m.skops", "t.tsv", "-o", "answers.csv").stderr
    assert "is read as numbers, without the signs of money." in said
    assert "--category" not in said


def test_the_decimal_mark_as_told():
    file = write("t.tsv", lambda x: f"{int(x) + 1000:,}")
    assert "--decimal , for decimal commas" in str(fitted(file, *QUICK)["notes"])
    found = fitted(file, *QUICK, "--decimal", ",", "-o", "m.skops")
    assert "Column 'amount' is read as numbers with a decimal comma." in found["notes"]
    assert "give '.' or ','" in call("fit", file, "--decimal", ";", code=2).stderr
    call("check", file, "--decimal", ",", "-o", "c.json", "-q")
    assert "valid" in call("check", file, "--verify", "c.json").stdout


def test_bad_cells_and_lines():
    rows = [f"{x},{x}.5,{'ab'[x % 2]}" for x in range(60)]
    Path("t.csv").write_text("\n".join(["x,z,class", *rows, "oops,1,a", "1,b", "1,2,3,a"]))
    error = call("fit", "t.csv", code=2).stderr
    assert "line 63 has 2 fields, line 64 has 4, but the table has 3 columns" in error
    found = fitted("t.csv", "--skip-bad-lines", *QUICK, "-o", "m.skops")
    assert found["rows"] == 61
    assert any(note.startswith("2 lines are left out") for note in found["notes"])
    assert any("'oops' in data row 61" in note for note in found["notes"])
    told = call("predict", "m.skops", "t.csv", "--skip-bad-lines", "-o", "a.csv").stderr
    assert "One of 61 cells of column 'x' is no number" in told
    many = [f"{'no' if x % 5 == 0 else x},{'ab'[x % 2]}" for x in range(60)]
    Path("u.csv").write_text("\n".join(["x,class", *many]))
    error = call("fit", "u.csv", "--number", "x", code=2).stderr
    assert "12 of its 60 cells are not: 'no' in data row 1: correct" in error
    assert "--missing" in error
    assert "--category" in error
