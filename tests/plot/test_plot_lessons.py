"""Pictures for the blackboard."""

import numpy as np
import pytest

import rosenblatt as rb
from pictures import ends, find, offsets, plane_of, words

pytestmark = pytest.mark.usefixtures("settings_stay")


class TestFan:
    def test_margins_are_those_of_the_fits(self, ax):
        data = rb.datasets.eight_points()
        models = {
            "a": rb.Perceptron(),
            "b": rb.Perceptron(fit_intercept=False),
            "c": rb.Perceptron(init=[3, -1, 0], eta0=0.1),
        }
        assert rb.plot.fan(ax=ax, models=models) is ax
        margins = {name: plane_of(m).margin(*data) for name, m in models.items()}
        ranked = sorted(margins, key=lambda name: -margins[name])
        assert ranked == ["b", "a", "c"]
        for rank, name in enumerate(ranked):
            assert words(ax)[rank + 1].startswith(f"{margins[name]:.3f} {name}")
            on_it = find(ax, f"line {rank}").get_xy1()
            assert plane_of(models[name]).distance(on_it) == pytest.approx(0, abs=1e-12)

    def test_best_is_the_root_of_two(self):
        data = rb.datasets.eight_points()
        ax = rb.plot.fan()
        assert words(ax)[1].startswith(f"{np.sqrt(2):.3f} ")
        values = data.hyperplane.decision_function(find(ax, "band").get_xy()) / data.hyperplane.norm
        assert (values.min(), values.max()) == pytest.approx((-np.sqrt(2), np.sqrt(2)))
        shown = [float(text.split()[0]) for text in words(ax)[1:]]
        assert len(set(shown)) == 6
        assert all(0 < margin <= data.margin for margin in shown[1:])

    def test_refuses(self):
        with pytest.raises(ValueError, match="models is empty"):
            rb.plot.fan(models={})


class TestBias:
    def test_feet(self, ax):
        assert rb.plot.bias(ax=ax) is ax
        assert offsets(find(ax, "foot 0"))[0] == pytest.approx([0, 0])
        assert offsets(find(ax, "foot 1"))[0] == pytest.approx([2, 2])
        assert ends(find(ax, "normal 1")) == pytest.approx(np.array([[2, 2], [3, 3]]))
        assert any("foot (2, 2)\n2.83 along w" in text.get_text() for text in ax.texts)
        against = rb.plot.bias(biases=[2])
        assert any("1.41 against w" in text.get_text() for text in against.texts)

    @pytest.mark.parametrize("w", [(-2, 1), (0, 1), (3, 0)])
    def test_lines(self, w):
        ax = rb.plot.bias(w=w, biases=[5])
        on_it = np.array([find(ax, "line 0").get_xy1(), find(ax, "line 0").get_xy2()])
        assert on_it @ w + 5 == pytest.approx([0, 0], abs=1e-9)

    def test_refuses(self):
        with pytest.raises(ValueError, match="not both zero"):
            rb.plot.bias(w=(0, 0))
        with pytest.raises(ValueError, match="give one or more"):
            rb.plot.bias(biases=())


def test_losses_are_those_of_the_theory(ax):
    assert rb.plot.losses(ax=ax) is ax
    written = {text.get_text() for text in ax.texts}
    for name, loss in rb.theory.losses.items():
        z, values = find(ax, name).get_data()
        assert np.array_equal(values, loss(z))
        assert name.replace("_", "-") in written


def test_some_losses():
    ax = rb.plot.losses(names=["hinge", "logistic"])
    assert {text.get_text() for text in ax.texts} >= {"hinge", "logistic"}
    assert len(ax.lines) == 2
    with pytest.raises(ValueError, match=r"names=\['l1'\] is not allowed: give some of zero_one"):
        rb.plot.losses(names=["l1"])


def test_objective_shows_what_goes_wrong(ax):
    assert rb.plot.objective(ax=ax) is ax
    X, y, good, _ = rb.theory.all_samples_counterexample()

    def turned(degrees):
        return rb.Hyperplane(np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]))

    degrees, every = find(ax, "all samples").get_data()
    _, wrong = find(ax, "wrong samples").get_data()
    for k in range(0, len(degrees), 60):
        assert every[k] == rb.theory.all_samples_objective(turned(degrees[k]), X, y)
        assert wrong[k] == rb.theory.perceptron_loss(turned(degrees[k]), X, y) / 4
    least = turned(degrees[np.argmin(every)])
    assert rb.theory.zero_one_loss(least, X, y) == 0.75
    assert {h.margin(X, y) > 0 for h in map(turned, degrees[wrong == 0])} == {True}
    inset = ax.child_axes[0]
    assert (inset.get_xlabel(), inset.get_ylabel()) == ("x1", "x2")
    assert "samples" in inset.get_title()
    notes = " ".join(text.get_text().replace("\n", " ") for text in inset.texts)
    for says in ("this far sample outweighs the three wrong ones", "dashed: least", "solid: sep"):
        assert says in notes
    tip = ends(find(inset, "far"))[1]
    assert np.hypot(*(X - tip).T).argmin() == np.hypot(*X.T).argmax()
    assert np.array_equal(offsets(find(inset, "wrong")), X[least.predict(X) != y])
    assert good.distance(find(inset, "good").get_xy1()) == pytest.approx(0, abs=1e-12)
