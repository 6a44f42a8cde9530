"""The questions: each asks the library through its public names only, and judges the answer."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

import rosenblatt as rb

from . import exact, judge, judge_margins
from .asking import ask, refusal
from .judge import Fault

SHOWN = 400  # numbers of X that are shown in full
LABELS = ((0, 1), (-1, 1), ("no", "yes"), (False, True), (2.0, 7.0))


@dataclass
class Answer:
    """How a question ended, what is wrong with it, the CPU time, and the call, to repeat it."""

    outcome: str
    faults: list
    seconds: float
    call: str


class Given:
    """A case as the library gets it: an array or a CSR matrix, and labels of some kind."""

    def __init__(self, case, rng):
        self.case = case
        self.csr = rng.random() < 0.25
        names = LABELS[rng.integers(len(LABELS))] if rng.random() < 0.3 else LABELS[0]
        self.labels = names
        self.X = sparse.csr_array(case.X) if self.csr else case.X
        self.y = np.array(names)[case.y]

    def call(self, text):
        """The call, to repeat it, after what makes y; X is there already."""
        y = "case.y" if self.case.X.size > SHOWN else self.case.y.tolist()
        return f"y = np.array({list(self.labels)})[{y}]\n{text}"

    @property
    def names(self):
        return "sparse.csr_array(X), y" if self.csr else "X, y"


def answer(outcome, reply, faults, call):
    return Answer(outcome, [*reply.faults, *faults], reply.seconds, call)


def failed(reply, call):
    return answer(type(reply.error).__name__, reply, [], call)


def power(rng, low, high):
    return float(10.0 ** rng.uniform(low, high))


# Verdicts ---------------------------------------------------------------------------------------


def verdict(case, rng):
    given = Given(case, rng)
    call = given.call(f"rb.separability({given.names})")
    reply = ask(lambda: rb.separability(given.X, given.y))
    if reply.error:
        return failed(reply, call)
    found = reply.value
    if found.verdict.name == "UNDECIDED":
        return answer("UNDECIDED", reply, [Fault("undecided without a time limit")], call)
    faults = [*judge.certificate(case, found), *accepted(found, given)]
    return answer(found.verdict.name, reply, faults, call)


def accepted(found, given, weights=None):
    """`check` must accept what the library has found."""
    reply = ask(lambda: rb.certify.check(found, given.X, given.y, weights))
    yield from reply.faults
    if not reply.error and not reply.value.valid:
        yield Fault("check refuses the certificate", reply.value.why)


def bracket(case, rng):
    given, most = Given(case, rng), float(rng.choice([1e-9, 1e-6, 1e-4, 1e-3, 1e-2]))
    call = given.call(f"rb.separability({given.names}, max_time={most})")
    reply = ask(lambda: rb.separability(given.X, given.y, max_time=most))
    if reply.error:
        return failed(reply, call)
    found = reply.value
    if found.verdict.name != "UNDECIDED":
        return answer(found.verdict.name, reply, judge.certificate(case, found), call)
    faults = [*judge.bracket(case, *found.bracket), *in_time(reply, most)]
    return answer("UNDECIDED", reply, faults, call)


IN_TIME = False  # whether answers after max_time are faults: times are noisy, so not in tests


def in_time(reply, most):
    if IN_TIME and reply.seconds > most + max(0.1 * most, 0.1) + 0.05:
        yield Fault("max_time is not honoured", f"{reply.seconds:.2f} s of CPU, max_time={most}")


# Margins ----------------------------------------------------------------------------------------


def some_weights(case, rng):
    """Weights of samples: none, moderate, or of any size; some zero, but not all of a class."""
    kind = rng.choice(["none", "moderate", "any", "some zero"], p=[0.5, 0.2, 0.2, 0.1])
    n = len(case.y)
    if kind == "none":
        return None
    if kind == "some zero":
        weights = np.where(rng.random(n) < 0.4, 0.0, 1.0)
    else:
        high = 300 if kind == "any" else 2
        weights = 10.0 ** rng.uniform(-high, high, n)
    for label in (0, 1):
        mine = np.flatnonzero(case.y == label)
        if not weights[mine].any():
            weights[mine[0]] = 1.0
    return weights


def listed(weights):
    return "" if weights is None else f", np.array({weights.tolist()})"


def soft_margin(case, rng):
    given, weights = Given(case, rng), some_weights(case, rng)
    C, tol = power(rng, -12, 15), float(10.0 ** -rng.integers(4, 13))
    if rng.random() < 0.5:
        C = power(rng, -3, 8)
    call = given.call(
        f"rb.SoftMarginClassifier(C={C!r}, tol={tol}).fit({given.names}{listed(weights)})"
    )
    model = rb.SoftMarginClassifier(C=C, tol=tol)
    reply = ask(lambda: model.fit(given.X, given.y, weights))
    if reply.error:
        return failed(reply, call)
    reason = model.stop_reason_.name
    faults = list(soft_faults(model, case, given, C, weights, tol))
    expected = {"GAP_CLOSED": set(), "ROUNDING": {"ConvergenceWarning"}}
    faults += warned(reply, reason, expected)
    return answer(reason, reply, faults, call)


def soft_faults(model, case, given, C, weights, tol):
    reason, best = model.stop_reason_.name, model.optimum_
    problem = judge_margins.Problem(case, C, weights)
    if best.C != C:
        yield Fault("an answer for another C", f"{best.C!r}")
    yield from judge_margins.optimum(problem, best, model.gap_, tol, reason == "GAP_CLOSED")
    yield from same_plane(model, best)
    yield from proved(model, given, weights)
    yield from errors(model, case, given)


def proved(model, given, weights):
    """A closed gap comes with a certificate; whatever gap is stated, `check` accepts it."""
    closed = model.stop_reason_.name == "GAP_CLOSED"
    if closed and model.certificate_ is None:
        yield Fault("GAP_CLOSED without a certificate")
    elif closed:
        yield from accepted(model.certificate_, given, weights)
    elif model.gap_ < 1:
        for fault in accepted(model.optimum_, given, weights):
            yield fault._replace(kind=f"{fault.kind} (gap not closed)")


def same_plane(model, best):
    same = model.coef_[0].tolist() == best.hyperplane.w.tolist()
    if not same or model.intercept_[0] != best.hyperplane.b:
        yield Fault("coef_ and intercept_ are not the hyperplane of optimum_")


def errors(model, case, given):
    """`predict` and `n_errors_` agree with exact signs."""
    theta = judge.fractions([*model.coef_[0].tolist(), float(model.intercept_[0])])
    signed = judge.values(case, theta)
    sides = [(v > 0 if sign > 0 else v >= 0) for v, sign in zip(signed, case.signs, strict=True)]
    wrong = len(sides) - sum(sides)
    if model.n_errors_ != wrong:
        yield Fault("n_errors_ is wrong", f"{model.n_errors_}, exactly {wrong}")
    reply = ask(lambda: model.predict(given.X))
    yield from reply.faults
    if not reply.error and (reply.value == given.y).tolist() != sides:
        yield Fault("predict is on the wrong side")


def warned(reply, reason, expected):
    known = reply.warned & {"ConvergenceWarning", "NotSeparableWarning"}
    if reason not in expected:
        yield Fault(f"stop reason {reason}")
    elif known != expected[reason]:
        yield Fault(f"{reason} with warnings {sorted(known)}")


def max_margin(case, rng):
    given, tol = Given(case, rng), float(10.0 ** -rng.integers(4, 13))
    weights = some_weights(case, rng) if rng.random() < 0.2 else None
    how = str(rng.choice(["warn", "raise"]))
    call = given.call(
        f"rb.MaxMarginClassifier(tol={tol}, on_inseparable={how!r})"
        f".fit({given.names}{listed(weights)})"
    )
    model = rb.MaxMarginClassifier(tol=tol, on_inseparable=how)
    reply = ask(lambda: model.fit(given.X, given.y, weights), "NotSeparableError")
    used = np.arange(len(case.y)) if weights is None else np.flatnonzero(weights)
    part = case if len(used) == len(case.y) else case.with_rows(used)
    if isinstance(reply.error, rb.NotSeparableError):
        faults = list(overlap(part, used, reply.error.certificate))
        if how != "raise":
            faults.append(Fault("NotSeparableError that was not asked for"))
        return answer("NotSeparableError", reply, faults, call)
    if reply.error:
        return failed(reply, call)
    reason = model.stop_reason_.name
    expected = {
        "GAP_CLOSED": set(),
        "ROUNDING": {"ConvergenceWarning"},
        "INSEPARABLE": {"NotSeparableWarning"},
    }
    faults = [
        *max_faults(model, case, given, part, used, weights, tol),
        *warned(reply, reason, expected),
    ]
    if reason == "INSEPARABLE" and how == "raise":
        faults.append(Fault("INSEPARABLE, but on_inseparable='raise' is silent"))
    return answer(reason, reply, faults, call)


def max_faults(model, case, given, part, used, weights, tol):
    reason, best = model.stop_reason_.name, model.optimum_
    yield from same_plane(model, best)
    yield from errors(model, case, given)
    if reason == "INSEPARABLE":
        yield from overlap(part, used, model.certificate_)
        problem = judge_margins.Problem(case, best.C, weights)
        yield from judge_margins.optimum(problem, best, model.gap_, tol, False)
        return
    if part.verdict != "SEPARABLE":
        yield Fault(f"{reason} for data that nothing separates", part.verdict)
        return
    if best.C is not None:
        yield Fault("a soft margin in place of the maximum margin", reason)
        return
    problem = judge_margins.Problem(case, None, weights)
    yield from judge_margins.optimum(problem, best, model.gap_, tol, reason == "GAP_CLOSED")
    yield from proved(model, given, weights)
    least = problem.least(judge.theta_of(best.hyperplane))
    if least <= 0 and judge_margins.floats_can(part):
        yield Fault("the maximum margin does not separate separable data", reason)


def margin_in_time(case, rng):
    """Under a time limit: whatever there is by then, with a gap that is true."""
    given, most = Given(case, rng), float(rng.choice([1e-9, 1e-6, 1e-4, 1e-3, 1e-2]))
    name = str(rng.choice(["MaxMarginClassifier", "SoftMarginClassifier"]))
    call = given.call(f"rb.{name}(max_time={most}).fit({given.names})")
    model = getattr(rb, name)(max_time=most)
    reply = ask(lambda: model.fit(given.X, given.y))
    if reply.error:
        return failed(reply, call)
    reason, best = model.stop_reason_.name, model.optimum_
    faults = [*same_plane(model, best), *errors(model, case, given), *in_time(reply, most)]
    problem = judge_margins.Problem(case, best.C)
    closed = reason == "GAP_CLOSED"
    faults += judge_margins.optimum(problem, best, model.gap_, model.tol, closed)
    if reason == "INSEPARABLE":
        faults += overlap(case, range(len(case.y)), model.certificate_)
    return answer(reason, reply, faults, call)


def overlap(part, used, certificate):
    """A proof for the samples that count, with the row numbers of all."""
    if part.verdict == "SEPARABLE":
        yield Fault("separable data called inseparable")
        return
    number = {int(row): k for k, row in enumerate(used)}
    names = [n for n in ("support", "on", "spanning_support") if hasattr(certificate, n)]
    try:
        rows = {n: [number[i] for i in getattr(certificate, n).tolist()] for n in names}
    except KeyError:
        yield Fault("a proof with samples that do not count")
        return
    yield from judge.certificate(part, replace(certificate, **rows))


# Bounds and hyperplanes --------------------------------------------------------------------------


def mistake_bound(case, rng):
    given = Given(case, rng)
    call = given.call(f"rb.mistake_bound({given.names})")
    reply = ask(lambda: rb.mistake_bound(given.X, given.y), "ValueError")
    if reply.error:
        return refused_bound(case, reply, call)
    faults = list(judge.bound(case, reply.value))
    if case.verdict != "SEPARABLE":
        faults.append(Fault("a bound where nothing separates"))
    return answer("bound", reply, faults, call)


def refused_bound(case, reply, call):
    """No bound: because nothing separates, or because no hyperplane of floats does."""
    told, faults = str(reply.error), []
    if isinstance(reply.error, ValueError):
        if case.verdict == "SEPARABLE" and "closer than floats can separate" not in told:
            faults.append(Fault("no bound for separable data", told[:200]))
        if "no bound" not in told:
            faults.append(refusal(told))
    return answer("no bound", reply, faults, call)


def hyperplane(case, rng):
    """Hyperplanes through samples, or nearly, and of numbers of any size."""
    d = case.X.shape[1]
    kind = rng.integers(3)
    if kind == 0:
        w = rng.choice([1.0, -1.0, 0.5, 1e16, -1e-7, 3.0, 1e300, 5e-324], d)
    elif kind == 1:
        i, j = rng.integers(len(case.X), size=2)
        with np.errstate(all="ignore"):
            w = case.X[i] - case.X[j]
        w = np.where(np.isfinite(w), w, 1.0)
    else:
        w = rng.normal(size=d)
    if not w.any():
        w[0] = 1.0
    row = case.X[rng.integers(len(case.X))].tolist()
    middle = -exact.dot(judge.fractions(w.tolist()), judge.fractions(row))
    b = judge.float_of(middle) if rng.random() < 0.7 else float(rng.normal())
    b = b if np.isfinite(b) else 0.0
    return judged_hyperplane(case, rb.Hyperplane(w, b), Given(case, rng))


def judged_hyperplane(case, plane, given):
    signs = np.array(case.signs)
    call = given.call(
        f"h = rb.Hyperplane({plane.w.tolist()}, {plane.b!r}); h.decision_function(X), "
        f"h.predict(X), h.margin(X, {case.signs})"
    )

    def question():
        scores, sides = plane.decision_function(given.X), plane.predict(given.X)
        return scores, sides, plane.margin(given.X, signs)

    reply = ask(question)
    if reply.error:
        return failed(reply, call)
    scores, sides, margin = reply.value
    theta = judge.theta_of(plane)
    faults = [
        *judge.sides(case, theta, scores.tolist(), sides.tolist()),
        *judge.margin_of_hyperplane(case, theta, margin),
    ]
    return answer("margin", reply, faults, call)


QUESTIONS = {
    question.__name__: question
    for question in (
        verdict, bracket, max_margin, soft_margin, margin_in_time, mistake_bound, hyperplane,
    )
}  # fmt: skip
