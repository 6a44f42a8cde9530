"""The exercises as they are written: one Markdown file per page, beside the judges of its answers.

A file has a title and an introduction, then for each exercise a heading ``## 7. Its title``, a line
``*level · who asks*``, the statement (its last paragraph begins with ``**Give**`` and says what
an answer is), and two parts, ``### Hint`` and ``### Answer``. Code is written as doctests. What
people see, pages, notebooks and `rosenblatt.exercises.show`, is made of these files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

PAGES = ("hyperplanes", "losses", "runs", "beyond")
LEVELS = ("easy", "middle", "hard")


@dataclass(frozen=True)
class Exercise:
    """One exercise; its texts are Markdown.

    Attributes
    ----------
    number : int
    title : str
    level : str
        "easy", "middle" or "hard".
    asked_by : str
        The text whose question it is, or "ours".
    statement : str
        What is asked, without what an answer is.
    form : str
        What an answer is.
    hint, answer : str
    """

    number: int
    title: str
    level: str
    asked_by: str
    statement: str
    form: str
    hint: str
    answer: str


@dataclass(frozen=True)
class Page:
    """Exercises on one subject, from easy to hard."""

    name: str
    title: str
    introduction: str
    exercises: tuple[Exercise, ...]


@cache
def pages() -> tuple[Page, ...]:
    """All pages, in order."""
    return tuple(map(_page, PAGES))


def _page(name: str) -> Page:
    text = files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    first, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, introduction = first.partition("\n")
    return Page(name, title.removeprefix("# "), introduction.strip(), tuple(map(_exercise, rest)))


def _exercise(text: str) -> Exercise:
    heading, _, body = text.partition("\n")
    number, _, title = heading.partition(". ")
    asked, hint, answer = re.split(r"^### (?:Hint|Answer)$", body, flags=re.MULTILINE)
    about, _, asked = asked.strip().partition("\n")
    level, _, asked_by = about.strip("*").partition(" · ")
    statement, _, form = asked.rpartition("**Give**")
    form = f"**Give**{form}"
    whole = (statement, form, hint, answer)
    return Exercise(int(number), title, level, asked_by, *(part.strip() for part in whole))
