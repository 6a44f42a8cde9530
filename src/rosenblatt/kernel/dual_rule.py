"""The kernel perceptron: samples in blocks, scores kept, decisions exact.

The scores of all samples are known at the beginning of an epoch. A block of samples is visited
with what the epoch has added so far, by matrix products, and with the kernel values of its likely
mistakes, one mistake after the other; by the end of the epoch every sample gets what came after its
visit. So the value of a support vector's kernel with a sample is computed once for each mistake
on that vector, whatever the number of classes. With a budget the support vectors are few, and
each block is scored from them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.orders import TileOrder
from rosenblatt.kernel.dual_pocket import DualPocket
from rosenblatt.kernel.dual_states import restore_rule, rule_state
from rosenblatt.kernel.ledger import Ledger
from rosenblatt.kernel.loops import DONE, MISSING, Slots, Visited, VisitRule, visit
from rosenblatt.kernel.scores import DualProblem, Expansion, Scores, Turn
from rosenblatt.kernel.support_vectors import Batch, grown
from rosenblatt.results import Cycle, StopReason
from rosenblatt.running.orders import ONCE
from rosenblatt.running.problems import CycleFinder
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.data.rows import Block
    from rosenblatt.data.sources import Order
    from rosenblatt.kernel.kernel_values import Values
    from rosenblatt.running.problems import Settings
    from rosenblatt.running.run import Run


DOUBTFUL = 0.02  # share of visits settled singly above which single precision does not pay
FEW = 200  # but so many are nothing
JUDGED, COUNTED = 3, 2  # times the values of updates for a pocket, of the vectors kept at the end
BLOCK_WORTH = 1 << 19  # values that could be computed instead of going through another block
DOUBLE = 3  # times what a value has taken in single precision, that it takes in double
LAGS = 256  # updates whose lags are added at a time
FORESEEN = 128  # samples whose kernel values are computed together


class DualRule:
    """Orders cyclic, shuffled, sampled and blocks, any number of support vectors.

    Parameters
    ----------
    values : Values
        Kernel values of the data, with the support vectors of the expansion among its own.
    block : Block
        Labels and weights of the data, no features: loops are compiled once for all kinds of them.
    expansion : Expansion
        The support vectors so far.
    """

    stops_together = False
    lasts = True

    def __init__(
        self,
        values: Values,
        block: Block,
        settings: Settings,
        problems: list[DualProblem],
        expansion: Expansion,
    ) -> None:
        self.values, self.block, self.settings = values, block, settings
        self.problems, self.expansion = problems, expansion
        self.n_rows, self.n_features, self.k = values.n, values.n_features, len(problems)
        self.scores = Scores(values, block, [p.positive for p in problems], expansion)
        self.ledger = Ledger(self.scores)
        self.order = np.arange(self.n_rows)
        self.pocket: DualPocket | None = None
        # Where each sample comes once in an epoch, its scores can be kept at its visit.
        self.in_turn = settings.order in ONCE and settings.keep != "pocket"
        self.in_turn = self.in_turn and settings.budget is None
        self.visited, self.settled, self.coming = 0, 0, 0
        # Whether an epoch has begun, goes by the Gram matrix, and how many wide blocks are done.
        self.begun, self.by_gram, self.turned = False, False, 0
        self.computed_before = 0  # by the run that this one goes on with

    def prepare(self, problems: list[DualProblem], run: Run[DualProblem], stack: ExitStack) -> None:
        """Score all samples with the support vectors that there are already."""
        self.look_up, self.pause = run.look_up, run.pause
        stack.enter_context(one_blas_thread())  # the team has a thread for each core already
        stack.callback(self.ledger.backlog.drop)
        if self.expansion.size:
            self.scores.add_all()
        if self.settings.keep == "pocket":
            self.pocket = DualPocket(self)

    def begin(self, running: list[DualProblem]) -> None:
        """Remember where the epoch begins."""
        if self.in_turn and self.values.computed > self.n_rows**2:
            self.by_gram = self.values.everything(self.look_up) is not None
        self.turned, self.begun = 0, True
        self.ledger.begin(np.arange(self.n_rows))
        self.scores_before = self.scores.now.copy()
        self.coef_before = self.expansion.arrays.coef[: self.expansion.size].copy()

    def state(self, running: list[DualProblem]) -> dict[str, Any]:
        """What the run needs to go on beside the problems, as plain values."""
        return rule_state(self)

    def restore(self, running: list[DualProblem], state: Any) -> None:
        """Go on from such a state."""
        restore_rule(self, state)

    def epoch(self, running: list[DualProblem], order: Order) -> None:
        """Visit every sample once (every position of the order)."""
        rows = order.whole() if isinstance(order, TileOrder) else order
        self.order = rows if rows.size else np.arange(self.n_rows)
        for turn in self.turns(running):
            position = added = 0
            while True:
                arrays, slots = self.expansion.arrays, turn.slots
                position, unclear = visit(self.block, turn.seen, arrays, slots, turn.rule, position)
                if unclear == MISSING:
                    self._foresee(turn, position)
                    continue
                new = slots.free[added : slots.state[2]]
                self.values.add(arrays.sample[new], new)
                added += len(new)
                if unclear == DONE:
                    break
                self._settle(turn.seen, position, unclear)
            self._book(turn)

    def turns(self, running: list[DualProblem]) -> Iterator[Turn]:
        """The samples in the order of the epoch, some at a time."""
        if self.turned:  # an epoch to go on with may have been halted there
            self._mind_doubts()
        if self.by_gram and not self.turned:
            everyone = Batch(np.arange(self.n_rows), None, self.values.x2)
            G = self.values.everything(self.look_up)
            yield self.turn(running, everyone, self.scores.sums, self.order, G)
            self.turned += 1
            self._mind_doubts()
        elif not self.by_gram:
            blocks = list(self.blocks(self.order))
            if self.in_turn:
                self.ledger.blocks = blocks
            for number in range(self.turned, len(blocks)):
                yield from self.visits(running, number, blocks[number])
                self.turned += 1
                self.values.computed += BLOCK_WORTH
                self._mind_doubts()
                self.pause()
        for p in running:
            p.visits, p.within = p.visits + p.within, 0

    def visits(self, running: list[DualProblem], number: int, sample: Ints) -> Iterator[Turn]:
        """A block of samples with what the epoch has added so far, and its scores kept after it."""
        batch, ledger, before = self.values.batch(sample), self.ledger, self.ledger.events.size
        if not self.in_turn:
            yield self.turn(running, batch, self.scored(batch))
            return
        sums = ledger.scored(number, batch)
        ledger.look_ahead(number + 1)
        yield self.turn(running, batch, sums)
        ledger.keep(number, sums)
        ledger.go_on(number + 1, before)

    def blocks(self, order: Ints) -> Iterator[Ints]:
        """The samples in this order, a wide block at a time."""
        return self.scores.blocks(order)

    def end(self, running: list[DualProblem]) -> list[float]:
        """Bring all scores up to date, judge the vectors; how far each problem's has moved."""
        if self.pocket is not None:
            self.pocket.follow()
        if not self.by_gram and self.settings.budget is None:
            self.ledger.catch_up()
        changes = self.changes()
        self.begun, moved = False, []
        for c, p in enumerate(self.problems):
            if p in running:
                moved.append(float(changes[c]))
                if self.pocket is not None:
                    p.pocket_errors.append(float(self.pocket.errors[c]))
        return moved

    def finishing(self, seconds: float) -> float:
        """Seconds, at the pace so far, to bring all scores up to date, and to judge vectors.

        With what is coming before the next look.
        """
        behind, keep = 0 if self.by_gram else self.ledger.events.size, self.settings.keep
        products = self.coming + behind * (JUDGED if keep == "pocket" else 1)
        products += COUNTED * self.expansion.size if keep in ("pocket", "vote") else 0
        computed = self.values.computed - self.computed_before or self.values.computed
        return self.n_rows * products * seconds / max(computed, 1)

    def changes(self) -> Floats:
        """``‖w - w before‖`` over the epoch: ``Σ Δ_s (f(x_s) - f before(x_s))`` squared."""
        a, size = self.expansion.arrays, self.expansion.size
        delta = a.coef[:size].copy()
        delta[: len(self.coef_before)] -= self.coef_before
        moved = np.flatnonzero(delta.any(axis=1))
        if self.settings.tol is not None:  # to be told from a small number
            return np.sqrt(self.values.form(self.values.support.matrix(moved), delta[moved]))
        sample = a.sample[moved]
        apart = self.scores.now[sample] - self.scores_before[sample]
        squares: Floats = np.maximum((delta[moved] * apart).sum(axis=0), 0.0)
        return np.sqrt(squares)

    # Blocks -------------------------------------------------------------------------------------

    def scored(self, batch: Batch) -> Floats:
        """The scores of some samples with the updates so far."""
        sums = self.values.sums(batch, *self.ledger.events.since(0), self.k)
        sums += self.scores.sums[batch.sample]
        return sums

    def turn(
        self,
        running: list[DualProblem],
        batch: Batch,
        sums: Floats,
        turn: Ints | None = None,
        G: Any = None,
    ) -> Turn:
        """Some samples, each in its turn; G are their kernel values with each other, if at hand."""
        k, m, slots = self.k, len(batch.sample), self.slots(batch)
        rounding = self.scores.rounding(batch.sample, visited=m)
        seen = Visited(
            sample=batch.sample,
            turn=np.arange(m) if turn is None else turn,
            G=np.empty((0, m), self.values.kind) if G is None else G,
            row=np.full(m, -1) if G is None else np.arange(m),
            F=np.ascontiguousarray(sums[:, :k].T),
            A=np.ascontiguousarray(sums[:, -k:].T),
            relative=rounding.relative,
            absolute=rounding.absolute,
            total=self.scores.total,
            settled=np.zeros((k, m), np.bool_),
            steps=np.zeros((k, m)),
            wrong=np.zeros((k, m), np.bool_),
            values=np.zeros((k, m)),
            slot=np.full(m, -1),
        )
        rule = VisitRule(
            positives=self.scores.positives,
            running=np.array([p in running for p in self.problems]),
            clocks=np.array([p.visits + p.within for p in self.problems]),
            time=self.expansion.time,
            drop_after=self.settings.drop_after or 0,
            exact=self.settings.record,
        )
        self.expansion.reserve(int(slots.free.max(initial=0)) + 1)
        self.values.support.reserve(len(self.expansion.arrays.age))
        return Turn(running, batch, sums, seen, slots, rule)

    def _foresee(self, turn: Turn, position: int) -> None:
        """Have the values of samples at hand that are mistakes from here on, as things stand.

        Where asking costs more than computing, those that come closest to it as well.
        """
        seen, rule = turn.seen, turn.rule
        coming = seen.turn[position:]
        coming = coming[seen.row[coming] < 0]
        mine = self.block.label[seen.sample[coming]] == rule.positives[:, np.newaxis]
        margins = np.where(mine, seen.F[:, coming], -seen.F[:, coming])[rule.running].min(axis=0)
        least, widest = min(self.values.foreseen, len(coming)), 0.0
        if least:
            widest = max(0.0, float(np.partition(margins, least - 1)[least - 1]))
        some = coming[~(margins > widest)][: max(FORESEEN, 8 * least)]
        seen.row[some] = turn.rows + np.arange(len(some))
        first, turn.rows = turn.rows, turn.rows + len(some)
        if turn.rows > len(seen.G):
            turn.seen = seen = seen._replace(G=grown(seen.G, max(turn.rows, 2 * len(seen.G))))
        seen.G[first : turn.rows] = self.values.among(turn.batch, some)

    def slots(self, batch: Batch) -> Slots:
        """New slots are appended; nothing is forgotten."""
        m, size = len(batch.sample), self.expansion.size
        new = int((self.expansion.arrays.slot[batch.sample] < 0).sum())
        none, H = np.empty(0, np.int64), np.empty((0, m), self.values.kind)
        return Slots(np.arange(size, size + new), 0, none, H, np.zeros(3, np.int64))

    def _settle(self, seen: Visited, position: int, c: int) -> None:
        """Give the sample that is next its score without doubt."""
        j, record = seen.turn[position], self.settings.record
        value = self.scores.settled(int(seen.sample[j]), c, exactly=record)
        seen.F[c, j], seen.settled[c, j] = value, True
        mine = self.block.label[seen.sample[j]] == self.scores.positives[c]
        # A mistake that is recorded has to be settled anyway.
        self.settled += not record or bool(value > 0 if mine else value < 0)

    def _mind_doubts(self) -> None:
        """If much was in doubt, score everything anew, in double precision from now on."""
        much = self.settled > max(FEW, DOUBTFUL * self.visited)
        if much and self.values.kind != np.float64:
            self.coming = DOUBLE * self.expansion.size
            self.look_up()
            self.coming = 0
            self.ledger.backlog.wait()
            self.values.change_precision(np.float64)
            self.scores.sums[:] = 0.0
            if self.settings.budget is None:
                self.scores.add_all()
            self.ledger.begin(self.order if self.in_turn else np.arange(self.n_rows))

    def _book(self, turn: Turn) -> None:
        """Note what the visits have changed."""
        k, seen, m = self.k, turn.seen, len(turn.seen.sample)
        taken = turn.slots.free[: turn.slots.state[2]]
        self.scores.additions += 2 * int(seen.wrong.any(axis=0).sum())
        self.expansion.size = max(self.expansion.size, int(taken.max(initial=-1)) + 1)
        wrong, lags = self._book_mistakes(turn)
        turn.sums[:, :k], turn.sums[:, -k:] = seen.F.T, seen.A.T
        for a in range(0, len(wrong) if lags.size else 0, LAGS):
            part = slice(a, a + LAGS)
            values = seen.G[seen.row[wrong[part]]]
            turn.sums[:, k:-k] += values.T.astype(np.float64) @ lags[part]
        self.visited += m
        self.expansion.time += m
        for p in turn.running:
            p.within += m

    def _book_mistakes(self, turn: Turn) -> tuple[Ints, Floats]:
        """Note the mistakes of a block; which they are, and the lags of their updates."""
        a, seen, clocks = self.expansion.arrays, turn.seen, turn.rule.clocks
        turns = np.flatnonzero(seen.wrong[:, seen.turn].any(axis=0))
        wrong = seen.turn[turns]
        steps = seen.steps.T[wrong]
        lags = (steps * (clocks + turns[:, np.newaxis]))[:, : self.scores.columns - 2 * self.k]
        if self.settings.budget is None:
            self.ledger.events.append(seen.slot[wrong], steps, lags, np.abs(steps))
        for c, p in enumerate(self.problems):
            if p not in turn.running:
                continue
            turns = np.flatnonzero(seen.wrong[c, seen.turn])
            at = seen.turn[turns]
            row, step = seen.sample[at], seen.steps[c, at]
            if self.settings.record:
                number = p.n_updates + np.arange(len(at))
                epoch = np.full(len(at), len(p.mistakes))
                p.records.append((epoch, row, seen.values[c, at], step, number))
            if self.settings.keep == "vote":
                p.path.append((seen.slot[at], step, clocks[c] + turns))
            if self.settings.drop_after:
                last = np.sort(len(row) - 1 - np.unique(row[::-1], return_index=True)[1])
                gone = at[last[a.dropped[row[last], c]]]
                epoch = np.full(len(gone), len(p.mistakes))
                p.dropped.append((seen.sample[gone], a.counts[seen.slot[gone], c], epoch))
            p.mistakes[-1] += len(at)
            p.n_updates += len(at)
        return wrong, lags

    # Why to stop --------------------------------------------------------------------------------

    def reason(self, p: DualProblem) -> StopReason | None:
        """The reason to stop after an epoch, if there is one."""
        if p.mistakes[-1] == 0 and (self.settings.order != "sampled" or self.separates(p)):
            gone = self.expansion.arrays.dropped
            dropped = gone.size and gone[:, self.problems.index(p)].any()
            return StopReason.NO_MISTAKES if dropped else StopReason.SEPARATED
        if self.settings.tol is not None and p.changes[-1] < self.settings.tol:
            return StopReason.SMALL_CHANGE
        if self.settings.order in ("cyclic", "worst-mistake"):
            p.cycle = self._find_cycle(p)
            if p.cycle is not None:
                return StopReason.CYCLE
        return None

    def separates(self, p: DualProblem) -> bool:
        """Whether no sample is a mistake now."""
        return not self.mistakes(self.problems.index(p))[0].size

    def mistakes(self, c: int) -> tuple[Ints, Floats, Floats]:
        """Rows that are mistakes now, exactly, ``y`` times their scores, and doubt in these."""
        return self.scores.mistakes(c, self.blocks(np.arange(self.n_rows)))

    def _find_cycle(self, p: DualProblem) -> Cycle | None:
        """A proof that the run repeats itself, if it is one.

        What comes next depends on the scores of the samples alone. Where they are whole numbers
        they are exact, and their repetition is the proof. Otherwise counters only grow, so that
        nothing can repeat unless some samples are identical, so that their coefficients add up,
        or have no kernel value but zero.
        """
        shrinks = self.settings.drop_after is not None or self.settings.budget is not None
        if shrinks or not self.values.weights.whole:
            return None
        c = self.problems.index(p)
        a, size = self.expansion.arrays, self.expansion.size
        state = self.scores.all_that_matters(c, self.scores.now, a.coef[:size])
        if state is None:
            return None
        if p.cycles is None:
            p.cycles = CycleFinder()
            before = self.scores.all_that_matters(c, self.scores_before, self.coef_before)
            assert before is not None
            p.cycles.met_before(before, len(p.mistakes) - 1)
        first = p.cycles.met_before(state, len(p.mistakes))
        return None if first is None else Cycle(first, len(p.mistakes) - first)
