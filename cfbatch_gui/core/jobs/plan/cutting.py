"""A sequence into requests, requests into batches: under every limit of the service, each text once, in order.

The limits: 100 texts a request; 60,000 tokens a request, counted as number of texts × longest text; 10 MB a body, on
the exact bytes; and an answer that can be read back, which for vectors is what is reached first.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.request_bodies import frame_of
from cfbatch_gui.core.jobs.plan.sequence import Group, QueryTokens, SequenceArrays
from cfbatch_gui.core.jobs.states import JobOptions
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.estimate import answer_bytes
from cfbatch_gui.core.workers_ai.limits import MAX_ANSWER_BYTES, MAX_TEXTS_PER_BATCH
from cfbatch_gui.core.workers_ai.requests import AnswerKind, Frame, batch_size

_BODY_RESERVE = 100  # bytes of a body that a single request leaves free
_EMPTY_BODY = batch_size(())


@dataclass(frozen=True, slots=True)
class Request:
    """One element of `requests[]`: its number from 1, its bytes as JSON, its texts, and where they begin in the
    sequence."""

    number: int
    size: int
    texts: int
    start: int = 0


def most_texts(kind: Kind, metadata: ModelMetadata) -> int:
    """Of a request. The limit of 100 is on "text"; contexts have none stated, and are cut by tokens."""
    return MAX_TEXTS_PER_BATCH if kind is Kind.RANK else min(MAX_TEXTS_PER_BATCH, metadata.texts_per_request)


def cut_by_tokens(
    arrays: SequenceArrays, groups: Iterable[Group], texts: int, metadata: ModelMetadata
) -> Iterator[Group]:
    """Each group in as many as its number of texts and its tokens ask for."""
    for start, stop, query in groups:
        at = start
        while at < stop:
            count = min(texts, stop - at)
            if (count + 1) * max(query.upper, arrays.longest) > metadata.padded_tokens > 0:
                count = _fitting(arrays.upper[at : at + count], query, metadata.padded_tokens)
            yield at, at + count, query
            at += count


def _fitting(upper: "array[int]", query: QueryTokens, most: int) -> int:
    """How many of the texts go into one request: padded tokens are their number times the longest."""
    beside, longest = int(query.text is not None), max(upper)
    if (len(upper) + beside) * max(query.upper, longest) <= most:
        return len(upper)
    longest = max(query.upper, upper[0])
    for count, tokens in enumerate(upper):
        longest = max(longest, tokens)
        if count and (count + 1 + beside) * longest > most:
            return count
    return len(upper)


def cut_by_bytes(
    arrays: SequenceArrays, groups: Iterable[Group], job_id: str, options: JobOptions, body_bytes: int
) -> Iterator[Request]:
    """A request of each group; one that is larger than a body may be is halved until it is not."""
    frame, number = _frames(options), 1
    for group_start, group_stop, query in groups:
        waiting = [(group_start, group_stop)]
        while waiting:
            start, stop = waiting.pop()
            size = frame(query.text, reference_of(job_id, number)).size(stop - start, arrays.bytes(start, stop))
            if size > body_bytes - _BODY_RESERVE and stop - start > 1:
                middle = start + (stop - start) // 2
                waiting += [(middle, stop), (start, middle)]
                continue
            yield Request(number, size, stop - start, start)
            number += 1


def reference_of(job_id: str, number: int) -> str:
    """The `external_reference` of a request."""
    return f"{job_id}-{number}"


def _frames(options: JobOptions) -> Callable[[str | None, str], Frame]:
    """`frame_of` for sizes: of texts without a query they depend on the length of the reference alone."""
    known: dict[int, Frame] = {}

    def frame(query: str | None, reference: str) -> Frame:
        if query is not None:
            return frame_of(query, reference, options)
        found = known.get(len(reference))
        if found is None:
            found = known[len(reference)] = frame_of(None, reference, options)
        return found

    return frame


def cut_into_batches(
    requests: Iterable[Request], kind: Kind, metadata: ModelMetadata, *, is_synchronous: bool = False
) -> Iterator[list[Request]]:
    """The requests of each batch, in order; a request that is run synchronously is a batch of its own."""
    form: AnswerKind = "scores" if kind is Kind.RANK else "embeddings"
    batch: list[Request] = []
    size = texts = answer = 0
    for request in requests:
        expected = answer_bytes(form, request.texts, metadata.dimension)
        if batch and (
            is_synchronous
            or _EMPTY_BODY + size + request.size + len(batch) > metadata.body_bytes
            or texts + request.texts > MAX_TEXTS_PER_BATCH
            or answer + expected > MAX_ANSWER_BYTES
        ):
            yield batch
            batch, size, texts, answer = [], 0, 0, 0
        batch.append(request)
        size, texts, answer = size + request.size, texts + request.texts, answer + expected
    if batch:
        yield batch
