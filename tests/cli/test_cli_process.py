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
from commands import COMMAND, HEAVY, NOTES, printed_and_loaded
from commands import process as run


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "notes.skops"
    assert run("fit", NOTES, "-q", "-o", path, "--cv", 0, "--max-epochs", 5).returncode == 0
    return path


@pytest.fixture
def endless(tmp_path):
    """A table on which training takes for ever."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_normal((3000, 3)), rng.integers(0, 2, 3000)])
    np.savetxt(tmp_path / "endless.csv", rows, delimiter=",", header="a,b,c,y", comments="")
    return tmp_path / "endless.csv"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["fit", "--help"], ["plot", "-h"], ["--version"]]
)
def test_help_loads_nothing_heavy(arguments):
    text, loaded = printed_and_loaded(*arguments)
    assert "rosenblatt" in text
    assert not HEAVY & loaded


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
    run_ = OnTerminal("fit", endless, "--max-epochs", 20000, "-o", out, "--json")
    run_.wait_for("cross-validation")
    code, printed = run_.signal(signal.SIGINT)
    assert code == 130
    found = json.loads(printed)
    assert found["stop_reasons"] == ["EPOCH_LIMIT"]
    assert found["cross_validation"] == []
    assert "no cross-validation: stopped with Ctrl-C" in found["notes"]
    assert rb.io.load(out)[-1].n_iter_ == 20000


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
    room = tmp_path / "room"
    room.mkdir()
    run_ = OnTerminal("fit", endless, "--max-epochs", 10**9, "-o", room / "m.skops", TMPDIR=room)
    run_.wait_for(" mistakes ")
    code, _ = run_.signal(signal.SIGTERM)
    assert code == 128 + signal.SIGTERM
    assert not list(room.iterdir())


@pytest.mark.parametrize("seconds", [1.0, 2.5])
def test_termination_is_quiet(endless, seconds):
    command = [*COMMAND, "fit", str(endless), "--max-epochs", str(10**9)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60) == (b"", b"")
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
def test_closed_streams(model, stream):
    command = f'"{sys.executable}" -m rosenblatt.cli show {model} {stream}>&-'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert ("classes" in done.stdout) == (stream != 1)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_terminals_that_know_few_letters(encoding):
    done = run("fit", NOTES, "--cv", 2, env=os.environ | {"PYTHONIOENCODING": encoding}, text=False)
    assert done.returncode == 0
    assert b"###" in done.stdout
    assert b"banknotes.csv > Perceptron" in done.stdout


def test_answers_are_utf8_wherever_they_go(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,schön\n2,schön\n-1,häßlich\n-2,häßlich\n", "utf-8")
    model = tmp_path / "m.skops"
    assert run("fit", tmp_path / "t.csv", "-q", "-o", model).returncode == 0
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = run("predict", model, tmp_path / "t.csv", env=env, text=False)
    assert done.returncode == 0
    assert "häßlich" in done.stdout.decode("utf-8")


def test_progress_only_where_somebody_looks(endless):
    done = run("fit", endless, "--max-time", "2s", "--cv", 0)
    assert done.returncode == 0
    assert done.stderr == ""
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


def test_standard_output_on_a_full_disk(model):
    with Path("/dev/full").open("w") as full:
        for arguments in (["predict", model, NOTES], ["fit", NOTES, "--cv", 0], ["show", model]):
            done = run(*arguments, stdout=full, capture_output=False, stderr=subprocess.PIPE)
            assert done.returncode == 2
            assert done.stderr == "rosenblatt: no space left on device\n"
        done = run("--help", stdout=full, capture_output=False, stderr=subprocess.PIPE)
        assert (done.returncode, done.stderr) == (2, "rosenblatt: no space left on device\n")


def small_files_only():
    """What a full disk looks like to a process: writes past the limit fail."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_full_disk_leaves_the_old_answers(model, tmp_path, suffix):
    out = tmp_path / f"out.{suffix}"
    out.write_text("old")
    done = run("predict", model, NOTES, "-o", out, preexec_fn=small_files_only)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert out.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("option", ["-o", "--plot"])
def test_a_full_disk_leaves_the_old_model_and_picture(tmp_path, option):
    out = tmp_path / ("m.skops" if option == "-o" else "p.png")
    out.write_text("old")
    done = run("fit", NOTES, "--cv", 0, option, out, preexec_fn=small_files_only)
    assert done.returncode == 2
    assert f"{out} could not be written: file too large; make room" in done.stderr
    assert done.stderr.count("\n") == 1
    assert out.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == [out.name]


def test_an_unforeseen_error_is_one_line_and_never_exit_code_1(monkeypatch, tmp_path):
    code = (
        "import rosenblatt.cli.fitting as t\n"
        "def broken(*a, **k): raise TypeError('one\\ntwo')\n"
        "t.train = broken\nfrom rosenblatt.cli import main\nimport sys\n"
        f"sys.argv = ['rosenblatt', 'fit', {NOTES!r}]\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("rosenblatt: this should not have happened: TypeError: one two (")
    assert done.stderr.count("\n") == 1
    env = os.environ | {"ROSENBLATT_DEBUG": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env
    )
    assert "Traceback" in done.stderr


def test_completion():
    env = os.environ | {
        "_ROSENBLATT_COMPLETE": "complete_bash", "COMP_WORDS": "rosenblatt ", "COMP_CWORD": "1"
    }  # fmt: skip
    code = "from rosenblatt.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env
    )
    names = ["fit", "predict", "check", "bound", "boolean", "show", "plot", "demo"]
    assert done.stdout.split() == names
