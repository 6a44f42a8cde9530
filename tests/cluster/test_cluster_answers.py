"""Verdicts, margins, bounds and rules on a cluster: the bits of memory; few rows travel."""

import dataclasses
import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.base import clone

import rosenblatt as rb
from rosenblatt.cluster.engine import Engine, _name_of, n_bytes
from rosenblatt.cluster.placing import _cuts
from rosenblatt.cluster.source import ClusterSource
from rosenblatt.data.sources import Elsewhere, MemorySource, map_pieces, through_pieces
from rosenblatt.exact import tile_passes
from rosenblatt.nearest import slacks

da = pytest.importorskip("dask.array", reason="the extra dask is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.compiled]


def points(n=3000, d=5, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    y = np.where(X @ w + 0.3 > 0, "yes", "no")
    return X + noise * rng.normal(size=X.shape), y


def touching(n=3000, seed=1):
    rng = np.random.default_rng(seed)
    X = np.rint(3 * rng.normal(size=(n, 4)))
    return X, np.where(X[:, 0] == 0, rng.choice([-1, 1], n), np.sign(X[:, 0])).astype(int)


def cut(X, y, rows=700):
    return da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=rows)


def equal(one, other):
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return type(one) is type(other) and all(
            equal(getattr(one, name), getattr(other, name)) for name in names
        )
    if isinstance(one, rb.Hyperplane):
        return np.array_equal(one.w, other.w) and one.b == other.b
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


VERDICTS = {
    "separable": points(),
    "inseparable": points(noise=0.5),
    "quasi-separable": touching(),
    "far from the origin": (points()[0] + 1e6, points()[1]),
}


@pytest.mark.parametrize("name", VERDICTS)
@pytest.mark.parametrize("rows", [250, 1100])
def test_a_verdict_is_that_of_memory_and_checked_on_the_cluster(client, name, rows):
    X, y = VERDICTS[name]
    here = rb.separability(X, y)
    there = rb.separability(*cut(X, y, rows))
    assert equal(here, there)
    assert rb.certify.check(there, *cut(X, y, rows))
    assert not rb.certify.check(there, *cut(X, y[::-1], rows))
    assert rb.certify.check(there, X, y)


def test_verdicts_of_several_classes(client):
    X, y = points()
    y = np.where(X[:, 0] > 1, "more", y)
    here, there = rb.separability(X, y), rb.separability(*cut(X, y))
    assert all(map(equal, here, there))
    assert there.classes == here.classes
    assert rb.certify.check(there, *cut(X, y))


def test_sparse_verdicts(client):
    rng = np.random.default_rng(0)
    X = csr_array(random_array((3000, 40), density=0.1, format="csr", rng=rng))
    y = np.where(X @ rng.normal(size=40) > 0, 1, 0)
    blocks = [da.from_array(X[a : a + 700], chunks=-1, asarray=False) for a in range(0, 3000, 700)]
    there = da.concatenate(blocks)
    assert equal(rb.separability(X, y), rb.separability(there, y))


MODELS = [
    rb.MaxMarginClassifier(),
    rb.SoftMarginClassifier(C=50),
    rb.SoftMarginClassifier(C=50, class_weight={"yes": 3.0}),
    rb.Perceptron(update="batch", max_epochs=6),
    rb.Perceptron(update="batch", max_epochs=6, keep="pocket", record=True),
    rb.Perceptron(update="minibatch", batch_size=100, max_epochs=3, keep="average"),
    rb.Perceptron(update="minibatch", batch_size=77, max_epochs=3, keep="pocket", record=True),
    rb.Perceptron(max_epochs=2, keep="pocket", class_weight="balanced"),
    rb.Perceptron(update="mixed", max_epochs=6, record=True),
    rb.Perceptron(update="mixed", shards=3, max_epochs=6, keep="average"),
    rb.Perceptron(update="mixed", shards=40, max_epochs=4, keep="pocket"),
    rb.Adaline(update="batch", max_epochs=5),
    rb.Adaline(update="minibatch", batch_size=64, max_epochs=3, class_weight="balanced"),
    rb.Adaline(max_epochs=2),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_a_model_is_that_of_memory(client, model, noise):
    X, y = points(noise=noise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here, there = clone(model).fit(X, y), clone(model).fit(*cut(X, y))
    for name in ("coef_", "intercept_"):
        assert np.array_equal(getattr(here, name), getattr(there, name))
    for name in ("n_errors_", "stop_reason_", "n_iter_"):
        assert getattr(here, name) == getattr(there, name)
    if hasattr(here, "gap_"):
        assert here.gap_ == there.gap_
        assert equal(here.optimum_, there.optimum_)
        assert equal(here.conditions_, there.conditions_)
    else:
        assert np.array_equal(here.trace_.mistakes, there.trace_.mistakes)
        assert here.n_updates_ == there.n_updates_
    if getattr(here, "record", False):
        assert np.array_equal(here.trace_.updates.sample, there.trace_.updates.sample)
        assert np.array_equal(here.trace_.updates.update, there.trace_.updates.update)


@pytest.mark.parametrize(
    ("noise", "asked"),
    [
        (0.0, {}),
        (0.0, {"update": "batch"}),
        (0.0, {"update": "mixed", "shards": 5}),
        (0.4, {"epochs": 3}),
    ],
)
def test_a_bound_is_that_of_memory(client, noise, asked):
    X, y = points(noise=noise)
    here, there = rb.mistake_bound(X, y, **asked), rb.mistake_bound(*cut(X, y), **asked)
    assert (here.R, here.gamma, here.bound) == (there.R, there.gamma, there.bound)
    assert equal(here.hyperplane, there.hyperplane)


def test_what_separates_brings_no_blocks_here(client, monkeypatch):
    def refuse(source, *order):
        raise AssertionError

    monkeypatch.setattr(ClusterSource, "pieces", refuse)
    X, y = points()
    there = cut(X, y)
    proof = rb.separability(*there)
    assert rb.certify.check(proof, *there)
    assert rb.MaxMarginClassifier().fit(*there).stop_reason_ is rb.StopReason.GAP_CLOSED
    assert rb.mistake_bound(*there).separable
    model = rb.MaxMarginClassifier().fit(*there)
    assert rb.certify.check(model.optimum_, *there)
    assert not rb.certify.check(model.optimum_, there[0], y[::-1])
    apart = cut(X + 0.5 * np.where(y == "yes", 1, -1)[:, None] * proof.hyperplane.w, y)
    for way in ({}, {"update": "batch"}, {"update": "mixed"}):
        model = rb.Perceptron(max_epochs=400, **way).fit(*apart)
        assert model.stop_reason_ is rb.StopReason.SEPARATED


@pytest.mark.parametrize(("C", "size"), [(1.0, 700), (1e5, 2500)])
def test_soft_margins_and_their_checks_bring_few_rows_here(client, monkeypatch, C, size):
    """Where the rows that take part are too many for one place, which is told alike in memory."""
    X, y = points(n=6000, noise=0.4)
    weight = np.linspace(0.5, 1.5, len(y))
    monkeypatch.setattr(tile_passes, "FEW_NUMBERS", 2000)
    here = rb.SoftMarginClassifier(C=C).fit(X, y, weight)
    brought, rows = [], ClusterSource.rows
    monkeypatch.setattr(ClusterSource, "pieces", lambda *_: pytest.fail("all rows came here"))
    monkeypatch.setattr(
        ClusterSource, "rows", lambda there, some: brought.append(len(some)) or rows(there, some)
    )
    there = *cut(X, y, size), da.from_array(weight, chunks=size)
    model = rb.SoftMarginClassifier(C=C).fit(*there)
    assert equal(here.optimum_, model.optimum_)
    assert equal(here.conditions_, model.conditions_)
    assert rb.certify.check(model.optimum_, *there) == rb.certify.check(here.optimum_, X, y, weight)
    assert rb.certify.check(model.optimum_, *there)
    assert not rb.certify.check(model.optimum_, there[0], y[::-1], weight)
    assert max(brought) < len(y) / 4


def test_of_a_soft_margin_no_number_of_each_row_travels(client, monkeypatch):
    """But for its answer: few bits of each multiplier, and those between 0 and their price."""
    n = 200_000
    X, y = points(n=n, d=2, noise=0.4)
    monkeypatch.setattr(tile_passes, "FEW_NUMBERS", 8000)
    monkeypatch.setattr(slacks, "ASKED", 256)
    monkeypatch.setattr(slacks, "ROOT", 0)
    gather, send, received, sent = Engine.gather, Engine.map, [], []

    def gathered(engine, futures, *args, **more):
        found = gather(engine, futures, *args, **more)
        if "rosenblatt.each" in futures[0].key:  # other tasks bring the rows of working sets
            received.append(len(pickle.dumps(found)))
        return found

    def mapped(engine, function, *columns, **more):
        sent.append(n_bytes(columns))
        return send(engine, function, *columns, **more)

    monkeypatch.setattr(Engine, "gather", gathered)
    monkeypatch.setattr(Engine, "map", mapped)
    model = rb.SoftMarginClassifier(C=1e3).fit(*cut(X, y, 20_000))
    assert model.stop_reason_ is rb.StopReason.GAP_CLOSED
    assert model.trace_.rows.max() > n / 10
    assert sum(received) < 5 * n  # one number of each row would be 8 n
    assert sum(sent) < 5 * n


@pytest.mark.parametrize(
    "asked",
    [
        {"order": "shuffled"},
        {"order": "worst-mistake"},
        {"multiclass": "joint"},
    ],
    ids=str,
)
def test_what_does_not_work_on_a_cluster_says_so(client, asked):
    X, y = points(n=600)
    y = np.where(X[:, 0] > 1, "more", y)
    with pytest.raises(ValueError, match="does not work on a cluster: use order='cyclic'"):
        rb.Perceptron(**asked).fit(*cut(X, y))
    for model in (rb.KernelPerceptron(), rb.AdalineRegressor()):
        with pytest.raises(ValueError, match="works on one machine only: give X"):
            model.fit(*cut(X, y))
    with pytest.raises(ValueError, match="does not work on a cluster"):
        rb.separability(*cut(X, y), kernel=rb.kernels.RBF(1.0))


# Without a cluster -----------------------------------------------------------------------------


@pytest.mark.parametrize("tile", [256, 512])
@pytest.mark.parametrize("seed", range(8))
def test_every_row_is_in_one_piece_and_every_tile_too(tile, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.choice([1, 3, 100, 255, 256, 257, 600, 1024], 12).tolist()
    starts = np.concatenate([[0], np.cumsum(lengths)])
    pieces = _cuts(lengths, tile)
    seen = np.zeros(starts[-1], int)
    for cuts in pieces:
        assert cuts[0].start % tile == 0
        at = cuts[0].start
        for one in cuts:
            assert one.start == at == starts[one.part] + one.first
            seen[at : at + one.last - one.first] += 1
            at += one.last - one.first
        assert at % tile == 0 or at == starts[-1]
    assert (seen == 1).all()


def test_blocks_in_memory_are_mapped_and_gone_through_alike():
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6, dtype=np.int32) % 2
    from rosenblatt.data.rows import as_rows

    source = MemorySource(as_rows(X), y, 2, block_size=4)
    assert not isinstance(source, Elsewhere)
    ask = lambda piece, team, column: (piece.start, column.tolist())  # noqa: E731
    assert list(map_pieces(source, ask, None, np.arange(6))) == [(0, [0, 1, 2, 3]), (4, [4, 5])]
    assert through_pieces(source, lambda piece, total: total + piece.length, 0) == 6


def test_labels_stay_where_they_are(client, monkeypatch):
    X, y = points(40_000)
    sent, map_all = [], Engine.map

    def mapped(self, function, *columns, **given):
        if _name_of(function) == "each":  # work on all rows
            sent.append(sum(n_bytes(list(column)) for column in columns))
        return map_all(self, function, *columns, **given)

    there = da.from_array(X, chunks=(5000, -1)), da.from_array(y, chunks=5000)
    there = [one.persist() for one in there]
    monkeypatch.setattr(Engine, "map", mapped)
    proof = rb.separability(*there)
    assert rb.certify.check(proof, *there).valid
    assert len(sent) > 5
    assert sum(sent) < len(X) / 8  # less than a bit for each row
