"""The page in a real browser: narrow and wide, light and dark, on paper, and under attack."""

from pathlib import Path

import pytest

from browsing import launched, needs_chromium
from commands import NOTES, PENGUINS, call
from hostile import HOSTILE, hostile_table

pytestmark = [pytest.mark.browser, needs_chromium]

# What is wrong with the page as it stands, in words.
FAULTS = """() => {
    for (const part of document.querySelectorAll("details")) part.open = true;
    const wide = document.documentElement.scrollWidth - innerWidth;
    const channels = text => text.match(/[0-9.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
    const over = (top, below) => {
        const a = top.length > 3 ? top[3] : 1;
        return [0, 1, 2].map(k => a * top[k] + (1 - a) * below[k]);
    };
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const plain = colour => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const behind = e => {
        const stack = [];
        for (; e; e = e.parentElement) stack.unshift(plain(getComputedStyle(e).backgroundColor));
        return stack.reduce((below, top) => over(top, below), [255, 255, 255]);
    };
    const words = e => [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim());
    const contrast = e => {
        const style = getComputedStyle(e), below = behind(e);
        const ink = plain(e.namespaceURI.endsWith("svg") ? style.fill : style.color);
        const [a, b] = [light(over(ink, below)), light(below)].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
    };
    const seen = [...document.querySelectorAll("body *")]
        .filter(e => words(e) && e.checkVisibility() && !["STYLE", "SCRIPT"].includes(e.tagName))
        .filter(e => !["title", "desc"].includes(e.tagName));
    const kinds = new Map(seen.map(e => [e.tagName + e.className + e.closest("section"), e]));
    const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map(e => +e.tagName[1]);
    const named = e => (e.getAttribute("aria-labelledby") || "").split(" ")
        .every(id => id && document.getElementById(id)?.textContent.trim());
    const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
    const heads = [...document.querySelectorAll("th")];
    return [
        wide > 0 ? [`${wide} pixels too wide`] : [],
        [...kinds.values()].filter(e => contrast(e) < 4.5)
            .map(e => `contrast ${contrast(e).toFixed(2)} of ${e.tagName} ${e.textContent}`),
        levels.filter((n, k) => n > 1 + (levels[k - 1] || 0)).map(n => `heading ${n} after a gap`),
        levels.filter(n => n === 1).length === 1 ? [] : ["not one h1"],
        [...document.querySelectorAll("svg")].filter(e => !e.closest("[aria-hidden]") && !named(e))
            .map(e => "a picture without a name"),
        ids.filter((id, k) => ids.indexOf(id) !== k).map(id => `id twice: ${id}`),
        heads.filter(e => !e.scope).map(e => `no scope: ${e.textContent}`),
        document.querySelectorAll("script, img, iframe, object, link, [onmouseover]").length
            ? ["something that acts"] : [],
        document.documentElement.lang === "en" ? [] : ["no language"],
    ].flat();
}"""


@pytest.fixture(scope="module")
def browser():
    yield from launched()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages of a few models, by name."""
    folder = tmp_path_factory.mktemp("pages")
    hostile_table(folder / "hostile.csv")
    files = {
        "notes": (NOTES, "--max-epochs", 20, "--report-time", "20s"),
        "penguins": (PENGUINS, "--target", "species", "--report-time", "0s"),
        "hostile": (folder / "hostile.csv", "--max-epochs", 5, "--report-time", "0s"),
    }
    made = {}
    for name, arguments in files.items():
        made[name] = folder / f"{name}.html"
        call("report", *arguments, "-o", made[name])
    return made


@pytest.fixture
def page(browser):
    """A page whose complaints, and requests for anything but itself, are in ``complaints``."""
    context = browser.new_context(viewport={"width": 800, "height": 900})
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda m: page.complaints.append(m.text))
    page.on("dialog", lambda d: page.complaints.append(d.message))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda r: r.url == page.url or page.complaints.append(r.url))
    yield page
    context.close()


def opened(page, file):
    page.goto(file.as_uri())
    page.complaints.clear()  # of the request for itself, before it has an address
    return page


@pytest.mark.parametrize("name", ["notes", "penguins", "hostile"])
def test_every_width_in_the_light_and_the_dark(name, pages, page):
    opened(page, pages[name])
    faults = {}
    for scheme in "light", "dark":
        page.emulate_media(color_scheme=scheme)
        for width in 360, 800, 1400:
            page.set_viewport_size({"width": width, "height": 900})
            found = page.evaluate(FAULTS) + page.complaints
            faults |= {(width, scheme): found} if found else {}
    assert not faults


def test_names_and_cells_are_text_only(pages, page):
    opened(page, pages["hostile"])
    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    page.locator("body").hover()
    assert not page.complaints
    assert page.evaluate("window.taken === undefined")
    shown = page.locator("body").inner_text()
    for name in HOSTILE.values():
        assert name in shown


def test_on_paper(pages, page):
    opened(page, pages["notes"])
    page.emulate_media(media="print", color_scheme="dark")
    ink = page.evaluate("getComputedStyle(document.querySelector('.rosenblatt')).color")
    assert ink == "rgb(17, 17, 17)"
    assert not page.locator("nav").is_visible()
    paper = page.pdf(format="A4", print_background=True)
    assert paper.startswith(b"%PDF")
    assert 3 <= paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") <= 20


def test_keyboard_and_links(pages, page):
    opened(page, pages["notes"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for link in page.locator("nav a").all():
        target = link.get_attribute("href").removeprefix("#")
        assert page.locator(f"#{target}").inner_text() == link.inner_text()


def test_a_page_is_small(pages):
    assert all(Path(file).stat().st_size < 300_000 for file in pages.values())
