"""The kernel perceptron: samples in blocks, scores kept, decisions exact.

The scores of all samples are known at the beginning of an epoch. A block of samples is visited
with what the epoch has added so far, by matrix products, and with the kernel values within the
block, one mistake after the other; at the end of the epoch every sample gets what came after its
visit. So the value of a support vector's kernel with a sample is computed once for each mistake
on that vector, whatever the number of classes. With a budget the support vectors are few, and
each block is scored from them alone.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.rows import row_weights
from rosenblatt.kernel import loops
from rosenblatt.kernel.dual_pocket import DualPocket
from rosenblatt.kernel.expansion import DualProblem, Events, Expansion, Sheet
from rosenblatt.kernel.loops import Doubt, Forgetting, Rule, Visited
from rosenblatt.kernel.sums import exact_sum, signed_sum
from rosenblatt.kernel.support_vectors import Batch
from rosenblatt.results import Cycle, StopReason
from rosenblatt.running.run import Run
from rosenblatt.running.stopping import CycleFinder, Halt
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import ExitStack

    from numpy.typing import NDArray

    from rosenblatt.data.rows import Block
    from rosenblatt.kernel.values import Values
    from rosenblatt.running.run import Settings

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

DOUBTFUL = 0.02  # share of visits settled singly above which single precision does not pay
FEW = 200  # but so many are nothing
BLOCK_WORTH = 1 << 17  # values that could be computed instead of going through another block
LAGS = 256  # updates whose lags are added at a time


class Kernelized(Run[DualProblem]):
    """Orders cyclic, shuffled and sampled, any number of support vectors.

    Parameters
    ----------
    values : Values
        Kernel values of the data, with the support vectors of the expansion in its bank.
    block : Block
        Labels and weights of the data.
    expansion : Expansion
        The support vectors so far.
    """

    def __init__(
        self,
        values: Values,
        block: Block,
        settings: Settings,
        problems: list[DualProblem],
        expansion: Expansion,
        callback: Callable[[int, list[DualProblem]], None] | None = None,
    ) -> None:
        super().__init__(settings, problems, values.n, callback)
        self.values, self.block, self.expansion = values, block, expansion
        self.k = len(problems)
        self.positives = np.array([p.positive for p in problems])
        self.columns = 2 * self.k + expansion.arrays.lag.shape[1]
        self.sums = np.zeros((values.n, self.columns))
        self.total = np.zeros(self.k)
        self.additions = 64
        self.events, self.done = Events(self.columns), [0]
        self.twins: NDArray[np.intp] | None = None
        self.pocket: DualPocket | None = None
        # Where each sample comes once in an epoch, its scores can be kept at its visit.
        self.in_turn = settings.order in ("cyclic", "shuffled") and settings.keep != "pocket"
        self.visited, self.settled = 0, 0
        self.gram: Any = None

    @property
    def scores(self) -> Floats:
        """The scores of all samples, a column for each problem."""
        return self.sums[:, : self.k]

    @property
    def sizes(self) -> Floats:
        """The sums of the sizes of all terms that the scores were ever given."""
        return self.sums[:, -self.k :]

    def prepare(self, stack: ExitStack) -> None:
        """Score all samples with the support vectors that there are already."""
        stack.enter_context(one_blas_thread())  # the team has a thread for each core already
        if self.expansion.size:
            self._add_all()
        if self.settings.keep == "pocket":
            self.pocket = DualPocket(self)

    def _add_all(self) -> None:
        """Give all samples their share of all support vectors."""
        a, size = self.expansion.arrays, self.expansion.size
        sizes = np.abs(a.coef[:size])
        self.total[:] = sizes.sum(axis=0)
        factors = np.hstack([a.coef[:size], a.lag[:size], sizes])
        for sample in self.blocks(np.arange(self.n_rows)):
            batch = self.values.batch(sample)
            self.sums[sample] += self.values.sums(batch, np.arange(size), factors, self.k)

    def blocks(self, order: Ints) -> Iterator[Ints]:
        """The samples in this order, a wide block at a time."""
        m = self.values.wide_rows
        return (order[a : a + m] for a in range(0, len(order), m))

    def one_epoch(self, running: list[DualProblem]) -> None:
        """Take every problem once through the data, and see whether it is done."""
        order = self.draw_order()
        order = order if order.size else np.arange(self.n_rows)
        self.begin_epoch()
        for p in running:
            p.mistakes.append(0)
        try:
            self.epoch(running, order)
        except (Halt, KeyboardInterrupt):  # a run that is halted half-way still has a whole trace
            self.end_epoch(running, order)
            raise
        self.end_epoch(running, order)
        for p in running:
            p.stop = self.reason(p)

    def begin_epoch(self) -> None:
        """Remember where the epoch begins."""
        self.events, self.done = Events(self.columns), []
        if self.in_turn and self.settings.budget is None and self.values.computed > self.n_rows**2:
            self.gram = self.values.everything(self.look_up)
        self.scores_before = self.scores.copy()
        self.coef_before = self.expansion.arrays.coef[: self.expansion.size].copy()

    def epoch(self, running: list[DualProblem], order: Ints) -> None:
        """Visit every sample once (every position of the order)."""
        if self.gram is not None:
            everyone = Batch(np.arange(self.n_rows), None, self.values.x2)
            self._visit(running, everyone, order, self.gram, self.sums)
            self._mind_doubts()
        else:
            self._go_through_blocks(running, order)
        for p in running:
            p.visits, p.within = p.visits + p.within, 0

    def _go_through_blocks(self, running: list[DualProblem], order: Ints) -> None:
        for sample in self.blocks(order):
            sheet = self.open(sample)
            try:
                for a in range(0, len(sample), self.values.block_rows):
                    self.visit(running, sheet, a, min(a + self.values.block_rows, len(sample)))
            except (Halt, KeyboardInterrupt):
                self.close(sheet)
                raise
            self.close(sheet)
            self._mind_doubts()

    def end_epoch(self, running: list[DualProblem], order: Ints) -> None:
        """Bring all scores up to date, and complete the trace."""
        if self.pocket is not None:
            self.pocket.follow()
        if self.gram is None:
            self._catch_up(order)
        changes = self.changes()
        for c, p in enumerate(self.problems):
            if p in running:
                p.changes.append(float(changes[c]))
                p.seconds.append(time.perf_counter() - self.began)
                if self.pocket is not None:
                    p.pocket_errors.append(float(self.pocket.errors[c]))

    def finishing(self) -> float:
        """Seconds, at the pace so far, to bring all scores up to date."""
        if self.gram is not None or not self.values.computed:
            return 0.0
        behind = self.n_rows * self.events.size
        return behind * (time.perf_counter() - self.began) / self.values.computed

    def _catch_up(self, order: Ints) -> None:
        """Give every sample the updates since its visit in this epoch."""
        blocks = self.blocks(order if self.in_turn else np.arange(self.n_rows))
        for number, sample in enumerate(blocks):
            seen = self.done[number] if self.in_turn and number < len(self.done) else 0
            if seen < self.events.size:
                batch = self.values.batch(sample)
                self.sums[sample] += self.values.sums(batch, *self.events.since(seen), self.k)

    def changes(self) -> Floats:
        """``‖w - w before‖`` over the epoch: ``Σ Δ_s (f(x_s) - f before(x_s))`` squared."""
        a, size = self.expansion.arrays, self.expansion.size
        delta = a.coef[:size].copy()
        delta[: len(self.coef_before)] -= self.coef_before
        moved = np.flatnonzero(delta.any(axis=1))
        if self.settings.tol is not None:  # to be told from a small number
            return np.sqrt(self.values.form(self.values.vectors(moved), delta[moved]))
        sample = a.sample[moved]
        apart = self.scores[sample] - self.scores_before[sample]
        squares: Floats = np.maximum((delta[moved] * apart).sum(axis=0), 0.0)
        return np.sqrt(squares)

    # Blocks -------------------------------------------------------------------------------------

    def open(self, sample: Ints) -> Sheet:
        """Score a wide block of samples with the updates so far."""
        batch = self.values.batch(sample)
        sums = self.values.sums(batch, *self.events.since(0), self.k)
        sums += self.sums[sample]
        return Sheet(batch, sums, self.events.size)

    def close(self, sheet: Sheet) -> None:
        """Bring all samples of a wide block to the same state, and keep it where it can be."""
        if self.in_turn:
            visited = sheet.done[-1][1] if sheet.done else 0
            for a, z, done in [*sheet.done, (visited, len(sheet.sums), sheet.base)]:
                self._add(sheet, a, z, done)
            self.sums[sheet.batch.sample] = sheet.sums
            self.done.append(self.events.size)

    def _add(self, sheet: Sheet, a: int, z: int, done: int) -> None:
        """Give samples a to z of a wide block the updates since number `done`."""
        if a < z and done < self.events.size:
            part = self.values.part(sheet.batch, a, z)
            sheet.sums[a:z] += self.values.sums(part, *self.events.since(done), self.k)

    def visit(self, running: list[DualProblem], sheet: Sheet, a: int, z: int) -> None:
        """Visit samples a to z of a wide block."""
        self._add(sheet, a, z, sheet.base)
        batch = self.values.part(sheet.batch, a, z)
        self._visit(running, batch, np.arange(z - a), self.values.gram(batch), sheet.sums[a:z])
        sheet.done.append((a, z, self.events.size))
        self.values.computed += BLOCK_WORTH
        self.look_up()

    def _visit(
        self, running: list[DualProblem], batch: Batch, turn: Ints, G: Any, sums: Floats
    ) -> None:
        """Visit some samples, each in its turn; G are their kernel values with each other."""
        k, m = self.k, len(turn)
        seen = Visited(
            sample=batch.sample,
            turn=turn,
            G=G,
            F=np.ascontiguousarray(sums[:, :k].T),
            A=np.ascontiguousarray(sums[:, -k:].T),
            settled=np.zeros((k, m), np.bool_),
            steps=np.zeros((k, m)),
            wrong=np.zeros((k, m), np.bool_),
            values=np.zeros((k, m)),
            slot=np.full(m, -1),
        )
        rule = Rule(
            positives=self.positives,
            running=np.array([p in running for p in self.problems]),
            clocks=np.array([p.visits + p.within for p in self.problems]),
            time=self.expansion.time,
            drop_after=self.settings.drop_after or 0,
            exact=self.settings.record,
        )
        self._walk(batch, seen, rule)
        wrong, lags = self._book(running, seen, rule)
        sums[:, :k], sums[:, -k:] = seen.F.T, seen.A.T
        for a in range(0, len(wrong) if lags.size else 0, LAGS):
            part = slice(a, a + LAGS)
            sums[:, k:-k] += G[wrong[part]].T.astype(np.float64) @ lags[part]
        self.visited += m
        self.expansion.time += m
        for p in running:
            p.within += m

    def _mind_doubts(self) -> None:
        """If much was in doubt, score everything anew, in double precision from now on."""
        much = self.settled > max(FEW, DOUBTFUL * self.visited)
        if much and self.values.kind != np.float64:
            self.values.change_precision(np.float64)
            self.sums[:] = 0.0
            self._add_all()
            self.events, self.done = Events(self.columns), [0] * len(self.done)

    def forgetting(self, batch: Batch) -> tuple[Forgetting, Ints]:
        """Nothing is forgotten; new slots are appended."""
        m, size = len(batch.sample), self.expansion.size
        none = Forgetting(
            budget=0,
            queue=np.empty(0, np.int64),
            H=np.empty((0, m), self.values.kind),
            state=np.zeros(2, np.int64),
        )
        new = int((self.expansion.arrays.slot[batch.sample] < 0).sum())
        return none, np.arange(size, size + new)

    def _walk(self, batch: Batch, seen: Visited, rule: Rule) -> None:
        """Visit the samples one after the other."""
        m = len(seen.sample)
        forgetting, free = self.forgetting(batch)
        self.expansion.reserve(int(free.max(initial=0)) + 1)
        self.values.bank.reserve(len(self.expansion.arrays.age))
        total = float(self.total.max(initial=0.0)) + self.values.weights.heaviest * m
        rounding = self.values.rounding(batch.sample, total, self.additions + 2 * m)
        doubt = Doubt(rounding.relative, rounding.absolute, self.total)
        position = added = used = 0
        while True:
            position, unclear, used = loops.visit(
                self.block,
                seen,
                doubt,
                self.expansion.arrays,
                forgetting,
                rule,
                free,
                position,
                used,
            )
            self.values.add(self.expansion.arrays.sample[free[added:used]], free[added:used])
            added = used
            if unclear < 0:
                break
            j = seen.turn[position]
            seen.F[unclear, j] = self.settle(int(seen.sample[j]), unclear)
            seen.settled[unclear, j] = True
            self.settled += not self.settings.record
        self.additions += 2 * int(seen.wrong.any(axis=0).sum())
        self.expansion.size = max(self.expansion.size, int(free[:used].max(initial=-1)) + 1)

    def average(self) -> Floats:
        """Coefficients of the mean of the vectors after every visit."""
        a = self.expansion.arrays
        visits = [max(p.visits + p.within, 1) for p in self.problems]
        mean: Floats = a.coef - a.lag / np.array(visits)
        return mean

    def average_scores(self) -> Floats:
        """Scores of all samples with that mean."""
        visits = [max(p.visits + p.within, 1) for p in self.problems]
        scores: Floats = self.scores - self.sums[:, self.k : -self.k] / np.array(visits)
        return scores

    def settle(self, sample: int, c: int) -> float:
        """The score of a sample with the right sign; the exact one if that is to be recorded."""
        coef = self.expansion.arrays.coef[:, c]
        slots = np.flatnonzero(coef)
        terms = coef[slots], self.values.exact(sample, slots)
        return exact_sum(*terms) if self.settings.record else signed_sum(*terms)

    def exact_score(self, sample: int, c: int) -> float:
        """``Σ a_s K(x_s, x)`` for a sample, rounded once: what any blocking must agree with."""
        coef = self.expansion.arrays.coef[:, c]
        slots = np.flatnonzero(coef)
        return exact_sum(coef[slots], self.values.exact(sample, slots))

    def _book(self, running: list[DualProblem], seen: Visited, rule: Rule) -> tuple[Ints, Floats]:
        """Note the mistakes of a block; which they are, and the lags of their updates."""
        a = self.expansion.arrays
        turns = np.flatnonzero(seen.wrong[:, seen.turn].any(axis=0))
        wrong = seen.turn[turns]
        steps = seen.steps.T[wrong]
        lags = (steps * (rule.clocks + turns[:, np.newaxis]))[:, : self.columns - 2 * self.k]
        if self.settings.budget is None:
            self.events.append(seen.slot[wrong], steps, lags, np.abs(steps))
        for c, p in enumerate(self.problems):
            if p not in running:
                continue
            turns = np.flatnonzero(seen.wrong[c, seen.turn])
            at = seen.turn[turns]
            row, step = seen.sample[at], seen.steps[c, at]
            if self.settings.record:
                number = p.n_updates + np.arange(len(at))
                epoch = np.full(len(at), len(p.mistakes))
                p.records.append((epoch, row, seen.values[c, at], step, number))
            if self.settings.keep == "vote":
                p.path.append((seen.slot[at], step, rule.clocks[c] + turns))
            if self.settings.drop_after:
                gone = at[a.dropped[row, c] & ~np.isin(np.arange(len(at)), _earlier(row))]
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
        parts = []
        for sample in self.blocks(np.arange(self.n_rows)):
            y, weight = self.signs(c, sample)
            scores, off = self.scores[sample, c], self.doubts(sample)[:, c]
            doubtful = (off != 0) & ~(np.abs(scores) > off) & (weight > 0)
            for k in np.flatnonzero(doubtful):
                scores[k], off[k] = self.exact_score(int(sample[k]), c), 0.0
            wrong = ~(y * scores > 0) & (weight > 0)
            parts.append((sample[wrong], (y * scores)[wrong], off[wrong]))
        rows, values, offs = (np.concatenate(column) for column in zip(*parts, strict=True))
        return rows, values, offs

    def signs(self, c: int, sample: Ints, *, dropped: bool = False) -> tuple[Floats, Floats]:
        """Labels and weights of some rows; dropped ones have no weight, unless wanted."""
        positive = int(self.positives[c])
        y = np.where(self.block.label[sample] == positive, 1.0, -1.0)
        weight = row_weights(self.block, positive, sample).astype(np.float64)
        gone = self.expansion.arrays.dropped
        return y, weight if dropped or not gone.size else np.where(gone[sample, c], 0.0, weight)

    def doubts(self, sample: Ints) -> Floats:
        """How far the scores of some samples can be off, in each problem."""
        total = float(self.total.max(initial=0.0))
        rounding = self.values.rounding(sample, total, self.additions)
        with np.errstate(invalid="ignore"):  # endless doubt about nothing is doubt
            off: Floats = (
                rounding.relative[:, np.newaxis] * self.sizes[sample]
                + rounding.absolute[:, np.newaxis] * self.total
            )
        return off

    def _find_cycle(self, p: DualProblem) -> Cycle | None:
        """A proof that the run repeats itself, if it is one.

        What comes next depends on the scores of the samples alone. Where they are whole numbers
        they are exact, and their repetition is the proof. Otherwise counters only grow, so that
        nothing can repeat unless some samples are identical, so that their coefficients add up,
        or have no kernel value but zero.
        """
        if self.settings.drop_after is not None or not self.values.weights.whole:
            return None
        c = self.problems.index(p)
        a, size = self.expansion.arrays, self.expansion.size
        state = self._digestible(c, self.scores, a.coef[:size])
        if state is None:
            return None
        if p.cycles is None:
            p.cycles = CycleFinder()
            before = self._digestible(c, self.scores_before, self.coef_before)
            assert before is not None
            p.cycles.met_before(before, len(p.mistakes) - 1)
        first = p.cycles.met_before(state, len(p.mistakes))
        return None if first is None else Cycle(first, len(p.mistakes) - first)

    def _digestible(self, c: int, scores: Floats, coef: Floats) -> Floats | None:
        """What the rest of the run depends on, exactly; None if it cannot come twice."""
        if self.values.exact_sums(float(self.total.max(initial=0.0))):
            return scores[:, c]
        if self.twins is None:
            self.twins, nothing = self.values.twins(), self.values.nothings()
            if nothing.any():
                self.twins = self.twins if self.twins.size else np.arange(self.n_rows)
                self.twins[nothing] = -1
        if not self.twins.size:
            return None
        sample = self.expansion.arrays.sample[: len(coef)]
        mine = np.flatnonzero((sample >= 0) & (self.twins[sample] >= 0))
        sums: Floats = np.bincount(self.twins[sample[mine]], coef[mine, c], self.n_rows).astype(
            np.float64
        )
        return sums


def _earlier(rows: Ints) -> Ints:
    """Positions of rows that come again later."""
    _, last = np.unique(rows[::-1], return_index=True)
    return np.setdiff1d(np.arange(len(rows)), len(rows) - 1 - last)
