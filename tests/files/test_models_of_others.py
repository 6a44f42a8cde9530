"""Model files of other people and of other versions: harmless whoever made them."""

import contextlib
import copy
import io
import itertools
import json
import pickle
import struct
import sys
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from model_files import anything, cloud, differences, round_trip, without_summary
from rosenblatt.files import models
from rosenblatt.files.models import ModelFileError, ModelFileWarning, load
from rosenblatt.perceptron.estimator import Perceptron

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
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
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
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


def with_header(data, **changes):
    contents = members(data)
    header = {**json.loads(contents["rosenblatt.json"]), **changes}
    return zipped({**contents, "rosenblatt.json": json.dumps(header)})


def test_versions_are_in_the_file(packed):
    header = json.loads(members(packed[1])["rosenblatt.json"])
    assert header["rosenblatt"] == rb.__version__
    assert header["layout"] == models.LAYOUT
    assert set(header) == {"layout", *models.versions()}


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


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=anything)
def test_any_parameter(packed, tmp_path, value):
    """Through the file too, where skops by itself would mix up keys such as 1, "1" and True."""
    model = copy.copy(packed[0]).set_params(class_weight=value)
    twin = round_trip(model, tmp_path)
    assert differences(value, twin.class_weight) == []
