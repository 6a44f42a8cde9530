"""From a table to a fitted pipeline and a summary of what was found."""

from __future__ import annotations

import json
import re
import time
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from rosenblatt import __version__
from rosenblatt.cli.expansion import expansion_of
from rosenblatt.cli.interrupts import Interrupts
from rosenblatt.cli.judging import Judgement, Samples, judge
from rosenblatt.cli.optima import Training, optima_of, proof_of
from rosenblatt.cli.reading import leaves_out
from rosenblatt.cli.words import count, listing
from rosenblatt.contract.classifier import positives_of
from rosenblatt.kernel.estimator import KernelPerceptron
from rosenblatt.margin.classifiers import MarginClassifier
from rosenblatt.margin.estimator import MaxMarginClassifier, SoftMarginClassifier
from rosenblatt.perceptron.adaline import Adaline
from rosenblatt.perceptron.estimator import Perceptron
from rosenblatt.results import StopReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rosenblatt.cli.progress import Progress
    from rosenblatt.cli.reading import Task
    from rosenblatt.tables.encoder import TableEncoder

MODELS = {
    "perceptron": Perceptron,
    "adaline": Adaline,
    "kernel": KernelPerceptron,
    "max-margin": MaxMarginClassifier,
    "soft-margin": SoftMarginClassifier,
}


@dataclass
class Outcome:
    """A fitted pipeline, the features it was trained on, and what there is to say."""

    pipeline: Pipeline
    X: Any
    y: NDArray[Any]
    summary: dict[str, Any]
    rows: NDArray[np.int64]
    interrupted: bool = False


# Training -------------------------------------------------------------------------------------


def train(
    task: Task,
    classifier: Any,
    encoder: TableEncoder,
    folds: int,
    progress: Progress,
    interrupts: Interrupts | None = None,
) -> Outcome:
    """Fit the pipeline, judge it by cross-validation, and sum up.

    `interrupts`, if given, holds Ctrl-C back from then on, so that the model can be written.
    """
    began = time.perf_counter()
    progress.say("encoding")
    X = encoder.fit_transform(task.columns)
    with nullcontext(interrupts) if interrupts else Interrupts() as stops:
        try:
            task.notes.extend(run(classifier, X, task.y, progress))
            stops.hold()
        except KeyboardInterrupt:
            if not hasattr(classifier, "fits_"):
                raise
            stops.hold()  # it came when all was done
            stops.pressed = True
        took = time.perf_counter() - began
        judged, scores = _judged(task, classifier, encoder, X, folds, progress, stops)
        pipeline = Pipeline([("encode", encoder), ("classify", classifier)])
        summary = _summary(task, classifier, encoder, X, scores) | judged.verdicts
        summary |= {"seconds": round(took, 3), "notes": task.notes}
        _add_proofs(summary, judged, task)
        return Outcome(pipeline, X, task.y, summary, task.rows, judged.interrupted)


def _judged(
    task: Task,
    classifier: Any,
    encoder: TableEncoder,
    X: Any,
    folds: int,
    progress: Progress,
    stops: Interrupts,
) -> tuple[Judgement, list[float]]:
    """Verdicts and scores, as far as Ctrl-C lets them come."""
    judged = Judgement({}, [], interrupted=True)
    if not (_was_interrupted(classifier) or stops.pressed):
        left = leaves_out(task, encoder)
        samples = Samples(X, task.y, task.rows, task.columns, encoder, left)
        found = stops.unless_stopped(lambda: judge(classifier, samples, progress))
        judged = found or judged
    scores: list[float] = []
    task.notes.extend(notes_about(encoder))
    if folds and not (judged.interrupted or stops.pressed):
        scored = stops.unless_stopped(
            lambda: cross_validate(task, classifier, encoder, folds, progress)
        )
        scores, why_not = scored or ([], INTERRUPTED)
        judged = judged._replace(interrupted=why_not == INTERRUPTED)
        if why_not:
            task.notes.append(f"no cross-validation: {why_not}")
    return judged._replace(interrupted=judged.interrupted or stops.pressed), scores


def _add_proofs(summary: dict[str, Any], judged: Judgement, task: Task) -> None:
    """Where time was up, but it was proved afterwards that there is no maximum margin."""
    if summary["model"] != MaxMarginClassifier.__name__:
        return
    for facts, proof in zip(summary["optima"], judged.proofs, strict=False):
        if facts["proof"] is None:
            facts["proof"] = proof_of(proof, task.rows, task.y)


def run(
    classifier: Any, X: Any, y: NDArray[Any], progress: Progress, what: str = "training"
) -> list[str]:
    """Train; what there is to say about the kernel."""
    if isinstance(classifier, MarginClassifier):
        watcher: Any = progress.watch_scans(what, len(positives_of(np.unique(y))))
    else:
        watcher = progress.watch(what, classifier.max_epochs)
    classifier.set_params(callback=watcher)
    with warnings.catch_warnings(record=True) as caught:
        # The report says why it stopped and what to do.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("always", INDEFINITE, UserWarning)
        try:
            classifier.fit(X, y)
        finally:
            classifier.set_params(callback=None)
    said = [str(warning.message) for warning in caught]
    for warning, text in zip(caught, said, strict=True):
        if not re.match(INDEFINITE, text):
            warnings.warn(warning.message, stacklevel=2)
    notes = [text for text in said if re.match(INDEFINITE, text)]
    return [text.replace("kernel='rbf' or 'poly'", "--kernel rbf or poly") for text in notes]


def _was_interrupted(classifier: Any) -> bool:
    return any(fit.stop_reason is StopReason.INTERRUPTED for fit in classifier.fits_)


INDEFINITE = "the kernel .* is not an inner product"
INTERRUPTED = "stopped with Ctrl-C"


def cross_validate(
    task: Task, classifier: Any, encoder: TableEncoder, folds: int, progress: Progress
) -> tuple[list[float], str | None]:
    """The share of right predictions on each fold, after training on the others, or why not."""
    from sklearn.base import clone

    labels, counts = np.unique(task.y, return_counts=True)
    if counts.min() < 2:
        return [], f"class {labels[counts.argmin()]} has only one row"
    if folds > counts.min():
        few = count(int(counts.min()), "row")
        task.notes.append(f"{counts.min()} folds: the smallest class has only {few}")
    folds = min(folds, int(counts.min()))
    # What was used with all the rows is used with some of them, whatever it looks like there.
    encoder = clone(encoder).set_params(use=tuple(encoder.kinds_))
    split = StratifiedKFold(folds, shuffle=True, random_state=0)
    scores = []
    try:
        for k, (learn, test) in enumerate(split.split(np.zeros(len(task.y)), task.y), 1):
            what = f"cross-validation {k}/{folds}"
            progress.say(what)
            model = clone(classifier)
            X = encoder.fit_transform({name: c[learn] for name, c in task.columns.items()})
            run(model, X, task.y[learn], progress, what)
            if _was_interrupted(model):
                return [], INTERRUPTED
            X = encoder.transform({name: c[test] for name, c in task.columns.items()})
            scores.append(float(np.mean(model.predict(X) == task.y[test])))
    except KeyboardInterrupt:
        return [], INTERRUPTED
    return scores, None


# Summing up -----------------------------------------------------------------------------------


def facts_of(classifier: Any, training: Training | None = None) -> dict[str, Any]:
    """What a fitted classifier itself can tell; more, if it has the data it was trained on."""
    defaults = type(classifier)().get_params()
    given = classifier.get_params().items()
    changed = {name: value for name, value in given if not np.array_equal(value, defaults[name])}
    return {
        "rosenblatt": __version__,
        "model": type(classifier).__name__,
        "parameters": _plain(changed),
        "classes": {str(label): None for label in classifier.classes_},
        "features": int(classifier.n_features_in_),
        "stop_reasons": [fit.stop_reason.name for fit in classifier.fits_],
        **_course(classifier, training),
        "training_errors": int(classifier.n_errors_),
    }


def _course(classifier: Any, training: Training | None) -> dict[str, Any]:
    """What the run went through, or how good the hyperplanes are that it ended in."""
    if isinstance(classifier, MarginClassifier):
        return {"optima": optima_of(classifier, training)}
    fits = classifier.fits_
    more = expansion_of(classifier, training) if isinstance(classifier, KernelPerceptron) else {}
    cycles = [fit.certificate for fit in fits]
    return {
        "cycles": [cycle and [cycle.entry, cycle.period] for cycle in cycles],
        "epochs": int(classifier.n_iter_),
        "mistakes": [int(fit.n_mistakes) for fit in fits],
        "updates": [int(fit.n_updates) for fit in fits],
        **more,
    }


def _summary(
    task: Task, classifier: Any, encoder: TableEncoder, X: Any, scores: list[float]
) -> dict[str, Any]:
    labels, counts = np.unique(task.y, return_counts=True)
    return (
        task.origin
        | facts_of(classifier, Training(X, task.y, task.rows))
        | {
            "trained": datetime.now(UTC).isoformat(timespec="seconds"),
            "target": task.target,
            "rows": len(task.y),
            "rows_without_class": 0 if task.known is None else int((~task.known).sum()),
            "classes": {str(label): int(n) for label, n in zip(labels, counts, strict=True)},
            "columns": len(task.columns),
            "standardized": is_standardised(encoder),
            **margins(classifier, X, task.y),
            "cross_validation": scores,
            "majority": float(counts.max() / counts.sum()),
        }
    )


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON has them; what it has not, such as a generator, as Python shows it."""
    return json.loads(json.dumps(dict(parameters), default=_shown))  # type: ignore[no-any-return]


def _shown(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else repr(value)


def margins(classifier: Any, X: Any, y: NDArray[Any]) -> dict[str, list[float | None]]:
    """The margin of each two-class problem, None where the hyperplane does not separate.

    Nothing for a kernel perceptron, whose hyperplane is elsewhere.
    """
    if not hasattr(classifier, "coef_"):
        return {}
    values = classifier.decision_function(X).reshape(len(y), -1)
    positives = classifier.classes_[1:] if values.shape[1] == 1 else classifier.classes_
    found: list[float | None] = []
    for k, positive in enumerate(positives):
        smallest = float(np.where(y == positive, values[:, k], -values[:, k]).min())
        w = classifier.coef_[k]
        largest = float(np.abs(w).max()) or 1.0  # taken out of the norm: squares may overflow
        norm = float(np.linalg.norm(w / largest))
        found.append(smallest / largest / norm if smallest > 0 and norm > 0 else None)
    return {"margins": found}


def is_standardised(encoder: TableEncoder) -> bool:
    """Whether there were numbers that were standardised."""
    return bool(encoder.standardize) and set(encoder.kinds_.values()) != {"text"}


def notes_about(encoder: TableEncoder) -> list[str]:
    """What the encoder did that a reader would want to know."""
    notes: list[str] = []
    reasons: dict[str, list[str]] = {}
    for spec in encoder.columns_:
        if "dropped" in spec:
            reasons.setdefault(spec["dropped"], []).append(spec["name"])
    for reason, names in reasons.items():
        notes.append(f"left out: {listing(names)} ({reason})")
    dates = [spec["name"] for spec in encoder.columns_ if spec["kind"] == "date"]
    if dates:
        notes.append(f"as days since 1970: {listing(dates)}")
    filled = [s for s in encoder.columns_ if s["name"] in encoder.n_missing_ and "dropped" not in s]
    for texts, what in ((False, "the mean"), (True, "a value of their own")):
        names = [s["name"] for s in filled if (s["kind"] == "text") is texts]
        if names:
            cells = listing(f"{name} ({encoder.n_missing_[name]})" for name in names)
            notes.append(f"missing cells, taken as {what}: {cells}")
    return notes
