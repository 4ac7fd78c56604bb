"""The body of an answer from its chunks, decompressed, with limits on its size."""

import zlib
from typing import Final

_DECOMPRESSED_AT_ONCE: Final = 1 << 20  # bytes
_UNSUSPICIOUS: Final = 16 << 20  # bytes; below this size any compression ratio is accepted
_MOST_RATIO: Final = 200  # JSON of numbers compresses 3:1, JSON of one repeated sentence about 100:1


class BodyError(Exception):
    """A body that cannot be read or trusted. `reason` is as in ExchangeError; `detail` holds no secret."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


class BodyReader:
    """Collects a body from its chunks and decompresses it.

    `encoding` is the Content-Encoding header; `limit` is in bytes of decompressed content. Raises BodyError for an
    encoding other than gzip.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        self._encoding, self._limit = encoding.strip().lower(), limit
        self._content = bytearray()
        self._received = 0
        if self._encoding not in ("", "identity", "gzip", "x-gzip"):
            raise BodyError("broken", f"content-encoding {self._encoding[:20]!r}, which was not asked for")
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if "gzip" in self._encoding else None

    def add(self, chunk: bytes) -> None:
        """Add the next chunk as received. Raises BodyError for content above the limit and for broken gzip."""
        self._received += len(chunk)
        if self._unpacker is None:
            self._keep(chunk)
            return
        try:
            while chunk:
                self._keep(self._unpacker.decompress(chunk, _DECOMPRESSED_AT_ONCE))
                chunk = self._unpacker.unconsumed_tail
        except zlib.error:
            raise BodyError("broken", "not the gzip it says it is") from None
        if self._unpacker.unused_data:
            raise BodyError("broken", "gzip with something behind it")

    def whole(self) -> bytes:
        """The decompressed content. Raises BodyError when the gzip stream is incomplete."""
        if self._unpacker is not None and self._received and not self._unpacker.eof:
            raise BodyError("broken", "gzip without its end")
        return bytes(self._content)

    def _keep(self, content: bytes) -> None:
        self._content += content
        size = len(self._content)
        if size > self._limit or size > max(_UNSUSPICIOUS, _MOST_RATIO * self._received):
            raise BodyError("too_large", f"more than {min(size, self._limit):,} bytes")
