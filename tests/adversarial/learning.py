"""Questions about runs that learn from their mistakes: against the textbook's loop, in integers."""

import numpy as np

import rosenblatt as rb

from . import exact, judge
from .asking import ask
from .judge import Fault
from .questions import Answer, Given, answer, errors, failed


def perceptron(case, rng):
    given, epochs = Given(case, rng), int(rng.choice([5, 50, 500]))
    call = given.call(f"rb.Perceptron(max_epochs={epochs}).fit({given.names})")
    model = rb.Perceptron(max_epochs=epochs)
    reply = ask(lambda: model.fit(given.X, given.y))
    if "grown beyond what floating point can hold" in str(reply.error):
        return Answer("OVERFLOW", [], reply.seconds, call)  # as the textbook's loop in floats would
    if reply.error:
        return failed(reply, call)
    reason, fit = model.stop_reason_.name, model.fits_[0]
    faults = list(errors(model, case, given))
    if reason == "SEPARATED":
        faults += judge.separated(case, judge.theta_of(fit.last))
        if case.verdict != "SEPARABLE":
            faults.append(Fault("SEPARATED where nothing separates"))
    elif reason == "CYCLE":
        faults += replayed(given, fit)
    faults += by_the_book(case, model, epochs)
    return answer(reason, reply, faults, call)


def replayed(given, fit):
    """The weights of a cycle come back: two shorter runs end with the same."""
    entry, period = fit.certificate.entry, fit.certificate.period
    ends = []
    for epochs in (entry, entry + period):
        if epochs == 0:
            ends.append([0.0] * (len(fit.last.w) + 1))
            continue
        model = rb.Perceptron(max_epochs=epochs)
        reply = ask(lambda model=model: model.fit(given.X, given.y))
        yield from reply.faults
        if reply.error:
            return
        last = model.fits_[0].last
        ends.append([*last.w.tolist(), last.b])
    if ends[0] != ends[1]:
        yield Fault("a cycle that is none", f"entry {entry}, period {period}")


def small(case):
    """Whether all numbers are whole and so small that floats are exact."""
    return all(x == int(x) and abs(x) <= 1000 for x in case.X.ravel().tolist())


def by_the_book(case, model, epochs):
    """On small whole numbers floats are exact: the run is the textbook's, mistake by mistake."""
    if not small(case):
        return
    epochs = min(epochs, model.n_iter_)
    theta, mistakes, _ = judge.perceptron(case, epochs)
    last = model.fits_[0].last
    if mistakes != model.n_mistakes_ or judge.theta_of(last) != theta:
        yield Fault("not the textbook's run", f"{model.n_mistakes_} mistakes, not {mistakes}")


def cycle_report(case, rng):
    """What a run that repeats itself says of itself."""
    given, model = Given(case, rng), rb.Perceptron(max_epochs=500)
    call = given.call(
        f"rb.Perceptron(max_epochs=500).fit({given.names}).cycle_report({given.names})"
    )
    reply = ask(lambda: model.fit(given.X, given.y))
    if reply.error or model.stop_reason_.name != "CYCLE":
        return Answer("no cycle", [], reply.seconds, call)
    reply = ask(lambda: model.cycle_report(given.X, given.y))
    if reply.error:
        return failed(reply, call)
    found = reply.value
    faults = list(judge.certificate(case, found.certificate))
    if found.separable is not (case.verdict == "SEPARABLE"):
        faults.append(Fault("a cycle is wrong about separability", f"{found.separable}"))
    total = [
        sum(int(c) * x for c, x in zip(found.counts, column, strict=True))
        for column in zip(*case.signed, strict=True)
    ]
    if found.cancels is any(total):
        faults.append(Fault("wrong about the sum of a cycle's updates", f"{found.cancels}"))
    if len(found.hyperplanes) != found.period or sum(found.mistakes) != sum(found.counts):
        faults.append(Fault("a cycle report that contradicts itself"))
    for hyperplane, n in zip(found.hyperplanes, found.errors.tolist(), strict=True):
        faults += counted(case, hyperplane, n)
    faults += counted(case, found.best, found.best_errors)
    return answer("cycle", reply, faults, call)


def counted(case, hyperplane, n):
    """The training errors of a hyperplane: on it counts as the class -1."""
    found = judge.values(case, judge.theta_of(hyperplane))
    wrong = sum(v < 0 or (v == 0 and sign > 0) for v, sign in zip(found, case.signs, strict=True))
    if wrong != n:
        yield Fault("training errors are miscounted", f"{n}, exactly {wrong}")


def kernel_perceptron(case, rng):
    """A kernel's run; on small whole numbers it is the textbook's, mistake by mistake."""
    given, epochs = Given(case, rng), int(rng.choice([5, 50]))
    kernel, degree = [("linear", 1), ("poly", 2), ("poly", 3), ("rbf", 0)][rng.integers(4)]
    drop = None if rng.random() < 0.7 else int(rng.integers(2, 5))
    text = f"kernel={kernel!r}, degree={max(degree, 1)}, gamma=1.0, max_epochs={epochs}"
    call = given.call(f"rb.KernelPerceptron({text}, drop_after={drop}).fit({given.names})")
    model = rb.KernelPerceptron(
        kernel=kernel, degree=max(degree, 1), gamma=1.0, max_epochs=epochs, drop_after=drop
    )
    reply = ask(lambda: model.fit(given.X, given.y), "ValueError")
    if isinstance(reply.error, ValueError) and "float" in str(reply.error):
        return Answer("OVERFLOW", [], reply.seconds, call)
    if reply.error:
        return failed(reply, call)
    reason, dropped = model.stop_reason_.name, len(model.dropped_.sample)
    faults = list(agrees(model, given))
    if dropped and reason == "SEPARATED":
        faults.append(Fault("SEPARATED after samples were dropped"))
    if kernel != "rbf" and drop is None and small(case):
        faults += by_the_kernel(case, model, degree if kernel == "poly" else None)
    return answer(reason, reply, faults, call)


def agrees(model, given):
    """`n_errors_` counts where `predict` differs; SEPARATED has none."""
    reply = ask(lambda: model.predict(given.X))
    yield from reply.faults
    if reply.error:
        return
    wrong = int((reply.value != given.y).sum())
    if wrong != model.n_errors_:
        yield Fault("n_errors_ is wrong", f"{model.n_errors_}, predict makes {wrong}")
    if wrong and model.stop_reason_.name == "SEPARATED":
        yield Fault("SEPARATED with an error")


def by_the_kernel(case, model, degree):
    """The counters of the textbook's loop, after as many epochs; ``(x·z + 1)^degree`` or x·z."""
    unit = case.unit
    rows = [[int(x * unit) for x in row] for row in case.rows]
    values = [[exact.dot(a, b) for b in rows] for a in rows]
    if degree is not None:
        values = [[(v + 1) ** degree for v in row] for row in values]
    alpha = [0] * len(rows)
    for _ in range(model.n_iter_):
        for i, sign in enumerate(case.signs):
            score = sum(a * s * v for a, s, v in zip(alpha, case.signs, values[i], strict=True))
            alpha[i] += sign * score <= 0
    found = np.zeros(len(rows), int)
    found[model.support_] = model.alpha_[0]
    if found.tolist() != alpha:
        yield Fault("not the textbook's run with a kernel", f"{found.tolist()}, not {alpha}")


LEARNING = {
    question.__name__: question for question in (perceptron, cycle_report, kernel_perceptron)
}
