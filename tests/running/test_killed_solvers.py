"""Kernels, margins and verdicts whose processes are killed, for real, end as if nobody had."""

import os
import pickle
import random
import time
from pathlib import Path

import pytest

from killed_fit import Nursery, facts, fitted

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork processes"),
]

TWO, THREE = {"classes": 2, "n": 800, "d": 5}, {"classes": 3, "n": 500, "d": 4}
JOBS = {
    "average": ("KernelPerceptron", {"keep": "average", "order": "shuffled", "max_epochs": 4}, TWO),
    "vote": ("KernelPerceptron", {"keep": "vote", "record": True, "max_epochs": 3}, THREE),
    "budget": ("KernelPerceptron", {"budget": 50, "max_epochs": 3}, TWO),
    "worst": ("KernelPerceptron", {"order": "worst-mistake", "max_epochs": 20}, TWO),
    "soft": ("SoftMarginClassifier", {"C": 100.0}, THREE),
    "maximum": ("MaxMarginClassifier", {}, {"classes": 2, "n": 100, "d": 300}),
    "none": ("MaxMarginClassifier", {}, TWO),
    "verdicts": ("separability", {}, THREE),
}


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as found:
        yield found


@pytest.mark.parametrize("name", JOBS)
def test_killed(nursery, name, tmp_path):
    kind, given, data = JOBS[name]
    path = tmp_path / "run.checkpoint"
    if "max_epochs" in given:
        given = {**given, "random_state": 7}
    out = str(tmp_path / "out")
    job = {"kind": kind, "given": given, "data": data, "path": str(path), "every": 0.0, "out": out}
    whole = facts(fitted({**job, "path": None}))
    nursery.run({**job, "path": None})  # loads the loops
    began = time.perf_counter()
    nursery.run(job)
    path.unlink()
    seconds = time.perf_counter() - began
    kills, _ = nursery.killed_until_done(job, seconds / 2, random.Random(1), kills=4)
    assert kills
    assert pickle.loads(Path(out).read_bytes()) == whole
