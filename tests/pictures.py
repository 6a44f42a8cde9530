"""What is in a picture: its artists by name, its words, its numbers."""

import warnings

import matplotlib as mpl
import numpy as np
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb

mpl.use("Agg")


def found(ax, gid):
    """All artists of that name."""
    return ax.findobj(lambda a: a.get_gid() == gid)


def find(ax, gid):
    """The one artist of that name."""
    (artist,) = found(ax, gid)
    return artist


def words(ax):
    """Everything that is written in a legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def heading(ax):
    """What stands above a legend."""
    return ax.get_legend().get_title().get_text()


def offsets(collection):
    """Where its markers are."""
    return np.asarray(collection.get_offsets())


def ends(arrow):
    """Start and end of an arrow, in the coordinates of the data."""
    return np.array(arrow._posA_posB)


def line_ends(line):
    """The two points by which an endless line is drawn."""
    return np.array([line.get_xy1(), line.get_xy2()])


def quietly(model, X, y):
    """The fitted model, whether or not errors are left."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def fit(data, **options):
    """A perceptron fitted to these data."""
    return quietly(rb.Perceptron(**options), *data)


def plane_of(model):
    """The hyperplane of a model of two classes."""
    return rb.Hyperplane(model.coef_[0], model.intercept_[0])
