"""Files to read tables from; nothing is to be left behind."""

from __future__ import annotations

import tempfile

import pytest

from rosenblatt.tables import storage
from rosenblatt.tables.formats import csv_files


@pytest.fixture
def nothing_left_behind(tmp_path_factory, monkeypatch):
    """Every test leaves the folder of temporary files as it found it: empty."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


@pytest.fixture
def file(tmp_path):
    """A file with this content, its path."""

    def write(content, name="table.csv"):
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return path

    return write


@pytest.fixture(params=["small", "large", "on disk"])
def size(request, monkeypatch):
    """Small files are staged as text, large ones as numbers where they can be: same answers.

    Still larger ones go to the disk.
    """
    monkeypatch.setattr(csv_files, "LARGE_BYTES", 1 << 60 if request.param == "small" else 0)
    if request.param == "on disk":
        monkeypatch.setattr(storage, "IN_MEMORY_BYTES", 0)
    return request.param
