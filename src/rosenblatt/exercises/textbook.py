"""The perceptron as the textbooks have it, in numbers that do not round.

Judges replay a run with it: what they say of mistakes and cycles is then so, not nearly so. Samples
are signed and augmented, ``z = y(x, 1)``, and scaled to whole numbers all together, which scales
the weights and changes no mistake.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Vector = tuple[int, ...]


@dataclass(frozen=True)
class Samples:
    """Signed vectors of whole numbers: ``scale·y(x, 1)``, or ``scale·y·x`` without a bias."""

    vectors: list[Vector]
    scale: int


def signed_samples(
    X: Sequence[Sequence[Fraction]], y: Sequence[int], *, bias: bool = True
) -> Samples:
    """The samples of a problem as whole numbers."""
    rows = [[*row, Fraction(1)] if bias else [*row] for row in X]
    scale = lcm(*(value.denominator for row in rows for value in row))
    vectors = [
        tuple(int(label * scale * value) for value in row)
        for row, label in zip(rows, y, strict=True)
    ]
    return Samples(vectors, scale)


@dataclass(frozen=True)
class Run:
    """What came of a run: its mistakes as pairs of an epoch, from 1, and a row; how it ended.

    `cycle` is the epoch after which the weights come back, and the epochs until they do. If it is
    None and `separated` is false, the run was cut off.
    """

    samples: Samples
    start: tuple[Fraction, ...]
    mistakes: list[tuple[int, int]] = field(default_factory=list)
    separated: bool = False
    cycle: tuple[int, int] | None = None
    epochs: int = 0

    def path(self) -> Iterator[tuple[int, tuple[Fraction, ...]]]:
        """The epoch and the weights of every vector passed through, the start first."""
        theta = [value * self.samples.scale for value in self.start]
        yield 0, self.start
        for epoch, i in self.mistakes:
            theta = [a + b for a, b in zip(theta, self.samples.vectors[i], strict=True)]
            yield epoch, tuple(Fraction(value) / self.samples.scale for value in theta)

    @property
    def last(self) -> tuple[Fraction, ...]:
        """The weights at the end, the bias last."""
        return [theta for _, theta in self.path()][-1]

    def counts(self) -> list[int]:
        """How often each sample was a mistake."""
        rows = [i for _, i in self.mistakes]
        return [rows.count(i) for i in range(len(self.samples.vectors))]


def train(samples: Samples, start: Sequence[Fraction] = (), *, most: int = 1000) -> Run:
    """Run in the order given until an epoch has no mistake, or weights return, or `most` epochs.

    A sample is a mistake if ``z·θ <= 0``; then z is added to θ. (A learning rate η from a start
    θ₀ is the same run from θ₀/η.)
    """
    first = tuple(start) or (Fraction(0),) * len(samples.vectors[0])
    theta = tuple(value * samples.scale for value in first)
    mistakes: list[tuple[int, int]] = []
    seen = {theta: 0}
    for epoch in range(1, most + 1):
        before = len(mistakes)
        for i, z in enumerate(samples.vectors):
            if sum(a * b for a, b in zip(z, theta, strict=True)) <= 0:
                theta = tuple(a + b for a, b in zip(z, theta, strict=True))
                mistakes.append((epoch, i))
        if len(mistakes) == before:
            return Run(samples, first, mistakes, separated=True, epochs=epoch)
        if theta in seen:
            entry = seen[theta]
            return Run(samples, first, mistakes, cycle=(entry, epoch - entry), epochs=epoch)
        seen[theta] = epoch
    return Run(samples, first, mistakes, epochs=most)
