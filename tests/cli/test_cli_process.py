"""The command as a process: Ctrl-C, closed pipes, full disks, what it loads, completion."""

import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from commands import COMMAND, COMMANDS, NOTES, call, invoke
from commands import process as run
from rosenblatt.cli.app import app

HEAVY = {"numpy", "numba", "sklearn", "scipy", "duckdb", "skops", "matplotlib", "pandas"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "notes.skops"
    call("fit", NOTES, "-q", "-o", path, "--cv", 0, "--max-epochs", 5)
    return path


@pytest.fixture
def endless(tmp_path):
    """A table on which training takes for ever."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_normal((3000, 3)), rng.integers(0, 2, 3000)])
    np.savetxt(tmp_path / "endless.csv", rows, delimiter=",", header="a,b,c,y", comments="")
    return tmp_path / "endless.csv"


def test_help_loads_nothing_heavy():
    """Neither the list of commands nor the help of any of them."""
    commands = [["--version"], ["--help"], ["fit", "-h"]]
    commands += [[command.callback.__name__, "--help"] for command in app.registered_commands]
    code = (
        "import sys\nfrom rosenblatt.cli.app import app\n"
        f"for one in {commands}:\n"
        "    try: app(one, prog_name='rosenblatt')\n"
        "    except SystemExit: pass\n"
        "print('MODULES', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    text, _, loaded = done.stdout.partition("MODULES")
    assert all(f"Usage: rosenblatt {command[0]} " in text for command in commands[2:])
    assert not HEAVY & set(loaded.split())


class OnTerminal:
    """The command with standard error on a terminal, where progress shows after a second."""

    def __init__(self, *arguments, **environment):
        self.terminal, theirs = os.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
            env=os.environ | {name: str(value) for name, value in environment.items()},
        )
        os.close(theirs)
        self.shown = ""

    def wait_for(self, text, seconds=60):
        end = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            assert select.select([self.terminal], [], [], seconds)[0], self.shown
            self.shown += os.read(self.terminal, 1 << 16).decode()

    def signal(self, number):
        self.process.send_signal(number)
        printed, _ = self.process.communicate(timeout=60)
        return self.process.returncode, printed


def test_ctrl_c_in_training_keeps_the_model_so_far(endless, tmp_path):
    out = tmp_path / "m.skops"
    run_ = OnTerminal("fit", endless, "--max-epochs", 10**9, "-o", out, "--json")
    run_.wait_for(" mistakes ")
    code, printed = run_.signal(signal.SIGINT)
    assert code == 130
    assert json.loads(printed)["stop_reasons"] == ["INTERRUPTED"]
    assert rb.io.load(out)[-1].stop_reason_ is rb.StopReason.INTERRUPTED
    assert not list(tmp_path.glob(".*"))


def test_ctrl_c_in_cross_validation_keeps_the_model(endless, tmp_path):
    out = tmp_path / "m.skops"
    run_ = OnTerminal("fit", endless, "--max-epochs", 8000, "-o", out, "--json")
    run_.wait_for("cross-validation")
    code, printed = run_.signal(signal.SIGINT)
    assert code == 130
    found = json.loads(printed)
    assert found["stop_reasons"] == ["EPOCH_LIMIT"]
    assert found["cross_validation"] == []
    assert "no cross-validation: stopped with Ctrl-C" in found["notes"]
    assert rb.io.load(out)[-1].n_iter_ == 8000


def test_ctrl_c_before_training_writes_nothing(tmp_path):
    """Reading from a pipe that says nothing more."""
    out = tmp_path / "m.skops"
    command = [*COMMAND, "fit", "-", "-o", str(out)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, text=True, **pipes) as process:
        time.sleep(2.5)  # time to start; earlier would be Python's own interrupt
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        assert process.returncode == 130
        assert process.stderr.read() == "rosenblatt: stopped with Ctrl-C\n"
        assert process.stdout.read() == ""
    assert not list(tmp_path.iterdir())


def test_termination_leaves_nothing_behind(endless, tmp_path):
    """But for the model so far, which is asked for."""
    room = tmp_path / "room"
    room.mkdir()
    run_ = OnTerminal("fit", endless, "--max-epochs", 10**9, "-o", room / "m.skops", TMPDIR=room)
    run_.wait_for(" mistakes ")
    code, printed = run_.signal(signal.SIGTERM)
    assert code == 128 + signal.SIGTERM
    assert "INTERRUPTED" in printed
    assert [file.name for file in room.iterdir()] == ["m.skops"]


def test_termination_is_quiet(endless):
    """Also before it has begun to train."""
    command = [*COMMAND, "fit", str(endless), "--max-epochs", str(10**9)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(1.0)
        process.send_signal(signal.SIGTERM)
        printed, complaints = process.communicate(timeout=60)
        assert complaints == b""
        assert not printed or b"INTERRUPTED" in printed  # if it has begun, the model so far
        assert process.returncode in (128 + signal.SIGTERM, -signal.SIGTERM)


def test_termination_where_nothing_can_be_raised():
    """In a finalizer Python would only print the exception, and go on."""
    code = """if True:
        import os, signal, time
        import rosenblatt.cli.app
        from rosenblatt.cli import main

        class Dying:
            def __del__(self):
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.01)

        def work(**_):
            Dying()
            time.sleep(60)

        rosenblatt.cli.app.app = work
        main()
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, b"", b"")


@pytest.mark.parametrize("stream", [1, 2])
def test_closed_streams(stream):
    command = f'"{sys.executable}" -m rosenblatt.cli --help {stream}>&-'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert ("Usage: rosenblatt" in done.stdout) == (stream != 1)


def test_terminals_that_know_few_letters():
    done = call("fit", NOTES, "--cv", 2, charset="ascii")
    assert b"###" in done.stdout_bytes
    assert b"banknotes.csv > Perceptron" in done.stdout_bytes
    assert b"###" in call("fit", NOTES, "--cv", 0, charset="cp1252").stdout_bytes


def test_answers_are_utf8_wherever_they_go(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,schön\n2,schön\n-1,häßlich\n-2,häßlich\n", "utf-8")
    model = tmp_path / "m.skops"
    call("fit", tmp_path / "t.csv", "-q", "-o", model)
    done = call("predict", model, tmp_path / "t.csv", charset="ascii")
    assert "häßlich" in done.stdout_bytes.decode("utf-8")


def test_progress_only_where_somebody_looks(endless):
    done = call("fit", endless, "--max-time", "1500ms", "--cv", 0)
    assert "\x1b" not in done.stdout


def test_a_reader_that_has_enough(model, tmp_path):
    """``rosenblatt predict ... | head -1`` ends quietly."""
    rows = Path(NOTES).read_text().splitlines()
    big = tmp_path / "big.csv"
    big.write_text("\n".join([rows[0], *rows[1:] * 40]))
    command = f'"{sys.executable}" -m rosenblatt.cli predict {model} {big}'
    script = f"{command} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "prediction,decision\n0\n"
    assert done.stderr == ""


def test_standard_output_on_a_full_disk(model, monkeypatch, capsys):
    full = "rosenblatt: no space left on device\n"
    with Path("/dev/full").open("w") as out:
        pipes = {"stdout": out, "stderr": subprocess.PIPE, "capture_output": False}
        done = run("--help", **pipes)
        assert (done.returncode, done.stderr) == (2, full)
    predict, fit = ["predict", str(model), NOTES], ["fit", NOTES, "--cv", "0"]
    for arguments in (predict, fit, ["show", str(model)], ["--help"]):
        with Path("/dev/full").open("w") as out, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", out)
            with pytest.raises(SystemExit, match="2"):
                COMMANDS.main(arguments, "rosenblatt")
        assert capsys.readouterr().err == full


def small_files_only():
    """What a full disk looks like to a process: writes past the limit fail."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))


def test_a_full_disk_leaves_the_old_files(model, tmp_path):
    """Models, pictures, answers, certificates: one process writes them all, one after another."""
    fit = ["fit", NOTES, "--cv", "0", "--max-epochs", "5"]
    commands = {
        "m.skops": [*fit, "-o"],
        "p.png": [*fit, "--plot"],
        "a.csv": ["predict", str(model), NOTES, "-o"],
        "a.parquet": ["predict", str(model), NOTES, "-o"],
        "c.json": ["check", NOTES, "-o"],
    }
    for name in commands:
        (tmp_path / name).write_text("old")
    code = (
        "import json\nfrom typer.testing import CliRunner\nfrom rosenblatt.cli.app import app\n"
        f"for name, command in {commands}.items():\n"
        "    done = CliRunner().invoke(app, [*command, name])\n"
        "    print(json.dumps([done.exit_code, done.stdout, done.stderr]))"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],  # Python would keep half of what it compiles
        **{"cwd": tmp_path, "preexec_fn": small_files_only, "capture_output": True, "check": True},
    )
    ends = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(ends) == len(commands)
    for (exit_code, printed, said), name in zip(ends, commands, strict=True):
        assert (exit_code, printed) == (2, "")
        assert said.count("\n") == 1
        assert "Traceback" not in said
        if not name.startswith("a"):
            assert f"{name} could not be written: file too large; make room" in said
        assert (tmp_path / name).read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(commands)


def test_an_unforeseen_error_is_one_line_and_never_exit_code_1(monkeypatch):
    def broken(*_, **__):
        msg = "one\ntwo"
        raise TypeError(msg)

    monkeypatch.setattr("rosenblatt.cli.fitting.train", broken)
    done = call("fit", NOTES, code=2)
    assert done.stderr.startswith("rosenblatt: this should not have happened: TypeError: one two (")
    done = invoke("fit", NOTES, env={"ROSENBLATT_DEBUG": "1"})
    assert "Traceback" in done.stderr


def test_completion():
    env = {
        "_ROSENBLATT_COMPLETE": "complete_bash", "COMP_WORDS": "rosenblatt ", "COMP_CWORD": "1"
    }  # fmt: skip
    done = invoke(env=env, prog_name="rosenblatt")
    names = [
        "fit",
        "predict",
        "evaluate",
        "compare",
        "check",
        "suspects",
        "bound",
        "steps",
        "boolean",
        "show",
        "export",
        "plot",
        "report",
        "playground",
        "demo",
    ]
    assert done.stdout.split() == names
