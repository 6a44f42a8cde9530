"""What a model file says of how the model was made, and what is different about two models."""

import gzip
import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from commands import NOTES, PENGUINS, ROOT, call, one_line, table
from rosenblatt.cli.options import typed
from rosenblatt.files.models import versions, versions_in
from rosenblatt.report import differences as compared
from rosenblatt.report.fingerprints import fingerprint
from rosenblatt.report.fits import EncodedTable, numbered
from rosenblatt.tables.texts import Texts

pytestmark = pytest.mark.usefixtures("plain_terminal")

OLD = ROOT / "tests" / "files" / "fixtures" / "0.1.0"
QUICK = ("--cv", 0, "--max-epochs", 5)


def saved(name, *arguments):
    call("fit", *arguments, *QUICK, "-q", "-o", name)
    return rb.io.load(name).summary_


# The card ---------------------------------------------------------------------------------------


def test_what_made_a_model():
    summary = saved("m.skops", NOTES)
    assert summary["versions"] == versions() == versions_in("m.skops")
    assert set(versions()) == {"rosenblatt", "python", "numpy", "scikit-learn", "numba"}
    notes = NOTES.replace(f"{Path.home()}/", "~/")  # where the tests are in somebody's home
    assert summary["command"] == f"rosenblatt fit {notes} --cv 0 --max-epochs 5 -q -o m.skops"
    printed = call("show", "m.skops").stdout
    assert f"{summary['fingerprint'][:19]}…, the fingerprint of the values" in printed
    assert f"Python {versions()['python']}" in one_line(printed)
    assert f"command rosenblatt fit {notes}" in one_line(printed)
    shown = json.loads(call("show", "m.skops", "--json").stdout)
    assert shown["versions"] == versions()


def test_old_files_and_files_from_python_have_what_they_have():
    printed = one_line(call("show", OLD / "banknotes.skops").stdout)
    assert "with rosenblatt 0.1.0, NumPy" in printed
    assert "command" not in printed
    rb.io.save(rb.Perceptron().fit([[0.0], [1.0]], [0, 1]), "p.skops")
    printed = one_line(call("show", "p.skops").stdout)
    assert f"made with rosenblatt {rb.__version__}, Python" in printed
    assert json.loads(call("show", "p.skops", "--json").stdout)["versions"] == versions()


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["fit", "a b.csv", "--seed", "1"], "rosenblatt fit 'a b.csv' --seed 1"),
        (["fit", "/home/ada/x.csv"], "rosenblatt fit ~/x.csv"),
        (["fit", "/home/ada/my x.csv", "-o=/home/ada"], "rosenblatt fit ~/'my x.csv' '-o=~'"),
        (["fit", "/home/adam/x.csv"], "rosenblatt fit /home/adam/x.csv"),
        (["fit", "/mnt/home/ada/x.csv"], "rosenblatt fit /mnt/home/ada/x.csv"),
        (
            ["fit", "--db", "postgresql://ada:secret@host/db?password=secret"],
            "rosenblatt fit --db 'postgresql://ada@host/db?password=...'",
        ),
    ],
)
def test_commands_without_passwords_and_home(arguments, shown, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ada"))
    assert typed(arguments) == shown


# The fingerprint --------------------------------------------------------------------------------


def test_the_same_values_in_other_files_have_the_same_fingerprint():
    rows = pd.read_csv(PENGUINS)
    rows.to_csv("a.csv", index=False)
    rows.to_csv("b.tsv", index=False, sep="\t", na_rep="NA")
    rows.to_parquet("c.parquet")
    Path("d.csv.gz").write_bytes(gzip.compress(Path("a.csv").read_bytes()))
    found = {
        saved("m.skops", name, "--target", "species")["fingerprint"]
        for name in sorted(["a.csv", "b.tsv", "c.parquet", "d.csv.gz"])
    }
    assert len(found) == 1
    changes = {
        "a cell": rows.assign(year=[2010, *rows.year[1:]]),
        "a word": rows.assign(sex=["other", *rows.sex[1:]]),
        "a gap": rows.assign(sex=[None, *rows.sex[1:]]),
        "a class": rows.assign(species=["Gentoo", *rows.species[1:]]),
        "the order": rows[::-1],
        "a row": rows[:-1],
        "a name": rows.rename(columns={"year": "years"}),
    }
    for changed in changes.values():
        changed.to_csv("e.csv", index=False)
        found.add(saved("m.skops", "e.csv", "--target", "species")["fingerprint"])
    assert len(found) == 1 + len(changes)


def test_a_fingerprint_by_hand():
    """Straight from the definition, for a number with a gap and a zero, and a text."""
    made = EncodedTable(
        file="f", names=["x", "t", "y"], target="y",
        columns={"x": np.array([-0.0, np.nan, 2.5]), "t": Texts.of(["b", None, "a"])},
        **numbered([7, 3, 7]), encoder=None, X=None,
    )  # fmt: skip
    x = hashlib.sha256(np.array([0.0, np.nan, 2.5], "<f8").tobytes()).hexdigest()
    t = hashlib.sha256(np.array([0, -1, 1], "<i4").tobytes() + b'["b", "a"]').hexdigest()
    y = hashlib.sha256(np.array([0, 1, 0], "<i4").tobytes() + b'["7", "3"]').hexdigest()
    parts = [["x", "number", x], ["t", "text", t], ["y", "text", y]]
    whole = hashlib.sha256("".join(map(json.dumps, parts)).encode()).hexdigest()
    assert fingerprint(made) == f"sha256:{whole}"
    more = Texts(np.array(["unused", "a", "b"], object), np.array([2, -1, 1], np.int32))
    assert fingerprint(replace(made, columns=made.columns | {"t": more})) == fingerprint(made)


# Differences ------------------------------------------------------------------------------------


def test_the_same_model_made_twice():
    saved("a.skops", NOTES)
    shutil.copy(NOTES, "copy.csv")
    saved("b.skops", "copy.csv")
    printed = call("show", "--diff", "a.skops", "b.skops").stdout
    assert printed.startswith("a.skops and b.skops are the same model\n")
    found = json.loads(call("show", "a.skops", "b.skops", "--diff", "--json").stdout)
    assert (found["same"], found["differences"]) == (True, [])


def test_what_is_different():
    saved("a.skops", NOTES)
    call("fit", NOTES, "--keep", "pocket", "--max-epochs", 7, "--cv", 2, "-q", "-o", "b.skops")
    found = json.loads(call("show", "--diff", "a.skops", "b.skops", "--json", code=1).stdout)
    named = {
        (one["about"], one["name"]): (one["first"], one["second"]) for one in found["differences"]
    }
    assert named["parameters", "keep"] == ("auto", "pocket")
    assert named["parameters", "max_epochs"] == (5, 7)
    assert named["evaluation", "cross_validation"][0] == []
    assert not {about for about, _ in named} & {"data", "versions", "verdict"}
    w, v = (rb.io.load(f"{name}.skops")[-1].coef_[0] for name in "ab")
    cosine = w @ v / np.linalg.norm(w) / np.linalg.norm(v)
    assert found["weights"]["angles"]["genuine"] == pytest.approx(np.degrees(np.arccos(cosine)))
    changes = found["weights"]["changes"]
    by_hand = np.abs(v / np.linalg.norm(v) - w / np.linalg.norm(w))
    features = ["variance", "skewness", "curtosis", "entropy"]
    wanted = [features[j] for j in np.argsort(-by_hand)]
    assert [one["feature"] for one in changes if one["feature"] != "(bias)"] == wanted
    printed = one_line(call("show", "--diff", "a.skops", "b.skops", "--top", 1, code=1).stdout)
    assert "parameters keep auto → pocket and 1 more difference (--top)" in printed
    assert "evaluation cross validation none → 9" in printed
    assert "and 4 smaller changes (--top)" in printed


def test_other_data_other_kinds_and_other_steps():
    saved("a.skops", NOTES)
    pd.read_csv(NOTES)[:800].to_csv("half.csv", index=False)
    saved("b.skops", "half.csv")
    printed = one_line(call("show", "--diff", "a.skops", "b.skops", code=1).stdout)
    assert "file banknotes.csv → half.csv" in printed
    assert "rows 1372 → 800" in printed
    assert "fingerprint sha256:" in printed
    name = table("t.csv", {"x": [1, 2, 3, 4, 5, 6], "y": list("aaabbb")})
    saved("k.skops", name, "--kernel", "rbf")
    saved("l.skops", name, "--kernel", "rbf", "--gamma", 3)
    printed = one_line(call("show", "--diff", "k.skops", "l.skops", code=1).stdout)
    assert "gamma default → 3" in printed
    assert "what was learned" in printed
    assert "weights" not in printed
    call("show", "--diff", "k.skops", "k.skops")
    X, y = np.arange(8.0).reshape(4, 2), [0, 0, 1, 1]
    for k, name in enumerate("cd"):  # the same weights after other means
        rb.io.save(make_pipeline(StandardScaler(), rb.Perceptron()).fit(X + k, y), f"{name}.skops")
    printed = one_line(call("show", "--diff", "c.skops", "d.skops", code=1).stdout)
    assert printed.endswith("model steps before it StandardScaler → StandardScaler")


def test_old_models_are_compared():
    saved("a.skops", OLD / "banknotes.csv", "--order", "cyclic", "--keep", "last")
    printed = one_line(call("show", "--diff", OLD / "banknotes.skops", "a.skops", code=1).stdout)
    assert f"versions rosenblatt 0.1.0 → {rb.__version__}" in printed
    assert "fingerprint – → sha256:" in printed


def test_versions_are_compared(monkeypatch):
    saved("a.skops", NOTES)
    cards = [compared.Card("a", rb.io.load("a.skops"), None, {"numpy": n}) for n in ("1", "2")]
    monkeypatch.setattr(compared, "_document", lambda card: {"versions": card.versions})
    (one,) = compared.differences(*cards).differences
    assert one == compared.Difference("versions", "numpy", "1", "2")


def test_wrong_use():
    saved("a.skops", NOTES)
    assert "compares two models: 1 given" in call("show", "--diff", "a.skops", code=2).stderr
    assert "give one, or two with --diff" in call("show", "a.skops", "a.skops", code=2).stderr
    assert "no file" in call("show", "--diff", "a.skops", "no.skops", code=2).stderr
