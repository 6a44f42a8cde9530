"""Which kind of model does best on a table: the facts about kinds that were judged alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MAJORITY = "majority"


@dataclass(frozen=True)
class ChoiceFacts:
    """A number that was chosen in each fold, among the rows to learn from alone.

    `parameter` of the estimator, and option of the command; the values `tried`, the simplest
    first; those `chosen`, one for each fold; by how many `folds` of at most so many `rows` (None:
    all) they were judged.
    """

    parameter: str
    tried: tuple[float, ...]
    chosen: tuple[float, ...]
    folds: int
    rows: int | None


@dataclass(frozen=True)
class KindFacts:
    """What a kind of model came to on all folds.

    `scores` are the shares of right answers, fold by fold; `accuracy` is that of all rows, with
    its 95% interval (Wilson 1927), `balanced_accuracy` the mean recall of the classes. `seconds`
    are those of all its fits, what was tried included. `behind` is by how much its mean score is
    below that of the best, `p` what the corrected resampled t-test makes of that; None of the best
    itself, and of a single fold.
    """

    name: str
    options: tuple[str, ...]  # of rosenblatt fit
    scores: tuple[float, ...]
    accuracy: float
    interval: tuple[float, float]
    balanced_accuracy: float
    seconds: float
    behind: float
    p: float | None
    choice: ChoiceFacts | None  # None: there is nothing to choose


@dataclass(frozen=True)
class ComparisonFacts:
    """Kinds of models on the same folds, and which of them to take.

    `kinds` are those that were done on all folds, the best first; of `best` and those `alike`,
    which cannot be told from it, `preferred` is the simplest; None where nothing but the majority
    was done. `useful` says whether the best can be told from `majority`, always the same answer.
    `unfinished` has why there is nothing to say of the others. `command` does `preferred` again,
    with the same scores.
    """

    file: str
    target: str
    rows: int
    columns: int
    features: int
    counts: Mapping[str, int]  # rows of each class
    folds: int
    repeats: int
    seed: int
    groups: str | None  # the column whose groups no fold parts
    kinds: tuple[KindFacts, ...]
    best: str | None
    alike: tuple[str, ...]
    preferred: str | None
    useful: bool
    unfinished: Mapping[str, str]
    interrupted: bool
    seconds: float
    command: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def by_name(self) -> Mapping[str, KindFacts]:
        """The kinds by their names."""
        return {kind.name: kind for kind in self.kinds}

    @property
    def majority_class(self) -> str:
        """The most frequent class."""
        return max(self.counts, key=lambda name: self.counts[name])
