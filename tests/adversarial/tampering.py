"""Certificates changed a little: `check` must reject what no longer proves anything.

Whether a change leaves a proof is decided by the judges, never by `check` itself.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np

import rosenblatt as rb

from . import judge, judge_margins
from .asking import ask
from .judge import Fault
from .questions import Given, answer, failed, power

NUDGE = 1e-6
LARGEST = 1.7976931348623157e308


def tampered_verdict(case, rng):
    """A verdict's certificate with a sign flipped, a sample dropped, a weight nudged."""
    given = Given(case, rng)
    call = given.call(f"rb.separability({given.names})  # tampered with")
    reply = ask(lambda: rb.separability(given.X, given.y))
    if reply.error:
        return failed(reply, call)
    found, faults = reply.value, []
    for what, changed in verdict_changes(case, found, rng):
        if not any(judge.certificate(case, changed, nearest=False)):
            continue
        faults += rejected(what, changed, given)
    return answer(found.verdict.name, reply, faults, call)


def rejected(what, changed, given, weights=None):
    reply = ask(lambda: rb.certify.check(changed, given.X, given.y, weights))
    yield from reply.faults
    if not reply.error and reply.value.valid:
        yield Fault(f"check accepts a certificate with {what}", reply.value.why)


def verdict_changes(case, found, rng):
    if hasattr(found, "hyperplane") and found.exact is None:
        plane = found.hyperplane
        yield "w reversed", replace(found, hyperplane=rb.Hyperplane(-plane.w, plane.b))
        yield "b reversed", replace(found, hyperplane=rb.Hyperplane(plane.w, -plane.b))
        yield "b moved", replace(found, hyperplane=rb.Hyperplane(plane.w, plane.b * (1 + NUDGE)))
    if hasattr(found, "margin"):
        yield "a wider margin", replace(found, margin=found.margin * (1 + NUDGE))
    if hasattr(found, "support"):
        yield from support_changes(case, found, rng)
    if hasattr(found, "on") and len(found.on) > 1:
        yield "a sample less on the hyperplane", replace(found, on=found.on[1:])


def support_changes(case, found, rng):
    k = int(rng.integers(len(found.support)))
    weights = found.weights.copy()
    weights[k] *= 1 + NUDGE
    changes = {"weights": weights}
    given = getattr(found, "exact_weights", None)
    if given is not None:
        changed = [*given[:k], given[k] * (1 + Fraction(1, 10**30)), *given[k + 1 :]]
        yield "an exact weight nudged", replace(found, exact_weights=tuple(changed))
        changes["exact_weights"] = None
    yield "a weight nudged", replace(found, **changes)
    weights = found.weights.copy()
    weights[k] = -weights[k]
    yield "a weight's sign flipped", replace(found, **{**changes, "weights": weights})
    fewer = {"support": np.delete(found.support, k), "weights": np.delete(found.weights, k)}
    yield "a sample dropped", replace(found, **{**changes, **fewer})
    j = int(np.abs(found.point).argmax())
    # Beside larger samples the last digits of a point are not checked.
    if np.abs(found.point[j]) > 1e-2 * np.abs(case.X[:, j]).max():
        point = found.point.copy()
        point[j] *= 1 + NUDGE
        yield "the point moved", replace(found, point=point)


def tampered_optimum(case, rng):
    """An optimum with values, multipliers or a hyperplane that are not its own."""
    given, C = Given(case, rng), power(rng, -2, 4)
    hard = rng.random() < 0.4 and case.verdict == "SEPARABLE"
    model = rb.MaxMarginClassifier() if hard else rb.SoftMarginClassifier(C=C)
    call = given.call(f"rb.{model!r}.fit({given.names})  # tampered with")
    reply = ask(lambda: model.fit(given.X, given.y))
    if reply.error:
        return failed(reply, call)
    best, faults = model.optimum_, []
    C = None if hard else C
    problem = judge_margins.Problem(case, C)
    if best.C != C:
        return answer(model.stop_reason_.name, reply, [], call)
    for what, changed in optimum_changes(best, rng):
        if untrue(problem, changed):
            faults += rejected(what, changed, given)
    return answer(model.stop_reason_.name, reply, faults, call)


def untrue(problem, found):
    """Whether an optimum states something false, by more than a stated value may be off."""
    theta, support = judge.theta_of(found.hyperplane), found.support.tolist()
    multipliers = judge_margins.multipliers_of(found)
    over = (
        problem.bound(i) is not None and a > problem.bound(i) * (1 + judge.AGREES)
        for i, a in zip(support, multipliers, strict=True)
    )
    claims = judge_margins.claims(problem, found, theta, support, multipliers)
    short = problem.gap(theta, support, multipliers) - Fraction(found.gap) > judge.AGREES
    return any(over) or any(claims) or short


def optimum_changes(best, rng):
    plane = best.hyperplane
    yield "w reversed", replace(best, hyperplane=rb.Hyperplane(-plane.w, plane.b))
    with np.errstate(over="ignore"):
        scaled = plane.w * (1 + NUDGE)
    if np.isfinite(scaled).all():
        yield "w scaled", replace(best, hyperplane=rb.Hyperplane(scaled, plane.b))
    yield "a smaller primal value", replace(best, primal=best.primal * (1 - NUDGE))
    yield "a larger dual value", replace(best, dual=best.dual + NUDGE * best.primal)
    if hasattr(best, "exact_multipliers"):
        yield "a smaller gap", replace(best, gap=best.gap / 2)
        if best.exact_multipliers is not None:
            return
    if not len(best.support):
        return
    k, more = int(rng.integers(len(best.support))), best.multipliers.copy()
    more[k] = min(2 * float(more[k]), LARGEST)
    yield "a multiplier doubled", replace(best, multipliers=more)
    fewer = np.delete(best.support, k), np.delete(best.multipliers, k)
    yield "a sample dropped", replace(best, support=fewer[0], multipliers=fewer[1])


TAMPERING = {"tampered_verdict": tampered_verdict, "tampered_optimum": tampered_optimum}
