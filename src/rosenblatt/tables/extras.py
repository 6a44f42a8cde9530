"""Packages that only some formats take: imported when needed, with a remedy where they are not."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rosenblatt.tables.storage import TableError


def needed(module: str, extra: str, shown: str, package: str | None = None) -> Any:
    """The module; where it is not installed, the line that installs it."""
    try:
        return import_module(module)
    except ImportError:
        package = package or module.partition(".")[0]
        msg = f'{shown} takes {package} to be read: pip install "rosenblatt[{extra}]"'
        raise TableError(msg) from None
