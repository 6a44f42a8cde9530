"""``rosenblatt export``: files that run without rosenblatt, or one line on why not."""

import runpy
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from commands import PENGUINS, call, table

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture
def model():
    call("fit", PENGUINS, "--target", "species", "-q", "-o", "m.skops", "--cv", 0)
    return "m.skops"


def test_what_is_written_says_what_predict_says(model):
    done = call("export", model, "--python", "m.py", "--c", "m.c", "--sql", "duckdb", "-o", "m.sql")
    assert done.stdout == "written: m.py\nwritten: m.c\nwritten: m.sql\n"
    call("predict", model, PENGUINS, "-o", "answers.csv", "-q")
    answers = pd.read_csv("answers.csv")
    given = pd.read_csv(PENGUINS)
    rows = given.astype(object).where(given.notna(), None).to_dict("records")
    predict = runpy.run_path("m.py")["predict"]
    assert [predict(row) for row in rows] == answers["prediction"].tolist()
    with duckdb.connect() as connection:
        connection.register("data", given)
        found = connection.execute(Path("m.sql").read_text()).df()
    assert found["prediction"].tolist() == answers["prediction"].tolist()
    assert found["decision_Gentoo"].tolist() == pytest.approx(answers["decision_Gentoo"].tolist())
    query = call("export", model, "--sql", "duckdb").stdout
    assert query == Path("m.sql").read_text()


def test_refused(model):
    assert "nothing to write: give --python, --c or --sql" in call("export", model, code=2).stderr
    assert "-o q.sql is for --sql" in call("export", model, "-o", "q.sql", code=2).stderr
    assert "is what is being read" in call("export", model, "--c", model, code=2).stderr
    assert "no folder" in call("export", model, "--python", "no/m.py", code=2).stderr
    file = table("xor.csv", {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": list("nyyn")})
    call("fit", file, "--kernel", "poly", "-q", "-o", "k.skops", "--cv", 0)
    assert "export a linear model" in call("export", "k.skops", "--c", "k.c", code=2).stderr
    assert not Path("k.c").exists()
