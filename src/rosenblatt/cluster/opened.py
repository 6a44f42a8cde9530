"""Labelled samples on the workers of a cluster: what `rosenblatt.open` gives with ``engine=``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.cluster.engine import is_of_dask
from rosenblatt.cluster.reading import Labelled, RawBlock, described, placed_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rosenblatt.cluster.engine import Engine


class ClusteredSamples:
    """Samples on the workers of a cluster, as numbers, that are taken in place of ``X, y``.

    Made by `rosenblatt.open` with ``engine=``. The features stay where they were made; a block that
    is lost with its worker is made again from the files. `close`, or a ``with`` block, lets go of
    them.

    Attributes
    ----------
    shape : tuple of int
    size : int
        How many numbers are stored.
    label : int32 array of shape (n,), or None
        The number of each sample's class, in this process.
    classes : array or None
        The classes in sorted order; None: there is no target, or it is no class.
    targets : float64 array of shape (n,), or None
        The target, where it is a number.
    features : tuple of str or None
        The names of the features.
    encoder : TableEncoder
        What made features of the columns; give it to `rosenblatt.open` for other rows of the same
        kind.
    notes : tuple of str
        What was done unasked, a sentence each.
    """

    def __init__(
        self,
        engine: Engine,
        blocks: list[Any],
        lengths: list[int],
        n_features: int,
        *,
        dtype: Any = np.float64,
        sparse: bool = False,
        n_entries: int = 0,
        label: NDArray[np.int32] | None = None,
        classes: NDArray[Any] | None = None,
        targets: NDArray[np.float64] | None = None,
        features: tuple[str, ...] | None = None,
        encoder: Any = None,
        notes: tuple[str, ...] = (),
        name: str = "",
    ) -> None:
        engine.hand_over(blocks)
        self.engine = engine
        self._blocks: list[Any] | None = blocks
        self._lengths, self._dtype, self._sparse = lengths, np.dtype(dtype), sparse
        self.label, self.classes, self.targets = label, classes, targets
        self.features, self.encoder, self.notes = features, encoder, notes
        self.name, self.size = name, n_entries
        self.shape = sum(lengths), n_features

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, d = self.shape
        about = "" if self.classes is None else f", {len(self.classes)} classes"
        return f"<ClusteredSamples {self.name}: {n} samples, {d} features{about}>"

    @property
    def blocks(self) -> list[Any]:
        """Futures of the blocks, each a `RawBlock`."""
        if self._blocks is None:
            msg = f"{self.name or 'the source'} is closed: open it again"
            raise ValueError(msg)
        return self._blocks

    @property
    def X(self) -> Any:
        """The features, as a Dask array."""
        import dask.array as da
        from dask import delayed
        from scipy.sparse import csr_matrix

        d = self.shape[1]
        meta: Any = csr_matrix((0, d)) if self._sparse else np.empty((0, d), self._dtype)
        features = delayed(_features)
        parts = [
            da.from_delayed(features(delayed(block)), (n, d), self._dtype, meta=meta)
            for block, n in zip(self.blocks, self._lengths, strict=True)
        ]
        return da.concatenate(parts)

    @property
    def y(self) -> NDArray[Any]:
        """The target of each sample, as an array in this process."""
        if self.classes is not None and self.label is not None:
            return self.classes[self.label]
        if self.targets is not None:
            return np.array(self.targets)
        msg = f"{self.name or 'the source'} has no target: open it with target="
        raise ValueError(msg)

    def refuse(self, y: Any) -> None:
        """Refuse a target that is given beside the source's own."""
        if y is not None:
            msg = "X is an opened source, which has its own target: leave y out"
            raise ValueError(msg)

    @property
    def is_sparse(self) -> bool:
        """Whether most features are 0, and not stored."""
        return self._sparse

    def brought(self) -> Iterator[RawBlock]:
        """Block after block, sent for one by one."""
        for block in self.blocks:
            yield self.engine.gather([block])[0]

    def labelled(self, engine: Engine, sample_weight: Any = None) -> Labelled:
        """The blocks for those who learn from them, with a weight for each sample if there are.

        What is made of them is the engine's.
        """
        if self.classes is None or self.label is None:
            what = "has no target" if self.targets is None else "has numbers, no classes, as target"
            msg = f"{self!r} {what}: open it with target=, the column of the classes"
            raise ValueError(msg)
        if len(self.classes) < 2:
            only = self.classes.tolist()[0]
            msg = f"{self!r} holds only one class, {only!r}: a classifier needs at least two"
            raise ValueError(msg)
        counts = np.bincount(self.label, minlength=len(self.classes))
        blocks = list(self.blocks)
        if sample_weight is not None:
            starts = np.cumsum([0, *self._lengths[:-1]])
            both = zip(blocks, starts, self._lengths, strict=True)
            blocks = [
                engine.submit(_weighted, part, sample_weight[a : a + n].copy())
                for part, a, n in both
            ]
        weighted = sample_weight is not None
        parts = placed_blocks(engine, blocks)
        sizes = [one.size for one in described(engine, parts)]
        return Labelled(parts, sizes, self.classes, counts, self.shape[1], weighted)

    def close(self) -> None:
        """Let go of the blocks; nothing can be read afterwards."""
        self._blocks = self.label = self.targets = None

    def __enter__(self) -> ClusteredSamples:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_on_cluster(X: Any) -> bool:
    """Whether samples are on the workers of a cluster."""
    return isinstance(X, ClusteredSamples) or is_of_dask(X)


def block_of(X: Any, label: NDArray[np.int32] | None, classes: NDArray[Any] | None) -> RawBlock:
    """A block of features with the numbers of its classes, if there are any."""
    if label is None or classes is None:
        none = np.empty(0)
        return RawBlock(X, none, np.zeros(X.shape[0], np.int32), None)
    return RawBlock(X, classes, label, None)


def _features(block: RawBlock) -> Any:
    return block.X


def _weighted(block: RawBlock, weight: NDArray[np.float64]) -> RawBlock:
    return block._replace(weight=weight)
