"""Free text as features: the words of a column, weighted by how few rows have them (TF-IDF).

A word that stands ``c`` times in a row, and in ``k`` of the ``n`` rows of training, counts
``c (ln((1 + n)/(1 + k)) + 1)`` there; the features of a row are then scaled to length 1.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, hstack

from rosenblatt.arguments import names_of
from rosenblatt.tables.cells import looks_like_date, mostly, reads_as_value
from rosenblatt.tables.feature_values import filled_csr, words_of
from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rosenblatt.tables.feature_values import Spec
    from rosenblatt.tables.frames import Cells

MOST_WORDS = 20_000
NO_WORDS = "no word in any row"
# What may be done about a column of texts that is left out.
AS_DATES = "; dates can be read if they are written as 2024-12-31"
AS_NUMBERS = "; most are numbers: --number COLUMN tells which are not"
BY_WORDS = "; --text COLUMN, in Python text=[...], makes features of the words"
_WORD = r"[^\W_]{2,}"  # letters and digits, two or more
_SAMPLE = 1000


def free_columns(free: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    """The columns of free text, all of which must be there."""
    free = names_of("text", free)
    if absent := [name for name in free if name not in names]:
        msg = f"text={absent!r} names no column: the table has {', '.join(names[:8])}"
        raise ValueError(msg)
    return free


def has_words(specs: Iterable[Spec]) -> bool:
    """Whether one of these columns is free text."""
    return any("words" in spec for spec in specs)


def plain(text: str) -> str:
    """A text in small letters, each accented one a single character."""
    return unicodedata.normalize("NFC", text.lower())


@dataclass(frozen=True, eq=False)
class CountedTexts(Texts):
    """Texts whose words are counted: once for all folds, which differ in what they make of it.

    Attributes
    ----------
    words : object array of str
        All words, sorted.
    counts : CSR
        How often each word stands in each of the values.
    """

    words: NDArray[np.object_]
    counts: csr_matrix

    @classmethod
    def count(cls, texts: Texts) -> CountedTexts:
        """From texts."""
        if isinstance(texts, cls):
            return texts
        found = {word for text in texts.values for word in re.findall(_WORD, plain(text))}
        words = np.array(sorted(found), dtype=object)
        counts = _counted(texts.values, words.tolist())
        return cls(texts.values, texts.codes, words, counts)

    def __getitem__(self, rows: Any) -> CountedTexts:
        """These rows, of the same values."""
        return replace(self, codes=self.codes[rows])


def with_counts(columns: Mapping[str, Cells], free: Iterable[str]) -> dict[str, Cells]:
    """The columns, the words of those of free text counted."""
    found = dict(columns)
    for name in free:
        texts = CountedTexts.count(found[name].values)  # type: ignore[arg-type]
        found[name] = replace(found[name], values=texts)
    return found


def _counted(values: NDArray[np.object_], words: list[str]) -> csr_matrix:
    """How often each word stands in each value."""
    from sklearn.feature_extraction.text import CountVectorizer

    if not words:
        return csr_matrix((len(values), 0))
    counter = CountVectorizer(
        preprocessor=plain, token_pattern=_WORD, vocabulary=words, dtype=np.float64
    )
    return csr_matrix(counter.transform(values))


# The words of the training ----------------------------------------------------------------------


class WordTally:
    """In how many rows of a column each word stands; all words are kept until the end."""

    def __init__(self) -> None:
        self._n_rows: dict[str, int] = {}
        self._n, self.n_missing = 0, 0

    def add(self, cells: Cells) -> None:
        """Take note of some rows."""
        texts = cells.values
        assert isinstance(texts, Texts)
        times = texts.times()
        self._n += len(texts)
        self.n_missing += int(times[0])
        if isinstance(texts, CountedTexts):
            n_rows = (texts.counts.sign().T @ times[1:]).astype(np.int64)
            known = np.flatnonzero(n_rows)
            found = zip(texts.words[known].tolist(), n_rows[known].tolist(), strict=True)
            for word, n in found:
                self._n_rows[word] = self._n_rows.get(word, 0) + n
            return
        for k in np.flatnonzero(times[1:]):
            n = int(times[k + 1])
            for word in set(re.findall(_WORD, plain(texts.values[k]))):
                self._n_rows[word] = self._n_rows.get(word, 0) + n

    def add_gaps(self, n: int) -> None:
        """Take note of so many rows in which nothing stands."""
        self._n += n
        self.n_missing += n

    def merge(self, other: WordTally) -> None:
        """Take note of the rows of another tally."""
        self._n += other._n
        self.n_missing += other.n_missing
        for word, n in other._n_rows.items():
            self._n_rows[word] = self._n_rows.get(word, 0) + n

    def spec(self, standardize: bool, constant: bool) -> Spec:
        """The words that become features, or why there are none.

        Words in a single row are left out unless all are; of too many, the most frequent stay.
        """
        words = sorted(self._n_rows)
        n_rows = np.array([self._n_rows[word] for word in words], dtype=np.int64)
        kept = np.flatnonzero(n_rows >= (2 if (n_rows >= 2).any() else 1))
        if not kept.size:
            return {"dropped": NO_WORDS}
        kept = np.sort(kept[np.argsort(-n_rows[kept], kind="stable")[:MOST_WORDS]])
        idf = np.log((1.0 + self._n) / (1.0 + n_rows[kept])) + 1.0
        said = " ".join(words[k] for k in kept)
        return {"words": said, "idf": idf, "left_out": len(words) - kept.size}


def are_words(spec: Spec) -> bool:
    """Whether it is what `WordTally` might have said."""
    words, idf = spec["words"], spec["idf"]
    if not (isinstance(words, str) and isinstance(idf, np.ndarray) and idf.dtype == np.float64):
        return False
    listed = words.split(" ")
    fits = idf.shape == (len(listed),) and len(set(listed)) == len(listed) and all(listed)
    left_out = spec["left_out"]
    whole = type(left_out) is int and left_out >= 0
    return bool(fits and whole and np.isfinite(idf).all() and (idf >= 1).all())


def looks_like_sentences(values: Sequence[str]) -> bool:
    """Whether texts have several words each, as those of people have."""
    some = values[:: max(1, len(values) // _SAMPLE)]
    n_words = sum(len(re.findall(_WORD, text)) for text in some)
    return n_words >= 3 * len(some)


def advice_on(values: Sequence[str]) -> str:
    """What may be done about a column of texts that is left out."""
    if mostly(looks_like_date, values):
        return AS_DATES
    if mostly(reads_as_value, values):
        return AS_NUMBERS
    return BY_WORDS * looks_like_sentences(values)


# Features ---------------------------------------------------------------------------------------


def weighted(spec: Spec, texts: Texts) -> csr_matrix:
    """The features of each row; one without a known word has none."""
    from sklearn.preprocessing import normalize

    words = words_of(spec)
    used, rows = np.unique(texts.codes, return_inverse=True)
    gone = int(used.size and used[0] < 0)
    used = used[gone:]
    if isinstance(texts, CountedTexts):
        counts = texts.counts[used][:, np.searchsorted(texts.words, words)]
    else:
        counts = _counted(texts.values[used], words)
    counts.sort_indices()
    counts.data *= spec["idf"][counts.indices]
    X = csr_matrix(normalize(counts, copy=False))
    X.resize(len(used) + 1, len(words))  # the last, empty, is that of a missing cell
    return X[np.where(rows < gone, len(used), rows - gone)]


def filled_with_words(specs: Sequence[Spec], columns: Sequence[Cells], n_rows: int) -> csr_matrix:
    """The features of all columns, some of which are free text."""
    blocks = []
    for free, group in groupby(zip(specs, columns, strict=True), lambda pair: "words" in pair[0]):
        some, cells = map(list, zip(*group, strict=True))
        if free:
            both = zip(some, cells, strict=True)
            blocks += [weighted(spec, column.values) for spec, column in both]
        else:
            blocks.append(filled_csr(some, cells, n_rows))
    return csr_matrix(hstack(blocks, format="csr"))
