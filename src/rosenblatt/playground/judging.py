"""Verdicts with their proofs, hulls, and the bound on the mistakes, as answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import rosenblatt as rb
from rosenblatt.kernel.choice import find_kernel
from rosenblatt.playground import answers
from rosenblatt.playground.bounding import MOST_NUMBERS, bound_told, finite
from rosenblatt.playground.working import without_warnings
from rosenblatt.plot.convex_hulls import hull, overlap
from rosenblatt.results import Separable, StopReason

if TYPE_CHECKING:
    from rosenblatt.array_types import Ints
    from rosenblatt.playground.samples import Samples
    from rosenblatt.playground.schemas import JudgeAsked, KernelFunction

SECONDS = 3.0
WORDS: dict[rb.Verdict, Any] = {
    rb.Verdict.SEPARABLE: "separable",
    rb.Verdict.QUASI_SEPARABLE: "quasi-separable",
    rb.Verdict.INSEPARABLE: "inseparable",
    rb.Verdict.UNDECIDED: "undecided",
}

THROUGH_ORIGIN = {
    rb.Verdict.SEPARABLE: "a hyperplane through the origin has every sample on its right side",
    rb.Verdict.QUASI_SEPARABLE: "a hyperplane through the origin has no sample on its wrong side, "
    "but never all off it",
    rb.Verdict.INSEPARABLE: "no hyperplane through the origin has the classes on its two sides",
}
ALL_AT_ONCE = {
    rb.Verdict.SEPARABLE: "with a w and b for each class, every sample has its largest value "
    "w·x + b at its own",
    rb.Verdict.QUASI_SEPARABLE: "with a w and b for each class, no sample has a larger value at "
    "another than at its own, but never all a smaller one",
    rb.Verdict.INSEPARABLE: "whatever w and b each class has, some sample has a larger value at "
    "another than at its own",
}


def judge(samples: Samples, asked: JudgeAsked, seconds: float = SECONDS) -> answers.Judgement:
    """Whether hyperplanes separate the classes, in the plane or in a feature space."""
    classes, bias, kernel = samples.classes, asked.bias, None
    if asked.kernel is not None:
        bias, kernel = asked.kernel.fit_intercept, kernel_of(asked.kernel, samples)
    problems = classes[1:] if len(classes) == 2 else classes
    verdicts = [_verdict(samples, k, bias, kernel, seconds) for k in problems]
    joint = None
    if len(classes) > 2 and kernel is None and bias:
        joint = rb.separability(samples.X, samples.y, multiclass="joint", max_time=seconds).verdict
    hulls, common = {}, np.empty((0, 2))
    if samples.X.shape[1] == 2 and not samples.along:
        corners = {k: hull(samples.X[samples.y == k]) for k in classes}
        hulls = {k: polygon.tolist() for k, polygon in corners.items()}
        if len(classes) == 2:
            common = overlap(list(corners.values()))
    return answers.Judgement(
        classes=classes,
        verdicts=verdicts,
        joint=None if joint is None else WORDS[joint],
        joint_sentence=None if joint is None else ALL_AT_ONCE.get(joint, joint.value),
        hulls=hulls,
        overlap=common.tolist(),
        kernel=None if kernel is None else str(kernel),
    )


def kernel_of(asked: KernelFunction, samples: Samples) -> Any:
    """The kernel with its numbers for these samples."""
    model = rb.KernelPerceptron(**asked.model_dump(), max_epochs=1)
    model.check_parameters()
    return find_kernel(model, samples.X)


def _verdict(
    samples: Samples, positive: int, bias: bool, kernel: Any, seconds: float
) -> answers.Verdict:
    """The verdict on one class against the others."""
    X, y = samples.X, np.where(samples.y == positive, 1, -1)
    about = None
    if kernel is not None:
        about = rb.separability(X, y, kernel=kernel, fit_intercept=bias, max_time=seconds)
    elif not bias:
        linear = rb.kernels.Linear()
        about = rb.separability(X, y, kernel=linear, fit_intercept=False, max_time=seconds)
    found = rb.separability(X, y, max_time=seconds) if about is None else about.certificate
    two, plain, separable = len(samples.classes) == 2, about is None, isinstance(found, Separable)
    plane = getattr(found, "hyperplane", None) if kernel is None else None
    widest = _widest(X, y, seconds) if plain and separable else None
    sentence = found.verdict.value if kernel is None else str(about)
    if kernel is None and not bias:
        sentence = THROUGH_ORIGIN.get(found.verdict, sentence)
    return answers.Verdict(
        positive=positive,
        negative=samples.classes[0] if two else None,
        verdict=WORDS[found.verdict],
        sentence=sentence,
        hyperplane=None if plane is None else _plane(plane, bias),
        margin=finite(found.margin) if plain and separable else None,
        widest=None if widest is None else _plane(widest.fits_[0].hyperplane, bias),
        widest_margin=None if widest is None else finite(float(widest.margin_)),
        proof=_proof(found) if plain else None,
        spanning=_rows(found, "spanning_support") if plain else [],
        on=_rows(found, "on") if plain else [],
        bound=_bound(samples, y, bias, kernel, seconds) if separable else None,
    )


def _widest(X: Any, y: Ints, seconds: float) -> Any:
    """The maximum-margin classifier, if its gap was closed."""
    with without_warnings():
        model = rb.MaxMarginClassifier(max_time=seconds, n_jobs=1).fit(X, y)
    return model if model.stop_reason_ is StopReason.GAP_CLOSED else None


def _plane(plane: rb.Hyperplane, bias: bool) -> answers.Plane:
    return answers.Plane(w=plane.w.tolist(), b=plane.b if bias else 0.0)


def _rows(found: Any, name: str) -> list[int]:
    return [int(row) for row in getattr(found, name, ())]


def _proof(found: Any) -> answers.Proof | None:
    if not hasattr(found, "support"):
        return None
    return answers.Proof(
        samples=found.support.tolist(),
        weights=found.weights.tolist(),
        point=found.point.tolist(),
    )


def _bound(
    samples: Samples, y: Ints, bias: bool, kernel: Any, seconds: float
) -> answers.Bound | None:
    """The bound on the mistakes of any number of epochs, of separable classes."""
    if samples.X.size > MOST_NUMBERS:
        return None
    try:
        bound = rb.mistake_bound(samples.X, y, fit_intercept=bias, kernel=kernel, max_time=seconds)
    except ValueError:  # time was over before one was found
        return None
    return bound_told(bound)
