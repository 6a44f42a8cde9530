"""The data of `benchmarks.margin`."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measure import data_file, load_mnist, load_svmlight
from benchmarks.separability import covtype, halves, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Case = tuple[str, Callable[[], tuple[Any, Any] | None]]


def standardised(data: tuple[Any, Any] | None) -> tuple[Any, Any] | None:
    """Columns with mean 0 and standard deviation 1, but for the constant ones."""
    if data is None:
        return None
    X, y = data
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1), y


def parsed_covtype(rows: int | None) -> tuple[Any, Any] | None:
    """Forest cover, kept as arrays in the folder for temporary files: it takes long to read."""
    if data_file("covtype.csv.gz") is None:
        return None
    path = Path(tempfile.gettempdir(), f"rosenblatt-covtype-{rows or 'all'}.npz")
    if not path.exists():
        X, y = covtype(rows)  # type: ignore[misc]
        part = path.with_suffix(".part.npz")
        np.savez(part, X=X, y=y)
        part.replace(path)
    with np.load(path) as kept:
        return kept["X"], kept["y"]


def spambase() -> tuple[Any, Any] | None:
    """Spam, standardised."""
    return standardised(numbers("spambase.data", header=False, first=0, positive="1"))


def colon() -> tuple[Any, Any] | None:
    """Gene expression, as published."""
    return numbers("colon.csv.gz", header=True, first=1, positive="Abnormal")


def text_messages() -> tuple[Any, Any] | None:
    """Words of text messages, weighted by how rare they are."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    path = data_file("SMSSpamCollection")
    if path is None:
        return None
    lines = [line.split("\t", 1) for line in path.read_text("utf-8").splitlines() if "\t" in line]
    X = TfidfVectorizer().fit_transform([message for _, message in lines])
    return X, np.array([1 if label == "spam" else -1 for label, _ in lines])


def threes(rows: int | None) -> tuple[Any, Any] | None:
    """The digit 3 against the others."""
    data = load_mnist()
    return None if data is None else (data[0][:rows], np.where(data[1][:rows] == 3, 1, -1))


def hard_cases(quick: bool) -> Iterator[Case]:
    """Separable data."""
    k = 20 if quick else 1
    for n, d in ((20_000, 20), (100_000, 20), (1_000_000, 20), (20_000, 500)):
        n, d = n // k, max(d // k, 20)
        yield f"made-up {n} x {d}", partial(halves, n, d, 0)
    yield "colon", colon
    yield "text messages", text_messages


def soft_cases(quick: bool) -> Iterator[Case]:
    """Data that are not separable, but for the digits."""
    yield "spambase", spambase
    yield "a9a", partial(load_svmlight, "a9a.gz")
    yield "w8a", partial(load_svmlight, "w8a.gz")
    yield "MNIST, 3", partial(threes, 3_000 if quick else None)
    yield "covtype, 2", lambda: standardised(parsed_covtype(20_000 if quick else None))
    n = 20_000 if quick else 1_000_000
    yield f"made-up {n} x 50", partial(halves, n, 50, n // 10)
