"""Screenshots of the playground, to be looked at: scenes at three sizes, light and dark.

    python docs/playground_screens.py FOLDER [SCENE …]

Takes Chromium and the extras `playground` and `test`.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SIZES = {"phone": (360, 740), "desk": (1280, 800), "projector": (1920, 1080)}
TOKEN = "screens"


def first(page: Any) -> None:
    """The page as it opens."""


def step(page: Any) -> None:
    """An update in the midst of the run."""
    for _ in range(6):
        page.keyboard.press("ArrowRight")


def separated(page: Any) -> None:
    """The end of the run, in weight space."""
    page.keyboard.press("End")
    show(page, "weights")


def xor(page: Any) -> None:
    """Hulls that meet, and the proof."""
    make(page, "xor")
    page.keyboard.press("End")
    show(page, "curves")


def moons(page: Any) -> None:
    """The surface of a kernel perceptron."""
    make(page, "moons")
    choose(page, "kernel")
    page.keyboard.press("End")


def soft(page: Any) -> None:
    """Band, support vectors and slacks."""
    choose(page, "soft-margin")
    page.keyboard.press("End")


def classes(page: Any) -> None:
    """More than two classes."""
    make(page, "blobs")
    page.keyboard.press("End")


def four(page: Any) -> None:
    """Four algorithms in lock-step."""
    for _ in range(3):
        page.click("#add-lane")
        page.wait_for_timeout(300)
    page.keyboard.press("End")


def keep(page: Any) -> None:
    """What can be kept."""
    page.click("#open-keep")


def keys(page: Any) -> None:
    """All keys."""
    page.click("#open-keys")


SCENES = {
    scene.__name__: scene
    for scene in (first, step, separated, xor, moons, soft, classes, four, keep, keys)
}


def make(page: Any, kind: str) -> None:
    """Start from data of this kind."""
    page.click(f"#preset-{kind}")
    page.wait_for_timeout(700)
    page.locator("h1").click()


def choose(page: Any, algorithm: str) -> None:
    """Take this algorithm."""
    page.select_option("#algorithm-name", algorithm)
    page.wait_for_timeout(700)
    page.evaluate("document.activeElement.blur()")


def show(page: Any, tab: str) -> None:
    """Open a view, where not all are open."""
    if page.locator(f"#tab-{tab}").is_visible():
        page.click(f"#tab-{tab}")


@contextmanager
def served() -> Any:
    """The address of a playground."""
    import uvicorn

    from rosenblatt.playground.app import make_app
    from rosenblatt.playground.guard import Door

    app = make_app(Door(token=TOKEN), seconds=600)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/?token={TOKEN}"
    server.should_exit = True
    thread.join()


def main(folder: Path, names: list[str]) -> None:
    """Take them all."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with served() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=options)
        for name in names or SCENES:
            for size, (width, height) in SIZES.items():
                for scheme in "light", "dark":
                    page = browser.new_page(
                        viewport={"width": width, "height": height}, color_scheme=scheme
                    )
                    page.goto(address)
                    page.locator("#verdict:not([data-verdict=none])").wait_for()
                    SCENES[name](page)
                    page.wait_for_timeout(700)
                    page.evaluate("scrollTo(0, 0)")
                    page.screenshot(path=folder / f"{name}_{size}_{scheme}.png")
                    page.close()
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
