"""Arrays that are written to but need not be in memory: mapped files without a name."""

from __future__ import annotations

import errno
import math
import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


def scratch(shape: tuple[int, ...], kind: DTypeLike, folder: Any = None) -> NDArray[Any]:
    """An array to write to, in a file of the folder (None: the system's, as TMPDIR says).

    The file is gone with the array, or with the process, however it ends. Its room is taken at
    once: a full disk is an error here and not the end of the process later.
    """
    size = math.prod(shape) * np.dtype(kind).itemsize
    if not size:
        return np.empty(shape, kind)
    with tempfile.TemporaryFile(dir=folder, prefix="rosenblatt-") as file:
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
                raise
            where = folder or tempfile.gettempdir()
            msg = f"no room for {size / 1e9:.3g} GB in {where}: make room, or set TMPDIR to another"
            raise OSError(error.errno, msg) from None
        return np.memmap(file, kind, "r+", shape=shape)
