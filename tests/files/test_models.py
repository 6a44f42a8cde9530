"""Model files: exact, whole or not at all, and harmless whoever made them."""

import contextlib
import copy
import dataclasses
import io
import itertools
import json
import operator
import pickle
import struct
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
import skops.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import rosenblatt as rb
from rosenblatt.files import models
from rosenblatt.files.models import ModelFileError, ModelFileWarning, load, save
from rosenblatt.perceptron.estimator import Perceptron
from rosenblatt.results import Updates
from rosenblatt.results.storable import from_plain, to_plain

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def cloud(classes=2, n=80, d=3, seed=0):
    X, y = make_blobs(n, d, centers=classes, cluster_std=4.0, random_state=seed)
    return X, y


def differences(a, b, skip=(), at="model"):
    """Where two objects are not the same in every bit, as text."""
    if type(a) is not type(b):
        return [f"{at}: {type(a)} is not {type(b)}"]
    if dataclasses.is_dataclass(a):
        a, b = vars(a), vars(b)
    if isinstance(a, np.random.Generator):
        a, b = a.bit_generator.state, b.bit_generator.state
    if isinstance(a, np.random.RandomState):
        a, b = a.get_state(legacy=False), b.get_state(legacy=False)
    if isinstance(a, np.ndarray):
        if a.dtype.hasobject:
            a, b = (a.shape, a.tolist()), (b.shape, b.tolist())
        else:
            a, b = ((v.dtype, v.shape, v.tobytes()) for v in (a, b))
    if hasattr(a, "get_params") and not isinstance(a, type):
        a, b = vars(a), vars(b)
    if isinstance(a, dict):
        if list(a) != list(b):
            return [f"{at}: {list(a)} are not {list(b)}"]
        return [
            text
            for key in a
            if key not in skip
            for text in differences(a[key], b[key], skip, f"{at}.{key}")
        ]
    if isinstance(a, list | tuple):
        if len(a) != len(b):
            return [f"{at}: length {len(a)} is not {len(b)}"]
        pairs = enumerate(zip(a, b, strict=True))
        return [t for i, (x, z) in pairs for t in differences(x, z, skip, f"{at}[{i}]")]
    if isinstance(a, float):
        a, b = struct.pack("d", a), struct.pack("d", b)
    return [] if a == b else [f"{at}: {a!r} is not {b!r}"]


def round_trip(model, folder, **more):
    path = folder / "model.skops"
    save(model, path, **more)
    return load(path)


def without_summary(model):
    model = copy.copy(model)
    del model.summary_
    return model


def stop(epoch):
    if epoch.number == 3:
        raise KeyboardInterrupt


VARIANTS = {
    "online": {},
    "record": {"record": True},
    "record, pocket, batch": {"record": True, "keep": "pocket", "update": "batch"},
    "record, one mistake at a time": {"record": True, "order": "random-mistake", "random_state": 0},
    "pocket": {"keep": "pocket"},
    "average": {"keep": "average"},
    "average, shuffled": {"keep": "average", "order": "shuffled", "random_state": 5},
    "no bias": {"fit_intercept": False},
    "minibatch": {"update": "minibatch", "batch_size": 7, "eta0": 0.1},
    "a list to start from": {"init": [0.1, -0.0, 3, 1e-300]},
    "an array to start from": {"init": np.float32([0.1, 0.2, 0.3, 0.4])},
    "numbers of numpy": {"eta0": np.float64(0.3), "max_epochs": np.int64(4), "tol": np.float32(1)},
    "class weights": {"class_weight": {0: 2.0, 1: 0.1}},
    "RandomState": {"order": "sampled", "random_state": np.random.RandomState(3)},
    "interrupted": {"callback": stop},
    "Adaline": {"kind": rb.Adaline},
    "Adaline, sampled": {"kind": rb.Adaline, "order": "sampled", "random_state": 1},
}


def fitted(variant, classes=2):
    given = {"max_epochs": 9, **VARIANTS[variant]}
    X, y = cloud(classes)
    model = given.pop("kind", rb.Perceptron)(**given).fit(X, y)
    return model.set_params(callback=None), X, y


# -------------------------------------------------------------------------------- the same again


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("variant", VARIANTS)
def test_round_trip_in_every_bit(variant, classes, tmp_path):
    model, X, y = fitted(variant, classes)
    for twin in (
        without_summary(round_trip(model, tmp_path)),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        copy.copy(model),
    ):
        assert differences(model, twin) == []
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
        assert twin.score(X, y) == model.score(X, y)
        for view in ("stop_reason_", "certificate_", "n_mistakes_", "n_updates_", "trace_"):
            assert differences(getattr(model, view), getattr(twin, view)) == []
        for fit in twin.fits_:
            assert isinstance(fit.stop_reason, rb.StopReason)
            with pytest.raises(ValueError, match="read-only"):
                fit.hyperplane.w[0] = 1.0


def test_stop_reasons_and_certificates(tmp_path):
    reasons = set()
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    for parameters in (
        {},
        {"max_time": 1e-9},
        {"order": "shuffled", "max_epochs": 1},
        {"tol": 100.0},
    ):
        model = rb.Perceptron(**parameters).fit(X, y)
        twin = round_trip(model, tmp_path)
        assert twin.stop_reason_ is model.stop_reason_
        assert twin.certificate_ == model.certificate_
        reasons.add(model.stop_reason_.name)
    assert reasons == {"CYCLE", "TIME_LIMIT", "EPOCH_LIMIT", "SMALL_CHANGE"}
    assert round_trip(rb.Perceptron().fit(X, y), tmp_path).certificate_.period >= 1
    interrupted = fitted("interrupted")[0]
    assert round_trip(interrupted, tmp_path).stop_reason_ is rb.StopReason.INTERRUPTED


LABELS = {
    "int": np.array([3, -1, 7]),
    "text": np.array(["yes", "no", "maybe ü"]),
    "objects": np.array(["yes", "no", "maybe"], dtype=object),
    "float": np.array([1.0, 2.0, 4.0]),
    "bool": np.array([False, True]),
    "uint8": np.array([0, 255], np.uint8),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels(labels, tmp_path):
    X, y = cloud(len(labels))
    weights = {name: k + 1.0 for k, name in enumerate(labels.tolist())}
    model = rb.Perceptron(max_epochs=5, class_weight=weights).fit(X, labels[y])
    twin = round_trip(model, tmp_path)
    assert differences(model, without_summary(twin)) == []
    assert twin.class_weight == weights
    assert twin.predict(X).dtype == model.predict(X).dtype
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


def test_names_of_features(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = cloud()
    model = rb.Perceptron(max_epochs=5).fit(pd.DataFrame(X, columns=["a", "b", "ç"]), y)
    twin = round_trip(model, tmp_path)
    assert twin.feature_names_in_.tolist() == ["a", "b", "ç"]
    with pytest.raises(ValueError, match="feature names"):
        twin.predict(pd.DataFrame(X, columns=["a", "b", "x"]))


def wrappers():
    one = rb.Perceptron(max_epochs=9)
    yield "pipeline", make_pipeline(StandardScaler(), one)
    yield "pandas out", make_pipeline(StandardScaler(), one).set_output(transform="pandas")
    yield "calibrated", CalibratedClassifierCV(one, cv=2)
    yield "vote", VotingClassifier([("a", one), ("b", LogisticRegression())])
    yield "ufunc", make_pipeline(FunctionTransformer(np.tanh), one)


@pytest.mark.parametrize(("name", "model"), list(wrappers()), ids=lambda value: str(value)[:11])
def test_inside_scikit_learn(name, model, tmp_path):
    X, y = cloud(3)
    model.fit(X, y)
    twin = round_trip(model, tmp_path, summary={"name": name})
    assert twin.summary_ == {"name": name}
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    if hasattr(model, "decision_function"):
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
    if name == "pipeline":
        assert differences(vars(model[-1]), vars(twin[-1])) == []
        assert twin[-1].stop_reason_ == model[-1].stop_reason_


def test_text(tmp_path):
    words = ["good fine good", "bad poor", "fine good", "poor bad bad"]
    model = make_pipeline(TfidfVectorizer(), rb.Perceptron()).fit(words, [1, 0, 1, 0])
    twin = round_trip(model, tmp_path)
    np.testing.assert_array_equal(twin.decision_function(words), model.decision_function(words))


def test_tables(tmp_path):
    table = {"height": [1.6, 1.7, np.nan, 1.9] * 5, "club": ["A", "B", "ü", "A"] * 5}
    model = make_pipeline(rb.TableEncoder(), rb.Perceptron()).fit(table, [0, 1, 1, 0] * 5)
    twin = round_trip(model, tmp_path)
    assert differences(vars(model[0]), vars(twin[0])) == []
    np.testing.assert_array_equal(twin.decision_function(table), model.decision_function(table))


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = "import sys, rosenblatt.files.models; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert not {"skops", "sklearn", "scipy"} & set(loaded.stdout.split())


# ------------------------------------------------------------------------------------- going on

parameters = st.fixed_dictionaries(
    {
        "order": st.sampled_from(["cyclic", "shuffled", "sampled"]),
        "fit_intercept": st.booleans(),
        "random_state": st.sampled_from([0, 7]),
        "init": st.sampled_from(["zeros", "random"]),
        "class_weight": st.sampled_from([None, {0: 0.5, 1: 3.0}]),
    }
)
rules = st.one_of(
    st.fixed_dictionaries(
        {
            "kind": st.just(rb.Perceptron),
            "keep": st.sampled_from(["last", "average"]),
            "record": st.booleans(),
            "form": st.sampled_from(
                [{}, {"update": "batch"}, {"update": "minibatch", "batch_size": 9}]
            ),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just(rb.Perceptron),
            "record": st.booleans(),
            "form": st.sampled_from([{"order": "random-mistake"}, {"order": "worst-mistake"}]),
        }
    ),
    st.fixed_dictionaries({"kind": st.just(rb.Adaline), "eta0": st.just(1e-3)}),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rules, parameters, st.sampled_from([2, 3]), st.booleans(), st.booleans())
def test_going_on_as_if_never_saved(tmp_path, rule, common, classes, at_once, by_pickle):
    rule = dict(rule)
    kind, form = rule.pop("kind"), rule.pop("form", {})
    X, y = cloud(classes)
    model = kind(**{**common, **rule, **form}, max_epochs=3)
    if at_once:
        model.fit(X, y)
    else:
        for rows in (slice(0, 30), slice(30, 50)):
            model.partial_fit(X[rows], y[rows], classes=np.arange(classes))
    if by_pickle:
        twin = pickle.loads(pickle.dumps(model))
    else:
        twin = without_summary(round_trip(model, tmp_path))
    for each in (model, twin):
        for rows in (slice(50, 80), slice(0, 40)):
            each.partial_fit(X[rows], y[rows])
    assert differences(model, twin, skip=("seconds",)) == []
    for each in (model, twin):
        each.set_params(warm_start=True).fit(X, y)
    assert differences(model, twin, skip=("seconds",)) == []


def test_the_pocket_starts_warm(tmp_path):
    X, y = cloud()
    model = rb.Perceptron(keep="pocket", warm_start=True, max_epochs=2, random_state=0).fit(X, y)
    twin = without_summary(round_trip(model, tmp_path))
    assert differences(model.fit(X, y), twin.fit(X, y), skip=("seconds",)) == []


@pytest.mark.parametrize("order", ["cyclic", "random-mistake"])
def test_the_record_is_kept_once(order, tmp_path):
    X, y = cloud()
    model = rb.Perceptron(record=True, order=order, max_epochs=40).fit(X, y)
    twin = round_trip(model, tmp_path)
    for each in (model, twin, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        updates, (columns,) = each.trace_.updates, each._state[0].records
        for name, column in zip(
            ("epoch", "sample", "value", "step", "update"), columns, strict=True
        ):
            assert getattr(updates, name) is column
    with zipfile.ZipFile(tmp_path / "model.skops") as file:
        assert len(file.namelist()) < 40


# ------------------------------------------------------------------------------------ the summary


def test_summary(tmp_path):
    model, _, _ = fitted("online")
    summary = {"rows": 80, "table": "a.csv", "errors": [1, 2.5, None, True], "ü": {"x": {}}}
    twin = round_trip(model, tmp_path, summary=summary)
    assert twin.summary_ == summary
    assert not hasattr(model, "summary_")
    assert round_trip(model, tmp_path).summary_ == {}


def test_a_summary_is_not_handed_on(tmp_path):
    model, X, y = fitted("online")
    twin = round_trip(model, tmp_path, summary={"errors": 3}).fit(X[::2], y[::2])
    assert round_trip(twin, tmp_path).summary_ == {}
    assert twin.summary_ == {"errors": 3}


@pytest.mark.parametrize("summary", [{"a": {1, 2}}, {"a": np.zeros(2)}, {(1, 2): 3}, [1], "text"])
def test_summaries_that_are_not_plain(summary, tmp_path):
    error = ModelFileError if isinstance(summary, dict) else TypeError
    with pytest.raises(error, match=r"^summary[ =].*: give [^\n]*$"):
        save(fitted("online")[0], tmp_path / "model.skops", summary=summary)
    assert list(tmp_path.iterdir()) == []


def test_skops_reads_it_too(tmp_path):
    model = fitted("average")[0]
    save(model, tmp_path / "model.skops", summary={"a": 1})
    types = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    assert types == ["rosenblatt.perceptron.estimator.Perceptron"]
    twin = skops.io.load(tmp_path / "model.skops", trusted=types)
    assert twin.summary_ == {"a": 1}
    assert differences(model, without_summary(twin)) == []


# ----------------------------------------------------------------------------------- not to save


def test_unfitted(tmp_path):
    with pytest.raises(NotFittedError, match=r"^This Perceptron instance is not fitted yet[^\n]*$"):
        save(rb.Perceptron(), tmp_path / "model.skops")
    with pytest.raises(NotFittedError):
        save(make_pipeline(StandardScaler(), rb.Perceptron()), tmp_path / "model.skops")
    with pytest.raises(TypeError, match=r"model=\{.*\}.*: give a fitted estimator"):
        save({"a": 1}, tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


class Listener:
    def __call__(self, epoch):
        pass


@pytest.mark.parametrize("callback", [lambda epoch: None, print, [].append, Listener(), stop])
def test_callbacks_have_to_go(callback, tmp_path):
    model, X, y = fitted("online")
    model.set_params(callback=callback)
    with pytest.raises(ModelFileError, match=r"^callback=.*set_params\(callback=None\)[^\n]*$"):
        save(model, tmp_path / "model.skops")
    pipeline = make_pipeline(StandardScaler(), rb.Perceptron(callback=callback)).fit(
        X[:0:-1], y[1:]
    )
    with pytest.raises(ModelFileError, match=r"set_params\(perceptron__callback=None\)"):
        save(pipeline, tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []
    save(pipeline.set_params(perceptron__callback=None), tmp_path / "model.skops")


def test_what_load_would_refuse_is_not_saved(tmp_path):
    X, y = cloud()
    strange = [
        (FunctionTransformer(lambda X: X), "<lambda>"),
        (FunctionTransformer(operator.methodcaller("copy")), "methodcaller"),
        (FunctionTransformer(np.array(X).dot), "dot|something else"),
    ]
    for step, named in strange:
        model = make_pipeline(step, rb.Perceptron(max_epochs=2))
        model = model.fit(X, y) if "dot" not in named else model
        vars(model[-1]).update(vars(rb.Perceptron(max_epochs=2).fit(X, y)))
        with pytest.raises(ModelFileError, match=rf"^only numbers, .*({named})[^\n]*$"):
            save(model, tmp_path / "model.skops")
    forest = VotingClassifier([("a", rb.Perceptron()), ("b", DecisionTreeClassifier())]).fit(X, y)
    with pytest.raises(ModelFileError, match=r"sklearn\.tree\._tree\.Tree"):
        save(forest, tmp_path / "model.skops")
    search = GridSearchCV(rb.Perceptron(), {"keep": ["last", "average"]}, cv=2).fit(X, y)
    with pytest.raises(ModelFileError, match=r"save its best_estimator_$"):
        save(search, tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []
    np.testing.assert_array_equal(
        round_trip(search.best_estimator_, tmp_path).predict(X), search.predict(X)
    )


def test_a_full_disk_leaves_the_old_file(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "model.skops"
    old, model = fitted("online")[0], fitted("record", 3)[0]
    save(old, path)
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match=r"model\.skops could not be written: file too large"):
            save(model, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    assert differences(old, without_summary(load(path))) == []


def test_what_cannot_be_packed_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    path.write_text("old")
    monkeypatch.setattr(skops.io, "dump", lambda *a, **k: operator.truediv(1, 0))
    with pytest.raises(ZeroDivisionError):
        save(fitted("online")[0], path)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


def test_folders(tmp_path):
    model = fitted("online")[0]
    with pytest.raises(IsADirectoryError, match="is a folder"):
        save(model, tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        save(model, tmp_path / "none" / "model.skops")
    with pytest.raises(IsADirectoryError, match=r"^\S+ is a folder: give the name of a"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"^there is no file \S+none.skops$"):
        load(tmp_path / "none.skops")


# ------------------------------------------------------------------------- files of other people


@pytest.fixture(scope="module")
def packed():
    """A model with a bit of everything, and its file."""
    X, y = cloud(3)
    model = rb.Perceptron(record=True, order="random-mistake", max_epochs=5, random_state=0)
    model.fit(X, y)
    buffer = copy.copy(model)
    buffer.summary_ = {"a": 1}
    return model, models._pack(buffer, zipfile.ZIP_DEFLATED)


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(contents):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in contents.items():
            file.writestr(name, content)
    return buffer.getvalue()


def edited(data, change):
    """The file with its schema changed, all else, checksums included, in order."""
    contents = members(data)
    schema = json.loads(contents["schema.json"])
    change(schema)
    return zipped({**contents, "schema.json": json.dumps(schema)})


def outcome(data, folder):
    """The model, or the one line with which `load` refuses the file; it must not raise else."""
    path = folder / "model.skops"
    path.write_bytes(data)
    try:
        return load(path)
    except ModelFileError as error:
        line = str(error)
    assert line.isprintable()
    assert line.startswith(str(path))
    assert len(line) < 1000
    return line


def refusal(data, folder):
    line = outcome(data, folder)
    assert isinstance(line, str)
    return line


def test_no_pickle_inside(packed):
    for name, content in members(packed[1]).items():
        assert name.endswith((".npy", ".json"))
        if name.endswith(".npy"):
            np.load(io.BytesIO(content), allow_pickle=False)
        else:
            json.loads(content)
        assert not content.startswith(b"\x80")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n", "is not a model file"),
        (b"PK", "is not a model file: give a file saved by `rosenblatt fit -o` or rb.io.save"),
        (b"PK\3\4", "is damaged"),
        (pickle.dumps([1, 2]), "is not a model file"),
        (zipped({"a.txt": b"hello"}), "is not a model file"),
        (zipped({"schema.json": b"{}"}), "is not a model file"),
        (zipped({"rosenblatt.json": b"{}"}), "is damaged"),
        (zipped({"rosenblatt.json": b"[]", "schema.json": b"[]"}), "is damaged"),
        (zipped({"rosenblatt.json": b"\xff", "schema.json": b"[]"}), "is damaged"),
    ],
)
def test_not_model_files(data, why, tmp_path):
    assert why in refusal(data, tmp_path)


def test_cut_short_anywhere(packed, tmp_path):
    for length in [*range(0, len(packed[1]), 50), len(packed[1]) - 1]:
        refusal(packed[1][:length], tmp_path)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_flipped_bits(packed, tmp_path, data):
    model, good = packed
    spoilt = bytearray(good)
    tail = len(good) - zipfile.ZipFile(io.BytesIO(good)).start_dir
    anywhere = st.integers(0, len(good) - 1)
    directory = st.integers(len(good) - tail, len(good) - 1)
    for place in data.draw(st.lists(anywhere | directory, min_size=1, max_size=3)):
        spoilt[place] ^= data.draw(st.integers(1, 255))
    twin = outcome(spoilt, tmp_path)
    if not isinstance(twin, str):
        assert differences(model, without_summary(twin)) == []


number = itertools.count(-1, -1)


def node(module, name, loader, **more):
    names = {"__module__": module, "__class__": name, "__loader__": loader}
    return {**names, "__id__": next(number), **more}


def text(value):
    return node("builtins", "str", "JsonNode", content=json.dumps(value), is_json=True)


def several(kind, items):
    return node("builtins", kind, f"{kind.title()}Node", content=items)


def strange_nodes(command):
    """Ways in which a file could ask to have something run."""
    arguments = several("tuple", [text(command)])
    function = {"module_path": "os", "function": "system"}
    nothing = several("tuple", [])
    yield "function", node("os", "system", "FunctionNode", content=function)
    yield "eval", node("builtins", "eval", "TypeNode")
    yield "Popen", node("subprocess", "Popen", "ConstructorFromReduceNode", content=arguments)
    yield "call", node("os", "system", "ConstructorFromReduceNode", content=arguments)
    yield "import", node("lurking", "Model", "ObjectNode", content=text({}))
    yield "import a type", node("lurking", "Model", "TypeNode")
    yield (
        "loss",
        node("lurking", "Model", "LossNode", content=text({}), __reduce__={"args": nothing}),
    )
    yield (
        "tree",
        node(
            "sklearn.tree._tree", "Tree", "TreeNode", content=text({}), __reduce__={"args": nothing}
        ),
    )
    caller = several("tuple", [text("system"), text(command)])
    yield "methodcaller", node("operator", "methodcaller", "OperatorFuncNode", attrs=caller)
    yield "operator", node("os", "system", "OperatorFuncNode", attrs=arguments)
    system = node("os", "system", "FunctionNode", content=function)
    empty = node("builtins", "dict", "DictNode", content={}, key_types=several("list", []))
    parts = {"func": system, "args": arguments, "kwds": empty, "namespace": text(None)}
    yield "partial", node("functools", "partial", "PartialNode", content=parts)
    ours = node("rosenblatt.perceptron.estimator", "Perceptron", "ObjectNode")
    method = {"obj": ours, "func": "fit"}
    yield "method", node(*MODULE_AND_CLASS, "MethodNode", content=method)
    types = several("list", [system])
    yield "keys", node("builtins", "dict", "DictNode", content={command: text(1)}, key_types=types)
    yield "list", node("lurking", "Model", "ListNode", content=[text(command)])
    yield (
        "array",
        node(
            "lurking", "Model", "NdArrayNode", type="json", content=[], shape=several("tuple", [])
        ),
    )
    state = {**empty, "content": {"bit_generator": text("seed")}}
    content = {"bit_generator": state, "seed_seq": empty}
    yield (
        "generator",
        node("numpy.random._generator", "Generator", "RandomGeneratorNode", content=content),
    )
    yield "no such loader", node("os", "system", "PickleNode", content=command)
    yield "cached", node("os", "system", "CachedNode")
    yield "newlines", node("os\n\x1b[31m", "sys\ntem", "ObjectNode", content=text({}))


MODULE_AND_CLASS = ("rosenblatt.perceptron.estimator", "Perceptron")


@pytest.mark.parametrize("protocol", [0, 1, 2])
@pytest.mark.parametrize("way", [name for name, _ in strange_nodes("")])
def test_strangers_are_refused_and_nothing_runs(packed, tmp_path, monkeypatch, way, protocol):
    marker = tmp_path / "it ran"
    (tmp_path / "lurking.py").write_text(f"open({str(marker)!r}, 'w')\nclass Model: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    (strange,) = (each for name, each in strange_nodes(f"touch '{marker}'") if name == way)

    def change(schema):
        schema["protocol"] = protocol
        schema["content"]["content"]["summary_"] = strange

    why = refusal(edited(packed[1], change), tmp_path)
    assert not marker.exists()
    assert "lurking" not in sys.modules
    if protocol < 2:
        assert f"protocol {protocol}" in why
    elif way not in ("operator", "no such loader", "cached"):
        assert "which no model file may hold" in why


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "subprocess.Popen", "lurking.X"])
def test_the_model_itself_of_another_type(packed, tmp_path, name):
    def change(schema):
        schema["__module__"], schema["__class__"] = name.split(".")

    assert f"holds {name}, which no model file may hold" in refusal(
        edited(packed[1], change), tmp_path
    )


@pytest.mark.parametrize("kind", ["LinearClassifier", "Problem", "Perceptron2", "os"])
def test_only_the_types_on_the_list(packed, tmp_path, kind):
    def change(schema):
        schema["__class__"] = kind

    assert f".{kind}, which no" in refusal(edited(packed[1], change), tmp_path)


def test_a_root_that_is_no_estimator(packed, tmp_path):
    contents = members(packed[1])
    schema = {**text({"a": 1}), "protocol": 2, "_skops_version": "0"}
    data = zipped({**contents, "schema.json": json.dumps(schema)})
    assert "holds a dict where the model should be" in refusal(data, tmp_path)


def test_depth_without_end(packed, tmp_path):
    def change(schema):
        for _ in range(300):
            deep["content"] = [several("list", deep["content"])]
        schema["content"]["content"]["summary_"] = deep

    deep = several("list", [])
    assert "is damaged" in refusal(edited(packed[1], change), tmp_path)
    nested = b'{"protocol": 2, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert "is damaged" in refusal(zipped({**members(packed[1]), "schema.json": nested}), tmp_path)


def leaves(tree, path=()):
    """Every place in the schema."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in pairs:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_files_that_are_whole_but_wrong(packed, tmp_path, data):
    """Any place in the schema set to something else: a model or a refusal, nothing else."""
    X, y = cloud(3)
    schema = json.loads(members(packed[1])["schema.json"])
    places = list(leaves(schema))
    files = [name for name in members(packed[1]) if name.endswith("npy")]
    odd = st.sampled_from([None, 0, -1, 1e300, "", "0", '"x"', "[]", [], {}, text(3), *files])
    for _ in range(data.draw(st.integers(1, 2))):
        *path, key = data.draw(st.sampled_from(places))
        here = schema
        with contextlib.suppress(KeyError, IndexError, TypeError):  # the first took the place away
            for step in path:
                here = here[step]
            here[key] = data.draw(odd)
    data = zipped({**members(packed[1]), "schema.json": json.dumps(schema)})
    model = outcome(data, tmp_path)
    if isinstance(model, str):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for use in (lambda: model.predict(X), lambda: model.partial_fit(X, y)):
            with contextlib.suppress(Exception):  # anything but a crash of the interpreter
                use()


WRONG = {
    "coef_": lambda v: v[:, :-1],
    "intercept_": lambda v: v[:-1],
    "classes_": lambda v: v[:-1],
    "n_features_in_": lambda v: v + 1,
    "fits_": lambda v: v[:-1],
    "_state": lambda v: v[::-1],
}


@pytest.mark.parametrize("name", WRONG)
def test_shapes_that_do_not_fit(packed, tmp_path, name):
    """Compiled loops would read and write beyond them."""
    model = copy.copy(packed[0])
    setattr(model, name, WRONG[name](getattr(model, name)))
    state = model.__getstate__()
    with pytest.raises(ValueError, match="do not fit together"):
        Perceptron().__setstate__(state)
    model.summary_ = {}
    assert "do not fit together" in refusal(models._pack(model, zipfile.ZIP_STORED), tmp_path)


@pytest.mark.parametrize("name", ["theta", "start", "lag"])
def test_states_that_do_not_fit(packed, name):
    state = copy.deepcopy(packed[0]).__getstate__()
    state["_state"][1][name] = np.zeros(2)
    with pytest.raises(ValueError, match="do not fit together"):
        Perceptron().__setstate__(state)


def test_bombs(packed, tmp_path, monkeypatch):
    data = zipped({**members(packed[1]), "bomb.npy": bytes(1 << 22)})
    monkeypatch.setattr(models, "BOMB", (1 << 20, 50))
    assert "would fill the memory" in refusal(data, tmp_path)
    model = rb.Perceptron(max_epochs=2).fit(np.eye(2, 50_000), [0, 1])
    assert round_trip(model, tmp_path).coef_.shape == (1, 50_000)


def test_members_that_lie_about_their_size(packed, tmp_path):
    data = bytearray(zipped({**members(packed[1]), "zz.npy": bytes(1 << 20)}))
    place = data.rindex(b"PK\1\2")
    data[place + 24 : place + 28] = struct.pack("<I", 10)
    assert "is damaged (in zz.npy)" in refusal(bytes(data), tmp_path)


# --------------------------------------------------------------------------------- other versions


def with_header(data, **changes):
    contents = members(data)
    header = {**json.loads(contents["rosenblatt.json"]), **changes}
    return zipped({**contents, "rosenblatt.json": json.dumps(header)})


def test_versions_are_in_the_file(packed):
    header = json.loads(members(packed[1])["rosenblatt.json"])
    assert header["rosenblatt"] == rb.__version__
    assert header["layout"] == models.LAYOUT
    assert set(header) == {"layout", "rosenblatt", "scikit-learn", "numpy"}


def test_a_newer_layout(packed, tmp_path):
    newer = with_header(packed[1], layout=models.LAYOUT + 1, rosenblatt="9.1")
    why = refusal(newer, tmp_path)
    assert f"comes from rosenblatt 9.1, newer than this {rb.__version__}: update" in why


def test_a_newer_version_of_the_same_layout(packed, tmp_path):
    newer = with_header(packed[1], rosenblatt="9.1")
    (tmp_path / "model.skops").write_bytes(newer)
    assert differences(packed[0], without_summary(load(tmp_path / "model.skops"))) == []

    def change(schema):
        schema["__class__"] = "Multiceptron"

    assert "it comes from rosenblatt 9.1, this is" in refusal(edited(newer, change), tmp_path)


def test_another_scikit_learn(packed, tmp_path):
    (tmp_path / "ours.skops").write_bytes(with_header(packed[1], **{"scikit-learn": "1.0"}))
    load(tmp_path / "ours.skops")  # nothing in it is scikit-learn's
    X, y = cloud()
    model = make_pipeline(StandardScaler(), rb.Perceptron()).fit(X, y)
    model.summary_ = {}

    def change(schema):
        schema["content"]["content"]["_sklearn_version"] = text("1.0")

    data = with_header(models._pack(model, zipfile.ZIP_STORED), **{"scikit-learn": "1.0"})
    (tmp_path / "model.skops").write_bytes(edited(data, change))
    with pytest.warns(ModelFileWarning, match=r"saved with scikit-learn 1\.0, this is") as caught:
        twin = load(tmp_path / "model.skops")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


def test_what_another_scikit_learn_can_no_longer_read(packed, tmp_path):
    def change(schema):
        schema["content"]["content"]["fits_"] = text("moved")

    data = edited(packed[1], change)
    assert "is damaged" in refusal(data, tmp_path)
    why = refusal(with_header(data, **{"scikit-learn": "1.0"}), tmp_path)
    assert "was saved with scikit-learn 1.0, but this is" in why


# ---------------------------------------------------------------------------------- plain objects


def test_hyperplanes_stay_read_only():
    plane = rb.Hyperplane([1.0, -0.0], 0.5)
    for twin in (pickle.loads(pickle.dumps(plane)), copy.deepcopy(plane), copy.copy(plane)):
        assert differences(plane, twin) == []
        assert not twin.w.flags.writeable


numbers = st.integers() | st.floats(allow_nan=False) | st.just(float("nan"))  # JSON has one NaN
KEYS = st.sampled_from(["is", "a", "1", 1, True, False, 0.5, None, ("is", 2)])


def nested(inner):
    pair, table = st.tuples(inner, inner), st.dictionaries(KEYS, inner, max_size=3)
    return inner | st.lists(inner, max_size=3) | pair | table


# Three levels by hand: whether st.recursive warns depends on the tests that ran before.
anything = nested(nested(nested(st.none() | st.booleans() | numbers | st.text(max_size=3))))


@given(anything)
def test_plain_and_back(value):
    back = from_plain(to_plain(value, ()), ())
    assert differences(value, back) == []


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=anything)
def test_any_parameter(packed, tmp_path, value):
    """Through the file too, where skops by itself would mix up keys such as 1, "1" and True."""
    model = copy.copy(packed[0]).set_params(class_weight=value)
    twin = round_trip(model, tmp_path)
    assert differences(value, twin.class_weight) == []


def test_unknown_kinds():
    with pytest.raises(ValueError, match="'Epoch' is not known"):
        from_plain({"is": "Epoch", "number": 1}, (Updates,))


# ----------------------------------------------------------------------------- best hyperplanes


def best(name):
    """Fitted margins that ended in every way there is."""
    X, y = cloud()
    apart, label = rb.datasets.eight_points()
    square, odd = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    touching = np.array([[0.0, 0], [3, 0], [1, 0], [1, 1], [0, -1]]), np.array([0, 0, 1, 1, 0])
    return {
        "hard": lambda: (rb.MaxMarginClassifier().fit(apart, label), apart, label),
        "soft": lambda: (rb.SoftMarginClassifier(C=3).fit(X, y), X, y),
        "soft, classes": lambda: (rb.SoftMarginClassifier().fit(*cloud(3)), *cloud(3)),
        "hard, classes": lambda: (rb.MaxMarginClassifier().fit(*cloud(3)), *cloud(3)),
        "inseparable": lambda: (rb.MaxMarginClassifier().fit(square, odd), square, odd),
        "touching": lambda: (rb.MaxMarginClassifier().fit(*touching), *touching),
        "time": lambda: (rb.SoftMarginClassifier(max_time=1e-9).fit(X, y), X, y),
        "interrupted": lambda: (
            rb.SoftMarginClassifier(callback=interrupt, tol=1e-12).fit(X, y),
            X,
            y,
        ),
    }[name]()


def interrupt(_):
    raise KeyboardInterrupt


ENDS = {
    "hard": rb.StopReason.GAP_CLOSED,
    "soft": rb.StopReason.GAP_CLOSED,
    "soft, classes": (rb.StopReason.GAP_CLOSED,) * 3,
    "hard, classes": (rb.StopReason.INSEPARABLE,) * 3,
    "inseparable": rb.StopReason.INSEPARABLE,
    "touching": rb.StopReason.INSEPARABLE,
    "time": rb.StopReason.TIME_LIMIT,
    "interrupted": rb.StopReason.INTERRUPTED,
}


@pytest.mark.parametrize("name", ENDS)
def test_margins_in_every_bit(name, tmp_path):
    model, X, y = best(name)
    assert model.stop_reason_ == ENDS[name]
    model.set_params(callback=None)
    for twin in (
        without_summary(round_trip(model, tmp_path)),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        assert differences(model, twin) == []
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
        views = ("certificate_", "optimum_", "conditions_", "support_", "dual_coef_", "trace_")
        for view in (*views, "stop_reason_", "gap_", "margin_"):
            assert differences(getattr(model, view), getattr(twin, view)) == []
        if isinstance(model, rb.MaxMarginClassifier):
            assert differences(model.nearest_points_, twin.nearest_points_) == []
        assert differences(model.sides(X, y), twin.sides(X, y)) == []
        for k, fit in enumerate(twin.fits_):
            label = y if len(twin.fits_) == 1 else y == twin.classes_[k]
            if fit.certificate is not None:
                assert rb.certify.check(fit.certificate, X, label)
            with pytest.raises(ValueError, match="read-only"):
                fit.optimum.multipliers[:] = 1.0


def test_what_proves_that_classes_touch_is_exact_after_a_file(tmp_path):
    model, X, y = best("touching")
    proof = round_trip(model, tmp_path).certificate_
    assert isinstance(proof, rb.QuasiSeparable)
    assert proof.support.tolist() == [0, 1, 2]
    # (1, 0) is 2/3 of (0, 0) and 1/3 of (3, 0)
    np.testing.assert_allclose(proof.weights, [2 / 3, 1 / 3, 1], rtol=1e-15)
    assert rb.certify.check(proof, X, y)


def test_a_soft_margin_starts_warm_after_a_file(tmp_path):
    X, y = cloud()
    model = rb.SoftMarginClassifier(C=3.0, warm_start=True).fit(X, y)
    twin = without_summary(round_trip(model, tmp_path))
    for each in (model, twin):
        each.set_params(C=4.0).fit(X, y)
    assert differences(model, twin, skip=("seconds",)) == []


def test_margins_of_a_file_with_other_shapes_are_refused():
    model, _, _ = best("soft")
    state = model.__getstate__()
    with pytest.raises(ValueError, match="do not fit together"):
        rb.SoftMarginClassifier().__setstate__({**state, "coef_": np.zeros((1, 9))})
