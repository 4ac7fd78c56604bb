"""Sending a reply whole, cut, late or byte by byte, and ending connections."""

import asyncio
import socket
import struct
import sys
from contextlib import suppress

from cfbatch_gui.core.practice.faults import script
from cfbatch_gui.core.practice.faults.bad_replies import noise
from cfbatch_gui.core.practice.faults.http import Answer

_PATIENCE = 1.0  # seconds for the client to close its side
_ON_ITS_WAY = 0.02  # seconds; a reset discards data that the client has not read yet


class Line:
    """One client's connection: the plain socket, and the streams over it, perhaps with TLS."""

    def __init__(self, plain: socket.socket, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.plain, self.reader, self.writer = plain, reader, writer

    async def send(self, data: bytes) -> None:
        """Write, and wait until the buffer has drained. Raises ConnectionError."""
        self.writer.write(data)
        await self.writer.drain()

    async def end(self, *, rst: bool) -> None:
        """End the connection now: with a TCP reset if `rst`, otherwise with an orderly close."""
        await asyncio.sleep(_ON_ITS_WAY)
        if rst:
            reset(self.plain)
            self.writer.transport.abort()
            return
        with suppress(OSError):
            self.plain.shutdown(socket.SHUT_WR)  # with unread data the system would send a reset
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    while await self.reader.read(1 << 16):
                        pass
        self.writer.transport.abort()


def reset(plain: socket.socket) -> None:
    """Make the next close of the socket a TCP reset."""
    with suppress(OSError):
        linger = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


async def deliver(fault: script.AnyFault | None, answer: Answer, line: Line, *, close: bool) -> bool:
    """Send a reply as the fault says; return whether the connection stays open. Raises ConnectionError."""
    head = answer.head(close=close)
    match fault:
        case script.ResetAfterBody():
            await line.end(rst=fault.rst)
            return False
        case script.ResetInReplyHeaders():
            await line.send(head[: min(fault.byte, len(head) - 1)])
            await line.end(rst=fault.rst)
            return False
        case script.ResetInReply():
            await line.send(head + answer.body[: min(fault.byte, max(len(answer.body) - 1, 0))])
            await line.end(rst=fault.rst)
            return False
        case script.Garbage(part="all"):
            await line.send(noise())
            await line.end(rst=False)
            return False
        case script.BreakTls():
            with suppress(OSError):
                line.plain.send(noise())  # directly to the socket, below asyncio's TLS
            await line.end(rst=False)
            return False
        case script.Stall():
            await asyncio.sleep(fault.seconds)
        case script.StallInReply():
            await line.send(head + answer.body[: fault.byte])
            await asyncio.sleep(fault.seconds)
            await line.send(answer.body[fault.byte :])
            return not close
        case script.Drip():
            await _drip(fault, head, answer.body, line)
            return not close
    await line.send(head)
    for _ in range(answer.repeated):
        await line.send(answer.body)
    return not close


async def _drip(fault: script.Drip, head: bytes, body: bytes, line: Line) -> None:
    whole = head + body
    start = 0 if fault.part == "head" else len(head)
    await line.send(whole[:start])
    for index in range(start, len(whole)):
        await asyncio.sleep(fault.seconds)
        await line.send(whole[index : index + 1])
