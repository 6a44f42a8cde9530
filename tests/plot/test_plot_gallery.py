"""The gallery: each of its scripts makes its picture."""

import runpy
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
pytestmark = pytest.mark.usefixtures("settings_stay")


@pytest.mark.parametrize("script", sorted(GALLERY.glob("*.py")), ids=lambda path: path.stem)
def test_gallery(script, tmp_path, monkeypatch):
    from PIL import Image

    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    (made,) = tmp_path.iterdir()
    assert made.stem == script.stem
    with Image.open(made) as picture:
        assert min(picture.size) > 200
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 4
    assert (GALLERY / made.name).exists()
    assert made.stat().st_size < (600_000 if made.suffix == ".gif" else 130_000)
    page = (GALLERY / "index.md").read_text()
    assert f"]({made.name})" in page
    assert f"`{script.name}`" in page
