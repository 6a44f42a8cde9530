"""What the documentation quotes from the library is what runs."""

import inspect
import re
from pathlib import Path
from textwrap import dedent

import pytest

from rosenblatt.perceptron.loops import online

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXPLANATIONS = sorted((DOCS / "how-it-works").glob("*.md"))


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
    assert len(rooms) == 9
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
