"""What comes of several classes as one problem: a hyperplane for each, the highest value wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.results.hyperplane import Hyperplane, samples_of
from rosenblatt.results.runs import Cycle, StopReason, Trace, ending
from rosenblatt.results.updates import Frozen, Mistakes, add_sample
from rosenblatt.results.verdicts import Undecided, Verdict
from rosenblatt.results.words import numbered
from rosenblatt.visible import count

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.results.verdicts import Certificate

JOINT_MEANINGS = {
    Verdict.SEPARABLE: "each class can have the highest value on all its samples",
    Verdict.QUASI_SEPARABLE: "no sample need be higher in another class than in its own, but some "
    "always tie",
    Verdict.INSEPARABLE: "some sample is higher in another class than in its own, or all samples "
    "tie",
    Verdict.UNDECIDED: "the question was not settled",
}


@dataclass(frozen=True, eq=False, repr=False)
class JointUpdates(Mistakes):
    """Every mistake that moved two hyperplanes, in order; there with ``record=True``.

    Beside what `Mistakes` has, whose `value` is here the value of the right class less that of
    its rival, and whose `step` is the factor of ``(x, 1)`` that the one gains and the other loses.
    (So in its `table` y is always +1.)

    Attributes
    ----------
    own, rival : int arrays
        The right class and the one with the highest value of the others, as their numbers in
        ``classes_``.
    start : tuple of Hyperplane
        Where the run began, for each class.
    eta, fit_intercept : float, bool
        As in `Updates`.
    """

    own: Ints
    rival: Ints
    start: tuple[Hyperplane, ...]
    eta: float
    fit_intercept: bool

    def hyperplanes(self, t: int, X: Any) -> tuple[Hyperplane, ...]:
        """The hyperplanes after the first `t` updates, bit for bit as the run had them.

        `X` is the training data; 0 gives the start, ``len(updates)`` the last ones.
        """
        X = samples_of(X, self.start[0].w.size)
        stop = self.first_mistakes(t, X.shape[0])
        thetas = np.array([np.append(plane.w, plane.b) for plane in self.start])
        edges = np.flatnonzero(np.diff(self.update[:stop])) + 1
        for batch in np.split(np.arange(stop), edges):
            sums = np.zeros_like(thetas)
            for k in batch:
                for side, sign in ((self.own[k], 1.0), (self.rival[k], -1.0)):
                    step = sign * float(self.step[k])
                    add_sample(X, int(self.sample[k]), step, sums[side])
                    sums[side, -1] += step * self.fit_intercept
            thetas += self.eta * sums
        return tuple(Hyperplane(theta[:-1], theta[-1]) for theta in thetas)


@dataclass(frozen=True, eq=False, repr=False)
class JointFit(Frozen):
    """The outcome of several classes as one problem.

    Attributes
    ----------
    hyperplanes : tuple of Hyperplane
        What was to be kept, for each class: the last, the pocket's or the average.
    last : tuple of Hyperplane
        Where the run ended.
    keeps_last : bool
        Whether the two are the same.
    stop_reason : StopReason
    n_mistakes, n_updates, n_epochs : int
    trace : Trace
    certificate : Cycle or None
        Evidence beyond the hyperplanes themselves.
    """

    hyperplanes: tuple[Hyperplane, ...]
    last: tuple[Hyperplane, ...]
    stop_reason: StopReason
    n_mistakes: int
    n_updates: int
    n_epochs: int
    trace: Trace
    certificate: Cycle | None = None

    @property
    def keeps_last(self) -> bool:
        """Whether the vectors that were kept are the last ones."""
        return self.hyperplanes == self.last

    def __str__(self) -> str:
        last = "" if self.keeps_last else ", not the last ones"
        return f"{ending(self)}; kept{last}: a hyperplane for each class"


@dataclass(frozen=True, eq=False, repr=False)
class JointCertificate(Frozen):
    """Whether every class can have the highest value on all its samples, and the evidence.

    It is that of two classes for the vectors of Kesler's construction, ``n(K - 1)`` of them and
    the origin as the other class: of sample x of class k and a rival, the vector with ``(x, 1)`` in
    the place of k and ``-(x, 1)`` in the place of the rival. The first class has no place, as its
    hyperplane may be zero.

    Attributes
    ----------
    certificate : Separable, QuasiSeparable, Inseparable or Undecided
        About these vectors; its row numbers are theirs, sample by sample, rivals in ascending
        order, the origin last.
    n_classes : int
    pairs : int array of shape (m, 2)
        Samples and rivals, by number, whose vectors sum to zero with the `weights`: if not
        separable, otherwise none.
    """

    certificate: Certificate
    n_classes: int
    pairs: Ints

    @property
    def verdict(self) -> Verdict:
        """Whether the classes are separable jointly."""
        return self.certificate.verdict

    @property
    def weights(self) -> Floats:
        """The weights of the `pairs`, summing to 1; none if separable."""
        weights: Floats = getattr(self.certificate, "weights", np.empty(1))[:-1]
        return weights

    @property
    def hyperplanes(self) -> tuple[Hyperplane, ...]:
        """A hyperplane for each class, the first of them zero; none if inseparable.

        If separable, its own class has the highest value at each sample; if quasi-separable, no
        other class has a higher one.
        """
        plane = getattr(self.certificate, "hyperplane", None)
        if plane is None:
            return ()
        thetas = plane.w.reshape(self.n_classes - 1, -1)
        thetas = np.vstack([np.zeros(thetas.shape[1]), thetas])
        return tuple(Hyperplane(theta[:-1], theta[-1]) for theta in thetas)

    def __str__(self) -> str:
        jointly = f"{self.verdict.word}, {self.n_classes} classes as one problem"
        if isinstance(self.certificate, Undecided):
            return f"{jointly}: {self.certificate.why} before it was settled"
        by = "a hyperplane for each class"
        if len(self.pairs):
            samples = np.unique(self.pairs[:, 0])
            by = f"{count(len(self.pairs), 'demand')} that cancel, of {numbered('sample', samples)}"
        return f"{jointly}: {JOINT_MEANINGS[self.verdict]}; proved by {by}"
