"""Data sets that no hyperplane separates: for kernels, for cycles, for the verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.arguments import number, proportion, whole_number
from rosenblatt.datasets.known import Dataset, balanced_labels, random_generator
from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from rosenblatt.datasets.known import RandomState

RINGS = "give 0 < inner < outer"
TIGHT = 0.25  # scatter of xor below which no line separates it


def xor(n: int = 4, *, scatter: float = 0.0, random_state: RandomState = None) -> Dataset:
    """Exclusive or: +1 where exactly one of two inputs is 1. No hyperplane separates it.

    The midpoint of both classes is ``(1/2, 1/2)``: their hulls meet there. Points that are
    scattered around the four corners by less than 1/4 are not separable either: with ``x1 + x2``
    and ``x1 - x2`` as coordinates, a segment between the positive corners crosses one between the
    negative corners, whatever their points.

    Parameters
    ----------
    n : int
        Number of points, at least 4, the corners in turn.
    scatter : float
        How far, in either input, a point may be from its corner, from 0 to 1.
    random_state : int, Generator or None
        The same one gives the same data.
    """
    whole_number("n", n, 4, "there are four corners, so give at least 4 points")
    scatter = proportion("scatter", scatter)
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    corner = np.arange(n) % 4
    off = random_generator(random_state).uniform(-1.0, 1.0, (n, 2))
    return Dataset(
        corners[corner] + scatter * off,
        np.array([-1, 1, 1, -1], dtype=np.int64)[corner],
        "exclusive or of two inputs" + f", scattered by up to {scatter:g}" * bool(scatter),
        separable=False if scatter < TIGHT else None,
        feature_names=("x1", "x2"),
    )


def circles(
    n: int = 100,
    *,
    inner: float = 0.5,
    outer: float = 1.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Two rings around the origin, the outer one positive. No hyperplane separates them.

    Each ring has at least three points, evenly spaced in angle, and noise moves them only along
    their rays. Hence every half-plane through the origin holds points of both rings: the origin
    is inside both hulls, so the hulls meet, whatever the noise. Without noise the classes are
    separable in the features ``x1²`` and ``x2²``, by ``x1² + x2² = (inner² + outer²)/2``.

    Parameters
    ----------
    n : int
        Number of points, half on each ring; at least 6.
    inner, outer : float
        The radii.
    noise : float
        The relative scatter of the radii, from 0 to 1: each is multiplied by ``exp(noise·g)``
        with a standard normal ``g``.
    random_state : int, Generator or None
        The same one gives the same data.
    """
    whole_number("n", n, 6, "a ring around the origin takes 3 points, so give at least 6")
    inner, outer = number("inner", inner, wanted=RINGS), number("outer", outer, wanted=RINGS)
    if not 0.0 < inner < outer < math.inf:
        msg = f"inner={inner} with outer={outer} is not allowed: give 0 < inner < outer"
        raise ValueError(msg)
    noise = proportion("noise", noise)
    rng = random_generator(random_state)
    counts = (n - n // 2, n // 2)
    angles = np.concatenate([2 * np.pi * (rng.random() + np.arange(k)) / k for k in counts])
    radii = np.repeat([outer, inner], counts) * np.exp(noise * rng.standard_normal(n))
    X = radii[:, np.newaxis] * np.column_stack([np.cos(angles), np.sin(angles)])
    y = np.repeat(np.array([1, -1], dtype=np.int64), counts)
    order = rng.permutation(n)
    return Dataset(
        X[order],
        y[order],
        f"two rings of radius {inner:g} and {outer:g}",
        separable=False,
        feature_names=("x1", "x2"),
        target_names=("inner", "outer"),
    )


def moons(n: int = 100, *, noise: float = 0.0, random_state: RandomState = None) -> Dataset:
    """Two half circles that reach into each other, the upper one positive.

    Without noise no hyperplane separates them: the tip ``(0, 1/2)`` of the lower one lies in the
    half disc that is the hull of the upper one.

    Parameters
    ----------
    n : int
        Number of points, half on each; at least 6.
    noise : float
        The deviation of the normal numbers that are added to both features, from 0 to 1.
    random_state : int, Generator or None
        The same one gives the same data.
    """
    whole_number("n", n, 6, "a half circle takes 3 points, so give at least 6")
    noise = proportion("noise", noise)
    rng = random_generator(random_state)
    upper, lower = (np.linspace(0.0, np.pi, k) for k in (n - n // 2, n // 2))
    X = np.vstack(
        [
            np.column_stack([np.cos(upper), np.sin(upper)]),
            np.column_stack([1.0 - np.cos(lower), 0.5 - np.sin(lower)]),
        ]
    )
    y = np.repeat(np.array([1, -1], dtype=np.int64), (n - n // 2, n // 2))
    order = rng.permutation(n)
    return Dataset(
        X[order] + noise * rng.standard_normal((n, 2)),
        y[order],
        "two half moons" + f", scattered by {noise:g}" * bool(noise),
        separable=None if noise else False,
        feature_names=("x1", "x2"),
        target_names=("lower", "upper"),
    )


def touching(n: int = 30, *, random_state: RandomState = None) -> Dataset:
    """Classes that touch but do not cross: quasi-separable.

    Three points lie on the line ``x1 = 0``, one of +1 between two of -1, so that no hyperplane
    separates them; all others are at least 1/4 away from it, each class on its side. So the line
    has none on its wrong side, and it is the only one: any other has one of the three there.

    Parameters
    ----------
    n : int
        Number of points, at least 5.
    random_state : int, Generator or None
        The same one gives the same data.
    """
    whole_number("n", n, 5, "three points touch and one of each class is apart: give at least 5")
    rng = random_generator(random_state)
    y = balanced_labels(n - 3, rng)
    across = y * (0.25 + 1.5 * rng.random(n - 3))
    apart = np.column_stack([across, rng.uniform(-1.5, 1.5, n - 3)])
    order = rng.permutation(n)
    on_line = np.array([[0.0, -1.0], [0.0, 0.0], [0.0, 1.0]])
    return Dataset(
        np.vstack([on_line, apart])[order],
        np.concatenate([[-1, 1, -1], y]).astype(np.int64)[order],
        "two classes that touch on a line",
        hyperplane=Hyperplane(np.array([1.0, 0.0])),
        separable=False,
        feature_names=("x1", "x2"),
    )


def cycling() -> Dataset:
    """Six points on which the perceptron, from zero and in this order, comes back to zero.

    After three epochs its weights are those that it began with: it goes round for ever. The point
    ``(1.2, 0.2)`` lies between ``(2, -1)`` and ``(0, 2)`` of -1, and between ``(2, 0)`` and
    ``(-2, 1)`` of +1, so no hyperplane separates them.
    """
    return Dataset(
        np.array([[2.0, -1.0], [0.0, 2.0], [-1.0, 0.0], [2.0, 0.0], [0.0, 0.0], [-2.0, 1.0]]),
        np.array([-1, -1, -1, 1, -1, 1], dtype=np.int64),
        "six points on which the perceptron repeats itself every three epochs",
        separable=False,
        feature_names=("x1", "x2"),
    )
