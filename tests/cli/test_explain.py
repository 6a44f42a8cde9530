"""``rosenblatt predict --explain``: what the columns of a row add to its decision value."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from commands import PENGUINS, call, invoke, table
from rosenblatt.report import contributions

pytestmark = pytest.mark.usefixtures("plain_terminal")


def letters():
    """Numbers with one missing, dates with hours, months and weekdays, words, and text."""
    rng = np.random.default_rng(1)
    n = 40
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.uniform(0, 1000, n), "D")
    size = np.round(rng.normal(100, 7, n), 1).astype(object)
    size[5] = ""
    words = rng.choice(["good", "bad", "late", "kind", "cold"], (n, 3))
    columns = {
        "when": [day.strftime("%Y-%m-%d %H:%M") for day in days],
        "size": size,
        "colour": rng.choice(["red", "green", "blue"], n),
        "says": [" ".join(line) for line in words],
        "answer": rng.choice(["no", "yes"], n),
    }
    return table("letters.csv", columns)


def svmlight():
    """Two classes; the last line holds no entries."""
    lines = [f"{k % 2} {1 + k % 3}:{k + 0.5} {5 + k % 4}:-{k}" for k in range(8)]
    Path("rows.svm").write_text("\n".join([*lines, "0 "]) + "\n")
    return "rows.svm"


@pytest.mark.parametrize("raw", [(), ("--raw",)], ids=["standardised", "raw"])
@pytest.mark.parametrize(
    ("make", "options", "columns"),
    [
        (lambda: PENGUINS, ("--target", "species"), 7),
        (letters, (), 4),
        (letters, ("--text", "says"), 4),
        (svmlight, (), 8),
    ],
    ids=["three classes", "dates", "free text", "svmlight"],
)
def test_base_and_contributions_sum_to_the_decision(make, options, columns, raw, monkeypatch):
    name = make()
    invoke("fit", name, *options, *raw, "--cv", 0, "--max-epochs", 3, "-q", "-o", "m.skops")
    explained = ("predict", "m.skops", name, "-q", "--explain", "--contributions", "-o")
    call(*explained, "out.parquet")
    found = pd.read_parquet("out.parquet")
    each = found.filter(regex="^contribution_")
    assert each.shape[1] == columns
    decision = found.filter(regex="^decision").to_numpy()
    top = np.sort(decision, axis=1)
    value = top[:, -1] - top[:, -2] if decision.shape[1] > 1 else decision[:, 0]
    # In their own units the base and the contributions may be large beside their sum.
    scale = each.abs().sum(axis=1).max() + found["base"].abs().max()
    np.testing.assert_allclose(found["base"] + each.sum(axis=1), value, rtol=0, atol=1e-13 * scale)
    if decision.shape[1] > 1:
        classes = np.array([c.removeprefix("decision_") for c in found.filter(regex="^decision_")])
        assert found["runner_up"].tolist() == classes[decision.argsort(axis=1)[:, -2]].tolist()
    each.columns = each.columns.str.removeprefix("contribution_")
    for text, (_, row) in zip(found["because"], each.iterrows(), strict=True):
        largest = row.iloc[np.argsort(-row.abs(), kind="stable")[:3]]
        named = [f"{column} {amount:+.4g}" for column, amount in largest.items() if amount]
        assert text == "; ".join(named)
    # Whatever is at hand at a time.
    monkeypatch.setattr(contributions, "CELLS", 30)
    monkeypatch.setattr("rosenblatt.cli.predict.CHUNK", 7)
    call(*explained, "again.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet("again.parquet"), found, check_exact=True)


def test_a_row_of_means_has_nothing_to_explain():
    rows = table("rows.csv", {"x": [0, 2, 4, 6], "y": [1, 2, 2, 3], "k": list("aabb")})
    means = table("means.csv", {"x": [3, 4], "y": [2, 2]})
    call("fit", rows, "--raw", "--cv", 0, "-q", "-o", "m.skops")
    call("predict", "m.skops", means, "--explain", "--contributions", "-q", "-o", "out.csv")
    found = pd.read_csv("out.csv")
    assert found.loc[0, "base"] == found.loc[0, "decision"]
    assert pd.isna(found.loc[0, "because"])
    weight = found.loc[1, "decision"] - found.loc[0, "decision"]
    assert found.loc[1, "because"] == f"x {weight:+.4g}"


@pytest.mark.parametrize(
    ("fitted", "options", "message"),
    [
        (("--model", "kernel"), ("--explain",), "holds a KernelPerceptron, which has no weights"),
        ((), ("--top", 2), "--top 2 says how many columns to name: add --explain"),
        ((), ("--explain", "--keep", "because"), "the answers have a column of that name"),
    ],
)
def test_what_is_refused(fitted, options, message):
    rows = table("rows.csv", {"because": [0, 2, 4, 6], "y": [1, 2, 2, 3], "k": list("aabb")})
    call("fit", rows, *fitted, "--cv", 0, "-q", "-o", "m.skops")
    assert message in call("predict", "m.skops", rows, *options, code=2).stderr
