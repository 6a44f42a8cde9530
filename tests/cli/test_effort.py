"""How much the command does unasked: limits of work, folds within a time, a record's length."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import rosenblatt as rb
from commands import call, fitted, one_line
from rosenblatt.cli import effort
from rosenblatt.cli.effort import Effort
from rosenblatt.results import Epoch
from rosenblatt.running.clock import Halt
from rosenblatt.validation.refits import within_time

REASON = rb.StopReason


@pytest.fixture
def noise(tmp_path):
    """Two classes that only chance tells apart."""
    rng = np.random.default_rng(0)
    rows = [",".join(f"{x:.3f}" for x in row) for row in rng.normal(size=(120, 3))]
    classes = rng.permutation(["yes", "no"] * 60)
    file = tmp_path / "noise.csv"
    lines = [f"{row},{c}" for row, c in zip(rows, classes, strict=True)]
    file.write_text("\n".join(["a,b,c,class", *lines]))
    return str(file)


def ended(model, mistakes, *, limits=Effort(epochs=True), X=np.ones((10, 3))):  # noqa: B008
    """The reason for which a course of mistakes ends, and after which epoch."""
    course = limits.course(model, X, 1)
    for number, made in enumerate(mistakes, 1):
        if not made:
            return None  # it has separated
        try:
            course(Epoch(number, (made,), (), 0.0))
        except Halt as halt:
            assert 0 < course.share <= 1
            return halt.reason, number
    return None


def first_stop(mistakes, works, free, most, still):
    """The rule, told naively."""
    for t in range(1, len(mistakes) + 1):
        if not mistakes[t - 1]:
            return None
        if sum(works[:t]) >= most:
            return REASON.WORK_LIMIT, t
        fewest = 1 + int(np.argmin(mistakes[:t]))
        if sum(works[:t]) >= free and t - fewest >= still:
            return REASON.NO_PROGRESS, t
    return None


def test_rule_is_what_it_is_said_to_be(monkeypatch):
    rng = np.random.default_rng(1)
    monkeypatch.setattr(effort, "_linear_work", lambda *given: 1.0 + given[-1] / 64)
    ends = set()
    for _ in range(200):
        falling = np.linspace(60, rng.integers(0, 60), 60)
        mistakes = np.maximum(falling + rng.integers(-8, 8, 60), 0).astype(int).tolist()
        free, most = float(rng.integers(0, 60)), float(rng.integers(60, 160))
        monkeypatch.setattr(effort, "FREE", free)
        monkeypatch.setattr(effort, "MOST", most)
        works = [1.0 + made / 64 for made in mistakes]
        found = ended(rb.Perceptron(), mistakes)
        assert found == first_stop(mistakes, works, free, most, effort.STILL)
        ends.add(found and found[0])
    assert ends == {None, REASON.NO_PROGRESS, REASON.WORK_LIMIT}


def test_work_grows_with_what_there_is_to_do():
    X, wide = np.ones((100, 3)), np.ones((100, 30))
    linear, curved = effort._linear_work, effort._kernel_work
    plain, pocket = rb.Perceptron(), rb.Perceptron(keep="pocket")
    assert linear(plain, X, 1, 1, 50) < linear(plain, wide, 1, 1, 50)
    assert linear(plain, X, 1, 1, 50) < linear(plain, X, 3, 1, 50)
    assert linear(plain, X, 1, 1, 50) < linear(pocket, X, 1, 1, 50)
    kept = rb.KernelPerceptron(order="shuffled")
    assert curved(kept, X, 1, 2, 50) < curved(kept, X, 1, 1, 50)  # values are kept
    judged, few = rb.KernelPerceptron(keep="pocket"), rb.KernelPerceptron(budget=10)
    assert curved(few, X, 1, 2, 50) < curved(judged, X, 1, 2, 50)


def test_epochs_that_cannot_fall_are_only_counted(monkeypatch):
    monkeypatch.setattr(effort, "FREE", 0.0)
    level = [5] * 40
    assert ended(rb.Perceptron(), level) == (REASON.NO_PROGRESS, 1 + effort.STILL)
    assert ended(rb.Perceptron(order="worst-mistake"), level) is None
    assert ended(rb.Adaline(), level) is None


def test_told_limits_are_left_alone(monkeypatch):
    monkeypatch.setattr(effort, "FREE", 0.0)
    monkeypatch.setattr(effort, "MOST", 1.0)
    assert ended(rb.Perceptron(), [5] * 40, limits=Effort()) is None
    assert ended(rb.Perceptron(max_epochs=1), [5]) is None  # EPOCH_LIMIT says it better
    Effort(epochs=True).course(rb.Perceptron(), np.ones((10, 3)), 1)(Epoch(1, (0,), (), 0.0))


def test_record_is_only_so_long():
    limits = Effort(record=100)
    assert ended(rb.Perceptron(), [30] * 9, limits=limits) == (REASON.WORK_LIMIT, 4)


def test_tasks_within_time():
    now = SimpleNamespace(seconds=0.0)

    def done(lasting, limit):
        finished = []
        for seconds in within_time(iter(lasting), limit, clock=lambda: now.seconds):
            now.seconds += seconds
            finished.append(seconds)
        return len(finished)

    assert done([2.0] * 5, None) == 5
    assert done([2.0] * 5, 10.0) == 5
    assert done([2.0] * 5, 9.0) == 4
    assert done([20.0] * 5, 1.0) == 1  # one there always is
    assert done([1.0, 3.0, 1.0, 1.0], 6.5) == 2  # another might be as long as the longest


def test_command_tells_what_it_chose(noise, monkeypatch):
    monkeypatch.setattr(effort, "FREE", 0.0)
    monkeypatch.setattr("rosenblatt.cli.fit.FOLDS_TIME", 1e6)
    facts = fitted(noise)
    assert facts["stop_reasons"] == ["NO_PROGRESS"]
    assert facts["epochs"] < 1000
    assert len(facts["cross_validation"]) == 5
    assert "folds" not in facts
    again = fitted(noise)
    assert {name for name in facts if facts[name] != again[name]} <= {"seconds", "trained"}
    report = call("fit", noise).stdout
    assert "NO_PROGRESS" in report
    assert "--max-epochs" in report
    told = fitted(noise, "--max-epochs", "40", "--cv", "0")
    assert (told["stop_reasons"], told["epochs"]) == (["EPOCH_LIMIT"], 40)


def test_folds_are_trained_as_long_as_the_model(noise, monkeypatch):
    from rosenblatt.cli import fitting

    monkeypatch.setattr(effort, "FREE", 0.0)
    monkeypatch.setattr("rosenblatt.cli.fit.FOLDS_TIME", 1e6)
    lengths, once = [], fitting.fit

    def watched(model, *given):
        once(model, *given)
        lengths.append(int(model.n_iter_))

    monkeypatch.setattr(fitting, "fit", watched)
    call("fit", noise, "-q")
    assert len(lengths) == 6
    assert len(set(lengths)) == 1


def test_fewer_folds_are_told(noise, tmp_path, monkeypatch):
    model = str(tmp_path / "m.skops")
    monkeypatch.setattr("rosenblatt.cli.fit.FOLDS_TIME", 0.0)
    facts = fitted(noise, "-o", model)
    assert (len(facts["cross_validation"]), facts["folds"]) == (1, 5)
    assert "1 of 5 folds, for which 0 seconds are kept (--cv 5 does all of them)" in facts["notes"]
    shown = one_line(call("show", model).stdout)
    assert "by 1 of the 5 folds of a cross-validation" in shown
    assert len(fitted(noise, "--cv", "5")["cross_validation"]) == 5


def test_bound_keeps_only_so_long_a_record(noise, monkeypatch):
    monkeypatch.setattr(effort, "RECORD", 500)
    printed = call("bound", noise, "--max-epochs", "200", "--json", code=1).stdout
    (problem,) = json.loads(printed)["problems"]
    assert problem["stop_reason"] == "WORK_LIMIT"
    assert 500 <= problem["mistakes"] < 700
    assert problem["mistakes"] <= problem["bound"]
    assert problem["bound_epochs"] == problem["epochs"]
