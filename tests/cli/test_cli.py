"""The command, as a user types it: what is printed, what is written, how it ends."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score

import rosenblatt as rb
from commands import NOTES, call, fitted, one_line, table
from rosenblatt.cli.demo import DEMOS
from rosenblatt.cli.options import seconds
from rosenblatt.report.sentences import percent

pytestmark = pytest.mark.usefixtures("plain_terminal")
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def fruit():
    """Numbers and text, separable, with a few missing cells."""
    rng = np.random.default_rng(0)
    ripe = rng.random(60) < 0.5
    size = np.round(rng.normal(5, 1, 60) + 4 * ripe, 2).astype(object)
    size[[3, 30]] = ""
    colour = np.where(ripe, rng.choice(["red", "yellow"], 60), "green")
    return table(
        "fruit.csv", {"size": size, "colour": colour, "state": np.where(ripe, "ripe", "unripe")}
    )


# ---------------------------------------------------------------------------------------- fit


def test_the_report_says_what_python_finds():
    done = call("fit", NOTES, "--keep", "pocket", "--max-epochs", 50)
    frame = pd.read_csv(NOTES)
    y = frame.pop("note").to_numpy()
    X = (frame - frame.mean()) / frame.std(ddof=0)
    model = rb.Perceptron(keep="pocket", max_epochs=50, order="shuffled", random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X.to_numpy(), y)
    for piece in (
        "banknotes.csv → Perceptron",
        "1372 rows, 4 features, 2 classes",
        "note: forged (610), genuine (762)",
        "EPOCH_LIMIT max_epochs was reached while mistakes were still being made",
        f"{model.n_mistakes_} mistakes in 50 epochs; {model.n_errors_} training errors left",
        "margin none",
        "always saying genuine gives 55.5%",
        "note, the last column, is taken as the class",
        "-o MODEL.skops saves the model",
    ):
        assert piece in one_line(done.stdout)
    for name, w in zip(frame.columns, model.coef_[0], strict=True):
        assert re.search(rf"{name} +{re.escape(f'{w:+.4g}')}", done.stdout)
    assert done.stderr == ""
    assert not any(line.endswith(" ") for line in done.stdout.splitlines())


@quiet
def test_raw_weights_and_folds_equal_scikit_learns_way():
    found = fitted(NOTES, "--raw", "--max-epochs", 20)
    frame = pd.read_csv(NOTES)
    y = frame.pop("note").to_numpy()
    X = frame.to_numpy()
    model = rb.Perceptron(keep="auto", order="shuffled", random_state=0, max_epochs=20).fit(X, y)
    (plane,) = found["hyperplanes"]
    assert plane["positive"] == "genuine"
    assert list(plane["weights"].values()) == model.coef_[0].tolist()
    assert plane["bias"] == model.intercept_[0]
    assert found["training_errors"] == model.n_errors_
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert found["cross_validation"] == cross_val_score(model, X, y, cv=folds).tolist()
    assert found["majority"] == (y == "genuine").mean()


def test_margin_is_the_distance_of_the_closest_row(fruit):
    found = fitted(fruit, "-o", "m.skops")
    assert found["stop_reasons"] == ["SEPARATED"]
    pipeline = rb.io.load("m.skops")
    with rb.io.read_table(fruit) as rows:
        X, y = pipeline[0].transform(rows), rows["state"]
    plane = rb.Hyperplane(pipeline[-1].coef_[0], pipeline[-1].intercept_[0])
    labels = np.where(y == "unripe", 1, -1)
    assert found["margins"] == [pytest.approx(plane.margin(X, labels), rel=1e-9)]


def test_text_columns_and_missing_cells(fruit):
    found = fitted(fruit)
    assert list(found["hyperplanes"][0]["weights"]) == [
        "size", "colour=green", "colour=red", "colour=yellow"
    ]  # fmt: skip
    assert "missing cells, taken as the mean: size (2)" in found["notes"]


def test_options_reach_the_estimator(fruit):
    given = {
        "update": "minibatch", "batch_size": 7, "order": "shuffled", "keep": "average",
        "eta0": 0.5, "init": [1, 0, 0, 0, -2], "max_epochs": 33, "max_time": 90.0, "tol": 1e-9,
        "class_weight": {"ripe": 2.0, "unripe": 1.0}, "record": True, "random_state": 4,
        "n_jobs": 1,
    }  # fmt: skip
    found = fitted(
        fruit, "--update", "minibatch", "--batch-size", 7, "--order", "shuffled",
        "--keep", "average", "--eta0", 0.5, "--init", "1,0,0,0,-2", "--max-epochs", 33,
        "--max-time", "1m30s", "--tol", 1e-9, "--class-weight", "ripe=2,unripe=1", "--record",
        "--seed", 4, "--n-jobs", 1,
    )  # fmt: skip
    assert found["parameters"] == given
    without = fitted(fruit, "--no-intercept", "--class-weight", "balanced", "--init", "random")
    assert without["parameters"] == {
        "fit_intercept": False, "class_weight": "balanced", "init": "random", "random_state": 0,
        "order": "shuffled", "keep": "auto",
    }  # fmt: skip
    assert without["hyperplanes"][0]["bias"] == 0


def test_adaline(fruit):
    found = fitted(fruit, "--model", "adaline", "--update", "batch", "--max-epochs", 5000)
    assert found["model"] == "Adaline"
    assert found["stop_reasons"] == ["SMALL_CHANGE"]
    done = call("fit", fruit, "--model", "adaline", "--keep", "pocket", code=2)
    assert "rosenblatt: --keep is not for --model adaline: it takes --update, " in done.stderr
    done = call("fit", fruit, "--model", "adaline", "--eta0", 50, code=2)
    assert "eta0=50 is too large for these data" in done.stderr


def test_every_parameter_of_the_estimators_has_an_option():
    printed = call("fit", "--help", env={"COLUMNS": "200"}).stdout
    absent = {"callback", "progress", "warm_start", "random_state", "fit_intercept"}
    for name in {*rb.Perceptron().get_params(), *rb.Adaline().get_params()} - absent:
        assert f"--{name.replace('_', '-')}" in printed
    assert "--seed" in printed
    assert "--no-intercept" in printed


def test_the_target_may_stand_anywhere_and_have_many_classes():
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 8, 200)
    x = rng.normal(kind * 5.0, 0.1)
    name = table("t.csv", {"kind": kind, "x": x, "x2": x**2})
    found = fitted(name, "-t", "kind", "--max-epochs", 3)
    assert list(found["classes"]) == [str(k) for k in range(8)]
    assert len(found["hyperplanes"]) == len(found["margins"]) == 8
    assert "0: x" in call("fit", name, "-t", "kind", "--max-epochs", 3).stdout
    assert "taken as the class" not in call("fit", name, "-t", "kind").stdout


def test_ignore_and_use():
    columns = {"id": [f"n{k}" for k in range(20)], "x": [1, 2] * 10, "y": ["a", "b"] * 10}
    name = table("t.csv", columns)
    assert "left out: id (a different text in every row)" in fitted(name)["notes"]
    assert fitted(name, "--use", "id")["features"] == 21
    assert not any("left out" in note for note in fitted(name, "--ignore", "id")["notes"])


def test_rows_without_a_class_are_left_out_and_it_says_so():
    name = table("t.csv", {"x": [1, 2, 3, 4, 5, 6], "y": ["a", "?", "b", "NA", "b", "a"]})
    found = fitted(name)
    assert found["rows"] == 4
    assert "2 rows without a class left out" in found["notes"]


def test_too_few_rows_to_cross_validate():
    found = fitted(table("t.csv", {"x": [1, 2, 3, 4, 7], "y": ["a", "a", "b", "a", "a"]}))
    assert found["cross_validation"] == []
    assert "no cross-validation: class b has only one row" in found["notes"]


def test_quiet_and_json_and_saving(fruit):
    done = call("fit", fruit, "-q", "-o", "m.skops", "--plot", "p.svg")
    assert done.output == ""
    assert Path("m.skops").exists()
    assert "<svg" in Path("p.svg").read_text()
    assert fitted(fruit, "-o", "m.skops")["saved"] == ["m.skops"]
    summary = rb.io.load("m.skops").summary_
    assert summary["file"] == "fruit.csv"
    assert summary["target"] == "state"


def test_standard_input():
    done = call("fit", "-", "--json", "--cv", 0, input=Path(NOTES).read_text())
    assert json.loads(done.stdout)["rows"] == 1372


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1, 2, 3], "y": ["a", "a", "a"]}, "column 'y' holds only one class, 'a'"),
        ({"x": [1, 2, 3], "y": [7, 7, 7]}, "column 'y' holds only one class, 7"),
        ({"x": [1, 2, 3], "y": ["", "?", "NA"]}, "column 'y' has no classes, every cell is"),
        ({"x": list(range(40)), "y": [k / 7 for k in range(40)]}, "looks continuous: 40 diff"),
        ({"x": list(range(18)), "y": [f"text {k}" for k in range(18)]}, "looks like a name or"),
        ({"x": [1, 2, 3], "y": ["2024-01-01", "2024-01-02", "2024-01-01"]}, "holds dates"),
        ({"y": ["a", "b", "a"]}, "no column to learn from beside 'y'"),
        ({"x": [1, 1, 1, 1], "y": ["a", "b"] * 2}, "no column is left to learn from (x: the same"),
    ],
)
def test_tables_that_cannot_be_learned_from(columns, message):
    assert message in call("fit", table("t.csv", columns), code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "nothing.csv"),
        (["."], "folder"),
        (["fruit.csv", "-t", "stade"], "no column 'stade'. Did you mean 'state'? It has size, col"),
        (["fruit.csv", "--ignore", "x"], "has no column 'x'. It has size, colour, state"),
        (["fruit.csv", "--use", "sizes"], "no column 'sizes'. Did you mean 'size'?"),
        (["fruit.csv", "-o", "m.pkl"], "m.pkl is no name for a model: let it end in .skops"),
        (["fruit.csv", "-o", "no/m.skops"], "there is no folder no: make it first"),
        (["fruit.csv", "--plot", "p.bmp"], "let it end in .png or .svg or .pdf"),
        (["fruit.csv", "--max-time", "soon"], "'soon' is not a duration: give seconds, or some"),
        (["fruit.csv", "--max-epochs", "0"], "max_epochs=0 is not allowed"),
        (["fruit.csv", "--tol", "-1"], "tol=-1.0 is not allowed"),
        (["fruit.csv", "--eta0", "fast"], "--eta0 'fast' is not a number: give a positive number"),
        (["fruit.csv", "--seed", "-1"], "--seed -1 is not possible: give a whole number from 0"),
        (["fruit.csv", "--batch-size", "5"], "--batch-size 5 needs --update minibatch"),
        (["fruit.csv", "--init", "1,2"], "init has shape (2,): give 5 numbers (4 weights, then"),
        (["fruit.csv", "--class-weight", "green=2"], "the classes are ripe, unripe"),
        (["fruit.csv", "--update", "minibatch"], "batch_size=None is not allowed"),
        (
            ["fruit.csv", "--cv", "1"],
            "--cv 1 is not possible: give 2 folds or more, 5x3 for five folds three times",
        ),
        (["fruit.csv", "--cv", "-3"], "--cv -3 is not possible"),
        (["fruit.csv", "--cv", "few"], "--cv few is not possible: give 2 folds or more"),
        (["fruit.csv", "--cv", "5x0"], "--cv 5x0 is not possible"),
        (["fruit.csv", "--groups", "colr"], "has no column 'colr'. Did you mean 'colour'?"),
        (["fruit.csv", "--groups", "size", "--use", "size"], "contradict each other"),
        (["fruit.csv", "--groups", "state", "-t", "state"], "--groups state is the class"),
        (["fruit.csv", "--groups", "size"], "2 rows, such as row 4, have no group: fill it in"),
        (["fruit.csv", "--top", "0"], "'--top': give a number greater than or equal to 1; "),
    ],
)
def test_wrong_uses_are_answered_in_one_line(fruit, arguments, message):
    assert message in call("fit", *arguments, code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "fruit.csv", "--keep", "best"], "'pocket'"),
        (["fit", "fruit.csv", "--bogus"], "--bogus"),
        (["fit"], "nothing to read: give a FILE, or --db, or a --query that names files"),
        (["predict", "m.skops"], "nothing to read: give a FILE"),
        (["fitt"], "'fitt'"),
    ],
)
def test_wrong_words_are_answered_in_one_line(fruit, arguments, message):
    printed = call(*arguments, code=2).stderr
    assert message in printed
    assert printed.endswith("--help tells more\n")


# ------------------------------------------------------------------------------ names and values


def test_names_that_look_like_markup_and_long_or_broken_ones():
    labels = ["[/bold]", "[red]yes"] * 20
    question = "How satisfied are you, all in all, with what you were told about it, and when?"
    x = np.tile([1.0, -1.0], 20) + np.arange(40) / 100
    name = table("t.csv", {question: x, ":smile: two\nlines": -x, "y": labels})
    call("fit", name, "-q", "-o", "[bold].skops")
    for width in ("40", "60", "80"):
        printed = call("show", "[bold].skops", env={"COLUMNS": width}).stdout
        assert "[/bold] (20), [red]yes (20)" in printed
        assert "[bold].skops" in printed
        assert ":smile: two\\nlines" in printed
        for w in rb.io.load("[bold].skops")[-1].coef_[0]:
            assert f"{w:+.4g}" in printed


def test_truth_values_are_the_same_in_every_format():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"flag": rng.random(60) < 0.5, "x": rng.standard_normal(60)})
    frame["y"] = frame["flag"]
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet")
    frame.to_json("t.jsonl", orient="records", lines=True)
    frame.astype(str).map(str.upper).to_csv("upper.csv", index=False)
    for name in ("t.csv", "t.parquet", "t.jsonl", "upper.csv"):
        call("fit", name, "-q", "-o", "m.skops", "--cv", 0)
        for other in ("t.csv", "t.parquet", "t.jsonl", "upper.csv"):
            done = call("predict", "m.skops", other)
            assert done.stderr == "100.0% of 60 rows with a known class are right\n"
        assert set(rb.io.load("m.skops").predict(frame)) == {"true", "false"}


def test_classes_that_the_model_does_not_know_are_not_judged(fruit):
    call("fit", fruit, "-q", "-o", "m.skops")
    columns = {
        "size": [4, 9, 9, 9],
        "colour": ["green", "red", "red", "red"],
        "state": ["unripe", "rotten", "Ripe.", ""],
    }
    done = call("predict", "m.skops", table("new.csv", columns))
    assert done.stderr == (
        "1 row with a class that the model does not know, not judged: rotten "
        "(it knows ripe, unripe)\n100.0% of 2 rows with a known class are right\n"
    )


def test_a_class_called_none_is_a_class():
    found = fitted(
        table("t.csv", {"x": range(30), "z": [1, 2, 5] * 10, "y": ["yes", "no", "none"] * 10})
    )
    assert found["classes"] == {"no": 10, "none": 10, "yes": 10}


@pytest.mark.parametrize("name", ["id", "ID", "user_id", "customerId", "Row ID"])
def test_numbers_that_name_the_rows_are_left_out(name):
    numbers = np.random.default_rng(0).permutation(np.arange(500, 540))
    found = fitted(table("t.csv", {name: numbers, "x": [1, 2] * 20, "y": ["a", "b"] * 20}))
    assert f"left out: {name} (it numbers the rows)" in found["notes"]


def test_adaline_does_not_mind_a_sorted_file():
    found = fitted(NOTES, "--model", "adaline")
    assert found["training_errors"] < 50
    assert found["parameters"]["order"] == "shuffled"


def test_more_folds_than_rows_of_a_class(fruit):
    found = fitted(fruit, "--cv", 1000)
    smallest = min(found["classes"].values())
    assert len(found["cross_validation"]) == smallest
    assert f"{smallest} folds: the smallest class has only {smallest} rows" in found["notes"]


def test_worse_than_always_the_same_answer_is_said():
    rng = np.random.default_rng(5)
    y = np.where(rng.random(80) < 0.2, "rare", "usual")
    done = call("fit", table("t.csv", {"x": rng.standard_normal(80), "y": y}))
    assert "always saying usual gives no less, " in one_line(done.stdout)


def test_a_folder_or_a_forbidden_place_is_refused_before_the_work(fruit, monkeypatch):
    Path("m.skops").mkdir()
    done = call("fit", fruit, "-o", "m.skops", code=2)
    assert "m.skops is a folder: give the name of a file to write" in done.stderr
    monkeypatch.setattr("os.access", lambda *_: False)
    done = call("fit", fruit, "-o", "n.skops", code=2)
    assert "nothing may be written in the folder" in done.stderr


def test_a_link_is_followed(fruit):
    call("fit", fruit, "-q", "-o", "m.skops")
    Path("link.skops").symlink_to("m.skops")
    before = Path("m.skops").read_bytes()
    call("fit", fruit, "-q", "-o", "link.skops", "--keep", "average")
    assert Path("link.skops").is_symlink()
    assert Path("m.skops").read_bytes() != before


def test_minus_is_standard_output(fruit):
    call("fit", fruit, "-q", "-o", "m.skops")
    assert call("predict", "m.skops", fruit, "-o", "-").stdout.startswith("prediction,decision\n")


# ------------------------------------------------------------------------------------- predict


def test_predictions_equal_pythons(fruit):
    call("fit", fruit, "-q", "-o", "m.skops")
    done = call("predict", "m.skops", fruit, "-o", "answers.csv")
    assert done.stdout == ""
    assert done.stderr == "100.0% of 60 rows with a known class are right\n"
    answers, frame = pd.read_csv("answers.csv"), pd.read_csv(fruit)
    pipeline = rb.io.load("m.skops")
    assert answers["prediction"].tolist() == pipeline.predict(frame).tolist()
    assert answers["decision"].tolist() == pipeline.decision_function(frame).tolist()


def test_answers_go_to_standard_output_by_default(fruit):
    call("fit", fruit, "-q", "-o", "m.skops")
    call("predict", "m.skops", fruit, "-o", "answers.csv")
    done = call("predict", "m.skops", fruit, "-q")
    assert done.stdout.splitlines() == Path("answers.csv").read_text().splitlines()
    assert done.stderr == ""


def test_parquet_answers_and_whole_numbers_as_classes():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 90)
    name = table("t.csv", {"a": rng.normal(y, 0.2), "b": rng.normal(-y, 0.2), "y": y})
    call("fit", name, "-q", "-o", "m.skops")
    call("predict", "m.skops", name, "-o", "out.parquet")
    call("predict", "m.skops", name, "-o", "out.csv")
    parquet, text = pd.read_parquet("out.parquet"), pd.read_csv("out.csv")
    assert list(text) == ["prediction", "decision_0", "decision_1", "decision_2"]
    assert parquet["prediction"].dtype == "int64"
    np.testing.assert_array_equal(parquet.to_numpy(), text.to_numpy())
    assert text["prediction"].tolist() == text.iloc[:, 1:].to_numpy().argmax(axis=1).tolist()


def test_columns_reordered_further_and_without_the_class(fruit):
    call("fit", fruit, "-q", "-o", "m.skops")
    expected = call("predict", "m.skops", fruit).stdout
    frame = pd.read_csv(fruit)
    frame["more"] = "text"
    frame[["more", "colour", "size"]].to_csv("new.csv", index=False)
    done = call("predict", "m.skops", "new.csv")
    assert done.stdout == expected
    assert done.stderr == ""


def test_unseen_values_are_told(fruit):
    call("fit", fruit, "-q", "-o", "m.skops")
    name = table("new.csv", {"size": [1, 2, 3], "colour": ["blue", "green", ""]})
    done = call("predict", "m.skops", name)
    assert done.stderr == (
        "2 cells of colour with values not seen in training, which count for no class: "
        "blue, (missing)\n"
    )
    assert len(done.stdout.splitlines()) == 4


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"size": [1, 2]}, "colour"),
        (
            {"size": ["small", "big"], "colour": ["green", "red"]},
            "'small' in data row 1, 'big' in data row 2",
        ),
    ],
)
def test_tables_that_do_not_fit_the_model(fruit, columns, message):
    call("fit", fruit, "-q", "-o", "m.skops")
    done = call("predict", "m.skops", table("new.csv", columns), "-o", "out.csv", code=2)
    assert message in done.stderr
    assert not Path("out.csv").exists()


def test_files_without_names_fit_by_position():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 40)
    rows = np.column_stack([np.where(y, "p", "q"), rng.normal(y * 4), rng.normal(y)])
    pd.DataFrame(rows).to_csv("train.csv", header=False, index=False)
    pd.DataFrame(rows[:, 1:]).to_csv("new.csv", header=False, index=False)
    pd.DataFrame(rows[:, 1:2]).to_csv("short.csv", header=False, index=False)
    call("fit", "train.csv", "-t", "column1", "-q", "-o", "m.skops")
    assert (
        call("predict", "m.skops", "train.csv").stdout
        == call("predict", "m.skops", "new.csv").stdout
    )
    done = call("predict", "m.skops", "short.csv", code=2)
    assert "has 1 column without names, but the model was trained on 2 and the class" in done.stderr


def test_models_made_in_python_predict_too():
    X, y = rb.datasets.eight_points()
    rb.io.save(rb.Perceptron().fit(X, y), "m.skops")
    name = table("t.csv", {"first": X[:, 0], "second": X[:, 1]})
    done = call("predict", "m.skops", name)
    assert [int(line.split(",")[0]) for line in done.stdout.splitlines()[1:]] == y.tolist()
    done = call("predict", "m.skops", table("t.csv", {"first": [1, 2]}), code=2)
    assert "has 1 column, but the model takes 2" in done.stderr
    assert "SEPARATED" in call("show", "m.skops").stdout
    assert json.loads(call("show", "m.skops", "--json").stdout)["parameters"] == {}


def test_what_is_read_is_not_overwritten(fruit):
    call("fit", fruit, "-q", "-o", "m.skops")
    before = Path(fruit).read_bytes()
    done = call("predict", "m.skops", fruit, "-o", f"./{fruit}", code=2)
    assert "is what is being read" in done.stderr
    assert Path(fruit).read_bytes() == before


def test_large_tables_in_pieces(monkeypatch, fruit):
    from rosenblatt.cli import predict

    call("fit", fruit, "-q", "-o", "m.skops")
    whole = call("predict", "m.skops", fruit)
    monkeypatch.setattr(predict, "CHUNK", 7)
    pieces = call("predict", "m.skops", fruit)
    assert (pieces.stdout, pieces.stderr) == (whole.stdout, whole.stderr)


@pytest.mark.parametrize("content", [b"", b"PK nonsense", b"x,y\n1,2\n"])
@pytest.mark.parametrize("command", ["predict", "show", "plot"])
def test_files_that_are_no_models(fruit, command, content):
    Path("m.skops").write_bytes(content)
    arguments = {"predict": ["m.skops", fruit], "show": ["m.skops"], "plot": ["epochs", "m.skops"]}
    assert "m.skops" in call(command, *arguments[command], code=2).stderr


# ---------------------------------------------------------------------------------------- show


def test_show_says_what_fit_said(fruit):
    report = call("fit", fruit, "-o", "m.skops").stdout.splitlines()
    shown = call("show", "m.skops").stdout.splitlines()
    assert re.fullmatch(r"m\.skops: Perceptron, trained on fruit\.csv, \d{4}-\d\d-\d\d", shown[0])
    card = next(k for k, line in enumerate(shown) if line.startswith("table "))
    same = [line for line in report[1:] if not line.startswith("saved")]
    assert shown[1:card] == same[: card - 1]
    assert shown[card - 1 - len(same) :] == same[card - 1 :]
    found, again = fitted(fruit), json.loads(call("show", "m.skops", "--json").stdout)
    for name in ("hyperplanes", "stop_reasons", "margins", "cross_validation", "classes", "notes"):
        assert found[name] == again[name]


def test_top(fruit):
    call("fit", fruit, "-q", "-o", "m.skops")
    assert "3 smaller ones not shown (--top)" in call("show", "m.skops", "--top", 1).stdout


# ---------------------------------------------------------------------------------------- plot


@pytest.mark.parametrize("kind", ["fan", "bias", "losses", "objective", "neuron", "nerve-cell"])
def test_pictures_of_ideas(kind):
    assert call("plot", kind).stdout == f"drawn: {kind}.png\n"
    assert Path(f"{kind}.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_of_models(fruit):
    rng = np.random.default_rng(0)
    y = rng.random(30) < 0.5
    name = table("t.csv", {"a": rng.normal(4.0 * y), "b": rng.normal(y), "y": y})
    call("fit", name, "-q", "--record", "-o", "m.skops")
    for kind in ("decision", "updates"):
        call("plot", kind, "m.skops", name, "-o", f"{kind}.svg")
        assert "<svg" in Path(f"{kind}.svg").read_text()
    for kind in ("epochs", "neuron"):
        call("plot", kind, "m.skops")
        assert Path(f"{kind}.png").stat().st_size > 5000
    call("plot", "animate", "m.skops", name)
    assert Path("animate.gif").read_bytes().startswith(b"GIF8")


def test_pictures_of_samples_and_weights():
    wide, high = np.array([1.0, 2, 3, -1, -2, -3]), np.array([2.0, 1, 1, -1, -1, -2])
    name = table("t.csv", {"a": wide, "b": high, "c": high**2, "y": wide > 0})
    call("plot", "points", name, "--column", "b", "-o", "one.svg")
    call("plot", "bound-geometry", name, "--column", "a", "--column", "b")
    flat = table("f.csv", {"a": wide, "b": high, "y": wide > 0})
    call("fit", flat, "-q", "--record", "--no-intercept", "-o", "p.skops")
    call("fit", flat, "-q", "--model", "adaline", "--no-intercept", "-o", "a.skops")
    call("plot", "weight-space", "p.skops", flat)
    call("plot", "loss-surface", "a.skops", flat, "-o", "loss.svg")
    for made in ("one.svg", "bound-geometry.png", "weight-space.png", "loss.svg"):
        assert Path(made).stat().st_size > 5000
    for arguments, message in (
        (["points"], "plot points needs a table"),
        (["points", name], "there are 3: choose, as in --column a --column b"),
        (["points", name, "--column", "aa"], "no column 'aa' to draw, there are a, b, c. Did you"),
        (["fan", "--column", "a"], "--column does not go with plot fan"),
        (["loss-surface", "p.skops"], "needs the table, too"),
    ):
        assert message in call("plot", *arguments, code=2).stderr


WRONG_USES_OF_PLOT = [
    (["decision"], "plot decision needs a model: rosenblatt plot decision MODEL.skops"),
    (["decision", "m.skops"], "needs the table, too"),
    (["fan", "m.skops"], "takes no model"),
    (["epochs", "m.skops", "fruit.csv"], "takes no table"),
    (["updates", "m.skops", "fruit.csv"], "4 features: only runs with two can be drawn"),
    (["animate", "m.skops", "fruit.csv", "-o", "a.png"], "let it end in .gif or .mp4"),
    (["decision", "m.skops", "new.csv"], "has no classes (column 'state')"),
]


def test_wrong_uses_of_plot(fruit):
    call("fit", fruit, "-q", "--record", "-o", "m.skops")
    table("new.csv", {"size": [1, 2], "colour": ["green", "red"]})
    for arguments, message in WRONG_USES_OF_PLOT:
        assert message in call("plot", *arguments, code=2).stderr


# ---------------------------------------------------------------------------------------- demo


@pytest.mark.parametrize("name", DEMOS)
def test_demos_explain_every_line(name):
    printed = call("demo", name).stdout
    assert DEMOS[name].story.split()[0] in printed
    own = ("margin", "weights")
    if DEMOS[name].model == "kernel":
        own = ("kernel", "support", "hardest", "dropped")
    for line in ("data", "classes", "stopped", "training", *own):
        assert re.search(rf"^{line} .+\n(.*\n)*? {{10}}\S", printed, re.MULTILINE)
    assert f"rosenblatt demo {name} --save" in printed


@quiet
@pytest.mark.parametrize("name", DEMOS)
def test_saved_demo_data_give_the_same_fit(name):
    assert call("demo", name, "--save", "d.csv").stdout == "written: d.csv\n"
    printed = call("demo", name).stdout
    command = printed.strip().splitlines()[-1].split()
    command[2] = "d.csv"
    again = call(*command[1:]).stdout
    for line in ("stopped", "training"):
        first = re.search(rf"^{line} .*$", printed, re.MULTILINE)[0]
        assert first in again


def test_list_of_demos():
    printed = call("demo", "--list").stdout
    assert [line.split()[0] for line in printed.splitlines()] == list(DEMOS)
    assert "Did you mean 'penguins'?" in call("demo", "penguin", code=2).stderr


# --------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10", 10),
        ("10s", 10),
        ("1.5m", 90),
        ("1h30m", 5400),
        ("2min", 120),
        ("250ms", 0.25),
        ("1 h", 3600),
    ],
)
def test_durations(text, value):
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["", "s", "10x", "-5s", "1m 2", "5 5", "1e3", "nan", "10s!"])
def test_no_durations(text):
    with pytest.raises(ValueError, match="is not a duration"):
        seconds(text)


def test_shares_are_never_rounded_to_all_or_none():
    assert percent(1.0) == "100.0%"
    assert percent(0.99999) == "over 99.9%"
    assert percent(0.00001) == "under 0.1%"
    assert percent(0.0) == "0.0%"
