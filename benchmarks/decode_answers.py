"""A large answer decoded, checked and matched, against two other ways over the same bytes.

The rivals do less: a bare typed `msgspec.json.decode` leaves Python floats, unmatched and unchecked, and so does
`json.loads`. Times are the best of several turns.
"""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from benchmarks.limits import Figures, best_of, seconds
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.workers_ai.answers import Expected, Finished, match, read_answer

DIMENSION = 1_024
TEXTS_PER_REQUEST = 100
REQUESTS = 25
TURNS = 5


class _Result(msgspec.Struct):
    data: list[list[float]]


class _Element(msgspec.Struct):
    id: int
    result: _Result


class _Body(msgspec.Struct):
    responses: list[_Element]


class _Answer(msgspec.Struct):
    result: _Body


def make_answer(precision: type[np.floating[Any]]) -> bytes:
    """About 50 MB: 2,500 unit vectors whose numbers are written as JavaScript writes such a float."""
    vectors = np.random.default_rng(0).normal(size=(REQUESTS * TEXTS_PER_REQUEST, DIMENSION))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(precision).astype(np.float64)
    responses = [
        {
            "id": index,
            "result": {
                "data": vectors[index * TEXTS_PER_REQUEST :][:TEXTS_PER_REQUEST].tolist(),
                "shape": [TEXTS_PER_REQUEST, DIMENSION],
                "pooling": "cls",
            },
            "success": True,
            "external_reference": f"r{index}",
        }
        for index in reversed(range(REQUESTS))
    ]
    return json.dumps(
        {"result": {"responses": responses}, "success": True, "errors": [], "messages": []}, separators=(",", ":")
    ).encode()


def decode_and_match(data: bytes) -> None:
    """Our way: read, check, match, and take every vector as float32."""
    finished = read_answer(data)
    assert isinstance(finished, Finished)
    expected = [Expected(f"r{index}", Kind.EMBED, TEXTS_PER_REQUEST) for index in range(REQUESTS)]
    for _ in match(finished, expected):
        pass


def decode_bare(data: bytes) -> None:
    """msgspec, typed, and nothing more."""
    msgspec.json.decode(data, type=_Answer)


def decode_standard(data: bytes) -> None:
    """The standard library."""
    json.loads(data)


def peak_bytes(way: Callable[[bytes], None], data: bytes) -> int:
    """The most memory held at once beyond the answer itself."""
    tracemalloc.start()
    way(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def main(figures: Figures) -> None:
    """Numbers as the service writes them: of half precision for scores, of single precision for vectors."""
    for name, precision in (("half", np.float16), ("single", np.float32)):
        data = make_answer(precision)
        megabytes = len(data) / 1e6
        title = f"{megabytes:.0f} MB of {name} floats"
        ours, bare = best_of(TURNS, lambda: decode_and_match(data), lambda: decode_bare(data))  # noqa: B023
        standard = seconds(lambda: decode_standard(data))  # noqa: B023
        figures.versus(title, ours, "typed msgspec.json.decode", bare, limit=1.8)
        figures.versus(title, ours, "json.loads", standard, limit=0.9)
        figures.add("  speed", megabytes / ours, "MB/s")
        figures.add("  extra memory", peak_bytes(decode_and_match, data) / 1e6, "MB", limit=8)
        figures.add("  extra memory of typed msgspec", peak_bytes(decode_bare, data) / 1e6, "MB")
