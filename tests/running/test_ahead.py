"""Work done ahead, in a thread of its own."""

import itertools
import threading

import pytest

from rosenblatt.running.ahead import ahead


def test_items_come_in_order_and_are_made_elsewhere():
    makers = set()

    def items():
        for k in range(50):
            makers.add(threading.current_thread())
            yield k

    assert list(ahead(k * k for k in ahead(items()))) == [k * k for k in range(50)]
    assert threading.main_thread() not in makers
    assert not any(thread.is_alive() for thread in makers)


def test_errors_come_in_their_place():
    def items():
        yield 1
        msg = "the disk"
        raise OSError(msg)

    found = ahead(k for k in ahead(items()))
    assert next(found) == 1
    with pytest.raises(OSError, match="the disk"):
        next(found)


def test_it_ends_with_whoever_wanted_the_items():
    before = threading.active_count()
    found = ahead(ahead(itertools.count()))
    assert [next(found), next(found)] == [0, 1]
    found.close()
    assert threading.active_count() == before
