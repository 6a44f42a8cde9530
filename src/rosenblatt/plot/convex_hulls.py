"""Two classes and their convex hulls: apart, touching or overlapping, and how far apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, new_axes
from rosenblatt.plot.lettering import beside, number, out_of, vector
from rosenblatt.plot.plane import chosen, clipped, dots, rings, scatter, size
from rosenblatt.plot.projection import Scene, cast
from rosenblatt.plot.seen import Seen, dense, read_best, read_two
from rosenblatt.plot.style import GREY, INK, Look, colour
from rosenblatt.results import (
    Certificate,
    Hyperplane,
    Inseparable,
    Optimum,
    QuasiSeparable,
    Separable,
    Undecided,
    Verdict,
)

HEADINGS = {
    Verdict.SEPARABLE: "separable: the hulls are apart",
    Verdict.QUASI_SEPARABLE: "quasi-separable: the hulls touch",
    Verdict.INSEPARABLE: "inseparable: the hulls overlap",
    Verdict.UNDECIDED: "undecided",
}
MOST_SHARES = 6  # of more supporting samples the shares are not written beside them
MOST_NEAREST = 8  # nor of more support vectors
CLOSE = 1e-6  # how far, relative to the data, a certificate may be off before it is refused
LETTERS = np.array([26.0, 12.0])  # points: the width and height of a share as it is written
MARGINS = 12  # so many on each side of the hyperplane are in the picture of a shadow


def hulls(
    X: Any,
    y: Any,
    certificate: Certificate | None = None,
    *,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Axes:
    """The convex hulls of two classes, and why a hyperplane does or does not separate them.

    Separable: the hyperplane that proves it and the band of its margin. Otherwise a point that
    lies in both hulls, joined to the samples of which it is the weighted mean; the wider the
    line, the larger the sample's share. Quasi-separable: also the hyperplane that has no sample
    on its wrong side, the samples on it ringed.

    More than two features are drawn as a shadow. Where there is a hyperplane, it is seen from
    its edge, so that the shadows of the hulls are apart exactly as the hulls are. Where the
    classes overlap, so do their shadows in every direction; what proves it is the meeting
    point. One feature is drawn as two rows, one for each class.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n, d)
    y : array of n labels of two classes
    certificate : Separable, QuasiSeparable, Inseparable or Undecided, optional
        What `rosenblatt.separability` said of the same data; None asks it.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.
    feature_names, class_names : sequences of str, optional
        Names to use instead of the table's own and of the labels.

    Returns
    -------
    matplotlib Axes
    """
    if certificate is None:
        from rosenblatt.separation.function import separability

        certificate = separability(X, y)
    if not isinstance(getattr(certificate, "verdict", None), Verdict):
        what = type(certificate).__name__
        msg = f"certificate is a {what}: give what rb.separability returned, or None"
        raise ValueError(msg)
    plane = getattr(certificate, "hyperplane", None)
    needs = "hulls are drawn of two; draw one against the rest"
    seen = read_two(plane, X, y, feature_names, class_names, needs=needs)
    _check_same_data(seen, certificate)
    flat = cast(seen, plane, getattr(certificate, "point", None))
    ax = new_axes(ax, (6.0, 5.6) if seen.X.shape[1] > 1 else (6.4, 3.0))
    scene = Scene(ax, flat.view(ax), seen=seen, flat=flat)
    polygons = _draw_hulls(scene, getattr(certificate, "support", []))
    _draw_proof(scene, certificate, polygons)
    scene.note_scales()
    scene.finish()
    why = f": {certificate.why}" if isinstance(certificate, Undecided) else ""
    scene.legend(HEADINGS[certificate.verdict] + why)
    return ax


def _check_same_data(seen: Seen, certificate: Certificate) -> None:
    """Refuse a certificate of other data, as far as a quick look can tell."""
    fine = True
    if isinstance(certificate, Separable | QuasiSeparable) and seen.n:
        values = seen.signs * seen.planes[0].decision_function(seen.X)
        fine = bool(values.min() >= -CLOSE * np.abs(values).max())
    if fine and isinstance(certificate, QuasiSeparable | Inseparable):
        support, weights = certificate.support, certificate.weights
        fine = certificate.point.shape == (seen.X.shape[1],) and support.max() < seen.n
        if fine:
            rows = dense(seen.X[support])
            room = CLOSE * (np.abs(rows).max() or 1.0)
            for k in range(2):
                own = seen.label[support] == k
                off = np.abs(weights[own] @ rows[own] - certificate.point)
                fine = fine and bool(off.max() <= room)
    if not fine:
        msg = "the certificate is not about these data: give the X and y it was made from, or None"
        raise ValueError(msg)


def hull(points: Floats) -> Floats:
    """The corners of the convex hull in order; two where all points lie on a line."""
    from scipy.spatial import ConvexHull, QhullError

    low, span = points.min(axis=0), np.ptp(points, axis=0)
    unit = (points - low) / np.where(span > 0, span, 1.0)
    try:
        corners: Floats = points[ConvexHull(unit).vertices]
    except (QhullError, ValueError):  # fewer than three points, or all on a line
        ends = np.lexsort(unit.T[::-1])[[0, -1]]
        corners = points[ends] if (points[ends[0]] != points[ends[1]]).any() else points[ends[:1]]
    return corners


def overlap(polygons: list[Floats]) -> Floats:
    """What two convex polygons have in common; empty where one of them is a line or a point."""
    common, other = polygons
    if min(len(common), len(other)) < 3:
        return np.empty((0, 2))
    for k in range(len(other)):
        a, z = other[k - 1], other[k]
        inward = np.array([a[1] - z[1], z[0] - a[0]])  # corners run counter-clockwise
        if len(common):
            common = clipped(common, inward, float(-inward @ a))
    return common


def _draw_hulls(scene: Scene, must: Any) -> list[Floats]:
    """Hulls and samples; of many samples a part, always those that `must` be seen."""
    polygons = [hull(scene.points[scene.seen.label == k]) for k in range(2)]
    for k, corners in enumerate(polygons):
        if len(corners) > 2:
            scene.area(corners, f"hull {k}", facecolor=colour(k), alpha=0.16, zorder=1.2)
        width, alpha = (1.4, 0.75) if len(corners) > 2 else (9.0, 0.3)
        style: Look = {"linewidth": width, "alpha": alpha, "zorder": 1.6}
        style |= {"solid_capstyle": "round", "gid": f"hull edge {k}"}
        scene.ax.plot(*np.vstack([corners, corners[:1]]).T, color=colour(k), **style)
    rows = chosen(scene.seen.n, np.asarray(must, dtype=np.intp))
    scene.samples(rows, alpha=0.85)
    scene.note_part(rows)
    return polygons


def _draw_proof(scene: Scene, proof: Certificate, polygons: list[Floats]) -> None:
    """What proves the verdict, or where the margin is if there is none."""
    if isinstance(proof, Inseparable):
        scene.area(overlap(polygons), "overlap", facecolor=GREY, alpha=0.3, zorder=1.4)
    if isinstance(proof, Separable | QuasiSeparable):
        _hyperplane(scene, proof)
    if isinstance(proof, QuasiSeparable | Inseparable):
        _meeting(scene, proof)
    if isinstance(proof, Undecided):
        low, high = map(number, proof.bracket)
        scene.note("bracket", f"the largest margin is between {low} and {high}")


def _hyperplane(scene: Scene, proof: Separable | QuasiSeparable) -> None:
    """The hyperplane; where it separates its margin, otherwise the samples on it."""
    entries, plane, n = scene.entries, scene.flat.line, scene.seen.n
    if isinstance(proof, QuasiSeparable):
        line, on = scene.line(plane, linestyle=(0, (5, 3))), scene.points[proof.on]
        ring = rings(scene.ax, on, area=size(n), gid="on")
        entries["hyperplane"] = line, "none on its wrong side"
        entries["on"] = ring, f"on it: {out_of(len(on), n)}"
        return
    rounded = "" if proof.exact is None else ", rounded: the exact one is in fractions"
    entries["hyperplane"] = scene.line(plane), f"hyperplane{rounded}"
    if proof.margin > 0:
        entries["band"] = scene.band(plane, proof.margin), f"margin {number(proof.margin)}"
    scene.normal(plane, scene.points)


def _meeting(scene: Scene, proof: QuasiSeparable | Inseparable) -> None:
    """The point in both hulls and the samples it is the mean of, by their shares."""
    ax, seen, point = scene.ax, scene.seen, scene.flat.point
    support, weights = proof.support, proof.weights
    assert point is not None
    area = 1.6 * size(seen.n) + 14
    places, label = scene.points[support], seen.label[support]
    for i, at, k, share in zip(support, places, label, weights, strict=True):
        style: Look = {"color": colour(int(k)), "linewidth": 1.0 + 5.0 * share}
        style |= {"zorder": 4.5, "solid_capstyle": "round", "gid": f"share {i}"}
        (spoke,) = ax.plot(*np.array([point, at]).T, **style)
    here = (np.abs(places - point) <= CLOSE * scene.view.span).all(axis=1)
    nested = here & (label == 0) if len(set(label[here].tolist())) == 2 else np.zeros_like(here)
    for rows, larger in ((nested, 5), (~nested, 1)):  # one class within the other
        style = {"edgecolors": INK, "linewidths": 1.1, "zorder": 6, "area": larger * area}
        scatter(ax, places[rows], label[rows], seen.classes, **style)
    style = {"s": 120, "c": INK, "edgecolors": "white", "linewidths": 0.9, "zorder": 7}
    if here.any():  # around the samples that it would hide
        style = {"s": (24 if nested.any() else 8) * area, "c": "white", "zorder": 5}
        style |= {"edgecolors": INK, "linewidths": 1.2}
    star = dots(ax, point, marker="*", gid="point", **style)
    if len(support) <= MOST_SHARES:
        _shares_around(scene, point, places, proof)
    d = proof.point.size
    where = "" if d > 3 else f": {number(proof.point[0]) if d == 1 else vector(proof.point)}"
    if (weights == 1).all():
        scene.entries["point"] = star, f"a sample of each class lies here{where}"
        return
    scene.entries["point"] = star, f"in both hulls{where}" if where else "a point in both hulls"
    scene.entries["shares"] = spoke, f"{len(support)} samples, their shares"


def _write_share(scene: Scene, at: Floats, offset: Floats, share: float, gid: str) -> None:
    """The share of a sample beside it; not where it is all."""
    style: Look = {"weight": "bold", "zorder": 8, "gid": gid, "annotation_clip": False}
    if share != 1:
        beside(scene.ax, at, offset, number(share, 2), **style)


def _shares_around(scene: Scene, point: Floats, places: Floats, proof: Any) -> None:
    """Each supporting sample's share beside it, on the side away from the meeting point."""
    for i, at, share in zip(proof.support, places, proof.weights, strict=True):
        away = scene.per_unit * (at - point)
        length = float(np.hypot(*away))
        offset = 15 * (away / length if length > 1 else np.array([0.0, 1.0]))
        _write_share(scene, at, offset, share, f"share of {i}")


# Nearest points -------------------------------------------------------------------------------


def nearest(
    model: Any,
    X: Any,
    y: Any,
    *,
    which: Any = None,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Axes:
    """The nearest points of two convex hulls; the maximum-margin hyperplane lies half-way.

    The line that joins the two points is twice as long as the margin, and the hyperplane crosses
    it at a right angle. Each point is a weighted mean of the support vectors of its class, which
    are ringed, with their shares ``α_i/Σα`` beside them if they are few.

    More than two features are drawn as a shadow with the hyperplane seen from its edge, in which
    the hulls are exactly as far apart as they are; samples more than 12 margins away are left
    outside, so that the gap can be seen. One feature is drawn as two rows.

    Parameters
    ----------
    model : fitted MaxMarginClassifier, or Optimum
    X, y : samples and labels
        Those given to `fit`.
    which : label, optional
        Of more than two classes: the one to be drawn with the rest.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.
    feature_names, class_names : sequences of str, optional
        Names to use instead of the model's own.

    Returns
    -------
    matplotlib Axes
    """
    seen, optimum = read_best(model, X, y, which, feature_names, class_names)
    _check_nearest(model, seen, optimum)
    flat = cast(seen, optimum.hyperplane)
    ax = new_axes(ax, (6.0, 5.6) if seen.X.shape[1] > 1 else (6.4, 3.0))
    view = flat.filling(ax)
    if flat.remark:  # the part in which the gap is wide enough to be seen
        across = np.array([MARGINS * optimum.margin, np.inf])
        view = view._replace(low=np.maximum(view.low, -across), high=np.minimum(view.high, across))
    scene = Scene(ax, view, seen=seen, flat=flat)
    _draw_hulls(scene, optimum.support)
    _joined(scene, optimum)
    scene.note_scales()
    scene.note_outside()
    scene.finish()
    scene.legend(f"nearest points of the hulls: {number(2 * optimum.margin)} apart")
    return ax


def _check_nearest(model: Any, seen: Seen, optimum: Optimum) -> None:
    """Refuse what has no nearest points."""
    if optimum.C is not None:
        remedy = "give a fitted rb.MaxMarginClassifier"
        if getattr(model, "nearest_points_", optimum) is None:
            remedy = "no hyperplane separates these data, see rb.plot.hulls"
        what = type(model).__name__
        msg = f"{what} holds a soft margin, which has no nearest points: {remedy}"
        raise ValueError(msg)
    if len(set(seen.label[optimum.support].tolist())) < 2:
        msg = "the fit was stopped before it had nearest points: fit again with more max_time"
        raise ValueError(msg)


def shares(seen: Seen, optimum: Optimum) -> Floats:
    """The multipliers of the support vectors, so that those of each class sum to 1."""
    label = seen.label[optimum.support]
    found: Floats = optimum.multipliers / np.bincount(label, optimum.multipliers, 2)[label]
    return found


def _joined(scene: Scene, optimum: Optimum) -> None:
    """The two points, the line that joins them, and the hyperplane half-way."""
    ax, entries, seen, flat = scene.ax, scene.entries, scene.seen, scene.flat
    weights, label = shares(seen, optimum), seen.label[optimum.support]
    at = flat.points[optimum.support]
    ends = np.array([weights[label == k] @ at[label == k] for k in range(2)])
    if flat.in_rows:  # between the rows, so that the line is as long as the distance
        ends[:, 1] = 0.0
    said = f"half-way: margin {number(optimum.margin)}"
    entries["hyperplane"] = scene.line(flat.line), said
    style: Look = {"linewidth": 3.0, "solid_capstyle": "butt", "zorder": 4.5}
    ax.plot(*ends.T, color=INK, gid="bridge", **style)
    if scene.view.to_scale:
        length = float(np.hypot(*(ends[1] - ends[0])))
        step = min(0.018 * scene.view.diagonal, 0.25 * length)
        scene.right_angle(ends.mean(axis=0), (ends[1] - ends[0]) / length, step)
    ring = rings(ax, at, area=size(seen.n), gid="support")
    style = {"s": 42, "marker": "D", "c": INK, "edgecolors": "white", "linewidths": 1.0}
    entries["nearest"] = dots(ax, ends, zorder=6.5, gid="nearest", **style), "nearest points"
    entries["support"] = ring, f"support vectors: {out_of(len(weights), seen.n)}"
    if len(weights) <= MOST_NEAREST:
        for k in range(2):
            _shares_outside(scene, at[label == k], weights[label == k], 2 * k - 1, flat.line)


def _shares_outside(
    scene: Scene, at: Floats, weights: Floats, sign: int, plane: Hyperplane
) -> None:
    """The shares of one class beside its support vectors, on the side away from the hyperplane."""
    along = scene.per_unit * np.array([-plane.w[1], plane.w[0]])
    along /= np.hypot(*along)
    outward = sign * np.array([along[1], -along[0]])
    places = (scene.per_unit * at) @ along
    moves = apart(places, LETTERS @ np.abs(along)) - places
    for place, share, move in zip(at, weights, moves, strict=True):
        _write_share(scene, place, 19 * outward + move * along, share, "share")


def apart(places: Floats, room: float) -> Floats:
    """Places on a line moved as little as needed for each to have so much room, in their order."""
    from scipy.optimize import isotonic_regression

    order, rooms = np.argsort(places, kind="stable"), room * np.arange(len(places))
    moved = np.empty(len(places))
    # Less the room that those before it take, the places only have to ascend.
    moved[order] = isotonic_regression(places[order] - rooms).x + rooms
    return moved
