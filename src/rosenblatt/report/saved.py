"""The summary in a model file: whether it is what ``rosenblatt fit`` writes, and as facts.

Files of version 0.1 have no ``grounds``: of their verdicts there is only a sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from rosenblatt.contract.classifier import classifier_of
from rosenblatt.files.wholeness import ModelFileError
from rosenblatt.report.facts import (
    KEPT,
    KEYS,
    MERGED,
    Document,
    FitFacts,
    Ground,
    OptimumFacts,
    VerdictFacts,
)
from rosenblatt.report.sentences import verdict_sentence
from rosenblatt.results import StopReason, Verdict


def saved_facts(model: Any, path: str) -> FitFacts | None:
    """What ``fit`` has to say about a loaded model; None if it was saved in Python.

    Raises ModelFileError if it is not as ``fit`` writes it, or is about another model.
    """
    classifier = classifier_of(model)
    summary: Document = getattr(model, "summary_", {})
    if "rosenblatt" not in summary or not hasattr(classifier, "fits_"):
        return None
    try:
        facts: FitFacts = from_json(FitFacts, summary | {"verdicts": []})
        facts = replace(facts, verdicts=tuple(_verdicts(summary, len(classifier.fits_))))
        wrong = next(_faults(facts, classifier), None)
        wrong = wrong or _fault_of_map(facts, model)
    except ValueError as error:
        wrong = str(error)
    if wrong is not None:
        msg = f"{path} is damaged ({wrong} in its summary): fit and save the model again"
        raise ModelFileError(msg)
    return facts


# By annotations ---------------------------------------------------------------------------------


def from_json(kind: Any, value: Any) -> Any:
    """What `as_json` made of a value of this annotation.

    Raises ValueError, with the name of the entry, if it cannot have been one.
    """
    parts, outer = get_args(kind), get_origin(kind)
    if outer is UnionType:
        (kind,) = (part for part in parts if part is not NoneType)
        return None if value is None else from_json(kind, value)
    if is_dataclass(kind):
        return _read_facts(kind, value)
    if outer is tuple and isinstance(value, list):
        kinds = parts[:1] * len(value) if parts[-1] is Ellipsis else parts
        return tuple(from_json(one, item) for one, item in zip(kinds, value, strict=True))
    if outer is Mapping and isinstance(value, dict):
        return {from_json(parts[0], key): from_json(parts[1], item) for key, item in value.items()}
    if isinstance(kind, type) and issubclass(kind, Enum) and value in kind.__members__:
        return kind[value]
    if kind is not Any and not (kind in KINDS and KINDS[kind](value)):
        raise ValueError
    return value


def _read_facts(kind: Any, document: Any) -> Any:
    """A dataclass of facts, each part by its annotation."""
    if not isinstance(document, dict):
        raise ValueError
    found, hints = {}, get_type_hints(kind)
    for one in fields(kind):
        key = KEYS.get(one.name, one.name)
        if one.name in MERGED:
            found[one.name] = _read_merged(hints[one.name], document, kind)
        elif key in document:
            try:
                found[one.name] = from_json(hints[one.name], document[key])
            except (ValueError, TypeError):
                raise ValueError(key) from None
        elif one.default is MISSING and one.default_factory is MISSING:
            raise ValueError(key)
    return kind(**found)


def _read_merged(hint: Any, document: Document, whole: Any) -> Any:
    """A part whose entries stand among those of the whole; None if none of them is there."""
    if get_origin(hint) is Mapping:
        own = _keys(whole)
        return from_json(hint, {key: item for key, item in document.items() if key not in own})
    kind = next((part for part in get_args(hint) if is_dataclass(part)), hint)
    return _read_facts(kind, document) if _keys(kind) & document.keys() else None


def _keys(kind: Any) -> set[str]:
    return {KEYS.get(one.name, one.name) for one in fields(kind)}


MOST = 2**63
KINDS: dict[Any, Callable[[Any], bool]] = {
    str: lambda value: type(value) is str,
    bool: lambda value: type(value) is bool,
    int: lambda value: type(value) is int and 0 <= value < MOST,
    float: lambda value: (
        abs(value) < MOST if type(value) is int else type(value) is float and math.isfinite(value)
    ),
}


# Whether it fits together -----------------------------------------------------------------------


@dataclass(frozen=True)
class VerdictLists:
    """The verdicts as they stand in a file."""

    verdicts: tuple[Verdict, ...]
    evidence: tuple[str, ...]
    proved: tuple[bool, ...] = ()
    grounds: tuple[Any, ...] = ()


def _verdicts(summary: Document, n_problems: int) -> Iterator[VerdictFacts]:
    if "verdicts" not in summary:  # Ctrl-C came first
        return
    lists = _read_facts(VerdictLists, summary)
    for name in sorted(_keys(VerdictLists) & summary.keys()):
        if len(getattr(lists, name)) != n_problems:
            raise ValueError(name)
    told = [{"ground": Ground.TOLD.name, "message": sentence} for sentence in lists.evidence]
    for k, (verdict, ground) in enumerate(zip(lists.verdicts, lists.grounds or told, strict=True)):
        proved = bool(lists.proved) and lists.proved[k]
        try:
            found: VerdictFacts = from_json(
                VerdictFacts, ground | {"verdict": verdict.name, "proved": proved}
            )
            verdict_sentence(found)
        except (KeyError, TypeError, ValueError):  # parts that do not fit together
            raise ValueError("grounds") from None  # noqa: EM101
        yield found


def _faults(facts: FitFacts, classifier: Any) -> Iterator[str]:
    """The names of entries that are not about this classifier, or contradict each other."""
    n, table, run, given = len(classifier.fits_), facts.table, facts.run, facts.parameters
    is_best, has_kernel = hasattr(classifier, "gap_"), hasattr(classifier, "kernel_")
    if table is None:
        yield "file"
        return
    counts = facts.counts.values()
    samples = classifier.support_.max(initial=0) + 1 if has_kernel else 0
    right = {
        "model": facts.model == type(classifier).__name__,
        "features": facts.features == classifier.n_features_in_,
        "stop_reasons": facts.stop_reasons == tuple(fit.stop_reason for fit in classifier.fits_),
        "classes": facts.classes == tuple(str(label) for label in classifier.classes_),
        "optima": len(facts.optima) == (n if is_best else 0),
        "cycles": (run is None) is is_best,
        "margins": len(facts.margins or ()) == (0 if has_kernel else n),
        "kernel": (facts.expansion is not None) is has_kernel,
        "target": table.target in table.names,
        "rows": None not in counts and samples <= table.rows == sum(n or 0 for n in counts) > 0,
        "training_errors": facts.training_errors <= table.rows,
        "cross_validation": all(0 <= share <= 1 for share in table.scores),
        "folds": table.folds is None or 0 < len(table.scores) < table.folds,
        "majority": 0 <= table.majority <= 1,
        "calibration": (facts.calibration is None) is not hasattr(classifier, "calibration_"),
        "validation": facts.validation is None or _is_share(facts.validation.result.accuracy),
        "parameters": KINDS[float](given.get("tol", 0)) and KINDS[str](given.get("keep", "")),
    }
    yield from (name for name, is_so in right.items() if not is_so)
    if run is not None:
        yield from (one for one in ("mistakes", "updates") if len(getattr(run, one)) != n)
        if run.kept and (len(run.kept) != n or not set(run.kept) <= set(KEPT)):
            yield "kept"
        pairs = zip(facts.stop_reasons, run.cycles, strict=False)
        if len(run.cycles) != n or (StopReason.CYCLE, None) in pairs:
            yield "cycles"
    for optimum in facts.optima:
        yield from _at_odds(optimum, facts.classes)


def _fault_of_map(facts: FitFacts, model: Any) -> str | None:
    """The name of the entry about a feature map, if it is not that of the model."""
    steps = [type(step).__name__ for _, step in getattr(model, "steps", ())[1:-1]]
    told = [] if facts.feature_map is None else [facts.feature_map.name]
    return None if steps == told else "feature_map"


def _is_share(number: float) -> bool:
    return 0 <= number <= 1


def _at_odds(one: OptimumFacts, classes: tuple[str, ...]) -> Iterator[str]:
    """What is wrong about a best hyperplane though each number by itself could be right."""
    if (one.primal is None) is not (one.gap is None):
        yield "gap"
    if one.margin is not None and (one.primal is None or one.margin <= 0):
        yield "margin"
    if one.proof is not None:
        rows, shares, labels = one.proof.rows, one.proof.shares, one.proof.classes
        labels = classes[:1] * len(rows) if labels is None else labels
        if not 0 < len(rows) == len(shares) == len(labels) or not set(labels) <= set(classes):
            yield "proof"
