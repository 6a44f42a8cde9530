"""Standard input, pipes, interruption, and that nothing is left behind."""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import duckdb
import pytest

from rosenblatt.tables import input_files, rows_on_disk
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
    with pytest.raises(OSError, match=r"no space left on the disk for .*TMPDIR"):
        read_table(path)


@pytest.fixture
def small_disk(tmp_path):
    """A folder with room for a megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mounting, capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by the administrator only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("line", ["{}.5,{}\n", '{}.5,"{}\n"\n'], ids=["columns", "database"])
def test_a_full_disk_while_a_table_is_written_to_it(file, small_disk, monkeypatch, line):
    monkeypatch.setattr(storage_module, "IN_MEMORY_BYTES", 0)
    path = file("a,b\n" + "".join(line.format(k * k, k**3) for k in range(200_000)))
    with pytest.raises(OSError, match=r"no space left on the disk for .*TMPDIR") as caught:
        read_table(path, folder=small_disk)
    assert caught.value.errno == errno.ENOSPC
    assert list(small_disk.iterdir()) == []


def test_a_full_disk_while_columns_are_made(file, small_disk, monkeypatch):
    monkeypatch.setattr(storage_module, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(rows_on_disk, "PIECE", 1000)
    path = file("a,b\n" + "".join(f"{1 + k % 9},2024-01-0{1 + k % 9}\n" for k in range(80_000)))
    with read_table(path, folder=small_disk) as table:
        assert table.columns(["a"])["a"].sum() == sum(1 + k % 9 for k in range(80_000))
        with pytest.raises(OSError, match=r"no space left on the disk for .*TMPDIR"):
            table.columns()
        assert len(table.chunk(0, 500)["b"]) == 500
    assert list(small_disk.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_a_limit_on_the_size_of_files(file):
    code = """
        import resource, sys
        from rosenblatt.tables import storage
        from rosenblatt.tables.table import read_table
        storage.IN_MEMORY_BYTES = 0
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            read_table(sys.argv[1])
        except OSError as error:
            print(error.strerror)
    """
    path = file("a,b\n" + "0.5,1\n" * 50_000)
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{storage_module.TOO_LARGE}\n", "")


def test_a_folder_for_temporary_files(file, tmp_path, monkeypatch):
    monkeypatch.setattr(storage_module, "IN_MEMORY_BYTES", 0)
    folder = tmp_path / "cache"
    folder.mkdir()
    path = file("a,b\n1,x\n2,y\n")
    with read_table(path, folder=folder) as table:
        assert table._rows.storage.folder.parent == folder
        assert len(list(folder.iterdir())) == 1
    assert list(folder.iterdir()) == []


def test_what_a_killed_process_left_in_a_folder_is_removed(file, tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    code = """
        import os, signal, sys
        from rosenblatt.tables.table import read_table
        table = read_table(sys.argv[1], folder=sys.argv[2])
        print(*os.listdir(sys.argv[2]))
        os.kill(os.getpid(), signal.SIGKILL)
    """
    path = file("a,b\n1,x\n")
    command = [sys.executable, "-c", textwrap.dedent(code), str(path), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert [left.name for left in folder.iterdir()] == done.stdout.split()
    with read_table(path, folder=folder) as table:
        assert list(folder.iterdir()) == [table._rows.storage.folder]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_a_folder_that_cannot_be_used(file, tmp_path, name):
    path = file("a,b\n1,x\n")
    (tmp_path / "file").touch()
    says = rf"no temporary files can be made in the folder .*{name} \(.*\): name another in TMPDIR$"
    with pytest.raises(OSError, match=says):
        read_table(path, folder=tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write anywhere")
def test_a_folder_that_may_not_be_written_to(file, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(OSError, match=r"locked \(permission denied\): name another in TMPDIR$"):
        read_table(file("a,b\n1,x\n"), folder=folder)
