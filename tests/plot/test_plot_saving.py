"""Pictures and films as files, and the module."""

import logging
import os
import subprocess
import sys
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import rosenblatt as rb
from pictures import find, fit, offsets, plane_of
from rosenblatt.plot.films import chosen_frames
from rosenblatt.visible import count, grouped

pytestmark = pytest.mark.usefixtures("settings_stay")


class TestAnimate:
    def test_gif(self, run, tmp_path):
        from PIL import Image

        data, model = run
        path = tmp_path / "run.gif"
        before = plt.get_fignums()
        film = rb.plot.animate(model, *data, path, fps=2)
        assert plt.get_fignums() == before
        with Image.open(path) as picture:
            assert picture.n_frames == len(model.trace_.updates) + 1
            picture.seek(picture.n_frames - 1)
            assert picture.info["duration"] >= 2000
        assert path.stat().st_size < 300_000
        last = list(film.new_saved_frame_seq())[-1]
        film._func(last)
        line = find(film._fig.axes[0], "hyperplane")
        ends_of_line = np.column_stack(line.get_data())
        assert plane_of(model).distance(ends_of_line) == pytest.approx([0, 0], abs=1e-9)
        n, epoch = len(model.trace_.updates), model.trace_.updates.epoch[-1]
        caption = film._fig.axes[0].get_title(loc="left")
        assert caption == f"update {n} of {n}, epoch {epoch}: 0 of 40 wrong – separated"

    def test_each_picture(self, run):
        data, model = run
        film = rb.plot.animate(model, *data)
        ax, updates = film._fig.axes[0], model.trace_.updates
        for t in range(1, len(updates) + 1):
            film._func(t)
            plane = updates.hyperplane(t, data.X)
            at = np.column_stack(find(ax, "hyperplane").get_data())
            assert plane.distance(at.reshape(-1, 2)) == pytest.approx(np.zeros(len(at)), abs=1e-9)
            assert np.array_equal(offsets(find(ax, "mistakes")), data.X[[updates.sample[t - 1]]])
            wrong = int((plane.predict(data.X) != data.y).sum())
            caption = ax.get_title(loc="left")
            assert caption.startswith(f"update {t} of {len(updates)}, epoch {updates.epoch[t - 1]}")
            assert f"{wrong} of 40 wrong" in caption
        film._draw_was_started = True

    def test_long_runs_have_few_pictures_and_end_with_what_is_kept(self, noisy):
        model = fit(noisy, record=True, keep="pocket", max_epochs=50)
        film = rb.plot.animate(model, *noisy, max_frames=12)
        frames = list(film.new_saved_frame_seq())
        assert len(set(frames)) <= 12
        assert frames[0] == 0
        assert model.n_updates_ in frames
        film._func(frames[-1])
        ax = film._fig.axes[0]
        assert ax.get_title(loc="left") == f"the vector that is kept: {model.n_errors_} of 80 wrong"
        at = np.column_stack(find(ax, "hyperplane").get_data())
        assert plane_of(model).distance(at) == pytest.approx([0, 0], abs=1e-9)
        film._draw_was_started = True

    @pytest.mark.parametrize(
        ("n", "most"), [(0, 2), (1, 2), (5, 2), (31, 60), (142, 60), (9**6, 20)]
    )
    def test_chosen(self, n, most):
        frames = chosen_frames(n, most)
        assert frames == sorted(set(frames))
        assert frames[0] == 0
        assert frames[-1] == n
        assert min(most, n + 1) / 2 <= len(frames) <= most

    def test_refuses(self, run, tmp_path, monkeypatch):
        from matplotlib.animation import FFMpegWriter

        data, model = run
        with pytest.raises(ValueError, match=r"give a name that ends in \.gif or \.mp4"):
            rb.plot.animate(model, *data, tmp_path / "run.avi")
        with pytest.raises(ValueError, match="has no suffix"):
            rb.plot.animate(model, *data, tmp_path / "run")
        monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
        with pytest.raises(ValueError, match=r"run\.mp4 needs ffmpeg"):
            rb.plot.animate(model, *data, tmp_path / "run.mp4")
        with pytest.raises(ValueError, match="fps=0 is not allowed"):
            rb.plot.animate(model, *data, fps=0)
        with pytest.raises(ValueError, match="max_frames=1 is not allowed"):
            rb.plot.animate(model, *data, max_frames=1)
        with pytest.raises(ValueError, match="fit with record=True"):
            rb.plot.animate(fit(data), *data)
        assert not list(tmp_path.iterdir())


class TestSave:
    def test_same_bytes_each_time(self, tmp_path):
        pictures = [rb.plot.bias() for _ in range(2)]
        for suffix in ("png", "svg", "pdf"):
            paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
            for picture, path in zip(pictures, paths, strict=True):
                rb.plot.save(picture, path)
            one, two = (path.read_bytes() for path in paths)
            assert one == two
            assert len(one) > 2000

    def test_takes_axes_arrays_and_figures(self, run, tmp_path):
        data, model = run
        axes = rb.plot.updates(model, *data, first=2)
        for name, drawn in (("a", axes), ("b", axes[0]), ("c", axes[0].figure)):
            rb.plot.save(drawn, tmp_path / f"{name}.png", dpi=50)
        assert len({(tmp_path / f"{name}.png").read_bytes() for name in "abc"}) == 1

    def test_full_disk_leaves_the_old_file(self, tmp_path, no_room):
        ax = rb.plot.bias()
        paths = [tmp_path / f"a.{suffix}" for suffix in ("png", "svg", "pdf")]
        for path in paths:
            path.write_text("old")
            with pytest.raises(OSError, match="oo large") as error, no_room():
                rb.plot.save(ax, path)
            assert "\n" not in str(error.value)
            assert path.read_text() == "old"
        assert sorted(tmp_path.iterdir()) == sorted(paths)

    def test_full_disk_leaves_no_film(self, run, tmp_path, no_room):
        data, model = run
        with pytest.raises(OSError, match="oo large") as error, no_room():
            rb.plot.animate(model, *data, tmp_path / "a.gif", max_frames=2, fps=1)
        assert "\n" not in str(error.value)
        assert not list(tmp_path.iterdir())

    def test_ffmpeg_that_fails_is_one_line(self, run, tmp_path, capfd):
        data, model = run
        ffmpeg = tmp_path / "ffmpeg"
        ffmpeg.write_text("#!/bin/sh\ncat > /dev/null\necho some\necho lots >&2\n"
                          "echo 'No space left on device' >&2\nexit 1\n")  # fmt: skip
        ffmpeg.chmod(0o755)
        films = tmp_path / "films"
        films.mkdir()
        with (
            mpl.rc_context({"animation.ffmpeg_path": str(ffmpeg)}),
            pytest.raises(OSError, match=r"ffmpeg could not write a\.mp4: No space") as error,
        ):
            rb.plot.animate(model, *data, films / "a.mp4", max_frames=2)
        assert "\n" not in str(error.value)
        assert not list(films.iterdir())
        assert capfd.readouterr().err == ""

    def test_missing_letters_are_one_short_warning(self, run, tmp_path):
        data, model = run
        names = ["身長", "跳躍🫠"]
        ax = rb.plot.decision(model, *data, feature_names=names, class_names=names)
        for write in (
            lambda: rb.plot.save(ax, tmp_path / "a.png"),
            lambda: rb.plot.save(ax, tmp_path / "a.pdf"),
            lambda: rb.plot.animate(
                model, *data, tmp_path / "a.gif", feature_names=names, max_frames=2, fps=1
            ),
        ):
            with pytest.warns(UserWarning, match="^the font has no picture for: ") as heard:
                write()
            (warning,) = heard
            assert {*str(warning.message).split(": ")[1].split()} == {*"身長跳躍🫠"}
            assert warning.filename == __file__

    @pytest.mark.parametrize("category", [RuntimeWarning, UserWarning])
    def test_other_warnings_are_passed_on(self, category, ax, tmp_path):
        def warn(_event):
            warnings.warn("something else", category, stacklevel=1)

        ax.set_title("身")
        ax.figure.canvas.mpl_connect("draw_event", warn)
        with pytest.warns() as heard:
            rb.plot.save(ax, tmp_path / "a.png")
        assert {(w.category, str(w.message)) for w in heard} == {
            (category, "something else"),
            (UserWarning, "the font has no picture for: 身"),
        }

    def test_refuses(self, ax, tmp_path):
        with pytest.raises(ValueError, match=r"'\.bmp' is not a picture.*\.png, \.svg, \.pdf"):
            rb.plot.save(ax, tmp_path / "a.bmp")
        with pytest.raises(ValueError, match="cannot save int: give Axes"):
            rb.plot.save(3, tmp_path / "a.png")


def test_importing_it_does_not_import_matplotlib():
    code = "import rosenblatt.plot, sys; sys.exit(any(m in sys.modules for m in %r))"
    code %= (("matplotlib", "numba", "sklearn"),)
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_home_that_cannot_be_written_is_not_talked_about(tmp_path):
    code = "import rosenblatt as rb, sys; rb.plot.save(rb.plot.bias(), sys.argv[1])"
    spared = ("HOME", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    quiet = {name: value for name, value in os.environ.items() if name not in spared}
    quiet |= {"HOME": "/dev/null/home", "MPLBACKEND": "agg"}  # where not even root has a folder
    command = [sys.executable, "-c", code, str(tmp_path / "a.png")]
    done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_log_of_matplotlib_is_as_before(run, tmp_path):
    data, model = run
    log = logging.getLogger("matplotlib")
    before = log.level
    for level in (logging.NOTSET, logging.DEBUG):
        log.setLevel(level)
        rb.plot.animate(model, *data, tmp_path / "a.gif", max_frames=2, fps=1)
        after = log.level
        log.setLevel(before)
        assert after == level


def test_thousands_are_apart_from_ten_thousand_on():
    shown = [grouped(n) for n in (0, 999, 1372, 9999, 10_000, 32_561, -1_234_567)]
    assert shown == ["0", "999", "1372", "9999", "10,000", "32,561", "−1,234,567"]
    assert count(32_561, "row") == "32,561 rows"


def test_public_names():
    assert all(callable(getattr(rb.plot, name)) for name in rb.plot.__all__)
