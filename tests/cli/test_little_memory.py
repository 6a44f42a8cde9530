"""A table that takes more than twice the memory there is: fit, check, bound, predict."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_cli_streams import different

SCRIPT = Path(__file__).with_name("in_little_memory.py")
LIMIT = 200  # megabytes of RLIMIT_DATA beside what the process has when it is ready
MOST = 160  # of these in use: what was allocated, and not given back, is more
N, D = 250_000, 100  # which are 200 MB as features, and as much again as columns
COMMANDS = {  # and their exit codes
    "fit FILE --max-epochs 2 --json --memory 50MB -o m.skops": 0,
    "check FILE --memory 50MB --json": 1,
    "bound FILE --max-epochs 1 --memory 50MB --json": 1,
    "predict m.skops FILE -o answers.csv -q": 0,
}
WHOLE = "fit FILE --max-epochs 2 --json --cv 0"


def write(name, n):
    """Whole numbers of one digit: a plane tells most rows apart."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=D)
    with Path(name).open("wb") as file:
        file.write((",".join([*(f"x{k}" for k in range(D)), "class"]) + "\n").encode())
        for a in range(0, n, 10_000):
            X = rng.integers(0, 10, (min(10_000, n - a), D))
            y = ((X - 4.5) @ w > 0) ^ (rng.random(len(X)) < 0.001)
            cells = np.full((len(X), 2 * D + 2), ord(","), np.uint8)
            cells[:, : 2 * D : 2] = X + ord("0")
            cells[:, 2 * D] = np.where(y, ord("+"), ord("-"))
            cells[:, 2 * D + 1] = ord("\n")
            file.write(cells.tobytes())


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="only Linux says how much is used"
)
def test_in_little_memory(tmp_path):
    write(tmp_path / "small.csv", 3000)
    write(tmp_path / "large.csv", N)
    for command, code in COMMANDS.items():
        found, taken = run_in(tmp_path, LIMIT, command)
        assert found[0] == code, found
        assert taken < MOST, command
        if command.startswith("fit"):
            whole, taken = run_in(tmp_path, 0, WHOLE)
            assert taken > 2 * LIMIT
            assert different(found[1], whole[1]) == {"saved"}
    assert len((tmp_path / "answers.csv").read_text().splitlines()) == N + 1


def run_in(folder, limit, command):
    """How a command ends on the large file in so many megabytes, and how many it has used."""
    arguments = ["small.csv", "large.csv", str(limit), command]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        **{"cwd": folder, "capture_output": True, "text": True, "check": True},
    )
    *ended, taken = json.loads(done.stdout)
    return ended, taken
