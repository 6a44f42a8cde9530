"""Real processes, killed by SIGKILL at random moments, again and again, also while they write."""

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import killed_fit
from killed_fit import Nursery, facts, fitted

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork processes"),
]

DATA = {"classes": 2, "n": 20_000, "d": 20}
SMALL = {**DATA, "n": 3_000}
WIDE = {**DATA, "n": 300, "d": 20_000}  # a state of hundreds of kilobytes
JOBS = {
    "online": ("Perceptron", {"keep": "average", "order": "shuffled", "max_epochs": 40}, DATA),
    "pocket": ("Perceptron", {"keep": "pocket", "max_epochs": 4, "record": True}, SMALL),
    "minibatch": (
        "Perceptron",
        {"update": "minibatch", "batch_size": 3000, "order": "blocks", "max_epochs": 60},
        DATA,
    ),
    "mixed": ("Perceptron", {"update": "mixed", "keep": "average", "max_epochs": 60}, DATA),
    "picked": ("Perceptron", {"order": "random-mistake", "max_epochs": 90, "record": True}, SMALL),
    "classes": (
        "Perceptron",
        {"keep": "average", "order": "sampled", "max_epochs": 20},
        {**DATA, "classes": 3},
    ),
    "joint": (
        "Perceptron",
        {"multiclass": "joint", "order": "blocks", "max_epochs": 20},
        {**DATA, "classes": 3},
    ),
    "wide": ("Perceptron", {"order": "shuffled", "max_epochs": 30, "record": True}, WIDE),
    "adaline": ("Adaline", {"update": "minibatch", "batch_size": 500, "max_epochs": 60}, DATA),
    "regressor": ("AdalineRegressor", {"order": "blocks", "max_epochs": 60}, DATA),
}
KILLS = 12  # before it may end


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as found:
        yield found


def job_of(name, folder, every=0.0):
    kind, given, data = JOBS[name]
    return {
        "kind": kind,
        "given": {**given, "random_state": 7},
        "data": data,
        "path": str(folder / "run.checkpoint"),
        "every": every,
        "out": str(folder / "out"),
    }


@pytest.mark.parametrize("name", JOBS)
def test_killed_again_and_again(name, nursery, tmp_path):
    job = job_of(name, tmp_path)
    nursery.run({**job, "path": None})  # loads the loops
    began = time.perf_counter()
    nursery.run({**job, "path": str(tmp_path / "first")})
    longest = (time.perf_counter() - began) / 3
    kills, _ = nursery.killed_until_done(job, longest, random.Random(name), KILLS)
    assert kills > 1
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"first", "out", "run.checkpoint"}
    assert pickle.loads(Path(job["out"]).read_bytes()) == facts(fitted({**job, "path": None}))


def test_sigterm_as_the_command_has_it(tmp_path):
    """Asked to end, a run writes its last state; the next one ends as if nothing had been."""
    job = job_of("online", tmp_path, every=1e6)  # never by itself
    job["given"]["max_epochs"] = 150
    code = """
import json, signal, sys
sys.path.insert(0, sys.argv[2])
from killed_fit import fitted
from rosenblatt.running.clock import Cancel, cancelled_by

cancel = Cancel()
signal.signal(signal.SIGTERM, lambda *_: cancel.ask())
print("begins", flush=True)
with cancelled_by(cancel):
    print(fitted(json.loads(sys.argv[1])).stop_reason_.name)
"""
    here = str(Path(killed_fit.__file__).parent)
    command = [sys.executable, "-c", code, json.dumps(job), here]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() in ("INTERRUPTED\n", "EPOCH_LIMIT\n")
        assert process.wait() == 0
    assert Path(job["path"]).exists()
    assert facts(fitted(job)) == facts(fitted({**job, "path": None}))
