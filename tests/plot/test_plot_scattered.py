"""Samples before any line, and one feature on a line."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import rosenblatt as rb
from pictures import ends, find, found, offsets, words

pytestmark = pytest.mark.usefixtures("settings_stay")


class TestPoints:
    def test_every_sample_is_there_in_its_marker(self, dunkers, ax):
        markers = ("x", "o")
        assert rb.plot.points(*dunkers, ax=ax, markers=markers, class_names=["a", "b"]) is ax
        for k, sign in enumerate((-1, 1)):
            drawn = find(ax, f"class {k}")
            assert np.array_equal(offsets(drawn), dunkers.X[dunkers.y == sign])
        crosses, discs = (find(ax, f"class {k}") for k in range(2))
        assert not np.array_equal(crosses.get_paths()[0].vertices, discs.get_paths()[0].vertices)
        assert crosses.get_linewidths()[0] > 1  # a cross is all line
        assert words(ax) == ["a", "b"]
        assert not ax.lines

    def test_any_classes_and_tables(self, trees):
        pandas = pytest.importorskip("pandas")
        X, y, _ = trees
        ax = rb.plot.points(pandas.DataFrame(X, columns=["tall", "wide"]), y)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("tall", "wide")
        assert words(ax) == ["ash", "birch", "cedar"]
        sparse = rb.plot.points(csr_matrix(X), y)
        assert np.array_equal(offsets(find(sparse, "class 2")), X[y == "cedar"])

    def test_so_many_classes_are_not_all_named(self):
        X = np.random.default_rng(0).normal(size=(60, 2))
        ax = rb.plot.points(X, np.arange(60) % 30)
        assert words(ax) == ["30 classes, too many to name"]
        assert len(offsets(find(ax, "class 29"))) == 2
        letters = rb.plot.points(
            X, np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))[np.arange(60) % 26]
        )
        assert words(letters) == list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        long = rb.plot.points(X, [f"class {k % 20} with a long name" for k in range(60)])
        assert words(long)[-1] == "and 8 more classes"
        rows = rb.plot.points(X[:, :1], np.arange(60))
        assert [tick.get_text() for tick in rows.get_yticklabels()] == [*map(str, range(0, 60, 2))]

    def test_one_feature_is_stacked_where_samples_hide_each_other(self):
        x, y = np.array([0.0, 0.0, 0.0, 5.0, 9.0]), [1, 1, 0, 1, 0]
        ax = rb.plot.points(x[:, None], y, feature_names=["weight"])
        first, second = (offsets(find(ax, f"class {k}")) for k in range(2))
        assert first[:, 0].tolist() == [0, 9]
        assert second[:, 0].tolist() == [0, 0, 5]
        assert second[0, 1] == second[2, 1] == 1
        assert 1 < second[1, 1] < 2
        assert ax.get_xlabel() == "weight"
        assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "1"]

    def test_many_and_none(self):
        X = np.random.default_rng(0).normal(size=(3000, 2))
        ax = rb.plot.points(X, np.zeros(3000, dtype=int))
        assert "2000 of 3000 points drawn" in words(ax)
        ax = rb.plot.points(np.zeros((0, 2)), [])
        assert ax.get_legend() is None

    def test_refuses(self, dunkers):
        X, y = dunkers
        for markers, said in (
            ("x", "markers has 1 markers for 2 classes"),
            (("x", "quadrat"), r"markers=\('x', 'quadrat'\) is not allowed: give one of"),
            (("x", 3), "markers="),
        ):
            with pytest.raises(ValueError, match=said):
                rb.plot.points(X, y, markers=markers)
        with pytest.raises(ValueError, match="X has 3 features: only one or two"):
            rb.plot.points(np.eye(3), [1, 2, 3])
        with pytest.raises(ValueError, match="y has 3 samples but X has 80 rows"):
            rb.plot.points(X, y[:3])


class TestOneFeature:
    def test_threshold_margin_and_direction(self, ax):
        x, y = np.array([1.0, 2.0, 3.0, 5.0, 6.0]), [-1, -1, -1, 1, 1]
        assert rb.plot.decision(rb.Hyperplane([-2.0], 7.0), x[:, None], y, ax=ax) is ax
        assert find(ax, "threshold").get_xdata() == [3.5, 3.5]
        start, tip = ends(find(ax, "normal"))
        assert start[0] == 3.5
        assert tip[0] < 3.5
        assert "wrong: 5 of 5" in words(ax)
        assert not found(ax, "band")
        ax = rb.plot.decision(rb.Hyperplane([2.0], -7.0), x[:, None], y)
        band = find(ax, "band")
        assert (band.get_x(), band.get_width()) == pytest.approx((3.0, 1.0))
        assert "threshold: x1 = 3.5" in words(ax)
        left, right = find(ax, "region 0"), find(ax, "region 1")
        assert left.get_x() + left.get_width() == right.get_x() == 3.5

    def test_classes_decided_by_the_largest_value(self, trees):
        X, y, _ = trees
        model = rb.Adaline(max_epochs=50).fit(X[:, :1], y)
        ax = rb.plot.decision(model, X[:, :1], y)
        cuts = sorted(line.get_xdata()[0] for line in found(ax, "threshold"))
        for cut in cuts:
            around = model.predict([[cut - 1e-6], [cut + 1e-6]])
            assert around[0] != around[1]
        assert len(set(model.predict(np.linspace(-9, 9, 500)[:, None]))) == len(cuts) + 1

    def test_kernel_may_have_two(self):
        x = np.linspace(-2, 2, 40)
        y = np.where(np.abs(x) > 0.9, 1, -1)
        model = rb.KernelPerceptron(kernel="poly", degree=2).fit(x[:, None], y)
        ax = rb.plot.decision(model, x[:, None], y)
        cuts = np.array([line.get_xdata()[0] for line in found(ax, "threshold")])
        assert len(cuts) == 2
        assert model.decision_function(cuts[:, None]) == pytest.approx([0, 0], abs=1e-2)

    def test_no_threshold_and_one_out_of_view_are_said(self):
        x, y = np.arange(4.0)[:, None], [-1, 1, -1, 1]
        said = " ".join(words(rb.plot.decision(rb.Hyperplane([0.0], 1.0), x, y)))
        assert "w = 0: no threshold, everything is “+1”" in said
        said = " ".join(words(rb.plot.decision(rb.Hyperplane([1.0], 900.0), x, y)))
        assert "threshold outside this view: x1 = −900" in said
