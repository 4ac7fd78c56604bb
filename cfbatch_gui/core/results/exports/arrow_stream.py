"""Hands rows to arro3 a block at a time, and the bytes that it makes of them to a file.

arro3 takes a whole table, or a stream in Arrow's own format for streams; only the second keeps memory flat. An
exception of Python's inside arro3 ends the process's peace: it panics. So none gets there. The first one is kept, the
stream ends early, and it is raised when arro3 is done.
"""

import io
from collections.abc import Iterator
from typing import Any

from cfbatch_gui.core.results.exports.checked_stream import CheckedStream

_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"


class ArrowSource:
    """Record batches as a file in Arrow's format for streams. `batches` all have this `schema`."""

    def __init__(self, schema: Any, batches: Iterator[Any]) -> None:  # types of arro3, which has none for mypy
        self._pieces = self._encoded(schema, batches)
        self._rest = memoryview(b"")
        self.failure: BaseException | None = None

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, none at the end."""
        if not self._rest:
            self._rest = next(self._pieces, memoryview(b""))
        data = bytes(self._rest[:size] if size >= 0 else self._rest)
        self._rest = self._rest[len(data) :]
        return data

    def seek(self, _offset: int, _whence: int = 0) -> int:
        """arro3 asks whether there is such a method; a stream is never wound back."""
        raise io.UnsupportedOperation("a stream that is made while it is read")

    def _encoded(self, schema: Any, batches: Iterator[Any]) -> Iterator[memoryview]:
        from arro3.core import RecordBatchReader

        start = _stream(RecordBatchReader.from_batches(schema, []))[: -len(_END)]
        yield start
        try:
            for batch in batches:
                yield _stream(batch)[len(start) : -len(_END)]
                if self.failure is not None:
                    break
        except BaseException as error:  # noqa: BLE001  # raised again by the one who writes
            self.failure = self.failure or error
        yield memoryview(_END)


class ArrowSink:
    """The file that arro3 writes to. After a failure it takes everything and keeps nothing."""

    def __init__(self, stream: CheckedStream, source: ArrowSource) -> None:
        self._stream = stream
        self._source = source

    def write(self, data: bytes) -> int:
        """Write all of it."""
        if self._source.failure is None:
            try:
                self._stream.write(bytes(data))
            except BaseException as error:  # noqa: BLE001  # as above
                self._source.failure = error
        return len(data)

    def flush(self) -> None:
        """For arro3, which calls it; the file is flushed when it is whole."""

    def seek(self, _offset: int, _whence: int = 0) -> int:
        """As for the source."""
        raise io.UnsupportedOperation("written from the beginning to the end")


def _stream(data: Any) -> memoryview:
    from arro3.io import write_ipc_stream

    buffer = io.BytesIO()
    write_ipc_stream(data, buffer)
    return buffer.getbuffer()
