"""Kernel perceptrons in words: the kernel, the rows that carry it, those that were dropped."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.words import count, grouped, listing, percent, shortened
from rosenblatt.results import StopReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    Summary = dict[str, Any]
    Facts = dict[str, Any]

FEW = 10  # rows that are named
MANY = 0.15  # so large a share of dropped rows is more than outliers
WORSE = 0.02  # a gap between folds and training rows that asks for a word
HIGH = 5  # a degree whose values differ so much that another mistake hardly counts
IDENTICAL, ORIGIN = "identical but have different classes", "which is at the origin"
REASONS = {
    "SEPARATED": "an epoch without mistakes: every row is on its side",
    "NO_MISTAKES": "an epoch without mistakes: every row that was not dropped is on its side",
    "SMALL_CHANGE": "the vector moved by less than tol over an epoch",
    "CYCLE": "the scores repeat exactly: this run can never end",
}
ASKED = (
    "Whether curves of this kind can separate the classes, no row left out; for the kernel they "
    "are hyperplanes, in a space of its own."
)
EXPLANATIONS = {
    "kernel": "How alike two rows are. A row's decision value is the sum of its likeness to the "
    "support vectors, each with its sign and its number of mistakes; zero is the boundary.",
    "stopped": {
        "SEPARATED": "A fit never just stops: here a whole pass over the data made no mistake.",
        "NO_MISTAKES": "A fit never just stops: here a whole pass over the data made no mistake, "
        "but for rows that had been left out.",
    },
    "verdict": {
        "SEPARABLE": f"{ASKED} One can.",
        "QUASI_SEPARABLE": f"{ASKED} Almost: they touch, but do not cross.",
        "INSEPARABLE": f"{ASKED} None can.",
    },
    "training": "A mistake is a row with the wrong sign, or with zero, when it is looked at. Each "
    "one adds 1 to the counter of its row. An error is a row that the final model gets wrong.",
    "support": "The rows whose counter is not zero: all that a prediction needs.",
    "hardest": "The larger its counter, the harder a row was to learn.",
    "dropped": "A row that is a mistake again and again may have the wrong class. At the limit its "
    "counter is set to zero, and it takes no more part.",
}


def stop_sentence(reason: str) -> str:
    """Why training ended: a kernel perceptron has no hyperplane among the features to speak of."""
    return REASONS.get(reason, StopReason[reason].value)


def kernel_line(s: Summary) -> str:
    """The formula, and where its number came from."""
    text = f"{s['kernel']['formula']}"
    gamma = s["parameters"].get("gamma", "scale")
    if (
        isinstance(gamma, str)
        and s["kernel"]["name"] != "linear"
        and "sigma" not in s["parameters"]
    ):
        meant = "1/features" if gamma == "auto" else "1/(features·variance)"
        meant += ", which is 1/(2·sigma²)" * ("sigma" in s["kernel"])
        text += f", with gamma {gamma}: {meant}"
    return text


def kernel_lines(s: Summary, top: int) -> Iterator[tuple[str, str]]:
    """Named lines about support vectors and dropped rows."""
    support = s["support"]
    yield "support", _support(support, s)
    if support["hardest"] and "budget" not in s["parameters"]:  # its counters are forgotten, too
        yield "hardest", _hardest(support["hardest"][:top])
    if s["dropped"]:
        yield "dropped", _dropped(s)


def kernel_advice(s: Summary) -> str:
    """What to try next."""
    reasons, name = set(s["stop_reasons"]), s["kernel"]["name"]
    if name == "linear":
        return "the linear kernel is the perceptron: --model perceptron has its weights by name"
    if not s["parameters"].get("fit_intercept") and _said(s, ORIGIN):
        return "try --intercept: without a bias the row at the origin is always a mistake"
    dropped = len({one["row"] for one in s["dropped"]})
    if "rows" in s and dropped > MANY * s["rows"]:
        return (
            f"{percent(dropped / s['rows'])} of the rows are too many for outliers: raise "
            "--drop-after, or leave it out and take --keep average"
        )
    if s["training_errors"] and not reasons <= {"SEPARATED", "NO_MISTAKES", "SMALL_CHANGE"}:
        return _of_errors(s, reasons)
    scores = s.get("cross_validation", ())
    if len(scores) > 1:
        right = 1 - s["training_errors"] / s["rows"]
        if fmean(scores) + max(WORSE, 2 * stdev(scores)) < right:
            bends = _less(name)
            return f"rows it has not seen do worse: {bends}, or --keep average, may carry further"
    return ""


def file_line(size: int, s: Summary) -> str:
    """How large a model file is, and what is in it."""
    rows = count(s["support"]["count"], "support vector")
    return f"{size_of(size)}; it holds {rows} of {count(s['features'], 'feature')}"


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


def _of_errors(s: Summary, reasons: set[str]) -> str:
    keep, given = s["parameters"].get("keep", "last"), s["parameters"]
    name = s["kernel"]["name"]
    verdicts, high = set(s.get("verdicts", [""])), s["kernel"].get("degree", 0) > HIGH
    found = verdicts == {"SEPARABLE"} and name not in ("rbf", "gaussian")  # which always are
    ideas = [_less(name) if high else bends_more(s["kernel"])]
    if s["kernel"].get("coef0", 0) < 0:
        ideas = ["--coef0 0 or more"]
    if _said(s, IDENTICAL) or (found and not high):
        ideas = []  # no other curve would do, or none is needed
    if keep == "last" and "budget" not in given:
        ideas.append("--keep average")
    if "drop_after" not in given:
        ideas.append("--drop-after 10 to leave outliers out")
    if "budget" in given:
        ideas.append("a larger --budget")
    hopeless = verdicts <= {"INSEPARABLE", "QUASI_SEPARABLE"}
    if reasons & {"EPOCH_LIMIT", "TIME_LIMIT"} and "CYCLE" not in reasons and not hopeless:
        ideas.append("--max-epochs" if "EPOCH_LIMIT" in reasons else "--max-time")
        ideas[-1] = f"a larger {ideas[-1]}"
    if len(ideas) > 1:
        return f"try {', '.join(ideas[:-1])} or {ideas[-1]}"
    return f"try {ideas[0]}" if ideas else ""


def _said(s: Summary, words: str) -> bool:
    """Whether the evidence for a verdict says so."""
    return any(words in why for why in s.get("evidence", ()))


def bends_more(kernel: Facts) -> str:
    """What bends the boundary more."""
    return {
        "poly": "a larger --degree",
        "gaussian": "a smaller --sigma",
        "sigmoid": "--kernel rbf",
        "linear": "--kernel poly",
    }.get(kernel["name"], "a larger --gamma")


def _less(kernel: str) -> str:
    """What bends the boundary less."""
    return {
        "poly": "a smaller --degree",
        "gaussian": "a larger --sigma",
        "sigmoid": "--kernel rbf",
    }.get(kernel, "a smaller --gamma")


def _support(support: Facts, s: Summary) -> str:
    text = count(support["count"], "support vector")
    if "rows" in s:
        text += f", {percent(support['count'] / s['rows'])} of the rows"
    if "classes" in support:
        shares = [f"{shortened(name)} ({grouped(n)})" for name, n in support["classes"].items()]
        text += f": {listing(shares, 8)}"
    return text


def _hardest(first: list[Facts]) -> str:
    """The rows with the most mistakes that are still in the sum."""
    named = [_named(one["row"], one.get("class"), str(one["mistakes"])) for one in first]
    return f"most mistakes in training: row{'s' * (len(named) > 1)} {', '.join(named)}"


def _named(row: int, label: str | None, *more: str) -> str:
    about = [*more, *([] if label is None else [shortened(label, 20)])]
    return f"{row} ({', '.join(about)})" if about else str(row)


def _dropped(s: Summary) -> str:
    rows = {one["row"]: one.get("class") for one in s["dropped"]}
    named = [_named(row, label) for row, label in rows.items()]
    several = ", each for one class or more" if len(s["stop_reasons"]) > 1 else ""
    at = count(s["dropped"][0]["mistakes"], "mistake")
    left = f"{count(len(rows), 'row')} at {at}{several}, as probable outliers: "
    return left + listing(named, FEW)
