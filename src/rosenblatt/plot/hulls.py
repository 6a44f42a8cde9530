"""Two classes and their convex hulls: apart, touching, or overlapping, with the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.plot import _points, _style, _view
from rosenblatt.plot._reading import read_two
from rosenblatt.plot._shadow import shadow
from rosenblatt.plot.boundary import band, normal
from rosenblatt.results import Inseparable, QuasiSeparable, Separable, Undecided, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen
    from rosenblatt.plot._shadow import Shadow
    from rosenblatt.plot._view import View
    from rosenblatt.results import Certificate

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

HEADINGS = {
    Verdict.SEPARABLE: "separable: the hulls are apart",
    Verdict.QUASI_SEPARABLE: "quasi-separable: the hulls touch",
    Verdict.INSEPARABLE: "inseparable: the hulls overlap",
    Verdict.UNDECIDED: "undecided",
}
MOST_SHARES = 6  # of more supporting samples the shares are not written beside them
CLOSE = 1e-6  # how far, relative to the data, a certificate may be off before it is refused


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
    certificate = _asked(X, y) if certificate is None else certificate
    if not isinstance(getattr(certificate, "verdict", None), Verdict):
        what = type(certificate).__name__
        msg = f"certificate is a {what}: give what rb.separability returned, or None"
        raise ValueError(msg)
    seen = _read(X, y, certificate, feature_names, class_names)
    flat = shadow(seen, certificate)
    ax = _style.new_axes(ax, (6.0, 5.6) if seen.X.shape[1] > 1 else (6.4, 3.0))
    polygons = [hull(flat.points[seen.label == k]) for k in range(2)]
    view = flat.view(ax)
    must = np.asarray(getattr(certificate, "support", []), dtype=np.intp)
    entries = draw_hulls(ax, seen, flat.points, polygons, must)
    if certificate.verdict is Verdict.INSEPARABLE:
        common = overlap(polygons)
        _view.area(ax, common, "overlap", facecolor=_style.GREY, alpha=0.3, zorder=1.4)
    if isinstance(certificate, Separable | QuasiSeparable):
        entries += _hyperplane(ax, flat, view, certificate)
    if isinstance(certificate, QuasiSeparable | Inseparable):
        entries += _meeting(ax, seen, flat, view, certificate)
    entries += [(None, text) for text in _remarks(seen, certificate, view)]
    view.show(ax)
    for axis, name, low, high in zip((ax.xaxis, ax.yaxis), flat.names, *view[:2], strict=True):
        _style.label_axis(axis, name, low, high)
    if flat.remark:
        ax.set_xlabel(f"{ax.get_xlabel()}\n({flat.remark})")
    flat.rows(ax, seen)
    _style.plain(ax)
    why = f": {certificate.why}" if isinstance(certificate, Undecided) else ""
    _style.legend(ax, entries, HEADINGS[certificate.verdict] + why)
    return ax


def _asked(X: Any, y: Any) -> Certificate:
    from rosenblatt.separation.function import separability

    return separability(X, y)


def _read(
    X: Any,
    y: Any,
    certificate: Certificate,
    feature_names: Sequence[str] | None,
    class_names: Sequence[str] | None,
) -> Seen:
    """The samples with labels -1 and +1, and the certificate's hyperplane if it has one."""
    plane = getattr(certificate, "hyperplane", None)
    needs = "hulls are drawn of two; draw one against the rest"
    seen = read_two(plane, X, y, feature_names, class_names, needs=needs)
    _check_same_data(seen, certificate)
    return seen


def _check_same_data(seen: Seen, certificate: Certificate) -> None:
    """Refuse a certificate of other data, as far as a quick look can tell."""
    signs, fine = np.where(seen.label > 0, 1, -1), True
    if isinstance(certificate, Separable | QuasiSeparable) and len(seen.label):
        values = signs * seen.planes[0].decision_function(seen.X)
        fine = bool(values.min() >= -CLOSE * np.abs(values).max())
    if fine and isinstance(certificate, QuasiSeparable | Inseparable):
        support, weights = certificate.support, certificate.weights
        fine = certificate.point.shape == (seen.X.shape[1],) and support.max() < len(signs)
        if fine:
            rows = _points.dense(seen.X[support])
            scale = np.abs(rows).max() or 1.0
            for k in range(2):
                own = seen.label[support] == k
                off = np.abs(weights[own] @ rows[own] - certificate.point)
                fine = fine and bool(off.max() <= CLOSE * scale)
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
            common = _view.clipped(common, inward, float(-inward @ a))
    return common


def draw_hulls(
    ax: Axes, seen: Seen, points: Floats, polygons: list[Floats], must: Ints
) -> list[tuple[Any, str]]:
    """Hulls and samples; of many samples a part, always those that `must` be seen."""
    for k, corners in enumerate(polygons):
        tint = _style.colour(k)
        if len(corners) > 2:
            style: dict[str, Any] = {"facecolor": tint, "alpha": 0.16, "zorder": 1.2}
            _view.area(ax, corners, f"hull {k}", **style)
        ring = np.vstack([corners, corners[:1]])
        width, alpha = (1.4, 0.75) if len(corners) > 2 else (9.0, 0.3)
        line = ax.plot(*ring.T, color=tint, linewidth=width, alpha=alpha, zorder=1.6)[0]
        line.set(solid_capstyle="round", gid=f"hull edge {k}")
    rows = _points.chosen(len(seen.label), must)
    area = _points.size(rows.size) * float(np.clip(min(_style.box_inches(ax)) / 3.5, 0.35, 1))
    handles = _points.scatter(
        ax, points[rows], seen.label[rows], seen.classes, area=area, alpha=0.85
    )
    entries: list[tuple[Any, str]] = list(zip(handles, seen.classes, strict=True))
    if rows.size < len(seen.label):
        shown, n = _style.grouped(rows.size), _style.grouped(len(seen.label))
        entries.append((None, f"{shown} of {n} points drawn"))
    return entries


def _hyperplane(
    ax: Axes, flat: Shadow, view: View, certificate: Separable | QuasiSeparable
) -> list[tuple[Any, str]]:
    """The hyperplane; where it separates its margin, otherwise the samples on it."""
    assert flat.plane is not None
    dashed = {} if isinstance(certificate, Separable) else {"linestyle": (0, (5, 3))}
    line = _view.line(ax, flat.plane, view, "hyperplane", **dashed)
    if isinstance(certificate, QuasiSeparable):
        on = flat.points[certificate.on]
        ring = _points.rings(ax, on, area=_points.size(len(flat.points)), gid="on")
        n, all_n = _style.grouped(len(on)), _style.grouped(len(flat.points))
        return [(line, "none on its wrong side"), (ring, f"on it: {n} of {all_n}")]
    entries = [(line, "hyperplane")]
    if certificate.exact is not None:
        entries = [(line, "hyperplane, rounded: the exact one is in fractions")]
    if certificate.margin > 0:
        w, b = _view.unit(flat.plane)
        strip = band(ax, w, b, certificate.margin, view)
        entries.append((strip, f"margin {_style.number(certificate.margin)}"))
    if view.to_scale and _view.segment(flat.plane, view) is not None:
        normal(ax, flat.plane, view, flat.points)
    return entries


def _meeting(
    ax: Axes, seen: Seen, flat: Shadow, view: View, certificate: QuasiSeparable | Inseparable
) -> list[tuple[Any, str]]:
    """The point in both hulls and the samples it is the mean of, by their shares."""
    assert flat.point is not None
    support, weights = certificate.support, certificate.weights
    area = 1.6 * _points.size(len(seen.label)) + 14
    for i, share in zip(support, weights, strict=True):
        tint, at = _style.colour(int(seen.label[i])), flat.points[i]
        style: dict[str, Any] = {"color": tint, "linewidth": 1.0 + 5.0 * share, "zorder": 4.5}
        spoke = ax.plot(*np.array([flat.point, at]).T, **style)[0]
        _style.named(spoke, f"share {i}").set_solid_capstyle("round")
    places, label = flat.points[support], seen.label[support]
    here = (np.abs(places - flat.point) <= CLOSE * view.span).all(axis=1)
    nested = here & (label == 0) if len(set(label[here].tolist())) == 2 else np.zeros_like(here)
    for rows, size in ((nested, 5 * area), (~nested, area)):  # one class within the other
        outlined: dict[str, Any] = {"edgecolors": _style.INK, "linewidths": 1.1, "zorder": 6}
        _points.scatter(ax, places[rows], label[rows], seen.classes, area=size, **outlined)
    style = {"s": 120, "marker": "*", "c": _style.INK, "edgecolors": "white", "linewidths": 0.9}
    if here.any():  # around the samples that it would hide
        around = 24 * area if nested.any() else 8 * area
        style |= {"s": around, "c": "white", "edgecolors": _style.INK, "linewidths": 1.2}
    star = _style.named(ax.scatter(*flat.point, zorder=5 if here.any() else 7, **style), "point")
    if len(support) <= MOST_SHARES:
        _write_shares(ax, flat, view, certificate)
    where = _style.vector(certificate.point) if 2 <= certificate.point.size <= 3 else ""
    where = _style.number(certificate.point[0]) if certificate.point.size == 1 else where
    if (weights == 1).all():
        return [(star, f"a sample of each class lies here{f': {where}' * bool(where)}")]
    return [
        (star, f"in both hulls: {where}" if where else "a point in both hulls"),
        (spoke, f"{len(support)} samples, their shares"),
    ]


def _write_shares(ax: Axes, flat: Shadow, view: View, certificate: Any) -> None:
    """Each supporting sample's share beside it, on the side away from the meeting point."""
    per_unit = 72 * np.array(_style.box_inches(ax)) / view.span
    for i, share in zip(certificate.support, certificate.weights, strict=True):
        if share == 1:
            continue
        away = per_unit * (flat.points[i] - flat.point)
        length = float(np.hypot(*away))
        offset = 15 * (away / length if length > 1 else np.array([0.0, 1.0]))
        text = ax.annotate(_style.number(share, 2), (*flat.points[i],), (*offset,),
                           textcoords="offset points", ha="center", va="center")  # fmt: skip
        text.set(size=_style.SMALL, color=_style.INK, weight="bold", zorder=8)
        text.set(gid=f"share of {i}", annotation_clip=False)
        _style.halo(text, 3)


def _remarks(seen: Seen, certificate: Certificate, view: View) -> list[str]:
    """What the picture cannot show by itself."""
    said = []
    if isinstance(certificate, Undecided):
        low, high = (_style.number(end) for end in certificate.bracket)
        said.append(f"the largest margin is between {low} and {high}")
    if seen.X.shape[1] > 1 and not view.to_scale:
        said.append("axes have different scales")
    return said
