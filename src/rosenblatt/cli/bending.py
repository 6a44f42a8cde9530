"""A cheap try of what would bend the boundary, where a straight one is of little use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.results import Verdict

if TYPE_CHECKING:
    from rosenblatt.report.facts import BendFacts, FitFacts
    from rosenblatt.report.fits import EncodedTable
    from rosenblatt.validation.refits import OutOfFold

POOR = 0.9  # fewer right answers ask for another kind of model
MOST_ROWS, MOST_FEATURES = 2_000, 100  # of tables on which it takes no time to speak of


def worth_bending(facts: FitFacts, classifier: Any, training: EncodedTable) -> bool:
    """Whether rows that no hyperplane separates are in a table so small that a try is cheap."""
    linear = hasattr(classifier, "coef_") and facts.feature_map is None
    small = len(training.label) <= MOST_ROWS and facts.features <= MOST_FEATURES
    poor = facts.validation is not None and facts.validation.result.accuracy < POOR
    proved = any(one.verdict is Verdict.INSEPARABLE and one.proved for one in facts.verdicts)
    return linear and small and poor and proved


def bend_facts(
    classifier: Any, training: EncodedTable, found: OutOfFold, seed: int
) -> BendFacts | None:
    """What helped on the first fold of the cross-validation, if anything did."""
    from rosenblatt.report.facts import BendFacts
    from rosenblatt.validation.bending import try_bending
    from rosenblatt.validation.refits import FoldedTable

    folded = FoldedTable(training.columns, training.labels, training.encoder, found.plan, n_jobs=1)
    bend = try_bending(folded, classifier, found.folds[0], training.X.shape[1], seed)
    return None if bend is None else BendFacts(*bend)
