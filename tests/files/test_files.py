"""Writing a file whole or not at all: what is never written over."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from commands import invoke
from rosenblatt.files.whole import check_writable, written_whole

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


def write(path):
    with written_whole(path) as beside:
        beside.write_text("new")


@pytest.fixture
def special(tmp_path, monkeypatch):
    """A pipe, a socket, and links to both, in a folder of their own."""
    monkeypatch.chdir(tmp_path)  # the names of sockets must be short
    os.mkfifo("pipe.json")
    with socket.socket(socket.AF_UNIX) as there:
        there.bind("socket.json")
        for kind in ("pipe", "socket"):
            Path(f"{kind}-link.json").symlink_to(f"{kind}.json")
        yield


@pytest.mark.usefixtures("special")
@pytest.mark.parametrize("kind", ["pipe", "socket"])
@pytest.mark.parametrize("link", ["", "-link"])
@pytest.mark.parametrize("attempt", [check_writable, write])
def test_pipes_and_sockets_are_not_replaced(kind, link, attempt):
    name = f"{kind}{link}.json"
    before = sorted(Path().iterdir())
    says = f"^{name} is a {kind}, not a file: give the name of a file to write$"
    with pytest.raises(OSError, match=says):
        attempt(name)
    assert sorted(Path().iterdir()) == before
    there = {"pipe": stat.S_ISFIFO, "socket": stat.S_ISSOCK}[kind]
    assert there(Path(f"{kind}.json").stat().st_mode)
    assert Path(name).is_symlink() is bool(link)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="this system has no /dev/null")
def test_a_device_is_refused():
    with pytest.raises(OSError, match=r"^/dev/null is a device, not a file: "):
        check_writable("/dev/null")  # only asked: what is written would take its place


@pytest.mark.usefixtures("special")
def test_the_command_refuses_a_pipe_before_it_reads_anything():
    done = invoke("check", "missing.csv", "-q", "-o", "pipe-link.json")
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        "rosenblatt: pipe-link.json is a pipe, not a file: give the name of a file to write"
    ]


def test_a_link_is_judged_by_where_it_leads(tmp_path):
    link, target = tmp_path / "link.txt", tmp_path / "file.txt"
    link.symlink_to("file.txt")
    write(link)  # nothing there yet
    target.write_text("old")
    write(link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    lost = tmp_path / "lost.txt"
    lost.symlink_to("nowhere/file.txt")
    with pytest.raises(FileNotFoundError, match=r"^there is no folder \S+nowhere: make it first"):
        check_writable(lost)


def test_an_error_names_the_file_asked_for(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"out\.json could not be written: no such") as found,
        written_whole(tmp_path / "out.json") as beside,
    ):
        beside.unlink()
    assert beside.name not in str(found.value)


def test_an_error_about_another_file_stays_as_it_is(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="other") as found,
        written_whole(tmp_path / "out.json"),
    ):
        (tmp_path / "other").open()
    assert "out.json" not in str(found.value)
    assert not list(tmp_path.iterdir())


def test_names_as_long_as_names_can_be(tmp_path):
    path = tmp_path / f"{'a' * 250}.json"
    write(path)
    assert path.read_text() == "new"
