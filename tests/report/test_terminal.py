"""Lines of a report where there are very many classes."""

import numpy as np
from rich.console import Console

from rosenblatt.report.terminal import NamedWeights, weights_table


def printed(n_classes, top):
    names = [f"k{k}" for k in range(n_classes)]
    weights = NamedWeights(["a", "b"], np.ones((n_classes, 2)), np.zeros(n_classes), names)
    console = Console(width=80)
    with console.capture() as held:
        console.print(weights_table(weights, top, 80))
    return held.get().splitlines()


def test_letters_have_a_line_each_if_so_many_are_asked_for():
    lines = printed(26, 26)
    assert len(lines) == 26
    assert lines[-1].startswith("k25: a +1, b +1")
    assert len(printed(12, 8)) == 12
    assert printed(26, 8)[-1].strip() == "and 18 more classes (--top, --json)"


def test_of_very_many_classes_the_first_are_shown():
    lines = printed(300, 8)
    assert len(lines) == 9
    assert lines[-1].strip() == "and 292 more classes (--top, --json)"
    assert len(printed(300, 300)) == 300
