"""The summary in a model file: whether it is what ``rosenblatt fit`` writes, and as facts.

Files of version 0.1 have no ``grounds``: of their verdicts there is only a sentence.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rosenblatt.files.models import ModelFileError
from rosenblatt.report.facts import (
    ExpansionFacts,
    FitFacts,
    Ground,
    KernelFacts,
    MistakenRow,
    OptimumFacts,
    ProofFacts,
    RunFacts,
    SideFacts,
    TableFacts,
    VerdictFacts,
)
from rosenblatt.report.verdict_sentences import verdict_sentence
from rosenblatt.results import StopReason, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rosenblatt.report.facts import Document

    Summary = dict[str, Any]
    Kind = Callable[[Any], bool]


def saved_facts(model: Any, path: str) -> FitFacts | None:
    """What ``fit`` has to say about a loaded model; None if it was saved in Python.

    Raises ModelFileError if it is not as ``fit`` writes it, or is about another model.
    """
    summary = saved_document(model, path)
    return _facts(summary) if summary else None


def saved_document(model: Any, path: str) -> Summary:
    """The same as it stands in the file, empty if there is none."""
    summary: Summary = getattr(model, "summary_", {})
    classifier = model[-1] if hasattr(model, "steps") else model
    if "rosenblatt" not in summary or not hasattr(classifier, "fits_"):
        return {}
    wrong = next(_faults(summary, classifier), None)
    if wrong is not None:
        msg = f"{path} is damaged ({wrong} in its summary): fit and save the model again"
        raise ModelFileError(msg)
    return summary


def _faults(s: Summary, classifier: Any) -> Iterator[str]:
    """The names of entries that are not what they must be, or not about this classifier."""
    for name, kind in _entries(s, classifier).items():
        if name not in s or not kind(s[name]):
            yield name
    names = [str(label) for label in classifier.classes_]
    reasons = [fit.stop_reason.name for fit in classifier.fits_]
    own = {
        "model": type(classifier).__name__,
        "features": classifier.n_features_in_,
        "stop_reasons": reasons,
    }
    yield from (name for name, value in own.items() if s[name] != value)
    if list(s["classes"]) != names:
        yield "classes"
    if s["target"] not in s["names"]:
        yield "target"
    if not 0 < s["rows"] == sum(s["classes"].values()) or s["training_errors"] > s["rows"]:
        yield "rows"
    cycles = zip(reasons, s.get("cycles", ()), strict=False)
    if any(reason == "CYCLE" and cycle is None for reason, cycle in cycles):
        yield "cycles"
    for facts in s.get("optima", ()):
        yield from _at_odds(facts, names)
    if not all(map(_can_be_told, _verdicts(s))):
        yield "grounds"
    if hasattr(classifier, "kernel_") and classifier.support_.max(initial=0) >= s["rows"]:
        yield "rows"


def _can_be_told(verdict: VerdictFacts) -> bool:
    """Whether the parts of a verdict fit together."""
    try:
        verdict_sentence(verdict)
    except (KeyError, TypeError, ValueError):
        return False
    return True


def _at_odds(facts: Summary, classes: list[str]) -> Iterator[str]:
    """What is wrong about a best hyperplane though each number by itself could be right."""
    if (facts["primal"] is None) is not (facts["gap"] is None):
        yield "gap"
    if facts["margin"] is not None and (facts["primal"] is None or facts["margin"] <= 0):
        yield "margin"
    if facts["proof"] is not None:
        rows, shares = facts["proof"]["rows"], facts["proof"]["shares"]
        labels = facts["proof"].get("classes", classes[:1] * len(rows))
        if not 0 < len(rows) == len(shares) == len(labels) or not set(labels) <= set(classes):
            yield "proof"


def _entries(s: Summary, classifier: Any) -> dict[str, Kind]:
    """What each entry must be."""
    n = len(classifier.fits_)
    entries: dict[str, Kind] = {
        "rosenblatt": _text,
        "file": _text,
        "has_header": _flag,
        "names": _many(_text),
        "model": _text,
        "parameters": _record({}, tol=_real, keep=_text, gamma=lambda g: _real(g) or _text(g)),
        "classes": _counts,
        "features": _whole,
        "stop_reasons": _many(_text, n),
        "training_errors": _whole,
        "trained": _text,
        "target": _text,
        "rows": _whole,
        "rows_without_class": _whole,
        "columns": _whole,
        "standardized": _flag,
        "cross_validation": _many(_share),
        "majority": _share,
        "notes": _many(_text),
    }
    if hasattr(classifier, "gap_"):
        entries["optima"] = _many(_optimum, n)
    else:
        entries["cycles"] = _many(_maybe(_many(_whole, 2)), n)
        entries |= {"epochs": _whole, "mistakes": _many(_whole, n), "updates": _many(_whole, n)}
    if hasattr(classifier, "coef_"):
        entries["margins"] = _many(_maybe(_real), n)
    if hasattr(classifier, "kernel_"):
        entries |= {"kernel": _kernel, "support": _support, "dropped": _many(_dropped)}
    if "verdicts" in s:  # unless Ctrl-C came first
        entries |= {"verdicts": _many(_verdict, n), "evidence": _many(_text, n)}
        entries |= {"proved": _many(_flag, n)} if "proved" in s else {}
        entries |= {"grounds": _many(_ground, n)} if "grounds" in s else {}
    return entries


# Kinds of values --------------------------------------------------------------------------------


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _real(value: Any) -> bool:
    if type(value) is int:
        return abs(value) < 2**63
    return type(value) is float and math.isfinite(value)


def _share(value: Any) -> bool:
    return _real(value) and 0 <= value <= 1


def _verdict(value: Any) -> bool:
    return _text(value) and value in Verdict.__members__


def _named_ground(value: Any) -> bool:
    return _text(value) and value in Ground.__members__


def _maybe(kind: Kind) -> Kind:
    return lambda value: value is None or kind(value)


def _many(kind: Kind, n: int | None = None) -> Kind:
    def are(values: Any) -> bool:
        right = isinstance(values, list) and (n is None or len(values) == n)
        return right and all(map(kind, values))

    return are


def _record(entries: dict[str, Kind], **further: Kind) -> Kind:
    """A dict with these entries; those in `further` need not be there."""

    def is_one(value: Any) -> bool:
        if not isinstance(value, dict) or not entries.keys() <= value.keys():
            return False
        kinds = entries | further
        return all(kinds[name](item) for name, item in value.items() if name in kinds)

    return is_one


def _counts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_text, value)) and all(map(_whole, value.values()))


_optimum = _record(
    {name: _maybe(_real) for name in ("C", "margin", "primal", "dual", "gap")}
    | {
        "scans": _whole,
        "support": _many(_whole),
        "proof": _maybe(
            _record({"rows": _many(_whole), "shares": _many(_real)}, classes=_many(_text))
        ),
        "positive": _text,
    }
    | dict.fromkeys(("N", "slack"), _real)
    | dict.fromkeys(("outside", "on", "inside", "wrong"), _whole),
    conditions=_record({}),
)
_kernel = _record(
    {"name": _text, "formula": _text}, degree=_whole, gamma=_real, coef0=_real, sigma=_real
)
_mistaken: dict[str, Kind] = {"row": _whole, "mistakes": _whole}
_support = _record(
    {"count": _whole, "hardest": _many(_record(_mistaken, **{"class": _text}))}, classes=_counts
)
_dropped = _record(_mistaken, epoch=_whole, positive=_text, **{"class": _text})
_ground = _record(
    {"ground": _named_ground},
    rows=_many(_whole),
    n_rows=_whole,
    on=_whole,
    margin=_real,
    tolerance=_real,
    message=_text,
    **dict.fromkeys(
        ("rounded", "some_columns", "in_features", "through_origin", "with_bias", "repeats"), _flag
    ),
)


# As facts ---------------------------------------------------------------------------------------


def _facts(s: Summary) -> FitFacts:
    """A summary that is as it must be."""
    return FitFacts(
        version=s["rosenblatt"],
        model=s["model"],
        parameters=s["parameters"],
        classes=tuple(s["classes"]),
        features=s["features"],
        stop_reasons=tuple(StopReason[name] for name in s["stop_reasons"]),
        training_errors=s["training_errors"],
        run=_run(s) if "cycles" in s else None,
        optima=tuple(_optimum_facts(one) for one in s.get("optima", ())),
        expansion=_expansion(s) if "kernel" in s else None,
        table=_table(s),
        margins=tuple(s["margins"]) if "margins" in s else None,
        verdicts=tuple(_verdicts(s)),
        seconds=s.get("seconds"),
        notes=tuple(s["notes"]),
    )


def _table(s: Summary) -> TableFacts:
    names = ("file", "has_header", "trained", "target", "rows", "rows_without_class", "columns")
    return TableFacts(
        **{name: s[name] for name in (*names, "standardized", "majority")},
        names=tuple(s["names"]),
        counts=s["classes"],
        scores=tuple(s["cross_validation"]),
    )


def _run(s: Summary) -> RunFacts:
    cycles = tuple(cycle and (cycle[0], cycle[1]) for cycle in s["cycles"])
    return RunFacts(cycles, s["epochs"], tuple(s["mistakes"]), tuple(s["updates"]))


def _optimum_facts(one: Document) -> OptimumFacts:
    names = ("positive", "C", "margin", "primal", "dual", "gap", "scans")
    proof = one["proof"]
    if proof is not None:
        classes = tuple(proof["classes"]) if "classes" in proof else None
        proof = ProofFacts(tuple(proof["rows"]), tuple(proof["shares"]), classes)
    return OptimumFacts(
        **{name: one[name] for name in names},
        support=tuple(one["support"]),
        conditions=one.get("conditions", {}),
        proof=proof,
        sides=SideFacts(**{place.name: one[place.name] for place in fields(SideFacts)}),
    )


def _expansion(s: Summary) -> ExpansionFacts:
    numbers = {name: x for name, x in s["kernel"].items() if name not in ("name", "formula")}
    return ExpansionFacts(
        kernel=KernelFacts(s["kernel"]["name"], s["kernel"]["formula"], numbers),
        count=s["support"]["count"],
        hardest=tuple(map(_mistaken_row, s["support"]["hardest"])),
        counts=s["support"].get("classes"),
        dropped=tuple(map(_mistaken_row, s["dropped"])),
    )


def _mistaken_row(one: Document) -> MistakenRow:
    more = {"epoch": one.get("epoch"), "positive": one.get("positive")}
    return MistakenRow(one["row"], one["mistakes"], label=one.get("class"), **more)


def _verdicts(s: Summary) -> Iterator[VerdictFacts]:
    for k, name in enumerate(s.get("verdicts", ())):
        told = {"ground": Ground.TOLD.name, "message": s["evidence"][k]}
        ground = s["grounds"][k] if "grounds" in s else told
        known = {one.name for one in fields(VerdictFacts)} - {"verdict", "proof"}
        more = {key: value for key, value in ground.items() if key in known}
        more["ground"] = Ground[ground["ground"]]
        more["rows"] = tuple(ground.get("rows", ()))
        proved = "proved" in s and s["proved"][k]
        yield VerdictFacts(Verdict[name], **more | {"proved": proved})
