"""The command as tests run it: in this process or in one of its own."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import rosenblatt as rb
from rosenblatt.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
NOTES = str(ROOT / "examples" / "banknotes.csv")
PENGUINS = str(ROOT / "src" / "rosenblatt" / "cli" / "data" / "penguins.csv")
COMMAND = [sys.executable, "-m", "rosenblatt.cli"]
COMMANDS = get_command(app)  # once: Typer does it at every call, as long as many a command takes


class Done(NamedTuple):
    """How a command has ended, and what it has printed."""

    exit_code: int
    stdout: str
    stderr: str
    stdout_bytes: bytes

    @property
    def output(self):
        return self.stdout + self.stderr


def invoke(*arguments, charset="utf-8", prog_name="root", **more):
    """Run the command in this process. `charset`: the letters that the terminal knows."""
    with CliRunner(charset).isolation(**more) as (out, err, *_):
        with pytest.raises(SystemExit) as left:
            COMMANDS.main([str(a) for a in arguments], prog_name)
        sys.stdout.flush()
        sys.stderr.flush()
        printed, said = (stream.getvalue() for stream in (out, err))
    texts = (stream.decode(charset, "replace").replace("\r\n", "\n") for stream in (printed, said))
    return Done(left.value.code, *texts, printed)


def call(*arguments, code=0, **more):
    """Run the command; check how it ends, that an error is one line, and that nothing else warns.

    Only ``predict`` has more to say on standard error: how many rows it has right.
    """
    done = invoke(*arguments, **more)
    assert done.exit_code == code, done.output
    if code == 2:
        assert done.stdout == ""
        assert done.stderr.startswith("rosenblatt: ")
        assert done.stderr.count("\n") == 1, done.stderr
        assert "Traceback" not in done.stderr
    elif arguments[0] != "predict":
        assert done.stderr == ""
    return done


def fitted(*arguments, code=0):
    """What ``fit --json`` prints."""
    return json.loads(call("fit", *arguments, "--json", code=code).stdout)


def process(*arguments, **more):
    """Run the command in a process of its own."""
    more = {"capture_output": True, "text": True, "check": False} | more
    return subprocess.run([*COMMAND, *map(str, arguments)], **more)


def table(name, columns):
    """Write a CSV file with these columns."""
    with Path(name).open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(zip(*columns.values(), strict=True))
    return name


def dunkers_table():
    """Write the basketball players, whom a line separates."""
    X, y = rb.datasets.dunkers(random_state=0)
    return table("dunkers.csv", {"height": X[:, 0], "leap": X[:, 1], "dunks": y})


def xor_table():
    """Write four points that no line separates."""
    return table("xor.csv", {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": ["no", "yes", "yes", "no"]})


def one_line(printed):
    """A report without its line breaks."""
    return " ".join(printed.split())
