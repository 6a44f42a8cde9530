"""Recorded updates, done once more."""

from __future__ import annotations

from typing import Any

from rosenblatt.data.compiled import loop
from rosenblatt.data.dots import dot
from rosenblatt.data.rows import add_row


@loop
def replay(
    rows: Any,
    sample: Any,
    step: Any,
    ends: Any,
    eta: float,
    bias: float,
    theta: Any,
    sums: Any,
    star: Any,
    progress: Any,
    length2: Any,
) -> None:
    """Repeat recorded updates; after each, write ``θ·θ*`` and ``‖θ‖²``.

    Update t sums ``step*(x, 1)`` over the mistakes up to ``ends[t]`` and adds ``eta`` times it,
    bit for bit as the run did. `sums` has the size of theta and is zero before and after.
    """
    k = 0
    for t in range(len(ends)):
        while k < ends[t]:
            add_row(rows, sample[k], step[k], sums[:-1])
            sums[-1] += step[k] * bias
            k += 1
        for j in range(len(theta)):
            theta[j] += eta * sums[j]
            sums[j] = 0.0
        progress[t] = dot(theta, star)
        length2[t] = dot(theta, theta)


@loop
def add_to_tiles(rows: Any, sample: Any, step: Any, tile: Any, bias: float, sums: Any) -> None:
    """Add ``step*(x, 1)`` of each mistake to the sum of its tile, a row of `sums`."""
    for k in range(len(sample)):
        out = sums[tile[k]]
        add_row(rows, sample[k], step[k], out[:-1])
        out[-1] += step[k] * bias


@loop
def move_by(theta: Any, eta: float, sums: Any, star: Any, progress: Any, length2: Any) -> None:
    """``theta += eta * sums``; write ``θ·θ*`` and ``‖θ‖²``."""
    for j in range(len(theta)):
        theta[j] += eta * sums[j]
    progress[0] = dot(theta, star)
    length2[0] = dot(theta, theta)


@loop
def replay_mixed(
    rows: Any,
    sample: Any,
    step: Any,
    ends: Any,
    shard: Any,
    shards: int,
    bias: float,
    theta: Any,
    one: Any,
    sums: Any,
    star: Any,
    progress: Any,
    length2: Any,
) -> None:
    """`replay` of updates that mix so many shards: what each has changed, over their number.

    The mistakes of a shard are together, and the shards in their order. `one` has the size of
    theta, and what is in it does not matter.
    """
    k = 0
    for t in range(len(ends)):
        while k < ends[t]:
            here = shard[k]
            for j in range(len(theta)):
                one[j] = theta[j]
            while k < ends[t] and shard[k] == here:
                add_row(rows, sample[k], step[k], one[:-1])
                one[-1] += step[k] * bias
                k += 1
            for j in range(len(theta)):
                sums[j] += one[j] - theta[j]
        for j in range(len(theta)):
            theta[j] += sums[j] / shards
            sums[j] = 0.0
        progress[t] = dot(theta, star)
        length2[t] = dot(theta, theta)


@loop
def squared_lengths(K: Any, place: Any, step: Any, f: Any, square: float, out: Any) -> float:
    """Write ``‖θ‖²`` after each of the steps ``step*φ(x)``, and return the last.

    ``f = θ·φ(x)`` for the samples whose kernel values are in K, and `place` is where a step's
    sample is among them.
    """
    for k in range(len(place)):
        i = place[k]
        square += step[k] * (2 * f[i] + step[k] * K[i, i])
        for j in range(len(f)):
            f[j] += step[k] * K[i, j]
        out[k] = square
    return square
