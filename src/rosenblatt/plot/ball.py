"""The two lengths of the mistake bound, R and γ, where they are among the samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.arguments import instance
from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, new_axes
from rosenblatt.plot.lettering import beside, dark, number, out_of
from rosenblatt.plot.plane import Picture, around, chosen, dots, scatter, size
from rosenblatt.plot.seen import Seen, dense, read_two
from rosenblatt.plot.style import COLOURS, INK, PALE, Look, arrow
from rosenblatt.results import Hyperplane, MistakeBound
from rosenblatt.visible import grouped

FAR, NEAR = COLOURS[4], COLOURS[2]  # the colours of R and of γ


def bound_geometry(
    X: Any,
    y: Any,
    *,
    hyperplane: Hyperplane | None = None,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
) -> Axes:
    """R and γ of the mistake bound ``(R/γ)²`` in the plane of the samples.

    R is the radius of the ball *around the origin* that holds all samples, not of the smallest
    ball that does; γ is half the width of the band without samples around the line, which passes
    through the origin. The arrow is the direction of ``w*``, which has length 1.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n, 2) or (n, 1)
        Two features, learned without a bias; or one, learned with a bias: then the vectors are
        ``(x, 1)``, on a line at height 1.
    y : array of n labels
        Of two classes, which a line through the origin separates.
    hyperplane : Hyperplane, optional
        The one to measure γ by; None: the best there is.
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.
    feature_names, class_names : sequences of str, optional
        Names to use instead of those of the table, and of the labels themselves.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rosenblatt as rb
    >>> ax = rb.plot.bound_geometry(*rb.datasets.eight_points())
    """
    seen = read_two(None, X, y, feature_names, class_names, needs="the bound is about two")
    d = seen.X.shape[1]
    if d not in (1, 2):
        msg = f"X has {d} features: only two, or one and a bias, can be drawn; choose two columns"
        raise ValueError(msg)
    if hyperplane is not None:
        wanted = "give an rb.Hyperplane, or None for the best"
        instance("hyperplane", hyperplane, Hyperplane, wanted)
    bound = _bound(seen, hyperplane, bias=d == 1)
    found: Any = bound.hyperplane
    theta, vectors, names = found.w, dense(seen.X), seen.features
    if d == 1:
        theta, names = np.append(found.w, found.b), (*names, "1, the factor of the bias")
        vectors = np.column_stack([vectors[:, 0], np.ones(seen.n)])
    _draw(ax := new_axes(ax, (6.0, 6.2)), seen, vectors, theta / np.hypot(*theta), bound, names)
    return ax


def _draw(
    ax: Axes,
    seen: Seen,
    vectors: Floats,
    theta: Floats,
    bound: MistakeBound,
    names: tuple[str, ...],
) -> None:
    """The samples, the ball around them all, and the band between them."""
    values = seen.signs * (vectors @ theta)
    far = int(np.argmax(np.hypot(*vectors.T)))
    nearest = np.flatnonzero(values <= values.min() + 1e-9 * bound.R)
    tip = 0.45 * bound.R * theta
    near = int(nearest[np.argmax(np.hypot(*(vectors[nearest] - tip).T))])  # w* does not hide it
    rim = bound.R * np.array([[-1.0, -1.0], [1.0, 1.0]])
    picture = Picture(ax, around(rim, ax, pad=0.06, always=True))
    rows = chosen(seen.n, np.array([far, near]))
    made = scatter(ax, vectors[rows], seen.label[rows], seen.classes, area=size(rows.size) + 8)
    for k, handle in enumerate(made):
        picture.entries[f"class {k}"] = handle, seen.classes[k]
    _ball(picture, vectors[far], bound.R)
    _band(picture, vectors[near], theta, tip, bound)
    if rows.size < seen.n:
        picture.note("drawn", f"{out_of(rows.size, seen.n)} points drawn")
    picture.show(names)
    picture.legend()


def _bound(seen: Seen, plane: Hyperplane | None, *, bias: bool) -> MistakeBound:
    """The bound for any number of epochs, which only classes that are separated have."""
    from rosenblatt.bounds.function import mistake_bound

    X, signs = seen.X, seen.signs
    if plane is None:
        fine = mistake_bound(X, signs, fit_intercept=bias, epochs=1).separable
    else:
        fine = bool((signs * plane.decision_function(X) > 0).all())
    if fine:
        return mistake_bound(X, signs, hyperplane=plane, fit_intercept=bias)
    what = "the hyperplane does not separate the classes"
    if plane is None:
        what = f"no {'threshold' if bias else 'line through the origin'} separates the classes"
    msg = f"{what}, so there is no γ to draw: give samples that are separated"
    raise ValueError(msg)


def _ball(picture: Picture, far: Floats, R: float) -> None:
    """The ball around the origin, with its radius to the farthest sample."""
    from matplotlib.patches import Circle

    ax = picture.ax
    style: Look = {"edgecolor": FAR, "facecolor": "none", "linewidth": 1.6, "zorder": 2}
    ball = ax.add_patch(Circle((0.0, 0.0), R, linestyle=(0, (6, 2)), gid="ball", **style))
    arrow(ax, (0, 0), far, "R", color=FAR, linewidth=1.6, mutation_scale=11, zorder=3)
    across = np.array([-far[1], far[0]]) / np.hypot(*far)
    look: Look = {"size": 13, "weight": "bold", "style": "italic", "color": dark(FAR), "zorder": 7}
    beside(ax, 0.62 * far, 10 * across, "R", **look)
    dots(ax, np.zeros(2), s=60, c=INK, marker="+", linewidths=1.6, zorder=6, gid="origin")
    says = f"R = {number(R)}: no sample is farther from the origin"
    picture.entries["ball"] = ball, says


def _band(picture: Picture, near: Floats, theta: Floats, tip: Floats, bound: MistakeBound) -> None:
    """The line, the band, γ at the nearest sample, and the best vector."""
    ax, plane, gamma = picture.ax, Hyperplane(theta), bound.gamma
    picture.halves(plane, 0.08)
    band = picture.band(plane, gamma, edgecolor=NEAR)
    one = bound.hyperplane is not None and bound.hyperplane.w.size == 1
    star, x = ("θ*", "(x, 1)") if one else ("w*", "x")
    picture.entries["line"] = picture.line(plane), f"{star}·{x} = 0, at a right angle to {star}"
    picture.entries["band"] = band, f"γ = {number(gamma)}: no sample is closer to the line"
    foot = near - (near @ theta) * theta
    style: Look = {"arrowstyle": "<|-|>", "mutation_scale": 9, "linewidth": 1.5, "color": NEAR}
    arrow(ax, foot, near, "gamma", zorder=4.5, **style)
    along = np.array([-theta[1], theta[0]])
    look: Look = {"size": 13, "weight": "bold", "style": "italic", "zorder": 7}
    beside(ax, (foot + near) / 2, 9 * along, "γ", color=dark(NEAR), **look)
    arrow(ax, (0, 0), tip, "best", linewidth=2.4, mutation_scale=16, zorder=5)
    beside(ax, tip, 11 * theta, star, **look)
    many = f"{grouped(bound.most)} mistakes" if bound.most != 1 else "1 mistake"
    picture.note("bound", f"at most (R/γ)² = {number(bound.bound, 4)}: {many}")
    for axis in (ax.axhline, ax.axvline):
        axis(0, color=PALE, linewidth=0.8, zorder=0.5)
