"""A recorded run as a film."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import file_path, number, whole_number
from rosenblatt.files.whole import written_whole
from rosenblatt.plot import _points, _quiet, _style, _view
from rosenblatt.plot._reading import path as path_of
from rosenblatt.plot._reading import recorded
from rosenblatt.results import Hyperplane

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rosenblatt.plot._reading import Seen
    from rosenblatt.results import Fit, Updates

    Floats = NDArray[np.float64]

SUFFIXES = (".gif", ".mp4")
HOLD = 2.0  # seconds for which the last picture stays


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
    """A film of a recorded run: the line turning at each mistake.

    Every picture has the line after an update, the line before it dashed, and the mistake ringed.
    Where the model keeps another vector than the last one (``keep="pocket"``, ``"average"``) the
    film ends with that. A long run is shown by some of its updates, most of them early ones,
    where the line turns most.

    Parameters
    ----------
    model : Perceptron
        Fitted to two classes and two features with ``record=True``.
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
    target = None if path is None else Path(file_path("path", path))
    _check(target, fps, max_frames)
    run = recorded(model, X, y, feature_names)
    with _quiet.drawing():
        film = Film(*run, max_frames, on_screen=target is None)
        animation = _animation(film, fps)
        if target is not None:
            _write(animation, target, fps)
    return animation


def _animation(film: Film, fps: float) -> FuncAnimation:
    from matplotlib.animation import FuncAnimation

    held = [*film.frames, *[film.frames[-1]] * round(HOLD * fps)]
    return FuncAnimation(
        film.figure, film.show, held, init_func=lambda: None, interval=1000 / fps, repeat=True
    )


def _check(target: Path | None, fps: float, max_frames: int) -> None:
    """Refuse what cannot be made, before any work."""
    wanted = "give a positive number of pictures per second, up to 1000"
    number("fps", fps, lambda x: 0 < x <= 1000, wanted)
    whole_number("max_frames", max_frames, 2, "give 2 or more, for start and end")
    if target is None:
        return
    if target.suffix.lower() not in SUFFIXES:
        given = f"{target.suffix!r} is not a film format" if target.suffix else "has no suffix"
        msg = f"{target.name}: {given}; give a name that ends in {' or '.join(SUFFIXES)}"
        raise ValueError(msg)
    if target.suffix.lower() == ".mp4":
        with _quiet.unlogged():
            from matplotlib.animation import FFMpegWriter

        if not FFMpegWriter.isAvailable():
            msg = f"{target.name} needs ffmpeg, which is not here: install it, or write a .gif"
            raise ValueError(msg)


def _write(animation: FuncAnimation, target: Path, fps: float) -> None:
    from matplotlib.animation import FFMpegWriter, PillowWriter

    gif = target.suffix.lower() == ".gif"
    writer = PillowWriter(fps=fps) if gif else FFMpegWriter(fps=fps)  # type: ignore[arg-type]
    try:
        with written_whole(target) as beside, _quiet.unlogged():
            animation.save(beside, writer=writer, dpi=100)
    except subprocess.CalledProcessError as error:
        said = [line for line in str(error.stderr or "").splitlines() if line.strip()]
        reason = said[-1].strip() if said else f"it ended with status {error.returncode}"
        msg = f"ffmpeg could not write {target.name}: {reason}"
        raise OSError(msg) from None


def chosen(n: int, most: int) -> list[int]:
    """At most so many of the numbers 0 to n, both ends among them, denser at the start."""
    if n < most:
        return list(range(n + 1))
    # The powers that are too close together round to the same number: start with more of them.
    ways = (
        np.unique(np.geomspace(n, 1, k).round().astype(int)) for k in range(most - 1, 20 * most)
    )
    picked = [w for w in ways if w.size <= most - 1]
    best = max(picked, key=len) if picked else np.array([n])
    return [0, *best.tolist()]


class Film:
    """The figure of a film and what changes in it from picture to picture.

    `frames` are the numbers of the updates shown; -1 stands for the vector that the model keeps,
    if that is not the last.
    """

    def __init__(
        self, seen: Seen, fit: Fit, updates: Updates, max_frames: int, *, on_screen: bool
    ) -> None:
        self.seen, self.fit, self.updates = seen, fit, updates
        self.points = _points.dense(seen.X)
        self.theta = path_of(updates, seen.X, fit.last)
        extra = fit.hyperplane != fit.last
        self.frames = chosen(len(updates), max_frames - extra) + [-1] * extra
        self.figure, self.ax = _stage(on_screen)
        self.view = _view.around(self.points, self.ax, pad=0.12, always=True)
        self._set_up(self.ax)
        self.show(self.frames[0])
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")  # laid out once, so that nothing jumps about

    def _set_up(self, ax: Axes) -> None:
        """Everything that moves, and the points, which do not."""
        from matplotlib.patches import Polygon

        rows = _points.drawn(self.seen)
        self.area = _points.size(rows.size)
        label = self.seen.label[rows]
        handles = _points.scatter(ax, self.points[rows], label, self.seen.classes, area=self.area)
        corners = self.view.corners()
        tints = [_style.colour(k) for k in range(2)]
        self.sides: list[Any] = [
            ax.add_patch(Polygon(corners, color=tint, alpha=0.1, linewidth=0, zorder=0))
            for tint in tints
        ]
        (self.before,) = ax.plot([], [], "--", color=_style.GREY, linewidth=1.2, gid="before")
        (self.line,) = ax.plot([], [], color=_style.INK, linewidth=2.2, gid="hyperplane")
        self.normal = _style.arrow(ax, (0, 0), (1, 1), "normal")
        self.ring = _points.rings(ax, np.empty((0, 2)), area=self.area, gid="mistakes")
        self.view.show(ax)
        for axis, k in ((ax.xaxis, 0), (ax.yaxis, 1)):
            _style.label_axis(axis, self.seen.features[k], self.view.low[k], self.view.high[k])
        _style.plain(ax)
        ax.legend(handles, [_style.literal(c, 25) for c in self.seen.classes], loc="upper right",
                  fontsize=_style.SMALL, framealpha=0.85, edgecolor="none")  # fmt: skip

    def plane(self, t: int) -> Hyperplane:
        """The hyperplane of picture t."""
        if t < 0:
            return self.fit.hyperplane
        return Hyperplane(self.theta[t, :2], self.theta[t, 2])

    def show(self, t: int) -> list[Any]:
        """Draw the hyperplane after update t."""
        plane = self.plane(t)
        before = self.plane(t - 1) if t > 0 else None
        self._draw_line(self.line, plane)
        self._draw_line(self.before, before)
        mistakes = self.updates.sample[self.updates.update == t - 1] if t > 0 else []
        self.ring.set_offsets(self.points[np.asarray(mistakes, dtype=np.intp)])
        self._draw_sides(plane)
        self.ax.set_title(self.caption(t), fontsize=_style.NORMAL, color=_style.INK, loc="left")
        return [self.line, self.before, self.ring, self.normal, *self.sides]

    def _draw_line(self, line: Any, plane: Hyperplane | None) -> None:
        ends = None
        if plane is not None and plane.w.any():
            ends = _view.segment(plane, self.view)
        line.set_data(*([[], []] if ends is None else ends.T))

    def _draw_sides(self, plane: Hyperplane) -> None:
        """The two half-planes and the normal."""
        for k, side in enumerate(self.sides):
            part = self.view.corners() if (plane.b > 0) == k else np.empty((0, 2))
            if plane.w.any():
                w, b = _view.unit(plane)
                part = _view.clipped(self.view.corners(), (2 * k - 1) * w, (2 * k - 1) * b)
            side.set_visible(len(part) > 2)
            if len(part) > 2:
                side.set_xy(part)
        ends = _view.segment(plane, self.view) if plane.w.any() else None
        self.normal.set_visible(ends is not None)
        if ends is not None:
            foot = ends.mean(axis=0)
            tip = foot + 0.14 * self.view.diagonal * _view.unit(plane)[0]
            self.normal.set_positions(tuple(foot), tuple(tip))

    def caption(self, t: int) -> str:
        """Which update this is, in which epoch, and how many samples are wrong after it."""
        plane, n = self.plane(t), len(self.seen.label)
        wrong = int((plane.predict(self.points) != 2 * self.seen.label - 1).sum())
        score = f"{_style.grouped(wrong)} of {_style.grouped(n)} wrong"
        if plane.w.any() and _view.segment(plane, self.view) is None:
            score += " (the line is out of view)"
        if t < 0:
            return f"the vector that is kept: {score}"
        if t == 0:
            return f"start: {score}"
        epoch = int(self.updates.epoch[np.argmax(self.updates.update == t - 1)])
        number, last = _style.grouped(t), _style.grouped(len(self.updates))
        text = f"update {number} of {last}, epoch {_style.grouped(epoch)}: {score}"
        if t == len(self.updates):
            text += f" – {self.fit.stop_reason.name.lower().replace('_', ' ')}"
        return text


def _stage(on_screen: bool) -> tuple[Any, Axes]:
    """A figure: one of pyplot's if it may be shown, otherwise one that nobody else holds."""
    size = (5.2, 4.2)
    if on_screen:
        figure, ax = _style.pyplot().subplots(figsize=size, layout="constrained")
        return figure, ax
    with _quiet.unlogged():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()
