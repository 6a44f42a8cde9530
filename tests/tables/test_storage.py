"""Standard input, pipes, interruption, and that nothing is left behind."""

from __future__ import annotations

import errno
import gzip
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import duckdb
import pytest

from rosenblatt.tables import input_files
from rosenblatt.tables import storage as storage_module
from rosenblatt.tables.table import read_table
from table_contents import contents, refusal

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


def run_python(code, **options):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


def test_standard_input(file, monkeypatch):
    for name in ("-", "/dev/stdin"):
        with file("a,b\n1,x\n").open() as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            assert contents(name) == {"a": [1], "b": ["x"]}
    with file("", "empty").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert refusal("-").startswith("standard input is empty")
    monkeypatch.setattr(sys, "stdin", None)
    assert "there is no standard input" in refusal("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("a,b\n1,x\n",))
    writer.start()
    assert contents(pipe) == {"a": [1], "b": ["x"]}
    writer.join()


def test_only_numpy_and_duckdb_are_needed(file, tmp_path):
    code = """
        import sys
        for name in ("pandas", "polars", "pyarrow"):
            sys.modules[name] = None
        import numpy as np
        from rosenblatt.tables.output import TableWriter
        from rosenblatt.tables.table import read_table
        with read_table(sys.argv[1]) as table:
            print({name: table[name].tolist() for name in table})
            for name in ("o.csv", "o.parquet"):
                with TableWriter(f"{sys.argv[2]}/{name}", {"t": "text", "x": "number"}) as out:
                    out.write({"t": table["t"], "x": table["x"]})
                print(dict(read_table(f"{sys.argv[2]}/{name}"))["x"].tolist())
    """
    path = file("x,d,t\n1,2024-03-01,a\n2,NA,NA\n")
    arguments = ["-W", "error", "-c", textwrap.dedent(code), str(path), str(tmp_path)]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.count("[1.0, 2.0]") == 3


def test_nothing_is_left_behind_when_python_ends_without_closing(file, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    path = file("a,b\n1,x\n")
    code = f"""
        from rosenblatt.tables.table import read_table
        table = read_table({str(path)!r})
        import os
        assert os.listdir({str(folder)!r})
        raise SystemExit(3)
    """
    done = run_python(code, env={**os.environ, "TMPDIR": str(folder)})
    assert (done.returncode, done.stderr) == (3, "")
    assert list(folder.iterdir()) == []


def test_a_forked_child_does_not_remove_the_parents_files(file):
    with read_table(file("a\n1\n")) as table:
        storage = table._rows.storage
        folder = storage.folder
        storage_module._remove(os.getpid() + 1, folder, storage._connections, None)
        assert folder.exists()
        assert table["a"].tolist() == [1]


FOREVER = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"


@pytest.mark.parametrize("other", [None, "polars"])
def test_ctrl_c_during_a_query_is_a_keyboard_interrupt(other):
    """Also where Polars, once used, handles the signal first."""
    if other:
        pytest.importorskip(other).DataFrame({"a": [1]}).lazy().collect()
    storage = storage_module.Storage()
    storage.open(0)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            storage.rows(FOREVER)
    finally:
        timer.join()
        storage.close()


@pytest.mark.parametrize("begun", [True, False])
def test_ctrl_c_while_the_thread_of_a_query_starts(monkeypatch, begun):
    class Starting(threading.Thread):
        def start(self):
            if begun:
                super().start()
            raise KeyboardInterrupt

    monkeypatch.setattr(storage_module, "Thread", Starting)
    with duckdb.connect() as connection, pytest.raises(KeyboardInterrupt):
        storage_module.interruptible(connection, lambda: connection.execute(FOREVER))


def test_signals_during_a_query_end_the_process_and_leave_nothing_behind(tmp_path):
    """SIGTERM becomes SystemExit, as in the command; a second one must not make it wait."""
    code = f"""
        import os, signal, sys, threading
        from rosenblatt.tables import storage as module

        def leave(number, frame):
            raise SystemExit(143)

        def kill_twice():
            os.kill(os.getpid(), signal.SIGTERM)
            interrupted.wait()
            os.kill(os.getpid(), signal.SIGTERM)

        class Slow:
            # A query that needs many interrupts to end.
            def interrupt(self):
                interrupted.set()
                if len(calls) > 5:
                    connection.interrupt()
                calls.append(1)

        signal.signal(signal.SIGTERM, leave)
        interrupted, calls = threading.Event(), []
        storage = module.Storage()
        storage.open(0)
        connection = storage._cursor()
        threading.Timer(0.3, kill_twice).start()
        module.interruptible(Slow(), lambda: connection.execute({FOREVER!r}).fetchall())
    """
    done = run_python(code, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert (done.returncode, done.stderr) == (143, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks")
def test_what_a_killed_process_left_behind_is_removed_by_the_next(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = {**os.environ, "TMPDIR": str(folder)}
    code = f"""
        import os, sys
        from rosenblatt.tables.storage import Storage
        storage = Storage()
        storage.open(0)
        print(os.listdir({str(folder)!r}), flush=True)
        sys.stdin.read()
        os.kill(os.getpid(), 9)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    (folder / "rosenblatt-notes").mkdir()  # not ours, whatever its name
    with subprocess.Popen(command, env=environment, **pipes) as alive:
        alive.stdout.readline()
        look = "from rosenblatt.tables.storage import Storage; s = Storage(); s.open(0); s.close()"
        assert run_python(look, env=environment).returncode == 0
        assert len(list(folder.iterdir())) == 2
        alive.communicate()
    assert len(list(folder.iterdir())) == 2
    assert run_python(look, env=environment).returncode == 0
    assert [left.name for left in folder.iterdir()] == ["rosenblatt-notes"]


@pytest.mark.parametrize("impatience", [KeyboardInterrupt, SystemExit])
def test_ctrl_c_again_while_cleaning_up_leaves_nothing_behind(file, monkeypatch, impatience):
    table = read_table(file("a\n1\n"))
    remove, calls = storage_module.shutil.rmtree, []

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 1:
            raise impatience
        remove(*arguments, **options)

    monkeypatch.setattr(storage_module.shutil, "rmtree", interrupted)
    with pytest.raises(impatience):
        table.close()
    assert not table._rows.storage.folder.exists()


def test_a_full_disk_while_reading_is_an_os_error():
    def full():
        msg = "IO Error: Could not write file: No space left on device\nmore"
        raise duckdb.IOException(msg)

    with pytest.raises(OSError, match="no space left on the disk") as caught:
        storage_module.interruptible(duckdb.connect(), full)
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_while_unpacking_names_the_folder_of_temporary_files(file, monkeypatch):
    path = file(gzip.compress(b"a,b\n1,2\n"))
    monkeypatch.setattr(input_files, "_written", lambda _: open("/dev/full", "wb"))  # noqa: PTH123, SIM115
    with pytest.raises(OSError, match=r"no space left on the disk .*TMPDIR"):
        read_table(path)
