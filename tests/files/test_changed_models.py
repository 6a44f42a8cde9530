"""Model files that are well formed but changed: a model, or one line that says it is damaged."""

import io
import json
import random
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from commands import call, invoke, table
from rosenblatt.files.models import ModelFileError, load, save

pytestmark = pytest.mark.usefixtures("plain_terminal")

KINDS = {
    "last": [],
    "average": ["--keep", "average", "--record"],
    "adaline": ["--model", "adaline"],
    "rbf": ["--kernel", "rbf", "--drop-after", "3"],
    "vote": ["--kernel", "poly", "--keep", "vote"],
    "hard": ["--model", "max-margin"],
    "soft": ["--model", "soft-margin"],
    "calibrated": ["--calibrate", "isotonic", "--cv", "2"],
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A file of every kind, in turn for two classes and for three, with numbers and words."""
    folder = tmp_path_factory.mktemp("models")
    rng = random.Random(0)
    for k, labels in {2: "ab", 3: "abc"}.items():
        y = list(labels * 8)
        columns = {
            "x": [rng.gauss("abc".index(label), 1) for label in y],
            "z": [rng.gauss(0, 1) for _ in y],
            "colour": [rng.choice(["red", "blue"]) for _ in y],
            "y": y,
        }
        table(folder / f"{k}.csv", columns)
        for name, options in [*KINDS.items()][k - 2 :: 2]:
            limit = [] if name in ("hard", "soft") else ["--max-epochs", "5"]
            out = folder / f"{name}-{k}.skops"
            arguments = ["fit", folder / f"{k}.csv", "-q", "--cv", 0, "-o", out, *options, *limit]
            assert invoke(*arguments).exit_code < 2
    return folder


ODD = [None, 0, -1, 2.5, 1e300, 10**30, float("nan"), "", "0", '"x"', "null", "NaN", "-5", "true"]
ODD += ["[]", '{"a": 1}', '"CYCLE"', '"SEPARATED"', [], {}, [[1]]]


def places(tree, path=()):
    """Every place in a schema."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def at(tree, path):
    for step in path:
        tree = tree[step]
    return tree


def changed_array(data, rng):
    a = np.load(io.BytesIO(data), allow_pickle=False)
    way = rng.choice(["float", "nan", "minus", "cut", "grow", "huge", "text", "deeper"])
    if way == "nan" and a.size:
        a = a.astype(float)
        a.flat[rng.randrange(a.size)] = np.nan
    elif way == "huge":
        a = np.full(a.shape, 2**62 if a.dtype.kind in "iu" else 1.7e308)
    else:
        a = {
            "float": lambda: a.astype(np.float32),
            "minus": lambda: -a if a.dtype.kind in "if" else a[::-1],
            "cut": lambda: a[:-1],
            "grow": lambda: np.concatenate([a, a[-1:]]),
            "text": lambda: np.full(a.shape, "x"),
            "deeper": lambda: a[np.newaxis],
            "nan": lambda: a,
        }[way]()
    out = io.BytesIO()
    np.save(out, a)
    return out.getvalue()


def changed(data, rng):
    """The file with one value, name, part or array changed; checksums in order."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(contents["schema.json"])
    every = list(places(schema))
    said = [path for path in every if "summary_" in path and path[-1] != "__id__"]
    values = [path for path in every if path[-1] in ("content", "name", "keys")]
    arrays = [name for name in contents if name.endswith(".npy")]
    where = rng.choice(["summary", "value", "array", "any"])
    if where == "array" and arrays:
        name = rng.choice(arrays)
        contents[name] = changed_array(contents[name], rng)
    else:
        *path, key = rng.choice({"summary": said, "value": values}.get(where, every))
        part, how = at(schema, path), rng.random()
        if how < 0.3:
            del part[key]
        elif how < 0.5:
            part[key] = json.loads(json.dumps(at(schema, rng.choice(every))))
        else:
            part[key] = rng.choice(ODD)
    contents["schema.json"] = json.dumps(schema)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_changed_files_are_models_or_refused_in_one_line(kind, models, tmp_path):
    rng = random.Random(kind)
    k = 2 + [*KINDS].index(kind) % 2
    for _ in range(5):
        data = changed((models / f"{kind}-{k}.skops").read_bytes(), rng)
        (tmp_path / "m.skops").write_bytes(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                load(tmp_path / "m.skops")
        except ModelFileError as error:
            refusal = str(error)
        else:
            refusal = ""
        assert refusal.isprintable()
        if refusal:
            continue
        for arguments in (["show"], ["show", "--json"], ["predict", str(models / f"{k}.csv")]):
            done = invoke(arguments[0], "m.skops", *arguments[1:])
            assert done.exit_code in (0, 2), done.output
            assert "should not have happened" not in done.stderr
            if done.exit_code == 2:
                assert done.stderr.startswith("rosenblatt: ")
                assert done.stderr.count("\n") == 1
            elif arguments[-1] == "--json":
                json.loads(done.stdout, parse_constant=pytest.fail)


CHANGES = {
    "rows": lambda s: s.update(rows="344"),
    "file": lambda s: s.pop("file"),
    "trained": lambda s: s.update(trained=1e300),
    "classes": lambda s: s.update(classes={"a": 8, "other": 8}),
    "stop_reasons": lambda s: s.update(stop_reasons=["NEVER"]),
    "features": lambda s: s.update(features=1),
    "majority": lambda s: s.update(majority=None),
    "margins": lambda s: s.update(margins=[1.0, 2.0]),
    "verdicts": lambda s: s.update(verdicts=["MAYBE"]),
    "mistakes": lambda s: s.update(mistakes=[-1]),
    "target": lambda s: s.update(target="nothing"),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("command", ["show", "predict"])
def test_a_changed_summary_is_named(name, command, models):
    model = load(models / "last-2.skops")
    CHANGES[name](model.summary_)
    save(model, "m.skops", summary=model.summary_)
    more = [models / "2.csv"] if command == "predict" else []
    done = call(command, "m.skops", *more, code=2)
    assert f"m.skops is damaged ({name} in its summary): fit and save the model again" in (
        done.stderr
    )


def test_a_summary_of_somebodys_own_is_left_alone(models):
    model = load(models / "last-2.skops")
    save(model, "m.skops", summary={"note": "for Monday", "rows": "many", "target": 3})
    assert "Perceptron" in call("show", "m.skops").stdout
    assert "prediction" in call("predict", "m.skops", models / "2.csv").stdout


def test_models_that_are_not_ours(models):
    X, y = rb.datasets.eight_points()
    save(LogisticRegression().fit(X, y), "m.skops")
    done = call("show", "m.skops", code=2)
    assert "m.skops holds a LogisticRegression, not one of rosenblatt's" in done.stderr


def test_parameters_that_fit_would_not_take(tmp_path):
    X, y = rb.datasets.eight_points()
    model = rb.Perceptron().fit(X, y).set_params(max_epochs=0)
    with pytest.raises(ValueError, match="max_epochs=0 is not allowed"):
        save(model, tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())


def test_parameters_that_json_has_not():
    X, y = rb.datasets.eight_points()
    model = rb.Perceptron(random_state=np.random.RandomState(0), eta0=np.float64(2.0)).fit(X, y)
    save(model, "m.skops")
    shown = json.loads(call("show", "m.skops", "--json").stdout)["parameters"]
    assert shown["eta0"] == 2.0
    assert shown["random_state"].startswith("RandomState")


ENCODERS = {
    "kind": lambda e: e.columns_[0].update(kind="colour"),
    "no name": lambda e: e.columns_[0].pop("name"),
    "other name": lambda e: e.columns_[0].update(name="other"),
    "deviation": lambda e: e.columns_[0].update(deviation=0.0),
    "mean": lambda e: e.columns_[0].update(mean=float("nan")),
    "values": lambda e: e.columns_[2].update(values=["red", 3]),
    "same values": lambda e: e.columns_[2].update(values=["red", "red"]),
    "fewer values": lambda e: e.columns_[2].update(values=["red"]),
    "missing": lambda e: e.n_missing_.update(x=-1),
}


@pytest.mark.parametrize("name", ENCODERS)
def test_a_changed_encoder_is_refused(name, models, tmp_path):
    model = load(models / "last-2.skops")
    ENCODERS[name](model[0])
    save(model, "m.skops")
    with pytest.raises(ModelFileError, match="is damaged"):
        load("m.skops")


def test_a_kernel_that_is_nothing_is_refused(tmp_path):
    X, y = rb.datasets.eight_points()
    model = rb.KernelPerceptron().fit(X, y)
    state = model.__getstate__()
    state["kernel_"] = state["kernel_"] | {"is": None}
    with pytest.raises(ValueError, match="None is not known"):
        rb.KernelPerceptron().__setstate__(state)


@pytest.mark.parametrize("change", [lambda a: np.full(a.shape, "x"), lambda a: a[:, :1]])
def test_feature_maps_that_give_no_features_are_refused(change, tmp_path):
    X, y = rb.datasets.eight_points()
    features = rb.features.Nystroem(n_components=4, random_state=0)
    model = make_pipeline(features, rb.Perceptron()).fit(X, y)
    features.sampler_.components_ = change(features.sampler_.components_)
    save(model, tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match="is damaged") as caught:
        load(tmp_path / "m.skops")
    assert str(caught.value).isprintable()


def test_what_scikit_learn_makes_of_a_changed_model_is_told_in_one_line():
    X, y = rb.datasets.eight_points()
    table("t.csv", {"a": X[:, 0], "b": X[:, 1]})
    model = LogisticRegression().fit(X, y)
    model.intercept_ = {"no": "numbers"}
    save(model, "m.skops")
    done = invoke("predict", "m.skops", "t.csv")
    assert done.exit_code == 2
    assert done.stderr.startswith("rosenblatt: m.skops is damaged, or not for this table")
    assert done.stderr.count("\n") == 1
