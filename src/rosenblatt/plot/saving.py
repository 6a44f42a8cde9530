"""Pictures and films as files, and what Matplotlib has to say while it draws them."""

from __future__ import annotations

import io
import os
import subprocess
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt import arguments
from rosenblatt.array_types import Floats
from rosenblatt.files.whole import written_whole
from rosenblatt.plot.axes import Axes, pyplot, unlogged
from rosenblatt.plot.lettering import literal, out_of
from rosenblatt.plot.plane import Picture, around, drawn_rows, rings, scatter, size, unit
from rosenblatt.plot.seen import Seen, dense, recorded
from rosenblatt.plot.style import GREY, INK, NORMAL, SMALL, Look, arrow, colour
from rosenblatt.results import Fit, Hyperplane, Updates
from rosenblatt.visible import grouped

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation

# What each format would otherwise be stamped with: the time, or Matplotlib's version.
STAMPS: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
MOST_LETTERS = 8
SUFFIXES = (".gif", ".mp4")
SIZE = (5.2, 4.2)
HOLD = 2.0  # seconds for which the last picture stays


def save(drawn: Any, path: str | os.PathLike[str], *, dpi: float = 160) -> None:
    """Write a picture to a file, whole or not at all, and the same bytes every time.

    Parameters
    ----------
    drawn : matplotlib Axes, array of Axes, or Figure
        What a function of this module returned.
    path : path
        The file; its suffix, .png, .svg or .pdf, chooses the format.
    dpi : float
        Dots per inch, for .png.
    """
    wanted = "give a number of dots per inch, from 10 to 10000"
    arguments.number("dpi", dpi, lambda x: 10 <= x <= 10_000, wanted)
    target = target_path(path, "picture", (*STAMPS,), ", ")
    figure = _figure(drawn)
    with heard() as warned:
        picture = _picture(figure, target.suffix.lower(), dpi)
    pass_on(warned, figure)
    with written_whole(target) as beside:
        beside.write_bytes(picture)


def target_path(path: Any, what: str, suffixes: tuple[str, ...], between: str) -> Path:
    """The path of a picture or film, if its suffix is one of these."""
    target = Path(arguments.file_path("path", path))
    if target.suffix.lower() not in suffixes:
        given = f"{target.suffix!r} is not a {what} format" if target.suffix else "has no suffix"
        msg = f"{target.name}: {given}; give a name that ends in {between.join(suffixes)}"
        raise ValueError(msg)
    return target


def _picture(figure: Any, suffix: str, dpi: float) -> bytes:
    """The contents of the file."""
    import matplotlib as mpl

    stamps: Look = STAMPS[suffix]
    memory = io.BytesIO()
    for ax in figure.axes:  # a layout starts from the last one: start from none, every time
        if figure.get_layout_engine() is not None and ax.get_subplotspec() is not None:
            ax.set_subplotspec(ax.get_subplotspec())
    figure.draw_without_rendering()  # the layout settles at the first drawing
    with mpl.rc_context({"svg.hashsalt": "rosenblatt"}):
        figure.savefig(memory, format=suffix[1:], dpi=dpi, bbox_inches="tight", metadata=stamps)
    return memory.getvalue()


def _figure(drawn: Any) -> Any:
    """The figure of axes, of an array of axes, or the figure itself."""
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    first = drawn.flat[0] if isinstance(drawn, np.ndarray) and drawn.size else drawn
    if isinstance(first, Figure):
        return first
    if isinstance(first, Axes):
        return first.figure.figure  # of a part of a figure, the whole
    msg = f"cannot save {type(drawn).__name__}: give Axes, an array of Axes, or a Figure"
    raise ValueError(msg)


# Letters that the font lacks ------------------------------------------------------------------


@contextmanager
def heard() -> Iterator[list[warnings.WarningMessage]]:
    """All warnings to users; `pass_on` is to say which of them are worth telling."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        yield warned


def pass_on(warned: list[warnings.WarningMessage], figure: Any) -> None:
    """Say in one warning which letters the fonts of a figure lack, not in several for each."""
    lacking = _lacking(figure)
    for one in warned:
        if str(one.message) not in lacking.values():
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    letters = [*dict.fromkeys(letter for letter, _ in lacking)]
    if letters:
        more = " …" * (len(letters) > MOST_LETTERS)
        msg = f"the font has no picture for: {' '.join(letters[:MOST_LETTERS])}{more}"
        warnings.warn(msg, UserWarning, stacklevel=3)


def _lacking(figure: Any) -> dict[tuple[str, Any], str]:
    """Letters and fonts of a figure of which Matplotlib warns when it measures them; and how."""
    from matplotlib.text import Text
    from matplotlib.textpath import text_to_path

    texts = [text for text in figure.findobj(Text) if text.get_visible()]
    pairs = [(letter, text.get_fontproperties()) for text in texts for letter in text.get_text()]
    found = {}
    for letter, font in dict.fromkeys(pair for pair in pairs if not pair[0].isascii()):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            text_to_path.get_text_width_height_descent(letter, font, ismath=False)
        if warned:
            found[letter, font] = str(warned[0].message)
    return found


# Films ----------------------------------------------------------------------------------------


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
    with unlogged():
        from matplotlib.animation import FuncAnimation

    target = None if path is None else _target(path)
    wanted = "give a positive number of pictures per second, up to 1000"
    arguments.number("fps", fps, lambda x: 0 < x <= 1000, wanted)
    arguments.whole_number("max_frames", max_frames, 2, "give 2 or more, for start and end")
    run = recorded(model, X, y, feature_names)
    with heard() as warned:
        film = Film(run, max_frames, on_screen=target is None)
        held = [*film.frames, *[film.frames[-1]] * round(HOLD * fps)]
        times: Look = {"init_func": lambda: None, "interval": 1000 / fps, "repeat": True}
        animation = FuncAnimation(film.figure, film.show, held, **times)
        if target is not None:
            _write(animation, target, fps)
    pass_on(warned, film.figure)
    return animation


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


class Film:
    """The figure of a film and what changes in it from picture to picture.

    `frames` are the numbers of the updates shown; -1 stands for the vector that the model keeps,
    if that is not the last.
    """

    def __init__(
        self, run: tuple[Seen, Fit, Updates, Floats], max_frames: int, *, on_screen: bool
    ) -> None:
        self.seen, self.fit, self.updates, self.theta = run
        self.points = dense(self.seen.X)
        extra = self.fit.hyperplane != self.fit.last
        self.frames = chosen_frames(len(self.updates), max_frames - extra) + [-1] * extra
        self.figure, self.ax = _stage(on_screen)
        self.view = around(self.points, self.ax, pad=0.12, always=True)
        self._set_up(self.ax)
        self.show(self.frames[0])
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")  # laid out once, so that nothing jumps about

    def _set_up(self, ax: Axes) -> None:
        """Everything that moves, and the points, which do not."""
        from matplotlib.patches import Polygon

        rows, classes = drawn_rows(self.seen), self.seen.classes
        area = size(rows.size)
        handles = scatter(ax, self.points[rows], self.seen.label[rows], classes, area=area)
        look: Look = {"alpha": 0.1, "linewidth": 0, "zorder": 0}
        sides = [Polygon(self.view.corners(), color=colour(k), **look) for k in range(2)]
        self.sides: list[Any] = [ax.add_patch(side) for side in sides]
        (self.before,) = ax.plot([], [], "--", color=GREY, linewidth=1.2, gid="before")
        (self.line,) = ax.plot([], [], color=INK, linewidth=2.2, gid="hyperplane")
        self.normal = arrow(ax, (0, 0), (1, 1), "normal")
        self.ring = rings(ax, np.empty((0, 2)), area=area, gid="mistakes")
        Picture(ax, self.view).show(self.seen.features)
        style: Look = {"fontsize": SMALL, "framealpha": 0.85, "edgecolor": "none"}
        ax.legend(handles, [literal(c, 25) for c in classes], loc="upper right", **style)

    def plane(self, t: int) -> Hyperplane:
        """The hyperplane of picture t."""
        if t < 0:
            return self.fit.hyperplane
        return Hyperplane(self.theta[t, :2], self.theta[t, 2])

    def show(self, t: int) -> list[Any]:
        """Draw the hyperplane after update t."""
        plane = self.plane(t)
        ends = self.view.segment(plane)
        before = self.view.segment(self.plane(t - 1)) if t > 0 else None
        for line, seen in ((self.line, ends), (self.before, before)):
            line.set_data(*([[], []] if seen is None else seen.T))
        mistakes = self.updates.sample[self.updates.update == t - 1] if t > 0 else []
        self.ring.set_offsets(self.points[np.asarray(mistakes, dtype=np.intp)])
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
        self.ax.set_title(self.caption(t), fontsize=NORMAL, color=INK, loc="left")
        return [self.line, self.before, self.ring, self.normal, *self.sides]

    def caption(self, t: int) -> str:
        """Which update this is, in which epoch, and how many samples are wrong after it."""
        plane = self.plane(t)
        wrong = int((plane.predict(self.points) != self.seen.signs).sum())
        score = f"{out_of(wrong, self.seen.n)} wrong"
        if plane.w.any() and self.view.segment(plane) is None:
            score += " (the line is out of view)"
        if t < 0:
            return f"the vector that is kept: {score}"
        if t == 0:
            return f"start: {score}"
        epoch = int(self.updates.epoch[np.argmax(self.updates.update == t - 1)])
        text = f"update {out_of(t, len(self.updates))}, epoch {grouped(epoch)}: {score}"
        if t == len(self.updates):
            text += f" – {self.fit.stop_reason.name.lower().replace('_', ' ')}"
        return text


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
