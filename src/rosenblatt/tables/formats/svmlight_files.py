"""Reading svmlight (libsvm) files: a label and the features that are not zero, in each line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.tables.columns import Column, StagedFile
from rosenblatt.tables.storage import TableError

if TYPE_CHECKING:
    from pathlib import Path

    from rosenblatt.tables.columns import Asked
    from rosenblatt.tables.storage import Storage

FEATURES, LABEL = "x", "label"
_PAIRS = re.compile(rb"[+-]?[\d.]+(?:[eE][+-]?\d+)?((?:[ \t]+(?:qid|\d+):[^\s:]+)*)\s*(?:#.*)?")


def looks_like_svmlight(start: bytes) -> bool:
    """Whether a file that begins like this is in svmlight format."""
    lines = [line for line in start.splitlines()[:20] if line.strip() and line[:1] != b"#"]
    found = [_PAIRS.fullmatch(line) for line in lines[:-1] or lines]
    pairs = [match.group(1).split() for match in found if match]
    return len(pairs) == len(found) and any(len(pair) > 1 for pair in pairs)


def stage_svmlight(file: Path, shown: str, storage: Storage, asked: Asked) -> StagedFile:
    """Read the labels into the table `rows` of the storage; the features stay sparse."""
    from sklearn.datasets import load_svmlight_file

    try:
        with file.open("rb") as opened:  # by its name, an unpacked file may still look packed
            X, y = load_svmlight_file(opened)
    except (ValueError, OverflowError) as error:
        reason = " ".join(str(error).split())[:80]
        msg = f"{shown} is a damaged svmlight file or breaks off ({reason}): correct or copy it"
        raise TableError(msg) from None
    if not X.nnz:
        msg = f"{shown} holds labels but no features: give lines such as 1 3:0.5 7:2"
        raise TableError(msg)
    if not np.isfinite(X.data).all():
        msg = f"{shown} holds features that are not finite: leave them out of their lines"
        raise TableError(msg)
    storage.rows("CREATE TABLE rows AS SELECT label AS c0 FROM given", given={"label": y})
    columns = [Column("c0", "number", "number", declared=True)]
    notes = ["The features are sparse and are taken as they are, not standardised."]
    return StagedFile([LABEL], columns, notes, has_header=False, sparse={FEATURES: X})
