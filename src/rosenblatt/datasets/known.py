"""Data sets with a hyperplane behind them, and noise in labels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import (
    brief,
    instance,
    number,
    positive_number,
    proportion,
    whole_number,
    yes_or_no,
)
from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.array_types import Floats

    RandomState = int | np.random.Generator | None


GAP = "give 0 < margin < radius"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Samples, labels, and what is known about them. Unpacks as ``X, y = dataset``.

    Parameters
    ----------
    X : array of shape (n, d)
        The samples, one per row.
    y : array of shape (n,)
        The labels, -1 and +1.
    description : str
        Where the data come from, in a sentence.
    hyperplane : Hyperplane or None
        The one the labels were made with. Where `margin` is known, the maximum-margin one.
    margin : float or None
        The largest margin any hyperplane has.
    separable : bool or None
        Whether some hyperplane separates the classes; None where nobody has looked.
    noisy : array or None
        Row numbers of the labels that were flipped, ascending.
    feature_names : tuple of str
        One name per column.
    target_names : tuple of two str
        What -1 and +1 stand for.
    """

    X: Floats
    y: NDArray[np.int64]
    description: str
    hyperplane: Hyperplane | None = None
    margin: float | None = None
    separable: bool | None = None
    noisy: NDArray[np.int64] | None = None
    feature_names: tuple[str, ...] = ()
    target_names: tuple[str, str] = ("-1", "+1")

    def __iter__(self) -> Iterator[NDArray[Any]]:
        yield self.X
        yield self.y

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Dataset({n} samples, {d} features: {self.description})"


def random_generator(random_state: Any) -> np.random.Generator:
    """The generator that `random_state` stands for."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        wanted = "give a whole number from 0, a NumPy Generator, or None"
        msg = f"random_state={brief(random_state)} is not allowed: {wanted}"
        raise ValueError(msg) from None


def balanced_labels(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Half of each label, the odd one positive, in random order."""
    y = np.ones(n, dtype=np.int64)
    y[: n // 2] = -1
    rng.shuffle(y)
    return y


def _in_ball(n: int, d: int, rng: np.random.Generator) -> Floats:
    """Points uniform in the unit ball: a direction times the d-th root of a uniform number."""
    points = rng.standard_normal((n, d))
    norms = np.sqrt(np.einsum("ij,ij->i", points, points))
    # A normal number can be exactly zero, if hardly ever.
    points /= np.maximum(norms, np.finfo(np.float64).tiny)[:, np.newaxis]
    points *= (rng.random(n) ** (1.0 / max(d, 1)))[:, np.newaxis]
    return points


def _turn(X: Floats, rng: np.random.Generator) -> Floats:
    """Turn X, in place, by an orthogonal map that takes ``e_1`` to a random direction: return it.

    One Householder reflection does, because the samples are already spread evenly around
    ``e_1``. Minus the reflection is used where ``e_1 - u`` would be small and inexact.
    """
    direction = rng.standard_normal((X.shape[1],))
    direction /= np.linalg.norm(direction)
    sign = -1.0 if direction[0] > 0 else 1.0
    v = -sign * direction
    v[0] += 1.0
    X -= np.multiply.outer(np.einsum("ij,j->i", X, v), v * (2.0 / (v @ v)))
    X *= sign
    return direction


def known_margin(
    n: int = 100,
    d: int = 2,
    *,
    margin: float = 0.1,
    radius: float = 1.0,
    rotate: bool = False,
    random_state: RandomState = None,
) -> Dataset:
    """Separable points in a ball whose maximum margin is known exactly.

    A ball is cut in two through its centre and its halves, one per class, are pulled apart along
    the first axis until a gap of ``2·margin`` is open; samples are uniform in them. So points
    crowd right up to the gap, as many as anywhere. Two opposite *witnesses* ``(margin, z)`` and
    ``(-margin, z)`` are among the samples.

    The maximum-margin hyperplane is ``w = (1, 0, ..., 0)``, ``b = 0``, with or without a bias.
    Every sample has ``y·x_1 >= margin``, exactly, also in floats. And no hyperplane does better:
    if a unit ``w`` and a ``b`` have margin ``g``, then on the witnesses::

        w·(margin, z) + b >= g    and    -w·(-margin, z) - b >= g,

    whose sum is ``2·margin·w_1 >= 2·g``, hence ``g <= margin·w_1 <= margin``. Equality needs
    ``w_1 = 1``, and then ``b = 0``: the best hyperplane is unique.

    Parameters
    ----------
    n, d : int
        Number of samples, half of each class, and of features.
    margin : float
        The maximum margin, below `radius`.
    radius : float
        All samples lie in the ball of this radius around the origin.
    rotate : bool
        Whether to turn everything by a random orthogonal map, so that the normal has a random
        direction. Margin and radius are then exact only to rounding.
    random_state : int, Generator or None
        The same one gives the same data.
    """
    whole_number("n", n, 2, "there is one witness of each class, so give at least 2 samples")
    whole_number("d", d, 1, "give at least 1 feature")
    margin, radius = number("margin", margin, wanted=GAP), number("radius", radius, wanted=GAP)
    yes_or_no("rotate", rotate)
    if not 0.0 < margin < radius < math.inf:
        msg = f"margin={margin} with radius={radius} is not allowed: give 0 < margin < radius"
        raise ValueError(msg)
    rng = random_generator(random_state)
    y = balanced_labels(n, rng)
    X = _in_halves(y, d, margin, radius, rng)
    normal = _turn(X, rng) if rotate else np.eye(1, d)[0]
    return Dataset(
        X,
        y,
        f"two halves of a ball of radius {radius:g}, pulled {2 * margin:g} apart",
        hyperplane=Hyperplane(normal),
        margin=float(margin),
        separable=True,
        feature_names=tuple(f"x{j + 1}" for j in range(d)),
    )


def _in_halves(
    y: NDArray[np.int64], d: int, margin: float, radius: float, rng: np.random.Generator
) -> Floats:
    """Samples in the halves of a ball pulled apart, two of them witnesses of the margin."""
    # The slack keeps rounding from pushing a sample out of the ball.
    slack = 8 * (d + 8) * np.finfo(np.float64).eps * radius
    half_ball = max(0.0, radius - margin - slack)
    X = _in_ball(len(y), d, rng)
    X *= half_ball
    X[:, 0] = y * (np.abs(X[:, 0]) + margin)
    witnesses = [rng.choice(np.flatnonzero(y == label)) for label in (1, -1)]
    X[witnesses, 0] = margin, -margin
    X[witnesses, 1:] = half_ball * _in_ball(1, d - 1, rng)
    return X


def eight_points() -> Dataset:
    """Eight points in the plane, a classroom example: four positive, then their mirror images.

    The maximum margin is ``√2``, by ``w = (1, 1)``, ``b = 0``. The negative class is minus the
    positive one, so the hulls are closest at ``p`` and ``-p``, where ``p`` is the point of the
    positive hull nearest to the origin. That is ``(1, 1)``, as ``(1, 1)·x >= 2`` for all four;
    half the distance from ``(1, 1)`` to ``(-1, -1)`` is ``√2``.
    """
    positive = np.array([[1.0, 1.0], [1.0, 3.0], [2.0, 1.0], [2.0, 2.0]])
    return Dataset(
        np.vstack([positive, -positive]),
        np.repeat(np.array([1, -1], dtype=np.int64), 4),
        "eight points in the plane, symmetric about the origin",
        hyperplane=Hyperplane(np.array([1.0, 1.0])),
        margin=math.sqrt(2.0),
        separable=True,
        feature_names=("x1", "x2"),
    )


def dunkers(n: int = 80, *, gap: float = 0.5, random_state: RandomState = None) -> Dataset:
    """Invented basketball players: who can dunk, from height and vertical leap.

    Inches above the average in both. An inch of height adds about 4/3 inches of standing reach,
    an inch of leap adds one, and a dunk takes 14 more than average reach and leap give: a player
    can dunk when ``4·height + 3·leap > 42``. Nobody is closer to that line than `gap`, so it
    separates; it is not the hyperplane of largest margin.

    Parameters
    ----------
    n : int
        Number of players, half of whom can dunk.
    gap : float
        The least distance of a player from the line, in inches.
    random_state : int, Generator or None
        The same one gives the same data.
    """
    whole_number("n", n, 2, "give at least 2 players, one who can dunk and one who cannot")
    gap = positive_number("gap", gap, hint=" of inches")
    rng = random_generator(random_state)
    y = balanced_labels(n, rng)
    across = y * (gap + np.abs(rng.normal(0.0, 3.0, n)))
    along = rng.normal(0.0, 4.0, n)
    # (6, 6) lies on the line, (4, 3)/5 is its unit normal, (-3, 4)/5 its direction.
    X = np.column_stack([6 + (4 * across - 3 * along) / 5, 6 + (3 * across + 4 * along) / 5])
    return Dataset(
        X,
        y,
        "basketball players and whether they can dunk (invented)",
        hyperplane=Hyperplane(np.array([4.0, 3.0]), -42.0),
        separable=True,
        feature_names=("inches above average height", "inches above average vertical leap"),
        target_names=("cannot dunk", "can dunk"),
    )


def flip_labels(dataset: Dataset, fraction: float, *, random_state: RandomState = None) -> Dataset:
    """The same samples with a share of the labels flipped, as noise in the labels would.

    The hyperplane stays the one behind the data; the margin and whether any hyperplane still
    separates are no longer known. A label flipped twice is no longer noisy.

    Parameters
    ----------
    dataset : Dataset
        The data to spoil; it is not changed.
    fraction : float
        The share of labels to flip, from 0 to 1, rounded to a whole number of samples.
    random_state : int, Generator or None
        The same one flips the same labels.
    """
    instance("dataset", dataset, Dataset, "give a data set, as those of rb.datasets")
    fraction = proportion("fraction", fraction, "give a share from 0 to 1")
    rng = random_generator(random_state)
    n = len(dataset.y)
    flipped = rng.choice(n, size=round(fraction * n), replace=False)
    y = dataset.y.copy()
    y[flipped] *= -1
    before = np.empty(0, dtype=np.int64) if dataset.noisy is None else dataset.noisy
    return replace(
        dataset,
        y=y,
        description=f"{dataset.description}, {flipped.size} of {n} labels flipped",
        margin=None,
        separable=None,
        noisy=np.setxor1d(before, flipped),
    )
