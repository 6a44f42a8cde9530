"""The film of the playground: a line learns, a point spoils it, a kernel mends it.

    python docs/playground_film.py docs/how-to/playground.gif

Screenshots of the page in Chromium, joined. Takes the extras `playground` and `test`.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playground_screens import choose, served

SIZE = (1240, 700)
WIDTH = 860  # of the film
COLOURS = 160
SHORT, LONG = 350, 1800  # milliseconds


def scenes(page: Any) -> Iterator[int]:
    """Do something, and say how long to look at it."""
    yield LONG
    for _ in range(16):
        page.keyboard.press("ArrowRight")
        yield SHORT
    yield LONG
    page.click("#tool-class-1")
    start, end = spot(page, 0.18, 0.75), spot(page, 0.3, 0.4)
    page.mouse.click(*start)
    page.wait_for_timeout(400)
    yield 900
    page.mouse.move(*start)
    page.mouse.down()
    for k in range(1, 7):
        page.mouse.move(*(a + (b - a) * k / 6 for a, b in zip(start, end, strict=True)))
        page.wait_for_timeout(300)
        yield 200
    page.mouse.up()
    page.mouse.move(*spot(page, 0.97, 0.97))
    page.wait_for_timeout(400)
    yield LONG
    choose(page, "kernel")
    page.keyboard.press("Home")
    total = int(page.get_attribute("#scrub", "max"))
    for k in range(total):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(250)
        if k % max(1, total // 12) == 0:
            yield SHORT
    page.keyboard.press("End")
    page.wait_for_timeout(600)
    yield 2 * LONG


def spot(page: Any, x: float, y: float) -> tuple[float, float]:
    """A place in the picture, in shares of its width and height."""
    box = page.locator("#plane").bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def main(file: Path) -> None:
    """Take the film."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    frames, durations = [], []
    with served() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        size = {"width": SIZE[0], "height": SIZE[1]}
        page = browser.new_page(viewport=size, reduced_motion="reduce")
        page.goto(address)
        page.locator("#verdict:not([data-verdict=none])").wait_for()
        page.wait_for_timeout(500)
        for duration in scenes(page):
            page.wait_for_timeout(80)
            page.evaluate("scrollTo(0, 0)")
            seen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            height = round(SIZE[1] * WIDTH / SIZE[0])
            frames.append(seen.resize((WIDTH, height), Image.Resampling.LANCZOS))
            durations.append(duration)
        browser.close()
    several = Image.new("RGB", (WIDTH, len(frames) * frames[0].height))
    for k, frame in enumerate(frames):
        several.paste(frame, (0, k * frame.height))
    palette = several.quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
    small = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    small[0].save(file, save_all=True, append_images=small[1:], duration=durations, loop=0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
