"""The gallery: each of its scripts makes its picture."""

import runpy
import sys
from pathlib import Path

import pytest

from rosenblatt.plot import films

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
pytestmark = pytest.mark.usefixtures("settings_stay")


@pytest.mark.parametrize("script", sorted(GALLERY.glob("*.py")), ids=lambda path: path.stem)
def test_gallery(script, tmp_path, monkeypatch):
    from PIL import Image

    chosen = films.chosen_frames
    monkeypatch.setattr(films, "chosen_frames", lambda n, most: chosen(n, min(most, 6)))
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    (made,) = tmp_path.iterdir()
    assert made.stem == script.stem
    with Image.open(made) as picture:
        assert min(picture.size) > 200
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 4
    most = 600_000 if made.suffix == ".gif" else 130_000
    assert max(path.stat().st_size for path in (made, GALLERY / made.name)) < most
    page = (GALLERY / "index.md").read_text()
    assert f"]({made.name})" in page
    assert f"`{script.name}`" in page
