"""``rosenblatt check``, as a user types it, and the verdict in ``rosenblatt fit``."""

import csv
import gzip
import json
import os
import shutil
import signal
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_svmlight_file

import rosenblatt as rb
from commands import COMMANDS, NOTES, PENGUINS, call, fitted, invoke, one_line, table
from rosenblatt.cli.demo import DEMOS
from rosenblatt.report import checks, judging
from rosenblatt.report.sentences import these_rows
from rosenblatt.results import Optimum

pytestmark = pytest.mark.usefixtures("plain_terminal")
DATA = os.environ.get("ROSENBLATT_DATA")
real = pytest.mark.skipif(DATA is None, reason="ROSENBLATT_DATA names no folder of real data")


@pytest.fixture
def apart():
    """Separable by x at 2.5 and by nothing else."""
    return table(
        "apart.csv",
        {"x": [1, 2, 3, 4], "z": [5, 1, 1, 5], "y": ["low", "low", "high", "high"]},
    )


@pytest.fixture
def quasi():
    """Widows are always poor, gain is always rich; the rest is mixed. Row 9 has no class."""
    text = """age,marital,gain,who
    30,Widowed,0,poor
    40,Widowed,0,poor
    35,Married,0,poor
    35,Single,0,rich
    37,Married,0,rich
    33,Single,0,poor
    50,Married,9,rich
    36,Single,0,poor
    36,Single,0,
    36,Single,0,rich
    """
    Path("quasi.csv").write_text("\n".join(line.strip() for line in text.splitlines()) + "\n")
    return "quasi.csv"


@pytest.fixture
def twins():
    return table(
        "twins.csv", {"a": [1, 5, 3, 5, 2], "b": [0, 1, 0, 1, 1], "y": ["n", "n", "n", "p", "p"]}
    )


# ------------------------------------------------------------------------------------ verdicts


def test_separable(apart):
    printed = one_line(call("check", apart, "-t", "y").stdout)
    assert "apart.csv: can a hyperplane separate high from low?" in printed
    assert "verdict separable: a hyperplane has every row strictly on its right side" in printed
    assert "x alone separates: low below 2.5, high above" in printed
    assert "a logistic regression has none: every coefficient may run to infinity" in printed
    document = json.loads(call("check", apart, "-t", "y", "--json").stdout)
    (problem,) = document["problems"]
    plane = rb.Hyperplane([float(w) for w in problem["w"]], float(problem["b"]))
    X, y = np.array([[1, 5], [2, 1], [3, 1], [4, 5.0]]), np.array([1, 1, -1, -1])
    assert plane.margin(X, y) > 0
    assert float(problem["margin"]) == pytest.approx(plane.margin(X, y), rel=1e-12)
    nearest = plane.support_vectors(X, y)[0] + 1
    assert f"{nearest} ({'low' if nearest <= 2 else 'high'})" in printed


def test_quasi_separable(quasi):
    printed = one_line(call("check", quasi, "--target", "who", code=1).stdout)
    assert "quasi-separable: a hyperplane has no row on its wrong side, but none has all" in printed
    assert "rows 3, 4, 5, 6, 8 and 10 are on this hyperplane and on every other such" in printed
    assert "3 rows strictly on their side" in printed
    assert "marital=Widowed: only poor (2 rows)" in printed
    assert "gain: above 0 only rich (1 row)" in printed
    assert "rows 8 and 10 are" in printed  # the same, whichever rows prove that they touch
    assert "no finite one for 2 coefficients: marital=Widowed -inf, gain +inf" in printed
    assert "(text values against marital=Married); the others are finite" in printed
    assert "1 row without a class left out" in printed


def test_inseparable():
    name = table("xor.csv", {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": ["-", "+", "+", "-"]})
    printed = call("check", name, code=1).stdout
    assert "inseparable: the classes overlap, no hyperplane has them on its two sides" in printed
    for row, label in ((1, "-"), (2, "+"), (3, "+"), (4, "-")):
        assert one_line(f"row {row} {label} 1/2") in one_line(printed)
    assert "point      a 0.5, b 0.5\n" in printed
    assert "a logistic regression has finite ones" in printed


def test_identical_rows_get_a_sentence_of_their_own(twins):
    printed = one_line(call("check", twins, code=1).stdout)
    assert "rows 2 and 4 are identical but have different classes, n and p" in printed
    assert "point" not in printed.split()


def test_identical_rows_are_named_whichever_rows_prove_it():
    x = [0, 1, 2, 3, 4, 5, 1, 3, 3]
    name = table("t.csv", {"x": x, "y": list("nnpnppppp")})
    printed = one_line(call("check", name, code=1).stdout)
    (problem,) = json.loads(call("check", name, "--json", code=1).stdout)["problems"]
    assert problem["identical_rows"] == [[2, 7], [4, 8]]
    assert "rows 2 and 7 are the same but for their classes, so are 4 and 8; 5 rows in all" in (
        printed
    )


def test_rows_are_counted_as_in_the_file():
    """Those without a class are passed over, but counted."""
    columns = {"a": [9, 1, 8, 5, 2, 5], "b": [0, 0, 0, 1, 1, 1], "y": ["", "n", "", "n", "p", "p"]}
    document = json.loads(call("check", table("t.csv", columns), "--json", code=1).stdout)
    assert document["rows_left_out"] == [1, 3]
    (problem,) = document["problems"]
    assert problem["support"] == [1, 3]
    assert problem["support_rows"] == [4, 6]
    assert "counted from 0" in document["numbering"]
    assert "counted from 1" in document["numbering"]


def test_undecided_is_said_with_advice(monkeypatch, apart):

    shares = []

    def slow(X, y, *, max_time):
        shares.append(max_time)
        return rb.Undecided((-0.25, 0.5))

    monkeypatch.setattr(checks, "separability", slow)
    printed = one_line(call("check", apart, "--max-time", "1m30s", code=1).stdout)
    assert "undecided: time ran out before the question was settled" in printed
    assert "the largest margin is between -0.25 and 0.5 (0 or less: none separates)" in printed
    assert "next give it more time with --max-time" in printed
    assert 80 < shares[0] <= 90
    monkeypatch.setattr(checks, "separability", lambda *_, **__: rb.Undecided((-np.inf, np.inf)))
    assert "nothing is known yet about the largest margin" in call("check", apart, code=1).stdout


def test_numbers_are_not_scaled_so_nothing_is_rounded():
    """Standardised, 0.1 + 0.2 and 0.3 would be the same number."""
    x = [repr(0.1 + 0.2), "0.3", "1e17", "-1e17"]
    name = table("t.csv", {"x": x, "y": ["up", "down", "up", "down"]})
    printed = one_line(call("check", name).stdout)
    assert "x alone separates: down below 0.3, up above" in printed


def test_whole_numbers_that_floats_cannot_hold():
    big = [2**53 + 1, 2**53, 2**53 + 3, 2**53 - 2]
    name = table("t.csv", {"a": big, "b": [1, 1, 2, 2], "y": list("pqpq")})
    printed = one_line(call("check", name, code=1).stdout)
    assert "rows 1 and 2 are identical" in printed
    assert "beyond 2^53, where floats cannot hold every whole number: a; each number" in printed
    name = table("t.csv", {"a": [2**53 - 1, 1, 2, 3], "b": [1, 1, 2, 2], "y": list("pqpq")})
    assert "2^53" not in invoke("check", name).stdout


@pytest.mark.parametrize("columns", [{"a": [5, 5], "b": [5, 5]}, {"a": ["u", "u"], "b": ["", ""]}])
def test_columns_that_never_vary(columns):
    name = table("t.csv", columns | {"y": ["p", "q"]})
    printed = one_line(call("check", name, "-o", "c.json", code=1).stdout)
    assert "rows 1 and 2 are identical but have different classes, p and q" in printed
    assert call("check", "--verify", "c.json", name).stdout.startswith("valid: ")
    rest = {"a": ["u", "u", "u"], "b": ["v", "w", "x"], "y": ["p", "q", "q"]}
    assert "no column is left" in call("check", table("t.csv", rest), code=2).stderr


def test_a_coefficient_that_may_settle():
    """Its estimate is -ln(2)/3 as that of a goes to -inf, but no weak hyperplane says so."""
    name = table("t.csv", {"a": [0, 0, 1, 1], "b": [0, 0, 2, -1], "y": list("pqpp")})
    printed = one_line(call("check", name, code=1).stdout)
    assert (
        "a logistic regression for q has no finite one for 1 coefficient: a -inf; b may run to "
        "infinity, either way, or settle; the others are finite" in printed
    )
    (problem,) = json.loads(call("check", name, "--json", code=1).stdout)["problems"]
    assert problem["no_finite_estimate"] == {"a": "-inf"}
    assert problem["perhaps_no_finite_estimate"] == ["b"]


def test_no_sign_is_forced():
    name = table(
        "t.csv", {"a": [0, 0, 1, -1], "b": [0, 0, 2, 2], "c": [0, 0, 1, 1], "y": list("pqpq")}
    )
    printed = one_line(call("check", name, code=1).stdout)
    assert "for q has no finite one for 1 coefficient: a -inf; b may run to infinity, either" in (
        printed
    )
    assert "; the others are finite; c left out as sums of others" in printed


def test_chance_is_no_more_than_a_bound():
    """Five points on a line, each twice: 10 of 2^10 labelings."""
    x = np.repeat(np.arange(5), 2)
    columns = {"a": x, "b": 2 * x, "c": -x, "y": list("ppppqqqqqq")}
    (problem,) = json.loads(call("check", table("t.csv", columns), "--json").stdout)["problems"]
    assert problem["chance_of_random_labels"] == 10 / 2**10
    printed = one_line(call("check", "t.csv").stdout)
    assert "with 10 rows (5 different) and 3 features random labels would be" in printed
    assert "with probability at most 0.009766" in printed
    free = table(
        "t.csv", {"a": [0, 1, 0, 0], "b": [0, 0, 1, 0], "c": [0, 0, 0, 1], "y": list("ppqq")}
    )
    assert "with 4 rows and 3 features any labels would be separable" in one_line(
        call("check", free).stdout
    )
    flat = table(
        "t.csv", {"a": [0, 1, 2, 3], "b": [0, 2, 4, 6], "c": [1, 1, 1, 4], "y": list("ppqq")}
    )
    assert "any labels" not in call("check", flat).stdout


@pytest.mark.parametrize("command", ["check", "fit", "bound"])
def test_a_target_that_was_named_may_have_few_rows_a_class(command):
    name = table("t.csv", {"a": [1, 2, 3, 4], "y": list("pqrr")})
    call(command, name, "-t", "y", code=command != "fit")
    assert "3 different values in 4 rows. Choose a column" in call(command, name, code=2).stderr
    name = table("t.csv", {"a": [1, 2, 3, 4], "y": list("pqrs")})
    done = call(command, name, "-t", "y", code=2)
    assert "4 different values in 4 rows. Choose another column" in done.stderr


@pytest.mark.parametrize("command", ["check", "fit", "bound"])
def test_json_is_printed_also_quietly(command, apart):
    printed = call(command, apart, "-q", "--json").stdout
    assert json.loads(printed)["file"] == "apart.csv"
    assert call(command, apart, "-q").stdout == ""


def test_huge_numbers_without_warnings(recwarn):
    columns = {"a": [1e300, -1e300, 3, 4, 1e300], "b": [1, 2, 1e300, 5, 0], "y": list("pqpqp")}
    name = table("t.csv", columns)
    call("check", name)
    call("fit", name, "--raw", "--cv", 0, "--max-epochs", 5)
    assert not recwarn.list


def test_both_classes_are_listed():
    """One class alone would fill the list."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 12))
    name = table("t.csv", {f"x{j}": X[:, j] for j in range(12)} | {"y": rng.integers(0, 2, 200)})
    lines = call("check", name, "--top", 4, code=1).stdout.splitlines()
    shown = [line.split()[2] for line in lines if line.split()[:1] == ["row"]]
    assert shown == ["0", "0", "1", "1"]


def test_many_rows_prove_it_and_few_are_listed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 12))
    name = table("t.csv", {f"x{j}": X[:, j] for j in range(12)} | {"y": rng.integers(0, 2, 200)})
    (problem,) = json.loads(call("check", name, "--json", code=1).stdout)["problems"]
    size = len(problem["support"])
    assert size > 8
    printed = one_line(call("check", name, "--top", 5, code=1).stdout)
    assert f"and {size - 5} more (--top)" in printed
    assert "and 7 more" in printed
    largest = max(range(size), key=lambda k: float(problem["weights"][k]))
    assert f"row {problem['support_rows'][largest]} " in printed


def test_rows_in_words():
    assert these_rows([3]) == "row 3"
    assert these_rows([3, 7]) == "rows 3 and 7"
    assert these_rows([3, 4, 5, 6, 7], 3) == "rows 3, 4, 5 and 2 more"


# ------------------------------------------------------------------------------ several classes


@pytest.fixture
def iris():
    data = load_iris()
    columns = dict(zip(data.feature_names, data.data.T, strict=True))
    return table("iris.csv", columns | {"species": data.target_names[data.target]})


def verdicts(*arguments, code):
    document = json.loads(call("check", *arguments, "--json", code=code).stdout)
    return {(p["positive"], p["negative"]): p["verdict"] for p in document["problems"]}


def test_each_class_against_the_rest(iris):
    assert verdicts(iris, code=1) == {
        ("setosa", None): "SEPARABLE",
        ("versicolor", None): "INSEPARABLE",
        ("virginica", None): "INSEPARABLE",
    }
    printed = call("check", iris, code=1).stdout
    assert "iris.csv: can a hyperplane separate each class from the rest?" in printed
    assert "\n\nsetosa against the rest\nverdict    separable: " in printed
    assert "petal length (cm) alone separates: setosa below 2.45, the rest above" in printed


def test_each_pair(iris):
    assert verdicts(iris, "--pairs", code=1) == {
        ("versicolor", "setosa"): "SEPARABLE",
        ("virginica", "setosa"): "SEPARABLE",
        ("virginica", "versicolor"): "INSEPARABLE",
    }
    printed = call("check", iris, "--pairs", "-o", "c.json", code=1).stdout
    assert "virginica against versicolor\n" in printed
    (problem,) = json.loads(Path("c.json").read_text())["problems"][2:]
    # Rows are those of the file; samples those of the two classes.
    assert problem["support_rows"] == [sample + 51 for sample in problem["support"]]
    assert call("check", "--verify", "c.json", iris).stdout.count("valid: ") == 3


def test_all_separable_is_yes():
    assert set(verdicts(PENGUINS, "-t", "species", code=0).values()) == {"SEPARABLE"}


def test_many_classes_have_a_line_each():
    k = np.repeat(np.arange(9), 4)
    name = table("t.csv", {"x": k + np.tile([0, 0.1, 0.2, 0.3], 9), "x2": k**2, "k": k})
    lines = call("check", name, code=1).stdout.splitlines()
    found = [line.strip() for line in lines if "against the rest: " in line]
    assert len(found) == 9
    assert found[0].startswith("0 against the rest: separable; proved by a hyperplane with margin")
    assert one_line(lines[-1]) == "next --json shows the evidence for each"


# ---------------------------------------------------------------------------- JSON and --verify


def test_the_certificate_says_all_that_is_needed(quasi):
    """Rebuild the data by hand from what stands in the file, and check."""
    call("check", quasi, "-q", "-o", "c.json", code=1)
    document = json.loads(Path("c.json").read_text())
    assert document == json.loads(call("check", quasi, "--json", code=1).stdout)
    assert document["rosenblatt"] == rb.__version__
    assert document["file"] == "quasi.csv"
    assert document["target"] == "who"
    with Path(quasi).open() as file:
        rows = [row for row in csv.DictReader(file) if row["who"]]
    columns = []
    for spec in document["encoding"]:
        cells = [row[spec["name"]] for row in rows]
        if spec["kind"] == "text":
            columns += [[float(cell == value) for cell in cells] for value in spec["values"]]
        else:
            columns.append([float(cell) for cell in cells])
    X, y = np.array(columns).T, np.array([row["who"] for row in rows])
    assert len(document["features"]) == X.shape[1]
    certificate = rb.io.load_certificate("c.json")
    assert rb.certify.check(certificate, X, y)
    assert [str(label) for label in np.unique(y)] == list(document["classes"])
    exact = [Fraction(text) for text in document["problems"][0]["exact_weights"]]
    assert exact == list(rb.certify.exact_weights(certificate, X, y))
    from rosenblatt.files.certificates import digest

    assert document["digest"] == digest(X, y)


@pytest.mark.parametrize("name", ["apart", "quasi", "twins"])
def test_verify(request, name):
    file = request.getfixturevalue(name)
    invoke("check", file, "-q", "-o", "c.json")
    printed = call("check", "--verify", "c.json", file).stdout
    assert printed.startswith("valid: ")
    assert "; not the notes on estimates and chance" in printed.splitlines()[1]
    assert printed.count("\n") == 2
    found = json.loads(call("check", "--verify", "c.json", file, "--json").stdout)
    assert found["valid"] is True
    assert found["not_checked"] == "the notes on estimates and chance"
    assert call("check", "--verify", "c.json", file, "-q").stdout == ""


def test_verify_uses_no_solver(monkeypatch, apart):

    call("check", apart, "-q", "-o", "c.json")
    monkeypatch.setattr(checks, "separability", None)
    call("check", "--verify", "c.json", apart)


def test_verify_reads_the_table_as_it_was_read(quasi):
    call("check", quasi, "-t", "marital", "--ignore", "age", "-q", "-o", "c.json", code=1)
    call("check", "--verify", "c.json", quasi)
    text = Path(quasi).read_text().replace(",", ";")
    done = call("check", "--verify", "c.json", "-", input=text)
    assert done.stdout.startswith("valid: ")


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("b", lambda b: "-" + b if not b.startswith("-") else b[1:]),
        ("w", lambda w: w[::-1]),
        ("margin", lambda m: repr(float(m) * 1.001)),
    ],
)
def test_tampered_hyperplanes_are_not_valid(apart, part, change):
    call("check", apart, "-q", "-o", "c.json")
    tampered(part, change)
    printed = call("check", "--verify", "c.json", apart, code=1).stdout
    assert printed.startswith("not valid: it is not proved that low against high is separable: ")
    found = json.loads(call("check", "--verify", "c.json", apart, "--json", code=1).stdout)
    assert found["valid"] is False
    assert found["problems"] == [
        {
            "name": "low against high is separable",
            "valid": False,
            "why": printed.split("is separable: ")[1].strip(),
        }
    ]


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("weights", lambda w: [repr(float(w[0]) * 1.01), *w[1:]]),
        ("support", lambda s: s[1:]),
        ("support", lambda s: [s[0], 99]),
        ("on", lambda s: s[1:]),
        ("exact_weights", lambda w: ["2/3", *w[1:]]),
        ("positive", lambda _: "poor"),
        ("negative", lambda _: None),
        ("support_rows", lambda s: [s[0] + 1, *s[1:]]),
        ("features_alone", lambda found: found[1:]),
        ("identical_rows", lambda _: []),
        ("meaning", lambda _: "all is well"),
    ],
)
def test_tampered_meetings_are_not_valid(quasi, part, change):
    call("check", quasi, "-q", "-o", "c.json", code=1)
    tampered(part, change)
    assert "not valid: " in call("check", "--verify", "c.json", quasi, code=1).stdout


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("samples", lambda n: n + 1),
        ("rows_left_out", lambda _: []),
        ("classes", lambda found: dict.fromkeys(found, 1)),
        ("encoding", lambda specs: specs[1:]),
        ("features", lambda names: names[::-1]),
        ("numbering", lambda _: "from 5"),
    ],
)
def test_what_is_said_of_the_table_counts(quasi, part, change):
    call("check", quasi, "-q", "-o", "c.json", code=1)
    document = json.loads(Path("c.json").read_text())
    Path("c.json").write_text(json.dumps(document | {part: change(document[part])}))
    printed = call("check", "--verify", "c.json", quasi, code=1).stdout
    assert printed == f"not valid: c.json says what is not so of the table, in {part}\n"
    del document[part]
    Path("c.json").write_text(json.dumps(document))
    call("check", "--verify", "c.json", quasi, code=1)


def test_what_makes_no_difference_is_not_stored():
    name = table("t.csv", {"x": [1, 2, 3, 4], "z": [1, "", 3, 8], "y": list("aabb")})
    x, z = json.loads(call("check", name, "--json").stdout)["encoding"]
    assert x == {"name": "x", "kind": "number"}
    assert z == {"name": "z", "kind": "number", "fill": 4.0}


def test_verify_counts_rows_as_the_file_does():
    """Row 1 has no class, so sample 0 is row 2."""
    name = table("t.csv", {"x": [9, 1, 2, 3], "y": ["", "a", "a", "b"]})
    call("check", name, "-q", "-o", "c.json")
    tampered("b", lambda _: "5.0")
    assert ": row 2 lies on the wrong side\n" in call(
        "check", "--verify", "c.json", name, code=1
    ).stdout  # fmt: skip


def tampered(part, change):
    document = json.loads(Path("c.json").read_text())
    problem = document["problems"][0]
    problem[part] = change(problem[part])
    Path("c.json").write_text(json.dumps(document))


def test_other_data_are_not_those_of_the_certificate(apart, quasi):
    call("check", apart, "-q", "-o", "c.json")
    text = Path(apart).read_text()
    for other in (
        text.replace("2,1,low", "2,1.5,low"),
        text.replace("2,1,low", "2,1,high"),
        text + "0,0,low\n",
        text.replace("low", "LOW"),
    ):
        Path("other.csv").write_text(other)
        printed = call("check", "--verify", "c.json", "other.csv", code=1).stdout
        assert printed == (
            "not valid: other.csv does not hold the numbers and classes that c.json is about: "
            "the digests differ\n"
        )
    assert "has no column 'y'" in call("check", "--verify", "c.json", quasi, code=2).stderr
    # The digest alone is not what makes it valid.
    document = json.loads(Path("c.json").read_text())
    Path("other.csv").write_text(text.replace("2,1,low", "2,1,high"))
    theirs = json.loads(call("check", "other.csv", "--json").stdout)
    document |= {name: theirs[name] for name in ("digest", "classes")}
    Path("c.json").write_text(json.dumps(document))
    printed = call("check", "--verify", "c.json", "other.csv", code=1).stdout
    assert "lies on the wrong side" in printed


def test_verify_of_what_is_no_certificate(apart):
    call("check", apart, "-q", "-o", "c.json")
    whole = Path("c.json").read_text()
    call("fit", apart, "-q", "--cv", 0, "-o", "m.skops")
    rb.io.save_certificate(
        rb.Separable(rb.Hyperplane([1.0], 0.0), 1.0), "py.json", [[-1.0], [1.0]], [0, 1]
    )
    document = json.loads(whole)
    best = Optimum(rb.Hyperplane([1.0], 0.0), [0, 1], [0.5, 0.5], None, 0.5, 0.5)
    rb.io.save_certificate(best, "best.json", [[-1.0], [1.0]], [0, 1])
    Path("cut.json").write_text(whole[: len(whole) // 2])
    Path("odd.json").write_text(json.dumps(document | {"read": {"ignore": "x"}}))
    Path("bare.json").write_text('{"rosenblatt_certificate": 1}')
    for k, change in enumerate(({"verdict": "separable"}, {"w": None})):
        problem = document["problems"][0] | change
        Path(f"odd{k}.json").write_text(json.dumps(document | {"problems": [problem]}))
    del problem["w"]
    Path("odd2.json").write_text(json.dumps(document | {"problems": [problem]}))
    for name, message in (
        ("none.json", "there is no file none.json"),
        (".", "is a folder"),
        ("m.skops", "m.skops is not a certificate file: give a file written by `rosenblatt check"),
        (apart, "is not a certificate file"),
        ("cut.json", "cut.json breaks off or is damaged"),
        ("odd.json", "odd.json is damaged (in read, ignore)"),
        ("odd0.json", "odd0.json is damaged (the verdict 'separable' is none of SEPARABLE, QUASI"),
        ("odd1.json", "odd1.json is damaged (a list of numbers written as text was expected)"),
        ("odd2.json", "odd2.json is damaged (it has no w)"),
        ("bare.json", "bare.json holds no problems: write the certificate again"),
        ("py.json", "py.json does not say how its table was read: it was written in Python"),
        ("best.json", "best.json is about a best hyperplane, and does not hold the weights"),
    ):
        assert message in call("check", "--verify", name, apart, code=2).stderr
    for option in (["-t", "y"], ["-o", "d.json"], ["--pairs"], ["--max-time", "1s"]):
        done = call("check", "--verify", "c.json", apart, *option, code=2)
        assert "does not go with --verify" in done.stderr


# ------------------------------------------------------------------------------------ nonsense


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("x,y\n", "only a header"),
        ("x,y\n1,a\n2,a\n", "column 'y' holds only one class, 'a'"),
        ("x,y\n1,\n2,NA\n", "column 'y' has no classes, every cell is missing"),
        ("x,y\n1,a\ninf,b\n3,a\n4,b\n", "which is not finite"),
        ("y\na\nb\na\n", "no column to learn from beside 'y'"),
        ("x,y\n" + "".join(f"{k},text {k}\n" for k in range(20)), "looks like a name or a text"),
        ("x,y\n" + "".join(f"{k % 3},{k / 7}\n" for k in range(40)), "looks continuous"),
    ],
)
def test_tables_without_an_answer(content, message):
    Path("t.csv").write_text(content)
    assert message in call("check", "t.csv", "-t", "y" if content else "x", code=2).stderr


def test_missing_numbers_are_said():
    name = table("t.csv", {"x": [1, "", 3, "NaN"], "z": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]})
    assert "missing cells, taken as the mean: x (2)" in call("check", name).stdout


def test_wrong_uses(apart):
    Path("t.json").write_text('[{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]')
    Path("d.json").mkdir()
    for arguments, message in (
        (["none.csv"], "none.csv"),
        (["."], "folder"),
        ([apart, "-t", "why"], "has no column 'why'"),
        ([apart, "-o", "c.txt"], "c.txt is no name for a certificate: let it end in .json"),
        ([apart, "-o", "no/c.json"], "there is no folder no"),
        ([apart, "-o", "d.json"], "d.json is a folder"),
        (["t.json", "-o", "t.json"], "t.json is what is being read"),
        ([apart, "--max-time", "soon"], "'soon' is not a duration"),
        ([apart, "--max-time", "0s"], "--max-time 0s leaves no time at all: give something"),
        (["none.csv", "--max-time", "0"], "--max-time 0 leaves no time at all"),
        ([apart, "--top", "0"], "--top"),
        ([], "missing argument 'FILE'"),
    ):
        assert message in call("check", *arguments, code=2).stderr
    assert not Path("c.json").exists()


# -------------------------------------------------------------------------- on the way out


def test_a_reader_that_has_enough_gets_the_exit_code(monkeypatch, apart, twins):
    def gone(_):
        raise BrokenPipeError

    monkeypatch.setattr("rosenblatt.cli.check.print_data", gone)
    monkeypatch.setattr("rosenblatt.cli.app._silence", lambda _: None)
    call("check", apart, "--json")
    call("check", twins, "--json", code=1)


@pytest.mark.parametrize("charset", ["ascii", "cp1252"])
def test_terminals_that_know_few_letters(charset):
    columns = {"größe": [1, 2, 3], "[/red] :smile:": [5, 2, 7], "y": ["[b]нет", "[b]нет", "да\n"]}
    name = table("t.csv", columns)
    printed = call("check", name, "-o", "c.json", charset=charset).stdout_bytes
    assert b"can a hyperplane separate [b]??? from ??" in printed
    assert b"###" in printed
    printed = call("check", name, "--json", charset=charset).stdout_bytes
    assert json.loads(printed.decode("utf-8"))["classes"] == {"[b]нет": 2, "да": 1}
    printed = call("check", "--verify", "c.json", name, charset=charset).stdout_bytes
    assert printed.startswith(b"valid: ?? against [b]??? is separable, for all 3 ")


def test_standard_output_on_a_full_disk(monkeypatch, capsys, twins):
    call("check", twins, "-q", "-o", "c.json", code=1)
    for arguments in ([twins], [twins, "--json"], [twins, "--verify", "c.json"]):
        with Path("/dev/full").open("w") as full, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", full)
            with pytest.raises(SystemExit, match="2"):
                COMMANDS.main(["check", *arguments], "rosenblatt")
        assert capsys.readouterr().err == "rosenblatt: no space left on device\n"


def test_ctrl_c(monkeypatch):
    """It comes while the search goes on, and nothing is left behind."""
    monkeypatch.setattr(checks, "separability", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    done = invoke("check", NOTES, "-o", "c.json")
    assert done.exit_code == 130
    assert (done.stdout, done.stderr) == ("", "rosenblatt: stopped with Ctrl-C\n")
    assert not Path("c.json").exists()


# ------------------------------------------------------------------------------ fit and show


def test_fit_says_the_verdict_and_show_repeats_it(apart):
    found = fitted(apart, "-t", "y", "-o", "m.skops", "--cv", 0)
    assert found["stop_reasons"] == ["SEPARATED"]
    assert found["verdicts"] == ["SEPARABLE"]
    assert found["evidence"] == ["proved by this hyperplane"]
    printed = call("show", "m.skops").stdout
    assert "verdict   separable after standardising: proved by this hyperplane\n" in printed
    again = json.loads(call("show", "m.skops", "--json").stdout)
    assert again["verdicts"] == found["verdicts"]


def test_fit_on_classes_that_overlap():
    printed = one_line(call("fit", NOTES, "--cv", 0, "--max-epochs", 20).stdout)
    assert "verdict inseparable after standardising: the classes overlap" in printed
    assert "rows whose convex hulls meet training" in printed
    assert "--keep pocket keeps the best" in printed
    assert "raise --max-epochs" not in printed


def test_fit_names_identical_rows(twins):
    (why,) = fitted(twins, "--cv", 0)["evidence"]
    assert "rows 2 and 4 are identical but have different classes" in why


def test_rows_that_only_rounding_made_the_same():
    """Beside 1e20 the other numbers have one and the same deviation from the mean."""
    name = table("t.csv", {"a": [1, 2, 3, 4, 10**20], "y": list("ppqqq")})
    call("check", name)
    printed = one_line(call("fit", name, "--cv", 0).stdout)
    assert "verdict quasi-separable after standardising: " in printed
    assert "rows 2 and 3 have different classes, and rounding made them the same" in printed
    assert "identical" not in printed
    printed = one_line(call("bound", name, code=1).stdout)
    assert "no: no hyperplane separates the classes after standardising, and" in printed
    assert "rosenblatt check t.csv answers this for the numbers as they are" in printed
    assert "standardis" not in call("fit", name, "--raw", "--cv", 0).stdout
    texts = table("u.csv", {"a": list("vvwww"), "y": list("ppqqq")})
    assert "verdict   separable: proved" in call("fit", texts, "--cv", 0).stdout


def test_a_cut_off_run_on_separable_data_gets_advice():
    found = one_line(call("fit", PENGUINS, "-t", "species", "--cv", 0, "--max-epochs", 3).stdout)
    assert "the classes are separable, so the mistakes come to an end: raise --max-epochs" in found


def test_why_a_run_goes_in_circles():
    printed = one_line(call("demo", "xor").stdout)
    assert "proved by 4 rows whose convex hulls meet; so no run can end" in printed
    # Beside a bias of 1e20 its updates are lost, and those of the weight cancel.
    name = table("t.csv", {"x": [-1, 1, 3, 4], "y": [0, 0, 1, 1]})
    found = fitted(name, "--raw", "--cv", 0, "--init", "0,1e20")
    assert found["stop_reasons"] == ["CYCLE"]
    assert found["verdicts"] == ["SEPARABLE"]
    assert found["evidence"][0].endswith("; only rounding makes this run repeat")


def test_the_kept_vector_is_not_called_the_proof():
    found = fitted(PENGUINS, "-t", "sex", "--cv", 0, "--max-epochs", 5)
    assert set(found["verdicts"]) <= {"SEPARABLE", "INSEPARABLE", "QUASI_SEPARABLE"}
    found = fitted(PENGUINS, "-t", "species", "--keep", "average", "--cv", 0)
    assert set(found["evidence"]) == {"proved by the last one of the run"}


def test_without_a_bias_the_verdict_says_so():
    name = table("t.csv", {"x": [1, 2, 3, 4], "y": [0, 0, 1, 1]})
    found = fitted(name, "--raw", "--no-intercept", "--cv", 0, "--max-epochs", 50)
    assert found["verdicts"] == ["SEPARABLE"]
    assert found["evidence"][0].endswith(", with a bias")


def test_a_question_that_takes_too_long(monkeypatch, twins):
    monkeypatch.setattr(judging, "separability", lambda *_, **__: rb.Undecided((-1.0, 1.0)))
    found = fitted(twins, "--cv", 0)
    assert found["verdicts"] == ["UNDECIDED"]
    why = (
        "no hyperplane separates all rows, for rows 2 and 4 are identical but have different "
        "classes; whether one leaves none on a wrong side: "
        "time ran out, not settled in 10 seconds; rosenblatt check takes longer"
    )
    assert found["evidence"] == [why]


def test_a_verdict_takes_no_longer_than_training_may(monkeypatch, twins):
    asked = []

    def undecided(X, y, *, max_time):
        asked.append(max_time)
        return rb.Undecided((-1.0, 1.0))

    monkeypatch.setattr(judging, "separability", undecided)
    for limit, seconds in (("1s", "1 second;"), ("250ms", "0.25 seconds;"), ("1m", "10 seconds;")):
        found = fitted(twins, "--cv", 0, "--max-time", limit)
        assert f"not settled in {seconds}" in found["evidence"][0]
    assert asked[0] <= 1
    assert asked[1] <= 0.25
    assert 1 < asked[2] <= 10


def test_ctrl_c_at_the_verdict_keeps_the_model(monkeypatch, twins):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(judging, "separability", interrupted)
    done = call("fit", twins, "-o", "m.skops", "--json", code=130)
    found = json.loads(done.stdout)
    assert found["verdicts"] == ["UNDECIDED"]
    assert found["evidence"] == ["stopped with Ctrl-C before the question was settled"]
    assert found["cross_validation"] == []
    assert rb.io.load("m.skops")[-1].n_iter_ == found["epochs"]


def test_a_run_that_only_seems_to_separate_is_judged_anew(monkeypatch, apart):
    monkeypatch.setattr(judging, "check", lambda *_: rb.certify.check(None, [[0.0], [1.0]], [0, 1]))
    (why,) = fitted(apart, "--cv", 0)["evidence"]
    assert why.startswith("a hyperplane has every row strictly on its right side; proved by a")


@pytest.mark.parametrize("name", sorted(set(DEMOS) - {"rings"}))  # those of hyperplanes
def test_demos_explain_the_verdict(name):
    printed = call("demo", name).stdout
    _, _, after = printed.partition("verdict   ")
    assert "Whether any hyperplane at all can separate the classes." in one_line(after)


# ------------------------------------------------------------------------------ known answers


def test_banknotes():
    assert verdicts(NOTES, code=1) == {("genuine", "forged"): "INSEPARABLE"}


@real
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("sonar.csv", "SEPARABLE"),
        ("pima-indians-diabetes.csv", "INSEPARABLE"),
        ("banknote_authentication.csv", "INSEPARABLE"),
        ("colon.csv.gz", "SEPARABLE"),
    ],
)
def test_files_with_known_answers(name, verdict):
    path = Path(DATA) / name
    done = invoke("check", path, "-o", "c.json")
    assert done.exit_code == (verdict != "SEPARABLE")
    (problem,) = json.loads(Path("c.json").read_text())["problems"]
    assert problem["verdict"] == verdict
    call("check", "--verify", "c.json", path)
    if name.startswith("colon"):
        assert problem["chance_of_random_labels"] == 1
        little = "with 62 rows and 2000 features any labels would be separable: this says little"
        assert little in one_line(done.stdout)
    else:
        assert "any labels" not in one_line(done.stdout)


@real
def test_mushrooms():
    with gzip.open(Path(DATA) / "agaricus.txt.train.gz") as packed, Path("m.txt").open("wb") as out:
        shutil.copyfileobj(packed, out)
    X, y = load_svmlight_file("m.txt")
    columns = {f"f{j}": X[:, [j]].toarray().ravel().astype(int) for j in range(X.shape[1])}
    name = table("mushrooms.csv", columns | {"edible": y.astype(int)})
    assert verdicts(name, code=0) == {("1", "0"): "SEPARABLE"}
