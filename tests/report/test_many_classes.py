"""Reports on very many classes: short, with names that can be told apart."""

import re

import numpy as np
import pytest

from commands import call, one_line, table
from rosenblatt.report.sentences import told_apart
from rosenblatt.report.terminal import lines_shown

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.mark.parametrize(
    ("names", "width", "expected"),
    [
        (["a", "b"], 5, ["a", "b"]),
        (["abcdefgh", "12345678"], 5, ["ab…gh", "12…78"]),  # nothing is gained by more
        (
            ["species number 7 of a list", "species number 8 of a list", "x"],
            18,
            ["species number 7…", "species number 8…", "x"],
        ),
        (
            ["a very long start A end", "a very long start B end"],
            12,
            ["a very…A end", "a very…B end"],
        ),
        (["aaaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaaa2"], 6, ["aaa…a1", "aaa…a2"]),
    ],
)
def test_names_told_apart(names, width, expected):
    found = told_apart(names, width)
    assert list(found) == names
    assert [len(text) <= width for text in found.values()] == [True] * len(names)
    assert len(set(found.values())) == len(names)
    assert list(found.values()) == expected


def test_names_that_cannot_be():
    """They are as short as asked for, all the same."""
    found = told_apart(["x" * 50 + "y" * 50 + str(k) for k in range(3)], 8)
    assert {len(text) for text in found.values()} <= set(range(9))


def test_how_many_lines():
    assert [lines_shown(n, 8) for n in (3, 12, 13, 300)] == [3, 12, 8, 8]
    assert [lines_shown(n, 40) for n in (26, 40, 41)] == [26, 40, 40]


@pytest.mark.parametrize("k", [26, 120])
def test_reports_on_many_classes_are_short(k):
    rng = np.random.default_rng(k)
    centers, y = 4 * rng.normal(size=(k, 3)), np.arange(2 * k) % k
    X = centers[y] + rng.normal(size=(2 * k, 3))
    labels = [f"the class with the number {j:03d} and more" for j in y]
    name = table("t.csv", dict(zip("abc", X.T, strict=True)) | {"y": labels})
    args = ("fit", name, "--target", "y", "--cv", 0, "--max-epochs", 2, "--max-time", "1s")
    printed = call(*args, "-o", "m.skops").stdout
    assert len(printed.splitlines()) < 50
    assert f"and {k - 8} more classes (--top, --json)" in printed
    assert f"of {k} classes are separated from the rest" in one_line(printed)
    for command in (("show", "m.skops", "--top", 3), ("evaluate", "m.skops", name, "--top", 3)):
        lines = call(*command).stdout.splitlines()
        assert len(lines) < 50
        assert max(map(len, lines)) <= 100
    text = "\n".join(lines).partition("recall")[2].partition("not shown")[0]
    assert len(set(re.findall(r"number (\d+)", text))) == 3  # each with its number
