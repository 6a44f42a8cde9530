"""Models as JSON: complete, to the bit, and safe to read."""

import copy
import json
import random
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X, y = rb.datasets.circles(30, noise=0.2, random_state=0)
THREE = np.where(X[:, 0] > 0.8, "ü", np.where(y > 0, "a", "b"))
TABLE = {
    "$": X[:, 0],
    "size": np.where(X[:, 1] > 1, np.nan, X[:, 1]),
    "tuple": ["p", None, "q"] * 10,
}
MAPS = {
    "squares": rb.features.Squares(keep=True),
    "poly": rb.features.Polynomial(2),
    "rff": rb.features.RandomFourier(6, random_state=0),
    "nystroem": rb.features.Nystroem(rb.kernels.Gaussian(1.5), n_components=6, random_state=0),
}
SCHEMA = json.loads(files("rosenblatt.files").joinpath("model.schema.json").read_text("utf-8"))


def few(rule, **options):
    return rule(max_epochs=3, **options)


CASES = {
    "perceptron": (few(rb.Perceptron, keep="average"), X, y),
    "recorded": (few(rb.Perceptron, record=True, class_weight={-1: 2.0, 1: 1.0}), X, y),
    "joint": (few(rb.Perceptron, multiclass="joint", random_state=3, order="shuffled"), X, THREE),
    "pocket": (few(rb.Perceptron, keep="pocket", random_state=np.random.RandomState(1)), X, THREE),
    "adaline": (few(rb.Adaline), X, y),
    "regressor": (few(rb.AdalineRegressor), X, X[:, 0]),
    "vote": (few(rb.KernelPerceptron, keep="vote"), X, THREE),
    "sparse": (few(rb.KernelPerceptron, kernel="poly", drop_after=3), csr_array(X), y),
    "soft": (rb.SoftMarginClassifier(), X, THREE),
    "none": (rb.MaxMarginClassifier(), X, y),
    "scaled": (make_pipeline(StandardScaler(), few(rb.Perceptron)), X, y),
    **{
        name: (make_pipeline(rb.TableEncoder(), step, few(rb.Perceptron)), TABLE, y)
        for name, step in MAPS.items()
    },
    "words": (
        make_pipeline(rb.TableEncoder(text=["t"]), few(rb.Perceptron)),
        {"t": ["good day", "bad day", "good one"] * 10, "n": X[:, 0]},
        y,
    ),
}


def answers(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)


@pytest.fixture(scope="module")
def fitted():
    made = {}

    def get(name):
        if name not in made:
            model, rows, labels = CASES[name]
            with np.errstate(all="ignore"):
                made[name] = model.fit(rows, labels)
        return made[name]

    return get


@pytest.mark.filterwarnings("ignore::rosenblatt.NotSeparableWarning")
@pytest.mark.parametrize("name", CASES)
def test_comes_back_to_the_bit(fitted, name, tmp_path):
    model, (_, rows, labels) = fitted(name), CASES[name]
    path = tmp_path / "model.json"
    rb.io.save(model, path, summary={"of": name})
    jsonschema.validate(json.loads(path.read_text("utf-8")), SCHEMA)
    loaded = rb.io.load(path)
    assert loaded.summary_ == {"of": name}
    names = [[n for n in vars(one) if n != "_state"] for one in (loaded, model)]
    assert names[0] == [*names[1], "summary_"]  # also in order
    assert np.array_equal(answers(loaded, rows), answers(model, rows))
    if hasattr(model, "classes_"):
        assert np.array_equal(loaded.predict(rows), model.predict(rows))
    again = tmp_path / "again.json"
    rb.io.save(loaded, again, summary={"of": name})
    assert again.read_bytes() == path.read_bytes()
    if hasattr(model, "partial_fit"):  # goes on as if it had never stopped
        going = copy.deepcopy(model).partial_fit(rows, labels)
        assert np.array_equal(answers(loaded.partial_fit(rows, labels), rows), answers(going, rows))


def test_the_schema_refuses_what_load_refuses(fitted, tmp_path):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    path = tmp_path / "model.json"
    rb.io.save(fitted("perceptron"), path)
    document = json.loads(path.read_text("utf-8"))
    document["steps"][0]["kind"] = "os.system"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)
    path.write_text(json.dumps(document))
    with pytest.raises(
        rb.io.ModelFileError, match=r"'os\.system' is no kind of step that is known"
    ):
        rb.io.load(path)


JUNK = [None, "x", [], {}, -1, 2**70, 1e308, True, {"$": "estimator"}, {"$": "tuple", "items": [1]}]


def places(value, at=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for key, item in inner:
        yield (*at, key)
        if isinstance(item, dict | list):
            yield from places(item, (*at, key))


@pytest.mark.filterwarnings("ignore::rosenblatt.io.ModelFileWarning")
@pytest.mark.parametrize("name", ["perceptron", "vote", "soft", "nystroem", "rff"])
def test_changed_files(fitted, name, tmp_path):
    """A changed file is refused in one line, or holds a model that answers."""
    path = tmp_path / "model.json"
    rb.io.save(fitted(name), path)
    document, chance = json.loads(path.read_text("utf-8")), random.Random(name)
    everywhere = list(places(document))
    refused = 0
    for place in chance.sample(everywhere, 40):
        changed = copy.deepcopy(document)
        part = changed
        for key in place[:-1]:
            part = part[key]
        junk = chance.choice([*JUNK, del_ := object()])
        if junk is del_:
            del part[place[-1]]
        else:
            part[place[-1]] = junk
        path.write_text(json.dumps(changed), "utf-8")
        told = []
        try:
            answers(rb.io.load(path), CASES[name][1])
        except rb.io.ModelFileError as error:
            told = str(error).splitlines()
        assert len(told) <= 1
        refused += len(told)
    assert refused > 5


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text[: len(text) // 2], "is damaged and cannot be read"),
        (lambda text: '{"name": "left-pad"}', "is not a model file: give a file saved by"),
        (lambda text: "[" * 100_000, "is not a model file"),
        (lambda text: '{"a":' * 100_000, "is damaged and cannot be read"),
        (lambda text: text.replace('"layout": 1', '"layout": 2'), "newer than this"),
        (lambda text: text.replace('"max_epochs": 3', '"max_epochs": 1e999'), "damaged"),
        (lambda text: text.replace('"max_epochs": 3', '"max_epochs": NaN'), "NaN is no number"),
        (lambda text: text.replace('"max_epochs": 3', '"max_epochs": -3'), "max_epochs=-3"),
        (lambda text: text.replace('"max_epochs": 3,', ""), "'parameters' is not as it should be"),
        (lambda text: text.replace('"online"', '"offline"'), "update='offline'"),
    ],
)
def test_foreign_and_broken_files(fitted, change, why, tmp_path):
    path = tmp_path / "model.json"
    rb.io.save(fitted("perceptron"), path)
    path.write_text(change(path.read_text("utf-8")), "utf-8")
    with pytest.raises(rb.io.ModelFileError, match=why) as caught:
        rb.io.load(path)
    assert "\n" not in str(caught.value)


def test_what_has_no_place_there(tmp_path):
    other = make_pipeline(PCA(2), few(rb.Perceptron)).fit(X, y)
    with pytest.raises(rb.io.ModelFileError, match="this Pipeline holds a PCA, which has no place"):
        rb.io.save(other, tmp_path / "model.json")
    mine = few(rb.KernelPerceptron, kernel=lambda a, b: float(a @ b)).fit(X, y)
    with pytest.raises(rb.io.ModelFileError, match="holds a function, which has no place"):
        rb.io.save(mine, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
