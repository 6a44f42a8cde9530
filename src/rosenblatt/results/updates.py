"""The record of a run, mistake by mistake and update by update."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt import arguments
from rosenblatt.results.hyperplane import Hyperplane, samples_of
from rosenblatt.results.step_table import StepLine, StepTable, angle_between
from rosenblatt.results.words import Shown
from rosenblatt.tree_sums import sum_in_tiles
from rosenblatt.visible import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rosenblatt.array_types import Floats, Ints


class Frozen(Shown):
    """A result whose arrays must not change under its owner, nor under a run that goes on."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)


@dataclass(frozen=True, eq=False, repr=False)
class Mistakes(Frozen):
    """Every mistake that led to an update, in order; there with ``record=True``.

    Attributes
    ----------
    epoch, sample, value, step : arrays with one entry per mistake
        The epoch (from 1), the row, its decision value before the update, and the factor of the
        sample in it: ``eta*y`` times the row's weight.
    update : int array
        The update to which the mistake belongs: online its own, otherwise that of its batch, or
        of its epoch if shards are mixed.
    """

    epoch: Ints
    sample: Ints
    value: Floats
    step: Floats
    update: Ints

    def __len__(self) -> int:
        """Return the number of updates."""
        return int(self.update[-1]) + 1 if self.update.size else 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def __str__(self) -> str:
        if not len(self):
            return "no updates"
        mistakes, epoch = count(len(self.sample), "mistake"), int(self.epoch[-1])
        return f"{count(len(self), 'update')} by {mistakes}, the last in epoch {epoch}"

    def first_mistakes(self, t: int, n: int) -> int:
        """How many mistakes the first `t` updates have; `n` samples are given to do them again."""
        wanted = f"this run has updates 1 to {len(self)}, 0 is the start"
        if arguments.whole_number("t", t, 0, wanted) > len(self):
            msg = f"t={t} is not an update: {wanted}"
            raise ValueError(msg)
        if n <= self.sample.max(initial=-1):
            msg = f"X has {n} rows, fewer than in training: give the training data"
            raise ValueError(msg)
        return int(np.searchsorted(self.update, t))

    def mistake_counts(self, n: int) -> Ints:
        """``α``, how often each of the `n` samples was a mistake: ``w = Σ α_i y_i x_i``.

        (That sum holds for a start at zero, ``eta0=1`` and no sample weights.)
        """
        arguments.whole_number("n", n, 0, "give the number of samples")
        return np.bincount(self.sample, minlength=n).astype(np.int64)

    def table(self, *, first: int | None = None, rows: Any = None) -> StepTable:
        """The updates as a table: their samples with y and decision value, and no weights.

        Parameters
        ----------
        first : int, optional
            So many updates; None: all.
        rows : int array, optional
            What to call the samples: their rows in a file. None: sample 0, 1 and so on.
        """
        stop = int(np.searchsorted(self.update, self._first(first)))
        lines = tuple(self._line(batch, rows) for batch in self._batches(stop))
        return StepTable(lines, (), False, "sample" if rows is None else "row")

    def _first(self, first: int | None) -> int:
        """So many updates, or all."""
        if first is None:
            return len(self)
        return min(arguments.positive_int("first", first, hint=", or None for all"), len(self))

    def _batches(self, stop: int) -> list[Ints]:
        """The first mistakes, those of each update together."""
        edges = np.flatnonzero(np.diff(self.update[:stop])) + 1
        return [batch for batch in np.split(np.arange(stop), edges) if batch.size]

    def _line(self, batch: Ints, rows: Any) -> StepLine:
        """An update without what it does to the weights."""
        sample, signs = self.sample[batch], np.sign(self.step[batch]).astype(np.int64)
        samples = sample if rows is None else np.asarray(rows)[sample]
        update, epoch = int(self.update[batch[0]]) + 1, int(self.epoch[batch[0]])
        nothing = np.empty(0)
        return StepLine(update, epoch, samples, signs, self.value[batch], nothing, nothing, None)


@dataclass(frozen=True, eq=False, repr=False)
class Updates(Mistakes):
    """Every mistake that moved the hyperplane, in order; there with ``record=True``.

    Beside what `Mistakes` has, it knows the start guess, so that it can give every hyperplane on
    the way. (Steps are factors of ``(x, 1)``.)

    Attributes
    ----------
    epoch, sample, value, step, update : arrays with one entry per mistake
        As in `Mistakes`.
    start : Hyperplane
        The start guess.
    eta : float
        The learning rate, a factor of every batch's sum; 1 where the steps have it already.
    fit_intercept : bool
        Whether the bias takes part in the updates.
    shard : int array or None
        For ``update="mixed"`` the shard in which the mistake was made. `value` is then that of the
        shard's own vector, and the update adds the mean of what the shards have changed.
    shards : int
        How many there are.
    tile : int
        The rows of a tile, where a batch of all rows is summed up in tiles: the mistakes in each,
        and then the tiles in pairs, in pairs of pairs and so on. 0: one mistake after the other.
    """

    start: Hyperplane
    eta: float
    fit_intercept: bool
    shard: Ints | None = None
    shards: int = 1
    tile: int = 0

    def hyperplane(self, t: int, X: Any) -> Hyperplane:
        """The hyperplane after the first `t` updates, bit for bit as the run had it.

        `X` is the training data; 0 gives the start guess, ``len(updates)`` the last hyperplane.
        """
        last = deque(self._replayed(t, X), maxlen=1)
        theta = last[0][-1] if last else np.append(self.start.w, self.start.b)
        return Hyperplane(theta[:-1], theta[-1])

    def _replayed(self, t: int, X: Any) -> Iterator[tuple[Ints, Floats, Floats]]:
        """Of each of the first `t` updates its mistakes, what it adds, and ``(w, b)`` after it."""
        X = samples_of(X, self.start.w.size)
        stop = self.first_mistakes(t, X.shape[0])
        theta = np.append(self.start.w, self.start.b)
        for batch in self._batches(stop):
            if self.shard is None:
                change = self.eta * self._summed(batch, theta.size, X)
                theta = theta + change
            else:
                change = np.zeros_like(theta)
                for part in np.split(batch, np.flatnonzero(np.diff(self.shard[batch])) + 1):
                    change += self._added(part, theta.copy(), X) - theta
                change /= self.shards
                theta = theta + change
            if not np.isfinite(theta).all():
                msg = "X holds numbers that are not finite: give the training data"
                raise ValueError(msg)
            yield batch, change, theta

    def _summed(self, mistakes: Ints, size: int, X: Any) -> Floats:
        """The sum of the steps of some mistakes, in tiles if that is how the run had it."""
        if not self.tile:
            return self._added(mistakes, np.zeros(size), X)

        def add(k: int, out: Floats) -> None:
            self._added(mistakes[k : k + 1], out, X)

        return sum_in_tiles(self.sample[mistakes], self.tile, size, add)

    def _added(self, mistakes: Ints, theta: Floats, X: Any) -> Floats:
        """A vector, with the steps of some mistakes added to it."""
        for k in mistakes:
            add_sample(X, int(self.sample[k]), float(self.step[k]), theta)
            theta[-1] += self.step[k] * self.fit_intercept
        return theta

    def table(
        self,
        X: Any = None,
        *,
        first: int | None = None,
        best: Hyperplane | None = None,
        feature_names: Any = None,
        rows: Any = None,
    ) -> StepTable:
        """The run as a table, update after update, to be set beside a calculation by hand.

        Parameters
        ----------
        X : training data, optional
            For the weights after every update; without it there are none.
        first : int, optional
            So many updates; None: all.
        best : Hyperplane, optional
            For the angle between its ``(w, b)`` and that after each update; the one of
            `rosenblatt.mistake_bound` is what the proof of convergence turns to.
        feature_names : sequence of str, optional
            None: those of a data frame, or x1, x2 and so on.
        rows : int array, optional
            What to call the samples: their rows in a file. None: sample 0, 1 and so on.

        Returns
        -------
        StepTable
            It prints as text; ``to("csv")``, ``to("markdown")`` and ``to("latex")`` are others.
        """
        if X is None:
            return super().table(first=first, rows=rows)
        count = self._first(first)
        aim = None if best is None else self._aim(best)
        start = np.append(self.start.w, self.start.b)
        none = np.empty(0, np.int64)
        made = [StepLine(0, 0, none, none, np.empty(0), np.empty(0), start, _turn(start, aim))]
        for batch, change, theta in self._replayed(count, X):
            line = self._line(batch, rows)
            made.append(line._replace(change=change, theta=theta, angle=_turn(theta, aim)))
        given = getattr(X, "columns", None) if feature_names is None else feature_names
        names = [f"x{j + 1}" for j in range(self.start.w.size)] if given is None else given
        return StepTable(
            tuple(made),
            self._names(names),
            self.fit_intercept,
            "sample" if rows is None else "row",
        )

    def _names(self, names: Any) -> tuple[str, ...]:
        found = arguments.names_of("feature_names", names)
        if len(found) != self.start.w.size:
            msg = f"feature_names has {len(found)} names, but there are {self.start.w.size} weights"
            raise ValueError(msg)
        return found

    def _aim(self, best: Any) -> Floats:
        arguments.instance("best", best, Hyperplane, "give a rb.Hyperplane, or None")
        if best.w.size != self.start.w.size:
            msg = f"best has {best.w.size} weights, but the run has {self.start.w.size}"
            raise ValueError(msg)
        return np.append(best.w, best.b)


def _turn(theta: Floats, aim: Floats | None) -> float | None:
    return None if aim is None else angle_between(theta, aim)


def add_sample(X: Any, i: int, a: float, theta: Floats) -> None:
    """``theta[:-1] += a * x_i`` for a row of an array or a CSR matrix."""
    if hasattr(X, "indptr"):
        entries = slice(X.indptr[i], X.indptr[i + 1])
        theta[X.indices[entries]] += a * X.data[entries].astype(np.float64)
    else:
        theta[:-1] += a * X[i].astype(np.float64)
