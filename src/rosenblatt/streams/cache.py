"""Room on disk for what does not fit into memory: files without a name, mapped when written.

A file that has no name is gone when the process ends, however it ends: nothing is left behind, not
even by SIGKILL. (Where the system cannot do that, as on Windows, it is removed when it is closed.)
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.arguments import file_path, not_allowed, number
from rosenblatt.visible import size_in_words

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
ELSEWHERE = "make room, or choose another folder (--cache FOLDER, in Python cache=)"
UNITS = ("", "k", "m", "g", "t")
SIZE = re.compile(r"\s*(?P<amount>\d+(\.\d+)?(e\d+)?)\s*(?P<unit>[kmgt]?)i?b?\s*", re.IGNORECASE)


class Cache:
    """A folder for files without a name, that hold at most `size` bytes together.

    The files are written in a ``with`` block.

    Parameters
    ----------
    folder : path, optional
        By default the system's folder for temporary files, as TMPDIR says.
    size : int or text such as "50GB", optional
        By default as much as there is room for.
    """

    def __init__(self, folder: Any = None, size: Any = None) -> None:
        self.folder = Path(tempfile.gettempdir() if folder is None else file_path("cache", folder))
        self.size = None if size is None else n_bytes("cache_size", size)
        self.written = 0
        self._files: list[GrowingFile] = []
        if not self.folder.is_dir():
            msg = f"there is no folder {self.folder} for the cache: make it first, or give another"
            raise FileNotFoundError(msg)
        if not os.access(self.folder, os.W_OK):
            msg = f"nothing may be written in the folder {self.folder.absolute()}: {ELSEWHERE}"
            raise PermissionError(msg)

    def require(self, needed: int) -> None:
        """Refuse to begin what there is no room for."""
        told = f"the features take {size_in_words(needed)}"
        if self.size is not None and self.written + needed > self.size:
            msg = f"{told}, more than the cache may hold, {size_in_words(self.size)}: allow more"
            raise OSError(errno.EFBIG, f"{msg} (--cache-size, in Python cache_size=)")
        free = shutil.disk_usage(self.folder).free
        if needed > free:
            where = f"{size_in_words(free)} are free in {self.folder.absolute()}"
            raise OSError(errno.ENOSPC, f"{told}, but {where}: {ELSEWHERE}")

    def file(self, kind: DTypeLike) -> GrowingFile:
        """A new file for numbers of this kind."""
        made = GrowingFile(self, kind)
        self._files.append(made)
        return made

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the files; what was mapped of them stays."""
        for file in self._files:
            file.close()


class GrowingFile:
    """Numbers of one kind, one block after another, and in the end as an array on disk."""

    def __init__(self, cache: Cache, kind: DTypeLike) -> None:
        self._cache, self.kind, self.length = cache, np.dtype(kind), 0
        self._file = tempfile.TemporaryFile(dir=cache.folder, prefix="rosenblatt-")  # noqa: SIM115

    def append(self, values: NDArray[Any]) -> None:
        """Write numbers behind those that are there."""
        values = np.ascontiguousarray(values, dtype=self.kind).reshape(-1)
        cache = self._cache
        if cache.size is not None and cache.written + values.nbytes > cache.size:
            cache.require(values.nbytes)
        try:
            self._file.write(values.data)  # none of it is copied
            self._file.flush()
        except OSError as error:
            if error.errno not in FULL:
                raise
            told = f"no room left for the cache in {cache.folder.absolute()} after "
            told += f"{size_in_words(cache.written)}: {ELSEWHERE}"
            raise OSError(error.errno, told) from None
        cache.written += values.nbytes
        self.length += values.size

    def close(self) -> None:
        """Write no more."""
        self._file.close()

    def mapped(self, *shape: int) -> NDArray[Any]:
        """All of them as an array of this shape, which cannot be written to."""
        if not self.length:  # of nothing there is no map
            return np.empty(shape or 0, self.kind)
        return np.memmap(self._file, self.kind, "r", shape=shape or (self.length,))


def n_bytes(name: str, value: Any) -> int:
    """A size in bytes: a number, or a text such as 2GB, 500 MB or 1.5e9."""
    wanted = "give a size such as 2GB or 500MB"
    if not isinstance(value, str):
        return int(number(name, value, lambda x: 1 <= x < 2**63, wanted))
    parts = SIZE.fullmatch(value)
    found = float(parts["amount"]) * 1000 ** UNITS.index(parts["unit"].lower()) if parts else 0.0
    if not 1 <= found < 2**63:
        raise not_allowed(name, value, wanted)
    return int(found)
