"""The line ``next``: what it advises, and that following it helps."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from commands import call, fitted, table, xor_table
from rosenblatt.validation.bending import chance

pytestmark = pytest.mark.usefixtures("plain_terminal")


def advice(*arguments):
    """What a fit advises, in one line; "" if nothing."""
    call("fit", *arguments, "--cv", 0, "-q", "-o", "m.skops")
    printed = " ".join(call("show", "m.skops").stdout.split())
    return printed.partition(" next ")[2]


def errors(*arguments):
    return fitted(*arguments, "--cv", 0)["training_errors"]


def flowers():
    """Iris: one class is separable from the rest, the other two are not."""
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    columns = dict(zip("abcd", X.T, strict=True))
    return table("iris.csv", columns | {"kind": names[y]})


def test_more_epochs_are_not_advised_where_they_cannot_help():
    name, options = flowers(), ("--max-epochs", 30)
    said = advice(name, *options)
    assert said == "--keep pocket keeps the best hyperplane of the run"
    assert errors(name, *options, "--keep", "pocket") < errors(name, *options)


def test_a_run_in_circles_needs_another_order():
    name = xor_table()
    for options in (("--order", "cyclic"), ("--update", "batch")):
        said = advice(name, *options, "--keep", "last")
        change = "--order shuffled" if "cyclic" in options else "--update online --order shuffled"
        assert said.startswith(f"{change} --keep pocket: this run passes through the same")
        followed = ("--order", "shuffled", "--keep", "pocket", "--max-epochs", 20)
        assert errors(name, *followed) < errors(name, *options, "--keep", "last")


def test_a_pocket_in_circles_needs_another_order():
    columns = {"a": [2, -2, -2, 2, -2, -1], "b": [-2, -1, 2, 0, -2, 0], "y": list("pqpqpq")}
    name, options = table("t.csv", columns), ("--raw", "--keep", "pocket", "--max-epochs", 60)
    said = advice(name, *options, "--order", "cyclic")
    assert said.startswith("--order shuffled: this run passes through the same hyperplanes")
    shuffled = errors(name, *options, "--order", "shuffled")
    assert shuffled < errors(name, *options, "--order", "cyclic")


def test_beyond_the_pocket_only_curves_help():
    name, options = xor_table(), ("--keep", "pocket", "--max-epochs", 20)
    said = advice(name, *options)
    assert said.endswith("and none is without errors: --kernel rbf bends the boundary")
    assert errors(name, "--kernel", "rbf") < errors(name, *options)


def test_where_two_rows_are_the_same_no_curve_is_advised():
    name = table("t.csv", {"x": [1, 1, 3, 0], "y": list("pqpq")})
    assert advice(name, "--keep", "pocket", "--max-epochs", 20) == ""


@pytest.mark.parametrize("model", [(), ("--model", "adaline"), ("--model", "soft-margin")])
def test_a_small_class_that_is_missed_needs_weight(model):
    rng = np.random.default_rng(0)
    ill = np.arange(110) < 8
    X = rng.normal(0, 1, (110, 2)) + ill[:, np.newaxis]
    columns = {"a": X[:, 0], "b": X[:, 1], "state": np.where(ill, "ill", "well")}
    name = table("rare.csv", columns)
    model = (*model, *(() if "soft-margin" in model else ("--max-epochs", 100)))
    found = fitted(name, *model, "--cv", 0)
    assert found["missed"] == ["ill"]
    said = advice(name, *model)
    assert said == "--class-weight balanced: no row of ill is found otherwise"
    assert "missed" not in fitted(name, *model, "--cv", 0, "--class-weight", "balanced")


def curved(name, inside):
    """Points of a square, those `inside` some region of one class."""
    X = np.random.default_rng(2).uniform(-1, 1, (80, 2))
    which = np.where(inside(X[:, 0], X[:, 1]), "p", "q")
    return table(name, {"a": X[:, 0], "b": X[:, 1], "y": which})


@pytest.mark.parametrize(
    ("inside", "model", "options"),
    [
        (lambda a, b: a * a + b * b < 0.6, (), "--features poly:2"),
        (lambda a, b: a * b > 0, (), "--features poly:2"),
        (lambda a, b: a * a + b * b < 0.6, ("--model", "soft-margin"), "--kernel rbf"),
    ],
    ids=["rings", "xor", "rings that need another C"],
)
def test_what_bent_the_boundary_on_a_fold_is_advised_and_helps(inside, model, options):
    name = curved("curved.csv", inside)
    found = fitted(name, *model, "-o", "m.skops")
    bend = found["bend"]
    assert bend["options"] == options
    assert bend["rows"] == 16
    assert bend["straight"] < bend["right"]
    said = " ".join(call("show", "m.skops").stdout.split()).partition(" next ")[2]
    assert said.startswith(f"{options}: a boundary that bends had")
    followed = fitted(name, *options.split())
    assert np.mean(followed["cross_validation"]) > np.mean(found["cross_validation"]) + 0.2


def test_no_bend_is_advised_where_none_helped():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 2)), rng.integers(0, 2, 80)
    name = table("noise.csv", {"a": X[:, 0], "b": X[:, 1], "y": np.where(y, "p", "q")})
    assert "bend" not in fitted(name)


def test_how_seldom_chance_looks_as_good():
    assert chance(7, 0) == 1 / 128
    assert chance(0, 0) == chance(0, 5) == 1.0
    assert chance(3, 1) == 5 / 16
