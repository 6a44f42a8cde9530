"""Whether one model is better than another, or the folds only happened to fall that way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

LEVEL = 0.05  # at most so large a p-value tells two models apart


@dataclass(frozen=True)
class PairedTest:
    """The corrected resampled t-test of Nadeau and Bengio (2003) of paired scores.

    `difference` is the mean of the differences, `error` its standard error, `t` their quotient;
    `p` is how often one at least as far from 0 would come of two models that are equally good.
    """

    difference: float
    error: float
    t: float
    p: float

    @property
    def differ(self) -> bool:
        """Whether the two can be told apart."""
        return self.p <= LEVEL


def corrected_t_test(
    scores: Sequence[float], others: Sequence[float], test_share: float
) -> PairedTest | None:
    """Compare scores of two models on the same folds; None of a single fold, which tells nothing.

    Folds share most of the rows that are learned from, so their scores are not independent, and
    the usual t-test finds differences where there are none. With J folds whose differences have
    the variance s², and rows to judge by that are `test_share` times as many as those to learn
    from, the variance of the mean is taken to be::

        (1/J + test_share) s²        instead of  s²/J

    and t is compared with Student's distribution with J - 1 degrees of freedom. Where every fold
    has the same difference p is 0, or 1 if that is none.

    C. Nadeau and Y. Bengio (2003), "Inference for the generalization error". For repeated folds
    J counts those of all repeats: R. R. Bouckaert and E. Frank (2004), "Evaluating the
    replicability of significance tests for comparing learning algorithms".
    """
    differences = [a - b for a, b in zip(scores, others, strict=True)]
    if len(differences) < 2:
        return None
    J, mean = len(differences), fmean(differences)
    spread = variance(differences, mean)
    # Scores are sums of a few floats: what is no more than their rounding is no spread.
    spread = spread if spread > 1e-24 else 0.0
    mean = mean if spread or abs(mean) > 1e-12 else 0.0
    error = math.sqrt((1 / J + test_share) * spread)
    if not spread:
        t = math.copysign(math.inf, mean) if mean else 0.0
        return PairedTest(mean, 0.0, t, 0.0 if mean else 1.0)
    from scipy.special import stdtr  # late: a fit that compares nothing does without

    t = mean / error
    return PairedTest(mean, error, t, 2 * float(stdtr(J - 1, -abs(t))))
