"""The decimals of vectors are as short as NumPy's, and read back as the same float32."""

import json

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from cfbatch_gui.core.results.exports.rows import vector_texts

EDGES = [
    0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1e-45, 1.1754944e-38, 3.4028235e38, 9.999999e-15, 1e-14, 1.0000001e-14, 999999.9,
    1e6, 16777216.0, 2.0**-10, 2.0**-33, 0.33333334, 123456.79, 1e-5, 9.5367432e-7,
]  # fmt: skip


@example(EDGES)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_any_float32(numbers: list[float]) -> None:
    vectors = np.array([numbers], dtype=np.float32)
    found = json.loads(vector_texts(vectors)[0])
    assert found == [float(np.format_float_scientific(number, unique=True)) for number in vectors[0]]
    assert np.array(found, dtype=np.float32).tobytes() == vectors.tobytes()
