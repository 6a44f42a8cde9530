"""A model as a diagram."""

import numpy as np
import pytest

import rosenblatt as rb
from pictures import find, fit

pytestmark = pytest.mark.usefixtures("settings_stay")


class TestNeuron:
    def test_weights(self, dunkers, ax):
        model = fit(dunkers)
        assert rb.plot.neuron(model, ax=ax, feature_names=["tall", "high"]) is ax
        written = [text.get_text() for text in ax.texts]
        for value in (*model.coef_[0], model.intercept_[0]):
            assert f"{value:.3g}".replace("-", "−") in written
        assert {"tall", "high", "−1", "+1", "Σ"} <= set(written)
        widths = [find(ax, f"weight 0 {j}").get_linewidth() for j in range(2)]
        assert (widths[0] > widths[1]) == (abs(model.coef_[0, 0]) > abs(model.coef_[0, 1]))

    @pytest.mark.parametrize("name", ["h", "ht", "身長", "😀😀"])
    def test_names_stand_beside_the_circles(self, name):
        ax = rb.plot.neuron(rb.Hyperplane([2.0, -2.0], 0.0), feature_names=[name, "x"])
        circles = [patch for patch in ax.patches if hasattr(patch, "get_radius")]
        edge = min(patch.center[0] - patch.get_radius() for patch in circles)
        (text,) = [text for text in ax.texts if text.get_text() == name]
        assert text.get_ha() == "right"
        assert text.get_position()[0] < edge
        # In a font that has them, these letters are as wide as high: they must fit at the left.
        wide = 2 * len(name) * 0.09
        assert text.get_position()[0] - wide > ax.get_xlim()[0]

    def test_signs_differ_without_colour(self):
        ax = rb.plot.neuron(rb.Hyperplane([2.0, -2.0], 0.0))
        styles = [find(ax, f"weight 0 {j}").get_linestyle() for j in range(2)]
        assert styles[0] != styles[1]

    def test_many_features(self):
        w = np.arange(30.0)
        written = [text.get_text() for text in rb.plot.neuron(rb.Hyperplane(w)).texts]
        assert "… 22 more" in written
        assert "x30" in written
        assert "x22" not in written

    def test_several_classes(self, trees):
        ax = rb.plot.neuron(trees[2])
        written = [text.get_text() for text in ax.texts]
        assert written.count("Σ") == 3
        assert {"ash", "birch", "cedar"} <= set(written)

    def test_textbook(self):
        written = [text.get_text() for text in rb.plot.neuron().texts]
        assert {"$x_1$", "$x_n$", "$w_1$", "$b$", "⋮"} <= set(written)


def test_nerve_cell_has_each_part_twice(ax):
    assert rb.plot.nerve_cell(ax=ax) is ax
    written = [text.get_text() for text in ax.texts]
    for number in "234":  # the input of the bias is another 1
        assert written.count(number) == 2
    parts = ("dendrites", "inputs", "synapses", "weights", "cell body", "axon", "output")
    assert {*parts, "sum and threshold"} <= set(written)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text() in parts]
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
