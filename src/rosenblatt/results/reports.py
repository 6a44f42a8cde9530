"""What can be said about a run afterwards: its mistakes beside the bound that theory allows."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.results.updates import Frozen
from rosenblatt.results.verdicts import Inseparable, QuasiSeparable
from rosenblatt.results.words import Shown, coming_back, number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.results.hyperplane import Hyperplane
    from rosenblatt.results.runs import StopReason
    from rosenblatt.results.verdicts import Certificate


def power_of_ten(bound: MistakeBound) -> str:
    """A power of ten that a bound beyond the largest float does not exceed.

    ``m(R/γ)² + 3‖θ₀‖/(ηγ)`` (with S shards S times as much) is no less than any of its formulas for
    ever. Where R or γ is beyond floats, too, there is no telling.
    """
    if math.isinf(bound.R) or not bound.gamma > 0:
        return "∞"
    square = math.log10(bound.batch_size * bound.shards) + 2 * (
        math.log10(bound.R) - math.log10(bound.gamma)
    )
    guess = -math.inf
    if bound.length:
        rate = math.log10(bound.eta0) + math.log10(bound.gamma)
        guess = math.log10(3 * bound.length * bound.shards) - rate
    both = max(square, guess) + math.log10(2) * (guess > -math.inf)
    return f"10^{math.ceil(both + 1e-9)}"


def at_every(n: int) -> str:
    """Where a lemma held that held always."""
    return f"at each of {n} updates" if n > 1 else ("there was no update", "at its only update")[n]


@dataclass(frozen=True, eq=False, repr=False)
class MistakeBound(Shown):
    """The most mistakes that a perceptron can make on some data, and what this follows from.

    Everything is about the vectors that the perceptron adds: ``x̃ = (x, 1)`` if it learns a bias,
    otherwise ``x``; times the weight of the sample, if samples have weights.

    Attributes
    ----------
    R : float
        Their radius, ``max ‖x̃‖``, rounded up.
    gamma : float
        The margin of `hyperplane` on these vectors, ``min y(θ*·x̃)`` with ``‖θ*‖ = 1``,
        ``θ* ∝ (w, b)``, rounded down; where there is a `shortfall`, the margin aimed at.
    bound : float
        Mistakes are at most this many; rounded up. Infinite where it exceeds the largest float;
        its text then names a power of ten.
    hyperplane : Hyperplane or None
        ``θ*``. None where no vector says more than that each visit can be a mistake.
    separable : bool or None
        Whether a hyperplane separates the classes; None: not asked.
    update : {"online", "batch", "minibatch", "mixed"}
    batch_size : int
        Samples per update: 1 online, all of them for "batch". (For "mixed", of a shard: 1.)
    eta0 : float
        The learning rate.
    epochs : int or None
        How many epochs the bound is for; None: any number.
    shortfall : float
        ``‖(γ - y(θ*·x̃))₊‖₂``, by how much the samples miss the margin; 0 where none does.
    along, length : float
        ``θ₀·θ*`` and ``‖θ₀‖`` of the start guess.
    kernel : str or None
        The kernel in symbols, where all this is about its feature space. `hyperplane` then has
        coordinates of that space: those of `rb.features.Polynomial`, if there are few; or, for
        ``θ* = Σ w_i y_i φ(x_i)``, a coefficient for each sample; or others.
    n_classes : int or None
        How many classes are one problem, where that is so. All is then about the vectors that
        have x̃ in the place of a sample's class and -x̃ in that of a rival, and `hyperplane` has
        those of all classes in a row; `hyperplanes` has them one by one.
    shards : int
        How many shards are mixed; 1 where none are. What the lemmas say of m mistakes holds then
        for ``m/shards``, their mean.
    """

    R: float
    gamma: float
    bound: float
    hyperplane: Hyperplane | None
    separable: bool | None = None
    update: str = "online"
    batch_size: int = 1
    eta0: float = 1.0
    epochs: int | None = None
    shortfall: float = 0.0
    along: float = 0.0
    length: float = 0.0
    kernel: str | None = None
    n_classes: int | None = None
    shards: int = 1

    @property
    def hyperplanes(self) -> tuple[Hyperplane, ...]:
        """``θ*`` as a tuple: one, or where several classes are one problem one for each."""
        if self.hyperplane is None or self.n_classes is None:
            return () if self.hyperplane is None else (self.hyperplane,)
        parts = np.split(self.hyperplane.w, self.n_classes)
        return tuple(type(self.hyperplane)(part[:-1], part[-1]) for part in parts)

    @property
    def most(self) -> float:
        """The bound as a whole number of mistakes."""
        return math.floor(self.bound) if math.isfinite(self.bound) else self.bound

    @property
    def formula(self) -> str:
        """What the bound is, in symbols."""
        if self.hyperplane is None:
            return "E, a mistake per epoch" if self.shortfall == 1 else "nE, a mistake per visit"
        m = "m" if self.batch_size > 1 else "S" if self.shards > 1 else ""
        if self.shortfall:
            root = f"√{m}·R" if m else "R"
            guess = ", and the start guess" if self.length else ""
            return f"(({root} + √E·D)/γ)²{guess}"
        times = "S times " if self.shards > 1 else ""
        return f"{times}the larger root of the proof's quadratic" if self.length else f"{m}(R/γ)²"

    def progress_bound(self, mistakes: ArrayLike) -> Floats:
        """What ``θ·θ*`` is at least after so many mistakes."""
        m = np.asarray(mistakes, dtype=np.float64) / self.shards
        short = math.sqrt((self.epochs or 0) / self.shards) * self.shortfall
        least: Floats = self.along + self.eta0 * (m * self.gamma - np.sqrt(m) * short)
        return least

    def length2_bound(self, mistakes: ArrayLike) -> Floats:
        """What ``‖θ‖²`` is at most after so many mistakes."""
        m, step = np.asarray(mistakes, dtype=np.float64) / self.shards, self.eta0 * self.R
        most: Floats = self.length * self.length + m * (self.batch_size * (step * step))
        return most

    def __str__(self) -> str:
        where = "" if not self.epochs else f" in {self.epochs} epoch{'s' * (self.epochs != 1)}"
        most = number(self.most) if math.isfinite(self.most) else power_of_ten(self)
        space = f", in the feature space of {self.kernel}" if self.kernel else ""
        space = f", of {self.n_classes} classes as one problem" if self.n_classes else space
        mistakes = f"{most} mistake{'s' * (self.most != 1)}"
        return f"at most {mistakes}{where}: {self.formula} with {self.terms}{space}"

    @property
    def terms(self) -> str:
        """The numbers that the formula is about."""
        if self.hyperplane is None:
            n = round(self.shortfall**2)
            return f"E = {self.epochs}" if n == 1 else f"n = {n}, E = {self.epochs}"
        terms = [f"R = {number(self.R)}", f"γ = {number(self.gamma)}"]
        if self.shortfall:
            terms.append(f"D = {number(self.shortfall)}")
        if self.batch_size > 1:
            terms.append(f"m = {self.batch_size}")
        if self.shards > 1:
            terms.append(f"S = {self.shards}")
        if self.shortfall:
            terms.append(f"E = {self.epochs}")
        return ", ".join(terms)


@dataclass(frozen=True, eq=False, repr=False)
class BoundReport(Frozen):
    """A recorded run beside its mistake bound: the proof, evaluated at every update.

    Arrays have an entry for the start and one after each update. With ``m`` mistakes so far, the
    two lemmas say ``θ·θ* >= θ₀·θ* + ηmγ`` and ``‖θ‖² <= ‖θ₀‖² + η²mR²`` (times the batch size; with
    ``m/S`` for m where S shards are mixed; less what falls short of the margin, where the data are
    not separable).

    Attributes
    ----------
    bound : MistakeBound
    positive : label
        The class that is +1; the other one, or all others, are -1. (None where several are one
        problem.)
    stop_reason : StopReason
        Why the run ended.
    n_mistakes, n_updates, n_epochs : int
        What the run made of it.
    mistakes : int array
        Mistakes so far.
    progress, progress_bound : float arrays
        ``θ·θ*`` and what it is at least, by the first lemma.
    length2, length2_bound : float arrays
        ``‖θ‖²`` and what it is at most, by the second lemma.
    progress_rounding, length2_rounding : float arrays
        By how much the rounding of floating point, in the run and here, can have moved them.
    fit_intercept : bool
        Whether a bias was learned, so that all is about ``(x, 1)``, not ``x``.
    """

    bound: MistakeBound
    positive: Any
    stop_reason: StopReason
    n_mistakes: int
    n_updates: int
    n_epochs: int
    mistakes: Ints
    progress: Floats
    progress_bound: Floats
    length2: Floats
    length2_bound: Floats
    progress_rounding: Floats
    length2_rounding: Floats
    fit_intercept: bool = True

    @property
    def tightness(self) -> float:
        """Mistakes made, as a share of the bound."""
        return self.n_mistakes / self.bound.bound if self.bound.bound else float(self.n_mistakes)

    @property
    def within(self) -> bool:
        """Whether there were no more mistakes than the bound allows."""
        return self.n_mistakes <= self.bound.bound

    @property
    def progress_holds(self) -> bool:
        """Whether the first lemma held at every update, but for rounding."""
        return bool((self.progress >= self.progress_bound - self.progress_rounding).all())

    @property
    def length2_holds(self) -> bool:
        """Whether the second lemma held at every update, but for rounding."""
        return bool((self.length2 <= self.length2_bound + self.length2_rounding).all())

    @property
    def holds(self) -> bool:
        """Whether both lemmas and the bound held."""
        return self.within and self.progress_holds and self.length2_holds

    def __repr__(self) -> str:
        return f"<BoundReport: {str(self).partition(chr(10))[0]}>"

    def table(self) -> dict[str, NDArray[Any]]:
        """The run as columns, a row for the start and one for each update."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}

    def __str__(self) -> str:
        made = f"{self.n_mistakes} mistake{'s' * (self.n_mistakes != 1)}"
        where = f"{self.n_epochs} epoch{'s' * (self.n_epochs != 1)}"
        held = {True: at_every(self.n_updates), False: "NOT at every update"}
        share = f"{100 * self.tightness:.3g}%"
        if not math.isfinite(self.bound.bound):
            share = "next to none"
        lines = [
            f"{made} in {where}, {share} of the bound",
            f"bound: {self.bound}",
            f"θ·θ* grew as much as it must: {held[self.progress_holds]}",
            f"‖θ‖² grew no more than it may: {held[self.length2_holds]}",
        ]
        if self.bound.hyperplane is None:
            del lines[2]  # θ* is zero, which says nothing
        if self.bound.separable is False and self.bound.n_classes:
            lines.append(
                "the classes are not separable jointly: the bound is for these epochs only"
            )
        elif self.bound.separable is False:
            origin = "" if self.fit_intercept else " through the origin"
            lines.append(
                f"no hyperplane{origin} separates the classes: the bound is for these epochs only"
            )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class CycleReport(Frozen):
    """A run that repeats itself: what it passes through, and why.

    Over one cycle the updates add up to nothing, ``Σ c_i y_i (x_i, 1) = 0`` where sample i was a
    mistake ``c_i`` times. If that sum is zero exactly, the mistakes of either class have the same
    mean: a point in both convex hulls, so that no hyperplane separates. Where it is zero only by
    rounding, the cycle proves nothing, and `certificate` tells which it is.

    Attributes
    ----------
    positive : label
        The class that is +1; the other one, or all others, are -1.
    entry, period : int
        The weights after epoch `entry` come back every `period` epochs.
    hyperplanes : tuple of Hyperplane
        After epochs ``entry + 1`` to ``entry + period``; the last is also that after `entry`.
    mistakes, errors : int arrays
        The mistakes in each of these epochs, and the training errors of its hyperplane.
    best : Hyperplane
        Of the vectors after every single update of the cycle, the one with the fewest (weighted)
        training errors, the earliest such.
    best_errors : int
        Its training errors.
    counts : int array
        How often each sample is a mistake on one cycle.
    cancels : bool
        Whether the updates of one cycle add up to zero exactly, in rational numbers.
    certificate : Separable, QuasiSeparable, Inseparable or Undecided
        What `rosenblatt.separability` says of the samples that have a weight above zero.
    separable : bool or None
        Whether there is a hyperplane such as the run looks for (without a bias: one through the
        origin); None: undecided.
    fit_intercept : bool
        Whether the run had a bias.
    """

    positive: Any
    entry: int
    period: int
    hyperplanes: tuple[Hyperplane, ...]
    mistakes: Ints
    errors: Ints
    best: Hyperplane
    best_errors: int
    counts: Ints
    cancels: bool
    certificate: Certificate
    separable: bool | None
    fit_intercept: bool = True

    def __repr__(self) -> str:
        back = coming_back(self.entry, self.period)
        return f"<CycleReport: {back}; {self.certificate.verdict.word}>"

    @property
    def why(self) -> str:
        """Why the run repeats itself, in a few sentences."""
        if self.separable:
            through = "" if self.fit_intercept else " through the origin"
            return (
                f"A hyperplane{through} separates the classes, so with exact numbers the mistakes "
                "would end: rounding made the weights repeat."
            )
        if self.separable is None:
            return (
                "Either no hyperplane separates the classes, or rounding made the weights repeat: "
                f"{getattr(self.certificate, 'why', 'time ran out')} before that was settled."
            )
        return (
            f"{self._inseparable()}, so the mistakes never end. The weights stay bounded all the "
            "same (the perceptron cycling theorem: Minsky and Papert 1969; Block and Levin 1970), "
            "and of bounded weights on a grid there are only finitely many: they must come back."
        )

    def _inseparable(self) -> str:
        found = self.certificate
        if isinstance(found, QuasiSeparable | Inseparable):
            shown = ", ".join(str(i) for i in found.support[:8])
            more = f", … {len(found.support)} in all" if len(found.support) > 8 else ""
            return (
                f"The classes' convex hulls meet in a point (samples {shown}{more}): "
                "no hyperplane separates them"
            )
        if not self.fit_intercept:
            return "No hyperplane through the origin separates the classes, and there is no bias"
        return "The updates of one cycle cancel exactly: no hyperplane separates the classes"

    def __str__(self) -> str:
        n, every = len(self.counts), f"{self.period} epochs" if self.period > 1 else "epoch"
        exactly = "exactly" if self.cancels else "only by rounding"
        whole = "one cycle" if self.period == 1 else "its epochs"
        ends = "its end" if self.period == 1 else "their ends"
        lines = {
            "cycle": f"the weights after epoch {self.entry} come back every {every}",
            "mistakes": f"{_listed(self.mistakes)} in {whole}; their updates cancel {exactly}",
            "errors": f"{_listed(self.errors)} of {n} training errors at {ends}; "
            f"{self.best_errors} at best on the way round",
            "verdict": f"{self.certificate.verdict.name}  {self.certificate.verdict.value}",
            "why": self.why,
        }
        return "\n".join(
            textwrap.fill(text, 80, initial_indent=f"{name:<10}", subsequent_indent=" " * 10)
            for name, text in lines.items()
        )


def _listed(counts: Ints) -> str:
    """The first few numbers, and how many there are in all."""
    shown = ", ".join(str(count) for count in counts[:8])
    return f"{shown}, … ({len(counts)} numbers)" if len(counts) > 8 else shown
