"""What results say of themselves: sentences that hold, and short reprs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.proofs import check
from rosenblatt.results import Cycle, Problem, Sides, Trace
from rosenblatt.results.words import equation, number, numbered

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
HALVES = [0, 0, 1, 1]
# A circle of samples, as many as the features allow, would fill a screen with numbers.
RNG = np.random.default_rng(0)
WIDE = RNG.normal(size=(40, 300))
LABELS = np.arange(40) % 2


def told_weights(text: str) -> list[float]:
    inside = text.split("(weights ")[1].split(")")[0]
    return [float(x) for x in inside.replace(" and ", ", ").split(", ")]


def test_an_inseparable_verdict_names_samples_and_weights():
    found = rb.separability(XOR, HALVES)
    assert str(found) == (
        "inseparable (1 against 0): the classes overlap, and no hyperplane has them on its two "
        "sides; proved, because the convex hulls of samples 0, 1, 2 and 3 (weights 0.5, 0.5, 0.5 "
        "and 0.5) meet"
    )
    assert told_weights(str(found)) == found.weights.tolist()


def test_a_separating_hyperplane_that_is_told_separates():
    X, y = rb.datasets.eight_points()
    found = rb.separability(X, y)
    text = str(found)
    left = text.split("hyperplane ")[1].split(" = 0")[0]
    a, b, *rest = (float(part.split("·")[0]) for part in left.replace(" - ", " + -").split(" + "))
    assert rb.Hyperplane([a, b], sum(rest)).margin(X, y) == pytest.approx(found.margin, abs=1e-3)
    assert text.startswith("separable (1 against -1): every sample can be strictly on its side;")
    assert text.endswith("with margin 1.414")


def test_a_quasi_separable_verdict_says_who_is_on_the_hyperplane():
    found = rb.separability([[0.0], [1.0], [1.0], [2.0]], HALVES)
    assert str(found) == (
        "quasi-separable (1 against 0): no sample need be on the wrong side, but samples 1 and 2 "
        "are on every such hyperplane; proved by 0.25·x1 - 0.25 = 0, and because samples 1 and 2 "
        "are identical but have different classes"
    )


@pytest.mark.parametrize("seed", range(12))
def test_what_is_told_is_what_can_be_checked(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (6, 2)).astype(float), np.array([0, 1, 0, 1, 0, 1])
    found = rb.separability(X, y)
    text, result = str(found), check(found, X, y)
    assert text.startswith(f"{found.verdict.word} (1 against 0): ")
    assert result.valid
    assert "proved" in text
    assert "proved" in str(result)
    if isinstance(found, rb.Separable):
        return
    part = text.split("because ")[1].split("samples ")[1].split(" (")[0].split(" are")[0]
    assert [int(i) for i in part.replace(" and ", ", ").split(", ")] == found.support.tolist()
    if "weights" in text:
        assert told_weights(text) == pytest.approx(found.weights.tolist(), abs=1e-3)


def test_an_undecided_verdict_says_why_and_what_is_known():
    assert str(rb.Undecided((-0.41, 0.63))) == (
        "undecided: time ran out before the question was settled; the largest margin is between "
        "-0.41 and 0.63 (0 or less: none separates)"
    )
    nothing = rb.Undecided((-np.inf, np.inf), rb.Undecided.WORK)
    assert str(nothing).endswith("nothing is known yet about the largest margin")


def test_only_fractions_tell_a_narrow_margin_apart():
    plane = rb.Hyperplane([1.0], 0.0)
    narrow = rb.Separable(plane, 1e-300, exact=(Fraction(1), Fraction(1, 10**40)))
    assert "only fractions tell the sides apart" in str(narrow)
    assert "Fraction" not in repr(narrow)
    assert len(repr(narrow)) < 200


def test_a_certificate_speaks_of_the_classes_and_features_of_its_problem():
    X, y = rb.datasets.eight_points()
    found = rb.separability(X, y)
    named = found.about(Problem("spam", None, ("words", "links\n"), ("id",)))
    assert str(named).startswith("separable (spam against the rest): every sample")
    assert "0.5044·words + 0.5065·links\\n" in str(named)  # and what rounding leaves of a bias
    assert str(named).endswith("without 1 column of the table: id")
    assert found.problem == Problem(1, -1)
    assert check(named, X, y)
    assert repr(named) == repr(found)


def test_all_classes_as_one_problem():
    line = [[-2.0], [0.0], [2.0]]
    found = rb.separability(line, [0, 1, 2], multiclass="joint")
    assert str(found) == (
        "separable, 3 classes as one problem: each class can have the highest value on all its "
        "samples; proved by a hyperplane for each class"
    )
    none = rb.separability([[0.0], [0.0], [0.0]], [0, 1, 2], multiclass="joint")
    assert "proved by" in str(none)
    assert "that cancel, of samples" in str(none)


def test_cycles_and_runs():
    assert str(Cycle(3, 2)) == (
        "the weights after epoch 3 come back after 2 epochs: this run can never end"
    )
    assert str(Cycle(0, 1)).startswith("the weights of the start come back after 1 epoch")
    fit = rb.Perceptron(max_epochs=50).fit(*rb.datasets.eight_points()).fits_[0]
    assert str(fit) == (
        "SEPARATED after 1 mistake in 2 epochs (an epoch without mistakes: the last hyperplane "
        "separates the training data); kept: 1·x1 + 1·x2 + 1 = 0"
    )
    with pytest.warns(UserWarning, match="repeat"):
        cyclic = rb.Perceptron(max_epochs=50).fit(XOR, HALVES).fits_[0]
    assert str(cyclic.certificate) in str(cyclic)
    assert str(cyclic.trace).startswith(f"{cyclic.n_mistakes} mistakes in {cyclic.n_epochs} epochs")


def test_a_long_trace_has_its_first_and_last_epochs():
    n = 1000
    trace = Trace(np.arange(n), np.zeros(n), np.zeros(n))
    assert str(trace) == (
        "499,500 mistakes in 1000 epochs: 0, 1, 2, 3, 4, 5, ..., 994, 995, 996, 997, 998, 999"
    )


def test_best_hyperplanes():
    X, y = rb.datasets.eight_points()
    model = rb.MaxMarginClassifier().fit(X, y)
    (fit,) = model.fits_
    assert str(fit.optimum).startswith(
        "maximum margin 1.414 (1/‖w‖), carried by samples 0 and 4 (multipliers 0.25 and 0.25); "
        "½‖w‖² = 0.25, at most a share of "
    )
    assert str(fit).startswith("GAP_CLOSED after ")
    assert str(fit.conditions).endswith("(all 0 at an optimum)")
    soft = rb.SoftMarginClassifier(C=2.0).fit(X, y).fits_[0].optimum
    assert str(soft).startswith("soft margin with C = 2: ")
    assert str(Sides(np.array([0.0, 1.5]), *map(np.array, ([0], [], [], [1])))) == (
        "1 outside the margin, 0 on its edge, 0 inside, 1 on the wrong side; total slack 1.5"
    )
    path = rb.soft_margin_path(X, y, [0.1, 10.0])
    assert str(path).startswith("2 hyperplanes, from C = 0.1: margin ")


def test_a_check_says_whether_it_proves():
    found = rb.separability(XOR, HALVES)
    assert str(check(found, XOR, HALVES)).startswith("proved: ")
    assert str(check(found, XOR, [0, 1, 1, 1])).startswith("not proved: ")


def test_no_repr_fills_a_screen():
    with pytest.warns(UserWarning, match="mistakes|left"):
        perceptron = rb.Perceptron(max_epochs=1, record=True).fit(WIDE, LABELS)
    kernel = rb.KernelPerceptron(max_epochs=5).fit(WIDE, LABELS)
    narrow = rb.separability(WIDE[:, :30], RNG.integers(0, 2, 40))
    margin = rb.MaxMarginClassifier().fit(WIDE, LABELS)
    joint = rb.Perceptron(multiclass="joint").fit(WIDE, LABELS + 2 * (np.arange(40) < 20))
    shown = [
        *(narrow, rb.separability(WIDE, LABELS), rb.mistake_bound(WIDE, LABELS)),
        *(perceptron.fits_[0], perceptron.trace_, perceptron.trace_.updates),
        *(perceptron.fits_[0].hyperplane, kernel.fits_[0], margin.fits_[0]),
        *(rb.soft_margin_path(WIDE[:, :3], LABELS, [1.0]), joint.fits_[0]),
        *(margin.fits_[0].optimum, margin.fits_[0].trace, margin.sides(WIDE, LABELS)),
        rb.separability(WIDE[:, :2], LABELS, kernel=rb.kernels.Polynomial(2)),
    ]
    for one in shown:
        assert len(repr(one)) < 900, type(one)
        assert len(str(one)) < 600, type(one)
        assert "array(" not in str(one)
        assert "\n" not in repr(one)


def test_a_table_of_steps_is_short_unless_it_is_printed():
    X, y = rb.datasets.dunkers(random_state=0)
    table = rb.Perceptron(record=True).fit(X, y).trace_.updates.table(X)
    assert repr(table) == f"<StepTable: {len(table)} lines, 2 features>"


def test_equations():
    assert equation(np.array([0.5, -2.0, 0.0]), 3.0) == "0.5·x1 - 2·x2 + 3 = 0"
    assert equation(np.zeros(2), -1.0) == "all weights 0, bias -1"
    many = equation(np.arange(10.0), 0.0, [f"f{j}" for j in range(10)])
    assert many == "9·f9 + 8·f8 + 7·f7 + ... (10 weights, the largest first) = 0"


def test_numbers_and_samples():
    assert [number(x) for x in (0.123456, 12345.6, 1e12)] == ["0.1235", "12346", "1e+12"]
    assert numbered("sample", [3]) == "sample 3"
    assert numbered("row", list(range(9)), 3) == "rows 0, 1, 2 and 6 more"
