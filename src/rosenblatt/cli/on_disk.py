"""Tables that do not fit into memory: their columns and features in temporary files, mapped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cli.options import refuse
from rosenblatt.cli.room import Room, size_of_columns, size_of_features
from rosenblatt.data.sources import is_mapped
from rosenblatt.streams.opening import encoded
from rosenblatt.streams.writing import FeatureWriter
from rosenblatt.tables.mapped_columns import MappedColumns, written
from rosenblatt.tables.mapped_features import MappedEncoder
from rosenblatt.tables.sparse_features import is_sparse
from rosenblatt.tables.storage import Storage
from rosenblatt.tables.texts import MISSING_CODE, Texts

if TYPE_CHECKING:
    from rosenblatt.report.fits import LabelledTable
    from rosenblatt.streams.cache import Cache
    from rosenblatt.tables.table import Table

TYPES = {"number": np.float64, "date": "datetime64[us]", "text": np.int32}
CELLS = 1 << 21  # of all columns that are encoded at a time


def columns_in(
    room: Room | None, table: Table, names: Sequence[str], known: NDArray[np.bool_]
) -> dict[str, Any]:
    """The columns of a table, of the rows that are known: in memory, or as maps of files.

    Sparse ones are in memory already.
    """
    kinds = [table.kinds[name] for name in names]
    floats = 8.0 * table.n_rows * sum(kind != "text" for kind in kinds)  # features, at least
    needed = size_of_columns(table.n_rows, kinds) + floats
    fits = room is None or "sparse" in kinds or not room.lacks(needed)
    if room is None or fits or (known.all() and table.is_held):
        columns = dict(table.columns(names))  # if on disk, as it was read
        if known.all():
            return columns
        return {name: cells[known] for name, cells in columns.items()}
    storage = Storage(True, str(room.cache.folder))
    try:
        return _written(table, names, known, storage)
    finally:
        storage.close()


def room_for(
    room: Room | None, file: str, columns: Mapping[str, Any], free: Sequence[str]
) -> tuple[Cache | None, list[str]]:
    """Where the features of columns go, if there is no room in memory, and a note on that."""
    if room is None:
        return None, []
    if is_sparse(columns):
        (matrix,) = columns.values()
        needed = 2.0 * sum(part.nbytes for part in (matrix.data, matrix.indices, matrix.indptr))
        told = f"{file} is in memory all the same: --memory is not for svmlight files"
        return None, [told] * (room.asked and room.lacks(needed))
    kinds = ["text" if isinstance(cells, Texts) else "number" for cells in columns.values()]
    n_rows = len(next(iter(columns.values())))
    needed = size_of_columns(n_rows, kinds) + size_of_features(columns, free)
    if not room.lacks(needed):
        return None, []
    return room.cache, [room.told(file, needed)]


def _written(
    table: Table, names: Sequence[str], known: NDArray[np.bool_], storage: Storage
) -> dict[str, Any]:
    """The columns, of each kind side by side in one file."""
    of_kind = {kind: [n for n in names if table.kinds[n] == kind] for kind in TYPES}
    n_rows, filled = int(known.sum()), 0
    files = {
        kind: MappedColumns(storage.new_file(), TYPES[kind], len(of_kind[kind]), n_rows)
        for kind in TYPES
    }
    distinct: dict[str, dict[str, int]] = {name: {} for name in of_kind["text"]}
    try:
        for start, block in table.blocks(names):
            here = known[start : start + len(block[names[0]])]
            for kind, file in files.items():
                for k, name in enumerate(of_kind[kind]):
                    cells: Any = block[name][here]
                    made = _codes(cells, distinct[name]) if kind == "text" else cells
                    file.write(k, filled, made)
            filled += int(here.sum())
        maps = {kind: file.mapped(n_rows) for kind, file in files.items()}
    finally:
        for file in files.values():
            file.close()
    found = {name: maps[kind][k] for kind in TYPES for k, name in enumerate(of_kind[kind])}
    return {name: _as_texts(found[name], distinct.get(name)) for name in names}


def _codes(cells: Texts, places: dict[str, int]) -> NDArray[np.int32]:
    """The codes of some texts among those of all rows, to which they are added."""
    codes = np.full(len(cells.values) + 1, MISSING_CODE, np.int32)
    for k in np.flatnonzero(cells.counts()).tolist():
        codes[k] = places.setdefault(cells.values[k], len(places))
    return codes[cells.codes]


def _as_texts(codes: NDArray[Any], places: dict[str, int] | None) -> Any:
    """A column of texts; any other is as it is."""
    if places is None:
        return codes
    values = np.empty(len(places), dtype=object)
    values[:] = list(places)
    return Texts(values, codes)


def recoded(cache: Cache, new: NDArray[np.int32], codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """New codes for all rows: on disk if the old ones are."""
    if not is_mapped(codes):
        return new[codes]
    storage = Storage(True, str(cache.folder))
    try:
        return written(storage.new_file(), np.int32, len(codes), lambda part: new[codes[part]])
    finally:
        storage.close()


def without_folds(table: LabelledTable, given: Mapping[str, Any]) -> None:
    """Refuse options that need all rows of a table in memory; a note that there are no folds."""
    folds = given["folds"] if given["folds"] not in (None, "0") else None
    needing = {"cv": folds, "report": given["page"], "plot": given["picture"]}
    needing |= {name: given[name] for name in ("calibrate", "tune", "groups", "holdout")}
    for name, value in needing.items():
        why = f"--{name} needs the whole table in memory, for which --memory is too small"
        refuse(value, f"{why}: leave it out, or give more")
    if given["folds"] is None:
        table.notes.append("no cross-validation of a table on disk (--test FILE: other rows)")


# Features ---------------------------------------------------------------------------------------


def features_of(table: LabelledTable, encoder: Any) -> Any:
    """The features of a table, to which the encoder is fitted: in memory, or on disk."""
    if table.cache is None:
        return encoder.fit_transform(table.columns)
    with table.cache as cache:
        if not isinstance(encoder, MappedEncoder):
            return _encoded(table, encoder, cache)
        return _mapped(_encoded(table, encoder.encoder, cache), encoder, cache)


def _encoded(table: LabelledTable, encoder: Any, cache: Cache) -> Any:
    """The features that an encoder makes."""
    n_rows = len(table.label)
    encoder.fit(table.columns)
    if not encoder.sparse_:
        cache.require(8 * n_rows * len(encoder.get_feature_names_out()))
    return encoded(_blocks(table.columns, n_rows), encoder, cache)


def _mapped(X: Any, encoder: MappedEncoder, cache: Cache) -> Any:
    """What a feature map makes of features."""
    if encoder.check is not None:
        encoder.check(X)
    encoder.mapping.fit(X)
    writer, step = FeatureWriter(cache), max(1, CELLS // X.shape[1])
    for start in range(0, X.shape[0], step):
        writer.add(encoder.mapping.transform(X[start : start + step]))
    encoder.n_features_, encoder.n_features_out_ = int(X.shape[1]), writer.n_features
    return writer.finished()


def _blocks(columns: Mapping[str, Any], n_rows: int) -> Iterator[dict[str, Any]]:
    step = max(1, CELLS // len(columns))
    for start in range(0, n_rows, step):
        yield {name: cells[start : start + step] for name, cells in columns.items()}
