"""Tables that do not fit into the memory that they may take: the same answers, from disk."""

import json
from pathlib import Path

import duckdb
import numpy as np
import pytest

import rosenblatt as rb
from commands import NOTES, PENGUINS, call, invoke, one_line, table
from rosenblatt.cli import room
from rosenblatt.tables import storage

TINY = ("--memory", "1KB")
TOLD = "as numbers, more than --memory 1 kB: read from disk as it is needed"
OTHERWISE = {"trained", "seconds", "command", "notes"}  # between any two runs


@pytest.fixture(autouse=True)
def _on_disk(monkeypatch, tmp_path):
    """Have small files read in parts as large ones are."""
    monkeypatch.setattr(storage, "IN_PARTS_BYTES", 0)
    monkeypatch.chdir(tmp_path)


def mixed_table(n):
    """Numbers, words in several spellings, dates, gaps, rows without a class; three classes."""
    rng, cells = np.random.default_rng(1), {}
    y = rng.integers(0, 3, n)
    cells["size"] = [f"{x:.3f}" if k % 7 else "" for k, x in enumerate(rng.normal(y, 1.5))]
    words = ("red", "Red", "green", "blue", "")
    cells["colour"] = [words[k] for k in rng.choice(5, n, p=(0.4, 0.1, 0.2, 0.2, 0.1))]
    days = np.datetime64("2020-01-01") + rng.integers(0, 900, n)
    cells["day"] = [str(day) if k % 11 else "?" for k, day in enumerate(days)]
    cells["who"] = [f"p{k // 10}" for k in range(n)]
    cells["kind"] = [("a", "b", "c", "")[k] if j % 13 else "" for j, k in enumerate(y)]
    return table("mixed.csv", cells)


@pytest.fixture
def mixed():
    """More rows than are summed at once."""
    return mixed_table(300)


@pytest.fixture
def few():
    """As many as it takes where it is all about reading them."""
    return mixed_table(130)


def different(streamed, whole):
    """The entries in which what two runs found differs."""
    both = (json.loads(text) for text in (streamed, whole))
    first, second = ({k: v for k, v in found.items() if k not in OTHERWISE} for found in both)
    return {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}


def notes_of(printed):
    return json.loads(printed)["notes"]


MODELS = [
    (),
    ("--keep", "pocket", "--max-epochs", 20),
    ("--update", "batch", "--max-epochs", 20),
    ("--multiclass", "joint", "--max-epochs", 20),
    ("--class-weight", "balanced", "--raw"),
    ("--features", "poly:2"),
    ("--features", "rff:20"),
    ("--model", "adaline"),
    ("--model", "kernel", "--max-epochs", 5),
    ("--model", "kernel", "--budget", 20, "--max-epochs", 5),
    ("--model", "soft-margin"),
    ("--model", "max-margin"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: " ".join(map(str, model)) or "usual")
def test_fit(mixed, model):
    whole = invoke("fit", mixed, *model, "--cv", 0, "--json")
    found = invoke("fit", mixed, *model, *TINY, "--json")
    assert (found.exit_code, found.stderr) == (whole.exit_code, whole.stderr)
    assert different(found.stdout, whole.stdout) == set()
    on_disk = [note for note in notes_of(found.stdout) if note not in notes_of(whole.stdout)]
    assert len(on_disk) == 2
    assert TOLD in on_disk[0]
    assert on_disk[1] == "no cross-validation of a table on disk (--test FILE: other rows)"
    rest = [note for note in notes_of(found.stdout) if note not in on_disk]
    assert rest == notes_of(whole.stdout)


def test_the_model_is_the_same_file_but_for_how_it_was_made(mixed):
    call("fit", mixed, "--cv", 0, "-o", "whole.skops", "-q")
    call("fit", mixed, *TINY, "-o", "disk.skops", "-q")
    whole, found = rb.io.load("whole.skops"), rb.io.load("disk.skops")
    assert (found[-1].coef_ == whole[-1].coef_).all()
    assert found[0].columns_ == whole[0].columns_
    for model in ("whole", "disk"):
        call("predict", f"{model}.skops", mixed, "-o", f"{model}.csv", "-q", "--cache", ".")
    assert Path("whole.csv").read_bytes() == Path("disk.csv").read_bytes()


@pytest.mark.parametrize("how", [(), ("--pairs",), ("--multiclass", "joint"), ("--text", "colour")])
def test_check(mixed, how):
    for place, memory in (("whole", ()), ("disk", TINY)):
        done = invoke("check", mixed, *how, *memory, "-o", f"{place}.json")
        assert done.exit_code == 1
        assert ("read from disk" in one_line(done.stdout)) == (place == "disk")
    assert Path("whole.json").read_bytes() == Path("disk.json").read_bytes()
    call("check", mixed, "--verify", "whole.json", *TINY)


def test_check_prints_nothing_but_certificates(mixed):
    whole, found = (invoke("check", mixed, *memory, "--json") for memory in ((), TINY))
    assert found.stdout == whole.stdout
    assert found.stderr.startswith("rosenblatt: mixed.csv takes about ")
    assert found.stderr.endswith(f"{TOLD}\n")
    assert invoke("check", mixed, *TINY, "--json", "-q").stderr == ""


@pytest.mark.parametrize("how", [(), ("--kernel", "rbf"), ("--update", "batch")])
def test_bound(mixed, how):
    more = ("--max-epochs", 10, "--json", *how)
    whole, found = (invoke("bound", mixed, *more, *memory) for memory in ((), TINY))
    assert found.exit_code == whole.exit_code
    assert different(found.stdout, whole.stdout) == set()
    assert any(TOLD in note for note in notes_of(found.stdout))


def as_parquet(file):
    duckdb.sql(f"COPY (FROM '{file}') TO 'rows.parquet'")
    return ["rows.parquet"]


def as_json(file):
    duckdb.sql(f"COPY (FROM '{file}') TO 'rows.json'")
    return ["rows.json"]


def as_parts(file):
    head, *lines = Path(file).read_text().splitlines(keepends=True)
    Path("part-1.csv").write_text("".join([head, *lines[:100]]))
    Path("part-2.csv").write_text("".join([head, *lines[100:]]))
    return ["part-*.csv"]


def as_query(file):
    return ["--query", f"FROM '{file}' SELECT *"]


@pytest.mark.parametrize("form", [as_parquet, as_json, as_parts, as_query])
def test_other_forms(few, form):
    files = form(few)
    for command in (("fit", "--cv", 0), ("fit", "--model", "soft-margin", "--cv", 0), ("bound",)):
        more = ("-t", "kind", "--max-epochs", 9) if "soft-margin" not in command else ("-t", "kind")
        both = [invoke(*command, *files, *more, *memory, "--json") for memory in (TINY, ())]
        assert different(*(done.stdout for done in both)) == set()
    for place, memory in (("whole", ()), ("disk", TINY)):
        invoke("check", *files, "-t", "kind", *memory, "-o", f"{place}.json")
    assert Path("whole.json").read_bytes() == Path("disk.json").read_bytes()


def test_guessed_targets_and_written_classes():
    """The last column is a text of its own in each row; the class is written $1, 1.00 $, ..."""
    n = 60
    cells = {
        "class": [("$1", "$2", "2 $")[k % 3] for k in range(n)],
        "x": [k % 7 + (k % 3) for k in range(n)],
        "name": [f"row {k}" for k in range(n)],
    }
    for file in (table("t.csv", cells), as_parquet(table("t.csv", cells))[0]):
        whole = invoke("fit", file, "--cv", 0, "--json")
        found = invoke("fit", file, *TINY, "--json")
        assert whole.exit_code == 0, whole.stderr
        assert different(found.stdout, whole.stdout) == set()


def test_svmlight_stays_in_memory():
    Path("rows.svm").write_text("1 1:2 3:1\n-1 2:1\n1 1:1\n-1 2:2 3:1\n" * 20)
    found = json.loads(call("fit", "rows.svm", *TINY, "--json", "--cv", 2).stdout)
    told = "rows.svm is in memory all the same: --memory is not for svmlight files"
    assert told in found["notes"]
    assert len(found["cross_validation"]) == 2


def test_rows_and_test_files(mixed):
    more = ("--rows", 3, "--test", mixed, "--json")
    whole = call("fit", mixed, "--cv", 0, *more)
    found = call("fit", mixed, *TINY, *more)
    assert different(found.stdout, whole.stdout) == set()


@pytest.mark.parametrize(
    "options",
    [
        ("--cv", 5),
        ("--calibrate", "sigmoid"),
        ("--tune", "--model", "soft-margin"),
        ("--groups", "who"),
        ("--holdout", "20%"),
        ("--plot", "p.png"),
        ("--report", "r.html"),
    ],
)
def test_what_needs_the_whole_table_is_refused(mixed, options):
    done = call("fit", mixed, *TINY, *options, "-o", "m.skops", code=2)
    why = "needs the whole table in memory, for which --memory is too small"
    assert done.stderr == f"rosenblatt: {options[0]} {why}: leave it out, or give more\n"
    assert not Path("m.skops").exists()


def test_no_folds_are_no_reason_for_a_note(mixed):
    found = json.loads(call("fit", mixed, *TINY, "--cv", 0, "--json").stdout)
    assert not any("cross-validation" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--memory", "much"), "--memory"),
        (("--memory", "0"), "--memory"),
        (("--cache-size", "-3"), "--cache-size"),
        (("--cache", "nowhere"), "there is no folder nowhere for the cache"),
        (("--memory", "1KB", "--cache-size", "1KB"), "more than the cache may hold"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "check", "bound"])
def test_nonsense(command, options, why):
    assert why in call(command, NOTES, *options, code=2).stderr


def test_nothing_is_left_in_the_cache(mixed):
    Path("here").mkdir()
    call("fit", mixed, *TINY, "--cache", "here", "-q")
    call("bound", mixed, *TINY, "--cache", "here", "-q", code=1)
    assert list(Path("here").iterdir()) == []


def test_by_default_half_of_the_memory_that_is_free(monkeypatch):
    monkeypatch.setattr(room, "free_memory", lambda: 2000.0)
    found = json.loads(call("fit", PENGUINS, "-t", "species", "--json").stdout)
    told = "more than 1 kB, half of what is free (--memory for another): read from disk"
    assert any(told in note for note in found["notes"])
    monkeypatch.setattr(room, "free_memory", lambda: 1e9)
    found = json.loads(call("fit", PENGUINS, "-t", "species", "--json").stdout)
    assert not any("read from disk" in note for note in found["notes"])


def test_free_memory(monkeypatch, tmp_path):
    for name, text in (("memory.max", "5000\n"), ("memory.current", "4000\n")):
        (tmp_path / name).write_text(text)
    (tmp_path / "memory.stat").write_text("anon 3500\ninactive_file 500\n")
    monkeypatch.setattr(room, "GROUPS", (str(tmp_path / "memory.max"),))
    assert room.free_memory() == 1500
    (tmp_path / "memory.max").write_text("max\n")
    assert room.free_memory() > 1e6
