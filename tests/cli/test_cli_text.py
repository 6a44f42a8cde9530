"""Free text on the command line: words in the report, in models and in certificates."""

from pathlib import Path

import numpy as np
import pytest

from commands import call, fitted, one_line, table

pytestmark = pytest.mark.usefixtures("plain_terminal")

GOOD, BAD = ["lovely", "great", "thanks", "again"], ["broken", "late", "refund", "never"]


@pytest.fixture
def letters():
    """Sixty letters whose words tell what they are, each with a number of its own."""
    rng = np.random.default_rng(0)
    kind = np.array(["praise", "complaint"] * 30)
    said = [rng.choice(GOOD if k == "praise" else BAD, 3) for k in kind]
    text = [f"Hello, {' '.join(s)}! The letter of {n + 1000}" for n, s in enumerate(said)]
    return table("letters.csv", {"kind": kind, "pages": rng.integers(1, 9, 60), "said": text})


def test_words_are_weighed_by_name(letters):
    told = fitted(letters, "--text", "said", "-t", "kind", "-o", "m.skops")
    (hyperplane,) = told["hyperplanes"]
    weights = hyperplane["weights"]
    assert hyperplane["positive"] == "praise"
    assert "pages" in weights
    assert "said:1000" not in weights  # in one row only
    assert all(weights[f"said:{word}"] > 0 for word in GOOD)
    assert all(weights[f"said:{word}"] < 0 for word in BAD)
    note = "said: 12 words as features (TF-IDF); 60 other words left out"
    assert any(note in one for one in told["notes"])
    assert np.mean(told["cross_validation"]) > 0.9
    answers = call("predict", "m.skops", letters).stdout.splitlines()[1:]
    assert [line.split(",")[0] for line in answers] == ["praise", "complaint"] * 30
    assert "said:lovely" in call("show", "m.skops", "--top", 20).stdout
    call("plot", "decision", "m.skops", letters, "-o", "m.png")
    table("new.csv", {"pages": [2, 2], "said": ["A lovely dog", None]})
    answer = call("predict", "m.skops", "new.csv").stdout.splitlines()[1:]
    assert answer[0].startswith("praise,")


def test_the_last_column_may_be_the_text(letters):
    printed = one_line(
        call("fit", letters, "--text", "said", "--ignore", "pages", "--cv", 0).stdout
    )
    assert "kind, the last of the others, is taken as the class" in printed
    assert "said:refund" in printed
    printed = one_line(call("fit", letters, "-t", "kind", "--cv", 0).stdout)
    told = "left out: said (a different text in every row; --text COLUMN, in Python text=[...], "
    assert f"{told}makes features of the words)" in printed


def test_verdicts_on_words_can_be_checked_again(letters):
    options = ("--text", "said", "-t", "kind", "--ignore", "pages")
    printed = one_line(call("check", letters, *options, "-o", "c.json").stdout)
    assert "separable" in printed
    assert "valid" in call("check", letters, "--verify", "c.json").stdout
    changed = Path(letters).read_text().replace("lovely", "silly")
    Path("other.csv").write_text(changed)
    call("check", "other.csv", "--verify", "c.json", code=1)
    call("bound", letters, *options, "-q")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--text", "zz"], "has no column 'zz'"),
        (["--text", "kind", "-t", "kind"], "--text kind is the class: leave it out"),
        (["--text", "said", "--number", "said"], "--number said and --text said contradict"),
        (["--text", "said", "--category", "said"], "--category said and --text said contradict"),
    ],
)
def test_wrong_uses(letters, options, words):
    assert words in call("fit", letters, *options, code=2).stderr


def test_texts_without_words(letters):
    table("t.csv", {"said": ["?", "!", "-x"], "kind": ["a", "b", "a"]})
    told = call("fit", "t.csv", "--text", "said", code=2).stderr
    assert "no column is left to learn from (said: no word in any row)" in told
