"""Which column is the class, how it is written, and columns that are what one says."""

import json
from pathlib import Path

import numpy as np
import pytest

from commands import call, fitted

pytestmark = pytest.mark.usefixtures("folder")

QUICK = ("--cv", 0, "--max-epochs", 2)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(*rows, name="t.csv"):
    Path(name).write_text("".join(f"{row}\n" for row in rows))
    return name


def fit(*arguments):
    return fitted(*arguments, *QUICK)


def numbered(form, n=40):
    """Rows by a form: {k} their number, {x} a number with a fraction, {c} one of two classes."""
    return [form.format(k=k, x=k * 0.37, c="no" if k % 2 else "yes") for k in range(n)]


@pytest.mark.parametrize(
    ("header", "form", "target", "why"),
    [
        ("who,x,price", "{c},{x},{x}", "who", "for price, the last column, looks continuous"),
        ("x,Label,name", "{x},{c},text {k}", "Label", "the last column, looks like a name"),
        ("x,CLASS,day", "{x},{c},2024-01-01", "CLASS", "the last column, holds dates"),
        ("who,x,y,price", "{c},{x},{c},{x}", "y", "for price, the last column"),
        ("target,x,one", "{c},{x},same", "target", "the last column, holds only one class"),
    ],
)
def test_another_column_where_the_last_cannot_be(header, form, target, why):
    found = fit(write(header, *numbered(form)))
    assert found["target"] == target
    assert any(f"{target} is taken as the class, " in n and why in n for n in found["notes"])
    assert any("(--target for another)" in note for note in found["notes"])


def test_the_last_stays_the_class_where_it_can_be():
    found = fit(write("class,x,y", *numbered("{c},{x},{c}")))
    assert found["target"] == "y"


def test_no_column_that_can_be():
    done = call("fit", write("k,x", *numbered("{k},{x}")), code=2)
    assert "column 'x' looks continuous" in done.stderr


@pytest.mark.parametrize("header", ["x;z;c;", "x;z;c"])
def test_delimiters_at_the_ends_of_lines(header):
    found = fit(write(header, *numbered("{x};{x};{c};")))
    assert (found["target"], found["features"]) == ("c", 2)
    (note,) = (note for note in found["notes"] if "the class" in note)
    assert note == (
        "c, the last column that is not empty, is taken as the class (--target for another); left "
        "out, for it is empty: column4"
    )


def test_one_class_in_several_spellings():
    words = ["yes", "Yes", "YES ", "yes", "no", "No", "no", "no"]
    file = write("x,y", *(f"{k % 5},{word}" for k, word in enumerate(words * 3)))
    found = fit(file, "-o", "m.skops")
    assert found["classes"] == {"no": 12, "yes": 12}
    assert (
        "classes in several spellings, taken as one: no, No as no; yes, YES, Yes as yes "
        "(--category y: as they stand)" in found["notes"]
    )
    assert "of 24 rows with a known class are right" in call("predict", "m.skops", file).stderr
    assert len(fit(file, "--category", "y")["classes"]) == 5


def test_classes_keep_their_written_names():
    prices = ["$10", "$20", "$20.00"]
    file = write("x,price", *(f"{k % 7},{prices[k % 3]}" for k in range(30)))
    found = fit(file, "-o", "m.skops")
    assert found["classes"] == {"$10": 10, "$20": 20}
    assert found["notes"] == [
        "price, the last column, is taken as the class (--target for another)",
        "classes in several spellings, taken as one: $20, $20.00 as $20",
    ]
    new = write("x,price", "1,$10.00", "2,20", "3,$30", name="new.csv")
    told = call("predict", "m.skops", new)
    assert {line[:3] for line in told.stdout.split()[1:]} <= {"$10", "$20"}
    assert "1 row with a class that the model does not know, not judged: $30" in told.stderr
    assert "of 2 rows with a known class are right" in told.stderr


@pytest.mark.parametrize(
    ("classes", "names"),
    [
        (["1e300", "2e300"], ["1e+300", "2e+300"]),
        (["1234567.25", "1234567.5"], ["1234567.25", "1234567.5"]),
        (["0.50", "1.50"], ["0.5", "1.5"]),
    ],
)
def test_classes_that_are_no_small_whole_numbers(classes, names):
    file = write("x,y", *(f"{k % 7},{classes[k % 2]}" for k in range(30)))
    assert list(fit(file, "-o", "m.skops")["classes"]) == names
    assert "of 30 rows with a known class are right" in call("predict", "m.skops", file).stderr


def test_one_category_in_several_spellings():
    words = ["Yes", "YES ", "yes", "No", "yes"]
    rows = [f"{words[k % 5]},{k % 3},{'ab'[k % 5 == 3]}" for k in range(40)]
    file = write("smokes,x,y", *rows)
    found = fit(file, "-o", "m.skops")
    assert found["notes"][-1] == (
        "smokes: words in several spellings, taken as one: yes, YES, Yes as yes "
        "(--category smokes: as they stand)"
    )
    assert list(found["hyperplanes"][0]["weights"]) == ["smokes=No", "smokes=yes", "x"]
    new = write("smokes,x", "YeS,1", "nO,1", "maybe,1", name="new.csv")
    told = call("predict", "m.skops", new)
    same = write("smokes,x", "yes,1", "No,1", "maybe,1", name="same.csv")
    assert told.stdout == call("predict", "m.skops", same).stdout
    assert "1 cell of smokes with values not seen in training" in told.stderr
    exact = fit(file, "--category", "smokes", "-o", "exact.skops")
    assert len(exact["hyperplanes"][0]["weights"]) == 5
    assert "3 cells of smokes with values not" in call("predict", "exact.skops", new).stderr


def test_categories_that_differ_by_capitals_only():
    found = fit(write("x,y", *(f"{'aA'[k % 2]},{k % 2}" for k in range(20))))
    assert list(found["hyperplanes"][0]["weights"]) == ["x=A", "x=a"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (["abc,4"], "The only cell of column 'x' is no number, taken as missing: 'abc'"),
        (["1 cm,4", "oops,5"], "One of 2 cells of column 'x' is no number, taken as missing"),
        (["cm,kg", "1,4"], "Line 2 of the table holds units (cm, kg); it was left out."),
    ],
)
def test_predict_reads_a_column_as_the_model_knows_it(rows, told):
    file = write("x,z,y", *(f"{k % 7} cm,{k % 5},{'ab'[k % 7 > 3]}" for k in range(40)))
    fit(file, "-o", "m.skops")
    found = call("predict", "m.skops", write("x,z", *rows, name="new.csv"))
    assert told in found.stderr
    assert "--" not in found.stderr
    assert len(found.stdout.splitlines()) == 1 + sum(row != "cm,kg" for row in rows)


def test_predict_refuses_another_unit():
    file = write("x,z,y", *(f"{k % 7} cm,{k % 5},{'ab'[k % 7 > 3]}" for k in range(40)))
    fit(file, "-o", "m.skops")
    new = write("x,z", "1 in,2", "3 in,4", name="new.csv")
    message = "column 'x' must be a number in cm, but 2 of its 2 cells are not: '1 in' in data row"
    assert message in call("predict", "m.skops", new, code=2).stderr


def test_two_classes_that_differ_by_capitals_only():
    file = write("x,y", *(f"{k % 5},{'aA'[k % 2]}" for k in range(20)))
    assert fit(file)["classes"] == {"A": 10, "a": 10}


def test_many_classes_if_asked_for():
    file = write("x,y", *(f"{k % 77},{k % 120}" for k in range(360)))
    assert "looks continuous: 120 different" in call("fit", file, code=2).stderr
    found = fit(file, "-t", "y", "--max-epochs", 1)
    assert len(found["classes"]) == 120


def test_many_names_that_may_be_classes():
    file = write("x,who", *(f"{k % 77},k{k % 150}" for k in range(300)))
    assert "(--target who if these are the classes)" in call("fit", file, code=2).stderr
    file = write("x,who", *(f"{k % 77},k{k % 149}" for k in range(150)))
    assert "if these are" not in call("fit", file, code=2).stderr


def test_the_wanted_target_makes_a_header():
    file = write("1990,1991", *(f"{k},{k % 2}" for k in range(12)))
    found = fit(file, "-t", "1991")
    assert (found["target"], found["rows"]) == ("1991", 12)
    done = call("fit", write("1,0", "2,1", "3,0", "4,1"), "-t", "y", code=2)
    assert "has no column 'y'. It has column1, column2 (--header if its first" in done.stderr


def test_predict_knows_the_header_of_pandas():
    rows = [f"{k * 0.5},{k % 3},{k},{k % 2}" for k in range(12)]
    call("fit", write("0,1,2,y", *rows), "-t", "y", "-q", *QUICK, "-o", "m.skops")
    call("predict", "m.skops", write("0,1,2", *(r[:-2] for r in rows)), "-q", "-o", "a.csv")
    assert len(Path("a.csv").read_text().splitlines()) == 13


def test_predict_without_the_names_of_training():
    rows = [f"{k * 0.5},{k % 3},{k % 2}" for k in range(12)]
    call("fit", write("a,b,y", *rows), "-q", *QUICK, "-o", "m.skops")
    error = call("predict", "m.skops", write(*rows), "-o", "a.csv", code=2).stderr
    assert "t.csv has no names of columns, by which the model finds them: add a first" in error
    assert not Path("a.csv").exists()


# What a column is ---------------------------------------------------------------------------------


def test_a_column_of_codes_is_words_or_numbers():
    rows = [f"{k % 3},0{k % 4 + 1},{'ab'[k % 2]}" for k in range(24)]
    file = write("zone,code,y", *rows)
    assert fit(file)["features"] == 1 + 4
    assert fit(file, "--number", "code")["features"] == 2
    assert fit(file, "--category", "zone")["features"] == 3 + 4
    assert fit(file, "--category", "zone", "--number", "code")["features"] == 3 + 1


def test_predict_remembers_what_a_column_is():
    rows = [f"{k % 3},{'unknown' if k % 5 == 0 else k},{'ab'[k % 2]}" for k in range(40)]
    file = write("zone,x,y", *rows)
    options = ("--category", "zone", "--missing", "unknown", "--missing", "-999")
    found = fit(file, *options, "-o", "m.skops")
    assert (found["features"], found["missing"]) == (4, ["unknown", "-999"])
    assert "missing cells, taken as the mean: x (8)" in found["notes"]
    call("predict", "m.skops", file, "-q", "-o", "told.csv")
    write("zone,x,y", *(row.replace("unknown", "") for row in rows), name="empty.csv")
    call("predict", "m.skops", "empty.csv", "-q", "-o", "empty_told.csv")
    assert Path("told.csv").read_text() == Path("empty_told.csv").read_text()


def test_check_and_bound_know_them_too():
    rows = [f"{-999 if k == 3 else k},{'low' if k < 10 else 'high'}" for k in range(20)]
    file = write("x,y", *rows)
    done = call("check", file, "--missing", "-999", "-o", "c.json", "--json")
    assert json.loads(done.stdout)["read"]["missing"] == ["-999"]
    bound = call("bound", file, "--missing", "-999", "--max-epochs", 2)
    assert "missing cells, taken as the mean: x (1)" in bound.stdout
    call("check", file, "--verify", "c.json")
    done = call("check", file, "--verify", "c.json", "--missing", "7", code=2)
    assert "--missing does not go with --verify" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--number", "z"), "has no column 'z'"),
        (("--number", "x", "--category", "x"), "contradict each other: give one of them"),
        (("--number", "w"), "'two': correct the cell, or leave it empty, or say with --missing"),
    ],
)
def test_what_cannot_be(options, message):
    file = write("x,w,y", *(f"{k},{'two' if k == 2 else k},{'ab'[k % 2]}" for k in range(9)))
    assert message in call("fit", file, *options, code=2).stderr


# What is kept -------------------------------------------------------------------------------------


def test_the_report_says_what_was_kept():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    apart = [f"{a},{b},{'up' if a + b > 0 else 'down'}" for a, b in X]
    found = fitted(write("a,b,y", *apart), "--cv", 0, "-o", "m.skops")
    assert (found["kept"], found["parameters"]["keep"]) == (["last"], "auto")
    shown = " ".join(call("show", "m.skops").stdout.split())
    assert "kept the last hyperplane, for it makes no mistakes" in shown
    mixed = [f"{a},{b},{'up' if k % 2 else 'down'}" for k, (a, b) in enumerate(X)]
    done = call("fit", write("a,b,y", *mixed), *QUICK)
    text = " ".join(done.stdout.split())
    assert "kept the average hyperplane of the run, for the last ones still made mistakes" in text
    found = fit("t.csv")
    assert (found["kept"], found["parameters"]["order"]) == (["average"], "shuffled")
    assert fit("t.csv", "--keep", "pocket")["kept"] == ["pocket"]
    assert "kept" not in fit("t.csv", "--model", "adaline")


def test_of_several_classes_each_is_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2)) + np.array([[-9, 0], [9, 0], [9, 0.5]])[np.arange(60) % 3]
    rows = [f"{a},{b},{'pqr'[k % 3]}" for k, (a, b) in enumerate(X)]
    done = call("fit", write("a,b,y", *rows), "--cv", 0, "--max-epochs", 5)
    text = " ".join(done.stdout.split())
    assert "kept the last hyperplane, for it makes no mistakes, for p" in text
    assert "for the last ones still made mistakes, for q, r" in text


def test_a_batch_is_not_shuffled_and_a_budget_keeps_the_last():
    file = write("x,y", *(f"{k},{'ab'[k > 5]}" for k in range(12)))
    assert "order" not in fit(file, "--update", "batch")["parameters"]
    assert fit(file, "--kernel", "rbf")["parameters"]["keep"] == "auto"
    assert "keep" not in fit(file, "--kernel", "rbf", "--budget", 3)["parameters"]
