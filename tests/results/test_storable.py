"""Objects as plain dicts, lists and arrays, and back."""

import copy
import pickle

import pytest
from hypothesis import given

import rosenblatt as rb
from model_files import anything, differences
from rosenblatt.results import Updates
from rosenblatt.results.storable import from_plain, to_plain


def test_hyperplanes_stay_read_only():
    plane = rb.Hyperplane([1.0, -0.0], 0.5)
    for twin in (pickle.loads(pickle.dumps(plane)), copy.deepcopy(plane), copy.copy(plane)):
        assert differences(plane, twin) == []
        assert not twin.w.flags.writeable


@given(anything)
def test_plain_and_back(value):
    back = from_plain(to_plain(value, ()), ())
    assert differences(value, back) == []


def test_unknown_kinds():
    with pytest.raises(ValueError, match="'Epoch' is not known"):
        from_plain({"is": "Epoch", "number": 1}, (Updates,))
