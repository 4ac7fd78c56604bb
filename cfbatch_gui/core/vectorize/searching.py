"""A search in an index for a typed sentence, beside our own exact search for the same sentence in the job."""

import asyncio
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cfbatch_gui.core.errors import UsageError
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.results.job_metadata import JobMetadata
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.results.vectors.nearest import embed_sentence, nearest_to
from cfbatch_gui.core.vectorize.client import VectorizeIndexes
from cfbatch_gui.core.vectorize.push_values import Hit, PushOptions, SearchResult
from cfbatch_gui.core.vectorize.rows import PushRows
from cfbatch_gui.core.vectorize.wire import Match, Metric, VectorizeIndex
from cfbatch_gui.core.workers_ai.client import WorkersAI
from cfbatch_gui.core.workers_ai.repeating import Repeating

TOP_K: Final = 10
_TIE: Final = 1e-6  # of cosine similarities: below it, rounding decides which text is nearer


async def search(
    sentence: str,
    index_name: str,
    *,
    client: WorkersAI,
    indexes: VectorizeIndexes,
    folder: JobFolder,
    metadata: JobMetadata,
    options: PushOptions,
    again: Repeating,
) -> SearchResult:
    """Search for a sentence. `client` is that of the job's connection: it runs one request, which is paid for, once.

    `options` are those of the push, by which ids are known again. Raises UserError as `embed_sentence`.
    """
    embeddings = await asyncio.to_thread(Embeddings, folder, metadata.failed_batches)
    index = await again(lambda: indexes.get(index_name))
    dimension = await asyncio.to_thread(lambda: embeddings.dimension)
    if index.dimensions not in (0, dimension):
        raise UsageError(
            message(
                "{index} holds vectors of {wanted:,} numbers, and those of this job have {dimension:,}.",
                index=index_name,
                wanted=index.dimensions,
                dimension=dimension,
            )
        )
    vector = await embed_sentence(client, metadata, embeddings, sentence)
    matches = await again(lambda: indexes.query(index_name, vector.tolist(), TOP_K))
    return await asyncio.to_thread(_compare, index, embeddings, PushRows(folder, metadata, options), matches, vector)


def _compare(
    index: VectorizeIndex,
    embeddings: Embeddings,
    rows: PushRows,
    matches: tuple[Match, ...],
    vector: NDArray[np.float32],
) -> SearchResult:
    nearest = nearest_to(embeddings, vector, TOP_K)
    items = {each.text.item_no for each in nearest}
    ids = rows.ids_and_items({each.id for each in matches}, items)
    id_of = {item: identifier for identifier, item in ids.items()}
    found = [ids[each.id] for each in matches if each.id in ids]
    texts = dict(zip(found, embeddings.texts(found), strict=True))
    least = min((each.similarity for each in nearest), default=1.0)
    near = _near(embeddings, found, vector, least)
    hits = tuple(
        Hit(each.id, each.score, item, texts[item].text if item else None, item in near)
        for each, item in ((each, ids.get(each.id, 0)) for each in matches)
    )
    exact = tuple(
        Hit(id_of[each.text.item_no], each.similarity, each.text.item_no, each.text.text, is_exact=True)
        for each in nearest
    )
    if index.metric != Metric.COSINE:
        note = message(
            "The index compares by {metric}, and the exact search by cosine: the two may differ for that reason alone.",
            metric=index.metric,
        )
        return SearchResult(hits, exact, None, note)
    if any(each.text is None for each in hits):
        note = message("The index also holds vectors that are not of this job, so its search cannot be judged by it.")
        return SearchResult(hits, exact, None, note)
    return SearchResult(hits, exact, sum(each.is_exact for each in hits))


def _near(embeddings: Embeddings, items: list[int], vector: NDArray[np.float32], least: float) -> set[int]:
    """Those of the items that are as near as the last of the nearest ones: of equally near texts any will do."""
    if not items:
        return set()
    vectors = embeddings.rows_of(np.array(items)).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector.astype(np.float64))
    with np.errstate(all="ignore"):
        similarities = vectors @ vector.astype(np.float64) / lengths
    return {item for item, similarity in zip(items, similarities.tolist(), strict=True) if similarity >= least - _TIE}
