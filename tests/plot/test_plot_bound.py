"""The picture of a run beside its bound."""

import math

import numpy as np
import pytest

import rosenblatt as rb
from reference import recorded as fit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# ----------------------------------------------------------------------------------- the picture


@pytest.mark.parametrize("shift", [0.3, 2.0])
def test_the_words_are_clear_of_the_curves(shift):
    """Where no line separates, the lower curve climbs steeply just before the bound."""
    y = np.where(np.arange(120) % 2, 1, -1)
    X = np.random.default_rng(0).normal(size=(120, 2)) + shift * y[:, np.newaxis]
    y[:3] *= -1
    report = fit(X, y, max_epochs=20).bound_report(X, y)
    assert report.bound.shortfall > 0
    ax = rb.plot.bound(report)
    ax.figure.canvas.draw()
    box = find(ax, "bound text").get_window_extent()
    for gid in ("most", "least"):
        for line in ax.findobj(lambda artist, gid=gid: artist.get_gid() == gid):
            points = line.get_transform().transform(line.get_xydata())
            assert not box.count_contains(points)


def find(ax, gid):
    (artist,) = ax.findobj(lambda a: a.get_gid() == gid)
    return artist


@pytest.mark.parametrize("far", [True, False])
def test_the_wedge_closes_at_the_bound(far):
    if far:
        X, y = rb.datasets.known_margin(200, 3, margin=0.05, random_state=0)
    else:
        X, y = np.eye(16), [1, -1] * 8
    report = fit(X, y, fit_intercept=far).bound_report(X, y)
    ax = rb.plot.bound(report)
    assert ax.get_xscale() == ("log" if far else "linear")
    meet = find(ax, "bound").get_xydata()[0]
    high = report.bound.R * math.sqrt(report.bound.bound)
    assert meet == pytest.approx([report.bound.bound, high])
    for gid in ("most", "least"):
        assert find(ax, gid).get_xydata()[-1] == pytest.approx(meet, rel=1e-6)
    end = [report.n_mistakes, math.sqrt(report.length2[-1])]
    assert find(ax, "end").get_xydata()[0] == pytest.approx(end)
    path = find(ax, "length").get_xydata()
    np.testing.assert_allclose(path[:, 1] ** 2, report.length2[report.mistakes >= path[0, 0]])
    (low, top), (left, right) = ax.get_ylim(), ax.get_xlim()
    assert low < end[1] < top
    assert left <= end[0] <= right
    assert left < meet[0] < right
    texts = {find(ax, gid).get_text() for gid in ("bound text", "end text")}
    assert texts == {f"at most {report.bound.most}", f"{report.n_mistakes} made"}


def test_pictures_of_other_runs():
    X, y = rb.datasets.xor()
    ax = rb.plot.bound(fit(X, y).bound_report(X, y))
    assert not ax.findobj(lambda a: a.get_gid() in ("least", "progress"))
    X, y = rb.datasets.eight_points()
    report = fit(X, y, init=[1.0, 1.0, 0.0]).bound_report(X, y)
    ax = rb.plot.bound(report)
    assert not ax.findobj(lambda a: a.get_gid() == "end")
    axes = rb.plot.bound([report] * 4)
    assert len(axes) == 4
    assert axes[0].get_title() == "1 against the rest"
    assert rb.plot.bound(report, ax=ax) is ax
    assert rb.plot.bound([report], ax=[ax])[0] is ax


@pytest.mark.parametrize("wrong", [None, "report", [], [1, 2]])
def test_pictures_need_reports(wrong):
    with pytest.raises(ValueError, match="cannot be drawn"):
        rb.plot.bound(wrong)


def test_a_picture_needs_as_many_axes_as_reports():
    X, y = rb.datasets.eight_points()
    report = fit(X, y).bound_report(X, y)
    ax = rb.plot.bound(report)
    with pytest.raises(ValueError, match="1 axes, but there are 2 reports"):
        rb.plot.bound([report, report], ax=[ax])
