"""Data and models of which several files draw pictures."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

import rosenblatt as rb
from pictures import fit, quietly


@pytest.fixture
def ax():
    return plt.subplots()[1]


@pytest.fixture(scope="session")
def dunkers():
    return rb.datasets.dunkers(random_state=0)


@pytest.fixture(scope="session")
def noisy(dunkers):
    return rb.datasets.flip_labels(dunkers, 0.08, random_state=1)


@pytest.fixture(scope="session")
def run():
    """A recorded run of eight updates."""
    data = rb.datasets.known_margin(40, margin=0.08, rotate=True, random_state=4)
    return data, fit(data, record=True)


@pytest.fixture(scope="session")
def trees():
    rng = np.random.default_rng(0)
    names = np.array(["ash", "birch", "cedar"])
    k = rng.integers(3, size=60)
    X = np.array([[0, 0], [5, 1], [2, 5]])[k] + 0.9 * rng.standard_normal((60, 2))
    return X, names[k], quietly(rb.Perceptron(keep="average", max_epochs=20), X, names[k])


@pytest.fixture(scope="session")
def players():
    return rb.datasets.dunkers(30, gap=1.5, random_state=3)


@pytest.fixture(scope="session")
def blurred(players):
    """Players whom no line separates, a soft margin among them, and their sides of it."""
    X = players.X + np.random.default_rng(2).normal(0.0, 2.0, players.X.shape)
    model = rb.SoftMarginClassifier(C=1).fit(X, players.y)
    return X, players.y, model, model.sides(X, players.y)


@pytest.fixture(scope="session")
def hard(players):
    return rb.MaxMarginClassifier().fit(*players)


@pytest.fixture(scope="session")
def flowers():
    """Two species that overlap in four features."""
    iris = load_iris()
    return iris.data[50:], iris.target_names[iris.target[50:]]
