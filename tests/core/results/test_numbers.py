"""Distinct numbers are those of `numpy.unique`; the shortest decimals are as short as NumPy's and read back alike."""

import json

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cfbatch_gui.core.results.exports.vector_rows import shortest, vector_texts

EDGES = [
    0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1e-45, 1.1754944e-38, 3.4028235e38, 9.999999e-15, 1e-14, 1.0000001e-14, 999999.9,
    1e6, 16777216.0, 2.0**-10, 2.0**-33, 0.33333334, 123456.79, 1e-5, 9.5367432e-7,
]  # fmt: skip


def digits(number: float) -> int:
    return len(repr(number).split("e")[0].replace(".", "").strip("-0"))


def check(numbers: NDArray[np.float32]) -> None:
    found = shortest(numbers)
    assert found.astype(np.float32).tobytes() == numbers.tobytes()
    for number, decimal in zip(numbers, found.tolist(), strict=True):
        expected = float(np.format_float_scientific(number, unique=True))
        assert digits(decimal) <= 9
        # At a power of two, the next lower number is nearer than the next higher, and NumPy may need one digit less.
        if abs(np.frexp(number)[0]) != 0.5:
            assert digits(decimal) <= digits(expected)


def test_half_precision_values_as_the_service_sends_them() -> None:
    every_half = np.arange(65536, dtype=np.uint16).view(np.float16)
    numbers = every_half[np.isfinite(every_half)].astype(np.float32)
    assert shortest(numbers).astype(np.float32).tobytes() == numbers.tobytes()


@example(EDGES)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_any_float32(numbers: list[float]) -> None:
    check(np.array(numbers, dtype=np.float32))


def test_texts_are_json_rows() -> None:
    vectors = np.array([[0.1, -0.25, 1.0], [1e-7, 0.0, 123.456]], dtype=np.float32)
    texts = vector_texts(vectors)
    assert texts[0] == b"[0.1,-0.25,1.0]"
    assert np.array(json.loads(texts[1]), dtype=np.float32).tobytes() == vectors[1].tobytes()
