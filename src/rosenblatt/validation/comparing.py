"""Kinds of models on the same folds: one after the other, as far as there is time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from rosenblatt.margin.estimator import NotSeparableError
from rosenblatt.running.clock import Cancel
from rosenblatt.validation.kinds import Kind
from rosenblatt.validation.refits import Fitting, FoldedTable, OutOfFold, fit_alone

# What is done first, for it takes least; the rest follows as it comes.
FIRST = ("majority", "perceptron", "average", "soft margin", "max margin")
NOT_SEPARABLE = "the rows are not separable, so there is none"
TIME, STOPPED = "no time was left", "stopped with Ctrl-C"


@dataclass(frozen=True)
class Judged:
    """A kind of model with its answers, fold by fold."""

    kind: Kind
    found: OutOfFold

    @property
    def seconds(self) -> float:
        """How long its fits took, what was tried included."""
        return sum(one.seconds for one in self.found.folds)


@dataclass
class Comparison:
    """The kinds that were done on all folds, in the order in which they were given.

    `unfinished` has why there is nothing to say of the others, `interrupted` whether that was
    Ctrl-C.
    """

    folded: FoldedTable
    done: list[Judged] = field(default_factory=list)
    unfinished: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    seconds: float = 0.0


def compare_kinds(
    folded: FoldedTable,
    kinds: Sequence[Kind],
    max_time: float | None = None,
    tell: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Comparison:
    """Judge all kinds by the same folds; a kind that is not done on all of them is left out.

    After `max_time` seconds, or Ctrl-C, the fits under way end, and what is done is returned.
    """
    began, cancel = time.perf_counter(), Cancel(max_time)
    result = Comparison(folded)
    done = dict[str, Judged]()
    for kind in _cheap_first(kinds):
        if result.interrupted or cancel.asked:
            result.unfinished[kind.name] = STOPPED if result.interrupted else TIME
            continue
        try:
            done[kind.name] = _judged(folded, kind, cancel, tell)
        except KeyboardInterrupt:
            result.interrupted = cancel.pressed or not cancel.asked
            result.unfinished[kind.name] = STOPPED if result.interrupted else TIME
        except NotSeparableError:
            result.unfinished[kind.name] = NOT_SEPARABLE
        except ValueError as error:
            result.unfinished[kind.name] = " ".join(str(error).split())
    result.done = [done[kind.name] for kind in kinds if kind.name in done]
    result.seconds = time.perf_counter() - began
    return result


def _cheap_first(kinds: Iterable[Kind]) -> list[Kind]:
    order = {name: k for k, name in enumerate(FIRST)}
    return sorted(kinds, key=lambda kind: order.get(kind.name, len(order)))


def _judged(
    folded: FoldedTable, kind: Kind, cancel: Cancel, tell: Callable[[str, int, int], None]
) -> Judged:
    begun = 0

    def fit(one: Fitting) -> None:
        nonlocal begun
        tell(kind.name, begun, len(folded.plan))
        begun += 1
        fit_alone(one)

    (found,) = folded.refit([kind.candidate], fit, cancel=cancel)
    return Judged(kind, found)
