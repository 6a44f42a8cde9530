"""What may break on a cluster: the answers stay those of memory, or one line says why not."""

import contextlib
import os
import pickle
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

import rosenblatt as rb
from cluster_of_tests import start_cluster
from rosenblatt.cluster import engine
from rosenblatt.cluster.engine import ClusterError, Engine, end_if_unwanted
from rosenblatt.exact import tile_passes
from rosenblatt.running import checkpoints, clock, run

cloudpickle = pytest.importorskip("cloudpickle", reason="the extra dask is not installed")
dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.compiled,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

ROWS = 1500
CUT = 250


def points(noise, d=5, n=ROWS):
    rng = np.random.default_rng(4)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    y = np.where(X @ w + 0.3 > 0, "yes", "no")
    return X + noise * rng.normal(size=X.shape), y


def blocks(X, y, rows=CUT):
    return da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=rows)


ASKED = {
    "online": (rb.Perceptron(max_epochs=4, keep="average", record=True), 0.4),
    "pocket": (rb.Perceptron(max_epochs=2, keep="pocket"), 0.4),
    "batch": (rb.Perceptron(update="batch", max_epochs=5), 0.4),
    "minibatch": (rb.Perceptron(update="minibatch", batch_size=77, max_epochs=3), 0.4),
    "delta rule": (rb.Adaline(update="batch", max_epochs=4), 0.4),
    "separable": (None, 0.0),
    "inseparable": (None, 0.4),
    "maximum margin": (rb.MaxMarginClassifier(), 0.0),
    "soft margin": (rb.SoftMarginClassifier(C=50), 0.4),
}


def answer(name, place=lambda *data: data):
    """All that is found about some points, as a text of numbers that tells every bit."""
    model, noise = ASKED[name]
    X, y = place(*points(noise))
    if model is None:
        return repr_of(rb.separability(X, y))
    fit = clone(model).fit(X, y)
    found = [fit.coef_, fit.intercept_, fit.n_errors_, fit.stop_reason_, fit.n_iter_]
    if hasattr(fit, "optimum_"):
        found += [fit.gap_, fit.support_, fit.dual_coef_]
    else:
        found += [fit.trace_.mistakes, fit.trace_.change, fit.n_updates_]
    return repr_of(found)


def repr_of(found):
    def told(one):
        if isinstance(one, np.ndarray):
            return one.dtype.str, one.shape, one.tobytes()
        if isinstance(one, rb.Hyperplane):
            return told(one.w), one.b
        if isinstance(one, list | tuple):
            return [told(part) for part in one]
        if hasattr(one, "__dataclass_fields__"):
            return [told(getattr(one, name)) for name in one.__dataclass_fields__]
        return one

    return repr(told(found))


@pytest.fixture(scope="module")
def in_memory():
    return {name: answer(name) for name in ASKED}


@pytest.fixture
def at_submission(monkeypatch):
    """``at_submission(k, do)``: do something when the k-th task of a kind has been sent."""

    def arrange(k, do, kinds=("along", "several_along", "each")):
        submit, map_all, sent = Engine.submit, Engine.map, []

        def count(function, futures):
            if engine._name_of(function) in kinds:
                before = len(sent)
                sent.extend(future.key for future in futures)
                if before < k <= len(sent):
                    do()
            return futures

        def submitted(self, function, *args, **given):
            return count(function, [submit(self, function, *args, **given)])[0]

        def mapped(self, function, *columns, **given):
            return count(function, map_all(self, function, *columns, **given))

        monkeypatch.setattr(Engine, "submit", submitted)
        monkeypatch.setattr(Engine, "map", mapped)
        return sent

    return arrange


def ours(client):
    """The tasks of this library that the scheduler still knows."""
    return client.run_on_scheduler(
        lambda dask_scheduler: [
            key for key in dask_scheduler.tasks if str(key).startswith("rosenblatt.")
        ]
    )


def assert_none_left(client):
    for _ in range(100):
        if not (left := ours(client)):
            return
        time.sleep(0.1)
    assert not left


def told_in_one_line(error):
    text = str(error.value)
    assert "\n" not in text
    assert len(text) < 600
    return text


# Workers ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three_workers():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
        # A worker that takes longer to come back, on a busy machine, is given up for ever.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),
        start_cluster(workers=3) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def breakable(three_workers):
    """Three workers to kill, which come back by and by; the client is at hand in this test only."""
    with three_workers.as_current():
        yield three_workers


def kill(client, number):
    """Kill a worker that is there."""
    nannies = client.cluster.workers.values()
    there = [one for one in nannies if one.worker_address in client.cluster.scheduler.workers]
    os.kill(there[number % len(there)].pid, signal.SIGKILL)


@pytest.mark.parametrize("name", ASKED)
def test_the_loss_of_a_worker_changes_no_bit(breakable, in_memory, at_submission, name):
    breakable.wait_for_workers(2, timeout=60)
    number = list(ASKED).index(name)
    when = int(np.random.default_rng(number).integers(1, 12))
    sent = at_submission(when, lambda: kill(breakable, number))
    assert answer(name, blocks) == in_memory[name]
    assert len(sent) >= when
    assert_none_left(breakable)


@pytest.mark.parametrize("name", ["online", "separable", "soft margin"])
def test_the_loss_of_all_workers_at_once_changes_no_bit(
    breakable, in_memory, at_submission, name, monkeypatch
):
    monkeypatch.setattr(engine, "LOOK", 0.2)
    breakable.wait_for_workers(3, timeout=60)

    def kill_all():
        for nanny in breakable.cluster.workers.values():
            os.kill(nanny.pid, signal.SIGKILL)

    sent = at_submission(2, kill_all)
    assert answer(name, blocks) == in_memory[name]
    assert len(sent) > 2
    assert_none_left(breakable)


def test_a_task_done_again_on_the_same_arguments_finds_the_same(client, monkeypatch, in_memory):
    submit, map_all = Engine.submit, Engine.map

    def twice(function):
        def call(*args):
            first = cloudpickle.dumps(function(*args))
            if cloudpickle.dumps(function(*args)) != first:
                msg = f"{function} has changed what it was given"
                raise AssertionError(msg)
            return pickle.loads(first)

        return call

    def submitted(self, function, *args, **given):
        return submit(self, twice(function), *args, **given)

    def mapped(self, function, *columns, **given):
        return map_all(self, twice(function), *columns, **given)

    monkeypatch.setattr(Engine, "submit", submitted)
    monkeypatch.setattr(Engine, "map", mapped)
    for name in ("online", "minibatch", "delta rule", "inseparable", "soft margin"):
        assert answer(name, blocks) == in_memory[name]


def test_blocks_on_disk_change_no_bit(new_cluster, in_memory):
    with dask.config.set({"distributed.worker.memory.target": 1e-6}):
        client = new_cluster(workers=1)
    with client.as_current():
        X, y = blocks(*points(0.4, d=200))
        X, y = client.persist([X, y])
        found = rb.Perceptron(max_epochs=3, keep="pocket").fit(X, y)
        spilled = client.run(lambda dask_worker: len(dask_worker.data.slow))
        assert min(spilled.values()) > 0
        here = rb.Perceptron(max_epochs=3, keep="pocket").fit(*points(0.4, d=200))
        assert np.array_equal(found.coef_, here.coef_)
        assert found.n_errors_ == here.n_errors_


def test_workers_that_die_of_the_data_are_one_line(breakable):
    breakable.wait_for_workers(2, timeout=60)
    X, y = blocks(*points(0.4))

    def deadly(block):
        os.kill(os.getpid(), signal.SIGKILL)

    deaths = breakable.cluster.scheduler.allowed_failures
    breakable.cluster.scheduler.allowed_failures = 0
    try:
        with pytest.raises(ClusterError) as error:
            rb.Perceptron().fit(X.map_blocks(deadly, dtype=X.dtype, meta=X._meta), y)
    finally:
        breakable.cluster.scheduler.allowed_failures = deaths
    told = told_in_one_line(error)
    assert re.match(r"a worker died over block \d of X: give them more memory, or smaller", told)
    assert_none_left(breakable)


def test_data_that_nobody_can_make_again_are_one_line(breakable, at_submission):
    breakable.wait_for_workers(2, timeout=60)
    X, y = points(0.4)
    victim = next(iter(breakable.cluster.scheduler.workers))
    sent = breakable.scatter([X[:700], X[700:]], workers=[victim])
    parts = [da.from_delayed(dask.delayed(one), (len(X) - 700, 5), X.dtype) for one in sent]
    parts[0] = da.from_delayed(dask.delayed(sent[0]), (700, 5), X.dtype)
    there = da.concatenate(parts)

    def lose():
        (nanny,) = [
            one for one in breakable.cluster.workers.values() if one.worker_address == victim
        ]
        os.kill(nanny.pid, signal.SIGKILL)

    at_submission(2, lose)
    with pytest.raises(ClusterError, match="nothing says how to make it again") as error:
        rb.Perceptron(max_epochs=50).fit(there, y)
    told_in_one_line(error)


# Blocks ----------------------------------------------------------------------------------------


def spoiled(X, how, number=2):
    """A Dask array of blocks of X, one of which is not as it should be."""

    def change(block, block_id=None):
        return how(block.copy()) if block_id[0] == number else block

    return da.from_array(X, chunks=(CUT, -1)).map_blocks(change, dtype=X.dtype, meta=X[:0])


def not_finite(block):
    block[3, 1] = np.nan
    return block


def fail(block):
    msg = "the disk\nis gone"
    raise OSError(msg)


BAD = {
    "raises": (fail, r"block 2 of X cannot be made: OSError: the disk is gone"),
    "not finite": (not_finite, r"block 2 of X: (Input )?X contains NaN"),
    "texts": (lambda block: block.astype(str).astype(object) + "a", r"block 2 of X: .*'[-.\d]*a'"),
    "columns": (lambda block: block[:, :4], r"block 2 of X has 4 columns, but block 0 has 5"),
    "rows": (lambda block: block[:99], r"block 2 of X: 99 rows of X but 250 labels"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_block_that_cannot_be_used_is_named(client, what):
    X, y = points(0.4)
    there, labels = spoiled(X, BAD[what][0]), da.from_array(y, chunks=CUT)
    for ask in (rb.Perceptron().fit, rb.MaxMarginClassifier().fit, rb.separability):
        with pytest.raises(ClusterError, match=BAD[what][1]) as error:
            ask(there, labels)
        told_in_one_line(error)
        assert_none_left(client)  # while there is an error that knows of them


def test_labels_that_cannot_be_made_are_named(client):
    X, y = points(0.4)

    def change(block, block_id=None):
        return fail(block) if block_id[0] == 3 else block

    labels = da.from_array(y, chunks=CUT).map_blocks(change, dtype=y.dtype, meta=y[:0])
    with pytest.raises(ClusterError, match="block 3 of y cannot be made: OSError: the disk is"):
        rb.Perceptron().fit(da.from_array(X, chunks=(CUT, -1)), labels)


@pytest.mark.parametrize("asked", ["predict", "decision_function"])
@pytest.mark.parametrize("what", ["not finite", "texts", "columns", "rows"])
def test_a_block_without_an_answer_is_named(client, asked, what):
    says = {
        "columns": "block 2 of X: X has 4 features, not the 5 of training|expecting 5 features",
        "rows": "block 2 of X: it has 99 rows, not 250 as its array says",
    }
    X, y = points(0.4)
    model = rb.Perceptron(max_epochs=2, callback=lambda epoch: client).fit(X, y)
    answers = getattr(model, asked)(spoiled(X, BAD[what][0]))
    with pytest.raises(ValueError, match=says.get(what, BAD[what][1])) as error:
        answers.compute()
    told_in_one_line(error)
    assert np.array_equal(
        getattr(model, asked)(spoiled(X, np.copy)).compute(), getattr(model, asked)(X)
    )


# What stays behind -----------------------------------------------------------------------------


def test_nothing_stays_on_the_cluster_and_no_data_in_the_graph(client, monkeypatch):
    sizes, submit, map_all = [], Engine.submit, Engine.map

    def weigh(function, args):
        own = [one for one in args if not isinstance(one, distributed.Future)]
        sizes.append(len(cloudpickle.dumps((getattr(function, "function", function), own))))

    def submitted(self, function, *args, **given):
        weigh(function, args)
        return submit(self, function, *args, **given)

    def mapped(self, function, *columns, **given):
        for args in zip(*columns, strict=True):
            weigh(function, args)
        return map_all(self, function, *columns, **given)

    monkeypatch.setattr(Engine, "submit", submitted)
    monkeypatch.setattr(Engine, "map", mapped)
    X, y = client.persist(list(blocks(*points(0.0))))
    distributed.wait([X, y])
    before = set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)))
    kept = []  # a model keeps nothing of the data alive
    for name in ("online", "pocket", "separable", "maximum margin"):
        model, _ = ASKED[name]
        kept.append(rb.separability(X, y) if model is None else clone(model).fit(X, y))
        assert_none_left(client)
    after = set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)))
    assert after == before
    assert max(sizes) < 25_000  # a block has 10 000 bytes; with rounds go 8 bytes for each row


# Wishes to stop --------------------------------------------------------------------------------


# What the workers may be at when somebody wants to stop, by the name of a function.
AT_WORK = [
    ("online", "go_through"),
    ("pocket", "_sure_errors"),
    ("batch", "sum_up"),
    ("minibatch", "go_through_batches"),
    ("delta rule", "sum_up"),
    ("separable", "_search"),
    ("separable", "_lowest"),
    ("inseparable", "_far_values"),
    ("maximum margin", "_search"),
    ("soft margin", "_write_values"),
    ("soft margin", "_measure"),
    ("soft margin", "_curve"),
    ("soft margin", "_list"),
]


def does(task, name):
    """Whether a function of this name is called by a task, or by one that is given to it."""
    while (function := getattr(task, "func", None)) is not None:
        if function.__name__ == name:
            return True
        task = next(iter(task.args), None)
    return getattr(task, "__name__", "") == name


def stuck(function):
    """The function, but it takes until nobody wants it any longer."""

    def call(*args):
        for _ in range(150):
            time.sleep(0.1)
            end_if_unwanted()
        msg = "it was waited for"
        raise RuntimeError(msg)

    return call


@pytest.fixture
def at_work(monkeypatch):
    """``at_work(name, do)``: do something when a worker is stuck in such a function."""

    def arrange(name, do):
        ask, map_all, submit, asked = Engine.ask, Engine.map, Engine.submit, []

        def slowly(call, function, tasks, wanted):
            before = len(asked)
            asked.extend([1] * tasks * wanted)
            late = before < 2 <= len(asked)
            futures = call(stuck(function) if late else function)
            if late:
                do()
            return futures

        def asking(self, function, *columns, **more):
            given = columns[0][0]
            if does(function, "_several_along"):  # the first of the first
                given = columns[1][0][0][0]
            wanted = does(function, name) or does(given, name)
            return slowly(
                lambda f: ask(self, f, *columns, **more), function, len(columns[0]), wanted
            )

        def mapping(self, function, *columns, **more):  # what is asked for comes by here, guarded
            return slowly(
                lambda f: map_all(self, f, *columns, **more),
                function,
                len(columns[0]),
                does(function, name),
            )

        def submitting(self, function, *args, **more):
            wanted = any(does(one, name) for one in args[:1])
            return slowly(lambda f: submit(self, f, *args, **more), function, 1, wanted)

        monkeypatch.setattr(Engine, "ask", asking)
        monkeypatch.setattr(Engine, "map", mapping)
        monkeypatch.setattr(Engine, "submit", submitting)
        return asked

    # So that the rows of a soft margin are many.
    monkeypatch.setattr(tile_passes, "FEW_NUMBERS", 1000)
    return arrange


@pytest.mark.parametrize(("name", "function"), AT_WORK)
def test_time_is_heeded_while_workers_are_at_work(client, monkeypatch, at_work, name, function):
    now = SimpleNamespace(perf_counter=time.perf_counter)
    for module in (clock, run):
        monkeypatch.setattr(module, "time", now)

    def pass_by():
        now.perf_counter = lambda: time.perf_counter() + 2000

    asked = at_work(function, pass_by)
    model, noise = ASKED[name]
    X, y = blocks(*points(noise))
    if model is None:
        assert rb.separability(X, y, max_time=1000).verdict is rb.Verdict.UNDECIDED
    else:
        fit = clone(model).set_params(max_time=1000).fit(X, y)
        assert fit.stop_reason_ is rb.StopReason.TIME_LIMIT
        assert fit.coef_.shape == (1, 5)
    assert len(asked) >= 2
    assert_none_left(client)


@pytest.mark.parametrize(("name", "function"), AT_WORK)
def test_the_keyboard_ends_a_fit_with_the_model_so_far(client, at_work, name, function):
    asked = at_work(function, lambda: signal.raise_signal(signal.SIGINT))
    model, noise = ASKED[name]
    X, y = blocks(*points(noise))
    try:
        found = rb.separability(X, y) if model is None else clone(model).fit(X, y)
    except KeyboardInterrupt:
        found = None
    assert len(asked) >= 2
    if model is None:
        assert found is None
    else:
        assert found.stop_reason_ is rb.StopReason.INTERRUPTED
        assert found.coef_.shape == (1, 5)
    assert_none_left(client)


def test_a_callback_is_told_and_may_end_a_fit(client, capfd):
    X, y = blocks(*points(0.4))
    told = []

    def end(epoch):
        told.append((epoch.number, epoch.mistakes))
        if epoch.number == 2:
            raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = rb.Perceptron(callback=end, progress=True).fit(X, y)
    assert fit.stop_reason_ is rb.StopReason.INTERRUPTED
    assert [mistakes for _, (mistakes,) in told] == fit.trace_.mistakes.tolist()
    assert "epochs" in capfd.readouterr().err
    here = rb.Perceptron(max_epochs=2).fit(*points(0.4))
    assert np.array_equal(fit.coef_, here.coef_)
    assert_none_left(client)


# The scheduler ---------------------------------------------------------------------------------


@pytest.fixture
def processes():
    """``processes(workers)``: a scheduler in a process of its own, and workers without nannies.

    It gives a client, a function that starts another worker, and the scheduler's process.
    """
    started, clients = [], []

    def command(what, *given):
        line = [sys.executable, "-m", f"distributed.cli.dask_{what}", *given]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen(line, **quiet))
        return started[-1]

    def start(path, workers=1):
        file = str(path / "scheduler.json")
        here = ("--host", "127.0.0.1", "--no-dashboard")
        scheduler = command("scheduler", "--scheduler-file", file, "--port", "0", *here)

        def join():
            given = ("--no-nanny", "--nthreads", "1", "--scheduler-file", file)
            return command("worker", *given, *here)

        for _ in range(workers):
            join()
        while not Path(file).exists():
            time.sleep(0.05)
        client = distributed.Client(scheduler_file=file, timeout=60)
        clients.append(client)
        client.wait_for_workers(workers, timeout=60)
        return client, join, scheduler

    yield start
    for one in started:
        with contextlib.suppress(ProcessLookupError):
            one.kill()
            one.wait()
    for one in clients:
        one.close(timeout=5)


def test_late_workers_take_over_and_without_a_scheduler_nothing_is_lost(
    processes, tmp_path, at_submission, monkeypatch, in_memory, client
):
    monkeypatch.setattr(engine, "GONE", 2.0)
    monkeypatch.setattr(engine, "LOOK", 0.2)
    with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
        other, join, scheduler = processes(tmp_path)
    (first,) = other.run(os.getpid).values()

    def replace():
        join()
        other.wait_for_workers(2, timeout=60)
        os.kill(first, signal.SIGKILL)

    with other.as_current():
        with monkeypatch.context():
            sent = at_submission(5, replace)
            assert answer("pocket", blocks) == in_memory["pocket"]
            assert len(sent) > 5
        monkeypatch.undo()
        monkeypatch.setattr(engine, "GONE", 2.0)
        assert first not in other.run(os.getpid).values()
        path = tmp_path / "run.checkpoint"
        kept = rb.Checkpoint(str(path), every=1000)
        monkeypatch.setattr(checkpoints, "SELDOM", 0)  # so that it does not depend on the clock
        at_submission(14, scheduler.kill)  # in the third epoch at the earliest
        X, y = points(0.4)
        with pytest.raises(ClusterError, match=r"the scheduler at tcp://\S+ is gone: ") as error:
            rb.Perceptron(max_epochs=30, checkpoint=kept).fit(*blocks(X, y))
        told_in_one_line(error)
        for ask in (rb.Perceptron().fit, rb.separability):
            with pytest.raises(ClusterError, match=r"is gone|no cluster to work on") as error:
                ask(*blocks(X, y))
            told_in_one_line(error)
    monkeypatch.undo()
    there = tmp_path / "there.checkpoint"
    there.write_bytes(path.read_bytes())
    whole = rb.Perceptron(max_epochs=30).fit(X, y)
    for file, data in ((path, (X, y)), (there, blocks(X, y, 400))):
        epochs = []
        with client.as_current():
            fit = rb.Perceptron(
                max_epochs=30,
                callback=lambda epoch, seen=epochs: seen.append(epoch.number),
                checkpoint=rb.Checkpoint(str(file), resume=True),
            ).fit(*data)
        assert fit.coef_.tobytes() == whole.coef_.tobytes()
        assert fit.trace_.mistakes.tolist() == whole.trace_.mistakes.tolist()
        assert epochs[0] > 1  # what was done is not done again
