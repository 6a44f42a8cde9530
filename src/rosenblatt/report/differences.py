"""What is different about two models: how they were made, what they are worth, their weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from rosenblatt.contract.classifier import classifier_of
from rosenblatt.report.facts import Document, FitFacts
from rosenblatt.report.terminal import NamedWeights
from rosenblatt.visible import count

# Entries of a summary by what they are about; those that are not named are about training.
ABOUT = {
    **dict.fromkeys(("model", "kernel", "feature_map"), "model"),
    "parameters": "parameters",
    **dict.fromkeys(("file", "fingerprint", "target", "rows", "classes", "columns"), "data"),
    **dict.fromkeys(("features", "rows_without_class", "standardized", "missing"), "data"),
    **dict.fromkeys(("names", "encoding", "majority", "units", "has_header"), "data"),
    **dict.fromkeys(("verdicts", "proved"), "verdict"),
    **dict.fromkeys(("cross_validation", "folds", "test", "tested_on"), "evaluation"),
    **dict.fromkeys(("validation", "calibration"), "evaluation"),
    "versions": "versions",
}
SECTIONS = ("model", "parameters", "data", "training", "verdict", "evaluation", "versions")
Key = tuple[str, str]  # what it is about, and its name
# When and where a model was made, and sentences on what is compared anyway.
BESIDE = ("trained", "seconds", "command", "notes", "evidence", "grounds", "rosenblatt", "support")
LEARNED = ("classes_", "coef_", "intercept_", "kernel_", "dual_coef_", "support_vectors_")


@dataclass(frozen=True)
class Difference:
    """An entry of the summaries of two models that is not the same.

    None: one has none; of parameters, it has the default.
    """

    about: str
    name: str
    first: Any
    second: Any


@dataclass(frozen=True)
class WeightChange:
    """A weight of two hyperplanes (0 where a feature is in one only).

    `change` is that of the share of the weight in the length of its vector: lengths of
    perceptrons tell how long they were trained.
    """

    positive: str
    feature: str
    first: float
    second: float
    change: float


@dataclass(frozen=True)
class WeightChanges:
    """How hyperplanes differ: the angle of each pair, and the weights, most changed first."""

    angles: Mapping[str, float]  # in degrees, by the class +1
    changes: tuple[WeightChange, ...]


@dataclass(frozen=True)
class ModelDifferences:
    """All that is different; `weights` is None if they are the same, or cannot be compared."""

    files: tuple[str, str]
    differences: tuple[Difference, ...]
    weights: WeightChanges | None

    @property
    def same(self) -> bool:
        """Whether nothing is."""
        return not self.differences and self.weights is None


@dataclass(frozen=True)
class Card:
    """A loaded model with its file and all that is known of it."""

    file: str
    model: Any
    facts: FitFacts
    versions: Mapping[str, str]


def differences(first: Card, second: Card) -> ModelDifferences:
    """Compare two models, to the bit."""
    documents = [_document(card) for card in (first, second)]
    if documents[0].get("fingerprint", 0) == documents[1].get("fingerprint", 1):
        for document in documents:
            document.pop("file", None)  # the same table in another file
    flat = [dict(_entries(document)) for document in documents]
    names = {**flat[0], **flat[1]}
    found = [
        Difference(*key, flat[0].get(key), flat[1].get(key))
        for key in names
        if flat[0].get(key) != flat[1].get(key)
    ]
    short = [one for one in found if not _long(one)]
    found = short or found
    weights = _weights(first.model, second.model)
    if weights is None:
        found += _beyond_weights(first.model, second.model)
    found.sort(key=lambda one: SECTIONS.index(one.about))
    return ModelDifferences((first.file, second.file), tuple(found), weights)


def _document(card: Card) -> Document:
    found = {name: item for name, item in card.facts.as_json().items() if name not in BESIDE}
    return found | {"versions": dict(card.versions)}


def _entries(document: Document, about: str = "", whole: str = "") -> Iterator[tuple[Key, Any]]:
    """The entries of a summary, those of parts one by one, with what they are about."""
    for name, value in document.items():
        section = about or ABOUT.get(name, "training")
        full = f"{whole} {name}" if whole and whole != section else name
        if isinstance(value, dict):
            yield from _entries(value, section, whole or name)
        else:
            yield (section, full), value


def _long(one: Difference) -> bool:
    """Whether it is a list of lists, or of parts: other entries tell more."""
    values = [*(one.first or ()), *(one.second or ())] if isinstance(one.first, list) else []
    return any(isinstance(value, dict | list) for value in values)


def _weights(first: Any, second: Any) -> WeightChanges | None:
    """How the hyperplanes of two models differ; None if they do not, or there are none."""
    named = [NamedWeights.of(model) for model in (first, second)]
    if named[0] is None or named[1] is None:
        return None
    one, other = ({p["positive"]: p for p in weights.as_list()} for weights in named)  # type: ignore[union-attr]
    angles, changes = {}, list[WeightChange]()
    for positive in (name for name in one if name in other):
        vectors = [one[positive]["weights"], other[positive]["weights"]]
        names = list(dict.fromkeys([*vectors[0], *vectors[1]]))
        a, b = (np.array([vector.get(name, 0.0) for name in names]) for vector in vectors)
        biases = one[positive]["bias"], other[positive]["bias"]
        if np.array_equal(a, b) and biases[0] == biases[1] and len(vectors[0]) == len(vectors[1]):
            continue
        lengths = [float(np.linalg.norm(vector)) or 1.0 for vector in (a, b)]
        unit = [a / lengths[0], b / lengths[1]]
        # Of nearly parallel vectors the cosine would lose half of the digits (Kahan).
        angle = 2 * np.arctan2(np.linalg.norm(unit[0] - unit[1]), np.linalg.norm(sum(unit)))
        angles[positive] = float(np.degrees(angle)) if a.any() and b.any() else 90.0
        each = zip([*names, "(bias)"], [*a, biases[0]], [*b, biases[1]], strict=True)
        changes += [
            WeightChange(positive, name, float(x), float(z), float(z / lengths[1] - x / lengths[0]))
            for name, x, z in each
            if x != z
        ]
    changes.sort(key=lambda change: -abs(change.change))
    return WeightChanges(angles, tuple(changes)) if angles else None


def _beyond_weights(first: Any, second: Any) -> Iterator[Difference]:
    """What is different though the summaries say nothing of it: other steps, other expansions."""
    steps = [[step for _, step in getattr(model, "steps", ())[:-1]] for model in (first, second)]
    if not _same(*steps):
        names = [", ".join(type(step).__name__ for step in some) or None for some in steps]
        yield Difference("model", "steps before it", *names)
    classifiers = classifier_of(first), classifier_of(second)
    learned = [{name: getattr(one, name, None) for name in LEARNED} for one in classifiers]
    if not _same(*learned):
        yield Difference("model", "what was learned", *map(_size, classifiers))


def _size(classifier: Any) -> str:
    """``2 hyperplanes``, or ``28 support vectors``."""
    if hasattr(classifier, "coef_"):
        return count(len(classifier.coef_), "hyperplane")
    return count(classifier.dual_coef_.shape[-1], "support vector")


def _same(a: Any, b: Any) -> bool:
    """Whether two fitted things have the same parts, to the bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and _same_numbers(a, b)
    if issparse(a):
        return a.shape == b.shape and all(
            _same(getattr(a, name), getattr(b, name)) for name in ("data", "indices", "indptr")
        )
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if hasattr(a, "get_params") or hasattr(a, "__dict__"):
        return _same(vars(a), vars(b))
    return bool(a == b or (a != a and b != b))


def _same_numbers(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
