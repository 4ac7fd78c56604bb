"""The texts whose vectors are nearest to a text or a sentence, and the sentences that were asked of a job."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import DataError, OutcomeUnknown, ReplyError, ServiceRefused, UsageError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.job_folder.schema import data_version, transaction
from cfbatch_gui.core.job_folder.vector_file import rows_apart, stored_vectors
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.embeddings import EmbeddedText, Embeddings, lengths_of, unit_vectors
from cfbatch_gui.core.system.threads import check_stopped
from cfbatch_gui.core.workers_ai.answers import Embedded, Refused, expected_of, match, read_run
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.limits import MAX_TEXTS_PER_REQUEST
from cfbatch_gui.core.workers_ai.requests import Request, encode_request

LONGEST = 20_000  # characters
_QUESTION = "FROM asked WHERE sentence = ? AND is_question"

_AT_ONCE = 32  # questions
_NUMBERS, _EXACT = 16_000_000, 1_000_000  # of vectors that are compared at once, and of those in float64
_DRAWN = 450  # texts whose pairs say what unrelated ones reach
_FAR = 1e30  # lengths beyond it, and below its inverse, are not compared in float32


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A text and the cosine similarity of its vector with the one asked for, -1 to 1."""

    text: EmbeddedText
    similarity: float


Found = list[tuple[int, float]]  # item numbers and cosines, the most similar first


class TextIndex:
    """The vectors of a job for one question after another: held against their checksums and measured once, and again
    when their file has changed.
    """

    def __init__(self, embeddings: Embeddings) -> None:
        self.embeddings = embeddings
        self._version = b""

    def best(
        self, asked: Sequence[NDArray[np.float32]], count: int, among: NDArray[np.bool_] | None = None
    ) -> list[Found]:
        """Up to `count` items for each vector (dimension,), none without a direction; `among` marks those that may be
        found, (items,). Float32 excludes most, float64 settles the others. Blocking. Raises DataError.
        """
        vectors, found = self._vectors(), []
        for start in range(0, len(asked), _AT_ONCE):
            wide = np.stack(asked[start : start + _AT_ONCE]).astype(np.float64)
            with np.errstate(all="ignore"):
                wide /= np.linalg.norm(wide, axis=1, keepdims=True)
                products = self._products(vectors, wide.astype(np.float32))
                found += [self._settled(vectors, *each, count, among) for each in zip(wide, products, strict=True)]
        return found

    def nearest(
        self, asked: NDArray[np.float32], count: int, among: NDArray[np.bool_] | None = None
    ) -> tuple[Neighbour, ...]:
        """As `best`, for one vector."""
        (found,) = self.best((asked,), count, among)
        texts = self.embeddings.texts([item for item, _ in found])
        return tuple(Neighbour(text, score) for text, (_, score) in zip(texts, found, strict=True))

    def unrelated(self) -> float:
        """What 99 of 100 pairs of unrelated texts stay below: as far above the middle of all pairs as 99 of 100 lie
        above the lowest, for only the upper half has related ones.
        """
        vectors = self._vectors()
        rows = vectors[self._units.item_numbers[self._units.sample(_DRAWN)] - 1].astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        pairs = (rows @ rows.T)[np.triu_indices(len(rows), 1)]
        low, middle = np.percentile(pairs, (1, 50)).tolist() if len(pairs) else (0.0, 0.0)
        return 2 * middle - low

    def _vectors(self) -> NDArray[np.float32]:
        path = self.embeddings.folder.vectors
        if (version := data_version(path)) != self._version:
            self._version, self._units = version, unit_vectors(self.embeddings)
        return stored_vectors(path)

    def _products(self, vectors: NDArray[np.float32], asked: NDArray[np.float32]) -> NDArray[np.float32]:
        """Of each vector that is asked, (n, dimension), with all that have a direction, (n, count)."""
        found = np.empty((len(asked), len(vectors)), np.float32)
        step = max(1, _NUMBERS // max(1, asked.shape[1]))  # maps of their own, so that memory use is constant
        for start in range(0, len(vectors), step):
            check_stopped()
            stop = min(start + step, len(vectors))
            found[:, start:stop] = asked @ rows_apart(vectors, start, stop).T
        return found[:, self._units.item_numbers - 1]

    def _settled(
        self,
        vectors: NDArray[np.float32],
        asked: NDArray[np.float64],
        products: NDArray[np.float32],
        count: int,
        among: NDArray[np.bool_] | None,
    ) -> Found:
        items, inverse = self._units.item_numbers, self._units.inverse_lengths
        may_be = np.ones(len(items), np.bool_) if among is None else among[items - 1]
        if not (np.isfinite(asked).all() and may_be.any()):
            return []
        is_far = (inverse > _FAR) | (inverse < 1 / _FAR)
        cosines = np.where(may_be & ~is_far, products * inverse, -np.inf)
        least = np.partition(cosines, -count)[-count] if len(cosines) > count else -np.inf
        slack = (len(asked) + 16) * 2.0**-24  # the rounding error of a float32 product
        near = np.flatnonzero(may_be & (is_far | (cosines >= least - 2 * slack)))
        scores = np.empty(len(near))
        step = max(1, _EXACT // len(asked))
        for start in range(0, len(near), step):
            rows = vectors[items[near[start : start + step]] - 1]
            scores[start : start + step] = np.einsum("ij,j->i", rows.astype(np.float64), asked) / lengths_of(rows)
        order = np.argsort(-scores, kind="stable")[:count]
        return list(zip(items[near[order]].tolist(), np.clip(scores[order], -1, 1).tolist(), strict=True))


def nearest(embeddings: Embeddings, item_no: int, count: int = 20) -> tuple[Neighbour, ...]:
    """Up to `count` other texts, the most similar first; () without a direction. Blocking. Raises DataError."""
    asked = embeddings.vector(item_no)
    return () if asked is None else nearest_to(embeddings, asked, count, without=item_no)


def nearest_to(
    embeddings: Embeddings, asked: NDArray[np.float32], count: int = 20, *, without: int = 0
) -> tuple[Neighbour, ...]:
    """As `nearest`, for any vector of shape (dimension,); the text with item number `without` is left out."""
    return TextIndex(embeddings).nearest(asked, count, np.arange(1, embeddings.count + 1) != without)


async def embed_sentence(client: WorkersAI, job: Job, embeddings: Embeddings, sentence: str) -> NDArray[np.float32]:
    """The sentence's vector (dimension,), sent once and never again.

    `client` is that of the job's own connection. Raises UserError, OutcomeUnknown if it may have been billed without an
    answer.
    """
    return (await _embedded(client, job, embeddings, (sentence,)))[0]


async def ask(
    client: WorkersAI,
    job: Job,
    embeddings: Embeddings,
    sentences: Sequence[str],
    *,
    now: float,
    is_question: bool = True,
) -> dict[str, NDArray[np.float32]]:
    """The vectors of these sentences as `asked` keeps them: those that were never asked are sent, up to
    `MAX_TEXTS_PER_REQUEST` with a request, and kept with the job before they are given. What is on its way is kept
    also when the caller is cancelled. Raises as `embed_sentence`.
    """

    async def send() -> dict[str, NDArray[np.float32]]:
        folder, wanted = embeddings.folder, list(dict.fromkeys(sentence.strip() for sentence in sentences))
        known, own = await asyncio.to_thread(lambda: (asked(folder), asked(folder, is_question=is_question)))
        new = [sentence for sentence in wanted if sentence not in known]
        parts = [new[start : start + MAX_TEXTS_PER_REQUEST] for start in range(0, len(new), MAX_TEXTS_PER_REQUEST)]
        for some in ([each for each in wanted if each in known and each not in own], *parts):
            if some and some[0] not in known:
                known |= dict(zip(some, await _embedded(client, job, embeddings, some), strict=True))
            rows = [(each, known[each].astype("<f4").tobytes(), now, is_question) for each in some]
            await asyncio.to_thread(keep_asked, folder, rows)
        return {sentence: known[sentence] for sentence in wanted}

    sending = asyncio.ensure_future(send())
    sending.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be left to hear of it
    return await asyncio.shield(sending)


def asked(folder: JobFolder, *, is_question: bool | None = None) -> dict[str, NDArray[np.float32]]:
    """The vectors of the sentences that were asked of a job, by the sentence: of questions, of categories, or of both.
    Raises DataError.
    """
    statement = (
        "SELECT sentence, vector FROM asked WHERE is_question = coalesce(?, is_question) ORDER BY asked_at, rowid"
    )
    with folder.open(read_only=True) as database:
        found = database.execute(statement, (is_question,)).fetchall()
    return {sentence: np.frombuffer(vector, "<f4") for sentence, vector in found}


def has_asked(folder: JobFolder) -> bool:
    """Whether any question was asked of a job; quick, and False where its data cannot be read."""
    with suppress(DataError), folder.open(read_only=True) as database:
        return bool(database.execute("SELECT EXISTS(SELECT 1 FROM asked WHERE is_question)").fetchone()[0])
    return False


AskedRow = tuple[str, bytes, float, bool]  # a sentence, its vector, when it was asked, and whether as a question


def forget_asked(folder: JobFolder, sentence: str) -> AskedRow:
    """Remove a question; `keep_asked` puts it back. Raises DataError."""
    with folder.open() as database, transaction(database):
        row: AskedRow = database.execute(f"SELECT * {_QUESTION}", (sentence,)).fetchone()
        database.execute(f"DELETE {_QUESTION}", (sentence,))
        return row


def keep_asked(folder: JobFolder, rows: Iterable[AskedRow]) -> None:
    with folder.open() as database, transaction(database):
        database.executemany("INSERT OR REPLACE INTO asked VALUES(?, ?, ?, ?)", rows)


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
