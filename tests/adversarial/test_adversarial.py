"""The suite in half a minute: a case of every family, and those that once went wrong.

For as long as one likes it runs as a command: see the README beside this file.
"""

import functools

import numpy as np
import pytest

from .examples import EXAMPLES, example
from .families import LONG, SMALL
from .learning import LEARNING
from .questions import QUESTIONS
from .run import one
from .tampering import TAMPERING

pytestmark = pytest.mark.adversarial

ALL = {**QUESTIONS, **LEARNING, **TAMPERING}


# What is exactly true of a case is found out once, for all questions about it.


@functools.cache
def small(part):
    return [family(np.random.default_rng([part, 0])) for family in SMALL[part::2]]


@functools.cache
def once():
    return [example(name) for name in EXAMPLES]


def failures(question, cases):
    """What is wrong with the answers to a question, each with what repeats it."""
    found = []
    for k, case in enumerate(cases):
        result = one(case, 0, k, question, ALL[question])
        for kind, detail in result.faults:
            found.append(f"{case.name}: {kind}: {detail}\n{result.snippet}"[:1500])
    return found


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("question", ALL)
def test_small(question, part):
    wrong = failures(question, small(part))
    assert not wrong, "\n\n".join(wrong[:5])


@pytest.mark.parametrize("question", ALL)
def test_what_once_went_wrong(question):
    wrong = failures(question, once())
    assert not wrong, "\n\n".join(wrong[:5])


@pytest.mark.parametrize("family", LONG, ids=lambda family: family.__name__)
def test_larger(family):
    case = family(np.random.default_rng([0, 0]))
    for question in ALL:
        wrong = failures(question, [case])
        assert not wrong, "\n\n".join(wrong)
