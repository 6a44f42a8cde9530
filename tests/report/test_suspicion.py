"""What speaks against the class of a row, and how it is ranked."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import rosenblatt as rb
from rosenblatt.report import suspicion
from rosenblatt.report.suspicion import Evidence, gather
from rosenblatt.validation.plans import stratified


def evidence_of(X, y, parts=1, seed=0):
    return gather(X, y, stratified(y, 5, seed), stratified(y, parts, seed), seed)


def test_flipped_labels_of_separable_data_come_first():
    clean = rb.datasets.known_margin(200, 3, margin=0.3, random_state=0)
    data = rb.datasets.flip_labels(clean, 0.05, random_state=1)
    y = (data.y > 0).astype(int)
    for X in (data.X, csr_matrix(data.X)):
        found = evidence_of(X, y)
        first = np.argsort(-found.suspicion)[: len(data.noisy)]
        assert set(first) == set(data.noisy)
        assert found.suspects[data.noisy].all()
        assert (found.rather[data.noisy] == 1 - y[data.noisy]).all()


def test_exchanged_classes_of_several_are_named():
    random = np.random.default_rng(0)
    true = np.arange(150) % 3
    X = random.normal(size=(150, 2)) + 9 * np.array([(0, 0), (0, 1), (1, 0)])[true]
    y = true.copy()
    wrong = np.array([7, 50, 101])
    y[wrong] = (true[wrong] + 1) % 3
    found = evidence_of(X, y, parts=2)
    assert set(np.argsort(-found.suspicion)[:3]) == set(wrong)
    assert (found.rather[wrong] == true[wrong]).all()
    again = evidence_of(X, y, parts=2)
    assert all(np.array_equal(part, again.parts[name]) for name, part in found.parts.items())


def test_a_class_too_rare_for_every_part():
    X, y = np.random.default_rng(1).normal(size=(60, 2)), np.zeros(60, dtype=int)
    y[[10, 40]] = 1
    X[[10, 40]] += 20
    found = evidence_of(X, y, parts=4)
    assert not found.suspects.any()
    X[10] -= 20  # among the others
    found = evidence_of(X, y, parts=4)
    assert found.suspects[10]
    assert found.suspicion.argmax() == 10


def naive_vote(X, y, i):
    """Of the rows identical with row i: those of the strongest other class, less its own."""
    same = [y[j] for j in range(len(y)) if j != i and (X[j] == X[i]).all()]
    others = [same.count(label) for label in set(same) - {y[i]}]
    return (max(others, default=0) - same.count(y[i])) / max(1, len(same))


def test_identical_rows_vote():
    random = np.random.default_rng(3)
    X, y = random.integers(0, 3, size=(40, 2)).astype(float), np.arange(40) % 3
    found = evidence_of(X, y)
    assert found.twins == pytest.approx([naive_vote(X, y, i) for i in range(40)])
    outvoted = found.twins > 0
    assert outvoted.any()
    assert found.suspects[outvoted].all()
    for i in np.flatnonzero(outvoted):
        same = [y[j] for j in range(40) if (X[j] == X[i]).all()]
        rivals = [same.count(label) for label in range(3) if label != y[i]]
        assert same.count(found.rather[i]) == max(rivals)
        assert found.rather[i] != y[i]


def test_suspicion_is_the_mean_rank():
    rising, flat = np.array([1.0, 2.0, 3.0, 4.0]), np.zeros(4)
    found = Evidence(rising, rising, rising, rising, flat, np.zeros(4, dtype=int))
    assert found.suspicion == pytest.approx((4 * np.array([0.125, 0.375, 0.625, 0.875]) + 0.5) / 5)
    both = Evidence(rising - 2, 3 - rising, flat, flat, flat, np.zeros(4, dtype=int))
    assert both.suspects.tolist() == [False, False, False, False]


def test_without_time_hyperplanes_come_first_and_the_rest_is_told(monkeypatch):
    clean = rb.datasets.known_margin(300, 3, margin=0.3, random_state=0)
    data = rb.datasets.flip_labels(clean, 0.05, random_state=1)
    y = (data.y > 0).astype(int)
    whole = evidence_of(data.X, y)
    assert (whole.judged, whole.left_out, whole.stopped) == (None, (), False)

    class Clock(suspicion.Cancel):
        """It asks when it has been looked at so often."""

        looks = 0

        @property
        def asked(self):
            self.looks += 1
            return self.looks > most

    monkeypatch.setattr(suspicion, "Cancel", Clock)
    monkeypatch.setattr(suspicion, "BLOCK", 4)
    for most in (0, 5, 9, 40, 100, 10_000):
        found = evidence_of(data.X, y)
        judged = np.ones(300, bool) if found.judged is None else found.judged
        if most < 6:
            assert not judged.any()
            assert not found.suspects.any()
        known = found.kernel[judged] > 0
        assert np.array_equal(known, whole.kernel[judged] > 0)
        assert not found.suspects[~judged].any()
        if most == 40:  # those that hyperplanes have wrong before all others
            assert judged[whole.hyperplane > 0].all()
            assert set(data.noisy) == set(np.flatnonzero(found.suspects))
            assert found.left_out == ("slack", "mistakes")
    assert all(np.array_equal(part, whole.parts[name]) for name, part in found.parts.items())


def test_ctrl_c_leaves_what_is_done(monkeypatch):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 2)), np.arange(60) % 2

    def stop(what, done, total):
        if what.startswith(at):
            raise KeyboardInterrupt

    def told():
        return gather(X, y, stratified(y, 5, 0), stratified(y, 1, 0), tell=stop)

    at = "fold 2"
    with pytest.raises(KeyboardInterrupt):
        told()
    at = "measuring"
    found = told()
    assert found.stopped
    assert found.judged is None
    assert found.left_out == ("slack", "mistakes")
