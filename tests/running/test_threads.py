"""Threads that stay: every task is done once, no team has more threads than it was given."""

import os
import subprocess
import sys
import threading
import time

import pytest

from rosenblatt.running.threads import Team


@pytest.mark.parametrize("size", [1, 2, 5])
def test_every_task_is_done_once_in_its_place(size):
    with Team(size) as team:
        for n in (0, 1, 2, 50):
            assert team.each(lambda k: 3 * k, range(n)) == [3 * k for k in range(n)]
            assert team.shared(lambda k: 3 * k, range(n)) == [3 * k for k in range(n)]


def test_no_team_has_more_threads_at_work_than_it_was_given():
    now, most, lock = [0], [0], threading.Lock()

    def task(_):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.002)
        with lock:
            now[0] -= 1

    with Team(3) as team:
        for k in range(40):
            team.start(lambda k=k: task(k))
        team.each(task, range(40))
    assert now == [0]
    assert most == [3]


def test_what_was_started_is_done_when_the_team_is_left():
    done = []
    with Team(2) as team:
        for k in range(200):
            team.start(lambda k=k: done.append(k))
    assert sorted(done) == list(range(200))


def test_a_task_of_a_team_does_its_own_tasks_alone():
    """So that tasks that wait for tasks cannot all end up waiting."""
    with Team(2) as outer, Team(2) as inner:

        def task(k):
            return inner.each(lambda j: (k, j, threading.get_ident()), range(4))

        for k, found in enumerate(outer.each(task, range(8))):
            assert [(i, j) for i, j, _ in found] == [(k, j) for j in range(4)]
            assert len({thread for *_, thread in found}) == 1


def test_many_short_calls_from_many_threads():
    """None is forgotten where a thread is about to leave as a task comes in."""
    errors = []

    def call():
        try:
            with Team(2) as team:
                for _ in range(300):
                    assert team.each(lambda k: k, range(3)) == [0, 1, 2]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert not errors


def test_helpers_end_with_what_they_help(monkeypatch):
    monkeypatch.setattr("rosenblatt.running.threads.cores", lambda: 4)
    ended, over = [], threading.Event()

    def help_out():
        over.wait(60)
        ended.append(1)

    with Team(4) as team:
        with team.helped_by(help_out):
            time.sleep(0.02)
            over.set()
        assert len(ended) <= 3


@pytest.mark.parametrize(("cores", "most"), [(1, 0), (2, 1), (8, 4)])
def test_helpers_are_no_more_than_there_are_cores(monkeypatch, cores, most):
    monkeypatch.setattr("rosenblatt.running.threads.cores", lambda: cores)
    helping, over = threading.Semaphore(0), threading.Event()

    def help_out():
        helping.release()
        over.wait(60)

    with Team(5) as team, team.helped_by(help_out):
        came = [helping.acquire(timeout=60) for _ in range(most)]
        time.sleep(0.02)  # for another one to come, if there is
        one_more = helping.acquire(blocking=False)
        over.set()
    assert all(came)
    assert not one_more


LIMITED = """
import threading
import numpy as np
from rosenblatt.running.threads import _find_blas, one_blas_thread

def limits():
    libraries = [c for c in _find_blas().lib_controllers if c.user_api == "blas"]
    return [library.get_num_threads() for library in libraries]

np.ones((2, 2)) @ np.ones((2, 2))
before = limits()
assert before and min(before) > 1, before
with one_blas_thread():
    assert set(limits()) == {1}
assert limits() == before
first, second, seen = threading.Event(), threading.Event(), []

def short():
    with one_blas_thread():
        seen.append(limits())
        first.set()
        second.wait(60)

def long():
    first.wait(60)
    with one_blas_thread():
        second.set()
        other.join()
        seen.append(limits())

other, last = threading.Thread(target=short), threading.Thread(target=long)
other.start()
last.start()
last.join()
assert [set(found) for found in seen] == [{1}, {1}], seen
assert limits() == before
with one_blas_thread():
    assert set(limits()) == {1}
"""


def test_any_thread_can_limit_blas_and_any_lift_it():
    """Tried in a process of its own: the tests have one thread for BLAS anyway."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    command = [sys.executable, "-c", LIMITED]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
