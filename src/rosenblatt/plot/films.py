"""Films of runs: a line that turns, or a curve that bends, from update to update."""

from __future__ import annotations

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt import arguments
from rosenblatt.array_types import Floats
from rosenblatt.files.whole import written_whole
from rosenblatt.plot.axes import Axes, pyplot, unlogged
from rosenblatt.plot.lettering import literal, number, out_of
from rosenblatt.plot.plane import Picture, around, dots, drawn_rows, rings, scatter, size, unit
from rosenblatt.plot.replay import Steps, ValuesOn, epoch_weights, kernel_steps
from rosenblatt.plot.saving import heard, pass_on, target_path
from rosenblatt.plot.seen import Names, Seen, dense, only_two, recorded
from rosenblatt.plot.style import GREY, INK, NORMAL, SMALL, Look, arrow, colour
from rosenblatt.results import Fit, Hyperplane, Updates
from rosenblatt.visible import grouped

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation

SUFFIXES = (".gif", ".mp4")
SIZE = (5.2, 4.2)
HOLD = 2.0  # seconds for which the last picture stays
GRID = 120  # points along a side, where a curve is drawn
TINY = 1e-300
LARGEST = 420.0  # the area of the disc of the largest counter, in points²


def animate(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    fps: float = 3,
    max_frames: int = 60,
    feature_names: Sequence[str] | None = None,
) -> FuncAnimation:
    """A film of a run: the line turning, or the curve bending, at each mistake.

    Every picture has the line after an update, the line before it dashed, and the mistake ringed.
    Of a kernel perceptron it is the curve ``f(x) = 0``, with discs behind the samples that grow
    with their mistake counters. Of the delta rule it is the line after each epoch, with its loss;
    its run is made again for that. Where the model keeps another vector than the last one
    (``keep="pocket"``, ``"average"``, ``"vote"``) the film ends with that. A long run is shown by
    some of its steps, most of them early ones, where the line turns most.

    Parameters
    ----------
    model : Perceptron, KernelPerceptron or Adaline
        Fitted to two classes and two features; all but `Adaline` with ``record=True``.
    X, y : samples and labels
        Those given to `fit`.
    path : path, optional
        A file to write, .gif or .mp4 (which takes ffmpeg), whole or not at all.
    fps : float
        Pictures per second.
    max_frames : int
        The most pictures, 2 or more; the last one is held for two seconds.
    feature_names : sequence of str, optional
        Names to use instead of the model's own.

    Returns
    -------
    matplotlib.animation.FuncAnimation
    """
    with unlogged():
        from matplotlib.animation import FuncAnimation

    target = None if path is None else _target(path)
    wanted = "give a positive number of pictures per second, up to 1000"
    arguments.number("fps", fps, lambda x: 0 < x <= 1000, wanted)
    arguments.whole_number("max_frames", max_frames, 2, "give 2 or more, for start and end")
    film = _film(model, X, y, feature_names)
    with heard() as warned:
        film.prepare(max_frames, on_screen=target is None)
        held = [*film.frames, *[film.frames[-1]] * round(HOLD * fps)]
        times: Look = {"init_func": lambda: None, "interval": 1000 / fps, "repeat": True}
        animation = FuncAnimation(film.figure, film.show, held, **times)
        if target is not None:
            _write(animation, target, fps)
    pass_on(warned, film.figure)
    return animation


def _film(model: Any, X: Any, y: Any, features: Names) -> Film:
    """The film of this kind of model."""
    if hasattr(model, "kernel_"):
        return Curves(kernel_steps(model, X, y, features))
    if hasattr(model, "eta_"):
        only_two(model)
        return Epochs(*epoch_weights(model, X, y, features), model.fits_[0])
    return Lines(*recorded(model, X, y, features), getattr(model, "at_zero", None) or -1)


def _target(path: Any) -> Path:
    """The file to write, if it can be, before any work."""
    target = target_path(path, "film", SUFFIXES, " or ")
    if target.suffix.lower() == ".mp4":
        from matplotlib.animation import FFMpegWriter

        if not FFMpegWriter.isAvailable():
            msg = f"{target.name} needs ffmpeg, which is not here: install it, or write a .gif"
            raise ValueError(msg)
    return target


def _write(animation: FuncAnimation, target: Path, fps: float) -> None:
    from matplotlib.animation import FFMpegWriter, PillowWriter

    gif = target.suffix.lower() == ".gif"
    writer = PillowWriter(fps=fps) if gif else FFMpegWriter(fps=fps)  # type: ignore[arg-type]
    try:
        with written_whole(target) as beside, unlogged():
            animation.save(beside, writer=writer, dpi=100)
    except subprocess.CalledProcessError as error:
        said = [line for line in str(error.stderr or "").splitlines() if line.strip()]
        reason = said[-1].strip() if said else f"it ended with status {error.returncode}"
        msg = f"ffmpeg could not write {target.name}: {reason}"
        raise OSError(msg) from None


def chosen_frames(n: int, most: int) -> list[int]:
    """At most so many of the numbers 0 to n, both ends among them, denser at the start."""
    if n < most:
        return list(range(n + 1))
    # The powers that are too close together round to the same number: start with more of them.
    ways = [
        np.unique(np.geomspace(n, 1, k).round().astype(int)) for k in range(most - 1, 20 * most)
    ]
    best = max((way for way in ways if way.size < most), key=len, default=np.array([n]))
    return [0, *best.tolist()]


class Film(ABC):
    """The figure of a film and what changes in it from picture to picture.

    It has steps 0 to `last`. `frames` are those shown; -1 stands for the vector that the model
    keeps, if that is not the last.
    """

    last: int
    keeps_last: bool
    reason: str  # why the run ended

    def __init__(self, seen: Seen) -> None:
        self.seen, self.points = seen, dense(seen.X)

    def prepare(self, max_frames: int, *, on_screen: bool) -> None:
        """Everything that does not move, and the first picture."""
        extra = not self.keeps_last
        self.frames = chosen_frames(self.last, max_frames - extra) + [-1] * extra
        self.figure, self.ax = _stage(on_screen)
        self.view = around(self.points, self.ax, pad=0.12, always=True)
        rows, classes = drawn_rows(self.seen), self.seen.classes
        self.area = size(rows.size)
        label = self.seen.label[rows]
        handles = scatter(self.ax, self.points[rows], label, classes, area=self.area)
        self.ring = rings(self.ax, np.empty((0, 2)), area=self.area, gid="mistakes")
        self.set_up(self.ax)
        Picture(self.ax, self.view).show(self.seen.features)
        style: Look = {"fontsize": SMALL, "framealpha": 0.85, "edgecolor": "none"}
        self.ax.legend(handles, [literal(c, 25) for c in classes], loc="upper right", **style)
        self.show(self.frames[0])
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")  # laid out once, so that nothing jumps about

    @abstractmethod
    def set_up(self, ax: Axes) -> None:
        """Everything that moves."""

    @abstractmethod
    def draw(self, t: int) -> int:
        """Move it to where it is after step t; how many samples are wrong then."""

    @abstractmethod
    def step(self, t: int) -> str:
        """Which step this is, in words."""

    def mistakes(self, t: int) -> Any:
        """The samples of step t."""
        return []

    def remark(self, t: int) -> str:
        """What else to say of a picture."""
        return ""

    def show(self, t: int) -> list[Any]:
        """The picture after step t."""
        wrong = self.draw(t)
        rows = np.asarray(self.mistakes(t) if t > 0 else [], dtype=np.intp)
        self.ring.set_offsets(self.points[rows])
        score = f"{out_of(wrong, self.seen.n)} wrong{self.remark(t)}"
        what = "the vector that is kept" if t < 0 else self.step(t) if t else "start"
        ended = f" – {self.reason}" * (t == self.last > 0)
        title = f"{what}: {score}{ended}"
        self.ax.set_title(title, fontsize=NORMAL, color=INK, loc="left")
        return [self.ring]


class Lines(Film):
    """A perceptron, update by update."""

    def __init__(
        self, seen: Seen, fit: Fit, updates: Updates | None, theta: Floats, at_zero: Any = -1
    ) -> None:
        super().__init__(seen)
        self.fit, self.updates, self.theta, self.at_zero = fit, updates, theta, at_zero
        self.last, self.keeps_last = len(theta) - 1, fit.keeps_last
        self.reason = fit.stop_reason.name.lower().replace("_", " ")

    def set_up(self, ax: Axes) -> None:
        """The line, the one before, its normal, its sides."""
        from matplotlib.patches import Polygon

        look: Look = {"alpha": 0.1, "linewidth": 0, "zorder": 0}
        sides = [Polygon(self.view.corners(), color=colour(k), **look) for k in range(2)]
        self.sides: list[Any] = [ax.add_patch(side) for side in sides]
        (self.before,) = ax.plot([], [], "--", color=GREY, linewidth=1.2, gid="before")
        (self.line,) = ax.plot([], [], color=INK, linewidth=2.2, gid="hyperplane")
        self.normal = arrow(ax, (0, 0), (1, 1), "normal")

    def plane(self, t: int) -> Hyperplane:
        """The hyperplane of picture t."""
        if t < 0:
            return self.fit.hyperplane
        return Hyperplane(self.theta[t, :2], self.theta[t, 2])

    def draw(self, t: int) -> int:
        """Draw the hyperplane after step t."""
        plane = self.plane(t)
        ends = self.view.segment(plane)
        before = self.view.segment(self.plane(t - 1)) if t > 0 else None
        for line, seen in ((self.line, ends), (self.before, before)):
            line.set_data(*([[], []] if seen is None else seen.T))
        halves = [self.view.corners() if (plane.b > 0) == k else np.empty((0, 2)) for k in range(2)]
        if plane.w.any():
            halves = [*self.view.halves(plane)]
        for side, half in zip(self.sides, halves, strict=True):
            side.set_visible(len(half) > 2)
            if len(half) > 2:
                side.set_xy(half)
        self.normal.set_visible(ends is not None)
        if ends is not None:
            foot = ends.mean(axis=0)
            tip = foot + 0.14 * self.view.diagonal * unit(plane)[0]
            self.normal.set_positions(tuple(foot), tuple(tip))
        answers = plane.predict(self.points, at_zero=self.at_zero)
        return int((answers != self.seen.signs).sum())

    def mistakes(self, t: int) -> Any:
        """The samples that update t is for."""
        return [] if self.updates is None else self.updates.sample[self.updates.update == t - 1]

    def step(self, t: int) -> str:
        """Which update in which epoch."""
        updates: Any = self.updates
        epoch = int(updates.epoch[np.argmax(updates.update == t - 1)])
        return f"update {out_of(t, self.last)}, epoch {grouped(epoch)}"

    def remark(self, t: int) -> str:
        """Where the line is, if it is not seen."""
        plane = self.plane(t)
        out = plane.w.any() and self.view.segment(plane) is None
        return " (the line is out of view)" * bool(out)


class Epochs(Lines):
    """The delta rule, epoch by epoch."""

    def __init__(self, seen: Seen, theta: Floats, fit: Fit) -> None:
        super().__init__(seen, fit, None, theta)

    def step(self, t: int) -> str:
        """Which epoch."""
        return f"epoch {out_of(t, self.last)}"

    def remark(self, t: int) -> str:
        """The loss."""
        values = self.plane(t).decision_function(self.points)
        loss = float(np.mean((self.seen.signs - values) ** 2)) / 2
        return f", loss {number(loss)}{super().remark(t)}"


class Curves(Film):
    """A kernel perceptron, update by update."""

    def __init__(self, steps: Steps) -> None:
        super().__init__(steps.seen)
        self.steps, self.last, self.keeps_last = steps, len(steps.record), steps.fit.keeps_last
        self.reason = steps.fit.stop_reason.name.lower().replace("_", " ")

    def set_up(self, ax: Axes) -> None:
        """Discs for the counters; the points at which the curve is looked for."""
        low, high = self.view.low, self.view.high
        self.across, self.up = (np.linspace(low[k], high[k], GRID) for k in range(2))
        grid = np.column_stack([part.ravel() for part in np.meshgrid(self.across, self.up)])
        self.values, self.own = ValuesOn(self.steps, grid), ValuesOn(self.steps, self.points)
        style: Look = {"facecolors": "#00000012", "edgecolors": "#22222290", "zorder": 3.5}
        self.discs = dots(ax, np.empty((0, 2)), linewidths=0.7, gid="support", **style)
        self.drawn: list[Any] = []

    def draw(self, t: int) -> int:
        """Draw the curve after update t, and the one before it."""
        for old in self.drawn:
            old.remove()
        self.drawn = []
        before, f = (
            self.values.after(k).reshape(GRID, GRID) for k in ((t - 1, t) if t > 0 else (0, t))
        )
        for k, lead in enumerate((np.where(f > 0, -1.0, TINY - f), np.where(f > 0, f, -1.0))):
            if (lead > 0).any():
                look: Look = {"colors": [colour(k)], "alpha": 0.14, "zorder": 0}
                self._add("contourf", lead, [0.0, lead.max() * 2], f"region {k}", **look)
        dashed: Look = {"colors": GREY, "linewidths": 1.2, "linestyles": "--", "zorder": 2}
        solid: Look = {"colors": INK, "linewidths": 2.0, "zorder": 3}
        for values, gid, look in ((before, "before", dashed), (f, "boundary", solid)):
            if values.min() < 0 < values.max():
                self._add("contour", values, [0.0], gid, **look)
        alpha = self.steps.counters(t)
        rows = np.flatnonzero(alpha)
        self.discs.set_offsets(self.points[rows])
        most = max(int(self.steps.counters(self.last).max(initial=0)), 1)
        self.discs.set_sizes(min(LARGEST / most, 130.0) * alpha[rows])
        answers = self.own.after(t) > 0
        return int((answers != (self.seen.label == 1)).sum())

    def _add(self, kind: str, values: Floats, levels: list[float], gid: str, **look: Any) -> None:
        made = getattr(self.ax, kind)(self.across, self.up, values, levels=levels, **look)
        made.set_gid(gid)
        self.drawn.append(made)

    def mistakes(self, t: int) -> Any:
        """The sample that update t is for."""
        return self.steps.record.sample[[t - 1]]

    def step(self, t: int) -> str:
        """Which update in which epoch."""
        epoch = int(self.steps.record.epoch[t - 1])
        return f"update {out_of(t, self.last)}, epoch {grouped(epoch)}"


def _stage(on_screen: bool) -> tuple[Any, Axes]:
    """A figure: one of pyplot's if it may be shown, otherwise one that nobody else holds."""
    if on_screen:
        figure, ax = pyplot().subplots(figsize=SIZE, layout="constrained")
        return figure, ax
    with unlogged():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()
