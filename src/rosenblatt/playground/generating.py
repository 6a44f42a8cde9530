"""Data of many kinds, made by `rosenblatt.datasets`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import rosenblatt as rb
from rosenblatt.playground.answers import Generated
from rosenblatt.visible import count

if TYPE_CHECKING:
    from rosenblatt.playground.schemas import GenerateAsked

LETTERS = "ABCDEFGH"
FEWEST = 6


def generate(asked: GenerateAsked) -> Generated:
    """The data that were asked for."""
    if asked.kind == "blobs":
        return _blobs(asked)
    data = _dataset(asked)
    if asked.noise:
        data = rb.datasets.flip_labels(data, asked.noise, random_state=asked.seed)
    plain = data.target_names == ("-1", "+1")
    return Generated(
        points=data.X.tolist(),
        labels=((data.y + 1) // 2).tolist(),
        names=["−1", "+1"] if plain else list(data.target_names),
        features=list(data.feature_names),
        description=data.description,
    )


def _dataset(asked: GenerateAsked) -> rb.datasets.Dataset:
    """Two classes about which something is known."""
    n, seed = max(asked.n, FEWEST), asked.seed
    match asked.kind:
        case "separable":
            margin = asked.margin
            return rb.datasets.known_margin(n, 2, margin=margin, rotate=True, random_state=seed)
        case "xor":
            return rb.datasets.xor(n, scatter=asked.scatter, random_state=seed)
        case "rings":
            return rb.datasets.circles(n, noise=asked.scatter, random_state=seed)
        case "moons":
            return rb.datasets.moons(n, noise=asked.scatter, random_state=seed)
        case "dunkers":
            return rb.datasets.dunkers(n, gap=asked.margin, random_state=seed)
        case "quasi-separable":
            return rb.datasets.touching(n, random_state=seed)
        case "cycle":
            return rb.datasets.cycling()
    return rb.datasets.eight_points()


def _blobs(asked: GenerateAsked) -> Generated:
    """Classes around centres on a circle: as many as are wanted, the more scattered the harder."""
    rng, k = np.random.default_rng(asked.seed), asked.classes
    n = max(asked.n, 2 * k)
    labels = np.arange(n) % k
    angles = 2 * np.pi * (np.arange(k) / k + 0.25)
    centres = 2.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    points = centres[labels] + (0.2 + asked.scatter) * rng.standard_normal((n, 2))
    flipped = rng.choice(n, size=round(asked.noise * n), replace=False)
    labels[flipped] = (labels[flipped] + 1 + rng.integers(0, k - 1, len(flipped))) % k
    noise = f", {len(flipped)} of {n} labels wrong" * bool(len(flipped))
    return Generated(
        points=points.tolist(),
        labels=labels.tolist(),
        names=list(LETTERS[:k]),
        features=["x1", "x2"],
        description=f"{count(k, 'class', 'classes')} around a circle{noise}",
    )
