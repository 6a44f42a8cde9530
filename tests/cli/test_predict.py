"""``rosenblatt predict``: what is kept, dates, large files."""

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb
from commands import call, table
from rosenblatt.tables import storage

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture
def people():
    """Separable; the names of the rows begin with 0 or need quotation marks."""
    rng = np.random.default_rng(0)
    tall = np.arange(40) % 2 == 0
    return table(
        "people.csv",
        {
            "code": [f"{k:04d}" for k in range(40)],
            "name": [f'"No. {k}, who?"' for k in range(40)],
            "height": np.round(rng.normal(1.6, 0.05, 40) + 0.3 * tall, 3),
            "who": np.where(tall, "tall", "small"),
        },
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_are_kept_on_request(people, suffix, monkeypatch):
    call("fit", people, "-o", "m.skops")
    monkeypatch.setattr("rosenblatt.cli.predict.CHUNK", 7)
    out = f"out.{suffix}"
    done = call(
        "predict", "m.skops", people, "-o", out, "--keep", "name", "--keep", "code", "--keep", "who"
    )
    assert "100.0% of 40 rows" in done.stderr
    found = pd.read_csv(out, dtype=str) if suffix == "csv" else pd.read_parquet(out)
    assert list(found) == ["name", "code", "who", "prediction", "decision"]
    assert found["code"].tolist() == [f"{k:04d}" for k in range(40)]
    given = pd.read_csv(people, dtype={"code": str})
    assert found["name"].tolist() == given["name"].tolist()
    assert found["prediction"].tolist() == found["who"].tolist() == given["who"].tolist()


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ("nmae", "people.csv has no column 'nmae', did you mean 'name'?"),
        ("prediction", "--keep prediction: the answers have a column of that name"),
    ],
)
def test_what_cannot_be_kept(people, kept, message):
    call("fit", people, "-o", "m.skops")
    done = call("predict", "m.skops", people, "--keep", kept, code=2)
    assert message in done.stderr


@pytest.mark.parametrize(("order", "months"), [("{0}/{1}/2024", 1), ("{1}/{0}/2024", 2)])
def test_dates_are_read_as_in_training(order, months):
    days = [*range(1, 29), *range(1, 13)]
    dates = [order.format(day, 1 + k % 3) for k, day in enumerate(days)]
    late = [["no", "yes"][k % 3 == 2] for k in range(40)]
    columns = {"when": dates, "x": np.arange(40) % 7, "late": late}
    call("fit", table("train.csv", columns), "-o", "m.skops", "--max-epochs", 3)
    new = table("new.csv", {"when": [order.format(4, 3), order.format(5, 3)], "x": [1, 2]})
    found = call("predict", "m.skops", new).stdout
    same = table("iso.csv", {"when": ["2024-03-04", "2024-03-05"], "x": [1, 2]})
    assert call("predict", "m.skops", same).stdout == found
    # What cannot have been written that way is read as it must have been.
    other = order.format("{1}", "{0}")
    new = table("new.csv", {"when": [other.format(14, 3), other.format(5, 3)], "x": [1, 2]})
    same = table("iso.csv", {"when": ["2024-03-14", "2024-03-05"], "x": [1, 2]})
    assert call("predict", "m.skops", new).stdout == call("predict", "m.skops", same).stdout


@pytest.mark.parametrize(("order", "form"), [("dmy", "{d}/{m}/24"), ("ymd", "24/{m}/{d}")])
def test_dates_are_read_as_was_said_in_training(order, form):
    dates = [form.format(d=f"{1 + k % 12:02}", m=f"{1 + k % 11:02}") for k in range(40)]
    columns = {"when": dates, "x": np.arange(40) % 7, "y": ["no", "yes"] * 20}
    call("fit", table("t.csv", columns), "-o", "m.skops", "--max-epochs", 3, "--dates", order)
    new = table("new.csv", {"when": [form.format(d="05", m="03")], "x": [1]})
    same = table("iso.csv", {"when": ["2024-03-05"], "x": [1]})
    assert call("predict", "m.skops", new).stdout == call("predict", "m.skops", same).stdout


def test_a_file_too_large_for_memory_gives_the_same_answers(people, monkeypatch):
    call("fit", people, "-o", "m.skops")
    expected = call("predict", "m.skops", people)
    monkeypatch.setattr(storage, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr("rosenblatt.cli.predict.CHUNK", 11)
    assert call("predict", "m.skops", people) == expected
    pd.read_csv(people, dtype={"code": str}).to_parquet("people.parquet")
    assert call("predict", "m.skops", "people.parquet").stdout == expected.stdout
    answers = pd.read_parquet("people.parquet").pipe(rb.io.load("m.skops").predict)
    assert [line.split(",")[0] for line in expected.stdout.splitlines()[1:]] == answers.tolist()
