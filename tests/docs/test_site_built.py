"""The built site: complete, and it needs nothing from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


class Loads(HTMLParser):
    """Gathers the addresses that a page loads by itself; links to click on are none of these."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag != "a":
            self.found += [value for name, value in attrs if name in ("src", "srcset", "href")]


def test_site_has_every_page(site):
    for page in DOCS.rglob("*.md"):
        assert (site / page.relative_to(DOCS)).with_suffix(".html").is_file()


def test_site_loads_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert pages
    for page in pages:
        loads = Loads()
        loads.feed(page.read_text())
        assert loads.found
        assert not [address for address in loads.found if re.match(r"(https?:)?//", address or "")]


def test_site_styles_fetch_no_fonts(site):
    styles = [*site.rglob("*.css"), *site.rglob("*.html")]
    assert any(path.suffix == ".css" for path in styles)
    elsewhere = re.compile(r"(url\(|@import)\s*[\"']?(https?:)?//|fonts\.g(oogleapis|static)")
    for path in styles:
        assert not elsewhere.search(path.read_text())
