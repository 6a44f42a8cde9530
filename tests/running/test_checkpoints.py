"""Killed anywhere and resumed, a run ends bit for bit as if nothing had happened."""

import contextlib
import copy
import dataclasses
import itertools
import os
import pickle
import re
import threading
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import rosenblatt as rb
from rosenblatt.perceptron import linear_rule, pocket
from rosenblatt.results import Cycle
from rosenblatt.running import plain_files, threads
from rosenblatt.running.checkpoints import Keeper
from rosenblatt.running.clock import Cancel, cancelled_by
from rosenblatt.running.run import Run

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KEEPS = ("last", "pocket", "average", "auto")
PERCEPTRONS = (
    [
        {"order": order, "keep": keep}
        for order in ("cyclic", "shuffled", "sampled", "blocks", "random-mistake", "worst-mistake")
        for keep in KEEPS
    ]
    + [
        {"update": update, "batch_size": size, "order": order, "keep": keep}
        for update, size in (("batch", None), ("minibatch", 7), ("minibatch", 150))
        for order, keep in (("cyclic", "last"), ("shuffled", "pocket"), ("cyclic", "average"))
    ]
    + [
        {"update": "mixed", "shards": shards, "order": order, "keep": keep}
        for shards, order, keep in (
            (None, "cyclic", "average"),
            (3, "shuffled", "pocket"),
            (5, "blocks", "last"),
        )
    ]
)
WAYS = (
    [(rb.Perceptron, {**given, "record": i % 2 == 0}) for i, given in enumerate(PERCEPTRONS)]
    + [
        (rb.Adaline, {"update": update, "batch_size": size, "order": order})
        for update, size, order in (
            ("online", None, "cyclic"),
            ("online", None, "blocks"),
            ("batch", None, "cyclic"),
            ("minibatch", 7, "shuffled"),
            ("minibatch", 150, "sampled"),
        )
    ]
    + [
        (rb.AdalineRegressor, {"update": update, "batch_size": size, "order": order})
        for update, size, order in (("online", None, "shuffled"), ("minibatch", 50, "cyclic"))
    ]
)
JOINT = [
    (rb.Perceptron, {"multiclass": "joint", "record": True, **given})
    for given in (
        {"order": "shuffled", "keep": "pocket"},
        {"keep": "average"},
        {"order": "random-mistake", "keep": "pocket"},
        {"update": "minibatch", "batch_size": 50, "keep": "pocket"},
    )
]


def shown(way):
    kind, given = way
    words = [str(value) for name, value in given.items() if value and name != "record"]
    return "-".join([kind.__name__, *words])


@pytest.fixture(autouse=True)
def many_pauses(monkeypatch):
    """Short steps, and few vectors judged at a time, so that little data have many moments."""
    monkeypatch.setattr(linear_rule, "SEGMENT", 1)
    monkeypatch.setattr(pocket, "TOGETHER", 5)


def table(classes=2, n=220, kind=rb.Perceptron, seed=0):
    """Samples that no hyperplane separates."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)).round(2)
    if kind is rb.AdalineRegressor:
        return X, X @ [1.0, -2.0, 0.5] + 0.1 * rng.standard_normal(n)
    y = (X @ rng.standard_normal((3, classes)) + 0.5 * rng.standard_normal((n, classes))).argmax(1)
    return X, y


class Killed(BaseException):
    """What ends a run at once, as far as Python allows it."""


def killed_after(monkeypatch, writes):
    """Let the process "die" when it has written so many checkpoints."""
    write, left = Keeper.write, [writes]

    def counted(self, state, *, last=False):
        write(self, state, last=last)
        left[0] -= 1
        if left[0] == 0:
            raise Killed

    monkeypatch.setattr(Keeper, "write", counted)


def attempt(kind, given, data, path, every=0.0):
    checkpoint = rb.Checkpoint(path, every=every, resume=True)
    return kind(**{"random_state": 0, **given}, checkpoint=checkpoint).fit(*data)


def resumed_until_done(monkeypatch, way, data, path, writes=1):
    """A fit that is killed after every so many writes; and how often that was."""
    kind, given = way
    for kills in itertools.count():
        with monkeypatch.context() as patch:
            killed_after(patch, writes)
            try:
                return attempt(kind, given, data, path), kills
            except Killed:
                assert kills < 5000


def plain(value):
    """All that a fitted model has, but for the clock and what may change."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        value.pop("seconds", None)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key != "seconds"}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.random.Generator):
        return str(value.bit_generator.state)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float):
        return value.hex()
    return value


def facts(model):
    own = {name: value for name, value in vars(model).items() if name.endswith("_")}
    own.pop("summary_", None)
    own["_state"] = copy.copy(model._state)
    for p in own["_state"] if isinstance(own["_state"], list) else [own["_state"]]:
        if p.records:  # in as many parts as there were
            p.records[:] = [tuple(map(np.concatenate, zip(*p.records, strict=True)))]
    return plain(own)


def same(model, other):
    mine, others = facts(model), facts(other)
    assert mine.keys() == others.keys()
    for name in mine:
        assert mine[name] == others[name], name


@pytest.mark.parametrize("way", WAYS, ids=shown)
def test_killed_at_every_write(way, tmp_path, monkeypatch):
    kind, given = way
    given = {**given, "max_epochs": 3, "random_state": 3, "n_jobs": 1}
    data = table(n=150, kind=kind)
    whole = kind(**given).fit(*data)
    model, kills = resumed_until_done(monkeypatch, (kind, given), data, tmp_path / "x")
    assert kills >= 3
    same(model, whole)


@pytest.mark.parametrize("way", WAYS[:30:5] + WAYS[30:-2:3] + JOINT, ids=shown)
@pytest.mark.parametrize("jobs", [1, 3])
def test_several_classes(way, jobs, tmp_path, monkeypatch):
    monkeypatch.setattr(threads, "WORTHWHILE", 1)
    kind, given = way
    given = {**given, "max_epochs": 2, "random_state": 3, "n_jobs": jobs}
    data = table(3, 100)
    whole = kind(**given).fit(*data)
    model, kills = resumed_until_done(monkeypatch, (kind, given), data, tmp_path / "x")
    assert kills >= 2
    same(model, whole)


@pytest.mark.parametrize("writes", [2, 3, 7])
@pytest.mark.parametrize("way", WAYS[1::6], ids=shown)
def test_killed_now_and_then(way, writes, tmp_path, monkeypatch):
    kind, given = way
    given = {**given, "max_epochs": 8, "random_state": 1}
    data = table(kind=kind)
    X = csr_array(data[0])
    weight = np.random.default_rng(0).random(len(X.indptr) - 1)
    whole = kind(**given).fit(X, data[1], weight)
    model, kills = resumed_until_done(
        monkeypatch, (kind, given), (X, data[1], weight), tmp_path / "x", writes
    )
    assert kills > 1
    same(model, whole)


@pytest.mark.parametrize("given", [{}, {"order": "worst-mistake"}, {"update": "batch"}], ids=str)
def test_a_cycle_is_found_all_the_same(given, tmp_path, monkeypatch):
    X, y = rb.datasets.xor()
    way = rb.Perceptron, {**given, "record": True}
    model, kills = resumed_until_done(monkeypatch, way, (X, y), tmp_path / "x")
    whole = rb.Perceptron(**given, record=True, random_state=0).fit(X, y)
    assert isinstance(whole.certificate_, Cycle)
    assert kills > 2
    same(model, whole)


@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
def test_where_rows_are_left_out(order, tmp_path, monkeypatch, watching):
    """Lists of possible mistakes serve speed only; a run that goes on begins without."""
    watching(True)
    monkeypatch.setattr(linear_rule, "MOST_COST", np.inf)
    monkeypatch.setattr(linear_rule, "FEW_MISTAKES", 1.0)
    data = rb.datasets.known_margin(300, 2, margin=0.05, random_state=0)
    given = {"order": order, "random_state": 0, "keep": "average"}
    whole = rb.Perceptron(**given).fit(*data)
    assert whole.stop_reason_ is rb.StopReason.SEPARATED
    model, kills = resumed_until_done(
        monkeypatch, (rb.Perceptron, given), data, tmp_path / "x", writes=3
    )
    assert kills > 2
    same(model, whole)


def test_on_other_blocks_and_on_disk(tmp_path, monkeypatch, in_blocks):
    """Blocks do not matter, and rows in a file are those in memory."""
    X, y = table()
    given = {"order": "blocks", "keep": "average", "max_epochs": 5}
    whole = rb.Perceptron(**given, random_state=0).fit(X, y)
    mapped = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", X.dtype, X.shape)
    mapped[:] = X
    path = tmp_path / "x"
    for times in itertools.count():
        with monkeypatch.context() as patch:
            killed_after(patch, 2)
            in_blocks((None, 50, 7, 199)[times % 4])
            try:
                model = attempt(rb.Perceptron, given, (mapped if times % 2 else X, y), path)
                break
            except Killed:
                continue
    assert times > 3
    same(model, whole)


# Runs that end early --------------------------------------------------------------------------


def interrupted_at(monkeypatch, looks):
    """Let the k-th look of a run be the one at which somebody wants it to end."""
    look_up, left = Run.look_up, [looks]

    def counted(self):
        left[0] -= 1
        if left[0] <= 0:
            self.cancel.ask()
        look_up(self)

    monkeypatch.setattr(Run, "look_up", counted)


@pytest.mark.parametrize("way", WAYS + JOINT, ids=shown)
def test_interrupted_anywhere(way, tmp_path, monkeypatch):
    """Each time the last state is written, and has all that is to be done."""
    kind, given = way
    given = {**given, "max_epochs": 2, "random_state": 3}
    classes = 3 if "multiclass" in given else 2
    data = table(classes, 100, kind)
    whole, path = kind(**given).fit(*data), tmp_path / "x"
    step = 9 if given.get("keep") == "pocket" else 2
    for times in itertools.count():
        with monkeypatch.context() as patch:
            interrupted_at(patch, step)
            model = attempt(kind, given, data, path, every=1e6)
        if rb.StopReason.INTERRUPTED not in np.ravel(model.stop_reason_):
            break
        assert times < 5000
    assert times or step > 2
    same(model, whole)


@pytest.mark.parametrize("keep", ["last", "pocket"])
@pytest.mark.parametrize("update", ["online", "batch"])
def test_interrupted_at_many_looks_of_one_run(update, keep, tmp_path, monkeypatch):
    given = {"update": update, "keep": keep, "max_epochs": 2, "n_jobs": 1, "random_state": 0}
    data = table(3, 25)
    whole = rb.Perceptron(**given).fit(*data)
    for looks in itertools.count(1, 3):
        path = tmp_path / f"{looks}"
        with monkeypatch.context() as patch:
            interrupted_at(patch, looks)
            model = attempt(rb.Perceptron, given, data, path, every=1e6)
        if rb.StopReason.INTERRUPTED not in model.stop_reason_:
            break
        same(attempt(rb.Perceptron, given, data, path), whole)
    assert looks > 4


@pytest.mark.parametrize("way", WAYS[::4], ids=shown)
def test_more_epochs_than_before(way, tmp_path):
    kind, given = way
    data, path = table(kind=kind), tmp_path / "x"
    for epochs in (2, 2, 3, 7):
        now = {**given, "max_epochs": epochs, "random_state": 0}
        model = attempt(kind, now, data, path, every=1e6)
        whole = kind(**now).fit(*data)
        same(model, whole)
    assert attempt(kind, {**now, "max_epochs": 1}, data, path).n_iter_ == whole.n_iter_


def test_out_of_time(tmp_path):
    """The limit is for each attempt: a job that is sent again and again gets there."""
    data, path = table(), tmp_path / "x"
    given = {"max_epochs": 40, "keep": "average", "random_state": 0}
    whole = rb.Perceptron(**given).fit(*data)
    for _ in range(100):
        model = attempt(rb.Perceptron, {**given, "max_time": 2e-3}, data, path, every=1e6)
        if model.stop_reason_ is not rb.StopReason.TIME_LIMIT:
            break
    assert model.stop_reason_ is rb.StopReason.EPOCH_LIMIT
    same(model, whole)
    assert (np.diff(model.trace_.seconds) > 0).all()


def test_a_wish_from_another_thread(tmp_path):
    """As the command has it, which turns SIGTERM into this."""
    data, path = table(), tmp_path / "x"
    given = {"max_epochs": 10**6, "order": "shuffled", "random_state": 0}
    cancel = Cancel()
    timer = threading.Timer(0.2, cancel.ask)
    timer.start()
    with cancelled_by(cancel):
        model = attempt(rb.Perceptron, given, data, path, every=1e6)
    timer.join()
    assert model.stop_reason_ is rb.StopReason.INTERRUPTED
    epochs = model.n_iter_ + 3
    more = attempt(rb.Perceptron, {**given, "max_epochs": epochs}, data, path)
    same(more, rb.Perceptron(**{**given, "max_epochs": epochs}).fit(*data))


def test_a_callback_that_interrupts(tmp_path):
    data, path, seen = table(), tmp_path / "x", []

    def stop(epoch):
        seen.append(epoch.number)
        if epoch.number == 4:
            raise KeyboardInterrupt

    given = {"max_epochs": 9, "random_state": 0}
    model = attempt(rb.Perceptron, {**given, "callback": stop}, data, path, every=1e6)
    assert model.n_iter_ == 4
    model = attempt(rb.Perceptron, {**given, "callback": stop}, data, path)
    same(model, rb.Perceptron(**given).fit(*data))
    assert seen == list(range(1, 10))


def test_a_run_that_has_ended_is_not_run_again(tmp_path, monkeypatch):
    data, path = rb.datasets.known_margin(100, 2, margin=0.1, random_state=0), tmp_path / "x"
    model = attempt(rb.Perceptron, {"keep": "pocket"}, data, path)
    assert model.stop_reason_ is rb.StopReason.SEPARATED
    written = path.read_bytes()

    def epoch(*given):
        raise AssertionError

    from rosenblatt.perceptron.updates import Online

    monkeypatch.setattr(Online, "epoch", epoch)
    same(attempt(rb.Perceptron, {"keep": "pocket"}, data, path), model)
    assert path.read_bytes() == written


def test_seconds_go_on(tmp_path, monkeypatch):
    data, path = table(), tmp_path / "x"
    first = attempt(rb.Perceptron, {"max_epochs": 3}, data, path)
    again = attempt(rb.Perceptron, {"max_epochs": 6}, data, path)
    assert again.trace_.seconds[:3].tolist() == first.trace_.seconds.tolist()
    assert (np.diff(again.trace_.seconds) > 0).all()


# Whose checkpoint it is -----------------------------------------------------------------------


@pytest.fixture
def written(tmp_path):
    """A checkpoint of a run, with its settings and data."""
    path, (X, y) = tmp_path / "x", table()
    weight = np.random.default_rng(0).integers(1, 4, len(y)) / 2
    given = {"max_epochs": 3, "random_state": 0}
    attempt(rb.Perceptron, given, (X, y, weight), path)
    return path, given, (X, y, weight)


def refused(says, path, given, data, kind=rb.Perceptron):
    before = path.read_bytes()
    with pytest.raises(rb.CheckpointError, match=says) as caught:
        attempt(kind, {**given, "max_epochs": 5}, data, path)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"order": "shuffled"}, "was written with order='cyclic', not 'shuffled'"),
        ({"keep": "average"}, "was written with keep='last', not 'average'"),
        ({"eta0": 0.5}, "was written with eta0=1.0, not 0.5"),
        ({"tol": 1e-3}, "was written with tol=None, not 0.001"),
        ({"record": True}, "was written with record=False, not True"),
        ({"fit_intercept": False}, "was written with fit_intercept=True, not False"),
        ({"init": [1.0, 0, 0, 0]}, "was written with init='zeros', not '1 x 4 numbers with the d"),
        ({"class_weight": {0: 2.0}}, r"was written with class_weight=None, not '\{0: 2.0\}'"),
        ({"random_state": 1}, "was written with another random_state"),
        ({"update": "minibatch", "batch_size": 9}, "was written with batch_size=None, not 9"),
        ({"at_zero": 1}, "was written with at_zero=None, not 1"),
    ],
)
def test_other_settings(written, other, says):
    path, given, data = written
    refused(says, path, {**given, **other}, data)


def test_other_data(written):
    path, given, (X, y, weight) = written
    says = r"is of other data \(X, y or weights differ\): delete it, or give another path$"
    for change in (lambda v: v.view(np.uint64).__setitem__((5, 1), 1), None):
        other = X.copy()
        if change is None:
            other[7, 2] = np.nextafter(other[7, 2], 9)
        else:
            change(other)
        refused(says, path, given, (other, y, weight))
    other = y.copy()
    other[3] = 1 - other[3]
    refused(says, path, given, (X, other, weight))
    other = weight.copy()
    other[3] += 0.5
    refused(says, path, given, (X, y, other))
    refused(says, path, given, (X, y))
    refused(says, path, given, (X[:-1], y[:-1], weight[:-1]))
    refused(says, path, given, (csr_array(X), y, weight))


def test_targets_are_data_too(tmp_path):
    path, (X, y) = tmp_path / "x", table(kind=rb.AdalineRegressor)
    attempt(rb.AdalineRegressor, {"max_epochs": 2}, (X, y), path)
    other = y.copy()
    other[3] = np.nextafter(other[3], 9)
    refused("is of other data", path, {}, (X, other), rb.AdalineRegressor)


def test_of_another_model(written):
    path, given, data = written
    refused("is of a run of Perceptron, not Adaline: ", path, given, data, rb.Adaline)


def test_what_may_change(written):
    path, given, data = written
    more = {"max_epochs": 6, "n_jobs": 2, "max_time": 60.0, "callback": lambda epoch: None}
    model = attempt(rb.Perceptron, {**given, **more}, data, path)
    same(model, rb.Perceptron(**given | {"max_epochs": 6}).fit(*data))


def test_numbers_that_are_equal_are_the_same_setting(written):
    path, given, data = written
    attempt(rb.Perceptron, {**given, "eta0": np.int64(1), "max_epochs": 4}, data, path)


def test_of_another_version(written, monkeypatch):
    from rosenblatt.running import checkpoints

    monkeypatch.setattr(checkpoints, "VERSION", "9.9")
    path, given, data = written
    refused(f"is of rosenblatt {re.escape(rb.__version__)}, but this is 9.9: ", path, given, data)


def test_any_seed_is_that_of_the_run_begun(tmp_path, monkeypatch):
    """Without a random_state any seed will do; so the run that goes on has the one drawn first."""
    data, path = table(), tmp_path / "x"
    given = {"order": "shuffled", "init": "random", "max_epochs": 5, "random_state": None}
    with monkeypatch.context() as patch:
        killed_after(patch, 3)
        with pytest.raises(Killed):
            attempt(rb.Perceptron, given, data, path)
    seed = plain_files.unpack(path.read_bytes())["seed"]
    model = attempt(rb.Perceptron, given, data, path)
    from rosenblatt.contract import parameters

    for home in (parameters, __import__("rosenblatt.contract.epochs", fromlist=["x"])):
        monkeypatch.setattr(home, "seed_from", lambda state: seed)
    same(model, rb.Perceptron(**given).fit(*data))


def test_a_file_that_is_there_is_refused_before_any_work(tmp_path):
    path = tmp_path / "x"
    path.write_text("my thesis")
    says = r"x exists: give resume=True \(--resume\) to go on with it, or delete it$"
    with pytest.raises(rb.CheckpointError, match=says):
        rb.Perceptron(checkpoint=path).fit("not even data", None)
    with pytest.raises(rb.CheckpointError, match="is not a checkpoint: "):
        attempt(rb.Perceptron, {}, ("not even data", None), path)
    with pytest.raises(rb.CheckpointError, match="there is no folder"):
        attempt(rb.Perceptron, {}, ("not even data", None), tmp_path / "none" / "x")
    assert path.read_text() == "my thesis"


def test_warm_starts_begin_elsewhere(written):
    path, given, data = written
    model = rb.Perceptron(**given, warm_start=True).fit(*data)
    model.set_params(checkpoint=rb.Checkpoint(path, resume=True))
    with pytest.raises(rb.CheckpointError, match="was written with init='zeros', not "):
        model.fit(*data)


def test_partial_fit_writes_none(tmp_path):
    X, y = table()
    rb.Perceptron(checkpoint=tmp_path / "x").partial_fit(X, y, classes=[0, 1])
    assert [*tmp_path.iterdir()] == []


# States that somebody has made up -------------------------------------------------------------


def changed(path, change):
    """Write a file anew, with a digest that fits."""
    whole = plain_files.unpack(path.read_bytes())
    change(whole["state"])
    path.write_bytes(plain_files.pack(whole))


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.clear(),
        lambda s: s.update(phase="lunch"),
        lambda s: s.update(epochs=-1),
        lambda s: s.update(eta=-1.0),
        lambda s: s.update(eta="1"),
        lambda s: s.update(seconds="1"),
        lambda s: s.update(orders=[0, {"bit_generator": "os.system"}]),
        lambda s: s.update(problems=[]),
        lambda s: s["problems"][0].update(theta=np.zeros(2)),
        lambda s: s["problems"][0].update(theta=[0.0] * 4),
        lambda s: s["problems"][0].update(theta=np.zeros(4, np.float32)),
        lambda s: s["problems"][0].update(mistakes=np.zeros(3)),
        lambda s: s["problems"][0].update(visits=-5),
        lambda s: s["problems"][0].update(stop="NEVER"),
        lambda s: s["problems"][0].update(cycle=[1]),
        lambda s: s["problems"][0].update(cycles={"digests": np.zeros((2, 3), np.uint8)}),
        lambda s: s["problems"][0].update(rng=None),
        lambda s: s["problems"][0].update(records=[np.zeros(3), np.zeros(2)]),
        lambda s: s["problems"][0]["pocket"].update(theta=np.zeros(9)),
        lambda s: s["problems"][0]["pocket"].update(waiting=np.zeros(4)),
        lambda s: s["problems"][0]["pocket"].update(rest=[np.zeros(4), np.array([10**9])]),
        lambda s: s["problems"][0]["pocket"].update(
            rest=[np.zeros(4), np.array([10**9]), np.zeros(1), np.zeros(1)]
        ),
        lambda s: s["rule"].update(before=np.zeros((1, 3))),
        lambda s: s.update(rule=None),
    ],
)
def test_states_that_make_no_sense(change, tmp_path, monkeypatch):
    data, path = table(), tmp_path / "x"
    given = {"keep": "pocket", "max_epochs": 4}
    with monkeypatch.context() as patch:
        killed_after(patch, 2)
        with pytest.raises(Killed):
            attempt(rb.Perceptron, given, data, path)
    changed(path, change)
    with pytest.raises(rb.CheckpointError, match=r"is damaged \(.*\): delete it, or give another"):
        attempt(rb.Perceptron, given, data, path)


def test_sums_of_batches_are_looked_at(tmp_path, monkeypatch):
    data = table()
    for kind, given in (
        (rb.Perceptron, {"update": "minibatch", "batch_size": 100}),
        (rb.Adaline, {"update": "batch"}),
    ):
        for name, value in (("at", 10**6), ("sums", np.zeros((1, 2))), ("held", np.zeros(2))):
            path = tmp_path / f"{kind.__name__}-{name}"
            with monkeypatch.context() as patch:
                killed_after(patch, 1)
                with pytest.raises(Killed):
                    attempt(kind, given, data, path)
            changed(path, lambda s, name=name, value=value: s["rule"].update({name: value}))
            with pytest.raises(rb.CheckpointError, match="is damaged"):
                attempt(kind, given, data, path)


# The parameter --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [rb.Perceptron, rb.Adaline, rb.AdalineRegressor])
@pytest.mark.parametrize("wrong", [5, "", b"x", True, ["x"]])
def test_wrong_checkpoints(kind, wrong):
    model = kind(checkpoint=wrong)
    says = re.escape(f"checkpoint={wrong!r} is not allowed: give a path, a rb.Checkpoint, or None")
    with pytest.raises(ValueError, match=says):
        model.fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=says):
        model.check_parameters()


@pytest.mark.parametrize("kind", [rb.Perceptron, rb.Adaline, rb.AdalineRegressor])
@pytest.mark.parametrize("asked", [str, os.fspath, rb.Checkpoint, lambda path: path])
def test_cloned_copied_pickled_and_saved(kind, asked, tmp_path):
    checkpoint = asked(tmp_path / "x")
    model = kind(checkpoint=checkpoint)
    assert clone(model).checkpoint == checkpoint
    X, y = table(kind=kind)
    model.fit(X, y)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert str(other.checkpoint) == str(checkpoint)
        same(other, model)
    for name in ("model.skops", "model.json"):
        rb.io.save(model, tmp_path / name)
        loaded = rb.io.load(tmp_path / name)
        assert loaded.checkpoint is None  # it is no business of those who get the model
        same(loaded, model)
        assert model.checkpoint == checkpoint


def test_in_a_pipeline(tmp_path):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = table()
    model = make_pipeline(StandardScaler(), rb.Perceptron(checkpoint=tmp_path / "x")).fit(X, y)
    rb.io.save(model, tmp_path / "model.skops")
    assert rb.io.load(tmp_path / "model.skops")[-1].checkpoint is None
    assert model[-1].checkpoint == tmp_path / "x"


def test_files_that_must_not_grow_cost_no_run(tmp_path, no_room):
    """A limit of the system's own, which it enforces in the middle of a write."""
    data, path = table(), tmp_path / "x"
    given = {"max_epochs": 40, "keep": "average"}
    with no_room(), pytest.warns(rb.CheckpointWarning) as caught:
        model = attempt(rb.Perceptron, given, data, path)
    told = [str(w.message) for w in caught if w.category is rb.CheckpointWarning]
    assert len(told) == 2
    assert "was not written, there is none so far: " in told[0]
    assert "file too large; make room, or write somewhere else" in told[1]
    assert [*tmp_path.iterdir()] == []
    same(model, rb.Perceptron(**given, random_state=0).fit(*data))


def test_what_was_opened(tmp_path, monkeypatch):
    """A file that is read in blocks and mapped: the run goes on where the data are opened anew."""
    X, y = table()
    names = np.where(y == 1, "yes", "no")
    rows = [f"{a!r},{b!r},{c!r},{name}" for (a, b, c), name in zip(X.tolist(), names, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,y", *rows]))
    given = {"order": "blocks", "keep": "pocket", "max_epochs": 3}
    whole = rb.Perceptron(**given, random_state=0).fit(rb.open(tmp_path / "t.csv", target="y"))
    model = None
    for _ in range(100):
        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            killed_after(patch, 3)
            opened = rb.open(tmp_path / "t.csv", target="y")
            model = attempt(rb.Perceptron, given, (opened,), tmp_path / "x")
            break
    same(model, whole)


def test_a_full_disk_costs_no_run(tmp_path, monkeypatch):
    import errno
    from pathlib import Path

    data, path = table(), tmp_path / "x"
    attempt(rb.Perceptron, {"max_epochs": 2}, data, path)
    before = path.read_bytes()

    def write(self, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rb.CheckpointWarning)
        patch.setattr(Path, "write_bytes", write)
        model = attempt(rb.Perceptron, {"max_epochs": 5}, data, path)
    told = [str(w.message) for w in caught if w.category is rb.CheckpointWarning]
    assert [text.split(" was not written")[0] for text in told] == [
        "a checkpoint",
        "the last checkpoint",
    ]
    same(model, rb.Perceptron(max_epochs=5, random_state=0).fit(*data))
    assert path.read_bytes() == before
    same(attempt(rb.Perceptron, {"max_epochs": 5}, data, path), model)
