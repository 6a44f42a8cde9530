"""Bounds where several classes are one problem: the perceptron's, for Kesler's vectors.

A mistake adds one of these vectors, and any other that a sample has is no worse off: so the bounds
and their proofs are those of two classes, with ``R = √2·max‖x̃‖`` and with the margin
``γ = min (θ_own - θ_rival)·x̃`` over all samples and rivals for ``‖Θ‖ = 1``. (K. Crammer and
Y. Singer, Journal of Machine Learning Research 3, 2003, theorem 4.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.kesler import KeslerSource
from rosenblatt.data.rows import row_weights
from rosenblatt.data.sources import only
from rosenblatt.nearest.signed_vectors import Vectors
from rosenblatt.results import Hyperplane, Updates

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats
    from rosenblatt.data.sources import Source
    from rosenblatt.results import JointUpdates, MistakeBound
    from rosenblatt.running.clock import Clock
    from rosenblatt.running.threads import Team


class JointVectors(Vectors):
    """Kesler's vectors of some samples; the numbers of each have a zero for a bias at the end."""

    def __init__(
        self, source: Source, n_classes: int, team: Team, bias: bool, clock: Clock | None = None
    ) -> None:
        super().__init__(KeslerSource(source, n_classes, bias), team, 1, 0.0, clock)
        self.n_classes, self._used, self._with_bias = n_classes, source, bias
        if source.weighted:
            self._used = only(source, joint_weights(source) > 0)

    def as_two_classes(self) -> tuple[Source, int]:
        """The vectors without the first class's place, and the origin as the other class."""
        return KeslerSource(self._used, self.n_classes, self._with_bias, 1, origin=True), 1

    def theta_of(self, plane: Hyperplane) -> Floats:
        """The vector of a hyperplane between those two."""
        place = np.zeros(len(plane.w) // (self.n_classes - 1))
        return np.concatenate([place, plane.w, [0.0]])


def joint_weights(source: Source) -> Floats:
    """The weight of every sample."""
    return np.concatenate([row_weights(p.block, p.block.label) for p in source.pieces()])


def of_classes(bound: MistakeBound, n_classes: int) -> MistakeBound:
    """A bound for Kesler's vectors that knows of how many classes they are."""
    return replace(bound, n_classes=n_classes)


def in_kesler_vectors(updates: JointUpdates, n_classes: int) -> Updates:
    """Recorded updates as those of a perceptron that adds Kesler's vectors."""
    place = updates.rival - (updates.rival > updates.own)
    start = np.concatenate([np.append(plane.w, plane.b) for plane in updates.start])
    return Updates(
        updates.epoch,
        updates.sample * (n_classes - 1) + place,
        *(updates.value, updates.step, updates.update),
        start=Hyperplane(start),
        eta=updates.eta,
        fit_intercept=False,
    )


def joined_planes(planes: Any) -> Floats:
    """Hyperplanes one after the other, and the zero at the end."""
    return np.append(np.concatenate([np.append(plane.w, plane.b) for plane in planes]), 0.0)
