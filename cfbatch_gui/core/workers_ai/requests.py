"""The bodies of calls, as compact UTF-8: the size limit counts these bytes."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

_OPENING: Final = b'{"requests":['
_CLOSING: Final = b"]}"
_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Request:
    """A query with the texts as its contexts, answered by scores; without a query texts, answered by vectors.

    `in_contexts` sends these as contexts too. `truncate_inputs` None omits the key, which the service treats as false:
    too long a text is an error. `pooling` "" omits the key.
    """

    texts: tuple[str, ...]
    query: str | None = None
    reference: str = ""
    truncate_inputs: bool | None = None
    pooling: str = ""
    in_contexts: bool = False


class _Rest(msgspec.Struct, omit_defaults=True):
    query: str | None = None
    truncate_inputs: bool | None = None
    pooling: str = ""
    external_reference: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """The bytes of an element before, between and after its texts, which are stored as JSON."""

    before: bytes
    between: bytes
    after: bytes

    def size(self, count: int, texts: int) -> int:
        return len(self.before) + len(self.after) + texts + (count - 1) * len(self.between)

    def around(self, texts: Sequence[bytes]) -> bytes:
        return self.before + self.between.join(texts) + self.after


def frame_of(
    query: str | None, reference: str, truncate_inputs: bool | None, pooling: str, *, in_contexts: bool = False
) -> Frame:
    """The frame of a `Request`."""
    rest = _encode(_Rest(query, truncate_inputs, pooling, reference))
    more = b"," + rest[1:] if len(rest) > len(b"{}") else b"}"
    if query is None and not in_contexts:
        return Frame(b'{"text":[', b",", b"]" + more)
    return Frame(b'{"contexts":[{"text":', b'},{"text":', b"}]" + more)


def encode_request(request: Request) -> bytes:
    """One element of `requests[]`, or a whole synchronous body; ValueError for a lone surrogate."""
    options = request.truncate_inputs, request.pooling
    frame = frame_of(request.query, request.reference, *options, in_contexts=request.in_contexts)
    return frame.around(list(map(_encode, request.texts)))


def encode_batch(elements: Iterable[bytes]) -> bytes:
    """The body of a submit; `id` in its answer is an index into `elements`."""
    return b"".join((_OPENING, b",".join(elements), _CLOSING))


def batch_size(sizes: Iterable[int]) -> int:
    """The length of `encode_batch` of elements of these lengths."""
    each_with_comma = [size + 1 for size in sizes]
    return len(_OPENING) + len(_CLOSING) + max(0, sum(each_with_comma) - 1)


def encode_poll(request_id: str) -> bytes:
    return _encode({"request_id": request_id})


def multipart(parts: Iterable[tuple[str, str, str, Sequence[bytes]]]) -> tuple[str, bytes]:
    """The content type and the body; the boundary is random.

    Of each part: the name, the file's name or "", the content type, and the content in pieces.
    """
    boundary = f"cfbatch-{secrets.token_hex(16)}"
    pieces: list[bytes] = []
    for name, file_name, content_type, content in parts:
        of_file = f'; filename="{file_name}"' if file_name else ""
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{of_file}\r\n'
        pieces += [f"{head}Content-Type: {content_type}\r\n\r\n".encode(), *content, b"\r\n"]
    pieces.append(f"--{boundary}--\r\n".encode())
    return f"multipart/form-data; boundary={boundary}", b"".join(pieces)
