"""What is in a picture: its artists by name, its words, its numbers."""

import matplotlib as mpl
import numpy as np

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
