"""Files that change while they are read: one line, whatever is done to them."""

from __future__ import annotations

import os
from threading import Lock

import pytest

from rosenblatt.tables import staging, storage
from rosenblatt.tables.formats import plain_csv, plain_csv_on_disk
from rosenblatt.tables.table import TableError, read_table

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


def grow(path):
    with path.open("a") as opened:
        opened.write("1,x\n")


def shorten(path):
    os.truncate(path, path.stat().st_size // 2)


def rewrite(path):
    state = path.stat()
    path.write_bytes(path.read_bytes().replace(b"x", b"y"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))


def replace(path):
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)


def remove(path):
    path.unlink()


CHANGES = {
    grow: "changed while it was read: it had 409 bytes and has 413 now; read it again when it is "
    "complete",
    shorten: "changed while it was read: it had 409 bytes and has 204 now; read it again when it "
    "is complete",
    rewrite: "changed while it was read: somebody wrote to it; read it again when it is complete",
    replace: "changed while it was read: another file has its name now; read it again when it is "
    "complete",
    remove: "can no longer be read (no such file or directory): put it back, and read it again",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("place", ["memory", "disk", "database"])
def test_delimited_text(file, monkeypatch, change, place):
    last = '2,"\n"' if place == "database" else '2,"z"'  # not plain, or plain
    path = file("a,b\n" + "1,x\n" * 100 + last)
    assert path.stat().st_size == 409
    if place != "memory":
        monkeypatch.setattr(storage, "IN_MEMORY_BYTES", 0)
    changed, lock = [], Lock()

    def once(function):
        def changing(*args, **kwargs):
            with lock:
                if not changed:
                    changed.append(change(path))
            return function(*args, **kwargs)

        return changing

    for module in (plain_csv, plain_csv_on_disk):
        monkeypatch.setattr(module, "scanned", once(module.scanned))
        monkeypatch.setattr(module, "BLOCK_BYTES", 64)
    with pytest.raises(TableError) as caught:
        read_table(path)
    assert changed
    assert str(caught.value) == f"{path} {CHANGES[change]}"


def test_one_of_several_files(file, monkeypatch):
    paths = [file("a,b\n1,x\n2,y\n", name) for name in ("1.csv", "2.csv")]
    monkeypatch.setattr(storage, "IN_MEMORY_BYTES", 0)
    compare = staging._compare

    def changing(first, other):
        grow(paths[0])
        compare(first, other)

    monkeypatch.setattr(staging, "_compare", changing)
    with pytest.raises(TableError, match=r"1\.csv changed while it was read: it had 12 bytes"):
        read_table(paths)
