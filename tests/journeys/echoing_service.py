"""A service that repeats the caller's token wherever an answer has room for text; for `test_echoed_token`."""

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

DELIVERIES: Final = ("whole", "split", "packed")

# Where an answer is spoilt beyond use; "" is an answer that works, with echoes around its results.
SPOILT: Final[dict[str, tuple[str, ...]]] = {
    "submit": ("request_id", "errors", "error_chain", "page", "content-type", "model as object", "text"),
    "poll": ("external_reference", "request_id", "errors", "page", "text", "result as text", "scores as text"),
    "run": ("errors", "page", "text", "result as text", "pooling"),
    "check": ("errors", "page", "text", "names"),
}


@dataclass
class Echoes:
    """What is repeated, and where: `echo` in everything that works, and `spoilt` (a phase and a place) beyond use."""

    echo: str = ""
    phase: str = ""
    place: str = ""
    delivery: str = "whole"
    places: int = field(default=0)  # that were filled

    def text(self, before: str = "") -> str:
        self.places += 1
        return f"{before}{self.echo}"


def for_header(text: str) -> str:
    return "".join(each for each in text if " " <= each <= "~")


def envelope(
    echoes: Echoes, result: object, *, success: bool = True, errors: list[Any] | None = None
) -> dict[str, Any]:
    return {
        "result": result,
        "success": success,
        "errors": errors or [],
        "messages": [{"code": 10000, "message": echoes.text("message ")}, {"text": echoes.text()}],
        echoes.text("key "): echoes.text(),
    }


def spoilt(echoes: Echoes) -> tuple[int, str, bytes]:
    """Status, content type and body of an answer that cannot be used."""
    chain = [{"code": 5006, "message": echoes.text("cause ")}]
    error: dict[str, Any] = {"code": 5006, "message": echoes.text("AiError: "), "documentation_url": echoes.text()}
    match echoes.place:
        case "errors":
            return 400, "application/json", encode(envelope(echoes, None, success=False, errors=[error]))
        case "error_chain":
            error["error_chain"] = chain
            return 400, "application/json", encode(envelope(echoes, None, success=False, errors=[error]))
        case "page":
            return 502, "text/html", f"<html><title>{echoes.text()}</title><p>{echoes.text()}".encode()
        case "content-type":
            return 200, f"text/{for_header(echoes.text())}", b"?"
        case "text":
            return 200, "application/json", f'{{"result": {echoes.text()}'.encode()
        case "names":
            found = [{"name": echoes.text(), "properties": [{"property_id": echoes.text(), "value": echoes.text()}]}]
            return 200, "application/json", encode(envelope(echoes, found))
        case "request_id" if echoes.phase == "submit":
            return 200, "application/json", encode(envelope(echoes, {"status": "queued", "request_id": echoes.text()}))
        case "model as object":
            result = {"status": "queued", "request_id": "r-1", "model": {echoes.text(): echoes.text()}}
            return 200, "application/json", encode(envelope(echoes, result))
        case "result as text":
            return 200, "application/json", encode(envelope(echoes, echoes.text()))
        case "pooling":
            return 200, "application/json", encode(envelope(echoes, {"response": [], "pooling": echoes.text()}))
    element: dict[str, Any] = {"id": 0, "result": {"response": [{"id": 0, "score": 0.5}]}, "success": True}
    if echoes.place == "external_reference":
        element["external_reference"] = echoes.text()
    elif echoes.place == "scores as text":
        element["result"] = {"response": [{"id": echoes.text(), "score": echoes.text()}], "shape": echoes.text()}
    answer: dict[str, Any] = {"responses": [element]}
    if echoes.place == "request_id":
        answer["request_id"] = echoes.text()
    return 200, "application/json", encode(envelope(echoes, answer))


def encode(value: object) -> bytes:
    return json.dumps(value).encode()


class Service:
    """Answers submits, polls, synchronous calls and checks as `echoes` says."""

    def __init__(self) -> None:
        self.echoes = Echoes()
        self.phases: list[str] = []
        self._requests: list[dict[str, Any]] = []
        self._polls = 0

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
        echoes = self.echoes
        phase = "submit" if "requests" in body else "poll" if "request_id" in body else "run"
        phase = "check" if method == "GET" else phase
        self.phases.append(phase)
        if phase == echoes.phase:
            return spoilt(echoes)
        return 200, "application/json", encode(envelope(echoes, self._result(phase, body, path)))

    def _result(self, phase: str, body: dict[str, Any], path: str) -> object:
        echoes = self.echoes
        match phase:
            case "check":
                return [{"name": "@cf/baai/bge-m3", "properties": [], "description": echoes.text()}]
            case "run":
                entries = [{"id": index, "score": 0.5} for index in range(len(body["contexts"]))]
                return {"response": entries, "meta": {"seen": echoes.text()}, "pooling": echoes.text()}
            case "submit":
                self._requests, self._polls = body["requests"], 0
                return {"status": echoes.text("queued by "), "request_id": "r-1", "model": echoes.text()}
        self._polls += 1
        if self._polls == 1:
            return {"status": echoes.text("waiting for "), "request_id": "r-1"}
        return {"responses": [self._element(*each) for each in enumerate(self._requests)], "usage": echoes.text()}

    def _element(self, index: int, request: dict[str, Any]) -> dict[str, Any]:
        """The first request has scores; the others failed, each with its error in another place."""
        echoes = self.echoes
        named = {"id": index, "external_reference": request["external_reference"]}
        if index == 0:
            entries = [{"id": number, "score": 0.5} for number in range(len(request["contexts"]))]
            return {**named, "result": {"response": entries, "pooling": echoes.text()}, "success": True}
        errors: tuple[dict[str, Any], ...] = (
            {"error": echoes.text()},
            {"error": {"message": echoes.text(), echoes.text(): 1}},
            {"errors": [{"code": 1, "message": echoes.text()}]},
            {"message": echoes.text()},
            {"result": echoes.text("it was ")},
        )
        return {**named, "success": False, **errors[(index - 1) % len(errors)]}


@contextmanager
def echoing_service() -> Iterator[tuple[Service, str]]:
    """A service in a thread, and its address."""
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self._reply("POST")

        def do_GET(self) -> None:
            self._reply("GET")

        def _reply(self, method: str) -> None:
            length = int(self.headers.get("content-length", 0))
            status, kind, body = service.answer(method, self.path, json.loads(self.rfile.read(length) or b"{}"))
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("x-seen", for_header(service.echoes.echo))
            if service.echoes.delivery == "packed":
                body = gzip.compress(body)
                self.send_header("content-encoding", "gzip")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            _deliver(self.wfile.write, body, in_pieces=service.echoes.delivery == "split")

        def log_message(self, *_: object) -> None:
            """Nothing: the log would hold what the tests look for."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield service, f"http://127.0.0.1:{server.server_address[1]}/client/v4"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _deliver(write: Callable[[bytes], object], body: bytes, *, in_pieces: bool) -> None:
    size = 37 if in_pieces else len(body) or 1
    for at in range(0, len(body), size):
        write(body[at : at + size])
        time.sleep(0)  # to the other threads, so that the pieces arrive one by one
