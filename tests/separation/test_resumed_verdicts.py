"""A search that is killed wherever it notes its state goes on to the same certificate."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import rosenblatt as rb
from cutting import Cuts, bits
from rosenblatt.results import Undecided
from rosenblatt.running.checkpoints import CheckpointError
from rosenblatt.separation import faces, function, solver
from rosenblatt.separation.log import SearchLog


def separable(n=250):
    X = np.random.default_rng(1).normal(size=(n, 4))
    return X, X @ [1, 2, 3, 4.0] + 0.1 > 0


def overlapping():
    rng = np.random.default_rng(2)
    return rng.normal(size=(150, 4)), rng.random(150) < 0.5


def on_a_face(n=200):
    rng = np.random.default_rng(3)
    X = rng.integers(-2, 3, size=(n, 5)).astype(float)
    z = X @ [1, -1, 2, 0, 0]
    return X, np.where(z == 0, rng.random(n) < 0.5, z > 0)


def faces_within_faces():
    """Quasi-separable, and what lies on the hyperplane is so again, three times."""
    rng = np.random.default_rng(4)
    X = rng.integers(-1, 2, size=(300, 5)).astype(float)
    y = rng.random(300) < 0.5
    for w in ([1, 0, 0, 0, 0], [1, -1, 0, 0, 0], [0, 1, 2, 0, 0]):
        z = X @ w
        y = np.where(z == 0, y, z > 0)
    return X, y


def close_to_touching():
    rng = np.random.default_rng(5)
    X = 1 + rng.normal(size=(60, 3)) * 1e-9
    return X, X @ [1, 1, 1.0] > 3


@pytest.fixture
def cuts(monkeypatch, tmp_path):
    return Cuts(monkeypatch, tmp_path / "run.checkpoint")


@pytest.fixture
def loops(monkeypatch):
    """How often each loop of the search has noted its state; working sets grow by few rows."""
    seen, note = Counter(), SearchLog.note

    def counted(log, loop, **state):
        seen[loop] += 1
        note(log, loop, **state)

    monkeypatch.setattr(SearchLog, "note", counted)
    monkeypatch.setattr(solver, "batch", lambda d: 3)
    monkeypatch.setattr(faces, "batch", lambda d: 3)
    monkeypatch.setattr(solver, "MANY", 0)
    return seen


def assert_same(cuts, X, y, **how):
    """Killed after any of its writes, or after one again and again, it ends as if never."""
    found = bits(rb.separability(X, y, **how))

    def run(checkpoint):
        return rb.separability(X, y, checkpoint=checkpoint, **how)

    n = 0
    for again in cuts.each(run):
        assert bits(again) == found
        n += 1
    assert bits(cuts.resumed(run, *[2 + n // 3] * 3)) == found
    return n


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (separable, ["set"]),
        (overlapping, ["set"]),
        (on_a_face, ["set", "faces", "face"]),
        (faces_within_faces, ["set", "faces", "face"]),
        (close_to_touching, ["set"]),
    ],
)
def test_every_cut(cuts, loops, data, wanted):
    assert assert_same(cuts, *data()) >= 5
    assert all(loops[name] > 1 for name in wanted)


def test_every_cut_without_floats(cuts, loops, monkeypatch):
    # Where floats find no samples that meet, the view is zoomed, and then integers decide.
    monkeypatch.setattr(solver.Search, "vertex", lambda *args: None)
    monkeypatch.setattr(solver, "all_that_cancel", lambda *args: (None, args[-1]))
    monkeypatch.setattr(solver, "SHORT", 2)
    for data in (overlapping, on_a_face):
        assert_same(cuts, *data())
    assert loops["exactly"] > 1


def test_every_cut_of_later_searches(cuts, loops, monkeypatch):
    # As if the evidence did not hold: more and more is left to exact arithmetic.
    cares, find, check = [], function.find_certificate, function.check

    def searching(source, team, positive, clock, care, *rest):
        cares.append(care)
        return find(source, team, positive, clock, care, *rest)

    def strict(certificate, data, **how):
        found = check(certificate, data, **how)
        return replace(found, valid=cares[-1] is solver.Care.NOTHING)

    monkeypatch.setattr(function, "find_certificate", searching)
    monkeypatch.setattr(function, "check", strict)
    X, y = separable(100)
    assert_same(cuts, X, y)
    assert cares[:3] == list(solver.Care)
    assert loops["exactly"] > 1


def test_every_cut_on_wide_data(cuts, monkeypatch):
    # There the maximum margin's method is asked first.
    monkeypatch.setattr(solver, "WIDE", 4)
    assert assert_same(cuts, *separable()) >= 3
    assert assert_same(cuts, *overlapping()) >= 4


def test_several_classes(cuts, monkeypatch):
    X = np.random.default_rng(6).normal(size=(150, 3))
    z = X @ [1, 2, 3.0]
    y = np.where(z < 0, "low", np.where(z < 1.5, "middle", "top"))
    assert assert_same(cuts, X, y) >= 6
    assert assert_same(cuts, X, y, multiclass="joint") >= 3
    # What is decided is not decided again, only checked.
    asked = []
    find = function.find_certificate
    monkeypatch.setattr(
        function, "find_certificate", lambda *args, **how: asked.append(1) or find(*args, **how)
    )
    found = rb.separability(X, y, checkpoint=cuts.checkpoint().path + "2")
    assert len(asked) == 3
    again = rb.separability(
        X, y, checkpoint=rb.Checkpoint(cuts.checkpoint().path + "2", resume=True)
    )
    assert len(asked) == 3
    assert bits(again) == bits(found)
    assert [str(one.problem) for one in again] == [str(one.problem) for one in found]


def test_out_of_time(tmp_path, loops, monkeypatch):
    X, y = on_a_face()
    found = rb.separability(X, y)
    path = tmp_path / "run.checkpoint"
    steps = iter(range(10**9))
    look_up = solver.Clock.look_up

    def late(clock):
        if clock.end is not None and next(steps) == 30:
            raise solver.Halt(rb.StopReason.TIME_LIMIT)
        look_up(clock)

    monkeypatch.setattr(solver.Clock, "look_up", late)
    first = rb.separability(X, y, max_time=1000, checkpoint=path)
    assert isinstance(first, Undecided)
    before = loops["set"] + loops["face"]
    again = rb.separability(X, y, checkpoint=rb.Checkpoint(path, resume=True))
    rest = loops["set"] + loops["face"] - before
    assert bits(again) == bits(found)
    loops.clear()
    rb.separability(X, y)
    assert rest < loops["set"] + loops["face"]


def test_of_something_else(tmp_path):
    path = str(tmp_path / "run.checkpoint")
    X, y = overlapping()
    rb.separability(X, y, checkpoint=path)
    with pytest.raises(CheckpointError, match=re.escape(f"checkpoint {path} exists: give resume")):
        rb.separability(X, y, checkpoint=path)
    resume = rb.Checkpoint(path, resume=True)
    with pytest.raises(CheckpointError, match="is of other data"):
        rb.separability(X, ~y, checkpoint=resume)
    three = np.arange(len(y)) % 3
    with pytest.raises(CheckpointError, match=r"multiclass=None, not 'joint'"):
        rb.separability(X, three, multiclass="joint", checkpoint=resume)
    with pytest.raises(CheckpointError, match="is of other data"):
        rb.separability(X, three, checkpoint=resume)
    with pytest.raises(CheckpointError, match="is of a run of separability, not SoftMargin"):
        rb.SoftMarginClassifier(checkpoint=resume).fit(X, y)
    with pytest.raises(ValueError, match=r"^checkpoint goes with no kernel yet"):
        rb.separability(X, y, kernel=rb.kernels.Polynomial(2), checkpoint=resume)
    with pytest.raises(ValueError, match=r"^checkpoint=3 is not allowed: give a path"):
        rb.separability(X, y, checkpoint=3)


def test_claims_in_a_file_are_checked(tmp_path, monkeypatch):
    # Whoever writes a file that proves itself whole can still write nonsense into it.
    path = tmp_path / "run.checkpoint"
    X, y = separable(50)
    for page, value in (
        ("found", rb.separability(X, ~y)),
        ("found", {"a": 1}),
        ("loops", {"set": {"rows": np.arange(3)}}),
        ("loops", {"strange": {}}),
        ("careless", (1,)),
    ):
        path.unlink(missing_ok=True)
        keeper = function.keeper_at(rb.Checkpoint(str(path)))
        source = function.MemorySource(function.as_rows(X), y.astype(np.int32), 4)
        with function.Team(1) as team, function.noting(keeper, source, team) as notes:
            notes.note(page, value)
        before = path.read_bytes()
        with pytest.raises(CheckpointError, match="does not hold the state of such a run"):
            rb.separability(X, y, checkpoint=rb.Checkpoint(path, resume=True))
        assert path.read_bytes() == before
