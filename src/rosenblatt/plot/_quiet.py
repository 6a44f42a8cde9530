"""Matplotlib without its asides to the terminal."""

from __future__ import annotations

import contextlib
import logging
import re
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MISSING = r"Glyph (\d+) .*missing from font"
MOST = 8


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """Keep Matplotlib's notices to itself, unless somebody has set the level of its logger.

    While it is imported it talks of a home folder it cannot write to, and of its fonts.
    """
    log = logging.getLogger("matplotlib")
    before = log.level
    if before == logging.NOTSET:
        log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """One warning for all characters that the font lacks, instead of several for each."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.filterwarnings("always", MISSING, UserWarning)
        yield
    missing: dict[str, None] = {}  # a set that keeps its order
    for other in heard:
        found = re.match(MISSING, str(other.message))
        if found is None:
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
        else:
            missing[chr(int(found[1]))] = None
    if missing:
        more = " …" * (len(missing) > MOST)
        msg = f"the font has no picture for: {' '.join([*missing][:MOST])}{more}"
        warnings.warn(msg, UserWarning, stacklevel=4)
