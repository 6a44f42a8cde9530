"""The site in a real browser: every page, on a telephone and a desk, in the light and the dark."""

from pathlib import Path

import pytest

from browsing import launched, needs_chromium

DOCS = Path(__file__).resolve().parents[2] / "docs"
SECTIONS = ["", *sorted(p.name for p in DOCS.iterdir() if any(p.glob("*.md")))]

pytestmark = [pytest.mark.browser, needs_chromium]

# What is wrong with the page as it stands, in words.
FAULTS = """() => {
    for (const answer of document.querySelectorAll("details")) answer.open = true;
    const wide = document.documentElement.scrollWidth - innerWidth;
    const shown = e => e.checkVisibility() && e.getBoundingClientRect().width > 0;
    const white = e => getComputedStyle(e).backgroundColor === "rgb(255, 255, 255)";
    const ink = getComputedStyle(document.body).color.match(/[0-9]+/g).slice(0, 3);
    const dark = document.documentElement.dataset.theme === "dark";
    const bright = Math.max(...ink) > 128;
    const dollar = n => n.nodeType === Node.TEXT_NODE && /\\$(?![0-9])/.test(n.data);
    const images = [...document.querySelectorAll(".bd-article img")];
    const formulas = [...document.querySelectorAll(".bd-article math")];
    const prose = [...document.querySelectorAll(".bd-article :is(p, li, td)")];
    return [
        wide > 0 ? [`${wide} pixels too wide`] : [],
        dark === bright ? [] : [`theme ${dark ? "dark" : "light"}, letters ${ink}`],
        images.filter(e => !e.naturalWidth || !shown(e)).map(e => `no picture: ${e.src}`),
        images.filter(e => !white(e)).map(e => `drawn on no white: ${e.src}`),
        formulas.filter(e => !shown(e)).map(e => `no formula: ${e.textContent}`),
        prose.filter(e => [...e.childNodes].some(dollar))
             .map(e => `a dollar left: ${e.textContent}`),
    ].flat();
}"""


@pytest.fixture(scope="module")  # a loop runs in this thread as long as it is open
def browser():
    yield from launched()


def left(request):
    """Whether a request was given up because the page was left."""
    return request.failure == "net::ERR_ABORTED"


def at_home(request):
    return request.url.startswith(("file:", "data:"))


@pytest.fixture
def page(browser):
    """A page whose complaints, and requests to elsewhere, are kept in ``page.complaints``."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda m: m.type in ("error", "warning") and page.complaints.append(m.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("requestfailed", lambda r: left(r) or page.complaints.append(r.url))
    page.on("request", lambda r: at_home(r) or page.complaints.append(r.url))
    yield page
    context.close()


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section or "first")
def test_every_page_as_it_is_seen(section, site, page):
    faults = {}
    for path in sorted((site / section).glob("*.html")):
        page.goto(path.as_uri())
        for scheme in "light", "dark":
            page.emulate_media(color_scheme=scheme)
            for width in 1280, 390:
                page.set_viewport_size({"width": width, "height": 844})
                found = page.evaluate(FAULTS) + page.complaints
                faults |= {(path.name, width, scheme): found} if found else {}
                page.complaints.clear()
    assert not faults


def test_the_telephone_has_its_own_first_picture(site, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((site / "index.html").as_uri())
    box = page.locator(".bd-article img").first.bounding_box()
    assert box["height"] > 1.5 * box["width"]
    page.set_viewport_size({"width": 1280, "height": 900})
    box = page.locator(".bd-article img").first.bounding_box()
    assert box["width"] > 1.5 * box["height"]


def test_search_finds_names_and_words(site, page):
    page.goto((site / "index.html").as_uri())
    page.get_by_role("button", name="Search").first.click()
    page.keyboard.type("soft_margin_path")
    page.keyboard.press("Enter")
    page.locator("ul.search li a", has_text="soft_margin_path").first.click()
    assert page.url.endswith("reference/margins.html#rosenblatt.soft_margin_path")
    page.goto((site / "search.html").as_uri() + "?q=novikoff")
    page.locator("ul.search li a", has_text="Why it ends").first.wait_for()
    assert not page.complaints


def test_code_is_copied_without_prompts(site, page):
    page.goto((site / "index.html").as_uri())
    block = page.locator("div.highlight", has_text="import rosenblatt as rb").first
    block.hover()
    block.locator("button.copybtn").click()
    page.evaluate("document.body.append(document.createElement('textarea'))")
    page.locator("body > textarea").focus()
    page.keyboard.press("Control+V")
    pasted = page.locator("body > textarea").input_value()
    assert pasted.startswith("import rosenblatt as rb\nX, y = rb.datasets")
    assert ">>>" not in pasted
    assert "StopReason.SEPARATED" not in pasted


def test_the_dark_can_be_chosen(site, page):
    page.emulate_media(color_scheme="light")
    page.goto((site / "tutorial.html").as_uri())
    page.locator("button.theme-switch-button").first.click()
    page.locator(".theme-switch-button + .dropdown-menu >> text=Dark").first.click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
