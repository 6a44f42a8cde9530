"""What the command does to start and end quickly, and its folds without scikit-learn's."""

import gc
import importlib
import sys
import threading
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from rosenblatt.cli import starting
from rosenblatt.validation.plans import stratified


@pytest.fixture
def late(tmp_path, monkeypatch):
    """A package that the command loads late, which counts how often it is loaded."""
    package = tmp_path / "late_package"
    package.mkdir()
    text = "import builtins\nbuiltins.loaded.append(1)\nfrom late_package import part\nvalue = 7\n"
    (package / "__init__.py").write_text(text)
    (package / "part.py").write_text("from late_package import __name__ as parent\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("builtins.loaded", [], raising=False)
    monkeypatch.setattr(starting, "POSTPONED", ("late_package",))
    monkeypatch.setattr(sys, "meta_path", [starting.Postponed(), *sys.meta_path])
    yield sys.modules["builtins"].loaded
    for name in ("late_package", "late_package.part"):
        sys.modules.pop(name, None)


def test_modules_are_loaded_when_they_are_used(late):
    module = importlib.import_module("late_package")
    assert importlib.import_module("late_package") is module  # a second import is no use
    assert not hasattr(module, "__unknown__")
    assert late == []
    assert module.value == 7
    assert module.part.parent == "late_package"
    assert late == [1]
    with pytest.raises(AttributeError, match="other"):
        _ = module.other
    assert late == [1]


def test_two_threads_load_a_module_once(late, tmp_path):
    slow = tmp_path / "late_package" / "part.py"
    slow.write_text(slow.read_text() + "import time\ntime.sleep(0.05)\n")
    module, both, found = importlib.import_module("late_package"), threading.Barrier(2), []

    def ask():
        both.wait(60)
        found.append(module.value)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (found, late) == ([7, 7], [1])


def test_names_are_loaded_from_modules(late):
    from late_package import value

    assert (value, late) == (7, [1])


def test_a_module_that_cannot_be_loaded_says_so_each_time(late, tmp_path):
    (tmp_path / "late_package" / "part.py").write_text("raise OSError('gone')")
    module = importlib.import_module("late_package")
    for _ in range(2):
        with pytest.raises(OSError, match="gone"):
            _ = module.value


def test_only_scikit_learn_finds_no_pandas(monkeypatch):
    finder = starting.WithoutPandas()
    asks = ModuleType("sklearn.utils.fixes")
    monkeypatch.setitem(sys.modules, "sklearn.utils.fixes", asks)
    for importing in (False, True):
        asks.__spec__ = SimpleNamespace(_initializing=importing)
        assert finder.find_spec("pandas.core") is None
        if importing:
            with pytest.raises(ImportError):
                finder.find_spec("pandas")
        else:
            assert finder.find_spec("pandas") is None


@pytest.mark.parametrize("with_duckdb", [False, True])
def test_the_way_out_is_short_unless_duckdb_counts(with_duckdb, monkeypatch):
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    modules = {k: v for k, v in sys.modules.items() if k != "_duckdb" or with_duckdb}
    monkeypatch.setattr(sys, "modules", modules | ({"_duckdb": None} if with_duckdb else {}))
    starting.end_quickly()
    assert bool(frozen) is not with_duckdb


@pytest.mark.parametrize("seed", range(8))
def test_folds_are_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    n_classes, folds = int(rng.integers(2, 7)), int(rng.integers(2, 7))
    y = rng.permutation(np.repeat(np.arange(n_classes), rng.integers(folds, 40, n_classes)))
    theirs = StratifiedKFold(folds, shuffle=True, random_state=0).split(y, y)
    for ours, one in zip(stratified(y, folds), theirs, strict=True):
        np.testing.assert_array_equal(ours[0], one[0])
        np.testing.assert_array_equal(ours[1], one[1])
