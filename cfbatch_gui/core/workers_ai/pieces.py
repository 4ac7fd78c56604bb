"""An answer's body out of its pieces: decompressed here, within limits, so that no answer can fill the memory."""

import zlib
from typing import Final

_STEP: Final = 1 << 20  # bytes decompressed at a time
_UNSUSPICIOUS: Final = 16 << 20  # bytes up to which any compression is believed
_MOST_RATIO: Final = 200  # JSON of numbers shrinks to a third, of one sentence a thousand times over to a hundredth


class BodyError(Exception):
    """`reason` is "too_large" or "broken"; `detail` is safe to show."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


class Pieces:
    """Takes the pieces as they come over the line. `encoding` is the Content-Encoding, `limit` in bytes of content."""

    def __init__(self, encoding: str, limit: int) -> None:
        self._encoding, self._limit = encoding.strip().lower(), limit
        self._content = bytearray()
        self._came = 0
        if self._encoding not in ("", "identity", "gzip", "x-gzip"):
            raise BodyError("broken", f"content-encoding {self._encoding[:20]!r}, which was not asked for")
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if "gzip" in self._encoding else None

    def add(self, piece: bytes) -> None:
        """Take one more piece. Raises BodyError."""
        self._came += len(piece)
        if self._unpacker is None:
            self._keep(piece)
            return
        try:
            while piece:
                self._keep(self._unpacker.decompress(piece, _STEP))
                piece = self._unpacker.unconsumed_tail
        except zlib.error:
            raise BodyError("broken", "not the gzip it says it is") from None
        if self._unpacker.unused_data:
            raise BodyError("broken", "gzip with something behind it")

    def whole(self) -> bytes:
        """The content. Raises BodyError when its end is missing."""
        if self._unpacker is not None and self._came and not self._unpacker.eof:
            raise BodyError("broken", "gzip without its end")
        return bytes(self._content)

    def _keep(self, content: bytes) -> None:
        self._content += content
        size = len(self._content)
        if size > self._limit or size > max(_UNSUSPICIOUS, _MOST_RATIO * self._came):
            raise BodyError("too_large", f"more than {min(size, self._limit):,} bytes")
