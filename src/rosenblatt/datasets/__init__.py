"""Data sets about which something is known: the margin, the hyperplane, that there is none."""

from rosenblatt.datasets.known import (
    Dataset,
    dunkers,
    eight_points,
    flip_labels,
    known_margin,
)
from rosenblatt.datasets.shapes import circles, cycling, moons, touching, xor

__all__ = [
    "Dataset",
    "circles",
    "cycling",
    "dunkers",
    "eight_points",
    "flip_labels",
    "known_margin",
    "moons",
    "touching",
    "xor",
]
