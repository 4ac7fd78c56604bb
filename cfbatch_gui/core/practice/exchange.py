"""A request to the practice service, and its answer or refusal in the envelope of Cloudflare's v4 API."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import msgspec


@dataclass(frozen=True, slots=True)
class Request:
    """`values` are those of the query and, by their names, of the path."""

    values: Mapping[str, str]
    body: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` is JSON."""

    status: int
    body: bytes


Operation = Callable[[Request], Answer]  # blocks; raises RefusalError, sqlite3.Error and OSError


class RefusalError(Exception):
    """A refusal: an HTTP status and (code, message) pairs."""

    def __init__(self, status: int, *errors: tuple[int, str]) -> None:
        super().__init__(f"HTTP {status}: {errors}")
        self.status, self.errors = status, errors

    def answer(self) -> Answer:
        envelope = {"result": None, "success": False, "errors": _listed(self.errors), "messages": []}
        return Answer(self.status, msgspec.json.encode(envelope))


def bad_input(reason: str) -> RefusalError:
    """The refusal of a body that breaks the model's schema (5006), worded as the service does."""
    return RefusalError(400, (5006, f"AiError: Bad input: Error: {reason}"))


def success(result: object, *, messages: Iterable[tuple[int, str]] = (), **more: object) -> Answer:
    """The v4 envelope; `more` are further keys beside `result`."""
    envelope = {"result": result, "success": True, "errors": [], "messages": _listed(messages), **more}
    return Answer(200, msgspec.json.encode(envelope))


def _listed(found: Iterable[tuple[int, str]]) -> list[dict[str, object]]:
    return [{"code": code, "message": message} for code, message in found]
