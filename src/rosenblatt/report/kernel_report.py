"""Kernel perceptrons in words: the kernel, the rows that carry it, those that were dropped."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import TYPE_CHECKING

from rosenblatt.report.facts import Ground
from rosenblatt.report.phrases import count, grouped, listing, percent, shortened
from rosenblatt.results import StopReason, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rosenblatt.kernels.gram_matrices import IndefiniteKernelWarning
    from rosenblatt.report.facts import (
        ExpansionFacts,
        FitFacts,
        KernelFacts,
        MistakenRow,
        VerdictFacts,
    )

FEW = 10  # rows that are named
MANY = 0.15  # so large a share of dropped rows is more than outliers
WORSE = 0.02  # a gap between folds and training rows that asks for a word
HIGH = 5  # a degree whose values differ so much that another mistake hardly counts
RADIAL = ("rbf", "gaussian")  # they separate all rows that differ
ENDED = {StopReason.SEPARATED, StopReason.NO_MISTAKES, StopReason.SMALL_CHANGE}
REASONS = {
    StopReason.SEPARATED: "an epoch without mistakes: every row is on its side",
    StopReason.NO_MISTAKES: "an epoch without mistakes: every row that was not dropped is on its "
    "side",
    StopReason.SMALL_CHANGE: "the vector moved by less than tol over an epoch",
    StopReason.CYCLE: "the scores repeat exactly: this run can never end",
}
PASSED = "A fit never just stops: here a whole pass over the data made no mistake"
ASKED = (
    "Whether curves of this kind can separate the classes, no row left out; for the kernel they "
    "are hyperplanes, in a space of its own."
)
EXPLANATIONS = {
    "kernel": "How alike two rows are. A row's decision value is the sum of its likeness to the "
    "support vectors, each with its sign and its number of mistakes; zero is the boundary.",
    "stopped": {
        StopReason.SEPARATED: f"{PASSED}.",
        StopReason.NO_MISTAKES: f"{PASSED}, but for rows that had been left out.",
    },
    "verdict": {
        Verdict.SEPARABLE: f"{ASKED} One can.",
        Verdict.QUASI_SEPARABLE: f"{ASKED} Almost: they touch, but do not cross.",
        Verdict.INSEPARABLE: f"{ASKED} None can.",
    },
    "training": "A mistake is a row with the wrong sign, or with zero, when it is looked at. Each "
    "one adds 1 to the counter of its row. An error is a row that the final model gets wrong.",
    "support": "The rows whose counter is not zero: all that a prediction needs.",
    "hardest": "The larger its counter, the harder a row was to learn.",
    "dropped": "A row that is a mistake again and again may have the wrong class. At the limit its "
    "counter is set to zero, and it takes no more part.",
}


def stop_sentence(reason: StopReason) -> str:
    """Why training ended: a kernel perceptron has no hyperplane among the features to speak of."""
    return REASONS.get(reason, reason.value)


def kernel_line(s: FitFacts, kernel: KernelFacts) -> str:
    """The formula, and where its number came from."""
    gamma = s.parameters.get("gamma", "scale")
    if not isinstance(gamma, str) or kernel.name == "linear" or "sigma" in s.parameters:
        return kernel.formula
    meant = "1/features" if gamma == "auto" else "1/(features·variance)"
    meant += ", which is 1/(2·sigma²)" * ("sigma" in kernel.numbers)
    return f"{kernel.formula}, with gamma {gamma}: {meant}"


def kernel_lines(s: FitFacts, sum_: ExpansionFacts, top: int) -> Iterator[tuple[str, str]]:
    """Named lines about support vectors and dropped rows."""
    yield "support", _support(sum_, None if s.table is None else s.table.rows)
    if sum_.hardest and "budget" not in s.parameters:  # its counters are forgotten, too
        yield "hardest", _hardest(sum_.hardest[:top])
    if sum_.dropped:
        yield "dropped", _dropped(sum_.dropped, len(s.stop_reasons))


def kernel_advice(s: FitFacts, sum_: ExpansionFacts) -> str:
    """What to try next."""
    name = sum_.kernel.name
    if name == "linear":
        return "the linear kernel is the perceptron: --model perceptron has its weights by name"
    if not s.parameters.get("fit_intercept") and any(map(_at_origin, s.verdicts)):
        return "try --intercept: without a bias the row at the origin is always a mistake"
    dropped = len({one.row for one in sum_.dropped})
    if s.table is not None and dropped > MANY * s.table.rows:
        return (
            f"{percent(dropped / s.table.rows)} of the rows are too many for outliers: raise "
            "--drop-after, or leave it out and take --keep average"
        )
    if s.training_errors and not s.reasons <= ENDED:
        return _of_errors(s, sum_.kernel)
    if s.table is not None and len(s.table.scores) > 1:
        scores, right = s.table.scores, 1 - s.training_errors / s.table.rows
        if fmean(scores) + max(WORSE, 2 * stdev(scores)) < right:
            bends = _less(name)
            return f"rows it has not seen do worse: {bends}, or --keep average, may carry further"
    return ""


def _at_origin(verdict: VerdictFacts) -> bool:
    """Whether a single row proves that nothing separates: it is its own opposite."""
    return verdict.in_features and verdict.ground is Ground.HULLS and len(verdict.rows) == 1


def _no_curve_helps(verdict: VerdictFacts, kernel: KernelFacts) -> bool:
    """Whether rows of different classes are the same, so that no kernel tells them apart."""
    if kernel.name in RADIAL:
        return verdict.verdict is Verdict.INSEPARABLE
    return verdict.ground is Ground.SAME_ROWS


def indefinite_note(warning: IndefiniteKernelWarning) -> str:
    """That the kernel is no inner product, with a remedy in the terms of the command."""
    return warning.told("--kernel rbf or poly")


def file_line(size: int, s: FitFacts, sum_: ExpansionFacts) -> str:
    """How large a model file is, and what is in it."""
    rows = count(sum_.count, "support vector")
    return f"{size_of(size)}; it holds {rows} of {count(s.features, 'feature')}"


def size_of(n: int) -> str:
    """``812 bytes``, ``4.3 kB``, ``12 MB``."""
    value, units = float(n), ["bytes", "kB", "MB", "GB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return (
        f"{value:.0f} {units[0]}"
        if value >= 9.95 or units[0] == "bytes"
        else (f"{value:.1f} {units[0]}")
    )


def _of_errors(s: FitFacts, kernel: KernelFacts) -> str:
    given, name = s.parameters, kernel.name
    high = kernel.numbers.get("degree", 0) > HIGH
    found = s.separable and name not in RADIAL
    ideas = [_less(name) if high else bends_more(kernel)]
    if kernel.numbers.get("coef0", 0) < 0:
        ideas = ["--coef0 0 or more"]
    if any(_no_curve_helps(one, kernel) for one in s.verdicts) or (found and not high):
        ideas = []  # no other curve would do, or none is needed
    if given.get("keep", "last") == "last" and "budget" not in given:
        ideas.append("--keep average")
    if "drop_after" not in given:
        ideas.append("--drop-after 10 to leave outliers out")
    if "budget" in given:
        ideas.append("a larger --budget")
    cut_off = s.reasons & {StopReason.EPOCH_LIMIT, StopReason.TIME_LIMIT}
    if cut_off and StopReason.CYCLE not in s.reasons and not s.hopeless:
        limit = "--max-epochs" if StopReason.EPOCH_LIMIT in s.reasons else "--max-time"
        ideas.append(f"a larger {limit}")
    if len(ideas) > 1:
        return f"try {', '.join(ideas[:-1])} or {ideas[-1]}"
    return f"try {ideas[0]}" if ideas else ""


def bends_more(kernel: KernelFacts) -> str:
    """What bends the boundary more."""
    return {
        "poly": "a larger --degree",
        "gaussian": "a smaller --sigma",
        "sigmoid": "--kernel rbf",
        "linear": "--kernel poly",
    }.get(kernel.name, "a larger --gamma")


def _less(kernel: str) -> str:
    """What bends the boundary less."""
    return {
        "poly": "a smaller --degree",
        "gaussian": "a larger --sigma",
        "sigmoid": "--kernel rbf",
    }.get(kernel, "a smaller --gamma")


def _support(sum_: ExpansionFacts, rows: int | None) -> str:
    text = count(sum_.count, "support vector")
    if rows is not None:
        text += f", {percent(sum_.count / rows)} of the rows"
    if sum_.counts is not None:
        shares = [f"{shortened(name)} ({grouped(n)})" for name, n in sum_.counts.items()]
        text += f": {listing(shares, 8)}"
    return text


def _hardest(first: Sequence[MistakenRow]) -> str:
    """The rows with the most mistakes that are still in the sum."""
    named = [_named(one.row, one.label, str(one.mistakes)) for one in first]
    return f"most mistakes in training: row{'s' * (len(named) > 1)} {', '.join(named)}"


def _named(row: int, label: str | None, *more: str) -> str:
    about = [*more, *([] if label is None else [shortened(label, 20)])]
    return f"{row} ({', '.join(about)})" if about else str(row)


def _dropped(dropped: Sequence[MistakenRow], n_problems: int) -> str:
    rows = {one.row: one.label for one in dropped}
    named = [_named(row, label) for row, label in rows.items()]
    several = ", each for one class or more" if n_problems > 1 else ""
    at = count(dropped[0].mistakes, "mistake")
    left = f"{count(len(rows), 'row')} at {at}{several}, as probable outliers: "
    return left + listing(named, FEW)
