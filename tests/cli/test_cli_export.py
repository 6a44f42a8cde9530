"""``rosenblatt export``: files that run without rosenblatt, or one line on why not."""

import runpy
import sqlite3
import sys
from pathlib import Path

import duckdb
import pandas as pd
import pytest

import rosenblatt as rb
from commands import NOTES, PENGUINS, call, table

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


def test_words_in_other_spellings():
    words, labels = ["Yes", "no", "YES", "No", "Yes", "no"], list("yny") + list("nyn")
    umlauts, n = ["Ä", "b", "Ä", "b", "Ä", "c"], [1, 2, 4, 3, 5, 8]
    file = table("s.csv", {"w": words, "ü": umlauts, "n": n, "y": labels})
    call("fit", file, "-q", "-o", "m.skops", "--cv", 0)
    call("export", "m.skops", "--python", "m.py", "--sql", "sqlite", "-o", "m.sql")
    new = {"w": ["YES", "NO", "yes", "nO", "maybe"], "ü": ["B", "Ä", "c", "b", "Ä"]}
    new["n"] = [3, 1, 2, 5, 4]
    call("predict", "m.skops", table("new.csv", new), "-o", "answers.csv", "-q")
    answers = pd.read_csv("answers.csv")
    decision = runpy.run_path("m.py")["decision"]
    cells = list(zip(*new.values(), strict=True))
    found = [decision(dict(zip(new, row, strict=True))) for row in cells]
    expected = answers["decision"].tolist()
    assert found[1:] == pytest.approx(expected[1:])
    assert found[0] != pytest.approx(expected[0])  # B is b to predict alone
    with sqlite3.connect(":memory:") as connection:
        connection.execute('CREATE TABLE data (w, "ü", n)')
        connection.executemany("INSERT INTO data VALUES (?, ?, ?)", cells)
        asked = connection.execute(Path("m.sql").read_text()).fetchall()
    connection.close()
    assert [row[3] for row in asked] == pytest.approx(found)
    call("fit", file, "-q", "-o", "m.skops", "--cv", 0, "--category", "w")
    call("export", "m.skops", "--python", "m.py")
    exact = runpy.run_path("m.py")["decision"]
    assert exact({"w": "yEs", "ü": "b", "n": 1}) != exact({"w": "Yes", "ü": "b", "n": 1})


def test_json_is_the_model(tmp_path):
    """Its text is read wherever the file is, and says the same to the bit."""
    fit = ["fit", NOTES, "--features", "nystroem:9", "--calibrate", "isotonic", "--cv", 2]
    call(*fit, "-q", "-o", "m.skops")
    assert call("export", "m.skops", "--json", "m.json").stdout == "written: m.json\n"
    for command, *more in (["predict", NOTES, "--proba"], ["show"], ["evaluate", NOTES, "--json"]):
        said = [call(command, name, *more).stdout for name in ("m.skops", "m.json")]
        assert said[0] == said[1].replace("m.json", "m.skops")
    assert rb.io.load("m.json").summary_ == rb.io.load("m.skops").summary_


def test_onnx(model, monkeypatch):
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra packages of the tests")
    assert call("export", model, "--onnx", "m.onnx").stdout == "written: m.onnx\n"
    call("predict", model, PENGUINS, "-o", "answers.csv", "-q")
    session = runtime.InferenceSession("m.onnx", providers=["CPUExecutionProvider"])
    cells, feed = pd.read_csv(PENGUINS), {}
    for one in session.get_inputs():
        text = one.type == "tensor(string)"
        cell = cells[one.name].fillna("").astype(str) if text else cells[one.name].astype(float)
        feed[one.name] = cell.to_numpy(dtype=object if text else float)[:, None]
    chosen, values = session.run(["prediction", "decision"], feed)
    answers = pd.read_csv("answers.csv")
    assert (chosen == answers["prediction"]).all()
    assert values == pytest.approx(answers.iloc[:, 1:].to_numpy(), rel=1e-12, abs=1e-10)
    monkeypatch.setitem(sys.modules, "onnx", None)
    told = call("export", model, "--onnx", "m.onnx", code=2).stderr
    assert 'pip install "rosenblatt[onnx]"' in told


def test_refused(model):
    assert "nothing to write: give --python, --c, --sql" in call("export", model, code=2).stderr
    assert "-o q.sql is for --sql" in call("export", model, "-o", "q.sql", code=2).stderr
    assert "is what is being read" in call("export", model, "--c", model, code=2).stderr
    assert "no folder" in call("export", model, "--python", "no/m.py", code=2).stderr
    file = table("xor.csv", {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": list("nyyn")})
    call("fit", file, "--features", "rff:9", "-q", "-o", "k.skops", "--cv", 0)
    told = call("export", "k.skops", "--c", "k.c", code=2).stderr
    assert "makes features with RandomFourier, which no program here has: take --onnx" in told
    assert not Path("k.c").exists()
