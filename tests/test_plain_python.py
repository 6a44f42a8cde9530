"""The loops without the compiler are the definition: the reference tests hold for them too."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

HERE = Path(__file__).parent
FILES = [
    "perceptron/test_perceptron_reference.py",
    "perceptron/test_joint.py",
    "nearest/test_margin_solvers.py",
    "nearest/test_coordinates.py",
    "kernel/test_kernel_perceptron.py",
    "kernel/test_registers.py",
    "tables/test_exact_sums.py",
]

# What runs each loop, dense and sparse: of the perceptron in one order of visits, and of the kernel
# perceptron on scores that tie.
CHOSEN = """
    test_perceptron_reference and (cyclic or huge or mistake or start)
        and not (floats and (1- or 2-))
    or same_run and (online or minibatch)
    or test_margin_solvers or test_coordinates and (textbooks or others_stay)
    or two_loops and ties or sparse and twins-rbf and int32 or at_hand and ties-vote-cyclic-True
    or test_keep and shuffled-rbf or picked and ties and worst or drop_after and last-2-shuffled
    or budget and 2-shuffled-5 or registers
    or test_exact_sums and to_the_bit
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="already running as plain Python")
def test_reference_tests_without_the_compiler():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0"]
    command += ["-m", "not compiled", "-k", " ".join(CHOSEN.split())]
    command += [str(HERE / name) for name in FILES]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "ROSENBLATT_FEW_EXAMPLES": "1"}
    run = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, cwd=HERE.parent
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
