"""A short way to the first line of the answer, and a short way out.

A small table takes less time than what Python does around it: importing parts of libraries that no
command uses, and looking for what could be freed among a million objects that will all be kept.
"""

from __future__ import annotations

import gc
import sys
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from threading import RLock
from types import ModuleType
from typing import Any

# Imported by scikit-learn, or by our tables, at once, and mostly not needed afterwards.
POSTPONED = ("duckdb", "scipy.stats")
NEW_OBJECTS = 100_000  # after which what nothing refers to is looked for; Python's own: 700


def start_quickly() -> None:
    """Prepare this process, which belongs to one command, before anything large is imported."""
    gc.set_threshold(NEW_OBJECTS)
    sys.meta_path.insert(0, WithoutPandas())
    sys.meta_path.insert(0, Postponed())


def end_quickly() -> None:
    """Spare Python the search for what could be freed: all of it goes at once.

    DuckDB counts what was not freed, and would complain.
    """
    if "_duckdb" not in sys.modules:
        gc.freeze()


class WithoutPandas:
    """Has scikit-learn find no pandas when it is imported, which is all it wants to know of it.

    Tables of pandas come from Python, never from the command. Whoever else imports it finds it.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Refuse one import; of all others nothing is known here."""
        asks = sys.modules.get("sklearn.utils.fixes")
        if name == "pandas" and getattr(getattr(asks, "__spec__", None), "_initializing", False):
            msg = "the command uses no pandas"
            raise ModuleNotFoundError(msg, name=name)
        return None


class Postponed:
    """Loads some modules when something in them is first used, not when they are imported."""

    def __init__(self) -> None:
        self._asking = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """How to load a module; of most nothing is known here."""
        if name not in POSTPONED or self._asking:
            return None
        self._asking = True
        try:
            spec = find_spec(name)
        finally:
            self._asking = False
        if spec is not None and spec.loader is not None:
            spec.loader = LoadedWhenUsed(spec.loader)
        return spec


class LoadedWhenUsed(Loader):
    """A loader that leaves a module empty until something is looked for in it."""

    def __init__(self, loader: Any) -> None:
        self._loader, self._lock = loader, RLock()
        self._loading = self._loaded = False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to Python."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Have the module load itself when a name that it has not is asked for."""

        def load(name: str) -> Any:
            with self._lock:
                if name.startswith("__") or self._loading:
                    msg = f"module {module.__name__!r} has no attribute {name!r}"
                    raise AttributeError(msg)
                if not self._loaded:  # as it is when another thread was here first
                    self._execute(module, load)
            return getattr(module, name)

        module.__getattr__ = load  # type: ignore[method-assign]

    def _execute(self, module: ModuleType, load: Any) -> None:
        self._loading = True
        try:
            self._loader.exec_module(module)
        finally:
            self._loading = False
        self._loaded = True
        if vars(module).get("__getattr__") is load:  # the module may have one of its own
            del module.__getattr__
