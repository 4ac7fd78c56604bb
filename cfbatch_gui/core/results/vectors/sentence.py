"""A sentence that somebody types, as a vector among those of a job: one request, at once, the way the job's own went.

It goes through the job's own connection, to its model, with its pooling: vectors of anything else cannot be compared.
It is billed like any other text, and what left is in the program's traffic log; in the job nothing changes.
"""

import asyncio

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import OutcomeUnknown, ReplyError, ServiceRefused, UsageError
from cfbatch_gui.core.results.job_metadata import JobMetadata
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.wire.answers import read_run
from cfbatch_gui.core.workers_ai.wire.replies import Embedded, Refused, expect, match
from cfbatch_gui.core.workers_ai.wire.requests import EmbedRequest, encode_request

LONGEST = 20_000  # characters


async def embed_sentence(
    client: WorkersAI, metadata: JobMetadata, embeddings: Embeddings, sentence: str
) -> NDArray[np.float32]:
    """The sentence's vector, of shape (dimension,). `client` must be that of the job's own connection.

    Sent once and never again by itself. Raises UserError; OutcomeUnknown when it may have been billed all the same.
    """
    text = sentence.strip()
    if not text:
        raise UsageError("There is nothing to look for yet. Type a sentence.")
    if len(text) > LONGEST:
        raise UsageError(f"A sentence to look for can have {LONGEST:,} characters; this has {len(text):,}.")
    request = EmbedRequest(
        (text,), pooling=metadata.pooling, truncate_inputs=True if metadata.truncate_inputs else None
    )
    try:
        raw = await client.run(metadata.model, encode_request(request))
    except OutcomeUnknown as error:
        raise OutcomeUnknown(
            f"The sentence was sent to {client.connection.title}, but no clear answer came back. It may have been"
            " billed; trying again costs another request.",
            detail=error.detail,
        ) from error
    return await asyncio.to_thread(_vector, raw, request, embeddings)


def _vector(raw: bytes, request: EmbedRequest, embeddings: Embeddings) -> NDArray[np.float32]:
    (matched,) = match(read_run(raw), [expect(request)], dimension=embeddings.dimension)
    if isinstance(matched, Refused):
        raise ServiceRefused("The service did not take this sentence.", detail=matched.error)
    if not isinstance(matched, Embedded):
        raise ReplyError("The answer to this sentence holds no vector.")
    stored = embeddings.pooling()
    if matched.pooling and stored and matched.pooling != stored:
        raise ReplyError(
            "The sentence's vector is pooled in another way than those of this job, so they cannot be compared.",
            detail=f"pooling {matched.pooling[:40]!r}, not {stored[:40]!r}",
        )
    return np.array(matched.vectors[0])
