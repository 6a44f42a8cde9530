"""``--report``: one page about a model, and what is only looked for because of it."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rosenblatt.cli.options import seconds
from rosenblatt.report.page.facts import Judgement, LearningCurve, PageFacts
from rosenblatt.report.page.gathering import (
    decision_values,
    judgement,
    judgement_by_folds,
    page_facts,
)

if TYPE_CHECKING:
    import typer

    from rosenblatt.cli.fitting import TrainedModel
    from rosenblatt.cli.waiting import HeldCtrlC, ProgressLine
    from rosenblatt.report.comparison import ComparisonFacts
    from rosenblatt.report.fits import LabelledTable
    from rosenblatt.report.suspicion import SuspicionFacts

TIME = 60.0  # seconds for what is only on the page
BOUND, LEARNING, SUSPECTS = 0.1, 0.15, 0.35  # shares of it; the rest is for other models
FOLDS = 5
ROWS = 10  # of each kind that are shown


def write_page(
    file: str,
    trained: TrainedModel,
    rest: LabelledTable | None,
    ctx: typer.Context,
    progress: ProgressLine,
    ctrl_c: HeldCtrlC,
) -> list[str]:
    """Write it, whole or not at all; nothing if Ctrl-C came first, which leaves the model alone."""
    if trained.interrupted:
        return []
    written = ctrl_c.unless_stopped(lambda: _written(file, trained, rest, ctx, progress))
    return [] if written is None else [written]


def _written(
    file: str,
    trained: TrainedModel,
    rest: LabelledTable | None,
    ctx: typer.Context,
    progress: ProgressLine,
) -> str:
    from rosenblatt.files.whole import written_whole
    from rosenblatt.report.page.rendering import page

    given = ctx.params.get("page_time")
    facts = gathered(trained, rest, ctx, progress, TIME if given is None else seconds(given))
    progress.say("writing")
    with written_whole(file) as beside:
        beside.write_text(page(facts), "utf-8")
    return file


def gathered(
    trained: TrainedModel,
    rest: LabelledTable | None,
    ctx: typer.Context,
    progress: ProgressLine,
    limit: float,
) -> PageFacts:
    """The facts of the page; those that take long only as far as there is time."""
    from rosenblatt.cli.recipe import recipe
    from rosenblatt.report.rows import rows_facts

    end, left_out = time.monotonic() + limit, list[str]()

    def left(share: float) -> float:
        """Seconds: a share of what there was, of what there still is."""
        return max(0.0, min(share * limit, end - time.monotonic()))

    progress.say("looking at rows")
    shown = rows_facts(trained.pipeline, trained.training, ROWS, trained.facts.verdicts)
    return page_facts(
        trained.classifier,
        trained.training,
        trained.facts,
        bound_time=left(BOUND),
        rows=shown,
        recipe=recipe(ctx, trained),
        judgement=_judgement(trained, rest),
        learning=_learning(trained, progress, left(LEARNING), left_out),
        suspects=_suspects(trained, ctx, progress, left(SUSPECTS), left_out),
        comparison=_comparison(trained, ctx, progress, left(1.0), left_out),
        left_out=left_out,
    )


def _judgement(trained: TrainedModel, rest: LabelledTable | None) -> Judgement | None:
    """By rows that were not learned from, if there were any: others, or those of folds."""
    import numpy as np

    classifier, facts = trained.classifier, trained.facts
    if rest is not None:
        values = decision_values(classifier, trained.training.encoder.transform(rest.columns))
        true = np.searchsorted(classifier.classes_, rest.classes)[rest.label]
        return judgement("held out", classifier, values, true)
    if facts.test is not None and trained.test_answers is not None:
        true, values = trained.test_answers
        return judgement("test", classifier, values, true, where=facts.tested_on)
    found = trained.out_of_fold
    if found is None or facts.validation is None:
        return None
    return judgement_by_folds(classifier, facts.validation.result, found)


def _learning(
    trained: TrainedModel, progress: ProgressLine, limit: float, left_out: list[str]
) -> LearningCurve | None:
    """Right answers after learning from fewer rows, on the folds of the cross-validation."""
    from rosenblatt.cli.effort import Effort
    from rosenblatt.cli.fitting import as_long, fit
    from rosenblatt.cli.waiting import FoldProgress
    from rosenblatt.validation.learning import lessons
    from rosenblatt.validation.plans import Plan
    from rosenblatt.validation.refits import Fitting, FoldedTable

    whole, training = trained.out_of_fold, trained.training
    if whole is None or not whole.folds:
        return None
    if limit <= 0:
        left_out.append("right answers by the number of rows")
        return None
    classifier, effort = as_long(trained.classifier, Effort())
    folded = partial(
        FoldedTable, training.columns, training.labels, training.encoder, n_jobs=classifier.n_jobs
    )

    def of_plan(plan: Plan) -> FoldedTable:
        progress.say("learning from fewer rows")
        return folded(plan)

    def fitted(one: Fitting) -> None:
        fit(one.model, one.X, one.y, FoldProgress(progress, len(whole.plan)), str(one.fold), effort)

    found = lessons(of_plan, whole, classifier, fitted, limit)
    if not found:
        left_out.append("right answers by the number of rows: there are too few, or too many")
        return None
    return LearningCurve(tuple(n for n, _ in found), tuple(right for _, right in found))


def _suspects(
    trained: TrainedModel,
    ctx: typer.Context,
    progress: ProgressLine,
    limit: float,
    left_out: list[str],
) -> SuspicionFacts | None:
    """Rows whose class is suspicious, if they are found in time."""
    from rosenblatt.cli.suspects import examined
    from rosenblatt.tables.mapped_features import MappedEncoder

    training = trained.training
    if min(training.counts.values()) < 2 or isinstance(training.encoder, MappedEncoder):
        left_out.append("suspicious rows (rosenblatt suspects has them)")
        return None
    if limit > 0:
        found = examined(training, ctx.params.get("seed") or 0, progress, limit)
        if found.stopped:
            raise KeyboardInterrupt
        if found.judged is None and not found.left_out:
            return found
    left_out.append("suspicious rows: no time was left (rosenblatt suspects has them)")
    return None


def _comparison(
    trained: TrainedModel,
    ctx: typer.Context,
    progress: ProgressLine,
    limit: float,
    left_out: list[str],
) -> ComparisonFacts | None:
    """Other kinds of models on the same folds, as many as are done in time."""
    from rosenblatt.report.comparison import compare_table
    from rosenblatt.tables.mapped_features import MappedEncoder

    training, told = trained.training, "other models (rosenblatt compare has them)"
    counts = training.counts.values()
    if limit <= 0 or min(counts) < 2 or isinstance(training.encoder, MappedEncoder):
        left_out.append(told)
        return None
    facts = compare_table(
        replace(training, notes=[]),
        folds=FOLDS,
        repeats=1,
        seed=ctx.params.get("seed") or 0,
        max_time=limit,
        n_jobs=ctx.params.get("n_jobs"),
        tell=progress.say,
    )
    if facts.interrupted:
        raise KeyboardInterrupt
    if len(facts.kinds) < 2:
        left_out.append(told)
        return None
    return facts
