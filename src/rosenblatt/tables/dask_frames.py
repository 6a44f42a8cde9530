"""Tables in parts on the workers of a cluster: what must be known of them, and their features."""

from __future__ import annotations

from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from rosenblatt.cluster.engine import ClusterError, Engine, one_line
from rosenblatt.cluster.reading import block_futures, require_shape
from rosenblatt.running.threads import Team
from rosenblatt.tables.frames import Cells, Frame, is_empty, is_named
from rosenblatt.tables.table_tally import TableTally

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rosenblatt.tables.encoder import TableEncoder


class Columns(NamedTuple):
    """How the columns of a table are read: their names, kinds, which to use all the same, words."""

    names: Sequence[str]
    kinds: Mapping[str, str]
    use: Sequence[str]
    free: Sequence[str]


def names_of_dask(X: Any) -> tuple[list[str], bool]:
    """The names of the columns of a Dask collection, and whether they are its own."""
    require_shape(X, "X")
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns], True
    return [f"x{j}" for j in range(X.shape[1])], False


def tallied_on_cluster(X: Any, use: Sequence[str], free: Sequence[str]) -> TableTally:
    """What must be known of the columns of a Dask collection, gathered where its parts are.

    What a column holds is what all of its cells are: numbers that stand beside texts are texts.
    """
    engine, (names, _) = Engine.at_hand(), names_of_dask(X)
    parts = block_futures(engine, X, "X")
    looked = [engine.submit(looked_at, k, names, part) for k, part in enumerate(parts)]
    found = engine.gather(looked)
    kinds = common_kinds(names, [kinds for _, kinds in found]) | dict.fromkeys(free, "text")
    columns = Columns(names, kinds, use, free)
    return merged_tallies(engine, [(part,) for part in parts], [n for n, _ in found], columns)


def merged_tallies(
    engine: Engine,
    parts: Sequence[tuple[Any, ...]],
    lengths: Sequence[int],
    columns: Columns,
    read: Callable[..., Any] | None = None,
) -> TableTally:
    """What must be known of parts of these lengths, as a tally of all rows in turn would have it.

    Sums are exact, and the rest is merged in the order of the rows, whichever comes first. A part
    is what `read` makes a table of.
    """
    firsts = list(accumulate(lengths, initial=0))
    if not firsts[-1]:
        msg = "the table has no rows: give at least one"
        raise ValueError(msg)
    futures = [
        engine.submit(_tallied, number, first, columns, read or _itself, *part)
        for number, (first, n, part) in enumerate(zip(firsts, lengths, parts, strict=False))
        if n
    ]
    whole = TableTally(columns.names, columns.kinds, columns.use, columns.free)
    for tally in engine.gather(futures):
        whole.merge(tally)
    return whole


def common_kinds(names: Sequence[str], found: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The kind of each column that has a cell: that of all its parts, or text."""
    kinds = {}
    for name in names:
        different = {of[name] for of in found if name in of}
        if different:
            kinds[name] = different.pop() if len(different) == 1 else "text"
    return kinds


def features_on_cluster(encoder: TableEncoder, X: Any) -> Any:
    """The features of a Dask collection, as a Dask array of known type, made when asked for."""
    import dask.array as da

    width = len(encoder.get_feature_names_out())
    meta: Any = csr_matrix((0, width)) if encoder.sparse_ else np.empty((0, width))
    task = partial(_features, encoder, width)
    if hasattr(X, "columns"):
        made = X.map_partitions(task, meta=np.empty((0, width)), enforce_metadata=False)
        return da.Array(made.dask, made.name, made.chunks, meta=meta)
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return X.map_blocks(task, dtype=np.float64, chunks=(X.chunks[0], (width,)), meta=meta)


# What workers do -------------------------------------------------------------------------------


def _frame(names: Sequence[str], part: Any) -> Frame:
    return Frame.of_columns(part) if is_named(part) else Frame.of_array(np.asarray(part), names)


def looked_at(number: int, names: Sequence[str], part: Any) -> tuple[int, dict[str, str]]:
    """How many rows a part has, and what the columns look like that have a cell."""
    if is_empty(part):
        return 0, {}
    try:
        frame = _frame(names, part)
        cells = [Cells.of(name, frame[name]) for name in frame.names]
    except (TypeError, ValueError) as error:
        raise _in_part(number, error) from error
    return frame.n_rows, {one.name: one.kind for one in cells if one.first_present() >= 0}


def _itself(part: Any) -> Any:
    return part


def _tallied(
    number: int, first: int, columns: Columns, read: Callable[..., Any], *part: Any
) -> TableTally:
    """What must be known of a part whose first row has this number."""
    try:
        tally = TableTally(*columns, before=first)
        tally.add(_frame(columns.names, read(*part)), Team(1))
    except (TypeError, ValueError) as error:
        raise _in_part(number, error) from error
    return tally


def _in_part(number: int, error: Exception) -> ClusterError:
    return ClusterError(f"part {number} of the table: {one_line(error)}")


def _features(encoder: TableEncoder, width: int, part: Any) -> Any:
    if is_empty(part):
        return csr_matrix((0, width)) if encoder.sparse_ else np.empty((0, width))
    return encoder.transform(part)
