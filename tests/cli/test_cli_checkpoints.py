"""Runs that are killed and go on: the same model, to the bit, and nothing left behind."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from commands import COMMAND, NOTES, PENGUINS, call, fitted
from rosenblatt.cli import effort

KEPT = ("--checkpoint", "run.checkpoint")
OFTEN = (*KEPT, "--checkpoint-every", "0s")


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def endless():
    """Labels at random: no run ends by itself."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_normal((3000, 3)), rng.integers(0, 2, 3000)])
    np.savetxt("endless.csv", rows, delimiter=",", header="a,b,c,y", comments="")
    return "endless.csv"


def started(*arguments, **environment):
    """The command, as a process of its own that is still running."""
    environment = os.environ | {name: str(value) for name, value in environment.items()}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], text=True, env=environment, **pipes)


def wait_until(condition, process, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def has_changed(path):
    """A test of whether a file has been written since."""
    before = path.stat().st_mtime_ns if path.exists() else None
    return lambda: path.exists() and path.stat().st_mtime_ns != before


def ended(process, code):
    printed, said = process.communicate(timeout=60)
    assert process.returncode == code, said
    return printed


def same(one, other):
    first, second = (rb.io.load(path)[-1] for path in (one, other))
    assert first.n_iter_ == second.n_iter_
    assert first.stop_reason_ == second.stop_reason_
    for name in ("coef_", "intercept_", "dual_coef_", "alpha_", "n_errors_"):
        assert np.array_equal(getattr(first, name, 0), getattr(second, name, 0))


MODELS = [
    ("--keep", "pocket", "--max-epochs", 250),
    ("--update", "batch", "--max-epochs", 250),
    ("--model", "kernel", "--budget", 200, "--max-epochs", 5),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: " ".join(map(str, model[:2])))
def test_killed_again_and_again(endless, model):
    fit = ("fit", endless, *model, "--cv", 0, "-q")
    call(*fit, "-o", "whole.skops")
    file, resume = Path("run.checkpoint"), ()
    chance = random.Random(0)
    for _ in range(2):
        process = started(*fit, *OFTEN, *resume, "-o", "m.skops")
        wait_until(has_changed(file), process)
        time.sleep(chance.uniform(0, 0.05))
        assert process.poll() is None, "it was too fast to be killed"
        process.kill()
        process.communicate()
        resume = ("--resume",)
    assert not Path("m.skops").exists()
    call(*fit, *OFTEN, *resume, "-o", "m.skops")
    same("m.skops", "whole.skops")


def test_killed_from_disk(endless):
    fit = ("fit", endless, "--max-epochs", 250, "--cv", 0, "-q")
    call(*fit, "-o", "whole.skops")
    Path("cache").mkdir()
    room = ("--memory", "1KB", "--cache", "cache")
    process = started(*fit, *OFTEN, *room, "-o", "m.skops", TMPDIR="cache")
    wait_until(has_changed(Path("run.checkpoint")), process)
    process.kill()
    process.communicate()
    ended(started(*fit, *OFTEN, *room, "--resume", "-o", "m.skops", TMPDIR="cache"), 0)
    same("m.skops", "whole.skops")
    assert list(Path("cache").iterdir()) == []


def test_killed_while_it_reads():
    """What a process leaves in the folder for temporary files is removed by the next."""
    rng = np.random.default_rng(0)
    lines = [",".join(map(str, row)) for row in rng.integers(0, 9, (2000, 200))]
    Path("big.csv").write_text("\n".join([",".join(f"x{k}" for k in range(200)), *lines * 40]))
    Path("cache").mkdir()
    fit = ("fit", "big.csv", "--max-epochs", 1, "--memory", "1KB", "--cache", "cache", *KEPT)
    for wait in (0.0, 0.2, 0.4, 0.8):
        process = started(*fit, TMPDIR="cache")
        wait_until(lambda: any(Path("cache").iterdir()), process)
        time.sleep(wait)
        process.kill()
        process.communicate()
        Path("run.checkpoint").unlink(missing_ok=True)
    call("fit", NOTES, "-q", "--memory", "1KB", "--cache", "cache")
    assert list(Path("cache").iterdir()) == []


def test_sigterm_in_training(endless):
    fit = ("fit", endless, "--max-epochs", 10**9, "--cv", 0, "--json", "-o", "m.skops")
    process = started(*fit, *OFTEN)
    wait_until(has_changed(Path("run.checkpoint")), process)
    process.send_signal(signal.SIGTERM)
    found = json.loads(ended(process, 143))
    assert found["stop_reasons"] == ["INTERRUPTED"]
    assert found["saved"] == ["m.skops"]
    model = rb.io.load("m.skops")[-1]
    assert model.stop_reason_ is rb.StopReason.INTERRUPTED
    more = ("--max-epochs", model.n_iter_ + 5, "--cv", 0, "-q")
    call("fit", endless, *more, *KEPT, "--resume", "-o", "again.skops")
    call("fit", endless, *more, "-o", "whole.skops")
    same("again.skops", "whole.skops")


def test_sigterm_before_training():
    process = subprocess.Popen([*COMMAND, "fit", "-", "-o", "m.skops"], stdin=subprocess.PIPE)
    time.sleep(2.5)  # time to start
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 143
    process.stdin.close()
    assert not Path("m.skops").exists()


def test_the_second_sigterm_ends_at_once(endless):
    process = started("fit", endless, "--max-epochs", 10**9, "--cv", 0, *OFTEN)
    wait_until(has_changed(Path("run.checkpoint")), process)
    for _ in range(2):
        process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143


def test_as_long_as_it_is_worth(endless, monkeypatch):
    """The command goes by the course of all epochs, also of those before it was stopped."""
    monkeypatch.setattr(effort, "FREE", 0.0)
    monkeypatch.setattr(effort, "STILL", 8)
    call("fit", endless, "--cv", 0, "-q", "-o", "whole.skops")
    after = effort.Course._after

    def pressed(self, number, mistakes):
        if number == 6:
            signal.raise_signal(signal.SIGINT)
        return after(self, number, mistakes)

    with monkeypatch.context() as patched:
        patched.setattr(effort.Course, "_after", pressed)
        call("fit", endless, "--cv", 0, "-q", *KEPT, code=130)
    for _ in range(2):  # the second time there is nothing left to do
        call("fit", endless, "--cv", 0, "-q", *KEPT, "--resume", "-o", "m.skops")
        same("m.skops", "whole.skops")


def test_check_goes_on():
    check = ("check", PENGUINS, "-t", "species", "-q")
    call(*check, "-o", "whole.json")
    call(*check, *OFTEN, "-o", "c.json", "--max-time", "1ms", code=1)
    call(*check, *OFTEN, "--resume", "-o", "c.json")
    whole, found = (json.loads(Path(name).read_text()) for name in ("whole.json", "c.json"))
    assert found == whole
    call("check", PENGUINS, "-t", "species", "--verify", "c.json", "-q", code=2)
    call("check", PENGUINS, "--verify", "c.json", "-q")


def test_more_epochs(endless):
    call("fit", endless, "--max-epochs", 3, "--cv", 0, "-q", *KEPT)
    assert Path("run.checkpoint").exists()
    call("fit", endless, "--max-epochs", 9, "--cv", 0, "-q", *KEPT, "--resume", "-o", "m.skops")
    call("fit", endless, "--max-epochs", 9, "--cv", 0, "-q", "-o", "whole.skops")
    same("m.skops", "whole.skops")


def test_folds_have_no_checkpoint():
    fitted(NOTES, "--max-epochs", 3, *KEPT)
    found = fitted(NOTES, "--max-epochs", 3, *KEPT, "--resume", "-o", "m.skops")
    assert len(found["cross_validation"]) == 5
    assert rb.io.load("m.skops")[-1].checkpoint is None
    assert "checkpoint" not in found["parameters"]


def truncated():
    whole = Path("run.checkpoint").read_bytes()
    Path("run.checkpoint").write_bytes(whole[: len(whole) // 2])


def test_what_is_refused(endless):
    fit = ("fit", NOTES, "--max-epochs", 3, "--cv", 0, "-q")
    call(*fit, *KEPT)
    before = Path("run.checkpoint").read_bytes()
    refused = {
        "exists: give resume=True (--resume)": (*fit, *KEPT),
        "is of other data": ("fit", endless, "--max-epochs", 3, *KEPT, "--resume"),
        "was written with keep='auto', not 'pocket'": (*fit, *KEPT, "--resume", "--keep", "pocket"),
        "is of a run of Perceptron, not separability": ("check", NOTES, *KEPT, "--resume"),
        "--resume needs the file to go on from: --checkpoint PATH": (*fit, "--resume"),
        "--checkpoint-every needs the file": (*fit, "--checkpoint-every", "3s"),
        "'soon' is not a duration": (*fit, *KEPT, "--checkpoint-every", "soon"),
        "is what is being read": (*fit, "--checkpoint", NOTES),
        "does not go with --verify": ("check", NOTES, "--verify", "c.json", *KEPT),
        "nowhere": (*fit, "--checkpoint", "nowhere/c.checkpoint"),
    }
    for why, command in refused.items():
        more = ("-o", "m.skops") if command[0] == "fit" else ()
        assert why in call(*command, *more, code=2).stderr
        assert not Path("m.skops").exists()
        assert Path("run.checkpoint").read_bytes() == before
    truncated()
    assert "run.checkpoint is " in call(*fit, *KEPT, "--resume", code=2).stderr
