"""The command with --cluster: reports, models, proofs and answers of one machine, and errors."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from commands import COMMAND, NOTES, PENGUINS, call
from rosenblatt.cli import clusters
from rosenblatt.tables import rows_on_workers

pytest.importorskip("distributed", reason="the extra dask is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.compiled]

ONLY_THERE = ("no cross-validation on a cluster", "rows in turn, as a cluster takes them")


@pytest.fixture
def address(shared_client, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rows_on_workers, "LEAST_BYTES", 5000)  # so that files are cut
    monkeypatch.setenv("DASK_LOGGING__DISTRIBUTED", "critical")
    return shared_client.scheduler.address


def plain(found):
    """What a model consists of, but for times."""
    if isinstance(found, dict):
        return {k: plain(v) for k, v in found.items() if k not in ("seconds", "trained")}
    if isinstance(found, list | tuple):
        return [plain(one) for one in found]
    if isinstance(found, np.ndarray):
        return found.dtype.str, found.tolist()
    if isinstance(found, np.random.Generator):
        return found.bit_generator.state
    if isinstance(found, rb.Hyperplane):
        return plain([found.w, found.b])
    if type(found).__module__.startswith("rosenblatt") and hasattr(found, "__dict__"):
        return [type(found).__name__, plain(vars(found))]
    return repr(found)


def parts_of(path):
    model = rb.io.load(path)
    steps = []
    for _, step in model.steps:
        state = {k: v for k, v in vars(step).items() if k not in ("_metadata", "summary_")}
        steps.append(plain(state))
    return steps


def told(done):
    document = json.loads(done.stdout)
    for name in ("seconds", "saved", "command", "notes", "trained"):
        document.pop(name, None)
    return document


@pytest.mark.parametrize(
    ("file", "how"),
    [
        (NOTES, ["--order", "cyclic", "--max-epochs", 20]),
        (PENGUINS, ["--update", "batch", "--max-epochs", 5, "--keep", "pocket"]),
        (PENGUINS, ["--model", "soft-margin", "--ignore", "island"]),
    ],
)
def test_a_model_and_its_report_are_those_of_one_machine(address, file, how):
    there = call("fit", file, *how, "-o", "a.skops", "--json", "--cluster", address)
    here = call("fit", file, *how, "-o", "b.skops", "--json", "--cv", 0)
    assert told(there) == told(here)
    assert parts_of("a.skops") == parts_of("b.skops")
    notes = [note for note in json.loads(there.stdout)["notes"] if not note.startswith(ONLY_THERE)]
    assert notes == json.loads(here.stdout)["notes"]


@pytest.mark.parametrize("file", [NOTES, PENGUINS])
def test_certificates_are_the_same_byte_for_byte(address, file):
    there = call("check", file, "-o", "a.json", "--cluster", address, code=1)
    here = call("check", file, "-o", "b.json", code=1)
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert there.stdout.replace("a.json", "b.json") == here.stdout


def test_answers_are_written_in_order(address):
    call("fit", PENGUINS, "-q", "-o", "m.skops", "--cv", 0, "--max-epochs", 5)
    how = ["--keep", "island", "--explain"]
    there = call("predict", "m.skops", PENGUINS, *how, "-o", "a.csv", "--cluster", address)
    here = call("predict", "m.skops", PENGUINS, *how, "-o", "b.csv")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert there.stderr == here.stderr


def test_a_checkpoint_goes_on_elsewhere(address):
    how = ["fit", NOTES, "--order", "cyclic", "-q"]
    kept = ["--checkpoint", "c.state", "--checkpoint-every", "0s"]
    call(*how, *kept, "--max-epochs", 3, "--cluster", address)
    call(*how, *kept, "--resume", "--max-epochs", 8, "--cv", 0, "-o", "a.skops")
    call(*how, "--max-epochs", 8, "--cv", 0, "-o", "b.skops")
    assert np.array_equal(rb.io.load("a.skops")[-1].coef_, rb.io.load("b.skops")[-1].coef_)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (["--model", "kernel"], "--model kernel works on one machine only: leave --cluster out"),
        (["--cv", 3], "--cv works on one machine only"),
        (["--plot", "a.png"], "--plot works on one machine only"),
        (["--features", "squares"], "--features works on one machine only"),
        (["--multiclass", "joint"], "--multiclass joint works on one machine only"),
        (["--order", "shuffled"], "cyclic"),
        (["--query", "SELECT 1"], "--query (query= in Python) is read on one machine only"),
    ],
)
def test_what_does_not_work_on_a_cluster_is_refused(address, how, said):
    assert said in call("fit", NOTES, *how, "--cluster", address, code=2).stderr


def test_tables_that_cannot_be_are_refused_as_on_one_machine(address):
    Path("empty.csv").touch()
    Path("one.csv").write_text("a,y\n1,x\n2,x\n")
    Path("a.csv").write_text("a,y\n1,x\n2,y\n")
    Path("b.csv").write_text("b,y\n1,x\n2,y\n")
    for files, said in (
        (["none.csv"], "there is no file"),
        (["empty.csv"], "empty.csv is empty: give a file with at least one row"),
        (["one.csv"], "column 'y' holds only one class, 'x'"),
        (["a.csv", "b.csv"], "b.csv has no column 'a' and has a column 'b' of its own, unlike"),
        (["-"], "read on one machine only"),
    ):
        assert said in call("fit", *files, "--cluster", address, code=2).stderr


def test_no_cluster_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 0.2)
    said = call("fit", NOTES, "--cluster", "tcp://127.0.0.1:1", code=2).stderr
    assert "there is no scheduler at tcp://127.0.0.1:1 (nothing answers there): start one" in said
    assert "is no cluster: give local" in call("fit", NOTES, "--cluster", "x", code=2).stderr
    assert "has no workers" in call("fit", NOTES, "--cluster", "local:0", code=2).stderr


@pytest.fixture
def usual_port_taken():
    """Somebody else listens where the page of a cluster usually is."""
    with socket.socket() as taken:
        with contextlib.suppress(OSError):  # it is taken already
            taken.bind(("127.0.0.1", 8787))
            taken.listen()
        yield


@pytest.mark.usefixtures("usual_port_taken")
def test_ctrl_c_writes_the_model_so_far_and_ends_the_workers(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_normal((3000, 3)), rng.integers(0, 2, 3000)])
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",", header="a,b,c,y", comments="")
    how = ["--cluster", "local:2", "--max-epochs", 10**9, "-o", tmp_path / "m.skops"]
    how += ["--checkpoint", tmp_path / "state", "--checkpoint-every", "0s"]
    command = [*COMMAND, "fit", str(tmp_path / "a.csv"), *map(str, how)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        while not (tmp_path / "state").exists():  # training has begun
            assert running.poll() is None, running.stderr.read()
            time.sleep(0.1)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does, to the workers, too
        out, err = running.communicate(timeout=100)
    assert (running.returncode, err) == (130, "")
    assert "INTERRUPTED" in out
    assert rb.io.load(tmp_path / "m.skops")[-1].n_iter_ > 0
    for _ in range(100):  # some may be about to end
        if not (left := alive_in(running.pid)):
            break
        time.sleep(0.1)
    assert not left


def alive_in(group):
    """The processes of a group that have not ended."""
    found = []
    for state in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            fields = state.read_text().rpartition(")")[2].split()
            if fields[2] == str(group) and fields[0] != "Z":
                found.append(state)
    return found
