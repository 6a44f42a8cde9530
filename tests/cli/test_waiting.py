"""What the command says while one waits for its loops to be compiled, and afterwards."""

import sys
from pathlib import Path

import pytest
from rich.progress import Progress

from rosenblatt.cli.waiting import ProgressLine
from rosenblatt.contract.epochs import _progress_bar
from rosenblatt.data import compiling
from rosenblatt.data.compiling import COMPILING, ONCE


@pytest.fixture
def clock(monkeypatch):
    """Seconds on the clock, in a list, by which loops are compiled."""
    now = [0.0]
    monkeypatch.setattr(compiling.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(COMPILING, "folder", Path("/kept"))
    return now


@pytest.fixture
def described(monkeypatch):
    """What bars are described with, one after the other."""
    told, update = [], Progress.update

    def note(self, task, **fields):
        if "description" in fields:
            told.append(fields["description"])
        update(self, task, **fields)

    monkeypatch.setattr(Progress, "update", note)
    return told


def compile_two(clock, seconds):
    """Two loops, of which the second has a part that is compiled with it."""
    COMPILING.begins("one")
    clock[0] += seconds
    COMPILING.ends("one")
    COMPILING.begins("two")
    COMPILING.begins("part of two")
    clock[0] += seconds
    COMPILING.ends("part of two")
    COMPILING.ends("two")


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("wanted", [False, True])
def test_told_once_on_a_terminal(wanted, terminal, clock, described, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    compile_two(clock, 7.0)  # before, and so not told
    with ProgressLine(wanted) as line:
        line.say("training")
        compile_two(clock, 1.25)
    shown = capsys.readouterr()
    assert shown.out == ""
    if wanted and terminal:
        assert described == [ONCE, "training"] * 2
        told = (
            "rosenblatt: 2 loops compiled in 2.5 s, once after installing: they are kept in /kept"
        )
        assert shown.err.splitlines()[-1] == told
    else:
        assert (described, shown.err) == ([], "")


def test_nothing_is_said_of_less_than_a_second(clock, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with ProgressLine():
        compile_two(clock, 0.4)
    assert "compiled" not in capsys.readouterr().err


def test_what_to_do_where_no_folder_can_be_written(clock, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(COMPILING, "folder", None)
    with ProgressLine():
        COMPILING.begins("one")
        clock[0] += 3.0
        COMPILING.ends("one")
    assert capsys.readouterr().err.splitlines()[-1] == (
        "rosenblatt: 1 loop compiled in 3.0 s, as in every run: no folder could be written to "
        "keep them; set NUMBA_CACHE_DIR to one that can"
    )


def test_the_bar_of_an_estimator_tells_it_too(clock, described):
    with _progress_bar("a model", 10):
        compile_two(clock, 1.0)
    assert described == [ONCE, "str"] * 2
