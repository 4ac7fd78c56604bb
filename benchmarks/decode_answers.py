"""How fast and in how much memory a large answer is decoded, beside two other ways over the same bytes.

The rivals do less: a bare typed `msgspec.json.decode` leaves Python floats, unmatched and unchecked, and so does
`json.loads`. Speeds are the best of several runs; ratios are within one run of this program.
"""

import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from cfbatch_gui.core.workers_ai.wire.replies import Expected, Finished, match, read_answer

DIMENSION = 1_024
TEXTS_PER_REQUEST = 100
REQUESTS = 25
RUNS = 5


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
    expected = [Expected(f"r{index}", "embeddings", TEXTS_PER_REQUEST) for index in range(REQUESTS)]
    for _ in match(finished, expected):
        pass


def decode_bare(data: bytes) -> None:
    """msgspec, typed, and nothing more."""
    msgspec.json.decode(data, type=_Answer)


def decode_standard(data: bytes) -> None:
    """The standard library."""
    json.loads(data)


def best_seconds(way: Callable[[bytes], None], data: bytes, runs: int) -> float:
    """The shortest of several runs."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        way(data)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peak_bytes(way: Callable[[bytes], None], data: bytes) -> int:
    """The most memory held at once beyond the answer itself."""
    tracemalloc.start()
    way(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def main() -> None:
    """Print the table."""
    ways = {
        "read, check, match, float32": decode_and_match,
        "bare typed msgspec": decode_bare,
        "json.loads": decode_standard,
    }
    print(f"{'numbers':<9} {'way':<28} {'MB/s':>6} {'ratio':>6} {'extra memory':>13}")
    for name, precision in (("half", np.float16), ("single", np.float32)):
        data = make_answer(precision)
        ours = 0.0
        for way, decode in ways.items():
            seconds = best_seconds(decode, data, 1 if decode is decode_standard else RUNS)
            ours = ours or seconds
            peak = peak_bytes(decode, data)
            print(
                f"{name:<9} {way:<28} {len(data) / seconds / 1e6:>6.0f} {seconds / ours:>6.2f} {peak / 1e6:>10.1f} MB"
            )
        print(f"{'':<9} {len(data) / 1e6:.1f} MB; ratio: time over ours")


if __name__ == "__main__":
    main()
