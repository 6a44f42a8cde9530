"""The site, built once for all tests that look at it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the built site; the processes that share the tests share it."""
    pytest.importorskip("pydata_sphinx_theme", reason='needs pip install -e ".[docs]"')
    fcntl = pytest.importorskip("fcntl", reason="the site is built under a lock of Unix")
    mine = tmp_path_factory.getbasetemp()
    folder = (mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine) / "site"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            command = [sys.executable, "-m", "sphinx", "-W", "-q", ROOT / "docs", folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    return folder
