"""The texts whose vectors are nearest to a text or a sentence, and the sentences that were asked of a job."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import OutcomeUnknown, ReplyError, ServiceRefused, UsageError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import transaction
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings
from cfbatch_gui.core.workers_ai.answers import Embedded, Refused, expected_of, match, read_run
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.limits import MAX_TEXTS_PER_REQUEST
from cfbatch_gui.core.workers_ai.requests import Request, encode_request

LONGEST = 20_000  # characters


_BLOCK_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A text and the cosine similarity of its vector with the one asked for, -1 to 1."""

    text: EmbeddedText
    similarity: float


def nearest(embeddings: Embeddings, item_no: int, count: int = 20) -> tuple[Neighbour, ...]:
    """Up to `count` other texts, the most similar first; () without a direction. Blocking. Raises DataError."""
    asked = embeddings.vector(item_no)
    return () if asked is None else nearest_to(embeddings, asked, count, without=item_no)


def nearest_to(
    embeddings: Embeddings, asked: NDArray[np.float32], count: int = 20, *, without: int = 0
) -> tuple[Neighbour, ...]:
    """As `nearest`, for any vector of shape (dimension,); the text with item number `without` is left out."""
    length = float(np.linalg.norm(asked.astype(np.float64)))
    if not 0 < length < np.inf:
        return ()
    present = embeddings.present()
    if without:
        present[without - 1] = False
    step = max(1, _BLOCK_BYTES // max(1, embeddings.dimension * 8))
    found = [np.empty((2, 0))]  # item numbers, and similarities
    with np.errstate(all="ignore"):
        for start, there, block in embeddings.vector_blocks(present, step):
            wide = block.astype(np.float64)
            cosines = wide @ (asked / length) / np.linalg.norm(wide, axis=1)  # NaN without a direction
            found.append(np.stack((start + there + 1, cosines)))
    items, similarities = np.concatenate(found, axis=1)
    order = np.argsort(-similarities, kind="stable")[:count]  # NaN last
    order = order[np.isfinite(similarities[order])]
    texts = embeddings.texts(items[order].astype(np.int64).tolist())
    return tuple(map(Neighbour, texts, np.clip(similarities[order], -1, 1).tolist()))


async def embed_sentence(client: WorkersAI, job: Job, embeddings: Embeddings, sentence: str) -> NDArray[np.float32]:
    """The sentence's vector (dimension,), sent once and never again.

    `client` is that of the job's own connection. Raises UserError, OutcomeUnknown if it may have been billed without an
    answer.
    """
    return (await _embedded(client, job, embeddings, (sentence,)))[0]


async def ask(
    client: WorkersAI, job: Job, embeddings: Embeddings, sentences: Sequence[str], *, now: float
) -> dict[str, NDArray[np.float32]]:
    """The vectors of these sentences as `asked` keeps them: those that were never asked are sent, up to
    `MAX_TEXTS_PER_REQUEST` with a request, and kept with the job before they are given. Raises as `embed_sentence`.
    """
    wanted = dict.fromkeys(sentence.strip() for sentence in sentences)
    known = await asyncio.to_thread(asked, embeddings.folder)
    new = [sentence for sentence in wanted if sentence not in known]
    for start in range(0, len(new), MAX_TEXTS_PER_REQUEST):
        some = tuple(new[start : start + MAX_TEXTS_PER_REQUEST])
        vectors = await _embedded(client, job, embeddings, some)
        await asyncio.to_thread(_keep, embeddings.folder, some, vectors, now)
        known |= dict(zip(some, vectors, strict=True))
    return {sentence: known[sentence] for sentence in wanted}


def asked(folder: JobFolder) -> dict[str, NDArray[np.float32]]:
    """The vectors of all sentences that were asked of a job, by the sentence. Raises DataError."""
    with folder.open(read_only=True) as database:
        found = database.execute("SELECT sentence, vector FROM asked ORDER BY asked_at, rowid").fetchall()
    return {sentence: np.frombuffer(vector, "<f4") for sentence, vector in found}


def _keep(folder: JobFolder, sentences: Sequence[str], vectors: Sequence[NDArray[np.float32]], now: float) -> None:
    rows = [(*pair, now) for pair in zip(sentences, (each.astype("<f4").tobytes() for each in vectors), strict=True)]
    with folder.open() as database, transaction(database):
        database.executemany("INSERT OR REPLACE INTO asked VALUES(?, ?, ?)", rows)


async def _embedded(
    client: WorkersAI, job: Job, embeddings: Embeddings, sentences: Sequence[str]
) -> list[NDArray[np.float32]]:
    texts = tuple(sentence.strip() for sentence in sentences)
    if not texts or not all(texts):
        raise UsageError(message("there_is_nothing_look_yet_type"))
    longest = max(map(len, texts))
    if longest > LONGEST:
        raise UsageError(message("sentence_look_can_most_characters_length", most=LONGEST, length=longest))
    truncate = True if job.options.truncate_inputs else None
    request = Request(texts, truncate_inputs=truncate, pooling=job.options.pooling)
    try:
        raw = await client.run(job.model, encode_request(request))
    except OutcomeUnknown as error:
        raise OutcomeUnknown(
            message("sentence_was_sent_title_but_no", title=client.connection.title), detail=error.detail
        ) from error
    return await asyncio.to_thread(_vectors, raw, request, embeddings)


def _vectors(raw: bytes, request: Request, embeddings: Embeddings) -> list[NDArray[np.float32]]:
    (matched,) = match(read_run(raw), [expected_of(request)], dimension=embeddings.dimension)
    if isinstance(matched, Refused):
        raise ServiceRefused(message("service_did_not_take_sentence"), detail=matched.error)
    if not isinstance(matched, Embedded):
        raise ReplyError(message("answer_sentence_holds_no_vector"))
    stored = embeddings.pooling()
    if matched.pooling and stored and matched.pooling != stored:
        raise ReplyError(
            message("sentence_vector_is_pooled_another_way"),
            detail=f"pooling {matched.pooling[:40]!r}, not {stored[:40]!r}",
        )
    return [np.array(vector, np.float32) for vector in matched.vectors]
