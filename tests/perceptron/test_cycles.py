"""Cycles explained: the way round by a naive replay, and why, beside the verdict on the data."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

import reference
import rosenblatt as rb
from reference import augment
from rosenblatt.perceptron import cycles
from rosenblatt.perceptron.cycles import cancels
from rosenblatt.results import Separable, StopReason, Undecided

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Separable (by 2·x1 - x2 = 0), but beside 1e17 the updates with the small samples are lost.
LOPSIDED = np.array([[1e17, 1e17], [1.0, 3.0], [-1.0, -3.0]]), np.array([1, -1, 1])
RULES = [
    {"update": "online"},
    {"update": "batch"},
    {"update": "minibatch", "batch_size": 2},
    {"update": "mixed", "shards": 2},
    {"update": "online", "order": "worst-mistake"},
]


def lap(model, X, y, weight=None):
    """One cycle from where the run ended, by the textbook loop."""
    Xt, theta = augment(X, model.fit_intercept), np.append(last(model).w, last(model).b)
    period, n = model.certificate_.period, len(y)
    if model.order == "worst-mistake":
        return reference.picked(Xt, y, period, theta, np.argmin, model.eta0, weight)
    rows = reference.orders("cyclic", n, period)
    if model.update == "online":
        return reference.online(Xt, y, rows, theta, model.eta0, weight)
    if model.update == "mixed":
        return reference.mixed(Xt, y, rows, theta, model.shards, model.eta0, weight)
    size = model.batch_size or n
    return reference.minibatch(Xt, y, rows, theta, size, model.eta0, weight)


def last(model):
    return model.fits_[0].last


def vectors(planes):
    return np.array([np.append(plane.w, plane.b) for plane in planes])


def assert_is_the_lap(report, model, X, y, weight=None):
    path, Xt = lap(model, X, y, weight), augment(X)
    ends = np.array(path.thetas)[np.array(path.updates_until) - 1]
    assert np.array_equal(vectors(report.hyperplanes), ends)
    assert report.hyperplanes[-1] == last(model)
    assert report.mistakes.tolist() == path.mistakes
    assert report.errors.tolist() == [reference.errors(Xt, y, theta) for theta in ends]
    best, _ = reference.pocket(path, Xt, y, weight)
    assert np.array_equal(vectors([report.best])[0], best)
    assert report.best_errors == reference.errors(Xt, y, best)
    assert (
        report.counts.tolist()
        == np.bincount([i for _, i, _ in path.log], minlength=len(y)).tolist()
    )


def exact_means(X, y, counts):
    """The means of the mistakes of either class, in rational numbers."""
    means = []
    for label in (-1, 1):
        own = np.flatnonzero(y == label)
        total = int(counts[own].sum())
        columns = np.asarray(X)[own].T
        means.append([
            sum(int(c) * Fraction(v) for c, v in zip(counts[own], column, strict=True)) / total
            for column in columns.tolist()
        ])  # fmt: skip
    return means


# The way round --------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: "-".join(map(str, rule.values())))
def test_the_way_round_is_the_textbooks(rule):
    rng = np.random.default_rng(1)
    long = 0
    for _ in range(20):
        X = rng.integers(-2, 3, (6, 2)).astype(float)
        y = np.array([1, -1, 1, -1, 1, -1])
        start = np.append(rng.integers(-3, 4, 2), 0.0)
        model = rb.Perceptron(**rule, init=start).fit(X, y)
        if model.certificate_ is None:
            continue
        report = model.cycle_report(X, y)
        assert (report.entry, report.period) == (
            model.certificate_.entry,
            model.certificate_.period,
        )
        assert_is_the_lap(report, model, X, y)
        assert report.cancels
        assert report.separable is False
        assert report.certificate.verdict in (rb.Verdict.INSEPARABLE, rb.Verdict.QUASI_SEPARABLE)
        long += report.period > 1
    assert long > 5


@pytest.mark.parametrize("keep", ["last", "pocket", "average"])
def test_whatever_is_kept(keep):
    X, y = np.array([[-1.0], [0.0], [1.0], [0.5]]), np.array([-1, 1, -1, 1])
    model = rb.Perceptron(keep=keep, record=True, tol=1e-300, max_epochs=60).fit(X, y)
    assert model.stop_reason_ is StopReason.CYCLE
    report = model.cycle_report(X, y)
    assert_is_the_lap(report, model, X, y)
    assert len(model.trace_) == report.entry + report.period  # the fit itself is as it was


def test_a_cycle_is_a_meeting_point():
    """Mistakes of either class, as often as they are made, have one mean: in both hulls."""
    rng = np.random.default_rng(4)
    X = rng.integers(-3, 4, (12, 3)) / 4
    y = np.where(np.arange(12) % 2, 1, -1)
    report = rb.Perceptron(max_epochs=5000).fit(X, y).cycle_report(X, y)
    assert report.cancels
    below, above = exact_means(X, y, report.counts)
    assert below == above


def test_weights_and_rate():
    X, y = rb.datasets.xor()
    weight = np.array([1.0, 2.0, 0.5, 0.25])
    model = rb.Perceptron(eta0=0.5).fit(X, y, weight)
    report = model.cycle_report(X, y, weight)
    assert_is_the_lap(report, model, X, y, weight)
    assert report.cancels
    with pytest.raises(ValueError, match="give the X, y and sample_weight that were given to fit"):
        model.cycle_report(X, y)


def test_samples_without_weight_do_not_count():
    """Sample 2 would make the classes inseparable; without it only rounding is to blame."""
    X, y = np.array([[1.0], [-1.0], [-1.0]]), np.array([1, -1, 1])
    weight = np.array([1.0, 1.0, 0.0])
    model = rb.Perceptron(init=[-1e17, 0.0]).fit(X, y, weight)
    report = model.cycle_report(X, y, weight)
    assert report.separable
    assert report.certificate.verdict is rb.Verdict.SEPARABLE


def test_support_is_numbered_as_in_the_data():
    X = np.array([[5.0], [-1.0], [0.0], [1.0]])
    y, weight = np.array([-1, -1, 1, -1]), np.array([0.0, 1.0, 1.0, 1.0])
    report = rb.Perceptron().fit(X, y, weight).cycle_report(X, y, weight)
    assert report.certificate.support.tolist() == [1, 2, 3]


def test_one_class_without_weight():
    X, y = np.array([[1.0], [-1.0], [0.0]]), [0, 0, 1]
    model = rb.Perceptron(fit_intercept=False).fit(X, y, [1.0, 1.0, 0.0])
    with pytest.raises(ValueError, match="are of one class"):
        model.cycle_report(X, y, [1.0, 1.0, 0.0])


def test_dense_sparse_and_blocks_agree(in_blocks):
    rng = np.random.default_rng(7)
    X, y = rng.integers(-2, 3, (9, 3)).astype(float), np.where(np.arange(9) % 2, 1, -1)
    whole = rb.Perceptron(max_epochs=5000).fit(X, y).cycle_report(X, y)
    in_blocks(4)
    for data in (X, csr_matrix(X)):
        part = rb.Perceptron(max_epochs=5000).fit(data, y).cycle_report(data, y)
        assert np.array_equal(vectors(part.hyperplanes), vectors(whole.hyperplanes))
        assert np.array_equal(part.counts, whole.counts)
        assert (part.cancels, part.best_errors) == (True, whole.best_errors)


def test_several_classes():
    X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
    y = np.array(["left", "left", "middle", "right", "right"])
    model = rb.Perceptron().fit(X, y)
    first, middle, last = model.cycle_report(X, y)
    assert first is None
    assert last is None
    assert middle.positive == "middle"
    assert middle.certificate.support.tolist() == [1, 2, 3]
    values = X * middle.best.w + middle.best.b
    assert middle.best_errors == np.sum((values[:, 0] > 0) != (y == "middle"))


# Why ------------------------------------------------------------------------------------------


def test_xor():
    X, y = rb.datasets.xor()
    report = rb.Perceptron().fit(X, y).cycle_report(X, y)
    assert (report.entry, report.period) == (0, 1)
    assert report.counts.tolist() == [1, 1, 1, 1]
    assert report.cancels
    assert report.certificate.verdict is rb.Verdict.INSEPARABLE
    assert report.certificate.point.tolist() == [0.5, 0.5]
    assert "(samples 0, 1, 2, 3): no hyperplane separates them" in report.why
    assert "Block and Levin 1970" in report.why
    lines = str(report).splitlines()
    assert lines[0] == "cycle     the weights after epoch 0 come back every epoch"
    assert lines[1] == "mistakes  4 in one cycle; their updates cancel exactly"
    assert lines[2] == "errors    2 of 4 training errors at its end; 2 at best on the way round"
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (LOPSIDED, {}),
        (LOPSIDED, {"fit_intercept": False}),
        ((np.array([[1.0], [-1.0]]), np.array([1, -1])), {"init": [-1e17, 0.0]}),
    ],
    ids=["lopsided", "without a bias", "far start"],
)
def test_rounding_can_be_the_cause(data, options):
    X, y = data
    model = rb.Perceptron(**options).fit(X, y)
    assert model.stop_reason_ is StopReason.CYCLE
    report = model.cycle_report(X, y)
    assert report.separable
    assert not report.cancels
    assert report.certificate.verdict is rb.Verdict.SEPARABLE
    assert "rounding made the weights repeat" in report.why
    assert "cancel only by rounding" in str(report)
    assert ("through the origin" in report.why) == (not model.fit_intercept)


def test_rounding_may_take_part_where_nothing_separates():
    X = np.array([[1e17], [1.0], [-1.0], [0.5], [-0.5]])
    y = np.array([1, -1, 1, -1, 1])
    model = rb.Perceptron(max_epochs=50).fit(X, y)
    report = model.cycle_report(X, y)
    assert not report.cancels
    assert report.separable is False
    assert "no hyperplane separates them" in report.why


def test_without_a_bias_the_origin_can_be_the_cause():
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([-1, 1, 1])
    report = rb.Perceptron(fit_intercept=False).fit(X, y).cycle_report(X, y)
    assert report.certificate.verdict is rb.Verdict.SEPARABLE
    assert report.separable is False
    assert "No hyperplane through the origin" in report.why


def test_without_a_bias_and_by_rounding_the_samples_are_mirrored():
    """1e17 hides that no line through the origin separates; the updates do not show it."""
    X = np.array([[1e17, 1e17], [1.0, 3.0], [1.5, 4.5]])
    y = np.array([1, -1, 1])
    model = rb.Perceptron(fit_intercept=False).fit(X, y)
    report = model.cycle_report(X, y)
    assert not report.cancels
    assert report.certificate.verdict is rb.Verdict.SEPARABLE
    assert report.separable is False


def test_out_of_time(monkeypatch):
    given = []

    def undecided(source, team, positive, clock):
        given.append(clock.left())
        return Undecided((-1.0, 1.0))

    monkeypatch.setattr(cycles, "proved", undecided)
    X, y = LOPSIDED
    report = rb.Perceptron().fit(X, y).cycle_report(X, y, max_time=5.0)
    assert len(given) == 1
    assert 0 < given[0] <= 5.0
    assert report.separable is None
    assert "time ran out" in report.why
    X, y = rb.datasets.xor()  # here the cycle itself is proof enough
    report = rb.Perceptron().fit(X, y).cycle_report(X, y, max_time=5.0)
    assert report.separable is False
    assert "The updates of one cycle cancel exactly" in report.why


# Lines that say what is wrong -----------------------------------------------------------------


def test_only_cycles_are_explained():
    X, y = rb.datasets.eight_points()
    with pytest.raises(ValueError, match="ended with SEPARATED: only one that ended with CYCLE"):
        rb.Perceptron().fit(X, y).cycle_report(X, y)
    with pytest.raises(NotFittedError):
        rb.Perceptron().cycle_report(X, y)


def test_other_data_are_refused():
    X, y = rb.datasets.xor()
    model = rb.Perceptron().fit(X, y)
    with pytest.raises(ValueError, match="do not repeat the cycle of the fit"):
        model.cycle_report(2 * X + 1, y)
    with pytest.raises(ValueError, match="y holds 7"):
        model.cycle_report(X, [7, 1, 1, -1])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: "-".join(map(str, rule.values())))
def test_a_record_tells_other_data(rule):
    """XOR scaled, or with its labels swapped, comes back to zero as XOR itself does."""
    X, y = rb.datasets.xor()
    model = rb.Perceptron(**rule, record=True).fit(X, y)
    assert model.cycle_report(X, y).entry == model.certificate_.entry
    others = [(X, -y)]
    if rule["update"] != "batch":  # which never leaves zero, whatever the scale
        others.append((2 * X, y))
    for other in others:
        with pytest.raises(ValueError, match="do not repeat the cycle of the fit"):
            model.cycle_report(*other)


def test_training_errors_tell_other_data():
    X, y = np.array([[-1.0], [2.0], [0.0], [-2.0]]), np.array([1, -1, 1, -1])
    model = rb.Perceptron(keep="average").fit(X, y)
    assert (model.stop_reason_, model.n_errors_) == (StopReason.CYCLE, 1)
    with pytest.raises(ValueError, match="do not repeat the cycle of the fit"):
        model.cycle_report(X, -y)  # the same mistakes in its epoch, but three training errors


def test_mistakes_of_an_epoch_tell_other_data():
    X, y = np.array([[1.0], [1.0], [1.0]]), np.array([1, -1, -1])
    model = rb.Perceptron(init=[-1e17, -1e17]).fit(X, y)
    assert (model.stop_reason_, model.trace_.mistakes.tolist()) == (StopReason.CYCLE, [1])
    both = rb.Perceptron(init=[-1e17, -1e17]).fit(X, [1, 1, -1])
    assert both.trace_.mistakes.tolist() == [2]  # rounding hides the updates
    model.n_errors_ = both.n_errors_
    with pytest.raises(ValueError, match="do not repeat the cycle of the fit"):
        model.cycle_report(X, [1, 1, -1])


def test_a_report_cannot_be_changed():
    X, y = rb.datasets.xor()
    report = rb.Perceptron().fit(X, y).cycle_report(X, y)
    with pytest.raises(ValueError, match="read-only"):
        report.counts[0] = 5
    with pytest.raises(AttributeError):
        report.entry = 3


# Exact sums -----------------------------------------------------------------------------------

FLOATS = st.one_of(
    st.integers(-4, 4).map(float),
    st.sampled_from([0.1, -0.1, 0.2, 0.3, -0.3, 1e17, -1e17, 5e-324, -5e-324, 2.0**-60]),
)


@given(st.data())
def test_cancels_is_exact(data):
    n, d = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 2))
    row = st.lists(FLOATS, min_size=d, max_size=d)
    X = np.array(data.draw(st.lists(row, min_size=n, max_size=n)))
    counts = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    sign = st.sampled_from([1.0, -1.0, 0.1, -0.1])
    steps = np.array(data.draw(st.lists(sign, min_size=n, max_size=n)))
    if data.draw(st.booleans()):  # the same again with the other sign: it cancels
        X, counts, steps = np.vstack([X, X]), np.tile(counts, 2), np.append(steps, -steps)
    bias = data.draw(st.booleans())
    factors = [int(c) * Fraction(s) for c, s in zip(counts, steps.tolist(), strict=True)]
    columns = [*X.T.tolist(), *([[1.0] * len(X)] if bias else [])]
    sums = [sum(f * Fraction(v) for f, v in zip(factors, c, strict=True)) for c in columns]
    expected = not any(sums)
    assert cancels(X, counts, steps, bias=bias) == expected
    assert cancels(csr_matrix(X), counts, steps, bias=bias) == expected


def test_no_float_hides_a_remainder():
    """0.1 + 0.2 - 0.3 is not zero in rational numbers, 0.5 + 0.25 - 0.75 is."""
    ones, signs = np.ones(3, np.int64), np.array([1.0, 1.0, -1.0])
    assert not cancels(np.array([[0.1], [0.2], [0.3]]), ones, signs, bias=False)
    assert cancels(np.array([[0.5], [0.25], [0.75]]), ones, signs, bias=False)
    assert not cancels(np.array([[0.5], [0.25], [0.75]]), ones, signs, bias=True)
    assert isinstance(rb.separability([[0.1], [0.2]], [0, 1]), Separable)
