"""``rosenblatt suspects``: rows whose class is suspicious."""

import json
from pathlib import Path

import pandas as pd
import pytest

from commands import NOTES, call, invoke, one_line, table

pytestmark = pytest.mark.usefixtures("plain_terminal")

OTHER = {"forged": "genuine", "genuine": "forged"}


@pytest.fixture
def noisy():
    """Banknotes, every fifth of them, of which rows 50 and 200 have been given another class."""
    notes = pd.read_csv(NOTES)[::5].reset_index(drop=True)
    for row in (50, 200):
        notes.loc[row - 1, "note"] = OTHER[notes.loc[row - 1, "note"]]
    notes.to_csv("noisy.csv", index=False)
    return notes


def test_planted_rows_are_listed_with_their_cells(noisy):
    found = json.loads(call("suspects", "noisy.csv", "--json", "-o", "look.csv").stdout)
    assert {one["row"] for one in found["suspects"][:2]} == {50, 200}
    for one in found["suspects"][:2]:
        cells = noisy.loc[one["row"] - 1]
        assert one["given"] == cells["note"]
        assert one["rather"] == OTHER[cells["note"]]
        assert one["cells"] == cells.drop("note").to_dict()
        assert min(one["hyperplane"], one["kernel"]) > 0
    assert (found["rows"], found["folds"], found["seed"]) == (275, 5, 0)
    written = pd.read_csv("look.csv")
    assert written["row"].tolist() == [one["row"] for one in found["suspects"]]
    assert written["variance"].tolist() == [one["cells"]["variance"] for one in found["suspects"]]
    assert written["suspicion"].is_monotonic_decreasing
    printed = one_line(call("suspects", "noisy.csv", "--top", 1).stdout)
    assert "wrong when left out (hyperplane" in printed
    assert f"and {len(written) - 1} more row" in printed


def test_hostile_cells_are_only_text():
    nasty = ["<script>", "\x1b[31mred", "[bold]x[/bold]", "<script>", "=1+1", "<script>"]
    columns = {"a": [1, 2, 3, 1, 4, 1], "row": nasty, "y": ["p", "q", "p", "q", "q", "q"]}
    table("nasty.csv", columns)
    printed = call("suspects", "nasty.csv", "-o", "out.csv", "--use", "row").stdout
    assert "row 1     p, rather q" in printed
    assert "a 1, row <script>" in printed
    assert "identical with rows 4 and 6 of another class" in printed
    assert "\x1b" not in printed
    assert pd.read_csv("out.csv")["row_"].iloc[0] == "<script>"


def test_sparse_rows_show_what_is_not_zero():
    lines = [f"{k % 2} {1 + k % 2}:1 {3 + k % 3}:{k + 1}" for k in range(12)]
    lines[4] = "1 1:1 4:5"
    Path("rows.svm").write_text("\n".join(lines) + "\n")
    found = json.loads(call("suspects", "rows.svm", "--json", "-o", "out.csv").stdout)
    first = next(one for one in found["suspects"] if one["row"] == 5)
    assert first["cells"] == {"x1": 1.0, "x4": 5.0}
    assert list(pd.read_csv("out.csv")) == ["row", "given", "rather", "suspicion", "why"]


def test_dates_and_gaps():
    days = ["2024-01-03", "2024-01-03", "", "", "2024-05-04", "2024-05-04"]
    table("days.csv", {"day": days, "x": [1, 1, 2, 2, 3, 3], "y": list("pqpqpq")})
    found = json.loads(call("suspects", "days.csv", "--json").stdout)
    cells = {one["row"]: one["cells"] for one in found["suspects"]}
    assert cells[1] == cells[2] == {"day": "2024-01-03", "x": 1.0}
    assert cells[3] == cells[4] == {"day": None, "x": 2.0}
    same = {one["row"]: one["identical"] for one in found["suspects"]}
    assert same == {1: [2], 2: [1], 3: [4], 4: [3], 5: [6], 6: [5]}


def test_what_cannot_be_judged():
    table("one.csv", {"a": range(7), "y": ["p", "p", "p", "q", "q", "q", "z"]})
    assert "the only ones of their class: z" in call("suspects", "one.csv").stdout
    table("few.csv", {"a": [1, 2, 3, 4], "y": ["p", "p", "p", "z"]})
    assert "1 class of at least two rows" in call("suspects", "few.csv", code=2).stderr
    for wrong in (["-o", "out.docx"], ["-o", "one.csv"], ["--seed", -1], ["-t", "b"], ["--top", 0]):
        call("suspects", "one.csv", *wrong, code=2)
    call("suspects", "nowhere.csv", code=2)


def test_ctrl_c(noisy, monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("rosenblatt.report.suspicion._fitted", pressed)
    done = invoke("suspects", "noisy.csv", "-o", "look.csv")
    assert (done.exit_code, done.stdout) == (130, "")
    assert done.stderr == "rosenblatt: stopped with Ctrl-C\n"
    assert not Path("look.csv").exists()


def test_a_limit_of_time_is_told(monkeypatch):
    from rosenblatt.report import suspicion

    monkeypatch.setattr(suspicion.Cancel, "asked", True)
    done = call("suspects", NOTES, "--max-time", "1ms")
    text = one_line(done.stdout)
    assert "suspects 0 of 1372 rows" in text
    assert "not done time was up: both models judged 0 of 1372 rows" in text
    found = json.loads(call("suspects", NOTES, "--max-time", "1ms", "--json").stdout)
    assert (found["judged"], found["left_out"]) == (0, ["slack", "mistakes"])
    assert "is not a duration" in call("suspects", NOTES, "--max-time", "soon", code=2).stderr
