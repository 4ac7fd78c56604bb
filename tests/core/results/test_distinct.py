"""The distinct numbers of an array are those of `numpy.unique`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfbatch_gui.core.results.numbers import distinct


@given(st.lists(st.integers(-(2**31), 2**31 - 1)))
def test_each_number_once_and_in_order(numbers: list[int]) -> None:
    assert distinct(np.array(numbers, dtype=np.int32)).tolist() == sorted(set(numbers))


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint32])
def test_the_kind_of_number_stays(kind: type[np.integer]) -> None:
    numbers = np.array([3, 1, 3], dtype=kind)
    assert distinct(numbers).dtype == kind
    assert numbers.tolist() == [3, 1, 3]
