"""What the C library is told while a worker's task is at work, and when none is any longer."""

import threading

import pytest

from rosenblatt.cluster import freed_memory
from rosenblatt.cluster.freed_memory import KEPT, LARGE, MAPPED, TRIM, USUAL, kept_while_at_work


@pytest.fixture
def told(monkeypatch):
    """What it is told, in order, by tasks that are begun after this."""
    said = []

    class Library:
        def mallopt(self, *setting):
            said.append(setting)

        def malloc_trim(self, pad):
            said.append(("trim", pad))

    freed_memory._library.cache_clear()
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda name: Library())
    yield said
    freed_memory._library.cache_clear()


def test_nothing_is_changed_where_nobody_has_set_anything(told, monkeypatch):
    for value in (None, "", "soon"):
        freed_memory._library.cache_clear()
        if value is None:
            monkeypatch.delenv(freed_memory.SETTING, raising=False)
        else:
            monkeypatch.setenv(freed_memory.SETTING, value)
        with kept_while_at_work():
            pass
    assert told == []


def test_what_is_freed_is_kept_while_any_task_is_at_work(told, monkeypatch):
    monkeypatch.setenv(freed_memory.SETTING, "65536")
    begun, go_on = threading.Event(), threading.Event()

    @kept_while_at_work()
    def task():
        begun.set()
        assert go_on.wait(30)
        msg = "a task that fails"
        raise ValueError(msg)

    def tried():
        with pytest.raises(ValueError, match="fails"):
            task()

    thread = threading.Thread(target=tried)
    thread.start()
    assert begun.wait(30)
    kept = [(TRIM, KEPT), (MAPPED, LARGE)]
    assert told == kept
    with kept_while_at_work():
        pass
    assert told == kept  # the other one is still at it
    go_on.set()
    thread.join()
    assert told == [*kept, (TRIM, 65536), (MAPPED, USUAL), ("trim", 0)]


def test_a_library_that_knows_none_of_this_is_left_alone(monkeypatch):
    monkeypatch.setenv(freed_memory.SETTING, "65536")
    freed_memory._library.cache_clear()
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda name: object())
    with kept_while_at_work():
        assert freed_memory._library() is None
    freed_memory._library.cache_clear()
