"""Limits of BLAS hold whoever asks for them."""

import threading

import numpy as np
import pytest

from rosenblatt.running.threads import _find_blas, one_blas_thread


def limits():
    libraries = [c for c in _find_blas().lib_controllers if c.user_api == "blas"]
    return [library.get_num_threads() for library in libraries]


def test_any_thread_can_limit_blas_and_any_lift_it():
    np.ones((2, 2)) @ np.ones((2, 2))
    before = limits()
    if not before or max(before) == 1:
        pytest.skip("BLAS has one thread here")
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
    assert [set(found) for found in seen] == [{1}, {1}]
    assert limits() == before
    with one_blas_thread():
        assert set(limits()) == {1}
