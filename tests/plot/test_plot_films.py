"""Films of kernel perceptrons and of the delta rule: what is shown is what the run did."""

import numpy as np
import pytest

import rosenblatt as rb
from pictures import find, found, offsets, quietly

pytestmark = pytest.mark.usefixtures("settings_stay")


@pytest.fixture(scope="module")
def rings():
    return rb.datasets.circles(30, random_state=0)


@pytest.fixture(scope="module")
def curved(rings):
    return rb.KernelPerceptron(kernel="poly", degree=2, fit_intercept=True, record=True).fit(*rings)


def title(film):
    return film._fig.axes[0].get_title(loc="left")


def test_each_curve_is_that_of_the_run(rings, curved):
    film = rb.plot.animate(curved, *rings)
    ax, record = film._fig.axes[0], curved.trace_.updates
    K = curved.kernel_(rings.X, rings.X) + 1
    for t in (1, 3, len(record), 2):
        film._func(t)
        f = K[:, record.sample[:t]] @ record.step[:t]
        wrong = int((np.where(f > 0, 1, -1) != rings.y).sum())
        assert title(film).startswith(f"update {t} of {len(record)}, epoch {record.epoch[t - 1]}")
        assert f"{wrong} of 30 wrong" in title(film)
        assert np.array_equal(offsets(find(ax, "mistakes")), rings.X[[record.sample[t - 1]]])
        assert len(offsets(find(ax, "support"))) == len(set(record.sample[:t].tolist()))
    film._func(len(record))
    assert title(film).endswith("0 of 30 wrong – separated")
    (curve,) = found(ax, "boundary")
    values = curved.decision_function(np.vstack([p.vertices for p in curve.get_paths()]))
    assert values == pytest.approx(np.zeros(len(values)), abs=0.05 * np.abs(K).max())
    film._draw_was_started = True


def test_film_ends_with_what_is_kept(tmp_path, rings):
    model = rb.KernelPerceptron(kernel="rbf", keep="vote", record=True).fit(*rings)
    film = rb.plot.animate(model, *rings, tmp_path / "a.gif", max_frames=3, fps=1)
    assert list(film.new_saved_frame_seq())[-1] == -1
    film._func(-1)
    assert title(film) == f"the vector that is kept: {model.n_errors_} of 30 wrong"
    assert (tmp_path / "a.gif").stat().st_size < 100_000


def test_delta_rule_epoch_by_epoch(run):
    data, _ = run
    model = quietly(
        rb.Adaline(order="shuffled", init="random", random_state=3, max_epochs=6), *data
    )
    film = rb.plot.animate(model, *data)
    seen = []
    again = rb.Adaline(
        order="shuffled", init="random", random_state=3, max_epochs=6, callback=seen.append
    )
    quietly(again, *data)
    for t in (1, 4, 6):
        film._func(t)
        (plane,) = seen[t - 1].hyperplanes
        at = np.column_stack(find(film._fig.axes[0], "hyperplane").get_data())
        assert plane.distance(at) == pytest.approx([0, 0], abs=1e-9)
        loss = rb.theory.squared_loss(plane, *data)
        assert title(film).startswith(f"epoch {t} of 6: ")
        assert f"wrong, loss {loss:.3g}" in title(film)
    assert title(film).endswith("– epoch limit")
    film._func(0)
    assert title(film).startswith("start: ")
    film._draw_was_started = True


def test_refuses(rings, curved, trees):
    noisy = rb.datasets.flip_labels(rings, 0.2, random_state=0)
    for given, said in (
        ({}, "fit with record=True"),
        ({"record": True, "drop_after": 2}, "dropped or forgotten"),
        ({"record": True, "budget": 3}, "dropped or forgotten"),
    ):
        model = quietly(rb.KernelPerceptron(kernel="poly", degree=2, max_epochs=9, **given), *noisy)
        with pytest.raises(ValueError, match=said):
            rb.plot.animate(model, *noisy)
    for other in ((rings.X[::-1], rings.y), (rings.X, -rings.y), (rings.X[:2], rings.y[:2])):
        with pytest.raises(ValueError, match="X, y are not what this run was recorded with"):
            rb.plot.animate(curved, *other)
    three = rb.KernelPerceptron(kernel="poly", record=True).fit(np.eye(3), [0, 1, 0])
    with pytest.raises(ValueError, match="the model has 3 features"):
        rb.plot.animate(three, np.eye(3), [0, 1, 0])
    own = rb.KernelPerceptron(kernel="precomputed", record=True).fit(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match="the kernel is precomputed"):
        rb.plot.animate(own, np.eye(2), [0, 1])
    X, y, _ = trees
    with pytest.raises(ValueError, match="the model has 3 classes"):
        rb.plot.animate(quietly(rb.Adaline(max_epochs=2), X, y), X, y)
    numbers = quietly(rb.AdalineRegressor(max_epochs=2), rings.X, rings.X[:, 0])
    with pytest.raises(ValueError, match="AdalineRegressor has no coef_, intercept_ and classes_"):
        rb.plot.animate(numbers, *rings)
