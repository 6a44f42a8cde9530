"""Machine code on disk: found again, never stale, never anybody else's, and no reason to fail."""

import importlib
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import pytest

import rosenblatt
from rosenblatt.data import machine_code
from rosenblatt.data.compiling import COMPILING
from rosenblatt.data.machine_code import Folder, sources_of

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled"),
]

CALLEE = """
from rosenblatt.data.compiled import part_of_loops

STEP = 1

@part_of_loops
def more(number):
    return number + STEP
"""
CALLER = """
from rosenblatt.data.compiled import loop
from rosenblatt.some_callee import more

@loop
def one_more(number):
    return more(number)
"""
SCRIPT = """
from rosenblatt.data.compiled import loop
from rosenblatt.data.compiling import COMPILING

@loop
def one_more(number):
    return number + 1

print(one_more(1), COMPILING.loops)
"""
NAMES = ("rosenblatt.some_callee", "rosenblatt.some_loops")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder that machine code is written to."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(machine_code, "PACKAGE", tmp_path / "nowhere")
    return tmp_path / "cache" / "rosenblatt"


@pytest.fixture
def compiled(tmp_path, monkeypatch, cache):
    """``compiled(n)``: what `one_more` makes of n in a new process, and whether it was compiled."""
    (tmp_path / "some_callee.py").write_text(CALLEE)
    (tmp_path / "some_loops.py").write_text(CALLER)
    monkeypatch.setattr(rosenblatt, "__path__", [*rosenblatt.__path__, str(tmp_path)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def forget():
        for name in NAMES:
            sys.modules.pop(name, None)
            vars(rosenblatt).pop(name.removeprefix("rosenblatt."), None)

    def ask(number):
        forget()
        importlib.invalidate_caches()
        one_more = importlib.import_module(NAMES[1]).one_more
        before = COMPILING.loops
        return one_more(number), COMPILING.loops > before

    yield ask
    forget()


def only(folder):
    (file,) = folder.iterdir()
    return file


def test_the_next_process_finds_it(compiled, cache):
    assert compiled(1) == (2, True)
    assert compiled(1) == (2, False)
    assert compiled(0.5) == (1.5, True)  # other types
    assert compiled(0.5) == (1.5, False)
    assert len([*cache.iterdir()]) == 2


def test_in_a_process_of_its_own(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, str(tmp_path / "script.py")]
    for loops in (1, 0):
        told = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        assert (told.stdout.split(), told.stderr) == (["2", str(loops)], "")


def test_an_edited_file_that_a_loop_calls_into(compiled, tmp_path):
    assert compiled(1) == (2, True)
    edited = tmp_path / "some_callee.py"
    edited.write_text(CALLEE.replace("STEP = 1", "STEP = 5"))
    assert compiled(1) == (6, True)
    assert compiled(1) == (6, False)
    edited.write_text(CALLEE)
    os.utime(edited, ns=(0, 0))  # not by its time, but by what it holds
    assert compiled(1) == (2, False)


@pytest.mark.parametrize("library", ["numba", "llvmlite", "numpy"])
def test_another_version_of_what_compiles(library, compiled, monkeypatch):
    assert compiled(1) == (2, True)
    monkeypatch.setattr(sys.modules[library], "__version__", "0.0.1")
    assert compiled(1) == (2, True)


@pytest.mark.parametrize("at", [0, 31, 32, 40, 0.5, -1])
def test_a_flipped_bit(at, compiled, cache):
    assert compiled(1) == (2, True)
    whole = only(cache).read_bytes()
    broken = bytearray(whole)
    broken[int(at * len(whole)) if isinstance(at, float) else at] ^= 16
    only(cache).write_bytes(broken)
    assert compiled(1) == (2, True)
    assert compiled(1) == (2, False)


@pytest.mark.parametrize("left", [0, 10, 32, 1000])
def test_half_a_file(left, compiled, cache):
    assert compiled(1) == (2, True)
    only(cache).write_bytes(only(cache).read_bytes()[:left])
    assert compiled(1) == (2, True)
    assert compiled(1) == (2, False)


def test_a_file_under_the_name_of_another(compiled, cache):
    assert compiled(0.5) == (1.5, True)
    of_floats = only(cache)
    assert compiled(1) == (2, True)
    (of_integers,) = {*cache.iterdir()} - {of_floats}
    of_integers.write_bytes(of_floats.read_bytes())
    assert compiled(1) == (2, True)


def test_two_processes_at_once(compiled, cache):
    """Both have looked before either writes; each finds what it, and what the other, has made."""
    compiled(1)
    loops = importlib.import_module(NAMES[1])
    (of_integers,) = cache.iterdir()
    whole = of_integers.read_bytes()
    of_integers.unlink()
    assert loops.one_more(0.5) == 1.5
    of_integers.write_bytes(whole)
    assert (compiled(1), compiled(0.5)) == ((2, False), (1.5, False))


def test_a_full_disk(compiled, cache, no_room, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with no_room():
        assert compiled(1) == (2, True)
        assert COMPILING.folder is None
        assert compiled(1) == (2, True)
    assert [*cache.iterdir()] == []  # nothing half written
    assert compiled(1) == (2, True)
    assert COMPILING.folder == cache
    assert compiled(1) == (2, False)


def test_the_first_folder_that_can_be_written(compiled, tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.touch()  # no folder can be made in it, not even by an administrator
    (tmp_path / "temporary").mkdir()
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(machine_code, "PACKAGE", package)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(closed))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert (compiled(1), compiled(1)) == ((2, True), (2, False))
    assert COMPILING.folder == package / "__pycache__" / "loops"
    monkeypatch.setattr(machine_code, "PACKAGE", closed)
    assert (compiled(1), compiled(1)) == ((2, True), (2, False))
    if sys.platform == "linux":
        assert COMPILING.folder == tmp_path / "own" / "rosenblatt"
        monkeypatch.setenv("XDG_CACHE_HOME", str(closed))
        assert (compiled(1), compiled(1)) == ((2, True), (2, False))
        assert COMPILING.folder == tmp_path / "temporary" / f"rosenblatt-{os.geteuid()}"
        assert COMPILING.folder.stat().st_mode & 0o777 == 0o700


def test_what_an_administrator_has_compiled_serves_all(compiled, tmp_path, monkeypatch):
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(machine_code, "PACKAGE", package)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert compiled(1) == (2, True)
    monkeypatch.setattr(Folder, "write", lambda *_: False)
    assert compiled(1) == (2, False)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has other permissions")
def test_no_code_from_a_folder_that_others_can_write_to(tmp_path, monkeypatch):
    above = tmp_path / "above"
    above.mkdir()
    folder = Folder(above / "own", private=True)
    assert folder.read("name") is None
    assert folder.write("name", b"code")
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert folder.read("name") == b"code"
    for mode in (0o770, 0o702):
        folder.path.chmod(mode)
        assert folder.read("name") is None
        assert not folder.write("name", b"code")
    folder.path.chmod(0o755)
    assert folder.read("name") == b"code"
    above.chmod(0o777)  # others could put a folder of theirs in its place
    assert folder.read("name") is None
    above.chmod(0o1777)
    assert folder.read("name") == b"code"
    link = Folder(above / "link", private=True)
    link.path.symlink_to(folder.path)
    assert link.read("name") is None
    assert not link.write("name", b"code")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert folder.read("name") is None
    assert not folder.write("name", b"code")


@pytest.mark.parametrize("own", ["~/.cache", "", "here"])
def test_where_nobody_knows_a_home(own, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(machine_code, "_AppDirs", lambda *_, **__: Home(own))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folders = [folder.path for folder in machine_code.folders()]
    assert [folder for folder in folders if not folder.is_absolute()] == []
    assert folders[-1].parent == tmp_path


class Home:
    def __init__(self, folder):
        self.user_cache_dir = folder


def test_old_files_go_and_no_others(tmp_path):
    for name in ("old.nbc", "old.nbc.0123", "new.nbc", "notes.txt"):
        (tmp_path / name).touch()
    for name in ("old.nbc", "old.nbc.0123", "notes.txt"):
        os.utime(tmp_path / name, (0, 0))
    assert Folder(tmp_path, private=False).write("one.nbc", b"code")
    assert {path.name for path in tmp_path.iterdir()} == {"new.nbc", "notes.txt", "one.nbc"}


def test_without_sources_nothing_is_kept(cache):
    space = {"__name__": "nowhere"}
    exec(CALLER.replace("from rosenblatt.some_callee import more", "more = abs"), space)
    assert space["one_more"](-1) == 1
    assert not cache.exists()


def test_all_that_a_loop_is_made_of_counts():
    package, seen = Path(rosenblatt.__file__).parent, 0
    for path in package.rglob("*.py"):
        if "data.compiled import" in path.read_text(encoding="utf-8"):
            name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
            module, known = importlib.import_module(name), {*sources_of(name)}
            assert {name, "rosenblatt.data.compiled"} <= known
            used = {getattr(value, "__module__", None) for value in vars(module).values()}
            assert {str(other) for other in used if str(other).startswith("rosenblatt.")} <= known
            seen += 1
    assert seen >= 10


def test_told_to_those_who_watch_and_to_the_log(compiled, caplog):
    told = []
    with caplog.at_level(logging.INFO, "rosenblatt"), COMPILING.watched(told.append):
        before = COMPILING.loops, COMPILING.seconds
        compiled(1)
        compiled(1)
    assert told == [True, False]
    assert (COMPILING.loops, COMPILING.seconds) > before
    assert COMPILING.loops == before[0] + 1
    assert [record.getMessage().split(" in ")[0] for record in caplog.records] == [
        "compiling the loop some_loops.one_more",
        "compiled the loop some_loops.one_more",
    ]
    compiled(0.5)
    assert told == [True, False]


def test_what_cannot_be_compiled_ends_the_wait(compiled):
    told = []
    compiled(1)
    loops = importlib.import_module(NAMES[1])
    with COMPILING.watched(told.append), pytest.raises(numba.TypingError):
        loops.one_more("text")
    assert told == [True, False]
