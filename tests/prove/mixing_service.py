"""A service that mixes answers up on kept connections.

It leaves bytes behind its answers, sends them in packets of their own or before a request, cuts, merges and delays
answers, sends the one of the request before on a connection that is used again, and gives answers of other batches
where an id or a reference names them. Scores are computed from the texts, so a number that reached another text is
seen. An answer counts when the service has sent it.
"""

import asyncio
import hashlib
import json
import random
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from cfbatch_gui.core.workers_ai.requests import RankRequest

MODEL: Final = "@cf/baai/bge-m3"


@dataclass(frozen=True, slots=True)
class StandInBatch:
    """A batch that the stand-in has finished. `says_id` and `has_references` are what its answers hold.

    `is_known` is whether references of its job have come back: only then does an answer without them show something.
    """

    request_id: str
    requests: tuple[RankRequest, ...]
    has_references: bool
    says_id: bool
    is_known: bool = False


def score_of(query: str, context: str) -> float:
    """The one right score of a pair, from -1 to 1."""
    digest = hashlib.sha256(f"{query}\0{context}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**47 - 1.0


class StandIn:
    """Serves batches that were put into `batches`, and synchronous calls. `sent` counts answers."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.batches: dict[str, StandInBatch] = {}
        self._ids: list[str] = []
        self._open: set[asyncio.StreamWriter] = set()
        self.sent = 0
        self.url = ""

    async def __aenter__(self) -> "StandIn":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1_000)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in list(self._open):
            writer.close()
        while self._open:
            await asyncio.sleep(0)

    def add(self, batch: StandInBatch) -> None:
        """Accept a batch; it is finished at once."""
        self.batches[batch.request_id] = batch
        self._ids.append(batch.request_id)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            before: bytes | None = None
            if self._ids and self._chance.random() < 0.05:
                writer.write(self._behind())
            while (asked := await self._request(reader)) is not None:
                true = self._answer(asked)
                ends = await self._reply(writer, true, before, self.batches.get(asked.get("request_id", "")))
                before = true
                if ends or asked["closes"]:
                    break
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        self._open.discard(writer)

    async def _request(self, reader: asyncio.StreamReader) -> dict[str, Any] | None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        asked: dict[str, Any] = json.loads(await reader.readexactly(length))
        return {**asked, "closes": b"connection: close" in head}

    async def _reply(
        self, writer: asyncio.StreamWriter, true: bytes, before: bytes | None, batch: StandInBatch | None
    ) -> bool:
        """Send an answer, perhaps a wrong one; whether the connection ends with it."""
        self.sent += 1
        chance = self._chance.random()
        if before is not None and chance < 0.3:  # on a connection that is used again, the one of the request before
            writer.write(framed(before))
        elif chance < 0.40:
            writer.write(framed(true) + self._behind())
        elif chance < 0.50:
            writer.write(framed(true))
            await writer.drain()
            await asyncio.sleep(0)
            writer.write(self._behind())
        elif chance < 0.55:
            whole = framed(true)
            writer.write(whole[: self._chance.randrange(len(whole))])
            return True
        elif chance < 0.60:
            foreign = self._foreign()
            writer.write(framed(true + foreign) if self._chance.random() < 0.5 else framed(foreign + true))
        elif chance < 0.65:
            await asyncio.sleep(self._chance.uniform(0, 0.002))
            writer.write(framed(true))
        elif chance < 0.75:
            writer.write(framed(self._named(true, batch)))
        elif chance < 0.80:
            writer.write(chunked(true) + self._behind())
        elif chance < 0.85:  # what was left behind comes first
            writer.write(self._behind() + framed(true))
        else:
            writer.write(framed(true))
        await writer.drain()
        return False

    def _answer(self, asked: dict[str, Any]) -> bytes:
        if "request_id" in asked:
            return finished(self.batches[asked["request_id"]])
        scores = [score_of(asked["query"], each["text"]) for each in asked["contexts"]]
        return enveloped({"response": scored(scores, self._chance)})

    def _behind(self) -> bytes:
        """A whole answer to somebody else, which stays on the connection."""
        self.sent += 1
        return framed(self._foreign())

    def _foreign(self) -> bytes:
        """An answer to somebody else, without any name where there is such a one: a batch's, or a synchronous one."""
        if not self._ids or self._chance.random() < 0.3:
            query = f"somebody's {self._chance.random()}"
            return enveloped({"response": scored([score_of(query, "a"), score_of(query, "b")], self._chance)})
        batch = self.batches[self._chance.choice(self._ids)]
        return finished(replace(batch, has_references=False, says_id=False))

    def _named(self, true: bytes, batch: StandInBatch | None) -> bytes:
        """The answer of another batch, where something shows that it is one; else the true one."""
        if batch is None:
            return true
        other = self.batches[self._chance.choice(self._ids)]
        if batch.says_id and other is not batch:
            return finished(replace(other, has_references=False, says_id=True))
        if batch.has_references and other is not batch:
            keeps_them = not batch.is_known or self._chance.random() < 0.5
            return finished(replace(other, has_references=keeps_them, says_id=False)) if other.has_references else true
        return true


def scored(scores: list[float], chance: random.Random) -> list[dict[str, Any]]:
    """The entries of an element, in any order."""
    entries = [{"id": index, "score": score} for index, score in enumerate(scores)]
    chance.shuffle(entries)
    return entries


def finished(batch: StandInBatch) -> bytes:
    """The answer of a finished batch, its elements turned round."""
    elements = [
        {
            "id": index,
            "result": {
                "response": [
                    {"id": number, "score": score_of(request.query or "", context)}
                    for number, context in enumerate(request.contexts)
                ]
            },
            "success": True,
            **({"external_reference": request.reference} if batch.has_references else {}),
        }
        for index, request in enumerate(batch.requests)
    ]
    body: dict[str, Any] = {"responses": elements[::-1]}
    return enveloped({**body, "request_id": batch.request_id} if batch.says_id else body)


def enveloped(result: object) -> bytes:
    """The v4 envelope around a result."""
    return msgspec.json.encode({"result": result, "success": True, "errors": [], "messages": []})


def framed(body: bytes) -> bytes:
    """A whole HTTP answer with its length."""
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


def chunked(body: bytes) -> bytes:
    """A whole HTTP answer in two chunks."""
    half = len(body) // 2
    pieces = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (body[:half], body[half:]))
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + pieces + b"0\r\n\r\n"
