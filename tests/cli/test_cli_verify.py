"""Certificates of ``check``: written as JSON, and verified with ``--verify``."""

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from commands import call, invoke, table
from rosenblatt.report import checks
from rosenblatt.results import Optimum

pytestmark = pytest.mark.usefixtures("plain_terminal")


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
