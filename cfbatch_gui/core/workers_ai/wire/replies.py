"""The results of a batch, matched to its requests by id and reference, never by their order in the answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import ForeignReply
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.wire.answers import (
    Answer,
    Element,
    Finished,
    Output,
    Queued,
    Usage,
    Waiting,
    read_answer,
)
from cfbatch_gui.core.workers_ai.wire.decoding import breach, decode, is_null
from cfbatch_gui.core.workers_ai.wire.envelope import raw_text
from cfbatch_gui.core.workers_ai.wire.requests import AnswerKind, Request
from cfbatch_gui.core.workers_ai.wire.values import Vectors, count_vectors, decode_vectors, find_vectors, read_scores

__all__ = [
    "Answer",
    "Answered",
    "Element",
    "Embedded",
    "Expected",
    "Finished",
    "Matched",
    "Queued",
    "Refused",
    "Scored",
    "Usage",
    "Waiting",
    "expect",
    "match",
    "read_answer",
    "what_it_holds",
]


@dataclass(frozen=True, slots=True)
class Expected:
    """What an answer must hold for one request; its index in the sequence is that in `requests[]`.

    `count` is the number of contexts or texts.
    """

    reference: str
    kind: AnswerKind
    count: int


@dataclass(frozen=True, slots=True)
class Scored:
    """`scores` has shape (count,), float64, in the order of the contexts as they were sent."""

    index: int
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Embedded:
    """`vectors` has shape (count, d), float32, in the order of the texts as they were sent, not normalised again.

    `pooling` is as the service gives it, "" when it gives none.
    """

    index: int
    vectors: NDArray[np.float32]
    pooling: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The service failed at this request alone. `error` is its message, "" when it gave none."""

    index: int
    error: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What an element holds, read without knowledge of the request: `count` scores or vectors."""

    kind: AnswerKind
    count: int


Matched: TypeAlias = Scored | Embedded | Refused

_output_decoder: Final = msgspec.json.Decoder(Output)
_entries_decoder: Final = msgspec.json.Decoder(list[msgspec.Raw])


def expect(request: Request) -> Expected:
    """What the answer to a request must hold."""
    return Expected(request.reference, request.answer_kind, request.count)


def what_it_holds(element: Element) -> Answered | None:
    """Return whether an element holds scores or vectors, and how many; None if it failed. Raises ReplyError."""
    where = message("the result for request {number}", number=(element.id or 0) + 1)
    output = _output(element, where)
    if output is None:
        return None
    if is_null(output.data) and bytes(memoryview(output.response)[:200]).lstrip(b"[ \t\r\n").startswith(b"{"):
        return Answered("scores", len(decode(_entries_decoder, output.response, where)))
    return Answered("embeddings", count_vectors(output, where))


def match(
    finished: Finished,
    expected: Sequence[Expected],
    *,
    dimension: int | None = None,
    references_required: bool = False,
) -> Iterator[Matched]:
    """Yield the result of each request, exactly one each, in the order of `expected`.

    Ids, references, scores, row counts and declared shapes of all elements are checked before the first yield. Vectors
    are decoded one element at a time while iterating, so ReplyError may be raised after some results were yielded: a
    caller that stores them must be able to undo that. `dimension` is that of the job's earlier batches; with None it is
    taken from this batch. `references_required` refuses an answer without references, for a job or a connection where
    they have come back before; answers to synchronous calls never have any.
    Raises ReplyError for every breach of the protocol; the whole batch is then put aside. Raises ForeignReply when the
    answer is, or may be, that of another batch.
    """
    ordered = _in_order(finished.elements, expected)
    _check_references(ordered, required=references_required and not finished.is_synchronous)
    prepared = [
        _prepare(element, wanted, index) for index, (element, wanted) in enumerate(zip(ordered, expected, strict=True))
    ]
    tables = [item[1] for item in prepared if isinstance(item, tuple)]
    dimension = _agreed_dimension(tables, dimension)
    if len({table.pooling for table in tables if table.pooling}) > 1:
        raise breach(message("it mixes vectors of different kinds"), "pooling differs between elements")
    for item in prepared:
        if isinstance(item, tuple):
            index, table = item
            vectors = decode_vectors(table, dimension)
            dimension = vectors.shape[1]
            yield Embedded(index, vectors, table.pooling)
        else:
            yield item


def _in_order(elements: Sequence[Element], expected: Sequence[Expected]) -> list[Element]:
    """The elements in the order of their requests. Raises ReplyError unless each request has exactly one."""
    by_reference: dict[str, int | None] = {}
    for index, wanted in enumerate(expected):
        by_reference[wanted.reference] = None if wanted.reference in by_reference else index
    ordered: list[Element | None] = [None] * len(expected)
    for element in elements:
        index = _index(element, expected, by_reference)
        if ordered[index] is not None:
            raise breach(message("the result for request {number} is there twice", number=index + 1))
        ordered[index] = element
    missing = [index + 1 for index, element in enumerate(ordered) if element is None]
    if missing:
        raise breach(
            message("{missing} of {expected} results are missing", missing=len(missing), expected=len(expected)),
            f"first missing: request {missing[0]}",
        )
    return [element for element in ordered if element is not None]


def _index(element: Element, expected: Sequence[Expected], by_reference: dict[str, int | None]) -> int:
    """The index in `requests[]`, by `id` and `external_reference`; they must agree where both are given."""
    reference = element.external_reference or None
    if reference is not None and reference not in by_reference:
        raise ForeignReply(
            message("The service sent the answer of another job. It was put aside."),
            detail=f"unknown external_reference {reference[:80]!r}",
        )
    if element.id is not None:
        if not 0 <= element.id < len(expected):
            raise breach(
                message("it has a result for a request that was not sent"), f"id {element.id} of {len(expected)}"
            )
        if reference is not None and reference != expected[element.id].reference:
            raise breach(
                message("the result for request {number} carries the mark of another", number=element.id + 1),
                f"id {element.id}, external_reference {reference[:80]!r}",
            )
        return element.id
    index = None if reference is None else by_reference[reference]
    if index is None:
        raise breach(message("a result does not say which request it belongs to"), f"external_reference {reference!r}")
    return index


def _check_references(elements: Sequence[Element], *, required: bool) -> None:
    """Raise ForeignReply when results have no reference, though others in the answer have one or they are `required`.

    A request that failed may come back without: what the service writes of it is not documented, and it holds no
    result that could reach the wrong text.
    """
    have_any = any(element.external_reference for element in elements)
    lacking = sum(not element.external_reference and not _has_failed(element) for element in elements)
    if (lacking and (have_any or required)) or (required and not have_any):
        raise ForeignReply(
            message("The answer to this batch lacks the references that would show whose it is. It was put aside."),
            detail=f"{lacking} of {len(elements)} results without external_reference",
        )


def _has_failed(element: Element) -> bool:
    """Whether the service failed at the request. Without a `success`, an error and no result say so."""
    if element.success is None:
        return element.result is None and not is_null(element.error)
    return not element.success


def _output(element: Element, where: str) -> Output | None:
    """The model's output, None when the service failed at the request. Raises ReplyError."""
    result = element.result
    if isinstance(result, Output) and not is_null(result.result) and is_null(result.response) and is_null(result.data):
        result = decode(_output_decoder, result.result, where)
    if _has_failed(element):
        return None
    if not isinstance(result, Output):
        raise breach(
            message("{where} is empty", where=where)
            if result is None
            else message("{where} is of an unknown form", where=where)
        )
    return result


def _prepare(element: Element, wanted: Expected, index: int) -> Scored | Refused | tuple[int, Vectors]:
    where = message("the result for request {number}", number=index + 1)
    result = _output(element, where)
    if result is None:
        return Refused(index, _reason(element))
    if wanted.kind == "scores":
        return Scored(index, read_scores(result, wanted.count, where))
    return index, find_vectors(result, wanted.count, where)


def _reason(element: Element) -> str:
    for raw in (element.error, element.errors, element.message):
        if text := raw_text(raw):
            return text
    return element.result if isinstance(element.result, str) else ""


def _agreed_dimension(tables: Sequence[Vectors], dimension: int | None) -> int | None:
    """The dimension by the job's earlier batches and the `shape` of every element; None when none gives it."""
    for table in tables:
        if table.declared and dimension and table.declared != dimension:
            raise breach(
                message(
                    "{where} has vectors of {declared} numbers, not {dimension}",
                    where=table.where,
                    declared=table.declared,
                    dimension=dimension,
                )
            )
        dimension = dimension or table.declared or None
    return dimension
