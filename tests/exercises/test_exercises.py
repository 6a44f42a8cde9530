"""Exercises: any right answer is accepted, a wrong one told why, nonsense refused in a line."""

import math
import re
from dataclasses import FrozenInstanceError
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.exercises.judging import DATA, JUDGES
from rosenblatt.exercises.source import LEVELS, pages
from rosenblatt.exercises.textbook import signed_samples, train

EXERCISES = [exercise for page in pages() for exercise in page.exercises]
NUMBERS = range(1, len(EXERCISES) + 1)

# Another right answer than the one that is shown with the exercise.
RIGHT = {
    1: np.array([2, 2]),
    2: ((0, 0, 3), [(0, 1, -1), (-4, 1, 1)]),
    3: ((-0.6, -0.8), 5),
    4: ([2, 1], 0.5),
    5: ((2**-0.5, 2**-0.5), 1, 100),
    6: {"1001", "0110"},
    7: ((2, 2, 2, -9), 3.5),
    8: {
        2: None,
        3: ([[1, 1], [3, 3], [2, 2]], [-1, -1, 1]),
        4: ([[0, 0], [9, 0], [0, 9], [1, 1]], [1, 1, 1, -1]),
    },
    9: {2: [[5, 5], [5, 6]], 3: [[0, 0], [9, 1], [1, 7]], 4: None},
    10: (Fraction(1, 2), Fraction(1, 2), Fraction(1, 3), Fraction(2, 3)),
    11: ([[0, 0], [1, 1], [2, 2], [0, 5]], [1, -1, 1, 1]),
    12: np.int64(42),
    14: Fraction(1, 2),
    15: [1.0, 10.0],
    16: (1, -1, -1, 1),
    17: ((0, 0), (1, 0)),
    18: ([[1, 1], [-50, 9]], [1, -1], (1, 1), (1, -1)),
    19: ((-5, 3), 1),
    22: ((2,), (3,), -1),
    21: (2, (0, 0, 0), (1, 2, 3), -1),
    23: [(-0.5, -1), (-0.25, -0.5)],
    24: ([[-1, 0], [1, 0], [2, 0], [100, 0]], [-1, 1, 1, 1]),
    26: [1, -1, -1],
    27: [5, 2, 2, 0],
    28: ((-30, -30, 0), 1, 7),
    29: ((0.3, 0.3), 0),
    30: (1, 2, 4, 0, 3),
    31: ([[0.01], [-0.01]], [-1, 1]),
    32: ([[20], [19], [18]], [1, -1, -1]),
    33: (5 * np.eye(4), [1, -1, 1, -1], [2, -2, 2, -2]),
    34: ([[-3], [-2], [0]], [-1, 1, -1]),
    35: ([[7, 5], [3, 4], [7, 6], [5, 2]], [-1, -1, 1, 1]),
    36: ((2, 3), -6),
    37: ((Fraction(3, 5), Fraction(4, 5)), -1),
    39: (((1, -1), 1), ((-1, 1), 1), ((1, 1), 1)),
    40: (((-1, -1), -1), ((3, 3), -1)),
    41: (0.5, 1000),
    43: ([[1, 0], [0, 1], [9, 9]], [1, 1, -1]),
}
"""Functions are left out: a second one would only be written otherwise."""

TURNED = np.kron(np.eye(2), [[0.6, 0.8], [-0.8, 0.6]])

# An answer that is nearly right, and what is said about it.
WRONG = [
    (1, (4, 4), "is not on the line: there x1 + x2 − 4 is 4"),
    (1, (4, 0), "another of its points is nearer"),
    (2, ((6, 0, 0), [(2, -1, 0), (-4, 2, 0)]), "span a line, not a plane"),
    (2, ((6, 0, 0), [(2, -1, 0), (0, 1, 1)]), "leaves H: w·v is 4"),
    (3, ((3, 4), 25), "is not on the line: w·x + b is 50"),
    (3, ((4, -3), 0), "is |b|/‖w‖ = 0 away"),
    (4, None, "some line has"),
    (4, ((1, -1), 0), "(1, 1) is on the hyperplane"),
    (5, ((3, 4), 1, 5), "has the length 5, not 1"),
    (5, ((0.6, 0.8), 2, 5), "is 1.6 for (−4, 1), below gamma = 2"),
    (5, ((0.6, 0.8), 1, 4), "above R = 4"),
    (5, ((0.6, 0.8), 1, -5), "above R = −5"),
    (6, ["0110"], "1 more cannot"),
    (6, ["0110", "0111"], "it fires where x1 + x2 >= 1"),
    (7, ((1, 1, 1, -1), 2), "for x = (1, 1, 1, 1) it fires but should not"),
    (8, {2: None, 3: None, 4: None}, "three points that no line separates"),
    (8, {2: ([[0, 0], [1, 0]], [1, -1]), 3: None, 4: None}, "separates these points"),
    (8, {2: ([[0, 0], [0, 0]], [1, -1]), 3: None, 4: None}, "twice"),
    (9, {2: None, 3: None, 4: None}, "some two points"),
    (9, {2: np.eye(2), 3: [[0, 0], [1, 1], [2, 2]], 4: None}, "the labels (−1, 1, −1)"),
    (
        9,
        {2: np.eye(2), 3: [[0, 0], [1, 0], [0, 1]], 4: [[0, 0], [9, 0], [0, 9], [1, 1]]},
        "under 4",
    ),
    (10, (0.5, 0.5, 0.5, 0.5), "not the same"),
    (10, (1, 1, 0.5, 0.5), "class +1 add up to 2"),
    (10, (2, -1, 0.5, 0.5), "not negative"),
    (11, ([[0, 0], [1, 0]], [1, -1]), "are separable"),
    (11, ([[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]), "are inseparable"),
    (11, ([[0, 0], [0, 0], [1, 1]], [1, -1, 1]), "both labels"),
    (12, 21, "a share 1 of all labelings of 21 points"),
    (12, 41.5, "whole number"),
    (13, lambda X: [1, 1, -1, -1], "a line can do that"),
    (13, lambda X: [1, 1, 1, 1], "it gives all the label +1"),
    (14, 2, "= 4, not 1"),
    (15, (10, 10), "share of mistakes is 0.125"),
    (15, (1, 1), "perceptron's loss is 1 "),
    (16, (1, 1, 1, 1), "t = +1 and x = −2, with w = +3: w·x is −6, so the output is −1"),
    (16, (1, 0, 1, 1), "neither +1"),
    (17, ((3, 1), (1, 0)), "stays 0, and its slope is 0"),
    (17, ((2, -1), (2, -1)), "on both sides"),
    (18, ([[1, 1], [-1, 1]], [1, -1], (1, 0), (0, 1)), "the smaller one is good's"),
    (18, ([[1, 1], [-1, -9]], [1, -1], (1, 0), (0, 2)), "makes no mistake either"),
    (18, ([[1, -1], [-1, -9]], [1, -1], (1, 0), (0, 2)), "would not be fair"),
    (19, ((-3, 3), 1), "good's is less"),
    (19, ((3, 3), 1), "good's is less"),
    (20, lambda w, X, y: -(y @ X), "over all samples"),
    (20, lambda w, X, y: (y * (X @ w < 0) * 1.0) @ X, "J changes by something else"),
    (20, lambda w, X, y: y[y * (X @ w) < 0] @ X[y * (X @ w) < 0], "with its sign turned"),
    (20, lambda w, X: w, "raised TypeError"),
    (21, (1, (1, -1), (1, 1), -1), "t − o is 2y"),
    (21, (2, (1, -1), (1, 1), 1), "the same but for the factor"),
    (22, ((1, 0), (5, 0), 1), "the sample is right"),
    (22, ((1, 0), (-5, 0), 1), "does cost something"),
    (23, [(0, 0), (0, 0)], "the same"),
    (23, [(0, 0), (-2, -4)], "at (1, −3) the loss is 5, below 10"),
    (23, [(0, 0), (1, 2)], "at (3, 1) the loss is 0, below 5"),
    (23, [(0, 0), (2, -1)], "is no subgradient"),
    (24, ([[-1], [1]], [-1, 1]), "least squares separates them too"),
    (24, ([[-1], [0], [1]], [-1, 1, -1]), "fails on them as well"),
    (25, lambda w, X, y, size: w, "with size=1"),
    (26, (2, 0, 0), "(1, 1) is on the wrong side"),
    (26, (2, -2, -2), "the run ends elsewhere"),
    (27, (5, 2, 1, 0), "sample 3 is a mistake more often than 1"),
    (28, ((0, 0, 0), 1, 2), "only scales"),
    (28, ((1, 1, 0), 1, 2), "separates already"),
    (28, ((-1, -1, 0), 1, 1), "the same line"),
    (28, ((-1, -1, 0), 1, 0), "a learning rate is positive"),
    (29, ((1, 1), 0.5), "the nearest sample is 1.061 away"),
    (30, (0, 1, 2, 3, 4), "8 mistakes"),
    (30, (0, 1, 2, 3, 3), "each once"),
    (31, ([[1], [2]], [-1, 1]), "are allowed, with"),
    (31, ([[1], [2], [3]], [-1, 1, -1]), "there is no γ"),
    (32, ([[1], [2]], [-1, 1]), "with 13 mistakes"),
    (32, ([[19], [20.5]], [-1, 1]), "whole numbers"),
    (32, ([[1], [2], [3]], [-1, 1, -1]), "no feat"),
    (33, ([[1, 0], [0, 1]], [1, 1], [1, 1]), "all labels are +1"),
    (33, ([[1, 0], [0, 1]], [1, -1], [1, -1]), "now with four or more"),
    (33, (np.eye(9), [1, -1, 1] * 3, [1, -1, 2] * 3), "the bound is 18, and the run makes 9"),
    (33, (TURNED, [1, -1, 1, 1], np.array([1, -1, 1, 1]) @ TURNED), "only but for rounding"),
    (34, ([[0], [1]], [0, 1]), "y[0] is 0: labels are −1 and +1"),
    (33, (np.eye(9), [1, -1, 1] * 3, [1] * 9), "does not separate"),
    (34, ([[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1]), "come back after 1 epoch, not three"),
    (34, ([[0], [1]], [-1, 1]), "a hyperplane separates them"),
    (35, ([[0], [0]], [-1, 1]), "from epoch 0 on"),
    (36, ((1, 1), -1), "for (1, 0) of class −1, w1 x1² + w2 x2² + b is 0"),
    (37, ((3, 4), -5), "is 5, not 1"),
    (37, ((-0.6, -0.8), 1), "another line"),
    (38, lambda u: (u[0] ** 2, u[0] * u[1], u[1] ** 2), "the product of the features is"),
    (38, lambda u: (1, *u**2, u[0] * u[1]), "3 numbers, but here are 4"),
    (39, (((1, 1), 1), ((1, 1), 2), ((1, 1), 1)), "for x = (1, 1) the hidden units give (1, 1)"),
    (40, (((1, 0), 1), ((9, 9), 1)), "so it changes the line"),
    (40, (((9, 9), 1), ((9, 9), 1)), "so the line stays"),
    (41, (100, 1), "give 0 < C1 < C2"),
    (41, (10, 100), "with C1 there are 0 training errors"),
    (42, (1, 1, 1), "on wrong sides"),
    (42, (2, 6, 2), "the run ends elsewhere"),
    (43, ([[1], [3]], [1, 1]), "other weights would do"),
    (43, ([[0.1], [0.1]], [1, 1]), "nor do any other weights"),
]

NONSENSE = [
    None, "abc", math.nan, math.inf, True, [], {}, object(), len, 1j, 5, 10**400, 1e-300, [1, 2],
    [1, 2, 3, 4], [[1, 2], [3]], ["a", "b", "c"], [math.nan] * 4, [None] * 3, np.zeros((2, 2, 2)),
    np.array(3.0), ([[1], [2]], [1, 1]), ([[1], [2]], ["a", "b"]), ([[1], [2]], [1]),
    ([[math.nan], [2]], [1, -1]), ([["a"], [2]], [1, -1]), ([[1]] * 300, [1] * 300), ((0, 0), 0),
    {2: 1, 3: 2, 4: 3}, lambda *arguments: None, lambda *arguments: 1 / 0, iter("ab"),
]  # fmt: skip


@pytest.mark.parametrize("n", RIGHT)
def test_any_right_answer_is_accepted(n):
    found = rb.exercises.check(n, RIGHT[n])
    assert found.right, found.why


@pytest.mark.parametrize(("n", "answer", "why"), WRONG, ids=lambda given: None)
def test_a_wrong_answer_is_told_why(n, answer, why):
    found = rb.exercises.check(n, answer)
    assert not found
    assert why in found.why


@pytest.mark.parametrize("n", NUMBERS)
def test_nonsense_is_told_in_one_line(n):
    for answer in NONSENSE:
        if n == 4 and answer is None:  # which says that no line separates
            continue
        found = rb.exercises.check(n, answer)
        assert not found.right
        assert 10 < len(found.why) < 400
        assert "\n" not in found.why
        assert not any(word in found.why for word in ("Fraction(", "Traceback", "np."))


@pytest.mark.parametrize("n", NUMBERS)
def test_without_an_answer_it_says_what_is_wanted(n):
    found = rb.exercises.check(n)
    assert found == rb.exercises.check(n, ...)
    assert not found
    assert not found.answered
    assert str(found).startswith("Your turn: give")


def test_every_exercise_is_whole():
    for page in pages():
        import_module(f"rosenblatt.exercises.{page.name}")
    assert [exercise.number for exercise in EXERCISES] == list(NUMBERS)
    assert {n for n, *_ in WRONG} | {*RIGHT} == {*NUMBERS} == set(JUDGES)
    assert len({exercise.title for exercise in EXERCISES}) == len(EXERCISES)
    for exercise in EXERCISES:
        n = exercise.number
        assert exercise.level in LEVELS
        assert exercise.asked_by in ("ours", "Kosman", "Jawahar", "ML Concepts", "Bloch")
        assert exercise.statement
        assert exercise.form.startswith("**Give** ")
        assert len(exercise.hint) > 40
        assert f">>> rb.exercises.check({n}, " in exercise.answer
        assert "\nRight: " in exercise.answer
        assert (f"rb.exercises.data({n})" in f"{exercise.statement}{exercise.answer}") <= (
            n in DATA
        )
    assert sum(exercise.asked_by == "ours" for exercise in EXERCISES) >= 20


def test_pages_go_from_easy_to_hard():
    for page in pages():
        levels = [LEVELS.index(exercise.level) for exercise in page.exercises]
        assert levels == sorted(levels)


def test_what_is_shown():
    assert "Give (x1, x2): the point of the new line" in str(rb.exercises.show(1))
    assert repr(rb.exercises.hint(3)).endswith("z from the line is\n|w·z + b|/‖w‖.")
    assert rb.exercises.answer(1)._repr_markdown_() == EXERCISES[0].answer
    assert "- 1, easy: A line and its bias (ML Concepts)" in str(rb.exercises.listing())
    X, _ = rb.exercises.data(4)
    assert X.shape == (8, 2)
    X[:] = 0
    assert rb.exercises.data(4)[0].any()


@pytest.mark.parametrize("n", NUMBERS)
def test_a_terminal_shows_no_markup(n):
    for part in (rb.exercises.show(n), rb.exercises.hint(n), rb.exercises.answer(n)):
        lines = str(part).splitlines()
        assert not [
            line for line in lines if re.search(r"[\\$`]|_\{|\*\*", line) and not code(line)
        ]
        assert not [line for line in lines if len(line) > 88 and not code(line)]


def code(line):
    """Whether a line is one of a snippet, or what a snippet shows."""
    return line.startswith((">>> ", "... ", "(", "["))


def test_a_judgement_is_frozen_and_counts_as_true_or_false():
    found = rb.exercises.check(14, 0.5)
    assert found
    assert found.right
    with pytest.raises(FrozenInstanceError):
        found.right = False


@pytest.mark.parametrize("n", [0, 44, -1, 1.0, "1", None, True])
def test_no_such_exercise(n):
    for asked in (rb.exercises.check, rb.exercises.show, rb.exercises.hint, rb.exercises.data):
        with pytest.raises(
            ValueError, match=r"^there is no exercise .*: give a number from 1 to 43$"
        ):
            asked(n)


def test_no_data():
    assert rb.exercises.check(np.int64(14), 0.5)
    with pytest.raises(ValueError, match="exercise 1 has no data of its own"):
        rb.exercises.data(1)


# The run that judges replay ------------------------------------------------------------------


@given(arrays(np.int64, (5, 2), elements=st.integers(-4, 4)), st.integers(1, 30))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_textbook_runs_as_the_perceptron_does(X, labels):
    y = [1 if labels >> i & 1 else -1 for i in range(5)]
    rows = [[Fraction(int(value)) / 2 for value in row] for row in X]
    run = train(signed_samples(rows, y), most=50)
    model = rb.Perceptron(record=True, max_epochs=50).fit(X / 2, y)
    updates = model.trace_.updates
    assert run.mistakes == list(zip(updates.epoch.tolist(), updates.sample.tolist(), strict=True))
    assert [float(value) for value in run.last] == [*model.coef_[0], model.intercept_[0]]
    assert run.separated == (model.stop_reason_ is rb.StopReason.SEPARATED)
    if run.cycle:
        assert model.certificate_ == rb.Perceptron().fit(X / 2, y).certificate_
        assert (model.certificate_.entry, model.certificate_.period) == run.cycle


def test_the_pocket_is_as_slow_as_the_judge_says():
    X, y = [[18], [19], [20], [21], [19.5], [19.5]], [-1, -1, 1, 1, -1, 1]
    with pytest.warns(ConvergenceWarning):
        model = rb.Perceptron(keep="pocket").fit(X, y)
    errors = model.trace_.pocket_errors
    late = int(np.argmax(errors == errors.min())) + 1
    assert f"in epoch {late};" in rb.exercises.check(35, (X, y)).why
