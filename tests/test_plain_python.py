"""The loops without the compiler are the definition: the reference tests hold for them too."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

HERE = Path(__file__).parent


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="already running as plain Python")
@pytest.mark.parametrize(
    "name", ["perceptron/test_perceptron_reference.py", "nearest/test_margin_solvers.py"]
)
def test_reference_tests_without_the_compiler(name):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-m", "not compiled", str(HERE / name)]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "ROSENBLATT_FEW_EXAMPLES": "1"}
    run = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, cwd=HERE.parent
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
