"""Checkpoint files: whole or not at all, of one run, and nothing in them is run."""

import errno
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.running import checkpoints, plain_files
from rosenblatt.running.checkpoints import Keeper
from rosenblatt.running.plain_files import NotWhole, pack, unpack

IDENTITY = {"kind": "Perceptron", "settings": {"eta0": 1.0}, "seed": 3, "data": "ab"}
STATE = {
    "theta": np.array([1.5, -0.0, np.nan, np.inf]),
    "state": 2**127 + 1,
    "names": ["a", "ü"],
    "none": None,
    "yes": True,
    "counts": np.arange(6).reshape(2, 3),
    "empty": np.empty((0, 4), np.int64),
    "digests": np.arange(5, dtype=np.uint8),
    "deep": [{"x": np.array([True, False])}, [0.1, -0.0]],
}


def same(a, b):
    if isinstance(a, np.ndarray):
        return type(b) is np.ndarray and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return repr(a) == repr(b)


def keeper(path, *, resume=True, every=0.0, **identity):
    found = Keeper(rb.Checkpoint(path, every=every, resume=resume))
    found.identify(**{**IDENTITY, **identity})
    return found


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "run.checkpoint"
    keeper(path, resume=False).write(STATE)
    return path


def test_there_and_back(file):
    found = keeper(file).saved
    assert same(STATE, found)
    found["theta"][0] = 2.0  # arrays can be written to


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda some: (
        st.lists(some, max_size=3)
        | st.dictionaries(st.text(max_size=3), some, max_size=3).filter(lambda d: "array" not in d)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_plain_values(value):
    assert same(value, unpack(pack(value)))


def test_other_arrays_have_no_place():
    for strange in (np.array(["a"]), np.array([object()]), np.array([1j])):
        with pytest.raises(TypeError, match="has no place in a checkpoint"):
            pack([strange])


def test_no_pickle():
    for module in (checkpoints, plain_files):
        source = Path(module.__file__).read_text()
        assert not re.search(r"pickle|marshal|eval\(|exec\(|np\.load", source)


def refused(path, says, **more):
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(rb.CheckpointError) as caught:
        keeper(path, **more)
    assert re.fullmatch(f"checkpoint {re.escape(str(path))} {says}", str(caught.value))
    assert before is None or path.read_bytes() == before


REMEDY = ": delete it, or give another path"


def test_truncated_at_every_length(file):
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        refused(file, r"is (truncated|damaged, truncated or changed)" + REMEDY)


def test_changed_anywhere(file):
    whole = file.read_bytes()
    for place in range(len(whole)):
        for bit in (0, 7):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            with pytest.raises(NotWhole):
                unpack(bytes(changed))
    file.write_bytes(whole + b"\0")
    refused(file, "is damaged, truncated or changed" + REMEDY)


@pytest.mark.parametrize(
    "text", [b"hello", b"PK\x03\x04", b"\x80\x04\x95", b"rosenblatt model 1\n"]
)
def test_no_checkpoint(file, text):
    file.write_bytes(text * 100)
    refused(file, "is not a checkpoint" + REMEDY)


def test_of_another_format(file, monkeypatch):
    monkeypatch.setattr(plain_files, "FORMAT", 2)
    refused(file, "has the format '1', but this version of rosenblatt reads 2" + REMEDY)


def test_of_another_version(file, monkeypatch):
    monkeypatch.setattr(checkpoints, "VERSION", "7.0")
    refused(file, re.escape(f"is of rosenblatt {rb.__version__}, but this is 7.0") + REMEDY)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"kind": "Adaline"}, "is of a run of Perceptron, not Adaline"),
        ({"settings": {"eta0": 0.5}}, "was written with eta0=1.0, not 0.5"),
        ({"settings": {"eta0": 1.0, "keep": "last"}}, "was written with keep=None, not 'last'"),
        ({"settings": {}}, "was written with eta0=1.0, not None"),
        ({"seed": 4}, "was written with another random_state"),
        ({"data": "cd"}, r"is of other data \(X, y or weights differ\)"),
    ],
)
def test_of_another_run(file, other, says):
    refused(file, says + REMEDY, **other)


def test_one_that_is_there_is_refused_unless_asked_for(file):
    remedy = r"give resume=True \(--resume\) to go on with it, or delete it"
    refused(file, f"exists: {remedy}", resume=False)


@pytest.mark.parametrize(
    "content",
    [[1], {"state": 1}, {**IDENTITY, "version": rb.__version__, "seed": "3", "state": None}],
)
def test_whole_but_of_something_else(file, content):
    file.write_bytes(pack(content))
    refused(file, "is not a checkpoint of a run" + REMEDY)


@pytest.mark.parametrize(
    "array",
    [
        {"array": "|O8", "shape": [1], "at": 0},
        {"array": "<f8", "shape": [2], "at": 0},
        {"array": "<f8", "shape": [-1], "at": 0},
        {"array": "<f8", "shape": [1], "at": -8},
        {"array": "<f8", "shape": [1], "at": 8},
        {"array": "<f8", "shape": ["1"], "at": 0},
        {"array": "<f8", "shape": [2**62, 4], "at": 0},
        {"array": "<f8", "at": 0},
        {"array": ["<f8"], "shape": [1], "at": 0},
    ],
)
def test_arrays_that_are_not_there(array, monkeypatch):
    """With a digest that fits: whoever made the file knew how."""
    monkeypatch.setattr(plain_files, "_without_arrays", lambda value, arrays, end: value)
    body = pack([array]) + bytes(8)
    head, _, rest = body.split(b"\n", 2)
    right = plain_files._digest(head + b"\n", rest)
    with pytest.raises(NotWhole):
        unpack(b"\n".join([head, right, rest]))


def test_deep_nesting():
    body = b"%d\n%s" % (200_000, b"[" * 100_000 + b"]" * 100_000)
    head = b"rosenblatt checkpoint 1\n"
    with pytest.raises(NotWhole):
        unpack(head + plain_files._digest(head, body) + b"\n" + body)


def test_where_nothing_can_be_written(tmp_path, monkeypatch):
    cases = {
        tmp_path: "is a folder: give the name of a file to write",
        tmp_path / "none" / "x": f"there is no folder {tmp_path / 'none'}: make it first",
    }
    for path, says in cases.items():
        with pytest.raises(rb.CheckpointError, match=re.escape(says)):
            keeper(path)
    monkeypatch.setattr(os, "access", lambda *given: False)
    with pytest.raises(rb.CheckpointError, match=r"^checkpoint: nothing may be written in "):
        keeper(tmp_path / "x")


def fill_the_disk(monkeypatch):
    def write(self, data):
        with self.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", write)


def test_a_full_disk(file, monkeypatch):
    found, whole = keeper(file), file.read_bytes()
    with monkeypatch.context() as patch:
        fill_the_disk(patch)
        says = r"^a checkpoint was not written, the one before stays: .* no space left on device"
        with pytest.warns(rb.CheckpointWarning, match=says):
            found.write({"other": 1})
        found.write({"other": 1})  # told once
        says = r"^the last checkpoint was not written, the one before stays: .* no space left"
        with pytest.warns(rb.CheckpointWarning, match=says):
            found.write({"other": 1}, last=True)
        assert [*file.parent.iterdir()] == [file]
        assert file.read_bytes() == whole
    found.write({"other": 2})  # there is room again
    assert keeper(file).saved == {"other": 2}


def test_a_full_disk_from_the_beginning(tmp_path, monkeypatch):
    found = keeper(tmp_path / "new")
    fill_the_disk(monkeypatch)
    with pytest.warns(rb.CheckpointWarning, match="not written, there is none so far: "):
        found.write({})


def test_what_killed_writers_left_is_removed(file):
    whole = file.read_bytes()
    found = keeper(file)
    left = file.parent / f".run-abcdefgh{found._suffix}"
    others = [file.parent / name for name in (".run-abcdefgh.part", ".run-x", "run.part")]
    for path in (left, *others):
        path.write_bytes(whole[:50])
    keeper(file)
    assert sorted(file.parent.iterdir()) == sorted([file, *others])
    with pytest.raises(rb.CheckpointError):
        keeper(file, resume=False)


def test_through_a_link(file):
    link = file.parent / "link"
    link.symlink_to(file)
    keeper(link).write({"x": 1})
    assert link.is_symlink()
    assert keeper(file).saved == {"x": 1}


def test_when_it_is_due(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(checkpoints.time, "perf_counter", lambda: now[0])
    found, always = keeper(tmp_path / "x", every=30.0), keeper(tmp_path / "y", every=0)
    assert not found.due()
    assert always.due()
    now[0] += 30
    assert found.due()
    found.write({})
    assert not found.due()


@pytest.mark.parametrize("pace", [1e-3, 1.0])
def test_states_that_grow_are_held_the_more_seldom(tmp_path, monkeypatch, pace):
    """All that is packed takes a share of the run; nothing is missed where pauses are rare."""
    now, packed = [0.0], []

    def slow_pack(value):
        whole = pack(value)
        packed.append(len(whole))
        now[0] += 1e-6 * len(whole)
        return whole

    monkeypatch.setattr(checkpoints, "pack", slow_pack)
    monkeypatch.setattr(checkpoints.time, "perf_counter", lambda: now[0])
    held = keeper(tmp_path / "x", every=1e9)
    for k in range(1000):
        now[0] += pace
        held.hold(lambda k=k: {"record": np.arange(k)})
    assert sum(packed) * 1e-6 <= now[0] / 20 + 1e-6 * packed[-1]
    assert pace < 1 or len(packed) == 1000
    held.write_held()
    last = len(keeper(tmp_path / "x").saved["record"])
    assert 999 - last <= 20 * 1e-6 * packed[-1] / pace


def test_the_value():
    asked = rb.Checkpoint(Path("run.checkpoint"), every=5)
    assert asked == rb.Checkpoint("run.checkpoint", 5.0, False)
    assert hash(asked) == hash(rb.Checkpoint("run.checkpoint", 5.0))
    with pytest.raises(AttributeError):
        asked.every = 3


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"path": ""}, "path='' is not the path of a file"),
        ({"path": b"x"}, "path=b'x' is not allowed: give the path of a file"),
        ({"path": None}, "path=None is not allowed: give the path of a file"),
        ({"every": -1}, "every=-1 is not allowed: give seconds, from 0"),
        ({"every": np.inf}, "every=inf is not allowed"),
        ({"every": "30s"}, "every='30s' is not allowed"),
        ({"resume": 1}, "resume=1 is not allowed: give True or False"),
    ],
)
def test_wrong_values(given, says):
    with pytest.raises((TypeError, ValueError), match=re.escape(says)):
        rb.Checkpoint(**{"path": "x", **given})
