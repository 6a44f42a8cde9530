"""Pictures of pipelines in the units of their columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from pictures import find, found, heading, offsets, quietly, words


@pytest.fixture(scope="module")
def rings():
    """Two columns in units of their own, and classes one around the other."""
    X, y = rb.datasets.circles(40, noise=0.05, random_state=1)
    table = pd.DataFrame({"age": 40 + 15 * X[:, 0], "income": 2500 + 900 * X[:, 1]})
    return table, np.where(y > 0, "outer", "inner")


def vertices(artist):
    return np.vstack([path.vertices for path in artist.get_paths()])


@pytest.fixture(scope="module")
def squares(rings):
    steps = rb.TableEncoder(), rb.features.Squares(keep=True), rb.MaxMarginClassifier()
    return make_pipeline(*steps).fit(*rings)


def test_the_margin_in_the_units_of_the_table(rings, squares):
    table, y = rings
    ax = rb.plot.margin(squares, table, y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "income")
    for gid, level in [("hyperplane", 0.0), ("edges", 1.0)]:
        where = vertices(find(ax, gid))
        values = squares.decision_function(pd.DataFrame(where, columns=table.columns))
        assert np.abs(np.abs(values) - level).max() < 0.02  # of a grid of 300
    ringed = np.sort(offsets(find(ax, "support")), axis=0)
    support = squares[-1].fits_[0].optimum.support
    assert np.array_equal(ringed, np.sort(table.to_numpy()[support], axis=0))
    assert heading(ax).startswith("maximum margin")


def test_a_decision_in_the_units_of_the_table(rings, squares):
    table, y = rings
    ax = rb.plot.decision(squares, dict(table), y, class_names=["in", "out"])
    where = vertices(find(ax, "boundary 1"))
    values = squares.decision_function(dict(zip(table.columns, where.T, strict=True)))
    assert np.abs(values).max() < 0.02
    assert heading(ax) == "TableEncoder → Squares → MaxMarginClassifier"
    assert "in" in words(ax)
    assert np.array_equal(offsets(find(ax, "class 0")), table.to_numpy()[y == "inner"])


def test_missing_cells(rings, squares):
    table, y = rings
    holes = table.copy()
    holes.iloc[2, 0] = np.nan
    for draw in (rb.plot.decision, rb.plot.margin):
        X, model = holes, make_pipeline(*(step for _, step in squares.steps)).fit(holes, y)
        assert "not drawn, with missing cells: 1 of 40" in words(draw(model, X, y))


def test_kernels_behind_a_scaler(rings):
    table, y = rings
    model = make_pipeline(StandardScaler(), rb.KernelPerceptron()).fit(table, y)
    ax = rb.plot.decision(model, table, y)
    points = table.to_numpy()
    discs = offsets(find(ax, "support"))
    assert {tuple(p) for p in discs} <= {tuple(points[i]) for i in model[-1].support_}
    # Rows without names, of a model that knows some, are no reason to complain.
    bare = rb.plot.decision(model, points, y)
    assert np.array_equal(offsets(find(bare, "class 1")), offsets(find(ax, "class 1")))
    assert bare.get_xlabel() == "age"
    other = rb.plot.decision(model, points[:9], y[:9])
    assert not found(other, "support")
    assert f"support vectors: {len(model[-1].support_)}" in words(other)


def test_several_classes_and_random_features(rings):
    table, y = rings
    three = np.where(table["income"] > 3000, "rich", y)
    steps = rb.TableEncoder(), rb.features.RandomFourier(40, random_state=0)
    model = quietly(make_pipeline(*steps, rb.SoftMarginClassifier(C=100)), table.to_numpy(), three)
    ax = rb.plot.decision(model, table.to_numpy(), three)
    assert found(ax, "region 2")
    edge = vertices(find(rb.plot.margin(model, table.to_numpy(), three, which="rich"), "edges"))
    assert np.abs(np.abs(model.decision_function(edge)[:, 2]) - 1).max() < 0.05


def test_one_column(rings):
    table, y = rings[0][["income"]], np.where(rings[0]["income"] > 2500, "more", "less")
    model = make_pipeline(StandardScaler(), rb.MaxMarginClassifier()).fit(table, y)
    at = find(rb.plot.decision(model, table, y), "threshold").get_xdata()[0]
    assert abs(model.decision_function(pd.DataFrame({"income": [at]}))[0]) < 1e-3
    assert table["income"][y == "less"].max() < at < table["income"][y == "more"].min()


def test_other_columns_are_seen_along_the_normal(rings):
    table, y = rings
    mixed = {"age": table["age"], "half": ["a", "b"] * 20}
    model = quietly(make_pipeline(rb.TableEncoder(), rb.SoftMarginClassifier()), mixed, y)
    assert "signed distance" in rb.plot.decision(model, mixed, y).get_xlabel()
    assert "shadow of 3 features" in rb.plot.margin(model, mixed, y).get_xlabel()


def test_refused(rings, squares):
    with pytest.raises(NotFittedError):
        rb.plot.decision(make_pipeline(StandardScaler(), rb.Perceptron()), *rings)
    with pytest.raises(ValueError, match="y has 3 samples but X has 40 rows"):
        rb.plot.decision(squares, rings[0], rings[1][:3])
    with pytest.raises(ValueError, match="ends in StandardScaler, which has no classes_"):
        rb.plot.decision(make_pipeline(StandardScaler()).fit(rings[0]), *rings)
    with pytest.raises(ValueError, match="X, y are not what the hyperplane was found with"):
        rb.plot.margin(squares, rings[0][::-1], rings[1])
