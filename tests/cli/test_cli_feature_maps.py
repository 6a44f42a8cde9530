"""``fit --features``: a feature map between the columns of a table and a linear model."""

import json

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

import rosenblatt as rb
from commands import NOTES, call, fitted, one_line, table
from rosenblatt.cli import feature_maps
from rosenblatt.validation.plans import stratified

pytestmark = pytest.mark.usefixtures("plain_terminal")

SCALE = {"gamma": "scale", "random_state": 7}
MAPS = {
    "squares": rb.features.Squares(keep=True),
    "poly:2": rb.features.Polynomial(2),
    "rff:30": rb.features.RandomFourier(30, **SCALE),
    "nystroem:20": rb.features.Nystroem(n_components=20, **SCALE),
}


@pytest.fixture(scope="module")
def circles(tmp_path_factory):
    """A file of two classes, one around the other, and its columns."""
    X, y = rb.datasets.circles(60, noise=0.1, random_state=0)
    label = np.where(y > 0, "outer", "inner")
    file = tmp_path_factory.mktemp("circles") / "circles.csv"
    columns = {"east": X[:, 0] * 3 + 1, "north": X[:, 1]}
    table(file, columns | {"ring": label})
    return file, columns, label


@pytest.mark.parametrize("given", MAPS)
def test_as_a_pipeline_would(circles, given, tmp_path):
    file, columns, label = circles
    saved = tmp_path / "model.skops"
    found = fitted(file, "--features", given, "--seed", 7, "--cv", 3, "-o", saved)
    model = rb.io.load(saved)
    classifier = rb.Perceptron(keep="auto", order="shuffled", random_state=7)
    own = Pipeline([("encode", rb.TableEncoder()), ("map", MAPS[given]), ("classify", classifier)])
    own.fit(columns, label)
    assert np.array_equal(own.decision_function(columns), model.decision_function(columns))
    assert found["features"] == own[-1].n_features_in_
    assert found["feature_map"]["of"] == 2
    # In each fold the map learns from the rows that the model learns from, and from no others.
    scores = []
    for learn, test in stratified((label == "outer").astype(int), 3, seed=7):
        own.fit({name: cells[learn] for name, cells in columns.items()}, label[learn])
        answers = own.predict({name: cells[test] for name, cells in columns.items()})
        scores.append(float(np.mean(answers == label[test])))
    assert found["cross_validation"] == scores

    names = [list(plane["weights"]) for plane in found["hyperplanes"]]
    assert names == [model[:-1].get_feature_names_out().tolist()]
    shown = one_line(call("show", saved).stdout)
    assert given in shown
    assert ("none of which means anything" in shown) == (given in ("rff:30", "nystroem:20"))
    lines = call("predict", saved, file).stdout.splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == model.predict(columns).tolist()
    judged = json.loads(call("evaluate", saved, file, "--json").stdout)
    assert judged["accuracy"] == np.mean(model.predict(columns) == label)


def test_weights_have_the_names_of_products(circles):
    told = call("fit", circles[0], "--features", "poly:2", "--cv", 0).stdout
    assert "east north" in told
    assert "north^2" in told
    assert "among the features of the map" in one_line(told)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["poly:0"], "poly:0 is not possible: give a degree from 1 to 20, such as poly:2"),
        (["rff:x"], "rff:x is not possible: give a number of features from 1"),
        (["nystroem"], "nystroem is not possible: give a number of features"),
        (["squares:2"], "squares takes no number"),
        (["cubes"], "cubes is no feature map: give squares, poly:DEGREE, rff:COUNT or nystroem"),
        (["poly:2", "--kernel", "rbf"], "--kernel rbf makes features of its own: leave one of"),
        (["poly:2", "--gamma", "1"], "--gamma is not for --features poly:2: it is for rff and"),
        (["rff:9", "--gamma", "1", "--sigma", "1"], "two names for one width"),
        (["rff:9", "--sigma", "wide"], "--sigma 'wide' is not a number: give a positive number"),
    ],
)
def test_refused_before_the_table_is_read(given, why):
    assert why in call("fit", "none.csv", "--features", *given, code=2).stderr


def test_no_room(monkeypatch):
    monkeypatch.setattr(feature_maps, "memory", lambda: 1e7)
    told = call("fit", NOTES, "--features", "rff:500", code=2).stderr
    assert "1372 rows of 500 features take 0.011 GB with those of a fold" in told
    assert "take fewer, such as rff:227" in told
    call("fit", NOTES, "--features", "rff:227", "-q", "--cv", "0")
    told = call("fit", NOTES, "--features", "poly:9", code=2).stderr
    assert "take a smaller degree, or --kernel poly" in told


def test_a_width_of_its_own(circles, tmp_path):
    for name in ("rff:5", "nystroem:5"):
        saved = tmp_path / "model.skops"
        wide = ["--features", name, "--sigma", "2", "--cv", "0", "--model", "soft-margin"]
        found = fitted(circles[0], *wide, "-o", saved)
        assert found["feature_map"]["gamma"] == 1 / 8


def test_a_summary_of_another_map(circles, tmp_path):
    saved = tmp_path / "model.skops"
    call("fit", circles[0], "--features", "squares", "-q", "-o", saved, "--cv", 0)
    model = rb.io.load(saved)
    facts = model.summary_ | {"feature_map": model.summary_["feature_map"] | {"name": "Polynomial"}}
    rb.io.save(model, saved, summary=facts)
    assert "damaged (feature_map in its summary)" in call("show", saved, code=2).stderr


def test_sparse_tables(tmp_path):
    lines = ["1 1:0.5 3:2", "-1 2:1", "1 1:1 3:1", "-1 2:3 3:0.1"] * 3
    (tmp_path / "t.svm").write_text("\n".join(lines) + "\n")
    for name, wide in [("squares", 6), ("poly:2", 10), ("rff:4", 4)]:
        assert fitted(tmp_path / "t.svm", "--features", name, "--cv", 2)["features"] == wide
