"""The documentation as a site: complete, up to date with the code, and self-contained."""

import inspect
import re
import subprocess
import sys
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from textwrap import dedent

import pytest

import rosenblatt as rb
from rosenblatt.perceptron.loops import online
from rosenblatt.results import (
    Conditions,
    Dropped,
    KernelFit,
    MarginFit,
    MarginRound,
    MarginTrace,
    Mistakes,
    Sides,
    SoftMarginPath,
)
from rosenblatt.results import Path as Votes
from rosenblatt.separation.feature_space import FeatureVerdict

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
EXPLANATIONS = sorted((DOCS / "how-it-works").glob("*.md"))
REFERENCE = DOCS / "reference.md"


# What is quoted is what runs ----------------------------------------------------------------


def quotations(page):
    """The Python blocks of a page that are no doctests: code quoted from the library."""
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [dedent(block).strip() for block in blocks if ">>>" not in block]


def without_indent(code):
    """The lines of `code` without what stands before them."""
    return "\n".join(line.strip() for line in code.strip().splitlines())


def test_the_whole_loop_is_quoted():
    source = inspect.getsource(getattr(online, "py_func", online))  # plain without the compiler
    assert dedent(source).strip() in quotations(DOCS / "how-it-works" / "perceptron.md")


def test_the_house_names_what_is_there():
    page = (DOCS / "house.md").read_text()
    walks = re.findall(r"`(\w+/\w+\.py)`(?:: `(\w+)`| \(`(\w+)`\))?", page)
    assert len(walks) > 10
    for file, name, aside in walks:
        path = ROOT / "src" / "rosenblatt" / file
        if not path.exists():
            path = ROOT / file
        source = path.read_text()
        if name or aside:
            assert re.search(rf"^(def |class )?{name or aside}\b", source, re.MULTILINE), (
                file,
                name,
            )
    rooms = re.findall(r"^\| `(\w+)` \|.*\| `(\w+\.py)` \|$", page, re.MULTILINE)
    assert len(rooms) == 7
    for room, file in rooms:
        assert (ROOT / "src" / "rosenblatt" / room / file).exists()
        assert (
            file.removesuffix(".py") in (ROOT / "src/rosenblatt" / room / "__init__.py").read_text()
        )


@pytest.mark.parametrize("page", EXPLANATIONS, ids=lambda page: page.stem)
def test_quoted_code_is_in_the_library(page):
    sources = [without_indent(path.read_text()) for path in (ROOT / "src").rglob("*.py")]
    for quoted in quotations(page):
        assert any(without_indent(quoted) in source for source in sources), quoted


@pytest.mark.parametrize("page", EXPLANATIONS, ids=lambda page: page.stem)
def test_named_files_exist(page):
    for name in re.findall(r"`(rosenblatt/[\w/]+\.py)`", page.read_text()):
        assert (ROOT / "src" / name).is_file(), name


# The reference is complete ------------------------------------------------------------------


def in_code():
    """Everything that the reference sets as code."""
    return " ".join(re.findall(r"`([^`\n]+)`", REFERENCE.read_text()))


def names(text):
    """The identifiers in a text."""
    return set(re.findall(r"\w+", text))


def public(module):
    """The names a module offers: what it lists, or what it defines."""
    own = [name for name, value in vars(module).items() if _defined_in(module, name, value)]
    return getattr(module, "__all__", own)


def _defined_in(module, name, value):
    return not name.startswith("_") and getattr(value, "__module__", None) == module.__name__


def parameter_table(heading):
    """Rows of the first table of a section: name -> the defaults of its two classifiers."""
    section = REFERENCE.read_text().split(f"\n## {heading}\n")[1]
    table = section[section.index("\n|") + 1 :].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in table.splitlines()]
    return {row[0].strip("`"): row[1:] for row in rows if len(row) == 3 and row[0].startswith("`")}


@pytest.mark.parametrize("name", rb.__all__)
def test_reference_names_every_public_name(name):
    assert re.search(rf"^\| `rb\.{name}` \|", REFERENCE.read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    "module",
    [rb.boolean, rb.certify, rb.datasets, rb.features, rb.io, rb.kernels, rb.plot, rb.theory],
    ids=lambda m: m.__name__,
)
def test_reference_names_what_the_modules_offer(module):
    assert not set(public(module)) - names(in_code())


@pytest.mark.parametrize(
    ("heading", "column", "model"),
    [
        ("Parameters", 0, rb.Perceptron),
        ("Parameters", 1, rb.Adaline),
        ("Kernels", 0, rb.KernelPerceptron),
        ("Margins", 0, rb.SoftMarginClassifier),
        ("Margins", 1, rb.MaxMarginClassifier),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_reference_has_every_parameter_and_its_default(heading, column, model):
    parameters = inspect.signature(model).parameters.values()
    expected = {p.name: repr(p.default).replace("'", '"') for p in parameters}
    expected = {name: default.replace("e-0", "e-") for name, default in expected.items()}
    table = {name: row[column].strip("`") for name, row in parameter_table(heading).items()}
    assert {name: default for name, default in table.items() if default != "–"} == expected


@pytest.mark.parametrize(
    "model",
    [
        rb.Perceptron,
        rb.Adaline,
        rb.KernelPerceptron,
        rb.SoftMarginClassifier,
        rb.MaxMarginClassifier,
    ],
    ids=lambda model: model.__name__,
)
def test_reference_names_every_result(model):
    found = model().fit(*rb.datasets.eight_points())
    results = {name for name in dir(found) if re.fullmatch(r"[a-z]\w*[a-z]_", name)}
    assert not results - names(in_code())


@pytest.mark.parametrize(
    "result",
    [
        rb.Optimum,
        Conditions,
        MarginFit,
        MarginRound,
        MarginTrace,
        Sides,
        SoftMarginPath,
        KernelFit,
        Dropped,
        Votes,
        rb.kernels.Definiteness,
        rb.MistakeBound,
        FeatureVerdict,
        Mistakes,
    ],
    ids=lambda result: result.__name__,
)
def test_reference_names_every_part_of_a_result(result):
    parts = {field.name for field in fields(result)} | {
        name for name, value in vars(result).items() if isinstance(value, property)
    }
    assert not parts - names(in_code())


def test_reference_has_the_signature_of_the_path():
    assert f"`rb.soft_margin_path{plain_signature(rb.soft_margin_path)}`" in REFERENCE.read_text()


def plain_signature(function):
    """The parameters and defaults of a function, without types."""
    signature = inspect.signature(function)
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    text = str(signature.replace(parameters=plain, return_annotation=signature.empty))
    return text.replace("e-0", "e-")


def test_reference_names_every_member_of_a_hyperplane():
    members = {name for name in dir(rb.Hyperplane([1.0])) if not name.startswith("_")}
    assert not members - names(in_code())


@pytest.mark.parametrize("reason", rb.StopReason, ids=lambda reason: reason.name)
def test_reference_names_every_stop_reason(reason):
    assert f"| `{reason.name}` |" in REFERENCE.read_text()


# The site is built and needs nothing from elsewhere ------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    pytest.importorskip("pydata_sphinx_theme", reason='building: pip install -e ".[docs]"')
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", DOCS, folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


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
