"""Writes the pages and the notebooks of the exercises from the texts in the library.

``python docs/exercises/make.py`` writes them beside this file.
"""

import json
import re
from doctest import DocTestParser
from pathlib import Path

from rosenblatt.exercises.source import pages

HERE = Path(__file__).parent
IMPORTS = "import numpy as np\nimport rosenblatt as rb"
CODE = re.compile(r"^```python\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
INDEX = """# Exercises

{count} exercises, from easy to hard: every question that [the five texts](../texts/index.md) ask,
and twenty of our own. Each has a hint, an answer that runs, and a judge: `rb.exercises.check` tells
whether an answer is right, and why. It computes that; it does not compare with a stored answer, so
that any right one will do.

```python
>>> import rosenblatt as rb
>>> print(rb.exercises.show(14))
{shown}
>>> rb.exercises.check(14, 2)
{wrong}
>>> rb.exercises.check(14, 1/2)
{right}

```

`rb.exercises.hint(14)` and `rb.exercises.answer(14)` help, `rb.exercises.data(4)` has the samples
of an exercise that comes with some, and `rb.exercises.listing()` has the list below. What `check`
returns counts as true or false, so that a course can grade with it. Each page is also a notebook to
work in, with a place for every answer.

{pages}
"""


def asked_by(exercise, *, linked=True):
    """Whose question it is."""
    name = exercise.asked_by
    if name == "ours":
        return name
    page = name.lower().replace(" ", "-")
    return f"asked by [{name}](../texts/{page}.md)" if linked else f"asked by {name}"


def folded(title, text):
    """A part to be opened by a click."""
    return f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


# Pages ----------------------------------------------------------------------------------------


def page_text(page):
    """A page as Markdown."""
    notebook = f"[{page.name}.ipynb]({page.name}.ipynb)"
    imports = "".join(f">>> {line}\n" for line in IMPORTS.splitlines())
    parts = [
        f"# {page.title}",
        page.introduction,
        f"This page is also a notebook: {notebook}. Other pages: [all exercises](index.md).",
        f"```python\n{imports}\n```",
    ]
    for found in page.exercises:
        parts += [
            f"## Exercise {found.number}",
            f"**{found.title}** · {found.level} · {asked_by(found)}",
            found.statement,
            found.form,
            folded("Hint", found.hint),
            folded("Answer", found.answer),
        ]
    return "\n\n".join(parts) + "\n"


def index_text():
    """The list of all exercises as Markdown."""
    import rosenblatt as rb

    parts = []
    for page in pages():
        rows = [
            f"| {found.number} | [{found.title}]({page.name}.md#exercise-{found.number}) "
            f"| {found.level} | {asked_by(found)} |"
            for found in page.exercises
        ]
        head = "| | exercise | level | |\n|---|---|---|---|"
        link = f"[The page]({page.name}.md), [the notebook]({page.name}.ipynb)."
        parts.append("\n".join([f"## {page.title}", "", link, "", head, *rows]))
    shown = str(rb.exercises.show(14)).replace("\n\n", "\n<BLANKLINE>\n")
    return INDEX.format(
        count=sum(len(page.exercises) for page in pages()),
        shown=shown,
        wrong=rb.exercises.check(14, 2),
        right=rb.exercises.check(14, 0.5),
        pages="\n\n".join(parts),
    )


# Notebooks ------------------------------------------------------------------------------------


def cell(name, kind, source, **metadata):
    """One cell of a notebook."""
    made = {"cell_type": kind, "id": name, "metadata": metadata, "source": lines(source)}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def lines(text):
    """A text as a list of its lines, as notebooks keep it."""
    return text.strip("\n").splitlines(keepends=True)


def cells(name, text, fold="", **metadata):
    """A text as cells: code apart from prose, and a cell ends where something is shown."""
    made = []
    for i, part in enumerate(map(str.strip, CODE.split(text))):
        if i % 2 == 0:
            prose = folded(fold, part) if fold and part else part
            sources, kind, more = [prose], "markdown", {}
        else:
            sources, kind, more = list(shown_one_by_one(part)), "code", metadata
        numbers = range(len(made), len(made) + len(sources))
        made += [
            cell(f"{name}-{k}", kind, source, **more)
            for k, source in zip(numbers, sources, strict=True)
            if source
        ]
    return made


def shown_one_by_one(block):
    """The code of a block of doctests, parted after each line that shows something."""
    sources = []
    for example in DocTestParser().get_examples(block):
        sources.append(example.source)
        if example.want:
            yield "".join(sources)
            sources = []
    if sources:
        yield "".join(sources)


def answer_cells(name, exercise):
    """An answer as cells that are closed until they are opened.

    Of a closed cell with code its first line is seen, so that must not be the answer.
    """
    hidden = {"jupyter": {"source_hidden": True}, "tags": ["hide-input"]}
    made = cells(name, exercise.answer, fold="Why", **hidden)
    codes = [each for each in made if each["cell_type"] == "code"]
    for k, each in enumerate(codes):
        title = f"# An answer to exercise {exercise.number}" if k == 0 else "# And more"
        each["source"][:0] = [f"{title}: open this cell to see it\n"]
    return made


def notebook(page):
    """A page as a notebook, without outputs."""
    made = [
        cell("title", "markdown", f"# {page.title}\n\n{page.introduction}"),
        cell("imports", "code", IMPORTS),
    ]
    for found in page.exercises:
        name = f"exercise-{found.number}"
        about = f"**{found.title}** · {found.level} · {asked_by(found, linked=False)}"
        yours = f"answer = ...  # yours\nrb.exercises.check({found.number}, answer)"
        made += [
            cell(name, "markdown", f"## Exercise {found.number}\n\n{about}"),
            *cells(f"{name}-statement", found.statement),
            cell(f"{name}-form", "markdown", found.form),
            cell(f"{name}-hint", "markdown", folded("Hint", found.hint)),
            cell(f"{name}-yours", "code", yours),
            *answer_cells(f"{name}-answer", found),
        ]
    return {
        "cells": made,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def files():
    """What is written: names and texts."""
    made = {"index.md": index_text()}
    for page in pages():
        made[f"{page.name}.md"] = page_text(page)
        made[f"{page.name}.ipynb"] = json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"
    return made


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="utf-8")
