"""The order of the pages, kept out of the pages: they stay plain Markdown, readable anywhere.

A section lists what comes first; whatever else is in its folder follows by itself, so that a new
page needs no entry here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SECTIONS = {
    "index": [
        ("Tutorial", "tutorial"),
        ("How-to", "how-to/index"),
        ("How it works", "how-it-works/index"),
        ("The five texts", "texts/index"),
        ("Exercises", "exercises/index"),
        ("Gallery", "gallery/index"),
        ("Reference", "reference"),
        ("Benchmarks", "benchmarks/index"),
        ("The house", "house"),
    ],
    "how-to/index": [
        ("Give it a table", "how-to/tables"),
        ("Fit", "how-to/fit"),
        ("Predict", "how-to/predict"),
        ("Evaluate", "how-to/evaluate"),
        ("Compare", "how-to/compare"),
        ("Check", "how-to/check"),
        ("Suspects", "how-to/suspects"),
        ("Bound", "how-to/bound"),
        ("Boolean", "how-to/boolean"),
        ("Steps", "how-to/steps"),
        ("Show", "how-to/show"),
        ("Export", "how-to/export"),
        ("Plot", "how-to/plot"),
        ("Report", "how-to/report"),
        ("Playground", "how-to/playground"),
        ("Demo", "how-to/demo"),
        ("The best hyperplane", "how-to/margin"),
        ("Curved boundaries", "how-to/kernel"),
        ("Graphics processors", "how-to/gpu"),
        ("Larger than memory", "how-to/big-data"),
        ("More than one machine", "how-to/cluster"),
        ("In Python", "how-to/in-python"),
    ],
    "how-it-works/index": [
        ("The perceptron", "how-it-works/perceptron"),
        ("The gradient view", "how-it-works/gradient"),
        ("Ways of training", "how-it-works/ways-of-training"),
        ("Why it ends", "how-it-works/convergence"),
        ("The bound, beside the run", "how-it-works/bound"),
        ("Separability", "how-it-works/separability"),
        ("The best hyperplane", "how-it-works/margin"),
        ("Which model is better?", "how-it-works/comparing"),
        ("The kernel perceptron", "how-it-works/kernel"),
        ("Features", "how-it-works/features"),
        ("Why it goes round", "how-it-works/cycles"),
        ("Several classes as one", "how-it-works/joint"),
        ("Logic with thresholds", "how-it-works/boolean"),
        ("Three ways out", "how-it-works/three-ways"),
        ("The way on", "how-it-works/way-on"),
        ("A short history", "how-it-works/history"),
        ("Speed, and the same answer", "how-it-works/speed"),
    ],
    "texts/index": [
        ("Kosman", "texts/kosman"),
        ("Jawahar", "texts/jawahar"),
        ("Carson", "texts/carson"),
        ("ML Concepts", "texts/ml-concepts"),
        ("Bloch", "texts/bloch"),
        ("Where each formula lives", "texts/formulas"),
    ],
    "exercises/index": [
        ("Points and hyperplanes", "exercises/hyperplanes"),
        ("Losses and updates", "exercises/losses"),
        ("Runs, mistakes and bounds", "exercises/runs"),
        ("Margins, kernels and networks", "exercises/beyond"),
    ],
    "gallery/index": [],
    "reference": [
        ("The perceptron", "reference/perceptron"),
        ("Kernels", "reference/kernels"),
        ("Margins", "reference/margins"),
        ("Separability", "reference/separability"),
        ("The mistake bound", "reference/bound"),
        ("Hyperplane", "reference/hyperplane"),
        ("Feature maps", "reference/features"),
        ("Tables and files", "reference/tables"),
        ("Models as JSON", "reference/json-models"),
        ("Reports", "reference/report"),
        ("Logic", "reference/boolean"),
        ("Data", "reference/datasets"),
        ("Exercises", "reference/exercises"),
        ("Theory", "reference/theory"),
        ("Pictures", "reference/plot"),
        ("The command", "reference/command"),
    ],
    "benchmarks/index": [
        ("The perceptron", "benchmarks/perceptron"),
        ("Separability", "benchmarks/separability"),
        ("Margins", "benchmarks/margin"),
        ("Kernels", "benchmarks/kernel"),
        ("The command", "benchmarks/command"),
        ("Defaults", "benchmarks/defaults"),
        ("Suspects", "benchmarks/suspects"),
        ("Comparing", "benchmarks/compare"),
    ],
}


def entries(section: str, pages: set[str]) -> list[str]:
    """The lines of a section's table of contents: what it lists, then the rest of its folder."""
    listed = [(title, page) for title, page in SECTIONS[section] if page in pages]
    folder = section.removesuffix("index")
    taken = {page for _, page in listed} | set(SECTIONS)
    rest = sorted(p for p in pages - taken if p.rpartition("/")[0] == folder.rstrip("/"))
    return [*(f"{title} <{'/' + page}>" for title, page in listed), *(f"/{p}" for p in rest)]


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Write the table of contents under the text of a section's first page."""
    if page in SECTIONS and (lines := entries(page, app.env.found_docs)):
        lines = ["```{toctree}", ":hidden:", *lines, "```"]
        source[0] += "\n\n" + "\n".join(lines) + "\n"


def read_anew(app: Sphinx, env: object, added: set[str], *rest: set[str]) -> list[str]:
    """A section is read again when a page has come or gone."""
    return [page for page in SECTIONS if page in app.env.found_docs] if added or rest[-1] else []


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen for pages being read."""
    app.connect("source-read", add_contents)
    app.connect("env-get-outdated", read_anew)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
