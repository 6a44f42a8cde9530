"""Fits in processes that are killed: a nursery that has everything loaded and forks them.

Run as a script it reads jobs, one JSON object per line; for each it forks a child that fits,
prints the child's number, and, when it has read another line, how that has died. So killing a
thousand takes minutes, not hours. Whoever started it kills the children, and only these.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np

import rosenblatt as rb
from cutting import bits as answer_bits
from cutting import fitted_bits
from rosenblatt.running import checkpoints


@cache
def data_of(kind, classes, n, d):
    """Samples that no hyperplane separates."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    values = X @ rng.standard_normal((d, classes)) + rng.standard_normal((n, classes))
    return X, values[:, 0] if kind == "AdalineRegressor" else values.argmax(axis=1)


def fitted(job):
    """The model, or the answer, of a job, with the checkpoint that it names."""
    kind, given = job["kind"], dict(job["given"])
    if job.get("path"):
        given["checkpoint"] = rb.Checkpoint(job["path"], every=job["every"], resume=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = data_of(kind, **job["data"])
        return rb.separability(*data, **given) if kind == "separability" else fit(kind, given, data)


def fit(kind, given, data):
    """An estimator of this kind, fitted."""
    return getattr(rb, kind)(**given).fit(*data)


def facts(model):
    """All that a fitted model says of itself, but for the clock; or all of an answer."""
    if not isinstance(model, rb.Perceptron | rb.Adaline | rb.AdalineRegressor):
        return fitted_bits(model) if hasattr(model, "fits_") else answer_bits(model)
    found = []
    for fit in model.fits_:
        trace, updates = fit.trace, fit.trace.updates
        lists = [trace.mistakes, trace.change, trace.loss, trace.pocket_errors]
        if updates is not None:
            lists += [updates.epoch, updates.sample, updates.value, updates.step, updates.update]
        bits = [None if one is None else one.tobytes() for one in lists]
        found.append((fit.stop_reason.name, fit.n_mistakes, fit.n_updates, fit.n_epochs, bits))
    certificate = repr(getattr(model, "certificate_", None))
    bias = np.asarray(model.intercept_).tobytes()
    return found, model.coef_.tobytes(), bias, model.n_iter_, certificate


def tell_of_writes(out):
    """Leave a mark while a checkpoint is being written."""
    write, mark = checkpoints.Keeper.write, Path(f"{out}.writing")

    def marked(self, state, *, last=False):
        mark.touch()
        write(self, state, last=last)
        mark.unlink()

    checkpoints.Keeper.write = marked


def child(job):
    """Fit, and write what came of it."""
    tell_of_writes(job["out"])
    Path(job["out"]).write_bytes(pickle.dumps(facts(fitted(job))))


def load_loops(job):
    """Fit a little of it here, so that no child has to load machine code or to make data."""
    data_of(job["kind"], **job["data"])
    few = {**job["data"], "n": 60}
    path = f"{job['out']}.first"
    for epochs in (2, 3):  # the second one goes on
        given = dict(job["given"])
        if "max_epochs" in given:
            given["max_epochs"] = epochs
        fitted({**job, "data": few, "given": given, "path": path, "every": 0.0})
    Path(path).unlink()


def main():
    """Fork a child for each job that is asked for."""
    known = set()
    for line in sys.stdin:
        job = json.loads(line)
        kind = json.dumps([job["kind"], job["given"], job["data"]])
        if kind not in known:
            load_loops(job)
            known.add(kind)
        number = os.fork()
        if number == 0:
            try:
                child(job)
                os._exit(0)
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
                os._exit(2)
        print(number, flush=True)
        sys.stdin.readline()  # until then the number stays the child's, even if it has ended
        print(os.waitpid(number, 0)[1], flush=True)


class Nursery:
    """A process that forks children to be killed."""

    def __init__(self):
        command = [sys.executable, str(Path(__file__).resolve())]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def run(self, job, seconds=None):
        """Whether the child ended by itself; it is killed after so many seconds."""
        print(json.dumps(job), file=self.process.stdin, flush=True)
        number = int(self.process.stdout.readline())
        if seconds is not None:
            time.sleep(seconds)
            os.kill(number, signal.SIGKILL)
        print(file=self.process.stdin, flush=True)
        status = int(self.process.stdout.readline())
        assert status in (0, signal.SIGKILL), f"the child has ended with status {status}"
        return status == 0

    def killed_until_done(self, job, longest, rng, kills=10**9):
        """Kills until the job was done, at random moments, `kills` at most; those in a write."""
        count = writing = 0
        mark = Path(f"{job['out']}.writing")
        while not self.run(job, rng.uniform(0, longest) if count < kills else None):
            count += 1
            writing += mark.exists()
            mark.unlink(missing_ok=True)
        return count, writing


if __name__ == "__main__":
    main()
