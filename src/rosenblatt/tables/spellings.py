"""Words in several spellings that mean the same: Yes, YES and yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.tables.cells import truth_in_one_way
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.int32]
    Recoded = Callable[[Codes, Codes], Codes]  # new codes of old ones, and the old ones of all rows

MOST_VALUES = 10_000  # more are names, which nobody wants to read in a note


def same_but_for_capitals(counts: Mapping[str, int]) -> list[list[str]]:
    """The groups of words that differ in capital letters only, the most frequent of each first."""
    return same_spellings((word.casefold(), word, n) for word, n in counts.items())


def same_spellings(meant: Iterable[tuple[Hashable, str, int]]) -> list[list[str]]:
    """The words that mean the same, given what each means and how often it is there."""
    groups: dict[Hashable, list[tuple[int, str]]] = {}
    for meaning, word, n in meant:
        groups.setdefault(meaning, []).append((-n, word))
    return [[word for _, word in sorted(group)] for group in groups.values()]


def in_one_spelling(
    texts: Texts, recoded: Recoded = lambda new, codes: new[codes]
) -> tuple[Texts, list[list[str]]]:
    """The texts, each in the most frequent of its spellings, and which there were of several.

    They stay as they are if they would all be the same. `recoded` gives all codes new ones.
    """
    if len(texts.values) > MOST_VALUES:
        return texts, []
    counts = texts.counts()
    present = texts.values[counts > 0]
    if truth_in_one_way(present) is not present:  # which is dealt with wherever words are read
        return texts, []
    groups = same_but_for_capitals(dict(zip(present, counts[counts > 0].tolist(), strict=True)))
    several = sorted((group for group in groups if len(group) > 1), key=lambda g: g[0].casefold())
    if not several or len(groups) == 1:
        return texts, []
    one = {word: group[0] for group in several for word in group}
    return _renamed(texts, [one.get(word, word) for word in texts.values], recoded), several


def as_known(texts: Texts, known: Sequence[str]) -> Texts:
    """The texts, those that differ from a known word, and from one only, in capitals, as that."""
    groups = same_but_for_capitals(dict.fromkeys(known, 1))
    alike = {group[0].casefold(): group[0] for group in groups if len(group) == 1}
    exact = set(known)
    named = [w if w in exact else alike.get(w.casefold(), w) for w in texts.values]
    if named == texts.values.tolist():
        return texts
    return _renamed(texts, named, lambda new, codes: new[codes])


def _renamed(texts: Texts, words: Sequence[str], recoded: Recoded) -> Texts:
    """The texts with other words in place of their values, some of them now the same."""
    places = {word: k for k, word in enumerate(dict.fromkeys(words))}
    values = np.empty(len(places), dtype=object)
    values[:] = list(places)
    codes = np.array([*(places[word] for word in words), -1], dtype=np.int32)
    return Texts(values, recoded(codes, texts.codes))
