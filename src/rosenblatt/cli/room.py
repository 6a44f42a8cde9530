"""How much memory a table may take, and what becomes of one that takes more.

It is then read from disk as it is needed: its columns and its features lie in temporary files that
are mapped into memory, and go through the same code, to the same answers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.tables.texts import Texts

if TYPE_CHECKING:
    from rosenblatt.streams.cache import Cache

SHARE = 0.5  # of the memory that is free, unless told otherwise
UNKNOWN = 4e9  # bytes that are free where the system does not say
LIKE_TEXT = 8  # bytes that a byte of a file may become: one digit and a comma are a float and more
WIDE = 4  # features of a date
SOME = 1000  # texts by whose words the words of all are estimated
ENTRY = 12  # bytes of an entry of a sparse matrix
ON_DISK = "read from disk as it is needed"
GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class Room:
    """The memory that a table may take, in bytes, and the folder for more; `asked`: as told."""

    memory: float
    cache: Cache
    asked: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Room | None:
        """From the options of a command; None if it has none for this."""
        if "memory" not in options:
            return None
        from rosenblatt.streams.cache import Cache, n_bytes

        given, size = options["memory"], options["cache_size"]
        cache = Cache(options["cache"], None if size is None else n_bytes("--cache-size", size))
        if given is not None:
            return cls(n_bytes("--memory", given), cache, asked=True)
        return cls(SHARE * free_memory(), cache)

    def reads_in_parts(self, files: Sequence[str]) -> bool:
        """Whether the rows of these files may be too many to be read at once."""
        with suppress(OSError, ValueError):  # a name that cannot be is told of later
            return LIKE_TEXT * sum(Path(file).stat().st_size for file in files) > self.memory
        return True  # a pattern, a database, standard input

    def lacks(self, needed: float) -> bool:
        """Whether so many bytes are too many."""
        return needed > self.memory

    def told(self, file: str, needed: float) -> str:
        """What is said of a table that takes so many bytes."""
        from rosenblatt.visible import size_in_words

        limit = f"--memory {size_in_words(self.memory)}"
        if not self.asked:
            limit = f"{size_in_words(self.memory)}, half of what is free (--memory for another)"
        takes = f"{file} takes about {size_in_words(needed)} as numbers, more than {limit}"
        return f"{takes}: {ON_DISK}"


def size_of_columns(n_rows: int, kinds: Sequence[str]) -> float:
    """The bytes of so many rows of columns of these kinds."""
    return float(n_rows) * sum(4 if kind == "text" else 8 for kind in kinds)


def size_of_features(columns: Mapping[str, Any], free: Sequence[str] = ()) -> float:
    """The bytes of the features that columns become, about; `free` are texts of many words."""
    widths, words = list[int](), 0.0
    for name, cells in columns.items():
        if not isinstance(cells, Texts):
            widths.append(WIDE if cells.dtype.kind == "M" else 1)
        elif name in free:
            some = cells.values[:: max(1, len(cells.values) // SOME)]
            words += float(np.mean([len(set(text.split())) for text in some])) if len(some) else 0.0
        elif len(cells.values) <= max(50, len(cells) // 2):
            widths.append(len(cells.values))
    n_rows = len(next(iter(columns.values())))
    if words or sum(widths) > 50 + 4 * len(widths):  # as the encoder judges
        return n_rows * (ENTRY * (words + len(widths)) + 8.0)
    return 8.0 * n_rows * sum(widths)


# The memory that is free ------------------------------------------------------------------------


def free_memory() -> float:
    """The bytes of memory that are free: of this machine, container and process."""
    found = [_machine(), *map(_container, GROUPS), _process()]
    return min((size for size in found if size is not None), default=UNKNOWN)


def _machine() -> float | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    with suppress(AttributeError, OSError, ValueError):
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return None


def _container(limit: str) -> float | None:
    """What is left of the limit of a control group, where it has one."""
    used = {"memory.max": "memory.current", "memory.limit_in_bytes": "memory.usage_in_bytes"}
    with suppress(OSError, ValueError):  # "max" is no number
        file = Path(limit)
        most, taken = (int(one.read_text()) for one in (file, file.with_name(used[file.name])))
        stat = dict(line.split() for line in file.with_name("memory.stat").read_text().splitlines())
        pages = int(stat.get("inactive_file", stat.get("total_inactive_file", 0)))
        return float(max(most - taken + pages, 0))  # pages of files make room
    return None


def _process() -> float | None:
    """What is left of the limits of this process, where it has any."""
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        fields = Path("/proc/self/statm").read_text().split()
        page, left = resource.getpagesize(), list[float]()
        for name, used in (("RLIMIT_AS", fields[0]), ("RLIMIT_DATA", fields[5])):
            most = resource.getrlimit(getattr(resource, name))[0]
            if most != resource.RLIM_INFINITY:
                left.append(max(float(most) - int(used) * page, 0.0))
        return min(left, default=None)
    return None
