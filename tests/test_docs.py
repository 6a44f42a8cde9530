"""Every snippet of the README and of the documentation runs and prints what it says.

Python is written as doctests. Commands are written in ``console`` blocks, after a ``$``, with what
they print below. The commands of a page run first, then its Python, in one folder that begins with
a copy of ``examples``.
"""

import contextlib
import doctest
import importlib
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = [
    "rosenblatt",
    "rosenblatt.kernels.gram_matrices",
    "rosenblatt.kernels.functions",
    "rosenblatt.kernels.maps",
    "rosenblatt.exercises",
    "rosenblatt.features.estimators",
    "rosenblatt.perceptron.estimator",
    "rosenblatt.perceptron.adaline",
    "rosenblatt.perceptron.regressor",
    "rosenblatt.tables.encoder",
    "rosenblatt.questions",
    "rosenblatt.certify",
    "rosenblatt.report.summary",
    "rosenblatt.kernel.estimator",
    "rosenblatt.margin.estimator",
    "rosenblatt.margin.path",
    "rosenblatt.report.comparison",
]
SETTING_UP = ("pip install", "pytest", "sphinx-build")  # what has been done before a test can run


def named(page):
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with the examples in it, a terminal of 80 columns and no colours."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    return tmp_path


def commands(text):
    """Pairs of a command and what it prints, from the ``console`` blocks of a page."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


def run(command):
    """What a command prints, standard error included.

    Ours runs in this process, which is quick, and a shell goes on where there is more.
    """
    if not command.startswith("rosenblatt "):
        return in_a_shell(command)
    arguments = shlex.split(command)
    (sign,) = {"|", "||"} & set(arguments) or {""}
    if not sign:
        return in_this_process(arguments[1:])[0]
    printed, code = in_this_process(arguments[1 : arguments.index(sign)])
    rest = command.rpartition(f" {sign} ")[2]
    if sign == "|":
        return in_a_shell(rest, input=printed)
    return printed + in_a_shell(f"(exit {code}) || {rest}")


def in_a_shell(command, **more):
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(["bash", "-c", command], text=True, check=False, **both, **more).stdout


def in_this_process(arguments):
    """What our command prints, and its exit code."""
    from commands import COMMANDS

    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        pytest.raises(SystemExit) as left,
    ):
        COMMANDS.main(arguments, "rosenblatt")
    return printed.getvalue(), left.value.code


def same(printed, expected):
    """Equal, where ``...`` stands for anything and blanks at the ends of lines do not count."""
    want, got = (
        "".join(f"{line.rstrip()}\n" for line in t.splitlines()) for t in (expected, printed)
    )
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_page(page, folder):
    for command, expected in commands(page.read_text()):
        if not command.startswith(SETTING_UP):
            printed = run(command)
            assert same(printed, expected), f"$ {command}\n{printed}"
    failed, _ = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_command_stands_outside_the_tested_blocks(page):
    """They would not be run. (Usages, with FILE and so on, cannot be.)"""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.DOTALL | re.M):
        if language != "console":
            lines = re.findall(r"^\$? ?rosenblatt .*", block, re.MULTILINE)
            assert all(re.search(r"\b[A-Z]{4,}\b", line) for line in lines), block


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert failed == 0
    assert tried > 0


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda s: s.name)
def test_example_runs(script, folder, capsys):
    runpy.run_path(str(script), run_name="__main__")
    assert "Why it stopped" in capsys.readouterr().out


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_names_what_ci_runs():
    readme, ci = (ROOT / "README.md").read_text(), (ROOT / ".ci" / "run").read_text()
    assert "pip install . && rosenblatt fit examples/banknotes.csv" in readme
    assert "rosenblatt fit examples/banknotes.csv" in ci
    assert 'pip install -e ".[test]" && pytest' in readme
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_readme_has_the_figures_of_the_benchmarks():
    table = re.findall(
        r"^\|.*\| ([\d.]+) \| \[.*\]\((.*)\) \|$", (ROOT / "README.md").read_text(), re.M
    )
    assert len(table) >= 5
    for ratio, page in table:
        assert f"| {ratio} |" in (ROOT / page).read_text(), (ratio, page)
