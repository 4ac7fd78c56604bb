"""A service behind the AI binding whose replies a test writes, one after the other for each batch."""

import asyncio
import json
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Final

from cfbatch_gui.core.practice.app import Receive, Scope, Send
from tests.support.practice import Served

MODEL: Final = "@cf/scripted/any"


@dataclass(frozen=True)
class Reply:
    """What the binding gives for one question.

    `announced` sends a Content-Length, otherwise the body comes in chunks. `cut` closes the connection in the middle of
    the body. `exception` makes the binding throw it instead. `encoding` is told as Content-Encoding. `held` is waited
    for before anything is sent.
    """

    body: bytes = b""
    status: int = 200
    announced: bool = True
    cut: bool = False
    exception: str = ""
    retry_after: str = ""
    encoding: str = ""
    held: threading.Event | None = None


QUEUED: Final = Reply(b'{"status":"queued"}')


def refusal(code: int, status: int = 400, words: str = "Something is wrong", retry_after: str = "") -> Reply:
    """A refusal in the form of the binding."""
    body = {"internalCode": code, "name": "AiError", "message": words, "description": words}
    return Reply(json.dumps(body).encode(), status, retry_after=retry_after)


class ScriptedService(Served):
    """The replies to each request id, of which the last is repeated. An unknown id is refused as the service does.

    `asked` counts the questions for each since it was scripted.
    """

    def __init__(self) -> None:
        super().__init__(self)
        self.asked: Counter[str] = Counter()
        self._log: list[str] = []
        self._replies: dict[str, tuple[Reply, ...]] = {}

    def script(self, request_id: str, *replies: Reply) -> None:
        """Reply so from now on."""
        self._replies[request_id] = replies
        self.asked[request_id] = 0
        self._log = [asked for asked in self._log if asked != request_id]

    def forget(self) -> None:
        """Hold no reply any longer; some have 60 MB."""
        self._replies.clear()

    def questions(self, *request_ids: str) -> list[str]:
        """The questions for these since they were scripted, in their order."""
        return [asked for asked in self._log if asked in request_ids]

    def next_reply(self, request_id: str) -> Reply:
        """The reply to this question, which is counted."""
        replies = self._replies.get(request_id, (refusal(5504, 404, "There is no such request"),))
        self.asked[request_id] += 1
        self._log.append(request_id)
        return replies[min(self.asked[request_id], len(replies)) - 1]

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        asked, more = b"", True
        while more:
            message = await receive()
            asked, more = asked + message["body"], message["more_body"]
        reply = self.next_reply(json.loads(asked)["request_id"])
        if reply.held is not None:
            await asyncio.to_thread(reply.held.wait)
        headers = {
            "content-type": "application/json",
            "x-exception": reply.exception,
            "retry-after": reply.retry_after,
            "content-encoding": reply.encoding,
            "content-length": str(len(reply.body)) if reply.announced else "",  # else it comes in chunks
        }
        told = [(name.encode(), value.encode()) for name, value in headers.items() if value]
        await send({"type": "http.response.start", "status": reply.status, "headers": told})
        body = reply.body[: len(reply.body) // 2 if reply.cut else None]
        await send({"type": "http.response.body", "body": body, "more_body": reply.cut})
