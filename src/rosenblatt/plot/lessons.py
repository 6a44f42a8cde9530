"""Pictures for the blackboard: they need no data but the library's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import datasets, theory
from rosenblatt.arguments import brief, floats, instance, names_of
from rosenblatt.array_types import Floats
from rosenblatt.plot.axes import Axes, new_axes, plain
from rosenblatt.plot.lettering import beside, dark, legend, number, vector, write
from rosenblatt.plot.plane import Picture, View, around, dots, rings, scatter, unit
from rosenblatt.plot.style import COLOURS, GREY, INK, PALE, SMALL, Look, arrow, colour
from rosenblatt.results import Hyperplane

NAMES, TITLES = 9.5, 10.5
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (4, 2, 1, 2)), (0, (1, 1.5)), (0, (8, 2, 2, 2)))


def fan(*, ax: Axes | None = None, models: Mapping[str, Any] | None = None) -> Axes:
    """Eight points and many lines that separate them; which is best is another question.

    Every line is the end of a real run of the perceptron on `rb.datasets.eight_points`, from
    another start, in another order, at another learning rate. None makes a mistake. The legend
    has their margins ``min_i y_i(w·x_i + b)/‖w‖``; the one with the largest is drawn bold, with
    its band. No line has more than ``√2``.

    Parameters
    ----------
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.
    models : dict of name to linear classifier, optional
        Models to fit instead of the six chosen here; they are fitted by this call.

    Returns
    -------
    matplotlib Axes
    """
    data = datasets.eight_points()
    wanted = "give a dict of names and linear classifiers, or None"
    runs = _runs() if models is None else instance("models", models, Mapping, wanted)
    if not runs:
        msg = "models is empty: give at least one classifier to fit, or None"
        raise ValueError(msg)
    from sklearn.base import BaseEstimator

    planes = {}
    for name, model in runs.items():
        instance("models", model, BaseEstimator, wanted)
        fitted = model.fit(data.X, data.y)
        planes[name] = Hyperplane(fitted.coef_[0], float(fitted.intercept_[0]))
    ax = new_axes(ax, (6.0, 6.2))
    picture = Picture(ax, around(data.X, ax, pad=0.15))
    scatter(ax, data.X, data.y > 0, data.target_names, area=70)
    margins = {name: plane.margin(data.X, data.y) for name, plane in planes.items()}
    picture.note("title", "margin, and how the run was made")
    for rank, name in enumerate(sorted(margins, key=lambda name: -margins[name])):
        line = _one_of_fan(picture, planes[name], rank, margins[name])
        best = "" if rank else ": the largest"
        picture.entries[name] = line, f"{margins[name]:.3f}  {name}{best}"
    picture.show(("x1", "x2"))
    legend(ax, picture.entries.values()).set(gid="margins")
    return ax


def _runs() -> Look:
    """Six perceptrons that end in six different lines."""
    from rosenblatt.perceptron.estimator import Perceptron

    return {
        "from zero, without a bias": Perceptron(fit_intercept=False),
        "from zero": Perceptron(),
        "random start, shuffled": Perceptron(init="random", order="shuffled", random_state=3),
        "start (−1, 2, −2), η = 0.3": Perceptron(init=[-1, 2, -2], eta0=0.3),
        "start (3, −1, 0), η = 0.1": Perceptron(init=[3, -1, 0], eta0=0.1),
        "start (−2, 3, 1), η = 0.1": Perceptron(init=[-2, 3, 1], eta0=0.1),
    }


def _one_of_fan(picture: Picture, plane: Hyperplane, rank: int, margin: float) -> Any:
    """One line; the best, which has rank 0, is bold and in its band."""
    if rank:
        style: Look = {"linestyle": DASHES[rank % len(DASHES)], "linewidth": 1.4}
        return picture.line(plane, f"line {rank}", color=colour(rank + 1), **style)
    style = {"facecolor": "#EFEFEF", "edgecolor": PALE, "linewidth": 0.8, "linestyle": "-"}
    picture.band(plane, margin, zorder=0, **style)
    return picture.line(plane, "line 0", linewidth=3.2)


def bias(
    *, ax: Axes | None = None, w: Sequence[float] = (1, 1), biases: Sequence[float] = (0, -4)
) -> Axes:
    """What the bias does: it shifts the line along its normal and turns nothing.

    The line ``w·x + b = 0`` is nearest to the origin at ``-b·w/‖w‖²``, the foot of the normal,
    at the distance ``|b|/‖w‖``. So a negative bias shifts it along w, a positive one against w.

    Parameters
    ----------
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.
    w : two numbers
        The normal, not zero.
    biases : sequence of numbers
        A line for each.

    Returns
    -------
    matplotlib Axes
    """
    normal, shifts = floats("w", w), np.atleast_1d(floats("biases", biases))
    if normal.shape != (2,) or not normal.any() or not np.isfinite(normal).all():
        msg = f"w={brief(w)} is not a normal in the plane: give two numbers, not both zero"
        raise ValueError(msg)
    if shifts.ndim != 1 or not shifts.size or not np.isfinite(shifts).all():
        msg = f"biases={brief(biases)} is not a list of numbers: give one or more"
        raise ValueError(msg)
    ax = new_axes(ax, (6.0, 5.6))
    planes = [Hyperplane(normal, float(b)) for b in shifts]
    feet = np.array([plane.point() for plane in planes])
    reach = 1.1 * np.hypot(*normal) * np.array([[-1, -1], [1, 1]])
    points = np.vstack([feet, feet + normal, reach])
    picture = Picture(ax, around(points, ax, pad=0.12, always=True))
    for axis in (ax.axhline, ax.axvline):
        axis(0, color=PALE, linewidth=1, zorder=0)
    for k, plane in enumerate(planes):
        _shifted(picture, plane, k)
    picture.show(("x1", "x2"))
    return ax


def _shifted(picture: Picture, plane: Hyperplane, k: int) -> None:
    """One line of `bias`: its foot, its normal, its name."""
    ax, tint, foot = picture.ax, colour(k), plane.point()
    picture.line(plane, f"line {k}", color=tint, linewidth=2.2)
    arrow(ax, foot, foot + plane.w, f"normal {k}", color=tint, linewidth=2.2)
    ax.plot(*np.vstack([np.zeros(2), foot]).T, ":", color=GREY, linewidth=1.5, zorder=2)
    dots(ax, foot, s=60, color=tint, edgecolors="white", zorder=7, gid=f"foot {k}")
    w, _ = unit(plane)
    up = np.array([-w[1], w[0]]) * (1 if w[0] > 0 else -1)
    _name(ax, foot + 0.55 * plane.w, 11 * up, "w", tint)
    way = "along" if plane.b < 0 else "against"
    distance = f"\n{number(abs(plane.b) / plane.norm)} {way} w" * (plane.b != 0)
    away = np.array([-np.sign(w[0]), 0]) if abs(w[0]) > 0.4 else np.array([0.2, -np.sign(w[1])])
    _name(ax, foot, 12 * away, f"foot {vector(foot)}{distance}", tint)
    ends = picture.view.segment(plane)
    if ends is not None:
        upper, lower = ends[np.argsort(-ends[:, 1])]
        _name(ax, upper + 0.15 * (lower - upper), 9 * w, f"b = {number(plane.b)}", tint)


def _name(ax: Axes, at: Floats, offset: Floats, text: str, tint: str) -> None:
    """Lettering at that side of a point at which its offset is."""
    side: Look = {"ha": "left" if offset[0] >= 0 else "right"}
    side |= {"va": "top" if offset[1] < -3 else "center", "linespacing": 1.3, "zorder": 8}
    style: Look = {"size": 10, "weight": "bold", "color": dark(tint)} | side
    beside(ax, at, offset, text, rim=2.5, **style)


def losses(*, ax: Axes | None = None, names: Sequence[str] | None = None) -> Axes:
    """The losses of one sample side by side, as functions of its signed value.

    They are those of `rb.theory.losses` over ``z = y(w·x + b)``: positive on the right side,
    negative on the wrong one. The zero-one loss counts errors; the others have slopes to descend.

    Parameters
    ----------
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure.
    names : sequence of str, optional
        Which of them; None: all.

    Returns
    -------
    matplotlib Axes
    """
    chosen = tuple(theory.losses) if names is None else names_of("names", names)
    if not chosen or not set(chosen) <= set(theory.losses):
        known = ", ".join(theory.losses)
        msg = f"names={brief(names)} is not allowed: give some of {known}; or None for all"
        raise ValueError(msg)
    ax = new_axes(ax, (6.8, 4.4))
    z = np.linspace(-3, 3, 601)
    top = 4.7
    ax.axvspan(-3, 0, color=PALE, alpha=0.35, linewidth=0, zorder=0)
    for k, (name, loss) in enumerate(theory.losses.items()):
        if name not in chosen:
            continue
        tint, values = COLOURS[(6, 0, 1, 2, 3)[k % 5]], loss(z)
        style: Look = {"linestyle": DASHES[k % 5], "linewidth": 2.1, "zorder": 3}
        ax.plot(z, values, color=tint, gid=name, **style)
        inside = values[0] > top  # it leaves through the top: name it at the right, at its knee
        place = (z[-30], values[-30] + 0.35) if inside else (z[0] - 0.08, values[0])
        style = {"ha": "right", "size": NAMES, "weight": "bold", "color": dark(tint)}
        write(ax, place, name.replace("_", "-"), **style)
    for x, side in ((-2.9, "wrong side"), (0.1, "right side")):
        ax.text(x, top - 0.05, side, color=GREY, size=SMALL, va="top")
    ax.set(xlim=(-3, 3), ylim=(0, top), xlabel="signed value  z = y(w·x + b)", ylabel="loss")
    plain(ax)
    ax.spines["left"].set_visible(False)
    ax.yaxis.tick_right()
    ax.yaxis.set_label_position("right")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color=PALE, linewidth=0.6, zorder=0.5)
    return ax


def objective(*, ax: Axes | None = None) -> Axes:
    """Why not to sum over all samples: that objective prefers a line that does not separate.

    Four samples that can be separated, and ``w`` turned once around (length 1, no bias). Their
    mean of ``-y(w·x)`` over *all* samples is least where a single far sample outweighs three on
    the wrong side. Summed over the wrong samples only, ``max(0, -y(w·x))`` is zero exactly
    where the line separates, and positive elsewhere. Beside it the samples, with the least
    point of either objective as a line.

    Parameters
    ----------
    ax : matplotlib Axes, optional
        Where to draw; None makes a figure. The samples are drawn into an inset at its right.

    Returns
    -------
    matplotlib Axes
        The curves; ``ax.child_axes[0]`` has the samples.
    """
    X, y, good, _ = theory.all_samples_counterexample()
    ax = new_axes(ax, (8.2, 4.6))
    degrees = np.arange(-90.0, 181.0, 0.5)
    turned = [Hyperplane(np.array([np.cos(a), np.sin(a)])) for a in np.radians(degrees)]
    every = np.array([theory.all_samples_objective(h, X, y) for h in turned])
    wrong = np.array([theory.perceptron_loss(h, X, y) for h in turned]) / len(y)
    fine = degrees[[h.margin(X, y) > 0 for h in turned]]
    low = int(np.argmin(every))
    ax.axvspan(fine[0], fine[-1], color=COLOURS[2], alpha=0.18, linewidth=0, gid="separates")
    ax.axhline(0, color=PALE, linewidth=1, zorder=1)
    ax.plot(degrees, wrong, color=COLOURS[2], linewidth=2.4, gid="wrong samples")
    ax.plot(degrees, every, "--", color=COLOURS[4], linewidth=2.2, gid="all samples")
    ax.scatter(degrees[low], every[low], s=70, color=COLOURS[4], zorder=5, gid="least")
    errors = round(theory.zero_one_loss(turned[low], X, y) * len(y))
    least = f"least: {errors} of {len(y)} wrong"
    style: Look = {"size": NAMES, "weight": "bold", "linespacing": 1.35}
    for x, height, text, k, side in (
        (125, 1.85, "wrong samples only\nΣ max(0, −y w·x) / n", 2, "center"),
        (-84, -0.8, "all samples\n−Σ y w·x / n", 4, "left"),
        (float(fine.mean()), 4.1, "here the line\nseparates", 2, "center"),
        (float(degrees[low]), every[low] - 0.42, least, 4, "center"),
    ):
        write(ax, (x, height), text, ha=side, color=dark(COLOURS[k]), **style)
    ax.set(xlim=(-90, 180), xticks=range(-90, 181, 45), ylim=(-3.0, 4.4))
    ax.set_xticklabels([f"{number(t)}°" for t in range(-90, 181, 45)])
    ax.set(xlabel="direction of w", ylabel="objective  (‖w‖ = 1, b = 0)")
    ax.set_title("two objectives, as w turns", fontsize=TITLES, color=INK)
    plain(ax)
    _samples_beside(ax, X, y, good, turned[low])
    return ax


def _samples_beside(
    ax: Axes, X: Floats, y: NDArray[np.int64], good: Hyperplane, best: Hyperplane
) -> None:
    """The four samples, a line that separates them and the one with the least mean."""
    inset = ax.inset_axes((1.13, 0.0, 0.46, 1.0))
    picture = Picture(inset, View(np.array([-4.6, -13.2]), np.array([4.6, 3.2]), True))
    classes = scatter(inset, X, y > 0, ("", ""), area=48)
    ring = rings(inset, X[best.predict(X) != y], area=48)
    picture.line(good, "good", color=COLOURS[2], linewidth=2.2)
    picture.line(best, "least", color=COLOURS[4], linewidth=2.2, linestyle="--")
    far = X[np.argmax(np.hypot(*X.T))]
    arrow(inset, (0.3, -11.3), far + np.array([0.35, 0.1]), "far", linewidth=1.1)
    for height, words, tint in (
        (-10.2, "this far sample\noutweighs the\nthree wrong ones", INK),
        (-4.6, "dashed: least\nover all samples", COLOURS[4]),
        (-6.9, "solid: separates", COLOURS[2]),
    ):
        style: Look = {"ha": "left", "size": SMALL, "linespacing": 1.25}
        write(inset, (0.35, height), words, color=dark(tint), **style)
    picture.show(("x1", "x2"))
    keys = [*classes, ring], ["y = −1", "y = +1", "wrong side\nof dashed"]
    place: Look = {"loc": "center left", "bbox_to_anchor": (0.0, 0.42)}
    place |= {"frameon": False, "fontsize": SMALL, "handletextpad": 0.2, "borderaxespad": 0}
    inset.legend(*keys, **place)
    inset.set_title("the four samples", fontsize=TITLES, color=INK)
    inset.set_ylabel("x2", labelpad=-2)
    inset.set(xticks=[-4, 0, 4], yticks=[-12, -8, -4, 0])
