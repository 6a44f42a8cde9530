"""A run as a table: every cell is the run's own, in every format."""

import csv
import io
import math

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb

AND = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, -1, -1, 1])
FORMS = {
    "online": {},
    "eta0=0.3": {"eta0": 0.3, "init": [0.5, -1, 0.25]},
    "batch": {"update": "batch", "eta0": 0.3},
    "minibatch": {"update": "minibatch", "batch_size": 3, "order": "shuffled", "random_state": 0},
    "no bias": {"fit_intercept": False, "init": [1, 2], "max_epochs": 4},
}


def read(table):
    return list(csv.DictReader(io.StringIO(table.to("csv"))))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_cells_are_those_of_the_run(form, layout):
    X, y = AND
    updates = rb.Perceptron(record=True, **form).fit(layout(X), y).trace_.updates
    lines = updates.table(layout(X), best=rb.Hyperplane([1, 1], -1.5)).lines
    assert len(lines) == len(updates) + 1
    for t, line in enumerate(lines):
        plane = updates.hyperplane(t, X)
        assert line.step == t
        np.testing.assert_array_equal(line.theta, [*plane.w, plane.b])
        aim = np.array([1, 1, -1.5])
        if line.theta.any():
            cosine = line.theta @ aim / np.linalg.norm(line.theta) / np.linalg.norm(aim)
            assert line.angle == pytest.approx(math.degrees(math.acos(cosine)))
        else:
            assert line.angle is None
        if t:
            np.testing.assert_allclose(lines[t - 1].theta + line.change, line.theta, atol=1e-15)
            now = updates.update == t - 1
            np.testing.assert_array_equal(line.samples, updates.sample[now])
            np.testing.assert_array_equal(line.values, updates.value[now])
            np.testing.assert_array_equal(line.signs, y[line.samples])
            assert line.epoch == updates.epoch[now][0]


def test_the_calculation_by_hand():
    """From zero: rows 0 and 3 first, then (1, 1; 0) meets row 0 on the hyperplane."""
    X, y = AND
    model = rb.Perceptron(record=True).fit(X, y)
    found = read(model.trace_.updates.table(X, first=3, feature_names=["p", "q"]))
    assert [list(row.values()) for row in found] == [
        ["0", "", "", "", "", "", "", "", "0", "0", "0"],
        ["1", "1", "0", "-1", "0", "0", "0", "-1", "0", "0", "-1"],
        ["2", "1", "3", "1", "-1", "1", "1", "1", "1", "1", "0"],
        ["3", "2", "0", "-1", "0", "0", "0", "-1", "1", "1", "-1"],
    ]
    assert list(found[0])[:5] == ["step", "epoch", "sample", "y", "value"]
    assert list(found[0])[5:] == ["added to p", "added to q", "added to bias", "p", "q", "bias"]


def test_text_markdown_latex_and_html():
    X, y = AND
    table = rb.Perceptron(record=True).fit(X, y).trace_.updates.table(X, first=2)
    assert str(table).splitlines() == [
        "step  epoch  sample   y  value  added to w  to b       w   b",
        "   0                                              (0, 0)   0",
        "   1      1       0  -1      0      (0, 0)    -1  (0, 0)  -1",
        "   2      1       3  +1     -1      (1, 1)     1  (1, 1)   0",
        "w = (x1, x2)",
    ]
    markdown = table.to("markdown").splitlines()
    assert markdown[1] == "|" + "---:|" * 9
    assert markdown[4] == "| 2 | 1 | 3 | +1 | -1 | (1, 1) | 1 | (1, 1) | 0 |"
    latex = table.to("latex")
    assert r"$2$ & $1$ & $3$ & $+1$ & $-1$ & $(1, 1)$ & $1$ & $(1, 1)$ & $0$ \\" in latex
    assert latex.count(r"\hline") == 3
    shown = table._repr_html_()
    assert shown.count("<tr>") == 4
    assert "<td>(1, 1)</td>" in shown


def test_names_are_written_for_what_they_are():
    X, y = AND
    updates = rb.Perceptron(record=True).fit(X, y).trace_.updates
    table = updates.table(X, first=1, feature_names=["a|b_c", "<i>\n"])
    assert r"w = (a|b\_c, \<i\>\\n)" in table.to("markdown")
    assert "&lt;i&gt;" in table._repr_html_()
    assert "\n" not in table.to("latex").split("% ")[1].rstrip("\n")
    assert list(read(table)[0])[-3:] == ["a|b_c", "<i>\n", "bias"]


def test_few_of_many_features():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (30, 9)).astype(float)
    y = np.where(X[:, 8] - 2 * X[:, 1] > 0, 1, -1)
    updates = rb.Perceptron(record=True).fit(X, y).trace_.updates
    table = updates.table(X)
    w = table.lines[-1].theta[:-1]
    largest = sorted(np.argsort(-np.abs(w), kind="stable")[:2])
    named = ", ".join(f"x{j + 1}" for j in largest)
    assert f"w = ({named}), and 7 with smaller weights" in table.to("text", top=2)
    assert "not shown" not in table.to("text", top=None)
    assert [float(read(table)[-1][f"x{j + 1}"]) for j in range(9)] == w.tolist()


def test_without_data_and_of_kernels():
    X, y = AND
    updates = rb.Perceptron(update="batch", record=True).fit(X, y).trace_.updates
    assert updates.table(first=1).to("csv") == (
        "step,epoch,sample,y,value\n1,1,0 1 2 3,-1 -1 -1 1,0 0 0 0\n"
    )
    kernel = rb.KernelPerceptron(record=True).fit(X, y).trace_.updates
    assert [int(row["sample"]) for row in read(kernel.table())] == kernel.sample.tolist()
    assert read(kernel.table(rows=np.array([5, 6, 7, 8])))[0]["row"] == "5"


def test_many_mistakes_in_one_update():
    X = np.arange(20.0)[:, np.newaxis] - 9.5
    updates = rb.Perceptron(update="batch", record=True).fit(X, X[:, 0] > 0).trace_.updates
    assert "0, 1, 2, 3, 4, 5, 14 more" in str(updates.table(X))


def test_small_numbers_and_large():
    X, y = np.array([[1e-7, 3e20], [2e-7, -1e20]]), [1, 0]
    table = rb.Perceptron(record=True, fit_intercept=False).fit(X, y).trace_.updates.table(X)
    assert "1e-07" in str(table)
    assert r"3 \cdot 10^{20}" in table.to("latex")
    assert read(table)[1]["x1"] == "1e-07"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"first": 0}, "first=0 is not allowed: give a whole number from 1, or None for all"),
        ({"best": 3}, "best=3 is not allowed: give a rb.Hyperplane, or None"),
        ({"best": rb.Hyperplane([1.0])}, "best has 1 weights, but the run has 2"),
        ({"feature_names": ["a"]}, "feature_names has 1 names, but there are 2 weights"),
    ],
)
def test_refused(given, message):
    X, y = AND
    updates = rb.Perceptron(record=True).fit(X, y).trace_.updates
    with pytest.raises((ValueError, TypeError), match=message):
        updates.table(X, **given)


def test_formats_that_there_are():
    X, y = AND
    table = rb.Perceptron(record=True).fit(X, y).trace_.updates.table(X)
    with pytest.raises(ValueError, match="format='html' is not known"):
        table.to("html")
    with pytest.raises(ValueError, match="top=0 is not allowed"):
        table.to("text", top=0)
