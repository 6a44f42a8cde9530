"""Several classes as one problem, by the command: fit, check, bound, and the files they write."""

import json

import pytest

import rosenblatt as rb
from commands import PENGUINS, call
from rosenblatt.results import JointCertificate, JointFit

LINE = "x,group\n-3,a\n-2,a\n0,b\n1,b\n3,c\n4,c\n"


@pytest.fixture
def line(tmp_path):
    """Three classes on a line: the middle one has no side of its own."""
    path = tmp_path / "line.csv"
    path.write_text(LINE)
    return path


def test_fit_says_what_it_found_and_so_does_its_file(line, tmp_path):
    model = tmp_path / "line.skops"
    told = call("fit", line, "--multiclass", "joint", "--cv", 0, "-o", model).stdout
    assert "all classes as one problem" in told
    assert "SEPARATED" in told
    assert "each class can have the highest value" in told
    shown = call("show", model).stdout
    assert "all classes as one problem" in shown
    assert "proved by this model" in shown
    assert isinstance(rb.io.load(model)[-1].fits_[0], JointFit)
    alone = call("fit", line, "--cv", 0).stdout
    assert "inseparable" in alone
    found = json.loads(call("fit", line, "--multiclass", "joint", "--cv", 0, "--json").stdout)
    assert (found["verdicts"], found["proved"], found["training_errors"]) == (
        ["SEPARABLE"],
        [True],
        0,
    )
    assert len(found["hyperplanes"]) == 3
    assert found["margins"][0] > 0


def test_check_writes_what_can_be_verified_and_refuses_what_is_changed(line, tmp_path):
    proof = tmp_path / "proof.json"
    told = call("check", line, "--multiclass", "joint", "-o", proof).stdout
    assert "separable: each class can have the highest value" in told
    assert isinstance(rb.io.load_certificate(proof), JointCertificate)
    assert "valid: all classes as one problem" in call("check", line, "--verify", proof).stdout
    call("check", line, code=1)  # the middle class has no side of its own
    document = json.loads(proof.read_text())
    document["problems"][0]["w"][0] = "-1000.0"
    proof.write_text(json.dumps(document))
    told = call("check", line, "--verify", proof, code=1).stdout
    assert "not valid" in told


def test_check_lists_the_rows_that_prove_it(tmp_path):
    twins = tmp_path / "twins.csv"
    twins.write_text("x,group\n0,a\n0,b\n1,b\n1,c\n2,a\n2,c\n")
    proof = tmp_path / "proof.json"
    told = call("check", twins, "--multiclass", "joint", "-o", proof, code=1).stdout
    assert "inseparable" in told
    assert "over" in told
    document = json.loads(proof.read_text())
    assert len(document["problems"][0]["support_rows"]) == len(document["problems"][0]["pairs"])
    document["problems"][0]["support_rivals"][0] = "nobody"
    proof.write_text(json.dumps(document))
    told = call("check", twins, "--verify", proof, code=1).stdout
    assert "support_rivals is not what belongs to it" in told


def test_bound_and_two_classes(line):
    told = call("bound", line, "--multiclass", "joint").stdout
    assert "in the place of a" in told
    found = json.loads(call("bound", line, "--multiclass", "joint", "--json").stdout)
    assert found["separable"]
    assert found["problems"][0]["multiclass"] == "joint"
    line.write_text("x,group\n0,a\n1,b\n")
    assert "can a hyperplane separate" in call("check", line, "--multiclass", "joint").stdout


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["check", PENGUINS, "--multiclass", "joint", "--pairs"], "--pairs does not go with"),
        (["check", PENGUINS, "--multiclass", "all"], "is not one of 'ovr', 'joint'"),
        (["fit", PENGUINS, "--model", "adaline", "--multiclass", "joint"], "is not for --model"),
        (["fit", PENGUINS, "--multiclass", "joint", "--at-zero", "+1"], "--at-zero says where"),
        (["fit", PENGUINS, "--multiclass", "joint", "--init", "1,2"], "--init takes one vector"),
    ],
)
def test_refused_in_one_line(arguments, why):
    assert why in call(*arguments, code=2).stderr
