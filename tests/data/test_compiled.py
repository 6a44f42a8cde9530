"""Machine code on disk."""

import importlib
import pickle
import sys
from pathlib import Path

import pytest

SOURCE = """
from rosenblatt.data.compiled import loop

@loop
def one_more(number):
    return number + 1
"""


@pytest.mark.compiled
def test_what_an_earlier_version_left_on_disk_is_compiled_anew(tmp_path, monkeypatch):
    (tmp_path / "some_loops.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("some_loops")
    assert module.one_more(1) == 2
    index = Path(module.one_more._cache._cache_file._index_path)
    with index.open("rb") as opened:
        version = pickle.load(opened)
    gone = b"crosenblatt.data.compiled\nGone\n."  # a pickled class that is not there
    index.write_bytes(pickle.dumps(version) + gone)
    with pytest.raises(AttributeError, match="Gone"):
        pickle.loads(gone)
    del sys.modules["some_loops"]
    again = importlib.import_module("some_loops")
    assert again.one_more(1) == 2
    assert sum(again.one_more.stats.cache_misses.values()) == 1
    del sys.modules["some_loops"]
    assert importlib.import_module("some_loops").one_more(1) == 2
    del sys.modules["some_loops"]
