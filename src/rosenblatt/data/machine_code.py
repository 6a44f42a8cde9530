"""Machine code on disk, so that a loop is compiled once and not in every process.

Numba's own cache does not notice a change in another file that a loop calls, fails when the disk
is full, runs whatever a damaged file holds, and can give one process what another one compiled for
other types at the same time. Here each compiled loop is a file of its own. Its name is a digest
of all that the code follows from, it appears whole or not at all, and begins with a checksum.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import llvmlite
import numba
import numpy as np
from numba.core import compiler, config, serialize
from numba.core.caching import NullCache
from numba.misc import appdirs

from rosenblatt.data.compiling import COMPILING, LOG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PACKAGE = Path(__file__).parents[1]
IMPORTS = re.compile(rb"^(?:from|import) (rosenblatt\.[\w.]+)", re.MULTILINE)
SUFFIX = ".nbc"
UNUSED = 30 * 24 * 3600.0  # seconds after which what nobody has read is removed
CHECKSUM = 32

# Numba tells no types of these.
_dumps: Any = serialize.dumps
_rebuild: Any = compiler.CompileResult._rebuild
_AppDirs: Any = appdirs.AppDirs
_config: Any = config


class KeptCode(NullCache):
    """The machine code of one loop, for all types it was compiled for."""

    def __init__(self, function: Callable[..., Any], stamp: bytes) -> None:
        self.name = f"{function.__module__}.{function.__qualname__}".removeprefix("rosenblatt.")
        self._stamp = stamp

    @property
    def cache_path(self) -> str:
        """The folder that is looked at first."""
        return str(next(folders()).path)

    def load_overload(self, sig: Any, target: Any) -> Any:
        """The loop for these types as an earlier process has compiled it, or None.

        Numba's own caches first import all that compiling may need (``target.refresh()``), which
        takes longer than the rest of a small fit.
        """
        name = self._file_name(sig, target.codegen())
        for folder in folders():
            content = folder.read(name)
            if content is not None:
                types, parts = pickle.loads(content)
                if types == sig:
                    return _rebuild(target, *parts)
        return None

    def save_overload(self, sig: Any, compiled: Any) -> None:
        """Write what was just compiled where it can be written, if anywhere."""
        if compiled.library.has_dynamic_globals:  # addresses in this process
            return
        name = self._file_name(sig, compiled.codegen)
        content = _dumps((sig, compiled._reduce()))
        COMPILING.folder = next((f.path for f in folders() if f.write(name, content)), None)
        LOG.debug("the loop %s is kept in %s", self.name, COMPILING.folder or "no folder")

    def _file_name(self, sig: Any, codegen: Any) -> str:
        parts = numba.__version__, llvmlite.__version__, np.__version__, codegen.magic_tuple()
        key = repr((sys.implementation.cache_tag, *parts, self._stamp, self.name, sig))
        return f"{self.name.replace('<', '').replace('>', '')}-{_digest(key.encode())}{SUFFIX}"


class Folder(NamedTuple):
    """A folder of machine code: `private` if it is to be ours alone, for what lies there is run."""

    path: Path
    private: bool

    def read(self, name: str) -> bytes | None:
        """What a file holds; None if there is none, it is damaged, or others may have made it."""
        if self.private and not _ours_alone(self.path):
            return None
        try:
            content = (self.path / name).read_bytes()
        except OSError:
            return None
        checksum, content = content[:CHECKSUM], content[CHECKSUM:]
        return content if checksum == _checksum(name, content) else None

    def write(self, name: str, content: bytes) -> bool:
        """Write a file whole; False where that is not possible."""
        beside = self.path / f"{name}.{os.urandom(8).hex()}"
        try:
            self.path.mkdir(mode=0o700 if self.private else 0o777, parents=True, exist_ok=True)
            if self.private and not _ours_alone(self.path):
                return False
            _tidy(self.path)
            beside.write_bytes(_checksum(name, content) + content)
            beside.replace(self.path / name)
        except OSError:
            with contextlib.suppress(OSError):
                beside.unlink()
            return False
        return True


def folders() -> Iterator[Folder]:
    """Where machine code may lie, best first.

    Whoever can write to the package's own folder can change the package, too; only what an
    administrator has compiled there serves all users.
    """
    if _config.CACHE_DIR:
        yield Folder(Path(_config.CACHE_DIR) / "rosenblatt", private=False)
    if PACKAGE.is_dir():  # no archive
        yield Folder(PACKAGE / "__pycache__" / "loops", private=False)
    user = os.geteuid() if hasattr(os, "geteuid") else "loops"
    own = Path(_AppDirs("rosenblatt", appauthor=False).user_cache_dir)
    for path in (own, Path(tempfile.gettempdir()) / f"rosenblatt-{user}"):
        if path.is_absolute():  # as it is not where nobody knows a home
            yield Folder(path, private=True)


def _ours_alone(folder: Path) -> bool:
    """Whether a folder belongs to this user, and nobody else can put a file or a folder there."""
    try:
        own, above = folder.lstat(), folder.parent.stat()
    except OSError:
        return False
    if not hasattr(os, "geteuid"):  # Windows: both folders lie in the user's own
        return True
    others = own.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    replaceable = above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX
    ours = stat.S_ISDIR(own.st_mode) and own.st_uid == os.geteuid()
    return ours and not others and not replaceable


@functools.cache
def _tidy(folder: Path) -> None:
    """Remove what no process has read for long: code of earlier versions, files half written."""
    now = time.time()
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            used = entry.stat()
            if SUFFIX in entry.name and now - max(used.st_atime, used.st_mtime) > UNUSED:
                Path(entry).unlink()


def stamp_of(module: str) -> bytes | None:
    """What changes with the source of a module, or of any that it imports; None without sources.

    To be asked for when the module is imported, before anybody edits it.
    """
    sources = sources_of(module)
    return b"".join(sources[name] for name in sorted(sources)) or None


def sources_of(module: str) -> dict[str, bytes]:
    """Digests of a module's source and of those in the package that its code may be made of."""
    found: dict[str, bytes] = {}
    pending = [module]
    while pending:
        name = pending.pop()
        if name in found or name not in sys.modules:
            continue
        loaded: Any = sys.modules[name]
        try:
            found[name], imports = _source(loaded, *_edition(loaded.__file__))
        except (AttributeError, OSError):  # typed in, or delivered without sources
            return {}
        pending += imports
    return found


def _edition(file: Any) -> tuple[int, int]:
    """What changes when a file is edited."""
    try:
        here = Path(file).stat()
    except NotADirectoryError:  # in an archive
        return 0, 0
    return here.st_mtime_ns, here.st_size


@functools.cache
def _source(module: Any, *edition: int) -> tuple[bytes, list[str]]:
    """A digest of what a module was made from, and what it imports of the package."""
    text = module.__loader__.get_data(module.__file__)
    return _checksum(module.__name__, text), [name.decode() for name in IMPORTS.findall(text)]


def _checksum(name: str, content: bytes) -> bytes:
    return hashlib.blake2b(name.encode() + content, digest_size=CHECKSUM).digest()


def _digest(key: bytes) -> str:
    return hashlib.blake2b(key, digest_size=12).hexdigest()
