"""Tables that the server holds, read-only, under their fingerprints.

The FILE of the command is held as long as the server runs, of pasted tables the last few.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.playground.answers import Generated, Held, TableRead
from rosenblatt.playground.samples import Samples
from rosenblatt.playground.schemas import MOST_CLASSES, MOST_POINTS
from rosenblatt.report.fits import EncodedTable
from rosenblatt.visible import count, grouped

if TYPE_CHECKING:
    from rosenblatt.array_types import Floats, Ints
    from rosenblatt.playground.schemas import FromTable

MOST_PASTED = 8  # tables
MOST_FEATURES = 1_000
MOST_NUMBERS = 50_000_000  # rows times features
PASTED = "the table"
Reader = Callable[[str, str | None, bool], EncodedTable]


class UnknownTableError(Exception):
    """A table was asked for that is not held."""


@dataclass(frozen=True, eq=False)
class HeldTable:
    """Rows in features that are numbers, with the numbers of their classes.

    `source` is how the table was read, and `drawn` the rows that are shown.
    """

    source: EncodedTable
    name: str
    path: str | None
    X: Floats
    y: Ints
    features: tuple[str, ...]
    names: tuple[str, ...]
    drawn: Ints

    @property
    def sentence(self) -> str:
        """Which rows are drawn."""
        n = len(self.y)
        if len(self.drawn) == n:
            return f"All {count(n, 'row')} are drawn."
        return (
            f"{grouped(len(self.drawn))} of {count(n, 'row')}, chosen at random, are drawn; "
            "the algorithm uses all."
        )

    @property
    def fingerprint(self) -> str:
        """What it is held under: a digest of all of it."""
        digest = blake2b(digest_size=8)
        for part in (
            self.X.tobytes(),
            self.y.tobytes(),
            repr((self.features, self.names)).encode(),
        ):
            digest.update(part)
        return digest.hexdigest()

    def described(self) -> Held:
        """What the page is told of it."""
        return Held(
            table=self.fingerprint,
            name=self.name,
            target=self.source.target,
            names=list(self.names),
            counts=np.bincount(self.y, minlength=len(self.names)).tolist(),
            rows=len(self.y),
            features=list(self.features),
            columns=self._first_look(),
            notes=[self.sentence, *map(without_options, self.source.notes)],
        )

    def _first_look(self) -> list[str]:
        """The two features in which the means of the classes are farthest apart."""
        if len(self.features) == 1:
            return [self.features[0], self.features[0]]
        means = np.array([self.X[self.y == k].mean(axis=0) for k in range(len(self.names))])
        share = means.var(axis=0) / np.maximum(self.X.var(axis=0), 1e-300)
        best = np.sort(np.argsort(-share, kind="stable")[:2])
        return [self.features[j] for j in best]


def held(table: EncodedTable, path: str | None = None) -> HeldTable:
    """A table as it is held; an error if it is too large for a picture."""
    classes, y = table.labels
    name = PASTED if path is None else table.file
    n, d = table.X.shape
    if len(classes) > MOST_CLASSES:
        msg = f"{name} has {len(classes)} classes: the playground shows {MOST_CLASSES} at most"
        raise ValueError(msg)
    if d > MOST_FEATURES or n * d > MOST_NUMBERS:
        msg = (
            f"{name} has {count(n, 'row')} and {count(d, 'feature')}: the playground takes "
            f"{MOST_FEATURES} features and {MOST_NUMBERS // 1_000_000} million numbers at most"
        )
        raise ValueError(msg)
    X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    drawn = np.arange(n)
    if n > MOST_POINTS:
        drawn = np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))
    X = np.ascontiguousarray(X, dtype=np.float64)
    names = tuple(map(str, classes))
    return HeldTable(table, name, path, X, y.astype(np.int64), tuple(table.features), names, drawn)


OPTIONS = (
    r"(?: with)? --target",  # the page has a field for it
    r" \([^()]*(?:--[a-z]|in Python)[^()]*\)",
    r";(?=[^;]*--[a-z])[^;]*",
    r"[,:] [^,:;]*--[a-z][^,:;]*",
)


def without_options(note: str) -> str:
    """A sentence without the parts that tell of options of the command."""
    for part in OPTIONS:
        note = re.sub(part, "", note)
    return note


class Tables:
    """The tables by their fingerprints; `read` reads a file, given its class and whether to scale.

    Without a reader nothing can be pasted.
    """

    def __init__(self, read: Reader | None = None) -> None:
        self._read, self._lock = read, threading.Lock()
        self._kept: dict[str, HeldTable] = {}
        self._pasted: OrderedDict[str, HeldTable] = OrderedDict()
        self.first: str | None = None  # that of the command

    def keep(self, table: HeldTable) -> str:
        """Hold a table for good: the fingerprint."""
        self.first = table.fingerprint
        self._kept[self.first] = table
        return self.first

    def get(self, fingerprint: str) -> HeldTable:
        """The table, or an error."""
        with self._lock:
            found = self._kept.get(fingerprint) or self._pasted.get(fingerprint)
        if found is None:
            msg = f"no table {fingerprint} is held here any more: open it again"
            raise UnknownTableError(msg)
        return found

    def paste(self, text: str, target: str | None) -> TableRead:
        """A table as text: points if it has two features of numbers, otherwise held."""
        if self._read is None:
            msg = "no tables are read here"
            raise ValueError(msg)
        read = self._read
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            path.write_text(text, encoding="utf-8", newline="")
            try:
                table = read(str(path), target, False)
                if not _are_points(table):
                    table = read(str(path), target, True)
            except (ValueError, OSError) as error:
                msg = without_options(str(error)).replace(str(path), PASTED)
                raise ValueError(msg.replace(path.name, PASTED)) from None
        found = held(table)
        if _are_points(table):
            return TableRead(points=_points(found), held=None)
        with self._lock:
            self._pasted[found.fingerprint] = found
            while len(self._pasted) > MOST_PASTED:
                self._pasted.popitem(last=False)
        return TableRead(points=None, held=found.described())

    def samples(self, data: FromTable) -> Samples:
        """What a question about a table is about."""
        table = self.get(data.table)
        if data.columns == "along-w":
            if len(table.features) < 2:
                msg = f"{table.name} has a single feature: there is no second direction to see"
                raise ValueError(msg)
            return Samples(table.X, table.y, table.names, table.features, table, along=True)
        places = [_place(table, name) for name in data.columns]
        X = np.ascontiguousarray(table.X[:, places])
        return Samples(X, table.y, table.names, tuple(data.columns), table)


def _place(table: HeldTable, name: str) -> int:
    if name not in table.features:
        msg = f"{table.name} has no feature {name!r}"
        raise ValueError(msg)
    return table.features.index(name)


def _are_points(table: EncodedTable) -> bool:
    """Whether it can be drawn as it is: two numbers in each row, and not too many rows."""
    kinds = list(table.encoder.kinds_.values())
    return kinds == ["number", "number"] and len(table.y) <= MOST_POINTS


def _points(table: HeldTable) -> Generated:
    return Generated(
        points=table.X.tolist(),
        labels=table.y.tolist(),
        names=list(table.names),
        features=list(table.features),
        description="; ".join(map(without_options, table.source.notes)),
    )
