"""Pages and notebooks of the exercises: made of the same texts, up to date, and they run."""

import json
import re
import runpy
from pathlib import Path

import pytest

from rosenblatt.exercises.source import PAGES, pages

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "exercises"


@pytest.fixture(scope="module")
def made():
    """What the script would write."""
    return runpy.run_path(str(FOLDER / "make.py"))["files"]()


def test_files_are_up_to_date(made):
    for name, text in made.items():
        written = (FOLDER / name).read_text(encoding="utf-8")
        assert written == text, f"{name}: run python docs/exercises/make.py"
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == {*made, "make.py"}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_exercise_has_its_place(page):
    text = (FOLDER / f"{page.name}.md").read_text(encoding="utf-8")
    for exercise in page.exercises:
        assert f"\n## Exercise {exercise.number}\n" in text
        assert f"]({page.name}.md#exercise-{exercise.number})" in (FOLDER / "index.md").read_text()
    count = len(page.exercises)
    assert text.count("<summary>Hint</summary>") == count
    assert text.count("<summary>Answer</summary>") == count
    assert text.count("<details>") == text.count("</details>") == 2 * count


@pytest.mark.notebooks
@pytest.mark.parametrize("name", PAGES)
def test_notebook_runs(name, monkeypatch, tmp_path):
    nbformat = pytest.importorskip("nbformat", reason='pip install -e ".[test]"')
    from nbclient import NotebookClient

    path = FOLDER / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    for place in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):  # nothing is left behind at home
        monkeypatch.setenv(place, str(tmp_path))
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", shutdown_kernel="immediate"
    )
    client.execute()
    printed = json.dumps([cell.get("outputs", []) for cell in notebook.cells], ensure_ascii=False)
    (page,) = (page for page in pages() if page.name == name)
    for exercise in page.exercises:
        cells = [cell for cell in notebook.cells if f"check({exercise.number}, " in cell.source]
        yours, answers = cells[0], cells[1:]
        assert shown(yours).startswith("Your turn: give")
        assert answers
        assert all(shown(cell).startswith("Right: ") for cell in answers)
        assert all(cell.metadata.jupyter.source_hidden for cell in answers)
        assert all(cell.source.startswith("# ") for cell in answers)  # is seen when closed
    assert not re.search(r'"output_type": "error"|"name": "stderr"', printed)


def shown(cell):
    """What the last line of a cell shows; a picture may come beside it."""
    (found,) = (output for output in cell.outputs if output.output_type == "execute_result")
    return found["data"]["text/plain"]
