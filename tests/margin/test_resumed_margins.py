"""A margin whose fit is killed wherever it notes its state is found all the same, to the bit."""

import re
import warnings
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt as rb
from cutting import Cuts, bits, fitted_bits
from margin_samples import apart, noisy
from rosenblatt.margin import classifiers, solver
from rosenblatt.nearest import max_margin, soft_margin
from rosenblatt.nearest.max_margin import MaxMargin
from rosenblatt.nearest.soft_margin import SoftMargin
from rosenblatt.running.checkpoints import CheckpointError


@pytest.fixture
def cuts(monkeypatch, tmp_path):
    return Cuts(monkeypatch, tmp_path / "run.checkpoint")


def assert_same(cuts, kind, X, y, weight=None, most=40, **how):
    """Killed after any of its writes, or after some again and again, it ends as if never."""

    def run(checkpoint):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kind(checkpoint=checkpoint, **how).fit(X, y, weight)

    plain, n = fitted_bits(run(None)), 0
    for model in cuts.each(run, most):
        assert fitted_bits(model) == plain
        n += 1
    assert fitted_bits(cuts.resumed(run, *[2 + n // 3] * 3)) == plain
    return n


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e4])
def test_soft_margin(cuts, C):
    assert assert_same(cuts, rb.SoftMarginClassifier, *noisy(300, 4), C=C) > 4


def test_soft_margin_from_a_few_rows(cuts, monkeypatch):
    monkeypatch.setattr(soft_margin, "FIRST", 20)
    monkeypatch.setattr(soft_margin, "PER_FEATURE", 2)
    monkeypatch.setattr(soft_margin, "RARE", 2)
    pages = set()
    note = soft_margin.Notes.note
    monkeypatch.setattr(
        soft_margin.Notes,
        "note",
        lambda notes, name, value: pages.add(name) or note(notes, name, value),
    )
    assert assert_same(cuts, rb.SoftMarginClassifier, *noisy(700, 3), C=1e5, tol=1e-9) > 10
    assert pages >= {"nothing", "few", "all", "ended", "fit"}


def test_soft_margin_with_weights(cuts):
    X, y = noisy(120, 3)
    weight = np.random.default_rng(0).random(120)
    how = {"class_weight": "balanced", "most": 12}
    assert_same(cuts, rb.SoftMarginClassifier, csr_array(X), y, weight, **how)


def test_soft_margin_polished(cuts):
    # Rounding stands in the way of such a gap.
    X, y = noisy(40, 2)
    assert_same(cuts, rb.SoftMarginClassifier, X * [1, 1e-5], y, tol=1e-15, most=8)


def test_maximum_margin(cuts, monkeypatch):
    monkeypatch.setattr(max_margin, "MOST", 4)  # so that there are many scans
    assert assert_same(cuts, rb.MaxMarginClassifier, *apart(400, 4)) > 5
    monkeypatch.setattr(max_margin, "SMALL", 1)  # by coordinates
    assert assert_same(cuts, rb.MaxMarginClassifier, *apart(200, 3)) > 5
    monkeypatch.setattr(MaxMargin, "_by_coordinates", lambda *args: False)  # rounds only
    assert assert_same(cuts, rb.MaxMarginClassifier, *apart(200, 3)) > 5


def test_no_maximum_margin(cuts):
    X, y = noisy(50, 2)
    assert assert_same(cuts, rb.MaxMarginClassifier, X, y, most=12) > 5
    X = np.random.default_rng(1).integers(-2, 3, size=(50, 3)).astype(float)
    z = X @ [1, -1, 2]
    y = np.where(z == 0, np.random.default_rng(2).random(50) < 0.5, z > 0)
    assert assert_same(cuts, rb.MaxMarginClassifier, X, y, most=12) > 5


def test_maximum_margin_that_floats_hide(cuts, monkeypatch):
    # The solver is sent on with a hyperplane that exact arithmetic has found.
    X, y = apart(60, 3)
    give_up = MaxMargin._by_rounds

    def hopeless(self, target):
        if self.hopeful:
            self.best = self.best._replace(primal=np.inf)
            self._give_up()
        give_up(self, target)

    monkeypatch.setattr(max_margin, "SMALL", 1)
    monkeypatch.setattr(MaxMargin, "_by_coordinates", lambda *args: False)
    monkeypatch.setattr(MaxMargin, "_by_rounds", hopeless)
    monkeypatch.setattr(solver, "MOST_NUMBERS", 1)
    begun = []
    begin_at = MaxMargin.begin_at
    monkeypatch.setattr(MaxMargin, "begin_at", lambda *a: begun.append(1) or begin_at(*a))
    assert assert_same(cuts, rb.MaxMarginClassifier, X, y) > 5
    assert begun


def test_raised(cuts):
    X, y = noisy(80, 3)

    def run(checkpoint):
        with pytest.raises(rb.NotSeparableError) as error:
            rb.MaxMarginClassifier(on_inseparable="raise", checkpoint=checkpoint).fit(X, y)
        return bits(error.value.certificate)

    plain = run(None)
    assert all(found == plain for found in cuts.each(run))


def test_several_classes(cuts, monkeypatch, tmp_path):
    X = np.random.default_rng(3).normal(size=(60, 2))
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]
    X[y == "a"] += 6
    assert assert_same(cuts, rb.SoftMarginClassifier, X, y, most=12) > 9
    assert assert_same(cuts, rb.MaxMarginClassifier, X, y, most=6) > 5
    # Problems that are done are not solved again, and no evidence is looked for again.
    path = str(tmp_path / "other.checkpoint")
    model = rb.SoftMarginClassifier(checkpoint=path).fit(X, y)
    monkeypatch.setattr(classifiers.MarginClassifier, "_solve", None)
    again = rb.SoftMarginClassifier(checkpoint=rb.Checkpoint(path, resume=True)).fit(X, y)
    assert fitted_bits(again) == fitted_bits(model)
    assert again.certificate_[0] is again.fits_[0].optimum


def test_interrupted(tmp_path):
    X, y = noisy(400, 4)
    path = tmp_path / "run.checkpoint"
    # Where slack is cheap, one scan may do.
    for kind in (partial(rb.SoftMarginClassifier, C=1e5), rb.MaxMarginClassifier):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = kind().fit(X, y)
            pressed = kind(checkpoint=path, callback=interrupt).fit(X, y)
            assert pressed.stop_reason_ is rb.StopReason.INTERRUPTED
            scans = []
            again = kind(checkpoint=rb.Checkpoint(path, resume=True), callback=scans.append).fit(
                X, y
            )
        assert fitted_bits(again) == fitted_bits(plain)
        assert scans[0].number > 1
        path.unlink()


def interrupt(scan):
    if scan.number == 2:
        raise KeyboardInterrupt


def test_warm_start(tmp_path):
    X, y = noisy(100, 3)
    path = str(tmp_path / "run.checkpoint")
    model = rb.SoftMarginClassifier(warm_start=True).fit(X, y)
    model.set_params(checkpoint=path, C=2.0).fit(X, y)
    other = rb.SoftMarginClassifier(
        C=2.0, warm_start=True, checkpoint=rb.Checkpoint(path, resume=True)
    )
    with pytest.raises(CheckpointError, match="was written with start="):
        other.fit(X, y)


def test_of_something_else(tmp_path):
    X, y = noisy(60, 3)
    path = str(tmp_path / "run.checkpoint")
    rb.SoftMarginClassifier(checkpoint=path).fit(X, y)
    with pytest.raises(CheckpointError, match=re.escape(f"checkpoint {path} exists: give resume")):
        rb.SoftMarginClassifier(checkpoint=path).fit(X, y)
    resume = rb.Checkpoint(path, resume=True)
    for model, weight, what in (
        (rb.SoftMarginClassifier(C=2.0), None, "was written with C=1.0, not 2.0"),
        (rb.SoftMarginClassifier(tol=1e-3), None, "was written with tol="),
        (rb.SoftMarginClassifier(), np.arange(60) + 1.0, "is of other data"),
        (rb.MaxMarginClassifier(), None, "is of a run of SoftMarginClassifier"),
    ):
        with pytest.raises(CheckpointError, match=re.escape(what)):
            model.set_params(checkpoint=resume).fit(X, y, weight)
        assert not hasattr(model, "fits_")
    with pytest.raises(ValueError, match=r"^checkpoint=3 is not allowed: give a path"):
        rb.SoftMarginClassifier(checkpoint=3).fit(X, y)


def test_claims_in_a_file_are_checked(tmp_path, monkeypatch):
    # Whoever writes a file that proves itself whole can still write nonsense into it.
    X, y = noisy(60, 3)
    path = tmp_path / "run.checkpoint"
    other = rb.SoftMarginClassifier().fit(X[::-1], y)
    for page, value in (
        ("0/fit", other.fits_[0]),
        ("0/fit", 3),
        ("0/all", {"best": ()}),
        ("0/ended", {"best": (1, 2, 3, 4, 5), "trace": []}),
    ):
        path.unlink(missing_ok=True)
        begin = SoftMargin._begin

        def spoil(self, start, page=page, value=value):
            self.notes._pages.clear()
            self.notes._pages[page] = value
            raise rb.running.clock.Halt(rb.StopReason.INTERRUPTED)

        monkeypatch.setattr(SoftMargin, "_begin", spoil)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rb.SoftMarginClassifier(checkpoint=path).fit(X, y)
        monkeypatch.setattr(SoftMargin, "_begin", begin)
        with pytest.raises(CheckpointError, match="does not hold the state of such a run"):
            rb.SoftMarginClassifier(checkpoint=rb.Checkpoint(path, resume=True)).fit(X, y)
