"""The code and the command that are shown do what is shown: they are run."""

import csv
import json
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from commands import invoke
from playground_visitor import NOISY, Visitor, new_app
from rosenblatt.files.models import load

THREE = {
    "points": [[0, 0], [1, 0], [0, 2], [5, 5], [6, 5], [1, 6], [0, 9], [1, 9], [2, 4]],
    "labels": [0, 0, 0, 1, 1, 1, 2, 2, 2],
    "names": ["a", "b", "c"],
}
TWO = NOISY | {"names": ["no", "yes"]}

SETTINGS = [
    {"algorithm": "perceptron", "max_epochs": 7},
    {"algorithm": "perceptron", "keep": "auto", "order": "sampled", "random_state": 5},
    {"algorithm": "pocket", "order": "shuffled", "eta0": 0.5, "max_epochs": 9},
    {"algorithm": "average", "update": "minibatch", "batch_size": 4, "max_epochs": 9},
    {
        "algorithm": "perceptron",
        "update": "batch",
        "init": [-1.5, 2, 0.25],
        "at_zero": 1,
        "max_epochs": 9,
    },
    {
        "algorithm": "perceptron",
        "fit_intercept": False,
        "class_weight": [1, 2.5, 1],
        "max_epochs": 9,
    },
    {"algorithm": "adaline", "tol": 1e-3, "class_weight": "balanced"},
    {"algorithm": "max-margin"},
    {"algorithm": "soft-margin", "C": 3},
    {
        "algorithm": "kernel",
        "kernel": "poly",
        "degree": 2,
        "gamma": 0.5,
        "coef0": 2,
        "max_epochs": 5,
    },
    {"algorithm": "kernel", "kernel": "gaussian", "sigma": 0.7, "drop_after": 3, "keep": "average"},
    {"algorithm": "kernel", "budget": 5, "max_epochs": 4, "fit_intercept": True},
    {"algorithm": "vote", "max_epochs": 4},
]


def told(client, data, settings):
    run = client.post("/api/run", json={"data": data, "settings": settings}).json()
    code = client.post("/api/code", json={"data": data, "settings": settings}).json()
    return run, code


def values_told(run, data):
    """The decision values of the model that the page ends with."""
    X = np.array(data["points"], dtype=float)
    if run["kernel"] is None:
        return np.column_stack([X @ c["kept"]["w"] + c["kept"]["b"] for c in run["courses"]])
    return None


def ran(python):
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(python, names)  # what the page shows is to be run
    return names["model"]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: " ".join(map(str, s.values())))
@pytest.mark.parametrize("data", [TWO, THREE], ids=["two", "three"])
def test_code_and_command_give_the_same_model(
    client, data, settings, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    if "init" in settings and data is THREE:
        settings = settings | {"at_zero": None}
    if data is TWO and settings.get("class_weight") == [1, 2.5, 1]:
        settings = settings | {"class_weight": [1, 2.5]}
    run, code = told(client, data, settings)
    model = ran(code["python"])
    X = np.array(data["points"], dtype=float)
    assert model.n_errors_ == run["errors"]
    assert [fit.stop_reason.name for fit in model.fits_] == [
        c["stop"]["reason"] for c in run["courses"]
    ]
    values = values_told(run, data)
    if values is not None:
        found = model.decision_function(X).reshape(len(X), -1)
        np.testing.assert_allclose(values, found, rtol=1e-12, atol=1e-12)
    else:
        for fit, course in zip(model.fits_, run["courses"], strict=True):
            coef = np.zeros(len(X))
            coef[model.support_] = fit.coef
            assert course["coef"] == coef.tolist()
    saved(data, "points.csv")
    command = [*shlex.split(code["command"])[1:], "-o", "model.skops", "-q"]
    done = invoke(*command)
    assert done.exit_code in (0, 1), done.stderr
    again = load("model.skops")[-1]
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def saved(data, path):
    """The points as the page saves them."""
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x1", "x2", "class"])
        for point, label in zip(data["points"], data["labels"], strict=True):
            writer.writerow([*map(repr, point), data["names"][label]])


@pytest.mark.parametrize(
    "columns", ["along-w", ["skewness", "entropy"], ["entropy", "skewness"]], ids=str
)
def test_code_and_command_of_a_table(columns, tmp_path, monkeypatch):
    notes = "examples/banknotes.csv"
    client = Visitor(new_app(notes))
    fingerprint = client.get("/").text.split('name="held" content="')[1][:16]
    data = {"table": fingerprint, "columns": columns}
    settings = {"algorithm": "pocket", "order": "shuffled", "max_epochs": 5}
    run, code = told(client, data, settings)
    model = ran(code["python"])
    assert model.n_errors_ == run["errors"]
    if columns != "along-w":
        assert run["courses"][0]["kept"]["w"] == model.coef_[0].tolist()
    model_file = str(tmp_path / "model.skops")
    assert invoke(*shlex.split(code["command"])[1:], "-o", model_file, "-q").exit_code == 0
    again = load(model_file)[-1]
    turned = columns == ["entropy", "skewness"]
    assert again.coef_[0].tolist() == model.coef_[0].tolist()[:: -1 if turned else 1]
    assert ("own order" in (code["note"] or "")) == turned


def test_a_name_cannot_break_out_of_the_code(client):
    hostile = NOISY | {"names": ["x\nimport os; os.abort()", "b'; rm -rf ~ #"]}
    _, code = told(client, hostile, {"algorithm": "perceptron", "class_weight": [1, 2]})
    assert "\nimport os" not in code["python"]
    ran(code["python"])
    assert shlex.split(code["command"])[:2] == ["rosenblatt", "fit"]
    json.dumps(code)


def test_what_the_command_cannot_do_is_said(client):
    settings = {
        "algorithm": "perceptron",
        "multiclass": "joint",
        "init": [[0, 0, 1]] * 2 + [[1, 0, 0]],
    }
    _, code = told(client, THREE, settings)
    assert code["command"] is None
    assert "same vector" in code["note"]
    assert isinstance(ran(code["python"]), rb.Perceptron)
