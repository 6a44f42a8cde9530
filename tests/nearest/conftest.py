"""Threads for the solvers of margins."""

import pytest

from rosenblatt.running.threads import Team


@pytest.fixture
def team():
    with Team(2) as team:
        yield team
