"""A service behind the AI binding whose replies a test writes, one after the other for each batch."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

MODEL: Final = "@cf/scripted/any"
_PIECE: Final = 65536


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


class ScriptedService:
    """The replies to each request id, of which the last is repeated. An unknown id is refused as the service does.

    `asked` counts the questions for each since it was scripted.
    """

    def __init__(self) -> None:
        self.url = ""
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

    @contextmanager
    def opened(self) -> "Iterator[ScriptedService]":
        """Listen on a loopback port until the end of the block."""
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # or each small reply takes 40 ms

            def handle(self) -> None:
                with suppress(ConnectionError):  # whoever asked has seen enough, or was killed
                    super().handle()

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                _send(self, scripted.next_reply(asked["request_id"]))

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            server.daemon_threads = True
            self.url = f"http://127.0.0.1:{server.server_port}/"
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()


def _send(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
    if reply.held is not None:
        reply.held.wait()
    handler.send_response(reply.status)
    headers = {
        "content-type": "application/json",
        "x-exception": reply.exception,
        "retry-after": reply.retry_after,
        "content-encoding": reply.encoding,
        "content-length": str(len(reply.body)) if reply.announced else "",
        "transfer-encoding": "" if reply.announced else "chunked",
    }
    for name, value in headers.items():
        if value:
            handler.send_header(name, value)
    handler.end_headers()
    body = memoryview(reply.body)[: len(reply.body) // 2 if reply.cut else None]
    for start in range(0, len(body), _PIECE):
        piece = body[start : start + _PIECE]
        handler.wfile.write(piece if reply.announced else b"%x\r\n%b\r\n" % (len(piece), bytes(piece)))
    if reply.cut:
        handler.close_connection = True
    elif not reply.announced:
        handler.wfile.write(b"0\r\n\r\n")
