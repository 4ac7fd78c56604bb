"""Decode the numbers of an element: scores as float64, vectors as float32, one vector at a time."""

import struct
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.limits import MAX_SCORE
from cfbatch_gui.core.workers_ai.wire.answers import Output
from cfbatch_gui.core.workers_ai.wire.decoding import breach, decode, is_null


class _Score(msgspec.Struct, gc=False):
    id: int
    score: float


_scores_decoder: Final = msgspec.json.Decoder(list[_Score])
_row_decoder: Final = msgspec.json.Decoder(list[float])
_shape_decoder: Final = msgspec.json.Decoder(tuple[int | float, int | float])
_pooling_decoder: Final = msgspec.json.Decoder(str | None)

_OPEN: Final = b"["
_CLOSE: Final = b"]"
_CHUNK: Final = 65_536  # bytes; fits into the processor's cache


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of one element, not decoded yet: `rows` is the JSON array of `count` vectors.

    `where` names the element in errors. `declared` is the dimension according to `shape`, 0 without a `shape`.
    `pooling` is the service's, "" when it gives none.
    """

    where: str
    rows: msgspec.Raw
    count: int
    declared: int
    pooling: str


def read_scores(output: Output, count: int, where: str) -> NDArray[np.float64]:
    """The scores of one element, shape (count,), in the order of the request's contexts.

    Raises ReplyError unless the context ids are a permutation of 0 … count - 1 and no score is above MAX_SCORE.
    """
    scores = decode(_scores_decoder, output.response, where)
    values: list[float | None] = [None] * count
    for entry in scores:
        if not 0 <= entry.id < count:
            raise breach(
                message("{where} has a score for a context that was not sent", where=where),
                f"context id {entry.id} of {count}",
            )
        if values[entry.id] is not None:
            raise breach(message("{where} has two scores for one context", where=where), f"context id {entry.id}")
        if not abs(entry.score) <= MAX_SCORE:
            raise breach(
                message("{where} has a score that is out of bounds", where=where),
                f"context id {entry.id}: {entry.score:g}",
            )
        values[entry.id] = entry.score
    if len(scores) != count:
        raise breach(
            message("{where} has {scores} scores for {count} contexts", where=where, scores=len(scores), count=count)
        )
    return np.array(values, dtype=np.float64)


def find_vectors(output: Output, count: int, where: str) -> Vectors:
    """Find the vectors of one element and check what can be checked without decoding them.

    Raises ReplyError when there is no set of vectors or there are two, and when the rows or `shape` contradict `count`.
    """
    has_response, has_data = not is_null(output.response), not is_null(output.data)
    if has_response == has_data:
        raise breach(
            message("{where} has two sets of vectors", where=where)
            if has_data
            else message("{where} has no vectors", where=where)
        )
    rows = output.data if has_data else output.response
    found = _count_rows(rows)
    if found != count:
        raise breach(
            message("{where} has {vectors} vectors for {count} texts", where=where, vectors=max(found, 0), count=count)
        )
    pooling = decode(_pooling_decoder, output.pooling, f"{where}, pooling") or ""
    return Vectors(where, rows, count, _declared_dimension(output.shape, count, where), pooling)


def count_vectors(output: Output, where: str) -> int:
    """Return how many vectors an element holds. Raises ReplyError when it holds none."""
    found = _count_rows(output.response if is_null(output.data) else output.data)
    if found < 1:
        raise breach(message("{where} has no vectors", where=where))
    return found


def _count_rows(rows: msgspec.Raw) -> int:
    """Count the closing brackets: rows hold only numbers, so each has one, and the outer array one more."""
    view = memoryview(rows)
    return sum(bytes(view[at : at + _CHUNK]).count(_CLOSE) for at in range(0, len(view), _CHUNK)) - 1


def _declared_dimension(shape: msgspec.Raw, count: int, where: str) -> int:
    if is_null(shape):
        return 0
    rows, dimension = decode(_shape_decoder, shape, f"{where}, shape")
    if rows != count or dimension != int(dimension) or dimension < 1:
        raise breach(
            message("{where} declares another shape than was asked for", where=where), f"shape [{rows}, {dimension}]"
        )
    return int(dimension)


def decode_vectors(vectors: Vectors, dimension: int | None) -> NDArray[np.float32]:
    """Decode into shape (count, d), each number the float32 nearest to the double that was written.

    `dimension` None takes the first row's length. Raises ReplyError for a row of another length, for anything that is
    not a number, for a number beyond float32, and for a vector of nothing but zeros.
    """
    where, text = vectors.where, bytes(vectors.rows)
    view = memoryview(text)
    table: NDArray[np.float32] | None = None
    position = 1
    for row in range(vectors.count):
        start, end = text.find(_OPEN, position), text.find(_CLOSE, position) + 1
        if text[:1] != _OPEN or start < 0 or text[position:start].strip() != (b"," if row else b""):
            raise breach(message("{where} has something else among its vectors", where=where))
        numbers = decode(_row_decoder, view[start:end], f"{where}, vector {row}")
        if table is None:
            dimension = dimension or len(numbers)
            table = np.empty((vectors.count, dimension), dtype=np.float32)
            packing = struct.Struct(f"={dimension}f")
        if len(numbers) != dimension:
            raise breach(
                message("{where} has a vector of another length", where=where),
                f"{len(numbers)} numbers, not {dimension}",
            )
        try:
            packing.pack_into(table[row].data, 0, *numbers)
        except OverflowError as error:
            raise breach(message("{where} has a number that is out of bounds", where=where), f"vector {row}") from error
        position = end
    if table is None or text[position:].strip() != _CLOSE:
        raise breach(message("{where} has something else among its vectors", where=where))
    if not table.any(axis=1).all():
        raise breach(message("{where} has a vector of nothing but zeros", where=where))
    return table
