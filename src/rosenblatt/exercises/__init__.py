"""Exercises, each with a hint, an answer that runs, and a judge that knows a right answer.

`check` computes whether an answer is right; it compares with none that is stored, so any right
answer will do. Each page has a file of texts (Markdown), read by `source`, and one of judges.
`forms` reads what was given, `textbook` replays a perceptron without rounding, `wording` makes
the texts readable in a terminal.

>>> import rosenblatt as rb
>>> rb.exercises.check(1, (4, 4))
Wrong: (4, 4) is not on the line: there x1 + x2 − 4 is 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from numbers import Integral
from textwrap import fill
from typing import Any

from rosenblatt.arguments import brief
from rosenblatt.exercises.forms import NotRight
from rosenblatt.exercises.judging import DATA, JUDGES
from rosenblatt.exercises.source import Exercise, pages
from rosenblatt.exercises.wording import WIDTH, Text, plain

__all__ = ["Exercise", "Judgement", "Text", "answer", "check", "data", "hint", "listing", "show"]


@dataclass(frozen=True, repr=False)
class Judgement:
    """Whether an answer is right, and why (not). Counts as true or false, prints as a sentence.

    Attributes
    ----------
    right : bool
    why : str
        What was computed.
    answered : bool
        False: nothing was given, and `why` says what is wanted.
    """

    right: bool
    why: str
    answered: bool = True

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        opening = "Right" if self.right else "Wrong" if self.answered else "Your turn"
        return fill(f"{opening}: {self.why}.", WIDTH, break_on_hyphens=False)

    __str__ = __repr__


def check(n: int, answer: Any = ...) -> Judgement:
    """Whether an answer to exercise n is right, and why.

    Parameters
    ----------
    n : int
        The number of the exercise.
    answer : anything
        What `show` asks for, under "Give".

    Returns
    -------
    Judgement
        It counts as true or false, and prints as a sentence.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> rb.exercises.check(14, 0.5).right
    True
    """
    exercise = _exercise(n)
    if answer is ...:
        form = " ".join(plain(exercise.form).replace("Give", "give", 1).rstrip(".").split())
        return Judgement(False, form, answered=False)
    import_module(f"rosenblatt.exercises.{_page_of(n)}")
    try:
        return Judgement(True, JUDGES[n](answer))
    except NotRight as error:
        return Judgement(False, str(error))


def show(n: int) -> Text:
    """What exercise n asks, and in which form the answer is wanted.

    Parameters
    ----------
    n : int
        The number of the exercise.
    """
    found = _exercise(n)
    asked = "" if found.asked_by == "ours" else f" · asked by {found.asked_by}"
    heading = f"**Exercise {n}: {found.title}** ({found.level}{asked})"
    return Text(f"{heading}\n\n{found.statement}\n\n{found.form}")


def hint(n: int) -> Text:
    """A hint for exercise n.

    Parameters
    ----------
    n : int
        The number of the exercise.
    """
    return Text(_exercise(n).hint)


def answer(n: int) -> Text:
    """An answer to exercise n, with the code that gives it and why it is one.

    Parameters
    ----------
    n : int
        The number of the exercise.
    """
    return Text(_exercise(n).answer)


def data(n: int) -> Any:
    """The samples and labels that exercise n speaks of.

    Parameters
    ----------
    n : int
        The number of the exercise.

    Returns
    -------
    X, y : arrays of shape (n, d) and (n,)
        Labels are -1 and +1.
    """
    _exercise(n)
    import_module(f"rosenblatt.exercises.{_page_of(n)}")
    if n not in DATA:
        msg = f"exercise {n} has no data of its own: rb.exercises.show({n}) says what it has"
        raise ValueError(msg)
    return DATA[n]()


def listing() -> Text:
    """All exercises: number, level, title, and the text that asks."""
    lines = []
    for page in pages():
        lines += [f"**{page.title}**", ""]
        for found in page.exercises:
            asked = "" if found.asked_by == "ours" else f" ({found.asked_by})"
            lines.append(f"- {found.number}, {found.level}: {found.title}{asked}")
        lines.append("")
    return Text("\n".join(lines).rstrip())


def _exercise(n: Any) -> Exercise:
    found = [each for page in pages() for each in page.exercises]
    whole = isinstance(n, Integral) and not isinstance(n, bool)
    if not whole or not 1 <= n <= len(found):
        msg = f"there is no exercise {brief(n)}: give a number from 1 to {len(found)}"
        raise ValueError(msg)
    return found[int(n) - 1]


def _page_of(n: int) -> str:
    return next(p.name for p in pages() if any(each.number == n for each in p.exercises))
