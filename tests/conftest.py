"""What all tests share. Numba's cache is chosen here, before anything imports Numba."""

import contextlib
import functools
import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from quick import QUICK

ROOT = Path(__file__).resolve().parents[1]


# A shell starts what runs in the background deaf to Ctrl-C, and so would tests of it be.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Without it scikit-learn skips its check of array API input. Read when SciPy is first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".numba_cache")
if "PYTEST_XDIST_WORKER" in os.environ:  # threads of BLAS would wait for each other's cores
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Every worker, and every process that a test starts, would read all sources anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What is imported while the tests are gathered stays.
gc.disable()

# CI tries the same examples each time, and needs fewer of them than those who try others.
EXAMPLES = 12 if "CI" in os.environ else 25

settings.register_profile(
    "default",
    deadline=None,
    max_examples=4 if "ROSENBLATT_FEW_EXAMPLES" in os.environ else EXAMPLES,
    derandomize="CI" in os.environ,
    # Fixtures that patch the source or the watch list stay patched for all examples: intended.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("default")


def pytest_xdist_auto_num_workers():
    """One worker more than there are cores, for many tests wait for a process or a browser."""
    return (os.cpu_count() or 1) + 1


def _quick(path):
    """The tests of a file that are quick, or None."""
    return QUICK.get(path.as_posix().removeprefix(f"{ROOT.as_posix()}/tests/"))


def pytest_ignore_collect(collection_path, config):
    """Files without quick tests are not even imported where only these are asked for."""
    if config.option.markexpr == "quick" and collection_path.suffix == ".py":
        return True if _quick(collection_path) is None else None
    return None


def pytest_collection_modifyitems(items):
    for item in items:
        names = _quick(item.path)
        if names is not None and (not names or item.originalname in names):
            item.add_marker(pytest.mark.quick)


def pytest_runtest_setup(item):
    """Nobody reads how what is expected to fail has failed: its sources are not looked up."""
    if item.get_closest_marker("xfail"):
        item.repr_failure = lambda error, *_, **__: error.exconly()


def pytest_collection_finish():
    """All that has been imported stays: no need to look through it for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure():
    gc.unfreeze()


@pytest.fixture(autouse=True)
def no_open_figures():
    """Close what a test has drawn."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def settings_stay():
    """A test of pictures leaves Matplotlib's settings as it found them."""
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before


@pytest.fixture
def plain_terminal(monkeypatch, tmp_path):
    """A terminal of 100 columns without colours, in an empty folder."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_room(monkeypatch):
    """A context in which no file can grow beyond a thousand bytes."""
    resource = pytest.importorskip("resource")
    # Python would keep the first half of a module that is compiled there, and read it for ever.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    @contextlib.contextmanager
    def limited():
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


@pytest.fixture
def in_blocks(monkeypatch):
    """``in_blocks(size)``: from now on estimators read their data in blocks of `size` rows."""
    from rosenblatt.contract import classifier
    from rosenblatt.data.sources import MemorySource

    def split(size):
        cut = functools.partial(MemorySource, block_size=size)
        monkeypatch.setattr(classifier, "MemorySource", cut)

    return split


@pytest.fixture
def watching(monkeypatch):
    """``watching(False)``: look at every row. ``watching(True)``: skip rows from the first chance.

    Returns a list that counts, per try, whether rows could be skipped.
    """
    from rosenblatt.perceptron.linear_rule import PossibleMistakes

    judge = PossibleMistakes.ready

    def choose(on):
        tries = []

        def ready(self, *args, **kwargs):
            judge(self, *args, **kwargs)
            tries.append(on)
            return on

        monkeypatch.setattr(PossibleMistakes, "ready", ready)
        return tries

    return choose
