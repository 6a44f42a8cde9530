"""The view along the normal, and directions of largest spread."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import rosenblatt as rb
from pictures import find, found, offsets, quietly, words
from rosenblatt.plot.projection import spread

pytestmark = pytest.mark.usefixtures("settings_stay")


class TestAlong:
    @pytest.mark.parametrize("d", [1, 3, 30])
    def test_shares_add_up_and_stay_out_of_the_band(self, d):
        data = rb.datasets.known_margin(400, d, margin=0.1, random_state=0)
        ax = rb.plot.decision(data.hyperplane, *data)
        for k, sign in enumerate((-1, 1)):
            shares, edges, _ = found(ax, f"class {k}")[0].get_data()
            assert np.nansum(shares) == pytest.approx(1)
            middle = sign * (edges[:-1] + edges[1:])[~np.isnan(shares)] / 2
            assert (middle > 0.1).all()
        band = find(ax, "band")
        assert (band.get_x(), band.get_width()) == pytest.approx((-0.1, 0.2))

    def test_wrong_ones_are_ringed(self):
        data = rb.datasets.flip_labels(
            rb.datasets.known_margin(500, 5, random_state=0), 0.02, random_state=0
        )
        ax = rb.plot.decision(data.hyperplane, *data)
        where = offsets(find(ax, "wrong"))[:, 0]
        assert where == pytest.approx(data.hyperplane.decision_function(data.X[data.noisy]))

    def test_sparse(self):
        data = rb.datasets.known_margin(50, 4, random_state=0)
        dense, sparse = (
            rb.plot.decision(data.hyperplane, X, data.y) for X in (data.X, csr_matrix(data.X))
        )
        one, two = (found(ax, "class 0")[0].get_data()[0] for ax in (dense, sparse))
        assert np.array_equal(one, two, equal_nan=True)

    def test_long_tails_are_cut_and_counted(self):
        rng = np.random.default_rng(0)
        x = np.append(rng.normal(size=20_000), [-400.0, -300.0, 500.0])
        y = np.where(rng.random(x.size) < 0.5, -1, 1)
        ax = rb.plot.decision(rb.Hyperplane([1.0]), x[:, None], y)
        low, high = ax.get_xlim()
        assert -6 < low < -2
        assert 2 < high < 6
        shares, edges, _ = found(ax, "class 0")[0].get_data()
        assert np.isfinite(shares).sum() > 20
        outside = int(((x < edges[0]) | (x > edges[-1])).sum())
        assert 3 <= outside < 0.01 * 2 * x.size
        assert f"outside this picture: {outside} of 20,003" in words(ax)
        ax.figure.canvas.draw()
        assert ax.get_tightbbox().width < ax.figure.bbox.width

    def test_cut_holds_the_hyperplane_and_the_margin(self):
        x = np.append(np.linspace(100, 101, 5000), [-90.0, -9000.0])
        y = np.append(np.ones(5000), [-1, -1])
        ax = rb.plot.decision(rb.Hyperplane([1.0]), x[:, None], y)
        assert ax.get_xlim()[0] < -90
        assert ax.get_xlim()[1] > 101

    def test_ordinary_tails_are_all_there(self):
        x = np.random.default_rng(0).normal(size=100_000)
        ax = rb.plot.decision(rb.Hyperplane([1.0]), x[:, None], np.where(x > 0.1, 1, -1))
        assert not any("outside" in text for text in words(ax))
        total = sum(np.nansum(found(ax, f"class {k}")[0].get_data()[0]) for k in range(2))
        assert total == pytest.approx(2)

    def test_rows_say_how_many_lie_outside(self, trees):
        X, y, _ = trees
        rng = np.random.default_rng(0)
        X, y = np.repeat(X, 200, axis=0) + rng.normal(size=(12_000, 2)), np.repeat(y, 200)
        X = np.column_stack([X, np.zeros(12_000)])
        X[0] = 1e4
        model = quietly(rb.Perceptron(max_epochs=2), X[1:], y[1:])
        ax = rb.plot.decision(model, X, y)
        assert np.ptp(ax.get_xlim()) < 100
        written = " ".join(text.get_text() for text in ax.texts)
        assert written.count("outside this picture") == 3
        assert "of 12,000" in " ".join(words(ax))


def test_spread_is_the_first_principal_direction():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4)) * [1, 5, 2, 1] + 7
    first = np.linalg.svd(X - X.mean(axis=0))[2][0]
    for data in (X, csr_matrix(X)):
        assert abs(spread(data, []) @ first) == pytest.approx(1, abs=1e-6)
        second = spread(data, [first])
        assert second @ first == pytest.approx(0, abs=1e-12)
        assert abs(second[2]) > 0.95
