"""The package itself: quick to import, complete, and of one version."""

import importlib.metadata
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rosenblatt as rb
from quick import QUICK

ROOT = Path(__file__).resolve().parents[1]


def modules_after(code):
    """The modules loaded by a fresh interpreter that runs `code`."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


HEAVY = {"numba", "sklearn", "scipy", "rich", "pandas", "polars", "matplotlib"}


def test_import_is_light():
    assert not HEAVY & set(modules_after("import rosenblatt"))


def test_listing_names_imports_nothing():
    assert not HEAVY & set(modules_after("import rosenblatt; dir(rosenblatt)"))


def test_formulas_need_neither_compiler_nor_framework():
    loaded = modules_after("import rosenblatt as rb; rb.Hyperplane; rb.datasets; rb.theory")
    assert not {"numba", "sklearn"} & set(loaded)


def test_progress_bar_library_is_loaded_only_when_shown():
    code = "import rosenblatt as rb; rb.Perceptron().fit([[1.0], [-1.0]], [1, 0])"
    assert "rich" not in modules_after(code)


@pytest.mark.parametrize("name", rb.__all__)
def test_every_public_name_is_there(name):
    assert getattr(rb, name).__doc__
    assert name in dir(rb)


def test_names_are_sorted_and_unique():
    assert list(rb.__all__) == sorted(set(rb.__all__))


def test_star_import():
    namespace = {}
    exec("from rosenblatt import *", namespace)
    assert set(rb.__all__) <= set(namespace)


def test_unknown_names():
    with pytest.raises(AttributeError, match="has no attribute 'Perzeptron'"):
        rb.Perzeptron  # noqa: B018
    assert not hasattr(rb, "__wrapped__")


def test_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert rb.__version__ == project["version"]
    try:
        installed = importlib.metadata.version("rosenblatt")
    except importlib.metadata.PackageNotFoundError:
        return
    assert rb.__version__ == installed


def test_quick_tests_are_there():
    """One of another name would be left out unseen."""
    for file, names in QUICK.items():
        text = (ROOT / "tests" / file).read_text()
        assert not [name for name in names if f"def {name}(" not in text], file
