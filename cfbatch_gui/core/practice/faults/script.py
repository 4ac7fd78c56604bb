"""The script of a faulty service: a JSON file that says which exchanges go wrong, and how.

    {"faults": [
        {"on": "submit", "do": "reset_after_body", "billed": true},
        {"on": "poll", "number": 3, "times": 2, "do": "page", "status": 502}
    ]}

Every fault has these keys:

    do      what goes wrong; the faults below
    on      the kind of exchange: "submit" (a batch, or a single element), "poll" (for the result of a batch); with
            Vectorize "upload" (vectors upserted or inserted), "mutate" (every other change), "progress" (how far an
            index has come), "lookup" (all else that is read of indexes and vectors), "query"; "check" (everything
            else), or "any" (default)
    number  the first exchange of its kind that is affected, from 1 (default 1), not counting those that a fault
            earlier in the list has affected
    times   how many consecutive exchanges are affected (default 1); 0 is every one from then on
    sha256  affects only the batch whose body has this hash, and polls for it; for faults after the body

The kind of a connection is not known before its first request. For faults at the connection, "submit" and "check"
therefore mean a connection made before the practice service has accepted a batch, "poll" one made afterwards, and the
kinds of Vectorize any.

Faults with "billed" have two forms. With true the practice service processes the request, applies a change of
Vectorize for example, and the fault affects its answer. With false (the default) the service does not get the request,
and the fault affects a refusal: "no capacity", of Vectorize "too many requests".

With "rst" true (the default) a connection ends with a TCP reset, with false with an orderly close.
"""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from cfbatch_gui.core.errors import InputError
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.practice.faults.mutations import Mutation
from cfbatch_gui.core.practice.faults.vectorize_mutations import VectorizeMutation

VectorizeKind: TypeAlias = Literal["upload", "mutate", "progress", "lookup", "query"]
Kind: TypeAlias = Literal["submit", "poll", "check", VectorizeKind]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=86_400)]
Status: TypeAlias = Annotated[int, Meta(ge=100, le=599)]


class Fault(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="do"):
    """The keys of every fault. `after_body` is whether it happens only after the whole request was received."""

    after_body: ClassVar[bool] = False

    on: Literal["any", Kind] = "any"
    number: Annotated[int, Meta(ge=1)] = 1
    times: Count = 1


class ConnectionFault(Fault, frozen=True):
    """A fault before the first request."""


class RequestFault(Fault, frozen=True):
    """A fault while the request is being received; nothing is billed."""


class ReplyFault(Fault, frozen=True):
    """A fault after the request was received."""

    after_body: ClassVar[bool] = True

    sha256: Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")] = ""


class TwinFault(ReplyFault, frozen=True):
    """A fault with a billed and an unbilled twin."""

    billed: bool = False


# At the connection


class Refuse(ConnectionFault, frozen=True, tag="refuse"):
    """Nobody listens, for so many seconds; 0 is for good. `times` does not count here."""

    seconds: Seconds = 0.0


class ResetAtAccept(ConnectionFault, frozen=True, tag="reset_at_accept"):
    """The connection is taken and ended at once."""

    rst: bool = True


class ResetAfterHello(ConnectionFault, frozen=True, tag="reset_after_hello"):
    """The connection is ended after the client's first bytes: its hello, where TLS is spoken."""

    rst: bool = True


class GarbageHello(ConnectionFault, frozen=True, tag="garbage_hello"):
    """The client's first bytes are answered with bytes that mean nothing."""


class StallAtAccept(ConnectionFault, frozen=True, tag="stall_at_accept"):
    """Nothing is read or said for so many seconds; then all goes well."""

    seconds: Seconds = 60.0


# While the request is received


class ResetAfterHeaders(RequestFault, frozen=True, tag="reset_after_headers"):
    """The connection is ended when the headers have come."""

    rst: bool = True


class ResetInBody(RequestFault, frozen=True, tag="reset_in_body"):
    """The connection is ended at a byte of the request's body."""

    byte: Count = 1
    rst: bool = True


class StallInBody(RequestFault, frozen=True, tag="stall_in_body"):
    """From a byte of the request's body on nothing is read for so many seconds; then the connection is reset."""

    byte: Count = 1
    seconds: Seconds = 60.0


# After the request was received


class ResetAfterBody(TwinFault, frozen=True, tag="reset_after_body"):
    """The connection is ended in place of a reply."""

    rst: bool = True


class ResetInReplyHeaders(TwinFault, frozen=True, tag="reset_in_reply_headers"):
    """The connection is ended at a byte of the reply's head."""

    byte: Count = 20
    rst: bool = True


class ResetInReply(TwinFault, frozen=True, tag="reset_in_reply"):
    """The connection is ended at a byte of the reply's body."""

    byte: Count = 20
    rst: bool = True


class Stall(TwinFault, frozen=True, tag="stall"):
    """The reply comes so many seconds late."""

    seconds: Seconds = 60.0


class StallInReply(TwinFault, frozen=True, tag="stall_in_reply"):
    """The reply stops at a byte of its body for so many seconds; then it goes on."""

    byte: Count = 20
    seconds: Seconds = 60.0


class Drip(TwinFault, frozen=True, tag="drip"):
    """The reply comes one byte at a time, from its head or from its body on; `seconds` is the time between two."""

    seconds: Seconds = 1.0
    part: Literal["head", "body"] = "body"


class CutReply(TwinFault, frozen=True, tag="cut_reply"):
    """The reply's body ends at a byte, and its head says that this is all."""

    byte: Count = 20


class Garbage(TwinFault, frozen=True, tag="garbage"):
    """Random bytes stand in place of the whole reply, or of its body."""

    part: Literal["all", "body"] = "all"


class BreakTls(TwinFault, frozen=True, tag="break_tls"):
    """Bytes that are no TLS record, in the middle of the connection, in place of the reply."""


class BadGzip(TwinFault, frozen=True, tag="bad_gzip"):
    """The reply says that it is compressed, and is not."""


class CutGzip(TwinFault, frozen=True, tag="cut_gzip"):
    """The reply is compressed, and cut in the middle."""


class UnknownEncoding(TwinFault, frozen=True, tag="unknown_encoding"):
    """The reply is encoded in a way that nobody asked for."""

    name: Annotated[str, Meta(pattern="^[!-~]+$")] = "br"


class GzipBomb(TwinFault, frozen=True, tag="gzip_bomb"):
    """A reply of little size that becomes so many megabytes."""

    megabytes: Annotated[int, Meta(ge=1, le=100_000)] = 300


class LargeReply(TwinFault, frozen=True, tag="large_reply"):
    """A reply of so many megabytes of white space, not compressed."""

    megabytes: Annotated[int, Meta(ge=1, le=100_000)] = 300


class Page(TwinFault, frozen=True, tag="page"):
    """A page for people, as a proxy or a hotel's network shows it."""

    status: Status = 200


class Redirect(TwinFault, frozen=True, tag="redirect"):
    """The client is sent elsewhere."""

    status: Literal[301, 302, 303, 307, 308] = 302
    location: Annotated[str, Meta(pattern="^[!-~]*$")] = "http://elsewhere.invalid/"


class Refusal(TwinFault, frozen=True, tag="refusal"):
    """A status with a code, in the service's envelope or without it; code 0 is no error at all.

    `retry_after` is sent as it stands; `retry_date` sends a date so many seconds from now instead.
    """

    status: Status = 400
    code: int = 0
    message: str = ""
    envelope: bool = True
    retry_after: Annotated[str, Meta(pattern="^[ -~]*$")] = ""
    retry_date: float | None = None


class Block(TwinFault, frozen=True, tag="block"):
    """Every exchange from now on is refused for so many seconds: asked too often. It says how long if `told`."""

    seconds: Seconds = 300.0
    told: bool = False


class AnyReply(TwinFault, frozen=True, tag="reply"):
    """Any reply at all."""

    status: Status = 200
    content_type: Annotated[str, Meta(pattern="^[ -~]*$")] = "application/json"
    body: str = ""


# With the practice service's real answer, so always billed


class WrongType(ReplyFault, frozen=True, tag="wrong_type"):
    """The true reply under a wrong content type."""

    content_type: Annotated[str, Meta(pattern="^[ -~]*$")] = "text/html"


class Gzip(ReplyFault, frozen=True, tag="gzip"):
    """The true reply, compressed; no fault."""


class Mutate(ReplyFault, frozen=True, kw_only=True, tag="mutate"):
    """The true reply with one thing wrong. What is not there to be changed is left as it is."""

    how: Mutation


class MutateVectorize(ReplyFault, frozen=True, kw_only=True, tag="mutate_vectorize"):
    """The true reply of Vectorize with one thing wrong. What is not there to be changed is left as it is."""

    how: VectorizeMutation


class FailRequests(ReplyFault, frozen=True, tag="fail_requests"):
    """Some requests of the batch have failed: `requests` are their places in it, from 0."""

    requests: tuple[Count, ...] = (0,)
    error: str = "AiError: Something went wrong with this one"


class AnotherAnswer(ReplyFault, frozen=True, tag="another_answer"):
    """The answer of another job: other references, other values."""


AnyFault: TypeAlias = (
    Refuse
    | ResetAtAccept
    | ResetAfterHello
    | GarbageHello
    | StallAtAccept
    | ResetAfterHeaders
    | ResetInBody
    | StallInBody
    | ResetAfterBody
    | ResetInReplyHeaders
    | ResetInReply
    | Stall
    | StallInReply
    | Drip
    | CutReply
    | Garbage
    | BreakTls
    | BadGzip
    | CutGzip
    | UnknownEncoding
    | GzipBomb
    | LargeReply
    | Page
    | Redirect
    | Refusal
    | Block
    | AnyReply
    | WrongType
    | Gzip
    | Mutate
    | MutateVectorize
    | FailRequests
    | AnotherAnswer
)


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a script file."""

    faults: tuple[AnyFault, ...]


def read_script(data: bytes | str) -> tuple[AnyFault, ...]:
    """Decode a script. Raises InputError with a sentence that says where the script is wrong."""
    try:
        return msgspec.json.decode(data, type=Script).faults
    except msgspec.ValidationError as problem:
        words, _, path = str(problem).partition(" - at `$")
        where = f" at “{path.rstrip('`').lstrip('.')}”" if path else ""
        raise InputError(
            message("The script of faults cannot be used: {reason}.", reason=f"{words}{where}")
        ) from problem
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise InputError(message("The script of faults is not JSON."), detail=str(problem)) from problem


def load_script(path: Path) -> tuple[AnyFault, ...]:
    """Read a script from a file. Raises InputError."""
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise InputError(
            message("“{name}” could not be read.", name=path.name), detail=f"{path}: {problem.strerror}"
        ) from problem
    return read_script(data)


_IN_EVERY_FAULT: Final = frozenset({"on", "number", "times", "sha256"})


def describe_faults() -> str:
    """List every fault with its own keys, their defaults and a description, as text for the terminal."""
    lines: list[str] = []
    for kind in AnyFault.__args__:
        keys = ", ".join(_key(field) for field in msgspec.structs.fields(kind) if field.name not in _IN_EVERY_FAULT)
        tag = kind.__struct_config__.tag
        lines += [f"  {tag}{f' ({keys})' if keys else ''}", f"      {(kind.__doc__ or '').splitlines()[0]}"]
    return "\n".join(lines)


def _key(field: msgspec.structs.FieldInfo) -> str:
    default: Any = field.default
    return field.name if default is msgspec.NODEFAULT else f"{field.name} {msgspec.json.encode(default).decode()}"
