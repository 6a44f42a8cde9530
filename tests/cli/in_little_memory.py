"""Runs a command on a small table, then, in little more memory, on a large one.

``python in_little_memory.py SMALL LARGE MEGABYTES COMMAND``, where FILE stands for the table. It
prints the exit code, what was printed and said, and the peak of anonymous memory beyond what there
was before, in megabytes.
"""

import json
import resource
import sys
import threading
import time
from pathlib import Path

from typer.testing import CliRunner

from rosenblatt.cli.app import app

EVERY = 0.002  # seconds


def status(name):
    """An entry of what the system knows of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


class Peak:
    """The most anonymous memory while something runs; maps of files are not part of it."""

    def __enter__(self):
        self.most = self._before = status("RssAnon")
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()
        return self

    def _look(self):
        while not self._over.is_set():
            self.most = max(self.most, status("RssAnon"))
            time.sleep(EVERY)

    def __exit__(self, *_):
        self._over.set()
        self._watch.join()
        self.taken = self.most - self._before


def run(command, file):
    return CliRunner().invoke(app, command.replace("FILE", file).split())


def main(small, large, megabytes, command):
    run(command, small)  # what is compiled and imported is there
    if float(megabytes):
        limit = status("VmData") + int(float(megabytes) * 1e6)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    with Peak() as peak:
        done = run(command, large)
    print(json.dumps([done.exit_code, done.stdout, done.stderr, peak.taken / 1e6]))


if __name__ == "__main__":
    main(*sys.argv[1:])
