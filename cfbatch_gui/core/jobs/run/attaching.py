"""Jobs that were made elsewhere, by curl or by a Worker: their request id, and what their answer says. With the input
file, elements are matched by their id; without one, texts get names.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from cfbatch_gui.core.errors import ReplyError, UsageError
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.job_folder.filling import context_name, fill_named, query_name, text_name
from cfbatch_gui.core.job_folder.folder import JOB, JobFolder
from cfbatch_gui.core.job_folder.schema import INDEX_OF_REQUESTS, metadata_value, transaction
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai.answers import (
    Element,
    Expected,
    Finished,
    Queued,
    is_request_id,
    read_answer,
    what_it_holds,
)

_SHORTEST_ID: Final = 4  # characters of a pasted id
_FITS_NOT: Final = message(
    "The answer does not fit the input file: {reason}. Choose the file that was sent, or add the job without one."
)
_OTHER_KIND: Final = {
    Kind.RANK: message("it has scores, and the file is read for vectors"),
    Kind.EMBED: message("it has vectors, and the file is read for scores"),
}


@dataclass(frozen=True, slots=True)
class PastedJob:
    """What the pasted text names. `model` is "" when the text did not say."""

    request_id: str
    model: str = ""


def read_pasted_job(text: str) -> PastedJob:
    """A request id, or an answer that holds one, with or without the v4 envelope; what stands around the JSON is passed
    over. Raises UsageError.
    """
    for begin in _beginnings(text):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, begin)
            answer = read_answer(json.dumps(value).encode())
        except (ValueError, RecursionError, ReplyError):
            continue
        if isinstance(answer, Queued) and is_request_id(answer.request_id):
            return PastedJob(answer.request_id, answer.model)
    word = text.strip().strip("\"'`“”‘’")
    if len(word) < _SHORTEST_ID or not is_request_id(word) or word.startswith(("{", "[", "<", "http://", "https://")):
        raise UsageError(
            message("This holds no request ID. Paste the id, or the whole answer that the service gave to the batch.")
        )
    return PastedJob(word)


def name_texts(folder: JobFolder) -> None:
    """The data of a job without texts, before its answer is here. Raises DataError."""
    fill_named(folder, Kind.RANK, ())


@dataclass(frozen=True, slots=True)
class LaidOut:
    """What the answer came to, and the answer itself ready to be matched by id alone."""

    kind: Kind
    queries: int
    texts: int
    requests: int
    finished: Finished


def lay_out(folder: JobFolder, job: Job, finished: Finished) -> LaidOut:
    """Write down which request each item belongs to, by the answer. Raises ReplyError when it does not fit the file."""
    elements = _in_order(finished.elements)
    held = [what_it_holds(element) for element in elements]
    kinds = {answered.kind for answered in held if answered is not None}
    if len(kinds) > 1:
        raise ReplyError(message("This answer has both scores and vectors. Such a job cannot be shown."))
    has_file = bool(job.source_name)
    kind = {"scores": Kind.RANK, "embeddings": Kind.EMBED}[kinds.pop()] if kinds else job.kind
    if has_file and kind is not job.kind:
        raise ReplyError(_FITS_NOT.filled(reason=_OTHER_KIND[kind]))
    if not has_file:
        with folder.open(read_only=True) as database:
            facts = {JOB: metadata_value(database, JOB)}
        names = [
            (_count(answered), element.external_reference or "")
            for answered, element in zip(held, elements, strict=True)
        ]
        fill_named(folder, kind, _named(kind, names), facts)
    counts = _counts_of_file(folder, kind, held)
    _write_requests(folder, kind, counts, _references(job.id, elements))
    queries = len(counts) if kind is Kind.RANK else 0
    return LaidOut(kind, queries, sum(counts), len(counts), by_id_alone(finished))


def by_id_alone(finished: Finished) -> Finished:
    """The answer to a job that was made elsewhere, as it is matched to the requests that were laid out by it. Raises
    ReplyError.
    """
    plain = tuple(
        msgspec.structs.replace(element, id=index, external_reference=None)
        for index, element in enumerate(_in_order(finished.elements))
    )
    return Finished(plain, finished.usage)


def _beginnings(text: str) -> Iterator[int]:
    return (found.start() for found in re.finditer(r"\{", text[:100_000]))


def _in_order(elements: Sequence[Element]) -> list[Element]:
    """By id, which counts the requests; a single element needs none."""
    if len(elements) == 1 and elements[0].id is None:
        return list(elements)
    placed: dict[int, Element] = {}
    for element in elements:
        if element.id is None or not 0 <= element.id < len(elements) or element.id in placed:
            raise ReplyError(
                message("The results of this job do not say which request each belongs to, so they are not shown.")
            )
        placed[element.id] = element
    return [placed[index] for index in range(len(elements))]


def _count(answered: Expected | None) -> int:
    return 1 if answered is None else answered.count


def _counts_of_file(folder: JobFolder, kind: Kind, held: Sequence[Expected | None]) -> list[int]:
    """Items of each request. Of a request that the service failed at, the answer does not say how many it had."""
    with folder.open(read_only=True) as database:
        if kind is Kind.RANK:
            rows = database.execute("SELECT count(*) FROM items GROUP BY query_no ORDER BY query_no").fetchall()
            counts = [row[0] for row in rows]
            if len(counts) != len(held):
                reason = message(
                    "it has {requests:,} requests, and the file {queries:,} queries",
                    requests=len(held),
                    queries=len(counts),
                )
                raise ReplyError(_FITS_NOT.filled(reason=reason))
            for number, (count, answered) in enumerate(zip(counts, held, strict=True), start=1):
                if answered is not None and answered.count != count:
                    reason = message(
                        "request {number} has {scores:,} scores, and query {number} {contexts:,} contexts",
                        number=number,
                        scores=answered.count,
                        contexts=count,
                    )
                    raise ReplyError(_FITS_NOT.filled(reason=reason))
            return counts
        items = database.execute("SELECT count(*) FROM items").fetchone()[0]
    known = sum(answered.count for answered in held if answered is not None)
    failed = sum(answered is None for answered in held)
    rest = items - known
    if (rest != 0 and failed == 0) or rest < failed or (failed > 1 and rest != failed):
        reason = message("it has {vectors:,} vectors, and the file {texts:,} texts", vectors=known, texts=items)
        raise ReplyError(_FITS_NOT.filled(reason=reason))
    share = rest // failed if failed else 0
    return [share if answered is None else answered.count for answered in held]


def _references(job_id: str, elements: Sequence[Element]) -> list[str]:
    """The references that were sent, as far as each is there and is one request's alone; else our own."""
    theirs = Counter(element.external_reference for element in elements)
    return [
        sent if sent and theirs[sent] == 1 else f"{job_id}-{number}"
        for number, sent in enumerate((element.external_reference for element in elements), start=1)
    ]


def _write_requests(folder: JobFolder, kind: Kind, counts: Sequence[int], references: Sequence[str]) -> None:
    order = "query_no, position" if kind is Kind.RANK else "item_no"
    with folder.open() as database, transaction(database):
        items = database.execute(f"SELECT item_no FROM items ORDER BY {order}").fetchall()  # noqa: S608  # two constants
        database.execute("DELETE FROM requests")
        # This program would share repeats and send long texts in parts; the attached job sent every text whole.
        for table in ("repeats", "parts", "runs"):
            database.execute(f"DELETE FROM {table}")  # noqa: S608  # one of three constants
        database.executemany(
            "INSERT INTO requests(request_no, reference, batch, position) VALUES(?, ?, 1, ?)",
            ((number, reference, number - 1) for number, reference in enumerate(references, start=1)),
        )
        positions = ((number, position) for number, count in enumerate(counts, start=1) for position in range(count))
        database.executemany(
            "UPDATE items SET request_no = ?, request_position = ? WHERE item_no = ?",
            ((number, position, item_no) for (number, position), (item_no,) in zip(positions, items, strict=True)),
        )
        database.execute(INDEX_OF_REQUESTS)


def _named(kind: Kind, requests: Sequence[tuple[int, str]]) -> Iterator[tuple[str, ...]]:
    number = 0
    for query, (count, reference) in enumerate(requests, start=1):
        for position in range(1, count + 1):
            number += 1
            if kind is Kind.RANK:
                yield query_name(query), context_name(query, position), reference
            else:
                yield text_name(number), reference
