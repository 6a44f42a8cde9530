"""What is given to a cluster is refused where memory refuses it, and means the same elsewhere."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

import rosenblatt as rb
from rosenblatt.cluster.engine import ClusterError
from rosenblatt.contract import classifier
from rosenblatt.results.calibration import SigmoidCurve

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="the extra dask is not installed")
bag = pytest.importorskip("dask.bag", reason="the extra dask is not installed")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.compiled,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

N = 60
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 3))
Y = np.where(X[:, 0] + RNG.normal(size=N) > 0, "yes", "no")
W = RNG.uniform(0.5, 2, size=N)
THERE = da.from_array(X, chunks=(20, -1))
FRAME = pd.DataFrame(X, columns=list("abc"))
FRAME_THERE = dd.from_pandas(FRAME, npartitions=3)


def cut(column, *sizes):
    return da.from_array(column, chunks=(sizes, *((-1,) * (np.ndim(column) - 1))))


def perceptron():
    return rb.Perceptron(max_epochs=3)


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return perceptron().fit(X, Y)


def line_of(kind, ask, *args, **given):
    """What is said in one line."""
    with pytest.raises(kind) as error:
        ask(*args, **given)
    assert "\n" not in str(error.value)
    return str(error.value)


def same_line(ask, there, here):
    """The error of memory."""
    with pytest.raises((ValueError, TypeError)) as wanted:
        ask(*here)
    assert line_of(type(wanted.value), ask, *there) == str(wanted.value)


# How the blocks are cut ------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [(10, 30, 20), (60,), (1,) * 60])
def test_weights_cut_in_another_way_are_those_of_the_same_rows(client, weights):
    afar = perceptron().fit(THERE, cut(Y, 20, 20, 20), cut(W, *weights))
    assert np.array_equal(afar.coef_, perceptron().fit(X, Y, W).coef_)


def test_labels_in_as_many_blocks_with_other_edges(client):
    here = perceptron().fit(X, Y)
    assert np.array_equal(perceptron().fit(THERE, cut(Y, 10, 30, 20)).coef_, here.coef_)
    y = dd.from_pandas(pd.Series(Y), npartitions=1).repartition(divisions=[0, 5, 45, 59])
    assert np.array_equal(perceptron().fit(FRAME_THERE, y).coef_, here.coef_)


def test_other_numbers_of_weights_are_refused(client):
    y = cut(Y, 20, 20, 20)
    for weight in (np.ones(90), np.ones(3), np.ones(59)):
        there = da.from_array(weight, chunks=len(weight) // 3)
        told = line_of(ValueError, perceptron().fit, THERE, y, there)
        assert told == f"sample_weight has {len(weight)} entries but X has 60 rows"
    # blocks that are not as long as their array says
    short = cut(W, 20, 20, 20).map_blocks(lambda block: block[:7], dtype=float)
    told = line_of(ClusterError, perceptron().fit, THERE, y, short)
    assert told == "block 0 of X: 20 rows of X but 7 weights"


# Shapes ----------------------------------------------------------------------------------------


def test_labels_in_a_column_are_taken_with_the_warning_of_memory(client):
    here = perceptron().fit(X, Y)
    frame = pd.DataFrame({"y": Y})
    for y in (
        Y[:, np.newaxis],
        cut(Y[:, np.newaxis], 20, 40),
        dd.from_pandas(frame, npartitions=2),
    ):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            there = perceptron().fit(THERE, y)
        assert np.array_equal(there.coef_, here.coef_)


def test_several_columns_are_no_labels_and_no_weights(client):
    two = pd.DataFrame({"y": Y, "z": Y})
    told = line_of(ValueError, perceptron().fit, FRAME_THERE, dd.from_pandas(two, npartitions=3))
    assert told == "y has 2 columns: give one, a label for each row"
    there = dd.from_pandas(pd.DataFrame({"w": W, "v": W}), npartitions=3)
    told = line_of(ValueError, perceptron().fit, FRAME_THERE, dd.from_pandas(two.y, 3), there)
    assert told == "sample_weight has 2 dimensions: give a number for each row"
    same_line(perceptron().fit, (THERE, np.stack([Y, Y], 1)), (X, np.stack([Y, Y], 1)))
    same_line(perceptron().fit, (THERE, "yes"), (X, "yes"))


@pytest.mark.parametrize("name", ["X", "y"])
def test_other_collections_are_refused(client, model, name):
    for other in (bag.from_sequence([1, 2]), dask.delayed(list)([1, 2])):
        given = {"X": THERE, "y": cut(Y, 20, 40)} | {name: other}
        told = line_of(TypeError, perceptron().fit, given["X"], given["y"])
        assert (
            told == f"{name} is a {type(other).__name__} of Dask's: give a Dask array or data frame"
        )
        if name == "X":
            for ask in (model.predict, model.decision_function, rb.TableEncoder().fit):
                assert line_of(TypeError, ask, other) == told
            assert line_of(TypeError, rb.open, other, engine=client) == told
        assert line_of(TypeError, model.score, given["X"], given["y"]) == told


def test_a_vector_is_no_table(client, model):
    for other in (THERE[:, 0], FRAME_THERE["a"]):
        for ask in (model.predict, model.decision_function, rb.TableEncoder().fit):
            told = line_of(ValueError, ask, other)
            assert told == "X has 1 dimension: give rows of samples and columns of features"


def test_names_that_are_texts_and_numbers_are_refused(client):
    mixed = FRAME_THERE.rename(columns={"b": 1})
    with pytest.raises(TypeError):
        perceptron().fit(mixed.compute(), Y)
    told = line_of(TypeError, perceptron().fit, mixed, Y)
    assert told == "the names of X's columns are texts and others: give X.rename(columns=str)"
    there = perceptron().fit(mixed.rename(columns=str), Y)
    assert there.feature_names_in_.tolist() == ["a", "1", "c"]
    assert rb.separability(mixed, Y).problem.features == ("a", "1", "c")


# Values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [None, object])
@pytest.mark.parametrize("numbers", [0, 2])
def test_labels_of_two_kinds_are_refused(client, kind, numbers):
    def change(block, block_id=None):
        return np.arange(20) % 2 if block_id[0] == numbers else block.astype(kind or block.dtype)

    y = cut(Y, 20, 20, 20).map_blocks(change, dtype=Y.dtype, meta=Y[:0])
    for ask in (perceptron().fit, perceptron().fit(X, Y).score):
        told = line_of(ValueError, ask, THERE, y)
        assert told == "y holds labels that cannot be sorted: give labels of one type"
    told = line_of(ClusterError, perceptron().fit, da.from_array(X, chunks=(60, -1)), y)
    assert told == "block 0 of X: y holds labels that cannot be sorted: give labels of one type"


def test_dense_and_sparse_blocks_are_refused(client):
    sparse = da.from_delayed(dask.delayed(csr_matrix)(X[20:]), (40, 3), X.dtype)
    mixed = da.concatenate([da.from_array(X[:20], chunks=(20, -1)), sparse])
    told = line_of(ClusterError, perceptron().fit, mixed, Y)
    assert told == "block 1 of X is sparse, but block 0 is dense: give all the same"


@pytest.mark.parametrize(
    "model", [rb.Perceptron(), rb.Adaline(), rb.MaxMarginClassifier(), rb.SoftMarginClassifier()]
)
def test_weights_that_are_all_zero_are_refused_as_in_memory(client, model):
    y, zero = cut(Y, 20, 20, 20), np.zeros(N)
    for weight in (zero, cut(zero, 20, 20, 20)):
        same_line(model.fit, (THERE, y, weight), (X, Y, zero))
    frame = FRAME_THERE.assign(y=dd.from_pandas(pd.Series(Y), npartitions=3))
    with rb.open(frame, target="y", engine=client) as source:
        same_line(model.fit, (source, None, cut(zero, 60)), (X, Y, zero))


@pytest.mark.parametrize("bias", [True, False, np.False_, None, 0, 1, "no"])
def test_the_bias_of_a_bound(client, bias):
    y = X[:, 0] + X[:, 1] > 0

    def ask(X, y):
        return rb.mistake_bound(X, y, fit_intercept=bias)

    if bias in (True, False, None) and not isinstance(bias, int | str):
        assert repr(ask(THERE, y)) == repr(ask(X, y))
    elif not isinstance(bias, bool):
        same_line(ask, (THERE, y), (X, y))


@pytest.mark.parametrize("encoder", [None, rb.TableEncoder()])
@pytest.mark.parametrize("target", [None, "a"])
def test_an_empty_frame_cannot_be_opened(client, encoder, target):
    if encoder is not None:
        encoder.fit(FRAME)
    given = {"target": target, "encoder": encoder, "engine": client}
    told = line_of(ValueError, rb.open, FRAME_THERE[FRAME_THERE.a > 99], **given)
    assert told == "DataFrame has no rows: give at least one"


# Answers ---------------------------------------------------------------------------------------

ONE = {"y": Y}
LABELS = {
    "vector": Y,
    "column": Y[:, np.newaxis],
    "others": np.full(N, "perhaps"),
    "objects": Y.astype(object),
}
WEIGHTS = {"vector": W, "some negative": W - 0.7, "some zero": W * (W > 1)}
BAD_WEIGHTS = {
    "one": W[:1],
    "zero": 0 * W,
    "too many": np.ones(90),
    "column": W[:, np.newaxis],
    "not finite": np.where(W > 1, np.nan, W),
}
BAD_LABELS = {
    "one": Y[:1],
    "too few": Y[:40],
    "numbers": np.arange(N) % 2,
    "other numbers": W,
    "missing": np.full(N, np.nan),
}


class TestScores:
    @pytest.mark.parametrize("name", LABELS)
    def test_labels(self, client, model, name):
        y, wanted = LABELS[name], model.score(X, LABELS[name])
        for there in (y, cut(y, 60), cut(y, 50, 10), cut(y, 20, 20, 20)):
            assert model.score(THERE, there) == wanted
            assert model.score(THERE, there, W) == model.score(X, y, W)

    def test_frames(self, client, model):
        frame = dd.from_pandas(pd.DataFrame({"y": Y, "z": Y}), npartitions=2)
        wanted = model.score(X, Y)
        for y in (frame["y"], frame[["y"]]):
            assert model.score(THERE, y) == wanted
            assert model.score(THERE, y, W) == model.score(X, Y, W)
        told = line_of(ValueError, model.score, THERE, frame)
        assert told == "y has 2 columns: give one, a label for each row"

    @pytest.mark.parametrize("name", WEIGHTS)
    def test_weights(self, client, model, name):
        weight, y = WEIGHTS[name], cut(Y, 30, 30)
        wanted = model.score(X, Y, weight)
        assert model.score(THERE, y, weight) == wanted
        assert model.score(THERE, y, cut(weight, 20, 40)) == wanted

    @pytest.mark.parametrize("name", BAD_WEIGHTS)
    def test_weights_that_are_refused(self, client, model, name):
        weight = BAD_WEIGHTS[name]
        for there in (weight, cut(weight, len(weight))):
            same_line(model.score, (THERE, Y, there), (X, Y, weight))

    @pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
    @pytest.mark.parametrize("name", BAD_LABELS)
    def test_labels_that_are_refused(self, client, model, name):
        y = BAD_LABELS[name]
        for there in (y, cut(y, len(y))):
            same_line(model.score, (THERE, there), (X, y))

    def test_no_rows(self, client, model):
        assert "X has no rows" in line_of(ValueError, model.score, THERE[:0], cut(Y, 60)[:0])

    def test_need_no_cluster(self, model):
        with dask.config.set(scheduler="synchronous"):
            assert model.score(THERE, cut(Y, 60)) == model.score(X, Y)


def test_a_task_is_done_by_one_thread(client, monkeypatch):
    model, asked = rb.Perceptron(max_epochs=2, n_jobs=4).fit(X, Y), []
    monkeypatch.setattr(classifier, "count_threads", lambda n: asked.append(n) or 1)
    model.predict(THERE).compute(scheduler="synchronous")
    assert asked == [1, 1, 1]
    assert model.n_jobs == 4


def test_what_works_on_one_machine_refuses_to_bring_the_data_here(client):
    kernel = rb.KernelPerceptron(max_epochs=2).fit(X, Y)
    regressor = rb.AdalineRegressor(max_epochs=2).fit(X, W)
    optimum = rb.SoftMarginClassifier().fit(X, Y).optimum_
    y = cut(Y, 60)
    asked = {
        "KernelPerceptron": [kernel.predict, kernel.decision_function, kernel.fit, kernel.score],
        "AdalineRegressor": [regressor.predict, regressor.fit, regressor.score],
        "soft_margin_path": [rb.soft_margin_path],
        "conditions": [lambda X, y: rb.certify.conditions(optimum, X, y)],
    }
    for name, several in asked.items():
        for ask in several:
            given = (THERE,) if ask.__name__ in ("predict", "decision_function") else (THERE, y)
            told = line_of(ValueError, ask, *given)
            assert told == f"{name} works on one machine only: give X.compute()"


def test_probabilities_are_lazy(client):
    here = perceptron().fit(X, Y)
    here.calibration_ = (SigmoidCurve(-0.7, 0.1),)
    there = here.predict_proba(THERE)
    assert there.chunks == ((20, 20, 20), (2,))
    assert np.array_equal(there.compute(), here.predict_proba(X))
