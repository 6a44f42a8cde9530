"""Every snippet of the README and of the documentation runs and prints what it says."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = ["rosenblatt", "rosenblatt.estimators.perceptron", "rosenblatt.estimators.adaline"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page):
    failed, _ = doctest.testfile(str(page), module_relative=False)
    assert failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = __import__(name, fromlist=["_"])
    failed, tried = doctest.testmod(module)
    assert failed == 0
    assert tried > 0


def test_pages_have_snippets():
    parser = doctest.DocTestParser()
    for name in ("README.md", "docs/perceptron.md"):
        assert len(parser.get_examples((ROOT / name).read_text())) > 4


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda s: s.name)
def test_example_runs(script):
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Why it stopped" in done.stdout


def test_links_lead_somewhere():
    import re

    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
