"""Vectors that begin where lines of the cache do."""

import numpy as np
import pytest

from rosenblatt.data.dots import LINE, aligned


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 785])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_each_begins_a_line(k, size):
    vectors = np.arange(1.0, k * size + 1).reshape(k, size)
    for _ in range(5):  # wherever memory is given out
        found = aligned(vectors)
        np.testing.assert_array_equal(found[:, :size], vectors)
        assert not found[:, size:].any()
        if size:
            assert all(row.ctypes.data % LINE == 0 for row in found)
            assert all(row[:size].flags.c_contiguous for row in found)
        assert not np.shares_memory(found, vectors)
