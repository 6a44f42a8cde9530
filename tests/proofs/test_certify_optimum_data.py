"""Checking an optimum: containers, weights, difficult data, and its conditions."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix

import rosenblatt as rb
from reference_optimum import (
    LINE,
    LINE_BEST,
    TWO_BEST,
    accepted,
    canonical,
    claimed,
    exact_primal,
    hard_by_svc,
    hard_example,
    noisy,
    problems,
    refused,
    separated,
    soft_by_svc,
    soft_example,
)
from rosenblatt.exact import margin_of
from rosenblatt.proofs import duality
from rosenblatt.proofs.optimum import optimum_conditions
from rosenblatt.results import Conditions, Optimum

check, conditions = rb.certify.check, rb.certify.conditions
Plane = rb.Hyperplane


# ------------------------------------------------------------------------------------ containers


def test_however_the_samples_are_stored():
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, (80, 4)).astype(float)
    y = np.where(X @ [1, 2, 0, -1] + rng.standard_normal(80) > 0, 1, -1)
    optimum = soft_by_svc(X, y, 20.0)
    found = conditions(optimum, X, y)
    long = csr_matrix(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for other in (
        X.astype(np.float32), X.astype(int), X.astype(np.int8), X.copy("F"), X[:, ::-1][:, ::-1],
        pd.DataFrame(X), csr_array(X), csr_matrix(X), long, coo_array(X),
        csr_array(X.astype(np.float32)), csr_array(X.astype(int)),
    ):  # fmt: skip
        accepted(optimum, other, y)
        refused(replace(optimum, dual=optimum.dual + 2e-9 * optimum.primal), other, y, "dual")
        again = conditions(optimum, other, y)
        for name, value in vars(found).items():
            assert getattr(again, name) == pytest.approx(value, rel=1e-6, abs=1e-13)
    accepted(optimum, X, np.where(y > 0, "yes", "no"))


@pytest.mark.parametrize("entries", [1, 7, 64])
def test_in_blocks_of_any_size(monkeypatch, entries):
    from rosenblatt.exact import blocks as module

    X, y = noisy()
    optimum = soft_by_svc(X, y, 20.0)
    monkeypatch.setattr(module, "ENTRIES", entries)
    for data in (X, csr_array(X)):
        accepted(optimum, data, y)
        assert conditions(optimum, data, y).gap < 1e-8
        problem = duality.Judged(data, y, None, 20.0)
        theta = np.append(optimum.hyperplane.w, optimum.hyperplane.b)
        for precise in (False, True):
            low, high = duality.objective(problem, theta, precise)
            assert low <= exact_primal(X, y, optimum) <= high
            bound = duality.feasible(problem, optimum.support, optimum.multipliers, 1.0, precise)
            assert bound.dual(bound.most) == pytest.approx(optimum.dual, rel=1e-12)


def test_samples_are_left_as_they_are():
    X, y = noisy()
    optimum = soft_by_svc(X, y, 20.0)
    X.setflags(write=False)
    sparse = csr_array(X)
    sparse.data.setflags(write=False)
    accepted(optimum, X, y)
    accepted(optimum, sparse, y)


# --------------------------------------------------------------------------------------- weights


def test_whole_weights_are_repeated_rows():
    X, y = noisy(40)
    rng = np.random.default_rng(1)
    s = rng.integers(0, 4, 40).astype(float)
    optimum = soft_by_svc(X, y, 25.0, s)
    accepted(optimum, X, y, s)
    refused(optimum, X, y, "exceeds its bound|primal")
    times = np.repeat(np.arange(40), s.astype(int))
    share = optimum.multipliers / s[optimum.support]
    every = np.zeros(40)
    every[optimum.support] = share
    rows = np.flatnonzero(every[times])
    repeated = replace(optimum, support=rows, multipliers=every[times][rows])
    accepted(repeated, X[times], y[times])
    one, other = conditions(optimum, X, y, s), conditions(repeated, X[times], y[times])
    for name, value in vars(one).items():
        assert getattr(other, name) == pytest.approx(value, abs=1e-12)
    # Only their ratios matter.
    for factor in (3.0, 1e-300, 1e300):
        accepted(optimum, X, y, s * factor)


def test_a_sample_without_weight_has_no_say():
    X, y = LINE
    s = np.array([1.0, 0.0, 2.0])
    # Without the sample in the middle the margin is 5/2.
    best = Optimum(Plane([0.4], -1.0), [0, 2], [0.08, 0.08], None, 0.08, 0.08)
    assert accepted(best, X, y, s).endswith("(this one: 2.5)")
    refused(best, X, y, "sample 1 lies on the wrong side")
    refused(LINE_BEST, X, y, "sample 1 has a multiplier, but its weight is 0", s)
    # Sample 2 is on the wrong side, and is counted as in the data.
    refused(replace(best, hyperplane=Plane([0.1], -1.0)), X, y, "sample 2 lies on the wrong", s)
    assert conditions(best, X, y, s).feasibility == 0
    assert conditions(best, X, y).feasibility == pytest.approx(1.2)
    soft = replace(LINE_BEST, C=9.0)
    refused(soft, X, y, "sample 1 has a multiplier, but its weight is 0", s)
    assert conditions(soft, X, y, s).feasibility == np.inf


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1.0], r"sample_weight has shape \(2,\): give one number for each of 3 samples"),
        ([[1.0], [1.0], [1.0]], r"sample_weight has shape \(3, 1\)"),
        ([1.0, -1.0, 1.0], "negative or not finite"),
        ([1.0, np.nan, 1.0], "negative or not finite"),
        ([1.0, np.inf, 1.0], "negative or not finite"),
        ([0, 0, 0], "sample_weight is 0 for every sample"),
        (["1", "1", "1"], "sample_weight has dtype"),
    ],
)
def test_weights_that_are_none(weights, message):
    X, y = LINE
    for function in (check, conditions):
        with pytest.raises(ValueError, match=message) as caught:
            function(LINE_BEST, X, y, weights)
        assert "\n" not in str(caught.value)


def test_a_verdict_knows_no_weights():
    proof = rb.Separable(Plane([1.0], -1.0), 1.0)
    assert check(proof, *LINE)
    with pytest.raises(ValueError, match="sample_weight is for an Optimum: leave it out"):
        check(proof, *LINE, np.ones(3))


# --------------------------------------------------------------------------------- difficult data


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("store", [np.asarray, csr_array])
def test_columns_far_from_the_origin(scale, store):
    X, y, _ = separated(200, 3)
    grid = np.round(X * 2**20) / 2**20
    for optimum in (hard_by_svc(grid, y), soft_by_svc(grid, y, 50.0)):
        w, b = optimum.hyperplane.w, optimum.hyperplane.b
        far = (grid + 1e8) * scale
        # Powers of ten are no floats: this hyperplane is a little worse, and so it says.
        moved = Plane(w / scale, b - 1e8 * w.sum())
        if optimum.C is None:
            smallest = margin_of(far, y, [*moved.w, moved.b]) * moved.norm
            moved = Plane(moved.w / smallest, moved.b / smallest)
        C = None if optimum.C is None else optimum.C / scale**2
        alpha = optimum.multipliers / scale**2
        again = claimed(moved, optimum.support, alpha, C, store(far), y)
        accepted(again, store(far), y)
        assert again.gap < 1e-5
        assert again.dual * scale**2 == pytest.approx(optimum.dual, rel=1e-6)
        refused(replace(again, dual=again.dual + 1e-6 * again.primal), store(far), y, "dual")
        refused(replace(again, primal=again.primal * (1 + 1e-6)), store(far), y, "primal")
        if C is None:
            twice = Plane(moved.w * (1 + 1e-3), moved.b * (1 + 1e-3))
            refused(replace(again, hyperplane=twice), store(far), y, "canonical")


def test_columns_of_very_different_scale():
    X, y = noisy(80, 4)
    scale = np.array([1e-6, 1.0, 1e3, 1e6])
    optimum = soft_by_svc(X, y, 10.0)
    # Stretching a column shrinks its weight: neither value is what it was, both are proved.
    plane = Plane(optimum.hyperplane.w / scale, optimum.hyperplane.b)
    again = claimed(plane, optimum.support, optimum.multipliers, 10.0, X * scale, y)
    accepted(again, X * scale, y)
    assert again.primal == pytest.approx(float(exact_primal(X * scale, y, again)), rel=1e-10)


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_scaling_all_samples_scales_the_proof(scale):
    X, y, _ = separated()
    two = scale * X
    optimum = hard_by_svc(X, y)
    plane = canonical(Plane(optimum.hyperplane.w / scale, optimum.hyperplane.b), two, y)
    again = claimed(plane, optimum.support, optimum.multipliers / scale**2, None, two, y)
    accepted(again, two, y)
    assert again.margin == pytest.approx(optimum.margin * scale, rel=1e-12)
    assert again.gap == pytest.approx(optimum.gap, abs=1e-12)


def test_a_margin_of_a_billionth():
    # Far apart in one column, a billionth in the other: the nearest samples are 0 and 1.
    tiny = 2.0**-30
    X = np.array([[0.0, 0.0], [0.0, 2 * tiny], [1e3, -1.0], [-1e3, 1.0]])
    y = np.array([-1, 1, -1, 1])
    plane = Plane([0.0, 1 / tiny], -1.0)
    alpha = 0.5 / tiny**2
    optimum = Optimum(plane, [0, 1], [alpha, alpha], None, alpha, alpha)
    accepted(optimum, X, y)
    assert optimum.margin == tiny
    assert conditions(optimum, X, y).gap <= 1e-15
    refused(replace(optimum, dual=alpha * (1 + 1e-8)), X, y, "dual value is at most")
    soft = claimed(plane, [0, 1], [alpha, alpha], 2.0**64, X, y)
    accepted(soft, X, y)
    assert soft.gap < 1e-12


def test_a_large_C_counts_the_last_bits_of_the_slacks():
    X, y, _ = separated()
    optimum = hard_by_svc(X, y)
    plane = Plane(optimum.hyperplane.w * (1 - 1e-13), optimum.hyperplane.b)
    again = claimed(plane, optimum.support, optimum.multipliers, 1e15, X, y)
    exact = exact_primal(X, y, again)
    assert exact > 1.001 * optimum.primal
    assert again.primal == pytest.approx(float(exact), rel=1e-10)
    accepted(again, X, y)


def test_numbers_beyond_floats_are_refused_and_do_not_raise():
    X = np.array([[1e300, 1.0], [-1e300, -1.0]])
    y = np.array([1, -1])
    plane = Plane([1e300, 1.0], 0.0)
    for C in (None, 1e300):
        optimum = Optimum(plane, [0, 1], [1e300, 1e300], C, 1e300, 1e300)
        refused(optimum, X, y)
    small = Optimum(Plane([1e-300, 0.0], 0.0), [0, 1], [5e-324, 5e-324], 1.0, 1.0, 1.0)
    refused(small, X, y)


# ------------------------------------------------------------------------------------ conditions


def naive_conditions(optimum, X, y, s=None):
    """Straight from the definitions, with every number in a list."""
    n, w, b, C = len(y), optimum.hyperplane.w, optimum.hyperplane.b, optimum.C
    s = np.ones(n) if s is None else s
    alpha = dict(zip(optimum.support.tolist(), optimum.multipliers.tolist(), strict=True))
    value = [y[i] * (sum(X[i] * w) + b) for i in range(n)]
    xi = [max(0.0, 1 - v) if C else 0.0 for v in value]
    u = sum(a * y[i] * X[i] for i, a in alpha.items())
    missed = sum(a * abs(value[i] - 1 + xi[i]) for i, a in alpha.items())
    primal = 0.5 * sum(w * w)
    off = [0.0]
    if C:
        c = C * s / sum(s)
        primal += sum(c * xi)
        missed += sum((c[i] - alpha.get(i, 0.0)) * xi[i] for i in range(n))
        off += [a / c[i] - 1 for i, a in alpha.items()]
    else:
        off += [1 - value[i] for i in range(n) if s[i] > 0]
    total = sum(alpha.values())
    gap = (primal - (total - 0.5 * sum(u * u))) / primal
    return Conditions(
        max(off),
        abs(sum(a * y[i] for i, a in alpha.items())) / total,
        np.sqrt(sum((w - u) ** 2) / sum(w * w)),
        missed / primal,
        max(0.0, gap),
    )


@given(problems(), st.booleans(), st.booleans())
def test_conditions_are_what_they_say(problem, hard, sparse):
    X, y, s, C, alpha, plane = problem
    rows = np.flatnonzero(alpha > np.median(alpha) / 2)
    if len(set(y[rows])) == 1:
        rows = np.arange(len(y))
    optimum = Optimum(plane, rows, 1.5 * alpha[rows], None if hard else C, 1.0, 1.0)
    expected = naive_conditions(optimum, X, y, s)
    data = csr_array(X) if sparse else X
    inner = optimum_conditions(optimum, data, y.astype(float), s)
    for found in (conditions(optimum, data, y, s), inner):
        for name, value in vars(expected).items():
            assert getattr(found, name) == pytest.approx(value, rel=1e-6, abs=1e-9), name
            assert type(getattr(found, name)) is float


def test_conditions_need_an_optimum_that_fits():
    X, y = LINE
    for other, message in (
        (rb.Separable(Plane([1.0], -1.0), 1.0), "Separable is not an Optimum"),
        (TWO_BEST, "hyperplane has 2 weights instead of 1"),
        (replace(LINE_BEST, support=[0, 9]), "support names samples that do not exist"),
    ):
        with pytest.raises(ValueError, match=message):
            conditions(other, X, y)


# ----------------------------------------------------------------------------------------- files


def test_what_is_loaded_is_as_good_as_what_was_saved(tmp_path):
    for optimum, X, y in (soft_example(), hard_example()):
        rb.io.save_certificate(optimum, tmp_path / "c.json", X, y)
        again = rb.io.load_certificate(tmp_path / "c.json")
        assert check(again, X, y) == check(optimum, X, y)
        (problem,) = json.loads((tmp_path / "c.json").read_text())["problems"]
        assert problem["kind"] == "OPTIMUM"
