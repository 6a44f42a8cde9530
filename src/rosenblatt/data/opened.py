"""Labelled samples that lie on disk: what `rosenblatt.open` gives, in place of X and y."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

BLOCK = 1 << 22  # numbers in a block that is handed out


class OpenedSource:
    """Samples on disk, as numbers, that are taken in place of ``X, y``.

    Made by `rosenblatt.open`. The features lie in a temporary file that is mapped into memory: any
    amount of them can be learned from, again and again and in any order, while the system keeps as
    much of them in memory as there is room for. The file has no name, so that it is gone when the
    process ends, however it ends; `close`, or a ``with`` block, lets go of it earlier.

    Attributes
    ----------
    X : array or CSR array of shape (n, d)
        The features, mapped from disk and read-only.
    label : int32 array of shape (n,), or None
        The number of each sample's class.
    classes : array or None
        The classes in sorted order; None: there is no target, or it is no class.
    targets : float64 array of shape (n,), or None
        The target, where it is a number.
    features : tuple of str or None
        The names of the features; None: they have none.
    encoder : TableEncoder or None
        What made features of the columns of a table; give it to `rosenblatt.open` for other rows
        of the same kind.
    notes : tuple of str
        What was done unasked, a sentence each.
    """

    def __init__(
        self,
        X: Any,
        *,
        label: NDArray[np.int32] | None = None,
        classes: NDArray[Any] | None = None,
        targets: NDArray[np.float64] | None = None,
        features: tuple[str, ...] | None = None,
        encoder: Any = None,
        notes: tuple[str, ...] = (),
        name: str = "",
    ) -> None:
        self._X: Any = X
        self.label, self.classes, self.targets = label, classes, targets
        self.features, self.encoder, self.notes = features, encoder, notes
        self.name = name
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))

    @property
    def X(self) -> Any:
        """The features, mapped from disk and read-only."""
        if self._X is None:
            msg = f"{self.name or 'the source'} is closed: open it again"
            raise ValueError(msg)
        return self._X

    @property
    def y(self) -> NDArray[Any]:
        """The target of each sample, as an array in memory."""
        self.X  # noqa: B018, which refuses a source that is closed
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

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, d = self.shape
        about = "" if self.classes is None else f", {len(self.classes)} classes"
        return f"<OpenedSource {self.name}: {n} samples, {d} features{about}>"

    def blocks(self) -> Iterator[tuple[Any, NDArray[Any] | None]]:
        """Pairs of features and targets, some samples at a time; None where there is no target."""
        n, d = self.shape
        step = max(1, BLOCK // max(d, 1))
        for a in range(0, n, step):
            part = slice(a, min(a + step, n))
            y: NDArray[Any] | None = None
            if self.classes is not None and self.label is not None:
                y = self.classes[self.label[part]]
            elif self.targets is not None:
                y = np.array(self.targets[part])
            yield self.X[part], y

    def close(self) -> None:
        """Let go of the file; nothing can be read afterwards."""
        self._X = self.label = self.targets = None

    def __enter__(self) -> OpenedSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
