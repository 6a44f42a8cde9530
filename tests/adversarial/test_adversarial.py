"""The suite in a minute: a few cases of every family, and those that once went wrong.

For as long as one likes it runs as a command: see the README beside this file.
"""

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
SEEDS = 2


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
    cases = [
        family(np.random.default_rng([part, seed])) for seed in range(SEEDS) for family in SMALL
    ]
    wrong = failures(question, cases[part::2])
    assert not wrong, "\n\n".join(wrong[:5])


@pytest.mark.parametrize("question", ALL)
def test_what_once_went_wrong(question):
    wrong = failures(question, [example(name) for name in EXAMPLES])
    assert not wrong, "\n\n".join(wrong[:5])


@pytest.mark.parametrize("family", LONG, ids=lambda family: family.__name__)
def test_larger(family):
    for question in ALL:
        wrong = failures(question, [family(np.random.default_rng([0, 0]))])
        assert not wrong, "\n\n".join(wrong)
