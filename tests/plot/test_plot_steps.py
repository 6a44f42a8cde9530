"""Recorded updates and cycles: what is drawn is what the run did."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.sparse import csr_matrix

import rosenblatt as rb
from pictures import ends, find, fit, found, offsets, quietly, words

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("settings_stay"),
]


class TestUpdates:
    def test_old_plus_step_is_new(self, run):
        data, model = run
        updates = model.trace_.updates
        axes = rb.plot.updates(model, *data, first=4)
        assert len(axes) == 4
        for t, ax in enumerate(axes):
            old, new = (updates.hyperplane(k, data.X) for k in (t, t + 1))
            step, after = ends(find(ax, "step")), ends(find(ax, "new w"))
            assert step == pytest.approx(np.array([old.w, new.w]))
            assert after == pytest.approx(np.array([[0, 0], new.w]))
            i = updates.sample[t]
            assert step[1] - step[0] == pytest.approx(data.y[i] * data.X[i])
            assert np.array_equal(offsets(find(ax, "mistakes")), data.X[[i]])
            line = find(ax, "new line")
            assert new.distance([line.get_xy1(), line.get_xy2()]) == pytest.approx([0, 0], abs=1e-9)
            if t:
                assert ends(find(ax, "old w")) == pytest.approx(np.array([[0, 0], old.w]))
                assert old.distance(find(ax, "old line").get_xy1()) == pytest.approx(0, abs=1e-9)
            assert ax.get_title().startswith(f"update {t + 1}, epoch {updates.epoch[t]}\n")
        assert not found(axes[0], "old w")
        assert not found(axes[0], "old line")

    def test_draws_as_many_as_there_are(self):
        data = rb.datasets.eight_points()
        assert len(rb.plot.updates(fit(data, record=True), *data)) == 1

    def test_names_of_the_features(self, run):
        pandas = pytest.importorskip("pandas")
        data, model = run
        axes = rb.plot.updates(model, *data, feature_names=["tall", "high"])
        assert {ax.get_xlabel() for ax in axes} == {"tall"}
        assert axes[0].get_ylabel() == "high"
        film = rb.plot.animate(model, *data, feature_names=["tall", "high"])
        assert film._fig.axes[0].get_ylabel() == "high"
        film._draw_was_started = True
        named = rb.Perceptron(record=True)
        named.fit(pandas.DataFrame(data.X, columns=["a", "b"]), data.y)
        assert rb.plot.updates(named, *data)[0].get_xlabel() == "a"
        with pytest.raises(ValueError, match="feature_names has 1 names for 2 features"):
            rb.plot.updates(model, *data, feature_names=["tall"])
        with pytest.raises(ValueError, match="feature_names has 1 names for 2 features"):
            rb.plot.animate(model, *data, feature_names=["tall"])

    def test_vectors_and_their_names_can_be_told_apart(self, dunkers):
        model = fit(dunkers, record=True)
        axes = rb.plot.updates(model, *dunkers)
        axes[0].figure.canvas.draw()
        for ax in axes:
            points = found(ax, "class 0")[0]
            names = {text.get_text(): text for text in ax.texts}
            arrows = [find(ax, gid) for gid in ("step", "old w", "new w") if found(ax, gid)]
            for arrow in arrows:
                assert arrow.get_zorder() > points.get_zorder()
                assert arrow.get_path_effects()
            step, new = find(ax, "step"), find(ax, "new w")
            assert step.get_linewidth() > new.get_linewidth() + 2
            assert step.get_zorder() < new.get_zorder()
            boxes = [text.get_window_extent() for text in names.values()]
            for k, box in enumerate(boxes):
                assert not any(box.overlaps(other) for other in boxes[:k])

    def test_axes_given(self, run):
        data, model = run
        _, axes = plt.subplots(1, 3)
        before = plt.get_fignums()
        drawn = rb.plot.updates(model, *data, axes=axes)
        assert list(drawn) == list(axes)
        assert plt.get_fignums() == before

    def test_batch_adds_the_sum(self, run):
        data, _ = run
        model = fit(data, record=True, update="batch", eta0=0.01)
        updates = model.trace_.updates
        ax = rb.plot.updates(model, *data, first=1)[0]
        mistakes = updates.sample[updates.update == 0]
        assert np.array_equal(offsets(find(ax, "mistakes")), data.X[mistakes])
        start, end = ends(find(ax, "step"))
        total = 0.01 * (data.y[mistakes] @ data.X[mistakes])
        assert (end - start) / np.hypot(*(end - start)) == pytest.approx(total / np.hypot(*total))
        assert "vectors drawn × 5" in ax.get_title()
        assert end - start == pytest.approx(5 * total)

    def test_far_from_the_origin(self, run):
        data, _ = run
        X = csr_matrix(data.X + np.array([300, 200]))
        model = quietly(rb.Perceptron(record=True, max_epochs=3), X, data.y)
        ax = rb.plot.updates(model, X, data.y, first=1)[0]
        assert "not at the origin" in ax.get_title()
        assert ax.get_xlim()[0] > 290

    def test_refuses(self, run, trees):
        data, model = run
        with pytest.raises(ValueError, match="no record of its updates: fit with record=True"):
            rb.plot.updates(fit(data), *data)
        adaline = quietly(rb.Adaline(max_epochs=5, tol=None), *data)
        with pytest.raises(ValueError, match=r"use rb.Perceptron\(record=True\)"):
            rb.plot.updates(adaline, *data)
        cube = rb.datasets.known_margin(20, 3, random_state=0)
        with pytest.raises(ValueError, match="the model has 3 features: only runs with two"):
            rb.plot.updates(fit(cube, record=True), *cube)
        X, y, several = trees
        with pytest.raises(ValueError, match="the model has 3 classes: only runs with two"):
            rb.plot.updates(several, X, y)
        with pytest.raises(ValueError, match="first=0 is not allowed"):
            rb.plot.updates(model, *data, first=0)
        with pytest.raises(ValueError, match="X, y are not what this run was recorded with"):
            rb.plot.updates(model, data.X[::-1], data.y[::-1])
        with pytest.raises(ValueError, match="X, y are not what this run was recorded with"):
            rb.plot.updates(model, data.X[:2], data.y[:2])
        done = fit(data, record=True, init=np.append(data.hyperplane.w, 0.0))
        with pytest.raises(ValueError, match="made no updates"):
            rb.plot.updates(done, *data)


# Cycles ---------------------------------------------------------------------------------------


def sandwich(**options):
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-1, 1, -1])
    return rb.Perceptron(record=True, **options).fit(X, y), X, y


@pytest.fixture(scope="module")
def around():
    """A run that repeats itself, and its picture."""
    model, X, y = sandwich()
    return model, X, y, rb.plot.cycle(model, X, y)


def test_the_walk_is_the_run(around):
    model, X, _, ax = around
    updates = model.trace_.updates
    theta = np.array([[p.w[0], p.b] for p in (updates.hyperplane(t, X) for t in range(8))])
    tail = np.column_stack(find(ax, "tail").get_data())
    assert np.array_equal(tail, theta[:4])
    for t in range(3, 7):
        assert np.array_equal(ends(find(ax, f"update {t + 1}")), theta[t : t + 2])
    assert not found(ax, "update 3")
    assert np.array_equal(offsets(find(ax, "entry"))[0], theta[7])
    assert "after epoch 1, and every 2 epochs again" in words(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("w", "b")


def test_samples_are_lines_with_their_right_side(around):
    _, X, y, ax = around
    for x, name in zip(X[:, 0], ("−1", "0", "1"), strict=True):
        line = find(ax, f"sample {name}")
        for w, b in (line.get_xy1(), line.get_xy2()):
            assert x * w + b == pytest.approx(0, abs=1e-12)
        assert f"x = {name}" in [text.get_text() for text in ax.texts]
    ticks = np.array([ends(tick) for tick in found(ax, "right side")])
    assert len(ticks) == 6
    for foot, tip in ticks:
        on = [k for k in range(3) if X[k, 0] * foot[0] + foot[1] == pytest.approx(0, abs=1e-9)]
        assert any(y[k] * (X[k, 0] * tip[0] + tip[1]) > 1e-9 for k in on)


def test_two_features_have_their_biases():
    X, y = rb.datasets.xor()
    ax = rb.plot.cycle(rb.Perceptron(record=True).fit(X, y), X, y)
    written = {text.get_text() for text in ax.texts}
    assert written == {"b = 0, −1", "b = 0", "b = 1"}
    assert not found(ax, "tail")
    assert offsets(find(ax, "update 1")).tolist() == [[0, 0]]  # (0, 0) of -1: the bias alone
    assert all(find(ax, f"update {t}").get_visible() for t in (2, 3, 4))
    assert "only the bias changes" in words(ax)
    assert "after epoch 0, and every epoch again" in words(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("w1", "w2")


def test_many_features_and_many_updates():
    rng = np.random.default_rng(5)
    X, y = rng.integers(-2, 3, (7, 3)).astype(float), np.array([0, 1, 0, 1, 0, 1, 1])
    model = rb.Perceptron(record=True).fit(X, y)
    ax = rb.plot.cycle(model, X, y)
    loop = np.column_stack(find(ax, "loop").get_data())
    on_it = int((model.trace_.updates.epoch > model.certificate_.entry).sum())
    assert len(loop) == on_it + 1
    assert loop[0] == pytest.approx(loop[-1], abs=1e-9)
    assert f"the cycle: {on_it} updates" in words(ax)
    assert "shadow of 4 weights" in words(ax)


def test_batches_are_black():
    model, X, y = sandwich(update="batch")
    ax = rb.plot.cycle(model, X, y)
    updates = model.trace_.updates
    sizes = np.bincount(updates.update)
    assert {*sizes} == {1, 3}
    for t, size in enumerate(sizes, 1):
        if found(ax, f"update {t}"):
            black = mpl.colors.same_color(find(ax, f"update {t}").get_edgecolor(), "#222222")
            assert black == (size > 1)
    assert "several mistakes at once" in words(ax)


def test_cycle_refuses(dunkers):
    with pytest.raises(ValueError, match="ended with SEPARATED: give one that ended with CYCLE"):
        rb.plot.cycle(rb.Perceptron(record=True).fit(*dunkers), *dunkers)
    X, y = rb.datasets.xor()
    with pytest.raises(ValueError, match="fit with record=True"):
        rb.plot.cycle(rb.Perceptron().fit(X, y), X, y)
    model = rb.Perceptron(record=True).fit(X, y)
    for other in ((2 * X, y), (X, -y), (X[:3], y[:3])):
        with pytest.raises(ValueError, match="X, y are not what this run was recorded with"):
            rb.plot.cycle(model, *other)
