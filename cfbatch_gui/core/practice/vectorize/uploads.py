"""Decode an upload: NDJSON, one vector a line, bare or as the field `vectors` of multipart/form-data.

The body may have 100 MB. It is never copied as a whole: lines are decoded one after the other from a view of it.
"""

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from typing import Any, Final

import msgspec

from cfbatch_gui.core.practice.vectorize.refusals import (
    id_too_long,
    invalid_metadata_key,
    over_limit,
    unknown_content_type,
    unreadable_line,
    wrong_dimensions,
)
from cfbatch_gui.core.workers_ai.limits import (
    MAX_METADATA_BYTES,
    MAX_METADATA_KEY,
    MAX_NAMESPACE_BYTES,
    MAX_UPLOAD_BYTES,
    MAX_UPLOAD_VECTORS,
    MAX_VECTOR_ID_BYTES,
)

_FIELD: Final = "vectors"
_FLOAT_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class Vector:
    """One vector of an upload. `numbers` is float32 in the machine's byte order, `metadata` None or its object."""

    id: str
    namespace: str | None
    metadata: dict[str, Any] | None
    numbers: bytes


class _Line(msgspec.Struct, frozen=True):
    id: str
    values: list[float]
    namespace: str | None = None
    metadata: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


def read_upload(body: bytes, content_type: str, *, dimensions: int, verb: str, discards: bool) -> Iterator[Vector]:
    """Yield the vectors of an upload in the order of its lines, which are empty or hold one each.

    `verb` is "upsert" or "insert", for the words of refusals. Raises RefusalError at the first line that is refused,
    and before the first one for a wrong content type or too many bytes. With `discards` lines that are no vector are
    left out; those over a limit are refused all the same.
    """
    start, end = _extent(body, content_type, verb)
    if end - start > MAX_UPLOAD_BYTES:
        raise over_limit(f"max upload size is {MAX_UPLOAD_BYTES} bytes, got {end - start}", status=413)
    decoder = msgspec.json.Decoder(_Line)
    count = 0
    for index, line in enumerate(_lines(body, start, end)):
        if not line.strip():
            continue
        count += 1
        if count > MAX_UPLOAD_VECTORS:
            raise over_limit(f"max vector count is {MAX_UPLOAD_VECTORS}")
        try:
            vector = _vector(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, _NotAVectorError) as problem:
            if discards:
                continue
            raise unreadable_line(verb, index, str(problem)) from None
        _check_limits(vector, dimensions)
        yield vector
    if count == 0:
        raise unreadable_line(verb, 0, "there are no vectors")


class _NotAVectorError(Exception):
    """A line of JSON with the right types that is no vector all the same."""


def _vector(line: _Line) -> Vector:
    numbers = array("f", line.values)
    if not line.id:
        raise _NotAVectorError("the id is empty")
    if not all(map(math.isfinite, numbers)):
        raise _NotAVectorError("a value does not fit into float32")
    metadata = None if line.metadata is msgspec.UNSET else line.metadata
    if metadata is not None and _has_null(metadata):
        raise _NotAVectorError("metadata has null")
    return Vector(line.id, line.namespace or None, metadata, numbers.tobytes())


def _has_null(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    if isinstance(value, list):
        return any(map(_has_null, value))
    return value is None


def _check_limits(vector: Vector, dimensions: int) -> None:
    size = len(vector.id.encode())
    if size > MAX_VECTOR_ID_BYTES:
        raise id_too_long(MAX_VECTOR_ID_BYTES, size)
    found = len(vector.numbers) // _FLOAT_BYTES
    if found != dimensions:
        raise wrong_dimensions(vector.id, dimensions, found)
    if vector.namespace is not None and len(vector.namespace.encode()) > MAX_NAMESPACE_BYTES:
        raise over_limit(f'namespace of id="{vector.id}" too long; max is {MAX_NAMESPACE_BYTES} bytes')
    if vector.metadata is not None:
        _check_keys(vector.id, vector.metadata)
        size = len(msgspec.json.encode(vector.metadata))
        if size > MAX_METADATA_BYTES:
            raise over_limit(f'metadata of id="{vector.id}" too large; max is {MAX_METADATA_BYTES} bytes, got {size}')


def _check_keys(identifier: str, value: dict[str, Any]) -> None:
    for key, inner in value.items():
        if not is_metadata_key(key):
            raise invalid_metadata_key(identifier, key)
        if isinstance(inner, dict):
            _check_keys(identifier, inner)


def is_metadata_key(key: str) -> bool:
    """Whether metadata may have a key: not empty, not too long, no dot, no double quote, no dollar sign before it."""
    return 0 < len(key) <= MAX_METADATA_KEY and not key.startswith("$") and "." not in key and '"' not in key


# The framing


def _extent(body: bytes, content_type: str, verb: str) -> tuple[int, int]:
    """Where the lines begin and end in the body. Raises RefusalError."""
    header = Message()
    header["content-type"] = content_type
    kind = header.get_content_type() if content_type else ""
    if kind == "application/x-ndjson":
        return 0, len(body)
    boundary = header.get_param("boundary")
    if kind != "multipart/form-data" or not isinstance(boundary, str) or not boundary:
        raise unknown_content_type()
    delimiter = b"\r\n--" + boundary.encode("latin-1", "replace")
    found = 0 if body.startswith(delimiter[2:]) else body.find(delimiter)
    while found >= 0:
        head = body.find(b"\r\n", found + 2) + 2
        start = body.find(b"\r\n\r\n", head - 2) + 4
        end = body.find(delimiter, start)
        if head < 2 or start < 4 or end < 0:
            break
        if _field(body[head:start]) == _FIELD:
            return start, end
        found = end
    raise unreadable_line(verb, 0, f"the form has no field “{_FIELD}”")


def _field(head: bytes) -> str:
    """The name of a field by the headers of its part, "" without one."""
    name = message_from_bytes(head).get_param("name", header="content-disposition")
    return name if isinstance(name, str) else ""


def _lines(body: bytes, start: int, end: int) -> Iterator[bytes]:
    while start < end:
        stop = body.find(b"\n", start, end)
        stop = end if stop < 0 else stop
        yield body[start:stop]
        start = stop + 1
