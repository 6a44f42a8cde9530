"""A best hyperplane with its margin: the band, the support vectors, the slacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.array_types import Floats, Ints
from rosenblatt.plot.axes import Axes, box_inches, new_axes
from rosenblatt.plot.lettering import dark, halo, number, out_of, write
from rosenblatt.plot.plane import View, around, chosen, foot_point, rings, roomiest, unit
from rosenblatt.plot.projection import Scene, Shadow, cast
from rosenblatt.plot.seen import Seen, read_best
from rosenblatt.plot.style import GREY, NORMAL, Look, arrow, colour
from rosenblatt.results import Hyperplane, Optimum
from rosenblatt.visible import grouped

MOST_SUPPORT = 300  # so many support vectors are drawn and ringed, with their slacks
ON = 1e-6  # at least so close to 1 is y(w·x + b) taken to be on the edge, as `sides` does
SEEN = 0.045  # of the view's diagonal: a smaller margin has no room for an arrow
FEW = 200  # so many samples are all in the view, however far out
TAIL, FAR = 0.05, 0.75  # farther beyond these quantiles than so many times their distance is out
WIDER = 1.6  # the view grows at most so much for the sake of the edges


def margin(
    model: Any,
    X: Any,
    y: Any,
    *,
    which: Any = None,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Axes:
    """The margin of a best hyperplane: its two edges, the support vectors, the slacks.

    The edges are where ``w·x + b`` is -1 and 1, at the distance ``1/‖w‖`` on both sides of the
    hyperplane. Support vectors, the samples with a positive multiplier, are ringed. A sample
    inside the margin or on the wrong side has a thin line to its edge, at a right angle; it is
    as long as the slack ``1 - y(w·x + b)`` times the margin.

    More than two features are drawn as a shadow with the hyperplane seen from its edge: across,
    the signed distance from it; up, the direction within it in which the samples spread most.
    One feature is drawn as two rows, one for each class. Of many samples a part is drawn, always
    the same one, and 300 support vectors with their slacks; the numbers are those of all samples.
    Of more than 200, those very far from the others are left outside the axes, and counted.

    Of a pipeline of two columns of numbers the edges are drawn in the units of these, whatever its
    steps: curves where ``f(x)`` is -1 and 1. Slacks are counted, for they have no direction there.
    Of other pipelines the features of the last step are drawn.

    Parameters
    ----------
    model : fitted MaxMarginClassifier or SoftMarginClassifier, a pipeline with one, or Optimum
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
    if hasattr(model, "steps"):
        from rosenblatt.plot.pipelines import margin_of_pipeline

        return margin_of_pipeline(model, X, y, which, ax, feature_names, class_names)
    seen, optimum = read_best(model, X, y, which, feature_names, class_names)
    ax = new_axes(ax, (6.0, 5.8) if seen.X.shape[1] > 1 else (6.4, 3.2))
    picture = margin_picture(ax, seen, optimum)
    picture.draw(measured=True)
    picture.note("gap", f"gap {number(optimum.gap, 2)}")
    picture.legend(title_of(optimum))
    return ax


def inside_and_wrong(seen: Seen, optimum: Optimum) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which samples are inside the margin, and which are wrong."""
    values = seen.signs * optimum.hyperplane.decision_function(seen.X)
    on = max(ON, np.sqrt(optimum.gap))
    return (values > 0) & (values < 1 - on), values <= 0


def title_of(optimum: Optimum) -> str:
    """What margin it is, and how wide."""
    kind, C = ("maximum", "") if optimum.C is None else ("soft", f" (C = {price(optimum.C)})")
    return f"{kind} margin {width(optimum.margin)}{C}"


def width(margin: float) -> str:
    """A margin as a number, or the sign of an infinite one."""
    return number(margin) if np.isfinite(margin) else "∞"


def price(C: float) -> str:
    """A value of C, whole where it is."""
    return grouped(C) if round(C) == C and C < 1e7 else number(C)


def margin_picture(ax: Axes, seen: Seen, optimum: Optimum) -> MarginPicture:
    """The samples in the plane, what part of it to show, and which of them to draw."""
    flat = cast(seen, optimum.hyperplane)
    ringed = optimum.support.astype(np.intp)
    if ringed.size > MOST_SUPPORT:
        ringed = np.sort(np.random.default_rng(0).choice(ringed, MOST_SUPPORT, replace=False))
    view = _with_edges(ax, flat._replace(points=_bulk(seen, flat.points)), optimum.margin)
    return MarginPicture(ax, view, seen=seen, optimum=optimum, flat=flat, ringed=ringed)


def _bulk(seen: Seen, points: Floats) -> Floats:
    """The points without those so far out that the others would be squeezed together."""
    if len(points) <= FEW:
        return points
    ends = [np.quantile(points[seen.label == k], [TAIL, 1 - TAIL], axis=0) for k in range(2)]
    low, high = np.minimum(ends[0][0], ends[1][0]), np.maximum(ends[0][1], ends[1][1])
    far = FAR * np.where(high > low, high - low, np.inf)
    near: Floats = points[((points >= low - far) & (points <= high + far)).all(axis=1)]
    return near


def _with_edges(ax: Axes, flat: Shadow, margin: float) -> View:
    """The view of all points, widened to edges that run not far outside."""
    view = flat.filling(ax)
    if not flat.line.w.any() or margin > 4 * view.diagonal:
        return view
    step = 1.15 * margin * np.array([[-1.0], [1.0]]) * unit(flat.line)[0]
    edges = foot_point(flat.line, view.middle) + step
    if view.contains(edges).all():
        return view
    low, high = np.minimum(view.low, edges.min(axis=0)), np.maximum(view.high, edges.max(axis=0))
    if flat.in_rows or flat.remark:
        wider = View(low, high, False)
    else:
        wider = around(np.vstack([low, high]), ax, pad=0.0)
    fits = wider.to_scale == view.to_scale and (wider.span <= WIDER * view.span).all()
    return wider if fits else view


@dataclass(eq=False, kw_only=True)
class MarginPicture(Scene):
    """A best hyperplane among its samples, of which some are ringed."""

    optimum: Optimum
    ringed: Ints

    def short(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which samples are inside the margin, and which are wrong."""
        return inside_and_wrong(self.seen, self.optimum)

    def draw(self, *, measured: bool) -> None:
        """Everything but the legend."""
        seen, flat = self.seen, self.flat
        rows = chosen(seen.n, self.ringed)
        area = self.samples(rows, alpha=0.9)
        if flat.line.w.any():
            self._draw_band(measured)
        else:
            self.note("zero", "w = 0: no hyperplane")
        crowd = 1.0 if self.ringed.size <= 12 and min(box_inches(self.ax)) > 3 else 0.5
        ring = rings(self.ax, flat.points[self.ringed], area=crowd * area, gid="support")
        found = len(self.optimum.support)
        self.entries["support"] = ring, f"support vectors: {out_of(found, seen.n)}"
        if found > MOST_SUPPORT:
            self.note("ringed", f"{MOST_SUPPORT} support vectors ringed")
        if flat.line.w.any():
            self._draw_slacks()
        self.note_part(rows)
        self.note_outside()
        if not flat.remark:
            self.note_scales()
        self.finish(int(14 * box_inches(self.ax)[0]))

    def _draw_band(self, measured: bool) -> None:
        """The half-planes, the band between the edges, the hyperplane in the middle."""
        plane, margin, (w, b) = self.flat.line, self.optimum.margin, unit(self.flat.line)
        self.halves(plane, 0.1)
        self.band(plane, margin, linewidth=0)
        self.entries["hyperplane"] = self.line(plane), "w·x + b = 0"
        edges = [Hyperplane(w, b - side * margin) for side in (-1, 1)]
        dashed: Look = {"color": GREY, "linewidth": 1.1, "linestyle": (0, (4, 3))}
        lines = [self.line(edge, f"edge {k}", **dashed) for k, edge in enumerate(edges)]
        visible = [self.view.segment(edge) is not None for edge in edges]
        if measured and all(visible):
            self._measure(w)
        self.note("edges", "the margin is wider than this")
        if any(visible):
            self.entries["edges"] = lines[0], "w·x + b = ±1"

    def _measure(self, w: Floats) -> None:
        """An arrow from the hyperplane to its edge with the distance, if there is room for it."""
        view, margin = self.view, self.optimum.margin
        if not view.to_scale or margin < SEEN * view.diagonal:
            return
        room = max(margin, 3 * SEEN * view.diagonal)
        foot = roomiest(self.flat.line, view, self.flat.points, room)
        tip = foot + margin * w
        style: Look = {"arrowstyle": "<|-|>", "linewidth": 1.2, "mutation_scale": 9}
        arrow(self.ax, foot, tip, "margin", **style)
        along = np.array([-w[1], w[0]])
        along = along if along[1] > 0 or (along[1] == 0 and along[0] > 0) else -along
        at = (foot + tip) / 2 + 0.028 * view.diagonal * along
        style = {"size": NORMAL, "weight": "bold", "zorder": 7, "clip_on": True}
        halo(write(self.ax, at, number(margin), **style))

    def _draw_slacks(self) -> None:
        """A line from each sample that has slack to its own edge of the margin."""
        from matplotlib.collections import LineCollection
        from matplotlib.lines import Line2D

        inside, wrong = self.short()
        rows = np.flatnonzero(inside | wrong)
        if not rows.size:
            return
        if rows.size > MOST_SUPPORT:
            rows = self.ringed[(inside | wrong)[self.ringed]]
        points, (w, b) = self.flat.points[rows], unit(self.flat.line)
        away = self.seen.signs[rows] * self.optimum.margin - (points @ w + b)
        lines = np.stack([points, points + away[:, np.newaxis] * w], axis=1)
        tints = [dark(colour(k)) for k in self.seen.label[rows]]
        thin = len(rows) > 60
        style: Look = {"linewidths": 0.7 if thin else 1.4, "alpha": 0.5 if thin else 0.9}
        made = LineCollection(list(lines), colors=tints, zorder=3.5, gid="slacks", **style)
        self.ax.add_collection(made, autolim=False)
        counts = f"{grouped(inside.sum())} inside, {grouped(wrong.sum())} wrong"
        self.entries["slack"] = Line2D([], [], color=GREY, linewidth=1.0), f"slack: {counts}"
