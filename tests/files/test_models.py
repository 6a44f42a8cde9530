"""Model files: the same again in every bit, whole or not at all."""

import copy
import operator
import pickle
import subprocess
import sys

import numpy as np
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import rosenblatt as rb
from model_files import cloud, differences, round_trip, without_summary
from rosenblatt.files.models import ModelFileError, load, save

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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
    "auto": {"keep": "auto"},
    "average, shuffled": {"keep": "average", "order": "shuffled", "random_state": 5},
    "no bias": {"fit_intercept": False},
    "minibatch": {"update": "minibatch", "batch_size": 7, "eta0": 0.1},
    "mixed": {"update": "mixed", "shards": 4, "record": True},
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


def test_a_full_disk_leaves_the_old_file(tmp_path, no_room):
    path = tmp_path / "model.skops"
    old, model = fitted("online")[0], fitted("record", 3)[0]
    save(old, path)
    before = path.read_bytes()
    with (
        no_room(),
        pytest.raises(OSError, match=r"model\.skops could not be written: file too large"),
    ):
        save(model, path)
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
