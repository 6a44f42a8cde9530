"""What each frame of the playground costs the browser, by Chromium's own trace.

Work of the page's main thread between two commits of a frame: scripts, style, layout, painting.
"""

from __future__ import annotations

import json
import math
import shutil
import statistics
from bisect import bisect_right
from functools import partial
from typing import TYPE_CHECKING, Any

import rosenblatt as rb
from benchmarks.measure import Table

if TYPE_CHECKING:
    from collections.abc import Callable

POINTS, MOVES, PAUSE = 500, 180, 8  # milliseconds between two moves of the pointer
CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel"]
# The page opens again with these points and settings, as from a link.
OPEN = """async ([data, settings]) => {
    const { writeLink } = await import("/js/link.js");
    const show = { ground: true, vectors: true, errors: true, hulls: null, band: true };
    const state = { data, preset: null, lanes: [settings], chosen: 0, tool: "add", cls: 0,
                    show: { ...show, counts: true }, tab: "update", lesson: null };
    location.hash = await writeLink(state, 0);
    location.reload();
}"""


def frames(address: str) -> Table | None:
    """Dragging a point among many, and scrubbing through a long run; None without a Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    table = Table(
        "Work of the page's main thread per frame", ["what", "frames", "median ms", "95 % ms"]
    )
    with sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = driver.chromium.launch(executable_path=chromium, args=options)
        for name in ("perceptron", "kernel", "soft-margin"):
            page = _opened(browser, address, {"algorithm": name}, 0.02)
            work = _traced(browser, page, partial(_drag, page, *_first_point(page)))
            table.add(**_row(f"a point dragged among {POINTS}, {name}", work))
        long = {"algorithm": "perceptron", "max_epochs": 1000}
        page = _opened(browser, address, long, 0.3)
        total = page.get_attribute("#scrub", "max")
        work = _traced(browser, page, partial(_scrub, page))
        table.add(**_row(f"a run of {total} updates scrubbed", work))
        browser.close()
    return table


def _opened(browser: Any, address: str, settings: dict[str, Any], flipped: float) -> Any:
    """A page with many points, some of them with the wrong class, and its run."""
    found = rb.datasets.known_margin(POINTS, 2, margin=0.1, rotate=True, random_state=1)
    found = rb.datasets.flip_labels(found, flipped, random_state=0)
    points, labels = (4 * found.X).round(3).tolist(), ((found.y + 1) // 2).tolist()
    data = {"points": points, "labels": labels, "names": ["A", "B"], "features": ["x1", "x2"]}
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.locator("#verdict:not([data-verdict=none])").wait_for()
    page.evaluate(OPEN, [data, settings])
    page.locator("#data-text", has_text=f"{POINTS} points").wait_for(timeout=60_000)
    page.locator("#scrub:not([max='0'])").wait_for(timeout=60_000)
    page.wait_for_timeout(1500)
    return page


def _first_point(page: Any) -> tuple[float, float]:
    """Where it is on the screen."""
    canvas = page.locator("#plane")
    box = canvas.bounding_box()
    x0, x1, y0, y1 = map(float, canvas.get_attribute("data-view").split())
    page.click("#open-table")
    first = page.input_value("#table-text").split("\n")[1].split(",")
    page.keyboard.press("Escape")
    x = box["x"] + box["width"] * (float(first[0]) - x0) / (x1 - x0)
    y = box["y"] + box["height"] * (y1 - float(first[1])) / (y1 - y0)
    return x, y


def _drag(page: Any, x: float, y: float) -> None:
    """Move a point around in circles."""
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(MOVES):
        page.mouse.move(x + 60 * math.sin(k / 12), y + 60 * (1 - math.cos(k / 12)))
        page.wait_for_timeout(PAUSE)
    page.mouse.up()


def _scrub(page: Any) -> None:
    """Go through the run from its start to its end."""
    box = page.locator("#scrub").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 5, y)
    page.mouse.down()
    for k in range(MOVES):
        page.mouse.move(box["x"] + 5 + k * (box["width"] - 10) / MOVES, y)
        page.wait_for_timeout(PAUSE)
    page.mouse.up()


def _traced(browser: Any, page: Any, act: Callable[[], None]) -> list[float]:
    """The milliseconds of work of each frame while something is done, the least first."""
    browser.start_tracing(page=page, categories=CATEGORIES)
    act()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    page.close()
    named = [e for e in events if e.get("name") == "thread_name"]
    threads = {(e["pid"], e["tid"]) for e in named if e["args"]["name"] == "CrRendererMain"}
    own = [e for e in events if (e["pid"], e["tid"]) in threads]
    begun = sorted(e["ts"] for e in own if e["name"] == "Commit")
    work = [0.0] * len(begun)
    for task in own:
        at = bisect_right(begun, task["ts"]) - 1
        if task["name"] == "RunTask" and "dur" in task and at >= 0:
            work[at] += task.get("tdur", task["dur"]) / 1000
    return sorted(work)


def _row(what: str, work: list[float]) -> dict[str, Any]:
    late = work[int(0.95 * len(work))]
    return {
        "what": what,
        "frames": len(work),
        "median ms": round(statistics.median(work), 1),
        "95 % ms": round(late, 1),
    }
