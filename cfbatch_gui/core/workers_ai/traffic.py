"""The log of network exchanges: one JSON line for each, now and then summed, without bodies and headers."""

import logging
from pathlib import Path

import msgspec

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.system.files import own_opener, write_own_file
from cfbatch_gui.core.workers_ai.transport import Exchange

MAX_BYTES = 512 * 1024

_log = logging.getLogger(__name__)


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One exchange, or the sum of `count` from `time` until `until`, in seconds since 1970.

    `status` is 0 without a response and for a sum.
    """

    time: float
    host: str
    connection: str
    what: str
    sent: int
    received: int
    status: int
    count: int = 1
    until: float = 0.0


_decoder = msgspec.json.Decoder(Entry)


class TrafficLog:
    """Writes the log. A failed write is not raised, because no work depends on this file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = path.stat().st_size if path.exists() else 0

    def note(self, connection: str, exchange: Exchange, *, now: float) -> None:
        one = exchange
        line = msgspec.json.encode(
            Entry(round(now, 3), one.host, connection, one.what, one.sent, one.received, one.status)
        )
        try:
            with open(self._path, "ab", opener=own_opener) as stream:
                stream.write(line + b"\n")
            self._size += len(line) + 1
            if self._size > MAX_BYTES:
                self._fold()
        except (OSError, UserError):
            _log.warning("The log of what leaves this computer cannot be written.")

    def _fold(self) -> None:
        data = b"".join(msgspec.json.encode(each) + b"\n" for each in traffic(self._path))
        write_own_file(self._path, data)
        self._size = len(data)


def traffic(path: Path) -> tuple[Entry, ...]:
    """The sums by host, connection and kind, the latest first; lines that cannot be decoded are skipped."""
    sums: dict[tuple[str, str, str], Entry] = {}
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            entry = _decoder.decode(line)
        except msgspec.DecodeError:
            continue
        key = entry.host, entry.connection, entry.what
        before = sums.get(key, Entry(entry.time, *key, sent=0, received=0, status=0, count=0))
        sums[key] = Entry(
            min(before.time, entry.time),
            *key,
            before.sent + entry.sent,
            before.received + entry.received,
            0,
            before.count + entry.count,
            max(before.until, entry.until or entry.time),
        )
    return tuple(sorted(sums.values(), key=lambda each: each.until, reverse=True))
