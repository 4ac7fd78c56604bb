"""Read an answer: the batch is queued, running, or finished with elements, whose results stay undecoded."""

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.limits import MAX_REQUEST_ID, MAX_STATUS
from cfbatch_gui.core.workers_ai.wire.decoding import NULL, breach, decode, is_null


@dataclass(frozen=True, slots=True)
class Queued:
    """The answer to a submit. `request_id` is opaque; losing it loses a paid batch.

    The answer to a poll has this form too when the service repeats the id; `status` is then that of the batch.
    """

    request_id: str
    model: str
    status: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The batch is not finished. `status` is as sent: "queued", "running", or one unknown to this program.

    `request_id` is the batch that the answer names, "" when it names none.
    """

    status: str
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the whole batch, as counted by the service; 0 for a count that it did not give."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class Output(msgspec.Struct, frozen=True):
    """A model's output for one request. The keys depend on the request; they have also changed over time."""

    response: msgspec.Raw = NULL
    data: msgspec.Raw = NULL
    shape: msgspec.Raw = NULL
    pooling: msgspec.Raw = NULL
    result: msgspec.Raw = NULL  # older answers have the same keys one level deeper


class Element(msgspec.Struct, frozen=True):
    """One element of `responses`, unchecked. Raw values are views of the answer's bytes.

    `result` of a failed element may be anything at all, so any JSON passes here.
    """

    id: int | None = None
    result: Output | list[msgspec.Raw] | str | int | float | bool | None = None
    success: bool | None = None
    external_reference: str | None = None
    error: msgspec.Raw = NULL
    errors: msgspec.Raw = NULL
    message: msgspec.Raw = NULL


@dataclass(frozen=True, slots=True)
class Finished:
    """The batch is done. `elements` are in the order of the answer, which is arbitrary: `match` orders them.

    `request_id` is the batch that the answer names, "" when it names none. `is_synchronous` marks the answer to a
    synchronous call, which never has references.
    """

    elements: tuple[Element, ...]
    usage: Usage | None
    request_id: str = ""
    is_synchronous: bool = False


Answer: TypeAlias = Queued | Waiting | Finished


class _Body(msgspec.Struct):
    responses: list[Element] | None = None
    results: list[Element] | None = None
    usage: msgspec.Raw = NULL
    status: str | None = None
    request_id: str | None = None
    model: msgspec.Raw = NULL


class _Frame(_Body):
    """A body with or without the v4 envelope, so that one pass over the bytes decodes either."""

    success: bool | None = None
    result: _Body | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | float | None = None
    completion_tokens: int | float | None = None
    total_tokens: int | float | None = None


_REQUEST_ID: Final = re.compile(r"[!-~]+")
_MOST_TOKENS: Final = 10**12  # a batch has millions
_frame_decoder: Final = msgspec.json.Decoder(_Frame)
_usage_decoder: Final = msgspec.json.Decoder(_Usage)
_model_decoder: Final = msgspec.json.Decoder(str | None)


def read_answer(data: bytes | msgspec.Raw) -> Answer:
    """Read the answer to a submit or a poll, with or without the v4 envelope.

    Vectors and scores stay undecoded views of `data`, so that an answer of 50 MB needs one pass and little memory.
    Raises ReplyError for anything that is neither queued, waiting nor done; a refusal (`"success": false`) too, because
    its errors are for `read_envelope`.
    """
    frame = decode(_frame_decoder, data, "answer")
    if frame.success is False:
        raise breach(message("the service reports a failure where an answer was expected"))
    body = frame if frame.result is None else frame.result
    request_id = body.request_id or frame.request_id or ""
    if frame.request_id and frame.request_id != request_id:
        raise breach(message("it names two batches"))
    elements = _elements(body)
    if elements or (elements is not None and body.status is None):
        return Finished(tuple(elements), read_usage(body.usage), request_id)
    status = (body.status or "")[:MAX_STATUS]
    if request_id:
        return Queued(request_id, decode(_model_decoder, body.model, "model") or "", status or "queued")
    if status:
        return Waiting(status)
    raise breach(message("it says neither that the batch is waiting nor what came out"))


def is_request_id(text: str) -> bool:
    """Return whether a text can be the id of a batch: up to MAX_REQUEST_ID printable characters of ASCII, no spaces."""
    return len(text) <= MAX_REQUEST_ID and _REQUEST_ID.fullmatch(text) is not None


def _elements(body: _Body) -> list[Element] | None:
    """The list in `responses` or `results`, None without one. Raises ReplyError when both have elements."""
    if body.responses and body.results:
        raise breach(message("it holds two lists of results"))
    return body.responses or body.results or (body.responses if body.responses is not None else body.results)


def read_usage(raw: msgspec.Raw) -> Usage | None:
    """Return the usage, None if it cannot be decoded: it is only shown, so it does not invalidate the results."""
    if is_null(raw):
        return None
    try:
        usage = _usage_decoder.decode(raw)
    except ValueError:
        return None
    return Usage(*map(_counted, (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)))


def _counted(tokens: int | float | None) -> int:
    """The count, or 0 for an impossible one, which would falsify the sums of tokens and prices."""
    return int(tokens) if tokens and 0 < tokens < _MOST_TOKENS else 0


class _BareOutput(Output, frozen=True):
    usage: msgspec.Raw = NULL
    request_id: msgspec.Raw = NULL  # of an answer about a batch, as are the next two
    responses: msgspec.Raw = NULL
    results: msgspec.Raw = NULL


class _RunFrame(_BareOutput, frozen=True):
    success: bool | None = None


_run_decoder: Final = msgspec.json.Decoder(_RunFrame)
_bare_output_decoder: Final = msgspec.json.Decoder(_BareOutput)


def read_run(data: bytes) -> Finished:
    """Read the answer to a synchronous call as that of a batch of one request.

    Scores and vectors stay undecoded views of `data`. Raises ReplyError.
    """
    frame = decode(_run_decoder, data, "answer")
    if frame.success is False:
        raise breach(message("the service reports a failure where an answer was expected"))
    output: _BareOutput = frame
    if frame.success is not None:
        output = decode(_bare_output_decoder, frame.result, "answer")
    if not all(map(is_null, (frame.request_id, output.request_id, output.responses, output.results))):
        raise breach(message("it is the answer to a batch, and this was a single request"))
    usage: Usage | None = read_usage(output.usage)
    return Finished((Element(id=0, result=output, success=True),), usage, is_synchronous=True)
