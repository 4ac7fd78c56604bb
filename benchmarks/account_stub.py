"""A Worker that collects, in a process of its own: it takes batches, and has answers of many megabytes to them.

Every request of a batch is answered with the same vectors, which are made once. What it is told by GET:

    /control/release       from now on the answers are there; /control/hold: from now on they are not
"""

import asyncio
import json
import multiprocessing
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import msgspec
import numpy as np

DIMENSION = 1_024
TEXTS_PER_REQUEST = 100
ETAG = '"one"'
_PIECE = 1 << 18
_BEFORE, _AFTER = b'{"responses":[', b'],"usage":{"total_tokens":1}}'
_LENGTH = re.compile(r"content-length: (\d+)", re.IGNORECASE)


class _Element(msgspec.Struct):
    text: list[str]
    external_reference: str = ""


class _Body(msgspec.Struct):
    requests: list[_Element] = []
    request_id: str = ""


@contextmanager
def account_stub() -> Iterator[str]:
    """The address of one, until the end of the block."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(theirs,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.kill()
        process.join()


def _run(pipe: Connection) -> None:
    asyncio.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    stub = _Stub(_vectors())
    server = await asyncio.start_server(stub.exchange, "127.0.0.1", 0)
    pipe.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _vectors() -> bytes:
    """The vectors of a whole request as the service writes them, about 2 MB."""
    vectors = np.random.default_rng(0).normal(size=(TEXTS_PER_REQUEST, DIMENSION))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32).astype(np.float64)
    return json.dumps(vectors.tolist(), separators=(",", ":")).encode()


@dataclass
class _Stub:
    vectors: bytes
    batches: dict[str, list[bytes]] = field(default_factory=dict)  # the pieces of each answer, by request id
    numbers: dict[int, str] = field(default_factory=dict)  # request ids as they were handed over
    is_released: bool = False

    async def exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request, and its answer; the connection ends with it."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = _LENGTH.search(head)
            body = await reader.readexactly(int(length[1])) if length else b""
            method, target = head.split(" ", 2)[:2]
            parts = target.partition("?")[0].strip("/").split("/")
            if method == "GET" and len(parts) == 4 and parts[3].isdigit():
                await self._send_answer(writer, int(parts[3]))
            else:
                said = json.dumps(self._say(method, parts, body)).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n")
                writer.write(b"content-length: %d\r\n\r\n" % len(said) + said)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _say(self, method: str, parts: list[str], body: bytes) -> dict[str, Any]:
        match [method, *parts]:
            case ["POST", "ai", "run", *model]:
                return self._run(msgspec.json.decode(body, type=_Body), "/".join(model))
            case ["PUT", "collect", _, _]:
                self.numbers |= dict(json.loads(body)["batches"])
            case ["GET", "collect", _, _]:
                return self._status()
            case ["GET", "control", "release" | "hold" as what]:
                self.is_released = what == "release"
        return {"ok": True, "collects": 1}

    def _run(self, body: _Body, model: str) -> dict[str, Any]:
        request_id = body.request_id or f"{len(self.batches):08}-0000-4000-8000-000000000000"
        if body.requests:
            self.batches[request_id] = list(self._pieces(body.requests))
        return {"status": "queued", "model": model, "request_id": request_id}

    def _pieces(self, requests: list[_Element]) -> Iterator[bytes]:
        yield _BEFORE
        for place, element in enumerate(requests):
            assert len(element.text) == TEXTS_PER_REQUEST
            shape = [TEXTS_PER_REQUEST, DIMENSION]
            end = {"shape": shape, "pooling": "cls"}, {"external_reference": element.external_reference}
            yield b'%s{"id":%d,"result":{"data":' % (b"," if place else b"", place)
            yield self.vectors
            yield f',{json.dumps(end[0])[1:]},"success":true,{json.dumps(end[1])[1:]}'.encode()
        yield _AFTER

    def _status(self) -> dict[str, Any]:
        sizes = {number: sum(map(len, self.batches[known])) for number, known in self.numbers.items()}
        batches = [{"number": number, "size": size, "etag": ETAG} for number, size in sizes.items()]
        state = "ended" if self.is_released else "collecting"
        return {"state": state, "error": "", "batches": batches if self.is_released else [], "left": []}

    async def _send_answer(self, writer: asyncio.StreamWriter, number: int) -> None:
        pieces = self.batches[self.numbers[number]]
        size = sum(map(len, pieces))
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\netag: {ETAG}\r\ncontent-length: {size}\r\n"
        writer.write(f"{head}connection: close\r\n\r\n".encode())
        for piece in pieces:
            for begin in range(0, len(piece), _PIECE):
                writer.write(piece[begin : begin + _PIECE])
                await writer.drain()
