"""Bytes of answers to values: the envelope, the states of a batch, scores and vectors, each beside its request."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import ForeignReply, ReplyError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.limits import MAX_REQUEST_ID, MAX_SCORE, MAX_STATUS
from cfbatch_gui.core.workers_ai.requests import Request

Decoded = TypeVar("Decoded")

NULL: Final = msgspec.Raw(b"null")

# A backslash that is escaped itself, or a pair of surrogates; then one alone, as an escape or in bytes.
_SURROGATES: Final = re.compile(
    rb"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\xed[\xa0-\xbf][\x80-\xbf]"
)


def decode(kind: type[Decoded], data: bytes | memoryview | msgspec.Raw, what: str) -> Decoded:
    """Decode `data`, lone surrogates as U+FFFD; `what` names it in the error.

    Raises ReplyError for anything unreadable.
    """
    try:
        try:
            return msgspec.json.decode(data, type=kind)
        except ValueError:
            whole = without_lone_surrogates(bytes(data))
            if whole is None:
                raise
            return msgspec.json.decode(whole, type=kind)
    except (ValueError, RecursionError) as error:  # msgspec's own errors and UnicodeDecodeError are ValueErrors
        raise ReplyError(message("service_sent_answer_program_cannot_read"), detail=f"{what}: {error}") from error


def decode_if_any(kind: type[Decoded], data: msgspec.Raw, what: str) -> Decoded | None:
    """None for null."""
    return None if is_null(data) else decode(kind, data, what)


def without_lone_surrogates(data: bytes) -> bytes | None:
    whole = _SURROGATES.sub(lambda found: found[1] or b"\\ufffd", data)
    return None if whole == data else whole


def is_null(raw: msgspec.Raw) -> bool:
    return len(memoryview(raw)) == 4 and bytes(raw) == b"null"


def breach(reason: str, detail: str = "", /, **parameters: object) -> ReplyError:
    """The error for an answer that contradicts itself or the request; `reason` is a message that ends the sentence."""
    sentence = message("answer_batch_cannot_be_trusted_was", reason=message(reason, **parameters))
    return ReplyError(sentence, detail=detail)


@dataclass(frozen=True, slots=True)
class ServiceError:
    """One entry of `errors`. `code` is 0 when the service gave none."""

    code: int
    message: str


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """An answer without its envelope; only with one is a refusal known to be Cloudflare's, not a proxy's.

    `result` is a view of the answer's bytes, not a copy.
    """

    ok: bool
    result: msgspec.Raw
    errors: tuple[ServiceError, ...]
    is_enveloped: bool


class _Error(msgspec.Struct):
    code: msgspec.Raw = NULL
    message: msgspec.Raw = NULL
    error_chain: list["_Error"] | None = None


def read_envelope(data: bytes, status: int) -> ServiceAnswer:
    """Unwrap an answer. Raises ReplyError when it or its envelope has a wrong type."""
    answer = decode(dict[str, msgspec.Raw], data, "answer")
    is_success_status = 200 <= status < 300
    success = decode_if_any(bool, answer.get("success", NULL), "success")
    if success is None or not answer.keys() & {"result", "errors"}:
        return ServiceAnswer(is_success_status, msgspec.Raw(data), (), is_enveloped=False)
    errors = decode_if_any(list[_Error], answer.get("errors", NULL), "errors")
    return ServiceAnswer(success and is_success_status, answer.get("result", NULL), _flat(errors), is_enveloped=True)


def read_bare(data: bytes, status: int) -> ServiceAnswer:
    """An answer of the Workers Binding, or a Worker's `{"error": {"code", "message"}}`. Raises ReplyError.

    `is_enveloped` is whether it is in one of these forms.
    """
    answer = decode(dict[str, msgspec.Raw], data, "answer")
    if 200 <= status < 300 and "error" not in answer:
        return ServiceAnswer(True, msgspec.Raw(data), (), is_enveloped=True)
    error = decode_if_any(_Error, answer.get("error", NULL), "error")
    return ServiceAnswer(False, NULL, _flat((error,)) if error else (), is_enveloped=error is not None)


def read_gateway(data: bytes, status: int) -> ServiceAnswer:
    """An answer through an AI Gateway, whose own refusals have `error` or `internalCode`. Raises ReplyError."""
    answer = decode(dict[str, msgspec.Raw], data, "answer")
    if status < 400 or answer.keys() & {"errors", "result"} == {"errors", "result"}:
        return read_envelope(data, status)
    if "internalCode" in answer:
        error = ServiceError(_code(answer["internalCode"]), raw_text(answer.get("message", NULL)))
        return ServiceAnswer(False, NULL, (error,), is_enveloped=True)
    if "error" in answer and "success" in answer:
        errors = decode_if_any(list[_Error], answer["error"], "error")
        return ServiceAnswer(False, NULL, _flat(errors), is_enveloped=True)
    return read_envelope(data, status)


def _flat(errors: Sequence[_Error] | None) -> tuple[ServiceError, ...]:
    flat: list[ServiceError] = []
    for error in errors or ():
        flat.append(ServiceError(_code(error.code), raw_text(error.message)))
        flat.extend(_flat(error.error_chain))
    return tuple(flat)


def _code(raw: msgspec.Raw) -> int:
    try:
        code: object = msgspec.json.decode(raw, type=int | str | float | None)
    except ValueError:
        return 0
    if isinstance(code, int):
        return code
    return int(code) if isinstance(code, str) and code.isascii() and code.isdigit() else 0


def raw_text(raw: msgspec.Raw) -> str:
    """The text of a JSON string, "" for null, other values as their JSON."""
    try:
        return msgspec.json.decode(without_lone_surrogates(bytes(raw)) or raw, type=str)
    except ValueError:
        text = bytes(raw).decode("utf-8", errors="replace")
        return "" if text == "null" else text


@dataclass(frozen=True, slots=True)
class Waiting:
    """The batch was accepted, or is not finished. `status` is as sent; `request_id` and `model` are "" where the answer
    names none. Losing the id of a submit loses a paid batch.
    """

    status: str
    request_id: str = ""
    model: str = ""


class Output(msgspec.Struct, frozen=True):
    """A model's output for one request; its keys depend on the request, and have changed over time."""

    response: msgspec.Raw = NULL
    data: msgspec.Raw = NULL
    shape: msgspec.Raw = NULL
    pooling: msgspec.Raw = NULL
    result: msgspec.Raw = NULL  # older answers have the same keys one level deeper


class Element(msgspec.Struct, frozen=True):
    """One element of `responses`, unchecked; raw values are views of the answer's bytes."""

    id: int | None = None
    result: Output | list[msgspec.Raw] | str | int | float | bool | None = None
    success: bool | None = None
    external_reference: str | None = None
    error: msgspec.Raw = NULL
    errors: msgspec.Raw = NULL
    message: msgspec.Raw = NULL


@dataclass(frozen=True, slots=True)
class Finished:
    """The batch is done. `elements` are in the answer's arbitrary order; `request_id` is "" when not named.

    `tokens` are those of the whole batch, 0 for a count that the service did not give.
    """

    elements: tuple[Element, ...]
    tokens: int = 0
    request_id: str = ""
    is_synchronous: bool = False


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
    total_tokens: int | float | None = None


_REQUEST_ID: Final = re.compile(r"[!-~]+")
_MOST_TOKENS: Final = 10**12  # a batch has millions


def read_answer(data: bytes | msgspec.Raw) -> Waiting | Finished:
    """The answer to a submit or a poll. Raises ReplyError. Vectors and scores stay undecoded views of `data`."""
    frame = decode(_Frame, data, "answer")
    if frame.success is False:
        raise breach("service_reports_failure_where_answer_was")
    body = frame if frame.result is None else frame.result
    request_id = body.request_id or frame.request_id or ""
    if frame.request_id and frame.request_id != request_id:
        raise breach("names_two_batches")
    elements = _elements(body)
    if elements or (elements is not None and body.status is None):
        return Finished(tuple(elements), _counted(body.usage), request_id)
    status = (body.status or "")[:MAX_STATUS]
    if status or request_id:
        return Waiting(status or "queued", request_id, decode_if_any(str, body.model, "model") or "")
    raise breach("says_neither_batch_is_waiting_nor")


def is_request_id(text: str) -> bool:
    """Whether a text is up to MAX_REQUEST_ID printable characters of ASCII, no spaces."""
    return len(text) <= MAX_REQUEST_ID and _REQUEST_ID.fullmatch(text) is not None


def _elements(body: _Body) -> list[Element] | None:
    if body.responses and body.results:
        raise breach("holds_two_lists_results")
    return body.responses or body.results or (body.responses if body.responses is not None else body.results)


def _counted(raw: msgspec.Raw) -> int:
    """The tokens, 0 for what cannot be decoded: they are only shown."""
    try:
        usage: _Usage | None = msgspec.json.decode(raw, type=_Usage | None)
    except ValueError:
        return 0
    tokens = usage.total_tokens if usage is not None else None
    return int(tokens) if tokens and 0 < tokens < _MOST_TOKENS else 0


class _RunOutput(Output, frozen=True):
    success: bool | None = None
    usage: msgspec.Raw = NULL
    request_id: msgspec.Raw = NULL  # of an answer about a batch, as are the next two
    responses: msgspec.Raw = NULL
    results: msgspec.Raw = NULL


def read_run(data: bytes) -> Finished:
    """The answer to a synchronous call, as that of a batch of one request. Raises ReplyError."""
    frame = decode(_RunOutput, data, "answer")
    if frame.success is False:
        raise breach("service_reports_failure_where_answer_was")
    output = frame if frame.success is None else decode(_RunOutput, frame.result, "answer")
    if not all(map(is_null, (frame.request_id, output.request_id, output.responses, output.results))):
        raise breach("is_answer_batch_was_single_request")
    element = Element(id=0, result=output, success=True)
    return Finished((element,), _counted(output.usage), is_synchronous=True)


class _Score(msgspec.Struct, gc=False):
    id: int
    score: float


def read_scores(output: Output, count: int, where: str) -> NDArray[np.float64]:
    """The scores of one element, shape (count,), in the order of the contexts.

    Raises ReplyError unless the context ids are a permutation of 0 … count - 1 and no score is above MAX_SCORE.
    """
    scores = decode(list[_Score], output.response, where)
    values: list[float | None] = [None] * count
    for entry in scores:
        if not 0 <= entry.id < count:
            raise breach("where_score_context_was_not_sent", f"context id {entry.id} of {count}", where=where)
        if values[entry.id] is not None:
            raise breach("where_two_scores_one_context", f"context id {entry.id}", where=where)
        if not abs(entry.score) <= MAX_SCORE:
            raise breach("where_score_is_out_bounds", f"context id {entry.id}: {entry.score:g}", where=where)
        values[entry.id] = entry.score
    if len(scores) != count:
        raise breach("where_scores_scores_count_contexts", where=where, scores=len(scores), count=count)
    return np.array(values, dtype=np.float64)


def read_vectors(output: Output, count: int, dimension: int | None, where: str) -> NDArray[np.float32]:
    """The vectors of one element, shape (count, d), float32; `dimension` None is the first one's.

    Raises ReplyError for two sets or none, for another shape than declared or asked for, for a number beyond float32,
    and for a vector of nothing but zeros.
    """
    if is_null(output.response) == is_null(output.data):
        raise breach("where_no_vectors_or_two_sets", where=where)
    rows = decode(list[list[float]], output.response if is_null(output.data) else output.data, where)
    if len(rows) != count:
        raise breach("where_vectors_vectors_count_texts", where=where, vectors=len(rows), count=count)
    lengths = {len(row) for row in rows} | {dimension or len(rows[0])}
    if len(lengths) > 1:
        raise breach("where_vector_another_length", f"{sorted(lengths)} numbers", where=where)
    shape = decode_if_any(tuple[int | float, int | float], output.shape, f"{where}, shape")
    if shape not in (None, (count, *lengths)):
        raise breach("where_declares_another_shape_than_was", f"shape {shape}", where=where)
    with np.errstate(over="ignore"):
        vectors = np.array(rows, np.float32)
    if not np.isfinite(vectors).all():
        raise breach("where_number_is_out_bounds", where=where)
    if not vectors.any(axis=1).all():
        raise breach("where_vector_nothing_but_zeros", where=where)
    return vectors


@dataclass(frozen=True, slots=True)
class Expected:
    """What an answer holds for one request: `count` scores or vectors."""

    reference: str
    kind: Kind
    count: int


def expected_of(request: Request) -> Expected:
    return Expected(request.reference, Kind.EMBED if request.query is None else Kind.RANK, len(request.texts))


@dataclass(frozen=True, slots=True)
class Scored:
    """`scores` has shape (count,), float64, in the order of the contexts as they were sent."""

    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Embedded:
    """`vectors` has shape (count, d), float32, in the order of the texts; `pooling` is "" when not given."""

    vectors: NDArray[np.float32]
    pooling: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The service failed at this request alone; `error` is "" when it gave none."""

    error: str


Matched: TypeAlias = Scored | Embedded | Refused


def what_it_holds(element: Element) -> Expected | None:
    """Without knowledge of the request; None if the element failed. Raises ReplyError."""
    where = message("result_request_number", number=(element.id or 0) + 1)
    output = _output(element, where)
    if output is None:
        return None
    entries = decode(list[msgspec.Raw], output.response if is_null(output.data) else output.data, where)
    if not entries:
        raise breach("where_is_empty", where=where)
    return Expected("", Kind.RANK if bytes(entries[0]).startswith(b"{") else Kind.EMBED, len(entries))


def match(
    finished: Finished, expected: Sequence[Expected], *, dimension: int | None = None, references_required: bool = False
) -> Iterator[Matched]:
    """Yield the result of each request, in the order of `expected`.

    Elements are read one after the other, so ReplyError may come after some results. `dimension` is that of the job's
    earlier batches. `references_required` refuses an answer without references, except a synchronous one's. Raises
    ForeignReply for an answer that may be another batch's.
    """
    ordered = _in_order(finished.elements, expected)
    _check_references(ordered, required=references_required and not finished.is_synchronous)
    poolings = set[str]()
    for number, (element, wanted) in enumerate(zip(ordered, expected, strict=True), start=1):
        where = message("result_request_number", number=number)
        output = _output(element, where)
        if output is None:
            yield Refused(_reason(element))
        elif wanted.kind is Kind.RANK:
            yield Scored(read_scores(output, wanted.count, where))
        else:
            vectors = read_vectors(output, wanted.count, dimension, where)
            pooling = decode_if_any(str, output.pooling, f"{where}, pooling") or ""
            poolings |= {pooling} - {""}
            if len(poolings) > 1:
                raise breach("mixes_vectors_different_kinds", "pooling differs between elements")
            dimension = vectors.shape[1]
            yield Embedded(vectors, pooling)


def _in_order(elements: Sequence[Element], expected: Sequence[Expected]) -> list[Element]:
    by_reference: dict[str, int | None] = {}
    for index, wanted in enumerate(expected):
        by_reference[wanted.reference] = None if wanted.reference in by_reference else index
    ordered: list[Element | None] = [None] * len(expected)
    for element in elements:
        index = _index(element, expected, by_reference)
        if ordered[index] is not None:
            raise breach("result_request_number_is_there_twice", number=index + 1)
        ordered[index] = element
    missing = [index + 1 for index, element in enumerate(ordered) if element is None]
    if missing:
        raise breach(
            "missing_expected_results_are_missing",
            f"first missing: request {missing[0]}",
            missing=len(missing),
            expected=len(expected),
        )
    return [element for element in ordered if element is not None]


def _index(element: Element, expected: Sequence[Expected], by_reference: dict[str, int | None]) -> int:
    reference = element.external_reference or None
    if reference is not None and reference not in by_reference:
        raise ForeignReply(
            message("service_sent_answer_another_job_was"), detail=f"unknown external_reference {reference[:80]!r}"
        )
    if element.id is not None:
        if not 0 <= element.id < len(expected):
            raise breach("result_request_was_not_sent", f"id {element.id} of {len(expected)}")
        if reference is not None and reference != expected[element.id].reference:
            raise breach(
                "result_request_number_carries_mark_another",
                f"id {element.id}, external_reference {reference[:80]!r}",
                number=element.id + 1,
            )
        return element.id
    index = None if reference is None else by_reference[reference]
    if index is None:
        raise breach("result_does_not_say_request_belongs", f"external_reference {reference!r}")
    return index


def _check_references(elements: Sequence[Element], *, required: bool) -> None:
    have_any = any(element.external_reference for element in elements)
    lacking = sum(not element.external_reference and not _has_failed(element) for element in elements)
    if (lacking and (have_any or required)) or (required and not have_any):
        raise ForeignReply(
            message("answer_batch_lacks_references_would_show"),
            detail=f"{lacking} of {len(elements)} results without external_reference",
        )


def _has_failed(element: Element) -> bool:
    if element.success is None:
        return element.result is None and not is_null(element.error)
    return not element.success


def _output(element: Element, where: str) -> Output | None:
    result = element.result
    if isinstance(result, Output) and not is_null(result.result) and is_null(result.response) and is_null(result.data):
        result = decode(Output, result.result, where)
    if _has_failed(element):
        return None
    if result is None:
        raise breach("where_is_empty", where=where)
    if not isinstance(result, Output):
        raise breach("where_is_unknown_form", where=where)
    return result


def _reason(element: Element) -> str:
    for raw in (element.error, element.errors, element.message):
        if text := raw_text(raw):
            return text
    return element.result if isinstance(element.result, str) else ""
