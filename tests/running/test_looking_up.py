"""Work that takes long in one piece, while Ctrl-C and the clock are heeded."""

import threading
import warnings

import numpy as np
import pytest

from rosenblatt.results import StopReason
from rosenblatt.running.clock import LONG, Cancel, Clock, Halt


def test_answers_and_errors_come_back():
    here = threading.get_ident()
    assert Clock().waiting_for(threading.get_ident, 0.0) == here
    assert Clock().waiting_for(threading.get_ident, LONG) != here
    with pytest.raises(ZeroDivisionError):
        Clock().waiting_for(lambda: 1 / 0, LONG)
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Clock().waiting_for(lambda: np.ones(1) / 0, LONG) == np.inf


@pytest.mark.parametrize("asked", [True, False])
def test_what_takes_too_long_is_left_alone(asked):
    begun, go_on, ended = (threading.Event() for _ in range(3))
    cancel = Cancel()
    clock = Clock(None if asked else 0.01, cancel)

    def task():
        begun.set()
        go_on.wait(60)
        with pytest.raises(Halt, match="INTERRUPTED"):
            Clock().look_up()  # any clock: it is the task that is not waited for
        ended.set()

    if asked:
        threading.Thread(target=lambda: begun.wait(60) and cancel.ask()).start()
    with pytest.raises(Halt) as caught:
        clock.waiting_for(task, LONG)
    assert caught.value.reason is (StopReason.INTERRUPTED if asked else StopReason.TIME_LIMIT)
    go_on.set()
    assert ended.wait(60)
