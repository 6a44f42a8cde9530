"""Rows in tiles: the same order whatever the blocks, and no list of all rows."""

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.data import orders
from rosenblatt.data.orders import TileOrder, rows_to_shuffle
from rosenblatt.data.rows import as_rows
from rosenblatt.data.sources import MemorySource
from rosenblatt.running.orders import Orders

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of 16 rows and more, so that little data have many."""
    monkeypatch.setattr(orders, "ROWS", 16)
    monkeypatch.setattr(orders, "NUMBERS", 48)


def naive(n, d, seed, epoch, done=0):
    """The definition: the tiles in a random order, the rows of each in a random order."""
    rows = max(1, orders.NUMBERS // d // orders.ROWS) * orders.ROWS
    tiles = [np.arange(n)[a : a + rows] for a in range(0, n, rows)]
    key, order = [seed, 3, done, epoch], []
    for tile in np.random.default_rng(key).permutation(len(tiles)):
        rng = np.random.default_rng([*key, 1 + tile])
        order += tiles[tile][rng.permutation(len(tiles[tile]))].tolist()
    return order


def test_sizes_of_tiles():
    assert rows_to_shuffle(1) == 1 << 20
    assert rows_to_shuffle(10) == 104_704
    assert rows_to_shuffle(10) % 256 == 0
    assert rows_to_shuffle(1 << 30) == 256


@pytest.mark.parametrize("n", [1, 15, 16, 17, 100])
@pytest.mark.parametrize("d", [1, 3, 7])
def test_the_definition(n, d, small_tiles):
    found = Orders("blocks", n, d, 5)
    for epoch in (1, 2, 3):
        order = next(found)
        rows = order.whole() if isinstance(order, TileOrder) else order
        assert rows.tolist() == naive(n, d, 5, epoch)
        assert sorted(rows.tolist()) == list(range(n))
    again = next(Orders("blocks", n, d, 5, done=2))
    rows = again.whole() if isinstance(again, TileOrder) else again
    assert rows.tolist() == naive(n, d, 5, 1, done=2)


def test_rows_of_a_tile_stay_together(small_tiles):
    starts = []
    for position, rows in next(Orders("blocks", 100, 3, 0)):
        assert position == len(starts)
        assert len(set(rows // 16)) == 1
        starts += rows.tolist()
    assert sorted(starts) == list(range(100))


@pytest.mark.parametrize("size", [None, 1, 7, 16, 40])
def test_pieces_cover_the_order(size, small_tiles):
    X = np.arange(200.0).reshape(100, 2)
    source = MemorySource(as_rows(X), np.zeros(100, np.int32), 2, block_size=size)
    order, position, seen = next(Orders("blocks", 100, 2, 1)), 0, []
    for piece in source.pieces(order):
        assert piece.offset == position
        assert piece.length == len(piece.order)
        position += piece.length
        seen += (piece.block.rows.X[piece.order, 0] / 2).astype(int).tolist()
    assert seen == order.whole().tolist()


@pytest.mark.parametrize("order", ["cyclic", "shuffled", "sampled", "blocks"])
def test_the_state_gives_an_order_again(order, small_tiles):
    def whole(some):
        return (some.whole() if isinstance(some, TileOrder) else some).tolist()

    first = Orders(order, 50, 2, 9)
    next(first)
    state = first.state
    wanted = [whole(next(first)) for _ in range(3)]
    other = Orders(order, 50, 2, 9)
    other.state = state
    assert [whole(next(other)) for _ in range(3)] == wanted


def table(n=150, d=3):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    y = np.where(X @ [1.0, -2.0, 1.0] + rng.standard_normal(n) > 0, 1, -1)
    return X, y


def naive_perceptron(X, y, orders):
    """The textbook's loop over the rows in this order."""
    Z, theta, mistakes = np.column_stack([X, np.ones(len(X))]), np.zeros(X.shape[1] + 1), []
    for order in orders:
        mistakes.append(0)
        for i in order:
            if y[i] * (theta @ Z[i]) <= 0:
                theta, mistakes[-1] = theta + y[i] * Z[i], mistakes[-1] + 1
        if not mistakes[-1]:
            break
    return theta, mistakes


@pytest.mark.parametrize("size", [None, 10, 33])
def test_the_perceptron_beside_the_textbook(size, small_tiles, in_blocks):
    X, y = table()
    if size:
        in_blocks(size)
    model = rb.Perceptron(order="blocks", max_epochs=12, random_state=4).fit(X, y)
    from rosenblatt.contract.parameters import seed_from

    drawn = [naive(len(X), 3, seed_from(4), epoch) for epoch in range(1, 13)]
    theta, mistakes = naive_perceptron(X, y, drawn)
    assert np.append(model.coef_, model.intercept_).tolist() == theta.tolist()
    assert model.trace_.mistakes.tolist() == mistakes


@pytest.mark.parametrize(
    "model",
    [
        rb.Perceptron(keep="average"),
        rb.Perceptron(keep="pocket", record=True),
        rb.Perceptron(update="minibatch", batch_size=20),
        rb.Perceptron(update="batch"),
        rb.Adaline(),
        rb.Adaline(update="minibatch", batch_size=20),
        rb.KernelPerceptron(kernel="poly", degree=2, gamma=1.0),
        rb.KernelPerceptron(kernel="linear", keep="average"),
    ],
    ids=lambda model: str(model)[:45],
)
def test_blocks_do_not_matter(model, small_tiles, in_blocks):
    X, y = table()
    given = {**model.get_params(), "order": "blocks", "max_epochs": 6, "random_state": 1}
    whole = type(model)(**given).fit(X, y)
    assert whole.stop_reason_ is rb.StopReason.EPOCH_LIMIT
    for size in (9, 64):
        in_blocks(size)
        other = type(model)(**given).fit(X, y)
        assert other.trace_.mistakes.tolist() == whole.trace_.mistakes.tolist()
        assert (other.decision_function(X) == whole.decision_function(X)).all()


def test_the_kernel_perceptron_visits_the_same_rows(small_tiles):
    """With the linear kernel it is the perceptron, and makes its mistakes."""
    X, y = table()
    given = {"order": "blocks", "max_epochs": 8, "random_state": 3, "record": True}
    dual = rb.KernelPerceptron(kernel="linear", fit_intercept=True, **given).fit(X, y)
    primal = rb.Perceptron(**given).fit(X, y)
    assert dual.trace_.updates.sample.tolist() == primal.trace_.updates.sample.tolist()


def test_separated_means_all_rows(small_tiles):
    data = rb.datasets.known_margin(200, 2, margin=0.05, random_state=0)
    model = rb.Perceptron(order="blocks", random_state=0, record=True).fit(*data)
    assert model.stop_reason_ is rb.StopReason.SEPARATED
    assert (model.predict(data.X) == data.y).all()
    report = model.bound_report(data.X, data.y)
    assert report.holds


def test_no_list_of_all_rows(monkeypatch):
    """The rows of a tile are drawn when it is read."""
    made = []
    whole = TileOrder.whole

    def counted(self):
        made.append(self.size)
        return whole(self)

    monkeypatch.setattr(TileOrder, "whole", counted)
    monkeypatch.setattr(orders, "NUMBERS", 512)
    X, y = table(2000)
    rb.Perceptron(order="blocks", max_epochs=3).fit(X, y)
    rb.Adaline(order="blocks", max_epochs=3).fit(X, y)
    assert made == []
